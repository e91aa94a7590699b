import json
from types import SimpleNamespace

import answer_files
import numpy as np
import pytest
from answer_files import NAN, loaded, suite_of
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError
from soundcheck.metrics.word_errors import word_errors
from soundcheck.models.base import check_model
from soundcheck.models.tables.timed_texts import read_timed_texts
from soundcheck.models.tables.timed_transcripts import Spans, TimedTranscripts
from soundcheck.suite.entries import ModelEntry

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
    {"session_id": "m1", "speaker": "B", "start_time": 1.5, "end_time": 3.0, "words": "switch on"},
    {"session_id": "m2", "speaker": "A", "start_time": 0.0, "end_time": 2.5, "words": ""},
]


def corpus(*rows: tuple, **more: object) -> SimpleNamespace:
    """Make a corpus of (file, start, end); files last four seconds."""
    known = [(*row, (4.0 if np.isnan(row[2]) else row[2]) - np.nan_to_num(row[1])) for row in rows]
    return answer_files.corpus(*known, **more)


MEETINGS = corpus(
    ("m1.wav", 0, 1.5), ("m1.wav", 1.5, 3), ("m1.wav", 3, 4), ("m2.wav", NAN, 2.5), ("m3.wav", NAN, NAN)
)


@pytest.fixture
def load(tmp_path):
    return lambda content, name="hyp.stm", tasks=("transcript",): loaded(tmp_path, content, name, tasks)


def answers(model: TimedTranscripts, demo: SimpleNamespace) -> list[str | None]:
    return model.look_up(demo, "")[0]["transcript"].tolist()


# Answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n"), str.rstrip])
def test_lines_are_joined_in_their_segments(load, change):
    model = load(change(STM))
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == ["turn left", "switch   on", "the light please", "", None]
    assert problems == [""] * 4 + ["not asked: no line in hyp.stm"]
    assert model.notices([MEETINGS]) == []


def test_words_belong_to_the_segment_that_holds_their_middle(load):
    model = load(CTM, "hyp.ctm")
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == ["turn left", "switch", "the light", "", None]
    assert problems[-1] == "not asked: no word in hyp.ctm"
    assert model.notices([MEETINGS]) == [
        "1 word belongs to no segment of the corpora",
        "1 segment has no words in hyp.ctm: nothing was recognised there",
    ]


def test_confidences_of_words_are_those_of_the_sixth_column(load):
    found, _ = load(CTM, "hyp.ctm").look_up(MEETINGS, "")
    words = found["transcript.words"].tolist()
    assert words == ['[["turn", 0.98], ["left", 0.97]]', None, None, None, None]  # of the others one has none
    assert [*load(STM).look_up(MEETINGS, "")[0]] == ["transcript"]


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        (("0.5", "-12.5"), "line 2: -12.5 is not from 0 to 1"),
        (("1.5", "0.5"), "line 1: 1.5 is not from 0 to 1"),
        (("0.5", "sure"), "line 2: 'sure' is not a number"),
        (("1.00", "1"), "all of them are 1"),
        (("NA", "NA"), ""),
    ],
)
def test_confidences_that_are_none_are_told_and_not_used(load, numbers, told):
    lines = [f"m1 1 {place} 0.3 go {number}" for place, number in zip((0.1, 0.6), numbers, strict=True)]
    model = load("\n".join(lines), "hyp.ctm")
    found, _ = model.look_up(MEETINGS, "")
    assert [*found] == ["transcript"] and found["transcript"][0] == "go go"
    notices = [one for one in model.notices([MEETINGS]) if "confidences" in one]
    assert notices == ([f"the confidences of hyp.ctm are not used: {told}"] if told else [])


@pytest.mark.parametrize("name", ["hyp.seglst.json", "hyp.json", "hyp.txt"])
def test_a_list_of_segments(load, name):
    model = load(SEGLST, name)
    assert answers(model, MEETINGS) == ["turn left", "switch on", "", "", None]
    assert model.notices([MEETINGS]) == [
        f"1 segment has no words in {name}: nothing was recognised there",
    ]


def test_what_lies_across_segments_is_no_answer(load):
    model = load("m1 1 A 0.1 1.2 turn left\nm1 1 A 1.4 2.9 switch it on\nm1 1 A 3.1 3.3 light\n")
    values, problems = model.look_up(MEETINGS, "")
    assert values["transcript"].tolist() == [None, None, "light", None, None]
    assert problems[:3] == ["hyp.stm has words across its start or end"] * 2 + [""]
    assert model.notices([MEETINGS]) == ["1 line belongs to no segment of the corpora"]


def test_times_may_be_rounded(load):
    model = load("m1 1 A -0.0 1.509 turn left\nm1 1 A 1.491 3.0 on\nm1 1 A 2.98 4.0 late\n")
    assert answers(model, MEETINGS) == ["turn left", None, None, None, None]
    assert answers(load("m1 1 A 1.491 3.0 on\nm1 1 A 2.991 4.009 late\n"), MEETINGS)[1:3] == ["on", "late"]


def test_words_of_a_recording_of_unknown_length(load):
    """A corpus without audio may not know where its files end."""
    demo = corpus(("m1.wav", NAN, NAN))
    demo.segments["duration"] = NAN
    assert answers(load(CTM, "hyp.ctm"), demo) == ["turn left switch the light"]
    assert answers(load(STM), demo) == ["turn left switch   on the light please"]


def test_segments_that_overlap(load):
    demo = corpus(("m1.wav", 0, 10), ("m1.wav", 4, 6), ("m1.wav", 5, 12), speaker=["A", "B", "C"])
    speakers = "m1 1 A 4.5 5.5 by a\nm1 1 B 4.5 5.5 by b\nm1 1 C 5.1 5.5 by c\n"
    assert answers(load(speakers), demo) == ["by a", "by b", "by c"]
    times = "m1 1 spk0 0 10 by a\nm1 1 spk1 4 6 by b\nm1 1 spk2 5 12 by c\n"
    assert answers(load(times), demo) == ["by a", "by b", "by c"]
    assert answers(load("m1 1 x 3 5 only a\nm1 1 x 7 11 only c\n"), demo)[::2] == ["only a", "only c"]
    for content, name in (("m1 1 x 4.5 5.5 who\n", "hyp.stm"), ("m1 1 5.1 0.2 who\n", "hyp.ctm")):
        with pytest.raises(InputError, match=f"{name} line 1: 'who' from .* several segments that overlap"):
            load(content, name).look_up(demo, "")
    rounded = corpus(("m1.wav", 0, 2.005), ("m1.wav", 2, 4))
    assert answers(load("m1 1 1.8 0.405 on\n", "hyp.ctm"), rounded) == ["", "on"]


def test_channels_are_files_or_refused(load):
    words = "sw1 A 0.1 0.2 hello\nsw1 B 0.2 0.2 bye\n"
    demo = corpus(("sw1-A.wav", NAN, NAN), ("sw1_B.wav", NAN, NAN))
    assert answers(load(words, "hyp.ctm"), demo) == ["hello", "bye"]
    told = "line 2: words of the channels 'A' and 'B' .* segment of 'x/sw1.wav'"
    with pytest.raises(InputError, match=told):
        load(words, "hyp.ctm").look_up(corpus(("x/sw1.wav", NAN, NAN)), "")


def test_nothing_matches(load, tmp_path):
    load(STM)
    suite = suite_of(tmp_path)
    entry = ModelEntry("theirs", "predictions", "hyp.stm", ("transcript",), path=tmp_path / "hyp.stm")
    words = "hyp.stm line 2: no line belongs to a segment: .* 'm1', from 0 to 1.5 s, .* corpus 'x.wav'"
    with pytest.raises(InputError, match=words):
        check_model(entry, suite, [corpus(("x.wav", NAN, NAN))])
    assert check_model(entry, suite) == check_model(entry, suite, [MEETINGS])


def test_changed_signals_and_other_tasks_are_refused(load):
    assert not load(STM).changes_audio
    with pytest.raises(ValueError, match="changed signals"):
        load(STM).look_up(MEETINGS, "noise")
    with pytest.raises(InputError, match=r"transcripts only \(its name ends in .stm\).*tasks arousal"):
        load(STM, tasks=("arousal",))
    assert len({load(STM).fingerprint, load(STM + ";;").fingerprint, load(CTM, "x.ctm").fingerprint}) == 3


def naive(segments: list[tuple], start: float, end: float, words: bool) -> set[int]:
    """Say which segments hold the middle of an item, and hold all of it if it is a line."""
    middle = (start + end) / 2
    held = [number for number, (low, high) in enumerate(segments) if low <= middle < high]
    if words:
        return {*held}
    return {n for n in held if segments[n][0] <= start + 0.01 and segments[n][1] >= end - 0.01}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 5)), min_size=1, max_size=7),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 14), st.integers(0, 4)), min_size=1, max_size=7),
    st.booleans(),
)
def test_spans_agree_with_looking_at_each_segment(segments, items, words):
    group, start, length = (np.array(column) for column in zip(*segments, strict=True))
    spans = Spans(group, start.astype(float), (start + length).astype(float))
    theirs, begin, long = (np.array(column) for column in zip(*items, strict=True))
    found = spans.holders(theirs, begin.astype(float), (begin + long).astype(float), words)
    touched = spans.touched(theirs, begin.astype(float), (begin + long).astype(float))
    for number, (own, low, more) in enumerate(items):
        of_group = [(s, s + n) if g == own else (-9, -8) for g, s, n in segments]
        held = naive(of_group, low, low + more, words)
        same = [n for n in held if of_group[n] == (low, low + more)]
        if len(held) == 1 or (len(same) == 1 and not words):
            assert {found[number]} == set(same if len(same) == 1 and not words else held)
        else:
            assert found[number] == (-2 if held else -1)
    for number, (own, low, more) in enumerate(segments):
        assert touched[number] == any(g == own and s < low + more and s + n > low for g, s, n in items)


def test_many_lines_of_one_recording_are_quick(load):
    count = 50_000
    lines = [f"m1 1 A {n} {n + 1} word{n}\n" for n in range(count)]
    demo = corpus(*[("m1.wav", n, n + 1) for n in range(count)])
    assert answers(load("".join(reversed(lines))), demo) == [f"word{n}" for n in range(count)]


# What is wrong ----------------------------------------------------------------------------------------------


def entry(**changes: object) -> list[dict]:
    item = SEGLST[0] | changes
    return [SEGLST[1], {name: value for name, value in item.items() if value is not ...}]


REFUSED = [
    ("x.stm", "", "no words with times"),
    ("x.stm", ";; nothing\n", "no words with times. Expected is `meeting1 1 speaker1 0.50 2.25 turn left`"),
    ("x.stm", "m1 1 A 0 1 a\nm1 1 A 0\n", "line 2: 'm1 1 A 0' has 4 columns, not five or more"),
    ("x.stm", "m1 1 A 2 1 a\n", "line 1: the end, 1 s, is before the start, 2 s"),
    ("x.stm", "m1 1 A -2 1 a\n", "line 1: -2 s is negative"),
    ("x.stm", "m1 1 A 0,5 1 a\n", r"line 1: a time: '0,5' is not a number \(write a point"),
    ("x.stm", "m1 1 A nan 1 a\n", "line 1: a time: 'nan' is not a number"),
    ("x.stm", "m1 1 A 0 1 { a / b\n", "line 1: a brace is not closed"),
    ("x.stm", CTM, "a time: '.*' is not a number.* There are 14 of this kind"),
    ("x.stm", json.dumps(SEGLST), "is not a number"),
    ("x.stm", "turn left (a)\n", "line 1: .* has 3 columns"),
    ("x.stm", "m1 1 A 0 1 a\nm1 1 A 0 1 \xe4\n".encode("latin-1"), "line 2: byte 24 is not UTF-8"),
    ("x.ctm", STM, "a time: 'B' is not a number"),
    ("x.ctm", "m1 1 0.5 0.2\n", "has 4 columns, not five to eight"),
    ("x.ctm", "m1 1 A 0 1\n", "line 1: a time: 'A' is not a number"),
    ("x.ctm", "m1 1 2 -1 a\n", "line 1: a duration of -1 s is negative"),
    ("x.ctm", "m1 1 -2 1 a\n", "line 1: -2 s is negative"),
    ("x.ctm", "m1 1 * * <ALT>\n", "line 1: <ALT> stands without <ALT_BEGIN>"),
    ("x.ctm", "m1 1 * * <ALT_BEGIN>\nm1 1 * * <ALT_BEGIN>\n", "line 2: alternatives begin inside of others"),
    ("x.ctm", "m1 1 1 1 a\nm1 1 * * <ALT_BEGIN>\n", "line 2: the alternatives that begin here do not end"),
    ("x.json", b"", "the file has no line"),
    ("x.json", b"[]", "no words with times"),
    ("x.json", entry(words=...), "entry 2, field words: the field is missing"),
    ("x.json", entry(words=None), "entry 2, field words: the field is null"),
    ("x.json", entry(words=["a"]), "entry 2, field words: .* is a list, not a text"),
    ("x.json", entry(speaker="\ud800"), "entry 2, field speaker: .* holds half a character"),
    ("x.json", entry(session_id=7), "entry 2, field session_id: '7' is a number, not a text"),
    ("x.json", entry(start_time=...), "entry 2, field start_time: the field is missing"),
    ("x.json", entry(start_time="early"), "entry 2: a time: 'early' is not a number"),
    ("x.json", entry(start_time=""), "entry 2: a time: the text is empty"),
    ("x.json", entry(start_time=True), "entry 2, field start_time: .* is true or false"),
    ("x.json", entry(end_time=-1), "entry 2: -1 s is negative"),
    ("x.json", entry(start_time=3), "entry 2: the end, 1.5 s, is before the start, 3 s"),
    ("x.json", [{"audio_filepath": "a.wav", "pred_text": "x"}], "these are results of NeMo. Give one"),
    ("x.json", [3], "entry 1: this is a number, not an object"),
    ("x.json", json.dumps(SEGLST).replace('"words"', '"speaker"'), "the key 'speaker' stands twice"),
    ("x.json", json.dumps(SEGLST)[:-1], "is no JSON"),
]


@pytest.mark.parametrize(("name", "content", "words"), REFUSED)
def test_refused(load, name, content, words):
    with pytest.raises(InputError, match=rf"^{name}[\s\S]*{words}"):
        load(content, name)


def test_times_may_be_clocks_as_in_chime(load):
    entry = {"session_id": "m1", "start_time": "0:00:00.00", "end_time": "0:00:01.50", "words": "turn left"}
    assert answers(load([entry], "hyp.json"), MEETINGS)[0] == "turn left"


def test_a_label_may_have_blanks_behind_commas(load):
    assert answers(load("m1 1 A 0 1.5 <o, f0, male> turn left\n"), MEETINGS)[0] == "turn left"


def texts_of(stm: str) -> list[str]:
    return read_timed_texts(stm.encode(), "x", "stm").items["text"].tolist()


def test_labels_and_ignored_lines(load):
    stm = "m1 1 A 0 1.5 <o,f0,male> turn { left / right } {@/x}\n"
    assert read_timed_texts(stm.replace(" {@/x}", "").encode(), "x", "stm").items["text"].tolist() == [
        "turn left"
    ]
    mixed = "m1 1 A 0 1.5 <O,F0> turn\nm1 1 A 1.5 2 left\n"
    assert texts_of(mixed) == ["turn", "left"]
    ignored = "m1 1 A 0 1.5 <o> turn\nm1 1 A 1.5 3 <o> IGNORE_TIME_SEGMENT_IN_SCORING\nm1 1 A 3 4 <o>\n"
    model = load(ignored)
    assert answers(model, MEETINGS)[:3] == ["turn", "", ""]
    assert "1 line of hyp.stm says that it is not to be scored" in model.notices([MEETINGS])


@pytest.mark.parametrize(
    ("lines", "texts", "remark"),
    [
        (["<O,F0> turn", "", "<o> left"], ["turn", "", "left"], ""),
        (
            ["<O,F0> turn", "right", "<o>"],
            ["turn", "right", ""],
            "2 of 3 lines of x begin with a label such as <O,F0>",
        ),
        (["turn <x>", "< x > right", "<x>left"], ["turn <x>", "< x > right", "<x>left"], ""),
    ],
)
def test_labels_are_told_line_by_line(lines, texts, remark):
    stm = "".join(f"m1 1 A {n} {n + 1} {line}\n" for n, line in enumerate(lines))
    found = read_timed_texts(stm.encode(), "x", "stm")
    assert found.items["text"].tolist() == texts
    assert [told[: len(remark)] for told in found.remarks] == ([remark] if remark else [])


def test_what_a_line_of_a_ctm_may_leave_out():
    """Channel, confidence, type and speaker, each line by itself."""
    ctm = (
        "m1 1 0.0 0.5 turn\nm1 1 0.5 0.5 left 0.9\nm1 1.0 0.5 now\nm1 1.5 0.5 please 0.8\n"
        "m1 1 2.0 0.5 um 0.7 fp A\nm1 1 2.5 0.5 [cough] 0.2 non-lex null\nm1 1 3.0 0.5 7 NA lex A\n"
    )
    found = read_timed_texts(ctm.encode(), "x", "ctm")
    assert found.items["text"].tolist() == ["turn", "left", "now", "please", "um", "7"]
    assert list(found.items["channel"]) == ["1", "1", "", "", "1", "1"]
    assert list(found.items["speaker"]) == ["", "", "", "", "A", "A"]
    np.testing.assert_array_equal(found.items["confidence"], [NAN, 0.9, NAN, 0.8, 0.7, NAN])
    assert found.items["start"].tolist() == [0, 0.5, 1, 1.5, 2, 3]
    (remark,) = found.remarks
    assert remark == "left out, as their type says that they are no words: 1 of x, such as '[cough]'"


# Others -----------------------------------------------------------------------------------------------------


def test_reading_agrees_with_meeteval():
    meeteval = pytest.importorskip("meeteval")
    for form, text in (("stm", STM.replace("   ", " ")), ("ctm", CTM.replace("<ALT", ";; <ALT"))):
        text = "".join(line + "\n" for line in text.splitlines() if ";;" not in line and line.strip())
        ours = read_timed_texts(text.encode(), "x", form)
        kind = {"stm": meeteval.io.STM, "ctm": meeteval.io.CTM}[form]
        theirs = kind.parse(text).to_seglst().segments
        assert ours.items["text"].tolist() == [item["words"] for item in theirs]
        assert list(ours.items["recording"]) == [item["session_id"] for item in theirs]
        assert ours.items["start"].tolist() == [float(item["start_time"]) for item in theirs]
        np.testing.assert_allclose(ours.items["end"], [float(item["end_time"]) for item in theirs])
    items = [item | {"end_time": float(item["end_time"])} for item in SEGLST]
    written = meeteval.io.STM.new(meeteval.io.SegLST(items)).dumps()
    one, other = (
        read_timed_texts(written.encode(), "x", "stm"),
        read_timed_texts(json.dumps(SEGLST).encode(), "x", "seglst"),
    )
    for name in ("text", "recording", "speaker"):
        assert list(one.items[name]) == list(other.items[name])
    assert one.items["end"].tolist() == other.items["end"].tolist() == [1.5, 3.0, 2.5]


def test_word_errors_agree_with_meeteval(load):
    meeteval = pytest.importorskip("meeteval")
    references = ["turn right now", "switch the light on", "the light please", "quiet"]
    ours = answers(load(STM), MEETINGS)[:4]
    pairs = list(zip(references, ours, strict=True))
    theirs = [meeteval.wer.wer.siso.siso_word_error_rate(*pair).errors for pair in pairs]
    assert word_errors(references, ours).errors.tolist() == theirs == [2, 2, 0, 1]
