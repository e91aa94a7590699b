"""What the templates of cards and pages of evidence show: rows of one model, the worst first."""

from __future__ import annotations

import re

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.escaping import heading
from soundcheck.common.templates import Html
from soundcheck.common.wording import counted, duration
from soundcheck.publish import markdown
from soundcheck.publish.cards import measurements
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.facts import ModelFacts
from soundcheck.report import failures, key_figures
from soundcheck.report.failures import planned
from soundcheck.report.formats import significant
from soundcheck.report.names import label
from soundcheck.results.estimates import ALL
from soundcheck.results.facts import counts
from soundcheck.results.record import KeyFigure
from soundcheck.results.standing import ASPECTS, HOLLOW, aspects
from soundcheck.statistics.rules import ABOVE, BELOW
from soundcheck.suite.card import FIELDS
from soundcheck.suite.measures import measure_of

FIRST = 10  # rows of a table that are shown at once
MOST = 60  # rows of a table
_PER_CENT = " %"
_PROSE = ("intended_use", "training_data", "limitations")


def text(name: str, facts: ModelFacts, context: CardContext) -> str:
    """Write a card by its template."""
    rows, hollow = facts.findings, facts.rows[facts.rows["standing"].eq(HOLLOW)]
    of = {"findings": aspects(rows), "counted": aspects(facts.counted), "hollow": aspects(hollow)}
    said = {FIELDS[name]: value for name, value in vars(context.card).items() if value}
    written = templates.text(
        name,
        markdown.inline,
        facts=facts,
        context=context,
        title=Html(heading(facts.model.name)),
        several=len(facts.corpora) > 1,
        said={name: ", ".join(value) if isinstance(value, tuple) else value for name, value in said.items()},
        prose=[FIELDS[name] for name in _PROSE],
        findings={aspect: _titled(rows[of["findings"].eq(aspect)]) for aspect in ASPECTS},
        counts={aspect: counts(facts.counted[of["counted"].eq(aspect)]) for aspect in ASPECTS},
        chance_level={aspect: hollow.loc[of["hollow"].eq(aspect), "task"].unique() for aspect in ASPECTS},
        few=_titled(facts.few),
        classes=_classes(facts),
        groups=list(facts.group_values.itertuples()),
        reasons=facts.not_evaluated["skipped"].value_counts(),
        tests=_tests(facts),
        interval_methods=measurements.interval_methods(facts),
        first=FIRST,
        most=MOST,
    )
    return re.sub(r"\n{3,}", "\n\n", written.strip()) + "\n"


def valued(number: float | None, measure: str = "") -> str:
    """Write a number of a measure, rates in per cent.

    Examples
    --------
    >>> valued(0.44981, "word error rate"), valued(0.44981, "concordance"), valued(None)
    ('45.0 %', '0.45', '')
    """
    if number is None or pd.isna(number):
        return ""
    return significant(100 * number, 3) + _PER_CENT if measure in key_figures.RATES else significant(number)


def span(low: float | None, high: float | None, measure: str = "") -> str:
    """Write an interval of a measure: ``0.37 to 0.53``, ``34.2 to 59.1 %``; empty if there is none."""
    if low is None or pd.isna(low):
        return ""
    return f"{valued(low, measure).removesuffix(_PER_CENT)} to {valued(high, measure)}"


def remark(figure: KeyFigure) -> str:
    """Say whether a figure is better than chance, at which threshold it is, or why it is missing."""
    if figure.threshold is not None:
        return f"at the threshold {significant(figure.threshold, 3)}"
    means = key_figures.EXPLAINED.get(figure.standing, "")
    worse = key_figures.worse_than_chance(figure)
    return "; ".join(filter(None, [key_figures.WORSE_THAN_CHANCE if worse else means, figure.reason]))


def measured(row: object) -> str:
    """Name what a row of the results is about, without its group: ``recall of emotion, sadness``."""
    return failures.finding(row).measured.removesuffix(",")


def has_to(row: object) -> str:
    """Say what a value has to be."""
    side = {ABOVE: "above ", BELOW: "below "}.get(row.rule, "within ±")
    return "" if pd.isna(row.threshold) else f"{side}{valued(row.threshold, row.title)}"


def _titled(rows: pd.DataFrame) -> list:
    """Give rows of the results with the title of what they measure, by which numbers are written."""
    pairs = zip(rows["test"], rows["family"], strict=True)
    return list(rows.assign(title=[measure_of(test, family).title for test, family in pairs]).itertuples())


def _classes(facts: ModelFacts) -> list:
    """Give recall and precision of each class, the worst first."""
    own = facts.estimates[facts.estimates["part"].eq(ALL) & facts.estimates["condition"].eq("")]
    precision = own[own["measure"].eq("precision")][["corpus", "task", "label", "value", "low", "high"]]
    both = facts.classes.merge(precision, "left", on=["corpus", "task", "label"], suffixes=("", "_precision"))
    return list(both.sort_values(["corpus", "task", "value"], kind="stable").itertuples())


def _tests(facts: ModelFacts) -> list[tuple[str, str, str, str, str]]:
    """Give family, test, what it does, its rule and its margin for each test."""
    found = []
    for family, own in facts.families:
        for test, rows in own.groupby("test", sort=False):
            judged = rows[rows["value"].notna() & rows["threshold"].notna()].drop_duplicates(
                ["rule", "threshold"]
            )
            rules = " or ".join(f"{row.rule} {row.threshold:g}" for row in judged.itertuples())
            margins = dict.fromkeys(map(significant, sorted(rows["matters"].dropna())))
            ends = " to ".join(dict.fromkeys([*margins][:1] + [*margins][-1:]))
            found.append((family.title, test, measurements.note(family, test), rules or "none", ends))
    return found


templates.FILTERS |= {
    "counted": counted,
    "duration": duration,
    "has_to": has_to,
    "label": label,
    "measured": measured,
    "planned": planned,
    "remark": remark,
    "span": span,
    "thousands": "{:,}".format,
    "unlimited": lambda text: Html(markdown.inline(text, None)),
    "valued": valued,
}
