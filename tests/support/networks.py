"""Tiny networks, made on the spot, as files of the formats that people have.

What they compute is known: the *features* of a signal are its mean, the mean of its absolute values and the
mean of its squares; answers are features times fixed weights, plus a bias.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest


def installed_file(package: str, *parts: str) -> Path:
    """Find a file of an installed package, such as real weights, without importing it; skips without it."""
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent.joinpath(*parts)


def weights(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the weights of `count` answers, float32 ``(3, count)``, and their bias, ``(count,)``."""
    rng = np.random.default_rng(count)
    return rng.normal(0, 2, (3, count)).astype(np.float32), rng.normal(0, 0.1, count).astype(np.float32)


def answers(signal: np.ndarray, count: int) -> np.ndarray:
    """Compute what such a network answers, float64 ``(count,)``."""
    samples = signal.astype(np.float64)
    weight, bias = weights(count)
    return np.array([samples.mean(), np.abs(samples).mean(), (samples**2).mean()]) @ weight + bias


def onnx_model(
    path: Path,
    outputs: dict[str, int] | None = None,
    *,
    shape: tuple = ("signals", "samples"),
    lengths: str = "",
    kind: str = "FLOAT",
    frames: tuple[str, ...] = (),
    squeezed: bool = False,
    external: str = "",
    metadata: dict[str, str] | None = None,
    change=None,
) -> Path:
    """Write an ONNX graph with these outputs (name -> numbers); skips the test without the package onnx.

    A name in ``shape`` is a free axis; ``lengths`` names an input for the lengths of signals; ``frames`` are
    outputs with numbers for each 100 samples; larger weights go to the file ``external``; ``change`` gets the
    model before it is written.
    """
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    outputs = outputs or {"logits": 3}
    rank, first = len(shape), shape[0] if len(shape) > 1 else 1
    nodes, constants = [], {"axis": np.array([-1])}
    if rank == 1:
        constants["front"] = np.array([0])
        nodes.append(helper.make_node("Unsqueeze", ["signal", "front"], ["x"]))
    else:
        nodes.append(helper.make_node("Identity", ["signal"], ["x"]))
    nodes += [helper.make_node("Abs", ["x"], ["abs"]), helper.make_node("Mul", ["x", "x"], ["squares"])]
    features = []
    if lengths:
        constants["column"] = np.array([1])
        nodes.append(helper.make_node("Cast", [lengths], ["size"], to=onnx.TensorProto.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", ["size", "column"], ["sizes"]))
    for name in ("x", "abs", "squares"):
        if lengths:
            nodes.append(helper.make_node("ReduceSum", [name, "axis"], [f"sum {name}"], keepdims=1))
            nodes.append(helper.make_node("Div", [f"sum {name}", "sizes"], [f"mean {name}"]))
        else:
            nodes.append(helper.make_node("ReduceMean", [name, "axis"], [f"mean {name}"], keepdims=1))
        features.append(f"mean {name}")
    nodes.append(helper.make_node("Concat", features, ["features"], axis=-1))
    described = []
    for name, count in outputs.items():
        weight, bias = weights(count)
        constants |= {f"weight {name}": weight, f"bias {name}": bias}
        rows = f"rows {name}" if squeezed else name
        nodes.append(helper.make_node("Gemm", ["features", f"weight {name}", f"bias {name}"], [rows]))
        if squeezed:
            constants["first"] = np.array([0])
            nodes.append(helper.make_node("Squeeze", [rows, "first"], [name]))
        size = (count,) if squeezed else (first, count)
        described.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, size))
    for name in frames:
        constants["frame"] = np.array([0, -1, 100])
        nodes.append(helper.make_node("Reshape", ["x", "frame"], [name]))
        size = (first, f"{name} t", 100)
        described.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, size))
    inputs = [helper.make_tensor_value_info("signal", getattr(onnx.TensorProto, kind), shape)]
    if lengths:
        inputs.append(helper.make_tensor_value_info(lengths, onnx.TensorProto.INT64, (first,)))
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, described, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, metadata or {})
    if change is not None:
        change(model)
    saving = {"save_as_external_data": True, "location": external, "size_threshold": 60} if external else {}
    onnx.save(model, str(path), **saving)
    return path


LETTERS = "abcdefgh"


def onnx_recogniser(folder: Path, *, name: str = "model.onnx", seed: int = 0, config: bool = True) -> Path:
    """Write a folder with a random recogniser of NeMo's layout; skips the test without the package onnx.

    Each frame of features, and its neighbours, is a word of one letter, or nothing.
    """
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    kernel = rng.normal(0, 0.3, (len(LETTERS) + 1, 80, 8)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["audio_signal", "kernel"], ["scores"], strides=[8], pads=[4, 4]),
        helper.make_node("Transpose", ["scores"], ["frames"], perm=[0, 2, 1]),
        helper.make_node("LogSoftmax", ["frames"], ["logprobs"], axis=-1),
    ]
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "tiny recogniser",
        [
            helper.make_tensor_value_info("audio_signal", floats, ("b", 80, "t")),
            helper.make_tensor_value_info("length", onnx.TensorProto.INT64, ("b",)),
        ],
        [helper.make_tensor_value_info("logprobs", floats, ("b", "frames", len(LETTERS) + 1))],
        [numpy_helper.from_array(kernel, "kernel")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(folder / name))
    tokens = [*(f"\u2581{letter}" for letter in LETTERS), "<blk>"]
    folder.joinpath("vocab.txt").write_text("".join(f"{one} {n}\n" for n, one in enumerate(tokens)), "utf-8")
    if config:
        folder.joinpath("config.json").write_text('{"model_type": "nemo-conformer-ctc", "features_size": 80}')
    return folder
