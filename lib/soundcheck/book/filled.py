"""The final table of a page: states depend on the tests of all families, which a notebook does not know."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.formats import p_value
from soundcheck.report.html import Html, element
from soundcheck.report.verdict_tables import VERDICTS, Among, verdict_table
from soundcheck.results import states
from soundcheck.results.states import INCONCLUSIVE
from soundcheck.statistics.permutation import least_p_value

MOST_LINES = 4  # of the note on speakers that are too few


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
        first, self.placed = not self.placed, True
        return str(self.html) if first else ""


def among(results: pd.DataFrame, accepted: pd.Series | None = None) -> pd.Series:
    """Say of each row of the finished results which place it has among all tests, as :class:`Among`.

    ``accepted`` is why the suite accepts the failure of each row, see
    :func:`soundcheck.results.accepted.accepted_reasons`; by default it accepts none.
    """
    tests, known = states.tests(results), results["p_value"].notna()
    cannot = states.cannot_be_significant(results) & known
    reasons = pd.Series("", index=results.index) if accepted is None else accepted
    found = [Among(int(tests[n]), bool(cannot[n]), reasons[n]) for n in results.index]
    return pd.Series(found, index=results.index, dtype=object)


def limits(rows: pd.DataFrame, among: pd.Series) -> Html:
    """Say which inconclusive rows could not be significant alone, however large their difference, and why."""
    own = _sizes(rows)[rows["state"].eq(INCONCLUSIVE) & rows["mirrors"].eq("")]
    own = own[[among[n].cannot_hold for n in own.index]] if len(own) else own
    if own.empty:
        return Html()
    lines = []
    kinds = own.assign(tests=[among[n].tests for n in own.index])
    kinds = kinds.groupby(["members", "others", "least_p", "tests"], sort=True)
    for (members, others, least, tests), same in list(kinds)[:MOST_LINES]:
        lines.append(
            f"{counted(len(same), 'test')}: {_sides(members, others, least)} cannot show it among "
            f"{counted(tests, 'test')}, because the least p that they can give is {p_value(least)[4:]}."
        )
    if len(kinds) > MOST_LINES:
        lines.append(f"{counted(int(kinds.size().iloc[MOST_LINES:].sum()), 'more test')}.")
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
