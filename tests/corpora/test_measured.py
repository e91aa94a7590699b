"""Measured columns: right, kept, NaN where there is nothing to measure."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora import measured
from soundcheck.corpora.corpus import Corpus
from soundcheck.suite.entries import CorpusEntry

RATE = 16000


def buzz(frequency: float, seconds: float = 0.5) -> np.ndarray:
    """Make a voice-like pulse train."""
    time = np.arange(int(seconds * RATE)) / RATE
    return 0.1 * sum(np.cos(2 * np.pi * n * frequency * time) / n for n in range(1, 12))


@pytest.mark.parametrize("frequency", [90, 145, 230, 340])
def test_pitch_of_a_voice(frequency):
    assert measured.mean_pitch(buzz(frequency).astype(np.float32), RATE) == pytest.approx(frequency, rel=0.01)


@pytest.mark.parametrize(
    "signal",
    [
        np.zeros(RATE, np.float32),
        np.zeros(0, np.float32),
        np.ones(5, np.float32),
        np.random.default_rng(0).normal(0, 0.1, RATE).astype(np.float32),  # a whisper has no pitch
    ],
)
def test_nothing_voiced(signal):
    assert np.isnan(measured.mean_pitch(signal, RATE))


@pytest.fixture
def corpus(tmp_path):
    rows = []
    for n, frequency in enumerate((100, 200, 0)):
        signal = buzz(frequency) if frequency else np.zeros(RATE)
        soundfile.write(tmp_path / f"{n}.wav", signal, RATE)
        rows.append((f"{n}.wav", np.nan, np.nan, f"digest{n}"))
    rows.append(("1.wav", 0.0, 0.25, "part"))
    table = pd.DataFrame(rows, columns=["file", "start", "end", "audio"])
    entry = CorpusEntry("c", "csv")
    return Corpus("c", entry, tmp_path, table, (), (), False, "")


def test_columns_are_added_and_kept(corpus, tmp_path, monkeypatch):
    found = measured.measure(corpus, ["pitch"], tmp_path / "cache", jobs=2)
    np.testing.assert_allclose(found.segments["pitch"], [100, 200, np.nan, 200], rtol=0.02)
    assert "pitch" not in corpus.segments.columns
    monkeypatch.setitem(measured.MEASURES, "pitch", lambda *_: pytest.fail("measured again"))
    again = measured.measure(corpus, ["pitch"], tmp_path / "cache")
    pd.testing.assert_frame_equal(found.segments, again.segments)


def test_a_column_of_the_data_stays(corpus, tmp_path):
    own = dataclasses.replace(corpus, segments=corpus.segments.assign(pitch=1.0))
    assert measured.measure(own, ["pitch"], tmp_path / "cache").segments["pitch"].eq(1).all()
