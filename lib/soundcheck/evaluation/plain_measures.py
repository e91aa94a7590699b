"""Measures that are plain functions: a number, or numbers by label, instead of sums.

A plain function is called again for every replicate, with the rows of the drawn blocks, as often as they were
drawn; the draws are those of a statistic of :mod:`soundcheck.metrics`.

- The function gets a subset and predictions and returns a number or a mapping of label to number. ``None``,
  NaN and infinite numbers are undefined.
- It gets only rows that have predictions; when more than half of the rows have none, there is no value.
- Rows keep their order. ``subset.blocks`` numbers a block that was drawn twice as two blocks; columns such as
  ``subset.segments["speaker"]`` do not.
- A function that cannot be used, or takes too long, ends as a :class:`PlainMeasureError` with the reason.
"""

import contextlib
import dataclasses
import io
import math
import numbers
import re
import time
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from soundcheck.common.messages import quoted, shorten, terminal
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics import additive
from soundcheck.metrics.weighted import Weighted

SECONDS = 100.0  # that all replicates of a notebook's plain functions may take by default
NOTE = "computed by calling the measure again for each replicate"

_LABELS = "Return every label each time, with NaN where its value is undefined"
_ANSWERS = "Return a number, a mapping of label to number, or a statistic of soundcheck.metrics"
_TOO_SLOW = (
    "longer than the time limit of the notebook allows. Set fewer replicates or a larger limit "
    "(notebook_seconds) in the suite, or return a statistic of soundcheck.metrics"
)
_PATH = re.compile(r"(?<![\w.])(?:/[^\s/'\":]+){2,}")


class PlainMeasureError(Exception):
    """Why a measure gives no statistic, in words for the results table."""


class NoPredictionError(PlainMeasureError):
    """There is nothing to compute a measure on, which is no fault of the measure."""


def statistic_of(
    measure: Measure, subset: Subset, predictions: Predictions, seconds: float = SECONDS
) -> additive.Statistic | Weighted:
    """Call a measure, and make a statistic of what it gives."""
    for array in (subset.truth, predictions.clean, predictions.changed):
        if array is not None:
            array.flags.writeable = False  # a measure that changes them raises an error
    result = None
    try:
        result = measure(subset, predictions)
    except Exception as error:  # whatever somebody's function raises
        if _predicted(predictions).all():  # else perhaps because of missing predictions
            raise _raised(error) from error
    if isinstance(result, additive.Statistic | Weighted):
        return result
    statistic = PlainStatistic(measure, subset, predictions, seconds)
    if statistic.rows.all():
        again, values = statistic.values, _read(result)
        pairs = [(values.get(label, np.inf), again[label]) for label in again]
        if len(values) != len(again) or not np.allclose(
            *zip(*pairs, strict=True), 1e-9, 1e-12, equal_nan=True
        ):
            raise PlainMeasureError(
                "the measure returned other values when it was called again with the same data; "
                "give its random numbers a seed"
            )
    return statistic


class PlainStatistic(Weighted):
    """The values of a plain function, and its replicates."""

    def __init__(
        self, measure: Measure, subset: Subset, predictions: Predictions, seconds: float = SECONDS
    ) -> None:
        self._measure, self._subset, self._predictions = measure, subset, predictions
        self._seconds = seconds
        self.rows = _predicted(predictions)
        self.parts = (additive.Contributions(self.rows, ~self.rows),)
        self._places = np.flatnonzero(self.rows)
        if not len(self._places):
            raise NoPredictionError(f"no prediction for {additive.segments(len(self.rows))}")
        drawn, self._blocks = np.unique(subset.blocks[self.rows], return_inverse=True)
        self.n_blocks = len(drawn)
        start = time.monotonic()
        self.values = self._call(np.ones(self.n_blocks, dtype=np.int64))
        self._took = time.monotonic() - start
        self.labels = tuple(self.values)

    def point(self) -> additive.Point:
        """Give the values; see :class:`~soundcheck.metrics.weighted.Weighted`."""
        refusal, note = additive.missing_predictions(self.parts)
        result = np.array(list(self.values.values()))
        reasons = [refusal or ("the value is infinite" if np.isinf(each) else "") for each in result]
        note = "; ".join(filter(None, (note, NOTE if self.n_blocks > 1 else "")))
        counts = np.full(len(result), len(self._places))
        return additive.checked_point(result, counts, reasons, [note] * len(result))

    def blocks(self) -> np.ndarray:
        """Count the blocks that each value rests on: all, because nobody knows which ones it looks at."""
        return np.full(len(self.labels), self.n_blocks)

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Call the function for each replicate."""
        start, fastest = time.monotonic(), self._took / 2  # one call alone may be slow by chance
        replicates = np.full((len(weights), len(self.labels)), np.nan)
        for number, row in enumerate(weights):
            before = time.monotonic()
            if before - start + (len(weights) - number) * fastest > self._seconds:
                each = float(f"{fastest:.1g}")  # times vary, texts should not
                took = f"at about {each:g} s each would take {len(weights) * each:.0f} s"
                raise PlainMeasureError(f"{len(weights)} calls of the measure {took}, {_TOO_SLOW}")
            result = self._call(row, self.labels)
            replicates[number] = [result[label] for label in self.labels]
            taken = time.monotonic() - before
            fastest = min(fastest, taken) if number else taken
        return replicates

    def _call(self, weights: np.ndarray, labels: tuple[str, ...] = ()) -> dict[str, float]:
        """Call the function with blocks as often as the weights say, and read what it returns."""
        repeats = weights.astype(np.int64)[self._blocks]
        copies = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        rows = np.repeat(self._places, repeats)
        blocks = np.repeat(self._blocks, repeats) * (int(weights.max()) + 1) + copies
        _, blocks = np.unique(blocks, return_inverse=True)
        try:
            with _quiet():
                subset = dataclasses.replace(self._subset.take(rows), blocks=blocks)
                result = self._measure(subset, self._predictions.take(rows))
        except Exception as error:  # whatever somebody's function raises
            raise _raised(error, " in a replicate" if labels else "") from error
        if result is None and labels == ("",):
            return {"": math.nan}
        values = _read(result)
        if labels and set(values) != set(labels):
            other = sorted(set(values) ^ set(labels))
            names = ", ".join(map(quoted, other[:5])) + (", ..." if len(other) > 5 else "")
            raise PlainMeasureError(
                f"the measure returned other labels in a replicate than for all data: {names} not in both. "
                f"{_LABELS}"
            )
        return values


def aligned(random: additive.HasPoint, model: additive.HasPoint) -> np.ndarray:
    """Give the values of the random reference in the order of the model's labels."""
    values = additive.values(random)
    if not isinstance(random, PlainStatistic):
        return values
    if set(random.labels) != set(model.labels):
        raise PlainMeasureError(
            f"the measure returned other labels for the random reference than for the model. {_LABELS}"
        )
    return values[[random.labels.index(label) for label in model.labels]]


def _predicted(predictions: Predictions) -> np.ndarray:
    known = np.ones(len(predictions.clean), dtype=bool)
    for side in filter(lambda side: side is not None, (predictions.clean, predictions.changed)):
        is_number = side.dtype.kind == "f"
        known &= np.isfinite(additive.numbers(side)) if is_number else pd.notna(side)
    return known


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep a thousand warnings and printed lines from the page."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _read(result: object) -> dict[str, float]:
    """Read a number, or numbers by label."""
    where, returned = "", {"": result}
    if isinstance(result, Mapping):
        where, returned = "in a mapping ", {str(label): each for label, each in result.items()}
        if not returned:
            raise PlainMeasureError("the measure returned an empty mapping")
        returned = {label: math.nan if each is None else each for label, each in returned.items()}
    for label, value in returned.items():
        value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
            raise PlainMeasureError(
                f"the measure returned {quoted(repr(value), 40)} ({type(value).__name__}) {where}where a "
                f"number belongs. {_ANSWERS}"
            )
        returned[label] = float(value)
    return returned


def _raised(error: Exception, where: str = "") -> PlainMeasureError:
    text = terminal(_PATH.sub("…", str(error)).replace("\n", " "))
    return PlainMeasureError(f"the measure raised {type(error).__name__}{where}: {shorten(text, 160)}")
