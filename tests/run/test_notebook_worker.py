"""Notebooks in forks of one process: nothing of one reaches the next, and what one does is its own end."""

import os
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from soundcheck.common.description import Description
from soundcheck.run import forked_kernel, runner
from soundcheck.run.processes import MARK, kill_marked

pytestmark = pytest.mark.slow

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
    "last": "1 + 1",
}


def job(folder: Path, name: str, code: str, limit: float = 60.0, weight: int = 0) -> runner.Job:
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
    return runner.Job("m", name, source, target, description, "x", limit, judges=False, weight=weight)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    order = list(CELLS)
    jobs = [
        job(folder, name, code, 3.0 if name == "hangs" else 60.0, weight=-order.index(name))
        for name, code in CELLS.items()
    ]
    ended: list[str] = []
    with runner.Places(folder / "cache", folder / "log", workers=1) as places:
        outcomes = runner.execute(jobs, places, finished=lambda outcome: ended.append(outcome.job.family))
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
    assert {name: outcome.status for name, outcome in outcomes.items()} == {
        "first": "ok",
        "second": "ok",
        "fails": "failed",
        "exits": "failed",
        "dies": "failed",
        "hangs": "timeout",
        "leaves": "ok",
        "last": "ok",
    }
    assert "ZeroDivisionError" in outcomes["fails"].error
    assert "the kernel ended in cell 3" in outcomes["exits"].error
    assert "Kernel died" in outcomes["dies"].error


def test_what_a_notebook_started_is_ended_with_it(executed):
    folder, _, _ = executed
    left = int(printed(folder, "leaves"))
    for _ in range(100):
        if not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("the process is still there")


def test_what_waits_for_others_is_told_of_them_and_comes_next(tmp_path):
    jobs = [
        job(tmp_path, name, CELLS[name], weight=-place)
        for place, name in enumerate(("first", "fails", "last"))
    ]
    told, ended = [], []

    def describe(outcomes):
        told.append([(one.job.family, one.status) for one in outcomes])
        return job(tmp_path, "after", "1 + 2")

    later = [runner.Later((0, 1), describe), runner.Later((), lambda _: job(tmp_path, "free", "1"))]
    for again in (False, True):
        with runner.Places(tmp_path / "cache", tmp_path / "log", workers=1) as places:
            outcomes = runner.execute(jobs, places, lambda one: ended.append(one.job.family), later=later)
        assert [one.job.family for one in outcomes] == ["first", "fails", "last", "after", "free"]
        assert [one.status for one in outcomes] == ["ok", "failed", "ok", "ok", "ok"]
        assert told == [[("first", "ok"), ("fails", "failed")]] * (1 + again)
    assert ended[:5] == ["free", "first", "fails", "after", "last"]
    assert sorted(ended[5:]) == sorted(ended[:5])


def test_a_worker_imports_before_there_is_a_notebook(tmp_path):
    with runner.Places(tmp_path / "cache", tmp_path / "log", workers=2) as places:
        places.warm()
        (worker,) = places.free(1)
        end = time.monotonic() + 60
        while not worker.ready and time.monotonic() < end:
            time.sleep(0.02)
        assert worker.ready and not worker.busy and time.monotonic() < end
        (outcome,) = runner.execute([job(tmp_path, "last", CELLS["last"])], places)
        assert outcome.status == "ok"


def test_quick_notebooks_share_workers():
    assert runner._workers([0.5, 0.7, 0.6]) == 1
    assert runner._workers([0.5, 0.0, 0.6]) == 3  # nobody knows how long the second takes
    assert runner._workers([60.0, 50.0]) == 2
    assert runner._workers([]) == 0


def test_a_fork_that_nobody_wants_ends():
    kernel = forked_kernel.ForkedKernel()
    assert kernel.poll() is None
    os.close(kernel._writer)
    assert kernel.wait(timeout=20) == 1


def test_only_marked_processes_are_ended():
    marked, other = (
        psutil.Popen(["sleep", "60"], env=os.environ | {MARK: token}) for token in ("one", "another")
    )
    kill_marked("one")
    assert marked.wait(timeout=10) == -9
    assert other.poll() is None
    other.kill()
    other.wait()
