"""What ``soundcheck init`` writes can be run, and nothing is overwritten."""

import numpy as np
import pytest

from soundcheck import starter
from soundcheck.errors import InputError
from soundcheck.suite import read_suite


def test_the_suite_is_valid_and_names_the_model_beside_it(tmp_path):
    told = starter.write(tmp_path / "new")
    assert str(tmp_path / "new" / "suite.yml") in told
    suite = read_suite(tmp_path / "new" / "suite.yml")
    assert list(suite.models) == ["mine", "random-gaussian"] and list(suite.comparisons) == [
        "mine against chance"
    ]
    assert "correctness_regression" in suite.families


def test_the_model_answers(tmp_path):
    starter.write(tmp_path)
    names: dict = {}
    exec((tmp_path / "my_model.py").read_text(), names)
    quiet, loud = (
        names["predict"](np.full(100, level, np.float32), 16000)["arousal"] for level in (0.001, 0.5)
    )
    assert 0 <= quiet < loud <= 1


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "my_model.py").write_text("mine")
    with pytest.raises(InputError, match="my_model.py.*exists already"):
        starter.write(tmp_path)
    assert (tmp_path / "my_model.py").read_text() == "mine" and not (tmp_path / "suite.yml").exists()
