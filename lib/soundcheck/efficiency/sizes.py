"""How large models are: the files that they read, and the parameters in those whose format tells."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterable
from pathlib import Path

_HEADER_BYTES = 100_000_000  # of a safetensors file, by its specification


def named_bytes(paths: Iterable[Path | None]) -> dict[str, int]:
    """Give the size of files, and of all files in folders, in bytes; what is not there has none."""
    sizes: dict[str, int] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path is not None and path.is_dir() else [path]
        sizes |= {str(one): one.stat().st_size for one in inside if one is not None and one.is_file()}
    return sizes


def parameters(paths: Iterable[Path]) -> int | None:
    """Count the numbers in safetensors files and ONNX graphs; ``None`` if that cannot be known."""
    counts = [_COUNTERS[path.suffix](path) for path in sorted(set(paths)) if path.suffix in _COUNTERS]
    return sum(counts) if counts and None not in counts else None


def _safetensors(path: Path) -> int | None:
    """Count by the header: its length as 8 bytes, then JSON that gives the shape of each tensor."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size <= _HEADER_BYTES else {}
        return sum(math.prod(one["shape"]) for name, one in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _onnx(path: Path) -> int | None:
    if importlib.util.find_spec("onnx") is None:  # ONNX Runtime does without
        return None
    import onnx

    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:  # of Protocol Buffers, whose errors have no common base
        return None
    return sum(math.prod(one.dims) for one in graph.initializer)


_COUNTERS = {".safetensors": _safetensors, ".onnx": _onnx}
