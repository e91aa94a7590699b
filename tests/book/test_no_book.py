"""Runs without a book: results as ever, and a book of before never passes for that of this run."""

import json

import numpy as np
import pytest

from soundcheck.corpora import audio

pytestmark = pytest.mark.slow

SUITE = """
title: Small
corpora:
  tones: {format: csv, path: segments.csv}
models:
  listed: {predictions: answers.csv, tasks: [arousal]}
families: [correctness_regression]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    rng = np.random.default_rng(0)
    segments, answers = ["file,speaker,arousal"], ["file,arousal"]
    for number in range(12):
        name, truth = f"{number}.wav", rng.uniform()
        audio.write(folder / name, 0.1 * rng.standard_normal(1600).astype(np.float32), 16000)
        segments.append(f"{name},speaker {number % 6},{truth:.3f}")
        answers.append(f"{name},{np.clip(truth + rng.normal(0, 0.1), 0, 1):.3f}")
    (folder / "segments.csv").write_text("\n".join(segments) + "\n")
    (folder / "answers.csv").write_text("\n".join(answers) + "\n")
    (folder / "suite.yml").write_text(SUITE)
    return folder


def pages(out):
    """Content and time of all files of the book."""
    files = sorted(path for path in (out / "html").rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_run_without_a_book_gives_all_else_and_leaves_an_earlier_book_alone(project, undrawn):
    out = project / "out"

    def run(*options):
        done = undrawn("run", "suite.yml", "--out", "out", *options, cwd=project)
        return done, json.loads((out / "run.json").read_text())

    done, record = run("--no-book")
    assert done.returncode == 0, done.stderr
    assert "Book: not built\n" in done.stdout
    assert record["book"] is False and record["studies"] == [] and "book" not in record["seconds"]
    assert not (out / "html").exists() and not (out / "book-src").exists()
    results = (out / "results.csv").read_bytes()
    notebook = out / "notebooks" / "listed" / "correctness_regression.ipynb"
    executed = notebook.read_bytes()

    (project / "suite.yml").write_text(SUITE + "studies: false\n")  # costs the book a minute of simulations
    done, record = run()
    assert done.returncode == 0, done.stderr
    assert "Book: out/html/index.html\n" in done.stdout
    assert record["book"] is True
    assert (out / "results.csv").read_bytes() == results and notebook.read_bytes() == executed
    book = pages(out)
    assert book

    (project / "suite.yml").write_text(SUITE + "studies: false\nreplicates: 200\n")
    done, record = run("--no-book")
    assert done.returncode == 0, done.stderr
    assert "Book: not built; out/html/index.html is the book of an earlier run\n" in done.stdout
    assert record["book"] is False
    assert (out / "results.csv").read_bytes() != results
    assert pages(out) == book
