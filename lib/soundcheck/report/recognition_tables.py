"""Tables about recognisers: rates with their parts, frequent errors, aligned words, comparisons, violations.

Conventions
-----------
- Rates are shares of the words of the references, shown in per cent; they may exceed 100 %.
- An error is marked by a sign and a word, never by colour alone.

Public: :func:`normaliser_notice`, :func:`group_rates`, :func:`rate_table`, :func:`confusion_table`,
:func:`aligned_words`, :func:`comparison_table`, :func:`conclusion`, :func:`count_table`,
:func:`certainty_table`, :func:`percent_cell`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.bootstrap import FEW_BLOCKS, Resampled
from soundcheck.metrics.additive import value
from soundcheck.metrics.alignment import align
from soundcheck.metrics.combinators import within
from soundcheck.metrics.word_errors import character_errors, error_rates, word_error_rate, word_errors
from soundcheck.recognition import Recognition
from soundcheck.report.html import Html, element
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.sample import Sample

MOST_WORDS = 200  # of an alignment that is shown
_MARKS = {"equal": "", "substitute": "≠", "delete": "−", "insert": "+"}
_MEANINGS = "≠ another word, − left out, + put in"


def percent(value: float, digits: int = 1) -> str:
    """Write a share in per cent; empty for a missing one.

    Examples
    --------
    >>> percent(0.1234), percent(-0.05)
    ('12.3 %', '−5.0 %')
    """
    return "" if pd.isna(value) else f"{number(100 * value, digits)} %"


def percent_cell(value: float, low: float = np.nan, high: float = np.nan) -> Cell:
    """Show a share in per cent, with its interval below it if there is one."""
    span = "" if pd.isna(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}"
    return Cell(two_lines(percent(value), span), None if pd.isna(value) else float(value))


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
        Each with ``group, value, low, high, insertions, deletions, substitutions, characters, words,
        segments, blocks``; rates as shares, ``group`` a list of names for the first columns.
    caption
        What the table shows.
    """
    columns = ["word error rate", "insertions", "deletions", "substitutions", "character error rate"]
    shown = []
    for row in rows:
        rates = [
            percent_cell(row[name]) for name in ("insertions", "deletions", "substitutions", "characters")
        ]
        company = [int(row[name]) for name in ("words", "segments", "blocks")]
        shown.append([*row["group"], percent_cell(row["value"], row["low"], row["high"]), *rates, *company])
    names = ["corpus", "column", "group"][-len(rows[0]["group"]) :] if rows else []
    return table(shown, [*names, *columns, "words", "segments", "blocks"], caption=caption)


def group_rates(evaluation: Recognition, sample: Sample, columns: Sequence[str]) -> list[dict[str, object]]:
    """Compute the rates of everybody and of each value of some columns, as :func:`rate_table` shows them.

    Parameters
    ----------
    evaluation
        For its bootstrap.
    sample
        Segments with transcripts.
    columns
        Columns of the segment table; those that the corpus does not have are passed over.
    """
    words = word_errors(sample.truth, sample.answers.clean)
    letters = character_errors(sample.truth, sample.answers.clean)
    characters = word_error_rate(letters.words, letters.errors)
    masks = {("", "everybody"): np.ones(len(sample), dtype=bool)}
    for column in columns:
        if column in sample.segments:
            for name in sorted(sample.segments[column].dropna().unique()):
                masks[column, name] = sample.mask(column, name)
    rows = []
    for group, mask in masks.items():
        found = evaluation.resample(within(error_rates(words), mask), sample.blocks)
        low, high = found.interval(evaluation.interval)
        rows.append(
            {
                "group": [sample.corpus, *group],
                **dict(zip(("value", "insertions", "deletions", "substitutions"), found.value, strict=True)),
                **{"low": low[0], "high": high[0]},
                "characters": value(within(characters, mask)),
                "words": int(np.nansum(words.words[mask])),
                "segments": int(found.segments[0]),
                "blocks": int(found.blocks[0]),
            }
        )
    return rows


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


def comparison_table(rows: Sequence[Mapping[str, object]]) -> Html:
    """Show a difference with the intervals of both bootstraps, percentile and Gaussian.

    Parameters
    ----------
    rows
        Each with ``what, way, value, percentile, gaussian, blocks, better``; intervals are pairs of shares,
        ``better`` is the share of replicates in which the difference is negative.
    """
    shown = []
    for row in rows:
        spans = [
            Cell(
                f"{percent(low, 2)} to {percent(high, 2)}" if not pd.isna(low) else "withheld",
                float(high - low),
            )
            for low, high in (row["percentile"], row["gaussian"])
        ]
        better = percent(row["better"]) if not pd.isna(row["better"]) else ""
        shown.append([row["what"], row["way"], percent(row["value"], 2), *spans, better, int(row["blocks"])])
    columns = ["difference", "bootstrap", "value", "percentile 95 %", "Gaussian 95 %", "replicates below 0"]
    return table(shown, [*columns, "blocks"], sortable=False)


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
        text = f"{corpus}: {model} differs from {other} by {percent(measured, 2)}. Whether that is chance cannot be "
        return element("p", f"{text}told, {blockwise.withheld[0]}.", limit=None)
    span = f"{percent(measured, 2)} (95 % interval {percent(low, 2)} to {percent(high, 2)}, {blocks} blocks)"
    text = (
        f"{corpus}: {_verdict(model, other, low, high)} The difference of their word error rates is {span}."
    )
    (first,), (last,) = ordinary.interval()
    if (high < 0 or low > 0) != (last < 0 or first > 0):
        text += (
            " Resampling single segments would have said otherwise, because it takes them for independent."
        )
    if last > first:
        text += f" The blockwise interval is {number((high - low) / (last - first), 2)} times as wide as the ordinary one."
    if blocks < FEW_BLOCKS:
        text += f" With fewer than {FEW_BLOCKS} blocks it is still too narrow."
    return element("p", element("strong", text, limit=None))


def _verdict(model: str, other: str, low: float, high: float) -> str:
    if high < 0:
        return f"{model} makes fewer word errors than {other}."
    if low > 0:
        return f"{model} makes more word errors than {other}."
    return f"the evidence does not tell which of {model} and {other} is better."


def count_table(counts: pd.DataFrame, rows: str, *, caption: str = "") -> Html:
    """Show whole numbers, one column a group, with the name of what the rows are."""
    body = [[name, *map(int, counts.loc[name])] for name in counts.index]
    return table(body, [rows, *counts.columns], caption=caption, sortable=False)


def certainty_table(found: pd.DataFrame, count: int = 20) -> Html:
    """Show violations, the surest and largest first.

    Parameters
    ----------
    found
        Rows of :func:`soundcheck.metrics.differential.violations` with a column ``certainty``.
    count
        How many are shown.
    """
    ordered = found.sort_values(
        ["certainty", "excess", "transformation", "level", "base", "other"],
        ascending=[False, False, True, True, True, True],
    )
    rows = [
        [
            *(row.pair, row.transformation, row.level, row.base, row.other),
            *(percent_cell(row.excess), Cell(number(row.certainty, 2), row.certainty)),
        ]
        for row in ordered.head(count).itertuples(index=False)
    ]
    columns = ["pair", "transformation", "level", "worse for", "than for", "by", "certainty"]
    return table(rows, columns, caption=f"{len(rows)} of {len(found)} violations, the surest first")
