"""The demo model on recordings of people, where there are any."""

import shutil
import types

import numpy as np
import pandas as pd
import pytest
from benchmarks import human_recognition, human_speech

from soundcheck.results.table import read_results
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FAMILIES = (
    "background_noise",
    "low_quality_phone",
    "simulated_recording_condition",
    "small_changes",
    "spectral_tilt",
)
SUITE = """
replicates: 200
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  prosody: {{python: "soundcheck_demo.models.prosody:predict", tasks: [arousal, emotion]}}
families: [{families}, robustness_recording_condition]
sweeps: false
studies: false
"""


def test_robustness_without_labels(speech, tmp_path, undrawn, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby("speaker").head(2).to_csv(tmp_path / "segments.csv", index=False)
    families = ", ".join(f"robustness_{name}" for name in FAMILIES)
    (tmp_path / "suite.yml").write_text(SUITE.format(root=speech, families=families))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = undrawn("run", "suite.yml", "--no-book", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = read_results(tmp_path / "build" / "results.csv")
    conditions = frame["family"] == "robustness_recording_condition"
    assert frame[conditions]["skipped"].str.contains("the corpus has no column item").all()
    unchanged = frame[frame["test"].str.startswith("Percentage Unchanged") & ~conditions]
    assert set(unchanged["family"].str.removeprefix("robustness_")) == set(FAMILIES)
    assert unchanged["passed"].notna().all()
    assert unchanged["blocks"].eq(segments["speaker"].nunique()).all()
    change = frame[frame["test"].str.startswith("Change")]
    assert change["skipped"].str.contains("no segment has a label").all()


DIGITS = """
replicates: 200
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  digits: {{python: "soundcheck_demo.models.recogniser:digits", tasks: [transcript]}}
families: [asr_word_errors]
studies: false
"""


def test_digits_are_recognised(speech, tmp_path, undrawn, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby(["speaker", "transcript"]).head(3).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(DIGITS.format(root=speech))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = undrawn("run", "suite.yml", "--no-book", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = read_results(tmp_path / "build" / "results.csv")
    rate = frame[frame["test"] == "Word Error Rate"].iloc[0]
    assert (
        0.1 < rate["value"] < 0.5 and rate["reference"] > 0.7
    )  # guessing a digit is wrong nine times of ten
    assert rate["segments"] == 180 and rate["blocks"] == 6
    accents = frame[frame["group"].str.startswith("accent: ")]
    assert len(accents) == segments["accent"].nunique()


STRESS = (
    DIGITS.replace("[asr_word_errors]", "[asr_robustness, asr_hallucination]")
    + """
limits: {{segments_per_change: 18, levels: 2}}
"""
)


def test_digits_under_stress(speech, tmp_path, undrawn, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby(["speaker", "transcript"]).head(1).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(STRESS.format(root=speech))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = undrawn("run", "suite.yml", "--no-book", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = read_results(tmp_path / "build" / "results.csv")
    changes = frame[frame["test"] == "Word Error Rate Change"].set_index("label")
    mildest = [
        f"{name} {next(iter(series.steps))}"
        for name, series in read_family("asr_robustness").transformations.items()
    ]
    assert {"Noise 10", "Babble 20", "Faster Tempo 1.1", "Higher Pitch 1", "Tone 45"} <= set(mildest)
    assert sorted(changes.index) == sorted(mildest) and changes["value"].notna().all()
    assert changes["segments"].eq(18).all() and changes["blocks"].eq(6).all()
    assert changes.loc["Faster 1.1", "value"] > -0.2  # each word is an utterance: chance moves a rate a lot
    empty = frame[frame["test"] == "Share Of Empty Answers"].set_index("label")
    assert empty.loc["Silence", "value"] == 1


@pytest.fixture(scope="module")
def few(speech, tmp_path_factory):
    """Give a table of two recordings of each digit and speaker, in a folder of their own."""
    table = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    own = table.groupby(["speaker", "transcript"]).head(2)
    folder = tmp_path_factory.mktemp("few")
    for file in own["file"]:
        (folder / file).parent.mkdir(exist_ok=True)
        shutil.copyfile(speech / file, folder / file)
    own.to_csv(folder / "segments.csv", index=False)
    return folder / "segments.csv"


def test_noise_and_other_languages_harm_a_recogniser_of_digits(few, undrawn, monkeypatch, shared_cache):
    def run(words, *, cwd, **_):
        assert words[1:3] == ["-m", "soundcheck.cli"]
        return undrawn(*words[3:], cwd=cwd, SOUNDCHECK_CACHE=str(shared_cache))

    monkeypatch.setattr(human_recognition, "subprocess", types.SimpleNamespace(run=run))
    found = human_recognition.recognised(few, 24, [30, 10, -10])
    assert list(found) == human_recognition.COLUMNS and found["value"].notna().all()
    values = found.set_index(["measure", "sound"])["value"]
    assert 0.1 < values["Word Error Rate", "as it is"] < 0.5
    assert -10 < values["SNR where half is wrong", "Noise"] < 30
    words = values["Words Per Minute"]
    assert words["Silence"] == 0 and words["Other Language"] > 60


VOICES = """
replicates: 200
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  voiceprint: {{python: "soundcheck_demo.models.voiceprint:predict", tasks: [embedding]}}
families: [speaker_verification]
limits: {{segments_per_change: 60}}
studies: false
"""


def test_speakers_are_verified(speech, tmp_path, undrawn, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby(["speaker", "transcript"]).head(3).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(VOICES.format(root=speech))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = undrawn("run", "suite.yml", "--no-book", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = read_results(tmp_path / "build" / "results.csv").set_index("test")
    speakers = segments["speaker"].nunique()
    rate, cost = frame.loc["Equal Error Rate"], frame.loc["Minimum Detection Cost"]
    # Trained on synthetic voices, it knows a little more than nothing about people.
    assert 0.05 < rate["value"] < 0.48
    assert rate["low"] < rate["value"] < rate["high"]
    assert rate["blocks"] == cost["blocks"] == speakers
    assert 0 < cost["value"] <= 0.05
    assert len(list((tmp_path / "build" / "scores" / "voiceprint").glob("*.txt"))) == 1


@pytest.fixture(scope="module")
def measured(few):
    """Give two recordings of each digit and speaker, with all measured columns."""
    return human_speech.measured_corpus(few).segments


def test_measured_columns_are_plausible(measured):
    assert len(measured) == 120
    assert measured["bandwidth"].between(3300, 4000).all()  # recorded at 8 kHz
    assert measured["clipping"].max() < 0.001
    assert measured["level"].between(-55, -10).all()
    assert measured["signal_to_noise"].between(0, 70).all()
    assert measured["pitch"].groupby(measured["speaker"]).median().between(85, 180).all()  # men
    # Each digit has one syllable or two, whose names begin with z or end in seven.
    syllables = np.where(measured["transcript"].isin(["zero", "seven"]), 2, 1)
    counted = (measured["speaking_rate"] * measured["duration"]).round().fillna(0)
    assert (np.abs(counted - syllables) <= 1).mean() > 0.95
    assert (counted == syllables).mean() > 0.75


def test_speakers_differ_in_level_and_noise_more_than_their_recordings_do(measured):
    for name in ("level", "signal_to_noise"):
        by_speaker = measured.groupby("speaker")[name]
        assert by_speaker.median().max() - by_speaker.median().min() > 3 * by_speaker.std().median()


def test_six_speakers_cannot_show_anything(measured):
    found = human_speech.accents(measured)
    assert found["least_p"].eq(1 / 15).all()
    assert (found["p_value"] >= 1 / 15 - 1e-12).all()
    steps = found["p_value"] * 15
    np.testing.assert_allclose(steps, steps.round())
