"""Tables about recognisers: rates with their parts, frequent errors, aligned words, comparisons, violations.

Conventions
-----------
- Rates are shares of the words of the references, shown in per cent; they may exceed 100 %.
- An error is marked by a sign and a word, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.recognition_measures import EVERYBODY, Probed
from soundcheck.metrics.alignment import align
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.report.html import Html, element
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.statistics.bootstrap import FEW_BLOCKS, Resampled
from soundcheck.suite.families import PerturbationSeries

__all__ = [
    "agreement_table",
    "aligned_words",
    "base_table",
    "certainty_table",
    "comparison_row",
    "comparison_table",
    "conclusion",
    "confusion_table",
    "count_table",
    "drop_table",
    "group_name",
    "group_words",
    "normaliser_notice",
    "percent",
    "percent_cell",
    "probe_notes",
    "probed_words",
    "rate_table",
    "rating_notes",
    "shortened",
    "word_table",
]

SURE = 0.95  # certainty from which a violation counts as sure
POINTS = "points"  # unit of a difference of rates
MOST_NAMED = 20  # words of a list
LEAST_WORDS = 5  # of a kind, for intervals that resample words
LEAST_RANKED = 3  # groups of a rank correlation
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
        From :func:`soundcheck.evaluation.recognition_measures.group_rates`.
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


def comparison_row(
    what: str, way: str, found: Resampled, unit: str, words: int, kind: str = "percentile"
) -> list[object]:
    """Make a row of :func:`comparison_table`.

    Parameters
    ----------
    what, way
        Which difference, and what was resampled.
    found
        The difference with its replicates.
    unit
        ``"points"`` for a difference of rates, ``"%"`` for a relative one.
    words
        Words of the references that the difference rests on.
    kind
        Kind of interval that the suite has chosen.
    """
    spans = []
    for each in _shown_kinds(kind):
        (low,), (high,) = found.interval(each)
        known = not np.isnan(low)
        spans.append(f"{percent(low, 2, unit)} to {percent(high, 2, unit)}" if known else "withheld")
    drawn = found.replicates[:, 0] if len(found.replicates) else np.empty(0)
    known = drawn[np.isfinite(drawn)]
    better = percent(float((known < 0).mean())) if len(known) else ""
    return [
        what,
        way,
        percent(found.value[0], 2, unit),
        percent(found.standard_error[0], 2, unit),
        *spans,
        better,
        words,
        int(found.segments[0]),
        int(found.blocks[0]),
    ]


def _shown_kinds(kind: str) -> list[str]:
    """List the intervals that a comparison shows: percentile, Gaussian, and what the suite has chosen."""
    return list(dict.fromkeys(("percentile", "gaussian", kind)))


def comparison_table(rows: Sequence[Sequence[object]], kind: str = "percentile") -> Html:
    """Show differences with the intervals of both bootstraps.

    Parameters
    ----------
    rows
        From :func:`comparison_row`.
    kind
        Kind of interval that the suite has chosen, as for the rows.
    """
    spans = [f"{'Gaussian' if each == 'gaussian' else each} 95 %" for each in _shown_kinds(kind)]
    columns = ["difference", "resampled", "value", "standard error", *spans, "replicates below 0"]
    return table(rows, [*columns, "words", "segments", "blocks"], sortable=False)


def conclusion(
    model: str,
    other: str,
    corpus: str,
    blockwise: Resampled,
    ordinary: Resampled,
    kind: str = "percentile",
) -> Html:
    """Say what the evidence allows to say about two recognisers.

    Parameters
    ----------
    model, other
        Names of both; the difference is ``model`` minus ``other``.
    corpus
        Where they were compared.
    blockwise, ordinary
        The difference of their word error rates, with replicates of whole blocks and of single segments.
    kind
        Kind of interval that the suite has chosen; the sentence follows it alone.
    """
    measured, blocks = blockwise.value[0], int(blockwise.blocks[0])
    if np.isnan(measured):
        return element("p", f"{corpus}: nothing can be said, {blockwise.reasons[0]}.")
    (low,), (high,) = blockwise.interval(kind)
    if np.isnan(low):
        text = f"{corpus}: {model} differs from {other} by {percent(measured, 2, POINTS)}."
        text += f" Whether that is chance cannot be told, {blockwise.withheld[0]}."
        return element("p", text, limit=None)
    value, lower, upper = (percent(number, 2, POINTS) for number in (measured, low, high))
    text = f"{corpus}: {_verdict(model, other, low, high)} The difference of their word error rates is "
    text += f"{value} ({kind} 95 % interval {lower} to {upper}, {blocks} blocks)."
    (first,), (last,) = ordinary.interval(kind)
    if (high < 0 or low > 0) != (last < 0 or first > 0):
        text += " Resampling single segments would have said otherwise"
        text += ", because it takes them for independent." if last - first < high - low else "."
    if last > first:
        wider = number((high - low) / (last - first), 2)
        text += f" The blockwise interval is {wider} times as wide as the ordinary one."
    if blocks < FEW_BLOCKS:
        narrow = "may still be" if kind == "expanded" else "is still"
        text += f" With fewer than {FEW_BLOCKS} blocks it {narrow} too narrow."
    return element("p", element("strong", text, limit=None))


def probed_words(
    rows: Sequence[Mapping[str, object]], more: Mapping[str, Sequence[Resampled]], title: str
) -> Html:
    """Show in how many sentences around words of each kind the word is missing from the transcript.

    Parameters
    ----------
    rows
        From :func:`soundcheck.evaluation.recognition_measures.missing_words`; a kind without sentences says
        so, and one with fewer than :data:`LEAST_WORDS` words has no interval.
    more
        From :func:`soundcheck.evaluation.recognition_measures.missing_more`.
    title
        What the table shows.
    """
    many = {row["kind"]: len(row["words"]) >= LEAST_WORDS for row in rows}
    known = {
        row["kind"]: [
            _listed(row["words"]),
            *(cell for found in row["found"] for cell in _share(found, many[row["kind"]])),
        ]
        for row in rows
    }
    none = ["no such words", "", "", "", ""]
    shown: list[list[object]] = [[kind, *known.get(kind, none)] for kind in (ROBUST, NOT_ROBUST)]
    for name, unit, found in (("difference", POINTS, "difference"), ("relative", "%", "relative difference")):
        if name in more:
            sides = [_signed(side, unit, all(many.values())) for side in more[name]]
            shown.append([found, "", "", sides[0], "", sides[1]])
    columns = ["words", "", "missing, clean", "share", "missing, changed", "share"]
    return table(shown, columns, caption=title, sortable=False)


def _share(found: Resampled, many: bool) -> tuple[str, Cell]:
    """Show a share as a count and in per cent, with its interval if there are many words."""
    count = int(found.segments[0])
    low, high = (bound[0] if many else np.nan for bound in found.interval())
    times = "" if np.isnan(found.value[0]) else f"{round(found.value[0] * count)} of {count}"
    return times, percent_cell(found.value[0], low, high)


def _signed(found: Resampled, unit: str, many: bool) -> Cell | str:
    """Show a difference with its sign, and its interval if there are many words; or why there is none."""
    measured = found.value[0]
    if np.isnan(measured):
        return found.reasons[0]
    low, high = (bound[0] if many else np.nan for bound in found.interval())
    sign = "+" if measured > 0 else ""
    span = "" if np.isnan(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}".replace(" ", "\xa0")
    return Cell(two_lines(sign + percent(measured, 1, unit), span), float(measured), "sc-number")


def probe_notes(corpus: str, probed: Probed, spoken: int) -> list[str]:
    """Say whose words are spoken, and what is not spoken and why.

    Parameters
    ----------
    corpus
        Name of the corpus that the words come from.
    probed
        From :func:`soundcheck.evaluation.recognition_measures.words_to_probe`.
    spoken
        Number of sentences.
    """
    if probed.reason:
        notes = [f"{corpus}: no sentences were spoken: {probed.reason}"]
    else:
        notes = [f"{corpus}: {spoken} sentences, around words of {group_name(probed.group)}"]
    reasons: dict[str, list[str]] = {}
    for word, reason in probed.refused.items():
        reasons.setdefault(reason, []).append(word)
    for reason, listed in reasons.items():
        notes.append(f"{corpus}: not spoken, {reason}: {shortened(listed)}")
    if probed.surplus:
        notes.append(f"{corpus}: {probed.surplus} more words were not drawn, there are not so many sentences")
    return notes


def _listed(words: Sequence[str]) -> Html:
    return element("span", shortened(words), limit=None)


def group_name(group: tuple[str, str]) -> str:
    """Name a group with its column, ``accent: welsh``."""
    return ": ".join(filter(None, group))


def shortened(words: Sequence[str], most: int = MOST_NAMED) -> str:
    """List words, of many only the first ones and how many others there are."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


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


def word_table(words: Sequence[Localised], caption: str) -> Html:
    """Show which words are robust.

    Parameters
    ----------
    words
        From :func:`soundcheck.metrics.differential.localise`.
    caption
        What the table shows.
    """
    rows = [[own.word, own.count, own.drop, percent_cell(own.drop / own.count), own.kind] for own in words]
    return table(rows, ["word", "recognised", "drop", "share", ""], caption=caption)


def group_words(found: Mapping[tuple[str, str], Sequence[Localised]], caption: str) -> Html:
    """Show for each group which words are not robust, which ones are, and how many are of each kind.

    Parameters
    ----------
    found
        From :func:`soundcheck.evaluation.recognition_measures.localised_words`.
    caption
        What the table shows.
    """
    pooled = {own.word for own in found[EVERYBODY] if own.kind == NOT_ROBUST} if EVERYBODY in found else set()
    rows = []
    for group, words in found.items():
        lost = [own for own in words if own.kind == NOT_ROBUST]
        kinds = [sum(own.kind == kind for own in words) for kind in (ROBUST, BETWEEN, NOT_ROBUST)]
        listed = _listed([f"{own.word} ({own.drop} of {own.count})" for own in lost])
        only = "" if group == EVERYBODY else sum(own.word not in pooled for own in lost)
        kept = _listed([own.word for own in words if own.kind == ROBUST])
        rows.append([group_name(group), *kinds, only, listed, kept])
    names = ["not so for everybody", "words that are not robust", "robust words"]
    columns = ["group", ROBUST, BETWEEN, NOT_ROBUST, *names]
    return table(rows, columns, caption=caption, sortable=False)


def drop_table(drops: pd.DataFrame, caption: str) -> Html:
    """Show average drops of words: a row for each recogniser, and one for each transformation.

    Parameters
    ----------
    drops
        From :func:`soundcheck.evaluation.recognition_measures.average_drops`, the groups of one column.
    caption
        What the table shows.
    """
    rows = [
        [what, name, *own.to_numpy()]
        for what in drops.index.names
        for name, own in drops.groupby(what, sort=False).mean().iterrows()
    ]
    rows.append(["all", "", *drops.mean().to_numpy()])
    names = [group if isinstance(group, str) else group[-1] for group in drops.columns]
    return table(rows, ["mean for each", "", *names], caption=caption, sortable=False)


def agreement_table(drops: pd.Series, violations: pd.Series, caption: str) -> Html:
    """Show the average drop of words of each group beside its violations, and their rank correlation.

    Parameters
    ----------
    drops, violations
        Group -> average drop, and number of violations.
    caption
        What the table shows.
    """
    both = pd.DataFrame({"drop": drops, "violations": violations}).dropna()
    rows = [[name, row["drop"], int(row["violations"])] for name, row in both.iterrows()]
    if len(both) < LEAST_RANKED:
        said = f"fewer than {LEAST_RANKED} groups have no order that could agree"
    elif both.nunique().min() < 2:
        said = "all groups are equal, there is no order that could agree"
    else:
        rho = both["drop"].corr(both["violations"], method="spearman")
        said = f"rank correlation {number(rho, 2)} (Spearman, {len(both)} groups)"
    columns = ["group", "average drop", "violations"]
    return table(rows, columns, caption=f"{caption}; {said}", sortable=False)


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
    told = "people rated signals as the released generator makes them. Those that are tested follow the text"
    return [f"{named}: {told} of the paper, and sound different."]


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
