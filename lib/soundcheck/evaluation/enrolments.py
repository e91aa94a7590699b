"""The same trials with speakers who are enrolled with more and more of their recordings.

Conventions
-----------
- With one recording a speaker is enrolled with the first of the trial's own; then the trial's others and
  recordings of the speaker in other trials follow, drawn by the seed of the suite. The tested recording is
  never among them.
- All numbers are about the same trials: those whose enrolled speaker has recordings enough for the last one.
- Of many trials some are drawn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.evaluation.carried_over import own_trials
from soundcheck.evaluation.cohorts import clean_embeddings, recordings_of
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.trial_scores import SCORE
from soundcheck.evaluation.verification import Verification
from soundcheck.metrics.similarity import cosine_scores, mean_directions
from soundcheck.metrics.trials import Trials


def enrolled_with(evaluation: Verification, subset: Subset) -> tuple[dict[int, Trials], str]:
    """Score trials again with each number of enrolled recordings that the option ``enrolled`` lists."""
    view, wanted = evaluation.corpus(subset), evaluation.family.options.get("enrolled", [])
    if SCORE in view.predictions:
        return {}, f"{subset.corpus}: a table of scores has no embeddings to enrol anybody with"
    vectors = clean_embeddings(view)
    drawn = _drawn(evaluation, subset)
    pools = _pools(evaluation, subset, drawn, np.isfinite(vectors).all(axis=1))
    there = np.array([len(pool) for pool in pools])
    numbers = [n for n in sorted(wanted) if n <= 1 or half_has(there >= n, drawn.truth)]
    if len(numbers) < 2 or not vectors.shape[1]:
        return {}, f"{subset.corpus}: most speakers have too few recordings to be enrolled with more than one"
    kept = np.flatnonzero(there >= numbers[-1])
    tested = drawn.take(kept)
    second = tested.segments["segment"].to_numpy()
    found = {}
    for n in numbers:
        members = np.array([pools[row][:n] for row in kept])
        enrolled = mean_directions(vectors, members.ravel(), np.repeat(np.arange(len(kept)), n), len(kept))
        scores = cosine_scores(enrolled, vectors, np.arange(len(kept)), second)
        found[n] = own_trials(tested, scores)
    told = f"{subset.corpus}: {len(kept):,} trials, of {len(drawn):,} that were drawn from {len(subset):,}"
    return found, f"{told}; the others have fewer than {numbers[-1]} recordings of the speaker to enrol."


def half_has(there: np.ndarray, target: np.ndarray) -> bool:
    """Say whether half of the trials of each kind are there: a target cannot enrol what it tests."""
    return all(own.size and own.mean() >= 0.5 for own in (there[target], there[~target]))


def _drawn(evaluation: Verification, subset: Subset) -> Subset:
    most = int(evaluation.family.options.get("enrolled_trials", len(subset)))
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=subset.segments["key"].tolist())
    return subset.take(np.argsort(draws)[:most])


def _pools(evaluation: Verification, subset: Subset, drawn: Subset, usable: np.ndarray) -> list[list[int]]:
    """List the recordings that each drawn trial may enrol, in the order in which they are added."""
    view = evaluation.corpus(subset)
    rows, names = recordings_of(view, subset)
    rows, names = rows[usable[rows]], names[usable[rows]]
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=view.segments["key"].iloc[rows].tolist())
    order = np.argsort(draws)
    own = pd.Series(rows[order]).groupby(names[order], sort=False).apply(list).to_dict()
    table = view.trials
    members = pd.Series(table.members).groupby(table.member_of).apply(list)
    frame, pools = drawn.segments, []
    sides = (frame[name].tolist() for name in ("enrolment", "enrol_speaker", "segment"))
    for enrolment, speaker, segment in zip(*sides, strict=True):
        first = [row for row in members[enrolment] if usable[row]]
        pool = dict.fromkeys([*first, *own.get(speaker, [])])
        pool.pop(segment, None)
        pools.append(list(pool))
    return pools
