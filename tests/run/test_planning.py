"""Which corpora a run asks models about, and for which segments changed signals are predicted."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.run import material
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.suite.thresholds import read_family

AROUSAL, EMOTION, EMBEDDING = BUILTIN["arousal"], BUILTIN["emotion"], [BUILTIN["embedding"]]
TILT = read_family("robustness_spectral_tilt")
LABELLED = dataclasses.replace(TILT, label=True)  # it needs labels


def corpus(trials=None, columns=None, **entry) -> SimpleNamespace:
    table = pd.DataFrame({"key": ["a", "b", "c"], "file": ["a", "b", "c"], "arousal": [0.1, np.nan, np.nan]})
    table["emotion"] = [None, "anger", None]
    entry = CorpusEntry(**{"name": "c", "format": "csv"} | entry)
    return SimpleNamespace(segments=table.assign(**columns or {}), entry=entry, trials=trials)


def model(name="m", kind="python", tasks=("transcript",), **entry) -> ModelEntry:
    return ModelEntry(name, kind, "m:f", tasks, **entry)


def wanted(families, tasks, about=None) -> dict[str, str]:
    """Say of each change which of the segments a, b, c are wanted."""
    masks = material.needed_segments(families, tasks, 0, about or corpus())
    return {change: "".join(np.array(["a", "b", "c"])[mask]) for change, mask in masks.items()}


@pytest.mark.parametrize(
    ("family", "tasks", "segments"),
    [(TILT, [AROUSAL], "abc"), (LABELLED, [AROUSAL, EMOTION], "ab"), (LABELLED, [AROUSAL], "a")],
)
def test_changed_signals_are_wanted_for_all_segments_unless_labels_are_needed(family, tasks, segments):
    assert wanted([family], tasks) == {change.identity: segments for change in TILT.changes.values()}


def test_families_share_what_they_want():
    small = read_family("robustness_small_changes")
    both = wanted([LABELLED, small], [AROUSAL])
    assert set(both) == set(material.changes_of([LABELLED, small], [AROUSAL]))
    assert {both[change.identity] for change in small.changes.values()} == {"abc"}
    assert {both[change.identity] for change in LABELLED.changes.values()} == {"a"}
    assert material.changes_of([TILT], []) == {}  # it does not apply
    of_noise = {"babble", "coughing", "environmental", "music", "sneezing"}
    assert material.sounds_of([read_family("robustness_background_noise"), TILT]) == of_noise


GENERATED = SimpleNamespace(origin="generated")
LISTED = SimpleNamespace(origin="list", frame=pd.DataFrame({"segment": [2, 1, 2]}))


@pytest.mark.parametrize(
    ("name", "about", "segments"),
    [
        ("speaker_verification", corpus(), ""),  # there is nothing to compare
        ("speaker_verification", corpus(columns={"speaker": ["x", "x", "y"]}), "abc"),
        ("verification_robustness", corpus(GENERATED), "abc"),
        ("verification_robustness", corpus(LISTED), "bc"),  # only recordings that it tests
    ],
)
def test_changes_of_recordings_in_trials(name, about, segments):
    family = read_family(name)
    changes = family.all_changes if name == "speaker_verification" else family.transformed
    assert wanted([family], EMBEDDING, about) == {change.identity: segments for change in changes}


def test_steps_of_sweeps_are_wanted_for_their_segments():
    family = read_family("robustness_background_noise")
    family = dataclasses.replace(family, options={**family.options, "sweep_segments": 2})
    segments = wanted([family], [AROUSAL])
    assert set(segments) == set(material.changes_of([family], [AROUSAL])) and len(segments) == 6 + 2 * 7
    assert {segments[change.identity] for change in family.changes.values()} == {"abc"}
    assert {len(segments[step.identity]) for step in family.stepped} == {2}


def test_probes_get_the_changes_and_corpora_the_steps():
    family, tasks = read_family("asr_fault_localisation"), [BUILTIN["transcript"]]
    (noise,) = family.changes.values()
    for about, changed, stepped in ((corpus(), "", "abc"), (corpus(name="w", probes_of="c"), "abc", "")):
        segments = wanted([family], tasks, about)
        assert segments[noise.identity] == changed
        assert {segments[change.identity] for change in family.stepped} == {stepped}


WORDS = {"name": "words", "probes_of": "c"}


@pytest.mark.parametrize(
    ("named", "about", "listens"),
    [
        (("c",), {}, True),
        (("c",), WORDS, True),
        (("d",), WORDS, False),
        (("c",), {"families": ("fairness_sex",)}, False),  # which does not test recognisers
        (("c",), {"families": ("asr_word_errors",)}, True),
        (("another",), {}, False),
        ((), WORDS | {"listener": "r"}, True),
        ((), WORDS | {"listener": "s"}, False),
    ],
)
def test_a_model_is_asked_about_the_corpora_that_it_names(named, about, listens):
    recogniser, known = model("r", corpora=named), corpus(**about)
    families = [read_family("asr_word_errors"), read_family("fairness_sex")]
    asked = material.predicted_corpora(Suite(tasks=BUILTIN), recogniser, families, [known])
    assert asked == ([known] if listens else [])
