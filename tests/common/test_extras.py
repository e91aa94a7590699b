"""Optional packages: imported, or the message that says how to get them."""

import pytest

from soundcheck.common import extras
from soundcheck.common.errors import InputError


def test_gives_what_is_installed():
    assert extras.import_extra("json", "onnx", "suite.yml").__name__ == "json"


def test_says_how_to_install_what_is_missing():
    with pytest.raises(InputError) as error:
        extras.import_extra("no_such_package.part", "onnx", "suite.yml, models.mine.onnx")
    assert str(error.value) == (
        "suite.yml, models.mine.onnx: the package no_such_package is not installed. "
        'Install it: pip install "soundcheck-speech[onnx]".'
    )


def test_says_what_is_wrong_with_a_broken_package(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise OSError('libsomething.so: not found')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="cannot be imported: OSError: libsomething.so: not found"):
        extras.import_extra("broken_package", "onnx", "suite.yml")


def test_versions():
    assert extras.versions(["numpy", "no-such-distribution"])["no-such-distribution"] == ""
    assert extras.versions(["numpy"])["numpy"]
