"""The page *History* of a book: there from the second kept run on, and the same for the same history."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.common import files

pytestmark = pytest.mark.slow

SUITE = """
title: Small
history: kept
corpora:
  calls: {format: csv, path: segments.csv, audio: false}
models:
  ours: {predictions: answers.csv, tasks: [arousal]}
families: [correctness_regression]
interval: t
replicates: 100
studies: false
"""


@pytest.mark.usefixtures("forked_sphinx")
def test_the_book_gets_a_page_of_kept_runs(tmp_path, undrawn):
    (tmp_path / "suite.yml").write_text(SUITE)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(120)], "duration": 2.0})
    table["speaker"] = [f"s{n % 10}" for n in range(120)]
    table["arousal"] = rng.uniform(0.1, 0.9, 120).round(3)
    table.to_csv(tmp_path / "segments.csv", index=False)
    error = rng.normal(0, 0.1, 120)

    def run(size, *options):
        answers = table[["file"]].assign(arousal=(table["arousal"] + size * error).clip(-0.1, 1.1))
        answers.to_csv(tmp_path / "answers.csv", index=False)
        done = undrawn("run", "suite.yml", *options, cwd=tmp_path, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr

    def pages():
        html = tmp_path / "build" / "html"
        return {str(path): files.digest(path) for path in sorted(html.rglob("*")) if path.is_file()}

    run(1, "--no-book")
    run(3)
    text = (tmp_path / "build" / "html" / "over_time.html").read_text(encoding="utf-8")
    assert "2 runs, 3 tests" in text and "▼ worse" in text and 'href="history.csv"' in text
    assert 'href="over_time.html"' in (tmp_path / "build" / "html" / "index.html").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    before = pages()
    run(3)
    assert pages() == before and len([p for p in (tmp_path / "kept").iterdir() if p.is_dir()]) == 2
