"""The random reference: the distributions of its draws, and what they depend on."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from answer_files import files, suite_of

from soundcheck.common import seeds
from soundcheck.common.tasks import BUILTIN, Task, seven_digits
from soundcheck.models.reference import RandomModel, reference_predictions
from soundcheck.suite.entries import ModelEntry

AROUSAL, EMOTION = BUILTIN["arousal"], BUILTIN["emotion"]
KEYS = [f"demo|{n}.wav||" for n in range(200_000)]


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return reference_predictions(AROUSAL, 0, KEYS)


def test_equals_the_quantile_function_of_scipy():
    uniform = seeds.uniform(3, "reference", "arousal", "noise", keys=KEYS[:1000])
    quantiles = scipy.stats.truncnorm.ppf(uniform, -3, 3, loc=0.5, scale=1 / 6)
    drawn = reference_predictions(AROUSAL, 3, KEYS[:1000], "noise")
    np.testing.assert_array_equal(drawn, seven_digits(quantiles))
    np.testing.assert_allclose(drawn, quantiles, rtol=0, atol=1e-7)


# Golden expectations; the tolerance is about four standard errors of 200,000 draws.
def test_distribution_and_shares_after_rounding_to_two_decimals(draws):
    assert draws.mean() == pytest.approx(0.5, abs=0.0015)
    assert draws.std() == pytest.approx(0.16443, abs=0.001)
    rounded = np.round(draws, 2)  # as in the reference implementation from which the expectations come
    assert (rounded >= 0.55).mean() == pytest.approx(0.393, abs=0.0045)
    assert (rounded <= 0.45).mean() == pytest.approx(0.393, abs=0.0045)
    assert ((rounded >= 0.3) & (rounded <= 0.6)).mean() == pytest.approx(0.628, abs=0.0045)
    assert ((rounded >= 0.3) & (rounded <= 0.7)).mean() == pytest.approx(0.783, abs=0.004)


def test_changes_tasks_and_seeds_are_independent(draws):
    changed = reference_predictions(AROUSAL, 0, KEYS, "noise")
    assert (np.abs(draws - changed) < 0.05).mean() == pytest.approx(0.169, abs=0.0035)
    assert np.abs(draws - changed).mean() == pytest.approx(0.186, abs=0.0015)
    keys = KEYS[:100_000]
    others = [reference_predictions(BUILTIN["valence"], 0, keys), reference_predictions(AROUSAL, 1, keys)]
    for other in (changed, *others):
        assert np.corrcoef(draws[: len(other)], other)[0, 1] == pytest.approx(0, abs=0.013)


def test_classes_are_uniform_and_a_quarter_stays():
    clean, changed = (reference_predictions(EMOTION, 0, KEYS, change) for change in ("", "noise"))
    counts = pd.Series(clean).value_counts(normalize=True)
    assert clean.dtype == object and set(counts.index) == set(EMOTION.classes)
    assert counts.to_numpy() == pytest.approx(0.25, abs=0.004)
    assert (clean == changed).mean() == pytest.approx(0.25, abs=0.004)


def test_transcripts_are_drawn_from_the_corpus():
    task, texts = BUILTIN["transcript"], ["go left", None, "stop", ""]
    drawn_texts = reference_predictions(task, 0, KEYS[:3000], "", texts)
    shares = [np.mean(drawn_texts == text) for text in texts if text is not None]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)
    assert (drawn_texts != reference_predictions(task, 0, KEYS[:3000], "noise", texts)).any()
    assert set(reference_predictions(task, 0, KEYS[:9])) == {None}


def test_other_segments_do_not_matter(draws):
    assert np.array_equal(reference_predictions(AROUSAL, 0, KEYS[500:510][::-1])[::-1], draws[500:510])


def model(target: str, *tasks: str) -> RandomModel:
    return RandomModel.load(ModelEntry("r", "random", target, tasks), suite_of(Path("/")))


def test_random_model_draws_the_reference_in_the_nominal_range():
    where = files("a.wav", "b.wav")
    gaussian, age = model("gaussian", "age"), Task("age", "regression", (), 20, 80)
    values, problems = gaussian.look_up(where, "noise")
    drawn = reference_predictions(age, 0, [f"demo|{key}" for key in where.segments["key"]], "noise")
    assert problems == ["", ""]
    np.testing.assert_allclose(age.scale(values["age"]), drawn, atol=1.5e-7)
    other = gaussian.look_up(files("a.wav", "b.wav", name="x"), "noise")[0]
    assert not np.array_equal(other["age"], values["age"])
    assert set(model("categorical", "emotion").look_up(where, "")[0]["emotion"]) <= set(EMOTION.classes)
    assert not gaussian.needs_audio
    with pytest.raises(TypeError, match="segments, not for signals"):
        gaussian.predict([np.zeros(3, np.float32)], 16000)


def test_what_does_not_fit_is_refused():
    what, remedy = RandomModel.check_target("gausian", Path("suite.yml"))[1:]
    assert what == "unknown random model 'gausian'" and remedy.startswith("Did you mean 'gaussian'")
    ((what, _),) = RandomModel.check_tasks("gaussian", [EMOTION])
    assert "random: gaussian does not predict 'emotion'" in what
