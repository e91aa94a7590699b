"""Simulated scores and thresholds: published figures from the published draws, ours beside them."""

import collections
import csv
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulated_thresholds import SERIES
from scipy import special, stats

from soundcheck.common import resources
from soundcheck.common.media import Description
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics import regression
from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import (
    GROUPS,
    MANY_RUNS,
    METRICS,
    RUNS,
    SAMPLES,
    SPARSE,
    Setting,
    grid,
    published_size,
    quantile,
    recorded,
    score,
    simulate,
    simulated_threshold,
    summary,
)
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SHARES = {"uniform": [0.25] * 4, "sparse": list(SPARSE)}

# (groups, samples) -> (metric, prediction, truth) -> maximum and 99th percentile of 1000 runs, to 5 decimals
PUBLISHED: dict = {}
for row in csv.DictReader((Path(__file__).parents[1] / "published_simulations.csv").read_text().splitlines()):
    figures = PUBLISHED.setdefault((int(row["groups"]), int(row["samples"])), {})
    published = float(row["maximum"]), float(row["percentile_99"])
    figures[row["metric"], row["prediction"], row["truth"]] = published


def published_draws(groups: int, samples: int) -> dict[str, np.ndarray]:
    """Draw 1000 runs in the published way, ``(runs, groups, ...)`` for each kind of sums.

    Run r seeds both generators with r and draws segment by segment, truth first, groups and their contexts
    one after the other. The uniform numbers behind all draws of a run serve every metric.
    """
    contexts, tables = 3 if groups == 8 else 1, collections.defaultdict(list)
    size, shape = groups * contexts * samples, (groups, contexts, samples)
    for run in range(1, 1001):
        uniform = np.random.RandomState(run).random_sample(2 * size if groups < 4 else size)
        first, second = uniform[:size], uniform[size:]
        numbers = _truncated_normal(first)
        if groups >= 4:
            tables["means"].append(numbers.reshape(shape).sum(axis=2)[..., np.newaxis])
            tables["bins"].append(_counts(regression.bin_numbers(numbers), 4, shape))
            for name, shares in SHARES.items():
                odds = random.Random(run).sample(shares, 4) if contexts > 1 else shares
                tables[name].append(_counts(_classes(first, odds), 4, shape))
            continue
        both = numbers, _truncated_normal(second)
        tables["moments"].append(simulation._moments(*(each.reshape(groups, samples) for each in both)))
        bins = [regression.bin_numbers(each) for each in both]
        classes = _classes(first, SHARES["sparse"]), _classes(second, SHARES["uniform"])
        for name, (truth, prediction) in (("true bins", bins), ("true classes", classes)):
            counts = _counts(truth.astype(int) * 4 + prediction, 16, shape)
            tables[name].append(counts.reshape(groups, 4, 4))
    return {name: np.stack(rows) for name, rows in tables.items()}


def _truncated_normal(uniform: np.ndarray) -> np.ndarray:
    """Quantiles of the normal distribution with mean 1/2 and deviation 1/6, cut off at 0 and 1."""
    low, high = special.ndtr([-3.0, 3.0])
    return 0.5 + special.ndtri(low + uniform * (high - low)) / 6


def _classes(uniform: np.ndarray, shares: list[float]) -> np.ndarray:
    """Choose as NumPy's choice with odds does."""
    borders = np.cumsum(shares)
    return (borders / borders[-1]).searchsorted(uniform, side="right")


def _counts(cells: np.ndarray, n: int, shape: tuple[int, ...]) -> np.ndarray:
    rows = cells.reshape(-1, shape[-1])
    rows = rows + n * np.arange(len(rows))[:, np.newaxis]
    return np.bincount(rows.ravel(), minlength=n * len(rows)).reshape(*shape[:-1], n)


@pytest.mark.parametrize("size", PUBLISHED, ids=str)
def test_published_figures_and_our_draws_beside_them(size):
    tables = published_draws(*size)
    for (metric, prediction, truth), published in PUBLISHED[size].items():
        kind = METRICS[metric]
        name = "bins" if kind.cells else "moments" if truth else "means"
        if kind.cells and prediction != "gaussian":
            name = "classes" if truth else prediction
        sums = tables[f"true {name}" if kind.cells and truth else name]
        setting = Setting(metric, *size, prediction, truth)
        scores = np.sort(score(setting, sums[:, 0], sums.sum(axis=1)))
        assert (scores.max(), np.percentile(scores, 99)) == pytest.approx(published, abs=5.5e-6), metric
        ours = simulate(setting)
        assert stats.ks_2samp(ours, scores).pvalue > 0.001, metric


def test_draws_follow_from_setting_and_seed_and_not_from_jobs():
    assert len(set(grid())) == 42 * 114  # as published
    for setting in grid(tuple(METRICS), (3,), (20,)):
        first, again, other = (simulate.__wrapped__(setting, runs=20, seed=seed) for seed in (0, 0, 1))
        assert first.tobytes() == again.tobytes() != other.tobytes()
        assert first.shape == (20,) and (first >= 0).all()
    same, varied = (
        simulate(Setting("precision_per_class", 8, 400, "uniform", "sparse", each), 200)
        for each in (False, True)
    )
    assert np.percentile(varied, 99) > np.percentile(same, 99)  # truths of their own
    wanted = list(grid(("mean", "recall"), (2,), (20,)))
    one = simulation.simulate_all(wanted, runs=20)
    assert len(one) == len(wanted) and one.equals(simulation.simulate_all(wanted, runs=20, jobs=2))


def test_impossible_settings():
    for arguments, message in (
        (("cc", 2, 20, "gaussian"), "unknown metric 'cc'"),
        (("mean", 2, 20, "uniform"), "prediction of mean is 'uniform'"),
        (("recall", 2, 20, "uniform"), "truth of recall is ''"),
        (("mean", 1, 20, "gaussian"), "at least 2 groups"),
        (("mean", 2, 1, "gaussian"), "at least 2 segments"),
        (("recall", 2, 20, "uniform", "uniform", True), "cannot vary"),
        (("recall", 2, 20, "uniform", "uniform", False, 51), "cannot be of 51 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            Setting(*arguments)


def test_seven_classes_drawn_segment_by_segment(rng):
    """Segment by segment in a loop, with the metric that judges; the 50 and 90 % points of both agree."""
    truth_odds, scores = simulation._probabilities("sparse", classes=7), []
    for _ in range(500):
        truth, prediction = rng.choice(7, p=truth_odds, size=300), rng.integers(7, size=300)
        group, both = (
            np.array([(p[t == k] == k).mean() if (t == k).any() else 0.0 for k in range(7)])
            for t, p in ((truth[:150], prediction[:150]), (truth, prediction))
        )
        scores.append(np.abs(group - both).max())
    result = simulate(Setting("recall_per_class", 2, 150, "uniform", "sparse", classes=7), 4000)
    for share in (50, 90):
        assert np.percentile(result, share) == pytest.approx(np.percentile(scores, share), rel=0.08)


# Thresholds for groups of other sizes: (family, metric) -> test, the simulation behind it, the threshold

SETTINGS = {
    (family, test.simulation["name"]): (test, test.simulation, max(test.thresholds.values()))
    for family in resources.names("thresholds", ".yml")
    if family.startswith("fairness_")
    for test in read_family(family).tests.values()
    if test.simulation
}


def test_published_sizes_have_the_published_thresholds_and_smaller_groups_wider_ones():
    assert len(SETTINGS) == 21
    assert {family: published_size(behind) for (family, _), (_, behind, _) in SETTINGS.items()} == {
        "fairness_accent": (30, 60),
        "fairness_language": (6, 1000),
        "fairness_linguistic_sentiment": (8, 667),
        "fairness_pitch": (3, 1000),
        "fairness_sex": (2, 1000),
    }
    for _, behind, published in SETTINGS.values():
        groups, samples = published_size(behind)
        # The published accents are 31, their simulation has 30; more groups have the same thresholds.
        for number, size in ((0, 0), (25, 49 * samples)):
            stretched = simulated_threshold(published, behind, groups + number, samples + size)
            assert stretched.threshold == published and stretched.stretch == 1.0
        sizes = [n for n in (20, 40, 60, 100, 200, 400, 1000) if n < samples] + [samples]
        wider = [simulated_threshold(published, behind, groups, n).threshold for n in sizes]
        assert all(round(each / 0.005, 6).is_integer() for each in wider[:-1])  # rounded up
        # Beyond 1 nothing fails: a bin or class with a single segment scores 0 or 1, whatever else there is.
        wider = [min(threshold, 1.0) for threshold in wider]
        assert wider == sorted(wider, reverse=True) and wider[0] > wider[-1] == published
    # The difference of a mean to that of all groups has a variance of (1 - 1 / G) / n times a constant.
    _, behind, published = SETTINGS["fairness_language", "mean"]
    stretch = simulated_threshold(published, behind, 3, 60).stretch
    assert stretch == pytest.approx(math.sqrt(1000 / 60 * (1 - 1 / 3) / (1 - 1 / 6)), rel=0.1)


CHEAP = [row for row in SERIES if METRICS[row[0]].cells]
ROWS = [(*row, *((2, 20), (6, 1000), (30, 60))[n % 3]) for n, row in enumerate(CHEAP)]
ROWS += [("mean", "gaussian", "", 2, 100), ("mean", "gaussian", "", 30, 20)]
ROWS += [("mean_shift_diff", "gaussian", "", 3, 40), ("ccc", "gaussian", "gaussian", 3, 60)]


def test_the_record_is_complete_and_rows_are_what_is_simulated():
    frame, columns = recorded(), ["metric", "prediction", "truth", "groups", "samples"]
    contexts = sum(METRICS[metric].contexts > 1 for metric, _, _ in SERIES)
    assert len(frame) == len(SERIES) * len(GROUPS) * len(SAMPLES) + contexts * len(GROUPS)
    assert not frame.duplicated(columns).any() and set(frame["metric"]) == {name for _, name in SETTINGS}
    assert set(frame[columns[:3]].itertuples(index=False, name=None)) == set(SERIES)
    missing = frame[frame["percentile_999"].isna()]
    assert set(missing["groups"]) == {20, 30} and missing["samples"].min() > 60
    frame = frame.set_index(columns)
    for row in ROWS:
        metric, prediction, truth, groups, samples = row
        setting = Setting(metric, groups, samples, prediction, truth)
        once, often = summary(simulate(setting, RUNS)), summary(simulate(setting, MANY_RUNS))
        expected = once["maximum"], once["percentile_99"], often["percentile_999"]
        result = frame.loc[row, ["maximum", "percentile_99", "percentile_999"]].to_numpy(float)
        np.testing.assert_allclose(result, expected, rtol=0, atol=5.1e-6, err_msg=str(row))
        assert quantile(setting) == result[2]


@pytest.mark.slow
def test_the_page_shows_what_verdicts_use(tmp_path, describe):
    """Every number of the page's table of thresholds is the one that an evaluation would judge by."""
    run = tmp_path / "run.json"
    Description(media=tmp_path / "media", prefix="media/", rows=tmp_path / "rows.json").write(run)
    notebook = resources.root() / "book" / "fairness_thresholds.ipynb"
    page: dict = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), page)
            if cell["metadata"].get("tags") == ["parameters"]:
                page["run"] = str(run)
    assert len(page["rows"]) == len(SETTINGS) and len(list((tmp_path / "media").iterdir())) == 3
    nothing = np.array([])
    for (key, (test, behind, published)), row in zip(SETTINGS.items(), page["rows"], strict=True):
        groups, samples = published_size(behind)
        assert (row["groups × segments"], row["published"]) == (f"{groups} × {samples:,}", published)
        task = BUILTIN["arousal" if "regression" in test.thresholds else "emotion"]
        subset = Subset("c", task, None, None, Predictions(nothing), Predictions(nothing), nothing)
        evaluation = Evaluation(describe(key[0], thresholds="simulated"))
        for size in (20, 200, 1000):
            # Before it is looked at whether groups of this number can differ by so much at all.
            evaluation._threshold(subset.sized(groups, size), test)
            assert row[f"{size:,} segments"] == evaluation.simulated()["simulated"].iloc[-1]


def test_a_setting_that_is_not_recorded_is_simulated_once(tmp_path, monkeypatch):
    setting = Setting("mean", 3, 7, "gaussian")
    expected = summary(simulate(setting, MANY_RUNS))["percentile_999"]
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))

    def again():  # as another process
        simulation._simulated_quantile.cache_clear()
        return quantile(setting)

    assert again() == expected
    (cached,) = (tmp_path / "simulated").glob("*.json")
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "simulate", None)
        assert again() == expected
        patch.setattr(simulation, "library_digest", lambda: "other code")
        with pytest.raises(TypeError):
            again()
    cached.write_text("cut")  # what cannot be read is simulated again
    assert again() == expected
