"""What a speech person asks first of a corpus, in words and tables; each number with its count.

Conventions
-----------
- What is known of files comes from their headers, what is known of segments from the table.
- A range goes from the 5th to the 95th percentile; it describes segments and is no confidence interval.
- Where there is more than a page can show, the most frequent values come first and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.corpora.measures import MEASURES
from soundcheck.corpora.sound_formats import SoundFormat
from soundcheck.corpora.sound_sample import Measured
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import Cell, digits_for, number, table
from soundcheck.suite.groups import numbers_of

MOST = 6  # values that a fact names
LISTED = 200  # values of a column that a table lists
COLUMNS = ("sex", "language", "accent", "condition", "split")
_RANGE = (5, 95)


def facts_of(
    segments: pd.DataFrame, formats: Sequence[SoundFormat], sounds: Mapping[str, Measured], audio: bool
) -> list[tuple[str, str]]:
    """List facts with their names.

    Parameters
    ----------
    segments
        Segment table.
    formats
        How the files are stored.
    sounds
        From :func:`soundcheck.corpora.sound_sample.measured_sounds`.
    audio
        Whether the corpus has sounds.
    """
    length = numbers_of(segments, "duration")
    known = length[np.isfinite(length)]
    names = segments["file"].nunique()
    total = f"{many(len(segments), 'segment')} of {many(names, 'file')}"
    facts = [("speech", f"{hours(known.sum())} in {total}" if len(known) else f"{total}, length not known")]
    if len(known) < len(length):
        facts.append(("length not known", many(len(length) - len(known), "segment")))
    if not audio:
        facts.append(("audio", "none here: models that listen are not asked about this corpus"))
    if formats:
        bits = [(f"{one.bits} bit" if one.bits else "compressed, no fixed depth", one) for one in formats]
        told = {
            "sampling rate": _shares((kilohertz(one.sampling_rate), one) for one in formats),
            "channels": _shares((_channels(one.channels), one) for one in formats),
            "bit depth": _shares(bits),
            "format": _shares((one.name, one) for one in formats),
        }
        facts += told.items()
    if "speaker" in segments and segments["speaker"].notna().any():
        each = segments["speaker"].value_counts()
        without = int(segments["speaker"].isna().sum())
        more = f"; {many(without, 'segment')} without a speaker" if without else ""
        spoken = f"segments a speaker: median {each.median():g}, {each.min():,} to {each.max():,}"
        facts.append(("speakers", f"{len(each):,}; {spoken}{more}"))
    else:
        facts.append(("speakers", "not known"))
    for column in COLUMNS[:3]:
        if column in segments and segments[column].notna().any():
            facts.append((column, _values(segments, column)))
    if len(known):
        facts.append(("duration of a segment", _spread(known, "s", len(known), full=True)))
    for name, found in sounds.items():
        facts.append((MEASURES[name].title, _spread(found.values, MEASURES[name].unit, found.asked)))
    return facts


def hours(seconds: float) -> str:
    """Write a length, in the unit that people use for so much speech.

    Examples
    --------
    >>> hours(42.0), hours(600), hours(360_000)
    ('42.0 seconds', '10.0 minutes', '100.0 hours')
    """
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def kilohertz(rate: float) -> str:
    """Write a frequency.

    Examples
    --------
    >>> kilohertz(44100), kilohertz(8000)
    ('44.1 kHz', '8 kHz')
    """
    return f"{rate / 1000:g} kHz"


def many(count: int, noun: str) -> str:
    """Write a number with its noun, thousands apart."""
    return counted(count, noun).replace(str(count), f"{count:,}", 1)


def _channels(count: int) -> str:
    return "mono" if count == 1 else f"{count} channels"


def _shares(named: Iterable[tuple[str, SoundFormat]]) -> str:
    """Write ``16 kHz (1,200 files), 8 kHz (34 files)``, the most files first."""
    files: dict[str, int] = {}
    for name, one in named:
        files[name] = files.get(name, 0) + one.files
    ranked = sorted(files.items(), key=lambda pair: -pair[1])
    texts = [f"{name} ({many(count, 'file')})" for name, count in ranked[:MOST]]
    if len(ranked) > MOST:
        rest = sum(count for _, count in ranked[MOST:])
        texts.append(f"and {len(ranked) - MOST} more ({many(rest, 'file')})")
    return ", ".join(texts)


def _values(segments: pd.DataFrame, column: str) -> str:
    """Write ``female (20 speakers, 488 segments), male (...)``, the most frequent first."""
    counts = segments[column].value_counts()
    speakers = _speakers(segments, column)
    texts = []
    for value, count in counts.head(MOST).items():
        who = f"{many(speakers[value], 'speaker')}, " if value in speakers else ""
        texts.append(f"{shorten(str(value), 40)} ({who}{many(int(count), 'segment')})")
    if len(counts) > MOST:
        texts.append(f"and {len(counts) - MOST:,} more ({many(int(counts.iloc[MOST:].sum()), 'segment')})")
    if missing := int(segments[column].isna().sum()):
        texts.append(f"not known of {many(missing, 'segment')}")
    return ", ".join(texts)


def _speakers(segments: pd.DataFrame, column: str) -> dict[str, int]:
    if "speaker" not in segments or column == "speaker":
        return {}
    return segments.groupby(column)["speaker"].nunique().to_dict()


def _spread(values: np.ndarray, unit: str, asked: int, *, full: bool = False) -> str:
    low, median, high = np.percentile(values, (_RANGE[0], 50, _RANGE[1]))
    digits = min(2, digits_for(low, median, high))
    low, median, high = (number(value, digits) for value in (low, median, high))
    text = f"median {median} {unit}, 90 % from {low} to {high} {unit}"
    if full:
        ends = (number(value, digits) for value in (values.min(), values.max()))
        text += f", all from {' to '.join(ends)} {unit}"
    missing = f", {asked - len(values):,} more not measurable" if asked > len(values) else ""
    return f"{text} ({many(len(values), 'segment')}{missing})"


def heard_as(formats: Sequence[SoundFormat]) -> list[str]:
    """Say in sentences what becomes of the files before models hear them.

    Parameters
    ----------
    formats
        How they are stored.
    """
    half = kilohertz(SAMPLING_RATE / 2)
    rates: dict[int, int] = {}
    several: dict[int, int] = {}
    for one in formats:
        if one.sampling_rate != SAMPLING_RATE:
            rates[one.sampling_rate] = rates.get(one.sampling_rate, 0) + one.files
        if one.channels > 1:
            several[one.channels] = several.get(one.channels, 0) + one.files
    told = []
    for rate, files in sorted(rates.items()):
        what = f"{many(files, 'file')} of {kilohertz(rate)}: resampled to {kilohertz(SAMPLING_RATE)}, which "
        lost = f"takes away what is above {half}"
        told.append(what + (lost if rate > SAMPLING_RATE else f"adds nothing above {kilohertz(rate / 2)}"))
    if formats and not rates:
        told.append(f"All files have {kilohertz(SAMPLING_RATE)}: nothing was resampled")
    told += [
        f"{many(files, 'file')} of {channels} channels: models hear their mean"
        for channels, files in sorted(several.items())
    ]
    return told


def format_table(formats: Sequence[SoundFormat]) -> Html:
    """List how files are stored, a row a way."""
    rows = [
        [
            one.name,
            Cell(kilohertz(one.sampling_rate), one.sampling_rate, "sc-number"),
            one.channels,
            one.bits or "–",
            one.files,
            one.segments,
            Cell(hours(one.seconds), one.seconds, "sc-number"),
        ]
        for one in formats[:LISTED]
    ]
    columns = [
        "format",
        "sampling rate",
        "channels",
        "bits a sample",
        "files",
        "segments",
        "length",
    ]
    more = f"… and {len(formats) - LISTED} more formats." if len(formats) > LISTED else ""
    return join([table(rows, columns), element("p", more) if more else Html()])


def value_table(segments: pd.DataFrame, columns: Sequence[str]) -> Html:
    """List the values of columns, with segments, speakers and length; empty without any.

    Parameters
    ----------
    segments
        Segment table.
    columns
        Columns of words; those that the table does not have are passed over.
    """
    length = pd.Series(numbers_of(segments, "duration"), segments.index)
    rows: list[list[object]] = []
    cut: list[str] = []
    for column in dict.fromkeys(columns):
        if column not in segments or not segments[column].notna().any():
            continue
        counts = segments[column].value_counts()
        speakers = _speakers(segments, column)
        seconds = length.groupby(segments[column]).sum(min_count=1)
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
        for value, count in sorted(ranked[:LISTED], key=lambda pair: str(pair[0])):
            rows.append([column, str(value), int(count), speakers.get(value, ""), _length(seconds[value])])
        if len(ranked) > LISTED:
            rest = sum(count for _, count in ranked[LISTED:])
            cut.append(f"{column}: {len(ranked) - LISTED:,} more values, {many(int(rest), 'segment')}")
        missing = segments[column].isna()
        if missing.any():
            name = element("em", "not known")
            rows.append([column, name, int(missing.sum()), "", _length(length[missing].sum(min_count=1))])
    if not rows:
        return Html()
    shown = table(rows, ["column", "value", "segments", "speakers", "length"])
    return join([shown, *(element("p", f"… {text}.") for text in cut)])


def _length(seconds: float) -> Cell | str:
    return Cell(hours(seconds), seconds, "sc-number") if np.isfinite(seconds) else ""
