"""Kept answers of several models are asked for again at the same time, and nothing else changes by that."""

import dataclasses
import json
import time
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.files import digest
from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import dispatch
from soundcheck.predict.ahead import Ahead
from soundcheck.predict.engine import begin_model, predict_model
from soundcheck.predict.questions import Questions
from soundcheck.suite.entries import ModelEntry, Suite

pytestmark = pytest.mark.slow

# In the second run each model waits until the other one is asked as well.
MODEL = """
import os, pathlib, time
HERE = pathlib.Path(__file__).parent
def predict(signal, sampling_rate):
    if (HERE / "together").exists():
        (HERE / "{own}.asked").touch()
        end = time.monotonic() + 15
        while not (HERE / "{other}.asked").exists():
            if time.monotonic() > end:
                raise RuntimeError("the other one is not asked")
            time.sleep(0.01)
    if (HERE / "{own}.dies").exists():
        os._exit(3)
    if (HERE / "slowly").exists():
        (HERE / "{own}.asked").touch()
        time.sleep(60)
    return {{"arousal": float((HERE / "{own}.txt").read_text())}}
"""


class World:
    """Two models and a corpus of six segments."""

    def __init__(self, root):
        self.root = root
        for number in range(6):
            soundfile.write(root / f"{number}.wav", np.full(800 + number, 0.1), 16000)
        files = [f"{number}.wav" for number in range(6)]
        segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0})
        segments["key"], segments["audio"] = files, [digest(root / file) for file in files]
        self.corpus = SimpleNamespace(name="demo", root=root, segments=segments)
        models = {}
        for own, other in (("one", "two"), ("two", "one")):
            (root / f"{own}.py").write_text(MODEL.format(own=own, other=other))
            (root / f"{own}.txt").write_text("0.25")
            about = {"kind": "python", "target": f"{own}:predict", "tasks": ("arousal",), "time_limit": 30.0}
            models[own] = ModelEntry(name=own, **about)
        self.suite = Suite("t", 0, 100, "percentile", (), {}, models, BUILTIN, root, root / "suite.yml")

    def questions(self, name, out):
        return Questions(self.suite.models[name], self.suite, [self.corpus], {}, out, self.root / "cache")

    def one_by_one(self, out="out"):
        return [predict_model(self.questions(name, self.root / out)) for name in self.suite.models]

    def together(self, out="out", jobs=2):
        with Ahead(jobs) as ahead:
            begun = [
                begin_model(self.questions(name, self.root / out), ahead=ahead) for name in self.suite.models
            ]
            return [finish() for finish in begun]


@pytest.fixture
def world(tmp_path, forked_models):
    world = World(tmp_path)
    world.one_by_one()
    return world


def plain(report):
    values = dataclasses.asdict(report) | {"seconds": 0, "tables": sorted(report.tables)}
    return json.dumps(values, default=str)


def test_models_are_asked_again_at_the_same_time(world):
    (world.root / "together").touch()
    for report in world.together():
        assert (report.reused, report.computed) == (6, 0)
        assert (report.confirmation.asked, report.confirmation.unanswered) == (5, 0)


def test_the_same_comes_out_as_one_after_the_other(world, caplog):
    before = [plain(report) for report in world.one_by_one("alone")]
    assert [plain(report) for report in world.together("both")] == before
    (world.root / "two.txt").write_text("0.75")  # it opens this file, so nothing of it is believed
    one, two = world.together("changed")
    assert (one.reused, one.computed, two.reused, two.computed) == (6, 0, 0, 6)
    tables = [pd.read_parquet(report.tables["demo"])["arousal"] for report in (one, two)]
    assert [set(values) for values in tables] == [{0.25}, {0.75}]
    assert [line.split(":")[0] for line in caplog.messages] == ["two"]


def test_a_model_that_is_given_up_ends_no_other(world):
    """So many processes of one model die that the rest of its inputs is not asked."""
    (world.root / "one.dies").touch()
    with mock.patch.object(dispatch, "GIVE_UP_AFTER", 2):
        one, two = world.together(jobs=1)  # the second model comes after the first
    assert (one.reused, one.confirmation.asked, one.confirmation.unanswered) == (6, 0, 5)
    assert (two.reused, two.confirmation.asked, two.confirmation.unanswered) == (6, 5, 0)


def test_after_an_error_nobody_waits_for_a_model(world):
    (world.root / "slowly").touch()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Ahead(2) as ahead:
        for name in world.suite.models:
            begin_model(world.questions(name, world.root / "out"), ahead=ahead)
        while not (world.root / "one.asked").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert time.monotonic() - begin < 30
