import numpy as np
import pandas as pd
import pytest

from soundcheck.common.files import OutputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.predict.tables import Columns, Row, column_names, read_predictions, said_in, write_predictions

TASKS = [BUILTIN["arousal"], BUILTIN["emotion"]]
ROWS = [
    Row("b.wav||", "", {"arousal": 0.1 + 0.2, "emotion": "None"}),
    Row("b.wav||", "noise", {"arousal": -7.0, "emotion": "ängér"}, drawn={"snr_db": 20, "a": "b"}),
    Row("a.wav||", "", {}, error="ValueError: \ud800"),
]


def test_round_trip(tmp_path):
    path = tmp_path / "new" / "demo.parquet"
    write_predictions(path, ROWS, TASKS)
    rows = read_predictions(path)
    assert rows.columns.tolist() == ["key", "change", "arousal", "emotion", "error", "drawn"]
    assert rows["key"].tolist() == ["b.wav||", "b.wav||", "a.wav||"]
    assert rows["arousal"].tolist()[:2] == [0.1 + 0.2, -7.0]
    assert np.isnan(rows["arousal"][2])
    assert rows["emotion"].tolist() == ["None", "ängér", None]
    assert rows["drawn"].tolist() == ["", '{"a": "b", "snr_db": 20}', ""]
    assert rows["error"].tolist() == ["", "", "ValueError: \\ud800"]


def test_pandas_reads_it_too(tmp_path):
    write_predictions(tmp_path / "a.parquet", ROWS, TASKS)
    rows = pd.read_parquet(tmp_path / "a.parquet")
    assert rows["emotion"].isna().tolist() == [False, False, True]
    assert rows["arousal"].dtype == np.float64


def test_same_rows_same_bytes(tmp_path):
    digests = [write_predictions(tmp_path / f"{n}.parquet", ROWS, TASKS) for n in range(2)]
    assert digests[0] == digests[1]
    assert write_predictions(tmp_path / "2.parquet", ROWS[:2], TASKS) != digests[0]


def test_empty_table_has_its_columns(tmp_path):
    write_predictions(tmp_path / "a.parquet", [], TASKS)
    rows = read_predictions(tmp_path / "a.parquet")
    assert len(rows) == 0
    assert rows["arousal"].dtype == np.float64


def test_what_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"Cannot write demo.parquet"):
        write_predictions(tmp_path / "file" / "demo.parquet", ROWS, TASKS)


def test_what_a_model_says_of_its_answers_stands_behind_all_else(tmp_path):
    said = {"emotion.anger": 1.0, "confidence": 0.5}
    rows = [*ROWS, Row("c.wav||", "", {"arousal": 0.5, "emotion": "anger"} | said)]
    names = said_in(rows, TASKS)
    assert names == ["emotion.anger", "confidence"]
    assert said_in(ROWS, TASKS) == []
    path = tmp_path / "a.parquet"
    write_predictions(path, Columns.of_rows(rows, TASKS, names), TASKS)
    assert column_names(path) == ["key", "change", "arousal", "emotion", "error", "drawn", *names]
    found = read_predictions(path)
    assert found["confidence"].tolist()[3] == 0.5
    assert found["confidence"].isna().tolist() == [True, True, True, False]
