"""Packages that only some suites need: how they are imported, and what to say if they are missing."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from soundcheck.common.errors import input_error

DISTRIBUTION = "soundcheck-speech"


def import_extra(module: str, extra: str, where: str) -> ModuleType:
    """Import a module of an optional package.

    - ``module``: its name, such as ``"onnxruntime"``.
    - ``extra``: the extra of this package that brings it.
    - ``where``: what needs it, for the message.
    - Raises InputError: if it is not installed, or cannot be imported.
    """
    remedy = _remedy(extra)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = f"the package {error.name} is not installed"
        raise input_error(where, missing, remedy) from error
    except Exception as error:  # a library that is missing, packages that do not fit together
        what = f"the package {module} cannot be imported: {type(error).__name__}: {error}"
        raise input_error(where, what, f"{remedy} --upgrade") from error


def extra_folder(package: str, extra: str, where: str) -> Path:
    """Find the folder of an optional package, such as for weights in it; nothing is imported.

    - ``package``: its name, such as ``"silero_vad"``.
    - ``extra, where``: see :func:`import_extra`.
    - Raises InputError: if it is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise input_error(where, f"the package {package} is not installed", _remedy(extra))
    return Path(spec.submodule_search_locations[0])


def _remedy(extra: str) -> str:
    return f'Install it: pip install "{DISTRIBUTION}[{extra}]"'


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Give the versions of installed distributions; empty text for those that are not there."""
    result = {}
    for name in distributions:
        try:
            result[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            result[name] = ""
    return result
