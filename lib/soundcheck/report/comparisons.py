"""Tables of a comparison: what became better or worse, what turned, and what happened segment by segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.metrics.impact import MARGIN
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.names import remark
from soundcheck.results import BETTER, NO_EVIDENCE, WORSE, conclusion
from soundcheck.statistics.bootstrap import Resampled

OUTCOMES = {
    BETTER: ("sc-pass", "▲ better"),
    WORSE: ("sc-fail", "▼ worse"),
    NO_EVIDENCE: ("sc-skip", "· no evidence"),
}
NAMED = 3  # segments that only one model answered
MOST_ROWS = 400  # of a table of contrasts; the file beside the results has all


def answer(frame: pd.DataFrame) -> Html:
    """Say in a few sentences whether the candidate is better, and what may still hide."""
    first, stop, rest = remark(conclusion(frame)).partition(". ")
    return element("p", element("strong", first + stop.strip(), limit=None), f" {rest}", limit=None)


def outcomes(frame: pd.DataFrame, titles: Mapping[str, str]) -> Html:
    """Count better, worse and no evidence for each family, and for all.

    Parameters
    ----------
    frame
        Contrasts of two models, see :class:`soundcheck.results.Contrast`.
    titles
        Family -> title for people.
    """
    rows = [[titles.get(name, name), *_counts(own)] for name, own in frame.groupby("family", sort=True)]
    rows.append(["all", *_counts(frame)])
    columns = ["family", *(text for _, text in OUTCOMES.values()), "not compared"]
    return tables.table(rows, columns, sortable=False)


def unshared(answered: pd.DataFrame) -> Html:
    """Say which segments only one of the two models answered; they are compared on the others.

    Parameters
    ----------
    answered
        Who answered each segment, see :meth:`soundcheck.evaluation.comparison.Comparison.answered`.
    """
    rows = []
    for (corpus, task), own in answered.groupby(["corpus", "task"], sort=False):
        both = own["baseline"] & own["candidate"]
        alone = [own.loc[own[side] & ~both, "file"].tolist() for side in ("baseline", "candidate")]
        if any(alone):
            named = [", ".join([*names[:NAMED], *["…"] * (len(names) > NAMED)]) for names in alone]
            rows.append([corpus, task, int(both.sum()), len(alone[0]), named[0], len(alone[1]), named[1]])
    columns = ["corpus", "task", "answered by both", "baseline alone", "which", "candidate alone", "which"]
    caption = "Compared are the segments that both answered; the others count as missing answers only."
    return tables.table(rows, columns, caption=caption, sortable=False) if rows else Html()


def _counts(frame: pd.DataFrame) -> list[int]:
    return [int(frame["outcome"].eq(name).sum()) for name in (*OUTCOMES, "")]


def badge(outcome: str) -> Html:
    """Show an outcome as word and symbol."""
    name, text = OUTCOMES.get(outcome, ("sc-skip", "– not compared"))
    return element("span", text, class_=f"sc-badge {name}")


def contrast_table(frame: pd.DataFrame, caption: str = "", titles: Mapping[str, str] | None = None) -> Html:
    """Show contrasts: both values, difference with interval, outcome; worse first, then better.

    Parameters
    ----------
    frame
        Contrasts of two models.
    caption
        What the table shows.
    titles
        Family -> what pages call it; default: its name.
    """
    order = {WORSE: 0, BETTER: 1, NO_EVIDENCE: 2, "": 3}
    frame = frame.assign(order=frame["outcome"].map(order)).sort_values("order", kind="stable")
    several = frame["corpus"].nunique() > 1
    rows = []
    for row in frame.head(MOST_ROWS).itertuples():
        cells = [row.corpus] if several else []
        difference = tables.number(row.difference)
        bounds = "" if pd.isna(row.low) else f"{tables.number(row.low)} to {tables.number(row.high)}"
        share = "" if pd.isna(row.relative) else f"{100 * row.relative:+.1f} %".replace("-", "−")
        outcome = tables.two_lines(badge(row.outcome), _p_value(row.p_value))
        if row.skipped:
            outcome = outcome + element("small", row.skipped, class_="sc-reason sc-line")
        cells += [
            (titles or {}).get(row.family, row.family),
            row.task,
            tables.test_cell(row),
            _value(row.baseline_value, row.baseline_passed),
            _value(row.candidate_value, row.candidate_passed),
            tables.Cell(tables.two_lines(difference, bounds), _sortable(row.difference), "sc-number"),
            tables.Cell(share, _sortable(row.relative), "sc-number"),
            tables.Cell(outcome, order[row.outcome]),
        ]
        rows.append(cells)
    columns = ["corpus"] if several else []
    columns += [
        "family",
        "task",
        "test",
        "baseline",
        "candidate",
        "difference and 95 % interval",
        "relative",
        "outcome",
    ]
    parts = [tables.table(rows, columns, caption=caption, filters=tables.FILTERS)]
    if len(frame) > MOST_ROWS:
        parts.append(
            element("p", f"{len(frame) - MOST_ROWS} more rows are in comparisons.csv.", class_="sc-note")
        )
    return join(parts)


def _p_value(p: float) -> str:
    """Write a p-value with two significant digits."""
    if pd.isna(p):
        return ""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def _value(value: float, passed: object) -> tables.Cell:
    verdict = "" if pd.isna(passed) else ("✓ pass" if passed else "✗ fail")
    return tables.Cell(tables.two_lines(tables.number(value), verdict), _sortable(value), "sc-number")


def _sortable(value: float) -> float | None:
    return None if pd.isna(value) else value


def turned(frame: pd.DataFrame, titles: Mapping[str, str] | None = None) -> Html:
    """List the tests whose verdict is another one for the candidate, those that it fails first.

    Parameters as for :func:`contrast_table`.
    """
    both = frame["baseline_passed"].notna() & frame["candidate_passed"].notna()
    other = frame[both & (frame["baseline_passed"] != frame["candidate_passed"])]
    if other.empty:
        return element("p", "Every verdict is the same for both models.")
    rows = []
    for row in other.sort_values("candidate_passed", kind="stable").itertuples():
        way = "pass → fail" if row.baseline_passed else "fail → pass"
        title = (titles or {}).get(row.family, row.family)
        rows.append([way, title, row.corpus, tables.row_name(row, row.task), badge(row.outcome)])
    return tables.table(rows, ["verdict", "family", "corpus", "test", "outcome of the comparison"])


def impact_table(rows: Sequence[tuple[str, str, Resampled, Resampled, Resampled]], interval: str) -> Html:
    """Show what happened to the segments.

    Parameters
    ----------
    rows
        Corpus, task, share of changed predictions, shares of events, corrections minus added errors.
    interval
        Kind of interval.
    """
    if not rows:
        return element("p", "The models share no task whose labels are numbers or classes.")
    cells = []
    for corpus, task, changed, events, net in rows:
        values = [
            _share(changed, 0, interval),
            *(_share(events, n, interval) for n in range(len(events.labels))),
        ]
        cells.append(
            [
                corpus,
                task,
                int(changed.segments[0]),
                *values,
                _share(net, 0, interval, signed=True),
                _effect(net),
            ]
        )
    columns = ["corpus", "task", "segments", "changed", "added errors", "changed errors", "corrections"]
    columns += ["corrections − added errors", "effect"]
    return tables.table(cells, columns)


def word_changes_table(rows: Sequence[tuple[str, pd.DataFrame, Resampled]], interval: str) -> Html:
    """Show how many words a candidate corrects and breaks on each corpus.

    Parameters
    ----------
    rows
        Corpus, counts from :func:`soundcheck.metrics.word_changes.word_changes`, and the share of all words
        that is corrected minus the share that is broken.
    interval
        Kind of interval.
    """
    if not rows:
        return element("p", "The models do not both transcribe a corpus that says what was said.")
    cells = []
    for corpus, counts, net in rows:
        sums = counts.sum()
        numbers = [int(sums[name]) for name in ("words", "corrected", "broken")]
        put_in = [int(sums[name]) for name in ("put_in_baseline", "put_in_candidate")]
        share = _share(net, 0, interval, signed=True)
        cells.append([corpus, int(counts["words"].notna().sum()), *numbers, share, *put_in])
    columns = ["corpus", "segments", "words", "corrected", "broken", "corrected − broken"]
    columns += ["put in by the baseline", "put in by the candidate"]
    return tables.table(cells, columns, sortable=False)


def _share(found: Resampled, n: int, kind: str, signed: bool = False) -> tables.Cell:
    value = found.value[n]
    if pd.isna(value):
        return tables.Cell(element("small", found.reasons[n]), None)
    low, high = (bounds[n] for bounds in found.interval(kind))
    sign = "+" if signed else ""
    text = f"{100 * value:{sign}.1f} %"
    bounds = "" if pd.isna(low) else f"{100 * low:{sign}.1f} to {100 * high:{sign}.1f} %"
    lines = tables.two_lines(text.replace("-", "−"), bounds.replace("-", "−"))
    return tables.Cell(lines, float(value), "sc-number")


def _effect(net: Resampled) -> str:
    """Say whether corrections outweigh added errors by more than the margin, or the reverse."""
    value = net.value[0]
    if pd.isna(value):
        return ""
    if value >= MARGIN:
        return "positive"
    return "negative" if value <= -MARGIN else "neutral"
