"""Data folders of Kaldi and ESPnet."""

import pytest
from segment_rows import rows
from tests.corpora.refusals import refusals

RECORDINGS = [*(f"release/audio/rec{n}.wav" for n in (1, 2))]
FOLDER = {
    "wav.scp": "rec1 /their/egs/audio/rec1.wav\nrec2 audio/rec2.wav\n",
    "segments": "s1-rec1-0 rec1 0.0 0.20\ns1-rec1-1 rec1 0.20 -1\ns2-rec2-0 rec2 0.10 0.4\ns3-x-0 x 0 1\n",
    "text": "s1-rec1-0 turn LEFT\ns1-rec1-1\ns2-rec2-0 the  light\ns9-y-0 lost\n",
    "utt2spk": "s1-rec1-0 s1\ns1-rec1-1 s1\ns2-rec2-0 s2\n",
    "spk2gender": "s1 f\ns2 m\n",
    "utt2lang": "s1-rec1-0 en\ns1-rec1-1 en\ns2-rec2-0 de\n",
    "utt2noise": "s1-rec1-0 car\ns2-rec2-0 street\n",
    "spk2utt": "s1 s1-rec1-0 s1-rec1-1\ns2 s2-rec2-0\n",
    "reco2dur": "rec1 0.5\nrec2 0.5\n",
}
ENTRY = "format: kaldi, path: data/test, "
KEYS = "root: release, cut: /their/egs"
NO_SEGMENTS = dict.fromkeys(("segments", "utt2lang", "utt2noise", "text"))


def folder(changes=()):
    """Give the files of a data folder beside its recordings; ``None`` = not there."""
    files = {f"data/test/{name}": content for name, content in (FOLDER | dict(changes)).items()}
    return files | dict(zip(RECORDINGS, (1, 2), strict=True))


def test_a_data_folder(load):
    corpus = load(f"{ENTRY}{KEYS}, groups: [noise]", folder())
    assert rows(corpus, "file", "start", "end", "item", "speaker", "sex", "language", "transcript") == [
        ("audio/rec1.wav", 0.0, 0.2, "s1-rec1-0", "s1", "female", "en", "turn LEFT"),
        ("audio/rec1.wav", 0.2, None, "s1-rec1-1", "s1", "female", "en", " "),
        ("audio/rec2.wav", 0.1, 0.4, "s2-rec2-0", "s2", "male", "de", "the  light"),
    ]
    assert corpus.segments["noise"].tolist() == ["car", None, "street"]
    assert corpus.segments["duration"].tolist() == pytest.approx([0.2, 0.3, 0.3])
    assert {(item.item, item.reason) for item in corpus.left_out} == {
        ("s3-x-0", "its recording 'x' is not in wav.scp"),
        ("s9-y-0", "it stands in text, but has no recording"),
    }


def test_recordings_are_utterances_without_segments(load):
    changes = NO_SEGMENTS | {"text": "rec1 turn left\n", "utt2spk": "rec1 s1\nrec2 s2\n"}
    assert rows(load(ENTRY + KEYS, folder(changes)), "file", "start", "end", "item", "sex", "transcript") == [
        ("audio/rec1.wav", None, None, "rec1", "female", "turn left"),
        ("audio/rec2.wav", None, None, "rec2", "male", None),
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"wav.scp": "rec1 sph2pipe -f wav /their/rec1.sph |\nrec2 raw.ark:17\n"},
            [("rec1", 0.0, 0.2), ("rec1", 0.2, None), ("rec2", 0.1, pytest.approx(0.3))],
        ),
        (
            NO_SEGMENTS | {"utt2spk": "rec1 s1\nrec2 s2\n", "reco2dur": "rec1 1.25\n"},
            [("rec1", None, 1.25), ("rec2", None, None)],
        ),
    ],
)
def test_without_sound_names_and_durations_are_enough(load, changes, expected):
    assert rows(load(f"{ENTRY}audio: false", folder(changes)), "file", "start", "duration") == expected


def test_commands_are_never_run(refused, tmp_path):
    canary = tmp_path / "CANARY"
    changes = {"wav.scp": f"rec1 touch {canary} |\nrec2 /their/raw.ark:17\n"}
    first, second = refused("audio: false", ENTRY + KEYS, folder(changes)).splitlines()
    assert not canary.exists()
    assert "wav.scp line 1: the recording 'rec1' is the output of a command, and no command is run" in first
    assert "wav.scp line 2: the recording 'rec2' lies in an archive, which is not read" in second


@pytest.mark.parametrize(("changes", "words"), refusals("kaldi"))
def test_refused(refused, changes, words):
    refused(words, ENTRY + KEYS, folder(changes))


def test_links_out_of_the_folder_are_not_read(refused, write):
    place = write({"secret": "s1-rec1-0 secret\n", "data/test/utt2spk": ""}) / "data/test/text"
    place.symlink_to("../../secret")
    refused("'text': the path leads out of its folder", ENTRY + KEYS, folder({"text": None}))


def test_reading_agrees_with_lhotse(load, tmp_path):
    kaldi = pytest.importorskip("lhotse.kaldi")
    segments = FOLDER["segments"].replace("s3-x-0 x 0 1\n", "")
    scp = "".join(f"{name} {tmp_path}/release/audio/{name}.wav\n" for name in ("rec1", "rec2"))
    keys = f"root: release, cut: {tmp_path}/release"
    corpus = load(ENTRY + keys, folder({"segments": segments, "wav.scp": scp}))
    theirs = kaldi.load_kaldi_data_dir(tmp_path / "data" / "test", 16000)[1]
    ours = rows(corpus, "item", "start", "duration", "speaker", "language")
    assert ours == [(s.id, s.start, pytest.approx(s.duration), s.speaker, s.language) for s in theirs]
    assert [text.strip() for text in corpus.segments["transcript"]] == [s.text for s in theirs]
