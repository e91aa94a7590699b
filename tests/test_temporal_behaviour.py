"""Behaviour in time, through the command, against plain loops over what was predicted."""

import numpy as np
import pandas as pd
import pytest
from runs import Run, run, sound, write

from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FAMILY, RATE, CLASSES = "correctness_temporal_behaviour", 16000, ("anger", "happiness", "neutral", "sadness")
MODEL = f'''
import numpy as np


def loudness(signal, sampling_rate):
    """Value and class by the level; no answer for the very loudest."""
    value = min(1.0, 3 * float(np.sqrt(np.mean(np.square(signal, dtype=float)))))
    if value > 0.97:
        return {{"arousal": None, "emotion": None}}
    return {{"arousal": value, "emotion": {CLASSES}[int(3.99 * value)]}}


def steady(signal, sampling_rate):
    return {{"arousal": 0.5, "emotion": "neutral"}}
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
def whole(tmp_path_factory, undrawn) -> Run:
    """Fourteen files of a few segments, of which two are too short to be followed."""
    folder, rng, rows = tmp_path_factory.mktemp("time"), np.random.default_rng(0), []
    for number in range(14):
        each = 5 + number % 3 if number < 12 else 2
        values = rng.uniform(0.05, 1, each) if number % 2 else 0.3 + 0.02 * np.arange(each)
        signal, place = [], 0.0
        for value, gap in zip(values, rng.uniform(0, 0.3, each).round(2), strict=True):
            noise = value / 3 * rng.standard_normal(RATE // 4).clip(-2.5, 2.5)
            signal += [np.zeros(round(RATE * gap)), noise]
            start, place = place + gap, place + gap + 0.25
            when = (f"{number}.wav", f"{start:.2f}", f"{place:.2f}", f"s{number % 7}")
            rows.append((*when, value, CLASSES[int(3.99 * value)]))
        sound(folder / f"{number}.wav", np.concatenate(signal))
    table = pd.DataFrame(rows, columns=["file", "start", "end", "speaker", "arousal", "emotion"])
    others = table["speaker"].where(~table.duplicated("file"), "t" + table["speaker"])  # answer the first one
    shuffled = table.assign(speaker=others).sample(frac=1, random_state=1)
    single = table.drop_duplicates("file").drop(columns=["start", "end"])
    tables = {"files": table, "shuffled": shuffled, "single": single}
    tables["table"] = table[["file", "start", "end", "arousal"]]
    write(folder, {f"{name}.csv": one for name, one in tables.items()})
    return run(undrawn, write(folder, {"models.py": MODEL, "suite.yml": SUITE}), "--no-book", code=3)


def followed(whole, model, task, series=""):
    """Give of each file truth, predictions, and predictions under a growing change, in the order of time."""
    segments = whole.segments("files").reset_index()
    steps = list(read_family(FAMILY).sweeps[series].steps.values()) if series else []
    rows = whole.predictions(model, "files", None)
    known = {change: own.set_index("key")[task] for change, own in rows.groupby("change")}
    for _, own in segments.sort_values("start").groupby("file"):
        if len(own) >= 4:
            changed = []
            for n, key in enumerate(own["key"]):
                step = round(n / (len(own) - 1) * len(steps))
                changed.append(known[steps[step - 1].identity if step else ""].get(key))
            values = [own[task].tolist(), [known[""].get(key) for key in own["key"]], changed]
            yield [[None if pd.isna(one) else one for one in each] for each in values]


def change(values, wanted):
    """Mean change of neighbours that are all there, in all of the series that are wanted."""
    steps = [
        float(before != now) if isinstance(now, str) else abs(now - before)
        for n, (before, now) in enumerate(zip(values, values[1:], strict=False))
        if all(None not in (series[n], series[n + 1]) for series in wanted)
    ]
    return np.mean(steps) if steps else None


@pytest.mark.parametrize("model", ["loudness", "steady"])
@pytest.mark.parametrize(("task", "largest"), [("arousal", 0.3), ("emotion", 1.0)])
def test_values_are_those_of_plain_loops(whole, model, task, largest):
    found = whole.rows(model=model, task=task, corpus="files").set_index("test")["value"]
    both = [(truth, own) for truth, own, _ in followed(whole, model, task)]
    pairs = [[change(one, sides) for one in sides] for sides in both]
    pairs = sorted((pair for pair in pairs if pair[0] is not None), key=lambda pair: pair[0])
    quarter = len(pairs) // 4
    most = [(own / largest + 1) / (truth / largest + 1) for truth, own in pairs[-quarter:]]
    least = [(truth / largest + 1) / (own / largest + 1) for truth, own in pairs[:quarter]]
    expected = {
        "Mean Absolute Error": np.mean([abs(own - truth) for truth, own in pairs]),
        "Mean Directional Error": np.mean([own - truth for truth, own in pairs]),
        "Reactivity": 2 * (min(1, np.mean(most)) - 0.5),
        "Stability": 2 * (min(1, np.mean(least)) - 0.5),
    }
    for series in ("Growing Noise", "Fading Level"):
        added, slopes = [], []
        for _, clean, after in followed(whole, model, task, series):
            before, later = (change(one, (clean, after)) for one in (clean, after))
            added += [] if before is None else [later - before]
            if task == "arousal":
                both = [n for n in range(len(clean)) if None not in (clean[n], after[n])]
                moved = [after[n] - clean[n] for n in both]
                slopes.append(np.polyfit(np.array(both) / (len(clean) - 1), moved, 1)[0])
        expected[f"Added Change Under {series}"] = np.mean(added)
        expected |= {f"Drift Under {series}": np.mean(slopes)} if slopes else {}
    for test, value in expected.items():  # predictions are kept in single precision
        assert found[test] == pytest.approx(value, abs=1e-6), test


def test_neither_the_order_of_rows_matters_nor_who_speaks_after_the_first_segment(whole):
    columns = ["model", "task", "test", "value", "low", "high", "segments", "blocks"]
    both = [whole.rows(corpus=name)[columns].reset_index(drop=True) for name in ("files", "shuffled")]
    pd.testing.assert_frame_equal(*both)


def test_what_is_left_out_is_said(whole):
    assert whole.reasons(corpus="single") == {"no file has 4 labelled segments"}
    table = whole.rows(model="table", corpus="files").set_index("test")
    assert table.loc["Mean Absolute Error", "value"] == 0 and table.loc["Reactivity", "value"] == 1
    reasons = table.loc[table.index.str.contains("Under"), "skipped"]
    assert len(reasons) == 4 and set(reasons) == {"a table of predictions cannot answer for changed signals"}
    page = (whole.out / "notebooks" / "loudness" / f"{FAMILY}.ipynb").read_text("utf-8")
    assert "left out are 2 files with fewer than 4 labelled segments, 4 segments in all" in page
