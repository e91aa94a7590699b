"""Tables of predictions: what is written is read, and what two models both answered."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import tables
from soundcheck.predict.tables import Columns, differ, read_predictions, reduced, write_predictions

TASKS = [BUILTIN["arousal"], BUILTIN["emotion"]]
ROWS = [  # key, change, answer, error, drawn
    ("b.wav||", "", {"arousal": 0.1 + 0.2, "emotion": "None"}, "", {}),
    ("b.wav||", "noise", {"arousal": -7.0, "emotion": "ängér"}, "", {"snr_db": 20, "a": "b"}),
    ("a.wav||", "", {"emotion": "anger"}, "no arousal: \ud800", {}),  # it has one of two
]
SAID = {"emotion.anger": 1.0, "confidence": 0.5}  # of an answer, by the model
COLUMNS = ["key", "change", "arousal", "emotion", "error", "drawn"]


def columns(rows: list[tuple], said: tuple[str, ...] = ()) -> Columns:
    keys, changes, answers, errors, drawn = zip(*rows, strict=True) if rows else [()] * 5
    answers = tables.answer_columns(answers, TASKS, said)
    return Columns(keys, changes, errors, answers, [*map(tables.drawn_text, drawn)])


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new" / "demo.parquet"
    digest = write_predictions(path, columns(ROWS), TASKS)
    rows = read_predictions(path)
    assert rows.columns.tolist() == COLUMNS
    assert rows["key"].tolist() == ["b.wav||", "b.wav||", "a.wav||"]
    assert rows["arousal"].tolist()[:2] == [0.1 + 0.2, -7.0] and np.isnan(rows["arousal"][2])
    assert rows["emotion"].tolist() == ["None", "ängér", "anger"]
    assert rows["drawn"].tolist() == ["", '{"a": "b", "snr_db": 20}', ""]
    assert rows["error"].tolist() == ["", "", "no arousal: \\ud800"]
    assert pd.read_parquet(path)["arousal"].isna().tolist() == [False, False, True]
    assert write_predictions(tmp_path / "same.parquet", columns(ROWS), TASKS) == digest
    assert write_predictions(tmp_path / "less.parquet", columns(ROWS[:2]), TASKS) != digest
    write_predictions(path, columns([]), TASKS)
    assert len(read_predictions(path)) == 0 and read_predictions(path)["arousal"].dtype == np.float64


def test_what_a_model_says_of_its_answers_stands_behind_all_else(tmp_path):
    rows = [*ROWS, ("c.wav||", "", {"arousal": 0.5, "emotion": "anger"} | SAID, "", {})]
    path = tmp_path / "a.parquet"
    write_predictions(path, columns(rows, (*SAID,)), TASKS)
    assert tables.column_names(path) == [*COLUMNS, *SAID]
    confidence = read_predictions(path)["confidence"]
    assert confidence.isna().tolist() == [True, True, True, False] and confidence[3] == 0.5


KEYS = {"key": ["a", "b", "a", "b"], "change": ["", "", "noise", "noise"], "error": [""] * 4}
CASES = {  # answers of a model, of the other one -> answers that stay, columns that lost some
    "other lost one": (["x"] * 4, ["y", None, "y", "y"], ["x", None, "x", "x"], {"t"}),
    "own lost one": (["x", None, "x", "x"], ["y"] * 4, ["x", None, "x", "x"], set()),
    "numbers": ([1.0] * 4, [1.0, np.nan, 1.0, 1.0], [1.0, None, 1.0, 1.0], {"t"}),
    "embeddings": ([[1.0, 2.0]] * 4, [[1.0], None, [1.0], None], [[1.0, 2.0], None] * 2, {"t"}),
    "none in common": (["x", None] * 2, [None, "y"] * 2, [None] * 4, {"t"}),
}


def write(folder, name, rows=slice(None), **columns):
    """Write a table of some rows of KEYS."""
    table = pa.table(KEYS | {task: pa.array(values) for task, values in columns.items()})
    pq.write_table(table.take(list(range(4))[rows]), folder / name)
    return folder / name


@pytest.mark.parametrize("name", CASES)
def test_answers_that_only_one_gave_are_taken_out(tmp_path, name):
    first_answers, other, left, lost = CASES[name]
    first, second = write(tmp_path, "first", t=first_answers), write(tmp_path, "second", t=other)
    table, columns = reduced(first, second)
    assert (table.column("t").to_pylist(), columns) == (left, lost)
    assert table.column("t").type == pa.array(first_answers).type
    assert differ(first, second) == bool(lost or reduced(second, first)[1])
    turned = write(tmp_path, "turned", slice(None, None, -1), t=other)  # rows are matched by what they are
    assert reduced(first, turned)[0].column("t").to_pylist() == left


def test_changes_and_tasks_that_the_other_model_was_not_asked_about(tmp_path):
    first = write(tmp_path, "first", t=["x"] * 4)
    clean = write(tmp_path, "clean", slice(2), t=["y", None, "y", "y"])
    assert reduced(first, clean)[0].column("t").to_pylist() == ["x", None, "x", "x"]
    scores = write(tmp_path, "scores", score=[1.0] * 4)
    assert differ(first, scores) and reduced(first, scores)[1] == set()
