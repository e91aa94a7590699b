"""What a model is asked: segments and changes, keys of answers, shares and parts of them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.augment.sounds import Sounds
from soundcheck.common import files
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.predict import request
from soundcheck.predict.request import Keys, Share, list_segments, repeated_key
from soundcheck.predict.workers import Call, Excerpt, Unit
from soundcheck.suite.families import Perturbation


def test_segments_and_their_changes_are_those_of_a_plain_loop():
    rng = np.random.default_rng(0)
    start = np.where(rng.random(60) < 0.5, np.nan, rng.integers(1, 9, 60) / 4)
    end = np.where(rng.random(60) < 0.5, np.nan, 5.0)
    names = [f"{n % 7}.wav" for n in range(60)]
    table = pd.DataFrame(
        {"key": map(str, range(60)), "audio": names, "file": names, "start": start, "end": end}
    )
    changes = ["everywhere", "a", "b"]
    masks = {change: rng.random(60) < 0.3 for change in "ab"}
    corpus = SimpleNamespace(segments=table, root=Path("/root"))
    listed = list(list_segments(corpus, changes, lambda _: masks))
    assert [segment.key for segment in listed] == table["key"].tolist()
    for n, segment in enumerate(listed):
        assert segment.changes == ("", *(c for c in changes if c not in masks or masks[c][n]))
        assert segment.excerpt.path == f"/root/{names[n]}" and segment.excerpt.content == names[n]
        for time, given_time in ((segment.excerpt.start, start[n]), (segment.excerpt.end, end[n])):
            assert time is None if np.isnan(given_time) else type(time) is float and time == given_time


NOISE = Perturbation("Noise", "white_noise", {"snr_db": 20, "b": 2})
MUSIC = Perturbation("Music", "background_noise", {"noise": "music", "snr_db": 20})


def key(content="audio", change=0, fingerprint="ab" * 20, tasks=("arousal",), changes=(NOISE,), **more):
    more = {"seed": 0, "sounds": Sounds()} | more
    return Keys(fingerprint, [BUILTIN[name] for name in tasks], changes, **more).key(content, change)


def test_everything_that_an_answer_depends_on_is_in_its_key():
    others = {
        "changed": key(),
        "clean": key(change=None),
        "audio": key("other"),
        "model": key(fingerprint="cd" * 20),
        "tasks": key(tasks=("arousal", "emotion")),
        "options": key(changes=[Perturbation("Noise", "white_noise", {"snr_db": 30, "b": 2})]),
        "transform": key(changes=[Perturbation("Noise", "gain", NOISE.options)]),
        **{f"sounds {n}": key(changes=[MUSIC], sounds=SimpleNamespace(digest=f"{n}".join)) for n in (1, 2)},
        "seed": key(seed=1),
        "repeated": repeated_key(key()),
    }
    assert len(set(others.values())) == len(others)
    patterns = "no such file", request.CHANGING, request.READING  # code that makes signals counts as well
    assert len({*map(request.code_digest, patterns)}) == len(patterns)


def test_what_an_answer_does_not_depend_on_is_not_in_its_key():
    same = Perturbation("Another name", "white_noise", {"b": 2, "snr_db": 20})
    assert key(change=1, changes=[NOISE, same]) == key()
    other_scale = Keys("ab" * 20, [Task("arousal", "regression", (), 1, 7)], [NOISE], 0, Sounds())
    assert other_scale.key("audio", 0) == key()
    assert key(change=None, changes=(), seed=9) == key(change=None)


@pytest.mark.parametrize("of", [1, 3, 40])
def test_each_key_belongs_to_exactly_one_share(of):
    keys = [files.digest(str(number)) for number in range(2000)]
    counts = [sum(key in Share(number, of) for key in keys) for number in range(1, of + 1)]
    assert sum(counts) == len(keys)
    expected = len(keys) / of
    assert max(abs(count - expected) for count in counts) < 6 * expected**0.5  # a fair draw
    first_digits = "000000000000005" + 25 * "f"  # 5 modulo 3 is 2, on every machine and in every version
    assert [number for number in (1, 2, 3) if first_digits in Share(number, 3)] == [3]


def test_shares_are_read_as_they_are_written_or_refused_with_the_reason():
    assert str(Share.parse("2/3")) == "2/3"
    for text, why in (("4/3", "K must be from 1 to N"), ("0/3", "K must be"), ("1/0", "K must be")):
        with pytest.raises(ValueError, match=why):
            Share.parse(text)
    for text in ("a/b", "", "\u0661/\u0663", "1/9999999999"):
        with pytest.raises(ValueError, match="not of the form K/N"):
            Share.parse(text)


@given(st.integers(0, 50), st.integers(1, 12))
def test_pieces_of_units(count, size):
    calls = [Call(f"{n}", n % 3 or None, Excerpt("a", None, None, f"{n // 3}")) for n in range(count)]
    unit = Unit(tuple(calls), one_by_one=True)
    pieces = unit.pieces(size)
    assert [key for piece in pieces for key in piece.keys] == unit.keys
    assert all(len(piece.keys) == size for piece in pieces[:-1])
    assert all(piece.one_by_one and piece.calls for piece in pieces)
    assert unit.only({*unit.keys[::2]}).calls == unit.calls[::2]
