"""How pages write what the results table names: tests, ranges of values, groups.

The names in the results table are a contract and stay; pages write them as people do.
"""

import csv
import re
from pathlib import Path

from soundcheck.report.html import Html, element

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
    _ROWS = list(csv.DictReader(file))
LONG = {row["written"]: row["long"] for row in _ROWS if row["long"]}  # abbreviations of the field
_NAMES = {row["word"]: row["written"] for row in _ROWS}
_NAME = re.compile(rf"\b({'|'.join(sorted(_NAMES, key=len, reverse=True))})\b(?! Field\b)")  # from afar
_KEPT = {*_NAMES.values(), "Pearson", "Opus", "MP3", "AMR"} - {"Coefficient"}
_RANGE = r"[(\[](-?[0-9.]+|-inf), (-?[0-9.]+|inf)([)\]])"
_BIN = re.compile(rf"(?:^|(?<=: )){_RANGE}$")
_NAMED_BIN = re.compile(rf"(?<=\bbin ){_RANGE}")
_UNDER = re.compile(r"^(?:change ([A-Z]+)|percentage (unchanged predictions)) (?=\S)")
_PLAN = re.compile(r"^nist (?=\d)")


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
    words = " ".join(word if word in _KEPT else word.lower() for word in measure(test).split(" "))
    return _UNDER.sub(
        lambda match: f"{'change' if match[1] else 'share'} of {match[1] or match[2]} under ", words
    )


def sentence(text: str) -> str:
    """Begin with a capital letter, as a sentence does; the rest stays."""
    return text[:1].upper() + text[1:]


def place(subset: object) -> str:
    """Name the corpus and task of a subset, or of pairs."""
    return f"{subset.corpus}, {subset.task.name}"


def row_name(row: object, *further: str) -> str:
    """Name a row of the results table in one line: what else is given, the test, the group and the label."""
    return " · ".join(filter(None, (*further, measure(row.test), label(row.group), label(row.label))))
