"""Tables and long recordings: what is read, matched and written grows with their segments, and no faster."""

import gc
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks import large_tables

from soundcheck.corpora.load import load_corpus
from soundcheck.models.base import LookUpModel, check_model
from soundcheck.predict.engine import look_up, predict_models
from soundcheck.predict.request import PredictionRequest, list_segments
from soundcheck.predict.tables import read_predictions
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow


def make_suite(folder: Path, segments: int, files: int) -> Path:
    return large_tables.make_segments(folder, segments, files, 1, ("correctness_regression",))


def predict(suite_file: Path):
    """Do what a run does with its corpus and its model before anything is computed."""
    suite, out = read_suite(suite_file), suite_file.parent / "out"
    corpus = load_corpus(suite.corpora["calls"], suite, out / "cache")
    entry = suite.models["model1"]
    fingerprint = check_model(entry, suite, [corpus])
    request = PredictionRequest(entry, suite, [corpus], {}, out, out / "cache", fingerprint)
    (report,) = predict_models([request])
    return corpus, report


@pytest.mark.parametrize("in_one_file", [True, False])
def test_calls_grow_with_the_segments(tmp_path, in_one_file):
    def calls(count: int) -> int:
        """Count the functions, Python's and others, that are called."""
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        suite, counts = make_suite(folder, count, 1 if in_one_file else count // 50), []
        sys.setprofile(lambda frame, event, argument: counts.append(event))
        try:
            predict(suite)
        finally:
            sys.setprofile(None)
        return counts.count("call") + counts.count("c_call")

    calls(100)  # pays for what is imported late
    small, middle, large = (calls(count) for count in (500, 1000, 2000))
    assert large - middle < 2.2 * (middle - small)
    assert (large - middle) / 1000 < 100  # for each segment


def test_answers_are_those_of_the_table_and_memory_is_small(tmp_path):
    suite, count = make_suite(tmp_path, 6000, 20), 6000
    corpus, report = predict(suite)
    assert (report.inputs, report.computed, report.unusable) == (count, count, 0)
    rows = read_predictions(report.tables["calls"])
    given = pd.read_csv(tmp_path / "model1.csv", dtype=str).astype({"start": float, "end": float})
    given = given.sort_values(["file", "start"], ignore_index=True)
    assert rows["key"].tolist() == corpus.segments["key"].tolist()
    assert rows["arousal"].tolist() == given["arousal"].astype(float).tolist()
    assert rows["emotion"].tolist() == given["emotion"].tolist()
    gc.collect()
    tracemalloc.start()
    try:
        predict(suite)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / count < 3000  # bytes a segment


class Numbered(LookUpModel):
    """Answers with a number that tells segment and change; knows nothing of every third segment."""

    fingerprint, changes_audio = "f", True

    @classmethod
    def load(cls, entry, suite):
        return cls()

    def look_up(self, corpus, change):
        values = np.arange(3) + {"": 0.0, "low": 100.0, "high": 200.0}[change]
        return {"arousal": values}, ["no row", "", ""]


def test_changes_stand_behind_their_segment():
    frame = pd.DataFrame({"file": ["a.wav", "b.wav", "b.wav"], "key": list("abc"), "audio": list("123")})
    frame["start"], frame["end"] = [np.nan, 0.0, 1.5], [np.nan, 1.5, np.nan]
    corpus = SimpleNamespace(name="demo", segments=frame, root=Path("/data"))
    changes = {name: SimpleNamespace(name=name.title()) for name in ("low", "high")}

    def wanted(corpus):
        return {"low": np.array([True, False, True]), "high": np.array([True, True, False])}

    report, tables = look_up(Numbered(), [corpus], changes, wanted)
    table = tables["demo"]
    rows = [(s.key, change) for s in list_segments(corpus, list(changes), wanted) for change in s.changes]
    assert list(zip(table.key, table.change, strict=True)) == rows
    assert rows == [("a", ""), ("a", "low"), ("a", "high"), ("b", ""), ("b", "high"), ("c", ""), ("c", "low")]
    assert table.answers["arousal"][table.answered].tolist() == [1.0, 201.0, 2.0, 102.0]
    assert report.failures == [("demo", "a.wav", name, "no row") for name in ("", "Low", "High")]
    assert (report.computed, report.unusable) == (4, 3)
