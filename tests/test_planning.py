"""Which notebooks a run executes, and for which segments changed signals are predicted."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck import planning
from soundcheck.errors import InputError
from soundcheck.tasks import BUILTIN
from soundcheck.thresholds import read_family

AROUSAL, EMOTION = BUILTIN["arousal"], BUILTIN["emotion"]


@pytest.fixture
def corpus():
    table = pd.DataFrame({"arousal": [0.1, np.nan, np.nan], "emotion": [None, "anger", None]})
    return SimpleNamespace(segments=table)


def test_changed_signals_are_wanted_for_labelled_segments_only(corpus):
    family = read_family("robustness_spectral_tilt")
    tasks = [AROUSAL, EMOTION]
    for change in family.changes.values():
        assert planning.wanted([family], tasks, corpus)[change.identity].tolist() == [True, True, False]
        assert planning.wanted([family], [AROUSAL], corpus)[change.identity].tolist() == [True, False, False]
        valence = planning.wanted([family], [BUILTIN["valence"]], corpus)
        assert valence[change.identity].all()  # no labels at all: every segment will do


def test_families_share_what_they_want(corpus):
    labelled, any_segment = read_family("robustness_spectral_tilt"), read_family("robustness_small_changes")
    both = planning.wanted([labelled, any_segment], [AROUSAL], corpus)
    assert set(both) == set(planning.changes_of([labelled, any_segment], [AROUSAL]))
    for change in any_segment.changes.values():
        assert both[change.identity].tolist() == [True, False, False]


def test_changes_of_families_that_do_not_apply_are_not_asked_for():
    family = read_family("robustness_spectral_tilt")
    assert planning.changes_of([family], []) == {}
    assert len(planning.changes_of([family, family], [AROUSAL])) == len(family.changes)


def test_missing_notebook_is_named():
    with pytest.raises(InputError, match=r"notebooks/no_such\.ipynb is missing"):
        planning.notebook_of("no_such", Path("nowhere"))
