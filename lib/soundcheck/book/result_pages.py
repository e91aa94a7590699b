"""The page of a model and a family: the answer, then the executed notebook with its final table.

The answer names the headline test of the family first, with its values, then the largest other failure. It
and the table are written from the finished results, as states depend on the tests of all families, which a
notebook does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import executed, pages
from soundcheck.book.overview import FEW_TITLE, of_few_speakers
from soundcheck.common import files, templates
from soundcheck.common.caveats import Caveat
from soundcheck.common.wording import counted
from soundcheck.report import failures
from soundcheck.report.formats import p_value
from soundcheck.report.html import Html, element
from soundcheck.report.key_figures import standing_notes
from soundcheck.report.names import sentence
from soundcheck.report.notices import caveats_notice
from soundcheck.report.states import STATE
from soundcheck.report.verdict_tables import anchor_of, verdict_table
from soundcheck.results import facts, states
from soundcheck.results.record import NotebookRecord, RunRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, PROVEN, REPORTED
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.suite.families import Family

MOST_REASONS = 3
NO_GROUP = "no group is shown to be worse; the largest difference: "
OTHERS_FAIL = "the headline measure shows no group to be worse; its largest difference: "


def cells(
    record: RunRecord,
    entry: NotebookRecord,
    family: Family,
    rows: pd.DataFrame,
    notebook: Path,
    out: Path,
    caveats: Sequence[Caveat],
    otherwise: Html,
) -> list[dict]:
    """Make the page; ``rows`` are its finished results, ``otherwise`` is which groups were recorded so."""
    written = executed.cells(
        notebook, executed.title(entry.model, family.title), entry, out, final_table(record, rows)
    )
    heading_line, _, question = written[0]["source"].partition("\n")
    answered = answer(record, rows)
    if few := of_few_speakers(record, rows, "../../"):
        answered += element("p", element("strong", f"{FEW_TITLE}.")) + few
    method = element("a", "How these tests work", href=f"../../methods/{files.slug(entry.family)}.html")
    answered += element("p", method, class_="sc-note") + caveats_notice(caveats) + otherwise
    asked = [pages.markdown(question.strip())] if question.strip() else []
    return [pages.markdown(heading_line), *asked, pages.output(answered), *written[1:]]


def answer(record: RunRecord, rows: pd.DataFrame) -> Html:
    """Answer the question of a family for a model: its headline test, then the largest other failure."""
    rows = states.counted(rows)
    # The tests that a family is known by decide, as in the heat map; all, where none of these was judged.
    judged = rows["first"] & rows["state"].isin((FAIL, INCONCLUSIVE, PASS))
    state, row, opening = _answered(rows[rows["first"]] if judged.any() else rows)
    failing = rows[rows["state"].eq(FAIL)]
    if opening == NO_GROUP and len(failing):
        opening = OTHERS_FAIL
    said, rests, address, other = sentence(opening), ".", "", None
    if row is not None:
        said, rests = _written(record, row, opening)
        address, failing = f"#{anchor_of(row)}", failing.drop(row.Index, errors="ignore")
    if (largest := facts.first(facts.by_excess(failing))) is not None:
        other = (*_written(record, largest, ""), f"#{anchor_of(largest)}")
    return templates.html(
        "answer",
        **{"state": STATE[state], "first": said, "rest": rests, "address": address, "other": other},
        counts=f"{facts.headline(rows)}. {_of_two_rules(rows)}".strip() if len(rows) else "",
        notes=[f"{sentence(note)}." for note in _no_better_than_chance(record, rows)],
    )


def _written(record: RunRecord, row: object, opening: str) -> tuple[str, str]:
    fact = failures.finding(row, record.block_of(row.corpus))
    about = f" of {fact.who}" if fact.who else ""
    says = f"{opening}{fact.measured}{about} is {fact.says}" if fact.rests else fact.says
    return sentence(says), f" ({fact.rests}){fact.more}." if fact.rests else "."


def _answered(rows: pd.DataFrame) -> tuple[str, object, str]:
    """Give the state of a page, the row that its sentence is about, if any, and how the sentence begins."""
    inconclusive = rows["state"].eq(INCONCLUSIVE)
    compared = inconclusive & rows["gap"].notna() & rows["group"].ne("")
    for state, part, opening in (
        (FAIL, rows[rows["state"].eq(FAIL)], ""),
        (REPORTED, facts.few_speakers(rows), "too few speakers to generalise; for these, "),
        (INCONCLUSIVE, rows[compared], NO_GROUP),
        (INCONCLUSIVE, rows[inconclusive], "inconclusive: "),
        (PASS, rows[rows["state"].eq(PASS)], "passes; nearest to its limit: "),
    ):
        if len(part):
            return state, facts.first(part if state == REPORTED else facts.by_excess(part)), opening
    if rows["state"].eq(REPORTED).any():
        return REPORTED, None, "No threshold is set: values are reported"
    reasons = list(dict.fromkeys(rows.loc[rows["state"].eq(NOT_EVALUATED), "skipped"]))
    why = "; ".join(reasons[:MOST_REASONS]) + ("; …" if len(reasons) > MOST_REASONS else "")
    return NOT_EVALUATED, None, f"Not evaluated: {why}" if why else "There are no tests"


def _no_better_than_chance(record: RunRecord, rows: pd.DataFrame) -> list[str]:
    """Say at which tasks of a page being robust or fair says nothing: the model may as well be guessing."""
    doubtful = rows[rows["standing"].ne(PROVEN) & ~rows["model"].isin(record.references)]
    return [
        note
        for model, tasks in doubtful.groupby("model")["task"]
        for note in standing_notes(record.figures, model, list(dict.fromkeys(tasks)))
    ]


def _of_two_rules(rows: pd.DataFrame) -> str:
    """Count what the published rule says of groups, and where it and the margin come to different answers."""
    judged = rows[rows["group"].ne("") & rows["passed"].notna() & ~rows["rule"].isin(GAP_RULES)]
    if judged.empty:
        return ""
    failing = int((~judged["passed"].astype(bool)).sum())
    text = f"By the published rule (group minus all), {failing} of {len(judged)} fail"
    apart = sum(bool(failures.both_rules(row)) for row in judged.itertuples())
    return f"{text}; the two rules differ for {apart}, see the table." if apart else f"{text}."


def final_table(record: RunRecord, rows: pd.DataFrame) -> Html:
    """Show the finished results."""
    blocks = {name: record.block_of(name) for name in rows["corpus"].unique()}
    return verdict_table(rows, blocks) + limits(rows)


def limits(rows: pd.DataFrame) -> Html:
    """Say how many inconclusive rows could not be significant alone, however large their difference."""
    few = rows[rows["state"].eq(INCONCLUSIVE) & rows["mirrors"].eq("") & rows["too_few"]]
    if few.empty:
        return Html()
    text = (
        f"{counted(len(few), 'test')} could not be significant alone, however large the difference: so few "
        f"speakers give at least {p_value(few['least_p'].min())}, too much among "
        f"{counted(int(few['tests'].max()), 'test')}."
    )
    return element("p", text, class_="sc-note", limit=None)
