"""The demo model on recordings of people, where there are any."""

import pandas as pd

from soundcheck import results

FAMILIES = (
    "background_noise",
    "low_quality_phone",
    "simulated_recording_condition",
    "small_changes",
    "spectral_tilt",
)
SUITE = """
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  prosody: {{python: "soundcheck_demo.models.prosody:predict", tasks: [arousal, emotion]}}
families: [{families}, robustness_recording_condition]
sweeps: false
studies: false
"""


def test_robustness_without_labels(speech, tmp_path, command, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby("speaker").head(5).to_csv(tmp_path / "segments.csv", index=False)
    families = ", ".join(f"robustness_{name}" for name in FAMILIES)
    (tmp_path / "suite.yml").write_text(SUITE.format(root=speech, families=families))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = command("run", "suite.yml", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = results.read_results(tmp_path / "build" / "results.csv")
    conditions = frame["family"] == "robustness_recording_condition"
    assert frame[conditions]["skipped"].str.contains("the corpus has no column item").all()
    unchanged = frame[frame["test"].str.startswith("Percentage Unchanged") & ~conditions]
    assert set(unchanged["family"].str.removeprefix("robustness_")) == set(FAMILIES)
    assert unchanged["passed"].notna().all()
    assert unchanged["blocks"].eq(segments["speaker"].nunique()).all()
    change = frame[frame["test"].str.startswith("Change")]
    assert change["skipped"].str.contains("no segment has a label").all()


DIGITS = """
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  digits: {{python: "soundcheck_demo.models.recogniser:digits", tasks: [transcript]}}
families: [asr_word_errors]
studies: false
"""


def test_digits_are_recognised(speech, tmp_path, command, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby(["speaker", "transcript"]).head(3).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(DIGITS.format(root=speech))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = command("run", "suite.yml", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = results.read_results(tmp_path / "build" / "results.csv")
    rate = frame[frame["test"] == "Word Error Rate"].iloc[0]
    assert (
        0.1 < rate["value"] < 0.5 and rate["reference"] > 0.7
    )  # guessing a digit is wrong nine times of ten
    assert rate["segments"] == 180 and rate["blocks"] == 6
    accents = frame[frame["group"].str.startswith("accent: ")]
    assert len(accents) == segments["accent"].nunique()


VOICES = """
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  voiceprint: {{python: "soundcheck_demo.models.voiceprint:predict", tasks: [embedding]}}
families: [speaker_verification]
studies: false
"""


def test_speakers_are_verified(speech, tmp_path, command, shared_cache):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby(["speaker", "transcript"]).head(3).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(VOICES.format(root=speech))
    settings = {"SOUNDCHECK_DEMO_SIZE": "small", "SOUNDCHECK_CACHE": str(shared_cache)}
    done = command("run", "suite.yml", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    frame = results.read_results(tmp_path / "build" / "results.csv").set_index("test")
    speakers = segments["speaker"].nunique()
    rate, cost = frame.loc["Equal Error Rate"], frame.loc["Minimum Detection Cost"]
    # Trained on synthetic voices, it knows a little more than nothing about people.
    assert 0.05 < rate["value"] < 0.48
    assert rate["low"] < rate["value"] < rate["high"]
    assert rate["blocks"] == cost["blocks"] == speakers
    assert 0 < cost["value"] <= 0.05
    assert len(list((tmp_path / "build" / "scores" / "voiceprint").glob("*.txt"))) == 1
