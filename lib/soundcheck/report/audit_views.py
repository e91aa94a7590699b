"""What the audit of a corpus found, in sentences and tables; and the notice that pages of fairness carry.

A difference is the group minus the others.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted, some
from soundcheck.evaluation.corpus_audit import SHARE, Audit
from soundcheck.report.corpus_views import ALL, many
from soundcheck.report.formats import Cell, digits_for, number, p_value, span, stacked
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.report.views import table
from soundcheck.suite.groups import MOST_ADJUSTED

SENTENCES = 12  # differences that are written out
NAMED = 3  # on a page of fairness, of a column
LISTED = 30  # recordings that are there more than once
FILES = 3  # of such a recording that are named

# Measures that are unknown where nothing stands out from the noise.
_STANDING_OUT = ("signal_to_noise", "silence")


def audited(found: Audit, audio: bool) -> Html:
    """Show what an audit found: sentences, tables of means behind lines that open them, copies."""
    own, known = found.repeats, [found.measured[name] for name in _STANDING_OUT if name in found.measured]
    audible, measured = min(known, key=lambda own: own[0] / max(1, own[1]), default=(0, 0))
    noise = f"{measured - audible:,} of {many(measured, 'segment')}"
    same = [f"{title} {_with_unit(number(value), unit)}" for title, value, unit in found.unchanging]
    details = {
        "of them in several splits": sum(len(one.splits) > 1 for one in own.recordings),
        "under the names of several speakers": sum(len(one.speakers) > 1 for one in own.recordings),
        "with labels that differ": sum(bool(one.differing) for one in own.recordings),
    }
    said = templates.html(
        "audit",
        **{"found": found, "repeats": own, "audio": audio, "differences": _differences(found)},
        **{"copies": sum(len(one.files) for one in own.recordings), "unchanging": ", ".join(same)},
        details=[(count, what) for what, count in details.items()],
        noise=noise if audible < measured / 2 else "",
        shared=some([shorten(name, 40) for name in found.shared], 5),
        **{"many": many, "counted": counted},
    )
    parts = [said]
    for recorded, what in ((True, "recordings"), (False, "labels")):
        rows = found.frame[found.frame["recorded"].eq(recorded)]
        if len(rows):
            groups = counted(
                rows.loc[rows["column"].ne(""), ["column", "group"]].drop_duplicates().shape[0], "group"
            )
            parts.append(folded(f"Means of {what} by group, with 95 % intervals: {groups}", [_means(rows)]))
    return join([*parts, _copies(found)])


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
        groups, adjust = {group.partition(": ")[2] for group in own["group"]}, audits[corpus].adjust
        found = audits[corpus].found.query("recorded and column == @column")
        if len(groups) != 2:  # of two groups one stands for both
            found = found[found["group"].isin(groups)]
        if found.empty:
            continue
        adjusted = own[own["adjusted_by"].fillna("").ne("") & found["name"].isin(adjust).any()]
        missing = [name for name in found["name"].unique() if name not in adjust]
        named = shorten(column, 40), shorten(corpus, 40)
        lines.append(
            {
                "title": f"Groups of {named[0]} in {named[1]} were recorded differently",
                "differences": some(
                    [f"{shorten(row.group, 40)}: {_both(row)}" for row in found.itertuples()], NAMED
                ),
                "adjusted": f"#{anchor_of(next(adjusted.itertuples()))}" if len(adjusted) else "",
                "keys": [*adjust, *missing][:MOST_ADJUSTED] if missing and own["gap"].notna().any() else [],
                "page": addresses[corpus],
            }
        )
    return templates.html("recorded_otherwise", lines=lines) if lines else Html()


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
    return Cell(stacked(number(row.value, digits), "") + small, row.value, "sc-number")


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
    about = {"caption": "Recordings that are there more than once", "first": LISTED, "none": ""}
    return table(found.repeats.recordings, columns, **about)
