"""What is found: classes by their word, packages of extras, and families beside the suite first."""

import sys

import pytest

from soundcheck.common import resources
from soundcheck.common.messages import InputError
from soundcheck.common.resources import Registry


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """Write a package, whose modules hold classes by their words or other code, and look through it."""
    package = tmp_path.name.replace("-", "_")

    def look(modules: dict[str, str]) -> Registry:
        texts = {"__init__": "", "base": "class Kind:\n    pass\n", "inside/__init__": ""}
        for place, word in modules.items():
            text = f"from {package}.base import Kind\n\nclass {word.title()}(Kind):\n    keyword = '{word}'\n"
            texts[place] = text if word.isalpha() else word.format(package)
        for place, text in texts.items():
            file = tmp_path / package / f"{place}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        __import__(f"{package}.base")
        return Registry(sys.modules[f"{package}.base"].Kind, package, "nobody.registers.this")

    return look


def test_classes_of_packages_inside_are_found_once(kinds):
    again = "from {}.inside.model import Deep\n"
    registry = kinds({"flat": "flat", "inside/model": "deep", "inside/helper": again})
    assert {word: registry[word].__name__ for word in registry} == {"flat": "Flat", "deep": "Deep"}


def test_two_classes_of_one_word(kinds):
    with pytest.raises(InputError, match=r"'same' is registered by .*flat\.Same and"):
        list(kinds({"flat": "same", "inside/model": "same"}))


def test_optional_packages_are_imported_or_named_with_the_way_to_get_them(tmp_path, monkeypatch):
    assert resources.import_extra("json", "onnx", "suite.yml").__name__ == "json"
    message = r'no_such is not installed. Install it: pip install "soundcheck-speech\[onnx\]".$'
    with pytest.raises(InputError, match=message):
        resources.import_extra("no_such.part", "onnx", "suite.yml")
    (tmp_path / "broken_package.py").write_text("raise OSError('libsomething.so: not found')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="cannot be imported: OSError: libsomething.so: not found"):
        resources.import_extra("broken_package", "onnx", "suite.yml")
    assert resources.versions(["no-such-distribution"]) == {"no-such-distribution": ""}


def test_own_files_come_first(tmp_path):
    shipped, folder = resources.names("thresholds", ".yml"), tmp_path / "thresholds"
    (folder / "folder.yml").mkdir(parents=True)
    for name in ("fairness_sex.yml", "own.yml", ".hidden.yml", "notes.txt"):
        (folder / name).touch()
    assert resources.find("thresholds/fairness_sex.yml", tmp_path) == folder / "fairness_sex.yml"
    assert resources.names("thresholds", ".yml", tmp_path) == sorted([*shipped, "own"])
