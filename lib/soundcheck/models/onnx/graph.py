"""ONNX files, looked through before anything loads them, and how signals go into their graphs.

An ONNX file names the files that its other weights lie in, and operators that may come from libraries, which
are code. Both are looked for everywhere: in the graph, in graphs inside of nodes, and in functions.

Conventions
-----------
- The graph takes signals, float32 ``(samples,)``, ``(1, samples)`` or ``(signals, samples)``, and perhaps
  their lengths, int64 ``(signals,)``, under a name with ``len``.
- Where the graph fixes the number of samples, a signal is cut into pieces of that length, one after the
  other. The last piece is filled up: with the signal from its beginning again, as often as it takes, or with
  zeros. The numbers of a signal are the mean over its pieces.
- What stands beside a signal never changes its numbers (by more than :data:`CLOSE`): only signals of one
  length go in together, and only if that was seen to change nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from soundcheck.common.files import inside, irregularity
from soundcheck.common.messages import InputError, input_error, quoted
from soundcheck.models.base import reason
from soundcheck.models.library_model import each_length

DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu")
DEVICES = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
ERRORS_ONLY = 3  # that the library writes to its log
PYTHON_MODEL = "Write a Python model that does it (python: module:function)"
MODEL_BYTES = 2 * 1024**3  # a message of Protocol Buffers cannot be larger
# Of operators inside of ONNX Runtime.
KNOWN_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc")
_POINTER = b"version https://git-lfs"


@dataclasses.dataclass(frozen=True)
class OnnxFile:
    """What was found in an ONNX file."""

    weights: tuple[Path, ...]  # other files that hold weights
    foreign: tuple[str, ...]  # domain:operator that neither ONNX Runtime nor a function of the file defines
    metadata: dict[str, str]  # what its author wrote down, by name


def read_onnx_file(path: Path, where: str = "") -> OnnxFile:
    """Look through an ONNX file; weights in other files are not read.

    Raises InputError at ``where`` if it is missing, too large, no ONNX file, or weights are missing or lie
    elsewhere.
    """
    if why := irregularity(path, MODEL_BYTES):
        remedy = "Save its weights as external data" if "limit" in why else "Check the path"
        raise input_error(where, why, remedy)
    import onnx

    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            what = "this is a pointer of Git LFS, not the model itself"
            raise input_error(where, what, "Fetch it: git lfs pull")
    try:
        model = onnx.load(path, format="protobuf", load_external_data=False)
        if not model.HasField("graph"):
            raise ValueError("no graph")
    except Exception as error:  # of Protocol Buffers
        remedy = "Save the model again, for instance with torch.onnx.export"
        raise input_error(where, "this is no ONNX file, or a damaged one", remedy) from error
    names, operators, functions = set(), set(), set()
    for message in _messages(model):
        if isinstance(message, onnx.TensorProto):
            names |= {entry.value for entry in message.external_data if entry.key == "location"}
        elif isinstance(message, onnx.NodeProto):
            operators.add((message.domain, message.op_type))
        elif isinstance(message, onnx.FunctionProto):
            functions.add((message.domain, message.name))
    foreign = [f"{domain}:{name}" for domain, name in operators - functions if domain not in KNOWN_DOMAINS]
    weights = tuple(_weights(path.parent, name, where) for name in sorted(names))
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    return OnnxFile(weights, tuple(sorted(foreign)), metadata)


def _messages(message: Any) -> Iterator[Any]:
    """Give a message of Protocol Buffers and all inside of it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                yield from _messages(part)


def _weights(folder: Path, name: str, where: str) -> Path:
    try:
        path = inside(folder, name)
    except InputError:
        what = f"its weights lie in {quoted(name)}, outside of its folder"
        raise input_error(where, what, "Save the model with its weights beside it") from None
    if why := irregularity(path):
        raise input_error(where, f"its weights lie in {quoted(name)}: {why}", "Put that file beside it")
    return path


def checked_file(path: Path, where: str) -> OnnxFile:
    """Look through an ONNX file before a library loads it; refuses one that needs code."""
    file = read_onnx_file(path, where)
    if file.foreign:
        names = ", ".join(map(quoted, file.foreign[:5]))
        raise input_error(where, f"it has operators of a library, which is code: {names}", PYTHON_MODEL)
    return file


def options(runtime: ModuleType) -> Any:
    """Make the options of a session: one thread, one order of operations."""
    made = runtime.SessionOptions()
    made.intra_op_num_threads = made.inter_op_num_threads = 1
    made.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    made.use_deterministic_compute = True
    made.log_severity_level = ERRORS_ONLY
    made.enable_mem_pattern = False  # one would be kept of each length that occurs
    return made


def provider(runtime: ModuleType, device: str, where: str) -> str:
    """Give the name of what computes on a device; refuses one that the installed package cannot use."""
    name = DEVICES[device]
    if name not in runtime.get_available_providers():
        what = f"the device {device} is not available: the installed onnxruntime has no {name}"
        raise input_error(where, what, "Install onnxruntime-gpu, or write device: cpu")
    return name


def open_session(runtime: ModuleType, path: Path, device: str, where: str) -> Any:
    """Load a graph that :func:`checked_file` has seen, for one of :data:`DEVICES`."""
    wanted = provider(runtime, device, where)
    try:
        session = runtime.InferenceSession(str(path), options(runtime), providers=[wanted])
    except Exception as error:
        what = f"onnxruntime cannot load it: {reason(error, path.parent)}"
        raise input_error(where, what, "Save the model again, or update onnxruntime") from error
    if session.get_providers()[0] != wanted:  # it would go on with another one
        raise input_error(
            where, f"the device {device} cannot be used", "Check the driver, or write device: cpu"
        )
    return session


# Signals ----------------------------------------------------------------------------------------------------


FILLS = ("repeat", "zeros")
CLOSE = 1e-6  # relative and absolute
LENGTH_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
NUMBERS = ("tensor(float)", "tensor(double)", "tensor(float16)")
ONE_ROW = "Save the model with one row of floating-point numbers a signal, for instance a mean over time"
TRIED_SECONDS = (1.0, 10.0)  # of noise that a graph is tried with, until it gives numbers
Values = dict[str, np.ndarray]  # output -> (signals, n)


class GraphError(ValueError):
    """A graph has given what is no row of numbers for each signal."""


class Graph:
    """A session of ONNX Runtime, or alike, ready to be given signals, at most ``batch`` a call.

    ``where`` is for messages; ``fill`` is one of :data:`FILLS` or empty: not said; with ``rate``, samples a
    second, the graph is tried. ``sizes`` are the numbers that each output gives a signal; ``unusable`` says
    of others why they do not.
    """

    def __init__(self, session: Any, where: str, *, fill: str = "", batch: int = 1, rate: int) -> None:
        self._session, self._where, self._fill, self._batch, self._rate = session, where, fill, batch, rate
        self._read_inputs()
        self._together = False  # whether equally long signals go in together
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, str] = {}
        self._try()

    def values(self, signals: Sequence[np.ndarray], names: Sequence[str]) -> Values:
        """Give the numbers of some outputs, each ``(signals, n)``, for signals at the graph's rate.

        Raises GraphError if there is not one row of numbers for each signal.
        """
        pieces = [_pieces(signal, self._samples or len(signal), self._fill) for signal in signals]
        most = self._batch if self._together else 1
        inputs = [piece for of_signal in pieces for piece in of_signal]
        outputs = iter(each_length(inputs, lambda batch: self._call(batch, names), most))
        parts = [[next(outputs) for _ in of_signal] for of_signal in pieces]

        def whole(part: list[Values], name: str) -> np.ndarray:
            return part[0][name] if len(part) == 1 else np.mean([row[name] for row in part], axis=0)

        return {name: np.stack([whole(part, name) for part in parts]) for name in names}

    def _call(self, batch: np.ndarray, names: Sequence[str]) -> list[Values]:
        """Run the graph once and check what comes out; one mapping of output to numbers for each signal."""
        values = {}
        for name, array in self._run(batch, names).items():
            try:
                values[name] = _as_rows(array, len(batch))
            except GraphError as error:
                raise GraphError(f"the output {quoted(name)}: {error}") from None
            if (count := values[name].shape[1]) != self.sizes[name]:
                what = f"has {count} numbers instead of {self.sizes[name]}"
                raise GraphError(f"the output {quoted(name)} {what}")
        return [{name: values[name][row] for name in names} for row in range(len(batch))]

    def _run(self, batch: np.ndarray, names: Sequence[str]) -> Values:
        """Run the graph once with signals ``(signals, samples)``; any shape comes out."""
        if not names:
            return {}  # ONNX Runtime would give all outputs
        inputs = {self._signals.name: batch if len(self._signals.shape) == 2 else batch[0]}
        for item in self._lengths:
            inputs[item.name] = np.full(len(batch), batch.shape[1], LENGTH_TYPES[item.type])
        return dict(zip(names, self._session.run(list(names), inputs), strict=True))

    def _read_inputs(self) -> None:
        inputs = self._session.get_inputs()
        self._lengths = [item for item in inputs if "len" in item.name.lower() and item.type in LENGTH_TYPES]
        signals = [item for item in inputs if item not in self._lengths]
        shapes = [item.shape or () for item in signals if item.type == "tensor(float)"]
        one = len(signals) == len(shapes) == 1 and len(self._lengths) < 2 and len(shapes[0]) in (1, 2)
        if not one or (len(shapes[0]) == 2 and isinstance(shapes[0][0], int) and shapes[0][0] != 1):
            listed = ", ".join(f"{quoted(item.name)} {_described(item)}" for item in inputs) or "nothing"
            what = f"the graph takes {listed}; given are a signal, tensor(float) (1, samples), and its length"
            raise input_error(self._where, what, f"Save it with such an input. Or: {PYTHON_MODEL}")
        (self._signals,), (shape,) = signals, shapes
        self._samples = shape[-1] if isinstance(shape[-1], int) else None  # the length that it fixes
        if self._samples is not None and not self._fill:
            what = f"the graph takes exactly {self._samples} samples ({self._samples / self._rate:.4g} s)"
            remedy = "Say how the last piece of a signal is filled up: pieces: repeat or pieces: zeros"
            raise input_error(self._where, what, remedy)
        if self._samples is None and self._fill:
            raise input_error(self._where, "the graph takes signals of any length", "Remove pieces")

    def _try(self) -> None:
        """Ask about noise: which numbers come out, and what signals do to each other."""
        names = []
        for item in self._session.get_outputs():
            if item.type in NUMBERS:
                names.append(item.name)
            else:
                what = f"it is {_described(item)}, not a tensor of floating-point numbers"
                self.unusable[item.name] = what
        noise = self._first_answers(names)
        if self._samples is None:
            shorter: Values = {}
            with contextlib.suppress(Exception):  # it may be too short
                shorter = self._run(noise[1:, : noise.shape[1] // 2], list(self.sizes))
            for name in [name for name, array in shorter.items() if array.size != self.sizes[name]]:
                what = f"it has {self.sizes.pop(name)} or {shorter[name].size} numbers"
                self.unusable[name] = f"{what}, depending on the signal's length"
        if not self.sizes:
            named = "; ".join(f"{quoted(name)}: {why}" for name, why in self.unusable.items())
            what = f"no output is one row of numbers for a signal: {named}"
            raise input_error(self._where, what, f"{ONE_ROW}. Or: {PYTHON_MODEL}")
        many = len(self._signals.shape) == 2 and not isinstance(self._signals.shape[0], int)
        if many and self._batch > 1:
            with contextlib.suppress(Exception):  # it cannot take them together
                alone = [self._call(noise[row : row + 1], list(self.sizes))[0] for row in range(2)]
                both = self._call(noise, list(self.sizes))
                self._together = all(
                    np.allclose(single[name], together[name], rtol=CLOSE, atol=CLOSE, equal_nan=True)
                    for single, together in zip(alone, both, strict=True)
                    for name in self.sizes
                )

    def _first_answers(self, names: Sequence[str]) -> np.ndarray:
        """Find the outputs that can be used, and how many numbers they have; gives the noise it took."""
        first: Exception | None = None
        for seconds in TRIED_SECONDS:
            size = self._samples or int(seconds * self._rate)
            noise = np.random.default_rng(0).normal(0.0, 0.1, (2, size)).astype(np.float32)
            try:
                outputs = self._run(noise[:1], names)
            except Exception as error:
                first = first or error
                continue
            for name, array in outputs.items():
                try:
                    self.sizes[name] = _as_rows(array, 1).shape[1]
                except GraphError as error:
                    self.unusable[name] = str(error)
            return noise
        what = f"it fails with {TRIED_SECONDS[0]:g} s of noise: {reason(first)}"
        raise input_error(
            self._where, what, "Try it outside of Soundcheck; is sampling_rate right?"
        ) from first


def _pieces(signal: np.ndarray, length: int, fill: str) -> np.ndarray:
    """Cut a signal, float32 ``(pieces, length)``."""
    size = -(-len(signal) // length) * length
    whole = np.resize(signal, size) if fill == "repeat" else np.pad(signal, (0, size - len(signal)))
    return whole.reshape(-1, length)


def _as_rows(array: np.ndarray, count: int) -> np.ndarray:
    """Give one row of numbers a signal, ``(count, n)``; raises GraphError if there are not as many."""
    if array.ndim < 2 and array.size == count:
        return array.reshape(count, 1)
    if array.ndim < 2 and count == 1:
        return array.reshape(1, -1)
    if array.ndim == 2 and len(array) == count:
        return array
    raise GraphError(f"it has the shape {array.shape} for {count} signal{'s' * (count > 1)}")


def _described(item: Any) -> str:
    shape = ", ".join(str(size if size is not None else "?") for size in item.shape or ())
    return f"{item.type} ({shape})"
