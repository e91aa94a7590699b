"""What is read from the bytes of ONNX files, against the package onnx, and files that are none."""

import os

import numpy as np
import pytest
from networks import onnx_model

from soundcheck.common.messages import InputError
from soundcheck.models.onnx.graph import read_onnx_file

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


def in_a_branch(weights: str):
    """Put an operator of a library, and weights elsewhere, into a graph inside of a node."""

    def change(model):
        helper, external = onnx.helper, onnx.TensorProto.EXTERNAL
        constant = onnx.TensorProto(name="c", data_type=1, dims=[2], data_location=external)
        constant.external_data.add(key="location", value=weights)
        nodes = [
            helper.make_node("Constant", [], ["c"], value=constant),
            helper.make_node("Magic", ["c"], ["d"], domain="com.acme"),
        ]
        inner = helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info("d", 1, None)])
        model.graph.node.append(helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner))

    return change


def own_function(model):
    body = [onnx.helper.make_node("Relu", ["a"], ["b"])]
    known = onnx.helper.make_opsetid("", 18)
    model.functions.append(onnx.helper.make_function("own", "Soft", ["a"], ["b"], body, [known]))
    model.graph.node.append(onnx.helper.make_node("Soft", ["x"], ["z"], domain="own"))
    model.graph.node.append(onnx.helper.make_node("Other", ["x"], ["w"], domain="own"))


def test_what_a_file_needs(tmp_path):
    path, beside = tmp_path / "m.onnx", tmp_path / "weights.bin"
    file = read_onnx_file(onnx_model(path, metadata={"labels": "a, b", "by": "me"}))
    assert (file.weights, file.foreign, file.metadata) == ((), (), {"labels": "a, b", "by": "me"})
    assert read_onnx_file(onnx_model(path, external="weights.bin")).weights == (beside,)
    file = read_onnx_file(onnx_model(path, change=in_a_branch("weights.bin")))
    assert (file.weights, file.foreign) == ((beside,), ("com.acme:Magic",))
    assert read_onnx_file(onnx_model(path, change=own_function)).foreign == ("own:Other",)
    beside.unlink()
    onnx_model(path, change=relocate("weights.bin"))
    assert refused(path) == "its weights lie in 'weights.bin': the file does not exist"
    assert "'../x.bin', outside" in refused(onnx_model(path, change=in_a_branch("../x.bin")))
    beside.symlink_to("/etc/passwd")
    assert "'weights.bin', outside" in refused(onnx_model(path, change=relocate("weights.bin")))


def varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def deep_file() -> bytes:
    """Nest graphs in attributes of nodes, in the encoding of Protocol Buffers."""
    content = b""
    for field in [6, 5, 1] * 3000 + [7]:
        content = bytes([field << 3 | 2]) + varint(len(content)) + content
    return content


def test_files_that_are_none(tmp_path):
    for content, words in (
        (b"", "no ONNX file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "pointer of Git LFS"),
        (b"\x80\x04\x95pickle", "no ONNX file"),
        (deep_file(), "no ONNX file"),
    ):
        (tmp_path / "m.onnx").write_bytes(content)
        assert words in refused(tmp_path / "m.onnx")
    os.mkfifo(tmp_path / "pipe.onnx")  # would never end if it were opened
    assert refused(tmp_path / "pipe.onnx") == "this is not a regular file"


def test_damaged_files_end_in_a_message(tmp_path, rng):
    path = onnx_model(tmp_path / "m.onnx")
    content = path.read_bytes()
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
