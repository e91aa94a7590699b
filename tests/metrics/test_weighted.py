"""Sums of statistics that are no sums: values, replicates, reasons; and what is kept of them."""

import numpy as np

from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.metrics.weighted import Memoised, weighted_difference, weighted_sums
from soundcheck.statistics.bootstrap import resample

NO_BLOCKS = np.zeros(0, dtype=np.intp)


def rate(seed, gain=1.0, targets=True):
    rng = np.random.default_rng(seed)
    target = (np.arange(300) % 3 == 0) & targets
    first, second = rng.integers(0, 8, (2, 300))
    return equal_error_rate(
        Trials(rng.normal(size=300) + gain * target, target, first, np.where(target, first, second), 8)
    )


def test_sums_are_those_of_values_and_replicates():
    one, two, three = rate(0), rate(1), rate(2)
    found = resample(
        weighted_sums({"a": [(1, one), (-2, two)], "b": [(0.5, one), (0.5, three)]}), NO_BLOCKS, 50
    )
    alone = [resample(part, NO_BLOCKS, 50) for part in (one, two, three)]
    for pick in (lambda r: r.value, lambda r: r.replicates[:, 0]):
        values = [pick(part) for part in alone]
        expected = [values[0] - 2 * values[1], (values[0] + values[2]) / 2]
        got = found.value if pick(alone[0]).shape == (1,) else found.replicates.T
        assert np.allclose(np.ravel(got), np.ravel(expected), atol=1e-9)
    assert found.labels == ("a", "b") and found.blocks.tolist() == [8, 8]
    same = resample(weighted_sums({"": [(1, one), (-1, two)]}), NO_BLOCKS, 50)
    other = resample(weighted_difference(one, two), NO_BLOCKS, 50)
    assert np.array_equal(same.replicates, other.replicates)


def test_only_sums_that_use_it_are_undefined():
    point = weighted_sums({"a": [(1, rate(0))], "b": [(1, rate(0)), (-1, rate(1, targets=False))]}).point()
    assert np.isfinite(point.value[0]) and np.isnan(point.value[1])
    assert point.reasons == ("", "no target trials")


def test_replicates_are_computed_once(monkeypatch):
    asked, statistic = [], rate(0)
    kept, evaluate = Memoised(statistic), statistic.evaluate
    monkeypatch.setattr(
        statistic, "evaluate", lambda weights: asked.append(len(weights)) or evaluate(weights)
    )
    first, again = resample(kept, NO_BLOCKS, 30), resample(kept, NO_BLOCKS, 30)
    assert np.array_equal(first.replicates, again.replicates) and asked == [30, 1]
    other = resample(kept, NO_BLOCKS, 30, seed=1)
    assert asked == [30, 1, 30] and not np.array_equal(other.replicates, first.replicates)
    assert np.array_equal(other.replicates, resample(rate(0), NO_BLOCKS, 30, seed=1).replicates)
