"""The same trials with tested recordings that are cut to their middle, shorter and shorter.

Conventions
-----------
- All lengths are about the same trials: those whose tested recording is at least as long as the longest one.
  A length that half of the trials of a kind are too short for is left out.
- Sweeps of the transform :func:`soundcheck.augment.edits.central_part` are looked at; the enrolled side stays
  as it is.
"""

from __future__ import annotations

import numpy as np

from soundcheck.evaluation.carried_over import own_trials
from soundcheck.evaluation.changed_segments import swept_rows
from soundcheck.evaluation.enrolments import half_has
from soundcheck.evaluation.subset import Subset, TransformedPredictions
from soundcheck.evaluation.trial_robustness import scores_under
from soundcheck.evaluation.verification import NO_CHANGES, Verification
from soundcheck.metrics.trials import Trials

WHOLE = "whole recordings"
CUT = "central_part"


def cut_to(evaluation: Verification, subset: Subset) -> tuple[dict[str, Trials], str]:
    """Score trials again with tested recordings of each length that the family's sweep lists."""
    view, family = evaluation.corpus(subset), evaluation.family
    steps = {
        float(change.options["seconds"]): change
        for series in family.sweeps.values()
        for change in series.steps.values()
        if change.transform == CUT
    }
    if not steps:
        return {}, f"{subset.corpus}: no lengths to cut tested recordings to"
    if not (evaluation.predicts_changes and view.audio):
        return {}, f"{subset.corpus}: {NO_CHANGES if view.audio else 'no audio that could be cut'}"
    rows = swept_rows(family, evaluation.tasks, view.segments, view.blocks, evaluation.seed, view.trials)
    segment = subset.segments["segment"].to_numpy()
    heard = np.flatnonzero(rows[segment])
    seconds, target = view.segments["duration"].to_numpy()[segment[heard]], subset.truth[heard]
    lengths = [one for one in sorted(steps) if half_has(seconds >= one, target)]
    if not lengths:
        return {}, f"{subset.corpus}: most tested recordings are shorter than {min(steps):g} s"
    place = heard[seconds >= lengths[-1]]
    tested = subset.take(place)
    found = {}
    for one in lengths:
        scores = {(CUT, f"{one:g} s"): view.scores(steps[one].identity, place)}
        predictions = TransformedPredictions(tested.predictions.clean, settings=scores)
        found[f"{one:g} s"] = own_trials(tested, scores_under(predictions, next(iter(scores))))
    found[WHOLE] = own_trials(tested, tested.predictions.clean)
    about = f"{subset.corpus}: {len(place):,} trials, of {len(heard):,} with one of {rows.sum():,} recordings"
    left = [f"{one:g} s" for one in sorted(steps) if one not in lengths]
    more = f" Most are shorter than {' and '.join(left)}." if left else ""
    told = f"{about} that were cut; the tested recordings of the others are shorter than {lengths[-1]:g} s."
    return found, told + more
