"""Classes of a package and of packages inside it are found by their word; two of one word are refused."""

import sys

import pytest

from soundcheck.common import extras
from soundcheck.common.errors import InputError
from soundcheck.common.registry import Registry


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """Write a package, whose modules hold classes by their words or other code, and look through it."""
    package = tmp_path.name.replace("-", "_")

    def look(**modules: str) -> Registry:
        texts = {"__init__": "", "base": "class Kind:\n    pass\n", "inside/__init__": ""}
        for place, word in modules.items():
            of_class = (
                f"from {package}.base import Kind\n\nclass {word.title()}(Kind):\n    keyword = '{word}'\n"
            )
            texts[place.replace("__in__", "/")] = of_class if word.isalpha() else word
        for place, text in texts.items():
            file = tmp_path / package / f"{place}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        __import__(f"{package}.base")
        return Registry(sys.modules[f"{package}.base"].Kind, package, "nobody.registers.this")

    return look


def test_finds_classes_of_packages_inside_once(kinds, tmp_path):
    again = f"from {tmp_path.name.replace('-', '_')}.inside.model import Deep\n"
    registry = kinds(flat="flat", inside__in__model="deep", inside__in__helper=again)
    assert {word: registry[word].__name__ for word in registry} == {"flat": "Flat", "deep": "Deep"}


def test_refuses_two_classes_of_one_word(kinds):
    with pytest.raises(InputError, match=r"'same' is registered by .*flat\.Same and by .*model\.Same"):
        list(kinds(flat="same", inside__in__model="same"))


def test_does_not_hide_a_package_that_cannot_be_imported(kinds):
    with pytest.raises(ImportError, match="nothing_of_this_name"):
        list(kinds(inside__in____init__="import nothing_of_this_name\n"))


def test_optional_packages_are_imported_or_named_with_the_way_to_get_them(tmp_path, monkeypatch):
    assert extras.import_extra("json", "onnx", "suite.yml").__name__ == "json"
    with pytest.raises(InputError) as error:
        extras.import_extra("no_such_package.part", "onnx", "suite.yml, models.mine.onnx")
    assert str(error.value) == (
        "suite.yml, models.mine.onnx: the package no_such_package is not installed. "
        'Install it: pip install "soundcheck-speech[onnx]".'
    )
    (tmp_path / "broken_package.py").write_text("raise OSError('libsomething.so: not found')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="cannot be imported: OSError: libsomething.so: not found"):
        extras.import_extra("broken_package", "onnx", "suite.yml")
    versions = extras.versions(["numpy", "no-such-distribution"])
    assert versions["numpy"] and versions["no-such-distribution"] == ""
