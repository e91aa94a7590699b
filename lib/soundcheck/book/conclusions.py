"""The top of the first page, to be read in ten seconds: what holds, what is open, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from soundcheck.book.findings import place_of
from soundcheck.common.wording import counted
from soundcheck.report import failures, key_figures
from soundcheck.report.html import Html, element, join
from soundcheck.report.unsettled import noun, unsettled
from soundcheck.results import tally
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.page_names import model_page, result_page
from soundcheck.results.record import RunRecord
from soundcheck.results.summary import ASPECTS, aspects
from soundcheck.results.verdict import HOLDS, OPEN_FAIL, OPEN_PASS

MOST_NOTES = 20  # tasks at which models are not better than guessing
MOST_MODELS = 6  # that are named at once
MOST_OPEN = 3  # models and families that are named with how many of their tests are open
HOLLOW_WORDS = "That a model is robust and fair means little where it is not better than guessing: "
HOLDING = "These stand although it is accounted for how many tests were made; others may be chance."
OPEN = "An open test is no pass: too few people spoke to rule a failure out, or to be sure of one."


def conclusions(record: RunRecord, rows: pd.DataFrame, found: pd.Series) -> Html:
    """Say what holds, what is clear, what is open, who knows nothing, and where to go on.

    Parameters
    ----------
    record
        The run's record.
    rows
        Rows that count, see :mod:`soundcheck.results.standing`.
    found
        The state of each of them.
    """
    total = tally(rows)
    holding = rows[found.eq(HOLDS)]
    undecided = rows[found.isin([OPEN_PASS, OPEN_FAIL])]
    tests = f"{total.judged:,} tests"
    first = f"No failure holds among {tests}."
    if total.holds:
        some = "failure holds" if total.holds == 1 else "failures hold"
        first = f"{total.holds:,} {some} among {tests}."
    passes = "1 is a clear pass" if total.clear_pass == 1 else f"{total.clear_pass:,} are clear passes"
    left = "1 is open: the data do not settle it" if total.open == 1 else f"{total.open:,} are open"
    then = f" {passes}; {left}" + (": the data do not settle them." if total.open > 1 else ".")
    excused = int(accepted_reasons(holding, record.accepted).ne("").sum())
    if excused:
        then = f" {excused:,} of them {'is' if excused == 1 else 'are'} accepted.{then}"
    lines = [element("p", element("strong", first, limit=None), element("span", then), limit=None)]
    notes, short = _without_merit(record)
    if notes:
        listed = element("ul", *(element("li", note, limit=None) for note in notes[:MOST_NOTES]))
        more = element("p", f"… and {len(notes) - MOST_NOTES} more.") if len(notes) > MOST_NOTES else Html()
        if left := len(short[MOST_MODELS:]):
            short[MOST_MODELS:] = [counted(left, "more model")]
        head = element("summary", f"{HOLLOW_WORDS}{'; '.join(short)}", limit=None)
        lines.append(element("details", head, listed, more))
    parts = [
        element("div", join(lines), class_="sc-conclusions"),
        element(
            "div",
            _card("What holds", _what_holds(record, holding), HOLDING),
            _card("What is open", _what_is_open(record, undecided), OPEN),
            _card("What to do next", _what_to_do(record, holding, undecided, bool(notes))),
            class_="sc-cards",
        ),
    ]
    return join(parts)


def _without_merit(record: RunRecord) -> tuple[list[str], list[str]]:
    """Say which models are not better than guessing at which tasks: in full, and in short."""
    notes, short = [], []
    for model in record.models:
        own = key_figures.standing_notes(record.figures, model.name, model.tasks)
        if own and model.kind != "random":
            notes += [f"{model.name} is {note}" for note in own]
            tasks = ", ".join(note.partition(":")[0].partition(" at ")[2] for note in own)
            short.append(f"{model.name} at {tasks}")
    return notes, short


def _card(title: str, items: Iterable[Html], told: str = "") -> Html:
    listed = element("ul", *(element("li", item) for item in items))
    note = element("p", told, class_="sc-note") if told else Html()
    return element("div", element("p", element("strong", title)), listed, note, class_="sc-card")


def _what_holds(record: RunRecord, holding: pd.DataFrame) -> Iterable[Html]:
    """Count what holds by model, those with the most first."""
    pages = {model.name: model_page(model.slug) for model in record.models}
    by_model = holding["model"].value_counts()
    about = aspects(holding)
    for name, count in list(by_model.items())[:MOST_MODELS]:
        own = about[holding["model"].eq(name)]
        kinds = ", ".join(
            f"{aspect} {int(own.eq(aspect).sum())}" for aspect in ASPECTS if own.eq(aspect).any()
        )
        link = element("a", name, href=f"{pages[name]}.html")
        yield join([link, element("span", ": ", element("strong", f"{count}"), f" ({kinds})")])
    if len(by_model) > MOST_MODELS:
        left = counted(len(by_model) - MOST_MODELS, "more model")
        yield element("span", f"{left}: {int(by_model.iloc[MOST_MODELS:].sum())}")
    if holding.empty:
        yield element("span", "Nothing. What is open may still hide differences.")


def _what_is_open(record: RunRecord, undecided: pd.DataFrame) -> Iterable[Html]:
    """Count what is open where it is most."""
    if undecided.empty:
        yield element("span", "Nothing is open: each test is a clear pass or a failure that holds.")
        return
    for one in unsettled(record, undecided)[:MOST_OPEN]:
        link = element("a", one.model, href=f"{result_page(one.model, one.family)}.html")
        yield join([link, element("span", ", ", one.title, ": ", element("strong", f"{one.tests}"), " open")])


def _what_to_do(
    record: RunRecord, holding: pd.DataFrame, undecided: pd.DataFrame, hollow: bool
) -> Iterable[Html]:
    """Name the next steps, each with the place to go to."""
    holding = holding[accepted_reasons(holding, record.accepted).eq("")]
    if len(holding):
        worst = next(failures.by_excess(holding).itertuples())
        found = failures.finding(worst)
        about = found.who or f"{worst.test.lower()}"
        link = element("a", f"{worst.model}, {about}", href=place_of(worst, result_page))
        yield join([element("span", "Look at the gravest failure: "), link])
        yield join(
            [element("span", "Then at "), element("a", "the others", href="#what-to-worry-about-first")]
        )
    if len(undecided):
        link = element("a", f"more {noun(record, undecided)}", href="#what-could-not-be-concluded")
        yield join([element("span", "Test "), link, element("span", " where much is open")])
    if hollow:
        yield element("span", "Rely on no model at tasks where it is not better than guessing")
    yield join(
        [
            element("a", "Find your way", href="find_your_way.html"),
            element("span", " to what you want to know"),
        ]
    )
