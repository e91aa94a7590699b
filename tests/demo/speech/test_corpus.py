"""The demo corpus: what is in it, that it is the same every time, and that it survives damage."""

import dataclasses
import shutil

import audiofile
import numpy as np
import pandas as pd
import pytest

from soundcheck.common.files import TEMPORARY, digest
from soundcheck.common.messages import InputError
from soundcheck.corpora import audio
from soundcheck_demo.speech import corpus

slow = pytest.mark.slow
COLUMNS = "file speaker sex language accent split transcript arousal dominance valence emotion".split()


@pytest.mark.parametrize(
    ("part", "column", "groups", "segments"),
    [("speech", "accent", 4, 244), ("texts", "language", 8, 30), ("commands", "accent", 3, 50)],
)
def test_groups_have_enough_women_and_men_and_no_speaker_speaks_for_one(part, column, groups, segments):
    """Five are the fewest that an interval is given for; ten speakers find what is planted."""
    test = corpus.table("full", part).query("split == 'test'")
    sexes = test.drop_duplicates("speaker").groupby([column, "sex"]).size().unstack()
    assert len(sexes) == groups and sexes.eq(5).all(axis=None)
    assert test[column].value_counts().eq(segments).all()
    for _, rows in test.groupby(column):  # they weigh as much as eight equal ones or more
        counts = rows["speaker"].value_counts()
        assert counts.sum() ** 2 / (counts**2).sum() > 8


@pytest.mark.parametrize(
    ("size", "part", "words"),
    [
        ("full", "speech", "40 test and 12 training|five women and five men|244 segments an accent"),
        ("full", "texts", "five of each, in German, English|Each language has five women"),
        ("full", "recordings", "five segments of each of the 40 test speakers|three recordings"),
        ("full", "monologues", "five segments each of half of the 40 test speakers"),
        ("small", "commands", "speakers: "),
    ],
)
def test_descriptions_tell_the_numbers_of_the_corpus(size, part, words):
    description = corpus.describe(size, part)
    assert all(each in description for each in (*words.split("|"), "synthetic", "cannot show"))


def contents(folder):
    return {str(path.relative_to(folder)): digest(path) for path in folder.rglob("*") if path.is_file()}


def read(folder):
    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    return table, {name: audiofile.read(folder / name)[0] for name in table["file"]}


@pytest.fixture(scope="session")
def small(shared_cache):
    return corpus.build(shared_cache, size="small", jobs=2)


@slow
def test_no_signal_clicks_is_cut_off_or_next_to_silent_and_excited_ones_are_louder(small):
    table, signals = read(small)
    assert list(table.columns) == COLUMNS and table["file"].is_unique
    assert table.groupby(["split", "sex"])["speaker"].nunique().eq(2).all()
    levels = []
    for name, signal in signals.items():
        levels.append(20 * np.log10(np.sqrt(np.mean(signal**2))))
        assert signal.ndim == 1 and 1.5 <= len(signal) / 16000 <= 4, name
        assert -35 < levels[-1] < -15 and np.abs(signal).max() < 0.85, name
        assert np.abs(signal[[0, -1]]).max() < 1e-3 and np.abs(signal[-1600:]).max() < 0.1, name
        assert np.count_nonzero(signal[200:-200]) > 0.5 * len(signal), name
    assert 0.4 < np.corrcoef(levels, table["arousal"])[0, 1] < 0.9  # but not in step


@slow
def test_same_bytes_for_any_jobs_and_for_the_first_segment_alone(small, tmp_path):
    speaker = corpus.SPEAKERS[0]
    corpus.write_speakers(tmp_path, [(speaker, 3)], jobs=1)
    again = contents(tmp_path)
    assert len(again) == 3 and again.items() <= contents(small).items()
    alone = corpus.first(tmp_path / "alone")
    assert alone.read_bytes() == min(small.joinpath("audio").rglob("*.wav")).read_bytes()
    assert [path.name for path in (tmp_path / "alone").rglob("*.wav")] == [alone.name]


def test_all_libraries_that_decide_how_it_sounds_count(monkeypatch):
    before, of = corpus.fingerprint(), corpus.importlib.metadata.version
    monkeypatch.setattr(corpus.importlib.metadata, "version", lambda name: of(name) * (1 + (name == "scipy")))
    assert corpus.fingerprint() != before


@slow
def test_failure_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    good = corpus.SPEAKERS[0]
    unknown = dataclasses.replace(good, name="x99")
    with pytest.raises(corpus.SynthesisError, match="speaker x99: .*KeyError: 'x99'"):
        corpus.write_speakers(tmp_path / "one", [(good, 1), (unknown, 1)], 2)
    assert [path.name for path in (tmp_path / "one").rglob("*.wav")] == [f"{good.name}_000.wav"]
    cache = tmp_path / "cache"
    (cache / f"{TEMPORARY}demo-{corpus.fingerprint('small', 'speech')}-killed").mkdir(parents=True)
    monkeypatch.setattr(corpus.sys, "executable", shutil.which("false"))  # it dies without a word

    with pytest.raises(corpus.SynthesisError, match="speaker s01: the synthesis failed: exit code 1"):
        corpus.build(cache, size="small")
    assert [path.name for path in cache.iterdir() if path.is_dir()] == []
    with pytest.raises(InputError, match="'huge'.*Allowed: full, small"):
        corpus.build(tmp_path / "new", size="huge")
    assert not (tmp_path / "new").exists()


@slow
def test_monologues_are_the_segments_of_the_speech_one_after_the_other(small):
    folder = corpus.build(small.parent, size="small", part="monologues")

    table, (speech, signals) = pd.read_csv(folder / corpus.TABLE), read(small)
    assert table["file"].value_counts().tolist() == [5, 5] and table["speaker"].nunique() == 2
    assert set(table.columns) == {*COLUMNS, "start", "end"}
    same = ["transcript", "speaker", "arousal"]
    for row in table.itertuples():
        part = audio.read(folder / row.file, row.start, row.end)
        files = speech["file"][(speech[same] == [getattr(row, name) for name in same]).all(axis=1)]
        assert any(np.array_equal(part, signals[name]) for name in files)
    gaps = table["start"] - table.groupby("file")["end"].shift()
    assert gaps.dropna().between(0.29, 1.21).all() and gaps.isna().sum() == 2
