"""What is in a corpus more than once: copies, overlapping segments, and speakers of two splits."""

import importlib
import io

import numpy as np
import pandas as pd
import pytest
import soundfile
from benchmarks import measured as known

from soundcheck.augment.transmission import codec
from soundcheck.corpora import audio
from soundcheck.corpora.repeats import (
    STEP,
    codes,
    copies,
    find_repeats,
    fingerprint,
    speakers_in_splits,
    together,
)

RATE = 16000


@pytest.fixture(scope="module")
def voices() -> list[np.ndarray]:
    return [known.synthesised(n).astype(np.float32) for n in range(12)]


@pytest.fixture(scope="module")
def prints(voices) -> dict[str, str]:
    sounds = {f"v{n}": voices[n] for n in range(3)} | {"quiet": 0.1 * voices[0]}
    return {name: fingerprint(sound, RATE) for name, sound in sounds.items()} | {"nothing": ""}


def table(*audio: str, **columns: object) -> pd.DataFrame:
    names = [f"{n}.wav" for n in range(len(audio))]
    rows = pd.DataFrame({"file": names, "start": np.nan, "end": np.nan, "duration": 2.0, "audio": audio})
    return rows.assign(**columns)


def test_copies_are_told_with_what_is_odd_about_them(prints):
    splits = {"split": ["train", "train", "test", "test"], "speaker": ["a", "b", "c", "b"]}
    rows = table("v0", "v1", "quiet", "v2", emotion=["anger", "anger", "sadness", None], **splits)
    (copy,) = find_repeats(rows, prints, ["emotion"]).recordings
    assert copy.files == ("0.wav", "2.wav") and not copy.identical
    assert (copy.speakers, copy.splits, copy.differing) == (("a", "c"), ("test", "train"), ("emotion",))


def test_the_same_bytes_need_no_fingerprint(prints):
    repeats = find_repeats(table("nothing", "v0", "nothing", "unheard", "unheard"), prints, [])
    assert [recording.files for recording in repeats.recordings] == [("0.wav", "2.wav"), ("3.wav", "4.wav")]
    assert all(recording.identical for recording in repeats.recordings)
    assert (repeats.compared, repeats.sounds) == (1, 3)
    repeats = find_repeats(table("v0", "v1"), {}, [])
    assert not repeats.recordings and repeats.compared == 0


def test_of_other_splits_only_what_is_evaluated_too_is_told(prints):
    rows = table("v0", "v1", speaker="a", split="test", emotion="anger")
    others = table("v2", "v2", "quiet", speaker="b", split="train", emotion="sadness")
    others["file"] = "train/" + others["file"]
    repeats = find_repeats(rows, prints, ["emotion"], others)
    (copy,) = repeats.recordings
    assert (copy.files, copy.splits) == (("0.wav", "train/2.wav"), ("test", "train"))
    assert (copy.speakers, copy.differing) == (("a", "b"), ("emotion",))
    assert (repeats.compared, repeats.sounds, repeats.others) == (2, 2, 3)


def test_parallel_recordings_are_meant_to_be_alike(prints):
    rows = table("v0", "quiet", "v1", item=["x", "x", "y"], condition=["near", "far", "near"])
    repeats = find_repeats(rows, prints, [])
    assert not repeats.recordings and repeats.parallel == 2
    for other in (rows.assign(item=["x", "y", "z"]), rows.assign(item=None), rows.drop(columns="item")):
        repeats = find_repeats(other, prints, [])
        assert len(repeats.recordings) == 1 and not repeats.parallel


def test_segments_of_a_file_that_overlap_are_no_copies_but_the_same_part_is(prints):
    times = {"start": [0.0, 1.0, 3.0, 0.0], "end": [2.0, 3.0, 4.0, 2.0]}
    repeats = find_repeats(table("v0", "quiet", "v1", "v2", file=["a", "a", "a", "b"], **times), prints, [])
    assert not repeats.recordings and (repeats.overlapping, repeats.overlapping_files) == (1, 1)
    repeats = find_repeats(table("v0", "v0", file="a", start=0.0, end=2.0), prints, [])
    assert len(repeats.recordings) == 1 and not repeats.overlapping


def test_speakers_of_several_splits():
    rows = table("v0", "v1", "v2", "v3", split=["train", "train", "test", "test"], speaker=[*"abcb"])
    assert speakers_in_splits(rows) == (["test", "train"], ["b"])
    assert speakers_in_splits(rows[["file"]]) == ([], [])


def codes_of(signal: np.ndarray) -> np.ndarray:
    return codes(fingerprint(np.asarray(signal, dtype=np.float32), RATE))


def compressed(signal: np.ndarray) -> np.ndarray:
    buffer = io.BytesIO()
    soundfile.write(buffer, signal, RATE, format="MP3", subtype="MPEG_LAYER_III")
    buffer.seek(0)
    return soundfile.read(buffer, dtype="float32")[0]


CHANGES = {
    "quieter by 20 dB": lambda x, rng: 0.1 * x,
    "upside down": lambda x, rng: -x,
    "58 ms cut, between two codes": lambda x, rng: x[928:],
    "padded": lambda x, rng: np.pad(x, 3000),
    "sampled at 8 kHz": lambda x, rng: audio.resampled(audio.resampled(x, RATE, 8000), 8000),
    "mp3": lambda x, rng: compressed(x),
    "hiss 20 dB below": lambda x, rng: x + 0.1 * np.sqrt(np.mean(x**2)) * rng.standard_normal(len(x)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_planted_copies_are_found_and_nothing_else(change, voices, rng):
    planted = [CHANGES[change](voice, rng) for voice in voices[:6]]
    pairs = copies([codes_of(signal) for signal in (*voices, *planted)])
    assert pairs.tolist() == [[n, len(voices) + n] for n in range(6)]


def test_most_copies_through_a_telephone_are_found(voices, rng):
    calls = [codec(voice, RATE, rng, name="amr-nb", bit_rate=12200) for voice in voices[:6]]
    pairs = copies([codes_of(signal) for signal in (*voices, *calls)])
    assert len(pairs) >= 4 and all(second == first + 12 for first, second in pairs)


def test_nothing_is_made_up_among_1000_different_signals(rng):
    """Bursts of noise: half a second each; 10,000 voices are compared by benchmarks/copies.py."""
    signals = rng.standard_normal((1000, 10000)).astype(np.float32)
    signals *= np.repeat(rng.uniform(0.01, 1, (1000, 10)), 1000, axis=1)
    assert not len(copies([codes_of(signal) for signal in signals]))


def test_a_thousand_copies_are_one_recording(voices):
    one, other = codes_of(voices[0]), codes_of(voices[1])
    pairs = copies([one] * 1000 + [other])
    assert len(pairs) == 999  # each with the next
    assert np.unique(together(pairs, 1001)).tolist() == [0, 1]


def test_what_is_silent_or_short_is_like_nothing():
    for signal in (np.zeros(RATE), np.zeros(0), np.ones(3000), 0.1 * np.ones(RATE)):
        assert not len(copies([codes_of(signal)] * 2))
    assert not len(copies([]))


def test_a_piece_of_a_long_recording_is_found(voices, monkeypatch):
    long = np.concatenate(voices)
    whole = codes_of(long)
    assert len(whole) == pytest.approx(len(long) / STEP, abs=20)
    begin = len(voices[0]) + 1000
    assert copies([whole, codes_of(long[begin : begin + 2 * RATE])]).tolist() == [[0, 1]]
    monkeypatch.setattr(importlib.import_module(fingerprint.__module__), "AT_ONCE", 50)  # read in pieces
    np.testing.assert_array_equal(codes_of(long), whole)
