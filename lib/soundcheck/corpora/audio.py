"""Audio in and out: what a file is, what it sounds like at 16 kHz mono, and how sounds get into the book.

Conventions
-----------
- A signal is float32, shape ``(samples,)``, mono (mean of the channels), at 16 kHz, never normalised.
- The content tells what a file is, not its name. WAV, FLAC, Ogg (Vorbis, Opus), MP3 and AIFF are read, in
  encodings by list; libsndfile decodes all of them. audiofile would choose by the extension and call other
  programs for what it does not know, so it writes files here but does not open those of others.
- Nothing is opened that is not a regular file, and no sample is read before encoding, length and rate are
  bearable.
- A length that a stream left in a header because it could not know better promises what is there.
"""

from __future__ import annotations

import dataclasses
import io
import math
import mmap
import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import audresample
import numpy as np
import soundfile

from soundcheck.common import files

SAMPLING_RATE = 16000
RATES = (1000, 768000)  # Hz
LOUDEST = 1000.0  # largest sample of a float file that can be meant
NEGLIGIBLE = 1e-3  # share of the power, 0.004 dB, up to which a mean is part of the sound
CANCELLED = 20.0  # dB that the mix of channels may lie below the loudest of them
SHORTEST = 0.01  # seconds
FORMATS = {"WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3", "AIFF"}
SUBTYPES = {
    *("PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"),
    *("VORBIS", "OPUS", "MPEG_LAYER_III"),
}

CONVERT = "convert it to WAV, FLAC, Ogg, MP3 or AIFF"
_SAMPLES = 1 << 20  # decoded at a time, all channels together
_UNKNOWN = 1 << 60  # as many frames are "promised" by streams that do not know their length
_HEAD = 4096  # bytes by which a container is told
_PLAIN = struct.Struct("<4sI8sIHHIIHH4sI")  # header of a WAV file that has nothing else
_BEGINS = re.compile(  # first page of a stream, or first frame where that tells the length
    rb"OggS\0[\2\6]|\xff[\xe2-\xff]..\0{9,32}(?:Xing|Info)\0\0\0[\1-\x0f]", re.DOTALL
)
_TOGETHER = 1000  # bytes within which pages of streams begin that are heard at the same time
_STEP = np.float32(2**-15)  # between two samples of 16 bits
# From here on a length that no file keeps is a placeholder; those of 32 bits begin with that of SoX for AIFF
_PLACEHOLDERS = {4: 0x7EFF0000, 8: 1 << 62}
_PADDING = 3 * 1152  # frames that an MP3 file may lack
_CHUNKS = 1000  # of a file that are looked at


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """What a look at a file tells.

    - ``offset, raised``: mean of the samples, and by how many dB it raises their level.
    - ``container, encoding``: of :data:`FORMATS` and :data:`SUBTYPES`, as the header says; empty if it could
      not be read.
    """

    digest: str = ""  # hash of the file's bytes; empty if it could not be read
    sampling_rate: int = 0
    channels: int = 0
    frames: int = 0
    duration: float = 0.0  # in seconds
    problem: str = ""  # why the file cannot be used, a short sentence without path; empty if it can
    notice: str = ""  # what is odd although it can be used
    offset: float = 0.0
    raised: float = 0.0
    container: str = ""
    encoding: str = ""


def inspect(path: Path, limit_seconds: float) -> AudioInfo:
    """Look at a file: decode all of it and say whether it can be used.

    - ``path``: any path; nothing is opened that is not a regular file.
    - ``limit_seconds``: longest file that is read.
    - Never raises for a bad file.
    """
    if reason := files.irregularity(path):
        return AudioInfo(problem=reason)
    try:
        with open(path, "rb", buffering=0) as file:
            content = files.digest(Path(path))
            info = _look(file, limit_seconds)
    except OSError as error:
        return AudioInfo(problem=error.strerror or "the file cannot be read")
    return dataclasses.replace(info, digest=content)


def _look(file: io.FileIO, limit_seconds: float) -> AudioInfo:
    head = file.read(_HEAD)
    container = _container(head)
    if not head:
        return AudioInfo(problem="0 bytes, the file is empty")
    if head.startswith(b"version https://git-lfs"):
        return AudioInfo(problem="this is a git-lfs pointer, not the sound; run git lfs pull")
    start = _after_tag(file, head)
    if not container or (start and _container(start) not in ("MP3", "FLAC") and any(start)):
        return AudioInfo(problem=f"no audio format that is read here; {CONVERT}")
    if container in ("OGG", "MP3") and _chained(file):
        problem = f"several streams one after the other, of which only the first could be read; {CONVERT}"
        return AudioInfo(problem=problem)
    try:
        *extent, corrections = _extent(file, head)
        with _open(file, head, corrections) as sound:
            return _listen(sound, *extent, limit_seconds)
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError) as error:
        return AudioInfo(problem=f"the file cannot be decoded ({_plain(error)})")


class _Copy(mmap.mmap):
    """A file in memory, in which libsndfile may look behind the end."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> None:
        try:
            super().seek(offset, whence)
        except ValueError:
            super().seek(0, os.SEEK_END)


class _Stretched(io.FileIO):
    """A file that seems to be longer than any bit rate makes it, so that no estimate ends its sound."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END and offset == 0:
            offset = 40 * os.fstat(self.fileno()).st_size
        return super().seek(offset, whence)


class _Sound(soundfile.SoundFile):
    """A sound that is read forward only: behind a length that is not known nobody can seek."""

    def seekable(self) -> bool:
        return False


class _Estimated(_Sound):
    """A sound of unknown length."""

    frames = _UNKNOWN


def _open(file: io.FileIO, head: bytes, corrections: Mapping[int, bytes]) -> _Sound:
    """Open a file without its name, so that nothing is concluded from the extension.

    ``corrections`` are bytes of the header by their place, changed in memory only.
    """
    if corrections:
        content = _Copy(file.fileno(), 0, access=mmap.ACCESS_COPY)
        for place, correct in corrections.items():
            content[place : place + len(correct)] = correct
        return _Sound(content)
    if _container(head) == "MP3":
        frame = _after_tag(file, head) or head[:256]
        if _container(frame) == "MP3" and not any(name in frame for name in (b"Xing", b"Info", b"VBRI")):
            file = _Stretched(file.fileno(), closefd=False)
            file.seek(0)
            return _Estimated(file)
    file.seek(0)
    return _Sound(file.fileno(), closefd=False)


def _chunks(file: io.FileIO, place: int, order: str) -> Iterator[tuple[bytes, int, int]]:
    """Walk through the chunks of a WAV or AIFF file: their names, places and lengths."""
    for _ in range(_CHUNKS):
        name = os.pread(file.fileno(), 8, place)
        if len(name) < 8 or not name[:4].isascii() or not name[:4].decode().isprintable():
            return
        length = int.from_bytes(name[4:], order)
        yield name[:4], place, length
        place += 8 + length + length % 2


def _only_chunks(file: io.FileIO, place: int, order: str) -> bool:
    """Say whether nothing but whole chunks follows."""
    size, end = os.fstat(file.fileno()).st_size, place
    for _, begin, length in _chunks(file, place, order):
        end = begin + 8 + length
    return end in (size, size - 1)  # a byte that makes it even


def _extent(file: io.FileIO, head: bytes) -> tuple[int, int, dict[int, bytes]]:
    """Tell how many bytes of sound the header of a WAV or AIFF file promises and how many are there.

    Then the corrections with which all of it is read. Equal numbers if there is nothing to tell.
    """
    if _container(head) not in ("WAV", "AIFF"):
        return 0, 0, {}
    order = "big" if head[:4] in (b"RIFX", b"FORM") else "little"
    size, corrections, long = os.fstat(file.fileno()).st_size, {}, 0
    for name, place, length in _chunks(file, 12, order):  # noqa: B007, the last one is what is looked for
        if name == b"ds64":
            long = place + 16
        if name in (b"data", b"SSND"):
            break
    else:
        return 0, 0, {}
    before = 8 if name == b"SSND" else 0  # offset and block size count as well
    begin, field, width = place + 8 + before, place + 4, 4
    if long and length == 2**32 - 1:
        field, width = long, 8
        length = int.from_bytes(os.pread(file.fileno(), 8, long), order)
    promised, there = max(0, length - before), max(0, size - begin)
    if head[:4] == b"BW64":
        corrections[0] = b"RF64"
    if (
        promised > there
        and length >= _PLACEHOLDERS[width]
        or promised == 0
        and not _only_chunks(file, begin, order)
    ):
        promised = there
        corrections[field] = min(there + before, 256**width - 1).to_bytes(width, order)
    rest = there - promised
    if rest > 0 and not (
        rest > max(1000, promised // 10)
        and int.from_bytes(head[4:8], order) + 8 >= size
        and not _only_chunks(file, begin + promised + promised % 2, order)
    ):
        there = promised
    return promised, there, corrections


def _chained(file: io.FileIO) -> bool:
    """Say whether an Ogg or MP3 stream begins behind another one, as in files that were put together."""
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    places = [found.start() for found in _BEGINS.finditer(content)]
    return bool(places) and places[-1] - places[0] > _TOGETHER


def _plain(error: Exception) -> str:
    """Give the decoder's reason without the file object that it names."""
    return str(error).rsplit(": ", 1)[-1].strip().rstrip(".")[:120]


def _container(head: bytes) -> str:
    """Tell the container by its first bytes; empty if it is none that is read."""
    if head[:4] in (b"RIFF", b"RF64", b"BW64", b"RIFX") and head[8:12] == b"WAVE":
        return "WAV"
    if head[:4] == b"fLaC":
        return "FLAC"
    if head[:4] == b"OggS":
        return "OGG"
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "AIFF"
    frame_sync = len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 != 0
    return "MP3" if head[:3] == b"ID3" or frame_sync else ""


def _after_tag(file: io.FileIO, data: bytes) -> bytes:
    """Read on behind the tags of an MP3 file, where any format may hide; empty if there is none."""
    position = 0
    while data[:3] == b"ID3" and len(data) >= 10:
        sizes = zip(data[6:10], (21, 14, 7, 0), strict=True)
        position += 10 + sum((byte & 0x7F) << shift for byte, shift in sizes)
        file.seek(position)
        data = file.read(256)
    return data if position else b""


def _pieces(sound: soundfile.SoundFile, frames: int = _UNKNOWN) -> Iterator[np.ndarray]:
    """Decode at most ``frames`` frames in pieces of bounded size, float32 ``(frames, channels)``."""
    step = max(1, _SAMPLES // sound.channels)
    while frames > 0 and len(piece := sound.read(min(step, frames), dtype="float32", always_2d=True)):
        frames -= len(piece)
        yield piece


def _listen(
    sound: soundfile.SoundFile, promised_bytes: int, bytes_there: int, limit_seconds: float
) -> AudioInfo:
    """Decode a sound in pieces and judge it."""
    rate, channels, promised = sound.samplerate, sound.channels, sound.frames
    about = {"container": sound.format, "encoding": sound.subtype}
    known = AudioInfo(sampling_rate=rate, channels=channels, **about)
    if sound.format not in FORMATS or sound.subtype not in SUBTYPES:
        problem = f"the encoding {sound.format} {sound.subtype} is not read here; {CONVERT}"
        return dataclasses.replace(known, problem=problem)
    if not RATES[0] <= rate <= RATES[1]:
        problem = f"a sampling rate of {rate} Hz, allowed are {RATES[0]} to {RATES[1]} Hz"
        return dataclasses.replace(known, problem=problem)
    if promised / rate > limit_seconds and promised < _UNKNOWN:
        problem = too_long(promised / rate, limit_seconds)
        return dataclasses.replace(known, problem=problem)
    frames, largest, finite = 0, 0.0, True
    power, mixed, total = np.zeros(channels), 0.0, 0.0
    for piece in _pieces(sound, promised):
        frames += len(piece)
        finite = finite and bool(np.isfinite(piece).all())
        if not finite or frames / rate > limit_seconds:
            break
        wide = piece.astype(np.float64)
        largest = max(largest, float(np.abs(wide).max()))
        power += (wide**2).sum(axis=0)
        mono = wide.mean(axis=1)
        mixed, total = mixed + float((mono**2).sum()), total + float(mono.sum())
    known = dataclasses.replace(known, frames=frames, duration=frames / rate)
    problem = notice = ""
    if not finite:
        problem = "samples that are not numbers (NaN or infinite)"
    elif frames / rate > limit_seconds:
        problem = f"longer than the limit of {limit_seconds:g} s, which is `limits: {{audio_seconds: ...}}`"
    elif cut := _cut(sound, promised_bytes, bytes_there, frames):
        problem = cut
    elif frames == 0:
        problem = "0 samples"
    elif largest > LOUDEST:
        problem = f"an absurd level, samples up to {largest:.3g} where full scale is 1"
    elif frames < SHORTEST * rate:
        problem = f"{frames} sample{'s' if frames > 1 else ''}, less than {SHORTEST * 1000:g} ms"
    if not problem and power.max() > 0:
        fallen = 10 * math.log10(power.max() / max(mixed, 1e-30))
        if fallen > CANCELLED:
            notice = f"the mix of its {channels} channels is {min(fallen, 200):.0f} dB below the loudest one"
    offset = total / max(frames, 1)
    raised = -10 * math.log10(max(1 - frames * offset**2 / max(mixed, 1e-30), 1e-20))
    return dataclasses.replace(known, problem=problem, notice=notice, offset=offset, raised=raised)


def too_long(seconds: float, limit: float, needed: float | None = None) -> str:
    """Say that a sound is longer than the limit, and which limit would do."""
    remedy = f"declare `limits: {{audio_seconds: {math.ceil(round(needed or seconds, 6))}}}`"
    return f"{seconds:.10g} s long, more than the limit of {limit:g} s: {remedy}"


def _cut(sound: soundfile.SoundFile, promised_bytes: int, bytes_there: int, frames: int) -> str:
    """Say that a file holds less sound than its header promises, or more."""
    wanted, there = sound.frames, frames
    if promised_bytes != bytes_there:
        if not frames:
            return f"the file is cut (truncated): {bytes_there} of {promised_bytes} bytes are there"
        unit = frames / max(1, min(bytes_there, promised_bytes))
        wanted, there = promised_bytes * unit, bytes_there * unit
    elif wanted >= _UNKNOWN or there + (_PADDING if sound.subtype == "MPEG_LAYER_III" else 0) >= wanted:
        return ""
    start = (
        "the file is cut (truncated)" if there < wanted else "the lengths in the file contradict each other"
    )
    wanted, there = wanted / sound.samplerate, there / sound.samplerate
    digits = 3 if abs(wanted - there) > 0.001 else 6  # two numbers that differ
    return f"{start}: the header promises {wanted:.{digits}f} s, {there:.{digits}f} s are there"


def read(
    path: str | os.PathLike,
    start: float | None = None,
    end: float | None = None,
    sampling_rate: int = SAMPLING_RATE,
    *,
    channel: int | None = None,
) -> np.ndarray:
    """Read a segment.

    - ``path``: a file that :func:`inspect` found usable.
    - ``start, end``: seconds; ``None`` or NaN = bound of the file.
    - ``sampling_rate``: rate of the result in Hz.
    - ``channel``: number of the channel to read, from 0; ``None`` = mean of all.
    - Returns float32 ``(samples,)``, mono, C-contiguous, a copy of its own.
    - Raises OSError, soundfile.LibsndfileError: if the file vanished or changed meanwhile.
    """
    mono, rate = read_as_is(path, start, end, channel=channel)
    return mono if rate == sampling_rate else resampled(mono, rate, sampling_rate)


def read_as_is(
    path: str | os.PathLike,
    start: float | None = None,
    end: float | None = None,
    *,
    channel: int | None = None,
) -> tuple[np.ndarray, int]:
    """Read a segment at the sampling rate of its file, see :func:`read`; gives the signal and the rate."""
    # This is done for every input of every model: what costs microseconds here costs seconds a corpus.
    if reason := files.irregularity(path):
        raise OSError(f"the audio cannot be read: {reason}")
    with open(path, "rb", buffering=0) as file:
        head = file.read(_HEAD)
        found = _read_plain(file, head, start, end)
        if found is not None:
            return _mono(found[0], channel), found[1]
        with _open(file, head, _extent(file, head)[2]) as sound:
            rate = sound.samplerate
            first, last = _frame(start, rate, 0), _frame(end, rate, _UNKNOWN)
            if first:
                sound.seek(first)
            # Behind the last frame nothing is read in vain.
            pieces = [_mono(piece, channel) for piece in _pieces(sound, min(last, sound.frames) - first)]
    if len(pieces) == 1:
        return pieces[0], rate
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.float32), rate


def _frame(seconds: float | None, rate: int, without: int) -> int:
    return without if seconds is None or math.isnan(seconds) else round(seconds * rate)


def _read_plain(
    file: io.FileIO, head: bytes, start: float | None, end: float | None
) -> tuple[np.ndarray, int] | None:
    """Read 16-bit WAV with nothing but its sound, float32 ``(frames, channels)``, and its rate.

    The same samples as of libsndfile in a fifth of the time; ``None`` for whatever is not exactly that.
    """
    if len(head) < _PLAIN.size:
        return None
    size = os.fstat(file.fileno()).st_size
    channels, rate = struct.unpack_from("<HI", head, 22)
    width = 2 * channels  # bytes of a frame
    about = (b"WAVEfmt ", 16, 1, channels, rate, rate * width, width, 16)
    try:
        expected = _PLAIN.pack(b"RIFF", size - 8, *about, b"data", size - _PLAIN.size)
    except struct.error:  # numbers that have no room in a header
        return None
    first = _frame(start, rate, 0)
    frames = (size - _PLAIN.size) // max(width, 1)
    count = min(_frame(end, rate, frames), frames) - first
    if not head.startswith(expected) or frames * width + _PLAIN.size != size or first < 0 or count < 1:
        return None
    file.seek(_PLAIN.size + first * width)
    data = file.read(count * width)
    if len(data) < count * width:
        return None
    return np.multiply(np.frombuffer(data, "<i2").reshape(-1, channels), _STEP, dtype=np.float32), rate


def _mono(piece: np.ndarray, channel: int | None) -> np.ndarray:
    """Give one channel of ``(frames, channels)``, or their mean; C-contiguous."""
    if channel is not None:
        return piece[:, channel].copy()
    if piece.shape[1] > 1:
        return piece.mean(axis=1, dtype=np.float32)
    return piece[:, 0] + 0.0  # what the mean gives, -0.0 included, in a tenth of the time


def resampled(mono: np.ndarray, rate: int, sampling_rate: int = SAMPLING_RATE) -> np.ndarray:
    """Bring a mono signal to another rate; float32, C-contiguous, a copy of its own."""
    if rate != sampling_rate and len(mono):
        mono = audresample.resample(mono, rate, sampling_rate)[0]
    return np.array(mono, dtype=np.float32, order="C")


def centred(signal: np.ndarray) -> np.ndarray:
    """Take away the mean unless it is negligible; gives float64, a new array."""
    signal = np.array(signal, dtype=np.float64)
    mean = signal.mean()
    if mean**2 * signal.size > NEGLIGIBLE * np.dot(signal, signal):
        signal -= mean
    return signal


def write(path: str | os.PathLike, signal: np.ndarray, sampling_rate: int) -> None:
    """Write a 16-bit WAV file; what exceeds full scale is clipped by the format."""
    buffer = io.BytesIO()  # closing a file of its own, libsndfile waits until the disk has it
    soundfile.write(buffer, np.clip(signal, -1, 1), sampling_rate, format="WAV", subtype="PCM_16")
    Path(path).write_bytes(buffer.getbuffer())


def encode_flac(signal: np.ndarray, sampling_rate: int) -> bytes:
    """Encode a signal as 16-bit FLAC without tags: same samples, same bytes.

    What exceeds full scale is clipped by the format; nothing is normalised.
    """
    buffer = io.BytesIO()
    clipped = np.clip(np.asarray(signal, dtype=np.float32), -1, 1)
    soundfile.write(buffer, clipped, sampling_rate, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()
