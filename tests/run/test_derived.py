"""What follows from files is computed again when one of them, or what came out, is another one."""

import dataclasses
from types import SimpleNamespace

import pandas as pd
import pytest

from soundcheck.common import files
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import skip
from soundcheck.run import derived
from soundcheck.run.output import Output
from soundcheck.suite.entries import Suite
from soundcheck.suite.thresholds import read_family


class World:
    def __init__(self, root):
        self.output, self.calls = Output(root), []

    def find(self, depends, value):
        """One run that asks for a value."""
        known = derived.Derived(self.output)
        found = known.find("value", depends, lambda: self.calls.append(depends) or value)
        known.save()
        return found

    def write(self, depends, text):
        """One run that writes a table."""
        path = self.output.folder / "tables" / "table.csv"

        def make():
            self.calls.append(depends)
            files.write_text(path, text)
            return [path]

        known = derived.Derived(self.output)
        found = known.write("table", depends, make)
        known.save()
        assert found == [path]
        return path.read_text()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_value_is_computed_once_as_long_as_it_depends_on_the_same(world):
    assert [world.find(on, value) for on, value in ((1, "a"), (1, "?"), (2, "b"), (1, "c"))] == list("aabc")
    assert world.calls == [1, 2, 1]  # what the run before did not ask for is forgotten


def test_a_value_is_not_believed_for_another_version(world, monkeypatch):
    world.find(1, "a")
    monkeypatch.setattr(derived, "made_here", lambda: "another library")
    assert world.find(1, "b") == "b"


def test_an_unchanged_table_stays(world):
    world.write(1, "a")
    before = (world.output.folder / "tables" / "table.csv").stat()
    assert world.write(1, "?") == "a"
    after = (world.output.folder / "tables" / "table.csv").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert world.calls == [1]


@pytest.mark.parametrize("harm", ["edit", "remove", "link", "folder"])
def test_a_table_that_is_not_what_was_written_is_written_again(world, harm):
    world.write(1, "a")
    path = world.output.folder / "tables" / "table.csv"
    path.unlink()
    if harm == "edit":
        path.write_text("b")
    elif harm == "link":
        (world.output.folder / "elsewhere").write_text("a")
        path.symlink_to(world.output.folder / "elsewhere")
    elif harm == "folder":
        path.parent.rmdir()
    assert world.write(1, "a") == "a"
    assert path.is_file() and not path.is_symlink()
    assert world.calls == [1, 1]


def test_rows_and_failures_count(tmp_path):
    rows = tmp_path / "rows.json"
    job = SimpleNamespace(model="m", family="f", rows=rows)

    def seen(status="ok", error=""):
        return derived.of_rows([SimpleNamespace(job=job, status=status, error=error)])

    nothing = seen()
    rows.write_text("[]")
    some = seen()
    rows.write_text("[1]")
    different = [nothing, some, seen(), seen("failed"), seen("failed", "it broke")]
    assert len({repr(one) for one in different}) == 5


def test_the_results_table_is_read_as_it_was_made(tmp_path):
    about = {"model": "m", "corpus": "c", "family": "f", "category": "fairness", "task": "arousal"}
    skipped = [skip(reason, test=reason, **about) for reason in ("=1+1", "no\rspeakers")]
    judged = {"rule": "<", "threshold": 0.5, "value": 0.1 + 0.2, "segments": 7, "passed": True, "skipped": ""}
    tests = {"p": {"p_value": 1e-9, "passed": False}, "q": {"p_value": 0.2}, "r": {}}
    more = [dataclasses.replace(skipped[0], test=name, **judged | own) for name, own in tests.items()]
    rows = [*skipped, *more]
    frame = decide(to_frame(rows))
    write_results(frame, tmp_path)
    pd.testing.assert_frame_equal(derived.read_frame(tmp_path / "results.parquet"), frame)


def test_thresholds_ask_nobody_anything(world):
    family = read_family("correctness_regression")
    suite = Suite(models={}, tasks={}, root=world.output.folder, file=world.output.folder / "suite.yml")

    def depends(family):
        return repr(derived.Derived(world.output).tables(suite, [family], [], {}, {}))

    strict = {
        name: dataclasses.replace(test, thresholds=dict.fromkeys(test.thresholds, 0.9))
        for name, test in family.tests.items()
    }
    assert depends(dataclasses.replace(family, tests=strict, digest="another")) == depends(family)
    assert depends(dataclasses.replace(family, options={"other": 1})) != depends(family)
