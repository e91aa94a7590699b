"""What two models both answered, by their tables of predictions."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from soundcheck.predict.tables import differ, reduced

KEYS = {"key": ["a", "b", "a", "b"], "change": ["", "", "noise", "noise"], "error": [""] * 4}


def table(folder, name, **columns):
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(KEYS | {task: pa.array(values) for task, values in columns.items()}), path)
    return path


CASES = {  # answers of a model, of the other one -> answers that stay, columns that lost some
    "all": (["x"] * 4, ["y"] * 4, ["x"] * 4, set()),
    "other lost one": (["x"] * 4, ["y", None, "y", "y"], ["x", None, "x", "x"], {"t"}),
    "own lost one": (["x", None, "x", "x"], ["y"] * 4, ["x", None, "x", "x"], set()),
    "both lost it": (["x", None, "x", "x"], ["y", None, "y", "y"], ["x", None, "x", "x"], set()),
    "numbers": ([1.0] * 4, [1.0, np.nan, 1.0, 1.0], [1.0, None, 1.0, 1.0], {"t"}),
    "embeddings": ([[1.0, 2.0]] * 4, [[1.0], None, [1.0], None], [[1.0, 2.0], None] * 2, {"t"}),
    "none in common": (["x", None] * 2, [None, "y"] * 2, [None] * 4, {"t"}),
}


@pytest.mark.parametrize("name", CASES)
def test_answers_that_only_one_gave_are_taken_out(tmp_path, name):
    own, other, kept, lost = CASES[name]
    first, second = table(tmp_path, "first", t=own), table(tmp_path, "second", t=other)
    found, columns = reduced(first, second)
    assert (found.column("t").to_pylist(), columns) == (kept, lost)
    assert found.column("t").type == pa.array(own).type
    back = reduced(second, first)[1]
    assert differ(first, second) == bool(lost or back)


def test_changes_that_the_other_model_was_not_asked_about_stay(tmp_path):
    first = table(tmp_path, "first", t=["x"] * 4)
    clean = pa.table({"key": ["a", "b"], "change": ["", ""], "error": ["", ""], "t": ["y", None]})
    pq.write_table(clean, tmp_path / "clean.parquet")
    found, _ = reduced(first, tmp_path / "clean.parquet")
    assert found.column("t").to_pylist() == ["x", None, "x", "x"]


def test_rows_in_another_order_are_matched_by_what_they_are(tmp_path):
    first = table(tmp_path, "first", t=["x"] * 4)
    turned = pq.read_table(table(tmp_path, "second", t=["y", None, "y", "y"])).take([3, 2, 1, 0])
    pq.write_table(turned, tmp_path / "turned.parquet")
    assert reduced(first, tmp_path / "turned.parquet")[0].column("t").to_pylist() == ["x", None, "x", "x"]


def test_answers_of_two_kinds_have_nothing_in_common(tmp_path):
    assert differ(table(tmp_path, "first", embedding=[[1.0]] * 4), table(tmp_path, "second", score=[1.0] * 4))
