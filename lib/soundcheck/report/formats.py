"""How pages write numbers (values, intervals, p-values, thresholds), cells of tables, names and states.

The names of tests, ranges of values and groups in the results table are a contract and stay; pages write
them as people do.
Numbers have two or three significant digits, and more where these would make them look like the threshold
beside them. States come from the results table and are never made from what is shown.
"""

import csv
import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from soundcheck.common import templates
from soundcheck.common.templates import Html
from soundcheck.report.html import element
from soundcheck.results.rows import UNJUDGED
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS

DIGITS = 3
MOST_DIGITS = 6
LEAST_P = 0.001  # below, only this is said
MISSING = float("nan")
POINTS = "points"  # unit of a difference of shares


class Cell(NamedTuple):
    """A cell that is sorted by something else than its text; ``anchor`` is a place that links lead to.

    Where the rows are chosen by something else than the first line of the cell, ``facet`` is that.
    """

    content: Html | str
    sort: object = None
    class_: str | None = None
    anchor: str | None = None
    facet: str | None = None


def number(value: float | None, digits: int | None = None, threshold: float | None = None) -> str:
    """Write a number, empty for a missing one; a value that would look like the threshold gets more digits.

    >>> number(-0.1), number(0.94996, threshold=0.95), number(0.0004), number(5.0361)
    ('−0.100', '0.94996', '0.00040', '5.04')
    """
    if value is None or pd.isna(value):
        return ""
    digits = digits_for(value) if digits is None else digits
    if threshold is not None and not pd.isna(threshold):
        sides = (threshold, -threshold)
        while digits < MOST_DIGITS and value not in sides and round(value, digits) in sides:
            digits += 1
    text = f"{value:.{digits}f}".replace("inf", "∞")
    return text.replace("-", "−") if text.strip("-0.") else f"{0:.{min(digits, DIGITS)}f}"


def digits_for(*values: float | None) -> int:
    """Give the digits behind the point with which numbers that belong together keep two or three that count.

    >>> [digits_for(number) for number in (0.612, -0.0123, 0.0012, 12.3, None)], digits_for(0.012, 0.6)
    ([3, 3, 4, 1, 3], 3)
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value) and value]
    if not sizes:
        return DIGITS
    leading = math.floor(math.log10(max(sizes)))
    return min(MOST_DIGITS, max(0, DIGITS - 1 - leading - (leading < -1)))


def significant(number: float | None, digits: int = 2) -> str:
    """Write a number with so many significant digits; numbers above 1 keep all before the point.

    >>> significant(0.61842), significant(-0.00317), significant(12.345), significant(0.998), significant(0.0)
    ('0.62', '−0.0032', '12', '1.0', '0')
    """
    if number is None or pd.isna(number):
        return ""
    exponent = int(f"{number:.{digits - 1}e}".partition("e")[2])
    text = f"{number:.{min(max(digits - 1 - exponent, 0), MOST_DIGITS)}f}"
    return text.replace("-", "−") if text.strip("-0.") else "0"


def span(low: float, high: float, digits: int | None = None) -> str:
    """Write the ends of an interval; empty for a missing one.

    >>> span(0.1, 0.25), span(MISSING, MISSING)
    ('0.100 to 0.250', '')
    """
    if pd.isna(low):
        return ""
    digits = digits_for(low, high) if digits is None else digits
    return f"{number(low, digits)} to {number(high, digits)}"


def estimate(value: float, low: float, high: float, *, percent: bool = False) -> str:
    """Write a value of a sentence with its interval.

    >>> estimate(0.3, 0.25, 0.351), estimate(0.3, 0.25, 0.351, percent=True)
    ('0.30 (95 % 0.25 to 0.35)', '30 % (95 % 25 to 35)')
    >>> estimate(0.3, MISSING, MISSING)
    '0.30 (no interval)'
    """
    scale = 100 if percent else 1
    ends = "no interval"
    if not pd.isna(low):
        ends = f"95 % {significant(scale * low)} to {significant(scale * high)}"
    return f"{significant(scale * value)}{' %' if percent else ''} ({ends})"


def p_value(p: float) -> str:
    """Write a p-value; empty for a missing one.

    >>> p_value(0.0312), p_value(0.00004)
    ('p = 0.031', 'p < 0.001')
    """
    if pd.isna(p):
        return ""
    return f"p < {LEAST_P}" if p < LEAST_P else f"p = {p:.2g}"


def rule(row: object) -> str:
    """Write a threshold with its rule: ``> 0.5``, ``|value| < 0.075``."""
    return "" if pd.isna(row.threshold) else f"{row.rule} {row.threshold:g}".replace("-", "−")


def stacked(first: Html | str, *below: Html | str) -> Html:
    """Put what belongs to a number in small print below it, each on a line; empty texts are left out."""
    small = [element("small", text, class_="sc-line") for text in below if str(text)]
    return element("span", first, class_="sc-line") + Html().join(small)


def percent(value: float, digits: int = 1, unit: str = "%") -> str:
    r"""Write a share in per cent, a difference of shares in ``points``; empty for a missing one.

    >>> percent(0.1234), percent(-0.05)
    ('12.3\xa0%', '−5.0\xa0%')
    """
    return "" if pd.isna(value) else f"{number(100 * value, digits)}\xa0{unit}"


def value_cell(
    value: float,
    low: float = MISSING,
    high: float = MISSING,
    unit: str = "",
    below: str = "",
    threshold: float | None = None,
) -> Cell:
    """Show a value, by which rows are sorted, with its interval and more below; shares in a ``unit``."""
    if pd.isna(value):
        return Cell("")
    low, high = (MISSING if end is None else end for end in (low, high))  # of rows that are no table
    scale, digits = (100, 1) if unit else (1, digits_for(value, low, high))
    text = percent(value, unit=unit) if unit else number(value, digits, threshold)
    ends = span(*(MISSING if pd.isna(end) else scale * end for end in (low, high)), digits)
    return Cell(stacked(text, " ".join(filter(None, (ends, below)))), float(value), "sc-number")


def values(name: str = "value", unit: str = "") -> Callable[[object], Cell]:
    """Make a column of values, with the interval that a row has of them: ``low``, or ``NAME_low``."""
    ends = ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
    return lambda row: value_cell(
        getattr(row, name), *(getattr(row, end, MISSING) for end in ends), unit=unit
    )


with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as file:
    _ROWS = list(csv.DictReader(file))
LONG = {row["written"]: row["long"] for row in _ROWS if row["long"]}  # abbreviations of the field
_NAMES = {row["word"]: row["written"] for row in _ROWS}
_NAME = re.compile(rf"\b({'|'.join(sorted(_NAMES, key=len, reverse=True))})\b(?! Field\b)")  # from afar
_PROPER_NAMES = {*_NAMES.values(), "Pearson", "Opus", "MP3", "AMR"} - {"Coefficient"}
_RANGE = r"[(\[](-?[0-9.]+|-inf), (-?[0-9.]+|inf)([)\]])"
_BIN = re.compile(rf"(?:^|(?<=: )){_RANGE}$")
_NAMED_BIN = re.compile(rf"(?<=\bbin ){_RANGE}")
_UNDER = re.compile(r"^(?:change ([A-Z]+)|percentage (unchanged predictions)) (?=\S)")
_PLAN = re.compile(r"\bnist (?=\d)")


def label(text: str) -> str:
    """Write a label or a group; a range of numbers in words, whichever end belongs to it.

    >>> [label(text) for text in ("(-inf, 0.25]", "(0.25, 0.5]", "(0.75, inf]", "nist 2016", "information")]
    ['up to 0.25', '0.25 to 0.5', 'above 0.75', 'NIST 2016', 'information']
    """
    return _PLAN.sub("NIST ", _BIN.sub(_range, text))


def remark(text: str) -> str:
    """Write a remark of a measure, such as why it is skipped, with ranges and names as pages write them.

    >>> remark("bin (0.25, 0.5] does not occur in the truth"), remark("demo, Spearmans Rho: undefined")
    ('bin 0.25 to 0.5 does not occur in the truth', "demo, Spearman's Rho: undefined")
    >>> remark("left out: Far Field")
    'left out: Far Field'
    """
    return measure(_NAMED_BIN.sub(_range, text))


def _range(match: re.Match) -> str:
    low, high, closing = (part.replace("-inf", "").replace("inf", "") for part in match.groups())
    low, high = low.replace("-", "−"), high.replace("-", "−")
    if low and high:
        return f"{low} to {high}"
    if high:
        return f"{'up to' if closing == ']' else 'below'} {high}"
    return f"above {low}" if low else "any value"


def measure(test: str) -> str:
    """Write the name of a test with the abbreviations and names of the field.

    >>> measure("Change Ccc Babble Noise"), measure("Spearmans Rho"), measure("Concordance Correlation Coeff")
    ('Change CCC Babble Noise', "Spearman's Rho", 'Concordance Correlation Coefficient')
    """
    return _NAME.sub(lambda match: _NAMES[match[1]], test)


def hinted(test: str) -> Html:
    """Write the name of a test, with hints of what its abbreviations stand for."""
    words = re.split(rf"\b({'|'.join(LONG)})\b", measure(test))
    parts = (element("abbr", word, title=LONG[word]) if word in LONG else word for word in words)
    return element("span", *parts)


def in_words(test: str) -> str:
    """Write the name of a test as it stands within a sentence.

    >>> in_words("Change Uar Opus 16"), in_words("Spearmans Rho"), in_words("Pearson Correlation Coeff")
    ('change of UAR under Opus 16', "Spearman's rho", 'Pearson correlation coefficient')
    """
    words = " ".join(word if word in _PROPER_NAMES else word.lower() for word in measure(test).split(" "))
    return _UNDER.sub(
        lambda match: f"{'change' if match[1] else 'share'} of {match[1] or match[2]} under ", words
    )


def sentence(text: str) -> str:
    """Begin with a capital letter, as a sentence does; the rest stays."""
    return text[:1].upper() + text[1:]


def place(subset: object) -> str:
    """Name the corpus and task of a subset, or of pairs."""
    return f"{subset.corpus}, {subset.task.name}"


@dataclasses.dataclass(frozen=True)
class State:
    """The look of a state in figures; that on pages is in ``verdicts.css``."""

    name: str
    sign: str
    css: str
    colour: str
    marker: str
    filled: bool
    explained: str


with Path(__file__).with_name("states.csv").open(encoding="utf-8", newline="") as file:
    _STATES = [State(**row | {"filled": row["filled"] == "yes"}) for row in csv.DictReader(file)]
STATE = {state.name: state for state in _STATES}
JUDGED = (PASS, INCONCLUSIVE, FAIL)  # from the best to the worst, the order of a bar's parts


def state_mark(name: str) -> Html:
    """Show a state as a badge: its sign and its name."""
    state = STATE[name]
    return element("span", f"{state.sign} {name}", class_=f"sc-badge {state.css}", title=state.explained)


def state_bar(counts: Mapping[str, int]) -> Html:
    """Show how many tests are in which state: one bar, failures first, and the counts below it."""
    judged = [(STATE[name], counts[name]) for name in reversed(JUDGED)]
    some = any(number for _, number in judged)
    reported = [(STATE[REPORTED], counts[REPORTED])] * bool(counts[REPORTED])
    text = ", ".join(f"{number} {state.name}" for state, number in judged) if some else ""
    return templates.html("bar", parts=judged, counts=judged * some + reported, text=text)


def of_evidence(evidence: str) -> State:
    """Give the look of an interval: on the passing side, on the failing side, or on both."""
    known = {CLEAR_PASS: PASS, CLEAR_FAIL: FAIL, UNJUDGED: REPORTED, "": NOT_EVALUATED}
    return STATE[known.get(evidence, INCONCLUSIVE)]


templates.FILTERS |= {"number": number, "significant": significant, "p_value": p_value}
