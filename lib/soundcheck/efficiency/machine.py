"""The machine on which something was measured: what it is, not whose."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import psutil

from soundcheck import __version__

_LIBRARIES = ("numpy", "scipy", "onnxruntime", "torch", "transformers", "tensorflow", "scikit-learn")


def machine() -> dict[str, str]:
    """Describe the machine by names for people; no name of a host or a user."""
    found = {
        "processor": _processor(),
        "cores": f"{os.cpu_count()}, of which one was used" if _can_choose() else f"{os.cpu_count()}",
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "soundcheck": __version__,
    }
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _can_choose() -> bool:
    return hasattr(os, "sched_setaffinity")


def _processor() -> str:
    cores = Path("/proc/cpuinfo")
    lines = cores.read_text(errors="replace").splitlines() if cores.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(filter(None, names), platform.processor() or platform.machine() or "unknown")
