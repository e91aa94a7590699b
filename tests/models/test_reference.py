from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from soundcheck.common import seeds
from soundcheck.common.precision import seven_digits
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models.reference import RandomModel, reference_predictions
from soundcheck.suite.entries import ModelEntry, Suite

AROUSAL, EMOTION = BUILTIN["arousal"], BUILTIN["emotion"]
KEYS = [f"demo|{n}.wav||" for n in range(200_000)]


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return reference_predictions(AROUSAL, 0, KEYS)


@pytest.fixture(scope="module")
def changed() -> np.ndarray:
    return reference_predictions(AROUSAL, 0, KEYS, "noise")


def test_equals_the_quantile_function_of_scipy():
    uniform = seeds.uniform(3, "reference", "arousal", "noise", keys=KEYS[:1000])
    quantiles = scipy.stats.truncnorm.ppf(uniform, -3, 3, loc=0.5, scale=1 / 6)
    drawn = reference_predictions(AROUSAL, 3, KEYS[:1000], "noise")
    np.testing.assert_array_equal(drawn, seven_digits(quantiles))
    np.testing.assert_allclose(drawn, quantiles, rtol=0, atol=1e-7)


# Golden expectations; the tolerance is about four standard errors of 200,000 draws.
def test_distribution(draws):
    assert draws.dtype == np.float64
    assert 0 < draws.min() < draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.0015)
    assert draws.std() == pytest.approx(0.16443, abs=0.001)


def test_shares_after_rounding_to_two_decimals(draws):
    rounded = np.round(draws, 2)  # as in the reference implementation from which the expectations come
    assert (rounded >= 0.55).mean() == pytest.approx(0.393, abs=0.0045)
    assert (rounded <= 0.45).mean() == pytest.approx(0.393, abs=0.0045)
    assert ((rounded >= 0.3) & (rounded <= 0.6)).mean() == pytest.approx(0.628, abs=0.0045)
    assert ((rounded >= 0.3) & (rounded <= 0.7)).mean() == pytest.approx(0.783, abs=0.004)


def test_clean_and_changed_are_independent(draws, changed):
    assert (np.abs(draws - changed) < 0.05).mean() == pytest.approx(0.169, abs=0.0035)
    assert np.abs(draws - changed).mean() == pytest.approx(0.186, abs=0.0015)
    assert np.corrcoef(draws, changed)[0, 1] == pytest.approx(0, abs=0.01)


def test_tasks_and_seeds_are_independent(draws):
    for other in (
        reference_predictions(BUILTIN["valence"], 0, KEYS),
        reference_predictions(AROUSAL, 1, KEYS),
    ):
        assert np.corrcoef(draws, other)[0, 1] == pytest.approx(0, abs=0.01)


def test_classes_are_uniform_and_a_quarter_stays():
    clean, changed = (reference_predictions(EMOTION, 0, KEYS, change) for change in ("", "noise"))
    assert clean.dtype == object
    counts = pd.Series(clean).value_counts(normalize=True)
    assert set(counts.index) == set(EMOTION.classes)
    assert counts.to_numpy() == pytest.approx(0.25, abs=0.004)
    assert (clean == changed).mean() == pytest.approx(0.25, abs=0.004)


def test_other_segments_do_not_matter():
    some = reference_predictions(AROUSAL, 0, KEYS[500:510][::-1])
    assert np.array_equal(some[::-1], reference_predictions(AROUSAL, 0, KEYS[:1000])[500:510])
    assert reference_predictions(AROUSAL, 0, []).shape == (0,)
    assert reference_predictions(EMOTION, 0, []).shape == (0,)


def suite(tasks: dict) -> Suite:
    return Suite("t", 5, 100, "percentile", (), {}, {}, tasks, Path("/"), Path("/suite.yml"))


def corpus(name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, segments=pd.DataFrame({"key": ["a.wav||", "b.wav||"]}))


def test_random_model_draws_the_reference_in_the_nominal_range():
    age = Task("age", "regression", (), 20, 80)
    model = RandomModel.load(ModelEntry("r", "random", "gaussian", ("age",)), suite({"age": age}))
    answers, problems = model.look_up(corpus("demo"), "noise")
    keys = ["demo|a.wav||", "demo|b.wav||"]
    assert problems == ["", ""]
    np.testing.assert_allclose(age.scale(answers["age"]), reference_predictions(age, 5, keys, "noise"))
    other, _ = model.look_up(corpus("other"), "noise")
    assert not np.array_equal(other["age"], answers["age"])


def test_random_model_of_classes():
    model = RandomModel.load(ModelEntry("r", "random", "categorical", ("emotion",)), suite(BUILTIN))
    answers, _ = model.look_up(corpus("demo"), "")
    assert set(answers["emotion"]) <= set(EMOTION.classes)


@pytest.mark.parametrize(
    ("target", "tasks", "words"),
    [
        ("gausian", (), "unknown random model 'gausian'. Did you mean 'gaussian'"),
        ("gaussian", ("emotion",), "random: gaussian does not predict 'emotion'"),
        ("categorical", ("arousal",), "random: categorical does not predict 'arousal'"),
    ],
)
def test_what_does_not_fit_is_refused(target, tasks, words):
    problems = [RandomModel.check_target(target, Path("suite.yml"))[1:]]
    problems += RandomModel.check_tasks(target, [BUILTIN[name] for name in tasks])
    assert words in " ".join(f"{what}. {remedy}" for what, remedy in problems if what)


def test_random_model_does_not_listen():
    model = RandomModel.load(ModelEntry("r", "random", "gaussian", ("arousal",)), suite(BUILTIN))
    assert not model.needs_audio
    with pytest.raises(TypeError, match="segments, not for signals"):
        model.predict([np.zeros(3, np.float32)], 16000)


def test_transcripts_are_drawn_from_the_corpus():
    task, texts = BUILTIN["transcript"], ["go left", None, "stop", ""]
    keys = [f"c|{n}" for n in range(3000)]
    found = reference_predictions(task, 0, keys, "", texts)
    shares = [np.mean(found == text) for text in ("go left", "stop", "")]
    assert np.allclose(shares, 1 / 3, atol=0.03)
    assert (found != reference_predictions(task, 0, keys, "noise", texts)).any()
    assert set(reference_predictions(task, 0, keys)) == {None}
