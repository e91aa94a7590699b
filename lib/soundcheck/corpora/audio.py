"""Audio in and out: what a file is, what it sounds like at 16 kHz mono, and how sounds get into the book.

Conventions
-----------
- A signal is float32, shape ``(samples,)``, mono (mean of the channels), at 16 kHz, never normalised.
- The content tells what a file is, not its name. WAV, FLAC, Ogg (Vorbis, Opus), MP3 and AIFF are read, in
  encodings by list; libsndfile decodes all of them. audiofile would choose by the extension and call other
  programs for what it does not know, so it writes files here but does not open those of others.
- Nothing is opened that is not a regular file, and no sample is read before length and rate are bearable.
- libsndfile trusts headers, repairs lengths silently and starts decoders while it opens a file. So the
  chunks of WAV and AIFF files are walked here first: encoding, promised and real length.
"""

from __future__ import annotations

import dataclasses
import io
import math
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import audiofile
import audresample
import numpy as np
import soundfile

from soundcheck.common import files

SAMPLING_RATE = 16000
RATES = (1000, 768000)  # Hz
LOUDEST = 1000.0  # largest sample of a float file that can be meant
CANCELLED = 20.0  # dB that the mix of channels may lie below the loudest of them
SHORTEST = 0.01  # seconds
FORMATS = {"WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3", "AIFF"}
SUBTYPES = {
    *("PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"),
    *("VORBIS", "OPUS", "MPEG_LAYER_III"),
}

_SAMPLES = 1 << 20  # decoded at a time, all channels together
_UNKNOWN = 1 << 60  # as many frames are "promised" by streams that do not know their length
_CHUNKS = 10000  # that the walk through a file visits
_STREAM = (0, 2**32 - 1, 2**64 - 1)  # lengths that streams write because they know no better
_WAV_TAGS = {1, 3, 6, 7, 0x55}  # integer, float, A-law, mu-law, MP3
_EXTENSIBLE = 0xFFFE
_AIFF_TAGS = {
    *(b"NONE", b"none", b"sowt", b"twos", b"raw ", b"in24", b"42ni", b"in32", b"23ni"),
    *(b"fl32", b"FL32", b"fl64", b"FL64", b"alaw", b"ALAW", b"ulaw", b"ULAW"),
}


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """What a look at a file tells.

    Parameters
    ----------
    digest
        Hash of the file's bytes; empty if it could not be read.
    sampling_rate, channels, frames
        As decoded.
    duration
        In seconds.
    problem
        Why the file cannot be used, a short sentence without path; empty if it can.
    notice
        What is odd although it can be used.
    """

    digest: str = ""
    sampling_rate: int = 0
    channels: int = 0
    frames: int = 0
    duration: float = 0.0
    problem: str = ""
    notice: str = ""


def inspect(path: Path, limit_seconds: float) -> AudioInfo:
    """Look at a file: decode all of it and say whether it can be used.

    Parameters
    ----------
    path
        Any path; nothing is opened that is not a regular file.
    limit_seconds
        Longest file that is read.

    Returns
    -------
    Facts
        Never raises for a bad file.
    """
    if reason := files.irregularity(path):
        return AudioInfo(problem=reason)
    try:
        with open(path, "rb") as file:
            content = files.digest(Path(path))
            facts = _look(file, limit_seconds)
    except OSError as error:
        return AudioInfo(problem=error.strerror or "the file cannot be read")
    return dataclasses.replace(facts, digest=content)


@dataclasses.dataclass(frozen=True)
class _Layout:
    """What the chunks of a file tell: bytes of sound promised and there, where an unknown length stands."""

    problem: str = ""
    promised: int = 0
    there: int = 0
    unknown_at: int = -1


class _Bytes:
    """A file without a name, so that nothing is concluded from its extension.

    A length of 0 that a stream left in a WAV header (at ``unknown_at``) is read as "to the end".
    """

    def __init__(self, file: io.BufferedReader, unknown_at: int = -1) -> None:
        self._file = file
        self._unknown_at = unknown_at
        self.tell = file.tell
        file.seek(0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self._file.seek(offset, whence)
        except (OSError, ValueError):  # a damaged header points before the beginning of the file
            return self._file.seek(0)

    def read(self, size: int = -1) -> bytes:
        position = self._file.tell()
        data = self._file.read(size)
        for offset in range(self._unknown_at, self._unknown_at + 4):
            if self._unknown_at >= 0 and position <= offset < position + len(data):
                data = data[: offset - position] + b"\xff" + data[offset - position + 1 :]
        return data


def _look(file: io.BufferedReader, limit_seconds: float) -> AudioInfo:
    head = file.read(64)
    container = _container(head)
    if not head:
        return AudioInfo(problem="0 bytes, the file is empty")
    if head.startswith(b"version https://git-lfs"):
        return AudioInfo(problem="this is a git-lfs pointer, not the sound; run git lfs pull")
    start = _after_tag(file, head)
    if not container or (start and _container(start) not in ("MP3", "FLAC") and any(start)):
        return AudioInfo(problem="no audio format that is read here (WAV, FLAC, Ogg, MP3, AIFF)")
    layout = _layout(file, container)
    if layout.problem:
        return AudioInfo(problem=layout.problem)
    slack = _slack(file) if container == "MP3" else 0
    try:
        with soundfile.SoundFile(_Bytes(file, layout.unknown_at)) as sound:
            return _listen(sound, layout, slack, limit_seconds)
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError) as error:
        return AudioInfo(problem=f"the file cannot be decoded ({_plain(error)})")


def _plain(error: Exception) -> str:
    """Give the decoder's reason without the file object that it names."""
    return str(error).rsplit(": ", 1)[-1].strip().rstrip(".")[:120]


def _container(head: bytes) -> str:
    """Tell the container by its first bytes; empty if it is none that is read."""
    if head[:4] in (b"RIFF", b"RF64", b"RIFX") and head[8:12] == b"WAVE":
        return "WAV"
    if head[:4] == b"fLaC":
        return "FLAC"
    if head[:4] == b"OggS":
        return "OGG"
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "AIFF"
    frame_sync = len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 != 0
    return "MP3" if head[:3] == b"ID3" or frame_sync else ""


def _after_tag(file: io.BufferedReader, data: bytes) -> bytes:
    """Read on behind the tags of an MP3 file, where any format may hide; empty if there is none."""
    position = 0
    while data[:3] == b"ID3" and len(data) >= 10:
        sizes = zip(data[6:10], (21, 14, 7, 0), strict=True)
        position += 10 + sum((byte & 0x7F) << shift for byte, shift in sizes)
        file.seek(position)
        data = file.read(256)
    return data if position else b""


def _slack(file: io.BufferedReader) -> int:
    """Give the frames that an MP3 file may lack: three blocks, or any if its length is only estimated."""
    file.seek(0)
    frame = _after_tag(file, head := file.read(256)) or head
    return 3 * 1152 if b"Xing" in frame or b"Info" in frame else _UNKNOWN


def _layout(file: io.BufferedReader, container: str) -> _Layout:
    """Walk the chunks of a WAV or AIFF file; other containers have checks of their own in the decoder."""
    if container not in ("WAV", "AIFF"):
        return _Layout()
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    form = file.read(4)
    order = ">" if form in (b"RIFX", b"FORM") else "<"
    whole = struct.unpack(f"{order}I", file.read(4))[0]
    aifc = file.read(4) == b"AIFC"
    position, known, long, layout = 12, False, 0, _Layout()
    for _ in range(_CHUNKS):
        file.seek(position)
        head = file.read(8)
        if len(head) < 8:
            break
        name, length = struct.unpack(f"{order}4sI", head)
        body = file.read(40) if name in (b"ds64", b"fmt ", b"COMM") else b""
        there = size - position - 8
        if name == b"ds64" and len(body) >= 16:
            long = struct.unpack("<Q", body[8:16])[0]
        elif name in (b"fmt ", b"COMM"):
            known = True
            if problem := _encoding(name, body[:length], order, aifc):
                return _Layout(problem=problem)
        elif name in (b"data", b"SSND"):
            if length == 0xFFFFFFFF and long:
                length = long
            rest = there - length - length % 2
            if length in _STREAM:
                streamed = length != 0 or whole in _STREAM or whole <= position
                unknown_at = position + 4 if streamed and length == 0 and there else -1
                layout = dataclasses.replace(layout, unknown_at=unknown_at)
                break
            layout = dataclasses.replace(layout, promised=length, there=min(there, length))
            much = rest > max(1000, length // 10) and whole + 8 >= size
            if much and not _is_chunk(file, size - rest, size, order):
                layout = dataclasses.replace(layout, there=there)
        if position + 8 + length > size:
            break
        position += 8 + length + length % 2
    return layout if known else _Layout(problem="the file cannot be decoded (its header tells no encoding)")


def _is_chunk(file: io.BufferedReader, position: int, size: int, order: str) -> bool:
    """Tell whether a chunk begins here: a readable name and a length that fits."""
    file.seek(position)
    head = file.read(8)
    if len(head) < 8:
        return False
    name, length = struct.unpack(f"{order}4sI", head)
    return all(0x20 <= byte < 0x7F for byte in name) and position + 8 + length <= size


def _encoding(name: bytes, body: bytes, order: str, aifc: bool) -> str:
    """Say that an encoding is none of those read here, before the decoder sees the file."""
    if name == b"COMM":
        tag = body[18:22] if aifc else b"NONE"
        return (
            "" if tag in _AIFF_TAGS else f"the encoding {tag.decode('ascii', 'replace')!r} is not read here"
        )
    if len(body) < 16:
        return "the file cannot be decoded (its format chunk is too short)"
    tag = struct.unpack(f"{order}H", body[:2])[0]
    if tag == _EXTENSIBLE and len(body) >= 26:
        tag = struct.unpack(f"{order}H", body[24:26])[0]
    named = {2: "MS ADPCM", 0x11: "IMA ADPCM", 0x31: "GSM"}.get(tag, f"{tag:#06x}")
    return "" if tag in _WAV_TAGS else f"the encoding {named} is not read here"


def _pieces(sound: soundfile.SoundFile, frames: int = _UNKNOWN) -> Iterator[np.ndarray]:
    """Decode at most ``frames`` frames in pieces of bounded size, float32 ``(frames, channels)``."""
    step = max(1, _SAMPLES // sound.channels)
    while frames > 0 and len(piece := sound.read(min(step, frames), dtype="float32", always_2d=True)):
        frames -= len(piece)
        yield piece


def _listen(sound: soundfile.SoundFile, layout: _Layout, slack: int, limit_seconds: float) -> AudioInfo:
    """Decode a sound in pieces and judge it."""
    rate, channels, promised = sound.samplerate, sound.channels, sound.frames
    known = AudioInfo(sampling_rate=rate, channels=channels)
    if sound.format not in FORMATS or sound.subtype not in SUBTYPES:
        problem = f"the encoding {sound.format} {sound.subtype} is not read here"
        return dataclasses.replace(known, problem=problem)
    if not RATES[0] <= rate <= RATES[1]:
        problem = f"a sampling rate of {rate} Hz, allowed are {RATES[0]} to {RATES[1]} Hz"
        return dataclasses.replace(known, problem=problem)
    if promised / rate > limit_seconds and promised < _UNKNOWN:
        problem = f"{promised / rate:.0f} s long, more than the limit of {limit_seconds:g} s"
        return dataclasses.replace(known, problem=problem)
    frames, largest, finite = 0, 0.0, True
    power, mixed = np.zeros(channels), 0.0
    for piece in _pieces(sound):
        frames += len(piece)
        finite = finite and bool(np.isfinite(piece).all())
        if not finite or frames / rate > limit_seconds:
            break
        wide = piece.astype(np.float64)
        largest = max(largest, float(np.abs(wide).max()))
        power += (wide**2).sum(axis=0)
        mixed += float((wide.mean(axis=1) ** 2).sum())
    known = dataclasses.replace(known, frames=frames, duration=frames / rate)
    problem = notice = ""
    if not finite:
        problem = "samples that are not numbers (NaN or infinite)"
    elif frames / rate > limit_seconds:
        problem = f"longer than the limit of {limit_seconds:g} s"
    elif cut := _cut(layout, frames, promised, rate, slack):
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
    return dataclasses.replace(known, problem=problem, notice=notice)


def _cut(layout: _Layout, frames: int, promised: int, rate: int, slack: int) -> str:
    """Say that a file holds less sound than its header promises, or more."""
    wanted, there = promised, frames
    if layout.there != layout.promised:
        if not frames:
            return f"the file is cut (truncated): {layout.there} of {layout.promised} bytes are there"
        unit = frames / max(1, min(layout.there, layout.promised))
        wanted, there = layout.promised * unit, layout.there * unit
    elif promised >= _UNKNOWN or there + slack >= wanted:
        return ""
    start = (
        "the file is cut (truncated)" if there < wanted else "the lengths in the file contradict each other"
    )
    return f"{start}: the header promises {wanted / rate:.3f} s, {there / rate:.3f} s are there"


def read(
    path: str | os.PathLike,
    start: float | None = None,
    end: float | None = None,
    sampling_rate: int = SAMPLING_RATE,
    *,
    channel: int | None = None,
) -> np.ndarray:
    """Read a segment.

    Parameters
    ----------
    path
        A file that :func:`inspect` found usable.
    start, end
        Seconds; ``None`` or NaN = bound of the file.
    sampling_rate
        Rate of the result in Hz.
    channel
        Number of the channel to read, from 0; ``None`` = mean of all.

    Returns
    -------
    numpy.ndarray
        float32 ``(samples,)``, mono, C-contiguous, a copy of its own.

    Raises
    ------
    OSError, soundfile.LibsndfileError
        If the file vanished or changed meanwhile.
    """
    if reason := files.irregularity(path):
        raise OSError(f"the audio cannot be read: {reason}")
    with open(path, "rb") as file:
        layout = _layout(file, _container(file.read(64)))
        if layout.problem:
            raise OSError(f"the audio cannot be read: {layout.problem}")
        with soundfile.SoundFile(_Bytes(file, layout.unknown_at)) as sound:
            rate = sound.samplerate
            first = round(start * rate) if start is not None and not math.isnan(start) else 0
            last = round(end * rate) if end is not None and not math.isnan(end) else _UNKNOWN
            if first:
                sound.seek(first)
            pieces = [
                piece.mean(axis=1, dtype=np.float32) if channel is None else piece[:, channel].copy()
                for piece in _pieces(sound, last - first)
            ]
    mono = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.float32)
    if rate != sampling_rate and len(mono):
        mono = audresample.resample(mono, rate, sampling_rate)[0]
    return np.array(mono, dtype=np.float32, order="C")


def write(path: str | os.PathLike, signal: np.ndarray, sampling_rate: int) -> None:
    """Write a 16-bit WAV file; what exceeds full scale is clipped by the format."""
    audiofile.write(os.fspath(path), np.clip(signal, -1, 1), sampling_rate, bit_depth=16)


def encode_flac(signal: np.ndarray, sampling_rate: int) -> bytes:
    """Encode a signal as 16-bit FLAC without tags: same samples, same bytes.

    What exceeds full scale is clipped by the format; nothing is normalised.
    """
    buffer = io.BytesIO()
    clipped = np.clip(np.asarray(signal, dtype=np.float32), -1, 1)
    soundfile.write(buffer, clipped, sampling_rate, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()
