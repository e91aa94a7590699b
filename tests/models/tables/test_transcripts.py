"""Transcripts in formats of recognisers: ``.trn`` of SCTK, ``text`` of Kaldi, JSON Lines of NeMo."""

import json
import os

import pytest
from answer_files import NAN, corpus, files, suite_of
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import TEXT_LIMIT
from soundcheck.models.tables.table import TableModel
from soundcheck.models.tables.transcripts import read_results, read_transcripts, transcript_format
from soundcheck.suite.entries import ModelEntry

TRN = ";; by our recogniser\nturn left (a)\n(b)\n\nswitch   the light\ton (sub-c)\n"
KALDI = "sub-c switch the light on\na turn left\n\nb\n"
CSV = "file,transcript\na.wav,turn left\nb.wav,\nsub/c.wav,switch the light on\n"


def read(content: str, form: str = "trn") -> dict[str, str]:
    rows = read_transcripts(content.encode(), "hyp", form, [BUILTIN["transcript"]])
    return dict(zip(rows.names, rows.answers["transcript"], strict=True))


def transcripts(model: TableModel, where) -> list[str | None]:
    return model.look_up(where, "")[0]["transcript"].tolist()


@pytest.mark.parametrize(
    ("content", "name", "noun"),
    [
        (TRN, "hyp.trn", "utterance"),
        (KALDI, "text", "utterance"),
        (CSV, "answers", "row"),
        (CSV.replace(",", "\t"), "hyp.txt", "row"),
    ],
)
@pytest.mark.parametrize("change", [str.rstrip, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
def test_all_formats_give_the_same_transcripts(load, content, name, noun, change):
    model = load(change(content), name)
    values, problems = model.look_up(files("a.wav", "b.wav", "sub/c.wav", "d.wav"), "")
    assert values["transcript"].tolist() == ["turn left", "", "switch the light on", None]
    assert problems == ["", "", "", f"not asked: no {noun} in {name}"]
    assert model.notices([files("a.wav", "b.wav")]) == [f"1 {noun} belongs to no segment of the corpora"]


def test_words_of_trn():
    for words, transcript in (
        ("turn { left / right } now", "turn left now"),
        ("{ @ / um } turn @ { the long way / @ }", "turn the long way"),
        ("{ { a / b } c / { d / e } f } g", "a c g"),
        ("(%HESITATION) so %HESITATION {  (%uh)  /  @ }", "%HESITATION so %HESITATION %uh"),
        ("either / or :) (laughs) a@b {x}", "either / or :) (laughs) a@b {x}"),
        ("Ümlaut <script>alert(1)</script> \x07\x1b[31m ;; & 你好", None),
        ("a\u2028b\x0bc\x1cd\x85e\u00a0f", None),  # no ends of lines, and no blanks
    ):
        assert read(f"{words} (s01-a)\nnext(s01-b)") == {"s01-a": transcript or words, "s01-b": "next"}


def test_ids_of_trn_may_hold_parentheses_and_blanks_and_words_of_kaldi_are_kept():
    assert read("x (take (2))\ny ( sub/my file )\n:( (c)") == {"take (2)": "x", "sub/my file": "y", "c": ":("}
    text = "a\tTurn  LEFT \n  b { @ / x } (%UH) ;; (a)\n;; comment\nc \u00a0\x07<b>x</b>\x85y\n"
    expected = {"a": "Turn  LEFT", "b": "{ @ / x } (%UH) ;; (a)", ";;": "comment", "c": "\x07<b>x</b>\x85y"}
    assert read(text, "kaldi") == expected


WORD = (
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\0"), min_size=1, max_size=6)
    .filter(lambda word: word == word.strip() and word not in ("{", "}", "/", "@"))
    .filter(lambda word: not word.startswith(("(%", "\ufeff", ";;")))
)
UTTERANCES = st.dictionaries(
    st.from_regex(r"[a-zA-Z0-9][\w./-]{0,8}", fullmatch=True),
    st.lists(WORD, max_size=5).map(" ".join),
    min_size=1,
    max_size=6,
)


@given(UTTERANCES, st.sampled_from(["\n", "\r\n", "\r", "\n\n \t\n"]))
def test_what_is_written_is_read_back(utterances, end):
    trn = end.join(f"{words} ({name})" for name, words in utterances.items())
    kaldi = end.join(f"{name} {words}" for name, words in sorted(utterances.items()))
    assert read(trn) == read("\ufeff" + trn) == read(kaldi, "kaldi") == utterances


def test_deep_braces_are_quick():
    assert read("{ " * 50_000 + "a " * 50_000 + "} " * 50_000 + "(x)")["x"].split() == ["a"] * 50_000


def test_endless_transcripts_are_no_prediction(load):
    fine, long = "x" * TEXT_LIMIT, "x " * (TEXT_LIMIT // 2) + "xy"
    values, problems = load(f"a {fine}\nb {long}\n", "text").look_up(files("a.wav", "b.wav"), "")
    assert values["transcript"].tolist() == [fine, None]
    what = f"text has a text of {TEXT_LIMIT + 2} characters for transcript"
    assert problems == ["", f"{what}; at most {TEXT_LIMIT} are a transcript"]


def test_name_and_content_decide_the_format():
    for name, content, form in (
        ("hyp.TRN", b"file,transcript\n", "trn"),
        ("hyp.txt", b"a open the file, please\n", "kaldi"),
        ("text", b"\xef\xbb\xbf\r\n\n transcript , file\r\n", ""),
        ("text.Parquet", b"a turn left\n", ""),
        ("text", b"PAR1", ""),
    ):
        assert transcript_format(name, content) == form


def test_nothing_but_regular_files_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.trn")
    entry = ModelEntry("theirs", "predictions", "pipe.trn", ("transcript",), path=tmp_path / "pipe.trn")
    with pytest.raises(InputError, match="^pipe.trn: this is not a regular file"):
        TableModel.load(entry, suite_of(tmp_path))


def test_fingerprint_is_content_and_format(load):
    known = [(TRN, "a.trn"), (TRN + "x (y)", "a.trn"), (TRN, "a"), (KALDI, "a"), (CSV, "a"), (TRN, "b.trn")]
    prints = [load(content, name).fingerprint for content, name in known]
    assert len(set(prints)) == 5 and prints[0] == prints[-1]


def test_a_check_refuses_a_file_of_other_recordings(check):
    for name, content, words in (
        ("text", "\nq-1 turn left\n", "line 2: no utterance belongs .* 'q-1', in .* 'a.wav'"),
        ("hyp.jsonl", '{"audio_filepath": "q.wav", "pred_text": ""}', "line 1.*: no line .*'q.wav'.*'b.wav'"),
        ("hyp.jsonl", '{"audio_filepath": "sample_0", "pred_text": ""}', "line 1.*'sample_0'.* 'a.wav'"),
        ("hyp.stm", ";;\nm1 1 A 0 1.5 on\n", "line 2: no line belongs .* 'm1' from 0 s to 1.5 s, .* 'a.wav'"),
    ):
        with pytest.raises(InputError, match=f"^{name} {words}"):
            check(content, name, [files("a.wav", "b.wav")])
        known = files("a/q-1.wav", "q.wav", "sample_0.wav", "m1.wav")
        assert check(content, name, []) == check(content, name, [known])


def lines(*items: dict) -> str:
    """Write lines as the Open ASR Leaderboard does."""
    usual = {"duration": 2.0, "time": 0.5, "text": "turn left", "pred_text": "turn left"}
    return "".join(json.dumps(usual | item, ensure_ascii=False) + "\n" for item in items)


def line(path: str, **more: object) -> dict:
    return {"audio_filepath": path, **more}


@pytest.mark.parametrize("name", ["manifest.json", "results.txt"])
def test_results_of_a_leaderboard(load, name):
    texts = {"s2/b": "  two words ", "s1/a": "", "s3/c": None, "s9/z": "more"}
    model = load(lines(*(line(f"/data/ls/test/{name}.flac", pred_text=texts[name]) for name in texts)), name)
    where = files("s1/a.wav", "s2/b.wav", "s3/c.wav", "s4/d.wav")
    values, problems = model.look_up(where, "")
    assert values["transcript"].tolist() == ["", "two words", None, None]
    assert problems == ["", "", f"{name} has no value for transcript", f"not asked: no line in {name}"]
    assert model.notices([where]) == [
        "1 line belongs to no segment of the corpora",
        f"3 names in {name} are not written like their files "
        "('/data/ls/test/s1/a.flac' is taken for 's1/a.wav')",
        f"{name} tells of computing times, 2 s for 8 s of sound: 4 times real time, as given",
    ]


def test_speed_is_told_of_lines_that_have_both_times(load):
    items = [line("a.wav", time=1.0), line("b.wav", time=None), line("c.wav", duration=None)]
    items.append(line("d.wav", offset=1, end=3.5, duration=None))
    where = corpus(*[(f"{name}.wav", NAN, NAN) for name in "abc"], ("d.wav", 1.0, 3.5))
    model = load(lines(*items), "results.jsonl")
    assert model.computing_times.tolist() == [[1.0, 0.5], [2.0, 2.5]]
    (notice,) = model.notices([where])
    assert notice.endswith("1.5 s for 4.5 s of sound (2 of 4 lines): 3 times real time, as given")
    for time in (None, 0):
        assert load(lines(line("a.wav", time=time)), "results.jsonl").notices([files("a.wav")]) == []


def test_times_of_lines_tell_segments_of_a_file_apart():
    where = corpus(("a.wav", 0, 1.5), ("a.wav", 1.5, NAN), ("b.wav", NAN, NAN))

    def places_of(*items: dict) -> list[int]:
        return read_results(lines(*items).encode(), "results.jsonl", ()).find(where).tolist()

    first, second = line("/d/a.wav", offset=0, duration=1.5), line("/d/a.wav", offset=1.495, duration=2.004)
    rounded = line("b.wav", offset=0, duration=1.93)  # the only one of its file
    assert places_of(second, first, rounded) == [1, 0, 2]
    assert places_of(line("a.wav", start=0.02, end=1.5), line("b.wav")) == [-1, -1, 1]
