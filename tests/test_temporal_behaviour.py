"""Behaviour in time, through the command, against plain loops over what was predicted."""

import json

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FAMILY, RATE, EACH = "correctness_temporal_behaviour", 16000, 5
MODEL = '''
import numpy as np

CLASSES = ("anger", "happiness", "neutral", "sadness")


def loudness(signal, sampling_rate):
    """Value and class by the level; no answer for the very loudest."""
    level = float(np.sqrt(np.mean(np.square(signal, dtype=float))))
    value = min(1.0, 3 * level)
    if value > 0.97:
        return {"arousal": None, "emotion": None}
    return {"arousal": value, "emotion": CLASSES[int(3.99 * value)]}


def steady(signal, sampling_rate):
    return {"arousal": 0.5, "emotion": "neutral"}
'''
SUITE = """
title: Time
studies: false
replicates: 200
interval: t
thresholds: gap
corpora:
  files: {format: csv, path: files.csv}
  shuffled: {format: csv, path: shuffled.csv}
  single: {format: csv, path: single.csv}
models:
  loudness: {python: "models:loudness", tasks: [arousal, emotion]}
  steady: {python: "models:steady", tasks: [arousal, emotion]}
  table: {predictions: table.csv, tasks: [arousal]}
families: [correctness_temporal_behaviour]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder, rng = tmp_path_factory.mktemp("time"), np.random.default_rng(0)
    rows = []
    for number in range(14):
        each = EACH + number % 3 if number < 12 else 2  # the last two are too short to be followed
        values = rng.uniform(0.05, 1, each) if number % 2 else 0.3 + 0.02 * np.arange(each)
        gaps = rng.uniform(0, 0.3, each).round(2)
        sound, place = [], 0.0
        for value, gap in zip(values, gaps, strict=True):
            sound += [np.zeros(round(RATE * gap)), value / 3 * rng.standard_normal(RATE // 4).clip(-2.5, 2.5)]
            start, place = place + gap, place + gap + 0.25
            emotion = ("anger", "happiness", "neutral", "sadness")[int(3.99 * value)]
            rows.append([f"{number}.wav", f"{start:.2f}", f"{place:.2f}", f"s{number % 7}", value, emotion])
        soundfile.write(folder / f"{number}.wav", np.concatenate(sound), RATE, subtype="PCM_16")
    table = pd.DataFrame(rows, columns=["file", "start", "end", "speaker", "arousal", "emotion"])
    table.to_csv(folder / "files.csv", index=False)
    others = table["speaker"].where(~table.duplicated("file"), "t" + table["speaker"])  # answer the first one
    shuffled = table.assign(speaker=others).sample(frac=1, random_state=1)
    shuffled.to_csv(folder / "shuffled.csv", index=False)
    table.drop_duplicates("file").drop(columns=["start", "end"]).to_csv(folder / "single.csv", index=False)
    table[["file", "start", "end", "arousal"]].to_csv(folder / "table.csv", index=False)
    (folder / "models.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    done = command(
        "run", "suite.yml", "--out", "out", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode in (0, 3), done.stderr
    assert not json.loads((folder / "out" / "run.json").read_text(encoding="utf-8")).get("failures")
    return folder


@pytest.fixture(scope="module")
def results(run):
    return pd.read_csv(run / "out" / "results.csv", keep_default_na=False, na_values=[""])


def followed(run, model, task, series="", corpus="files"):
    """Give of each file truth, predictions, and predictions under a growing change, in the order of time."""
    segments = pd.read_parquet(run / "out" / "corpora" / f"{corpus}.parquet")
    rows = pd.read_parquet(run / "out" / "predictions" / model / f"{corpus}.parquet")
    steps = list(read_family(FAMILY).sweeps[series].steps.values()) if series else []
    known = {change: own.set_index("key")[task] for change, own in rows.groupby("change")}
    found = []
    for file in sorted(set(segments["file"])):
        own = segments[segments["file"] == file].sort_values("start")
        if len(own) < 4:
            continue
        changed = []
        for n, key in enumerate(own["key"]):
            step = round(n / (len(own) - 1) * len(steps))
            changed.append(known[steps[step - 1].identity if step else ""].get(key))
        values = [own[task].tolist(), [known[""].get(key) for key in own["key"]], changed]
        found.append([[None if pd.isna(one) else one for one in each] for each in values])
    return found


def change(values, wanted):
    """Mean change of neighbours that are all there, in any of the series that are wanted."""
    steps = []
    for n in range(1, len(values)):
        if all(None not in (series[n - 1], series[n]) for series in wanted):
            before, now = values[n - 1], values[n]
            steps.append(float(before != now) if isinstance(now, str) else abs(now - before))
    return np.mean(steps) if steps else None


def scores(files, largest):
    pairs = [(change(truth, (truth, own)), change(own, (truth, own))) for truth, own, _ in files]
    pairs = [pair for pair in pairs if pair[0] is not None]
    ordered = sorted(pairs, key=lambda pair: pair[0])
    quarter = len(pairs) // 4
    most = [(own / largest + 1) / (truth / largest + 1) for truth, own in ordered[-quarter:]]
    least = [(truth / largest + 1) / (own / largest + 1) for truth, own in ordered[:quarter]]
    return {
        "Mean Absolute Error": np.mean([abs(own - truth) for truth, own in pairs]),
        "Mean Directional Error": np.mean([own - truth for truth, own in pairs]),
        "Reactivity": 2 * (min(1, np.mean(most)) - 0.5),
        "Stability": 2 * (min(1, np.mean(least)) - 0.5),
    }


@pytest.mark.parametrize("model", ["loudness", "steady"])
@pytest.mark.parametrize("task, largest", [("arousal", 0.3), ("emotion", 1.0)])
def test_values_are_those_of_plain_loops(run, results, model, task, largest):
    own = results[results["model"].eq(model) & results["task"].eq(task) & results["corpus"].eq("files")]
    own = own.set_index("test")["value"]
    for test, value in scores(followed(run, model, task), largest).items():
        assert own[test] == pytest.approx(value, abs=1e-6)  # answers are kept in single precision
    for series in ("Growing Noise", "Fading Level"):
        files = followed(run, model, task, series)
        added = [[change(one, (clean, changed)) for one in (clean, changed)] for _, clean, changed in files]
        added = [later - before for before, later in added if before is not None]
        assert own[f"Added Change Under {series}"] == pytest.approx(np.mean(added), abs=1e-6)
        if task == "arousal":
            slopes = []
            for _, clean, changed in files:
                both = [n for n in range(len(clean)) if None not in (clean[n], changed[n])]
                moved = [changed[n] - clean[n] for n in both]
                slopes.append(np.polyfit(np.array(both) / (len(clean) - 1), moved, 1)[0])
            assert own[f"Drift Under {series}"] == pytest.approx(np.mean(slopes), abs=1e-6)


def test_what_each_model_does(results):
    own = results[results["task"].eq("arousal") & results["corpus"].eq("files")]
    own = own.set_index(["model", "test"])
    assert own.loc[("steady", "Stability"), "value"] == 1 and own.loc[("steady", "Reactivity"), "value"] < 0.3
    assert own.loc[("loudness", "Reactivity"), "value"] > 0.9
    assert own.loc[("loudness", "Drift Under Fading Level"), "value"] < -0.3
    assert own.loc[("steady", "Drift Under Fading Level"), "value"] == 0
    assert own["reference"].notna().sum() >= 18


def test_neither_the_order_of_rows_matters_nor_who_speaks_after_the_first_segment(results):
    columns = ["model", "task", "test", "value", "low", "high", "segments", "blocks"]
    both = [
        results.loc[results["corpus"].eq(name), columns].reset_index(drop=True)
        for name in ("files", "shuffled")
    ]
    pd.testing.assert_frame_equal(*both)


def test_what_is_left_out_is_said(run, results):
    single = results[results["corpus"].eq("single")]
    assert len(single) and set(single["skipped"]) == {"no file has 4 labelled segments"}
    table = results[results["model"].eq("table") & results["corpus"].eq("files")].set_index("test")
    assert table.loc["Mean Absolute Error", "value"] == 0 and table.loc["Reactivity", "value"] == 1
    reasons = table.loc[table.index.str.contains("Under"), "skipped"]
    assert len(reasons) == 4 and set(reasons) == {"a table of predictions cannot answer for changed signals"}
    page = (run / "out" / "notebooks" / "loudness" / f"{FAMILY}.ipynb").read_text(encoding="utf-8")
    assert "left out are 2 files with fewer than 4 labelled segments, 4 segments in all" in page


def test_only_segments_that_are_heard_are_asked_about(run):
    rows = pd.read_parquet(run / "out" / "predictions" / "steady" / "files.parquet")
    counts = rows[rows["change"] != ""].groupby("key").size()
    assert set(counts) == {2}  # one step of each of the two changes, but for the first of each file
    assert len(counts) == 72 - 12
