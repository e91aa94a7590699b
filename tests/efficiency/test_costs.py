"""Numbers that are known beforehand come out of calls that are made up, and of files of weights."""

import json

import numpy as np
import pytest

from soundcheck.efficiency.measuring import JOINED, RECORDED, Call, Measured
from soundcheck.efficiency.page import GIVEN, MEASURED, costs
from soundcheck.efficiency.step import named_bytes, parameters


def model(seconds: list[float | None], kind: str = RECORDED, **more) -> Measured:
    """Two calls a turn, of two seconds of sound each."""
    calls = [
        Call(n // 2, kind, 2.0, one, "" if one else "no answer", one is None) for n, one in enumerate(seconds)
    ]
    return Measured("ours", calls=calls, **more)


def row(measured: Measured, measure: str):
    return costs([measured]).set_index("measure").loc[measure]


def test_speed_is_sound_by_time():
    even = row(model([0.1] * 10), "speed")
    assert (even["value"], even["low"], even["high"]) == pytest.approx((20, 20, 20))
    short = row(model([0.1, 0.3] * 2), "speed")
    assert short["value"] == pytest.approx(8 / 0.8) and np.isnan(short["low"])  # it needs three whole turns
    uneven = row(model([0.1, 0.3, 0.2, 0.3, 0.1, 0.2]), "speed")
    assert uneven["low"] < uneven["value"] < uneven["high"] and uneven["origin"] == MEASURED
    of_file = row(Measured("theirs", given=[(0.5, 2.0), (1.0, 4.0)]), "speed")
    assert (of_file["value"], of_file["calls"], of_file["origin"]) == (4.0, 2, GIVEN)


def test_quantiles_and_their_exact_intervals():
    hundred = model([n / 100 for n in range(1, 101)])
    median, late = row(hundred, "latency 50%"), row(hundred, "latency 99%")
    assert (median["value"], median["low"], median["high"]) == pytest.approx((0.5, 0.4, 0.61))
    assert (late["value"], late["high"]) == (0.99, np.inf)  # 100 calls cannot bound it from above
    assert np.isnan(row(model([0.1]), "latency 50%")["low"])
    calls = [(JOINED, 2.0, 0.2), (JOINED, 4.0, 0.4), (RECORDED, 2.0, 0.1)]
    joined = row(Measured("ours", calls=[Call(0, *call) for call in calls]), "latency 50%")
    rows = [[pytest.approx(np.nan, nan_ok=True), 0.1], [2.0, 0.2], [4.0, 0.4]]  # a row for each duration
    assert joined[["sound_seconds", "value"]].to_numpy().tolist() == rows
    some = model([0.1, None, 0.1, 0.1])  # calls without prediction have no latency but are counted
    assert row(some, "latency 95%")["value"] == 0.1
    assert [row(some, name)["value"] for name in ("calls", "failures", "time-outs")] == [4, 0, 1]
    none = row(model([None, None]), "latency 50%")
    assert np.isnan(none["value"]) and none["calls"] == 0


def test_growth_of_memory():
    turns = model([0.1], memory=[(10, 500), (20, 700), (30, 900)])
    assert row(turns, "growth of memory")["value"] == 20  # between the first and the last turn
    few = model([0.1], memory=[(13, 900)], first_bytes=140, peak_bytes=900)
    assert np.isnan(row(few, "growth of memory")["value"])
    names = ["memory after the first call", "peak memory"]
    assert [row(few, name)["value"] for name in names] == [140, 900]
    assert [name for name in names if np.isfinite(row(turns, name)["value"])] == []  # nothing was measured


def test_parameters_and_sizes_of_files(tmp_path):
    path, words = tmp_path / "one.safetensors", tmp_path / "words.txt"
    words.write_bytes(b"123")
    whole = json.dumps({"a": {"shape": [3, 4]}, "b": {"shape": []}, "__metadata__": {"format": "pt"}})
    for header in (whole, "[]", "{", '{"a": 1}', '{"a": {"shape": "xy"}}'):
        path.write_bytes(len(header).to_bytes(8, "little") + header.encode())
        assert parameters([path, path, words]) == (13 if header == whole else None)
    assert parameters([words]) is None
    path.unlink()
    assert sum(named_bytes([tmp_path, None, words, tmp_path / "none"]).values()) == 3


def test_parameters_of_onnx_are_its_initialisers(tmp_path):
    onnx = pytest.importorskip("onnx")
    weights = onnx.numpy_helper.from_array(np.zeros((5, 7), "float32"), "w")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [weights])), tmp_path / "m.onnx")
    assert parameters([tmp_path / "m.onnx"]) == 35
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 50)
    assert parameters([tmp_path / "m.onnx"]) is None
