"""Trials of speaker verification, and what their statistics share: sorting, and replicates of speakers.

A trial compares two recordings; its score says how likely they are of the same speaker. Trials that share a
speaker are alike, so speakers are resampled: a non-target counts as often as the product of how often each of
its speakers was drawn, a target as often as its speaker was.

Poh and Bengio (2007), Estimating the confidence interval of expected performance curve in biometric
authentication using joint bootstrap.

Conventions
-----------
- Thresholds are all scores that occur, and minus infinity; trials with equal scores form a *step* and are
  accepted or rejected together.
- Replicates are exact: weights are whole numbers and so are all sums. Sorting happens once. Large data are
  not gone through in each replicate: what lies outside of a window of steps is known from counts of pairs of
  speakers.
- What needs the whole curve in each replicate (:class:`WholeCurve`) goes through all steps up to 16384
  different scores. If there are more, its replicates, but not its value, join neighbouring scores to at most
  as many equally filled steps.
- Trials without score have no prediction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.sparse is loaded when first used

from soundcheck.metrics.additive import (
    MISSING_NOTED,
    MISSING_REFUSED,
    Point,
    checked_point,
    numbers,
    same_length,
)
from soundcheck.metrics.exact import layers
from soundcheck.metrics.weighted import Weighted

_AT_A_TIME = 2**16  # products of weights that are made at a time; they stay in the cache
_DENSE = 2048  # speakers up to which pairs are counted in a full table
_MOST_STEPS = 2**14  # steps that replicates of a whole curve go through


@dataclasses.dataclass(frozen=True, eq=False)
class Trials:
    """Scored trials.

    - ``first, second``: speakers of the two recordings, whole numbers from 0 to ``speakers - 1``, ``(N,)``.
    """

    scores: np.ndarray  # float64 ``(N,)``; higher means more alike, NaN if missing
    target: np.ndarray  # bool ``(N,)``; whether both recordings are of the same speaker
    first: np.ndarray
    second: np.ndarray
    speakers: int
    # the two recordings of each trial, whole numbers below ``n_recordings``, ``(N,)`` each. If they are not
    # known (``None``), there is no answer for these speakers.
    recordings: tuple[np.ndarray, np.ndarray] | None = None
    n_recordings: int = 0  # number of recordings, those of other trials included

    def __post_init__(self) -> None:
        for array in (self.target, self.first, self.second, *(self.recordings or ())):
            same_length(self.scores, array)
        if self.target.dtype != bool or np.isinf(self.scores).any():
            raise ValueError("Targets are True or False, and scores finite or missing.")
        for codes in (self.first, self.second):
            if codes.dtype.kind not in "iu" or (
                len(codes) and not 0 <= codes.min() <= codes.max() < self.speakers
            ):
                raise ValueError(f"Speakers are whole numbers from 0 to {self.speakers - 1}.")

    @classmethod
    def of(
        cls,
        scores: Sequence[float],
        target: Sequence[bool],
        first: Sequence[object],
        second: Sequence[object],
    ) -> Trials:
        """Give speakers numbers in the order of their names.

        - ``first, second``: names of the speakers, ``(N,)``, texts or numbers.
        """
        scores = numbers(scores)
        both = pd.Series([*first, *second], dtype=object)
        codes, names = pd.factorize(both, sort=True)
        if (codes < 0).any():
            raise ValueError(f"{int((codes < 0).sum())} recordings have no speaker.")
        half = len(codes) // 2
        return cls(scores, np.asarray(target, dtype=bool), codes[:half], codes[half:], len(names))

    def of_recordings(self, first: Sequence[int], second: Sequence[int]) -> Trials:
        """Say which recordings are compared, whole numbers from 0, ``(N,)`` each."""
        both = np.asarray(first), np.asarray(second)
        most = max(int(side.max(initial=-1)) for side in both)
        return dataclasses.replace(self, recordings=both, n_recordings=most + 1)

    def only(self, mask: np.ndarray) -> Trials:
        """Keep some trials, with the same numbers of speakers, so that groups share replicates.

        - ``mask``: bool ``(N,)``; the trials to keep.
        - Raises ValueError: if the mask is not bool or has another length.
        """
        mask = np.asarray(mask)
        same_length(self.scores, mask)
        if mask.dtype != bool:
            raise ValueError("A mask is True or False.")
        return dataclasses.replace(
            self,
            scores=self.scores[mask],
            target=self.target[mask],
            first=self.first[mask],
            second=self.second[mask],
            recordings=self.recordings and tuple(side[mask] for side in self.recordings),
        )

    def __len__(self) -> int:
        return len(self.scores)


class SortedTrials:
    """Trials with a score, in ascending order; equal scores form a step."""

    def __init__(self, trials: Trials) -> None:
        there = np.flatnonzero(~np.isnan(trials.scores))
        order = there[np.argsort(trials.scores[there], kind="stable")]
        scores = trials.scores[order]
        self.n = len(order)
        self.speakers = trials.speakers
        self.target = trials.target[order]
        self.first = trials.first[order].astype(np.int32)
        second = trials.second[order]
        # A trial within a speaker takes the speaker's weight once: the other factor is always 1.
        self.second = np.where(self.first == second, trials.speakers, second).astype(np.int32)
        self.ends = np.append(np.flatnonzero(scores[1:] != scores[:-1]) + 1, self.n)[: self.n]
        self.target_rows = np.flatnonzero(self.target)
        self.targets_before = np.append(0, np.cumsum(self.target))  # each row, and the end
        self.scores = scores[self.ends - 1]
        self.owners = np.full(trials.n_recordings, -1, dtype=np.intp)  # speakers of recordings
        self.recordings = trials.recordings and tuple(side[order] for side in trials.recordings)
        for side, speakers in zip(self.recordings or (), (trials.first, trials.second), strict=False):
            self.owners[side] = speakers[order]
        self.missing_predictions = len(trials) - self.n
        self.total = len(trials)

    @property
    def steps(self) -> int:
        """Number of different scores."""
        return len(self.ends)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Add the factor of trials within a speaker, ``(replicates, speakers + 1)``."""
        ones = np.ones((len(weights), 1), dtype=np.int32)
        return np.concatenate([weights.astype(np.int32), ones], axis=1)

    def rejected(self, weights: np.ndarray, low: int, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add up what is rejected from step ``low`` on; weights from :meth:`weights`.

        Returns targets and non-targets, int64 ``(len(steps), replicates)``: weights up to the end of each
        step.
        """
        start = self.ends[low - 1] if low else 0
        ends = self.ends[steps]
        rows = slice(start, ends[-1] if len(ends) else start)
        columns = np.ascontiguousarray(weights.T)  # so that replicates are added side by side
        products = columns.take(self.first[rows], axis=0)
        products *= columns.take(self.second[rows], axis=0)
        everything = np.cumsum(products, axis=0, dtype=np.int64).take(ends - start - 1, axis=0)
        before = self.targets_before
        own = self.target_rows[before[rows.start] : before[rows.stop]] - start
        targets = np.zeros((len(own) + 1, len(weights)), dtype=np.int64)
        np.cumsum(products.take(own, axis=0), axis=0, out=targets[1:])
        targets = targets.take(before[ends] - before[start], axis=0)
        return targets, everything - targets

    def sums(self, weights: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up targets and non-targets of the first steps, float64 ``(replicates, 1)`` each.

        Trials are counted for each pair of speakers; the sum is a quadratic form of the weights.
        """
        end = self.ends[step - 1] if step else 0
        return tuple(self.form(weights, np.flatnonzero(self.target[:end] == kind)) for kind in (True, False))

    def form(self, weights: np.ndarray, rows: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Add up values of trials, or count them, as a quadratic form, float64 ``(replicates, 1)``.

        - ``weights``: from :meth:`weights`.
        - ``values``: float64, one a trial of ``rows``; exact if all sums are.
        """
        size = self.speakers + 1
        first, second = self.first[rows], self.second[rows]
        floats = weights.astype(np.float64)
        if size <= _DENSE:
            place = first.astype(np.int64) * size + second
            pairs = np.bincount(place, values, minlength=size * size).reshape(size, size).astype(np.float64)
            product = floats @ pairs
        else:
            values = np.ones(len(first)) if values is None else values
            pairs = scipy.sparse.csr_array((values, (second, first)), shape=(size, size))
            product = (pairs @ floats.T).T
        return np.einsum("rk,rk->r", product, floats)[:, np.newaxis]

    def exact_sums(self, values: np.ndarray) -> Iterator[np.ndarray]:
        """Split values of trials into parts that sum to them, and whose weighted sums are exact."""
        within = self.second == self.speakers
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        pairs = low[~within].astype(np.int64) * self.speakers + high[~within]
        counts = np.unique(pairs, return_counts=True)[1]
        # Weights sum to the number of speakers, so no replicate adds up more trials than this.
        most = int(counts.max(initial=0)) * self.speakers**2
        most += int(np.bincount(self.first[within]).max(initial=0)) * self.speakers
        return layers(values, most)

    def groups(self, most: int) -> np.ndarray:
        """Join neighbouring steps to at most ``most`` equally filled ones; give the last step of each."""
        if self.steps <= most:
            return np.arange(self.steps)
        group = (self.ends - 1) * most // self.n
        return np.append(np.flatnonzero(group[1:] != group[:-1]), self.steps - 1)


class TrialStatistic(Weighted):
    """Values of trials, in most cases one."""

    labels = ("",)

    def __init__(self, trials: Trials) -> None:
        self.n_blocks = trials.speakers
        self._trials = trials
        self._sorted = SortedTrials(trials)

    def blocks(self) -> np.ndarray:
        """Count the speakers of trials with a score."""
        trials = self._sorted
        there = np.zeros(self.n_blocks + 1, dtype=bool)
        there[trials.first] = there[trials.second] = True
        return np.full(len(self.labels), int(there[: self.n_blocks].sum()))

    def point(self) -> Point:
        """Compute the values from all trials, and say why there are none."""
        trials = self._sorted
        m = len(self.labels)
        text = f"no score for {trials.missing_predictions} of {trials.total} trials"
        share = trials.missing_predictions / trials.total if trials.total else 0.0
        reason = text if share > MISSING_REFUSED else self._one_kind()
        note = text if share > MISSING_NOTED else ""
        return checked_point(self._value(), np.full(m, trials.n), [reason] * m, [note] * m)

    def _value(self) -> np.ndarray:
        """Compute the values from all trials, ``(m,)``."""
        return self.evaluate(np.ones((1, self.n_blocks), dtype=np.uint16))[0]

    def _one_kind(self) -> str:
        targets = int(self._sorted.target.sum())
        if self._sorted.n == 0:
            return "no trials"
        return (
            "no target trials"
            if targets == 0
            else "no non-target trials"
            if targets == self._sorted.n
            else ""
        )

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates; see :class:`soundcheck.metrics.weighted.Weighted`."""
        weights = self._sorted.weights(weights)
        if self._one_kind():
            return np.full((len(weights), len(self.labels)), np.nan)
        return self._evaluate(weights).reshape(len(weights), len(self.labels))

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of each replicate, ``(replicates, m)``, or ``(replicates,)`` if one."""
        raise NotImplementedError

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        """Add up the influence of the trials of each recording, or speaker; see :class:`.weighted.Weighted`.

        A trial counts with both of its recordings, but once with a speaker who is compared with herself.
        """
        trials = self._sorted
        if trials.recordings is None:
            return None
        sides, owners = trials.recordings, trials.owners
        if of_speakers:
            sides, owners = (trials.first, trials.second), np.arange(trials.speakers)
            owners = np.where(np.isin(owners, trials.owners), owners, -1)
        if self._one_kind():
            return np.full((len(owners), len(self.labels)), np.nan), owners
        losses = self._losses()
        if losses is None:
            return None
        own, factors = losses
        for kind, factor in zip((True, False), factors, strict=True):
            rows = np.flatnonzero(trials.target == kind)
            own[rows] = factor * (own[rows] - own[rows].mean()) / len(rows)
        sums = sum(np.bincount(side, own, minlength=len(owners))[: len(owners)] for side in sides)
        return sums[:, np.newaxis], owners

    def _losses(self) -> tuple[np.ndarray, tuple[float, float]] | None:
        """Write the value as factors times the mean loss of targets and of others, in the order of scores.

        Only to first order, as trials are added. ``None``: the value is no such sum.
        """
        return None

    def _in_window(self, weights: np.ndarray, low: int, high: int) -> np.ndarray:
        """Go through a window of steps, a few replicates at a time.

        - ``weights``: from :meth:`SortedTrials.weights`.
        - ``low, high``: first step of the window, and the first after it.
        - Returns what :meth:`_find` gives, one row a replicate.
        """
        trials, steps = self._sorted, self._steps(low, high)
        nothing = (np.zeros((len(weights), 1), dtype=np.int64),) * 2
        below = trials.sums(weights, low) if low else nothing
        total = trials.sums(weights, trials.steps) if (low, high) != (0, trials.steps) else None
        length = int(trials.ends[high - 1] - (trials.ends[low - 1] if low else 0))
        at_a_time = max(1, _AT_A_TIME // length)
        found = []
        for start in range(0, len(weights), at_a_time):
            part = slice(start, start + at_a_time)
            inside = trials.rejected(weights[part], low, steps)
            rejected = [
                np.concatenate([own[part].T, own[part].T + more])
                for own, more in zip(below, inside, strict=True)
            ]
            everything = [own[part].T for own in total] if total else [own[-1:] for own in rejected]
            found.append(self._find(*rejected, *everything))
        return np.concatenate(found)

    def _everywhere(self, weights: np.ndarray) -> np.ndarray:
        return self._in_window(weights, 0, self._sorted.steps)

    def _steps(self, low: int, high: int) -> np.ndarray:
        """Choose the steps of a window that are looked at, ascending; the last one is among them."""
        return np.arange(low, high)

    def _find(
        self, targets: np.ndarray, others: np.ndarray, all_targets: np.ndarray, all_others: np.ndarray
    ) -> np.ndarray:
        """Compute the value and a remark on it, ``(replicates, 2)``.

        - ``targets, others``: rejected targets and non-targets ``(1 + steps, replicates)``, the first row
          being what lies before the window.
        - ``all_targets, all_others``: all of them, ``(1, replicates)``.
        """
        raise NotImplementedError


class WholeCurve(TrialStatistic):
    """Values that need all steps; see the module for large data."""

    def _value(self) -> np.ndarray:
        if self._one_kind():
            return np.full(len(self.labels), np.nan)
        ones = np.ones((1, self.n_blocks + 1), dtype=np.int32)
        return self._along(ones, self._sorted.groups(self._sorted.steps))[0]

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        return self._along(weights, self._sorted.groups(_MOST_STEPS))

    def _along(self, weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
        found = np.full((len(weights), len(self.labels)), np.nan)
        at_a_time = max(1, _AT_A_TIME // self._sorted.n)
        for start in range(0, len(weights), at_a_time):
            part = slice(start, start + at_a_time)
            sums = np.zeros((2, len(weights[part]), len(groups) + 1))
            for own, kind in zip(sums, self._sorted.rejected(weights[part], 0, groups), strict=True):
                own[:, 1:] = kind.T
            for row, targets, others in zip(found[part], *sums, strict=True):
                if targets[-1] and others[-1]:
                    row[:] = self._of_steps(targets, others)
        return found

    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> np.ndarray | float:
        """Compute the values from rejected targets and non-targets.

        - ``targets, others``: whole numbers, float64 ``(1 + steps,)``: none, then up to the end of each step;
          some in the end.
        """
        raise NotImplementedError
