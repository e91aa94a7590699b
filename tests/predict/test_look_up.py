"""Tables and long recordings: what is read, matched and written grows with their segments, and no faster."""

import gc
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.large_tables import make_segments

from soundcheck.corpora.load import load_corpus
from soundcheck.models.base import LookUpModel, load_checked
from soundcheck.predict.engine import look_up, predict_models
from soundcheck.predict.request import PredictionRequest, list_segments
from soundcheck.predict.tables import read_predictions
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow


def predict(folder: Path, segments: int, files: int):
    """Make a table, and do what a run does with its corpus and its model before anything is computed."""
    suite = read_suite(make_segments(folder, segments, files, 1, ("correctness_regression",)))
    corpus = load_corpus(suite.corpora["calls"], suite, folder / "cache")
    entry = suite.models["model1"]
    checked, fingerprint = load_checked(entry, suite, [corpus])
    about = entry, suite, [corpus], {}, folder / "out", folder / "cache", fingerprint
    entry.path.rename(folder / "checked.csv")  # and it is not read again
    asked = PredictionRequest(*about, model=checked)
    return corpus, *predict_models([asked])


@pytest.mark.parametrize("in_one_file", [True, False])
def test_calls_grow_with_the_segments(tmp_path, in_one_file):
    def calls(count: int) -> int:
        """Count the functions, Python's and others, that are called."""
        folder, counts = tmp_path / str(count), []
        sys.setprofile(lambda frame, event, argument: counts.append(event))
        try:
            predict(folder, count, 1 if in_one_file else count // 50)
        finally:
            sys.setprofile(None)
        return counts.count("call") + counts.count("c_call")

    calls(100)  # pays for what is imported late
    small, middle, large = (calls(count) for count in (500, 1000, 2000))
    assert large - middle < 2.2 * (middle - small)
    assert (large - middle) / 1000 < 100  # for each segment


def test_answers_are_those_of_the_table_and_memory_is_small(tmp_path):
    count = 6000
    gc.collect()
    tracemalloc.start()
    try:
        corpus, report = predict(tmp_path, count, 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / count < 3000  # bytes a segment
    assert (report.inputs, report.computed, report.unusable) == (count, count, 0)
    rows = read_predictions(report.tables["calls"])
    given = pd.read_csv(tmp_path / "checked.csv", dtype=str).astype({"start": float, "end": float})
    given = given.sort_values(["file", "start"], ignore_index=True)
    assert rows["key"].tolist() == corpus.segments["key"].tolist()
    assert rows["arousal"].tolist() == given["arousal"].astype(float).tolist()
    assert rows["emotion"].tolist() == given["emotion"].tolist()


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
    segments = list(list_segments(corpus, list(changes), wanted))
    assert [segment.label for segment in segments] == ["a.wav", "b.wav from 0 s to 1.5 s", "b.wav from 1.5 s"]
    rows = [(segment.key, change) for segment in segments for change in segment.changes]
    assert list(zip(table.key, table.change, strict=True)) == rows
    assert rows == [("a", ""), ("a", "low"), ("a", "high"), ("b", ""), ("b", "high"), ("c", ""), ("c", "low")]
    assert table.answers["arousal"][table.error == ""].tolist() == [1.0, 201.0, 2.0, 102.0]
    assert report.failures == [("demo", "a.wav", name, "no row") for name in ("", "Low", "High")]
    assert (report.computed, report.unusable) == (4, 3)
