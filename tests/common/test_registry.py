"""Classes of a package and of packages inside it are found by their word; two of one word are refused."""

import sys
from pathlib import Path

import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.registry import Registry

BASE = "class Kind:\n    pass\n"


def kinds(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> Registry:
    """Write a package, its modules by their paths without slashes, and look through it."""
    name = folder.name.replace("-", "_")
    modules = {"__init__": "", "base": BASE} | modules
    for place, text in modules.items():
        file = folder / name / (place.replace("__in__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(folder)
    __import__(f"{name}.base")
    return Registry(sys.modules[f"{name}.base"].Kind, name, "nobody.registers.this")


def kind(name: str, folder: Path, word: str) -> str:
    package = folder.name.replace("-", "_")
    return f"from {package}.base import Kind\n\n\nclass {name}(Kind):\n    keyword = {word!r}\n"


def test_finds_classes_of_packages_inside(tmp_path, monkeypatch):
    found = kinds(
        tmp_path,
        monkeypatch,
        flat=kind("Flat", tmp_path, "flat"),
        inside__in____init__='"""Of one sort."""\n',
        inside__in__model=kind("Inside", tmp_path, "inside"),
        inside__in__helper=f"from {tmp_path.name.replace('-', '_')}.inside.model import Inside\n",
    )
    assert {word: found[word].__name__ for word in found} == {"flat": "Flat", "inside": "Inside"}


def test_refuses_two_classes_of_one_word(tmp_path, monkeypatch):
    found = kinds(
        tmp_path,
        monkeypatch,
        flat=kind("Flat", tmp_path, "same"),
        inside__in____init__="",
        inside__in__model=kind("Inside", tmp_path, "same"),
    )
    with pytest.raises(
        InputError, match=r"'same' is registered by .*\.flat\.Flat and by .*inside\.model\.Inside"
    ):
        list(found)


def test_does_not_hide_a_package_that_cannot_be_imported(tmp_path, monkeypatch):
    found = kinds(tmp_path, monkeypatch, inside__in____init__="import nothing_of_this_name\n")
    with pytest.raises(ImportError, match="nothing_of_this_name"):
        list(found)
