"""When is an answer another one?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models.answers import pack
from soundcheck.predict.same_model import CANARIES, CLEAN, Comparison, choose_canaries
from soundcheck.predict.store import Entry

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
