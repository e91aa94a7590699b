"""How good models are, and that no constant answer is better than guessing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.metrics.additive import value
from soundcheck.metrics.regression import concordance_cc
from soundcheck.models.answers import pack
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Row, write_predictions
from soundcheck.results.states import HOLLOW, PROVEN, UNPROVEN
from soundcheck.run.key_figures import key_figures
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.suite.thresholds import read_family

CLASSES = BUILTIN["emotion"].classes
WORDS = ["go left", "go right", "stop here now", "turn the light on", "call me"]


@pytest.fixture
def measured(tmp_path):
    """Measure a model that gives some answers: ``measured("arousal", answers, speakers=30)``."""

    def measure(task, answers, labels, speakers=30, **changes):
        n = len(answers)
        segments = pd.DataFrame(
            {
                **{"file": [f"{i}.wav" for i in range(n)], "key": [f"k{i}" for i in range(n)]},
                "speaker": [f"s{i % speakers:03}" for i in range(n)],
                **({} if labels is None else {task: pd.Series(list(labels), dtype=object)}),
            }
        )
        if labels is not None and BUILTIN[task].is_regression:
            segments[task] = segments[task].astype(float)
        entry = CorpusEntry("talk", "csv", **changes)
        corpus = Corpus("talk", entry, tmp_path, segments, (), (), False, "")
        rows = [Row(f"k{i}", "", {} if a is None else {task: a}) for i, a in enumerate(answers)]
        path = tmp_path / "talk.parquet"
        write_predictions(path, rows, [BUILTIN[task]])
        models = {"m": ModelEntry("m", "python", "mine:predict", (task,))}
        suite = Suite(models=models, tasks=BUILTIN, replicates=200)
        return key_figures(suite, [], [corpus], {}, {"m": PredictionReport("m", tables={"talk": path})})

    return measure


def test_values(measured, rng):
    truth = rng.random(300)
    answers = np.clip(truth + rng.normal(0, 0.2, 300), 0, 1).astype(np.float32)
    (found,) = measured("arousal", answers.tolist(), truth)
    assert found.value == pytest.approx(value(concordance_cc(truth, answers)), abs=1e-6)
    assert found.low < found.value < found.high
    assert (found.measure, found.guessing, found.standing) == ("concordance", 0.0, PROVEN)
    assert (found.segments, found.blocks) == (300, 30)


def test_classes(measured, rng):
    truth = rng.choice(CLASSES, 300)
    answers = np.where(rng.random(300) < 0.5, truth, rng.choice(CLASSES, 300))
    (found,) = measured("emotion", answers.tolist(), truth)
    assert found.value == pytest.approx(balanced_accuracy_score(truth, answers))
    assert (found.guessing, found.standing) == (0.25, PROVEN)


def test_words(measured, rng):
    truth = rng.choice(WORDS, 200)
    answers = np.where(rng.random(200) < 0.4, truth, "go stop")
    (found,) = measured("transcript", answers.tolist(), truth)
    assert found.standing == PROVEN and found.value < found.guessing


@pytest.mark.parametrize("constant", [0.5, 0.0, 1.0])
def test_the_same_number_for_everything_is_hollow(measured, rng, constant):
    (found,) = measured("arousal", [constant] * 300, rng.random(300))
    assert found.standing == HOLLOW


@pytest.mark.parametrize("occurring", [2, 3, 4])
def test_the_same_class_for_everything_is_hollow(measured, rng, occurring):
    truth = rng.choice(CLASSES[:occurring], 300)
    (found,) = measured("emotion", [CLASSES[0]] * 300, truth)
    assert found.value == pytest.approx(1 / occurring) == found.guessing
    assert found.standing == HOLLOW


@pytest.mark.parametrize("constant", ["", "go", "turn the light on"])
def test_the_same_words_for_everything_are_hollow(measured, rng, constant):
    (found,) = measured("transcript", [constant] * 200, rng.choice(WORDS, 200))
    assert found.value == found.guessing and found.standing == HOLLOW


def test_likely_words_without_listening_are_hollow(measured, rng):
    (found,) = measured("transcript", rng.choice(WORDS, 200).tolist(), rng.choice(WORDS, 200))
    assert found.standing == HOLLOW


def test_random_numbers_of_few_speakers_are_unproven(measured, rng):
    (found,) = measured("arousal", rng.random(300).tolist(), rng.random(300), speakers=8)
    assert found.standing == UNPROVEN and found.low < 0 < found.high


def test_four_speakers_have_no_interval(measured, rng):
    truth = rng.random(80)
    (found,) = measured("arousal", truth.tolist(), truth, speakers=4)
    assert (found.value, found.low, found.standing) == (1.0, None, UNPROVEN)
    assert "4 blocks" in found.reason


def test_labels_of_one_class_have_no_number(measured):
    assert list(measured("emotion", ["anger"] * 300, ["anger"] * 300)) == []


def test_blocks_are_called_what_they_are(measured, rng):
    truth = rng.random(60)
    assert measured("arousal", truth.tolist(), truth)[0].block == "speaker"
    assert measured("arousal", truth.tolist(), truth, blocks=("speaker", "key"))[0].block == "block"
    (found,) = measured("arousal", truth.tolist(), truth, blocks=("conversation",))
    assert (found.block, found.blocks) == ("file", 60)


def test_without_labels_there_is_no_number(measured):
    assert measured("arousal", [0.5] * 20, None) == ()
    assert measured("arousal", [0.5] * 20, [np.nan] * 20) == ()


def test_probes_are_passed_over(measured):
    assert measured("transcript", ["go"] * 20, ["go"] * 20, probes_of="other") == ()


def test_a_model_that_never_answers_is_unproven(measured, rng):
    (found,) = measured("arousal", [None] * 60, rng.random(60))
    assert (found.value, found.standing) == (None, UNPROVEN)
    assert found.reason


def test_verification(tmp_path, rng):
    speakers = 24
    vectors = rng.normal(size=(speakers, 16))
    names = [f"s{i // 4:02}" for i in range(4 * speakers)]
    embeddings = np.repeat(vectors, 4, axis=0) + rng.normal(0, 0.8, (4 * speakers, 16))
    pairs = [(a, b) for a in range(4 * speakers) for b in range(a + 1, 4 * speakers)]
    pairs = [pairs[n] for n in rng.permutation(len(pairs))[:3000]]
    first = np.array([a for a, _ in pairs])
    used, enrolment = np.unique(first, return_inverse=True)
    frame = pd.DataFrame(
        {
            "key": [str(n) for n in range(len(pairs))],
            "enrol": [f"k{a}" for a, _ in pairs],
            "test": [f"k{b}" for _, b in pairs],
            "target": [names[a] == names[b] for a, b in pairs],
            "enrolment": enrolment,
            "segment": [b for _, b in pairs],
            "enrol_speaker": [names[a] for a, _ in pairs],
            "test_speaker": [names[b] for _, b in pairs],
        }
    )
    table = TrialTable(frame, used, np.arange(len(used)), "generated")
    keys = [f"k{i}" for i in range(4 * speakers)]
    segments = pd.DataFrame({"file": keys, "key": keys, "speaker": names})
    corpus = Corpus("talk", CorpusEntry("talk", "csv"), tmp_path, segments, (), (), False, "")
    family = read_family("speaker_verification")
    suite = Suite(
        models={"m": ModelEntry("m", "python", "mine:embed", ("embedding",))}, tasks=BUILTIN, replicates=100
    )

    def measure(vectors):
        path = tmp_path / "talk.parquet"
        rows = [
            Row(k, "", {"embedding": pack(v.astype(np.float32))}) for k, v in zip(keys, vectors, strict=True)
        ]
        write_predictions(path, rows, [BUILTIN["embedding"]])
        reports = {"m": PredictionReport("m", tables={"talk": path})}
        return key_figures(suite, [family], [corpus], {("talk", family.name): table}, reports)

    equal, acceptance, rejection = measure(embeddings)
    assert equal.standing == PROVEN and equal.value < 0.3
    assert equal.value == pytest.approx(acceptance.value, abs=0.02)
    assert equal.value == pytest.approx(rejection.value, abs=0.1)
    assert acceptance.threshold == rejection.threshold and acceptance.standing == ""
    (same, *_) = measure(np.ones_like(embeddings))
    assert same.value == 0.5 and same.standing == HOLLOW
    (random, *_) = measure(rng.normal(size=embeddings.shape))
    assert random.standing == HOLLOW
