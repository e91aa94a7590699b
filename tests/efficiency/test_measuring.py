"""Models whose costs are known are measured as what they are."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.efficiency import measuring
from soundcheck.efficiency.measuring import JOINED, MOST_LOST, OVER, RECORDED, Input, measure
from soundcheck.predict.protocol import Call, Item, Setup
from soundcheck.suite.suite_file import read_suite

NAMES = ("sleeps", "warms", "grows", "fails", "hangs", "dies", "counts_cores")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Give models, and what each is asked."""
    folder = tmp_path_factory.mktemp("costs")
    shutil.copy(Path(__file__).with_name("costs.py"), folder)
    models = "".join(
        f'  {name}: {{python: "costs:{name}", tasks: [arousal], time_limit: 0.5}}\n' for name in NAMES
    )
    text = f"seed: 0\ncorpora: {{demo: {{format: demo}}}}\nfamilies: all\nmodels:\n{models}"
    (folder / "suite.yml").write_text(text)
    suite = read_suite(folder / "suite.yml")
    inputs = []
    for kind, seconds in ((RECORDED, 0.5), (RECORDED, 1.0), (JOINED, 2.0)):
        soundfile.write(folder / f"{seconds}.wav", np.zeros(int(16000 * seconds)), 16000)
        inputs.append(
            Input(kind, seconds, Item(f"{folder}/{seconds}.wav", None, None, "", (Call("", None),)))
        )
    setups = [Setup(entry, suite, entry.about, (), Sounds({}), ()) for entry in suite.models.values()]
    return setups, [inputs] * len(setups), folder / "cache"


@pytest.fixture(scope="module")
def measured(asked):
    setups, inputs, cache = asked
    shares: list[float] = []
    found = measure(setups, inputs, seconds=0.5, cache=cache, told=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1
    return {one.model: one for one in found}


def test_latency_is_that_of_the_call(measured):
    calls = measured["sleeps"].calls
    assert len(calls) >= 6
    for length in (0.5, 1.0, 2.0):
        took = [call.seconds for call in calls if call.duration == length]
        assert length / 30 <= min(took) < length / 30 + 0.02  # others may use the core, too
    assert measured["sleeps"].stopped == OVER


def test_a_model_uses_one_core(measured):
    assert measured["counts_cores"].calls and not measured["counts_cores"].first_problems
    assert not any(call.problem for call in measured["counts_cores"].calls)


def test_the_first_call_is_apart(measured):
    assert measured["warms"].first_seconds > 0.4
    assert np.median([call.seconds for call in measured["warms"].calls]) < 0.1


def test_what_a_model_holds_is_seen_to_grow(measured):
    found = measured["grows"]
    (first, before), (last, after) = found.memory[0], found.memory[-1]
    assert (after - before) / (last - first) == pytest.approx(20e6, rel=0.05)
    assert found.peak_bytes >= 20e6 * len(found.calls)
    assert 20e6 < found.first_bytes < before


def test_a_model_is_stopped_before_the_machine_has_no_memory_left(asked, monkeypatch):
    setups, inputs, cache = asked
    (place,) = (n for n, one in enumerate(setups) if one.entry.name == "grows")
    monkeypatch.setattr(measuring, "_free", lambda: (100_000_000, 2_000_000_000))
    (found,) = measure([setups[place]], [inputs[place]], seconds=30, cache=cache)
    assert found.stopped == measuring.FULL
    assert 1 <= len(found.calls) < 5 and found.memory  # it was seen to grow all the same


def test_failures_are_counted_and_have_no_latency(measured):
    calls = measured["fails"].calls
    failed = [call for call in calls if call.problem]
    assert len(failed) == (len(calls) + 1) // 3  # the first call was one of three, too
    assert {call.problem for call in failed} == {"ValueError: now and then"}
    assert all(call.seconds is None for call in failed)


def test_a_call_that_takes_too_long_is_counted_and_lets_the_others_go_on(measured):
    late = [call for call in measured["hangs"].calls if call.timed_out]
    assert late
    assert {call.kind for call in late} == {JOINED}
    assert all(call.problem == "no answer within 0.5 s" for call in late)
    assert len(measured["hangs"].calls) < len(measured["fails"].calls)


def test_a_model_that_cannot_answer_is_given_up(measured):
    found = measured["dies"]
    assert (found.calls, found.first_seconds) == ([], None)
    assert len(found.first_problems) == MOST_LOST
    assert "SIGABRT" in found.stopped
