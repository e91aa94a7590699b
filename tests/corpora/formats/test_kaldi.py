import numpy as np
import pytest
import soundfile
from segment_rows import rows

from soundcheck.common.errors import InputError

FOLDER = {
    "wav.scp": "rec1 /their/egs/audio/rec1.wav\nrec2 audio/rec2.wav\n",
    "segments": "s1-rec1-0 rec1 0.0 0.50\ns1-rec1-1 rec1 0.50 -1\ns2-rec2-0 rec2 0.10 0.9\ns3-x-0 x 0 1\n",
    "text": "s1-rec1-0 turn LEFT\ns1-rec1-1\ns2-rec2-0 the  light\ns9-y-0 lost\n",
    "utt2spk": "s1-rec1-0 s1\ns1-rec1-1 s1\ns2-rec2-0 s2\n",
    "spk2gender": "s1 f\ns2 m\n",
    "utt2lang": "s1-rec1-0 en\ns1-rec1-1 en\ns2-rec2-0 de\n",
    "utt2noise": "s1-rec1-0 car\ns2-rec2-0 street\n",
    "spk2utt": "s1 s1-rec1-0 s1-rec1-1\ns2 s2-rec2-0\n",
    "reco2dur": "rec1 1.0\nrec2 1.0\n",
}
KEYS = "root: release, cut: /their/egs"


@pytest.fixture
def load(tmp_path, load):
    """Load a data folder of these files: ``load({"text": ...})``; a file that is ``None`` is not there."""
    (tmp_path / "release" / "audio").mkdir(parents=True)
    for number, name in enumerate(("rec1", "rec2")):
        tone = 0.1 * np.sin(2 * np.pi * (100 + number) * np.arange(16000) / 16000)
        soundfile.write(tmp_path / "release" / "audio" / f"{name}.wav", tone, 16000)

    def read(changes=(), keys=KEYS):
        folder = tmp_path / "data" / "test"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (FOLDER | dict(changes)).items():
            if content is not None:
                folder.joinpath(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return load(f"format: kaldi, path: data/test, {keys}")

    return read


def test_a_data_folder(load):
    corpus = load(keys=f"{KEYS}, groups: [noise]")
    assert rows(corpus, "file", "start", "end", "item", "speaker", "sex", "language", "transcript") == [
        ("audio/rec1.wav", 0.0, 0.5, "s1-rec1-0", "s1", "female", "en", "turn LEFT"),
        ("audio/rec1.wav", 0.5, None, "s1-rec1-1", "s1", "female", "en", " "),
        ("audio/rec2.wav", 0.1, 0.9, "s2-rec2-0", "s2", "male", "de", "the  light"),
    ]
    assert corpus.segments["noise"].tolist() == ["car", None, "street"]
    assert corpus.segments["duration"].tolist() == pytest.approx([0.5, 0.5, 0.8])
    assert {(item.item, item.reason) for item in corpus.left_out} == {
        ("s3-x-0", "its recording 'x' is not in wav.scp"),
        ("s9-y-0", "it stands in text, but has no recording"),
    }


def test_recordings_are_utterances_without_segments(load):
    changes = {"segments": None, "text": "rec1 turn left\n", "utt2spk": "rec1 s1\nrec2 s2\n"}
    corpus = load(changes | dict.fromkeys(("utt2lang", "utt2noise")))
    assert rows(corpus, "file", "start", "end", "item", "sex", "transcript") == [
        ("audio/rec1.wav", None, None, "rec1", "female", "turn left"),
        ("audio/rec2.wav", None, None, "rec2", "male", None),
    ]


def test_without_sound_nothing_but_names_is_needed(load):
    commands = {"wav.scp": "rec1 sph2pipe -f wav /their/rec1.sph |\nrec2 raw.ark:17\n"}
    corpus = load(commands, "audio: false")
    assert rows(corpus, "file", "start", "end", "duration") == [
        ("rec1", 0.0, 0.5, 0.5),
        ("rec1", 0.5, None, None),
        ("rec2", 0.1, 0.9, pytest.approx(0.8)),
    ]


def test_durations_of_recordings_count_without_sound(load):
    absent = dict.fromkeys(("segments", "utt2lang", "utt2noise", "text"))
    corpus = load(absent | {"utt2spk": "rec1 s1\nrec2 s2\n", "reco2dur": "rec1 1.25\n"}, "audio: false")
    assert rows(corpus, "file", "duration") == [("rec1", 1.25), ("rec2", None)]


def test_commands_are_never_run(load, tmp_path):
    canary = tmp_path / "CANARY"
    with pytest.raises(InputError) as caught:
        load({"wav.scp": f"rec1 touch {canary} |\nrec2 /their/raw.ark:17\n"})
    assert not canary.exists()
    assert str(caught.value).splitlines() == [
        "data/test/wav.scp line 1: the recording 'rec1' is the output of a command, and no command is run. "
        "Write WAV files, and name them in wav.scp; or say `audio: false`.",
        "data/test/wav.scp line 2: the recording 'rec2' lies in an archive, which is not read. "
        "Write WAV files, and name them in wav.scp; or say `audio: false`.",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wav.scp": ""}, "data/test/wav.scp: the file has no line"),
        ({"wav.scp": "rec1\n"}, "wav.scp line 1: 'rec1' has no value"),
        ({"wav.scp": "rec1 a\nrec1 b\n"}, "wav.scp lines 1 and 2: the name 'rec1' stands twice"),
        ({"wav.scp": "rec1 \xe4.wav\n".encode("latin-1")}, "wav.scp line 1: byte 5 is not UTF-8"),
        ({"wav.scp": "rec1 ../../etc/passwd\nrec2 audio/rec2.wav\n"}, "leads out of the corpus folder"),
        ({"wav.scp": "rec1 /etc/passwd\nrec2 audio/rec2.wav\n"}, "is an absolute path"),
        ({"wav.scp": "rec1 http://host/a.wav\nrec2 audio/rec2.wav\n"}, "is an address; nothing is fetched"),
        ({"wav.scp": "file,speaker\na.wav,s1\n"}, "wav.scp line 1: 'file,speaker' has no value"),
        ({"segments": "a rec1 0\n"}, "segments line 1: there are 2 values behind the name, not three"),
        ({"segments": "a rec1 0 1 A B\n"}, "segments line 1: there are 5 values behind the name, not three"),
        ({"segments": "a rec1 0 late\n"}, "segments line 1: 'late' is not a number"),
        ({"segments": "a rec1 0.9 0.5\n"}, "segments line 1, columns start and end: start 0.9 s is after"),
        ({"segments": "a rec1 -0.5 0.5\n"}, "segments line 1, column start: '-0.5' is before the beginning"),
        ({"segments": "a rec1 0 100\n"}, "segments line 1, column end: the segment 0.0 to 100.0 s goes past"),
        ({"segments": "a x 0 1\n"}, "no segment can be used .its recording 'x' is not in wav.scp"),
        ({"text": "a b\na c\n"}, "text lines 1 and 2: the name 'a' stands twice"),
        ({"utt2spk": "a\n"}, "utt2spk line 1: 'a' has no value"),
        ({"spk2gender": "S1 f\nS2 m\n"}, "spk2gender: no speaker of utt2spk is there, such as 's1'. Did"),
    ],
)
def test_refused(load, changes, words):
    with pytest.raises(InputError, match=words):
        load(changes)


def test_files_of_other_folders_are_not_read(load, tmp_path):
    (tmp_path / "data" / "test").mkdir(parents=True)
    (tmp_path / "secret").write_text("s1-rec1-0 secret\n")
    (tmp_path / "data" / "test" / "text").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="'text': the path leads out of its folder"):
        load({"text": None})
    assert (tmp_path / "secret").read_text() == "s1-rec1-0 secret\n"


def test_reading_agrees_with_lhotse(load, tmp_path):
    kaldi = pytest.importorskip("lhotse.kaldi")
    segments = FOLDER["segments"].replace("s3-x-0 x 0 1\n", "")
    scp = "".join(f"{name} {tmp_path}/release/audio/{name}.wav\n" for name in ("rec1", "rec2"))
    corpus = load({"segments": segments, "wav.scp": scp}, f"root: release, cut: {tmp_path}/release")
    theirs = kaldi.load_kaldi_data_dir(tmp_path / "data" / "test", 16000)[1]
    ours = rows(corpus, "item", "start", "duration", "speaker", "language")
    assert ours == [(s.id, s.start, pytest.approx(s.duration), s.speaker, s.language) for s in theirs]
    assert [text.strip() for text in corpus.segments["transcript"]] == [s.text for s in theirs]
