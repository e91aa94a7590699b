"""Trials between segments of a corpus: names become rows, labels and speakers agree, tables are copy."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.given import refusals, rows

from soundcheck.common import files
from soundcheck.common.messages import InputError
from soundcheck.corpora.raw_table import Excluded
from soundcheck.corpora.trials.trial_files import read_trials
from soundcheck.corpora.trials.trial_table import TrialTable, infer_speakers, read_table, resolve, write_table

NAN = float("nan")
FILES = ["s1/a.wav", "s1/b.wav", "s2/c.wav", "s2/d.wav", "s3/e.wav"]


def corpus(*written: str, **columns: list) -> pd.DataFrame:
    table = pd.DataFrame({"file": pd.Series(list(written), dtype=object)})
    usual = {"start": NAN, "end": NAN, "audio": [f"#{n}" for n in range(len(table))]}
    return table.assign(**(usual | columns)).assign(key=table["file"])


SPOKEN = corpus(*FILES, speaker=[name.split("/")[0] for name in FILES])
TIMED = corpus("a.wav", "a.wav", "b.wav", start=[0.0, 1.5, NAN], end=[1.5, NAN, NAN])
FOUR = corpus("a.wav", "b.wav", "c.wav", "d.wav")
SEGMENTS = {
    **{"spoken": SPOKEN, "unspoken": corpus(*FILES), "timed": TIMED, "four": FOUR},
    "same sounds": SPOKEN.assign(audio=["#0", "#0", "#1", "#2", "#0"]),
    "same names": corpus("x/a.wav", "y/a.wav", "z/a.wav", "b.wav", "c.wav"),
    "two names": corpus("x/a.wav", "b.wav"),
    "one speaker": corpus("a.wav", "b.wav", "c.wav", speaker=["x", None, None]),
}
ODD = yaml.safe_load(Path(__file__).with_name("layouts.yml").read_text("utf-8"))["odd"]


def resolved(text: str, segments: pd.DataFrame = SPOKEN, **options) -> TrialTable:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return resolve(read_trials(file.name, "t.txt"), segments, **options)


def refused(text: str, segments: pd.DataFrame = SPOKEN, **options) -> list[str]:
    with pytest.raises(InputError) as caught:
        resolved(text, segments, **options)
    return str(caught.value).splitlines()


def columns(table: TrialTable, *names: str) -> list[list]:
    return [table.frame[name].tolist() for name in names]


LIST = "1 s1/a.wav s1-b\n0 A s2_c\n0 s2/c e\n"


def test_names_become_rows():
    table = resolved(LIST)
    assert table.frame.to_dict("list") == {
        "key": ["0", "1", "2"],
        "enrol": ["s1/a.wav", "A", "s2/c"],
        "test": ["s1-b", "s2_c", "e"],
        "target": [True, False, False],
        "enrolment": [0, 0, 1],
        "segment": [1, 2, 4],
        "enrol_speaker": ["s1", "s1", "s2"],
        "test_speaker": ["s1", "s2", "s3"],
    }
    assert (table.members.tolist(), table.member_of.tolist()) == ([0, 2], [0, 1])
    assert (table.origin, table.listed, len(table), table.left_out) == ("list", 3, 3, ())
    assert table.notices == (
        "t.txt is read as lines `1 enrol test`: 3 trials, 1 target and 2 non-target",
        "2 names in t.txt are not written like their files ('A' is taken for 's1/a.wav')",
    )
    assert {str(table.frame[name].dtype) for name in ("enrolment", "segment")} == {"int64"}
    assert table.frame["target"].dtype == bool


def test_enrolments_of_several_utterances_and_names_with_times():
    enrolments = {"m2": ["d", "s2/c.wav"], "unused": ["nowhere"], "m1": ["s1/a.wav"]}
    table = resolved("0 m1 e\n1 m1 b\n0 m2 e\n0 m1 e\n", enrolments=enrolments)
    assert columns(table, "enrolment", "enrol_speaker") == [[0, 0, 1, 0], ["s1", "s1", "s2", "s1"]]
    assert (table.members.tolist(), table.member_of.tolist()) == ([0, 3, 2], [0, 1, 1])
    table = resolved("enrol,test,label\na.wav 0 to 1.5,a.wav 1.5,1\na.wav 1.5,b,0\n", TIMED)
    assert table.members.tolist() == [0, 1]
    assert columns(table, "segment", "enrol_speaker") == [[1, 2], ["a.wav 0 to 1.5"] * 2]


@pytest.mark.parametrize(("text", "segments", "enrolments", "notice"), ODD)
def test_odd_trials_are_kept_and_noted(text, segments, enrolments, notice):
    table = resolved(text, SEGMENTS[segments], enrolments=enrolments)
    assert len(table) == len(text.splitlines()) and table.notices[1] == notice


def test_trials_of_unusable_files_are_left_out():
    text = "1 a b\n0 bad/x c\n0 bad/x bad/y\n0 a bad-x\n0 a e\n"
    table = resolved(text, left_out=["bad/y.wav", "bad/x.wav"])
    assert columns(table, "key") == [["0", "4"]] and table.listed == 5
    assert table.left_out == (
        Excluded("bad/x.wav", "3 trials left out: the corpus cannot use the file", "trials"),
        Excluded("bad/y.wav", "1 trial left out: the corpus cannot use the file", "trials"),
    )
    enrolments = {"m": ["a", "bad/x", "bad/y"], "n": ["c"]}
    table = resolved("1 m b\n0 n b\n", enrolments=enrolments, left_out=["bad/x.wav", "bad/y.wav"])
    assert (columns(table, "key"), table.members.tolist()) == ([["1"]], [2])
    assert [item.item for item in table.left_out] == ["bad/x.wav", "bad/y.wav"]


def test_trials_of_an_utterance_with_itself_are_left_out():
    table = resolved("1 a s1/a.wav\n1 a b\n1 c c\n0 a c\n")
    assert table.numbers.tolist() == [1, 3]
    assert (columns(table, "key"), table.members.tolist()) == ([["1", "3"]], [0])
    reason = "an utterance is compared with itself: every model accepts it"
    assert table.left_out == (Excluded("2 trials, the first t.txt line 1", reason, "trials"),)


@pytest.mark.parametrize(("text", "segments", "options", "lines"), refusals("resolve"))
def test_refused(text, segments, options, lines):
    message = refused(text, SEGMENTS[segments], **options)
    assert len(message) == len(lines)
    assert all(line.startswith(words) for line, words in zip(message, lines, strict=True)), message


def test_speakers_are_inferred_if_there_are_none():
    for more in ({}, {"speaker": [None] * 5}):
        table = resolved("1 a b\n0 a c\n1 d c\n0 e a\n", corpus(*FILES, **more))
        assert columns(table, "test_speaker") == [["s1", "s2", "s2", "s1"]]
        assert table.notices[1].startswith("speakers are taken from the folders of the files, which fit all")
    table = resolved("1 m d\n0 m c\n", FOUR, enrolments={"m": ["b", "a"]})
    assert columns(table, "enrol_speaker", "test_speaker") == [["a.wav", "a.wav"], ["a.wav", "c.wav"]]


NONE = np.zeros(0, dtype=np.int64)
THREE = resolved("0 a c\n0 c e\n0 e a\n").frame
TABLES = [
    resolved(
        "0 ö e\n1 m1 b\n0 m1 e\n0 m3 a\n1 m1 a\n0 ö bad\n",
        enrolments={"ö": ["d", "c"], "m1": ["a"], "m3": ["e"]},
        left_out=["bad"],
    ),
    TrialTable(THREE.assign(enrolment=[2, 0, 1]), np.array([2, 4, 0, 1]), np.array([0, 1, 2, 2]), "list"),
    TrialTable(THREE.iloc[:0], NONE, NONE, "generated"),
]


@pytest.mark.parametrize("table", TABLES, ids=["with what is left out", "enrolments in any order", "empty"])
def test_tables_are_kept(tmp_path, table):
    path = tmp_path / "new" / "t.parquet"
    digest = write_table(path, table)
    copy = read_table(path)
    pd.testing.assert_frame_equal(copy.frame, table.frame)
    for name in ("members", "member_of"):
        assert getattr(copy, name).tolist() == getattr(table, name).tolist()
    for name in ("origin", "notices", "left_out", "listed"):
        assert getattr(copy, name) == getattr(table, name)
    assert digest == files.digest(path) == write_table(tmp_path / "again.parquet", copy)


def inferred(*trials: tuple[str, str, int]) -> tuple[dict[str, str], str]:
    return infer_speakers(*zip(*trials, strict=True))


def test_folders_are_speakers_if_they_fit():
    speakers, how = inferred(("s1/a.wav", r"s1\x\b.wav", 1), ("s1/a.wav", "s2/a.wav", 0))
    assert speakers == {"s1/a.wav": "s1", r"s1\x\b.wav": "s1", "s2/a.wav": "s2"}
    assert how == "speakers are taken from the folders of the files, which fit all labels: 2 speakers"
    speakers, _ = inferred(("wav/id1/x/a", "wav/id1/y/b", 1), ("wav/id1/x/a", "wav/id2/x/a", 0))
    assert set(speakers.values()) == {"id1", "id2"}  # folders that all files share are passed over


@pytest.mark.parametrize(
    ("one", "other", "third"),
    [
        ("s1/a", "s2/b", "s2/c"),  # the target trial has two folders
        ("s1/a", "s1/b", "s1/c"),  # the other trial has one
        ("s1/a", "b", "s2/c"),  # one file has none
    ],
)
def test_otherwise_target_trials_connect(one, other, third):
    speakers, how = inferred((one, other, 1), (one, third, 0))
    assert speakers == {one: min(one, other), other: min(one, other), third: third}
    assert "files that target trials connect are one speaker: 2 speakers; " in how


def test_contradictions():
    words = "^3: a trial says that 'a' and 'c' are two speakers, other trials that they are one"
    with pytest.raises(InputError, match=words):
        inferred(("a", "b", 1), ("b", "c", 1), ("d", "c", 0), ("a", "c", 0))
    with pytest.raises(InputError, match="^0: a trial compares 'a' with itself and says two speakers"):
        inferred(("a", "a", 0))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_what_is_inferred_fits_all_labels(both):
    """Speakers are numbers modulo 3; names do not tell."""
    target = [one % 3 == other % 3 for one, other in both]
    speakers, _ = infer_speakers([f"u{n}" for n, _ in both], [f"u{n}" for _, n in both], np.array(target))
    for (one, other), same in zip(both, target, strict=True):
        assert (speakers[f"u{one}"] == speakers[f"u{other}"]) == same
    assert all(int(speaker[1:]) % 3 == int(name[1:]) % 3 for name, speaker in speakers.items())


ENTRY = "format: trials, path: trials.txt, audio: false"


def test_recordings_of_a_list_and_their_speakers(load, refused):
    corpus = load(ENTRY, {"trials.txt": "1 id1/x/1.wav id1/y/2.wav\n0 id1/x/1.wav id2/z/3.wav\n"})
    names = [("id1/x/1.wav", "id1"), ("id1/y/2.wav", "id1"), ("id2/z/3.wav", "id2")]
    assert rows(corpus, "file", "speaker") == names
    assert any("folder" in notice for notice in corpus.notices) and len(corpus.trials) == 2
    cut = {"trials.txt": "1 /t/id1/1.wav /t/id1/2.wav\n0 /t/id1/1.wav /t/id2/3.wav\n"}
    assert dict(rows(load(f"{ENTRY}, cut: /t", cut), "file", "speaker"))["id2/3.wav"] == "id2"
    refused("trials.txt line 3: .*column speaker", ENTRY, {"trials.txt": "1 a b\n1 b c\n0 a c\n"})
    files = {"trials.txt": "1 a target\n0 b c\n"}
    refused("^trials.txt line 2: 'c' is not a valid label", f"{ENTRY}, layout: kaldi", files)
    assert len(load(f"{ENTRY}, layout: voxceleb").segments) == 4


def test_an_enrolled_speaker_has_several_recordings(load):
    files = {"trials.txt": "anna t1 target\nben t1 nontarget\nben t2 target\n"}
    files |= {"enrolments.txt": "anna a1 a2\nben b1 b2 b3\n"}
    speakers = dict(rows(load(f"{ENTRY}, enrolments: enrolments.txt", files), "file", "speaker"))
    anna, ben = ("a1", "a2", "t1"), ("b1", "b2", "b3", "t2")
    assert {*speakers} == {*anna, *ben}
    assert len({speakers[name] for name in anna}) == len({speakers[name] for name in ben}) == 1
    assert speakers["t1"] != speakers["t2"]


def test_places_of_files_that_are_missing(refused):
    files = {"trials.txt": "m b target\n\nm c nontarget\n", "enrolments.txt": "m a1 a2\n"}
    text = refused("does not exist", "format: trials, path: trials.txt, enrolments: enrolments.txt", files)
    places = {line.partition(", column file")[0] for line in text.splitlines()}
    listed = {"trials.txt line 1", "trials.txt line 3"}
    assert places == listed | {"enrolments.txt, utterance a1", "enrolments.txt, utterance a2"}
