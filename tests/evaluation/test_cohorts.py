"""Who is a cohort is told; what scores against it are is proved on whole runs, in test_verification.py."""

from types import SimpleNamespace

import numpy as np
import pytest

from soundcheck.evaluation import trials as cohorts


@pytest.mark.parametrize(("top", "same"), [(3, False), (4, True), (10, True)])
def test_a_cohort_of_which_all_are_looked_at_is_said(monkeypatch, top, same):
    monkeypatch.setattr(cohorts, "_cohort", lambda *_: np.zeros((4, 2)))
    monkeypatch.setattr(cohorts, "cohort_obstacle", lambda *_: "")
    monkeypatch.setattr(cohorts, "normalised_trials", lambda *_: {})
    evaluation = SimpleNamespace(view=lambda _: None, family=SimpleNamespace(options={"cohort_top": top}))
    tested = SimpleNamespace(corpus="here", predictions=None)
    split = SimpleNamespace(tested=tested, fitting=None, about="here: fitted on 4 speakers.")
    _, note = cohorts.normalised_with(evaluation, split)
    assert note.startswith("here: a cohort of 4 speakers.")
    assert (f"no more than {top} speakers, so that the adaptive way is the same" in note) == same
