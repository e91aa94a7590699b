"""Tables about recognisers: rates with their parts, comparisons, violations.

Conventions
-----------
- Rates are shares of the words of the references, shown in per cent; they may exceed 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.words import Compared
from soundcheck.metrics.writing import units
from soundcheck.report.html import Html, element
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.statistics.bootstrap import FEW_BLOCKS, Resampled
from soundcheck.suite.families import PerturbationSeries

SURE = 0.95  # certainty from which a violation counts as sure
POINTS = "points"  # unit of a difference of rates


def percent(value: float, digits: int = 1, unit: str = "%") -> str:
    r"""Write a share in per cent, a difference of shares in ``points``; empty for a missing one.

    Examples
    --------
    >>> percent(0.1234), percent(-0.05)
    ('12.3\xa0%', '−5.0\xa0%')
    """
    return "" if pd.isna(value) else f"{number(100 * value, digits)}\xa0{unit}"


def percent_cell(value: float, low: float = np.nan, high: float = np.nan, unit: str = "%") -> Cell:
    """Show a share in per cent, or a difference in points, with its interval below it if there is one."""
    span = "" if pd.isna(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}".replace(" ", "\xa0")
    return Cell(
        two_lines(percent(value, unit=unit), span), None if pd.isna(value) else float(value), "sc-number"
    )


def small_groups_table(rows: Sequence[tuple[object, ...]]) -> Html:
    """Show groups that are too small to be judged; empty without any.

    Parameters
    ----------
    rows
        From :func:`soundcheck.evaluation.eligibility.skip_small_groups`.
    """
    if not rows:
        return Html("")
    columns = ["corpus", "column", "group", "segments", "speakers", "not judged"]
    return table(rows, columns, caption="Groups that are too small to be judged.")


def normaliser_notice(evaluation: Evaluation, count: int = 5) -> Html:
    """Say which normaliser both sides went through, and show what it changed.

    Parameters
    ----------
    evaluation
        After its subsets were read.
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
    examples = [pair for pair in evaluation.texts.examples(count) if pair[0] != pair[1]]
    if not examples:
        return said + element("p", "It changed nothing here.", class_="sc-note")
    caption = "Texts that it changed"
    return said + table(examples, ["as written", "as compared"], caption=caption, sortable=False)


def resampled(evaluation: Evaluation) -> str:
    """Name what is resampled, in the plural: ``speakers``; ``blocks`` if corpora differ."""
    names = set(evaluation.block_names.values())
    return f"{names.pop()}s" if len(names) == 1 else "blocks"


def rate_table(rows: Sequence[Mapping[str, object]], blocks: str = "speakers", *, caption: str = "") -> Html:
    """Show word error rates of groups with their parts and their company.

    Parameters
    ----------
    rows
        From :func:`soundcheck.evaluation.words.group_rates`.
    blocks
        What was resampled.
    caption
        What the table shows.
    """
    columns = ["word error rate", "standard error", "insertions", "deletions", "substitutions"]
    columns.append("character error rate")
    shown = []
    for row in rows:
        rates = [
            percent_cell(row[name])
            for name in ("standard_error", "insertions", "deletions", "substitutions", "characters")
        ]
        counts = [row[name] for name in ("words", "segments", "blocks")]
        names = [row[name] for name in ("corpus", "column", "group")]
        shown.append([*names, percent_cell(row["value"], row["low"], row["high"]), *rates, *counts])
    return table(shown, ["corpus", "column", "group", *columns, "words", "segments", blocks], caption=caption)


def speech_table(rates: pd.DataFrame, blocks: str = "speakers") -> Html:
    """Show error rates by length and by speaking rate.

    Parameters
    ----------
    rates
        From :func:`soundcheck.evaluation.words.rates_by_speech`; at least one row.
    blocks
        What was resampled.
    """
    unit = rates["unit"].iloc[0]
    rows = [
        [row.group, percent_cell(row.value, row.low, row.high)] + [row.units, row.segments, row.blocks]
        for row in rates.itertuples()
    ]
    columns = ["what was said", f"{unit} error rate", units(unit), "segments", blocks]
    caption = f"{rates['corpus'].iloc[0]}: errors by length and by speaking rate, without verdict"
    return table(rows, columns, caption=caption, sortable=False)


def comparison_table(
    compared: Sequence[Compared], kind: str = "percentile", blocks: str = "speakers"
) -> Html:
    """Show differences between recognisers with the intervals of both bootstraps.

    Parameters
    ----------
    compared
        From :func:`soundcheck.evaluation.words.compare`.
    kind
        Kind of interval that the suite has chosen; shown beside the percentile and the Gaussian one.
    blocks
        What was resampled.
    """
    kinds = list(dict.fromkeys(("percentile", "gaussian", kind)))
    rows = []
    for each in compared:
        what = f"{each.model} minus {each.other}, {'absolute' if each.unit == POINTS else 'relative'}"
        for way, found in (("blockwise", each.blockwise), ("ordinary", each.ordinary)):
            cells = _difference_cells(found, each.unit, kinds)
            rows.append([what, way, *cells, each.words, int(found.segments[0]), int(found.blocks[0])])
    spans = [f"{'Gaussian' if each == 'gaussian' else each} 95 %" for each in kinds]
    columns = ["difference", "resampled", "value", "standard error", *spans, "replicates below 0"]
    return table(rows, [*columns, "words", "segments", blocks], sortable=False)


def _difference_cells(found: Resampled, unit: str, kinds: Sequence[str]) -> list[str]:
    """Write value, standard error, intervals, and how many replicates are below 0."""
    spans = []
    for kind in kinds:
        (low,), (high,) = found.interval(kind)
        known = not np.isnan(low)
        spans.append(f"{percent(low, 2, unit)} to {percent(high, 2, unit)}" if known else "withheld")
    drawn = found.replicates[:, 0] if len(found.replicates) else np.empty(0)
    known = drawn[np.isfinite(drawn)]
    below = percent(float((known < 0).mean())) if len(known) else ""
    return [percent(found.value[0], 2, unit), percent(found.standard_error[0], 2, unit), *spans, below]


def conclusion(compared: Compared, kind: str = "percentile", drawn: str = "speakers") -> Html:
    """Say what the evidence allows to say about two recognisers.

    Parameters
    ----------
    compared
        The difference of their word error rates.
    kind
        Kind of interval that the suite has chosen; the sentence follows it alone.
    drawn
        What was resampled.
    """
    model, other, corpus = compared.model, compared.other, compared.corpus
    blockwise, ordinary = compared.blockwise, compared.ordinary
    measured, blocks = blockwise.value[0], int(blockwise.blocks[0])
    if np.isnan(measured):
        return element("p", f"{corpus}: nothing can be said, {blockwise.reasons[0]}.")
    (low,), (high,) = blockwise.interval(kind)
    if np.isnan(low):
        text = f"{corpus}: {model} differs from {other} by {percent(measured, 2, POINTS)}."
        text += f" Whether that is chance is inconclusive, {blockwise.withheld[0]}."
        return element("p", text, limit=None)
    value, lower, upper = (percent(number, 2, POINTS) for number in (measured, low, high))
    text = f"{corpus}: {_verdict(model, other, low, high)} The difference of their word error rates is "
    text += f"{value} ({kind} 95 % interval {lower} to {upper}, {blocks} {drawn})."
    (first,), (last,) = ordinary.interval(kind)
    if (high < 0 or low > 0) != (last < 0 or first > 0):
        text += " Resampling single segments would have said otherwise"
        text += ", because it takes them for independent." if last - first < high - low else "."
    if last > first:
        wider = number((high - low) / (last - first), 2)
        text += f" The blockwise interval is {wider} times as wide as the ordinary one."
    if blocks < FEW_BLOCKS:
        narrow = "may still be" if kind in ("expanded", "t") else "is still"
        text += f" With fewer than {FEW_BLOCKS} {drawn} it {narrow} too narrow."
    return element("p", element("strong", text, limit=None))


def _verdict(model: str, other: str, low: float, high: float) -> str:
    if high < 0:
        return f"{model} makes fewer word errors than {other}."
    if low > 0:
        return f"{model} makes more word errors than {other}."
    return f"which of {model} and {other} is better is inconclusive."


def count_table(counts: Mapping[str, pd.DataFrame], caption: str) -> Html:
    """Show counts of violations, one column a group.

    Parameters
    ----------
    counts
        Title -> table of whole numbers, rows as described and one column a group; all with the same columns.
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


def rating_notes(transformations: Mapping[str, PerturbationSeries]) -> list[str]:
    """Say which signals people rated, if others are tested.

    Parameters
    ----------
    transformations
        Those of the family. Where their option ``definition`` is ``"text"``, other signals were rated.
    """
    others = [
        name
        for name, series in transformations.items()
        if any(change.options.get("definition") == "text" for change in series.steps.values())
    ]
    if not others:
        return ["The signals are made as those were that people rated."]
    *first, last = others
    named = f"{', '.join(first)} and {last}" if first else last
    rated = "people rated signals as the released generator makes them. Those that are tested follow the text"
    return [f"{named}: {rated} of the paper, and sound different."]


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
