"""Tables of results: values and differences of groups with their margins, single values with thresholds.

States are corrected for the tests of all families. A notebook, which runs before these are known, shows what
its own intervals say, in an element of class :data:`VERDICTS`; the book puts the final table there. Its rows
have further columns: ``tests`` of their model and category, ``too_few``, whether their speakers are too few
to be significant alone among so many, and why the suite ``accepted`` the failure.
"""

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from soundcheck.common import files, templates
from soundcheck.common.messages import counted
from soundcheck.report import failures, formats, views
from soundcheck.report.formats import Cell, label, number, p_value, span, stacked, value_cell
from soundcheck.report.html import Html, element, folded, join
from soundcheck.results.rows import KEY, NOT_ADJUSTED
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, cannot_be_significant, mirrors, tests
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.statistics.evidence import CLEAR_FAIL
from soundcheck.statistics.rules import GAP_RULES, one_sided
from soundcheck.suite.families import measure_of

VERDICTS = "sc-verdicts"
# Columns of results by which rows are chosen; that of tests has the groups in small print.
FILTERS = {
    name: name for name in ("model", "corpus", "family", "task", "state", "random", "for new speakers")
}
FILTERS["test"] = "group"
MOST_ROWS = 40  # of a table; those after them are folded
_ORDER = tuple(formats.STATE)
_DETAIL = r"\bPer (?:Bin|Class)\b"  # tests of one part of the scale, or of one class


def anchor_of(row: object) -> str:
    """Name the place of a row on its page by a digest of what no two rows agree in: ``row-1f00ba52``."""
    key = files.digest("\n".join(str(getattr(row, name)) for name in KEY))
    return f"row-{key[:8]}"


def among_all(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to all rows of finished results their place among the tests of all families."""
    few = cannot_be_significant(rows) & rows["p_value"].notna()
    return rows.assign(tests=tests(rows), too_few=few)


def test_cell(row: object) -> Cell:
    """Show the test of a row, with group and label in small print below it; rows are chosen by group."""
    below = below_test(row)
    return Cell(stacked(formats.hinted(row.test), below), f"{row.test} {below}", "sc-test", facet=row.group)


def below_test(row: object) -> str:
    """Name group and label of a row."""
    return " · ".join(filter(None, (label(row.group).replace("_", " "), label(row.label))))


def verdict_table(frame: pd.DataFrame, blocks: Mapping[str, str] = MappingProxyType({})) -> Html:
    """Show the rows of a model and family: differences between groups first, then single values.

    ``blocks`` are corpus -> what was resampled, in the singular; of others it is ``"speaker"``.
    """
    final, same = "tests" in frame, mirrors(frame).ne("")
    rows = frame[~same]
    rows = rows.assign(block=rows["corpus"].map(lambda name: blocks.get(name, "speaker")))
    places = rows.groupby(["corpus", "task"], sort=False)  # of which nothing is known, for one reason
    known = places["passed"].transform("count") + places["value"].transform("count")
    left_out = known.eq(0) & places["skipped"].transform("nunique").eq(1) & rows["skipped"].notna()
    of_group = rows["value"].notna() & rows[["group_value", "matters"]].isna().all(axis=1)  # a value of it
    compared = rows["group"].ne("") & ~left_out & ~rows["test"].isin(rows.loc[of_group, "test"])
    groups, single = rows[compared], rows[~compared & ~left_out]
    adjusted = rows["adjusted_by"].fillna("")
    names = dict.fromkeys(filter(None, map(failures.adjusted_for, adjusted)))
    return templates.html(
        "verdicts",
        groups=_divided(groups, _DIFFERENCES, "Groups"),
        single=_divided(single, _VALUES, "Values"),
        without_row=without_row(rows[left_out], final),
        pairs=same.any(),
        mirrored=[anchor_of(row) for row in frame[same & final].itertuples()],
        few=(rows["low"].notna() & rows["blocks"].lt(FEW_BLOCKS)).any() and FEW_BLOCKS,
        adjusted=adjusted.ne("").any() and (" or ".join(names) or "conditions"),
    )


def _divided(rows: pd.DataFrame, columns: Mapping[str, views.Column], caption: str) -> Html:
    """Show rows in the order of states; single bins and classes are folded if there is anything else."""
    states_ = [state_lines(row)[0] for row in rows.itertuples()]
    rows = rows.assign(shown=states_, order=[*map(state_order, states_, rows["p_value"])])
    rows = rows.sort_values("order", kind="stable")
    columns = {"task": "task", "test": test_cell, **columns}
    columns = {"corpus": "corpus", **columns} if rows["corpus"].nunique() > 1 else columns
    details = rows["test"].str.contains(_DETAIL)
    details &= ~details.all()
    about = {"filters": FILTERS, "none": ""}
    table = views.table(rows[~details], columns, caption=caption, first=MOST_ROWS, **about)
    if not details.any():
        return table
    number_of = rows.loc[details, "shown"].value_counts()
    counts = ", ".join(f"{number_of[state]} {state}" for state in _ORDER if state in number_of)
    title = f"{caption} of single classes and parts of the scale: {counts}"
    return table + folded(title, [views.table(rows[details], columns, **about)])


def _reference(row: object) -> Cell:
    """Show the value of what a group is compared with, its name unless it is all others, and the margin."""
    name = "" if row.against in ("", "others") else label(row.against)
    margin = "" if pd.isna(row.matters) else f"± {number(row.matters)}"
    return Cell(stacked(number(row.others_value), name, margin), None, "sc-number")


def _counts(row: object) -> Cell:
    if not row.segments:
        return Cell("")
    mark = " †" if row.blocks < FEW_BLOCKS and not pd.isna(row.low) else ""
    return Cell(
        stacked(f"{row.segments:,}", f"{counted(row.blocks, row.block)}{mark}"), row.segments, "sc-number"
    )


def _rule(row: object) -> Cell:
    """Show what the published rule judges, and whether it passes; nothing of rules about differences."""
    if row.rule in ("", *GAP_RULES):
        return Cell("")
    passed = "" if pd.isna(row.passed) else ", passes" if row.passed else ", fails"
    small = element("small", f"{formats.rule(row)}{passed}", class_="sc-line sc-wrapped")
    return Cell(stacked(number(row.value)) + small, None, "sc-number")


def _random(row: object) -> Cell:
    """Show what the random reference scores, and whether it passes, too."""
    if pd.isna(row.reference):
        return Cell("")
    too = not pd.isna(row.reference_passed) and bool(row.reference_passed)
    digits = formats.digits_for(row.value, row.reference)
    note = element("span", "random passes too", class_="sc-uninformative") if too else Html()
    text = stacked(number(row.reference, digits, row.threshold), note)
    return Cell(text, None, "sc-number", facet="passes, too" if too else "fails")


def _state(row: object) -> Cell:
    state, lines = state_lines(row)
    small = join(element("small", line, class_="sc-reason sc-line", limit=None) for line in lines)
    html = element("span", formats.state_mark(state), class_="sc-line") + small
    return Cell(html, row.order, "sc-state", anchor_of(row) if hasattr(row, "tests") else None)


def _difference(row: object) -> Cell:
    """Show the difference of a group to its reference, with interval, ratio and adjusted difference."""
    first, *below = difference_lines(row)
    adjusted = [element("small", line, class_="sc-line sc-wrapped") for line in _adjusted_lines(row)]
    return Cell(stacked(first, *below) + join(adjusted), row.gap, "sc-number") if first else Cell("")


_DIFFERENCES: dict[str, views.Column] = {
    "group": lambda row: value_cell(row.group_value),
    "reference, margin": _reference,
    "difference (95 %)": _difference,
    "group − all, rule": _rule,
    "state": _state,
    "segments": _counts,
}
_VALUES: dict[str, views.Column] = {
    "value (95 %)": lambda row: value_cell(row.value, row.low, row.high, threshold=row.threshold),
    "threshold": lambda row: Cell(formats.rule(row), row.threshold, "sc-rule"),
    "state": _state,
    "segments": _counts,
    "random": _random,
}


def difference_lines(row: object) -> list[str]:
    """Write the difference of a group, its interval, and the ratio of error rates."""
    if pd.isna(row.gap):
        return [""]
    few = pd.isna(row.gap_low)
    low, high = (row.gap_low_sample, row.gap_high_sample) if few else (row.gap_low, row.gap_high)
    digits = formats.digits_for(row.gap, low, high)
    ends = span(low, high, digits)
    ends += " for these speakers" if ends and few else ""
    errors = "" if measure_of(row.test, row.family).rate else "the errors of "  # 1 minus recall, for instance
    ratio = "" if pd.isna(row.ratio) else f"{row.ratio:.2g} times {errors}the reference"
    return list(filter(None, (number(row.gap, digits, row.matters), ends, ratio)))


def _adjusted_lines(row: object) -> list[str]:
    """Write the adjusted difference with the share that could be matched, or why there is none."""
    if not row.adjusted_by:
        return []
    if pd.isna(row.adjusted):
        return [f"not adjusted: {row.adjusted_by.removeprefix(NOT_ADJUSTED)}"]
    digits = formats.digits_for(row.adjusted, row.adjusted_low, row.adjusted_high)
    ends = span(row.adjusted_low, row.adjusted_high, digits)
    text = f"adjusted: {number(row.adjusted, digits)}{f' ({ends})' if ends else ''}"
    return list(filter(None, (f"{text}, {100 * row.counterpart:.0f} % matched", failures.adjustment(row))))


def state_lines(row: object) -> tuple[str, list[str]]:
    """Give the state of a row and the lines of small print below it."""
    known, final = getattr(row, "state", None), hasattr(row, "tests")
    state = known if known in _ORDER else formats.of_evidence(row.evidence).name
    lines = []
    if state != PASS and not pd.isna(row.p_value) and _fails(row):
        lines.append(p_value(row.p_value) + (f" among {counted(row.tests, 'test')}" if final else ""))
    if row.evidence == CLEAR_FAIL or (final and state in (FAIL, INCONCLUSIVE)):
        lines.append(_side(row, state if final else ""))
    if final:
        lines.append("too few speakers to be significant alone" * (row.too_few and state == INCONCLUSIVE))
        lines.append(f"accepted: {row.accepted}" if row.accepted else "")
        lines.append(failures.both_rules(row))
    return state, [*filter(None, lines), *([formats.remark(row.skipped)] if row.skipped else [])]


def _fails(row: object) -> bool:
    """Say whether a value is on the failing side, or a difference beyond its margin."""
    if pd.isna(row.matters):
        return not pd.isna(row.passed) and not row.passed
    return bool((row.gap if one_sided(row.rule) else abs(row.gap)) >= row.matters)


def _side(row: object, state: str) -> str:
    """Say on which side a value or a difference lies, and what is significant among all tests."""
    margin, whole = not pd.isna(row.matters), row.evidence == CLEAR_FAIL
    if not _fails(row):
        side = "within the margin" if margin else "on the passing side"
        return "" if pd.isna(row.bound) else f"{side}; {number(row.bound)} is not excluded"
    side = "more than the margin" if margin else "on the failing side"
    tested = {INCONCLUSIVE: "not tested" if pd.isna(row.p_value) else "not significant after correction"}
    if whole:
        side = f"the whole interval is {'beyond the margin' if margin else side}"
    else:
        tested[FAIL] = "that there is a difference is significant" if margin else "significantly"
    return "; ".join(filter(None, (side, tested.get(state))))


def state_order(state: str, p: float) -> float:
    """Order states from fail to pass, what is not evaluated last; among them by p."""
    return round(_ORDER.index(state) + (0.5 if pd.isna(p) else p / 2), 6)


def without_row(rows: pd.DataFrame, placed: bool) -> Html:
    """List tests that were not evaluated, a line a corpus and reason; with a place for links to each."""
    items = []
    for (corpus, reason), part in rows.groupby(["corpus", "skipped"], sort=False):
        tasks = ", ".join(dict.fromkeys(part["task"]))
        places = [element("span", id=anchor_of(row)) for row in part.itertuples()] if placed else []
        text = f"{corpus}, {tasks}: {counted(len(part), 'test')} not evaluated: {formats.remark(reason)}"
        items.append(element("li", *places, text, limit=None))
    return element("ul", *items, class_="sc-note") if items else Html()
