"""Networks that measure: ONNX graphs whose weights come in wheels of other packages."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from soundcheck.common.extras import extra_folder, import_extra

RUNTIME = "onnxruntime"


def check_network(package: str, extra: str, where: str) -> ModuleType:
    """Give the runtime of a network, if its package is there, too.

    - ``package``: package that has the weights; it is not imported.
    - ``extra``: the extra that brings both.
    - ``where``: what needs it, for the message.
    - Raises InputError: if one of them is not installed; says how to install it.
    """
    extra_folder(package, extra, where)
    return import_extra(RUNTIME, extra, where)


@functools.cache
def network(package: str, place: str, extra: str) -> Any:
    """Load a network, once a process.

    - ``package, extra``: see :func:`check_network`.
    - ``place``: the graph, relative to the folder of the package.
    - Returns on one core: sounds are measured in several processes.
    """
    runtime = check_network(package, extra, extra)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    file = extra_folder(package, extra, extra) / place
    return runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
