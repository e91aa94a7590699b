"""What a run of a part keeps of the book, and what it refuses to mix with it."""

import dataclasses
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.run import selection
from soundcheck.run.output import Output
from soundcheck.suite.entries import CorpusEntry
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

    def __init__(self, folder, recorded) -> None:
        self.folder, self.recorded = folder, recorded
        self.output = Output(folder / "out")
        self.output.prepare()
        self.notices: list[str] = []

    def suite(self, old: str = "", new: str = ""):
        assert old in SUITE
        (self.folder / "suite.yml").write_text(SUITE.replace(old, new))
        return read_suite(self.folder / "suite.yml")

    def write(self, pairs, **changes) -> None:
        """Write the record of a run of some models and families."""
        names = list(dict.fromkeys(model for model, _ in pairs))
        usual = {
            **{"version": __version__, "title": "Small", "order": names, "suite": self.suite().describe()},
            "notebooks": [
                {"model": model, "family": family, "status": "ok", "error": ""} for model, family in pairs
            ],
            "families": [
                {"name": name, "title": name, "category": "fairness", "question": "", "digest": ""}
                for name in dict.fromkeys(family for _, family in pairs)
            ],
            "corpora": [self.corpus_record(self.corpus())],
            "models": [self.model_record(name) for name in names],
        }
        self.recorded(**(usual | changes)).write(self.output.record)

    def model_record(self, name: str, **changes) -> dict:
        report = {"fingerprint": "f" * 40, "inputs": 3, "failed": 1, "unusable": 0, "out_of_range": 0}
        report |= {"repeated": 2, "repeated_different": 0, "unknown_classes": {}}
        about = {
            "kind": "python",
            "target": f"m:{name}",
            "tasks": ["arousal"],
            "description": "",
            "license": "",
        }
        failures = [{"corpus": "c", "item": "1.wav", "change": "", "reason": "no"}]
        notes = ["1 of 3 inputs have no prediction", "1 times: no", "the file has odd rows"]
        return {
            "name": name,
            "slug": name,
            "failures": failures,
            "notes": notes,
            **about,
            **report,
            **changes,
        }

    def corpus(self, count: int = 3) -> SimpleNamespace:
        table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "arousal": 0.5})
        table["key"], table["audio"] = table["file"] + "||", [f"digest {n}" for n in range(count)]
        return SimpleNamespace(name="c", segments=table, entry=CorpusEntry("c", "demo"), trials=None)

    def corpus_record(self, corpus) -> dict:
        about = dict.fromkeys(("format", "title", "description"), "")
        digest = files.digest("\n".join(corpus.segments["audio"]))
        counts = {"segments": len(corpus.segments), "speakers": 0, "seconds": 1.0}
        told = {"synthetic": False, "left_out": [], "notices": []}
        return {"name": "c", "slug": "c", "digest": digest, **about, **counts, **told}

    def plan(self, models=(), families=(), suite=None) -> selection.Plan:
        suite = suite or self.suite()
        chosen = dataclasses.replace(
            suite,
            models={name: entry for name, entry in suite.models.items() if not models or name in models},
            families=tuple(name for name in suite.families if not families or name in families),
            comparisons={},
        )
        return selection.plan_part(suite, chosen, self.output)


@pytest.fixture
def book(tmp_path, recorded):
    return Book(tmp_path, recorded)


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
    plan = book.plan(["b"])
    assert families_of(plan) == {"a": [CORRECTNESS], "b": [CORRECTNESS, TILT, SEX], "e": []}


def test_names_that_are_gone_are_told(book):
    described = book.suite().describe()
    described["corpora"]["quiet"] = described["corpora"]["c"]
    book.write([("a", CORRECTNESS), ("old", CORRECTNESS), ("a", "old_family")], suite=described)
    plan = book.plan(["a"])
    assert "old" not in plan.suite.models and "old_family" not in plan.suite.families
    assert plan.notices == (
        "The suite no longer names the model 'old': its results were removed",
        "The suite no longer names the family 'old_family': its results were removed",
        "The suite no longer names the corpus 'quiet': its results were removed",
    )


@pytest.mark.parametrize(
    ("old", "new", "record", "words"),
    [
        (
            "title: Small",
            "title: Large",
            {},
            r"--out .*: the folder holds the book of another suite \('Small' ",
        ),
        ("  c: {", "  d: {", {}, "the folder holds the book of another suite"),
        ("", "", {"order": ["x", "y"], "notebooks": []}, "the folder holds the book of another suite"),
    ],
)
def test_what_does_not_belong_together_is_refused(book, old, new, record, words):
    book.write([("a", CORRECTNESS)], **record)
    suite = book.suite(old, new)
    with pytest.raises(InputError) as caught:
        book.plan(["b"], suite=suite)
    assert re.search(words, str(caught.value)) and "--out" in str(caught.value)
