"""What files turn out to be, whatever they are called and whatever their headers say."""

import io
import os
import re
import signal
import socket
import struct

import av
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora import audio
from soundcheck.corpora.audio import CONVERT
from soundcheck.corpora.inspection import sound_formats

RATE = 16000
LIMIT = 3600.0
TAG = b"ID3\x04\0\0\0\0\0\x14" + bytes(20)  # as MP3 files have it


def tone(rate=RATE, seconds=1.0):
    """Two partials below 3 kHz with soft ends, so that every rate and codec can carry them."""
    time = np.arange(round(rate * seconds)) / rate
    sound = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.1 * np.sin(2 * np.pi * 1500 * time)
    return (sound * np.sin(np.pi * time / seconds) ** 2).astype(np.float32)


def encode(form="WAV", subtype="PCM_16", sound=None, rate=RATE):
    buffer = io.BytesIO()
    soundfile.write(buffer, tone(rate) if sound is None else sound, rate, format=form, subtype=subtype)
    return buffer.getvalue()


def wav(length=None, whole=None, rate=RATE, tag=1, samples=RATE):
    """Write a WAV file by hand: the lengths that it states, its rate and its encoding."""
    data = np.round(tone(seconds=samples / RATE) * 32767).astype("<i2").tobytes()
    length = len(data) if length is None else length
    whole = 36 + len(data) if whole is None else whole
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", whole, b"WAVE", b"fmt ", 16, tag, 1, rate, 2 * rate, 2, 16)
    return head + struct.pack("<4sI", b"data", length) + data


@pytest.fixture
def inspect(tmp_path):
    def look(content, name="sound.wav", limit=LIMIT):
        (tmp_path / name).write_bytes(content)
        facts = audio.inspect(tmp_path / name, limit)
        assert str(tmp_path) not in facts.problem
        return facts

    return look


@pytest.fixture
def hurry():
    """Fail a test that waits for a pipe for ever."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


ENCODINGS = [
    *(("WAV", subtype) for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE")),
    *(("WAV", subtype) for subtype in ("ALAW", "ULAW")),
    *(("WAVEX", "PCM_24"), ("RF64", "PCM_16"), ("FLAC", "PCM_S8"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24")),
    *(("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")),
    *(("AIFF", subtype) for subtype in ("PCM_S8", "PCM_16", "PCM_24", "FLOAT", "ALAW")),
]


@pytest.mark.parametrize("name", ["sound.wav", "sound.raw", "sound"])
@pytest.mark.parametrize(("form", "subtype"), ENCODINGS)
def test_same_sound_in_every_encoding_and_under_any_name(tmp_path, form, subtype, name):
    path = tmp_path / name
    path.write_bytes(encode(form, subtype))
    facts = audio.inspect(path, LIMIT)
    assert (facts.problem, facts.notice) == ("", "")
    assert (facts.sampling_rate, facts.channels, facts.frames) == (RATE, 1, RATE)
    signal_ = audio.read(path)
    assert signal_.shape == (RATE,)
    error = np.sqrt(np.mean((signal_ - tone()) ** 2)) / np.sqrt(np.mean(tone() ** 2))
    assert error < (0.1 if subtype in ("VORBIS", "OPUS", "MPEG_LAYER_III", "PCM_U8", "PCM_S8") else 0.02)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000, 192000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_rates_and_channels(tmp_path, rate, channels):
    path = tmp_path / "sound.wav"
    path.write_bytes(encode(sound=np.tile(tone(rate)[:, None], channels), rate=rate))
    facts = audio.inspect(path, LIMIT)
    assert (facts.problem, facts.channels, facts.duration) == ("", channels, 1.0)
    signal_ = audio.read(path)
    assert (signal_.dtype, signal_.flags.c_contiguous) == (np.float32, True)
    assert signal_.shape == (RATE,)
    np.testing.assert_allclose(signal_, tone(), atol=0.01)


@pytest.mark.parametrize("form", ["WAV", "FLAC", "AIFF"])
def test_segments_are_parts_of_the_whole(tmp_path, form):
    path = tmp_path / "sound"
    path.write_bytes(encode(form))
    whole = audio.read(path)
    np.testing.assert_array_equal(audio.read(path, 0.25, 0.5), whole[4000:8000])
    np.testing.assert_array_equal(audio.read(path, 0.25), whole[4000:])
    np.testing.assert_array_equal(audio.read(path, end=0.25), whole[:4000])
    np.testing.assert_array_equal(audio.read(path, float("nan"), float("nan")), whole)
    assert len(audio.read(path, 0.5, 9.0)) == 8000
    assert audio.read(path, 0.0, 1.0, sampling_rate=8000).shape == (8000,)


@pytest.mark.parametrize("channels", [1, 2])
def test_a_signal_is_the_mean_of_the_channels_to_the_bit(tmp_path, rng, channels):
    written = rng.normal(0, 0.1, (RATE, channels)).astype(np.float32)
    written[:100] = -0.0
    soundfile.write(tmp_path / "a.wav", written, RATE, subtype="FLOAT")
    expected = written.mean(axis=1, dtype=np.float32)
    for start, end, part in (
        (None, None, slice(None)),
        (0.1, None, slice(1600, None)),
        (0.1, 9.0, slice(1600, None)),
    ):
        signal = audio.read(tmp_path / "a.wav", start, end)
        assert signal.tobytes() == expected[part].tobytes()
        assert signal.flags.c_contiguous and signal.flags.owndata and signal.flags.writeable
    assert audio.read(tmp_path / "a.wav", channel=0).tobytes() == written[:, 0].tobytes()
    assert len(audio.read(tmp_path / "a.wav", 0.2, 0.1)) == 0


def test_long_files_are_decoded_in_pieces(tmp_path, monkeypatch):
    path = tmp_path / "sound.wav"
    path.write_bytes(encode(sound=np.tile(tone()[:, None], 2)))
    whole, facts = audio.read(path), audio.inspect(path, LIMIT)
    monkeypatch.setattr(audio, "_SAMPLES", 1000)
    np.testing.assert_array_equal(audio.read(path), whole)
    assert audio.inspect(path, LIMIT) == facts


# Headers and content ----------------------------------------------------------------------------------------


def test_cut_wav_names_both_lengths(inspect):
    facts = inspect(wav()[: 44 + 16000])
    assert "cut (truncated): the header promises 1.000 s, 0.500 s are there" in facts.problem


def test_wav_cut_behind_its_header(inspect):
    assert "cut (truncated): 0 of 32000 bytes are there" in inspect(wav()[:44]).problem


def test_header_that_promises_too_little(inspect):
    assert "promises 0.031 s, 1.000 s are there" in inspect(wav(length=1000)).problem


@pytest.mark.parametrize("unknown", [0, 0xFFFFFFFF])
def test_streams_that_know_no_length(inspect, tmp_path, unknown):
    facts = inspect(wav(length=unknown, whole=unknown))
    assert (facts.problem, facts.frames) == ("", RATE)
    np.testing.assert_allclose(audio.read(tmp_path / "sound.wav"), tone(), atol=1e-4)


STREAMED = [
    *(("WAV", subtype, "LITTLE") for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "ULAW")),
    *(("WAVEX", subtype, "LITTLE") for subtype in ("PCM_16", "PCM_24", "FLOAT")),
    *(("WAV", "PCM_16", "BIG"), ("WAV", "PCM_24", "BIG")),
    *(("AIFF", subtype, "FILE") for subtype in ("PCM_S8", "PCM_16", "PCM_24", "FLOAT", "ULAW")),
    ("AIFF", "PCM_16", "LITTLE"),
]
PLACEHOLDERS = [0, 0x7F000000, 0x7FFFF000, 0x7FFFFFFF, 0x80000000, 0xFFFFFF9B, 0xFFFFFFFF]


def same_as_the_twin(inspect, tmp_path, content, twin):
    """Check that a file is read as one whose header is right, whole and in part, and nothing is odd."""
    facts = inspect(bytes(content), "streamed")
    (tmp_path / "twin").write_bytes(twin)
    expected, rate = soundfile.read(io.BytesIO(twin), dtype="float32", always_2d=True)
    assert (facts.problem, facts.frames) == ("", len(expected))
    whole = audio.read_as_is(tmp_path / "streamed")[0]
    np.testing.assert_array_equal(whole, expected.mean(axis=1, dtype=np.float32))
    np.testing.assert_array_equal(
        audio.read(tmp_path / "streamed", 0.2, 0.4), whole[rate // 5 : 2 * rate // 5]
    )
    np.testing.assert_array_equal(audio.read(tmp_path / "streamed", 0.9), whole[9 * rate // 10 :])


@pytest.mark.parametrize("value", PLACEHOLDERS)
@pytest.mark.parametrize(("form", "subtype", "endian"), STREAMED)
@pytest.mark.parametrize("whole", [True, False])
def test_placeholders_of_streams(inspect, tmp_path, value, form, subtype, endian, whole):
    """The length of the sound is a placeholder, and perhaps that of the file; a byte may be over."""
    sound, buffer = np.stack([tone(), 0.5 * tone()], axis=1), io.BytesIO()
    soundfile.write(buffer, sound, RATE, format=form, subtype=subtype, endian=endian)
    twin, order = buffer.getvalue(), ">I" if form == "AIFF" or endian == "BIG" else "<I"
    content = bytearray(twin)
    struct.pack_into(order, content, content.find(b"SSND" if form == "AIFF" else b"data") + 4, value)
    if form == "AIFF":
        struct.pack_into(order, content, content.find(b"COMM") + 10, value)
    if whole:
        struct.pack_into(order, content, 4, value)
    same_as_the_twin(inspect, tmp_path, content, twin)
    same_as_the_twin(inspect, tmp_path, content + b"\0", twin)


@pytest.mark.parametrize("value", [0, 2**63 - 1, 2**64 - 1, None])
@pytest.mark.parametrize("name", [b"RF64", b"BW64"])
def test_placeholders_of_long_files(inspect, tmp_path, name, value):
    twin = encode("RF64")
    content = bytearray(name + twin[4:])
    if value is not None:
        struct.pack_into("<QQ", content, content.find(b"ds64") + 8, value, value)
    same_as_the_twin(inspect, tmp_path, content, twin)
    cut = bytearray(name + twin[4 : len(twin) // 2])
    assert "the header promises 1.000 s" in inspect(bytes(cut)).problem


def test_flac_without_a_count(inspect, tmp_path):
    twin = encode("FLAC")
    content = bytearray(twin)
    content[21] &= 0xF0
    content[22:26] = bytes(4)
    same_as_the_twin(inspect, tmp_path, content, twin)


@pytest.mark.parametrize("rates", [(160, 16), (16, 160)])
def test_mp3_whose_length_is_only_estimated(inspect, tmp_path, rates):
    """The first frames tell nothing about the bit rate of the others; FFmpeg decodes the same number."""
    content = b""
    for rate in rates:
        buffer = io.BytesIO()
        with av.open(buffer, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as file:
            stream = file.add_stream("libmp3lame", rate=RATE)
            stream.layout, stream.bit_rate = "mono", 1000 * rate
            frame = av.AudioFrame.from_ndarray(tone(seconds=5.0)[None], format="fltp", layout="mono")
            frame.sample_rate = RATE
            waiting = av.AudioFifo()
            waiting.write(frame)
            while (piece := waiting.read(576, partial=True)) is not None:
                file.mux(stream.encode(piece))
            file.mux(stream.encode(None))
        content += buffer.getvalue()
    with av.open(io.BytesIO(content)) as file:
        frames = sum(frame.samples for frame in file.decode(audio=0))
    assert inspect(content).frames == frames > 9 * RATE
    assert len(audio.read_as_is(tmp_path / "sound.wav")[0]) == frames


@pytest.mark.parametrize(
    ("form", "codec", "options"),
    [
        *(("wav", codec, {}) for codec in ("pcm_s16le", "pcm_s24le", "pcm_f32le", "pcm_u8", "pcm_alaw")),
        ("wav", "pcm_s16le", {"rf64": "always"}),
        ("wav", "pcm_s16le", {"write_bext": "1"}),
        *(("aiff", "pcm_s16be", {}), ("aiff", "pcm_s24be", {}), ("flac", "flac", {})),
    ],
)
def test_what_ffmpeg_writes_to_a_pipe(inspect, tmp_path, form, codec, options):
    class Pipe(bytearray):
        write = bytearray.extend

    pipe = Pipe()
    with av.open(pipe, "w", format=form, options=options) as file:
        stream = file.add_stream(codec, rate=RATE)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(tone()[None], format="fltp", layout="mono")
        frame.sample_rate, waiting = RATE, av.AudioFifo()
        for piece in av.AudioResampler(stream.codec_context.format.name, "mono", RATE).resample(frame):
            waiting.write(piece)
        while (piece := waiting.read(1000, partial=True)) is not None:
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    facts = inspect(bytes(pipe))
    assert (facts.problem, facts.frames) == ("", RATE)
    np.testing.assert_allclose(audio.read(tmp_path / "sound.wav"), tone(), atol=0.02)


@pytest.mark.parametrize("following", [b"", b"LIST\x04\0\0\0INFO"])
def test_nothing_was_streamed(inspect, following):
    assert inspect(wav(length=0, whole=0, samples=0) + following).problem == "0 samples"


def test_chunks_behind_the_sound_are_fine(inspect):
    extra = b"LIST" + struct.pack("<I", 5000) + bytes(5000)
    assert inspect(wav(whole=36 + 2 * RATE + len(extra)) + extra).frames == RATE


@pytest.mark.parametrize("form", ["RF64", "AIFF", "FLAC", "OGG", "MP3"])
def test_other_cut_files(inspect, form):
    subtype = {"OGG": "VORBIS", "MP3": "MPEG_LAYER_III"}.get(form, "PCM_16")
    content = encode(form, subtype)
    problem = inspect(content[: len(content) // 2]).problem
    assert "cut" in problem or "decoded" in problem


def test_a_cut_by_a_byte_names_two_numbers(inspect):
    assert "the header promises 1.000000 s, 0.99993" in inspect(wav()[:-2]).problem


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS", "MPEG_LAYER_III"])
def test_streams_that_follow_one_another_are_refused(inspect, subtype):
    """Only the first of them would be heard."""
    one = encode("MP3" if subtype == "MPEG_LAYER_III" else "OGG", subtype)
    assert inspect(one).problem == ""
    assert inspect(one + one).problem.startswith("several streams one after the other")


def test_a_tag_behind_flac(inspect, tmp_path):
    assert inspect(encode("FLAC") + b"TAG" + bytes(125)).frames == RATE
    assert len(audio.read(tmp_path / "sound.wav")) == RATE


def test_mp3_in_wav_lacks_its_padding(inspect):
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="wav") as file:
        stream = file.add_stream("libmp3lame", rate=RATE)
        frame = av.AudioFrame.from_ndarray(tone()[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = RATE
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    facts = inspect(buffer.getvalue())
    assert (facts.problem, facts.encoding) == ("", "MPEG_LAYER_III")


def test_tags_before_an_mp3(inspect):
    assert inspect(2 * TAG + encode("MP3", "MPEG_LAYER_III")).problem == ""


def test_flipped_bits_in_flac(inspect):
    content = bytearray(encode("FLAC"))
    content[len(content) // 2] ^= 0x10
    assert "decoded" in inspect(bytes(content)).problem


@pytest.mark.parametrize("rate", [1, 999, 768001, 2**31 - 1])
def test_absurd_rates_before_reading(inspect, monkeypatch, rate):
    monkeypatch.setattr(audio, "_pieces", lambda *_: pytest.fail("samples were read"))
    assert f"{rate} Hz, allowed are 1000 to 768000 Hz" in inspect(wav(rate=rate)).problem


def test_too_long_before_reading(inspect, monkeypatch):
    assert inspect(wav(), limit=1.0).problem == ""
    monkeypatch.setattr(audio, "_pieces", lambda *_: pytest.fail("samples were read"))
    assert "more than the limit of 0.5 s" in inspect(wav(), limit=0.5).problem


@pytest.mark.parametrize(("samples", "words"), [(0, "0 samples"), (1, "1 sample,"), (10, "10 samples")])
def test_too_short(inspect, samples, words):
    assert words in inspect(wav(samples=samples)).problem


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (-np.inf, "infinite"), (1e30, "absurd level")])
def test_values_that_are_no_sound(inspect, value, words):
    sound = tone()
    sound[-1] = value
    assert words in inspect(encode(subtype="FLOAT", sound=sound)).problem


def test_loud_but_meant(inspect):
    assert inspect(encode(subtype="FLOAT", sound=100 * tone())).problem == ""


def test_channels_that_cancel(inspect):
    facts = inspect(encode(sound=np.stack([tone(), -tone()], axis=1)))
    assert facts.problem == ""
    assert "the mix of its 2 channels" in facts.notice
    assert inspect(encode(sound=np.stack([tone(), 0 * tone()], axis=1))).notice == ""
    assert inspect(encode(sound=np.zeros((RATE, 2)))).notice == ""


@pytest.mark.parametrize(
    ("form", "subtype"),
    [
        *(("WAV", subtype) for subtype in ("MS_ADPCM", "IMA_ADPCM", "GSM610", "G721_32", "NMS_ADPCM_16")),
        *(("AIFF", subtype) for subtype in ("IMA_ADPCM", "GSM610", "DWVW_16")),
    ],
)
def test_encodings_are_refused_before_reading(inspect, monkeypatch, form, subtype):
    monkeypatch.setattr(audio, "_pieces", lambda *_: pytest.fail("samples were read"))
    assert (
        inspect(encode(form, subtype)).problem == f"the encoding {form} {subtype} is not read here; {CONVERT}"
    )


@pytest.mark.parametrize("tag", [2, 0x11, 0x31, 0x161])
def test_encodings_with_a_wrong_header(inspect, tag):
    assert "cannot be decoded" in inspect(wav(tag=tag)).problem


@pytest.mark.parametrize("form", ["MAT4", "MAT5", "PAF", "AU", "CAF", "W64", "VOC"])
@pytest.mark.parametrize("tag", [b"", 2 * TAG])
def test_other_containers_are_refused_before_reading(inspect, monkeypatch, form, tag):
    monkeypatch.setattr(audio, "_pieces", lambda *_: pytest.fail("samples were read"))
    assert re.search("is not read here|cannot be decoded", inspect(tag + encode(form)).problem)


@pytest.mark.parametrize(
    "content",
    [b"#EXTM3U\n/etc/passwd\n", b"<html></html>", b"PK\x03\x04" + bytes(60), b"hello", b"\xff\xfeh\0"],
)
def test_other_content_named_wav(inspect, content):
    assert inspect(content).problem


def test_empty_file_and_pointer(inspect):
    assert "empty" in inspect(b"").problem
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    assert "git-lfs pointer" in inspect(pointer).problem
    assert "run git lfs pull" in inspect(pointer).problem


def test_damaged_headers_never_raise(inspect, rng):
    for form, subtype in (("WAV", "PCM_16"), ("AIFF", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS")):
        content = encode(form, subtype, tone(seconds=0.05))
        for _ in range(60):
            damaged = bytearray(content[: rng.integers(1, len(content) + 1)])
            for position in rng.integers(0, min(80, len(damaged)), 3):
                damaged[position] = rng.integers(256)
            assert isinstance(inspect(bytes(damaged)), audio.AudioInfo)


# Paths ------------------------------------------------------------------------------------------------------


def test_what_is_no_file(tmp_path, hurry):
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "zero.wav").symlink_to("/dev/zero")
    (tmp_path / "loop.wav").symlink_to(tmp_path / "loop.wav")
    (tmp_path / "dangling.wav").symlink_to(tmp_path / "nothing")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket.wav"))
    for name in ("pipe", "folder", "zero", "loop", "dangling", "socket", "missing"):
        path = tmp_path / f"{name}.wav"
        problem = audio.inspect(path, LIMIT).problem
        assert problem and str(tmp_path) not in problem
        with pytest.raises(OSError, match="cannot be read"):
            audio.read(path)


@pytest.mark.parametrize(
    "name",
    [
        "-rf.wav",
        "a\nb.wav",
        "100%.wav",
        "#1?.wav",
        " ä 漢.wav",
        "'\"$(x).wav",
        "no extension",
        b"\xff\xfe.wav",
    ],
)
def test_awkward_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(name)
    with open(name, "wb") as file:
        file.write(wav())
    assert audio.inspect(name, LIMIT).problem == ""
    assert audio.read(name).shape == (RATE,)


def test_digest_follows_the_content(inspect):
    first = inspect(wav(), "a.wav").digest
    assert inspect(wav(), "b.flac").digest == first
    assert inspect(wav() + b"\0\0", "a.wav").digest != first


# Writing ----------------------------------------------------------------------------------------------------


def test_write_and_read_back(tmp_path):
    path = tmp_path / "sound.wav"
    audio.write(path, tone(), RATE)
    assert soundfile.info(path).subtype == "PCM_16"
    np.testing.assert_allclose(audio.read(path), tone(), atol=1 / 32768)


def test_flac_is_the_same_every_time_and_never_normalised():
    sound = np.concatenate([0.01 * tone(), [2.0, -2.0]]).astype(np.float32)
    content = audio.encode_flac(sound, RATE)
    assert content == audio.encode_flac(sound, RATE)
    back, rate = soundfile.read(io.BytesIO(content), dtype="float32")
    assert rate == RATE
    np.testing.assert_allclose(back, np.clip(sound, -1, 1), atol=1 / 16384)


KINDS = [
    ("a.wav", "WAV", "PCM_16", 16000, 1, "WAV, 16-bit PCM", 16),
    ("b.wav", "WAV", "PCM_U8", 8000, 1, "WAV, 8-bit PCM", 8),
    ("c.wav", "WAV", "PCM_24", 44100, 2, "WAV, 24-bit PCM", 24),
    ("d.wav", "WAV", "FLOAT", 22050, 1, "WAV, 32-bit float", 32),
    ("e.wav", "FLAC", "PCM_24", 48000, 1, "FLAC, 24-bit PCM", 24),  # whatever its name says
    ("f.ogg", "OGG", "VORBIS", 48000, 2, "Ogg, Vorbis", 0),
    ("g.wav", "WAV", "ULAW", 8000, 1, "WAV, µ-law", 8),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[5])
def test_headers_are_believed(tmp_path, kind):
    name, container, encoding, rate, channels, title, bits = kind
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, (rate, channels))
    soundfile.write(tmp_path / name, noise, rate, format=container, subtype=encoding)
    info = audio.inspect(tmp_path / name, 60)
    assert info.problem == ""
    (found,) = sound_formats(pd.Series([name, name]), {name: info})
    assert (found.name, found.sampling_rate, found.channels, found.bits) == (title, rate, channels, bits)
    assert (found.files, found.segments) == (1, 2) and found.seconds == pytest.approx(1, abs=0.01)


def test_mixed_formats_are_counted_the_most_frequent_first(tmp_path):
    facts, names = {}, []
    for number, rate in enumerate((8000, 16000, 16000)):
        name = f"{number}.wav"
        soundfile.write(tmp_path / name, 0.1 * np.ones(rate), rate)
        facts[name] = audio.inspect(tmp_path / name, 60)
        names += [name] * (1 + number)
    facts["unused.wav"] = facts["0.wav"]  # no segment is left of it
    found = sound_formats(pd.Series(names), facts)
    assert [(one.sampling_rate, one.files, one.segments) for one in found] == [(16000, 2, 5), (8000, 1, 1)]
    assert sound_formats(pd.Series(names), {}) == ()
