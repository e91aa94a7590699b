"""Thresholds for groups of other sizes: published ones, stretched; one definition for pages and verdicts."""

import json
import math

import numpy as np
import pytest

from soundcheck.common import resources
from soundcheck.common.json_file import Description
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.statistics import simulated_thresholds, simulation
from soundcheck.statistics.simulated_thresholds import (
    RECORD,
    SERIES,
    published_size,
    quantile,
    recorded,
    simulated_threshold,
)
from soundcheck.statistics.simulation import GROUPS, MANY_RUNS, METRICS, RUNS, SAMPLES, Setting, simulate
from soundcheck.suite.thresholds import read_family

FAMILIES = [name for name in resources.names("thresholds", ".yml") if name.startswith("fairness_")]

# Family and metric -> a test, the simulation behind its threshold, and the threshold.
SETTINGS = {
    (family, test.simulation["name"]): (test, test.simulation, max(test.thresholds.values()))
    for family in FAMILIES
    for test in read_family(family).tests.values()
    if test.simulation
}
EACH = pytest.mark.parametrize("key", SETTINGS, ids=str)
PUBLISHED_SIZES = {
    "fairness_accent": (30, 60),
    "fairness_language": (6, 1000),
    "fairness_linguistic_sentiment": (8, 667),
    "fairness_pitch": (3, 1000),
    "fairness_sex": (2, 1000),
}


def test_there_are_21_published_settings():
    assert len(SETTINGS) == 21
    assert {(family, published_size(found)) for (family, _), (_, found, _) in SETTINGS.items()} == set(
        PUBLISHED_SIZES.items()
    )


@EACH
def test_published_sizes_have_the_published_thresholds(key):
    _, found, published = SETTINGS[key]
    groups, samples = published_size(found)
    # The published accents are 31, their simulation has 30; more groups are judged by the same thresholds.
    for number, size in ((0, 0), (0, 1), (1, 0), (1, samples), (25, 49 * samples)):
        stretched = simulated_threshold(published, found, groups + number, samples + size)
        assert stretched.threshold == published and stretched.stretch == 1.0
        assert stretched.here == stretched.published


@EACH
def test_smaller_groups_have_wider_thresholds(key):
    _, found, published = SETTINGS[key]
    groups, samples = published_size(found)
    sizes = [n for n in (20, 40, 60, 100, 200, 400, 1000) if n < samples] + [samples]
    thresholds = [simulated_threshold(published, found, groups, n).threshold for n in sizes]
    # Beyond 1 nothing fails: a bin or class with a single segment scores 0 or 1, whatever else there is.
    thresholds = [min(threshold, 1.0) for threshold in thresholds]
    assert thresholds == sorted(thresholds, reverse=True) and thresholds[-1] == published
    assert thresholds[0] > published
    for n in SAMPLES:
        assert simulated_threshold(published, found, groups, n).threshold >= published


@pytest.mark.parametrize("family", ["fairness_accent", "fairness_language"])
@pytest.mark.parametrize("groups", [2, 3, 6])
def test_thresholds_of_means_follow_the_standard_error(family, groups):
    """The difference of a mean to that of all groups has a variance of (1 - 1 / G) / n times a constant."""
    _, found, published = SETTINGS[family, "mean"]
    own_groups, own_samples = published_size(found)
    for samples in (20, 40, 60):
        stretch = simulated_threshold(published, found, groups, samples).stretch
        expected = max(1, math.sqrt(own_samples / samples * (1 - 1 / groups) / (1 - 1 / own_groups)))
        # A 99.9 % quantile of 10,000 has a standard deviation of 2 %, the ratio of two of 3 %.
        assert stretch == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.075, 0.075), (0.1 + 0.2, 0.3), (0.0750001, 0.08), (0.075 + 1e-15, 0.075), (0.0712, 0.075), (0, 0)],
)
def test_rounding_up(value, expected):
    assert simulated_thresholds._round_up(value) == expected


# The record


def test_the_record_is_complete():
    frame = recorded()
    contexts = sum(METRICS[metric].contexts > 1 for metric, _, _ in SERIES)
    assert len(frame) == len(SERIES) * len(GROUPS) * len(SAMPLES) + contexts * len(GROUPS)
    settings = set(frame[["metric", "prediction", "truth", "groups", "samples"]].itertuples(index=False))
    assert len(settings) == len(frame) and set(frame["metric"]) == {name for _, name in SETTINGS}
    assert {(m, p, t) for m, p, t, *_ in settings} == set(SERIES)
    assert (frame["percentile_99"] <= frame["maximum"]).all() and frame["maximum"].notna().all()
    assert (frame["percentile_99"] <= frame["percentile_999"])[frame["percentile_999"].notna()].all()
    missing = frame[frame["percentile_999"].isna()]
    assert set(missing["groups"]) == {20, 30} and missing["samples"].min() > 60
    assert RECORD.stat().st_size < 400_000
    head = RECORD.read_text(encoding="utf-8").splitlines()[:4]
    assert all(line.startswith("#") for line in head) and "seed 0" in head[3]


CHEAP = [row for n, row in enumerate(SERIES) if METRICS[row[0]].cells]
ROWS = [(*row, groups, samples) for row in CHEAP for groups, samples in ((2, 20), (6, 1000), (30, 60))]
ROWS += [("mean", "gaussian", "", 2, 100), ("mean", "gaussian", "", 30, 20)]
ROWS += [("mean_shift_diff", "gaussian", "", 3, 40), ("ccc", "gaussian", "gaussian", 3, 60)]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_recorded_rows_are_what_is_simulated(row):
    metric, prediction, truth, groups, samples = row
    frame = recorded().set_index(["metric", "prediction", "truth", "groups", "samples"])
    setting = Setting(metric, groups, samples, prediction, truth)
    once, often = simulate(setting, RUNS), simulate(setting, MANY_RUNS)
    expected = once.maximum, once.percentile_99, often.percentile_999
    columns = ["maximum", "percentile_99", "percentile_999"]
    np.testing.assert_allclose(frame.loc[row, columns].to_numpy(float), expected, rtol=0, atol=5.1e-6)


def test_what_is_not_recorded_is_simulated():
    setting = Setting("recall", 4, 33, "uniform", "sparse")
    assert quantile(setting) == simulate(setting, MANY_RUNS).percentile_999
    assert quantile(Setting("recall", 3, 60, "uniform", "sparse")) == pytest.approx(
        simulate(Setting("recall", 3, 60, "uniform", "sparse"), MANY_RUNS).percentile_999, abs=5.1e-6
    )


# Verdicts and the page


@pytest.fixture
def judged_by(describe):
    """Give the threshold that a verdict would be made by."""

    def threshold(key: tuple[str, str], thresholds: str, groups: int, samples: int) -> float:
        test, _, _ = SETTINGS[key]
        task = BUILTIN["arousal" if "regression" in test.thresholds else "emotion"]
        nothing = np.array([])
        subset = Subset("c", task, None, None, Predictions(nothing), Predictions(nothing), nothing)
        evaluation = Evaluation(describe(key[0], thresholds=thresholds))
        # Before it is looked at whether groups of this number can differ by so much at all.
        return evaluation._stretched(subset.sized(groups, samples), test, test.threshold_for(task))

    return threshold


def test_the_page_shows_what_verdicts_use(tmp_path, judged_by):
    """Every number of the page's table of thresholds is the one that an evaluation would judge by."""
    run = tmp_path / "run.json"
    Description(media=tmp_path / "media", prefix="media/", rows=tmp_path / "rows.json").write(run)
    notebook = resources.root() / "book" / "fairness_thresholds.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    page = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), page)
            if cell["metadata"].get("tags") == ["parameters"]:
                page["run"] = str(run)
    assert len(page["rows"]) == len(SETTINGS)
    for key, row in zip(SETTINGS, page["rows"], strict=True):
        _, found, published = SETTINGS[key]
        groups, samples = published_size(found)
        assert (row["groups × segments"], row["published"]) == (f"{groups} × {samples:,}", published)
        for size in (20, 40, 60, 100, 200, 400, 1000):
            assert row[f"{size:,} segments"] == judged_by(key, "simulated", groups, size)
    assert len(list((tmp_path / "media").iterdir())) == 3


def test_a_run_simulates_a_setting_once(tmp_path, monkeypatch):
    setting = Setting("mean", 3, 7, "gaussian")
    simulated_thresholds._simulated_quantile.cache_clear()
    expected = quantile(setting)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))

    def again():  # as another process
        simulated_thresholds._simulated_quantile.cache_clear()
        simulate.cache_clear()
        return quantile(setting)

    assert again() == expected
    (kept,) = (tmp_path / "simulated").glob("*.json")
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "simulate", None)
        assert again() == expected
        with pytest.raises(TypeError):
            quantile(Setting("mean", 3, 8, "gaussian"))
        patch.setattr(simulated_thresholds, "library_digest", lambda: "other code")
        with pytest.raises(TypeError):
            again()
    kept.write_text("cut")
    assert again() == expected
    monkeypatch.setenv(CACHE_VARIABLE, str(kept))  # not a folder: nothing can be kept
    assert again() == expected
