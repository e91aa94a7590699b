"""What a number of the results means to other programs: its name, which way is better, and where it may lie.

Conventions
-----------
- A name that the field shares, such as ``"wer"``, is given only where the number is just that. A difference
  between groups, or a change under noise, has a name of its own, ``"soundcheck.fairness_sex.mean_value"``.
- Limits come from the threshold file of the family, as the intervals of the run do: ``range`` where it is
  stated, 0 and no upper end for other errors. A number outside of it has no limit on that side; neither have
  differences of word errors. Of families that only the suite has nothing is known: ``None``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re

from soundcheck.common.errors import InputError
from soundcheck.results.record import FamilyRecord
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_RULES, GAP_WITHIN, WITHIN
from soundcheck.suite.families import Family, TestDefinition
from soundcheck.suite.measures import HIGHER, info_of, measure_of, named
from soundcheck.suite.thresholds import read_family

_WORD_ERRORS = "Word Error Rate Difference"  # shown from -1 to 1, but insertions know no end
_NO_LIMITS = (-math.inf, math.inf)

_SHARED = {  # measures that the whole field calls by another name
    "concordance_cc": "ccc",
    "pearson_cc": "pearson_correlation",
    "mean_absolute_error": "mae",
    "unweighted_average_recall": "balanced_accuracy",
    "unweighted_average_precision": "precision_macro",
    "word_error_rate": "wer",
    "character_error_rate": "cer",
    "equal_error_rate": "eer",
    "actual_dcf": "act_dcf",
    **{name: name for name in ("recall", "precision", "min_dcf", "cllr")},
}


@dataclasses.dataclass(frozen=True)
class Measure:
    """What a number means.

    Parameters
    ----------
    id
        Identifier for other programs.
    name
        For people.
    lower_is_better
        Whether less is better; of numbers that should be near 0 whatever their sign it is their size.
    near_zero
        Whether 0 is best, whatever the sign.
    limits
        Lowest and highest number that is possible, infinite if there is no such limit; ``None`` if nobody
        said.
    note
        What the test does, as its threshold file says; ``""`` if the file is another one now.
    """

    id: str
    name: str
    lower_is_better: bool
    near_zero: bool = False
    limits: tuple[float, float] | None = None
    note: str = ""

    def within(self, number: float) -> Measure:
        """Take away the limit that a number is beyond; the ends of intervals may lie there."""
        if self.limits is None:
            return self
        low, high = self.limits
        limits = (low if number >= low else -math.inf, high if number <= high else math.inf)
        return dataclasses.replace(self, limits=limits)


def measure_of_figure(title: str) -> Measure:
    """Say what a key figure means, or the value of a group.

    Examples
    --------
    >>> measure = measure_of_figure("word error rate")
    >>> measure.id, measure.lower_is_better, measure.limits
    ('wer', True, (0.0, inf))
    """
    info = info_of(named(title))
    identifier = _SHARED.get(info.name, info.name)
    return Measure(identifier, title, info.better != HIGHER, limits=(info.low, info.high))


def measure_of_test(family: FamilyRecord, test: str, rule: str) -> Measure:
    """Say what the number of a test means.

    Parameters
    ----------
    family
        The family, as the record of the run has it.
    test
        Name of the test.
    rule
        As in the results: one of gaps is about the difference between a group and all others.
    """
    shipped = _shipped(family.name)
    definition = shipped.tests.get(test) if shipped else None
    same = shipped is not None and shipped.digest == family.digest
    compares = rule in GAP_RULES or bool(definition and definition.difference) or test.endswith("Difference")
    name = f"soundcheck.{_word(family.name)}.{_word(test)}{'.gap' if rule in GAP_RULES else ''}"
    return Measure(
        id=name if compares else _SHARED.get(measure_of(test, family.name).name, name),
        name=f"{test}, group minus its reference" if rule in GAP_RULES else test,
        lower_is_better=rule != ABOVE,
        near_zero=rule in (WITHIN, GAP_WITHIN),
        limits=_limits(test, definition, rule) if definition else None,
        note=" ".join(definition.note.split()) if definition and same else "",
    )


def _limits(test: str, definition: TestDefinition, rule: str) -> tuple[float, float]:
    if test == _WORD_ERRORS:
        return _NO_LIMITS
    if definition.range is not None:
        return definition.range
    error = definition.rule == BELOW and not definition.difference and rule not in GAP_RULES
    return (0.0, math.inf) if error else _NO_LIMITS


@functools.cache
def _shipped(family: str) -> Family | None:
    """Read the threshold file that comes with the library; ``None`` for families that only a suite has."""
    try:
        return read_family(family)
    except InputError:
        return None


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"
