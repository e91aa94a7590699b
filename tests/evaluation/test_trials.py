"""Trials: scores of embeddings, who fits and who is tested, more enrolled and shorter tested recordings."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.corpora.trials.trial_table import LISTED, TrialTable
from soundcheck.evaluation import trial_conditions
from soundcheck.evaluation.subset import Predictions, Subset, score_trials
from soundcheck.evaluation.trials import with_groups
from soundcheck.metrics.verification import fit_calibration
from soundcheck.suite.thresholds import read_family

NAN = np.nan
VECTORS = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 3.0], "d": None}


def embedded(vectors=VECTORS, change=""):
    column = [None if vector is None else np.array(vector, np.float32) for vector in vectors.values()]
    embeddings = pd.Series(column, dtype=object)
    return pd.DataFrame({"key": list(vectors), "change": change, "embedding": embeddings})


CHANGED = pd.concat([embedded(), embedded({"a": [0.0, 1.0], "b": [0.0, 1.0]}, "noise")], ignore_index=True)
OWN = pd.DataFrame({"key": ["1", "0"], "change": "", "score": [0.5, -3.0]})


# of one trial an enrolment: its rows, and the row of the tested side
@pytest.mark.parametrize(
    ("predictions", "enrolments", "tests", "change", "scores"),
    [
        (embedded(), [[0], [0], [2], [1]], [1, 2, 2, 3], "", [0.0, np.sqrt(0.5), 1.0, NAN]),  # d has none
        (embedded(), [[0, 1], [0, 1, 3], [3]], [2, 2, 2], "", [1.0, 1.0, NAN]),  # mean of directions
        (CHANGED, [[0], [1], [0]], [1, 0, 2], "noise", [0.0, 1.0, NAN]),  # the tested side is changed
        (OWN, [[0], [1]], [1, 2], "", [-3.0, 0.5]),  # taken as they are
        (embedded({}), [[0]], [1], "", [NAN]),
    ],
)
def test_scores(predictions, enrolments, tests, change, scores):
    frame = pd.DataFrame({"key": [str(n) for n in range(len(tests))], "enrolment": np.arange(len(tests))})
    members = np.array([row for rows in enrolments for row in rows])
    places = np.repeat(np.arange(len(tests)), list(map(len, enrolments)))
    table = TrialTable(frame.assign(segment=tests), members, places, "list")
    np.testing.assert_allclose(score_trials(predictions, list("abcd"), table, change), scores, atol=1e-12)


def test_kinds_of_trials_and_the_groups_that_both_sides_belong_to():
    segments = pd.DataFrame({"sex": ["f", "f", "m", None], "accent": ["x", "y", "x", "x"]})
    frame = pd.DataFrame({"enrolment": np.arange(4), "segment": [0, 1, 2, 3], "target": [True] + [False] * 3})
    frame = frame.assign(enrol_speaker="a", test_speaker=list("abcd"))
    members, places = np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 3])  # the last has both accents
    added = with_groups(TrialTable(frame, members, places, "list"), segments, ["accent"])
    assert [*added][-2:] == ["accent", "sex"]  # whatever the hashes
    assert added[["kind", "sex", "accent"]].fillna("").to_numpy().tolist() == [
        ["target", "f", "x"],
        ["non-target, same sex", "f", ""],
        ["non-target, other sex", "", "x"],
        ["non-target", "", ""],
    ]


def split(subset, *others, calibration=trial_conditions.HALF, seed=0):
    family = SimpleNamespace(options={"calibration": calibration, "minimum_trials": 2})
    return trial_conditions.split_speakers(
        SimpleNamespace(seed=seed, family=family), subset, [subset, *others]
    )


def scored(name, pairs, speaker, scores):
    """Make trials of pairs of recordings with their scores; ``speaker`` names whose a recording is."""
    frame = pd.DataFrame(pairs, columns=["enrolled", "segment"])
    frame["key"], frame["enrolment"] = frame.index.astype(str), frame["enrolled"]
    for side, column in (("enrol_speaker", "enrolled"), ("test_speaker", "segment")):
        frame[side] = frame[column].map(speaker)
    target = (frame["enrol_speaker"] == frame["test_speaker"]).to_numpy()
    scores = scores(target)
    random, blocks = Predictions(scores[::-1], random=True), np.zeros(len(frame), dtype=np.intp)
    return Subset(name, None, frame, target, Predictions(scores), random, blocks)


def corpus(name, speakers, seed=0):
    """Give every pair of speakers, and every speaker with herself twice, a score."""
    numbers = range(len(speakers))
    pairs = [(one, two) for one in numbers for two in numbers if one <= two] + [(n, n) for n in numbers]
    rng = np.random.default_rng(seed)
    return scored(name, pairs, lambda n: speakers[n], lambda target: rng.normal(size=len(target)) + target)


def speakers_of(subset):
    return set(subset.segments[["enrol_speaker", "test_speaker"]].to_numpy().ravel())


def test_halves_share_no_speaker_and_all_that_is_left_out_is_counted():
    subset = corpus("here", [f"s{n}" for n in range(9)])
    halves = split(subset)
    one, other = speakers_of(halves.fitting), speakers_of(halves.tested)
    assert (len(one), len(other), one & other) == (4, 5, set())
    assert len(subset) - len(halves.fitting) - len(halves.tested) == 4 * 5
    assert "20 trials between them" in halves.about
    assert f"fitted on 4 speakers ({len(halves.fitting)} trials)" in halves.about
    turned = dataclasses.replace(subset, segments=subset.segments[::-1].reset_index(drop=True))
    assert speakers_of(split(turned).fitting) == one != speakers_of(split(subset, seed=1).fitting)


def test_another_corpus_fits_without_the_speakers_that_both_have():
    first, other = corpus("here", list("abcd")), corpus("there", list("cdefg"), seed=1)
    halves = split(first, other, calibration="there")
    assert len(halves.tested) == len(first) and speakers_of(halves.fitting) == set("efg")
    assert "speakers in both corpora: 2" in halves.about
    assert f"the {len(other) - len(halves.fitting)} trials of there with them are left out" in halves.about
    evaluation = SimpleNamespace(cost={"p_target": 0.05, "c_miss": 1.0, "c_false_alarm": 1.0})
    for side in ("predictions", "reference"):
        carried = trial_conditions.carry_over(evaluation, halves, getattr(halves.tested, side))
        scores = getattr(halves.fitting, side).clean
        assert carried.calibration == fit_calibration(scores, halves.fitting.truth)
    # A corpus that is named itself has halves.
    assert speakers_of(split(other, calibration="there").fitting) < set("cdefg")


def test_what_cannot_be_fitted_says_why():
    for names, calibration, reason in (
        ("ab", trial_conditions.HALF, "fewer than 2 trials of each kind with a score to fit on"),
        ("abcd", "gone", "no trials of the corpus 'gone', which the option calibration names"),
    ):
        assert split(corpus("here", list(names)), calibration=calibration).reason.startswith(reason)


SPEAKERS, EACH = 4, 4
COUNT = SPEAKERS * EACH


def all_pairs(score: float = 0.0) -> Subset:
    """Give all pairs of recordings of a few speakers; recording ``n`` is of speaker ``n // EACH``."""
    pairs = itertools.combinations(range(COUNT), 2)
    return scored("here", pairs, lambda n: f"s{n // EACH}", lambda target: np.full(len(target), score))


def enrolling(missing=(), scores=False, **options):
    """Enrol with more recordings, some without an embedding: trials, note, and the vectors."""
    rng, subset = np.random.default_rng(0), all_pairs()
    centres = np.repeat(rng.normal(size=(SPEAKERS, 5)), EACH, axis=0)
    vectors = centres + rng.normal(size=(COUNT, 5))
    vector_of = {f"r{n}": None if n in missing else vector for n, vector in enumerate(vectors)}
    members = np.arange(COUNT - 1)
    view = SimpleNamespace(segments=pd.DataFrame({"key": list(vector_of)}), predictions=embedded(vector_of))
    view.trials = TrialTable(subset.segments, members, members, "list")
    if scores:
        view.predictions["score"] = 0.0
    evaluation = SimpleNamespace(seed=0, family=SimpleNamespace(options=options), view=lambda _: view)
    return *trial_conditions.enrolled_with(evaluation, subset), vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )


def test_one_recording_is_the_trial_itself_and_the_tested_one_is_never_enrolled():
    trials, note, vectors = enrolling(enrolled=[1, 3, 4, 50])
    subset = all_pairs()
    assert list(trials) == [1, 3]  # nobody has 50, and no target has 4 beside the tested one
    assert note.startswith(f"here: {len(subset)} trials, of {len(subset)} that were drawn")
    rows = subset.segments
    alone = (vectors[rows["enrolled"]] * vectors[rows["segment"]]).sum(axis=1)
    np.testing.assert_allclose(trials[1].scores, alone, atol=1e-6)
    for place in np.flatnonzero(subset.truth):
        tested, first = rows["segment"][place], rows["enrolled"][place] // EACH * EACH
        mean = np.mean([vectors[n] for n in range(first, first + EACH) if n != tested], axis=0)
        expected = mean @ vectors[tested] / np.linalg.norm(mean)
        assert trials[3].scores[place] == pytest.approx(expected, abs=1e-6)
    assert len(trials[3]) == len(subset) and trials[3].target.sum() == subset.truth.sum()
    # Some of many trials are drawn, whatever the order of the numbers.
    (trials, note, _), (again, *_) = (enrolling(enrolled=n, enrolled_trials=40) for n in ([1, 2], [2, 1]))
    assert len(trials[1]) == 40 and "of 40 that were drawn" in note
    np.testing.assert_array_equal(trials[2].scores, again[2].scores)


def test_who_has_too_few_recordings_is_said():
    silent = [n for n in range(COUNT) if n % EACH > 1]
    assert 3 not in enrolling(silent, enrolled=[1, 2, 3])[0]
    for options, reason in (
        ({"enrolled": [50, 60]}, "too few recordings"),
        ({"scores": True}, "no embeddings"),
    ):
        trials, note, _ = enrolling(**{"enrolled": [1, 2]} | options)
        assert trials == {} and reason in note


def cutting(seconds, predicts_changes=True, audio=True, listed=(4, 2, 1, 0.5)):
    """Cut recordings, with a score under a length that is that length."""
    subset, names = all_pairs(9.0), [f"r{n}" for n in range(COUNT)]
    segments = pd.DataFrame({"key": names, "file": names, "duration": seconds})
    segments["speaker"] = [f"s{n // EACH}" for n in range(COUNT)]
    cuts = [SimpleNamespace(transform="central_part", identity=n, options={"seconds": n}) for n in listed]
    family = read_family("speaker_verification")
    family = dataclasses.replace(family, options={}, trials={"targets": 1}, transformations={})
    object.__setattr__(family, "sweeps", {"Duration": SimpleNamespace(steps=dict(enumerate(cuts)))})
    view = SimpleNamespace(name="here", segments=segments, blocks=("speaker",), audio=audio)
    view.trials = TrialTable(subset.segments, np.arange(COUNT - 1), np.arange(COUNT - 1), LISTED)
    view.scores = lambda identity, place: np.where(place == 0, np.nan, float(identity))
    run = SimpleNamespace(seed=0, family=family, predicts_changes=predicts_changes, view=lambda _: view)
    run.tasks = [SimpleNamespace(name="embedding", is_transcription=False)]
    return *trial_conditions.cut_to(run, subset), subset


def test_all_lengths_are_about_the_same_trials():
    seconds = np.full(COUNT, 3.0)
    seconds[5] = 1.5
    trials, note, subset = cutting(seconds)
    assert list(trials) == ["0.5 s", "1 s", "2 s", trial_conditions.WHOLE]
    count = int((subset.segments["segment"] != 5).sum())
    assert {len(cut) for cut in trials.values()} == {count}
    np.testing.assert_array_equal(trials["1 s"].scores, [0.0, *[1.0] * (count - 1)])  # no score: rejected
    assert (trials[trial_conditions.WHOLE].scores == 9.0).all()
    about = f"here: {count} trials, of {len(subset)} with one of {COUNT - 1} recordings that were cut"
    assert note.startswith(about) and "shorter than 2 s" in note


def test_what_cannot_be_cut_is_said():
    for more, reason in (
        ({"predicts_changes": False}, "cannot answer for changed signals"),
        ({"audio": False}, "no audio that could be cut"),
        ({"listed": (4, 8)}, "no length to which most tested recordings"),
    ):
        trials, note, _ = cutting(3.0, **more)
        assert trials == {} and reason in note
