import json

import pytest

from soundcheck.efficiency.sizes import named_bytes, parameters


def safetensors(path, header: bytes):
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    return path


def test_parameters_of_safetensors_are_in_its_header(tmp_path):
    shapes = {"a": {"shape": [3, 4]}, "b": {"shape": []}, "__metadata__": {"format": "pt"}}
    one = safetensors(tmp_path / "one.safetensors", json.dumps(shapes).encode())
    assert parameters([one, one, tmp_path / "words.txt"]) == 13


@pytest.mark.parametrize("header", [b"[]", b"{", b'{"a": 1}', b'{"a": {"shape": "xy"}}'])
def test_what_cannot_be_read_has_no_number(tmp_path, header):
    assert parameters([safetensors(tmp_path / "bad.safetensors", header)]) is None
    assert parameters([tmp_path / "words.txt"]) is None


def test_parameters_of_onnx_are_its_initialisers(tmp_path):
    onnx = pytest.importorskip("onnx")
    weights = onnx.numpy_helper.from_array(__import__("numpy").zeros((5, 7), "float32"), "w")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [weights])), tmp_path / "m.onnx")
    assert parameters([tmp_path / "m.onnx"]) == 35
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 50)
    assert parameters([tmp_path / "m.onnx"]) is None


def test_sizes_of_files_and_folders(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"12")
    assert sum(named_bytes([tmp_path, None, tmp_path / "b", tmp_path / "none"]).values()) == 5
