"""What the audit of a corpus found, in sentences and tables; and the sentence that pages of fairness carry.

Conventions
-----------
- A difference is the group minus the others. What is beyond chance is told in words, not by colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.evaluation.corpus_audit import SHARE, Audit, Difference, MeanOf
from soundcheck.report.corpus_tables import many
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.measured_tables import ALL
from soundcheck.report.tables import Cell, digits_for, number, table
from soundcheck.report.verdict_tables import anchor_of, p_value
from soundcheck.suite.groups_reader import MOST_ADJUSTED

SENTENCES = 12  # differences that are told in words
NAMED = 3  # on a page of fairness, of a column
LISTED = 50  # recordings that are there more than once
FILES = 3  # of such a recording that are named

# Measures that are unknown where nothing stands out from the noise.
_STANDING_OUT = ("signal_to_noise", "silence")


def audited(found: Audit, audio: bool) -> Html:
    """Show what an audit found.

    Parameters
    ----------
    found
        The audit.
    audio
        Whether the corpus has sounds.
    """
    told = [
        *_differences(found),
        *_repeats(found, audio),
        *_splits(found),
        *_unchanging(found),
        *_unmeasured(found),
    ]
    recorded = [one for one in found.means if one.recorded]
    labels = [one for one in found.means if not one.recorded]
    parts = [element("ul", *(element("li", text, limit=None) for text in told))]
    for what, own in (("the recordings", recorded), ("labels", labels)):
        if own:
            caption = f"Means by group and differences to the others, with 95 % intervals: {what}"
            groups = len({(one.column, one.group) for one in own if one.column})
            shown = _mean_table(own, found.differences, caption)
            parts.append(folded(f"{caption}, {counted(groups, 'group')}", [shown]))
    if found.repeats.recordings:
        parts.append(_copies(found))
    return join(parts)


def recorded_otherwise(rows: pd.DataFrame, audits: Mapping[str, Audit], addresses: Mapping[str, str]) -> Html:
    """Say at the top of a page of fairness which of its groups were recorded otherwise; empty if none.

    Parameters
    ----------
    rows
        Rows of the page in the results table.
    audits, addresses
        Name of the corpus -> its audit, and the address of its page.
    """
    lines = []
    compared = rows[rows["group"].fillna("").ne("") & rows["value"].notna()]
    named = {group: group.partition(": ") for group in compared["group"].unique()}
    columns = compared["group"].map(lambda group: named[group][0])
    for (corpus, column), own in compared.groupby([compared["corpus"], columns], sort=True):
        groups = {named[group][2] for group in own["group"]}
        found = audits[corpus].found(column) if corpus in audits else []
        # Of two groups one stands for both.
        found = [one for one in found if one.recorded and (one.group in groups or len(groups) == 2)]
        if found:
            lines.append(_warning(corpus, found, audits[corpus].adjust, addresses[corpus], own))
    return element("div", *lines, class_="sc-notice", role="note") if lines else Html()


def _warning(
    corpus: str, found: Sequence[Difference], adjust: Sequence[str], address: str, rows: pd.DataFrame
) -> Html:
    told = "; ".join(_sentence(one, brief=True) for one in found[:NAMED])
    more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
    what = f"Groups of {shorten(found[0].column, 40)} in {shorten(corpus, 40)} were recorded otherwise:"
    audit = element("a", "audit", href=f"{address}#audit")
    parts = [
        element("strong", what),
        f" {told}{more} (",
        audit,
        "). Differences between them may come from this",
    ]
    names = dict.fromkeys(one.name for one in found)
    adjusted = rows[rows["adjusted_by"].fillna("").ne("")]
    if len(adjusted) and any(name in adjust for name in names):
        place = f"#{anchor_of(next(adjusted.itertuples()))}"
        parts += ["; the table of verdicts has ", element("a", "gaps adjusted for it", href=place)]
    missing = [name for name in names if name not in adjust]
    if missing and rows["gap"].notna().any():
        keys = ", ".join([*adjust, *missing][:MOST_ADJUSTED])
        key = element("code", f"adjust: [{keys}]", limit=None)
        parts += [
            "; ",
            key,
            " in the suite, below this corpus, shows what is left of them if both had the same",
        ]
    return element("div", *parts, ".", limit=None)


def _mean_table(means: Sequence[MeanOf], differences: Sequence[Difference], caption: str) -> Html:
    """Make a table with a row a group, and a column a quantity."""
    gaps = {(one.column, one.group, one.name): one for one in differences}
    groups: dict[tuple[str, str], dict[str, MeanOf]] = {}
    for one in means:
        groups.setdefault((one.column, one.group), {})[one.name] = one
    names = list(dict.fromkeys(one.name for one in means))
    rows = []
    for (column, group), own in groups.items():
        most = max(own.values(), key=lambda one: one.segments)
        cells = [
            _mean_cell(own[name], gaps.get((column, group, name)), most.segments) if name in own else ""
            for name in names
        ]
        rows.append([f"{column}: {group}" if column else ALL, most.segments, most.speakers, *cells])
    titles = {one.name: f"{one.title} ({one.unit})" if one.unit else one.title for one in means}
    return table(rows, ["group", "segments", "speakers", *(titles[name] for name in names)], caption=caption)


def _mean_cell(one: MeanOf, gap: Difference | None, segments: int) -> Cell:
    """Show a mean and its difference to the others, with intervals, and the segments if there are fewer."""
    digits = digits_for(one.value, one.low, one.high)
    lines = [_span(one.low, one.high, digits)]
    if gap is not None:
        by = gap.value - gap.others
        digits_of = digits_for(by, gap.low, gap.high)
        lines += [f"difference {number(by, digits_of)}", _span(gap.low, gap.high, digits_of)]
        lines.append(f"beyond chance, {p_value(gap.adjusted)}" if gap.found else "")
    lines.append(counted(one.segments, "segment") if one.segments < segments else "")
    small = [element("small", line, class_="sc-line") for line in lines if line]
    shown = element("span", number(one.value, digits), class_="sc-line")
    return Cell(join([shown, *small]), one.value, "sc-number")


def _span(low: float, high: float, digits: int) -> str:
    return f"{number(low, digits)} to {number(high, digits)}" if np.isfinite(low) else ""


def _sentence(one: Difference, *, brief: bool = False) -> str:
    """Write ``accent irish: level −30.1 dB, the others −20.5 dB``."""
    digits = digits_for(one.value, one.others)
    both = [_with_unit(number(value, digits), one.unit) for value in (one.value, one.others)]
    text = f"{one.title} {both[0]}, the others {both[1]}"
    if brief:
        return f"{shorten(one.group, 40)}: {text}"
    gap = _with_unit(f"{number(one.low, digits)} to {number(one.high, digits)}", one.unit)
    sure = f" (difference {gap}, {p_value(one.adjusted)})" if np.isfinite(one.low) else ""
    return f"{_group(one)}: {text}{sure}"


def _with_unit(text: str, unit: str) -> str:
    return text if unit in ("", SHARE) else f"{text} {unit}"


def _group(one: Difference) -> str:
    return f"{shorten(one.column, 40)} {shorten(one.group, 40)}"


def _differences(found: Audit) -> Iterable[str]:
    known = [one for one in found.differences if np.isfinite(one.adjusted)]
    sure = found.found()
    yield from map(_sentence, sure[:SENTENCES])
    if len(sure) > SENTENCES:
        yield f"{len(sure) - SENTENCES} more differences beyond chance are in the tables"
    if known and not sure:
        count = counted(len(known), "difference")
        yield f"None of {count} between groups is both beyond chance and noticeable"
    open_ = [one for one in found.differences if one.noticed and not one.found]
    if open_:
        largest = ", ".join(f"{_group(one)} ({one.title})" for one in open_[:5])
        yield (
            f"{counted(len(open_), 'difference')} would be noticed and may be chance, with so few "
            f"{found.block}s as there are: {largest}{', …' if len(open_) > 5 else ''}"
        )
    if not found.differences:
        yield "No groups to compare: no column of groups has two values"


def _repeats(found: Audit, audio: bool) -> Iterable[str]:
    own = found.repeats
    if own.recordings:
        segments = sum(len(one.files) for one in own.recordings)
        what = f"{counted(len(own.recordings), 'recording')} more than once, as {many(segments, 'segment')}"
        across = sum(len(one.splits) > 1 for one in own.recordings)
        names = sum(len(one.speakers) > 1 for one in own.recordings)
        labels = sum(bool(one.differing) for one in own.recordings)
        details = [
            f"{across} of them in several splits" if across else "",
            f"{names} under the names of several speakers" if names else "",
            f"{labels} with labels that differ" if labels else "",
        ]
        yield "; ".join([what, *filter(None, details)])
    elif audio:
        sounds = many(own.compared, "sound")
        yield f"No recording more than once, among {sounds} whose fingerprints were compared"
    if audio and found.unused:
        used = f"{own.others:,} of " if own.others < found.unused else ""
        yield f"Compared with {used}{many(found.unused, 'segment')} of splits that are not evaluated, too"
    if audio and own.compared < own.sounds:
        rest = many(own.sounds - own.compared, "sound")
        yield f"{rest} compared by their bytes alone: too short, silent, or not listened to"
    if own.parallel:
        segments = many(own.parallel, "segment")
        yield f"{segments} of items recorded under several conditions at the same time: no copies"
    if own.overlapping:
        where = many(own.overlapping_files, "file")
        yield f"{many(own.overlapping, 'segment')} of {where} begin before another one has ended: heard twice"


def _splits(found: Audit) -> Iterable[str]:
    if len(found.splits) > 1:
        shared = ", ".join(shorten(name, 40) for name in found.shared[:5])
        more = ", …" if len(found.shared) > 5 else ""
        if found.shared:
            yield f"{counted(len(found.shared), 'speaker')} in more than one split: {shared}{more}"
        else:
            yield f"No speaker in more than one of {len(found.splits)} splits"


def _unchanging(found: Audit) -> Iterable[str]:
    if found.unchanging:
        same = [f"{title} {_with_unit(number(value), unit)}" for title, value, unit in found.unchanging]
        yield f"The same in all segments, and in no table: {', '.join(same)}"


def _unmeasured(found: Audit) -> Iterable[str]:
    known = [found.measured[name] for name in _STANDING_OUT if name in found.measured]
    number_of, asked = min(known, key=lambda own: own[0] / max(1, own[1]), default=(0, 0))
    if number_of < asked / 2:
        yield (
            f"In {asked - number_of:,} of {many(asked, 'segment')} nothing stands out from the noise: "
            "is there speech in them?"
        )
    if found.unreadable:
        yield f"{many(found.unreadable, 'sound')} could not be read again"
    if found.blocks == 1:
        yield f"A single {found.block}: nobody can say whether groups differ by more than chance"


def _copies(found: Audit) -> Html:
    rows = []
    for one in found.repeats.recordings[:LISTED]:
        named = ", ".join(shorten(name, 60) for name in one.files[:FILES])
        more = f", and {len(one.files) - FILES:,} more" if len(one.files) > FILES else ""
        same = "the same bytes" if one.identical else "the same sound"
        who = ", ".join(shorten(name, 40) for name in one.speakers[:FILES])
        where = ", ".join(shorten(name, 40) for name in one.splits)
        rows.append([f"{named}{more}", len(one.files), same, who, where, ", ".join(one.differing)])
    headers = ["files", "segments", "what is alike", "speakers", "splits", "labels that differ"]
    shown = table(rows, headers, caption="Recordings that are there more than once")
    left = len(found.repeats.recordings) - LISTED
    return join([shown, element("p", f"… and {left:,} more.")]) if left > 0 else shown
