"""Corpora as they are loaded: their segments, what is left out of them, and which splits are evaluated."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from tests.corpora.given import refusals, rows

from soundcheck.common.messages import InputError
from soundcheck.corpora.labels import without_nobody
from soundcheck.corpora.splits import choose, kinds_of, pick, tell_splits
from soundcheck.suite.entries import CorpusEntry

ENTRY = "format: csv, path: data/segments.csv"
CLASSES = ("anger", "happiness", "neutral", "sadness")
SOUNDS = {f"data/a{n}.wav": n for n in range(12)}


@pytest.fixture
def table():
    """Twelve segments of six speakers; a test changes cells: ``table.loc[3, "sex"] = ""``."""
    return pd.DataFrame(
        {
            **{"file": [f"a{n}.wav" for n in range(12)], "start": "", "end": ""},
            "speaker": [f"s{n // 2}" for n in range(12)],
            "sex": [("female", "male")[n // 2 % 2] for n in range(12)],
            **{"split": "test", "arousal": [f"{n / 20:.2f}" for n in range(12)]},
            "emotion": [CLASSES[n % 4] for n in range(12)],
        }
    )


@pytest.fixture
def files(table):
    """Give the table and its sounds, with changes: ``files({"data/a0.wav": b""})``."""

    def made(changes=()):
        text = "\n".join([",".join(table), *map(",".join, table.to_numpy())]) + "\n"
        return SOUNDS | {"data/segments.csv": text} | dict(changes)

    return made


def reasons(corpus) -> dict[str, str]:
    return {item.item: item.reason for item in corpus.left_out}


def test_a_plain_table_in_any_order(load, files, table):
    corpus = load(ENTRY, files())
    assert len(corpus.segments) == 12 and corpus.left_out == () and not corpus.caveats
    assert corpus.segments["duration"].eq(0.5).all() and corpus.segments["audio"].is_unique
    numbers = [float(name[1:-4]) / 20 for name in corpus.segments["file"]]
    assert corpus.segments["arousal"].tolist() == pytest.approx(numbers)
    table[:] = table.iloc[::-1].to_numpy()
    assert load(ENTRY, files()).segments.equals(corpus.segments)
    changed = load(ENTRY, files({"data/a0.wav": 20}))  # sounds are looked at again
    assert (corpus.segments["audio"] != changed.segments["audio"]).sum() == 1


@pytest.mark.parametrize(("column", "cell", "words"), refusals("cells"))
def test_bad_cells_are_refused(refused, table, files, column, cell, words):
    table.loc[1, column] = cell
    refused(words, ENTRY, files())


def test_a_segment_counts_its_own_length(load, refused, files, table):
    table[["start", "end"]] = ["0.1", "0.3"]
    table.loc[1, ["start", "end"]], table.loc[2, "end"] = ["", ""], "0.35"
    corpus = load(ENTRY, files(), more="limits: {audio_seconds: 0.2}")
    limit = "s long, more than the limit of 0.2 s: declare `limits: {audio_seconds: 1}`"
    assert len(corpus.segments) == 10
    assert reasons(corpus) == {"a1.wav": f"0.5 {limit}", "a2.wav 0.1 to 0.35": f"0.25 {limit}"}
    text = refused("no segment can be used", ENTRY, files(), "limits: {audio_seconds: 0.1}")
    assert "declare `limits: {audio_seconds: 1}`" in text and "Check the files" not in text


def test_unreadable_audio_is_listed_or_refused(load, refused, files):
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    corpus = load(ENTRY, files({"data/a3.wav": b"", "data/a4.wav": pointer}))
    assert len(corpus.segments) == 10
    assert "empty" in reasons(corpus)["a3.wav"] and "git lfs pull" in reasons(corpus)["a4.wav"]
    refused("segments.csv: no segment can be used", ENTRY, files(dict.fromkeys(SOUNDS, b"")))


def test_what_is_odd_about_sounds_is_told_once(load, files, tmp_path, write):
    write(SOUNDS)
    for n, offset in enumerate([None] * 5 + [0.02, 0.1, -0.4]):  # 0.3, 4.8 and 15.2 dB
        path = tmp_path / "data" / f"a{n}.wav"
        sound, rate = soundfile.read(path)
        odd = np.stack([sound, -sound], axis=1) if offset is None else sound + offset
        soundfile.write(path, odd, rate)
    notices = load(ENTRY, files(dict.fromkeys(SOUNDS))).notices
    (mix,) = (text for text in notices if "the mix of its 2 channels" in text)
    assert mix.endswith("5 of 12 files, 'a0.wav', 'a1.wav', 'a2.wav'")
    (offset,) = (text for text in notices if "constant offset" in text)
    assert offset.startswith("a constant offset, up to -0.4 of full scale and 15.2 dB of level")
    assert offset.endswith("2 of 12 files, 'a6.wav', 'a7.wav'")


def test_labels_that_mean_nothing_are_listed_and_counted(load, files, table):
    table.loc[:5, "emotion"] = ["joy", "joy", "Anger", "joy", "", "joy"]
    table.loc[5, "split"] = "train"  # not evaluated, and not counted
    table.loc[6, "sex"] = "alien"
    corpus = load(ENTRY, files({"data/a3.wav": b""}))  # nor is what cannot be heard
    assert len(corpus.segments) == 10
    assert "Did you mean 'anger'" in reasons(corpus)["label 'Anger'"] and "label 'joy'" in reasons(corpus)
    sex, emotion = sorted(corpus.unlabelled)
    assert sex.startswith("1 of 10 segments have a sex that is neither female nor male: 'alien' (1).")
    sentence = "3 of 10 segments have labels that are not classes of emotion: 'joy' (2), 'Anger' (1)."
    assert emotion.startswith(sentence) and corpus.segments["emotion"].isna().sum() == 4
    assert "1 of 11 segments have no label for emotion" in corpus.notices  # empty, not unknown
    assert not any("no sex" in notice for notice in corpus.notices)
    assert not any("unknown" in name for name in corpus.segments.columns)


def test_words_for_nobody():
    """Somebody may be called NA, and nan is a language."""
    somebody = {"speaker": ["NA", "x"], "language": ["nan", "x"], "accent": ["other", "x"]}
    nobody = {"speaker": ["nan", "-"], "language": ["Undefined", "?"], "accent": ["NaN", "prefer not to say"]}
    for column in somebody:
        texts = pd.Series([*somebody[column], *nobody[column]], name=column, dtype=object)
        known, words = without_nobody(texts)
        assert (known.tolist(), words.tolist()) == ([*texts[:2], None, None], [None, None, *texts[2:]])


@pytest.mark.parametrize(("folder", "listens"), [("", False), ("", True), ("/nowhere/", False)])
def test_where_no_sound_is_there(refused, monkeypatch, folder, listens):
    """Predictions alone need no sound; a model that listens does."""
    lines = pd.DataFrame({"file": [f"{folder}a{n}.wav" for n in range(292)], "arousal": 0.5})
    code, looked = "def predict(signal, sampling_rate):\n    return {}\n", []
    monkeypatch.setattr("soundcheck.common.files.nearest_name", looked.append)  # which takes long
    files = {"t.csv": lines, "p.csv": "file,arousal\na0.wav,0.5\n", "m.py": code}
    model = f"{{{'python: m:predict' if listens else 'predictions: p.csv'}, tasks: [arousal]}}"
    text = refused("292 of this kind, also t.csv line 3", "format: csv, path: t.csv", files, model=model)
    assert ("Declare `audio: false`" in text) != listens and len(text.splitlines()) == 1 and len(looked) < 4


@pytest.mark.parametrize(
    ("table", "keys", "names"),
    [
        ("lists/en/t.csv", "", ["../../audio/a0.wav", "../a1.wav"]),
        ("lists/t.csv", ", root: audio", ["../lists/own/a1.wav", "../audio/a0.wav"]),
    ],
)
def test_the_remedy_for_names_that_lead_out_works(load, refused, tmp_path, table, keys, names):
    """Names are relative to the folder of the table, and sounds lie beside it."""
    places = sorted((tmp_path / table).parent.joinpath(name).resolve() for name in names)
    files = {str(place.relative_to(tmp_path)): number for number, place in enumerate(places)}
    entry, files = f"format: csv, path: {table}", files | {table: pd.DataFrame({"file": names})}
    refused("leads out of the corpus folder. Declare `root: .` under", entry + keys, files)
    corpus = load(f"{entry}, root: .", files)
    assert sorted(corpus.root.resolve() / name for (name,) in rows(corpus, "file")) == places


SPLITS = yaml.safe_load(Path(__file__).with_name("splits.yml").read_text("utf-8"))


@pytest.mark.parametrize(("names", "wanted", "expected"), SPLITS["picked"])
def test_which_are_picked(names, wanted, expected):
    assert pick(kinds_of(names.split(), {}), wanted) == expected.split()


def test_what_the_data_say_counts_more_than_the_name():
    kinds = kinds_of(["blind", "test_old"], {"blind": "test", "test_old": "train"})
    assert pick(kinds, None) == ["blind"]


def chosen(counts, split):
    return choose(counts, CorpusEntry("c", "csv", split=split and tuple(split)), "t.csv", "row", {})


@pytest.mark.parametrize(("counts", "split", "notice"), SPLITS["notices"])
def test_what_is_said_about_the_choice(counts, split, notice):
    names, notices = chosen(counts, split)
    assert notices == ([] if notice is None else [notice]) and names


@pytest.mark.parametrize(("counts", "split", "words"), refusals("splits"))
def test_refused(counts, split, words):
    with pytest.raises(InputError) as caught:
        chosen(counts, split)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("values", "tells"), [*SPLITS["columns"], ([f"train {n}" for n in range(30)] + ["test"], False)]
)
def test_which_columns_tell_splits_by_all_their_values(values, tells):
    assert tell_splits(values) == tells
