"""What follows from files is computed again when one of them, or what came out, is another one."""

import dataclasses
from types import SimpleNamespace

import pytest

from soundcheck.common import files
from soundcheck.run import tables
from soundcheck.run.output import Output
from soundcheck.suite.entries import Suite
from soundcheck.suite.thresholds import read_family


class World:
    def __init__(self, root):
        self.output, self.calls = Output(root), []
        self.table = root / "tables" / "table.csv"

    def find(self, depends, value):
        """One run that asks for a value."""
        derivations = tables.Derived(self.output)
        answer = derivations.find("value", depends, lambda: self.calls.append(depends) or value)
        derivations.save()
        return answer

    def write(self, text):
        """One run that writes a table."""
        derivations = tables.Derived(self.output)
        derivations.write("table", 1, lambda: (files.write_text(self.table, text), [self.table])[1])
        derivations.save()
        return self.table.read_text()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_value_is_computed_once_as_long_as_it_depends_on_the_same(world, monkeypatch):
    assert [world.find(on, value) for on, value in ((1, "a"), (1, "?"), (2, "b"), (1, "c"))] == list("aabc")
    assert world.calls == [1, 2, 1]  # what the run before did not ask for is forgotten
    monkeypatch.setattr(tables, "made_here", lambda: "another library")
    assert world.find(1, "d") == "d"


HARM = {
    "edit": lambda table: table.write_text("b"),
    "link": lambda table: (table.rename(table.with_name("moved")), table.symlink_to("moved")),
    "folder": lambda table: (table.unlink(), table.parent.rmdir()),
}


@pytest.mark.parametrize("harm", [None, *HARM])
def test_a_table_that_is_not_what_was_written_is_written_again(world, harm):
    world.write("a")
    before = world.table.stat()
    if harm:
        HARM[harm](world.table)
    assert world.write("c" if harm else "?") == ("c" if harm else "a")
    after = world.table.stat()
    assert ((before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)) is (harm is None)
    assert not world.table.is_symlink()


def test_rows_and_failures_count(tmp_path):
    rows = tmp_path / "rows.json"
    job = SimpleNamespace(model="m", family="f", rows=rows)

    def seen(content, status="ok", error=""):
        if content:
            rows.write_text(content)
        return repr(tables.outcome_digests([SimpleNamespace(job=job, status=status, error=error)]))

    cases = [("",), ("[]",), ("[1]",), ("[1]", "failed"), ("[1]", "failed", "it broke")]
    assert len({seen(*case) for case in cases}) == 5


def test_thresholds_ask_nobody_anything(world):
    family = read_family("correctness_regression")
    suite = Suite(models={}, tasks={}, root=world.output.folder, file=world.output.folder / "suite.yml")

    def depends(family):
        material = SimpleNamespace(suite=suite, families=[family], corpora=[], lists={}, reports={})
        return repr(tables.Derived(world.output).tables(material))

    strict = {name: dataclasses.replace(test, thresholds={}) for name, test in family.tests.items()}
    assert depends(dataclasses.replace(family, tests=strict, digest="another")) == depends(family)
    assert depends(dataclasses.replace(family, options={"other": 1})) != depends(family)
