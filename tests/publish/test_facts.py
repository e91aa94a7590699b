"""Facts are those of the results table: whoever edits them, or names no model, is told."""

import functools
import hashlib
import json

import pytest
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.publish.facts import read_facts
from soundcheck.suite.card import Card


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


def test_the_digest_is_that_of_sha256sum(written):
    folder = written([verdict()])
    assert read_facts(folder).sha256 == hashlib.sha256((folder / "results.csv").read_bytes()).hexdigest()


def test_what_people_say_of_the_model_comes_first(written):
    folder = written([verdict()], card={"owner": "all", "license": "mit", "contact": "c"})
    record = folder / "run.json"
    about = json.loads(record.read_text())
    about["models"][0] |= {"license": "apache-2.0", "card": {"owner": "we"}}
    record.write_text(json.dumps(about))
    assert read_facts(folder).card == Card(owner="we", license="apache-2.0", contact="c")


def test_records_of_before_have_no_card(written):
    folder = written([verdict()])
    record = folder / "run.json"
    about = json.loads(record.read_text())
    del about["card"], about["models"][0]["card"], about["corpora"][0]["benchmark"]
    record.write_text(json.dumps(about))
    assert read_facts(folder).card == Card()
