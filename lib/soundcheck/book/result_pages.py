"""The page of a model and a family: the answer, then the executed notebook with its final table.

The answer is the worst fact with its values, then how many tests say what. It and the table are written from
the finished results, as states depend on the tests of all families, which a notebook does not know.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
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
from soundcheck.report.sentences import both_rules
from soundcheck.report.states import STATE
from soundcheck.report.verdict_tables import VERDICTS, Among, anchor_of, verdict_table
from soundcheck.results import facts, states
from soundcheck.results.facts import by_excess, first
from soundcheck.results.record import NotebookRecord, RunRecord
from soundcheck.results.standing import PROVEN, standings
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.statistics.permutation import least_p_value
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.suite.families import Family

MOST_REASONS = 3
MOST_LINES = 4  # of the note on speakers that are too few


def cells(
    record: RunRecord,
    entry: NotebookRecord,
    family: Family,
    notebook: Path,
    out: Path,
    rows: pd.DataFrame,
    among: pd.Series,
    caveats: Sequence[Caveat],
    otherwise: Html,
) -> list[dict]:
    """Make the page; ``rows`` are its finished results, ``otherwise`` is which groups were recorded so."""
    blocks = functools.partial(failures.blocks_of, record)
    fill = FinalTable(rows, among, {name: blocks(name) for name in rows["corpus"].unique()})
    found = executed.cells(notebook, executed.title(entry.model, family.title), entry, out, fill)
    heading_line, _, words = found[0]["source"].partition("\n")
    answered = answer(rows, _no_merit(record, rows), blocks)
    if few := of_few_speakers(record, rows, "../../"):
        answered += element("p", element("strong", f"{FEW_TITLE}.")) + few
    method = element("a", "How these tests work", href=f"../../methods/{files.slug(entry.family)}.html")
    answered += element("p", method, class_="sc-note") + caveats_notice(caveats) + otherwise
    asked = [pages.markdown(words.strip())] * bool(words.strip())
    table = [] if fill.placed else [pages.output(fill.html)]
    return [pages.markdown(heading_line), *asked, pages.output(answered), *found[1:], *table]


def _no_merit(record: RunRecord, rows: pd.DataFrame) -> list[str]:
    """Say at which tasks of a page the model is no better than guessing, or nobody knows."""
    doubtful = rows[standings(rows, record.figures).ne(PROVEN) & ~rows["model"].isin(record.references)]
    return [
        note
        for model, tasks in doubtful.groupby("model")["task"]
        for note in standing_notes(record.figures, model, list(dict.fromkeys(tasks)))
    ]


def answer(rows: pd.DataFrame, notes: Sequence[str], blocks: Callable[[str], str]) -> Html:
    """Answer the question of a family for a model.

    ``notes`` say at which tasks the model is no better than chance, where being robust or fair says nothing;
    ``blocks`` names what is resampled of a corpus, in the singular.
    """
    rows = states.counted(rows)
    state, row, opening = _answered(rows)
    rest, address = ".", ""
    if row is not None:
        found = failures.finding(row, blocks(row.corpus))
        about = f" of {found.who}" if found.who else ""
        opening = sentence(f"{opening}{found.measured}{about} is {found.says}" if found.rests else found.says)
        rest = f" ({found.rests}){found.more}." if found.rests else "."
        address = f"#{anchor_of(row)}"
    return templates.html(
        "answer",
        state=STATE[state],
        first=opening,
        rest=rest,
        address=address,
        counts=f"{facts.headline(rows)}. {_of_two_rules(rows)}".strip() if len(rows) else "",
        notes=[f"{sentence(note)}." for note in notes],
    )


def _answered(rows: pd.DataFrame) -> tuple[str, object, str]:
    """Give the state of a page, the row that its sentence is about, if any, and how the sentence begins."""
    inconclusive = rows["state"].eq(INCONCLUSIVE)
    compared = inconclusive & rows["gap"].notna() & rows["group"].ne("")
    largest = "no group shown to be worse; largest difference, inconclusive: "
    for state, own, opening in (
        (FAIL, rows[rows["state"].eq(FAIL)], ""),
        (REPORTED, facts.few_speakers(rows), "too few speakers to generalise; for these, "),
        (INCONCLUSIVE, rows[compared], largest),
        (INCONCLUSIVE, rows[inconclusive], "inconclusive: "),
        (PASS, rows[rows["state"].eq(PASS)], "nothing fails; nearest to its limit: "),
    ):
        if len(own):
            return state, first(own if state == REPORTED else by_excess(own)), opening
    if rows["state"].eq(REPORTED).any():
        return REPORTED, None, "No threshold is set: values are reported"
    reasons = list(dict.fromkeys(rows.loc[rows["state"].eq(NOT_EVALUATED), "skipped"]))
    why = "; ".join(reasons[:MOST_REASONS]) + ("; …" if len(reasons) > MOST_REASONS else "")
    return NOT_EVALUATED, None, f"Not evaluated: {why}" if why else "There are no tests"


def _of_two_rules(rows: pd.DataFrame) -> str:
    """Count what the published rule says of groups, and where it and the margin come to different answers."""
    judged = rows[rows["group"].ne("") & rows["passed"].notna() & ~rows["rule"].isin(GAP_RULES)]
    if judged.empty:
        return ""
    failing = int((~judged["passed"].astype(bool)).sum())
    text = f"By the rule on group minus all, {failing} of {len(judged)} fail"
    apart = sum(bool(both_rules(row)) for row in judged.itertuples())
    return f"{text}; for {apart} the two rules differ, see the table." if apart else f"{text}."


class FinalTable:
    """Puts the final table in the place of the preliminary one that a notebook shows.

    ``placed`` says whether the notebook had such a place; one that has none gets the table at its end.
    """

    def __init__(self, rows: pd.DataFrame, among: pd.Series, blocks: Mapping[str, str]) -> None:
        self.html = verdict_table(rows, among, blocks) + limits(rows, among)
        self.placed = False

    def __call__(self, html: str) -> str:
        """Give the HTML of an output, or the final table the first time that it is a table of verdicts."""
        if not html.startswith(f'<div class="{VERDICTS}">'):
            return html
        is_first, self.placed = not self.placed, True
        return str(self.html) if is_first else ""


def among(results: pd.DataFrame, accepted: pd.Series | None = None) -> pd.Series:
    """Say of each row of the finished results which place it has among all tests, as :class:`Among`.

    ``accepted`` is why the suite accepts the failure of each row; by default it accepts none.
    """
    tests, known = states.tests(results), results["p_value"].notna()
    cannot = states.cannot_be_significant(results) & known
    reasons = pd.Series("", index=results.index) if accepted is None else accepted
    found = [Among(int(tests[n]), bool(cannot[n]), reasons[n]) for n in results.index]
    return pd.Series(found, index=results.index, dtype=object)


def limits(rows: pd.DataFrame, among: pd.Series) -> Html:
    """Say which inconclusive rows could not be significant alone, however large their difference, and why."""
    own = _sizes(rows)[rows["state"].eq(INCONCLUSIVE) & rows["mirrors"].eq("")]
    own = own.assign(
        tests=[among[n].tests for n in own.index], cannot=[among[n].cannot_hold for n in own.index]
    )
    own = own[own["cannot"].astype(bool)]
    if own.empty:
        return Html()
    kinds = own.groupby(["members", "others", "least_p", "tests"], sort=True).size()
    lines = [
        f"{counted(number, 'test')}: {_sides(members, others, least)} cannot show it among "
        f"{counted(tests, 'test')}, because the least p that they can give is {p_value(least)[4:]}."
        for (members, others, least, tests), number in kinds.head(MOST_LINES).items()
    ]
    lines += [f"{counted(int(kinds[MOST_LINES:].sum()), 'more test')}."] * (len(kinds) > MOST_LINES)
    head = f"{counted(len(own), 'test')} could not be significant alone, however large the difference:"
    items = element("ul", *(element("li", line, limit=None) for line in lines))
    return element("div", head, items, class_="sc-note", limit=None)


def _sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the blocks of each row's group, whatever class a row is about, and those of all others."""
    place = ["model", "corpus", "task"]
    found = rows[[*place, "group", "blocks"]].assign(column=rows["group"].str.split(":").str[0])
    groups = found.groupby([*place, "column", "group"], as_index=False)["blocks"].max()
    groups["others"] = groups.groupby([*place, "column"])["blocks"].transform("sum") - groups["blocks"]
    found = found.drop(columns="blocks").merge(groups, how="left").set_axis(rows.index)
    return rows.assign(members=found["blocks"], others=found["others"])


def _sides(members: int, others: int, least: float) -> str:
    """Say how many speakers are compared with how many, if these give this least p-value."""
    found = least_p_value(members + others, members) if members and others else None
    if found is not None and math.isclose(found, least, rel_tol=1e-9):
        return f"{members} against {others} speakers"
    return "so few speakers"
