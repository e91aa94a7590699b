"""Corpora of each format, as the files beside this one describe them; what Lhotse itself reads and writes.

A file has the entry of a suite and the files that it names. Cases change some of them (``null`` = not there)
or the keys; ``rows`` are the columns of the segment table that is read.
"""

import gzip
import json
import re
from pathlib import Path

import pytest
import yaml
from tests.corpora.given import rows

from soundcheck.common import files

FORMATS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.yml"))
}
READ = {f"{name}: {case}": (name, case) for name, form in FORMATS.items() for case in form["read"]}
REFUSED = [(name, *row) for name, form in FORMATS.items() for row in form["refused"]]


@pytest.fixture
def load(load, write, tmp_path, monkeypatch):
    """Load a corpus of a format with changes: files, or what stands in them instead of what.

    Commands in data that are run would write a file CANARY.
    """
    monkeypatch.chdir(tmp_path)

    def read(name: str, changes=(), keys: str | None = None, entry: str = ""):
        form, changed = FORMATS[name], changes if isinstance(changes, dict) else {}
        folder = write(form["files"] | changed)
        if isinstance(changes, list):
            for path in folder.rglob("*.[cj]s*"):
                path.write_text(path.read_text().replace(*changes))
        return load((entry or form["entry"]) + (form.get("keys", "") if keys is None else keys))

    yield read
    assert not (tmp_path / "CANARY").exists()


@pytest.mark.parametrize(("name", "case"), READ.values(), ids=READ)
def test_what_is_read(load, name, case):
    case = FORMATS[name]["read"][case]
    corpus = load(name, case.get("files", case.get("replace", {})), case.get("keys"), case.get("entry", ""))
    for column, cells in case["rows"].items():
        expected = [pytest.approx(cell) if isinstance(cell, float) else cell for cell in cells]
        assert [cell for (cell,) in rows(corpus, column)] == expected, column
    reasons = {item.item: item.reason for item in corpus.left_out}
    assert case.get("left_out", {}).items() <= reasons.items()
    notices = "\n".join(corpus.notices)
    assert all(notice in notices for notice in case.get("notices", ()))
    assert case.get("without", "never") not in notices
    assert case.get("unlabelled", [*corpus.unlabelled]) == [*corpus.unlabelled]
    for caveat, words in zip(corpus.caveats, case.get("caveats", ()), strict=True):
        assert re.match(words, caveat.text)
    assert {*case.get("offered", ())} <= {*corpus.offered}


@pytest.mark.parametrize("row", REFUSED, ids=[f"{row[0]}: {row[2]}" for row in REFUSED])
def test_what_is_refused(refused, row):
    name, changes, words, *keys = row
    refused(words, name, changes, *keys)


LINKED = {"kaldi": "data/test/text", "audiofolder": "data/metadata.csv", "audformat": "db/db.t.csv"}
LINKED["emobox"] = "EmoBox/data/emovo/emovo.jsonl"


@pytest.mark.parametrize(("name", "file"), LINKED.items())
def test_links_out_of_the_folder_are_not_read(refused, write, tmp_path, name, file):
    others = dict(FORMATS[name]["files"])
    place = write({"secret": others.pop(file, "file_name\na.wav\n"), file: ""}) / file
    place.unlink()
    place.symlink_to(tmp_path / "secret")
    FORMATS["linked"] = FORMATS[name] | {"files": others}
    refused(f"'{place.name}': the path leads out of its folder", "linked")


def test_folders_without_sounds_are_refused(refused, load, tmp_path):
    (tmp_path / "empty").mkdir()
    entry = "format: audiofolder, path: empty"
    refused("neither a metadata table nor a sound", "audiofolder", entry=entry)
    refused("This looks like `format: parquet`", "audiofolder", {"empty/x.parquet": ""}, entry=entry)


CUT = json.dumps(FORMATS["lhotse"]["files"]["cuts.jsonl"][0]).encode()


def test_manifests_may_be_packed_but_not_cut_or_exploding(load, refused, monkeypatch):
    corpus = load("lhotse", {"other": gzip.compress(CUT)}, entry="format: lhotse, path: other")
    assert rows(corpus, "item") == [("s1",), ("s2",)]
    for content in (gzip.compress(CUT)[:-9], gzip.compress(CUT * 99)[:60] + b"\xff" * 60):
        refused("the gzip file is damaged or cut", "lhotse", {"cuts.jsonl": content})
    monkeypatch.setattr(files, "TABLE_BYTES", 10_000)
    explodes = {"cuts.jsonl": gzip.compress(b" \n" * 10_000)}
    refused("the unpacked manifest has more than 10000 bytes", "lhotse", explodes)


def test_reading_a_data_folder_of_kaldi_agrees_with_lhotse(load, tmp_path):
    kaldi = pytest.importorskip("lhotse.kaldi")
    segments = FORMATS["kaldi"]["files"]["data/test/segments"].replace("s3-x-0 x 0 1\n", "")
    scp = "".join(f"{name} {tmp_path}/release/audio/{name}.wav\n" for name in ("rec1", "rec2"))
    changes = {"data/test/segments": segments, "data/test/wav.scp": scp}
    corpus = load("kaldi", changes, f", root: release, cut: {tmp_path}/release")
    theirs = kaldi.load_kaldi_data_dir(tmp_path / "data" / "test", 16000)[1]
    ours = rows(corpus, "item", "start", "duration", "speaker", "language")
    assert ours == [(s.id, s.start, pytest.approx(s.duration), s.speaker, s.language) for s in theirs]
    assert [text.strip() for text in corpus.segments["transcript"]] == [s.text for s in theirs]


def test_what_lhotse_writes_is_read(load, refused, tone, tmp_path):
    lhotse = pytest.importorskip("lhotse")
    recordings = [
        lhotse.Recording.from_file(tone(tmp_path / f"audio/rec{n}.wav", n, seconds=2)) for n in (1, 2)
    ]
    supervisions = [
        lhotse.SupervisionSegment(
            **{"id": f"{recording.id}-{number}", "recording_id": recording.id, "start": number * 0.6},
            **{"text": f"word {number}", "speaker": f"s{number}", "gender": "M", "duration": 0.5},
        )
        for recording in recordings
        for number in range(3)
    ]
    cuts = lhotse.CutSet.from_manifests(
        lhotse.RecordingSet.from_recordings(recordings), lhotse.SupervisionSet.from_segments(supervisions)
    )
    FORMATS["written"] = {"entry": f"format: lhotse, path: written.jsonl.gz, cut: {tmp_path}", "files": {}}
    names = ("file", "start", "duration", "item", "speaker", "sex", "transcript")
    expected = [
        (f"audio/{s.recording_id}.wav", s.start, pytest.approx(0.5), s.id, s.speaker, "male", s.text)
        for s in supervisions
    ]
    for made in (cuts, cuts.trim_to_supervisions(keep_overlapping=False).to_eager(), cuts.resample(8000)):
        made.to_file(tmp_path / "written.jsonl.gz")
        assert rows(load("written"), *names) == expected
    for made, words in (
        (cuts.perturb_speed(1.1), r"line 1: the sound is to be changed \(Speed\)"),
        (cuts.pad(5.0), "line 1: this is no cut of one recording"),
    ):
        made.to_file(tmp_path / "written.jsonl.gz")
        refused(words, "written")
