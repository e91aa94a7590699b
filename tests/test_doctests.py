"""Examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import soundcheck
import soundcheck_demo

MODULES = [
    ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
    for root in (Path(package.__file__).parent for package in (soundcheck, soundcheck_demo))
    for path in sorted(root.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed
