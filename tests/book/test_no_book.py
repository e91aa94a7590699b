"""Runs without a book: results as ever, and a book of before never passes for that of this run."""

import json

import pytest
from tests.support.hard_suite import write_table

pytestmark = pytest.mark.slow

SUITE = """
title: Small
studies: false
corpora:
  tones: {format: csv, path: segments.csv, audio: false}
models:
  listed: {predictions: answers.csv, tasks: [arousal]}
families: [correctness_regression]
"""


def pages(out):
    """Give content and time of all files of the book."""
    found = sorted(path for path in (out / "html").rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def test_a_run_without_a_book_gives_all_else_and_leaves_an_earlier_book_alone(tmp_path, undrawn):
    truth = [(f"{n}.wav", f"speaker {n % 6}", n * 0.37 % 1) for n in range(12)]
    write_table(tmp_path / "segments.csv", ["file", "speaker", "arousal"], truth)
    answers = [(name, min(1, value + 0.1 * (n % 3))) for n, (name, _, value) in enumerate(truth)]
    write_table(tmp_path / "answers.csv", ["file", "arousal"], answers)
    out = tmp_path / "out"

    def run(suite, *options):
        (tmp_path / "suite.yml").write_text(suite)
        done = undrawn("run", "suite.yml", "--out", "out", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        record = json.loads((out / "run.json").read_text())
        assert record["book"] is ("--no-book" not in options)
        return done.stdout, record

    said, record = run(SUITE, "--no-book")
    assert "Book: not built\n" in said and record["studies"] == [] and "book" not in record["seconds"]
    assert not (out / "html").exists() and not (out / "book-src").exists()
    results, notebook = out / "results.csv", out / "notebooks" / "listed" / "correctness_regression.ipynb"
    before, executed = results.read_bytes(), notebook.read_bytes()
    said, _ = run(SUITE)
    assert "Book: out/html/index.html\n" in said
    assert (results.read_bytes(), notebook.read_bytes()) == (before, executed)
    book = pages(out)
    assert book
    said, _ = run(f"{SUITE}replicates: 200\n", "--no-book")
    assert "Book: not built; out/html/index.html is the book of an earlier run\n" in said
    assert results.read_bytes() != before and pages(out) == book
