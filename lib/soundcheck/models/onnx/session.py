"""ONNX files, looked through before anything loads them, and sessions that compute the same on any machine.

An ONNX file names the files that its other weights lie in, and operators that may come from libraries, which
are code. Both are looked for everywhere: in the graph, in graphs inside of nodes, and in functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import inside, irregularity
from soundcheck.models.base import reason

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
    if not path.stat().st_size:
        raise input_error(where, "the file is empty", "Save the model again")
    import onnx

    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            what = "this is a pointer of Git LFS, not the model itself"
            raise input_error(where, what, "Fetch it: git lfs pull")
    try:
        model = onnx.load(path, format="protobuf", load_external_data=False)
        if not model.HasField("graph"):
            raise ValueError("no graph")
    except OSError as error:
        raise input_error(where, f"the file cannot be read: {error.strerror}") from error
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
            for one in value if field.is_repeated else [value]:
                yield from _messages(one)


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
