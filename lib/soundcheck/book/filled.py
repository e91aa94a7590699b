"""Fills in what notebooks cannot know: the states of rows, which depend on the tests of all families.

Conventions
-----------
- A notebook leaves the key of the row in the cell of its state, see
  :mod:`soundcheck.report.verdict_tables`; a key without row keeps what the notebook said.
- What could not be significant however large its difference is said once under the table.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.html import Html, element
from soundcheck.report.tables import table
from soundcheck.report.verdict_tables import FILLED_LATER, Among, anchor_of, key_of, p_value, state_cell
from soundcheck.results import states
from soundcheck.results.states import INCONCLUSIVE
from soundcheck.statistics.permutation import least_p_value

MOST_LINES = 4  # of the note on what could not hold

_CELL = re.compile(r'<td data-key="([0-9a-f]+)".*?</td>', re.DOTALL)
_PLACE = re.compile(r'<span data-key="([0-9a-f]+)"></span>')
_NOTE = re.compile(rf'<div class="sc-note {FILLED_LATER}"></div>')


@dataclasses.dataclass(frozen=True)
class Filling:
    """What the cells and notes of a page become.

    Parameters
    ----------
    cells
        Key of a row -> its finished cell.
    note
        What stands under tables of verdicts.
    anchored
        Anchors that the page has: a row that stands in two of its tables has one.
    """

    cells: Mapping[str, str]
    note: str = ""

    anchored: set[str] = dataclasses.field(default_factory=set)

    def __call__(self, html: str) -> str:
        """Fill the HTML of an output; the first cell of each row becomes the place that links lead to."""
        html = _PLACE.sub(self._placed, _CELL.sub(self._filled, html))
        return _NOTE.sub(lambda _: self.note, html)

    def _placed(self, found: re.Match) -> str:
        anchor = anchor_of(found[1])
        known = anchor in self.anchored
        self.anchored.add(anchor)
        return "" if known else f'<span id="{anchor}"></span>'

    def _filled(self, found: re.Match) -> str:
        key = found[1]
        if key not in self.cells:
            return found[0]
        anchor, cell = anchor_of(key), self.cells[key]
        if anchor in self.anchored:
            return cell
        self.anchored.add(anchor)
        return cell.replace(f'data-key="{key}"', f'data-key="{key}" id="{anchor}"', 1)


def among(results: pd.DataFrame, accepted: pd.Series | None = None) -> pd.Series:
    """Say of each row which place it has among all tests.

    Parameters
    ----------
    results
        The finished results of all families.
    accepted
        Why the suite accepts the failure of each row, see
        :func:`soundcheck.results.accepted.accepted_reasons`; default: it accepts none.

    Returns
    -------
    pandas.Series
        :class:`~soundcheck.report.verdict_tables.Among` of each row.
    """
    tests, known = states.tests(results), results["p_value"].notna()
    cannot = states.cannot_be_significant(results) & known
    reasons = pd.Series("", index=results.index) if accepted is None else accepted
    found = [Among(int(tests[n]), bool(cannot[n]), reasons[n]) for n in results.index]
    return pd.Series(found, index=results.index, dtype=object)


def finished_cells(rows: pd.DataFrame, among: pd.Series) -> dict[str, str]:
    """Make the cell of the state of each row, by the row's key."""
    found = {}
    for row in rows.itertuples():
        shown = str(table([[state_cell(row, among[row.Index])]], [""]))
        found[key_of(row)] = _CELL.search(shown)[0]
    return found


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
            f"{counted(tests, 'test')}, because the least that they can give is {p_value(least)}."
        )
    if len(kinds) > MOST_LINES:
        lines.append(f"{counted(int(kinds.size().iloc[MOST_LINES:].sum()), 'more test')}.")
    head = f"{counted(len(own), 'test')} could not be significant alone, however large the difference:"
    items = element("ul", *(element("li", line, limit=None) for line in lines))
    return element("div", head, items, class_=f"sc-note {FILLED_LATER}", limit=None)


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
