"""How good models are, and that no constant answer is better than guessing."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.load import Corpus
from soundcheck.corpora.trials.trial_design import generate
from soundcheck.metrics.additive import value
from soundcheck.metrics.regression import concordance_cc
from soundcheck.models.answers import pack
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Columns, answer_columns, write_predictions
from soundcheck.report.key_figures import against_chance
from soundcheck.results.states import HOLLOW, PROVEN, UNPROVEN
from soundcheck.run.key_figures import key_figures
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.suite.thresholds import read_family

CLASSES = BUILTIN["emotion"].classes
WORDS = ["go left", "go right", "stop here now", "turn the light on", "call me"]


@pytest.fixture
def measured(tmp_path):
    """Measure a model that gives some answers: ``measured("arousal", answers, labels, speakers=30)``."""

    def figures(task, answers, labels=None, speakers=30, families=(), lists=None, **entry):
        keys = [f"k{n}" for n in range(len(answers))]
        segments = pd.DataFrame({"file": keys, "key": keys})
        segments["speaker"] = [f"s{n % speakers:03}" for n in range(len(answers))]
        if labels is not None:
            segments[task] = pd.Series(list(labels), dtype=float if BUILTIN[task].is_regression else object)
        corpus = Corpus("talk", CorpusEntry("talk", "csv", **entry), tmp_path, segments, (), ())
        rows = [{} if answer is None else {task: answer} for answer in answers]
        given = answer_columns(rows, [BUILTIN[task]])
        empty = [""] * len(keys)
        write_predictions(tmp_path / "talk.parquet", Columns(keys, empty, empty, given), [BUILTIN[task]])
        models = {"m": ModelEntry("m", "python", "mine:predict", (task,))}
        suite = Suite(models=models, tasks=BUILTIN, replicates=200)
        reports = {"m": PredictionReport("m", tables={"talk": tmp_path / "talk.parquet"})}
        about = {"suite": suite, "families": families, "lists": lists or {}, "reports": reports}
        return key_figures(SimpleNamespace(**about, corpora=[corpus]))

    return figures


def test_values(measured, rng):
    truth = rng.random(300)
    answers = np.clip(truth + rng.normal(0, 0.2, 300), 0, 1).astype(np.float32)
    (figure,) = measured("arousal", answers.tolist(), truth)
    assert figure.value == pytest.approx(value(concordance_cc(truth, answers)), abs=1e-6)
    assert figure.low < figure.value < figure.high
    assert (figure.measure, figure.guessing, figure.standing) == ("concordance", 0.0, PROVEN)
    assert (figure.segments, figure.blocks, figure.block) == (300, 30, "speaker")
    (figure,) = measured("arousal", answers.tolist(), truth, blocks=("conversation",))
    assert (figure.block, figure.blocks) == ("file", 300)


def test_classes_and_words(measured, rng):
    truth = rng.choice(CLASSES, 300)
    answers = np.where(rng.random(300) < 0.5, truth, rng.choice(CLASSES, 300))
    (figure,) = measured("emotion", answers, truth)
    assert figure.value == pytest.approx(balanced_accuracy_score(truth, answers))
    assert (figure.guessing, figure.standing) == (0.25, PROVEN)
    truth = rng.choice(WORDS, 200)
    (figure,) = measured("transcript", np.where(rng.random(200) < 0.4, truth, "go stop"), truth)
    assert figure.standing == PROVEN and figure.value < figure.guessing


def test_the_same_answer_for_everything_and_answers_without_listening_are_hollow(measured, rng):
    for occurring in (2, 3, 4):
        (figure,) = measured("emotion", CLASSES[:1] * 300, rng.choice(CLASSES[:occurring], 300))
        assert figure.value == figure.guessing == pytest.approx(1 / occurring) and figure.standing == HOLLOW
    (figure,) = measured("arousal", [0.5] * 300, rng.random(300))
    assert figure.standing == HOLLOW
    for constant in ("", "turn the light on"):
        (figure,) = measured("transcript", [constant] * 200, rng.choice(WORDS, 200))
        assert figure.value == figure.guessing and figure.standing == HOLLOW
    (figure,) = measured("transcript", rng.choice(WORDS, 200), rng.choice(WORDS, 200))
    assert figure.standing == HOLLOW
    (figure,) = measured("arousal", rng.random(300).tolist(), rng.random(300), speakers=8)
    assert figure.standing == UNPROVEN and figure.low < 0 < figure.high


def test_what_has_no_interval_or_no_number(measured, rng):
    truth = rng.random(80)
    (figure,) = measured("arousal", truth.tolist(), truth, speakers=4)
    assert (figure.value, figure.low, figure.standing) == (1.0, None, UNPROVEN)
    assert "4 blocks" in figure.reason
    (figure,) = measured("arousal", [None] * 80, truth)  # it never answers
    assert (figure.value, figure.standing) == (None, UNPROVEN) and figure.reason
    assert measured("emotion", ["anger"] * 80, ["anger"] * 80) == ()  # labels of one class
    assert measured("arousal", [0.5] * 80) == measured("arousal", [0.5] * 80, [np.nan] * 80) == ()
    assert measured("transcript", ["go"] * 80, ["go"] * 80, probes_of="other") == ()


def test_where_nothing_varies_there_is_no_interval_and_chance_is_compared_all_the_same(measured, rng):
    (figure,) = measured("transcript", [""] * 60, rng.choice(WORDS, 60), speakers=6)
    assert (figure.value, figure.low, figure.reason) == (1.0, None, "interval withheld: nothing varies")
    truth = rng.choice(CLASSES, 300)
    wrong = [CLASSES[(CLASSES.index(name) + 1) % len(CLASSES)] for name in truth]
    for answers, recall, words in ((truth, 1.0, "better"), (wrong, 0.0, "worse")):
        (figure,) = measured("emotion", answers, truth, speakers=15)
        assert (figure.value, figure.high) == (recall, None) and "15 speakers at" in figure.reason
        assert against_chance(figure) == f"{words} than chance"


def test_verification(measured, rng):
    speakers, count = 24, 96
    family = read_family("speaker_verification")
    keys = [f"k{n}" for n in range(count)]
    segments = pd.DataFrame({"file": keys, "start": np.nan, "end": np.nan, "key": keys, "audio": keys})
    segments["speaker"] = [f"s{n % speakers:03}" for n in range(count)]
    lists = {("talk", family.name): generate(segments, 0, targets=144, same_sex=2000, cross_sex=0)}

    def figures(vectors):
        answers = [pack(vector.astype(np.float32)) for vector in vectors]
        return measured("embedding", answers, speakers=speakers, families=[family], lists=lists)

    voices = np.tile(rng.normal(size=(speakers, 16)), (4, 1)) + rng.normal(0, 0.8, (count, 16))
    equal, acceptance, rejection = figures(voices)
    assert equal.standing == PROVEN and equal.value < 0.3
    assert equal.value == pytest.approx(acceptance.value, abs=0.02)
    assert equal.value == pytest.approx(rejection.value, abs=0.1)
    assert acceptance.threshold == rejection.threshold and acceptance.standing == ""
    (same, *_) = figures(np.ones_like(voices))
    assert same.value == 0.5 and same.standing == HOLLOW
    (random, *_) = figures(rng.normal(size=voices.shape))
    assert random.standing == HOLLOW
