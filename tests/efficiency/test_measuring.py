"""Models whose costs are known are measured as what they are."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.efficiency import measuring
from soundcheck.efficiency.measuring import JOINED, MOST_LOST, OVER, RECORDED, Input, measure
from soundcheck.predict.workers import Excerpt, Setup
from soundcheck.suite.suite_file import read_suite

NAMES = ("sleeps", "warms", "grows", "fails", "hangs", "dies", "counts_cores")


@pytest.fixture(scope="module")
def setups(tmp_path_factory):
    """Models, their inputs and a cache."""
    folder = tmp_path_factory.mktemp("costs")
    shutil.copy(Path(__file__).with_name("costs.py"), folder)
    keys = "tasks: [arousal], time_limit: 0.5"
    models = "".join(f'  {name}: {{python: "costs:{name}", {keys}}}\n' for name in NAMES)
    text = f"corpora: {{demo: {{format: demo}}}}\nfamilies: all\nmodels:\n{models}"
    (folder / "suite.yml").write_text(text)
    suite = read_suite(folder / "suite.yml")
    inputs = []
    for kind, seconds in ((RECORDED, 0.5), (RECORDED, 1.0), (JOINED, 2.0)):
        sound = f"{folder}/{seconds}.wav"
        soundfile.write(sound, np.zeros(int(16000 * seconds)), 16000)
        inputs.append(Input(kind, seconds, Excerpt(sound, None, None, "")))
    setups = [Setup(entry, suite, entry.about, (), Sounds({}), ()) for entry in suite.models.values()]
    return setups, [inputs] * len(setups), folder / "cache"


@pytest.fixture(scope="module")
def measured(setups):
    entries, inputs, cache = setups
    return {measured.model: measured for measured in measure(entries, inputs, seconds=0.3, cache=cache)}


def test_latency_is_that_of_the_call_and_the_first_is_apart(measured):
    calls = measured["sleeps"].calls
    assert len(calls) >= 6 and measured["sleeps"].stopped == OVER
    for length in (0.5, 1.0, 2.0):
        took = [call.seconds for call in calls if call.duration == length]
        assert length / 30 <= min(took) < length / 30 + 0.02  # others may use the core, too
    assert measured["warms"].first_seconds > 0.4
    assert np.median([call.seconds for call in measured["warms"].calls]) < 0.1
    on_one_core = measured["counts_cores"]
    assert on_one_core.calls and not on_one_core.first_problems
    assert not any(call.problem for call in on_one_core.calls)


def test_memory_is_seen_to_grow_and_a_model_stopped_before_none_is_left(setups, measured, monkeypatch):
    entries, inputs, cache = setups
    place, grows = NAMES.index("grows"), measured["grows"]
    if len(grows.memory) == 1:  # the machine is busy
        (grows,) = measure(entries[place : place + 1], inputs[:1], seconds=2, cache=cache)
    (first, before), (last, after) = grows.memory[0], grows.memory[-1]
    assert (after - before) / (last - first) == pytest.approx(20e6, rel=0.05)
    assert grows.peak_bytes >= 20e6 * len(grows.calls) and 20e6 < grows.first_bytes < before
    monkeypatch.setattr(measuring, "_free", lambda: (100_000_000, 2_000_000_000))
    (full,) = measure(entries[place : place + 1], inputs[:1], seconds=30, cache=cache)
    assert full.stopped == measuring.FULL
    assert 1 <= len(full.calls) < 5 and full.memory


def test_failures_and_calls_that_take_too_long_are_counted(measured):
    calls = measured["fails"].calls
    failed = [call for call in calls if call.problem]
    assert len(failed) == (len(calls) + 1) // 3  # the first call was one of three, too
    assert {call.problem for call in failed} == {"ValueError: now and then"}
    assert all(call.seconds is None for call in failed)
    late = [call for call in measured["hangs"].calls if call.timed_out]
    assert {(call.kind, call.problem) for call in late} == {(JOINED, "no answer within 0.5 s")}
    assert len(measured["hangs"].calls) < len(calls)  # the others go on
    dies = measured["dies"]
    assert (dies.calls, dies.first_seconds) == ([], None)
    assert len(dies.first_problems) == MOST_LOST and "SIGABRT" in dies.stopped
