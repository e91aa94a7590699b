"""Notebooks in forks of one process: nothing of one reaches the next, and what one does is its own end."""

import dataclasses
import json
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from soundcheck.common import files
from soundcheck.common.json_file import Description
from soundcheck.run.notebooks import Job, Notebooks, State, kept

CELLS = {
    "first": "import soundcheck.metrics, os\n"
    "soundcheck.metrics.spoiled = 1; os.environ['SPOILED'] = '1'; x = 1",
    "second": "import soundcheck.metrics, os\n"
    "print(hasattr(soundcheck.metrics, 'spoiled'), 'SPOILED' in os.environ, 'x' in globals(), __name__)",
    "fails": "1 / 0",
    "exits": "import sys; sys.exit(0)",
    "dies": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "while True: pass",
    "leaves": "import subprocess; print(subprocess.Popen(['sleep', '600'], start_new_session=True).pid)",
    "falls": "import ctypes; ctypes.string_at(0)",
    "swallows": "import time\nwhile True:\n  try: time.sleep(1)\n  except Exception: pass",
    "stands still": "import ctypes; ctypes.PyDLL(None).sleep(60)",
    "last": "1 + 1",
}


HANG = ("hangs", "swallows", "stands still")


def job(folder: Path, name: str, code: str, limit: float = 60.0, weight: int = 0) -> Job:
    cells = [
        nbformat.v4.new_code_cell("run = ''", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(code),
        nbformat.v4.new_code_cell("'the end'"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    source = folder / f"{name}.source.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), source)
    description = Description(media=folder, prefix="", rows=folder / f"{name}.json")
    target = folder / f"{name}.ipynb"
    return Job("m", name, source, target, description, "x", limit, judges=False, weight=weight)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    order = list(CELLS)
    jobs = [
        job(folder, name, code, 1.0 if name in HANG else 60.0, weight=-order.index(name))
        for name, code in CELLS.items()
    ]
    ended: list[str] = []
    with pytest.MonkeyPatch.context() as patch, Notebooks(folder / "cache", folder / "log", 1) as notebooks:
        patch.setattr("soundcheck.run.notebooks.STARTING", 1.0)
        outcomes = notebooks.execute(jobs, lambda outcome: ended.append(outcome.job.family))
    return folder, ended, {outcome.job.family: outcome for outcome in outcomes}


def printed(folder: Path, name: str) -> str:
    cell = nbformat.read(folder / f"{name}.ipynb", as_version=4).cells[2]
    return "".join(output.get("text", "") for output in cell.outputs)


def test_heavy_notebooks_begin_first_and_outcomes_keep_their_order(executed):
    _, ended, outcomes = executed
    assert ended == list(CELLS) == list(outcomes)


def test_nothing_of_a_notebook_reaches_the_next(executed):
    folder, _, outcomes = executed
    assert outcomes["first"].status == outcomes["second"].status == "ok"
    assert printed(folder, "second").split() == ["False", "False", "False", "__main__"]


def test_whatever_a_notebook_does_is_its_own_end(executed):
    _, _, outcomes = executed
    wrong = {"fails": "failed", "exits": "failed", "dies": "failed", "falls": "failed"}
    wrong |= dict.fromkeys(HANG, "timeout")
    assert {name: outcome.status for name, outcome in outcomes.items()} == dict.fromkeys(CELLS, "ok") | wrong
    assert "ZeroDivisionError" in outcomes["fails"].error
    assert outcomes["exits"].error == "the notebook ended in cell 3, the cells after it did not run"
    assert "ended with exit code -9" in outcomes["dies"].error
    assert "ended with exit code -11" in outcomes["falls"].error


def test_what_a_notebook_started_is_ended_with_it(executed):
    folder, _, _ = executed
    left = int(printed(folder, "leaves"))
    for _ in range(100):
        if not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("the process is still there")


def test_the_death_of_the_process_of_all_notebooks_is_survived(tmp_path):
    kills = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    with Notebooks(tmp_path / "cache", tmp_path / "log", workers=1) as notebooks:
        outcomes = notebooks.execute([job(tmp_path, "kills", kills, weight=1), job(tmp_path, "last", "1")])
    assert [outcome.status for outcome in outcomes] == ["failed", "ok"]


def test_outputs_stand_in_the_order_in_which_they_came(tmp_path):
    code = """from IPython.display import HTML, display
print('first')
shown = display(HTML('before'), display_id=True)
print('second')
shown.update(HTML('after'))
!echo third
3"""
    with Notebooks(tmp_path / "cache", tmp_path / "log", workers=1) as notebooks:
        notebooks.execute([job(tmp_path, "order", code)])
    outputs = nbformat.read(tmp_path / "order.ipynb", as_version=4).cells[2].outputs
    assert [one.get("text") or one.data.get("text/html") or one.data["text/plain"] for one in outputs] == [
        "first\n",
        "after",
        "second\nthird\r\n",
        "3",
    ]
    assert outputs[-1].execution_count == 3


WATCH = """
import json, time
time.sleep(1.1)
"""
SEEN = """
import json
print([cell["execution_count"] for cell in json.load(open("executed.ipynb"))["cells"]])
"""


def test_what_was_shown_is_written_before_the_next_cell(tmp_path):
    watched = job(tmp_path, "watches", WATCH)
    notebook = nbformat.read(watched.source, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(SEEN))
    nbformat.write(notebook, watched.source)
    with Notebooks(tmp_path / "cache", tmp_path / "log", workers=1) as notebooks:
        (outcome,) = notebooks.execute([watched])
    assert outcome.status == "ok"
    cells = json.loads((tmp_path / "watches.ipynb").read_text())["cells"]
    assert "".join(cells[4]["outputs"][0]["text"]).strip() == "[1, 2, 3, None, None]"
    assert all(cell["execution_count"] for cell in cells)


@pytest.fixture
def finished(tmp_path):
    target = tmp_path / "f.ipynb"
    description = Description(media=tmp_path, prefix="", rows=target.with_suffix(".json"))
    finished = Job("m", "f", tmp_path / "source.ipynb", target, description, "fingerprint", 1.0)
    for path in finished.made[:2]:  # without replicates
        path.write_text(path.name)
    State(finished.fingerprint, "ok", (*map(files.digest, finished.made[:2]), "")).write(finished.state)
    return finished


def test_what_did_not_change_is_kept(finished):
    assert kept(finished)
    assert set(finished.files) == {*finished.made, finished.state}


def test_anything_else_is_executed_again(finished):
    assert not kept(dataclasses.replace(finished, fingerprint="other"))
    for path in finished.made:
        before = path.read_text() if path.exists() else None
        path.write_text("other")
        assert not kept(finished), path
        path.unlink()
        assert kept(finished) == (before is None)
        if before is not None:
            path.write_text(before)
    assert kept(finished)


@pytest.mark.parametrize("state", ["", "{}", "[1]", '{"fingerprint": "fingerprint", "status": "ok"}', "\xff"])
def test_a_state_that_cannot_be_read_counts_as_none(finished, state):
    finished.state.write_bytes(state.encode("latin-1"))
    assert not kept(finished)
    finished.state.unlink()
    assert not kept(finished)


def test_failed_work_is_not_kept(finished):
    dataclasses.replace(State.read(finished.state), status="failed").write(finished.state)
    assert not kept(finished)
