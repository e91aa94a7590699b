"""Audio in and out: what a file is, what it sounds like at 16 kHz mono, and how sounds get into the book.

- A signal is float32, shape ``(samples,)``, mono (mean of the channels), at 16 kHz, never normalised.
- The content tells what a file is, not its name. WAV, FLAC, Ogg (Vorbis, Opus), MP3 and AIFF are read, in
  encodings by list; libsndfile decodes all of them.
- Nothing is opened that is not a regular file, and no sample is read before encoding, length and rate are
  bearable.
- libsndfile silently reads what there is of a file that is cut: the lengths in the headers of WAV and AIFF
  are compared with the file here. A length that a stream left in a header because it could not know better
  promises what is there.
"""

from __future__ import annotations

import dataclasses
import io
import math
import mmap
import os
import re
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
_BEGINS = re.compile(  # first page of a stream, or first frame where that tells the length
    rb"OggS\0[\2\6]|\xff[\xe2-\xff]..\0{9,32}(?:Xing|Info)\0\0\0[\1-\x0f]", re.DOTALL
)
_TOGETHER = 1000  # bytes within which pages of streams begin that are heard at the same time
# From here on a length that no file has is a placeholder; those of 32 bits begin with that of SoX for AIFF
_PLACEHOLDERS = {4: 0x7EFF0000, 8: 1 << 62}
_PADDING = 3 * 1152  # frames that an MP3 file may lack
_CHUNKS = 1000  # of a file that are looked at


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """What a look at a file tells."""

    digest: str = ""  # hash of the file's bytes; empty if it could not be read
    sampling_rate: int = 0
    channels: int = 0
    frames: int = 0
    duration: float = 0.0  # in seconds
    problem: str = ""  # why the file cannot be used, a short sentence without path; empty if it can
    notice: str = ""  # what is odd although it can be used
    offset: float = 0.0  # mean of the samples
    raised: float = 0.0  # dB by which the mean raises their level
    container: str = ""  # of FORMATS, as the header says; empty if it could not be read
    encoding: str = ""  # of SUBTYPES


def inspect(path: Path, limit_seconds: float) -> AudioInfo:
    """Look at a file: decode all of it and say whether it can be used. Never raises for a bad file."""
    if reason := files.irregularity(path):
        return AudioInfo(problem=reason)
    try:
        with open(path, "rb", buffering=0) as file:
            content = files.digest(Path(path))
            info = _inspect(file, limit_seconds)
    except OSError as error:
        return AudioInfo(problem=error.strerror or "the file cannot be read")
    return dataclasses.replace(info, digest=content)


def _inspect(file: io.FileIO, limit_seconds: float) -> AudioInfo:
    head = os.pread(file.fileno(), 64, 0)
    if not head:
        return AudioInfo(problem="0 bytes, the file is empty")
    if head.startswith(b"version https://git-lfs"):
        return AudioInfo(problem="this is a git-lfs pointer, not the sound; run git lfs pull")
    try:
        promised, present, corrections = _extent(file)
        with _open(file, corrections) as sound:
            about = {"container": sound.format, "encoding": sound.subtype}
            info = AudioInfo(sampling_rate=sound.samplerate, channels=sound.channels, **about)
            if problem := _refusal(sound, file, limit_seconds):
                return dataclasses.replace(info, problem=problem)
            return _decode(sound, info, promised, present, limit_seconds)
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError) as error:
        # without the name of the file object
        reason = str(error).rsplit(": ", 1)[-1].strip().rstrip(".")[:120]
        if "not recognised" in reason:
            return AudioInfo(problem=f"no audio format that is read here; {CONVERT}")
        return AudioInfo(problem=f"the file cannot be decoded ({reason})")


def _refusal(sound: soundfile.SoundFile, file: io.FileIO, limit_seconds: float) -> str:
    """Say why a sound is not read; empty if it is."""
    rate, seconds = sound.samplerate, sound.frames / sound.samplerate
    if sound.format not in FORMATS or sound.subtype not in SUBTYPES:
        return f"the encoding {sound.format} {sound.subtype} is not read here; {CONVERT}"
    if not RATES[0] <= rate <= RATES[1]:
        return f"a sampling rate of {rate} Hz, allowed are {RATES[0]} to {RATES[1]} Hz"
    if seconds > limit_seconds and sound.frames < _UNKNOWN:
        return too_long(seconds, limit_seconds)
    if sound.format in ("OGG", "MP3") and _chained(file):
        return f"several streams one after the other, of which only the first could be read; {CONVERT}"
    return ""


def _decode(
    sound: soundfile.SoundFile, info: AudioInfo, promised: int, present: int, limit_seconds: float
) -> AudioInfo:
    """Decode a sound in pieces and judge it."""
    rate, channels = sound.samplerate, sound.channels
    frames, largest, finite = 0, 0.0, True
    power, mixed, total = np.zeros(channels), 0.0, 0.0
    for piece in _pieces(sound, sound.frames):
        frames += len(piece)
        finite = finite and bool(np.isfinite(piece).all())
        if not finite or frames / rate > limit_seconds:
            break
        wide = piece.astype(np.float64)
        largest = max(largest, float(np.abs(wide).max()))
        power += (wide**2).sum(axis=0)
        mono = wide.mean(axis=1)
        mixed, total = mixed + float((mono**2).sum()), total + float(mono.sum())
    limit = f"longer than the limit of {limit_seconds:g} s, which is `limits: {{audio_seconds: ...}}`"
    few = f"{frames} sample{'s' if frames > 1 else ''}, less than {SHORTEST * 1000:g} ms"
    faults = (
        (not finite, "samples that are not numbers (NaN or infinite)"),
        (frames / rate > limit_seconds, limit),
        (cut := _contradiction(sound, promised, present, frames), cut),
        (frames == 0, "0 samples"),
        (largest > LOUDEST, f"an absurd level, samples up to {largest:.3g} where full scale is 1"),
        (frames < SHORTEST * rate, few),
    )
    problem = next((what for fault, what in faults if fault), "")
    below = 10 * math.log10(max(power.max(), 1e-30) / max(mixed, 1e-30))
    notice = f"the mix of its {channels} channels is {min(below, 200):.0f} dB below the loudest one"
    offset = total / max(frames, 1)
    raised = -10 * math.log10(max(1 - frames * offset**2 / max(mixed, 1e-30), 1e-20))
    return dataclasses.replace(
        info,
        frames=frames,
        duration=frames / rate,
        problem=problem,
        notice=notice if not problem and below > CANCELLED else "",
        offset=offset,
        raised=raised,
    )


def too_long(seconds: float, limit: float, needed: float | None = None) -> str:
    """Say that a sound is longer than the limit, and which limit would do."""
    remedy = f"declare `limits: {{audio_seconds: {math.ceil(round(needed or seconds, 6))}}}`"
    return f"{seconds:.10g} s long, more than the limit of {limit:g} s: {remedy}"


def _contradiction(sound: soundfile.SoundFile, promised: int, present: int, frames: int) -> str:
    """Say that a file holds less sound than its header promises, or more; sizes of WAV and AIFF in bytes."""
    wanted, length = sound.frames, frames
    if promised != present:
        if not frames:
            return f"the file is cut (truncated): {present} of {promised} bytes are there"
        unit = frames / max(1, min(present, promised))
        wanted, length = promised * unit, present * unit
    elif wanted >= _UNKNOWN or length + _PADDING * (sound.subtype == "MPEG_LAYER_III") >= wanted:
        return ""
    is_cut = length < wanted
    what = "the file is cut (truncated)" if is_cut else "the lengths in the file contradict each other"
    wanted, length = wanted / sound.samplerate, length / sound.samplerate
    digits = 3 if abs(wanted - length) > 0.001 else 6  # two numbers that differ
    return f"{what}: the header promises {wanted:.{digits}f} s, {length:.{digits}f} s are there"


# Containers -------------------------------------------------------------------------------------------------


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


def _open(file: io.FileIO, corrections: Mapping[int, bytes]) -> _Sound:
    """Open a file without its name, so that nothing is concluded from the extension.

    ``corrections`` are bytes of the header by their place, changed in memory only.
    """
    file.seek(0)
    if corrections:
        content = bytearray(file.read())
        for place, correct in corrections.items():
            content[place : place + len(correct)] = correct
        return _Sound(io.BytesIO(content))
    if _is_mp3_without_length(file):
        file = _Stretched(file.fileno(), closefd=False)
        file.seek(0)
        return _Estimated(file)
    return _Sound(file.fileno(), closefd=False)


def _is_mp3_without_length(file: io.FileIO) -> bool:
    """Say whether this is an MP3 file, perhaps behind tags, whose first frame does not tell its length."""
    place, sizes = 0, (21, 14, 7, 0)
    while (head := os.pread(file.fileno(), 256, place))[:3] == b"ID3" and len(head) >= 10:
        place += 10 + sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], sizes, strict=True))
    is_frame = len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 != 0
    return is_frame and not any(name in head for name in (b"Xing", b"Info", b"VBRI"))


def _chained(file: io.FileIO) -> bool:
    """Say whether an Ogg or MP3 stream begins behind another one, as in files that were put together."""
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    places = [match.start() for match in _BEGINS.finditer(content)]
    return bool(places) and places[-1] - places[0] > _TOGETHER


def _extent(file: io.FileIO) -> tuple[int, int, dict[int, bytes]]:
    """Tell how many bytes of sound the header of a WAV or AIFF file promises and how many are there.

    Then the corrections with which all of it is read. Equal numbers if there is nothing to tell.
    """
    head = os.pread(file.fileno(), 12, 0)
    form, kind = head[:4], head[8:12]
    if not (form in (b"RIFF", b"RF64", b"BW64", b"RIFX") and kind == b"WAVE") and not (
        form == b"FORM" and kind in (b"AIFF", b"AIFC")
    ):
        return 0, 0, {}
    order = "big" if form in (b"RIFX", b"FORM") else "little"
    size, long = os.fstat(file.fileno()).st_size, 0
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
    promised, present = max(0, length - before), max(0, size - begin)
    corrections = {0: b"RF64"} if form == b"BW64" else {}
    rest = present - promised
    if length >= _PLACEHOLDERS[width] if rest < 0 else not promised and not _only_chunks(file, begin, order):
        corrections[field] = min(present + before, 256**width - 1).to_bytes(width, order)
        return present, present, corrections
    is_whole = int.from_bytes(head[4:8], order) + 8 >= size  # else something was added behind it
    behind = begin + promised + promised % 2
    if rest > max(1000, promised // 10) and is_whole and not _only_chunks(file, behind, order):
        return promised, present, corrections
    return promised, min(promised, present), corrections


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


# Signals ----------------------------------------------------------------------------------------------------


def read(
    path: str | os.PathLike,
    start: float | None = None,
    end: float | None = None,
    sampling_rate: int = SAMPLING_RATE,
    *,
    channel: int | None = None,
) -> np.ndarray:
    """Read a segment of a file that :func:`inspect` can use: float32 ``(samples,)``, mono, C-contiguous.

    - ``start, end``: seconds; ``None`` or NaN = bound of the file.
    - ``channel``: number of the channel to read, from 0; ``None`` = mean of all.
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
    if reason := files.irregularity(path):
        raise OSError(f"the audio cannot be read: {reason}")
    with open(path, "rb", buffering=0) as file, _open(file, _extent(file)[2]) as sound:
        rate = sound.samplerate
        first = 0 if start is None or math.isnan(start) else round(start * rate)
        last = sound.frames if end is None or math.isnan(end) else min(round(end * rate), sound.frames)
        if first:
            sound.seek(first)
        pieces = [_mono(piece, channel) for piece in _pieces(sound, last - first)]
    if len(pieces) == 1:
        return pieces[0], rate
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.float32), rate


def _pieces(sound: soundfile.SoundFile, frames: int) -> Iterator[np.ndarray]:
    """Decode at most ``frames`` frames in pieces of bounded size, float32 ``(frames, channels)``."""
    step = max(1, _SAMPLES // sound.channels)
    while frames > 0 and len(piece := sound.read(min(step, frames), dtype="float32", always_2d=True)):
        frames -= len(piece)
        yield piece


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


def encode(signal: np.ndarray, sampling_rate: int, form: str = "FLAC") -> bytes:
    """Encode a signal in 16 bit without tags, clipped at full scale: same samples, same bytes."""
    buffer = io.BytesIO()
    soundfile.write(buffer, np.clip(signal, -1, 1), sampling_rate, format=form, subtype="PCM_16")
    return buffer.getvalue()


def write(path: str | os.PathLike, signal: np.ndarray, sampling_rate: int) -> None:
    """Write a WAV file as :func:`encode` does: libsndfile waits until the disk has one of its own."""
    Path(path).write_bytes(encode(signal, sampling_rate, "WAV"))


def encode_flac(signal: np.ndarray, sampling_rate: int) -> bytes:
    """Encode a signal as FLAC, see :func:`encode`."""
    return encode(np.asarray(signal, dtype=np.float32), sampling_rate)
