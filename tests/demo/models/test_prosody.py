"""The demo model: trains once, answers for every signal, learns something and not everything."""

import subprocess
import sys

import audiofile
import numpy as np
import pandas as pd
import pytest

from soundcheck.common import store
from soundcheck.common.tasks import BUILTIN, EMOTION
from soundcheck.models.answers import check_output
from soundcheck_demo.models import biased, features, prosody
from soundcheck_demo.models.training import place
from soundcheck_demo.speech import corpus

pytestmark = pytest.mark.slow

DIMENSIONS = ("arousal", "dominance", "valence")
TASKS = [BUILTIN[name] for name in (*DIMENSIONS, "emotion")]


@pytest.fixture(scope="session")
def trained(shared_cache):
    prosody.TRAINING.train(shared_cache, size="small", jobs=2)
    return shared_cache


@pytest.fixture
def cache(trained, monkeypatch):
    """Let the model find what is trained."""
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(trained))
    monkeypatch.setenv("SOUNDCHECK_DEMO_SIZE", "small")
    return trained


def segments(folder, split="test"):
    table = pd.read_csv(folder / "segments.csv", keep_default_na=False)
    table = table[table["split"] == split].reset_index(drop=True)
    return table, [audiofile.read(folder / name)[0] for name in table["file"]]


def concordance(truth, prediction):
    covariance = np.mean((truth - truth.mean()) * (prediction - prediction.mean()))
    return 2 * covariance / (truth.var() + prediction.var() + (truth.mean() - prediction.mean()) ** 2)


def recall(truth, prediction):
    return np.mean([(prediction[truth == name] == name).mean() for name in EMOTION])


def check_answer(answer):
    assert list(answer) == [*DIMENSIONS, "emotion"]
    plain, problem = check_output(answer, TASKS)
    assert not problem
    for name in DIMENSIONS:
        assert 0 <= plain[name] <= 1
        assert plain[f"{name}.low"] < plain[name] < plain[f"{name}.high"]
    assert {*answer["emotion"]} == {*EMOTION}


def test_the_likeliest_emotion_is_the_answer(cache):
    _, signals = segments(corpus.build(cache, size="small"))
    for signal in signals[:20]:
        measured = features.extract(signal, 16000)
        for model, answer in (
            (prosody, prosody.predict(signal, 16000)),
            (biased, biased.predict(signal, 16000)),
        ):
            assert check_output(answer, TASKS)[0]["emotion"] == model.answer(measured)["emotion"]


@pytest.mark.parametrize("level", [0.0, 1e-5, 0.1, 10.0])
def test_answers_for_any_signal(cache, rng, level):
    for samples in (0, 1, 10, 399, 641, 16000):
        signal = (level * rng.standard_normal(samples)).astype(np.float32)
        signal.flags.writeable = False
        check_answer(prosody.predict(signal, 16000))


def test_learns_something(cache):
    table, signals = segments(corpus.build(cache, size="small"))
    answers = pd.DataFrame([prosody.answer(features.extract(signal, 16000)) for signal in signals])
    assert concordance(table["arousal"], answers["arousal"]) > 0.5
    assert concordance(table["valence"], answers["valence"]) > 0.2
    assert recall(table["emotion"], answers["emotion"]) > 0.4


def test_finds_what_is_trained(cache, monkeypatch):
    monkeypatch.setattr(prosody, "fit", lambda *_: pytest.fail("trained again"))
    prosody.prepare(jobs=2)
    check_answer(prosody.predict(np.zeros(100), 16000))


def test_training_is_reproducible(trained):
    folder = corpus.build(trained, size="small")
    stored = store.read(prosody.TRAINING.file(trained, "small"))
    assert prosody.TRAINING.fit(folder, 1, False) == stored


def test_fingerprint_follows_the_parameters(cache, monkeypatch):
    before = prosody.fingerprint()
    assert before == prosody.fingerprint()
    monkeypatch.setattr("soundcheck.common.store.find", lambda *_: {"segments": 1})
    assert prosody.fingerprint() != before


def test_parameters_are_plain_numbers(trained):
    kept = store.read(prosody.TRAINING.file(trained, "small"))
    assert kept["segments"] == 96
    assert tuple(kept["classes"]) == EMOTION and len(kept["spreads"]) == len(DIMENSIONS)
    assert np.isfinite(kept["mean"]).all()


def test_cache_defaults_to_build_below_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SOUNDCHECK_CACHE", raising=False)
    monkeypatch.delenv("SOUNDCHECK_DEMO_SIZE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert place() == (tmp_path / "build" / "cache", "full")


def test_predicting_needs_no_scikit_learn(cache):
    code = (
        "import sys, numpy; from soundcheck_demo.models import prosody;"
        "prosody.predict(numpy.zeros(9), 16000); print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
