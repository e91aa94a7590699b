"""Tables of verdicts: value, difference, state and what the state rests on, a line a row of the results.

Conventions
-----------
- States are known when the tests of all families are together, so a notebook shows what its own intervals say
  and leaves a key in the cell; the book fills the cell when it is built, see :mod:`soundcheck.book.settled`.
- A value, its interval and the threshold beside it are shown with the same digits.
- Tables with more than :data:`MOST_OPEN` rows are folded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from soundcheck.common import files
from soundcheck.common.wording import counted
from soundcheck.report import sentences, states
from soundcheck.report.adjusted_gaps import adjusted_cell, has_adjusted, notes_below
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.names import remark
from soundcheck.report.tables import (
    FEW,
    FEW_MARK,
    FILTERS,
    Cell,
    digits_for,
    interval,
    number,
    rule,
    table,
    test_cell,
    two_lines,
)
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, mirrors
from soundcheck.results.verdict import KEY, SHOWN
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.statistics.evidence import CLEAR_FAIL
from soundcheck.statistics.rules import GAP_RULES, one_sided

REFERENCE = "random passes too"
MOST_OPEN = 40  # rows above which a table is folded
LEAST_P = 0.001  # below, only this is said
FILLED_LATER = "sc-limits"  # class of the note under a table that the book writes
_KEY_LETTERS = 20
_ORDER = (FAIL, INCONCLUSIVE, PASS, REPORTED, NOT_EVALUATED)
_ANCHOR_LETTERS = 8  # of the key; a page has some hundred rows


@dataclasses.dataclass(frozen=True)
class Among:
    """What is known of a row when the tests of all families are together.

    Parameters
    ----------
    tests
        Tests of the model and category that it stands among.
    cannot_hold
        Whether its speakers are too few to be significant alone among so many tests.
    accepted
        Why the suite accepts the failure; ``""`` if it does not.
    """

    tests: int
    cannot_hold: bool = False
    accepted: str = ""


def key_of(row: object) -> str:
    """Name a row by a digest of what no two rows agree in, fit for an attribute."""
    return files.digest("\n".join(str(getattr(row, name)) for name in KEY))[:_KEY_LETTERS]


def anchor_of(key: str) -> str:
    """Name the place of a row on its page by the key of the row: ``row-1f00ba52``."""
    return f"row-{key[:_ANCHOR_LETTERS]}"


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.0312), p_value(0.00004)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p < {LEAST_P}" if p < LEAST_P else f"p = {p:.2g}"


def verdict_table(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    decimals: Mapping[str, int] | None = None,
    among: pd.Series | None = None,
    blocks: Mapping[str, str] = MappingProxyType({}),
) -> Html:
    """Show results: value, difference, counts, threshold, state and the random reference.

    Parameters
    ----------
    frame
        Rows of the results table, all of one model and family.
    caption
        What the table shows.
    decimals
        Test -> digits behind the point; two or three that count for the others.
    among
        What is known of each row among all tests, :class:`Among`; default: the book fills it in.
    blocks
        Corpus -> what was resampled, in the singular, such as ``"file"``; of others it is ``"speaker"``.
    """
    same = mirrors(frame).ne("")
    frame = frame[~same]
    whole, left = frame, _skipped_as_a_whole(frame)
    frame = frame[~left] if not left.all() else frame
    several = frame["corpus"].nunique() > 1
    compared = bool((frame["matters"].notna() | (frame["evidence"].eq(SHOWN) & frame["gap"].notna())).any())
    columns = ["corpus"] * several + ["task", "test", "state", "value and 95 % interval"]
    adjusted = compared and has_adjusted(frame)
    columns += [DIFFERENCE] * compared + [f"adjusted {DIFFERENCE}"] * adjusted
    columns += ["segments", "threshold", "random"]
    rows: dict[bool, list] = {False: [], True: []}
    details = frame["test"].str.contains(_DETAIL)
    apart = among is None and 0 < details.sum() < len(frame)
    for row, detail in zip(frame.itertuples(), details & apart, strict=True):
        state = state_cell(row, None if among is None else among[row.Index])
        cells = [test_cell(row), state, _value(row, (decimals or {}).get(row.test))]
        cells += [difference_cell(row)] * compared + [adjusted_cell(row)] * adjusted
        cells += [
            _counts(row, blocks.get(row.corpus, "speaker")),
            Cell(rule(row), _some(row.threshold), "sc-rule"),
        ]
        rows[detail].append([*[row.corpus] * several, row.task, *cells, _reference(row)])
    main, single = (table(own, columns, caption=caption, filters=FILTERS) for own in rows.values())
    parts = [_long(main, len(rows[False]))]
    if apart:
        parts.append(folded(_inside(frame[details]), [single]))
    if len(frame) < len(whole):
        parts.append(without_row(whole[left]))
    if compared:
        pairs = f" {PAIRS}: {counted(int(same.sum()), 'row')} left out." if same.any() else ""
        parts.append(element("p", f"{ABOUT}{pairs}", class_="sc-note", limit=None))
    if adjusted:
        parts.append(notes_below(frame))
    if among is None:
        parts.append(element("div", class_=f"sc-note {FILLED_LATER}"))
    if (frame["low"].notna() & (frame["blocks"] < FEW_BLOCKS)).any():
        parts.append(element("p", FEW, class_="sc-note", limit=None))
    return join(parts)


DIFFERENCE = "difference and 95 % interval"
ABOUT = (
    "Difference: the value of the group minus that of its reference, which is all other groups together "
    "unless another one is named; with its interval and its margin, up to which it counts as none."
)


PAIRS = "Two groups are one test; the row of the group that is worse off is shown"
_DETAIL = r"\bPer (?:Bin|Class)\b"  # tests of one part of the scale, or of one class


def _inside(details: pd.DataFrame) -> str:
    """Say what is in the table of single bins and classes: ``12 bins (interval on both sides: 12)``."""
    bins = int(details["test"].str.contains(r"\bPer Bin\b").sum())
    sizes = ((bins, "bin"), (len(details) - bins, "class"))
    what = " and ".join(f"{n} {noun if n == 1 else _PLURAL[noun]}" for n, noun in sizes if n)
    counts = details["evidence"].map(lambda found: states.of_evidence(found).interval)
    counts = counts.value_counts(sort=False)
    return f"{what} ({', '.join(f'{words}: {n}' for words, n in counts.items())})"


_PLURAL = {"bin": "bins", "class": "classes"}


def _long(shown: Html, rows: int) -> Html:
    """Put a long table behind a line that opens it."""
    return shown if rows <= MOST_OPEN else folded(f"All {rows:,} rows", [shown])


def _skipped_as_a_whole(frame: pd.DataFrame) -> pd.Series:
    """Find rows of a corpus and task of which no test was evaluated, all for one reason, bool a row."""
    groups = frame.groupby(["corpus", "task"], sort=False)
    judged = groups["passed"].transform("count") + groups["value"].transform("count")
    return judged.eq(0) & groups["skipped"].transform("nunique").eq(1) & frame["skipped"].notna()


_SAME = "of the other group of a pair, which is no test of its own"


def without_row(frame: pd.DataFrame) -> Html:
    """List tests that have no row in a table, a line a corpus and reason, each with a place for links."""
    items = []
    same = mirrors(frame).ne("") | frame["mirrors"].ne("")
    reasons = frame["skipped"].mask(same, _SAME)
    for (corpus, reason), rows in frame.groupby(["corpus", reasons], sort=False):
        tasks = ", ".join(dict.fromkeys(rows["task"]))
        what = f"not evaluated: {remark(reason)}" if reason else "not in a table of this page"
        what = reason if reason == _SAME else what
        places = (element("span", data_key=key_of(row)) for row in rows.itertuples())
        text = f"{corpus}, {tasks}: {counted(len(rows), 'test')} {what}"
        items.append(element("li", *places, text, limit=None))
    return element("ul", *items, class_="sc-note")


def _value(row: object, digits: int | None) -> Cell:
    """Show the value of a row with its interval."""
    digits = digits_for(row.value, row.low, row.high) if digits is None else digits
    bounds = interval(row, digits).removesuffix(f" {FEW_MARK}")
    return Cell(two_lines(number(row.value, digits, row.threshold), bounds), _some(row.value), "sc-number")


def difference_cell(row: object) -> Cell:
    """Show the difference of a group with its interval and its margin."""
    shown, *below = difference_lines(row)
    if not shown:
        return Cell("")
    small = join(element("small", line, class_="sc-line") for line in below)
    return Cell(element("span", shown, class_="sc-line") + small, row.gap, "sc-number")


def difference_lines(row: object) -> list[str]:
    """Write the difference of a group, its interval, and its margin if the threshold is something else."""
    if pd.isna(row.gap) or (pd.isna(row.matters) and row.evidence != SHOWN):
        return [""]
    few = pd.isna(row.gap_low)
    low, high = (row.gap_low_sample, row.gap_high_sample) if few else (row.gap_low, row.gap_high)
    digits = digits_for(row.gap, low, high)
    lines = [number(row.gap, digits, row.matters)]
    if not pd.isna(low):
        whose = " for these speakers" if few else ""
        lines.append(f"{number(low, digits)} to {number(high, digits)}{whose}")
    if not pd.isna(row.group_value):
        digits = digits_for(row.group_value, row.others_value)
        lines.append(f"{number(row.group_value, digits)} against {number(row.others_value, digits)}")
    if not pd.isna(row.matters) and (row.rule not in GAP_RULES or row.matters != row.threshold):
        lines.append(f"margin {row.matters:.3g}")
    return lines


def _counts(row: object, block: str) -> Cell:
    """Show how many segments and speakers, or other blocks, the value rests on."""
    mark = f" {FEW_MARK}" if row.blocks < FEW_BLOCKS and not pd.isna(row.low) else ""
    blocks = f"{counted(row.blocks, block)}{mark}" if row.segments else ""
    return Cell(two_lines(f"{row.segments:,}" if row.segments else "", blocks), row.segments, "sc-number")


def _reference(row: object) -> Cell:
    """Show what the random reference scores."""
    if pd.isna(row.reference):
        return Cell("")
    passes_too = not pd.isna(row.reference_passed) and bool(row.reference_passed)
    remark = element("span", REFERENCE, class_="sc-uninformative") if passes_too else Html()
    digits = digits_for(row.value, row.reference)
    shown = two_lines(number(row.reference, digits, row.threshold), remark)
    return Cell(shown, row.reference, "sc-number")


def state_cell(row: object, among: Among | None = None) -> Cell:
    """Show the state of a row, and in small print what it rests on.

    Parameters
    ----------
    row
        Row of the results table.
    among
        What is known of it among all tests; ``None`` before they are together.
    """
    state, lines = state_lines(row, among)
    small = join(element("small", line, class_="sc-reason sc-line", limit=None) for line in lines)
    shown = element("span", states.mark(state), class_="sc-line") + small
    return Cell(shown, state_order(state, row.p_value), "sc-state", key_of(row))


def state_lines(row: object, among: Among | None = None) -> tuple[str, list[str]]:
    """Give the state of a row and the lines of small print below it, see :func:`state_cell`."""
    known = getattr(row, "state", None)
    state = known if known in _ORDER else states.of_evidence(row.evidence).name
    lines = []
    if state != PASS and not pd.isna(row.p_value) and _fails(row):
        lines.append(p_value(row.p_value) + (f" among {counted(among.tests, 'test')}" if among else ""))
    if row.evidence == CLEAR_FAIL:
        lines.append("the whole interval fails" if pd.isna(row.matters) else "surely beyond the margin")
    elif among is not None and state in (FAIL, INCONCLUSIVE):
        lines += filter(None, [_leaning(row, state)])
    if among is not None and among.cannot_hold and state == INCONCLUSIVE:
        lines.append("too few speakers to be significant alone")
    if among is not None and among.accepted:
        lines.append(f"accepted: {among.accepted}")
    if among is not None:
        lines += filter(None, [sentences.both_rules(row)])
    if row.skipped:
        lines.append(remark(row.skipped))
    return state, lines


def _fails(row: object) -> bool:
    """Say whether a value is on the failing side, or a difference beyond its margin."""
    if pd.isna(row.matters):
        return not pd.isna(row.passed) and not row.passed
    return bool((row.gap if one_sided(row.rule) else abs(row.gap)) >= row.matters)


def _leaning(row: object, state: str) -> str:
    """Say on which side a value or a difference lies whose interval reaches to the other side, too."""
    inside, beyond, proved = (
        "within the margin",
        "more than the margin",
        "that there is a difference is significant",
    )
    if pd.isna(row.matters):
        inside, beyond, proved = "on the passing side", "on the failing side", "significantly"
    if _fails(row):
        untested = "not tested" if pd.isna(row.p_value) else "not significant"
        return f"{beyond}; {proved if state == FAIL else untested}"
    return "" if pd.isna(row.bound) else f"{inside}; {number(row.bound)} is not excluded"


def state_order(state: str, p: float) -> float:
    """Order states from fail to pass, what is not evaluated last; among them by p."""
    return round(_ORDER.index(state) + (0.5 if pd.isna(p) else p / 2), 6)


def _some(value: float) -> float | None:
    return None if pd.isna(value) else value
