"""The demo's suites: the limited one asks for enough, and the other one for all."""

import pytest
import yaml

from soundcheck.common import resources
from soundcheck.evaluation import changed_segments
from soundcheck.run import planning
from soundcheck.run.selection import read_families
from soundcheck.suite.suite_file import read_suite
from soundcheck_demo.speech import corpus

SUITE = resources.root() / "suite.yml"
FULL = resources.root() / "suites" / "full.yml"
# Models that fewer families test in the demo.
FEWER = {
    *("prosody-biased", "random-gaussian", "random-categorical"),
    *("sphinx-hurried", "sphinx-gated", "sphinx-words"),
}


def segments(part):
    table = corpus.table("full", part)
    table = table[table["split"].eq("test")].reset_index(drop=True)
    return table.assign(key=table["file"], start=float("nan"))


@pytest.fixture(scope="module")
def limited():
    suite = read_suite(SUITE)
    return suite, {family.name: family for family in read_families(suite)}


def test_suites_differ_in_their_limits_and_in_families_that_are_sure_without():
    limited, full = (yaml.safe_load(path.read_text("utf-8")) for path in (SUITE, FULL))
    limits = limited.pop("limits")
    assert (limits["segments_per_change"], limits["levels"]) == (150, 2)
    for name in FEWER & limited["models"].keys():
        fewer, model = (suite["models"][name] for suite in (limited, full))
        assert "families" not in model or set(fewer["families"]) < set(model["families"])
        for key in ("families", "corpora"):
            fewer.pop(key, None)
            model.pop(key, None)
    assert {**limited, "title": ""} == {**full, "title": ""}


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
        tasks = planning.supported_tasks(family, suite.tasks.values())
        rows = changed_segments.changed_rows(family, tasks, table, suite.seed)
        assert 100 <= rows.sum() <= 150 and table.loc[rows, "speaker"].nunique() >= 36  # of 40


def test_every_family_tests_a_model_that_does_not_guess(limited):
    suite, families = limited
    models = [entry for entry in suite.models.values() if entry.kind != "random"]
    for name, family in families.items():
        tasks = [planning.tasks_of(suite, entry) for entry in models if entry.is_for(name)]
        assert any(planning.supported_tasks(family, of_model) for of_model in tasks), name
