"""What the templates of cards and pages of evidence show: rows of one model, the worst first."""

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.messages import counted, duration, heading
from soundcheck.common.templates import Html
from soundcheck.publish.cards import records
from soundcheck.publish.cards.card_format import CardContext
from soundcheck.publish.facts import inline, page, sentence
from soundcheck.report import failures, key_figures
from soundcheck.report.formats import label, significant
from soundcheck.results.facts import ModelFacts, counts
from soundcheck.results.rows import ALL
from soundcheck.results.states import ASPECTS, aspects
from soundcheck.suite.entries import CARD_FIELDS

FIRST = 10  # rows of a table that are shown at once
MOST = 60  # rows of a table


def text(
    name: str, facts: ModelFacts, context: CardContext, escaped: Callable[[object], str] = inline
) -> str:
    """Write a card by its template, whose texts ``escaped`` makes harmless."""
    about, counted_about = aspects(facts.findings), aspects(facts.counted)
    written = templates.text(
        f"cards/{name}",
        escaped,
        facts=facts,
        context=context,
        title=Html(heading(facts.model.name)),
        fields=CARD_FIELDS,
        findings={aspect: list(facts.findings[about.eq(aspect)].itertuples()) for aspect in ASPECTS},
        counts={aspect: counts(facts.counted[counted_about.eq(aspect)]) for aspect in ASPECTS},
        few=list(facts.few.itertuples()),
        classes=_classes(facts),
        groups=list(facts.group_values.itertuples()),
        reasons=facts.not_evaluated["skipped"].value_counts(),
        tests=_tests(facts),
        interval_methods=records.interval_methods(facts),
        first=FIRST,
        most=MOST,
    )
    return re.sub(r"\n{3,}", "\n\n", written.strip()) + "\n"


def _classes(facts: ModelFacts) -> list:
    """Give recall and precision of each class, the worst first."""
    key = ["corpus", "task", "label"]
    rows = facts.estimates[facts.estimates["part"].eq(ALL) & facts.estimates["condition"].eq("")]
    precision = rows[rows["measure"].eq("precision")][[*key, "value", "low", "high"]]
    both = facts.classes.merge(precision, "left", on=key, suffixes=("", "_precision"))
    return list(both.sort_values([*key[:2], "value"], kind="stable").itertuples())


def _tests(facts: ModelFacts) -> list[tuple[str, str, str, str, str]]:
    """Give family, test, what it does, its rule and its margin for each test."""
    tests = []
    for family, of_family in facts.families:
        for test, rows in of_family.groupby("test", sort=False):
            judged = rows[rows["value"].notna() & rows["threshold"].notna()]
            judged = judged.drop_duplicates(["rule", "threshold"])
            rules = " or ".join(f"{row.rule} {row.threshold:g}" for row in judged.itertuples())
            margins = [*map(significant, sorted(rows["matters"].dropna()))]
            ends = " to ".join(dict.fromkeys(margins[:1] + margins[-1:]))
            tests.append((family.title, test, records.note(family, test), rules or "none", ends))
    return tests


def _known(written: Callable[[Any, float], str]) -> Callable[[Any, float | None], str]:
    """Write nothing for a number that is not there."""
    return lambda what, number: "" if number is None or pd.isna(number) else written(what, number)


def _ends(row: object, low: float, high: float) -> str:
    return "" if pd.isna(low) else failures.span(row, low, high).removeprefix("95 % ")


templates.FILTERS |= {
    "against_chance": key_figures.against_chance,
    "amount": _known(failures.amount),
    "counted": counted,
    "duration": duration,
    "ends": _ends,
    "label": label,
    "limit": lambda row: failures.limit(row).removeprefix("has to be "),
    "measured": failures.measured,
    "others": failures.others,
    "page": page,
    "people": failures.people,
    "planned": failures.planned,
    "points": _known(failures.points),
    "sentence": sentence,
    "significant": significant,
    "thousands": "{:,}".format,
    "written": _known(key_figures.written),
}
