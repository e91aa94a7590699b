"""The demo models on recordings of people, where there are any."""

import shutil

import numpy as np
import pandas as pd
import pytest
from benchmarks import human_speech
from runs import Run, run, write

pytestmark = pytest.mark.slow

SUITE = """
replicates: 100
sweeps: false
studies: false
limits: {{segments_per_change: 18}}
corpora:
  people: {{format: csv, path: few.csv, root: {root}}}
models:
  prosody: {{python: "soundcheck_demo.models.prosody:predict", tasks: [arousal, emotion]}}
  digits: {{python: "soundcheck_demo.models.recogniser:digits", tasks: [transcript]}}
  voiceprint: {{python: "soundcheck_demo.models.voiceprint:predict", tasks: [embedding]}}
families: [robustness_spectral_tilt, robustness_recording_condition, asr_word_errors, speaker_verification]
"""


@pytest.fixture(scope="module")
def segments(speech):
    """Each digit once by each speaker."""
    table = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    return table.groupby(["speaker", "transcript"]).head(1)


@pytest.fixture(scope="module")
def whole(segments, speech, tmp_path_factory, undrawn, shared_cache) -> Run:
    files = {"few.csv": segments, "suite.yml": SUITE.format(root=speech)}
    folder = write(tmp_path_factory.mktemp("people"), files)
    return run(undrawn, folder, "--no-book", SOUNDCHECK_CACHE=str(shared_cache))


def test_robustness_without_labels(whole):
    rows = whole.rows(model="prosody", family="robustness_spectral_tilt")
    unchanged = rows["test"].str.startswith("Percentage Unchanged")
    assert rows[unchanged]["passed"].notna().all() and unchanged.any()
    assert rows[unchanged]["blocks"].isin([5, 6]).all()  # whom the segments that are changed come from
    assert rows[~unchanged]["skipped"].str.contains("no segment has a label").all()
    reasons = whole.reasons(model="prosody", family="robustness_recording_condition")
    assert all("the corpus has no column item" in reason for reason in reasons)


def test_digits_are_recognised(whole, segments):
    rate = whole.row("Word Error Rate", model="digits")
    assert 0.1 < rate["value"] < 0.5 < 0.7 < rate["reference"]  # guessing is wrong nine times of ten
    assert (rate["segments"], rate["blocks"]) == (60, 6)
    accents = whole.rows(test="Word Error Rate Difference")["group"]
    assert accents.str.startswith("accent: ").sum() == segments["accent"].nunique()


def test_speakers_are_verified(whole, segments):
    rate, cost = (
        whole.row(name, model="voiceprint") for name in ("Equal Error Rate", "Minimum Detection Cost")
    )
    # Trained on synthetic voices, it knows a little more than nothing about people.
    assert 0.05 < rate["value"] < 0.48 and rate["low"] < rate["value"] < rate["high"]
    assert rate["blocks"] == cost["blocks"] == segments["speaker"].nunique() and 0 < cost["value"] <= 0.05


def test_measured_columns_are_plausible(segments, speech, tmp_path):
    for file in segments["file"]:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copyfile(speech / file, tmp_path / file)
    table = write(tmp_path, {"segments.csv": segments}) / "segments.csv"
    measured = human_speech.measured_corpus(table).segments
    assert len(measured) == 60 and measured["bandwidth"].between(3300, 4000).all()  # recorded at 8 kHz
    assert measured["clipping"].max() < 0.001 and measured["level"].between(-55, -10).all()
    assert measured["signal_to_noise"].between(0, 70).all()
    assert measured["pitch"].groupby(measured["speaker"]).median().between(85, 180).all()  # men
    # Each digit has one syllable or two, whose names begin with z or end in seven.
    syllables = np.where(measured["transcript"].isin(["zero", "seven"]), 2, 1)
    counted = (measured["speaking_rate"] * measured["duration"]).round().fillna(0)
    assert (np.abs(counted - syllables) <= 1).mean() > 0.95 and (counted == syllables).mean() > 0.75
