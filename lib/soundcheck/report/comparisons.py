"""What the page of a comparison shows: before and after, better or worse, corrected and broken."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common.messages import some
from soundcheck.evaluation.evaluation import Comparison
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.change import EVENTS, MARGIN, impact, unchanged
from soundcheck.metrics.combinators import combine, paired_difference
from soundcheck.metrics.word_errors import changed_words, word_changes, word_error_rate
from soundcheck.report import formats, label_views, page, views
from soundcheck.report.failures import people
from soundcheck.report.formats import Cell, label, number, p_value, place, remark, span, stacked, value_cell
from soundcheck.report.html import Html, element, join, notes
from soundcheck.report.verdict_tables import FILTERS, test_cell
from soundcheck.results.contrast import (
    BETTER,
    MOST_HEADLINES,
    NO_EVIDENCE,
    WORSE,
    counts_of_tests,
    headline_rows,
    headline_sentences,
)
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.rules import ABOVE
from soundcheck.suite.families import measure_of

OUTCOMES = {  # in the order of a table: style, words, and state of a figure
    WORSE: ("sc-fail", "▼ worse", FAIL),
    BETTER: ("sc-pass", "▲ better", PASS),
    NO_EVIDENCE: ("sc-skip", "· no evidence", INCONCLUSIVE),
    "": ("sc-skip", "– not compared", NOT_EVALUATED),
}
_PLACES = {outcome: place for place, outcome in enumerate(OUTCOMES)}
_PASSED = {True: "✓ pass", False: "✗ fail"} | dict.fromkeys((None, pd.NA), "")
NAMED = 3  # segments that only one model answered
MOST_ROWS = 400  # of a table of contrasts; the file beside the results has all
MOST_LINES, MOST_WORDS = 40, 40  # of a figure, of a table
_JUDGED = (
    "Values of tests of groups are what the published rule judges, mostly the group minus all. Where the "
    "rule is about |value|, the difference is that of the sizes."
)


def badge(outcome: str) -> Html:
    """Show an outcome as word and symbol."""
    css, text, _ = OUTCOMES[outcome]
    return element("span", text, class_=f"sc-badge {css}")


def answer(frame: pd.DataFrame) -> Html:
    """Say of the headline measures what they were and became, then in how many tests what follows."""
    sentences = headline_sentences(frame)[:MOST_HEADLINES]
    items = [element("li", element("strong", remark(text), limit=None)) for text in sentences]
    rest = remark(" ".join(counts_of_tests(frame)))
    return join([element("ul", *items), element("p", rest, limit=None)])


def before_after(comparison: Comparison, frame: pd.DataFrame) -> Html:
    """Draw the headline measures before and after, with those of groups and classes; gives their table."""
    headline = headline_rows(frame)
    if headline.empty:
        return element("p", "The models share no task with a headline measure.")
    titles = [measure_of(*pair).title for pair in zip(headline["test"], headline["family"], strict=True)]
    parts = zip(headline["group"], headline["label"], titles, strict=True)
    named = [people(group) or (f"{label(name)}: {title}" if name else title) for group, name, title in parts]
    drawn = headline.assign(name=named, place=headline["corpus"] + ", " + headline["task"])
    alt = "Headline measures of the candidate minus those of the baseline"
    page.show(comparison, _differences(drawn, "place"), f"{alt}, with 95 % intervals; right is better")
    return contrast_table(headline, ordered=True)


def _differences(frame: pd.DataFrame, panels: str | None = None) -> Figure:
    """Draw differences so that the candidate is better right of 0, whatever the rule."""
    sign = np.where(frame["rule"].eq(ABOVE), 1.0, -1.0)
    drawn = frame.assign(value=sign * frame["difference"], reference=0.0)
    drawn["state"] = [OUTCOMES[outcome][-1] for outcome in frame["outcome"]]
    for known, of in (("", ""), ("_sample", "difference_")):
        ends = frame[[f"{of}low{known}", f"{of}high{known}"]].to_numpy(dtype=float)
        drawn[f"low{known}"], drawn[f"high{known}"] = np.sort(sign * ends.T, axis=0)
    sides = zip(frame["baseline_value"], frame["candidate_value"], strict=True)
    drawn["words"] = [f"{number(before, 3)} → {number(after, 3)}" for before, after in sides]
    unit = "candidate worse  ←  0  →  candidate better"
    return views.forest(drawn, panels=panels, unit=unit, cut=MOST_LINES)


def outcomes(frame: pd.DataFrame, titles: Mapping[str, str]) -> Html:
    """Count better and worse for each family, and for all, with these speakers and for new ones."""
    sides, rows = {"these": "outcome_sample", "new": "outcome"}, []
    for family, group in [*frame.groupby(frame["family"].replace(titles)), ("all", frame)]:
        row = {"family": family}
        for who, side in sides.items():
            counts = group[side].value_counts()
            for outcome in filter(None, OUTCOMES):
                row[f"{OUTCOMES[outcome][1]}, {who} speakers"] = counts.get(outcome, 0)
        rows.append(row | {"not compared": group[[*sides.values()]].eq("").all(axis=1).sum()})
    return views.table(rows, sortable=False)


def unshared(answered: pd.DataFrame) -> Html:
    """Say which segments only one of the two models answered; they are compared on the others.

    ``answered`` is from :meth:`soundcheck.evaluation.evaluation.Comparison.answered`.
    """
    rows = []
    for (corpus, task), group in answered.groupby(["corpus", "task"], sort=False):
        both = group["baseline"] & group["candidate"]
        row = {"corpus": corpus, "task": task, "predicted by both": int(both.sum())}
        for side in ("baseline", "candidate"):
            names = group.loc[group[side] & ~both, "file"].tolist()
            row |= {f"{side} alone": len(names), f"of these of the {side}": some(names, NAMED)}
        rows += [row] * bool(both.lt(group["baseline"] | group["candidate"]).any())
    caption = "Compared are the segments that both predicted; the others count as missing predictions only."
    return views.table(rows, caption=caption, sortable=False, none="")


def contrast_table(
    frame: pd.DataFrame, titles: Mapping[str, str] | None = None, *, ordered: bool = False
) -> Html:
    """Show contrasts: both values, difference, both answers; worse first, then better, unless in order."""
    rows = frame
    if not ordered:
        order = frame[["outcome", "outcome_sample"]].map(_PLACES.get).min(axis=1)
        rows = frame.loc[order.sort_values(kind="stable").index]
    columns: dict[str, views.Column] = {
        **({"corpus": "corpus"} if frame["corpus"].nunique() > 1 else {}),
        **({} if titles is None else {"family": lambda row: titles.get(row.family, row.family)}),
        "task": "task",
        "test": test_cell,
        "baseline": lambda row: value_cell(row.baseline_value, below=_PASSED[row.baseline_passed]),
        "candidate": lambda row: value_cell(row.candidate_value, below=_PASSED[row.candidate_passed]),
        "difference": lambda row: value_cell(row.difference, below=formats.percent(row.relative)),
        "with these speakers": lambda row: _answer(
            row.outcome_sample, row.p_sample, row.difference_low_sample, row.difference_high_sample
        ),
        "for new speakers": lambda row: _answer(row.outcome, row.p_value, row.low, row.high, row.skipped),
        "speakers": "blocks",
    }
    table = views.table(rows.head(MOST_ROWS), columns, filters=None if ordered else FILTERS, stacked=True)
    more = f"{len(frame) - MOST_ROWS} more rows are in comparisons.csv."
    judged = frame["group"].ne("") & ~frame["test"].str.islower()  # names of measures are in lower case
    lines = {_JUDGED: judged.any(), more: len(frame) > MOST_ROWS}
    return table + notes([line for line, needed in lines.items() if needed])


def _answer(outcome: str, p: float, low: float, high: float, why: str = "") -> Cell:
    numbers = " · ".join(filter(None, (span(low, high), p_value(p))))
    return Cell(stacked(badge(outcome), numbers, why), _PLACES[outcome])


def turned(frame: pd.DataFrame, titles: Mapping[str, str]) -> Html:
    """List the tests whose threshold only one of the models passes, those that the candidate fails first."""
    both = frame["baseline_passed"].notna() & frame["candidate_passed"].notna()
    other = frame[both & (frame["baseline_passed"] != frame["candidate_passed"])]
    if other.empty:
        return element("p", "Both models pass and fail the same thresholds.")
    return contrast_table(other.sort_values("candidate_passed", kind="stable"), titles, ordered=True)


def corrected_and_broken(comparison: Comparison, pairs: Sequence[Subset], spoken: Sequence[Subset]) -> Html:
    """Show how many answers, and words of transcripts, a candidate corrects and breaks."""
    html = impacts(comparison, pairs) + word_impacts(comparison, spoken)
    return html or element("p", "The models share no task with labels or transcripts.")


def impacts(comparison: Comparison, pairs: Sequence[Subset]) -> Html:
    """Show how many answers changed, were corrected and broken, with intervals."""
    rows = []
    for pair in pairs:
        predictions = (pair.truth, pair.predictions.clean, pair.predictions.changed)
        changed = combine([unchanged(*predictions[1:])], lambda same: 1 - same)
        resampled = [comparison.resample(each, pair.blocks) for each in (changed, impact(*predictions))]
        cells = [cell for result in resampled for cell in _shares(result, comparison.interval)]
        net = resampled[1].value[-1]
        effect = "positive" if net >= MARGIN else "negative" if net <= -MARGIN else "neutral"
        effect = "" if pd.isna(net) else effect
        rows.append((pair.corpus, pair.task.name, int(resampled[0].segments[0]), *cells, effect))
    columns = ["corpus", "task", "segments", "changed", *EVENTS, "corrections − added errors", "effect"]
    return views.listed(rows, columns, sortable=False, none="")


def movements(comparison: Comparison, pairs: Sequence[Subset]) -> Html:
    """Show the predictions of the candidate against those of the baseline."""
    parts, sides = [], ("baseline", "candidate")
    for pair in pairs:
        both = pair.predictions.clean, pair.predictions.changed, pair.task.classes
        parts.append(label_views.agreement(comparison.media, *both, place(pair), sides))
    return join(parts)


def word_impacts(comparison: Comparison, pairs: Sequence[Subset]) -> Html:
    """Show how many words a candidate corrects and breaks, with the interval of the net share."""
    rows = []
    for pair in pairs:
        changes = word_changes(pair.truth, pair.predictions.clean, pair.predictions.changed)
        sides = (word_error_rate(changes["words"], changes[name]) for name in ("corrected", "broken"))
        net = comparison.resample(paired_difference(*sides), pair.blocks)
        sums = [int(changes[name].sum()) for name in ("words", "corrected", "broken")]
        put_in = [int(changes[f"put_in_{side}"].sum()) for side in ("baseline", "candidate")]
        shares = _shares(net, comparison.interval)
        rows.append((pair.corpus, int(changes["words"].notna().sum()), *sums, *shares, *put_in))
    columns = ["corpus", "segments", "words", "corrected", "broken", "corrected − broken"]
    columns += ["put in by the baseline", "put in by the candidate"]
    return views.listed(rows, columns, sortable=False, none="")


def words(pair: Subset) -> Html:
    """Show which words a candidate corrects and breaks most often."""
    changed = changed_words(pair.truth, pair.predictions.clean, pair.predictions.changed)
    caption = f"{pair.corpus}; {min(MOST_WORDS, len(changed))} of {len(changed)} changed words"
    columns: dict[str, views.Column] = {name: name for name in ("word", "said", "corrected", "broken")}
    columns["corrected − broken"] = lambda row: row.corrected - row.broken
    columns["wrong by both"] = "wrong"
    return views.table(changed.head(MOST_WORDS), columns, caption=caption)


def _shares(resampled: Resampled, kind: str) -> list[Cell]:
    """Show the shares that a statistic gives, with their intervals, or why there are none."""
    each = zip(resampled.value, *resampled.interval(kind), resampled.reasons, strict=True)
    return [
        Cell(element("small", why)) if pd.isna(numbers[0]) else value_cell(*numbers, "%")
        for *numbers, why in each
    ]
