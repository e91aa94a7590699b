"""What became of inputs, what is told of it, and when an answer is another one."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models.answers import pack
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.same_model import CANARIES, CLEAN, GONE, Comparison, Confirmation, choose_canaries
from soundcheck.predict.store import Entry, Upkeep


def test_rounds_are_joined():
    failures, odd = [("a", "x", "", "why")], {"odd": 1}
    first = PredictionReport(
        *("m", "f", {"a": Path("a")}, 5, 2, 1, 1, 1, failures, 1, odd, 4, 1, 1.5, ("note",)),
        asked=2,
        days={"2026-11-20": 1, "2026-11-22": 4},
        confirmation=Confirmation(5),
        upkeep=Upkeep({"w": "1", "pipe": ""}, 1, ("w",), damaged=2, damage=("cut",)),
    )
    later = PredictionReport(
        *("m", "f", {"b": Path("b")}, 3, 1, 1, 0, 1, failures, 0, {"odd": 2}, 2, 0, 1.0, ("note", "b")),
        asked=1,
        days={"2026-11-22": 1},
        upkeep=Upkeep({"/secret/v": "2", "gone": ""}, 0, (), 2, ("/secret/v",), 1, ("cut",)),
    )
    both = first.joined(later)
    assert (both.model, both.code, list(both.tables)) == ("m", "f", ["a", "b"])
    assert both.inputs == 8 == both.computed + both.reused + both.failed + both.unusable
    assert both.failures == failures * 2 and odd == {"odd": 1}
    assert both.unknown_classes == {"odd": 3} and both.out_of_range == 1
    assert (both.repeated, both.repeated_different, both.seconds) == (6, 1, 2.5)
    assert (both.notices, both.confirmation) == (("note", "b"), Confirmation(5))
    assert (both.asked, both.days) == (3, {"2026-11-20": 1, "2026-11-22": 5})
    assert both.seen_files == {"w": "1", "…/v": "2"}
    assert both.upkeep.files == {"w": "1", "pipe": "", "/secret/v": "2", "gone": ""}
    notes = " ".join(both.notes())
    assert "secret" not in notes
    words = ("1 inputs were predicted again", "2 predictions are not cached", "pipe, gone")
    words += ("3 cached predictions were damaged", "lost or cannot be read, so they are computed again: cut")
    assert all(each in notes for each in words)


FILES = {"w.json": "1", "/home/me/v.json": "2"}


@pytest.mark.parametrize(
    ("files", "same"),
    [
        (dict(reversed(FILES.items())), True),
        ({"w.json": "1", "pipe": "", "/data/v.json": f"{GONE}2", "unknown": ""}, True),  # another machine
        (FILES | {"w.json": "3"}, False),
        ({"w2.json": "1", "/home/me/v.json": "2"}, False),
        (FILES | {"/data/v.json": "2"}, False),
    ],
)
def test_the_fingerprint_is_of_the_content_of_files_wherever_they_lie(files, same):
    first = PredictionReport("m", "code", upkeep=Upkeep(FILES))
    assert (PredictionReport("m", "code", upkeep=Upkeep(files)).fingerprint == first.fingerprint) is same
    assert PredictionReport("m", "other", upkeep=Upkeep(FILES)).fingerprint != first.fingerprint
    assert PredictionReport("m", "code").fingerprint == "code"


def test_many_missing_answers_are_a_caveat():
    assert PredictionReport("quits", inputs=200, unusable=10).caveats() == []
    (caveat,) = map(str, PredictionReport("quits", inputs=200, unusable=100).caveats())
    assert caveat.startswith("quits: 100 of 200 inputs have no prediction for some task: its values are")
    assert "left_out.csv lists them" in caveat


AROUSAL, EMOTION = BUILTIN["arousal"], BUILTIN["emotion"]
TEXT, VECTOR = BUILTIN["transcript"], BUILTIN["embedding"]


def entry(**answer: object) -> Entry:
    return Entry(answer, {})


def vector(*numbers: float) -> Entry:
    return entry(embedding=pack(np.array(numbers)))


@pytest.mark.parametrize(
    ("task", "one", "other", "differ"),
    [
        (AROUSAL, entry(arousal=0.5), entry(arousal=0.5 + 9e-7), False),
        (AROUSAL, entry(arousal=0.5), entry(arousal=0.5 + 2e-6), True),
        (Task("age", "regression", (), 0, 100), entry(age=50.0), entry(age=50.00009), False),
        (EMOTION, entry(emotion="joy"), entry(emotion="anger"), True),
        (EMOTION, entry(emotion="joy", confidence=0.5), entry(emotion="joy", confidence=0.6), True),
        (EMOTION, entry(emotion="joy", confidence=0.5), entry(emotion="joy"), True),
        (TEXT, entry(transcript="turn left"), entry(transcript="turn  left"), True),
        (VECTOR, vector(1, 2), vector(2, 4), False),  # the same direction
        (VECTOR, vector(1, 2), vector(1, 2.001), True),
        (VECTOR, vector(1, 2), vector(1, 2, 0), True),
    ],
)
def test_answers_of_a_model_that_repeats(task, one, other, differ):
    comparison = Comparison([task], [(one, one)])
    assert comparison.differ(one, other) is comparison.differ(other, one) is differ
    assert not comparison.loose
    assert not Comparison([task], [(one, other)]).differ(one, other)  # the model does not repeat


def test_answers_of_a_model_that_does_not():
    numbers = Comparison([AROUSAL], [(entry(arousal=0.5), entry(arousal=0.51))])
    assert numbers.loose and not numbers.differ(entry(arousal=0.5), entry(arousal=0.59))
    assert numbers.differ(entry(arousal=0.5), entry(arousal=0.61))
    classes = Comparison([AROUSAL, EMOTION], [(entry(arousal=1, emotion="a"), entry(arousal=1, emotion="b"))])
    assert not classes.differ(entry(arousal=1, emotion="a"), entry(arousal=1, emotion="c"))
    assert classes.differ(entry(arousal=1, emotion="a"), entry(arousal=0.9, emotion="a"))


@given(st.sets(st.text()), st.sets(st.text()))
def test_choice(clean, changed):
    changed -= clean
    chosen = choose_canaries(clean, changed)
    assert len(chosen) == len({*chosen}) == min(CANARIES, len(clean) + len(changed))
    assert {*chosen} <= clean | changed
    assert len(clean & {*chosen}) >= min(CLEAN, len(clean))
    assert len(changed & {*chosen}) >= min(CANARIES - CLEAN, len(changed))
    assert choose_canaries(sorted(clean), sorted(changed)) == chosen
