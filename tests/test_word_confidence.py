"""What recognisers say of their words, through the command, against plain loops over what was written."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.metrics.alignment import align
from soundcheck.models.answers import read_words

pytestmark = pytest.mark.slow

WORDS = ("go", "left", "right", "stop", "door", "light")
MODEL = '''
import numpy as np

WORDS = ("go", "left", "right", "stop", "door", "light")


def heard(signal):
    """Each tenth of a second is a word: how often its sign changes names it, its level says how surely."""
    found = []
    for start in range(0, len(signal) - 1599, 1600):
        part = signal[start : start + 1600]
        changes = np.count_nonzero(np.diff(np.sign(part)))
        word = min(range(6), key=lambda number: abs(changes - 1600 / (2 + number)))
        found.append((WORDS[word], abs(part).mean()))
    return found


def answer(found):
    text = " ".join(word for word, _ in found).capitalize() + "."
    return {"transcript": text, "words": [{"word": w, "confidence": c, "start": 0.1} for w, c in found]}


def fair(signal, sampling_rate):
    return answer(heard(signal))


def bold(signal, sampling_rate):
    return answer([(word, 1 - (1 - sure) / 8) for word, sure in heard(signal)])


def whole(signal, sampling_rate):
    found = heard(signal)
    return {"transcript": answer(found)["transcript"], "confidence": np.prod([sure for _, sure in found])}


def apart(signal, sampling_rate):
    return answer(heard(signal)) | {"transcript": "stop"}


def silent(signal, sampling_rate):
    return {"transcript": "go", "words": ["go"]}
'''
NAMES = ("fair", "bold", "whole", "apart", "silent")
SUITE = """
title: Sure of words
studies: false
replicates: 200
interval: t
thresholds: gap
families: [asr_confidence]
corpora:
  tones: {format: csv, path: tones.csv}
models:
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder, rng = tmp_path_factory.mktemp("words"), np.random.default_rng(0)
    rows = ["file,speaker,sex,transcript"]
    for number in range(120):
        parts, said = [], []
        for _ in range(rng.integers(2, 6)):
            word, sure = rng.integers(6), rng.uniform(0.3, 0.98)
            parts.append(sure * np.where(np.arange(1600) // (2 + word) % 2, 1.0, -1.0) * 0.99996)
            if rng.random() < sure:
                said.append(WORDS[word])
            elif rng.random() < 0.7:  # else it is put in
                said.append(WORDS[(word + 1) % 6])
        said += ["go"] if rng.random() < 0.2 else []  # is left out
        soundfile.write(folder / f"{number}.wav", np.concatenate(parts), 16000, subtype="PCM_16")
        sex = "female" if number % 20 < 10 else "male"
        rows.append(f"{number}.wav,s{number % 20},{sex},{' '.join(said) or 'stop'}")
    (folder / "tones.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "sayers.py").write_text(MODEL)
    models = "".join(f'  {name}: {{python: "sayers:{name}", tasks: [transcript]}}\n' for name in NAMES)
    (folder / "suite.yml").write_text(SUITE + models)
    environment = {"cwd": folder, "SOUNDCHECK_CACHE": str(shared_cache)}
    done = command("run", "suite.yml", "--out", "out", **environment)
    assert done.returncode in (0, 3), done.stderr
    assert not json.loads((folder / "out" / "run.json").read_text(encoding="utf-8")).get("failures")
    table = pd.read_parquet(folder / "out" / "predictions" / "fair" / "tones.parquet")
    lines = [
        f"{key.partition('|')[0].removesuffix('.wav')} 1 {place / 10:g} 0.1 {word} {sure!r}"
        for key, text in zip(table["key"], table["transcript.words"], strict=True)
        for place, (word, sure) in enumerate(read_words(text))
    ]
    (folder / "words.ctm").write_text("\n".join(lines))
    given = "  table: {predictions: out/predictions/fair/tones.parquet, tasks: [transcript]}\n"
    ctm = "  ctm: {predictions: words.ctm, tasks: [transcript]}\n"
    few = table.assign(file=table["key"].str.partition("|")[0])[["file", "transcript", "transcript.words"]]
    few.loc[few.index % 3 > 0, "transcript.words"] = ""
    few.to_csv(folder / "few.csv", index=False)
    few = "  few: {predictions: few.csv, tasks: [transcript]}\n"
    (folder / "again.yml").write_text(SUITE + given + ctm + few)
    done = command("run", "again.yml", "--out", "again", "--no-book", **environment)
    assert done.returncode in (0, 3), done.stderr
    found = [
        pd.read_csv(folder / name / "results.csv", keep_default_na=False, na_values=[""])
        for name in ("out", "again")
    ]
    return folder, pd.concat(found)


def row(run, model, test, group=""):
    results = run[1]
    chosen = results["model"].eq(model) & results["test"].eq(test)
    return results[chosen & results["group"].fillna("").eq(group)].iloc[0]


def judged(run, model):
    """Give confidence, whether it is right, and the sex of the speaker of each word."""
    table = pd.read_parquet(run[0] / "out" / "predictions" / model / "tones.parquet").set_index("key")
    truth = pd.read_parquet(run[0] / "out" / "corpora" / "tones.parquet").set_index("key")
    found = []
    for key, segment in truth.iterrows():
        words = json.loads(table.loc[key, "transcript.words"])
        text = " ".join(word for word, _ in words)
        steps = [step for step in align(segment["transcript"], text) if step.hypothesis]
        for (_, sure), step in zip(words, steps, strict=True):
            found.append((sure, step.reference == step.hypothesis, segment["sex"]))
    return found


@pytest.mark.parametrize("model", ["fair", "bold"])
def test_values_are_those_of_loops(run, model):
    words = judged(run, model)
    right = sum(good for _, good, _ in words)
    share = right / len(words)
    assert 0.4 < share < 0.8
    whole = -right * math.log2(share) - (len(words) - right) * math.log2(1 - share)
    bits = sum(math.log2(sure if good else 1 - sure) for sure, good, _ in words)
    assert row(run, model, "Normalised Cross Entropy").value == pytest.approx((whole + bits) / whole)
    over = [sure - good for sure, good, _ in words]
    found = row(run, model, "Overconfidence")
    assert found.value == pytest.approx(np.mean(over))
    assert (found.segments, found.blocks) == (len(words), 20)
    women = [sure - good for sure, good, sex in words if sex == "female"]
    gap = row(run, model, "Overconfidence Difference", "sex: female")
    assert gap.value == pytest.approx(np.mean(women) - np.mean(over))


def test_who_knows_is_told_from_who_is_too_sure(run):
    assert row(run, "fair", "Normalised Cross Entropy").low > 0
    assert row(run, "bold", "Normalised Cross Entropy").evidence == "clear fail"
    assert row(run, "bold", "Expected Calibration Error").evidence == "clear fail"
    assert row(run, "fair", "Expected Calibration Error").value < 0.05
    # Both order words in the same way
    areas = [row(run, model, "Relative Area Under Risk").value for model in ("fair", "bold")]
    assert areas[0] == pytest.approx(areas[1], abs=1e-3)
    assert areas[0] < 0.9


def test_who_hears_nothing_is_calibrated_and_knows_nothing(run):
    for test, value in (
        ("Overconfidence", 0),
        ("Normalised Cross Entropy", 0),
        ("Relative Area Under Risk", 1),
    ):
        assert row(run, "fair", test).reference == pytest.approx(value, abs=1e-9)


def test_transcripts_are_right_if_no_word_is_wrong(run):
    table = pd.read_parquet(run[0] / "out" / "predictions" / "whole" / "tones.parquet").set_index("key")
    truth = pd.read_parquet(run[0] / "out" / "corpora" / "tones.parquet").set_index("key")
    said = table["transcript"].str.lower().str.rstrip(".").reindex(truth.index)
    over = (table["confidence"].reindex(truth.index) - (said == truth["transcript"])).mean()
    found = row(run, "whole", "Transcript Overconfidence")
    assert found.value == pytest.approx(over)
    assert found.segments == 120
    assert "says nothing of how sure its words" in row(run, "whole", "Overconfidence").skipped
    assert "nothing of how sure its transcripts" in row(run, "fair", "Transcript Overconfidence").skipped


def test_who_says_nothing_has_no_page_and_words_that_do_not_join_are_listed(run):
    folder, results = run
    assert {*results["model"]} == {"fair", "bold", "whole", "table", "ctm", "few"}
    left_out = (folder / "out" / "left_out.csv").read_text(encoding="utf-8")
    assert "words that do not join to the transcript" in left_out


def test_few_confidences_are_not_judged_as_if_they_were_all(run):
    table = pd.read_csv(run[0] / "few.csv", keep_default_na=False)
    words = table["transcript"].str.split().str.len()
    missing = words[table["transcript.words"] == ""].sum()
    for test in ("Expected Calibration Error", "Normalised Cross Entropy", "Relative Area Under Risk"):
        assert row(run, "few", test).skipped == f"no prediction for {missing} of {words.sum()} segments"


@pytest.mark.parametrize("model", ["table", "ctm"])
def test_tables_and_ctm_give_the_same(run, model):
    for test in ("Expected Calibration Error", "Normalised Cross Entropy", "Overconfidence"):
        assert row(run, model, test).value == row(run, "fair", test).value


def test_the_page_shows_it(run):
    page = (run[0] / "out" / "html" / "results" / "bold" / "asr_confidence.html").read_text("utf-8")
    for told in (
        "Reliability diagram",
        "normalised cross entropy",
        "% confident of",
        "Mean confidence minus share of right words",
    ):
        assert told in page
