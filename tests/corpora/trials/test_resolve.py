import numpy as np
import pandas as pd
import pytest

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.corpora.segments import Excluded
from soundcheck.corpora.trials.resolve import resolve
from soundcheck.corpora.trials.trial_files import parse_scores, parse_trials
from soundcheck.corpora.trials.trial_table import TrialTable, read_table, write_table
from soundcheck.models.tables.scores import scores_of_trials

NAN = float("nan")
FILES = ["s1/a.wav", "s1/b.wav", "s2/c.wav", "s2/d.wav", "s3/e.wav"]


def corpus(*written: str, **columns: list) -> pd.DataFrame:
    """Make a segment table, each segment with a sound of its own."""
    table = pd.DataFrame({"file": pd.Series(list(written), dtype=object)})
    table = table.assign(
        **({"start": NAN, "end": NAN, "audio": [f"#{n}" for n in range(len(table))]} | columns)
    )
    return table.assign(key=table["file"])


def spoken(**columns: list) -> pd.DataFrame:
    return corpus(*FILES, speaker=[name.split("/")[0] for name in FILES], **columns)


def resolved(text: str, segments: pd.DataFrame | None = None, **options) -> TrialTable:
    return resolve(
        parse_trials(text.encode(), "t.txt"), spoken() if segments is None else segments, **options
    )


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
    assert table.members.tolist() == [0, 2]
    assert table.member_of.tolist() == [0, 1]
    assert (table.origin, table.listed, len(table), table.left_out) == ("list", 3, 3, ())
    assert table.notices == (
        "t.txt is read as lines `1 enrol test`: 3 trials, 1 target and 2 non-target",
        "1 name in t.txt fits in another spelling than that of the file ('A' is taken for 's1/a.wav')",
        "1 name in t.txt fits without the folder of the file ('e' is taken for 's3/e.wav')",
    )
    assert {str(table.frame[name].dtype) for name in ("enrolment", "segment")} == {"int64"}
    assert table.frame["target"].dtype == bool


def test_enrolments_of_several_utterances():
    enrolments = {"m2": ["d", "s2/c.wav"], "unused": ["nowhere"], "m1": ["s1/a.wav"]}
    table = resolved("0 m1 e\n1 m1 b\n0 m2 e\n0 m1 e\n", enrolments=enrolments)
    assert table.frame["enrolment"].tolist() == [0, 0, 1, 0]
    assert table.frame["enrol_speaker"].tolist() == ["s1", "s1", "s2", "s1"]
    assert table.members.tolist() == [0, 3, 2]
    assert table.member_of.tolist() == [0, 1, 1]
    assert table.notices[1:2] == ("1 trial repeats an earlier one and counts again",)


def test_scores_join_what_is_left():
    listed = parse_trials(b"1 s1/a s1/a\n1 s1/a s1/b\n0 s1/a s2/c\n", "t.txt")
    table = resolve(listed, spoken())
    assert table.numbers.tolist() == [1, 2]
    assert scores_of_trials(parse_scores(b"0.1\n0.2\n0.3\n", "s"), table).tolist() == [0.2, 0.3]
    named = parse_scores(b"0.3 s1/a s2/c\n0.2 s1/a s1/b\n0.1 x y\n", "s")
    assert scores_of_trials(named, table).tolist() == [0.2, 0.3]
    with pytest.raises(InputError, match="2 scores without names, the list 3 trials"):
        scores_of_trials(parse_scores(b"0.1\n0.2\n", "s"), table)


# Names that cannot be used ----------------------------------------------------------------------------------


def test_all_missing_names_are_told_with_their_first_line():
    with pytest.raises(InputError) as caught:
        resolved("0 s1/a x\n0 y s1/a\n0 x y\n" + "".join(f"0 a z{n}\n" for n in range(25)))
    assert len(caught.value.problems) == 27
    assert str(caught.value) == (
        "t.txt line 1: no segment is called 'x'. Write files as the corpus does, such as 's1/a.wav'. "
        "There are 27 of this kind, also t.txt line 2, no segment is called 'y'; "
        "t.txt line 4, no segment is called 'z0'."
    )


def test_names_of_several_files_are_refused():
    words = (
        "^t.txt line 2: 'a' could mean 'x/a.wav' and 'y/a.wav' and 1 more. "
        "Write the one that is meant, such as 'x/a.wav'"
    )
    with pytest.raises(InputError, match=words):
        resolved("0 b c\n0 a b\n", corpus("x/a.wav", "y/a.wav", "z/a.wav", "b.wav", "c.wav"))
    with pytest.raises(InputError, match="'a' could mean 'x/a.wav' and 'y/a.wav'"):
        resolved("0 a b\n", corpus("x/a.wav", "b.wav"), elsewhere=["y/a.wav"])


def test_timed_segments_have_names_with_times():
    segments = corpus("a.wav", "a.wav", "b.wav", start=[0.0, 1.5, NAN], end=[1.5, NAN, NAN])
    words = (
        "line 1: 'a' could mean 'a.wav 0 to 1.5' and 'a.wav 1.5'. "
        "Write the one that is meant, such as 'a.wav 0 to 1.5'"
    )
    with pytest.raises(InputError, match=words):
        resolved("0 a b\n", segments)
    table = resolved("enrol,test,label\na.wav 0 to 1.5,a.wav 1.5,1\na.wav 1.5,b,0\n", segments)
    assert table.members.tolist() == [0, 1]
    assert table.frame["segment"].tolist() == [1, 2]
    assert table.frame["enrol_speaker"].tolist() == ["a.wav 0 to 1.5", "a.wav 0 to 1.5"]


def test_files_of_other_splits():
    with pytest.raises(
        InputError, match="^t.txt line 2: 'tr/f' is a file of another split. Set `split: all` for"
    ):
        resolved("0 a c\n0 a tr/f\n", elsewhere=["tr/f.wav", "s1/a.wav"])


def test_files_that_cannot_be_used_leave_trials_out():
    text = "1 a b\n0 bad/x c\n0 bad/x bad/y\n0 a bad-x\n0 a e\n"
    table = resolved(text, left_out=["bad/y.wav", "bad/x.wav"])
    assert table.frame["key"].tolist() == ["0", "4"]
    assert table.left_out == (
        Excluded("bad/x.wav", "3 trials left out: the corpus cannot use the file", "trials"),
        Excluded("bad/y.wav", "1 trial left out: the corpus cannot use the file", "trials"),
    )
    assert table.listed == 5
    with pytest.raises(InputError, match=r"^t.txt: no trial is left \(1 trial left out: .*\)\. Give trials"):
        resolved("0 a bad/x\n", left_out=["bad/x.wav"])


def test_an_enrolment_with_such_a_file_cannot_be_used():
    enrolments = {"m": ["a", "bad/x", "bad/y"], "n": ["c"]}
    table = resolved("1 m b\n0 n b\n", enrolments=enrolments, left_out=["bad/x.wav", "bad/y.wav"])
    assert table.frame["key"].tolist() == ["1"]
    assert [item.item for item in table.left_out] == ["bad/x.wav", "bad/y.wav"]
    assert table.members.tolist() == [2]


def test_enrolments_that_do_not_fit():
    with pytest.raises(InputError) as caught:
        resolved("0 m b\n0 n e\n0 q e\n0 n b\n", enrolments={"m": ["a", "x"], "n": ["c", "s2-c"], "o": ["c"]})
    assert str(caught.value).splitlines() == [
        "enrolment 'm': no segment is called 'x'. Write files as the corpus does, such as 's1/a.wav'.",
        "enrolment 'n': 'c' and 's2-c' mean the same segment. "
        "Look whether one of them means another file; else remove it.",
        "t.txt line 3: there is no enrolment 'q'. Give its utterances, or write the name of one that there "
        "is, such as 'm'.",
    ]


# An utterance with itself -----------------------------------------------------------------------------------


def test_trials_of_an_utterance_with_itself_are_left_out():
    table = resolved("1 a s1/a.wav\n1 a b\n1 c c\n0 a c\n")
    assert table.frame["key"].tolist() == ["1", "3"]
    reason = "an utterance is compared with itself: every model accepts it"
    assert table.left_out == (Excluded("2 trials, the first t.txt line 1", reason, "trials"),)
    assert table.members.tolist() == [0]
    with pytest.raises(
        InputError, match="^t.txt line 2: the trial compares 's1/a' with itself and says two sp"
    ):
        resolved("1 a b\n0 a s1/a\n")


@pytest.mark.parametrize("segments", [spoken(), corpus(*FILES)])
def test_a_single_trial_of_an_utterance_with_itself(segments):
    with pytest.raises(InputError, match="^t.txt line 1: the trial compares 'a' with itself"):
        resolved("0 a a\n", segments)
    with pytest.raises(InputError, match=r"^t.txt: no trial is left \(an utterance is compared with itself"):
        resolved("1 a a\n", segments)


def test_an_utterance_of_a_larger_enrolment_is_told():
    table = resolved("1 m a\n0 m c\n1 m b\n", enrolments={"m": ["a", "b"]})
    assert len(table) == 3
    assert table.notices[1:2] == ("2 trials test an utterance of their own enrolment",)


def test_the_same_sound_under_two_names_is_told():
    segments = spoken(audio=["#0", "#0", "#1", "#2", "#0"])
    table = resolved("1 a b\n0 a c\n0 a e\n1 c d\n", segments)
    assert len(table) == 4
    assert table.notices[1:2] == ("2 trials compare the same sound under two names",)


# Speakers ---------------------------------------------------------------------------------------------------


def test_labels_that_contradict_the_speakers():
    with pytest.raises(InputError) as caught:
        resolved("1 a c\n0 a e\n0 a b\n")
    assert str(caught.value).splitlines() == [
        "t.txt line 1: the list says the same speaker, the corpus says 's1' and 's2'. "
        "Correct the label, or the column speaker.",
        "t.txt line 3: the list says two speakers, the corpus says 's1' for both. "
        "Correct the label, or the column speaker.",
    ]


def test_enrolments_of_several_speakers_are_refused():
    words = "^enrolment 'm': its utterances are of 2 speakers, 's1' and 's2'. Enrol each speaker separately"
    with pytest.raises(InputError, match=words):
        resolved("0 n a\n0 m e\n", enrolments={"m": ["a", "b", "c"], "n": ["c"]})


def test_a_speaker_who_is_not_named_is_refused():
    segments = corpus("a.wav", "b.wav", "c.wav", speaker=["x", None, None])
    words = "^t.txt: the corpus does not say who speaks in 'b.wav'. Fill in the column speaker, or remove"
    with pytest.raises(InputError, match=words) as caught:
        resolved("1 a b\n", segments)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("columns", [{}, {"speaker": [None] * 5}])
def test_speakers_are_inferred_if_there_are_none(columns):
    table = resolved("1 a b\n0 a c\n1 d c\n0 e a\n", corpus(*FILES, **columns))
    assert table.frame["test_speaker"].tolist() == ["s1", "s2", "s2", "s1"]
    assert (
        table.notices[1]
        == "speakers are taken from the folders of the files, which fit all labels: 3 speakers"
    )


def test_enrolments_connect_inferred_speakers():
    segments = corpus("a.wav", "b.wav", "c.wav", "d.wav")
    table = resolved("1 m d\n0 m c\n", segments, enrolments={"m": ["b", "a"]})
    assert table.frame["enrol_speaker"].tolist() == ["a.wav", "a.wav"]
    assert table.frame["test_speaker"].tolist() == ["a.wav", "c.wav"]
    with pytest.raises(
        InputError, match="^t.txt line 2: a trial says that 'b.wav' and 'd.wav' are two speakers"
    ):
        resolved("1 n d\n0 m d\n", segments, enrolments={"m": ["b", "a"], "n": ["a"]})


def test_repeated_trials_are_told_under_all_spellings():
    table = resolved("1 a b\n1 s1/a.wav s1_b\n1 b a\n")
    assert table.frame["enrolment"].tolist() == [0, 0, 1]
    assert table.notices[1:2] == ("1 trial repeats an earlier one and counts again",)


# Keeping ----------------------------------------------------------------------------------------------------


def test_tables_are_kept(tmp_path):
    enrolments = {"ö": ["d", "c"], "m1": ["a"], "m3": ["e"]}
    table = resolved(
        "0 ö e\n1 m1 b\n0 m1 e\n0 m3 a\n1 m1 a\n0 ö bad\n", enrolments=enrolments, left_out=["bad"]
    )
    digest = write_table(tmp_path / "new" / "t.parquet", table)
    assert digest == files.digest(tmp_path / "new" / "t.parquet")
    found = read_table(tmp_path / "new" / "t.parquet")
    pd.testing.assert_frame_equal(found.frame, table.frame)
    assert found.members.tolist() == [3, 2, 0, 4]
    assert found.member_of.tolist() == [0, 0, 1, 2]
    assert len(found.left_out) == 2
    assert (found.origin, found.notices, found.left_out) == ("list", table.notices, table.left_out)
    assert found.listed == 6
    assert write_table(tmp_path / "again.parquet", found) == digest


def test_tables_are_kept_whatever_the_order_of_enrolments(tmp_path):
    frame = resolved("0 a c\n0 c e\n0 e a\n").frame.assign(enrolment=[2, 0, 1])
    table = TrialTable(frame, np.array([2, 4, 0, 1]), np.array([0, 1, 2, 2]), "list")
    write_table(tmp_path / "t.parquet", table)
    found = read_table(tmp_path / "t.parquet")
    assert found.members.tolist() == [2, 4, 0, 1]
    assert found.member_of.tolist() == [0, 1, 2, 2]


def test_an_empty_table_is_kept(tmp_path):
    table = resolved(LIST)
    none = np.zeros(0, dtype=np.int64)
    write_table(tmp_path / "t.parquet", TrialTable(table.frame.iloc[:0], none, none, "generated"))
    found = read_table(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(found.frame, table.frame.iloc[:0])
    assert (len(found), len(found.members), found.origin) == (0, 0, "generated")


@pytest.mark.parametrize(
    ("members", "member_of"),
    [([0], [0]), ([0, 2, 3], [0, 1, 2]), ([0, 2], [1, 0]), ([0, 2], [0, 2]), ([0], [0, 1])],
)
def test_enrolments_belong_to_trials(members, member_of):
    with pytest.raises(ValueError, match="numbered from 0, each with members and trials"):
        TrialTable(resolved(LIST).frame, np.array(members), np.array(member_of), "list")
