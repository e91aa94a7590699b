"""Packages that take seconds to import: by the tests that use them, not by all who collect tests."""

import importlib.util
from typing import Any

import pytest


class Late:
    """Stands for a module until something of it is wanted."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for its marks
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def late(name: str) -> Any:
    """Give a package, or skip the module that asks where it is not installed."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return Late(name)
