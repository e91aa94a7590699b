"""Manifests of cuts, as Lhotse writes them."""

import gzip
import json

import pytest
from segment_rows import rows

from soundcheck.common import files

RECORDING = {
    **{"id": "rec1", "sources": [{"type": "file", "channels": [0], "source": "audio/rec1.wav"}]},
    **{"sampling_rate": 16000, "num_samples": 32000, "duration": 2.0, "channel_ids": [0]},
}
FIRST = {
    **{"id": "s1", "recording_id": "rec1", "start": 0.25, "duration": 0.5, "channel": 0},
    **{"text": "turn left", "speaker": "A", "gender": "Female", "language": "en"},
    "custom": {"emotion": "anger", "level": 0.5, "loud": True, "vector": {"type": "array"}},
}
SECOND = {"id": "s2", "recording_id": "rec1", "start": 1.0, "duration": 0.5, "speaker": "B", "text": ""}
CUT = {
    **{"id": "c1", "start": 0.5, "duration": 1.5, "channel": 0, "supervisions": [FIRST, SECOND]},
    **{"recording": RECORDING, "type": "MonoCut"},
}


@pytest.fixture
def load(tmp_path, load, tone):
    """Load a manifest of cuts, or of bytes: ``load([cut, ...])``."""
    for number, name in enumerate(("rec1", "rec2")):
        tone(tmp_path / "audio" / f"{name}.wav", number, seconds=2)

    def read(cuts, keys="", name="cuts.jsonl.gz"):
        if not isinstance(cuts, bytes):
            cuts = "".join(json.dumps(cut) + "\n" for cut in cuts).encode()
            cuts = gzip.compress(cuts) if name.endswith(".gz") else cuts
        return load(f"format: lhotse, path: {name}{keys}", {name: cuts})

    return read


@pytest.mark.parametrize("name", ["cuts.jsonl.gz", "cuts.jsonl", "other"])
def test_supervisions_of_a_cut(load, name):
    corpus = load([CUT], ", groups: [loud, {level: {low: [0, 1], high: [1, 2]}}]", name)
    columns = ("file", "start", "end", "item", "speaker", "sex", "language", "transcript", "emotion")
    assert rows(corpus, *columns) == [
        ("audio/rec1.wav", 0.75, 1.25, "s1", "A", "female", "en", "turn left", "anger"),
        ("audio/rec1.wav", 1.5, None, "s2", "B", None, None, " ", None),
    ]
    assert rows(corpus, "loud", "level", "duration") == [("True", 0.5, 0.5), (None, None, 0.5)]


def test_whole_recordings_and_cuts_without_supervisions(load):
    supervision = FIRST | {"start": 0.0, "duration": 1.9999}
    whole = CUT | {"start": 0, "duration": 2.0, "supervisions": [supervision]}
    other = RECORDING | {"id": "rec2", "sources": [RECORDING["sources"][0] | {"source": "audio/rec2.wav"}]}
    bare = CUT | {"id": "c2", "supervisions": [], "recording": other}
    corpus = load([whole, bare])
    assert rows(corpus, "file", "start", "end", "speaker") == [("audio/rec1.wav", None, None, "A")]
    assert [item.item for item in corpus.left_out] == ["audio/rec2.wav 0.5"]  # nobody says who speaks
    del supervision["speaker"]
    assert rows(load([whole, bare]), "item", "start", "end") == [("s1", None, None), ("c2", 0.5, None)]


def test_what_lhotse_writes_is_read(load, refused, tone, tmp_path):
    lhotse = pytest.importorskip("lhotse")
    recordings = [lhotse.Recording.from_file(tmp_path / "audio" / f"{name}.wav") for name in ("rec1", "rec2")]
    labels = {"duration": 0.5, "gender": "M", "language": "de"}
    supervisions = [
        lhotse.SupervisionSegment(
            **{"id": f"{recording.id}-{number}", "recording_id": recording.id, "start": number * 0.6},
            **{"text": f"word {number}", "speaker": f"s{number}", **labels},
        )
        for recording in recordings
        for number in range(3)
    ]
    cuts = lhotse.CutSet.from_manifests(
        lhotse.RecordingSet.from_recordings(recordings), lhotse.SupervisionSet.from_segments(supervisions)
    )
    tone(tmp_path / "audio/both.wav", channels=2, seconds=1)
    both = lhotse.Recording.from_file(tmp_path / "audio/both.wav").to_cut()

    def written(made) -> bytes:
        made.to_file(tmp_path / "written.jsonl.gz")
        return (tmp_path / "written.jsonl.gz").read_bytes()

    for made in (cuts, cuts.trim_to_supervisions(keep_overlapping=False).to_eager(), cuts.resample(8000)):
        corpus = load(written(made), f", cut: {tmp_path}")
        assert rows(corpus, "file", "start", "duration", "item", "speaker", "sex", "transcript") == [
            (f"audio/{s.recording_id}.wav", s.start, pytest.approx(0.5), s.id, s.speaker, "male", s.text)
            for s in supervisions
        ]
    corpus = load(written(lhotse.CutSet.from_cuts([both])), f", cut: {tmp_path}")
    assert rows(corpus, "file", "duration") == [("audio/both.wav", 1.0)]
    for made, words in (
        (cuts.perturb_speed(1.1), r"line 1: the sound is to be changed \(Speed\)"),
        (cuts.pad(5.0), r"line 1: the cut mixes several others \(MixedCut\)"),
        (lhotse.CutSet.from_cuts(both.to_mono()), "2 segments are other channels .* 'audio/both.wav'"),
    ):
        refused(words, written(made), f", cut: {tmp_path}")


def source(**changes: object) -> dict:
    return CUT | {"recording": RECORDING | {"sources": [RECORDING["sources"][0] | changes]}}


def supervision(**changes: object) -> dict:
    item = {name: value for name, value in (FIRST | changes).items() if value is not ...}
    return CUT | {"supervisions": [item]}


def test_sources_that_are_no_files_are_refused_but_without_sound(load, refused, tmp_path):
    canary = tmp_path / "CANARY"
    cuts = [source(type="command", source=f"touch {canary}"), source(type="url", source="https://host/a.wav")]
    text = refused("no command is run", [*cuts, source(type="memory", source="UklGRg==")])
    assert not canary.exists()
    for line, words in zip(
        text.splitlines(), ("output of a command", "at an address", "'memory'"), strict=True
    ):
        assert "the recording 'rec1' is" in line and words in line
    assert rows(load(cuts[:1], ", audio: false"), "file", "start", "duration") == [
        ("rec1", 0.75, 0.5),
        ("rec1", 1.5, 0.5),
    ]


SEVERAL_FILES = RECORDING | {"sources": [RECORDING["sources"][0] | {"channels": [n]} for n in range(2)]}
REFUSED = [
    (b"", "the manifest has no cut"),
    ([FIRST], "line 1: this is a supervision, not a cut. Give cuts"),
    ([RECORDING], "line 1: this is a recording, not a cut. Give cuts"),
    ([{"audio_filepath": "a.wav", "duration": 2, "text": "x"}], "a manifest of NeMo, not a cut. Write"),
    ([{"key": "a", "wav": "a.wav"}], "line 1, field start: the field is missing"),
    ([CUT | {"recording": None, "features": {}}], "the cut has features, but no recording"),
    ([CUT | {"supervisions": "x"}], "field supervisions: .* should be a valid list"),
    ([CUT, CUT | {"start": "0"}], "line 2, field start: '\"0\"' is wrong: input should be a valid number"),
    ([CUT | {"duration": -1}], "line 1, field duration: '-1' is wrong: input should be greater than 0"),
    ([CUT | {"start": -0.75}], "line 1, column start: '-0.5' is before the beginning"),
    ([supervision(duration=...)], "line 1, supervision 1, field duration: the field is missing"),
    ([supervision(text=7)], "supervision 1, field text: '7' is wrong: input should be a valid string"),
    ([supervision(start=1.6)], "the segment 2.1 to 2.6 s goes past the end"),
    ([source(source="../../etc/passwd")], "leads out of the corpus folder"),
    ([source(source="/etc/passwd")], "is an absolute path"),
    ([source(channels=[3])], r"the cut has the channels \[0\] of a recording with \[3\]"),
    ([source(channels=5)], r"the cut has the channels \[0\] of a recording with \[5\]"),
    ([CUT | {"channel": [0, 1], "recording": SEVERAL_FILES}], r"\[0, 1\] of the cut lie in several"),
    ([source(channels=None)], "line 1, field channels: 'null' is wrong"),
    ([source(type=["file"])], "the recording 'rec1' is of the type .*, which is not read"),
    ([CUT | {"recording": RECORDING | {"sources": 5}}], "line 1, field sources: '5' is wrong: input should"),
    ([CUT | {"recording": "rec1"}], "line 1, field recording: a text, not an object"),
    ([supervision(id="\ud800")], "field item: .* holds half a character"),
    ([supervision(custom={"mood": "\udfff"})], "supervision 's1', field mood: .* holds half a character"),
    (b'{"id": 1, "id": 2}\n', "line 1: the key 'id' stands twice"),
    (b"id,start\nc1,0\n", "line 1: 'id,start' is no JSON"),
    (json.dumps(CUT).encode() + b'\n{"id": "\xff"}\n', "line 2: byte .* is not UTF-8"),
    (gzip.compress(json.dumps(CUT).encode())[:-9], "the gzip file is damaged or cut"),
    (gzip.compress(json.dumps(CUT).encode() * 99)[:60] + b"\xff" * 60, "the gzip file is damaged or cut"),
    (b"\x1f\x8bnonsense", "the gzip file is damaged or cut"),
]


@pytest.mark.parametrize(("cuts", "words"), REFUSED)
def test_refused(refused, cuts, words):
    refused(rf"^cuts.jsonl.gz.*({words})", cuts)


def test_archives_that_explode_are_given_up(refused, monkeypatch):
    monkeypatch.setattr(files, "TABLE_BYTES", 10_000)
    refused("the unpacked manifest has more than 10000 bytes", gzip.compress(b" \n" * 10_000))
