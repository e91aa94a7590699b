"""What models say of their own answers, through the command, against plain loops over what was written."""

import json

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from scipy.stats import foldnorm
from sklearn.metrics import brier_score_loss

from soundcheck.common import resources

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
MODEL = '''
import numpy as np

CLASSES = ("anger", "happiness", "neutral", "sadness")


def shares(signal, power):
    """Know the emotion by the loudness of four parts; know less where there is noise."""
    parts = np.square(signal[: len(signal) // 4 * 4]).reshape(4, -1).mean(axis=1) + 1e-6
    found = (parts / parts.sum()) ** power
    return found / found.sum()


def fair(signal, sampling_rate):
    found = shares(signal, 1)
    value = float(found[0])
    arousal = {"value": value, "low": value - 0.2, "high": value + 0.2}
    return {"emotion": dict(zip(CLASSES, found)), "arousal": arousal}


def bold(signal, sampling_rate):
    found = shares(signal, 8)
    arousal = {"value": 0.5, "low": 0.49, "high": 0.51}
    return {"emotion": dict(zip(CLASSES, found.tolist())), "arousal": arousal}


def sure(signal, sampling_rate):
    """A confidence without probabilities, and none at all for what is quiet."""
    found = shares(signal, 1)
    answer = {"emotion": CLASSES[int(found.argmax())], "arousal": 0.5}
    return answer | ({"confidence": found.max()} if np.abs(signal).max() > 0.3 else {})


def wrong(signal, sampling_rate):
    return {"emotion": {"anger": 0.5, "neutral": 0.4}, "arousal": 0.5}


def silent(signal, sampling_rate):
    return {"emotion": "anger", "arousal": 0.5}
'''
NAMES = ("fair", "bold", "sure", "wrong", "silent")
SUITE = """
title: Sure
studies: false
replicates: 200
interval: t
thresholds: gap
corpora:
  beeps: {format: csv, path: beeps.csv}
models:
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, undrawn, shared_cache):
    folder, rng = tmp_path_factory.mktemp("sure"), np.random.default_rng(0)
    rows = ["file,speaker,sex,emotion,arousal"]
    for number in range(160):
        loud = rng.dirichlet([1, 1, 1, 1])
        emotion = rng.choice(4, p=loud)
        noise = np.concatenate([np.sqrt(part) * rng.uniform(-1, 1, 800) for part in loud])
        soundfile.write(folder / f"{number}.wav", 0.9 * noise, 16000, subtype="PCM_16")
        sex = "female" if number % 20 < 10 else "male"
        arousal = float(np.clip(loud[0] + 0.15 * rng.standard_normal(), 0, 1))
        rows.append(f"{number}.wav,s{number % 20},{sex},{CLASSES[emotion]},{arousal:.3f}")
    (folder / "beeps.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "sayers.py").write_text(MODEL)
    own = yaml.safe_load(resources.find("thresholds/correctness_calibration.yml").read_text(encoding="utf-8"))
    noise = {"transform": "white_noise", "axis": "SNR in dB", "option": "snr_db", "values": [20, 0]}
    own["sweeps"] = {"Noise": noise}
    own["options"] |= {"bins": 5, "sweep_segments": 80}
    (folder / "thresholds").mkdir()
    (folder / "thresholds" / "correctness_calibration.yml").write_text(yaml.safe_dump(own, sort_keys=False))
    models = "".join(f'  {name}: {{python: "sayers:{name}", tasks: [emotion, arousal]}}\n' for name in NAMES)
    table = "  table: {predictions: out/predictions/fair/beeps.parquet, tasks: [emotion, arousal]}\n"
    models += "  random: {random: categorical}\n"
    families = "families: [correctness_calibration, correctness_classification]\n"
    (folder / "suite.yml").write_text(SUITE + models + families)
    environment = {"cwd": folder, "SOUNDCHECK_CACHE": str(shared_cache)}
    done = command("run", "suite.yml", "--out", "out", **environment)
    assert done.returncode in (0, 3), done.stderr
    assert not json.loads((folder / "out" / "run.json").read_text(encoding="utf-8")).get("failures")
    found = pd.read_csv(folder / "out" / "results.csv", keep_default_na=False, na_values=[""])
    given = pd.read_parquet(folder / "out" / "predictions" / "fair" / "beeps.parquet")
    given = given[given["change"] == ""].drop(columns=["change", "error", "drawn"])
    given["file"] = given.pop("key").str.partition("|")[0]
    given["arousal"] = 0.999  # beyond the intervals of most
    given["emotion"] = "anger"  # whatever is likeliest
    given.iloc[:100, given.columns.str.startswith("emotion.")] = np.nan
    given.to_csv(folder / "odd.csv", index=False)
    table += "  odd: {predictions: odd.csv, tasks: [emotion, arousal]}\n"
    (folder / "again.yml").write_text(SUITE + table + families)
    done = undrawn("run", "again.yml", "--out", "again", "--no-book", **environment)
    assert done.returncode in (0, 3), done.stderr
    again = pd.read_csv(folder / "again" / "results.csv", keep_default_na=False, na_values=[""])
    return folder, pd.concat([found, again])


def row(run, model, test, task="emotion", group=""):
    results = run[1]
    chosen = results["model"].eq(model) & results["test"].eq(test) & results["task"].eq(task)
    return results[chosen & results["group"].fillna("").eq(group)].iloc[0]


def written(run, model):
    table = pd.read_parquet(run[0] / "out" / "predictions" / model / "beeps.parquet")
    truth = pd.read_parquet(run[0] / "out" / "corpora" / "beeps.parquet").set_index("key")
    return table, truth


def area_on_a_grid(sure, correct):
    """Mean risk over all shares that are kept; errors rise evenly among equal confidences."""
    kept, wrong = [0.0], [0.0]
    for one in sorted({*sure}, reverse=True):
        kept.append(np.mean(sure >= one))
        wrong.append(np.mean((sure >= one) * (1 - correct)))
    shares = (np.arange(200_000) + 0.5) / 200_000
    return np.mean(np.interp(shares, kept, wrong) / shares)


@pytest.mark.parametrize("model", ["fair", "bold"])
def test_values_are_those_of_loops(run, model):
    table, truth = written(run, model)
    clean = table[table["change"] == ""].set_index("key").reindex(truth.index)
    given = clean[[f"emotion.{name}" for name in CLASSES]].to_numpy()
    true = np.array([[name == one for one in CLASSES] for name in truth["emotion"]], dtype=float)
    correct, sure = (clean["emotion"] == truth["emotion"]).astype(float), given.max(axis=1)
    assert row(run, model, "Overconfidence").value == pytest.approx(sure.mean() - correct.mean())
    brier = np.square(given - true).sum(axis=1).mean()
    assert brier == pytest.approx(
        sum(brier_score_loss(true[:, place], given[:, place]) for place in range(len(CLASSES)))
    )
    skill = 1 - brier / (1 - np.square(true.mean(axis=0)).sum())
    assert row(run, model, "Brier Skill").value == pytest.approx(skill)
    bins = np.array_split(sure.argsort(), 5)  # 160 segments, none as sure as another
    gaps = [(sure[rows] - correct.to_numpy()[rows]).sum() for rows in bins]
    blocks = truth["speaker"].to_numpy()
    chance = 0.0
    for rows, gap in zip(bins, gaps, strict=True):
        rest = pd.Series((sure - correct.to_numpy())[rows] - gap / 32).groupby(blocks[rows]).sum()
        error = np.sqrt(np.square(rest).sum() * 20 / 19)
        chance += foldnorm(abs(gap) / error, scale=error).mean() - abs(gap)
    found = row(run, model, "Expected Calibration Error").value
    assert found == pytest.approx((np.abs(gaps).sum() - chance) / 160)
    area = area_on_a_grid(sure, correct.to_numpy()) / (1 - correct.mean())
    assert row(run, model, "Relative Area Under Risk").value == pytest.approx(area, abs=1e-5)
    inside = (clean["arousal.low"] <= truth["arousal"]) & (truth["arousal"] <= clean["arousal.high"])
    found = row(run, model, "Interval Coverage Error", "arousal")
    assert found.value == pytest.approx(inside.mean() - 0.9, abs=1e-6)
    women = (truth["sex"] == "female").to_numpy()
    gap = row(run, model, "Overconfidence Difference", group="sex: female")
    over = sure - correct.to_numpy()
    assert gap.value == pytest.approx(over[women].mean() - over.mean())
    assert gap.gap == pytest.approx(over[women].mean() - over[~women].mean())
    assert (gap.segments, gap.blocks) == (80, 10)


def test_change_is_that_of_the_most_severe_noise_on_the_same_segments(run):
    table, truth = written(run, "fair")
    severe = [name for name in table["change"].unique() if name][-1]
    changed, clean = (table[table["change"] == name].set_index("key") for name in (severe, ""))
    means = []
    for own in (changed, clean.loc[changed.index]):
        sure = own[[f"emotion.{name}" for name in CLASSES]].to_numpy().max(axis=1)
        means.append(np.mean(sure - (own["emotion"] == truth.loc[own.index, "emotion"])))
    found = row(run, "fair", "Overconfidence Change")
    assert found.segments == len(changed) == 80
    assert found.value == pytest.approx(means[0] - means[1])


def test_a_calibrated_model_is_told_from_one_that_is_too_sure(run):
    fair, bold = (row(run, model, "Expected Calibration Error") for model in ("fair", "bold"))
    assert fair.value < 0.1 < bold.low
    assert bold.evidence == "clear fail"
    assert row(run, "fair", "Brier Skill").low > 0
    assert row(run, "bold", "Interval Coverage Error", "arousal").evidence == "clear fail"


def test_who_hears_nothing_is_calibrated_and_has_no_skill(run):
    for test, value in (("Expected Calibration Error", 0), ("Overconfidence", 0), ("Brier Skill", 0)):
        assert row(run, "fair", test).reference == pytest.approx(value, abs=1e-9)
    assert row(run, "fair", "Relative Area Under Risk").reference == pytest.approx(1)
    assert row(run, "fair", "Interval Skill", "arousal").reference == pytest.approx(0)


def test_a_confidence_alone_is_enough_but_for_probabilities(run):
    assert np.isfinite(row(run, "sure", "Overconfidence").value)
    assert "no probabilities" in row(run, "sure", "Brier Skill").skipped
    assert "says nothing" in row(run, "sure", "Interval Coverage Error", "arousal").skipped


def test_who_says_nothing_has_no_page_and_what_adds_up_to_less_is_listed(run):
    folder, results = run
    there = set(results.loc[results["family"] == "correctness_calibration", "model"])
    assert there == {"fair", "bold", "sure", "table", "odd"}
    table, _ = written(run, "silent")
    assert table.columns.tolist() == ["key", "change", "emotion", "arousal", "error", "drawn"]
    left_out = (folder / "out" / "left_out.csv").read_text(encoding="utf-8")
    assert "emotion is probabilities that add up to 0.9 instead of 1" in left_out


def test_answers_without_confidence_or_against_it_are_told(run):
    for test in ("Expected Calibration Error", "Overconfidence", "Relative Area Under Risk"):
        assert row(run, "odd", test).skipped == "no prediction for 100 of 160 segments"
    notebook = run[0] / "again" / "notebooks" / "odd" / "correctness_calibration.ipynb"
    told = notebook.read_text(encoding="utf-8")
    for what in (
        "answers come without how sure",
        "name another class than the likeliest",
        "lie outside their",
    ):
        assert what in told


def test_a_table_of_a_run_gives_the_same(run):
    for test in ("Expected Calibration Error", "Relative Area Under Risk", "Overconfidence Change"):
        assert row(run, "table", test).value == row(run, "fair", test).value


def test_the_page_shows_it(run):
    page = (run[0] / "out" / "html" / "results" / "bold" / "correctness_calibration.html").read_text("utf-8")
    groups = ("Groups and steps of changes", "Noise 0", "sex: female")
    for told in (
        *groups,
        "Reliability diagram",
        "calibration error as computed",
        "% confident of",
    ):
        assert told in page
