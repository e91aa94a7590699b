"""Level and noise come from all segments where a test asked for them, else from a sample drawn by content."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora import measured
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measured import measured_sounds
from soundcheck.suite.entries import CorpusEntry


@pytest.fixture
def corpus(tmp_path):
    """Make a corpus of tones, each louder than the one before."""

    def made(count: int = 8, duration: float = 0.5, audio: bool = True, **columns: object) -> Corpus:
        for n in range(count if audio else 0):
            tone = 0.01 * (n + 1) * np.sin(np.arange(8000) / 10)
            soundfile.write(tmp_path / f"{n}.wav", tone, 16000)
        table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
        table = table.assign(duration=duration, audio=[f"digest {n}" for n in range(count)], **columns)
        return Corpus("c", CorpusEntry("c", "csv", audio=audio), tmp_path, table, (), (), False, "")

    return made


def test_what_was_measured_is_taken(corpus, tmp_path):
    known = corpus(level=np.arange(8.0) - 40, bandwidth=np.nan)
    found = measured_sounds(known, ["level", "bandwidth"], tmp_path / "cache")
    assert list(found) == ["level"] and found["level"].whole and found["level"].asked == 8
    assert not (tmp_path / "cache").exists()  # nothing was listened to


def test_a_sample_is_the_same_in_any_order_and_listened_to_once(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "SAMPLE_SOUNDS", 5)
    whole = corpus()
    first = measured_sounds(whole, ["level"], tmp_path / "cache")["level"]
    assert first.asked == 5 and not first.whole
    for path in tmp_path.glob("*.wav"):
        path.unlink()
    mixed = whole.segments.iloc[::-1].reset_index(drop=True)
    other = dataclasses.replace(whole, segments=mixed)
    again = measured_sounds(other, ["level"], tmp_path / "cache")["level"]
    assert sorted(again.values) == sorted(first.values)


def test_of_long_recordings_there_are_few(corpus, tmp_path):
    found = measured_sounds(corpus(duration=1800.0), ["level"], tmp_path / "cache")
    assert found["level"].asked == 2
    assert measured_sounds(corpus(duration=1e5), ["level"], tmp_path / "c")["level"].asked == 1


def test_without_audio_nothing_is_measured(corpus, tmp_path):
    assert measured_sounds(corpus(audio=False), ["level"], tmp_path / "cache") == {}


def test_words_under_the_name_of_a_measure_do_not_hide_the_sound(corpus, tmp_path):
    found = measured_sounds(corpus(level=["loud"] * 8), ["level"], tmp_path / "cache")
    assert found["level"].asked == 8 and (found["level"].values < 0).all()
