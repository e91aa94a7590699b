"""What a run of a part keeps of the book, and what it refuses to mix with it."""

import dataclasses
import os
from types import SimpleNamespace

import pandas as pd
import pytest
from finished import corpora_of, models_of, record

from soundcheck import pipeline
from soundcheck.common.messages import InputError
from soundcheck.common.store import CACHE_VARIABLE
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


@pytest.fixture
def book(tmp_path):
    """Make an output folder with the record of a run, as if models had been asked."""
    output = Output(tmp_path / "out")
    output.prepare()

    def suite(old="", new=""):
        assert old in SUITE
        (tmp_path / "suite.yml").write_text(SUITE.replace(old, new))
        return read_suite(tmp_path / "suite.yml")

    def write(pairs, **changes) -> None:
        """Write the record of a run of some models and families."""
        table = pd.DataFrame(pairs, columns=["model", "family"]).assign(task="arousal", corpus="c")
        about = {"category": "fairness", "question": "", "digest": ""}
        usual = {
            **{"title": "Small", "order": [*table["model"].unique()], "suite": suite().describe()},
            **{"corpora": corpora_of(table), "models": models_of(table, {})},
            "notebooks": [{"model": m, "family": f, "status": "ok", "error": ""} for m, f in pairs],
            "families": [{"name": name, "title": name} | about for name in table["family"].unique()],
        }
        record(**(usual | changes)).write(output.record)

    def plan(models=(), families=(), given=None) -> selection.Plan:
        given = given or suite()
        chosen = dataclasses.replace(selection.select(given, models, families), comparisons={})
        return selection.plan_part(given, chosen, output)

    return SimpleNamespace(suite=suite, write=write, plan=plan)


def families_of(plan) -> dict[str, list[str]]:
    return {
        name: [family for family in plan.suite.families if entry.is_for(family)]
        for name, entry in plan.suite.models.items()
    }


def test_what_the_book_has_stays(book):
    plan = book.plan(["a"], [SEX])  # there is no book yet
    assert (list(plan.suite.models), plan.suite.families, plan.fingerprints) == (["a"], (SEX,), {})
    book.write([("a", CORRECTNESS), ("b", TILT)])
    plan = book.plan(["b"], [SEX])
    assert plan.chosen == {"b"} and plan.fingerprints == {"a": "f" * 40}
    assert plan.suite.families == (CORRECTNESS, TILT, SEX)
    assert families_of(plan) == {"a": [CORRECTNESS], "b": [TILT, SEX]}
    assert list(plan.suite.comparisons) == ["new"]  # both are in the book now
    plan = book.plan(families=[SEX])
    assert plan.chosen == {"a", "b", "e"}
    assert families_of(plan) == {"a": [CORRECTNESS, SEX], "b": [TILT, SEX], "e": [SEX]}
    book.write([("a", CORRECTNESS)], order=["a", "e"])  # no family tests e
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
    ("old", "new", "changes"),
    [
        ("title: Small", "title: Large", {}),
        ("  c: {", "  d: {", {}),
        ("", "", {"order": ["x", "y"], "notebooks": []}),
    ],
)
def test_the_book_of_another_suite_is_refused(book, old, new, changes):
    book.write([("a", CORRECTNESS)], **changes)
    with pytest.raises(InputError, match="^--out .*: the folder holds the book of another suite"):
        book.plan(["b"], given=book.suite(old, new))


def test_the_next_run_of_the_same_process_has_a_cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    (tmp_path / "t.csv").write_text("file,speaker,arousal\na.wav,s1,0.5\nb.wav,s2,0.7\n")
    corpus, model = "{format: csv, path: t.csv, audio: false}", "{predictions: t.csv, tasks: [arousal]}"
    (tmp_path / "s.yml").write_text(f"corpora: {{t: {corpus}}}\nmodels: {{m: {model}}}\nfamilies: all\n")
    options = selection.RunOptions(suite=tmp_path / "s.yml", out=tmp_path / "out")
    assert pipeline.plan_run(options).exit_code == 0 and CACHE_VARIABLE not in os.environ
