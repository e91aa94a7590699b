"""The rows of a corpus that a notebook evaluates, with what the model and the random reference say."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.differential import Setting
from soundcheck.metrics.weighted import Weighted
from soundcheck.suite.groups import numbers_of

CLEAN: Setting = ("", "")  # the signals as they are


@dataclasses.dataclass(frozen=True, eq=False)
class Predictions:
    """What the model, or the random reference, predicts for the rows of a subset, ``(segments,)`` each."""

    clean: np.ndarray  # for the signals as they are: float64 or class names
    changed: np.ndarray | None = None  # for the changed signals; ``None`` if the subset has no change
    random: bool = False  # whether they are those of the random reference
    # of transformed subsets: predictions under each setting; ``clean`` are those under :data:`CLEAN`
    settings: Mapping[Setting, np.ndarray] = dataclasses.field(default_factory=dict)

    def unchanged(self) -> Predictions:
        """Give the clean predictions for the changed signals as well."""
        return dataclasses.replace(self, changed=self.clean)

    def levels(self, transformation: str) -> list[np.ndarray]:
        """Give the predictions under each level of a transformation, in its order."""
        return [predicted for (name, _), predicted in self.settings.items() if name == transformation]

    def take(self, rows: np.ndarray) -> Predictions:
        """Keep some rows."""
        changed = None if self.changed is None else self.changed[rows]
        settings = {setting: predicted[rows] for setting, predicted in self.settings.items()}
        return dataclasses.replace(self, clean=self.clean[rows], changed=changed, settings=settings)


Measure = Callable[["Subset", Predictions], Statistic | Weighted | float | Mapping[str, float | None]]
once = functools.lru_cache(maxsize=4)  # of a measure: of the model and the reference, and both on other rows


@dataclasses.dataclass(frozen=True, eq=False)
class Subset:
    """The rows of one corpus that can be evaluated for one task, in canonical order."""

    corpus: str  # name of the corpus
    task: Task  # the task
    segments: pd.DataFrame  # rows of the segment table
    truth: np.ndarray | None  # labels, shape ``(segments,)``; ``None`` if the corpus has none for the task
    predictions: Predictions  # predictions of the model and of the random reference model
    reference: Predictions
    blocks: np.ndarray  # block of each row, as integer codes from 0
    change: str = ""  # name of the change, empty for clean signals; of pairs the names of both conditions
    root: Path = Path()  # folder of the corpus, for listening; never shown
    # how many groups are compared, and how many segments each has; decides simulated thresholds
    group_size: tuple[int, int] | None = None
    # name of the change that the clean predictions are for: what is compared may be changed itself
    base: str = ""
    # segments that the changed predictions are for, row by row, if they are others than ``segments``
    partner: pd.DataFrame | None = None
    balanced: bool = False  # whether groups were drawn to be alike

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def sides(self) -> tuple[str, str]:
        """Names of what is compared: clean or base and change, or both conditions of pairs."""
        if self.partner is not None:
            return str(self.segments["condition"].iloc[0]), str(self.partner["condition"].iloc[0])
        return self.base or "clean", self.change

    def unchanged(self) -> Subset:
        """Give the clean predictions for the changed signals as well."""
        both = {"predictions": self.predictions.unchanged(), "reference": self.reference.unchanged()}
        return dataclasses.replace(self, **both)

    def take(self, rows: np.ndarray) -> Subset:
        """Keep the rows with these numbers, in canonical order."""
        rows = np.sort(np.asarray(rows))
        segments = self.segments.iloc[rows].reset_index(drop=True)
        _, blocks = np.unique(self.blocks[rows], return_inverse=True)
        return dataclasses.replace(
            self,
            segments=segments,
            truth=None if self.truth is None else self.truth[rows],
            predictions=self.predictions.take(rows),
            reference=self.reference.take(rows),
            blocks=blocks,
            partner=None if self.partner is None else self.partner.iloc[rows].reset_index(drop=True),
        )

    def measured(
        self, measure: Measure, predictions: Predictions, rows: np.ndarray | None = None
    ) -> Statistic | Weighted:
        """Compute a measure, on some rows, bool ``(segments,)``; of trials the measure takes these itself."""
        if rows is not None and self.task.is_embedding:
            return measure(self, predictions, rows)
        statistic = measure(self, predictions)
        return statistic if rows is None else restrict(statistic, rows)

    def mask(self, column: str, value: object) -> np.ndarray:
        """Say which rows have a value in a column of the segment table, bool ``(segments,)``."""
        return self.segments[column].eq(value).fillna(False).to_numpy(dtype=bool)

    def numbers(self, column: str) -> np.ndarray:
        """Give a column of numbers, also where a suite cuts them into groups, float64 ``(segments,)``."""
        return numbers_of(self.segments, column)

    def with_column(self, name: str, values: Sequence[object]) -> Subset:
        """Add a column to the segment table."""
        return dataclasses.replace(self, segments=self.segments.assign(**{name: values}))

    def sized(self, groups: int, samples: int) -> Subset:
        """Say how many groups are compared, and how many segments each has or would have."""
        return dataclasses.replace(self, group_size=(groups, samples))
