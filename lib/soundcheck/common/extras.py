"""Packages that only some suites need: how they are imported, and what to say if they are missing."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable
from types import ModuleType

from soundcheck.common.errors import input_error

__all__ = ["import_extra", "versions"]

DISTRIBUTION = "soundcheck-speech"


def import_extra(module: str, extra: str, where: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module
        Its name, such as ``"onnxruntime"``.
    extra
        The extra of this package that brings it.
    where
        What needs it, for the message.

    Raises
    ------
    InputError
        If it is not installed, or cannot be imported.
    """
    remedy = f'Install it: pip install "{DISTRIBUTION}[{extra}]"'
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = f"the package {error.name} is not installed"
        raise input_error(where, missing, remedy) from error
    except Exception as error:  # a library that is missing, packages that do not fit together
        what = f"the package {module} cannot be imported: {type(error).__name__}: {error}"
        raise input_error(where, what, f"{remedy} --upgrade") from error


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Give the versions of installed distributions; empty text for those that are not there."""
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found
