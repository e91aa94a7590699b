"""Manifests from table to corpus: what is refused, what is left out and listed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.errors import InputError
from soundcheck.corpora.labels import without_nobody
from soundcheck.corpora.load import load_corpus
from soundcheck.suite.suite_file import read_suite

HEADER = "file,start,end,speaker,sex,split,arousal,emotion"


def rows(count: int = 12) -> list[list[str]]:
    sexes, classes = ("female", "male"), ("anger", "happiness", "neutral", "sadness")
    return [
        [f"a{n}.wav", "", "", f"s{n // 2}", sexes[n // 2 % 2], "test", f"{n / 20:.2f}", classes[n % 4]]
        for n in range(count)
    ]


class World:
    """A folder with twelve sounds of half a second, and a manifest that tests change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "data").mkdir()
        self.rows = rows()
        for n in range(12):
            tone = 0.1 * np.sin(2 * np.pi * (100 + n) * np.arange(8000) / 16000)
            soundfile.write(folder / "data" / f"a{n}.wav", tone, 16000)

    def load(self, header: str = HEADER, entry: str = "", more: str = ""):
        text = "\n".join([header, *(",".join(row) for row in self.rows)]) + "\n"
        (self.folder / "data" / "segments.csv").write_text(text)
        suite = self.folder / "suite.yml"
        suite.write_text(
            f"corpora:\n  c: {{format: csv, path: data/segments.csv{entry}}}\n"
            f"models:\n  guess: {{random: gaussian}}\nfamilies: all\n{more}"
        )
        read = read_suite(suite)
        return load_corpus(read.corpora["c"], read, self.folder / "cache")

    def refused(self, words: str, **options: str) -> str:
        with pytest.raises(InputError, match=words) as error:
            self.load(**options)
        return str(error.value)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_plain(world):
    corpus = world.load()
    assert len(corpus.segments) == 12
    assert corpus.segments["duration"].eq(0.5).all()
    assert corpus.segments["audio"].is_unique
    assert corpus.left_out == ()
    assert corpus.segments["arousal"].iloc[3] == pytest.approx(
        float(corpus.segments["file"].iloc[3][1:-4]) / 20
    )


def test_row_order_does_not_matter(world):
    one = world.load().segments
    world.rows.reverse()
    assert world.load().segments.equals(one)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (0, "a99.wav", "line 3, column file: the file 'a99.wav' does not exist"),
        (0, "A1.WAV", "Did you mean 'a1.wav'"),
        (0, "", "line 3, column file: the cell is empty"),
        (0, "/etc/passwd", "absolute"),
        (0, "../suite.yml", "leads out of the corpus"),
        (0, "~/a.wav", "does not exist"),
        (0, "https://example.com/a.wav", "address"),
        (6, "high", "line 3, column arousal: 'high' is not a number"),
        (6, '"0,5"', "write a point"),
        (6, "1.2", r"labels not in 0 to 1: 1 of 12 \('1.2' in data/segments.csv line 3\)"),
        (6, "inf", "is not a number"),
        (0, r"C:\x\a1.wav", "Declare `cut: C:/x` and as `root:` the folder that has them here"),
        (0, "/x/a1.wav", "Declare `cut: /x` and as `root:` the folder that has them here"),
        (2, "500", "Are these milliseconds or samples"),
        (2, "8000", "Are these milliseconds or samples"),
        (2, "9", "line 3, column end: .*past the end of the file, which is 0.500 s"),
        (1, "-1", "line 3, column start"),
        (2, "soon", "'soon' is not a time"),
    ],
)
def test_bad_cell_is_refused(world, column, value, words):
    world.rows[1][column] = value
    world.refused(words)


@pytest.mark.parametrize(
    ("start", "end", "seconds", "words"),
    [
        ("0.1", "0.5009", 0.4, ""),  # rounding
        ("0.1", "0.504", 0.4, "behind their file, by at most 0.004 s, and are cut there: 'a1.wav 0.1 to"),
        ("", "0.999", 0.5, "1 of 12 segments end behind their file, by at most 0.499 s"),
        ("0.495", "0.6", None, "only 5 ms of it lie within the file"),
    ],
)
def test_ends_a_little_behind_the_file_are_cut(world, start, end, seconds, words):
    world.rows[1][1:3] = [start, end]
    corpus = world.load()
    told = [*corpus.notices, *(f"{item.item}: {item.reason}" for item in corpus.left_out)]
    told = [text for text in told if "behind" in text or "within" in text]
    assert any(words in text for text in told) == bool(words)
    found = corpus.segments.query("file == 'a1.wav'")
    assert found["duration"].tolist() == ([pytest.approx(seconds, abs=1e-9)] if seconds else [])


@pytest.mark.parametrize(
    ("start", "end"), [("", "1"), ("0.2", "1.0"), ("0.5", "0.6"), ("0.6", ""), ("7", "8")]
)
def test_ends_far_behind_the_file_are_refused(world, start, end):
    world.rows[1][1:3] = [start, end]
    world.refused("past the end of the file, which is 0.500 s long. (Correct the times|Are these milli)")


def test_a_segment_counts_its_own_length(world):
    for row in world.rows:
        row[1:3] = ["0.1", "0.3"]
    world.rows[1][1:3] = ["", ""]
    world.rows[2][1:3] = ["0.1", "0.35"]
    corpus = world.load(more="limits: {audio_seconds: 0.2}\n")
    assert len(corpus.segments) == 10
    limit = "s long, more than the limit of 0.2 s: declare `limits: {audio_seconds: 1}`"
    assert [(item.item, item.reason) for item in corpus.left_out] == [
        ("a1.wav", f"0.5 {limit}"),
        ("a2.wav 0.1 to 0.35", f"0.25 {limit}"),
    ]
    text = world.refused("no segment can be used", more="limits: {audio_seconds: 0.1}\n")
    assert "declare `limits: {audio_seconds: 1}`" in text and "Check the files" not in text


def test_what_is_odd_about_many_files_is_told_once(world):
    for n in range(5):
        sound, rate = soundfile.read(world.folder / "data" / f"a{n}.wav")
        soundfile.write(world.folder / "data" / f"a{n}.wav", np.stack([sound, -sound], axis=1), rate)
    (told,) = (text for text in world.load().notices if "the mix of its 2 channels" in text)
    assert told.endswith("5 of 12 files, 'a0.wav', 'a1.wav', 'a2.wav'")


def test_segments_are_called_by_all_digits_of_their_times(world):
    world.rows += [[*world.rows[0]], [*world.rows[0]]]
    for row in world.rows[-2:]:
        row[1:3] = ["0.1234567", "0.1234568"]
    world.refused("the segment 'a0.wav 0.1234567 to 0.1234568' is there 2 times")


def test_offsets_are_named(world):
    for n, offset in enumerate((0.02, 0.1, -0.4)):  # 0.3, 4.8 and 15.2 dB
        sound, rate = soundfile.read(world.folder / "data" / f"a{n}.wav")
        soundfile.write(world.folder / "data" / f"a{n}.wav", sound + offset, rate)
    (told,) = (text for text in world.load().notices if "constant offset" in text)
    assert told.startswith("a constant offset, up to -0.4 of full scale and 15.2 dB of level")
    assert "2 of 12 files" in told
    assert told.endswith("'a1.wav', 'a2.wav'")


def test_a_duration_that_contradicts_the_file_is_named(world):
    for row, duration in zip(world.rows, ["0.502", "3500", "0.3", "long", "", *7 * ["0.5"]], strict=True):
        row.append(duration)
    corpus = world.load(header=f"{HEADER},duration")
    what = "2 of 12 segments have a duration that is not that of the file, the file counts to its end"
    assert f"{what}: 'a1.wav', 'a2.wav'" in corpus.notices
    assert corpus.segments["duration"].eq(0.5).all()


def test_a_duration_beside_a_start_is_that_of_the_segment(world):
    times = {1: ("0.1", "", "0.2"), 2: ("0.1", "", "0.4"), 3: ("0.1", "", "0.5"), 4: ("0.1", "0.4", "0.2")}
    for number, row in enumerate(world.rows):
        start, end, duration = times.get(number, ("", "", ""))
        row[1:3] = [start, end]
        row.append(duration)
    corpus = world.load(header=f"{HEADER},duration")
    found = corpus.segments.set_index("file")["duration"].round(6)
    files = [world.rows[number][0] for number in times]
    assert found[files].tolist() == [0.2, 0.4, 0.4, 0.3]
    what = "1 of 12 segments have a duration that is not that of the file"
    assert f"{what}, only these seconds count: '{files[0]} 0.1 to 0.3'" in corpus.notices
    assert f"{what}, the file counts to its end: '{files[2]} 0.1'" in corpus.notices


def test_start_after_end(world):
    world.rows[1][1:3] = ["0.4", "0.2"]
    world.refused("start 0.4 s is after end 0.2 s")


def test_all_problems_at_once(world):
    world.rows[0][6] = "high"
    world.rows[5][0] = "nowhere.wav"
    text = world.refused("high")
    assert "nowhere.wav" in text


def test_blocks_of_several_columns(world):
    for n, row in enumerate(world.rows):
        row.append(f"m{n % 3}")
    world.rows[0][3] = ""
    world.rows[1][8] = ""
    world.rows[2][3] = world.rows[2][8] = ""
    corpus = world.load(f"{HEADER},meeting", ", blocks: [meeting, speaker]")
    assert len(corpus.segments) == 9 and set(corpus.segments["meeting"]) == {"m0", "m1", "m2"}
    reasons = {item.item: item.reason for item in corpus.left_out}
    assert reasons == {
        "a0.wav": "no speaker, so it belongs to no block",
        "a1.wav": "no meeting, so it belongs to no block",
        "a2.wav": "no meeting and no speaker, so it belongs to no block",
    }
    assert "resampled together in intervals: speaker within meeting" in corpus.notices


def test_every_column_of_blocks_must_exist(world):
    world.refused("column session: corpora.c.blocks names it, and it is not there", entry=", blocks: session")
    text = world.refused("column session", entry=", blocks: [session, speaker, topic]")
    assert "segments.csv, column topic: corpora.c.blocks names it" in text and len(text.splitlines()) == 2
    for row in world.rows:
        row[3] = ""
    world.refused("column speaker: corpora.c.blocks names it", entry=", blocks: [sex, speaker]")
    alone = world.load(entry=", blocks: [speaker]")
    assert "no column speaker: each file counts as a block of its own in intervals" in alone.notices


def test_unknown_class_is_listed(world):
    world.rows[0][7] = "Anger"
    world.rows[1][7] = "joy"
    corpus = world.load()
    told = {item.item: item.reason for item in corpus.left_out}
    assert "Did you mean 'anger'" in told["label 'Anger'"]
    assert "label 'joy'" in told
    assert corpus.segments["emotion"].isna().sum() == 2
    assert not any("unknown" in name for name in corpus.segments.columns)


def test_segments_are_counted_whose_labels_are_no_classes(world):
    for n, label in enumerate(["joy", "joy", "fear", "joy", "", "joy"]):
        world.rows[n][7] = label
    world.rows[5][5] = "train"  # not evaluated, and not counted
    (world.folder / "data" / "a3.wav").write_bytes(b"")  # nor is what cannot be heard
    world.rows[6][4] = "alien"
    corpus = world.load()
    assert len(corpus.segments) == 10
    sex, emotion = sorted(corpus.unlabelled)
    assert sex == "1 of 10 segments have a sex that is neither female nor male: 'alien' (1). " + (
        "If it means either, say so under corpora.c: `values: {sex: {WORD: female}}`"
    )
    told = "3 of 10 segments have labels that are not classes of emotion: 'joy' (2), 'fear' (1)."
    assert emotion.startswith(told)
    assert "1 of 11 segments have no label for emotion" in corpus.notices  # empty, not unknown
    assert not any("no sex" in notice for notice in corpus.notices)


def test_unreadable_audio_is_listed(world):
    (world.folder / "data" / "a3.wav").write_bytes(b"")
    (world.folder / "data" / "a4.wav").write_text("version https://git-lfs.github.com/spec/v1\n")
    corpus = world.load()
    told = {item.item: item.reason for item in corpus.left_out}
    assert "empty" in told["a3.wav"]
    assert "git lfs pull" in told["a4.wav"]
    assert len(corpus.segments) == 10


def test_changed_audio_is_looked_at_again(world):
    before = world.load().segments["audio"]
    tone = 0.2 * np.sin(np.arange(8000) / 7)
    soundfile.write(world.folder / "data" / "a0.wav", tone, 16000)
    after = world.load().segments["audio"]
    assert (before != after).sum() == 1


def test_nothing_usable_is_refused(world):
    for path in (world.folder / "data").glob("*.wav"):
        path.write_bytes(b"")
    world.refused("segments.csv: no segment can be used")


def test_speakers_as_written(world):
    world.rows[0][3], world.rows[1][3], world.rows[2][3] = "001", "1", "NA"
    speakers = set(world.load().segments["speaker"])
    assert {"001", "1", "NA"} <= speakers


def test_what_nobody_knows_is_as_a_missing_cell(world):
    world.rows[0][4] = world.rows[1][4] = ""
    empty = world.load().segments
    world.rows[0][4], world.rows[1][4] = " Unknown", "N/A"
    corpus = world.load()
    assert corpus.segments.equals(empty) and not corpus.unlabelled
    told = "column sex: unknown are ' Unknown' (1 segment), 'N/A' (1 segment); `unknown:` names other words"
    assert told in corpus.notices


def test_words_for_nobody_count_in_what_is_evaluated(world):
    for row in world.rows[:6]:
        row[3], row[5] = "Unknown", "train"
    world.rows[6][3] = "unknown"
    corpus = world.load()
    told = "column speaker: unknown are 'unknown' (1 segment); `unknown:` names other words"
    assert told in corpus.notices and not corpus.caveats
    assert sum("no speaker" in item.reason for item in corpus.left_out) == 1
    assert corpus.elsewhere["speaker"].isna().all()


def test_values_come_before_words_for_nobody(world):
    world.rows[0][3], world.rows[1][3] = "Unknown", "s9"
    corpus = world.load(entry=", values: {speaker: {Unknown: s8, s9: none}}")
    assert "s8" in set(corpus.segments["speaker"]) and len(corpus.segments) == 11


def test_one_name_for_two_people(world):
    assert not world.load().caveats
    world.rows[0][4] = {"f": "m", "m": "f"}[world.rows[0][4][0]]
    (caveat,) = world.load().caveats
    assert "intervals and p-values count too few people" in caveat.text
    (parted,) = world.load(entry=", blocks: [file, speaker]").caveats
    assert parted.task == "embedding" and "intervals" not in parted.text


def test_missing_file_column_suggests(world):
    world.refused("Did you mean 'path'.*columns: {file: path}", header=HEADER.replace("file", "path"))


def test_the_base_condition_must_be_there(world):
    header = f"{HEADER},item,condition"
    for n, row in enumerate(world.rows):
        row += [str(n // 2), ("near", "far")[n % 2]]
    assert world.load(header, ", base_condition: near").entry.base_condition == "near"
    words = r"corpora\.c\.base_condition: no segment has the condition 'nearby'\. Did you mean 'near'"
    world.refused(words, header=header, entry=", base_condition: nearby")
    for row in world.rows:
        del row[-2:]
    world.refused("The corpus needs a column condition", entry=", base_condition: near")


SEXES = [  # words, what they count as
    ("W M D", "female male None"),
    ("weiblich männlich", "female male"),
    ("Femme Homme", "female male"),
    ("F H", "female None"),
    ("femenino masculino", "female male"),
    ("M H", "None None"),  # mujer and hombre
    ("Women Men", "female male"),
    ("F. M.", "female male"),
    ("女 男", "female male"),
    ("0 1", "None None"),
]


@pytest.mark.parametrize(("words", "meant"), SEXES)
def test_words_for_sexes(world, words, meant):
    for number, word in enumerate(words.split()):
        world.rows[number][4] = word
    corpus = world.load()
    found = corpus.segments.set_index("file")["sex"]
    assert [str(found[f"a{number}.wav"]) for number in range(len(words.split()))] == meant.split()
    told = [one for one in corpus.unlabelled if "neither female nor male" in one]
    assert len(told) == ("None" in meant) and all("`values: {sex: {WORD: female}}`" in one for one in told)


@pytest.mark.parametrize(
    ("column", "word", "somebody"),
    [
        ("speaker", "NA", True),
        ("speaker", "nan", False),
        ("speaker", "-", False),
        ("speaker", "Nana", True),
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


def test_marks_of_noises_are_counted_and_named(world):
    texts = ["[noise] turn left", "turn <unk> right (laughs)", *["go"] * 10]
    for row, text in zip(world.rows, texts, strict=True):
        row.append(text)
    (told,) = (text for text in world.load(f"{HEADER},transcript").notices if "marks of noises" in text)
    assert told.startswith("2 of 12 references have marks of noises or unknown words: '")
