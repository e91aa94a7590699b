"""The demo's suite asks for enough."""

import pytest

from soundcheck.common import resources
from soundcheck.evaluation import changed_segments
from soundcheck.run import material
from soundcheck.run.selection import read_families
from soundcheck.suite.suite_file import read_suite
from soundcheck_demo.speech import corpus

SUITE = resources.root() / "suite.yml"


def segments(part):
    table = corpus.table("full", part)
    table = table[table["split"].eq("test")].reset_index(drop=True)
    return table.assign(key=table["file"], start=float("nan"))


@pytest.fixture(scope="module")
def limited():
    suite = read_suite(SUITE)
    return suite, {family.name: family for family in read_families(suite)}


def test_changes_are_heard_of_enough_speakers_of_every_group(limited):
    suite, families = limited
    table, transcript = segments("commands"), [suite.tasks["transcript"]]
    for name in ("asr_fairness", "asr_fault_localisation"):
        family = families[name]
        rows = changed_segments.swept_rows(family, transcript, table, ["speaker"], suite.seed)
        for column in ("accent", "sex"):
            counts = table.loc[rows, column].value_counts()
            assert counts.min() >= family.options["minimum_segments"]
        assert table.loc[rows].groupby("accent")["speaker"].nunique().min() >= 10
        assert all(len(series.steps) == 2 for series in family.transformations.values())
    rows = changed_segments.changed_rows(families["asr_hallucination"], transcript, table, suite.seed)
    assert rows.sum() == 20 and table.loc[rows, "speaker"].nunique() >= 12
    table = segments("speech")
    changed = [family for family in families.values() if family.changes and not family.probes]
    changed = [family for family in changed if family.kinds != ("transcription",)]
    assert len(changed) >= 6
    for family in changed:
        tasks = material.supported_tasks(family, suite.tasks.values())
        rows = changed_segments.changed_rows(family, tasks, table, suite.seed)
        assert 100 <= rows.sum() <= 150 and table.loc[rows, "speaker"].nunique() >= 36  # of 40
