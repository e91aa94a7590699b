import gzip
import json

import numpy as np
import pytest
import soundfile
from segment_rows import rows

from soundcheck.common import files
from soundcheck.common.errors import InputError

RECORDING = {
    "id": "rec1",
    "sources": [{"type": "file", "channels": [0], "source": "audio/rec1.wav"}],
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
def load(tmp_path, load):
    """Load a manifest: ``load([cut, ...])``, or of bytes."""
    (tmp_path / "audio").mkdir()
    for number, name in enumerate(("rec1", "rec2")):
        tone = 0.1 * np.sin(2 * np.pi * (100 + number) * np.arange(32000) / 16000)
        soundfile.write(tmp_path / "audio" / f"{name}.wav", tone, 16000)

    def read(cuts, keys="", name="cuts.jsonl.gz"):
        if not isinstance(cuts, bytes):
            cuts = "".join(json.dumps(cut) + "\n" for cut in cuts).encode()
            cuts = gzip.compress(cuts) if name.endswith(".gz") else cuts
        (tmp_path / name).write_bytes(cuts)
        return load(f"format: lhotse, path: {name}{keys}")

    return read


@pytest.mark.parametrize("name", ["cuts.jsonl.gz", "cuts.jsonl", "other"])
def test_supervisions_of_a_cut(load, name):
    corpus = load([CUT], ", groups: [loud, {level: {low: [0, 1], high: [1, 2]}}]", name)
    assert rows(
        corpus, "file", "start", "end", "item", "speaker", "sex", "language", "transcript", "emotion"
    ) == [
        ("audio/rec1.wav", 0.75, 1.25, "s1", "A", "female", "en", "turn left", "anger"),
        ("audio/rec1.wav", 1.5, None, "s2", "B", None, None, " ", None),
    ]
    assert rows(corpus, "loud", "level") == [("True", 0.5), (None, None)]
    assert corpus.segments["duration"].tolist() == [0.5, 0.5]


def test_whole_recordings_and_cuts_without_supervisions(load):
    whole = {
        **CUT,
        "start": 0,
        "duration": 2.0,
        "supervisions": [{**FIRST, "start": 0.0, "duration": 1.9999}],
    }
    bare = {
        **CUT,
        "id": "c2",
        "supervisions": [],
        "recording": RECORDING
        | {"id": "rec2", "sources": [{"type": "file", "channels": [0], "source": "audio/rec2.wav"}]},
    }
    corpus = load([whole, bare])
    assert rows(corpus, "file", "start", "end", "item", "speaker") == [
        ("audio/rec1.wav", None, None, "s1", "A")
    ]
    assert [item.item for item in corpus.left_out] == ["audio/rec2.wav 0.5"]  # nobody says who speaks
    del whole["supervisions"][0]["speaker"]
    assert rows(load([whole, bare]), "item", "start", "end") == [("s1", None, None), ("c2", 0.5, None)]


def test_what_lhotse_writes_is_read(load, tmp_path):
    lhotse = pytest.importorskip("lhotse")
    recordings = [lhotse.Recording.from_file(tmp_path / "audio" / f"{name}.wav") for name in ("rec1", "rec2")]
    supervisions = [
        lhotse.SupervisionSegment(
            id=f"{recording.id}-{number}",
            recording_id=recording.id,
            start=number * 0.6,
            duration=0.5,
            text=f"word {number}",
            speaker=f"s{number}",
            gender="M",
            language="de",
        )
        for recording in recordings
        for number in range(3)
    ]
    cuts = lhotse.CutSet.from_manifests(
        lhotse.RecordingSet.from_recordings(recordings), lhotse.SupervisionSet.from_segments(supervisions)
    )
    expected = [
        (f"audio/{s.recording_id}.wav", s.start, pytest.approx(s.duration), s.id, s.speaker, "male", s.text)
        for s in supervisions
    ]
    asked = ("file", "start", "duration", "item", "speaker", "sex", "transcript")
    for made in (cuts, cuts.trim_to_supervisions(keep_overlapping=False).to_eager(), cuts.resample(8000)):
        made.to_file(tmp_path / "written.jsonl.gz")
        corpus = load((tmp_path / "written.jsonl.gz").read_bytes(), f", cut: {tmp_path}")
        assert rows(corpus, *asked) == expected
    for made, words in (
        (cuts.perturb_speed(1.1), r"line 1: the sound is to be changed \(Speed\)"),
        (cuts.pad(5.0), r"line 1: the cut mixes several others \(MixedCut\)"),
    ):
        made.to_file(tmp_path / "written.jsonl.gz")
        with pytest.raises(InputError, match=words):
            load((tmp_path / "written.jsonl.gz").read_bytes())
    (tmp_path / "audio" / "both.wav").write_bytes(b"")
    soundfile.write(tmp_path / "audio" / "both.wav", np.zeros((16000, 2)), 16000)
    both = lhotse.Recording.from_file(tmp_path / "audio" / "both.wav").to_cut()
    lhotse.CutSet.from_cuts([both]).to_file(tmp_path / "written.jsonl.gz")
    corpus = load((tmp_path / "written.jsonl.gz").read_bytes(), f", cut: {tmp_path}")
    assert rows(corpus, "file", "duration") == [("audio/both.wav", 1.0)]
    lhotse.CutSet.from_cuts(both.to_mono()).to_file(tmp_path / "written.jsonl.gz")
    with pytest.raises(
        InputError, match="2 segments are other channels of the same times, as of 'audio/both.wav'"
    ):
        load((tmp_path / "written.jsonl.gz").read_bytes(), f", cut: {tmp_path}")


def source(**changes: object) -> dict:
    return CUT | {"recording": RECORDING | {"sources": [RECORDING["sources"][0] | changes]}}


def test_commands_and_addresses_are_refused_but_without_sound(load, tmp_path):
    canary = tmp_path / "CANARY"
    cuts = [source(type="command", source=f"touch {canary}"), source(type="url", source="https://host/a.wav")]
    with pytest.raises(InputError) as caught:
        load([*cuts, source(type="memory", source="UklGRg==")])
    assert not canary.exists()
    what = [line.partition(": ")[2].partition(". ")[0] for line in str(caught.value).splitlines()]
    assert what == [
        "the recording 'rec1' is the output of a command, and no command is run",
        "the recording 'rec1' is at an address, and nothing is fetched",
        "the recording 'rec1' is of the type 'memory', which is not read",
    ]
    assert rows(load(cuts[:1], ", audio: false"), "file", "start", "duration") == [
        ("rec1", 0.75, 0.5),
        ("rec1", 1.5, 0.5),
    ]


def supervision(**changes: object) -> dict:
    item = {name: value for name, value in (FIRST | changes).items() if value is not ...}
    return CUT | {"supervisions": [item]}


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
    ([supervision(duration=0)], "supervision 1, field duration: '0' is wrong"),
    ([supervision(text=7)], "supervision 1, field text: '7' is wrong: input should be a valid string"),
    ([supervision(start=1.6)], "the segment 2.1 to 2.6 s goes past the end"),
    ([source(source="../../etc/passwd")], "leads out of the corpus folder"),
    ([source(source="/etc/passwd")], "is an absolute path"),
    ([source(channels=[3])], r"the cut has the channels \[0\] of a recording with \[3\]"),
    ([CUT | {"channel": [0, 1], "recording": SEVERAL_FILES}], r"\[0, 1\] of the cut lie in several"),
    ([source(channels=5)], r"the cut has the channels \[0\] of a recording with \[5\]"),
    ([source(channels=[[0]])], r"line 1, field channels: '\[0\]' is wrong: input should be a valid integer"),
    ([source(channels=None)], "line 1, field channels: 'null' is wrong"),
    ([CUT | {"channel": {"0": 1}}], "line 1, field channel: .* is wrong"),
    ([source(type=["file"])], "the recording 'rec1' is of the type .*, which is not read"),
    ([CUT | {"recording": RECORDING | {"sources": 5}}], "line 1, field sources: '5' is wrong: input should"),
    ([CUT | {"recording": RECORDING | {"transforms": 5}}], "line 1, field transforms: '5' is wrong"),
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
def test_refused(load, cuts, words):
    with pytest.raises(InputError, match=rf"^cuts.jsonl.gz.*({words})"):
        load(cuts)


def test_archives_that_explode_are_given_up(load, monkeypatch):
    monkeypatch.setattr(files, "TABLE_BYTES", 10_000)
    with pytest.raises(InputError, match="the unpacked manifest has more than 10000 bytes"):
        load(gzip.compress(b" \n" * 10_000))
