"""Studies of intervals: their data have the truth that they claim, and agree with what is published."""

import numpy as np
import pytest
from benchmarks.interval_studies import (
    DESIGNS,
    PUBLISHED,
    TRUE_DIFFERENCE,
    coverage_of_word_errors,
    word_error_data,
    word_error_difference,
)
from scipy import stats

from soundcheck.metrics.additive import value, values
from soundcheck.report.method_views import monte_carlo_error, recorded

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_word_errors_follow_from_the_normal_numbers_as_published():
    """The smallest count whose probability of at most that many reaches that of the normal number."""
    rng = np.random.default_rng(2)
    shared, z = rng.standard_normal((2, 4, 1)), rng.standard_normal((2, 4, 5))
    normal = np.sqrt(0.8) * z + np.sqrt(0.2) * shared
    errors = word_error_data(np.random.default_rng(2), 5, 0.2, utterances=20)
    for row, numbers, rate in zip(errors, normal.reshape(2, -1), (0.10, 0.095), strict=True):
        np.testing.assert_array_equal(row, stats.binom.ppf(stats.norm.cdf(numbers), 100, rate))
    difference = word_error_difference(np.array([[1, 2], [0, 1]]), np.array([10, 20]))
    assert value(difference) == pytest.approx(1 / 30 - 3 / 30, abs=1e-12)  # the second minus the first
    assert pytest.approx(-0.005) == TRUE_DIFFERENCE


def test_the_recorded_table_agrees_with_the_published_one():
    frame, _ = recorded("word_errors")
    assert list(zip(frame["block_size"], frame["correlation"], strict=True)) == list(PUBLISHED)
    for row in frame.to_dict("records"):
        published = PUBLISHED[row["block_size"], row["correlation"]]
        assert row["ordinary_width"] == pytest.approx(published[0], rel=0.05)
        assert row["ordinary_coverage"] == pytest.approx(published[1], abs=0.03)
        assert row["blockwise_width"] == pytest.approx(published[2], rel=0.05)
        assert 0.93 <= row["blockwise_coverage"] <= 0.97


def test_the_recorded_coverages_are_what_is_promised():
    frame, _ = recorded("coverage")
    frame = frame[frame["blocks"].eq("speakers")]
    assert set(frame["design"]) == set(DESIGNS)
    for row in frame.to_dict("records"):
        coverage, correlated = row["percentile"], row["rho"] > 0
        if row["design"] in ("ccc", "uar", "unchanged", "mae") or (row["design"] == "eer" and correlated):
            slack = 2.6 * monte_carlo_error(1000) if row["speakers"] == 40 else 0.0
            assert row["speakers"] < 40 or 0.92 - slack <= coverage <= 0.97, row
        if row["design"] == "eer by trial" and correlated:
            assert coverage < (0.85 if row["speakers"] < 40 else 0.75)


def test_the_recorded_verdicts_are_as_sure_as_they_should_be():
    frame, _ = recorded("verdicts")
    assert (frame.filter(like="tenth").sum(axis=1) == frame["data_sets"]).all()
    slack = 2.6 * monte_carlo_error(500)
    assert (frame["p"] > 0.001).all() and frame["inconclusive"].between(0.93 - slack, 0.97 + slack).all()


def test_recorded_intervals_are_those_of_the_study():
    """Records go stale if the bootstrap changes; the first data sets are the same in any study."""
    study = coverage_of_word_errors(30, 0.4, 2)
    frame, _ = recorded("word_error_intervals")
    for way, intervals in study.items():
        drawn = frame[frame["way"].eq(way)].head(2)
        result = np.array([intervals["percentile"].low, intervals["percentile"].high]).T
        np.testing.assert_allclose(drawn[["low", "high"]], result, rtol=1e-5)
    few, more = (DESIGNS["mae"].coverage(5, 0.0, n, replicates=50)["percentile"] for n in (3, 60))
    assert few.low.tobytes() == more.low[:3].tobytes()


@pytest.mark.parametrize("name", DESIGNS)
def test_the_true_value_of_a_design_is_the_mean_of_its_data(name):
    design, rng = DESIGNS[name], np.random.default_rng(3)
    for share in (0.0, 0.5):
        result = np.array([values(design.draw(rng, 200, share))[design.label] for _ in range(30)])
        assert abs(result.mean() - design.true) < 5 * result.std() / np.sqrt(30) + 1e-3


def test_verdicts_on_the_threshold_are_undecided():
    result = DESIGNS["mae"].calibration(100, 0.2, 100)
    assert result.p_value > 0.001 and result.inconclusive >= 0.95 - 4 * monte_carlo_error(100)
