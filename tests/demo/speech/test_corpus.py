"""The demo corpus: what is in it, that it is the same every time, and that it survives damage."""

import dataclasses
import os
import shutil

import audiofile
import numpy as np
import pandas as pd
import parselmouth
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.files import TEMPORARY, digest
from soundcheck.corpora import audio
from soundcheck_demo.speech import corpus

pytestmark = pytest.mark.slow

COLUMNS = "file speaker sex language accent split transcript arousal dominance valence emotion".split()


def load(folder):
    table = pd.read_csv(folder / "segments.csv", keep_default_na=False)
    signals = {}
    for name in table["file"]:
        signals[name], rate = audiofile.read(folder / name, always_2d=True)
        assert (rate, signals[name].shape[0]) == (16000, 1)
    return table, {name: signal[0] for name, signal in signals.items()}


def contents(folder):
    return {str(path.relative_to(folder)): digest(path) for path in folder.rglob("*") if path.is_file()}


def check_audio(table, signals):
    for name in table["file"]:
        signal = signals[name]
        level = 20 * np.log10(np.sqrt(np.mean(signal**2)))
        assert 1.5 <= len(signal) / 16000 <= 4, name
        assert -35 < level < -15, name
        assert np.abs(signal).max() < 0.85, name
        # Neither clicks at the ends nor digital silence behind the words.
        assert np.abs(signal[[0, -1]]).max() < 1e-3, name
        assert np.abs(signal[-1600:]).max() < 0.1, name
        assert np.count_nonzero(signal[200:-200]) > 0.5 * len(signal), name


def mean_pitch(table, signals):
    pitch = []
    for name in table["file"]:
        track = parselmouth.Sound(signals[name].astype(float), 16000).to_pitch().selected_array["frequency"]
        pitch.append(track[track > 0].mean())
    return table.assign(pitch=pitch).groupby(["sex", "speaker"])["pitch"].mean()


@pytest.fixture(scope="session")
def small(shared_cache):
    return corpus.build(shared_cache, size="small", jobs=2)


@pytest.fixture
def copied(small, tmp_path):
    """Give a cache of its own to tests that damage the corpus."""
    shutil.copytree(small, tmp_path / small.name)
    return tmp_path / small.name


def test_the_first_segment_is_spoken_alone_as_in_the_corpus(small, tmp_path):
    alone = corpus.first(tmp_path)
    assert alone.read_bytes() == min(small.joinpath("audio").rglob("*.wav")).read_bytes()
    assert [path.name for path in tmp_path.rglob("*.wav")] == [alone.name]


def test_table(small):
    table, signals = load(small)
    assert list(table.columns) == COLUMNS
    assert table["split"].value_counts().to_dict() == {"train": 96, "test": 64}
    assert table.groupby(["split", "sex"])["speaker"].nunique().eq(2).all()
    assert table["file"].is_unique
    assert table["file"].is_monotonic_increasing
    assert set(signals) == set(table["file"])
    assert (table["transcript"].str.len() > 10).all()
    dimensions = table[["arousal", "dominance", "valence"]]
    assert dimensions.min().min() >= 0
    assert dimensions.max().max() <= 1
    assert table.groupby(["split", "emotion"]).size().eq(table["split"].value_counts() / 4).all()


def test_numbers_have_four_decimals(small):
    first = (small / "segments.csv").read_text("utf-8").splitlines()[1].split(",")
    assert all(len(number.partition(".")[2]) == 4 for number in first[-4:-1])


def test_audio(small):
    check_audio(*load(small))


def test_louder_with_more_arousal_but_not_in_step(small):
    table, signals = load(small)
    level = [20 * np.log10(np.sqrt(np.mean(signals[name] ** 2))) for name in table["file"]]
    assert 0.4 < np.corrcoef(level, table["arousal"])[0, 1] < 0.9


def test_same_bytes_for_any_jobs(small, tmp_path):
    again = corpus.build(tmp_path, size="small", jobs=1)
    assert again.name == small.name
    assert contents(again) == contents(small)


def test_found_again_without_work(copied, monkeypatch):
    monkeypatch.setattr(corpus, "write_speakers", lambda *_: pytest.fail("built again"))
    assert corpus.build(copied.parent, size="small") == copied


@pytest.mark.parametrize("damage", ["cut", "missing", "table", "mark", "folder"])
def test_damage_is_repaired(copied, small, damage, monkeypatch):
    def speak(folder, *_):  # quicker than the synthesiser, whose bytes another test compares
        shutil.copytree(small / "audio", folder / "audio")

    monkeypatch.setattr(corpus, "write_speakers", speak)
    audio = next(copied.glob("audio/*/*.wav"))
    if damage == "cut":
        os.truncate(audio, 100)
    elif damage == "missing":
        audio.unlink()
    elif damage == "table":
        (copied / "segments.csv").write_text("file\n")
    elif damage == "mark":
        (copied / "complete.json").write_text("{}")
    else:
        shutil.rmtree(copied)
        copied.write_text("not a folder")
    assert contents(corpus.build(copied.parent, size="small", jobs=2)) == contents(small)


def test_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    left = tmp_path / f"{TEMPORARY}demo-{corpus.fingerprint('small', 'speech')}-killed"
    left.mkdir()
    monkeypatch.setattr(corpus.sys, "executable", shutil.which("false"))
    with pytest.raises(corpus.SynthesisError, match="speaker s01: the synthesis failed: exit code 1"):
        corpus.build(tmp_path, size="small")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_the_speaker_that_failed_is_named_with_the_reason(tmp_path):
    good = corpus.SPEAKERS[0]
    unknown = dataclasses.replace(good, name="x99")
    with pytest.raises(corpus.SynthesisError, match="speaker x99: .*KeyError: 'x99'"):
        corpus.write_speakers(tmp_path, [(good, 1), (unknown, 1)], 2)
    assert [path.name for path in tmp_path.rglob("*.wav")] == [f"{good.name}_000.wav"]


def test_unknown_size(tmp_path):
    with pytest.raises(InputError, match="'huge'.*Allowed: full, small"):
        corpus.build(tmp_path, size="huge")
    assert list(tmp_path.iterdir()) == []


def test_small_is_the_beginning_of_full():
    full, small = corpus.table("full").set_index("file"), corpus.table("small").set_index("file")
    pd.testing.assert_frame_equal(full.loc[small.index], small)


def test_full_size(full_cache):
    folder = corpus.build(full_cache, jobs=2)
    table, signals = load(folder)
    check_audio(table, signals)
    pitch = mean_pitch(table[table.groupby("speaker").cumcount() % 3 == 0], signals)
    assert set(pitch.index.get_level_values("speaker")) == set(table["speaker"])
    assert pitch["female"].min() > pitch["male"].max() - 10
    assert (table["split"] == "test").sum() >= 600


def test_monologues_are_the_segments_of_the_speech_one_after_the_other(small, copied):
    folder = corpus.build(copied.parent, size="small", part="monologues")
    table = pd.read_csv(folder / corpus.TABLE)
    speech, signals = load(small)
    assert table["file"].value_counts().tolist() == [5, 5] and table["speaker"].nunique() == 2
    assert set(table.columns) == {*COLUMNS, "start", "end"}
    for row in table.itertuples():
        same = speech["transcript"].eq(row.transcript) & speech["speaker"].eq(row.speaker)
        heard = audio.read(folder / row.file, row.start, row.end)
        assert any(
            len(heard) == len(signals[name]) and (heard == signals[name]).all()
            for name in speech["file"][same & speech["arousal"].eq(row.arousal)]
        )
    gaps = table["start"] - table.groupby("file")["end"].shift()
    assert gaps.dropna().between(0.29, 1.21).all() and gaps.isna().sum() == 2
    everybody = corpus.table("full", "monologues")
    assert (
        everybody["file"].nunique() == 20 and everybody.drop_duplicates("file")["sex"].eq("male").sum() == 10
    )
    rising = everybody.groupby("file")["arousal"].apply(lambda values: values.is_monotonic_increasing)
    assert rising.sum() == 10 + 1  # one that was drawn so
