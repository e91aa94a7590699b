"""The demo model on recordings of people, where there are any."""

import pandas as pd

from soundcheck import verdicts

SUITE = """
corpora:
  people: {{format: csv, path: segments.csv, root: {root}}}
models:
  prosody: {{python: "soundcheck.models.demo.prosody:predict", tasks: [arousal, emotion]}}
families: [robustness_spectral_tilt]
studies: false
"""


def test_robustness_without_labels(speech, tmp_path, command):
    segments = pd.read_csv(speech / "segments.csv", dtype=str, keep_default_na=False)
    segments.groupby("speaker").head(5).to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(SUITE.format(root=speech))
    done = command("run", "suite.yml", cwd=tmp_path, SOUNDCHECK_DEMO_SIZE="small")
    assert done.returncode == 0, done.stderr
    frame = verdicts.read_results(tmp_path / "build" / "results.csv")
    unchanged = frame[frame["test"].str.startswith("Percentage Unchanged")]
    assert unchanged["passed"].notna().all()
    assert unchanged["blocks"].eq(segments["speaker"].nunique()).all()
    change = frame[frame["test"].str.startswith("Change")]
    assert change["skipped"].str.contains("no segment has a label").all()
