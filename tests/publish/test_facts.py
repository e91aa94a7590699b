"""Facts are those of the results table: whoever edits them, or names no model, is told."""

import functools
import json

import pytest
from tests.support.findings import FIGURE, GAP
from tests.support.finished import finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.estimates import Estimate, estimate_frame, write_estimates
from soundcheck.results.facts import counts
from soundcheck.suite.card import Card


@pytest.fixture
def written(tmp_path, recorded):
    return functools.partial(finished, tmp_path, recorded)


def test_the_only_model_beside_random_references(written):
    folder = written([verdict(), verdict("r")], {"r": "random"})
    assert ModelFacts.read(folder).model.name == "m"
    assert ModelFacts.read(folder, "r").model.name == "r"


def test_two_models_and_none_named(written):
    folder = written([verdict(), verdict("n")])
    with pytest.raises(InputError, match="2 models.*Name one of them"):
        ModelFacts.read(folder)
    with pytest.raises(InputError, match="no results of such a model"):
        ModelFacts.read(folder, "mm")


def test_no_record(written):
    folder = written([verdict()])
    (folder / "run.json").unlink()
    with pytest.raises(InputError, match="no record of the run"):
        ModelFacts.read(folder)


def test_what_people_say_of_the_model_comes_first(written):
    folder = written([verdict()], card={"owner": "all", "license": "mit", "contact": "c"})
    record = folder / "run.json"
    about = json.loads(record.read_text())
    about["models"][0] |= {"license": "apache-2.0", "card": {"owner": "we"}}
    record.write_text(json.dumps(about))
    assert ModelFacts.read(folder).card == Card(owner="we", license="apache-2.0", contact="c")


def test_of_two_groups_that_are_one_test_one_row_counts(written):
    one = GAP | {"group": "sex: female"}
    facts = ModelFacts.read(
        written([verdict(**one), verdict(**one | {"group": "sex: male", "mirrors": "sex: female"})])
    )
    assert facts.failing["group"].tolist() == ["sex: female"] and len(facts.rows) == 2
    assert str(counts(facts.rows)).startswith("0 pass, 1 fail")


def test_both_rules_stand_in_the_sentence(written):
    facts = ModelFacts.read(
        written(
            [
                verdict(
                    **GAP | {"passed": True, "rule": "|value| <", "threshold": 0.5, "reference_passed": True}
                )
            ]
        )
    )
    (row,) = facts.failing.itertuples()
    assert facts.sentence(row).endswith("margin of 0.075); passes the published rule (|value| < 0.5)")


def test_values_of_groups_are_estimates(written):
    folder = written([verdict()], figures=[FIGURE])
    about = {
        "model": "m",
        "corpus": "c",
        "family": "f",
        "task": "arousal",
        "measure": "concordance_cc (balanced)",
    }
    parts = {"sex: female": 0.7, "sex: male": 0.5, "all": 0.6}
    rows = [Estimate(**about, part=part, value=value, segments=9) for part, value in parts.items()]
    rows += [Estimate(**about | {"measure": "pearson_cc"}, part="sex: male", value=0.1)]
    rows += [Estimate(**about, part="sex: male", condition="Noise 10", value=0.1)]
    write_estimates(estimate_frame(rows), folder)
    found = ModelFacts.read(folder).group_values
    assert list(zip(found["part"], found["value"], strict=True)) == [("sex: male", 0.5), ("sex: female", 0.7)]
