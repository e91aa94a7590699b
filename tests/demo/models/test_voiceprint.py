"""Voiceprints: train once, embed every signal, tell voices apart, not perfectly."""

import os
import subprocess
import sys
import warnings

import audiofile
import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from soundcheck.common import store
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck_demo.models import cepstra, parameters, voiceprint, voiceprint_training
from soundcheck_demo.speech import corpus

SIZE = len(cepstra.NAMES)


@pytest.fixture(scope="module")
def trained(shared_cache):
    """A cache with the small corpus and its parameters, where the model finds them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOUNDCHECK_CACHE", str(shared_cache))
        patch.setenv("SOUNDCHECK_DEMO_SIZE", "small")
        voiceprint.prepare(jobs=2)
        yield shared_cache


def segments(folder):
    table = pd.read_csv(folder / "segments.csv", keep_default_na=False)
    table = table[table["split"] == "test"].reset_index(drop=True)
    return table, [audiofile.read(folder / name)[0] for name in table["file"]]


def error_rate(table, embeddings, chosen):
    """Equal error rate over all pairs that ``chosen(first, second)`` chooses."""
    first, second = np.triu_indices(len(table), 1)
    speaker = table["speaker"].to_numpy()
    wanted = chosen(first, second)
    first, second = first[wanted], second[wanted]
    scores = np.einsum("nk,nk->n", embeddings[first], embeddings[second])
    trials = Trials.of(scores, speaker[first] == speaker[second], speaker[first], speaker[second])
    return equal_error_rate(trials).point().value[0]


def embed(signals):
    return np.array([voiceprint.predict(signal, 16000)["embedding"] for signal in signals])


def check_answer(answer):
    assert list(answer) == ["embedding"]
    assert answer["embedding"].dtype == np.float32
    assert answer["embedding"].shape == (SIZE,)
    assert np.linalg.norm(answer["embedding"]) == pytest.approx(1, abs=1e-5)


AWKWARD = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "ten samples": np.linspace(-1, 1, 10),
    "silence": np.zeros(16000),
    "direct current": np.full(16000, 0.5),
    "impulse": np.eye(1, 16000, 5)[0],
    "square wave": np.resize(np.repeat([-1.0, 1.0], 50), 16000),
    "beyond full scale": np.resize([1e30, -1e30, 1e20], 5000),
    "not finite": np.resize([0.1, np.nan, np.inf, -np.inf], 4000),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("sampling_rate", [8000, 16000, 44100])
def test_awkward_signals(trained, name, sampling_rate):
    signal = AWKWARD[name].astype(np.float32)
    signal.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_answer(voiceprint.predict(signal, sampling_rate))


@hypothesis.given(st.integers(0, 4000), st.integers(0, 2**32 - 1), st.floats(-8, 2))
@hypothesis.settings(max_examples=15, deadline=None)
def test_any_noise(trained, samples, seed, magnitude):
    signal = 10**magnitude * np.random.default_rng(seed).standard_normal(samples)
    check_answer(voiceprint.predict(signal.astype(np.float32), 16000))


def test_the_very_mean_has_a_direction(trained, monkeypatch):
    mean = np.array(voiceprint_training.train(trained, size="small")["mean"])
    monkeypatch.setattr(cepstra, "extract", lambda *_: mean)
    check_answer(voiceprint.predict(np.zeros(10), 16000))


def test_tells_voices_apart(trained):
    """Chance is 0.5; the small corpus has trained with four voices only."""
    table, signals = segments(corpus.build(trained, size="small"))
    embeddings = embed(signals)
    sex = table["sex"].to_numpy()
    speaker = table["speaker"].to_numpy()
    assert 0.01 < error_rate(table, embeddings, lambda a, b: a < b) < 0.35
    across = error_rate(table, embeddings, lambda a, b: (speaker[a] == speaker[b]) | (sex[a] != sex[b]))
    within = error_rate(table, embeddings, lambda a, b: sex[a] == sex[b])
    assert across < within


def test_gain_changes_nothing_much(trained):
    _, signals = segments(corpus.build(trained, size="small"))
    for signal in signals[::16]:
        first, second = embed([signal, 0.25 * signal])
        assert first @ second > 0.99


def test_same_answer_again(trained):
    _, signals = segments(corpus.build(trained, size="small"))
    np.testing.assert_array_equal(embed([signals[3]]), embed([signals[3].copy()]))


def test_input_is_left_alone(trained, rng):
    signal = rng.standard_normal(8000).astype(np.float32)
    before = signal.copy()
    voiceprint.predict(signal, 16000)
    np.testing.assert_array_equal(signal, before)


def test_finds_what_is_trained(trained, monkeypatch):
    monkeypatch.setattr(voiceprint_training, "fit", lambda *_: pytest.fail("trained again"))
    voiceprint.prepare(jobs=2)
    voiceprint._parameters.cache_clear()
    check_answer(voiceprint.predict(np.zeros(100), 16000))


def test_training_is_reproducible(trained):
    folder = corpus.build(trained, size="small")
    table, measured = parameters.measure(folder, cepstra.extract)
    stored = store.read(voiceprint_training.parameter_file(trained, "small"))
    assert voiceprint_training.fit(measured, table["speaker"]) == stored


def test_parameters_are_plain_numbers(trained):
    parameters = voiceprint_training.train(trained, size="small")
    assert (parameters["speakers"], parameters["segments"]) == (4, 96)
    assert parameters["features"] == list(cepstra.NAMES)
    assert np.shape(parameters["mean"]) == (SIZE,)
    assert np.shape(parameters["map"]) == (SIZE, SIZE)
    assert np.isfinite(parameters["map"]).all()
    assert all(value == float(f"{value:.6g}") for value in parameters["mean"])


@pytest.fixture
def measured(rng):
    """Features of six speakers, correlated and of different scales."""
    speakers = np.repeat(list("abcdef"), 50)
    centres = np.repeat(rng.standard_normal((6, SIZE)), 50, axis=0)
    within = rng.standard_normal((300, SIZE)) @ rng.standard_normal((SIZE, SIZE))
    return (centres + within) * np.logspace(-2, 2, SIZE) + 7.0, speakers


def covariance_within(values, speakers):
    rest = values - pd.DataFrame(values).groupby(speakers).transform("mean").to_numpy()
    return rest.T @ rest / (len(values) - len(set(speakers)))


def mapped(parameters, values):
    return (values - np.array(parameters["mean"])) @ np.array(parameters["map"])


def test_covariance_within_speakers_becomes_the_identity(measured):
    values, speakers = measured
    found = mapped(voiceprint_training.fit(values, speakers, shrinkage=0.0), values)
    np.testing.assert_allclose(covariance_within(found, speakers), np.eye(SIZE), atol=0.01)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=0.01)


def test_full_shrinkage_only_standardises(measured):
    values, speakers = measured
    found = np.array(voiceprint_training.fit(values, speakers, shrinkage=1.0)["map"])
    standard = np.diag(1 / values.std(axis=0))
    np.testing.assert_allclose(found / found[0, 0], standard / standard[0, 0], rtol=1e-4, atol=1e-12)


def test_units_do_not_matter(measured):
    values, speakers = measured
    units = np.logspace(3, -3, SIZE)
    one = mapped(voiceprint_training.fit(values, speakers), values)
    two = mapped(voiceprint_training.fit(values * units, speakers), values * units)
    np.testing.assert_allclose(one, two, atol=0.01)


def test_constant_features_do_no_harm(measured):
    values, speakers = measured
    values[:, 4] = 3.0
    parameters = voiceprint_training.fit(values, speakers)
    assert np.isfinite(mapped(parameters, values)).all()


def test_names_and_order_of_speakers_do_not_matter(measured):
    values, speakers = measured
    order = np.random.default_rng(1).permutation(len(values))
    one = voiceprint_training.fit(values, speakers)
    two = voiceprint_training.fit(values[order], [f"speaker {name}" for name in speakers[order]])
    np.testing.assert_allclose(one["map"], two["map"], rtol=1e-3, atol=1e-4)


def test_fingerprint_follows_the_parameters(trained, monkeypatch):
    before = voiceprint.fingerprint()
    assert before == voiceprint.fingerprint()
    other = {**voiceprint_training.train(trained, size="small"), "segments": 1}
    monkeypatch.setattr(voiceprint_training, "train", lambda *_, **__: other)
    assert voiceprint.fingerprint() != before


def test_processes_that_start_at_once_train_once(trained, tmp_path):
    folder = corpus.build(trained, size="small")
    (tmp_path / folder.name).symlink_to(folder)
    code = "from soundcheck_demo.models import voiceprint; print(voiceprint.fingerprint())"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"SOUNDCHECK_CACHE": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    found = {process.communicate(timeout=120)[0].strip() for process in running}
    assert found == {voiceprint.fingerprint()}
    names = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")}
    assert names == {folder.name, voiceprint_training.parameter_file(tmp_path, "small").name}


@pytest.mark.slow
def test_full_model_is_good_but_not_perfect(full_cache, monkeypatch):
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(full_cache))
    monkeypatch.delenv("SOUNDCHECK_DEMO_SIZE", raising=False)
    table, signals = segments(corpus.build(full_cache, jobs=2))
    voiceprint.prepare()
    embeddings = embed(signals)
    sex, speaker = (table[name].to_numpy() for name in ("sex", "speaker"))
    within = error_rate(table, embeddings, lambda a, b: sex[a] == sex[b])
    across = error_rate(table, embeddings, lambda a, b: (speaker[a] == speaker[b]) | (sex[a] != sex[b]))
    assert 0.15 < within < 0.25
    assert 0.03 < across < 0.1


def test_tells_people_apart_a_little(trained, speech):
    """People are not what it was trained on, and 8 kHz is not what it expects."""
    table = pd.read_csv(speech / "segments.csv")
    chosen = table.groupby("speaker").head(20).reset_index(drop=True)
    signals = [audiofile.read(speech / name) for name in chosen["file"]]
    embeddings = np.array([voiceprint.predict(*signal)["embedding"] for signal in signals])
    assert error_rate(chosen, embeddings, lambda a, b: a < b) < 0.45
