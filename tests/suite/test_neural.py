"""The suite of networks whose weights come in packages."""

import re
from pathlib import Path

import pytest

from soundcheck.suite.suite_file import read_suite

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "suites" / "neural.yml"


def test_extras_and_pins_name_what_the_suite_needs():
    pins = (ROOT / "requirements-neural.txt").read_text("utf-8").lower()
    for package in ("onnxruntime", "speechmos", "resemblyzer", "torch", "transformers", "onnx-asr"):
        assert re.search(rf"^{package}==\S+$", pins, re.MULTILINE), package
    others = (ROOT / "requirements.txt").read_text("utf-8").lower()
    shared = {line.partition("==")[0] for line in pins.splitlines() if "==" in line}
    shared &= {line.partition("==")[0] for line in others.splitlines()}
    assert shared <= {"setuptools"}  # torch asks for a newer one


def test_its_network_is_that_of_the_package():
    """What it predicts is tested by tests/test_onnx_runs.py, with the entry of the suite as it stands."""
    pytest.importorskip("speechmos")
    quality = read_suite(SUITE).models["quality"]
    assert quality.public_target == "package:speechmos/dnsmos_models/sig_bak_ovr.onnx"
