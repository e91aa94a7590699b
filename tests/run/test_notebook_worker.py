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
