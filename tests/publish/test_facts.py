"""Facts are those of the results table: whoever edits them, or names no model, is told."""

import functools

import pytest
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.publish.facts import read_facts


@pytest.fixture
def written(tmp_path, recorded):
    return functools.partial(finished, tmp_path, recorded)


def test_counts_and_what_holds(written):
    facts = read_facts(written([verdict(), verdict(test="U", **FAILED)]))
    assert (facts.tally.clear_pass, facts.tally.holds) == (1, 1)
    (row,) = facts.holding.itertuples()
    assert row.test == "U" and "0.40" in facts.sentence(row)


def test_the_only_model_beside_random_references(written):
    folder = written([verdict(), verdict("r")], {"r": "random"})
    assert read_facts(folder).model.name == "m"
    assert read_facts(folder, "r").model.name == "r"


def test_two_models_and_none_named(written):
    folder = written([verdict(), verdict("n")])
    with pytest.raises(InputError, match="2 models.*Name one of them"):
        read_facts(folder)
    with pytest.raises(InputError, match="no results of such a model"):
        read_facts(folder, "mm")


def test_edited_results_are_refused(written):
    folder = written([verdict()])
    table = folder / "results.csv"
    table.write_text(table.read_text().replace("0.6", "0.9"))
    with pytest.raises(InputError, match="not the one that the run wrote"):
        read_facts(folder)


def test_no_record(written):
    folder = written([verdict()])
    (folder / "run.json").unlink()
    with pytest.raises(InputError, match="no record of the run"):
        read_facts(folder)
