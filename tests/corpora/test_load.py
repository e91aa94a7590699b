"""Tables of segments from text to corpus: what is refused, what is left out and listed, what is noticed."""

import numpy as np
import pandas as pd
import pytest
import soundfile
from segment_rows import rows
from tests.corpora.refusals import refusals

from soundcheck.corpora.labels import without_nobody

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
def load(load, table):
    """Load the table: ``load(", blocks: [file]", {"data/a0.wav": b""})``."""

    def read(keys="", files=(), more=""):
        text = {"data/segments.csv": "\n".join([",".join(table), *map(",".join, table.to_numpy())]) + "\n"}
        return load(ENTRY + keys, SOUNDS | text | dict(files), more)

    return read


def reasons(corpus) -> dict[str, str]:
    return {item.item: item.reason for item in corpus.left_out}


def test_a_plain_table(load, table):
    corpus = load()
    assert len(corpus.segments) == 12 and corpus.left_out == () and not corpus.caveats
    assert corpus.segments["duration"].eq(0.5).all() and corpus.segments["audio"].is_unique
    assert corpus.segments["arousal"].tolist() == pytest.approx(
        [float(name[1:-4]) / 20 for name in corpus.segments["file"]]
    )
    table[:] = table.iloc[::-1].to_numpy()  # the order of rows does not matter
    assert load().segments.equals(corpus.segments)


@pytest.mark.parametrize(("column", "cell", "words"), refusals("cells"))
def test_bad_cells_are_refused(refused, table, column, cell, words):
    table.loc[1, column] = cell
    refused(words)


def test_all_problems_are_told_at_once(refused, table):
    table.loc[0, "arousal"], table.loc[5, "file"] = "high", "nowhere.wav"
    table.loc[1, ["start", "end"]] = ["0.4", "0.2"]
    text = refused("start 0.4 s is after end 0.2 s")
    assert "nowhere.wav" in text and "'high'" in text


def test_missing_columns_are_refused_with_the_nearest(refused, table):
    table.rename(columns={"file": "path"}, inplace=True)
    refused("Did you mean 'path'.*columns: {file: path}")


# Times ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "seconds", "words"),
    [
        ("0.1", "0.5009", 0.4, ""),  # rounding
        ("0.1", "0.504", 0.4, "behind their file, by at most 0.004 s, and are cut there: 'a1.wav 0.1 to"),
        ("", "0.999", 0.5, "1 of 12 segments end behind their file, by at most 0.499 s"),
        ("0.495", "0.6", None, "only 5 ms of it lie within the file"),
    ],
)
def test_ends_a_little_behind_the_file_are_cut(load, table, start, end, seconds, words):
    table.loc[1, ["start", "end"]] = [start, end]
    corpus = load()
    told = [
        text for text in (*corpus.notices, *reasons(corpus).values()) if "behind" in text or "within" in text
    ]
    assert any(words in text for text in told) == bool(words)
    durations = corpus.segments.query("file == 'a1.wav'")["duration"].tolist()
    assert durations == ([pytest.approx(seconds, abs=1e-9)] if seconds else [])


def test_a_segment_counts_its_own_length(load, refused, table):
    table[["start", "end"]] = ["0.1", "0.3"]
    table.loc[1, ["start", "end"]], table.loc[2, "end"] = ["", ""], "0.35"
    corpus = load(more="limits: {audio_seconds: 0.2}")
    limit = "s long, more than the limit of 0.2 s: declare `limits: {audio_seconds: 1}`"
    assert len(corpus.segments) == 10
    assert reasons(corpus) == {"a1.wav": f"0.5 {limit}", "a2.wav 0.1 to 0.35": f"0.25 {limit}"}
    text = refused("no segment can be used", more="limits: {audio_seconds: 0.1}")
    assert "declare `limits: {audio_seconds: 1}`" in text and "Check the files" not in text


def test_segments_are_called_by_all_digits_of_their_times(refused, table):
    table.loc[12] = table.loc[13] = [*table.loc[0]]
    table.loc[12:, ["start", "end"]] = ["0.1234567", "0.1234568"]
    refused("the segment 'a0.wav 0.1234567 to 0.1234568' is there 2 times")


@pytest.mark.parametrize(
    ("start", "end", "duration", "seconds", "words"),
    [
        ("", "", "0.502", 0.5, ""),
        ("", "", "3500", 0.5, "not that of the file, the file counts to its end: 'a1.wav'"),
        ("", "", "0.3", 0.5, "not that of the file, the file counts to its end: 'a1.wav'"),
        ("", "", "long", 0.5, ""),
        ("0.1", "", "0.2", 0.2, "not that of the file, only these seconds count: 'a1.wav 0.1 to 0.3'"),
        ("0.1", "", "0.4", 0.4, ""),
        ("0.1", "", "0.5", 0.4, "not that of the file, the file counts to its end: 'a1.wav 0.1'"),
        ("0.1", "0.4", "0.2", 0.3, ""),
    ],
)
def test_a_duration_beside_the_times(load, table, start, end, duration, seconds, words):
    table["duration"] = "0.5"
    table.loc[1, ["start", "end", "duration"]] = [start, end, duration]
    corpus = load()
    assert corpus.segments["duration"][1] == pytest.approx(seconds) or corpus.segments["file"][1] != "a1.wav"
    told = [text for text in corpus.notices if "have a duration" in text]
    assert (f"1 of 12 segments have a duration that is {words}" in told) if words else not told
    lengths = corpus.segments.set_index("file")["duration"]
    assert lengths["a1.wav"] == pytest.approx(seconds)


# Sounds -----------------------------------------------------------------------------------------------------


def test_unreadable_audio_is_listed_or_refused(load, refused):
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    corpus = load(files={"data/a3.wav": b"", "data/a4.wav": pointer})
    assert len(corpus.segments) == 10
    assert "empty" in reasons(corpus)["a3.wav"] and "git lfs pull" in reasons(corpus)["a4.wav"]
    refused("segments.csv: no segment can be used", files=dict.fromkeys(SOUNDS, b""))


def test_changed_audio_is_looked_at_again(load):
    before = load().segments["audio"]
    assert (before != load(files={"data/a0.wav": 20}).segments["audio"]).sum() == 1


def test_what_is_odd_about_sounds_is_told_once(load, tmp_path, write):
    write(SOUNDS)
    for n in range(5):
        path = tmp_path / "data" / f"a{n}.wav"
        sound, rate = soundfile.read(path)
        soundfile.write(path, np.stack([sound, -sound], axis=1), rate)
    for n, offset in ((5, 0.02), (6, 0.1), (7, -0.4)):  # 0.3, 4.8 and 15.2 dB
        path = tmp_path / "data" / f"a{n}.wav"
        sound, rate = soundfile.read(path)
        soundfile.write(path, sound + offset, rate)
    notices = load(files=dict.fromkeys(SOUNDS)).notices
    (mix,) = (text for text in notices if "the mix of its 2 channels" in text)
    assert mix.endswith("5 of 12 files, 'a0.wav', 'a1.wav', 'a2.wav'")
    (offset,) = (text for text in notices if "constant offset" in text)
    assert offset.startswith("a constant offset, up to -0.4 of full scale and 15.2 dB of level")
    assert offset.endswith("2 of 12 files, 'a6.wav', 'a7.wav'")


# Blocks and conditions --------------------------------------------------------------------------------------


def test_blocks_of_several_columns(load, table):
    table["meeting"] = [f"m{n % 3}" for n in range(12)]
    table.loc[[0, 2], "speaker"] = table.loc[[1, 2], "meeting"] = ""
    corpus = load(", blocks: [meeting, speaker]")
    assert len(corpus.segments) == 9 and set(corpus.segments["meeting"]) == {"m0", "m1", "m2"}
    assert reasons(corpus) == {
        "a0.wav": "no speaker, so it belongs to no block",
        "a1.wav": "no meeting, so it belongs to no block",
        "a2.wav": "no meeting and no speaker, so it belongs to no block",
    }
    assert "resampled together in intervals: speaker within meeting" in corpus.notices


def test_every_column_of_blocks_must_exist(load, refused, table):
    text = refused("column session", ", blocks: [session, speaker, topic]")
    assert "segments.csv, column topic: corpora.c.blocks names it" in text and len(text.splitlines()) == 2
    table["speaker"] = ""
    refused("column speaker: corpora.c.blocks names it", ", blocks: [sex, speaker]")
    notices = load(", blocks: [speaker]").notices
    assert "no column speaker: each file counts as a block of its own in intervals" in notices


def test_the_base_condition_must_be_there(load, refused, table):
    refused("The corpus needs a column condition", ", base_condition: near")
    table["item"], table["condition"] = [str(n // 2) for n in range(12)], ["near", "far"] * 6
    assert load(", base_condition: near").entry.base_condition == "near"
    words = r"corpora\.c\.base_condition: no segment has the condition 'nearby'\. Did you mean 'near'"
    refused(words, ", base_condition: nearby")


# Labels and people ------------------------------------------------------------------------------------------


def test_labels_that_mean_nothing_are_listed_and_counted(load, table):
    table.loc[:5, "emotion"] = ["joy", "joy", "Anger", "joy", "", "joy"]
    table.loc[5, "split"] = "train"  # not evaluated, and not counted
    table.loc[6, "sex"] = "alien"
    corpus = load(files={"data/a3.wav": b""})  # nor is what cannot be heard
    assert len(corpus.segments) == 10
    assert "Did you mean 'anger'" in reasons(corpus)["label 'Anger'"] and "label 'joy'" in reasons(corpus)
    sex, emotion = sorted(corpus.unlabelled)
    assert sex == "1 of 10 segments have a sex that is neither female nor male: 'alien' (1). " + (
        "If it means either, say so under corpora.c: `values: {sex: {WORD: female}}`"
    )
    told = "3 of 10 segments have labels that are not classes of emotion: 'joy' (2), 'Anger' (1)."
    assert emotion.startswith(told) and corpus.segments["emotion"].isna().sum() == 4
    assert "1 of 11 segments have no label for emotion" in corpus.notices  # empty, not unknown
    assert not any("no sex" in notice for notice in corpus.notices)
    assert not any("unknown" in name for name in corpus.segments.columns)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("W M D", "female male None"),
        ("weiblich männlich", "female male"),
        ("Femme Homme", "female male"),
        ("F H", "female None"),
        ("M H", "None None"),  # mujer and hombre
        ("F. M.", "female male"),
        ("女 男", "female male"),
        ("0 1", "None None"),
    ],
)
def test_words_for_sexes(load, table, words, meant):
    table.loc[: len(words.split()) - 1, "sex"] = words.split()
    corpus = load()
    sexes = dict(rows(corpus, "file", "sex"))
    assert [str(sexes[f"a{n}.wav"]) for n in range(len(words.split()))] == meant.split()
    told = [one for one in corpus.unlabelled if "neither female nor male" in one]
    assert len(told) == ("None" in meant) and all("`values: {sex: {WORD: female}}`" in one for one in told)


def test_names_of_speakers_stay_as_written(load, table):
    table.loc[:2, "speaker"] = ["001", "1", "NA"]
    assert {"001", "1", "NA"} <= set(load().segments["speaker"])


@pytest.mark.parametrize(
    ("column", "word", "somebody"),
    [
        ("speaker", "NA", True),
        ("speaker", "nan", False),
        ("speaker", "-", False),
        ("language", "nan", True),  # Min Nan
        ("language", "Undefined", False),
        ("accent", "NaN", False),
        ("accent", "other", True),
        ("accent", "prefer not to say", False),
    ],
)
def test_words_for_nobody(column, word, somebody):
    known, words = without_nobody(pd.Series([word, "x"], name=column, dtype=object))
    assert known.tolist() == [word if somebody else None, "x"]
    assert words.tolist() == [None if somebody else word, None]


def test_what_nobody_knows_is_as_a_missing_cell(load, table):
    table.loc[:1, "sex"] = ""
    empty = load().segments
    table.loc[:1, "sex"] = [" Unknown", "N/A"]
    corpus = load()
    assert corpus.segments.equals(empty) and not corpus.unlabelled
    told = "column sex: unknown are ' Unknown' (1 segment), 'N/A' (1 segment); `unknown:` names other words"
    assert told in corpus.notices


def test_words_for_nobody_count_in_what_is_evaluated(load, table):
    table.loc[:5, ["speaker", "split"]] = ["Unknown", "train"]
    table.loc[6, "speaker"] = "unknown"
    corpus = load()
    told = "column speaker: unknown are 'unknown' (1 segment); `unknown:` names other words"
    assert told in corpus.notices and not corpus.caveats
    assert sum("no speaker" in reason for reason in reasons(corpus).values()) == 1
    assert corpus.elsewhere["speaker"].isna().all()


def test_values_come_before_words_for_nobody(load, table):
    table.loc[:1, "speaker"] = ["Unknown", "s9"]
    corpus = load(", values: {speaker: {Unknown: s8, s9: none}}")
    assert "s8" in set(corpus.segments["speaker"]) and len(corpus.segments) == 11


def test_one_name_for_two_people_is_a_caveat_unless_blocks_part_them(load, table):
    table.loc[0, "sex"] = "male"
    (caveat,) = load().caveats
    assert "intervals and p-values count too few people" in caveat.text
    (parted,) = load(", blocks: [file, speaker]").caveats
    assert parted.task == "embedding" and "intervals" not in parted.text


def test_marks_of_noises_are_counted_and_named(load, table):
    table["transcript"] = ["[noise] turn left", "turn <unk> right (laughs)", *["go"] * 10]
    (told,) = (text for text in load().notices if "marks of noises" in text)
    assert told.startswith("2 of 12 references have marks of noises or unknown words: '")
