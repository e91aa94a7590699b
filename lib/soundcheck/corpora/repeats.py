"""What is in a corpus more than once: recordings, parts of files, and speakers of more than one split.

- Sounds with the same digest are the same recording; so are copies by their fingerprints, of the sounds that
  have one.
- Segments of one file that overlap are known from the times of the table, and are no copies.
- Recordings of one item under several conditions at the same time are meant to be alike, and are no copies.
- Of splits that are not evaluated only what is in the evaluated one, too, is reported.
- Fingerprints that share parts of codes at the same distance in time are candidates; nothing else is
  compared. Of many that share a part each is compared with the next, so that the work grows with the number
  of codes and not with its square, whatever is copied how often.
- Two sounds are copies if at most 15 % of the bits differ where they overlap, and they overlap by 80 % of the
  shorter one and by at least 20 codes (0.32 s) that tell something. Different recordings differ in half of
  their bits; the closest that were seen differ in 32 %.

A fingerprint is what a recording is known by at another gain, in another format, or cut at its ends. After
Haitsma and Kalker (2002), A highly robust audio fingerprinting system: one bit a frequency band and moment
tells whether the band gains on its neighbour or loses. Gain does nothing to it, coding little, and two
utterances of the same words have no more bits in common than any others. A code is 32 bits of a moment, every
16 ms, from energies of 33 bands of 94 Hz from 300 Hz to 3.4 kHz in windows of 128 ms. 0 stands for moments
30 dB or more below the loudest one: pauses tell nothing.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.sparse is loaded when first used

# Fingerprints -----------------------------------------------------------------------------------------------

RATE = 16000
LENGTH, STEP = 512, 256  # samples of a frame and between two
FIRST, BANDS, BINS = 10, 33, 3  # bin at which bands begin, how many there are, bins of each
SPAN = 8  # frames that a window holds, and after which it is compared with the next one
SILENT = 1e-3  # of the loudest moment's energy
AT_ONCE = 8192  # frames, so that memory stays bounded

_WINDOW = np.hanning(LENGTH).astype(np.float32)


def fingerprint(signal: np.ndarray, sampling_rate: int) -> str:
    """Compute the codes of a signal, as text.

    At 16 kHz; empty if the signal is shorter than 0.28 s or silent.
    """
    if len(signal) < LENGTH + 2 * SPAN * STEP or not np.any(signal):
        return ""
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(signal, dtype=np.float32), LENGTH)[::STEP]
    energies = []
    for begin in range(0, len(frames), AT_ONCE):
        spectra = scipy.fft.rfft(frames[begin : begin + AT_ONCE] * _WINDOW, axis=1)
        spectra = spectra[:, FIRST : FIRST + BANDS * BINS]
        power = np.square(spectra.real) + np.square(spectra.imag)
        energies.append(np.add.reduceat(power, np.arange(0, BANDS * BINS, BINS), axis=1))
    sums = np.cumsum(np.concatenate([np.zeros((1, BANDS)), *energies]), axis=0)
    windows = sums[SPAN:] - sums[:-SPAN]
    slopes = np.diff(windows, axis=1)
    bits = np.packbits(slopes[SPAN:] > slopes[:-SPAN], axis=1).view("<u4")[:, 0]
    loudness = windows[SPAN:].sum(axis=1)
    bits = np.where(loudness > SILENT * loudness.max(), bits, 0).astype("<u4")
    return base64.b64encode(bits.tobytes()).decode() if bits.any() else ""


def codes(text: str) -> np.ndarray:
    """Read a fingerprint, uint32 ``(moments,)``; 0 where it tells nothing."""
    return np.frombuffer(base64.b64decode(text), dtype="<u4")


# Copies -----------------------------------------------------------------------------------------------------

FEWEST = 20  # codes that tell something, of a sound that can be compared
DIFFERENT = 0.15  # of the bits, at most
OVERLAP = 0.8  # of the codes of the shorter one
PARTS = (0, 5, 10)  # first bits of the parts of a code that are looked up
PART = 22  # bits of a part
VOTES = 2  # parts in common that make a candidate
SAME_TIME = 1e-3  # seconds by which segments may touch


@dataclasses.dataclass(frozen=True)
class Repeated:
    """One recording that is there more than once."""

    files: tuple[str, ...]  # of its segments, each as often as it is there
    identical: bool  # whether all of them are the same bytes
    speakers: tuple[str, ...]  # different ones that its segments name; empty without such a column
    splits: tuple[str, ...]  # likewise
    differing: tuple[str, ...]  # tasks whose labels are not the same for all of its segments


@dataclasses.dataclass(frozen=True)
class Repeats:
    """What is in a corpus more than once."""

    recordings: tuple[Repeated, ...]  # those with the most segments first
    parallel: int  # segments of items that were recorded under several conditions at the same time
    overlapping: int  # segments that begin before another one of their file has ended
    overlapping_files: int  # files with such
    compared: int  # different sounds whose fingerprints were compared
    sounds: int  # different sounds
    others: int = 0  # segments of splits that are not evaluated with which they were compared


def find_repeats(
    table: pd.DataFrame,
    fingerprints: Mapping[str, str | None],
    tasks: Sequence[str],
    others: pd.DataFrame | None = None,
) -> Repeats:
    """Find what is in a corpus more than once.

    - ``fingerprints``: digest of the sound -> fingerprint, for the sounds that were listened to.
    - ``tasks``: names of tasks, whose labels ought to be the same for the same recording.
    - ``others``: segments of splits that are not evaluated, like ``table``.
    """
    evaluated, table = table, table if others is None else pd.concat([table, others], ignore_index=True)
    sounds = pd.Index(table["audio"].unique())  # those of the evaluated segments first
    known, unknown = {sound: codes(text) for sound, text in fingerprints.items() if text}, codes("")
    prints = [known.get(sound, unknown) for sound in sounds]
    number = dict(zip(sounds, together(copies(prints), len(sounds)), strict=True))
    overlapping = _overlapping(table)
    recording = table["audio"].map(number)
    several = table[recording.duplicated(keep=False)]
    recordings, parallel, of_items = [], 0, {"item", "condition"} <= {*table.columns}
    for _, rows in several.groupby(recording, sort=True):
        if rows.index[0] >= len(evaluated):
            continue
        one_item = of_items and rows["item"].notna().all() and rows["item"].nunique() == 1
        if one_item and rows["condition"].nunique() == len(rows):
            parallel += len(rows)
            continue
        within = rows.index[-1] < len(evaluated)  # what is in two splits is reported whatever the times
        if within and rows["file"].nunique() == 1 and rows["audio"].nunique() > 1:
            rows = rows[~overlapping[rows.index]]
        if len(rows) > 1:
            recordings.append(_repeated(rows, tasks))
    overlapping, count = overlapping[: len(evaluated)], evaluated["audio"].nunique()
    compared = sum(np.count_nonzero(sound_codes) >= FEWEST for sound_codes in prints[:count])
    return Repeats(
        tuple(sorted(recordings, key=lambda repeated: (-len(repeated.files), repeated.files))),
        parallel,
        int(overlapping.sum()),
        int(evaluated["file"][overlapping.to_numpy()].nunique()),
        compared,
        count,
        len(table) - len(evaluated),
    )


def speakers_in_splits(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Name the splits of a corpus, and the speakers that are in more than one of them."""
    if "split" not in table:
        return [], []
    splits = sorted(table["split"].dropna().unique())
    if "speaker" not in table:
        return splits, []
    each = table.groupby("speaker")["split"].nunique()
    return splits, sorted(each.index[each > 1])


def _overlapping(table: pd.DataFrame) -> pd.Series:
    """Say which segments begin before another one of their file has ended, bool by row."""
    begin = table["start"].fillna(0.0)
    end = table["end"].fillna(begin + table["duration"])
    order = pd.DataFrame({"file": table["file"], "begin": begin, "end": end}).sort_values(["file", "begin"])
    before = order.groupby("file")["end"].cummax().groupby(order["file"]).shift()
    inside = order["begin"] < before - SAME_TIME
    # The same part of the same file twice is a copy.
    twice = table[["file", "audio"]].duplicated()
    return inside.reindex(table.index) & ~twice


def _repeated(rows: pd.DataFrame, tasks: Sequence[str]) -> Repeated:
    def different(column: str) -> tuple[str, ...]:
        return tuple(sorted(map(str, rows[column].dropna().unique()))) if column in rows else ()

    return Repeated(
        tuple(rows["file"]),
        rows["audio"].nunique() == 1,
        different("speaker"),
        different("split"),
        tuple(task for task in tasks if len(different(task)) > 1),
    )


def copies(sounds: Sequence[np.ndarray]) -> np.ndarray:
    """Find pairs of sounds that are the same recording.

    - ``sounds``: codes of each sound, see :func:`codes`.
    - Returns int64 ``(pairs, 2)``, numbers of two sounds, the smaller first. Copies of copies are connected,
      but not every pair of them is listed: see :func:`together`.
    """
    lengths = np.array([len(sound_codes) for sound_codes in sounds], dtype=np.int64)
    if lengths.sum() == 0:
        return np.empty((0, 2), dtype=np.int64)
    every = np.concatenate(list(sounds)).astype(np.uint64)
    sound = np.repeat(np.arange(len(sounds)), lengths)
    moment = np.arange(len(every)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    telling = np.flatnonzero(every)
    span = 2 * int(lengths.max()) + 1  # distances in time that two sounds can have
    votes = []
    for bit in PARTS:
        part = (every[telling] >> np.uint64(bit)) & np.uint64(2**PART - 1)
        order = np.lexsort((telling, part))
        part, at = part[order], telling[order]
        near = (part[1:] == part[:-1]) & (sound[at[1:]] != sound[at[:-1]])
        first, second = at[:-1][near], at[1:][near]
        distance = moment[second] - moment[first] + span // 2
        votes.append((sound[first] * len(sounds) + sound[second]) * span + distance)
    candidates, counts = np.unique(np.concatenate(votes), return_counts=True)
    candidates = candidates[counts >= VOTES]
    pairs, distances = candidates // span, candidates % span - span // 2
    same = {
        (int(pair // len(sounds)), int(pair % len(sounds)))
        for pair, distance in zip(pairs, distances, strict=True)
        if _same(sounds[pair // len(sounds)], sounds[pair % len(sounds)], int(distance))
    }
    return np.array(sorted(same), dtype=np.int64).reshape(-1, 2)


def _same(first: np.ndarray, second: np.ndarray, distance: int) -> bool:
    """Say whether two sounds are the same recording, the second shifted by some codes against the first."""
    begin, length = max(0, -distance), min(len(first), len(second) - distance) - max(0, -distance)
    if length < OVERLAP * min(len(first), len(second)):
        return False
    one, other = first[begin : begin + length], second[begin + distance : begin + distance + length]
    telling = (one != 0) & (other != 0)
    if telling.sum() < FEWEST:
        return False
    return bool(np.bitwise_count(one[telling] ^ other[telling]).mean() <= 32 * DIFFERENT)


def together(pairs: np.ndarray, count: int) -> np.ndarray:
    """Give the number of each sound's recording, int ``(count,)``: what pairs connect is one."""
    ones = np.ones(len(pairs), dtype=bool)
    links = scipy.sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(links, directed=False)[1]
