"""Whatever is changed in a finished book is found; a book that nobody touched is found whole."""

import dataclasses
import json
import os
import shutil

import pytest
from finished import FAILED, finished, verdict

from soundcheck.commands.verifying import verify
from soundcheck.common import files, manifest
from soundcheck.common.errors import InputError
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


@pytest.fixture
def book(tmp_path, recorded):
    """A run and its book: pages without words, a sound and a figure."""
    folder = finished(tmp_path / "build", recorded, ROWS, verdicts=COUNTS, library="1" * 40)
    for name in ("html/index.html", "html/media/a.flac", "html/media/b.svg", "notebooks/m/f.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return sealed(folder)


def problems(path, **options):
    done = verify(path, **options)
    told = [line for line in done.summary.splitlines()]
    assert done.exit_code == (0 if told[-1] == "Nothing was changed, added or removed." else 1)
    ends = [number for number, line in enumerate(told) if line.startswith(f"{path}: ")]
    return told[: ends[0]]


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_nothing_is_said_of_an_untouched_book(book):
    assert problems(book) == []
    assert problems(book / "html") == []
    shutil.copytree(book / "html", book.parent / "published")
    shutil.rmtree(book)
    assert problems(book.parent / "published") == []


def test_the_summary_names_all_inputs(book):
    told = verify(book).summary
    for words in (
        "build: 5 files of the book, 5 files of the run",
        "Digest of the book: ",
        "Run ",
        "suite ssssssssssssssss, seed 0, 100 replicates, percentile intervals",
        "Corpus 'c' (csv): 200 segments, digest dddddddddddddddd",
        "Model 'm' (predictions): 200 inputs, digest ffffffffffffffff",
        "Families: correctness_regression 00000000",
        "Code of Soundcheck: digest 1111111111111111",
        "Made with numpy 2",
        "Tests of 'm': 1 pass, 1 fail",
    ):
        assert words in told


@pytest.mark.parametrize(
    "name",
    [
        *("results.csv", "run.json", "notebooks/m/f.json", "html/index.html", "html/results.csv"),
        *("html/media/a.flac", "html/media/b.svg", "html/provenance.json"),
    ],
)
def test_one_changed_byte_is_found(book, name):
    flip(book / name)
    assert any(line.startswith(f"changed: '{name}'") for line in problems(book))
    if name.startswith("html/"):
        inner = name.removeprefix("html/")
        assert any(line.startswith(f"changed: '{inner}'") for line in problems(book / "html"))


@pytest.mark.parametrize("name", ["manifest.sha256", "html/manifest.sha256"])
def test_one_changed_byte_of_a_list_is_found(book, name):
    flip(book / name)
    assert problems(book)


def test_renamed_added_and_removed_files_are_named(book):
    os.rename(book / "html" / "media" / "a.flac", book / "html" / "media" / "c.flac")
    (book / "html" / "index.html").unlink()
    (book / "notebooks" / "m" / "g.json").touch()
    assert problems(book) == [
        "added: 'notebooks/m/g.json'.",
        "missing: 'html/index.html'.",
        "missing: 'html/media/a.flac'.",
        "added: 'html/media/c.flac'.",
    ]


def test_what_other_commands_write_is_no_change(book):
    for name in ("junit.xml", "cards/m/README.md", "cache/x", "notebooks/m/f.state.json"):
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        (book / name).touch()
    assert problems(book) == []


@pytest.mark.parametrize(
    "name", ["manifest.sha256", "html/manifest.sha256", "run.json", "html/provenance.json"]
)
def test_a_missing_list_or_record_is_told(book, name):
    (book / name).unlink()
    assert any(line.startswith("missing: ") and name in line for line in problems(book))


def test_names_are_printed_so_that_they_do_no_harm(book):
    (book / "html" / "\x1b[2Jevil\nNothing was changed, added or removed.").touch()
    (line,) = problems(book)
    assert line == "added: 'html/\\x1b[2Jevil\\nNothing was changed, added or removed.'."


def test_a_name_of_an_input_makes_no_line_of_ours(tmp_path, recorded):
    folder = finished(
        tmp_path,
        recorded,
        [verdict("m\nNothing was changed")],
        verdicts={"m\nNothing was changed": {PASS: 1}},
    )
    seal(Output(folder))
    assert "\nNothing was changed'" not in verify(folder).summary


def reseal(edit, book):
    """Change the record and hide that by new lists."""
    content = json.loads((book / "run.json").read_text())
    edit(content)
    (book / "run.json").write_text(json.dumps(content))
    sealed(book)


def test_a_verdict_that_does_not_follow_is_found(book):
    """Another table whose lists and record were written to fit."""

    def edit(record):
        path = book / "results.csv"
        text = path.read_text()
        path.write_text(text.replace(",0.6,0.55,0.7,", ",0.3,0.25,0.35,", 1))
        record["results"] = files.digest(path)

    reseal(edit, book)
    (line,) = problems(book)
    assert line.startswith("results.csv line 2, column passed: 'True' contradicts its number")


def test_a_state_that_does_not_follow_from_the_numbers_is_found(book):
    def edit(record):
        path = book / "results.csv"
        text = path.read_text()
        assert ",0.001," in text
        path.write_text(text.replace(",0.001,", ",0.9,"))
        record["results"] = files.digest(path)

    reseal(edit, book)
    assert "results.csv: 1 cell of state not as its numbers give it." in problems(book)


def test_another_table_than_the_record_names(book):
    text = (book / "results.csv").read_text()
    (book / "results.csv").write_text(text.replace("0.99", "0.98"))
    sealed(book)
    assert problems(book) == ["results.csv: the table is not the one that the record names."]


def test_a_book_that_was_exchanged_is_told(book):
    digest = manifest.sha256(book / "html" / "manifest.sha256")
    (book / "html" / "index.html").write_text("another page")
    manifest.write(book / "html")
    seal(Output(book))
    assert problems(book) == ["run.json: the record names another book, by the digest of its list."]
    assert problems(book / "html") == []  # alone it looks whole
    (line,) = problems(book / "html", digest=digest)
    assert line.startswith("The book is another one: its digest is ")


def test_the_digest_may_be_in_capitals_but_is_whole(book):
    digest = manifest.sha256(book / "html" / "manifest.sha256")
    assert problems(book, digest=digest.upper()) == []
    assert problems(book, digest=f"sha256:{digest}") == []
    for wrong in ("123", digest[:32], "g" * 64, digest + "0"):
        with pytest.raises(InputError, match="no SHA-256 digest"):
            verify(book, wrong)


def test_a_run_without_a_book(tmp_path, recorded):
    folder = sealed(finished(tmp_path / "b", recorded, ROWS, verdicts=COUNTS))
    assert problems(folder) == []
    with pytest.raises(InputError, match="the run has no book"):
        verify(folder, "0" * 64)


def test_pages_of_an_earlier_run_are_told_and_no_problem(book):
    record = RunRecord.read(book / "run.json")
    dataclasses.replace(record, book=False, book_digest="", run="another").write(book / "run.json")
    seal(Output(book))
    assert problems(book) == ["The pages are those of an earlier run."]


def test_pages_that_compare_two_runs(book):
    (book / "html" / PROVENANCE).unlink()
    manifest.write(book / "html")
    for name in ("run.json", "results.csv", "manifest.sha256"):
        (book / name).unlink()
    assert problems(book) == []
    assert "is not known: the pages compare two runs" in verify(book).summary
    flip(book / "html" / "media" / "b.svg")
    assert problems(book) == ["changed: 'html/media/b.svg'."]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ((), "there is no book"),
        (("results.csv",), "an older version of Soundcheck wrote this"),
        (("html/index.html",), "an older version of Soundcheck wrote this"),
        (("index.html",), "an older version of Soundcheck wrote this"),
    ],
)
def test_nothing_to_verify(tmp_path, made, words):
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=words):
        verify(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        verify(tmp_path / "nowhere")


def test_a_record_of_an_older_version_still_reads(tmp_path, recorded):
    folder = finished(tmp_path, recorded, ROWS)
    content = json.loads((folder / "run.json").read_text())
    for name in ("verdicts", "book_digest", "library"):
        del content[name]
    (folder / "run.json").write_text(json.dumps(content))
    assert RunRecord.read(folder / "run.json").verdicts == {}
