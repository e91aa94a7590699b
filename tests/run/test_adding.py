"""What a run of a part keeps of the book, and what it refuses to mix with it."""

import dataclasses

import pandas as pd
import pytest
from finished import corpora_of, models_of, record

from soundcheck.common.errors import InputError
from soundcheck.run import selection
from soundcheck.run.output import Output
from soundcheck.suite.suite_file import read_suite

SUITE = """
title: Small
corpora:
  c: {format: demo}
models:
  a: {python: "m:a", tasks: [arousal]}
  b: {python: "m:b", tasks: [arousal]}
  e: {python: "m:e", tasks: [embedding]}
families: [correctness_regression, robustness_spectral_tilt, fairness_sex]
comparisons:
  new: {baseline: a, candidate: b}
"""
CORRECTNESS, TILT, SEX = "correctness_regression", "robustness_spectral_tilt", "fairness_sex"


class Book:
    """An output folder with the record of a run, as if models had been asked."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.output = Output(folder / "out")
        self.output.prepare()

    def suite(self, old: str = "", new: str = ""):
        assert old in SUITE
        (self.folder / "suite.yml").write_text(SUITE.replace(old, new))
        return read_suite(self.folder / "suite.yml")

    def write(self, pairs, **changes) -> None:
        """Write the record of a run of some models and families."""
        table = pd.DataFrame(pairs, columns=["model", "family"]).assign(task="arousal", corpus="c")
        usual = {
            **{"title": "Small", "order": [*table["model"].unique()], "suite": self.suite().describe()},
            **{"corpora": corpora_of(table), "models": models_of(table, {})},
            "notebooks": [{"model": m, "family": f, "status": "ok", "error": ""} for m, f in pairs],
            "families": [
                {"name": name, "title": name, "category": "fairness", "question": "", "digest": ""}
                for name in table["family"].unique()
            ],
        }
        record(**(usual | changes)).write(self.output.record)

    def plan(self, models=(), families=(), suite=None) -> selection.Plan:
        suite = suite or self.suite()
        chosen = dataclasses.replace(selection.select(suite, models, families), comparisons={})
        return selection.plan_part(suite, chosen, self.output)


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path)


def families_of(plan) -> dict[str, list[str]]:
    return {
        name: [family for family in plan.suite.families if entry.is_for(family)]
        for name, entry in plan.suite.models.items()
    }


def test_without_a_book_a_part_is_all(book):
    plan = book.plan(["a"], [SEX])
    assert (list(plan.suite.models), plan.suite.families, plan.fingerprints) == (["a"], (SEX,), {})


def test_what_the_book_has_stays(book):
    book.write([("a", CORRECTNESS), ("b", TILT)])
    plan = book.plan(["b"], [SEX])
    assert plan.chosen == {"b"} and plan.fingerprints == {"a": "f" * 40}
    assert plan.suite.families == (CORRECTNESS, TILT, SEX)
    assert families_of(plan) == {"a": [CORRECTNESS], "b": [TILT, SEX]}
    assert list(plan.suite.comparisons) == ["new"]  # both are in the book now
    plan = book.plan(families=[SEX])
    assert plan.chosen == {"a", "b", "e"}
    assert families_of(plan) == {"a": [CORRECTNESS, SEX], "b": [TILT, SEX], "e": [SEX]}


def test_a_model_that_no_family_of_the_book_tests_gets_no_new_ones(book):
    book.write([("a", CORRECTNESS)], order=["a", "e"])
    assert families_of(book.plan(["b"])) == {"a": [CORRECTNESS], "b": [CORRECTNESS, TILT, SEX], "e": []}


def test_names_that_are_gone_are_told(book):
    described = book.suite().describe()
    described["corpora"]["quiet"] = described["corpora"]["c"]
    book.write([("a", CORRECTNESS), ("old", CORRECTNESS), ("a", "old_family")], suite=described)
    plan = book.plan(["a"])
    assert "old" not in plan.suite.models and "old_family" not in plan.suite.families
    gone = ("model 'old'", "family 'old_family'", "corpus 'quiet'")
    words = "The suite no longer names the {}: its results were removed"
    assert plan.notices == tuple(map(words.format, gone))


@pytest.mark.parametrize(
    ("old", "new", "record"),
    [
        ("title: Small", "title: Large", {}),
        ("  c: {", "  d: {", {}),
        ("", "", {"order": ["x", "y"], "notebooks": []}),
    ],
)
def test_the_book_of_another_suite_is_refused(book, old, new, record):
    book.write([("a", CORRECTNESS)], **record)
    with pytest.raises(InputError, match="^--out .*: the folder holds the book of another suite"):
        book.plan(["b"], suite=book.suite(old, new))
