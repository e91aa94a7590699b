"""Sessions of ONNX Runtime that give the same answers on any machine: one thread, one device, no code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.models.base import reason
from soundcheck.models.onnx.file import OnnxFile, OnnxFileError, read_onnx_file

DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu")
DEVICES = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
ERRORS_ONLY = 3  # that the library writes to its log
PYTHON_MODEL = "Write a Python model that does it (python: module:function)"


def options(runtime: ModuleType) -> Any:
    """Make the options of a session: one thread, one order of operations."""
    made = runtime.SessionOptions()
    made.intra_op_num_threads = made.inter_op_num_threads = 1
    made.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    made.use_deterministic_compute = True
    made.log_severity_level = ERRORS_ONLY
    made.enable_mem_pattern = False  # one would be kept of each length that occurs
    return made


def provider(runtime: ModuleType, device: str, refuse: Callable[[str, str], InputError]) -> str:
    """Give the name of what computes on a device.

    Raises
    ------
    InputError
        Made by ``refuse``, if the installed package cannot use the device.
    """
    name = DEVICES[device]
    if name not in runtime.get_available_providers():
        what = f"the device {device} is not available: the installed onnxruntime has no {name}"
        raise refuse(what, "Install onnxruntime-gpu, or write device: cpu")
    return name


def checked_file(path: Path, refuse: Callable[[str, str], InputError]) -> OnnxFile:
    """Look through an ONNX file before a library loads it.

    Raises
    ------
    InputError
        Made by ``refuse``, if it is none, if its weights lie elsewhere, or if it needs code.
    """
    try:
        found = read_onnx_file(path)
        found.data_files(path.parent)
    except OnnxFileError as error:
        raise refuse(error.what, error.remedy) from error
    if found.foreign:
        names = ", ".join(quoted(name) for name in found.foreign[:5])
        raise refuse(f"it has operators of a library, which is code: {names}", PYTHON_MODEL)
    return found


def open_session(
    runtime: ModuleType, path: Path, device: str, refuse: Callable[[str, str], InputError]
) -> Any:
    """Load a graph that :func:`checked_file` has seen.

    Parameters
    ----------
    runtime
        The module ``onnxruntime``.
    path
        The file.
    device
        One of :data:`DEVICES`.
    refuse
        Makes an error of what is wrong and a remedy.

    Raises
    ------
    InputError
        If it cannot be loaded, or not for the device.
    """
    wanted = provider(runtime, device, refuse)
    try:
        session = runtime.InferenceSession(str(path), options(runtime), providers=[wanted])
    except Exception as error:
        what = f"onnxruntime cannot load it: {reason(error, path.parent)}"
        raise refuse(what, "Save the model again, or update onnxruntime") from error
    if session.get_providers()[0] != wanted:  # it would go on with another one
        raise refuse(f"the device {device} cannot be used", "Check the driver, or write device: cpu")
    return session
