"""What files turn out to be, whatever they are called and whatever their headers say."""

import io
import os
import re
import struct

import av
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora import audio
from soundcheck.corpora.audio import CONVERT
from soundcheck.corpora.load import sound_formats

RATE = 16000
TAG = b"ID3\x04\0\0\0\0\0\x14" + bytes(20)  # as MP3 files have it
MP3 = ("MP3", "MPEG_LAYER_III")


def tone(rate=RATE, seconds=1.0):
    """Two partials below 3 kHz with soft ends, so that every rate and codec can carry them."""
    time = np.arange(round(rate * seconds)) / rate
    sound = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.1 * np.sin(2 * np.pi * 1500 * time)
    return (sound * np.sin(np.pi * time / seconds) ** 2).astype(np.float32)


def encode(form="WAV", subtype="PCM_16", sound=None, rate=RATE, endian="FILE"):
    buffer = io.BytesIO()
    sound = tone(rate) if sound is None else sound
    soundfile.write(buffer, sound, rate, format=form, subtype=subtype, endian=endian)
    return buffer.getvalue()


def wav(length=None, whole=None, rate=RATE, tag=1, samples=RATE):
    """Write a WAV file by hand: the lengths that it states, its rate and its encoding."""
    data = np.round(tone(seconds=samples / RATE) * 32767).astype("<i2").tobytes()
    length = len(data) if length is None else length
    whole = 36 + len(data) if whole is None else whole
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", whole, b"WAVE", b"fmt ", 16, tag, 1, rate, 2 * rate, 2, 16)
    return head + struct.pack("<4sI", b"data", length) + data


def by_ffmpeg(form, sound, bit_rate=0, step=1152, **options):
    """Write MP3 in a container with FFmpeg, in frames of some samples."""
    target = io.BytesIO()
    with av.open(target, "w", format=form, options=options) as file:
        stream = file.add_stream("libmp3lame", rate=RATE)
        stream.layout = "mono"
        if bit_rate:
            stream.bit_rate = bit_rate
        for begin in range(0, len(sound), step):
            frame = av.AudioFrame.from_ndarray(sound[np.newaxis, begin : begin + step], "fltp", "mono")
            frame.sample_rate = RATE
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return target.getvalue()


@pytest.fixture
def inspect(tmp_path):
    def look(content, name="sound", limit=3600.0):
        (tmp_path / name).write_bytes(content)
        info = audio.inspect(tmp_path / name, limit)
        assert str(tmp_path) not in info.problem
        return info

    return look


ENCODINGS = [
    *(("WAV", subtype) for subtype in ("PCM_U8", "PCM_16", "PCM_24", "FLOAT", "ALAW")),
    *(("WAVEX", "PCM_24"), ("RF64", "PCM_16"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24")),
    *(("OGG", "VORBIS"), ("OGG", "OPUS"), MP3, ("AIFF", "PCM_S8"), ("AIFF", "FLOAT")),
]


@pytest.mark.parametrize(
    ("form", "subtype", "rate", "channels"),
    [*((*kind, RATE, 1) for kind in ENCODINGS), ("WAV", "PCM_16", 8000, 1), ("WAV", "PCM_16", 44100, 6)],
)
def test_same_sound_in_every_encoding_and_under_any_name(inspect, tmp_path, form, subtype, rate, channels):
    content = encode(form, subtype, np.tile(tone(rate)[:, None], channels), rate)
    for name in ("sound.wav", "sound.raw"):
        info = inspect(content, name)
        assert (info.problem, info.notice, info.duration) == ("", "", 1.0)
        assert (info.sampling_rate, info.channels, info.frames) == (rate, channels, rate)
        signal = audio.read(tmp_path / name)
        assert (signal.dtype, signal.flags.c_contiguous) == (np.float32, True)
        error = np.sqrt(np.mean((signal - tone()) ** 2)) / np.sqrt(np.mean(tone() ** 2))
        assert error < (0.1 if subtype in ("VORBIS", "OPUS", MP3[1], "PCM_U8", "PCM_S8") else 0.02)


@pytest.mark.parametrize("form", ["WAV", "FLAC"])
def test_segments_are_parts_of_the_whole(inspect, tmp_path, monkeypatch, form):
    info, path = inspect(encode(form)), tmp_path / "sound"
    whole = audio.read(path)
    np.testing.assert_array_equal(audio.read(path, 0.25, 0.5), whole[4000:8000])
    np.testing.assert_array_equal(audio.read(path, 0.25), whole[4000:])
    np.testing.assert_array_equal(audio.read(path, end=0.25), whole[:4000])
    np.testing.assert_array_equal(audio.read(path, float("nan"), float("nan")), whole)
    assert len(audio.read(path, 0.5, 9.0)) == 8000 and len(audio.read(path, 0.2, 0.1)) == 0
    assert audio.read(path, 0.0, 1.0, sampling_rate=8000).shape == (8000,)
    monkeypatch.setattr(audio, "_SAMPLES", 1000)  # long files are decoded in pieces
    np.testing.assert_array_equal(audio.read(path), whole)
    assert audio.inspect(path, 3600) == info


@pytest.mark.parametrize("channels", [1, 2])
def test_a_signal_is_the_mean_of_the_channels_to_the_bit(tmp_path, rng, channels):
    written, path = rng.normal(0, 0.1, (RATE, channels)).astype(np.float32), tmp_path / "a.wav"
    written[:100] = -0.0
    soundfile.write(path, written, RATE, subtype="FLOAT")
    expected = written.mean(axis=1, dtype=np.float32)
    for start, part in ((None, expected), (0.1, expected[1600:])):
        signal = audio.read(path, start)
        assert signal.tobytes() == part.tobytes()
        assert signal.flags.c_contiguous and signal.flags.owndata and signal.flags.writeable
    assert audio.read(path, channel=0).tobytes() == written[:, 0].tobytes()


CHUNK = b"LIST" + struct.pack("<I", 5000) + bytes(5000)
FINE = {
    "chunks behind the sound": wav(whole=36 + 2 * RATE + 5008) + CHUNK,
    "a tag behind FLAC": encode("FLAC") + b"TAG" + bytes(125),
    "tags before an MP3": 2 * TAG + encode(*MP3),
    "MP3 in WAV, which lacks its padding": by_ffmpeg("wav", tone(), step=576),
    "loud but meant": encode(subtype="FLOAT", sound=100 * tone()),
    "one of two channels silent": encode(sound=np.stack([tone(), 0 * tone()], axis=1)),
    "no length": wav(length=0, whole=0),
    "the largest length": wav(length=0xFFFFFFFF, whole=0xFFFFFFFF),
}


@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_odd_files_that_are_fine(inspect, content):
    info = inspect(content)
    assert info.problem == info.notice == "" and RATE - 3 * 1152 <= info.frames <= RATE + 3 * 1152


def same_as_the_twin(inspect, tmp_path, content, twin):
    """Check that a file is read as one whose header is right, whole and in part, and nothing is odd."""
    info = inspect(bytes(content), "streamed")
    expected, rate = soundfile.read(io.BytesIO(twin), dtype="float32", always_2d=True)
    assert (info.problem, info.frames) == ("", len(expected))
    whole = audio.read_as_is(tmp_path / "streamed")[0]
    np.testing.assert_array_equal(whole, expected.mean(axis=1, dtype=np.float32))
    part = audio.read(tmp_path / "streamed", 0.2, 0.4)
    np.testing.assert_array_equal(part, whole[rate // 5 : 2 * rate // 5])


STREAMED = [
    *(("WAV", subtype, "LITTLE") for subtype in ("PCM_U8", "FLOAT")),
    *(("WAVEX", "PCM_16", "LITTLE"), ("WAV", "PCM_24", "BIG")),
    *(("AIFF", "PCM_24", "FILE"), ("AIFF", "ULAW", "FILE"), ("AIFF", "PCM_16", "LITTLE")),
]
PLACEHOLDERS = [0, 0x7F000000, 0x7FFFFFFF, 0xFFFFFFFF]


@pytest.mark.parametrize(
    ("form", "subtype", "endian", "value"),
    [
        *((*kind, 0) for kind in STREAMED),
        *(("WAV", "PCM_16", "LITTLE", value) for value in PLACEHOLDERS),
        *(("AIFF", "PCM_16", "FILE", value) for value in PLACEHOLDERS),
    ],
)
def test_placeholders_of_streams(inspect, tmp_path, form, subtype, endian, value):
    """The length of the sound is a placeholder, and perhaps that of the file; a byte may be over."""
    twin = encode(form, subtype, np.stack([tone(), 0.5 * tone()], axis=1), endian=endian)
    content, order = bytearray(twin), ">I" if form == "AIFF" or endian == "BIG" else "<I"
    struct.pack_into(order, content, content.find(b"SSND" if form == "AIFF" else b"data") + 4, value)
    if form == "AIFF":
        struct.pack_into(order, content, content.find(b"COMM") + 10, value)
    same_as_the_twin(inspect, tmp_path, content, twin)
    struct.pack_into(order, content, 4, value)
    same_as_the_twin(inspect, tmp_path, content + b"\0", twin)


@pytest.mark.parametrize(
    ("name", "value"), [(b"RF64", 0), (b"RF64", 2**63 - 1), (b"BW64", 2**64 - 1), (b"BW64", None)]
)
def test_placeholders_of_long_files(inspect, tmp_path, name, value):
    twin = encode("RF64")
    content = bytearray(name + twin[4:])
    if value is not None:
        struct.pack_into("<QQ", content, content.find(b"ds64") + 8, value, value)
    same_as_the_twin(inspect, tmp_path, content, twin)
    assert "the header promises 1.000 s" in inspect(name + twin[4 : len(twin) // 2]).problem


def test_flac_without_a_count(inspect, tmp_path):
    twin = encode("FLAC")
    content = bytearray(twin)
    content[21] &= 0xF0
    content[22:26] = bytes(4)
    same_as_the_twin(inspect, tmp_path, content, twin)


@pytest.mark.parametrize("rates", [(160, 16), (16, 160)])
def test_mp3_whose_length_is_only_estimated(inspect, tmp_path, rates):
    """The first frames tell nothing about the bit rate of the others; FFmpeg decodes the same number."""
    bare = {"write_xing": "0", "id3v2_version": "0", "sound": tone(seconds=5.0), "step": 576}
    content = b"".join(by_ffmpeg("mp3", bit_rate=1000 * rate, **bare) for rate in rates)
    with av.open(io.BytesIO(content)) as file:
        frames = sum(frame.samples for frame in file.decode(audio=0))
    assert inspect(content).frames == frames > 9 * RATE
    assert len(audio.read_as_is(tmp_path / "sound")[0]) == frames


HALVES = [("RF64", "PCM_16"), ("AIFF", "PCM_16"), ("FLAC", "PCM_16"), MP3]
FLIPPED = bytearray(encode("FLAC"))
FLIPPED[len(FLIPPED) // 2] ^= 0x10
PROBLEMS = [
    (wav()[: 44 + 16000], r"cut \(truncated\): the header promises 1.000 s, 0.500 s are there"),
    (wav()[:-2], "the header promises 1.000000 s, 0.99993"),
    (wav()[:44], r"cut \(truncated\): 0 of 32000 bytes are there"),
    (wav(length=1000), "promises 0.031 s, 1.000 s are there"),
    *((encode(*kind)[: len(encode(*kind)) // 2], "cut|decoded") for kind in HALVES),
    *((2 * encode(*kind), "several streams one after") for kind in [("OGG", "OPUS"), MP3]),
    (bytes(FLIPPED), "decoded"),
    (wav(length=0, whole=0, samples=0), "0 samples"),
    (wav(length=0, whole=0, samples=0) + b"LIST\x04\0\0\0INFO", "0 samples"),
    *((wav(samples=n), words) for n, words in ((1, "1 sample,"), (10, "10 samples"))),
    *(
        (encode(subtype="FLOAT", sound=np.append(tone(), value)), words)
        for value, words in ((np.nan, "NaN"), (-np.inf, "infinite"), (1e30, "absurd"))
    ),
    (wav(tag=2), "cannot be decoded"),
    (b"#EXTM3U\n/etc/passwd\n", "no audio format"),
    (b"", "empty"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git-lfs pointer.*; run git lfs pull"),
]


@pytest.mark.parametrize(("content", "words"), PROBLEMS, ids=range(len(PROBLEMS)))
def test_files_that_cannot_be_used(inspect, content, words):
    assert re.search(words, inspect(content).problem)


BEFORE = [
    *((wav(rate=rate), f"{rate} Hz, allowed are 1000 to 768000 Hz") for rate in (999, 768001)),
    (wav(samples=2 * RATE), "more than the limit of 1 s"),
    (encode("WAV", "GSM610"), "the encoding WAV GSM610"),
    (encode("CAF"), "the encoding CAF"),
    (2 * TAG + encode("AU"), "the encoding AU"),
]


@pytest.mark.parametrize(("content", "words"), BEFORE, ids=range(len(BEFORE)))
def test_no_sample_is_read_of_what_is_not_bearable(inspect, monkeypatch, content, words):
    monkeypatch.setattr(audio, "_pieces", lambda *_: pytest.fail("samples were read"))
    problem = inspect(content, limit=1.0).problem
    assert words in problem and (CONVERT in problem) == ("encoding" in words)


def test_damaged_headers_never_raise(inspect, rng):
    for form, subtype in (("WAV", "PCM_16"), ("AIFF", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS")):
        content = encode(form, subtype, tone(seconds=0.05))
        for _ in range(60):
            damaged = bytearray(content[: rng.integers(1, len(content) + 1)])
            for position in rng.integers(0, min(80, len(damaged)), 3):
                damaged[position] = rng.integers(256)
            assert isinstance(inspect(bytes(damaged)), audio.AudioInfo)


@pytest.mark.parametrize(("error", "words"), [((5, "I/O"), "I/O"), ((), "the file cannot be read")])
def test_a_disk_that_fails_is_the_problem_of_the_file(inspect, monkeypatch, error, words):
    monkeypatch.setattr(os, "pread", lambda *_: (_ for _ in ()).throw(OSError(*error)))
    assert inspect(wav()).problem == words


def test_what_is_no_file_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "folder.wav").mkdir()
    for name, target in (("zero", "/dev/zero"), ("loop", "loop.wav")):
        (tmp_path / f"{name}.wav").symlink_to(target)
    for name in ("pipe", "folder", "zero", "loop", "missing"):
        problem = audio.inspect(tmp_path / f"{name}.wav", 3600).problem
        assert problem and str(tmp_path) not in problem
        with pytest.raises(OSError, match="cannot be read"):
            audio.read(tmp_path / f"{name}.wav")


def test_the_digest_follows_the_content_whatever_the_name(inspect):
    names = ["-rf", "a\nb.wav", " ä 漢.wav", os.fsdecode(b"\xff\xfe.wav")]
    assert len({inspect(wav(), name).digest for name in names}) == 1
    assert inspect(wav() + b"\0\0", "a.wav").digest != inspect(wav(), "a.wav").digest


def test_what_is_written_is_read_back_the_same_every_time_and_never_normalised(tmp_path):
    audio.write(tmp_path / "sound.wav", tone(), RATE)
    assert soundfile.info(tmp_path / "sound.wav").subtype == "PCM_16"
    np.testing.assert_allclose(audio.read(tmp_path / "sound.wav"), tone(), atol=1 / 32768)
    sound = np.concatenate([0.01 * tone(), [2.0, -2.0]]).astype(np.float32)
    content = audio.encode_flac(sound, RATE)
    assert content == audio.encode_flac(sound, RATE)
    back, rate = soundfile.read(io.BytesIO(content), dtype="float32")
    assert rate == RATE
    np.testing.assert_allclose(back, np.clip(sound, -1, 1), atol=1 / 16384)


def test_how_files_are_stored_the_most_frequent_format_first(inspect):
    infos = {"0": inspect(encode(subtype="PCM_U8")), "1": inspect(encode("OGG", "VORBIS"))}
    infos |= dict.fromkeys("xy", inspect(encode(rate=8000))) | {"unused": infos["0"]}
    first, *others = sound_formats(pd.Series([*"01xyyy"]), infos)
    assert (first.name, first.bits, first.sampling_rate, first.channels) == ("WAV, 16-bit PCM", 16, 8000, 1)
    assert (first.files, first.segments, first.seconds) == (2, 4, 2.0)
    assert {kind.name: kind.bits for kind in others} == {"WAV, 8-bit PCM": 8, "Ogg, Vorbis": 0}
