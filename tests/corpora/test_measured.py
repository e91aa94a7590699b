"""Measured columns: computed once, kept, NaN where there is nothing to measure."""

import dataclasses
import sys

import numpy as np
import pandas as pd
import pytest
import soundfile
from odd_signals import voice

from soundcheck.corpora import audio, columns, load
from soundcheck.corpora.columns import MEASURES, measure, measured_sounds
from soundcheck.corpora.load import Corpus
from soundcheck.suite.corpus_format import MEASURED_COLUMNS, CorpusEntry

RATE = 16000
PLAIN = sorted(name for name, measure in MEASURES.items() if not measure.package)


@pytest.fixture
def make(tmp_path):
    """Make a corpus of sounds, each with its length: ``make([signal, ...], level=[...])``."""

    def made(signals, audio=True, **columns) -> Corpus:
        for n, signal in enumerate(signals if audio else ()):
            soundfile.write(tmp_path / f"{n}.wav", signal, RATE)
        table = pd.DataFrame(
            {"file": [f"{n}.wav" for n in range(len(signals))], "start": np.nan, "end": np.nan}
        )
        usual = {"duration": [len(signal) / RATE for signal in signals]}
        usual |= {"audio": [f"digest {n}" for n in range(len(signals))]}
        table = table.assign(**(usual | columns))
        return Corpus("c", CorpusEntry("c", "csv", audio=audio), tmp_path, table, (), ())

    return made


@pytest.fixture
def corpus(make):
    voices = make([voice(100, 0.5), voice(200, 0.5), np.zeros(RATE)])
    part = {"file": "1.wav", "start": 0.0, "end": 0.25, "duration": 0.25, "audio": "part"}
    table = pd.concat([voices.segments, pd.DataFrame([part])], ignore_index=True)
    return dataclasses.replace(voices, segments=table)


@pytest.fixture
def reads(monkeypatch):
    read, names = audio.read_as_is, []
    monkeypatch.setattr(
        audio, "read_as_is", lambda path, *place: (names.append(path.name), read(path, *place))[1]
    )
    return names


def test_columns_are_added_and_kept(corpus, tmp_path, reads, monkeypatch):
    monkeypatch.setattr(load, "BATCH", 1)  # two processes, although there are few sounds
    table = measure(corpus, ["pitch"], tmp_path / "cache", jobs=2).segments
    np.testing.assert_allclose(table["pitch"], [100, 200, np.nan, 200], rtol=0.02)
    assert "pitch" not in corpus.segments.columns
    reads.clear()
    pd.testing.assert_frame_equal(table, measure(corpus, ["pitch"], tmp_path / "cache").segments)
    assert reads == []


def test_all_measures_share_one_pass(corpus, tmp_path, reads):
    assert set(MEASURED_COLUMNS) == set(MEASURES)  # suites can name them
    table = measure(corpus, PLAIN, tmp_path / "cache").segments
    assert sorted(reads) == ["0.wav", "1.wav", "1.wav", "2.wav"]
    assert all(table[name].dtype == np.float64 for name in PLAIN)
    for name in PLAIN:
        alone = measure(corpus, [name], tmp_path / "cache").segments
        pd.testing.assert_series_equal(alone[name], table[name])
    assert len(reads) == 4


def test_only_what_is_not_known_is_measured(corpus, tmp_path, reads, monkeypatch):
    measure(corpus, ["pitch", "level"], tmp_path / "cache")
    reads.clear()
    more = pd.concat([corpus.segments, corpus.segments.assign(audio="another").head(1)], ignore_index=True)
    measure(dataclasses.replace(corpus, segments=more), ["pitch"], tmp_path / "cache")
    assert reads == ["0.wav"]
    # The code of one measure changes: the others are still known.
    changed = tmp_path / "level.py"
    changed.write_text("another code")
    monkeypatch.setattr(sys.modules[MEASURES["level"].function.__module__], "__file__", str(changed))
    called = []
    monkeypatch.setattr(type(MEASURES["level"]), "__call__", lambda one, *_: called.append(one.title) or 1.0)
    measure(corpus, ["pitch", "level"], tmp_path / "cache")
    assert set(called) == {"level"}


def test_a_constant_offset_is_not_measured(corpus, tmp_path):
    names = [name for name in PLAIN if name != "duration"]
    plain = measure(corpus, names, tmp_path / "cache").segments[names]
    for path in tmp_path.glob("*.wav"):
        signal, rate = soundfile.read(path)
        soundfile.write(path, signal + 0.25, rate)
    offset = measure(corpus, names, tmp_path / "other").segments[names]
    assert plain["speaking_rate"].notna().any()
    pd.testing.assert_frame_equal(plain, offset, atol=0.02)


def test_clipping_hears_the_file_at_its_own_rate(corpus, tmp_path):
    loud = np.sin(2 * np.pi * 441 * np.arange(8000) / 8000)
    clipped = np.tile(np.clip(loud, -0.6, 0.6)[:, None], 2)
    soundfile.write(tmp_path / "8.wav", clipped, 8000, subtype="FLOAT")
    table = corpus.segments.head(1).assign(file="8.wav", audio="eight")
    table = measure(dataclasses.replace(corpus, segments=table), ["clipping", "bandwidth"], tmp_path).segments
    assert table["clipping"].tolist() == [np.mean(np.abs(loud) >= 0.6)]
    assert table["bandwidth"].iloc[0] <= 4100


def test_without_audio_nothing_is_measured_and_durations_are_known(corpus, make, tmp_path, reads):
    known = measure(corpus, ["duration"], tmp_path / "cache")
    assert known.segments["duration"].tolist() == [0.5, 0.5, 1.0, 0.25] and known.notices == ()
    silent = make([voice(100, 0.5)] * 2, audio=False)
    table = measure(silent, ["pitch", "level"], tmp_path / "cache").segments
    assert table[["pitch", "level"]].isna().all(axis=None) and table["pitch"].dtype == np.float64
    assert measured_sounds(silent, ["level"], tmp_path / "cache") == {} and reads == []


def test_sounds_that_vanish_are_told_and_tried_again(corpus, tmp_path):
    gone = corpus.root / "1.wav"
    content = gone.read_bytes()
    gone.unlink()
    first = measure(corpus, ["level"], tmp_path / "cache")
    assert first.segments["level"].notna().tolist() == [True, False, False, False]  # the third is silent
    assert first.notices == ("2 sounds could not be read again when they were to be measured",)
    gone.write_bytes(content)
    again = measure(corpus, ["level"], tmp_path / "cache")
    assert again.segments["level"].notna().tolist() == [True, True, False, True] and again.notices == ()


def test_what_was_measured_before_an_interruption_is_kept(corpus, tmp_path, monkeypatch):
    measure_one, seen, stop = columns._measure_one, [], ["2.wav"]

    def interrupted(names, path, *place):
        seen.append(path.name)
        if path.name in stop:
            raise KeyboardInterrupt
        return measure_one(names, path, *place)

    monkeypatch.setattr(columns, "_measure_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(corpus, ["level"], tmp_path / "cache")
    seen.clear()
    stop.clear()
    measure(corpus, ["level"], tmp_path / "cache")
    assert "0.wav" not in seen and "2.wav" in seen


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (pd.Series([1.0, 2.0, np.nan, 3.0]), [1.0, 2.0, np.nan, 3.0]),
        (pd.Series(["10", " 2.5", None, "-3e1"], dtype=object), [10.0, 2.5, np.nan, -30.0]),
        (pd.Series(["high", "2.5", None, "low"], dtype=object), None),
    ],
)
def test_a_column_of_the_data_stays(corpus, tmp_path, reads, cells, numbers):
    named = dataclasses.replace(corpus, segments=corpus.segments.assign(pitch=cells))
    result = measure(named, ["pitch"], tmp_path / "cache")
    expected = pd.Series(cells if numbers is None else numbers, name="pitch")
    pd.testing.assert_series_equal(result.segments["pitch"], expected)
    usage = f"whose {'words' if numbers is None else 'numbers'} are used; nothing was measured for it"
    assert result.notices == (f"the corpus has a column pitch of its own, {usage}",) and reads == []


TONES = [0.01 * (n + 1) * np.sin(np.arange(8000) / 10) for n in range(8)]  # each louder than the one before


def test_what_was_measured_is_taken_and_words_do_not_hide_the_sound(make, tmp_path):
    known = make(TONES, level=np.arange(8.0) - 40, bandwidth=np.nan)
    taken = measured_sounds(known, ["level", "bandwidth"], tmp_path / "cache")
    assert list(taken) == ["level"] and taken["level"].whole and taken["level"].asked == 8
    assert not (tmp_path / "cache").exists()  # nothing was listened to
    words = measured_sounds(make(TONES, level=["loud"] * 8), ["level"], tmp_path / "cache")["level"]
    assert words.asked == 8 and (words.values < 0).all()


def test_a_sample_is_the_same_in_any_order_and_listened_to_once(make, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "SAMPLE_SOUNDS", 5)
    whole = make(TONES)
    first = measured_sounds(whole, ["level"], tmp_path / "cache")["level"]
    assert first.asked == 5 and not first.whole
    for path in tmp_path.glob("*.wav"):
        path.unlink()
    mixed = dataclasses.replace(whole, segments=whole.segments.iloc[::-1].reset_index(drop=True))
    again = measured_sounds(mixed, ["level"], tmp_path / "cache")["level"]
    assert sorted(again.values) == sorted(first.values)
    for duration, count in ((1800.0, 2), (1e5, 1)):  # of long recordings there are few
        long = make(TONES, duration=duration)
        assert measured_sounds(long, ["level"], tmp_path / "others")["level"].asked == count
