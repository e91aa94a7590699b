"""Measured columns: computed once, kept, NaN where there is nothing to measure."""

import dataclasses
import sys

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora import audio, measured
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measured import measured_sounds
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.groups import MEASURED_COLUMNS

RATE = 16000


def buzz(frequency: float, seconds: float = 0.5) -> np.ndarray:
    """Make a voice-like pulse train."""
    time = np.arange(int(seconds * RATE)) / RATE
    return 0.1 * sum(np.cos(2 * np.pi * n * frequency * time) / n for n in range(1, 12))


@pytest.fixture
def corpus(tmp_path):
    rows = []
    for n, frequency in enumerate((100, 200, 0)):
        signal = buzz(frequency) if frequency else np.zeros(RATE)
        soundfile.write(tmp_path / f"{n}.wav", signal, RATE)
        rows.append((f"{n}.wav", np.nan, np.nan, len(signal) / RATE, f"digest{n}"))
    rows.append(("1.wav", 0.0, 0.25, 0.25, "part"))
    table = pd.DataFrame(rows, columns=["file", "start", "end", "duration", "audio"])
    entry = CorpusEntry("c", "csv")
    return Corpus("c", entry, tmp_path, table, (), (), False, "")


@pytest.fixture
def reads(monkeypatch):
    """List the files that are read."""
    read, found = audio.read_as_is, []

    def counting(path, *place):
        found.append(path.name)
        return read(path, *place)

    monkeypatch.setattr(audio, "read_as_is", counting)
    return found


PLAIN = [name for name, one in measured.MEASURES.items() if not one.package]


def test_a_constant_offset_is_not_measured(corpus, tmp_path):
    names = [name for name in PLAIN if name != "duration"]
    found = measured.measure(corpus, names, tmp_path / "cache").segments[names]
    for n in range(3):
        signal, rate = soundfile.read(tmp_path / f"{n}.wav")
        soundfile.write(tmp_path / f"{n}.wav", signal + 0.25, rate)
    other = measured.measure(corpus, names, tmp_path / "other").segments[names]
    assert found["speaking_rate"].notna().any()
    pd.testing.assert_frame_equal(found, other, atol=0.02)


def test_suites_can_name_every_measure():
    assert set(MEASURED_COLUMNS) == set(measured.MEASURES)


def test_columns_are_added_and_kept(corpus, tmp_path, reads, monkeypatch):
    monkeypatch.setattr(measured, "BATCH", 1)  # two processes, although there are few sounds
    found = measured.measure(corpus, ["pitch"], tmp_path / "cache", jobs=2)
    np.testing.assert_allclose(found.segments["pitch"], [100, 200, np.nan, 200], rtol=0.02)
    assert "pitch" not in corpus.segments.columns
    reads.clear()
    again = measured.measure(corpus, ["pitch"], tmp_path / "cache")
    pd.testing.assert_frame_equal(found.segments, again.segments)
    assert reads == []


def test_all_measures_share_one_pass(corpus, tmp_path, reads):
    found = measured.measure(corpus, sorted(PLAIN), tmp_path / "cache")
    assert sorted(reads) == ["0.wav", "1.wav", "1.wav", "2.wav"]
    assert all(found.segments[name].dtype == np.float64 for name in PLAIN)
    reads.clear()
    for name in PLAIN:
        alone = measured.measure(corpus, [name], tmp_path / "cache")
        pd.testing.assert_series_equal(alone.segments[name], found.segments[name])
    assert reads == []


def test_only_what_is_not_known_is_measured(corpus, tmp_path, reads, monkeypatch):
    measured.measure(corpus, ["pitch", "level"], tmp_path / "cache")
    reads.clear()
    more = pd.concat([corpus.segments, corpus.segments.assign(audio="another").head(1)], ignore_index=True)
    measured.measure(dataclasses.replace(corpus, segments=more), ["pitch"], tmp_path / "cache")
    assert reads == ["0.wav"]
    reads.clear()
    # The code of one measure changes: the others are still known.
    changed = tmp_path / "level.py"
    changed.write_text("another code")
    monkeypatch.setattr(sys.modules[measured.MEASURES["level"].function.__module__], "__file__", str(changed))
    called = []
    kind = type(measured.MEASURES["level"])
    monkeypatch.setattr(kind, "__call__", lambda self, *given: called.append(self.title) or 1.0)
    measured.measure(corpus, ["pitch", "level"], tmp_path / "cache")
    assert set(called) == {"level"}


def test_duration_is_known_without_a_sound(corpus, tmp_path, reads):
    found = measured.measure(corpus, ["duration"], tmp_path / "cache")
    assert found.segments["duration"].tolist() == [0.5, 0.5, 1.0, 0.25]
    assert reads == [] and found.notices == ()


def test_clipping_hears_the_file_at_its_own_rate(corpus, tmp_path):
    loud = np.sin(2 * np.pi * 441 * np.arange(8000) / 8000)
    cut = np.clip(loud, -0.6, 0.6)
    soundfile.write(tmp_path / "8.wav", np.stack([cut, cut], axis=1), 8000, subtype="FLOAT")
    table = corpus.segments.head(1).assign(file="8.wav", audio="eight")
    found = measured.measure(dataclasses.replace(corpus, segments=table), ["clipping", "bandwidth"], tmp_path)
    assert found.segments["clipping"].tolist() == [np.mean(np.abs(loud) >= 0.6)]
    assert found.segments["bandwidth"].iloc[0] <= 4100


def test_a_corpus_without_audio_has_nothing_to_measure(corpus, tmp_path, reads):
    entry = dataclasses.replace(corpus.entry, audio=False)
    found = measured.measure(dataclasses.replace(corpus, entry=entry), ["pitch", "level"], tmp_path / "cache")
    assert found.segments[["pitch", "level"]].isna().all(axis=None)
    assert found.segments["pitch"].dtype == np.float64
    assert reads == []


def test_sounds_that_vanish_are_told_and_tried_again(corpus, tmp_path):
    gone = corpus.root / "1.wav"
    kept = gone.read_bytes()
    gone.unlink()
    found = measured.measure(corpus, ["level"], tmp_path / "cache")
    assert found.segments["level"].notna().tolist() == [True, False, False, False]  # the third is silent
    assert found.notices == ("2 sounds could not be read again when they were to be measured",)
    gone.write_bytes(kept)
    again = measured.measure(corpus, ["level"], tmp_path / "cache")
    assert again.segments["level"].notna().tolist() == [True, True, False, True]
    assert again.notices == ()


def test_what_was_measured_before_an_interruption_is_kept(corpus, tmp_path, monkeypatch):
    measure_one, seen = measured._measure_one, []

    def interrupted(names, path, *place):
        seen.append(path.name)
        if path.name == "2.wav":
            raise KeyboardInterrupt
        return measure_one(names, path, *place)

    monkeypatch.setattr(measured, "_measure_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measured.measure(corpus, ["level"], tmp_path / "cache")
    monkeypatch.setattr(measured, "_measure_one", measure_one)
    seen.clear()
    monkeypatch.setattr(
        measured, "_measure_one", lambda n, p, *x: seen.append(p.name) or measure_one(n, p, *x)
    )
    measured.measure(corpus, ["level"], tmp_path / "cache")
    assert "0.wav" not in seen and "2.wav" in seen


@pytest.mark.parametrize(
    ("given", "kept", "told"),
    [
        ([1.0, 2.0, np.nan, 3.0], [1.0, 2.0, np.nan, 3.0], "whose numbers are used"),
        (["10", " 2.5", None, "-3e1"], [10.0, 2.5, np.nan, -30.0], "whose numbers are used"),
        (["high", "2.5", None, "low"], ["high", "2.5", None, "low"], "whose words are used"),
    ],
)
def test_a_column_of_the_data_stays(corpus, tmp_path, reads, given, kept, told):
    column = pd.Series(given, dtype=object if "high" in kept or given[2] is None else np.float64)
    own = dataclasses.replace(corpus, segments=corpus.segments.assign(pitch=column))
    found = measured.measure(own, ["pitch"], tmp_path / "cache")
    expected = pd.Series(kept, dtype=object if "high" in kept else np.float64)
    pd.testing.assert_series_equal(found.segments["pitch"], expected, check_names=False)
    assert found.notices == (
        f"the corpus has a column pitch of its own, {told}; nothing was measured for it",
    )
    assert reads == []


@pytest.fixture
def tones(tmp_path):
    """Make a corpus of tones, each louder than the one before."""

    def made(count: int = 8, duration: float = 0.5, audio: bool = True, **columns: object) -> Corpus:
        for n in range(count if audio else 0):
            tone = 0.01 * (n + 1) * np.sin(np.arange(8000) / 10)
            soundfile.write(tmp_path / f"{n}.wav", tone, 16000)
        table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
        table = table.assign(duration=duration, audio=[f"digest {n}" for n in range(count)], **columns)
        return Corpus("c", CorpusEntry("c", "csv", audio=audio), tmp_path, table, (), (), False, "")

    return made


def test_what_was_measured_is_taken(tones, tmp_path):
    known = tones(level=np.arange(8.0) - 40, bandwidth=np.nan)
    found = measured_sounds(known, ["level", "bandwidth"], tmp_path / "cache")
    assert list(found) == ["level"] and found["level"].whole and found["level"].asked == 8
    assert not (tmp_path / "cache").exists()  # nothing was listened to


def test_a_sample_is_the_same_in_any_order_and_listened_to_once(tones, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "SAMPLE_SOUNDS", 5)
    whole = tones()
    first = measured_sounds(whole, ["level"], tmp_path / "cache")["level"]
    assert first.asked == 5 and not first.whole
    for path in tmp_path.glob("*.wav"):
        path.unlink()
    mixed = whole.segments.iloc[::-1].reset_index(drop=True)
    other = dataclasses.replace(whole, segments=mixed)
    again = measured_sounds(other, ["level"], tmp_path / "cache")["level"]
    assert sorted(again.values) == sorted(first.values)


def test_of_long_recordings_there_are_few(tones, tmp_path):
    found = measured_sounds(tones(duration=1800.0), ["level"], tmp_path / "cache")
    assert found["level"].asked == 2
    assert measured_sounds(tones(duration=1e5), ["level"], tmp_path / "c")["level"].asked == 1


def test_without_audio_nothing_is_measured(tones, tmp_path):
    assert measured_sounds(tones(audio=False), ["level"], tmp_path / "cache") == {}


def test_words_under_the_name_of_a_measure_do_not_hide_the_sound(tones, tmp_path):
    found = measured_sounds(tones(level=["loud"] * 8), ["level"], tmp_path / "cache")
    assert found["level"].asked == 8 and (found["level"].values < 0).all()
