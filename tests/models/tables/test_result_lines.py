import json
from types import SimpleNamespace

import pytest
from answer_files import NAN, corpus, files, loaded, suite_of

from soundcheck.common.errors import InputError
from soundcheck.models.base import check_model
from soundcheck.models.tables.table import TableModel
from soundcheck.models.tables.transcripts import read_results
from soundcheck.suite.entries import ModelEntry


def lines(*items: dict) -> bytes:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()


def line(path: str, text: str | None = "turn left", **more: object) -> dict:
    """Make a line as the Open ASR Leaderboard writes it."""
    usual = {"audio_filepath": path, "duration": 2.0, "time": 0.5, "text": "turn left", "pred_text": text}
    return usual | more


@pytest.fixture
def model(tmp_path):
    return lambda content, name="results.jsonl": loaded(tmp_path, content, name)


def answers(model: TableModel, demo: SimpleNamespace) -> list[str | None]:
    return model.look_up(demo, "")[0]["transcript"].tolist()


def found(demo: SimpleNamespace, *items: dict) -> list[int]:
    return read_results(lines(*items), "results.jsonl", ()).rows[""].find(demo).tolist()


def test_results_of_a_leaderboard(model):
    content = lines(
        line("/data/ls/test/s2/b.flac", "  two words "),
        line("/data/ls/test/s1/a.flac", ""),
        line("/data/ls/test/s3/c.flac", None),
        line("/data/ls/test/s9/z.flac", "more"),
    )
    demo = files("s1/a.wav", "s2/b.wav", "s3/c.wav", "s4/d.wav")
    for name in ("results.jsonl", "manifest.json", "results.txt"):
        theirs = model(content, name)
        assert answers(theirs, demo) == ["", "two words", None, None]
        problems = theirs.look_up(demo, "")[1]
        assert problems == ["", "", f"{name} has no value for transcript", f"not asked: no line in {name}"]
        told = "2 s for 8 s of sound: 4 times real time, as given"
        assert theirs.notices([demo]) == [
            "1 line belongs to no segment of the corpora",
            f"3 names in {name} fit with another extension than that of the file "
            "('/data/ls/test/s1/a.flac' is taken for 's1/a.wav')",
            f"{name} tells of computing times, {told}",
        ]


def test_speed_is_told_of_lines_that_have_both(model):
    content = lines(line("a.wav"), line("b.wav", time=None), line("c.wav", duration=None))
    (told,) = model(content).notices([files("a.wav", "b.wav", "c.wav")])
    assert told.endswith("0.5 s for 2 s of sound (1 of 3 lines): 4 times real time, as given")
    (told,) = model(lines(line("a.wav", offset=1, end=3.5, duration=None))).notices(
        [corpus(("a.wav", 1, 3.5))]
    )
    assert "0.5 s for 2.5 s of sound:" in told
    assert model(lines(line("a.wav", time=None))).notices([files("a.wav")]) == []
    assert model(lines(line("a.wav", time=0))).notices([files("a.wav")]) == []


# Which file a path means ------------------------------------------------------------------------------------


def test_nothing_matches(model, tmp_path):
    model(lines(line("sample_0"), line("sample_1")))
    suite = suite_of(tmp_path)
    path = tmp_path / "results.jsonl"
    entry = ModelEntry("theirs", "predictions", path.name, ("transcript",), path=path)
    with pytest.raises(
        InputError, match="line 1.*: no line belongs.*'sample_0'.*It only numbers the utterances"
    ):
        check_model(entry, suite, [files("a.wav")])
    path.write_bytes(lines(line("x.wav")))
    with pytest.raises(
        InputError, match="no line belongs.*'x.wav', the most similar one in the corpus 'a.wav'"
    ):
        check_model(entry, suite, [files("a.wav")])


# Times ------------------------------------------------------------------------------------------------------


def test_times_tell_segments_of_a_file_apart():
    demo = corpus(("a.wav", 0, 1.5), ("a.wav", 1.5, NAN), ("b.wav", NAN, NAN))
    items = [
        line("/d/a.wav", offset=1.495, duration=2.004),
        line("/d/a.wav", offset=0, duration=1.5),
        line("b.wav", offset=0, duration=1.93),  # the only one of its file: rounded, perhaps
    ]
    assert found(demo, *items) == [1, 0, 2]
    assert found(demo, line("a.wav", start=0.02, end=1.5), line("b.wav")) == [-1, -1, 1]


def test_lines_without_times_need_files_of_one_segment():
    demo = corpus(("a.wav", 0, 1.5), ("a.wav", 1.5, NAN))
    with pytest.raises(
        InputError,
        match="line 1, field audio_filepath: the corpus has several segments of 'a.wav', the line has no",
    ):
        found(demo, line("/d/a.wav"))
    with pytest.raises(InputError, match="lines 1 and 2: the segment '/d/a.wav' is a dup"):
        found(files("a.wav"), line("/d/a.wav"), line("/d/a.wav"))


# What is wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file has no line"),
        (b"\n \n", "the file has no line"),
        (
            lines(line("a.wav"), {"pred_text": "x"}),
            "line 2, field audio_filepath: the field is missing or emp",
        ),
        (lines(line("a.wav"), line("")), "line 2, field audio_filepath: the field is missing or empty"),
        (
            lines({"audio_filepath": "a.wav", "text": "turn left"}),
            "line 1, field pred_text: no line has the field. text is the reference of a manifest",
        ),
        (lines({"path": "a.wav", "pred_text": "x"}), "field audio_filepath: .* There are: path, pred_text"),
        (lines({"session_id": "a", "words": "x"}), "looks like SegLST: give one JSON list"),
        (lines(line("a.wav", 3)), "line 1, field pred_text: '3' is a number, not a text"),
        (lines(line("a.wav", ["x"])), "field pred_text: .* is a list, not a text"),
        (lines(line("a.wav", duration="2.0")), "field duration: .* is a text, not a number"),
        (lines(line("a.wav", duration=True)), "field duration: 'true' is true or false, not a number"),
        (lines(line("a.wav", duration=-1)), "line 1, field duration: -1 s is negative"),
        (lines(line("a.wav", time=-0.5)), "field time: -0.5 s is negative"),
        (lines(line("a.wav", offset=3, end=2, duration=None)), "the end, 2 s, is not after the start, 3 s"),
        (lines(line("a.wav", offset=3, start=2)), "offset and start differ"),
        (lines(line("a.wav")).replace(b"2.0", b"NaN"), "line 1: NaN is not a finite number"),
        (lines(line("a.wav")).replace(b"2.0", b"1e999"), "field duration: 'inf' is not a finite"),
        (lines(line("a.wav")).replace(b'"time"', b'"duration"'), "line 1: the key 'duration' stands twice"),
        (lines(line("a.wav"), line("bä")).decode().encode("latin-1"), "line 2: byte .* is not UTF-8"),
        (lines(line("a.wav")) + b"[1]\n", "line 2: this is a list, not an object"),
        (lines(line("a.wav")) + b'{"audio_filepath": "b.wav", \n', "line 2: .* is no JSON"),
        (lines(line("a.wav")).rstrip() + b", " + lines(line("b.wav")), "line 1: .* is no JSON .Extra data"),
        (json.dumps(line("a.wav", "\ud800")).encode(), "line 1, field pred_text: .* half a character"),
        (b"file,transcript\na.wav,x\n", "line 1: 'file,transcript' is no JSON"),
        (b"[" * 100_000, "line 1: .* is no JSON that can be read"),
        (b"\x80\x04\x95", "a Python pickle, which is never opened"),
    ],
)
def test_refused(content, words):
    with pytest.raises(InputError, match=rf"^hyp.*{words}"):
        read_results(content, "hyp", ())
