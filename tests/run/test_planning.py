"""Which notebooks a run executes, and for which segments changed signals are predicted."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.run import notebook_jobs, planning
from soundcheck.suite.entries import CorpusEntry, ModelEntry
from soundcheck.suite.thresholds import read_family

AROUSAL, EMOTION = BUILTIN["arousal"], BUILTIN["emotion"]


@pytest.fixture
def corpus():
    table = pd.DataFrame(
        {
            "key": ["a", "b", "c"],
            "file": ["a", "b", "c"],
            "arousal": [0.1, np.nan, np.nan],
            "emotion": [None, "anger", None],
        }
    )
    return SimpleNamespace(segments=table, entry=CorpusEntry("c", "csv"), trials=None)


def test_changed_signals_are_wanted_for_all_segments_unless_labels_are_needed(corpus):
    family = read_family("robustness_spectral_tilt")
    needy = dataclasses.replace(family, label=True)
    for change in family.changes.values():
        for tasks in ([AROUSAL, EMOTION], [AROUSAL], [BUILTIN["valence"]]):
            assert planning.needed_segments([family], tasks, 0, corpus)[change.identity].all()
        rows = planning.needed_segments([needy], [AROUSAL, EMOTION], 0, corpus)[change.identity]
        assert rows.tolist() == [True, True, False]
        rows = planning.needed_segments([needy], [AROUSAL], 0, corpus)[change.identity]
        assert rows.tolist() == [True, False, False]


def test_families_share_what_they_want(corpus):
    tilt, small = read_family("robustness_spectral_tilt"), read_family("robustness_small_changes")
    tilt = dataclasses.replace(tilt, label=True)
    both = planning.needed_segments([tilt, small], [AROUSAL], 0, corpus)
    assert set(both) == set(planning.changes_of([tilt, small], [AROUSAL]))
    for change in small.changes.values():
        assert both[change.identity].all()
    for change in tilt.changes.values():
        assert both[change.identity].tolist() == [True, False, False]


def test_changes_of_families_that_do_not_apply_are_not_asked_for():
    family = read_family("robustness_spectral_tilt")
    assert planning.changes_of([family], []) == {}
    assert len(planning.changes_of([family, family], [AROUSAL])) == len(family.changes)


def test_nothing_is_changed_where_there_are_no_trials(corpus):
    family, embedding = read_family("speaker_verification"), [BUILTIN["embedding"]]

    def wanted(trials=None, **columns):
        table = corpus.segments.assign(**columns)
        one = SimpleNamespace(segments=table, entry=corpus.entry, trials=trials)
        masks = planning.needed_segments([family], embedding, 0, one).values()
        assert len(masks) == len(family.all_changes)
        return {tuple(rows.tolist()) for rows in masks}

    assert wanted() == {(False,) * 3}
    assert (
        wanted(speaker=["x", "x", "y"]) == wanted(trials=SimpleNamespace(origin="generated")) == {(True,) * 3}
    )


@pytest.mark.parametrize(("origin", "heard"), [("list", (False, True, True)), ("generated", (True,) * 3)])
def test_of_a_list_only_recordings_that_it_tests_are_changed(corpus, origin, heard):
    trials = SimpleNamespace(origin=origin, frame=pd.DataFrame({"segment": [2, 1, 2]}))
    one = SimpleNamespace(segments=corpus.segments, entry=corpus.entry, trials=trials)
    family, embedding = read_family("verification_robustness"), [BUILTIN["embedding"]]
    masks = planning.needed_segments([family], embedding, 0, one)
    assert masks.keys() == {change.identity for change in family.transformed}
    assert {tuple(rows.tolist()) for rows in masks.values()} == {heard}


def test_missing_notebook_is_named():
    with pytest.raises(InputError, match=r"notebooks/no_such\.ipynb is missing"):
        notebook_jobs.notebook_of("no_such", Path("nowhere"))


def test_steps_of_sweeps_are_wanted_for_their_segments(corpus):
    family = read_family("robustness_background_noise")
    family = dataclasses.replace(family, options={**family.options, "sweep_segments": 2})
    wanted = planning.needed_segments([family], [AROUSAL], 0, corpus)
    assert set(wanted) == set(planning.changes_of([family], [AROUSAL]))
    assert len(wanted) == 6 + 2 * 7
    assert all(wanted[change.identity].all() for change in family.changes.values())
    assert all(wanted[step.identity].sum() == 2 for step in family.stepped)


def test_a_corpus_for_other_families_is_asked_nothing(corpus):
    corpus.entry = CorpusEntry("c", "csv", families=("fairness_sex",))
    family = read_family("robustness_spectral_tilt")
    assert not any(rows.any() for rows in planning.needed_segments([family], [AROUSAL], 0, corpus).values())
    model = ModelEntry("m", "python", "m:f", ("arousal",))
    assert planning.evaluated_corpora(family, model, [corpus]) == []
    assert planning.evaluated_corpora(read_family("fairness_sex"), model, [corpus]) == [corpus]
    deaf = ModelEntry("m", "python", "m:f", ("arousal",), corpora=("another",))
    assert planning.evaluated_corpora(read_family("fairness_sex"), deaf, [corpus]) == []


def test_a_model_says_which_families_test_it():
    assert ModelEntry("m", "python", "m:f", ("arousal",)).is_for("fairness_sex")
    assert not ModelEntry("m", "python", "m:f", ("arousal",), families=("mine",)).is_for("fairness_sex")


def test_sounds_are_those_of_all_changes():
    families = [read_family(f"robustness_{name}") for name in ("background_noise", "spectral_tilt")]
    assert planning.sounds_of(families) == {"babble", "coughing", "environmental", "music", "sneezing"}
    simulated = read_family("robustness_simulated_recording_condition")
    assert planning.sounds_of([simulated]) == {"positions", "rooms"}


def test_a_model_is_asked_about_the_corpora_that_it_names(corpus):
    suite = SimpleNamespace(tasks=BUILTIN)
    families = [read_family("asr_word_errors"), read_family("fairness_sex")]

    def asked(model, **about):
        corpus.entry = CorpusEntry("c", "csv", **about)
        return planning.predicted_corpora(suite, model, families, [corpus])

    recogniser = ModelEntry("r", "python", "m:f", ("transcript",), corpora=("c",))
    assert asked(recogniser) == [corpus]
    assert asked(recogniser, probes_of="c") == [corpus] and asked(recogniser, probes_of="d") == []
    assert asked(recogniser, families=("fairness_sex",)) == []  # which does not test recognisers
    assert asked(recogniser, families=("asr_word_errors",)) == [corpus]
    elsewhere = ModelEntry("r", "python", "m:f", ("transcript",), corpora=("another",))
    assert asked(elsewhere) == []


def test_probes_get_the_changes_and_corpora_the_steps(corpus):
    family = read_family("asr_fault_localisation")
    (noise,) = family.changes.values()
    tasks = [BUILTIN["transcript"]]
    masks = planning.needed_segments([family], tasks, 0, corpus)
    assert not masks[noise.identity].any()
    assert all(masks[change.identity].all() for change in family.stepped)
    corpus.entry = CorpusEntry("words of c", "csv", probes_of="c")
    masks = planning.needed_segments([family], tasks, 0, corpus)
    assert masks[noise.identity].all()
    assert not any(masks[change.identity].any() for change in family.stepped)


def test_only_its_listener_is_asked_about_probes():
    probes = CorpusEntry("words of c for r", "csv", probes_of="c", listener="r")
    assert ModelEntry("r", "python", "m:f", ("transcript",)).listens_to(probes)
    assert not ModelEntry("s", "python", "m:f", ("transcript",)).listens_to(probes)
    assert not ModelEntry("r", "python", "m:f", ("transcript",), corpora=("d",)).listens_to(probes)


def test_a_table_knows_nothing_about_probes():
    probes = CorpusEntry("words of c", "csv", probes_of="c")
    assert ModelEntry("r", "python", "m:f", ("transcript",)).listens_to(probes)
    assert not ModelEntry("r", "predictions", "r.csv", ("transcript",)).listens_to(probes)
