"""Tables of a comparison: before and after, what became better or worse, what happened segment by segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.metrics.impact import MARGIN
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.names import remark
from soundcheck.results.conclusion import conclusion, headline_sentences
from soundcheck.results.contrast import BETTER, NO_EVIDENCE, WORSE, headline_rows
from soundcheck.statistics.bootstrap import Resampled

OUTCOMES = {
    BETTER: ("sc-pass", "▲ better"),
    WORSE: ("sc-fail", "▼ worse"),
    NO_EVIDENCE: ("sc-skip", "· no evidence"),
}
_PLACES = {WORSE: 0, BETTER: 1, NO_EVIDENCE: 2, "": 3}
NAMED = 3  # segments that only one model answered
MOST_ROWS = 400  # of a table of contrasts; the file beside the results has all


def answer(frame: pd.DataFrame) -> Html:
    """Say in a few sentences whether the candidate is better, and what is not excluded."""
    told = headline_sentences(frame)
    first = remark(told[0]) if told else ""
    rest = remark(conclusion(frame)).removeprefix(first)
    return element("p", element("strong", first, limit=None), f" {rest}", limit=None)


def outcomes(frame: pd.DataFrame, titles: Mapping[str, str]) -> Html:
    """Count better and worse for each family, and for all, with these speakers and for new ones."""
    rows = [[titles.get(name, name), *_counts(own)] for name, own in frame.groupby("family", sort=True)]
    rows.append(["all", *_counts(frame)])
    columns = [f"{text}, {who} speakers" for who in ("these", "new") for _, text in OUTCOMES.values()]
    return tables.table(rows, ["family", *columns, "not compared"], sortable=False)


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
    found = [
        int(frame[name].eq(outcome).sum()) for name in ("outcome_sample", "outcome") for outcome in OUTCOMES
    ]
    return [*found, int((frame["outcome"].eq("") & frame["outcome_sample"].eq("")).sum())]


def badge(outcome: str) -> Html:
    """Show an outcome as word and symbol."""
    name, text = OUTCOMES.get(outcome, ("sc-skip", "– not compared"))
    return element("span", text, class_=f"sc-badge {name}")


def before_after(frame: pd.DataFrame) -> Html:
    """Show the headline measures, then those of each group, and each class."""
    shown = headline_rows(frame)
    if shown.empty:
        return element("p", "The models share no task with a headline measure.")
    return contrast_table(shown, ordered=True)


def contrast_table(
    frame: pd.DataFrame,
    caption: str = "",
    titles: Mapping[str, str] | None = None,
    *,
    ordered: bool = False,
) -> Html:
    """Show contrasts: both values, difference, both answers; worse first, then better, unless in order."""
    if not ordered:
        order = frame[["outcome", "outcome_sample"]].map(_PLACES.get).min(axis=1)
        frame = frame.loc[order.sort_values(kind="stable").index]
    about = {"corpus": frame["corpus"].nunique() > 1, "family": titles is not None}
    rows = []
    for row in frame.head(MOST_ROWS).itertuples():
        named = {"corpus": row.corpus, "family": (titles or {}).get(row.family, row.family)}
        share = "" if pd.isna(row.relative) else f"{100 * row.relative:+.1f} %".replace("-", "−")
        here = (row.outcome_sample, row.p_sample, row.difference_low_sample, row.difference_high_sample)
        rows.append(
            [
                *(text for name, text in named.items() if about[name]),
                row.task,
                tables.test_cell(row),
                _value(row.baseline_value, row.baseline_passed),
                _value(row.candidate_value, row.candidate_passed),
                _number(row.difference, share),
                _answer(*here),
                _answer(row.outcome, row.p_value, row.low, row.high, row.skipped),
                row.blocks,
            ]
        )
    columns = [*(name for name in named if about[name])] if rows else []
    columns += ["task", "test", "baseline", "candidate", "difference", "with these speakers"]
    columns += ["for new speakers", "speakers"]
    parts = [tables.table(rows, columns, caption=caption, filters=() if ordered else tables.FILTERS)]
    if len(frame) > MOST_ROWS:
        more = f"{len(frame) - MOST_ROWS} more rows are in comparisons.csv."
        parts.append(element("p", more, class_="sc-note"))
    return join(parts)


def _answer(outcome: str, p: float, low: float, high: float, why: str = "") -> tables.Cell:
    bounds = "" if pd.isna(low) else f"{tables.number(low)} to {tables.number(high)}"
    shown = tables.two_lines(badge(outcome), " · ".join(filter(None, (bounds, _p_value(p)))))
    if why:
        shown = shown + element("small", why, class_="sc-reason sc-line")
    return tables.Cell(shown, _PLACES[outcome])


def _p_value(p: float) -> str:
    """Write a p-value with two significant digits."""
    if pd.isna(p):
        return ""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def _value(value: float, passed: object) -> tables.Cell:
    return _number(value, "" if pd.isna(passed) else ("✓ pass" if passed else "✗ fail"))


def _number(value: float, below: str) -> tables.Cell:
    shown = tables.two_lines(tables.number(value), below)
    return tables.Cell(shown, None if pd.isna(value) else value, "sc-number")


def turned(frame: pd.DataFrame, titles: Mapping[str, str]) -> Html:
    """List the tests whose verdict is another one for the candidate, those that it fails first."""
    both = frame["baseline_passed"].notna() & frame["candidate_passed"].notna()
    other = frame[both & (frame["baseline_passed"] != frame["candidate_passed"])]
    if other.empty:
        return element("p", "Every verdict is the same for both models.")
    return contrast_table(other.sort_values("candidate_passed", kind="stable"), titles=titles, ordered=True)


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
