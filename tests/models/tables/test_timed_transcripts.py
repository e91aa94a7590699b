"""Words with times (STM, CTM, SegLST): which segment of a corpus each belongs to."""

import json

import answer_files
import numpy as np
import pandas as pd
import pytest
from answer_files import NAN
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import TEXT_LIMIT
from soundcheck.models.tables import timed_transcripts

STM = """;; by our recogniser
m1 1 A 0.00 1.50 turn left
m1 1 B 1.50 3.00 switch   on
m1 1 A 3.20 3.60 the light
m1 1 A 3.60 4.00 please

m2 1 A 0 2.5
"""
CTM = """;; by our recogniser
m1 1 0.10 0.30 turn 0.98
m1 1 0.50 0.30 left 0.97
m1 1 1.40 0.30 switch
m1 1 3.30 0.20 the
m1 1 * * <ALT_BEGIN>
m1 1 3.50 0.10 light 0.6
m1 1 * * <ALT>
m1 1 3.50 0.05 lie 0.2
m1 1 3.55 0.05 it 0.2
m1 1 * * <ALT_END>
m2 1 9.00 0.30 um
"""
SEGLST = [
    {"session_id": "m1", "speaker": "A", "start_time": 0, "end_time": "1.5", "words": "turn left"},
    {"session_id": "m1", "speaker": "B", "start_time": "0:00:01.50", "end_time": 3.0, "words": "switch on"},
    {"session_id": "m2", "speaker": "A", "start_time": 0.0, "end_time": 2.5, "words": ""},
]
TASKS = [BUILTIN["transcript"]]


def corpus(*rows: tuple, **more: object):
    """Make a corpus of (file, start, end); files last four seconds."""
    known = [(*row, (4.0 if np.isnan(row[2]) else row[2]) - np.nan_to_num(row[1])) for row in rows]
    return answer_files.corpus(*known, **more)


MEETINGS = corpus(
    ("m1.wav", 0, 1.5), ("m1.wav", 1.5, 3), ("m1.wav", 3, 4), ("m2.wav", NAN, 2.5), ("m3.wav", NAN, NAN)
)


def read(content: bytes, source: str, form: str) -> timed_transcripts.TimedTranscripts:
    return timed_transcripts.read_timed_transcripts(content, source, form, TASKS)


def test_lines_are_joined_in_their_segments(load):
    model = load("\ufeff" + STM.replace("\n", "\r\n"), "hyp.stm")
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == ["turn left", "switch   on", "the light please", "", None]
    assert problems == [""] * 4 + ["not asked: no line in hyp.stm"]
    assert [*values] == ["transcript"] and model.notices([MEETINGS]) == []


def test_words_belong_to_the_segment_that_holds_their_middle(load):
    model = load(CTM, "hyp.ctm")
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == ["turn left", "switch", "the light", "", None]
    sure = ['[["turn", 0.98], ["left", 0.97]]', None, None, None, None]  # of the others one has none
    assert values["transcript.words"].tolist() == sure
    assert problems[-1] == "not asked: no word in hyp.ctm"
    assert model.notices([MEETINGS])[0] == "1 word belongs to no segment of the corpora"


def test_a_list_of_segments(load):
    model = load(SEGLST, "hyp.txt")
    values, _ = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == ["turn left", "switch on", "", "", None]
    assert model.notices([MEETINGS]) == ["1 segment has no words in hyp.txt: nothing was recognised there"]
    odd = [SEGLST[0] | {"speaker": 3, "channel": 1}, SEGLST[1] | {"speaker": None, "words": " switch  on"}]
    items = load(odd, "hyp.txt").items[["speaker", "channel", "text"]]
    assert items.to_numpy().tolist() == [["3", "1", "turn left"], ["", "", "switch on"]]


def test_what_lies_across_segments_or_is_too_long_is_no_prediction(load):
    lines = "m1 1 A 0.1 1.2 turn left\nm1 1 A 1.4 2.9 switch it on\nm1 1 A 3.1 3.3 light\nm2 1 A 0 1 "
    model = load(lines + "x" * (TEXT_LIMIT + 1), "hyp.stm")
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == [None, None, "light", None, None]
    assert problems[:3] == ["hyp.stm has words across its start or end"] * 2 + [""]
    assert problems[3].startswith(f"hyp.stm has a text of {TEXT_LIMIT + 1} characters for transcript")
    assert model.notices([MEETINGS]) == ["1 line belongs to no segment of the corpora"]


OVERLAPPING = corpus(("m1.wav", 0, 10), ("m1.wav", 4, 6), ("m1.wav", 5, 12), speaker=["A", "B", "C"])
UNKNOWN = corpus(("m1.wav", NAN, NAN))
OPEN_END = corpus(("m1.wav", 1, NAN))
UNKNOWN.segments["duration"] = NAN  # a corpus without audio may not know where its files end
CHANNELS = corpus(("sw1-A.wav", NAN, NAN), ("sw1_B.wav", NAN, NAN))
ROUNDED = corpus(("m1.wav", 0, 2.005), ("m1.wav", 2, 4))


@pytest.mark.parametrize(
    ("where", "name", "content", "expected"),
    [
        (MEETINGS, "hyp.stm", "m1 1 A -0.0 1.509 turn\nm1 1 A 2.98 4.0 late\n", ["turn", None, None]),
        (MEETINGS, "hyp.stm", "m1 1 A 1.491 3.0 on\nm1 1 A 2.991 4.009 late\n", ["", "on", "late"]),
        (MEETINGS, "hyp.stm", "m1 1 A 0.5 1 left\nm1 1 A 1 1.5\nm1 1 A 0 0.5 turn\n", ["turn left"]),
        (MEETINGS, "hyp.ctm", "m1 1 0.1 0.1 @\nm1 1 0.2 0.2 turn\nm1 1 0.2 0.2 left\n", ["turn left"]),
        (UNKNOWN, "hyp.ctm", CTM, ["turn left switch the light"]),
        (OPEN_END, "hyp.ctm", "m1 1 0.8 0.3 a\nm1 1 0.8 0.4 b\nm1 1 3.8 0.2 c\nm1 1 3.9 0.2 d\n", ["b c"]),
        (OVERLAPPING, "hyp.stm", "m1 1 A 4.5 5.5 a\nm1 1 B 4.5 5.5 b\nm1 1 C 5.1 5.5 c\n", ["a", "b", "c"]),
        (OVERLAPPING, "hyp.stm", "m1 1 x 0 10 a\nm1 1 y 4 6 b\nm1 1 z 5 12 c\n", ["a", "b", "c"]),
        (OVERLAPPING, "hyp.stm", "m1 1 x 3 5 a\nm1 1 x 7 11 c\n", ["a", "", "c"]),
        (ROUNDED, "hyp.ctm", "m1 1 1.8 0.405 on\n", ["", "on"]),
        (CHANNELS, "hyp.ctm", "sw1 A 0.1 0.2 hello\nsw1 B 0.2 0.2 bye\n", ["hello", "bye"]),
        (MEETINGS, "hyp.stm", "m1 1 A 0 1.5 <o, f0, male> turn { left / right }\n", ["turn left", "", ""]),
    ],
)
def test_which_segment_words_belong_to(load, where, name, content, expected):
    values, _ = load(content, name).look_up(where, "")
    assert values["transcript"].tolist()[: len(expected)] == expected


def test_words_that_could_belong_to_several_are_refused(load):
    words = "line 1: 'who' from .* several segments that overlap"
    channels = "line 2: words of the channels 'A' and 'B' .* segment of 'x/sw1.wav'. Give one channel"
    one = corpus(("x/sw1.wav", NAN, NAN))
    for where, name, content, why in (
        (OVERLAPPING, "hyp.stm", "m1 1 x 4.5 5.5 who\n", words),
        (OVERLAPPING, "hyp.ctm", "m1 1 5.1 0.2 who\n", words),
        (one, "hyp.ctm", "sw1 A 0.1 0.2 hello\nsw1 B 0.2 0.2 bye\n", channels),
    ):
        with pytest.raises(InputError, match=f"^{name} {why}"):
            load(content, name).look_up(where, "")
    words = "here is 'm9' from 0.5 s to 1.5 s, in the corpus 'm1.wav' from 0 s"
    assert words in str(load("m9 1 A 0.5 1.5 on\nm8 1 A 2 3 off\n", "hyp.stm").misfit([MEETINGS]))


SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 5)), min_size=1, max_size=7)
ITEMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 14), st.integers(0, 4)), min_size=1, max_size=7)


@settings(max_examples=50)
@given(SPANS, ITEMS, st.booleans())
def test_spans_agree_with_looking_at_each_segment(segments, items, words):
    group, start, length = np.array(segments, dtype=float).T
    spans = pd.DataFrame({"group": group.astype(int), "start": start, "end": start + length})
    theirs, begin, long = np.array(items, dtype=float).T
    times = pd.DataFrame({"group": theirs.astype(int), "start": begin, "end": begin + long})
    for holder, (file, low, more) in zip(
        timed_transcripts.holders(spans, times, words=words), items, strict=True
    ):
        high = low + more
        held = [n for n, (g, s, d) in enumerate(segments) if g == file and s <= (low + high) / 2 < s + d]
        if not words:  # a line has to lie inside
            held = [n for n in held if segments[n][1] <= low and sum(segments[n][1:]) >= high]
            same = [n for n in held if segments[n][1:] == (low, more)]
            held = same if len(same) == 1 else held
        assert holder == (held[0] if len(held) == 1 else -2 if held else -1)
    for touched, (file, low, more) in zip(timed_transcripts.reached(spans, times), segments, strict=True):
        assert touched == any(g == file and s < low + more and s + n > low for g, s, n in items)


def test_confidences_that_are_none_are_not_used(load):
    for first, second, reasons in (
        ("0.5", "-12.5", ["line 2: -12.5 is not from 0 to 1"]),
        ("1.25", "sure", ["line 1: 1.25 is not from 0 to 1"]),
        ("0.5", "sure", ["line 2: 'sure' is not a number"]),
        ("1.00", "1", ["all of them are 1"]),
        ("NA", "nan", []),
    ):
        model = load(f"m1 1 0.1 0.3 go {first}\nm1 1 0.6 0.3 go {second}\n", "hyp.ctm")
        values, _ = model.look_up(MEETINGS, "")
        assert [*values] == ["transcript"] and values["transcript"][0] == "go go"
        assert model.remarks == [f"the confidences of hyp.ctm are not used: {why}" for why in reasons]


def test_labels_are_told_line_by_line_and_lines_not_to_be_scored_are_counted():
    for lines, texts, remarks in (
        (["<O,F0> turn", "", "<o> left"], ["turn", "", "left"], []),
        (["<O,F0> turn", "right", "<o>"], ["turn", "right", ""], ["2 of 3 lines of x begin with a label"]),
        (["turn <x>", "< x > right", "<x>left"], ["turn <x>", "< x > right", "<x>left"], []),
        (
            ["<o> a", "<o> IGNORE_TIME_SEGMENT_IN_SCORING"],
            ["a"],
            ["lines of x that say that they are not to be scored: 1"],
        ),
    ):
        stm = "".join(f"m1 1 A {n} {n + 1} {line}\n" for n, line in enumerate(lines))
        timed = read(stm.encode(), "x", "stm")
        assert timed.items["text"].tolist() == texts
        assert [remark[: len(words)] for remark, words in zip(timed.remarks, remarks, strict=True)] == remarks


def test_what_a_line_of_a_ctm_may_leave_out():
    """Channel, confidence, type and speaker, each line by itself."""
    ctm = (
        "m1 1 0.0 0.5 turn\nm1 1 0.5 0.5 left 1\nm1 1.0 0.5 now\nm1 1.5 0.5 please 0.0\n"
        "m1 1 2.0 0.5 um 0.7 fp A\nm1 1 2.5 0.5 [cough] 0.2 non-lex null\nm1 1 3.0 0.5 7 NA lex A\n"
        "m1 1 3.5 0.5 8\nm1 1 4.0 0.5 9 0.3 lex Unknown\nm1 1 4.5 0.5 [door] 0.2 MISC\n"
    )
    timed = read(ctm.encode(), "x", "ctm")
    assert timed.items["text"].tolist() == ["turn", "left", "now", "please", "um", "7", "8", "9"]
    assert list(timed.items["channel"]) == ["1", "1", "", "", *["1"] * 4]
    assert list(timed.items["speaker"]) == ["", "", "", "", "A", "A", "", ""]
    np.testing.assert_array_equal(timed.items["confidence"], [NAN, 1, NAN, 0, 0.7, NAN, NAN, 0.3])
    assert timed.items["start"].tolist() == [0, 0.5, 1, 1.5, 2, 3, 3.5, 4]
    (remark,) = timed.remarks
    assert remark == "left out, as their type says that they are no words: 2 of x, such as '[cough]'"


def test_reading_agrees_with_meeteval():
    meeteval = pytest.importorskip("meeteval")
    for form, text in (("stm", STM.replace("   ", " ")), ("ctm", CTM.replace("<ALT", ";; <ALT"))):
        text = "".join(line + "\n" for line in text.splitlines() if ";;" not in line and line.strip())
        ours = read(text.encode(), "x", form).items
        kind = {"stm": meeteval.io.STM, "ctm": meeteval.io.CTM}[form]
        theirs = kind.parse(text).to_seglst().segments
        assert ours["text"].tolist() == [item["words"] for item in theirs]
        assert list(ours["recording"]) == [item["session_id"] for item in theirs]
        assert ours["start"].tolist() == [float(item["start_time"]) for item in theirs]
        np.testing.assert_allclose(ours["end"], [float(item["end_time"]) for item in theirs])
    items = [item | {"start_time": n, "end_time": n + 1.5} for n, item in enumerate(SEGLST)]
    stm = meeteval.io.STM.new(meeteval.io.SegLST(items)).dumps()
    one = read(stm.encode(), "x", "stm").items
    other = read(json.dumps(items).encode(), "x", "seglst").items
    for name in ("text", "recording", "speaker", "start", "end"):
        assert list(one[name]) == list(other[name])
