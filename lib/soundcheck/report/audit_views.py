"""What the audit of a corpus found, in sentences and tables; and the notice that pages of fairness carry.

A difference is the group minus the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted, some
from soundcheck.evaluation.corpus_audit import SHARE, Audit
from soundcheck.report.corpus_views import ALL, many
from soundcheck.report.formats import Cell, digits_for, number, p_value, span, two_lines
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.report.views import table
from soundcheck.suite.groups_reader import MOST_ADJUSTED

SENTENCES = 12  # differences that are written out
NAMED = 3  # on a page of fairness, of a column
LISTED = 30  # recordings that are there more than once
FILES = 3  # of such a recording that are named

# Measures that are unknown where nothing stands out from the noise.
_STANDING_OUT = ("signal_to_noise", "silence")


def audited(found: Audit, audio: bool) -> Html:
    """Show what an audit found: sentences, tables of means behind lines that open them, copies."""
    texts = [*_differences(found), *_repeats(found, audio), *_others(found)]
    parts = [element("ul", *(element("li", text, limit=None) for text in texts))]
    for recorded, what in ((True, "recordings"), (False, "labels")):
        own = found.frame[found.frame["recorded"].eq(recorded)]
        if len(own):
            groups = counted(len(own[own["column"].ne("")].groupby(["column", "group"])), "group")
            parts.append(folded(f"Means of {what} by group, with 95 % intervals: {groups}", [_means(own)]))
    if found.repeats.recordings:
        parts.append(_copies(found))
    return join(parts)


def recorded_otherwise(rows: pd.DataFrame, audits: Mapping[str, Audit], addresses: Mapping[str, str]) -> Html:
    """Say at the top of a page of fairness which of its groups were recorded differently; empty if none.

    ``rows`` are those of the page in the results; ``audits`` and ``addresses`` are by corpus.
    """
    lines = []
    compared = rows[rows["group"].fillna("").ne("") & rows["value"].notna()]
    columns = compared["group"].map(lambda group: group.partition(": ")[0])
    for (corpus, column), own in compared.groupby([compared["corpus"], columns], sort=True):
        if corpus not in audits:
            continue
        groups = {group.partition(": ")[2] for group in own["group"]}
        found = audits[corpus].found.query("recorded and column == @column")
        if len(groups) != 2:  # of two groups one stands for both
            found = found[found["group"].isin(groups)]
        if len(found):
            lines.append(
                _line(corpus, column, found, audits[corpus].adjust, own) | {"page": addresses[corpus]}
            )
    return templates.html("recorded_otherwise", lines=lines) if lines else Html()


def _line(
    corpus: str, column: str, found: pd.DataFrame, adjust: tuple[str, ...], rows: pd.DataFrame
) -> dict[str, object]:
    texts = [f"{shorten(row.group, 40)}: {_both(row)}" for row in found.itertuples()]
    missing = [name for name in found["name"].unique() if name not in adjust]
    adjusted = rows[rows["adjusted_by"].fillna("").ne("")]
    place = (
        anchor_of(next(adjusted.itertuples())) if len(adjusted) and found["name"].isin(adjust).any() else ""
    )
    return {
        "title": f"Groups of {shorten(column, 40)} in {shorten(corpus, 40)} were recorded differently",
        "differences": some(texts, NAMED),
        "adjusted": f"#{place}" if place else "",
        "keys": [*adjust, *missing][:MOST_ADJUSTED] if missing and rows["gap"].notna().any() else [],
    }


def _means(rows: pd.DataFrame) -> Html:
    """Make a table with a row a group, and a column a quantity."""
    most = rows.groupby(["column", "group"])[["segments", "speakers"]].max()
    cells = {
        (row.column, row.group, row.name): _mean(row, most.loc[(row.column, row.group), "segments"])
        for row in rows.itertuples(index=False)
    }
    columns = {
        "group": lambda row: f"{row.column}: {row.group}" if row.column else ALL,
        "segments": lambda row: int(most.loc[(row.column, row.group), "segments"]),
        "speakers": lambda row: int(most.loc[(row.column, row.group), "speakers"]),
    }
    for one in rows.drop_duplicates("name").itertuples():
        title = f"{one.title} ({one.unit})" if one.unit else one.title
        columns[title] = lambda row, name=one.name: cells.get((row.column, row.group, name))
    return table(rows.drop_duplicates(["column", "group"]), columns, first=LISTED)


def _mean(row: object, segments: int) -> Cell:
    """Show a mean and its difference to the others, with intervals, and the segments if there are fewer."""
    digits, by = digits_for(row.value, row.low, row.high), digits_for(row.gap, row.gap_low, row.gap_high)
    lines = [span(row.low, row.high, digits)]
    if not pd.isna(row.gap):
        lines += [f"difference {number(row.gap, by)}", span(row.gap_low, row.gap_high, by)]
    lines += [f"significant, {p_value(row.adjusted)}"] if row.found else []
    lines += [counted(row.segments, "segment")] if row.segments < segments else []
    small = join(element("small", line, class_="sc-line") for line in lines if line)
    return Cell(two_lines(number(row.value, digits), "") + small, row.value, "sc-number")


def _both(row: object) -> str:
    """Write ``level −30.1 dB, the others −20.5 dB``."""
    digits = digits_for(row.value, row.others)
    own, others = (_with_unit(number(value, digits), row.unit) for value in (row.value, row.others))
    return f"{row.title} {own}, the others {others}"


def _with_unit(text: str, unit: str) -> str:
    return text if unit in ("", SHARE) else f"{text} {unit}"


def _group(row: object) -> str:
    return f"{shorten(row.column, 40)} {shorten(row.group, 40)}"


def _differences(found: Audit) -> Iterator[str]:
    compared = found.frame[found.frame["gap"].notna()]
    for row in found.found.head(SENTENCES).itertuples():
        ends = span(row.gap_low, row.gap_high, digits_for(row.value, row.others))
        sure = f" (difference {_with_unit(ends, row.unit)}, {p_value(row.adjusted)})" if ends else ""
        yield f"{_group(row)}: {_both(row)}{sure}"
    if len(found.found) > SENTENCES:
        yield f"{len(found.found) - SENTENCES} more significant differences are in the tables"
    if compared["adjusted"].notna().any() and found.found.empty:
        count = counted(int(compared["adjusted"].notna().sum()), "difference")
        yield f"None of {count} between groups is both significant and large enough to be noticed"
    unsure = [
        f"{_group(row)} ({row.title})"
        for row in compared[compared["noticed"] & ~compared["found"]].itertuples()
    ]
    if unsure:
        count = counted(len(unsure), "difference")
        yield f"{count} large enough to be noticed, but not significant: {some(unsure, 5)}"
    if compared.empty:
        yield "No groups to compare: no column of groups has two values"


def _repeats(found: Audit, audio: bool) -> Iterator[str]:
    own = found.repeats
    if own.recordings:
        segments = many(sum(len(one.files) for one in own.recordings), "segment")
        counts = {
            "of them in several splits": sum(len(one.splits) > 1 for one in own.recordings),
            "under the names of several speakers": sum(len(one.speakers) > 1 for one in own.recordings),
            "with labels that differ": sum(bool(one.differing) for one in own.recordings),
        }
        details = [f"{count} {what}" for what, count in counts.items() if count]
        times = f"{counted(len(own.recordings), 'recording')} more than once, as {segments}"
        yield "; ".join([times, *details])
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
        yield f"{many(own.overlapping, 'segment')} of {where} overlap with another one"


def _others(found: Audit) -> Iterator[str]:
    if found.shared:
        speakers = some([shorten(name, 40) for name in found.shared], 5)
        yield f"{counted(len(found.shared), 'speaker')} in more than one split: {speakers}"
    elif len(found.splits) > 1:
        yield f"No speaker in more than one of {len(found.splits)} splits"
    if found.unchanging:
        same = [f"{title} {_with_unit(number(value), unit)}" for title, value, unit in found.unchanging]
        yield f"The same in all segments: {', '.join(same)}"
    known = [found.measured[name] for name in _STANDING_OUT if name in found.measured]
    audible, measured = min(known, key=lambda own: own[0] / max(1, own[1]), default=(0, 0))
    if audible < measured / 2:
        segments = f"{measured - audible:,} of {many(measured, 'segment')}"
        yield f"In {segments} nothing stands out from the noise: is there speech in them?"
    if found.unreadable:
        yield f"{many(found.unreadable, 'sound')} could not be read again"
    if found.blocks == 1:
        yield f"A single {found.block}: whether groups differ by more than chance cannot be said"


def _copies(found: Audit) -> Html:
    def names(values: tuple[str, ...], limit: int = 40) -> str:
        return some([shorten(name, limit) for name in values], FILES)

    columns = {
        "files": lambda row: names(row.files, 60),
        "segments": lambda row: len(row.files),
        "what is equal": lambda row: "the bytes" if row.identical else "the sound",
        "speakers": lambda row: names(row.speakers),
        "splits": lambda row: names(row.splits),
        "labels that differ": lambda row: ", ".join(row.differing),
    }
    frame = pd.DataFrame(found.repeats.recordings)
    return table(frame, columns, caption="Recordings that are there more than once", first=LISTED)
