"""Who fits and who is tested: halves of speakers, another corpus, and what cannot be fitted."""

import types

import numpy as np
import pandas as pd
import pytest

from soundcheck.evaluation import trials as cohorts
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.trials import HALF, carry_over, split_speakers
from soundcheck.metrics.calibration import fit_calibration


def evaluation(calibration=HALF, least=2, seed=0):
    options = {"calibration": calibration, "minimum_trials": least}
    family = types.SimpleNamespace(options=options)
    return types.SimpleNamespace(
        seed=seed, family=family, cost={"p_target": 0.05, "c_miss": 1.0, "c_false_alarm": 1.0}
    )


def corpus(name, speakers, seed=0):
    """Give every pair of speakers, and every speaker with herself twice, a score."""
    pairs = [(one, two) for one in speakers for two in speakers if one <= two]
    pairs += [(one, one) for one in speakers]
    frame = pd.DataFrame(pairs, columns=["enrol_speaker", "test_speaker"])
    frame["enrolled"] = frame["segment"] = np.arange(len(frame))
    target = (frame["enrol_speaker"] == frame["test_speaker"]).to_numpy()
    scores = np.random.default_rng(seed).normal(size=len(frame)) + target
    none = np.zeros(len(frame), dtype=np.intp)
    random = Predictions(scores[::-1], random=True)
    return Subset(name, None, frame, target, Predictions(scores), random, none)


def speakers_of(subset):
    return set(subset.segments[["enrol_speaker", "test_speaker"]].to_numpy().ravel())


def test_halves_share_no_speaker_and_all_that_is_left_out_is_counted():
    subset = corpus("here", [f"s{n}" for n in range(9)])
    split = split_speakers(evaluation(), subset, [subset])
    one, other = speakers_of(split.fitting), speakers_of(split.tested)
    assert (len(one), len(other), one & other) == (4, 5, set())
    left = len(subset) - len(split.fitting) - len(split.tested)
    assert left == 4 * 5
    assert f"fitted on 4 speakers ({len(split.fitting)} trials)" in split.about
    assert f"{left} trials between them" in split.about
    turned = subset.take(np.arange(len(subset)))
    turned.segments[:] = turned.segments.to_numpy()[::-1]
    assert speakers_of(split_speakers(evaluation(), turned, [turned]).fitting) == one  # not of the order
    seeds = [speakers_of(split_speakers(evaluation(seed=n), subset, [subset]).fitting) for n in range(5)]
    assert any(drawn != one for drawn in seeds)


def test_another_corpus_fits_without_the_speakers_that_both_have():
    here, there = corpus("here", list("abcd")), corpus("there", list("cdefg"), seed=1)
    split = split_speakers(evaluation("there"), here, [here, there])
    assert len(split.tested) == len(here)
    assert speakers_of(split.fitting) == set("efg")
    assert "speakers in both corpora: 2" in split.about
    assert f"the {len(there) - len(split.fitting)} trials of there with them are left out" in split.about
    carried = carry_over(evaluation("there"), split, split.tested.predictions)
    expected = fit_calibration(split.fitting.predictions.clean, split.fitting.truth)
    assert carried.calibration == expected
    reference = carry_over(evaluation("there"), split, split.tested.reference)
    assert reference.calibration == fit_calibration(split.fitting.reference.clean, split.fitting.truth)
    own = split_speakers(evaluation("there"), there, [here, there])
    assert speakers_of(own.fitting) < set("cdefg")  # a corpus that is named itself has halves


@pytest.mark.parametrize(
    ("names", "calibration", "reason"),
    [
        ("a", HALF, "fewer than 2 trials of each kind with a score to fit on"),
        ("ab", HALF, "fewer than 2 trials of each kind with a score to fit on"),
        (
            "abcd",
            "same",
            "fewer than 2 trials of each kind with a score to fit on; speakers in both corpora: 4, and the "
            "SAME trials of same with them are left out",
        ),
        ("abcd", "gone", "no trials of the corpus 'gone', which the option calibration names"),
    ],
)
def test_what_cannot_be_fitted_says_why(names, calibration, reason):
    here, same = corpus("here", list(names)), corpus("same", list(names))
    split = split_speakers(evaluation(calibration), here, [here, same])
    assert split.reason == reason.replace("SAME", str(len(same)))
    assert split.tested.corpus == "here"


def test_trials_without_score_do_not_fit():
    subset = corpus("here", list("abcdef"))
    subset.predictions.clean[subset.truth] = np.nan
    assert "trials of each kind" in split_speakers(evaluation(), subset, [subset]).reason


@pytest.mark.parametrize(("top", "same"), [(3, False), (4, True), (10, True)])
def test_a_cohort_of_which_all_are_looked_at_is_said(monkeypatch, top, same):
    monkeypatch.setattr(cohorts, "_cohort", lambda *_: np.zeros((4, 2)))
    monkeypatch.setattr(cohorts, "cohort_obstacle", lambda *_: "")
    monkeypatch.setattr(cohorts, "normalised_trials", lambda *_: {})
    evaluation = types.SimpleNamespace(
        view=lambda _: None, family=types.SimpleNamespace(options={"cohort_top": top})
    )
    tested = types.SimpleNamespace(corpus="here", predictions=None)
    split = types.SimpleNamespace(tested=tested, fitting=None, about="here: fitted on 4 speakers.")
    _, note = cohorts.normalised_with(evaluation, split)
    assert note.startswith("here: a cohort of 4 speakers.")
    assert (f"no more than {top} speakers, so that the adaptive way is the same" in note) == same
