"""Changes from one segment of a file to the next."""

import numpy as np
import pytest

from soundcheck.metrics.additive import value
from soundcheck.metrics.temporal import drift, file_changes, neighbours
from soundcheck.statistics import bootstrap

N = 6
COURSES = {  # of a file, and its mean change
    "constant": (np.full(N, 0.4), 0.0),
    "linear": (0.2 + 0.06 * np.arange(N), 0.06),
    "falling": (0.9 - 0.12 * np.arange(N), 0.12),
    "alternating": (np.tile([0.3, 0.6], N)[:N], 0.3),
}


def table(names=tuple(COURSES)):
    """Files, starts, ends and values of some courses, in a shuffled order of rows."""
    files, starts = np.repeat(list(names), N), np.tile(3.0 * np.arange(N), len(names))
    values = np.concatenate([COURSES[name][0] for name in names])
    order = np.random.default_rng(1).permutation(len(files))
    return files[order], starts[order], starts[order] + 2.0, values[order]


def test_known_changes_in_any_order():
    files, starts, ends, values = table()
    pairs = neighbours(files, starts, ends)
    found = file_changes(values, values, pairs)
    assert found.names == tuple(sorted(COURSES))
    assert found.truth == pytest.approx([COURSES[name][1] for name in found.names])
    assert np.allclose(starts[pairs.after] - starts[pairs.before], 3)
    assert (files[pairs.after] == files[pairs.before]).all() and len(pairs.before) == 4 * (N - 1)
    assert files[pairs.first].tolist() == list(found.names) and (starts[pairs.first] == 0).all()
    assert np.allclose(pairs.place, starts / starts.max())


def test_a_perfect_a_constant_and_a_restless_model():
    *about, truth = table()
    pairs = neighbours(*about)

    def scores(prediction):
        found = file_changes(truth, prediction, pairs)
        named = ("mean_absolute_error", "mean_error", "jensen_shannon_distance", "reactivity", "stability")
        return [value(getattr(found, name)()) for name in named]

    assert scores(truth) == [0, 0, 0, 1, 1]
    assert scores(truth + 0.2) == pytest.approx([0, 0, 0, 1, 1])  # values themselves do not matter
    # Of four files the quarter is one: the alternating one changes most, by 0.3, the constant one least.
    mean = np.mean([change for _, change in COURSES.values()])
    distance = scores(np.full(len(truth), 0.5))
    assert distance[:2] + distance[3:] == pytest.approx([mean, -mean, 2 * (1 / 2 - 0.5), 1])
    assert distance[2] > 0.5
    restless = truth + np.where(np.isin(np.rint(about[1] / 3), [1, 3, 5]), 0.15, -0.15)
    assert scores(restless)[4] == pytest.approx(2 * (1 / (0.3 / 0.3 + 1) - 0.5))


def test_classes_change_or_do_not():
    files, starts = np.repeat(["a"], 5), np.arange(5.0)
    pairs = neighbours(files, starts, starts + 1)
    found = file_changes(np.array([0, 0, 3, 1, 1.0]), np.array([2, 2, 2, 2, 0.0]), pairs, 1.0, classes=True)
    assert found.truth.tolist() == [0.5] and found.prediction.tolist() == [0.25]


def test_missing_predictions_leave_both_out_and_are_counted():
    *about, truth = table()
    pairs = neighbours(*about)
    prediction = truth.copy()
    prediction[(about[0] == "linear") & (about[1] == 3)] = np.nan
    prediction[about[0] == "constant"] = np.nan
    found = file_changes(truth, prediction, pairs)
    assert found.names == ("alternating", "falling", "linear")
    point = found.mean_absolute_error().point()
    assert point.value[0] == 0 and point.segments[0] == 3 * N - 1
    assert point.notes[0] == f"no prediction for {N + 1} of {4 * N} segments"
    assert found.reactivity().point().reasons == ("3 files, 4 needed",)
    prediction[about[0] == "falling"] = np.nan
    for both in (
        (truth, prediction),
        (prediction, truth),
    ):  # predictions for changed signals, or for the others
        refused = file_changes(*both, pairs).mean_absolute_error().point()
        assert refused.reasons == (f"no prediction for {2 * N + 1} of {4 * N} segments",)


def test_few_segments_and_none():
    pairs = neighbours(["a", "b", "b", None, "b"], [np.nan, 5, 0, 1, 2], [np.nan, 6, 1, 2, np.nan], 3)
    assert pairs.names == ("b",) and pairs.before.tolist() == [2, 4] and pairs.after.tolist() == [4, 1]
    nothing = neighbours(["a", "b"], [0, 0], [1, 1])
    found = file_changes(np.zeros(2), np.zeros(2), nothing)
    assert len(nothing) == len(found) == 0
    assert np.isnan(value(found.mean_absolute_error())) and np.isnan(value(drift([0, 1], [0, 1], nothing)))


def test_drift_is_the_slope_of_what_is_added():
    *about, before = table()
    pairs = neighbours(*about)
    assert value(drift(before, before, pairs)) == 0
    assert value(drift(before, before + 0.4 * pairs.place, pairs)) == pytest.approx(0.4)
    away = {"constant": 0.4, "linear": -0.2, "falling": 0.0, "alternating": 0.6}
    slopes = np.array([away[name] for name in about[0]])
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.standard_normal(len(before))
    plain = [
        np.polyfit(pairs.place[own], (slopes * pairs.place + noise)[own], 1)[0]
        for own in (about[0] == name for name in away)
    ]
    found = drift(before, before + slopes * pairs.place + noise, pairs)
    assert value(found) == pytest.approx(np.mean(plain))
    # A file belongs to the block of its first segment.
    blocks = np.unique(about[0], return_inverse=True)[1]
    assert bootstrap.resample(found, blocks, 50, 0).blocks.tolist() == [4]
