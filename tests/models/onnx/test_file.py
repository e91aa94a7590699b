"""What is read from the bytes of ONNX files, against the package onnx, and files that are none."""

import os

import numpy as np
import pytest
from networks import onnx_model

from soundcheck.common.errors import InputError
from soundcheck.models.onnx.session import read_onnx_file

onnx = pytest.importorskip("onnx")


def refused(path) -> str:
    with pytest.raises(InputError) as caught:
        read_onnx_file(path)
    return caught.value.problems[0].what


def relocate(location: str):
    """Let a model say that its weights lie elsewhere."""

    def change(model):
        for tensor in model.graph.initializer:
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=location)

    return change


def in_a_branch(model, weights="../elsewhere.bin"):
    """Put an operator of a library, and weights elsewhere, into a graph inside of a node."""
    helper = onnx.helper
    constant = onnx.TensorProto(name="c", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    constant.external_data.add(key="location", value=weights)
    inner = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value=constant),
            helper.make_node("Magic", ["c"], ["d"], domain="com.acme"),
        ],
        "branch",
        [],
        [helper.make_tensor_value_info("d", 1, None)],
    )
    model.graph.node.append(helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner))


def test_a_plain_file(tmp_path):
    found = read_onnx_file(onnx_model(tmp_path / "m.onnx", metadata={"labels": "a, b", "by": "me"}))
    assert (found.weights, found.foreign) == ((), ())
    assert found.metadata == {"labels": "a, b", "by": "me"}


def test_weights_beside_it(tmp_path):
    path = onnx_model(tmp_path / "m.onnx", external="weights.bin")
    found = read_onnx_file(path)
    assert found.weights == (tmp_path / "weights.bin",)
    (tmp_path / "weights.bin").unlink()
    assert refused(path) == "its weights lie in 'weights.bin': the file does not exist"


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/passwd", "a/../../secret.bin", "link.bin"])
def test_weights_outside_of_the_folder(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = onnx_model(folder / "m.onnx", change=relocate(location))
    assert refused(path) == f"its weights lie in '{location}', outside of its folder"


def test_graphs_inside_of_nodes_are_looked_at(tmp_path):
    path = onnx_model(tmp_path / "m.onnx", change=in_a_branch)
    assert "'../elsewhere.bin', outside" in refused(path)
    path = onnx_model(tmp_path / "m.onnx", change=lambda model: in_a_branch(model, "here.bin"))
    (tmp_path / "here.bin").write_bytes(bytes(8))
    found = read_onnx_file(path)
    assert found.weights == (tmp_path / "here.bin",)
    assert found.foreign == ("com.acme:Magic",)


def test_functions_of_the_file_are_no_library(tmp_path):
    def change(model):
        body = [onnx.helper.make_node("Relu", ["a"], ["b"])]
        known = onnx.helper.make_opsetid("", 18)
        model.functions.append(onnx.helper.make_function("own", "Soft", ["a"], ["b"], body, [known]))
        model.graph.node.append(onnx.helper.make_node("Soft", ["x"], ["z"], domain="own"))
        model.graph.node.append(onnx.helper.make_node("Other", ["x"], ["w"], domain="own"))

    assert read_onnx_file(onnx_model(tmp_path / "m.onnx", change=change)).foreign == ("own:Other",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"hello world, this is no model", "no ONNX file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "pointer of Git LFS"),
        (b"\x80\x04\x95pickle", "no ONNX file"),
        (b"PK\x03\x04 a checkpoint of PyTorch", "no ONNX file"),
    ],
)
def test_files_that_are_none(tmp_path, content, words):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert words in refused(path)


def test_damaged_files_end_in_a_message(tmp_path, rng):
    path = onnx_model(tmp_path / "m.onnx")
    content = path.read_bytes()
    read_onnx_file(path)
    for length in range(1, len(content), 37):
        path.write_bytes(content[:length])
        assert "no ONNX file" in refused(path)
    for _ in range(300):
        damaged = np.frombuffer(content, np.uint8).copy()
        damaged[rng.integers(len(damaged), size=3)] = rng.integers(256, size=3)
        path.write_bytes(damaged.tobytes())
        try:
            read_onnx_file(path)
        except InputError:
            continue


def test_deep_files_do_not_exhaust_the_stack(tmp_path):
    content = b""
    for _ in range(3000):  # a graph in an attribute in a node
        for field in (6, 5, 1):
            content = bytes([field << 3 | 2]) + _varint(len(content)) + content
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes([7 << 3 | 2]) + _varint(len(content)) + content)
    assert "no ONNX file" in refused(path)


def _varint(number: int) -> bytes:
    parts = []
    while True:
        parts.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(parts)


def test_what_is_no_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    assert refused(tmp_path / "m.onnx") == "this is not a regular file"
    assert refused(tmp_path / "none.onnx") == "the file does not exist"
