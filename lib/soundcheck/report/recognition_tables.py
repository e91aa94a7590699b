"""Tables about recognisers: rates with their parts, frequent errors, aligned words, comparisons, violations.

Conventions
-----------
- Rates are shares of the words of the references, shown in per cent; they may exceed 100 %.
- An error is marked by a sign and a word, never by colour alone.

Public: :func:`normaliser_notice`, :func:`rate_table`, :func:`confusion_table`,
:func:`aligned_words`, :func:`comparison_row`, :func:`comparison_table`, :func:`conclusion`,
:func:`probed_words`, :func:`count_table`, :func:`base_table`, :func:`word_table`,
:func:`certainty_table`, :func:`percent_cell`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.bootstrap import FEW_BLOCKS, Resampled
from soundcheck.metrics.alignment import align
from soundcheck.recognition import Recognition
from soundcheck.report.html import Html, element
from soundcheck.report.tables import Cell, number, table, two_lines

SURE = 0.95  # certainty from which a violation counts as sure
POINTS = "points"  # unit of a difference of rates
MOST_WORDS = 200  # of an alignment that is shown
_MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}
_MEANINGS = "≠ another word, − left out, + put in"


def percent(value: float, digits: int = 1, unit: str = "%") -> str:
    r"""Write a share in per cent, a difference of shares in ``points``; empty for a missing one.

    Examples
    --------
    >>> percent(0.1234), percent(-0.05)
    ('12.3\xa0%', '−5.0\xa0%')
    """
    return "" if pd.isna(value) else f"{number(100 * value, digits)}\xa0{unit}"


def percent_cell(value: float, low: float = np.nan, high: float = np.nan) -> Cell:
    """Show a share in per cent, with its interval below it if there is one."""
    span = "" if pd.isna(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}".replace(" ", "\xa0")
    return Cell(two_lines(percent(value), span), None if pd.isna(value) else float(value), "sc-number")


def normaliser_notice(evaluation: Recognition, count: int = 5) -> Html:
    """Say which normaliser both sides went through, and show what it changed.

    Parameters
    ----------
    evaluation
        After its samples were looked at.
    count
        How many examples to show.
    """
    used = evaluation.normaliser
    said = element(
        "p",
        element("strong", f"Normaliser: {used.name}, version {used.version or 'unknown'}. "),
        element("span", used.description, limit=None),
        class_="sc-note",
    )
    examples = [pair for pair in evaluation.normalised_examples(count) if pair[0] != pair[1]]
    if not examples:
        return said + element("p", "It changed nothing here.", class_="sc-note")
    caption = "Texts that it changed"
    return said + table(examples, ["as written", "as compared"], caption=caption, sortable=False)


def rate_table(rows: Sequence[Mapping[str, object]], *, caption: str = "") -> Html:
    """Show word error rates of groups with their parts and their company.

    Parameters
    ----------
    rows
        From :func:`soundcheck.recognition_measures.group_rates`.
    caption
        What the table shows.
    """
    columns = ["word error rate", "insertions", "deletions", "substitutions", "character error rate"]
    shown = []
    for row in rows:
        rates = [
            percent_cell(row[name]) for name in ("insertions", "deletions", "substitutions", "characters")
        ]
        company = [row[name] for name in ("words", "segments", "blocks")]
        names = [row[name] for name in ("corpus", "column", "group")]
        shown.append([*names, percent_cell(row["value"], row["low"], row["high"]), *rates, *company])
    return table(
        shown, ["corpus", "column", "group", *columns, "words", "segments", "blocks"], caption=caption
    )


def confusion_table(frame: pd.DataFrame, count: int = 20) -> Html:
    """Show the most frequent errors, from :func:`soundcheck.metrics.alignment.confusions`."""
    rows = [
        [
            f"{_MARKS[row.kind]} {row.kind}",
            row.reference,
            row.hypothesis,
            int(row.count),
            percent_cell(row.share),
        ]
        for row in frame.head(count).itertuples(index=False)
    ]
    columns = ["error", "said", "recognised", "times", "of all words"]
    return table(rows, columns, caption=f"The {len(rows)} most frequent of {len(frame)} different errors")


def aligned_words(reference: str, hypothesis: str) -> Html:
    """Show two transcripts word under word, with a sign between those that differ."""
    pairs = align(reference, hypothesis)
    lines = []
    for title, cells in (
        ("said", [pair.reference for pair in pairs[:MOST_WORDS]]),
        ("", [_MARKS[pair.kind] for pair in pairs[:MOST_WORDS]]),
        ("recognised", [pair.hypothesis for pair in pairs[:MOST_WORDS]]),
    ):
        head = element("th", title, scope="row")
        lines.append(element("tr", head, *(element("td", cell) for cell in cells)))
    inner = element("table", *lines, class_="sc-table sc-aligned")
    more = len(pairs) - MOST_WORDS
    rest = element("p", f"{more} more words are not shown.", class_="sc-note") if more > 0 else Html()
    label = f"Words said and recognised; {_MEANINGS}"
    return element("div", inner, class_="sc-scroll", tabindex="0", role="region", aria_label=label) + rest


def comparison_row(what: str, way: str, found: Resampled, unit: str) -> list[object]:
    """Make a row of :func:`comparison_table`.

    Parameters
    ----------
    what, way
        Which difference, and what was resampled.
    found
        The difference with its replicates.
    unit
        ``"points"`` for a difference of rates, ``"%"`` for a relative one.
    """
    spans = []
    for kind in ("percentile", "gaussian"):
        (low,), (high,) = found.interval(kind)
        known = not np.isnan(low)
        spans.append(f"{percent(low, 2, unit)} to {percent(high, 2, unit)}" if known else "withheld")
    drawn = found.samples[:, 0] if len(found.samples) else np.empty(0)
    known = drawn[np.isfinite(drawn)]
    better = percent(float((known < 0).mean())) if len(known) else ""
    return [
        what,
        way,
        percent(found.value[0], 2, unit),
        *spans,
        better,
        int(found.segments[0]),
        int(found.blocks[0]),
    ]


def comparison_table(rows: Sequence[Sequence[object]]) -> Html:
    """Show differences with the intervals of both bootstraps, percentile and Gaussian."""
    columns = ["difference", "resampled", "value", "percentile 95 %", "Gaussian 95 %", "replicates below 0"]
    return table(rows, [*columns, "segments", "blocks"], sortable=False)


def conclusion(model: str, other: str, corpus: str, blockwise: Resampled, ordinary: Resampled) -> Html:
    """Say what the evidence allows to say about two recognisers.

    Parameters
    ----------
    model, other
        Names of both; the difference is ``model`` minus ``other``.
    corpus
        Where they were compared.
    blockwise, ordinary
        The difference of their word error rates, with replicates of whole blocks and of single segments.
    """
    measured, blocks = blockwise.value[0], int(blockwise.blocks[0])
    if np.isnan(measured):
        return element("p", f"{corpus}: nothing can be said, {blockwise.reasons[0]}.")
    (low,), (high,) = blockwise.interval()
    if np.isnan(low):
        text = f"{corpus}: {model} differs from {other} by {percent(measured, 2, POINTS)}."
        text += f" Whether that is chance cannot be told, {blockwise.withheld[0]}."
        return element("p", text, limit=None)
    value, lower, upper = (percent(number, 2, POINTS) for number in (measured, low, high))
    text = f"{corpus}: {_verdict(model, other, low, high)} The difference of their word error rates is "
    text += f"{value} (95 % interval {lower} to {upper}, {blocks} blocks)."
    (first,), (last,) = ordinary.interval()
    if (high < 0 or low > 0) != (last < 0 or first > 0):
        text += (
            " Resampling single segments would have said otherwise, because it takes them for independent."
        )
    if last > first:
        wider = number((high - low) / (last - first), 2)
        text += f" The blockwise interval is {wider} times as wide as the ordinary one."
    if blocks < FEW_BLOCKS:
        text += f" With fewer than {FEW_BLOCKS} blocks it is still too narrow."
    return element("p", element("strong", text, limit=None))


def probed_words(rows: Sequence[Mapping[str, object]], bags: Mapping[str, Sequence[str]], title: str) -> Html:
    """Show in how many sentences around words of each kind the word is missing from the transcript.

    Parameters
    ----------
    rows
        From :func:`soundcheck.recognition_measures.missing_words`.
    bags
        Kind of word -> words; kinds without words are named.
    title
        What the table shows.
    """
    shown = [
        [row["kind"], ", ".join(row["words"]), *(cell for found in row["found"] for cell in _share(found))]
        for row in rows
    ]
    known = [row["kind"] for row in rows]
    shown += [[kind, "no such words", "", "", "", ""] for kind in bags if kind not in known]
    columns = ["words", "", "missing, clean", "share", "missing, changed", "share"]
    return table(shown, columns, caption=title, sortable=False)


def _share(found: Resampled) -> tuple[str, Cell]:
    """Show a share as a count and in per cent with its interval."""
    (low,), (high,), count = *found.interval(), int(found.segments[0])
    times = "" if np.isnan(found.value[0]) else f"{round(found.value[0] * count)} of {count}"
    return times, percent_cell(found.value[0], low, high)


def _verdict(model: str, other: str, low: float, high: float) -> str:
    if high < 0:
        return f"{model} makes fewer word errors than {other}."
    if low > 0:
        return f"{model} makes more word errors than {other}."
    return f"the evidence does not tell which of {model} and {other} is better."


def count_table(counts: Mapping[str, pd.DataFrame], caption: str) -> Html:
    """Show counts of violations, one column a group.

    Parameters
    ----------
    counts
        Title -> table of whole numbers, rows as told there and one column a group; all with the same columns.
    caption
        What the table shows.
    """
    rows = [
        [title, "" if name == "all" else f"{name:g}" if isinstance(name, float) else name, *map(int, row)]
        for title, counted in counts.items()
        for name, row in zip(counted.index, counted.to_numpy(), strict=True)
    ]
    groups = next(iter(counts.values())).columns
    return table(rows, ["counted", "", *groups], caption=caption, sortable=False)


def base_table(counted: Mapping[str, pd.DataFrame], base: str, caption: str) -> Html:
    """Show the violations of groups beside those of one group: times as many, and the difference in per cent.

    Parameters
    ----------
    counted
        What was counted -> table of :func:`soundcheck.metrics.differential.against_base`; all of the same
        groups.
    base
        The group that the others are compared with.
    caption
        What the table shows.
    """
    rows = [[group] for group in next(iter(counted.values())).index]
    for frame in counted.values():
        for row, (violations, times) in zip(rows, frame.to_numpy(), strict=True):
            shown = f"{violations:,.{0 if violations == int(violations) else 1}f}"
            more = f"{'+' if times > 1 else ''}{percent(times - 1)}"
            more = f"{base} has none" if np.isnan(times) else more
            cells = ((shown, violations), (number(times, 2), times), (more, times))
            row += [Cell(text, value, "sc-number") for text, value in cells]
    columns = ["group", *(name for what in counted for name in (what, "times as many", "difference"))]
    return table(rows, columns, caption=caption, sortable=False)


def word_table(words: Sequence[tuple[str, int, int, float]], omega: float, caption: str) -> Html:
    """Show which words are robust.

    Parameters
    ----------
    words
        Word, times that it is recognised, drop, and the drop as a share of these times.
    omega
        Share from which a word is not robust.
    caption
        What the table shows.
    """
    rows = []
    for word, count, drop, share in words:
        kind = "not robust" if drop and share >= omega else "robust" if not drop else "in between"
        rows.append([word, count, drop, percent_cell(share), kind])
    return table(rows, ["word", "recognised", "drop", "share", ""], caption=caption)


def certainty_table(found: pd.DataFrame, title: str, count: int = 10) -> Html:
    """Show violations, the surest and largest first.

    Parameters
    ----------
    found
        Rows of :func:`soundcheck.metrics.differential.violations` with a column ``certainty``.
    title
        Who is compared.
    count
        How many are shown.
    """
    sure = int((found["certainty"] >= SURE).sum())
    caption = f"{title}: {len(found)} violations, {sure} of them at least {SURE:.0%} sure"
    if found.empty:
        return element("p", caption)
    order = ["certainty", "excess", "transformation", "level", "base", "other"]
    ordered = found.sort_values(order, ascending=[False, False, True, True, True, True])
    rows = [
        [
            *(row.transformation, row.level, row.base, row.other),
            Cell(percent(row.excess, 1, POINTS), row.excess, "sc-number"),
            Cell(number(row.certainty, 2), row.certainty),
        ]
        for row in ordered.head(count).itertuples(index=False)
    ]
    columns = ["transformation", "level", "worse for", "than for", "by", "certainty"]
    return table(rows, columns, caption=caption)
