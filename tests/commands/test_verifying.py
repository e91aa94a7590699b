"""Whatever is changed in a finished book is found; which tests are run again, and what counts as the same."""

import dataclasses
import itertools
import json
import os
import shutil
import types

import pandas as pd
import pytest
from finished import FAILED, finished, verdict

from soundcheck.commands import verifying
from soundcheck.commands.verifying import verify
from soundcheck.common import files, manifest
from soundcheck.common.messages import InputError
from soundcheck.results.record import PROVENANCE, Provenance, RunRecord
from soundcheck.results.states import FAIL, PASS, decide
from soundcheck.results.table import to_frame, to_verdicts
from soundcheck.run.output import Output, seal

ROWS = [*to_verdicts(decide(to_frame([verdict(), verdict(test="U", **FAILED), verdict("n")]))).values()]
COUNTS = {"m": {PASS: 1, FAIL: 1}, "n": {PASS: 1}}


def sealed(folder):
    """Write the lists of a folder anew, as somebody would who hides a change."""
    output = Output(folder)
    if output.html.is_dir():
        shutil.copyfile(output.results, output.html / "results.csv")
        record = RunRecord.read(output.record)
        Provenance.of(record).write(output.html / PROVENANCE)
        digest = manifest.write(output.html)
        dataclasses.replace(record, book=True, book_digest=digest).write(output.record)
    seal(output)
    return folder


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A run and its book: pages without words, a sound and a figure."""
    folder = finished(tmp_path_factory.mktemp("run"), ROWS, verdicts=COUNTS, library="1" * 40)
    for name in ("html/index.html", "html/media/a.flac", "html/media/b.svg", "notebooks/m/f.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return sealed(folder)


@pytest.fixture
def book(untouched, tmp_path):
    return shutil.copytree(untouched, tmp_path / "build")


def problems(path, **options):
    done = verify(path, **options)
    lines = done.summary.splitlines()
    assert done.exit_code == (0 if lines[-1] == "Nothing was changed, added or removed." else 1)
    return list(itertools.takewhile(lambda line: not line.startswith(f"{path}: "), lines))


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


SUMMARY = (
    *("build: 5 files of the book, 5 files of the run", "Digest of the book:"),
    *("suite ssssssssssssssss, seed 0, 100 replicates, percentile intervals", "Tests of 'm': 1 pass, 1 fail"),
    *("Corpus 'c' (csv): 200 segments, digest dddddddddddddddd", "Made with numpy 2"),
    *("Model 'm' (predictions): 200 inputs, digest ffffffffffffffff", "digest 1111111111111111"),
)


def test_an_untouched_book_is_whole_and_the_summary_names_all_inputs(book, tmp_path):
    assert problems(book) == problems(book / "html") == []
    assert all(words in verify(book).summary for words in SUMMARY)
    assert problems(shutil.move(book / "html", book.parent / "published")) == []
    name = "m\nNothing was changed"  # makes no line of ours
    seal(Output(finished(tmp_path / "odd", [verdict(name)], verdicts={name: {PASS: 1}})))
    assert "\nNothing was changed'" not in verify(tmp_path / "odd").summary


LISTS = ["manifest.sha256", "html/manifest.sha256"]
FILES = ["results.csv", "run.json", "html/index.html", "html/results.csv", "html/media/a.flac"]


def test_one_changed_byte_or_a_missing_file_is_found(book):
    for name in (*FILES, *LISTS):
        content = (book / name).read_bytes()
        flip(book / name)
        assert any(name in LISTS or line.startswith(f"changed: '{name}'") for line in problems(book))
        if name.startswith("html/"):
            assert problems(book / "html")
        (book / name).unlink()
        assert any(line.startswith("missing: ") and name in line for line in problems(book))
        (book / name).write_bytes(content)
        assert problems(book) == []


def test_renamed_added_and_removed_files_are_named(book):
    os.rename(book / "html" / "media" / "a.flac", book / "html" / "media" / "c.flac")
    (book / "html" / "\x1b[2Jevil\nNothing was changed, added or removed.").touch()
    for name in ("junit.xml", "cards/m/README.md", "cache/x", "notebooks/m/f.state.json"):
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        (book / name).touch()  # what other commands write is no change
    (book / "notebooks" / "m" / "g.json").touch()
    assert problems(book) == [
        "added: 'notebooks/m/g.json'.",
        "added: 'html/\\x1b[2Jevil\\nNothing was changed, added or removed.'.",
        "missing: 'html/media/a.flac'.",
        "added: 'html/media/c.flac'.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (",0.6,0.55,0.7,", ",0.3,0.25,0.35,", "results.csv line 2, column passed: 'True' contradicts"),
        (",0.001,", ",0.9,", "results.csv: 1 cell of state not as its numbers give it."),
        ("0.99", "0.98", "results.csv: the table is not the one that the record names."),
    ],
)
def test_another_table_whose_lists_were_written_to_fit(book, old, new, problem):
    text = (book / "results.csv").read_text()
    assert old in text
    (book / "results.csv").write_text(text.replace(old, new, 1))
    if "record" not in problem:
        record = json.loads((book / "run.json").read_text())
        record["results"] = files.digest(book / "results.csv")
        (book / "run.json").write_text(json.dumps(record))
    assert any(line.startswith(problem) for line in problems(sealed(book)))


def test_a_book_that_was_exchanged_has_another_digest(book):
    digest = manifest.sha256(book / "html" / "manifest.sha256")
    assert problems(book, digest=f"sha256:{digest.upper()}") == []
    for wrong in ("123", "g" * 64, digest + "0"):
        with pytest.raises(InputError, match="no SHA-256 digest"):
            verify(book, wrong)
    (book / "html" / "index.html").write_text("another page")
    manifest.write(book / "html")
    seal(Output(book))
    assert problems(book) == ["run.json: the record names another book, by the digest of its list."]
    assert problems(book / "html") == []  # alone it looks whole
    (line,) = problems(book / "html", digest=digest)
    assert line.startswith("The book is another one: its digest is ")


def test_runs_without_a_book_or_with_that_of_an_earlier_run(book, tmp_path):
    folder = sealed(finished(tmp_path / "b", ROWS, verdicts=COUNTS))
    assert problems(folder) == []
    with pytest.raises(InputError, match="the run has no book"):
        verify(folder, "0" * 64)
    record = RunRecord.read(book / "run.json")
    dataclasses.replace(record, book=False, book_digest="", run="another").write(book / "run.json")
    seal(Output(book))
    assert problems(book) == ["The pages are those of an earlier run."]
    dataclasses.replace(record, verdicts=COUNTS | {"m": {PASS: 2}}).write(book / "run.json")
    assert any("of 'm' there are 1 pass, 1 fail, " in line for line in problems(sealed(book)))


def test_pages_that_compare_two_runs(book):
    for name in ("run.json", "results.csv", "manifest.sha256", f"html/{PROVENANCE}"):
        (book / name).unlink()
    manifest.write(book / "html")
    assert problems(book) == []
    assert "is not known: the pages compare two runs" in verify(book).summary
    flip(book / "html" / "media" / "b.svg")
    assert problems(book) == ["changed: 'html/media/b.svg'."]


def test_what_cannot_be_verified(tmp_path):
    older = tmp_path / "older"
    older.mkdir()
    (older / "results.csv").touch()
    cases = {tmp_path / "nowhere": "no such folder", tmp_path: "there is no book", older: "an older version"}
    for folder, problem in cases.items():
        with pytest.raises(InputError, match=problem):
            verify(folder)


MANY = to_frame([verdict(f"m{n % 4}", test=f"t{n}") for n in range(40)])


def test_the_same_seed_draws_the_same_tests_in_any_order():
    drawn = set(verifying.draw(MANY, 5, 0)["test"])
    assert set(verifying.draw(MANY.sample(frac=1, random_state=1), 5, 0)["test"]) == drawn
    assert drawn < set(verifying.draw(MANY, 6, 0)["test"])
    assert set(verifying.draw(MANY, 5, 1)["test"]) != drawn
    assert (len(drawn), len(verifying.draw(MANY, 100, 0))) == (5, 40)


NONE = {"value": None, "low": None, "high": None, "passed": None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"value": 0.6 + 1e-12}, ""),
        ({"holds": True}, ""),  # which depends on all tests of the run
        ({"value": 0.61}, "value 0.6, now 0.61 (by 0.01)"),
        ({"value": 0.4, "passed": False}, "value 0.6, now 0.4 (by 0.2), passed True, now False"),
        (NONE | {"certainty": None, "skipped": "error: it\nfailed"}, "('error: it\\nfailed')"),
    ],
)
def test_a_difference_is_reported_with_its_size(change, words):
    lines = verifying.unlike(to_frame([verdict()]), to_frame([verdict(**change)]))
    where = "m / c / correctness_regression / arousal / Concordance Correlation Coeff: "
    assert len(lines) == bool(words)
    assert all(line.startswith(where) and line.endswith(words) for line in lines)


def test_tests_that_came_or_went_are_reported_first():
    old, new = [verdict(), verdict(test="a")], [verdict(value=0.7), verdict(test="b")]
    first, second, third = verifying.unlike(to_frame(old), to_frame(new))
    assert {first.rpartition(": ")[2], second.rpartition(": ")[2]} == {"is not there now", "is new"}
    assert "value 0.6, now 0.7" in third
    assert verifying.unlike(MANY, MANY.sample(frac=1, random_state=2)) == []
    nothing = to_frame([verdict(**NONE, skipped="too few")])
    assert verifying.unlike(nothing, nothing) == []


def test_a_run_for_each_model_but_together_for_families_that_look_at_others(monkeypatch):
    others = {"f": False, "g": False, "x": True}
    monkeypatch.setattr(
        verifying, "read_family", lambda name, root: types.SimpleNamespace(others=others[name])
    )
    suite = types.SimpleNamespace(root=None, models=dict.fromkeys("abcd"))
    table = pd.DataFrame({"model": ["a", "b", "c", "d"], "family": ["x", "x", "x", "f"]})
    pairs = pd.DataFrame([("a", "f"), ("b", "g"), ("a", "g"), ("b", "x")], columns=["model", "family"])
    runs = list(verifying._runs(pairs, table, suite))
    assert runs == [(["a"], ["f", "g"]), (["b"], ["g"]), (["a", "b", "c"], ["x"])]
