"""Behaviour in time, through the command: which predictions are compared, in which order."""

import numpy as np
import pandas as pd
import pytest
from runs import Run, run, sound, write

from soundcheck.metrics.temporal import drift, file_changes, neighbours
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

'''
SUITE = """
title: Time
studies: false
replicates: 100
interval: t
thresholds: gap
corpora:
  files: {format: csv, path: files.csv}
  shuffled: {format: csv, path: shuffled.csv}
models:
  loudness: {python: "models:loudness", tasks: [arousal, emotion]}
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
    tables = {"files": table, "shuffled": shuffled}
    write(folder, {f"{name}.csv": one for name, one in tables.items()})
    return run(undrawn, write(folder, {"models.py": MODEL, "suite.yml": SUITE}), "--no-book", code=3)


def value(statistic):
    """A measure on all of its segments; measures are compared with known courses in their own tests."""
    return pytest.approx(float(statistic.point().value[0]), abs=1e-6)


@pytest.mark.parametrize(("task", "largest"), [("arousal", 0.3), ("emotion", 1.0)])
def test_values_are_those_of_what_was_predicted(whole, task, largest):
    segments = whole.segments("files")
    pairs = neighbours(segments["file"], segments["start"], segments["end"])
    assert len(pairs) == 12
    known = whole.predictions("loudness", "files", None).pivot(index="key", columns="change", values=task)
    known = known.reindex(segments.index)

    def numbers(cells):
        return cells.map(CLASSES.index, na_action="ignore") if task == "emotion" else cells

    rows = whole.rows(model="loudness", task=task, corpus="files").set_index("test")["value"]
    clean, how = numbers(known[""]).to_numpy(float), {"largest": largest, "classes": task == "emotion"}
    changes = file_changes(numbers(segments[task]).to_numpy(float), clean, pairs, **how)
    assert rows["Mean Absolute Error"] == value(changes.mean_absolute_error())
    assert rows["Mean Directional Error"] == value(changes.mean_error())
    assert rows["Reactivity"] == value(changes.reactivity())
    assert rows["Stability"] == value(changes.stability())
    for name, series in read_family(FAMILY).sweeps.items():
        steps, grown = ["", *(step.identity for step in series.steps.values())], clean.copy()
        for row, place in enumerate(pairs.place):  # the change grows from the first segment to the last
            step = 0 if np.isnan(place) else round(place * (len(steps) - 1))
            grown[row] = numbers(known[steps[step]]).iloc[row]
        added = file_changes(clean, grown, pairs, **how)
        assert rows[f"Added Change Under {name}"] == value(added.mean_error())
        if task == "arousal":
            assert rows[f"Drift Under {name}"] == value(drift(clean, grown, pairs))


def test_neither_the_order_of_rows_matters_nor_who_speaks_after_the_first_segment(whole):
    columns = ["model", "task", "test", "value", "low", "high", "segments", "blocks"]
    both = [whole.rows(corpus=name)[columns].reset_index(drop=True) for name in ("files", "shuffled")]
    pd.testing.assert_frame_equal(*both)
    message = "left out are 2 files with fewer than 4 labelled segments, 4 segments in all"
    assert message in whole.shown("loudness", FAMILY)
