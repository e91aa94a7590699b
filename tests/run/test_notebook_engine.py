"""Notebooks are written when something was shown for a while, not twice a cell."""

import asyncio
import json

import pytest
from jupyter_core.utils import ensure_event_loop
from papermill.engines import NBClientEngine
from tests.run.test_notebook_worker import job

from soundcheck.run import notebook_engine, runner

pytestmark = pytest.mark.slow

WATCH = """
import json, time

def shown():
    try:
        with open("executed.ipynb") as file:
            return [cell["execution_count"] for cell in json.load(file)["cells"]]
    except ValueError:  # it is being written
        return [None]

end = time.monotonic() + 60
while shown()[0] is None and time.monotonic() < end:
    time.sleep(0.05)
print(shown()[0])
"""


class Manager:
    """What papermill's manager of a notebook is to the engine."""

    def __init__(self):
        self.saved = 0

    def save(self):
        self.saved += 1


@pytest.mark.parametrize(("pause", "saved"), [(0.0, 0), (0.3, 1)])
def test_many_changes_are_written_once_and_only_while_a_cell_computes(monkeypatch, pause, saved):
    monkeypatch.setattr(notebook_engine, "SECONDS", 0.05)

    def execute(manager, kernel_name, **options):
        assert (kernel_name, options) == ("python3", {"limit": 3})
        for _ in range(10):
            manager.save()
        if pause:
            ensure_event_loop().run_until_complete(asyncio.sleep(pause))

    monkeypatch.setattr(NBClientEngine, "execute_managed_notebook", execute)
    manager = Manager()
    notebook_engine.SparingEngine.execute_managed_notebook(manager, "python3", limit=3)
    assert manager.saved == saved
    manager.save()  # papermill's own again
    ensure_event_loop().run_until_complete(asyncio.sleep(0.2))  # and nothing waits any more
    assert manager.saved == saved + 1


def test_what_was_shown_is_written_while_a_cell_computes(tmp_path):
    with runner.Places(tmp_path / "cache", tmp_path / "log", workers=1) as places:
        (outcome,) = runner.execute([job(tmp_path, "watches", WATCH)], places)
    assert outcome.status == "ok"
    cells = json.loads((tmp_path / "watches.ipynb").read_text())["cells"]
    assert "".join(cells[2]["outputs"][0]["text"]).strip() == "1"
    assert all(cell["execution_count"] for cell in cells)
