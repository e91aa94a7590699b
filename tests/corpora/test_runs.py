"""Splits, channels, scales and words for classes from tables to results, in one run of the real command."""

import numpy as np
import pandas as pd
import pytest

EMOTIONS = np.array(["angry", "happy", "neutral", "sad"])
MAPPED = "values: {emotion: {angry: anger, happy: happiness, sad: sadness}}"
CHANNELS = {  # of a corpus with two, where they are a column and where files are named by them
    "stm": "a 0 s 0 0.25 turn left\na 1 t 0 0.25 turn right\n",
    "csv": "file,start,end,transcript\na-0.wav,0,0.25,turn left\na-1.wav,0,0.25,turn right\n",
}
SUITE = f"""
replicates: 100
corpora:
  scales: {{format: csv, path: scales.csv, audio: false, range: [5, 1], {MAPPED}}}
  splits: {{format: csv, path: splits.csv, audio: false}}
  channels: {{format: csv, path: channels.csv, audio: false}}
models:
  rater: {{predictions: answers.csv, tasks: [valence, emotion], range: [7, 1], {MAPPED}, corpora: [scales]}}
  learner: {{predictions: learnt.csv, tasks: [transcript], corpora: [splits]}}
  stm: {{predictions: c.stm, tasks: [transcript], corpora: [channels]}}
  csv: {{predictions: c.csv, tasks: [transcript], corpora: [channels]}}
families: [correctness_regression, correctness_classification, asr_word_errors]
"""


@pytest.mark.slow
def test_what_tables_say_gives_the_right_numbers(write, tmp_path, undrawn, rng):
    names = [f"{n}.wav" for n in range(80)]
    truth, emotion = rng.uniform(0, 1, 80), rng.integers(0, 4, 80)
    predicted = np.where(rng.uniform(size=80) < 0.7, emotion, rng.integers(0, 4, 80))
    near = np.clip(truth + rng.normal(0, 0.03, 80), 0, 1)
    valence = 7 - 6 * near
    rated = pd.DataFrame({"file": names, "speaker": [f"s{n % 6}" for n in range(80)]})
    split = rated.head(12).assign(transcript="turn left now please", split=["Train"] * 9 + ["Test"] * 3)
    write(
        {
            "scales.csv": rated.assign(valence=np.round(5 - 4 * truth, 3), emotion=EMOTIONS[emotion]),
            "answers.csv": rated.assign(
                **{"valence": valence, "valence.low": valence - 0.5, "valence.high": valence + 0.5},
                emotion=EMOTIONS[predicted],
            ),
            "splits.csv": split,
            "learnt.csv": split[["file"]].assign(  # all but the tests by heart
                transcript=split["transcript"].where(split["split"] != "Test", "oh oh oh please")
            ),
            "channels.csv": "file,start,end,speaker,channel,transcript\n"
            "a.wav,0,0.25,s0,0,turn left\na.wav,0,0.25,s1,1,turn right\n",
            **{f"c.{form}": text for form, text in CHANNELS.items()},
            "suite.yml": SUITE,
        }
    )
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    predictions = pd.read_parquet(tmp_path / "out" / "predictions" / "rater" / "scales.parquet")
    assert predictions["valence"].between(predictions["valence.low"], predictions["valence.high"]).all()
    assert np.sort(predictions["valence"]) == pytest.approx(np.sort(near), abs=2e-3)
    results = pd.read_csv(tmp_path / "out" / "results.csv")
    of_rater = results[results["model"] == "rater"].set_index("test")["value"]
    recalls = [np.mean(predicted[emotion == n] == n) for n in range(4)]
    assert of_rater["Unweighted Average Recall"] == pytest.approx(np.mean(recalls))
    assert of_rater["Concordance Correlation Coeff"] > 0.97
    errors = results[results["test"] == "Word Error Rate"].groupby("model")["value"].max()
    assert errors.to_dict() == {"learner": 0.75} | dict.fromkeys(CHANNELS, 0.0)
