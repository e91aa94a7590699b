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
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed")
    return Path(spec.origin).parent.joinpath(*parts)


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
    value, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
    first = shape[0] if len(shape) > 1 else 1
    constants = {"axis": [-1], "front": [0, -1] if len(shape) > 1 else [1, -1]}
    constants["form"] = [-1] if squeezed else [0, -1]
    inputs, described, nodes = [value("signal", getattr(kinds, kind), shape)], [], []

    def node(operator: str, *given: str, gives: str, **options: object) -> None:
        nodes.append(onnx.helper.make_node(operator, given, [gives], **options))

    node("Reshape", "signal", "front", gives="x")
    node("Abs", "x", gives="abs")
    node("Mul", "x", "x", gives="squares")
    features = ("x", "abs", "squares")
    for name in features:
        node("ReduceSum" if lengths else "ReduceMean", name, "axis", gives=f"all {name}", keepdims=1)
    node("Concat", *(f"all {name}" for name in features), gives="sums" if lengths else "features", axis=-1)
    if lengths:
        constants["column"] = [-1, 1]
        inputs.append(value(lengths, kinds.INT64, (first,)))
        node("Cast", lengths, gives="size", to=kinds.FLOAT)
        node("Reshape", "size", "column", gives="sizes")
        node("Div", "sums", "sizes", gives="features")
    for name, count in (outputs or {"logits": 3}).items():
        constants[f"weight {name}"], constants[f"bias {name}"] = weights(count)
        node("Gemm", "features", f"weight {name}", f"bias {name}", gives=f"rows {name}")
        node("Reshape", f"rows {name}", "form", gives=name)
        described.append(value(name, kinds.FLOAT, (count,) if squeezed else (first, count)))
    for name in frames:
        constants["frame"] = [0, -1, 100]
        node("Reshape", "x", "frame", gives=name)
        described.append(value(name, kinds.FLOAT, (first, f"{name} t", 100)))
    model = _model(onnx, nodes, inputs, described, constants)
    onnx.helper.set_model_props(model, metadata or {})
    if change is not None:
        change(model)
    saving = {"save_as_external_data": True, "location": external, "size_threshold": 60} if external else {}
    onnx.save(model, str(path), **saving)
    return path


def _model(onnx, nodes: list, inputs: list, outputs: list, constants: dict):
    tensors = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = onnx.helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)


LETTERS = "abcdefgh"


def onnx_recogniser(folder: Path, *, name: str = "model.onnx", seed: int = 0) -> Path:
    """Write a folder with a random recogniser of NeMo's layout; skips the test without the package onnx.

    Each frame of features, and its neighbours, is a word of one letter, or nothing.
    """
    onnx = pytest.importorskip("onnx")
    node, value, kinds = onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.TensorProto
    folder.mkdir(parents=True, exist_ok=True)
    kernel = np.random.default_rng(seed).normal(0, 0.3, (len(LETTERS) + 1, 80, 8)).astype(np.float32)
    nodes = [
        node("Conv", ["audio_signal", "kernel"], ["scores"], strides=[8], pads=[4, 4]),
        node("Transpose", ["scores"], ["frames"], perm=[0, 2, 1]),
        node("LogSoftmax", ["frames"], ["logprobs"], axis=-1),
    ]
    inputs = [value("audio_signal", kinds.FLOAT, ("b", 80, "t")), value("length", kinds.INT64, ("b",))]
    outputs = [value("logprobs", kinds.FLOAT, ("b", "frames", len(LETTERS) + 1))]
    onnx.save(_model(onnx, nodes, inputs, outputs, {"kernel": kernel}), str(folder / name))
    tokens = [*(f"\u2581{letter}" for letter in LETTERS), "<blk>"]
    folder.joinpath("vocab.txt").write_text("".join(f"{one} {n}\n" for n, one in enumerate(tokens)), "utf-8")
    folder.joinpath("config.json").write_text('{"model_type": "nemo-conformer-ctc", "features_size": 80}')
    return folder
