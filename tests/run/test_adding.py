"""What a run of a part keeps of the book, and what it refuses to mix with it."""

import dataclasses
import os
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.predict.tables import Row, write_predictions
from soundcheck.run import adding
from soundcheck.run.output import Output
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

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
        notes = ["1 of 3 inputs have no answer", "1 times: no", "the file has odd rows"]
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

    def predictions(self, name: str, changes=("",), count: int = 3) -> str:
        rows = [Row(f"{n}.wav||", change, {"arousal": 0.5}) for n in range(count) for change in changes]
        return write_predictions(self.output.predictions / name / "c.parquet", rows, [BUILTIN["arousal"]])

    def plan(self, models=(), families=(), suite=None) -> adding.Plan:
        suite = suite or self.suite()
        chosen = dataclasses.replace(
            suite,
            models={name: entry for name, entry in suite.models.items() if not models or name in models},
            families=tuple(name for name in suite.families if not families or name in families),
            comparisons={},
        )
        return adding.add(suite, chosen, self.output)

    def keep(self, plan, corpus=None, **fingerprints):
        families = [read_family(name) for name in plan.suite.families]
        corpora = [corpus or self.corpus()]
        return adding.keep_answers(plan, families, corpora, Sounds({}), self.output, fingerprints)


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
    assert (list(plan.suite.models), plan.suite.families, plan.kept) == (["a"], (SEX,), [])


def test_what_the_book_has_stays(book):
    book.write([("a", CORRECTNESS), ("b", TILT)])
    plan = book.plan(["b"], [SEX])
    assert plan.asked == {"b"} and [entry.name for entry in plan.kept] == ["a"]
    assert plan.suite.families == (CORRECTNESS, TILT, SEX)
    assert families_of(plan) == {"a": [CORRECTNESS], "b": [TILT, SEX]}
    assert list(plan.suite.comparisons) == ["new"]  # both are in the book now
    plan = book.plan(families=[SEX])
    assert plan.asked == {"a", "b", "e"}
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
        ("m:a", "m:c", {}, r"^model 'a': .* out of date: its entry in .*asked \(python\)\. Add --model 'a'"),
        (
            ", tasks: [arousal]}\n  b",
            ", tasks: [arousal, valence]}\n  b",
            {},
            r"out of date: .* asked \(tasks\)",
        ),
        ('"m:a", ', '"m:a", range: [1, 7], ', {}, r"out of date: .* asked \(range\)"),
        ('"m:a", ', '"m:a", batch: 4, ', {}, r"out of date: .* asked \(batch\)"),
        ('"m:a", ', '"m:a", files: [suite.yml], ', {}, r"out of date: .* asked \(files\)"),
        ('"m:a", ', '"m:a", batch: 4, corpora: [c], ', {}, r"out of date: .* asked \(batch, corpora\)"),
        ("title: Small", "title: Small\nseed: 4", {}, "it was asked with seed 0, the suite now says 4"),
        ("", "", {"version": "0.0.1"}, r"it was asked by version 0\.0\.1 of Soundcheck, this is "),
    ],
)
def test_what_does_not_belong_together_is_refused(book, old, new, record, words):
    book.write([("a", CORRECTNESS)], **record)
    suite = book.suite(old, new)
    with pytest.raises(InputError) as caught:
        book.plan(["b"], suite=suite)
    assert re.search(words, str(caught.value)) and "--out" in str(caught.value)
    if "out of date" in words or "it was asked" in words:
        assert book.plan(["a", "b"], suite=suite).kept == []  # the remedy


def test_other_thresholds_and_descriptions_put_nothing_out_of_date(book):
    book.write([("a", CORRECTNESS)])
    suite = book.suite("title: Small", "title: Small\nreplicates: 500\nthresholds: simulated")
    assert [entry.name for entry in book.plan(["b"], suite=suite).kept] == ["a"]


def test_kept_answers_are_reported_as_they_were(book):
    digest = book.predictions("a")
    book.write([("a", CORRECTNESS)], models=[book.model_record("a", digests={"c": digest})])
    place = book.output.predictions / "a" / "c.parquet"
    os.utime(place, (1_700_000_000, 1_700_000_000))
    report = book.keep(book.plan(["b"]))["a"]
    assert (report.answers_of, report.tables, report.digests) == ("2023-11-14", {"c": place}, {"c": digest})
    assert (report.inputs, report.failed, report.repeated, report.fingerprint) == (3, 1, 2, "f" * 40)
    assert report.notes() == [
        "this run did not ask the model: its answers are those of 2023-11-14",
        *("1 of 3 inputs have no answer", "1 times: no", "the file has odd rows"),
    ]
    # Once more: the day and the notes stay what they are.
    again = book.model_record("a", answers_of="2023-11-13", notes=report.notes())
    again["notes"][0] = again["notes"][0].replace("14", "13")
    book.write([("a", CORRECTNESS)], models=[again])
    assert book.keep(book.plan(["b"]))["a"].notes() == again["notes"]


def test_kept_answers_for_something_else_are_refused(book):
    book.predictions("a")
    book.write([("a", CORRECTNESS)])
    plan = book.plan(["b"])
    for corpus in (book.corpus(4), book.corpus()):
        corpus.segments.loc[1, "audio"] = "another sound"
        with pytest.raises(
            InputError, match=r"model 'a': .*the corpus 'c' changed \(3 segments then, \d now\)"
        ):
            book.keep(plan, corpus)
    labelled = book.corpus()
    labelled.segments["arousal"] = np.linspace(0, 1, 3)  # labels are none of the model's business
    assert set(book.keep(plan, labelled)) == {"a"}
    book.predictions("a", count=2)
    with pytest.raises(InputError, match="it was not asked about all segments of the corpus 'c'"):
        book.keep(plan)
    (book.output.predictions / "a" / "c.parquet").unlink()
    with pytest.raises(InputError, match="it was not asked about the corpus 'c'"):
        book.keep(plan)


def test_kept_answers_must_cover_the_changes_of_their_families(book):
    tilt = read_family(TILT)
    names = [change.identity for change in tilt.all_changes]
    book.write([("a", TILT)])
    plan = book.plan(["b"])
    book.predictions("a", ("", *names))
    assert set(book.keep(plan)) == {"a"}
    book.predictions("a", ("", *names[1:]))
    with pytest.raises(InputError, match="it was not asked about the change '.+' of the corpus 'c'"):
        book.keep(plan)


def test_kept_answers_are_those_of_the_files_of_now(book):
    book.predictions("a")
    book.write([("a", CORRECTNESS)])
    plan = book.plan(["b"])
    assert set(book.keep(plan, a="f" * 40)) == {"a"}  # nobody knows of a model that cannot be loaded
    with pytest.raises(InputError, match=r"model 'a': .*its files or its code changed.*Add --model 'a'"):
        book.keep(plan, a="e" * 40)


def test_a_task_that_means_something_else_puts_answers_out_of_date(book):
    old = 'models:\n  a: {python: "m:a", tasks: [arousal]}'
    declared = "tasks: {joy: {type: regression, range: [1, 7]}}\n" + old.replace("[arousal", "[arousal, joy")
    described = book.suite(old, declared).describe()
    book.write([("a", CORRECTNESS)], suite=described)
    assert [entry.name for entry in book.plan(["b"], suite=book.suite(old, declared)).kept] == ["a"]
    with pytest.raises(InputError, match="out of date: the task 'joy' changed since it was asked"):
        book.plan(["b"], suite=book.suite(old, declared.replace("7", "5")))


def test_tables_that_a_stopped_run_replaced_are_noticed(book):
    digest = book.predictions("a")
    book.write([("a", CORRECTNESS)], models=[book.model_record("a", digests={"c": digest})])
    rows = [Row(f"{n}.wav||", "", {"arousal": 0.6}) for n in range(3)]
    write_predictions(book.output.predictions / "a" / "c.parquet", rows, [BUILTIN["arousal"]])
    with pytest.raises(InputError, match="those for the corpus 'c' were replaced after the book was built"):
        book.keep(book.plan(["b"]))
