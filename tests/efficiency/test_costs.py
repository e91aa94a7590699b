"""Numbers that are known beforehand come out of calls that are made up."""

import numpy as np
import pytest

from soundcheck.efficiency.costs import GIVEN, MEASURED, costs
from soundcheck.efficiency.measuring import JOINED, RECORDED, Call, Measured
from soundcheck.efficiency.page import page

pytestmark = pytest.mark.slow


def model(seconds: list[float | None], kind: str = RECORDED, **more) -> Measured:
    """Two calls a turn, of two seconds of sound each."""
    calls = [
        Call(n // 2, kind, 2.0, one, "" if one else "no answer", one is None) for n, one in enumerate(seconds)
    ]
    return Measured("ours", calls=calls, **more)


def row(found: Measured, measure: str) -> tuple:
    frame = costs([found]).set_index("measure")
    return frame.loc[measure]


def test_speed_is_sound_by_time():
    assert row(model([0.1, 0.3]), "speed")["value"] == pytest.approx(4 / 0.4)
    even = row(model([0.1] * 10), "speed")
    assert (even["value"], even["low"], even["high"]) == pytest.approx((20, 20, 20))


def test_an_interval_of_speed_needs_three_whole_turns():
    assert np.isnan(row(model([0.1, 0.3] * 2 + [0.2]), "speed")["low"])
    found = row(model([0.1, 0.3, 0.2, 0.3, 0.1, 0.2]), "speed")
    assert found["low"] < found["value"] < found["high"]


def test_quantiles_and_their_exact_intervals():
    found = model([n / 100 for n in range(1, 101)])
    median, late = row(found, "latency 50%"), row(found, "latency 99%")
    assert (median["value"], median["low"], median["high"]) == pytest.approx((0.5, 0.4, 0.61))
    assert (late["value"], late["high"]) == (0.99, np.inf)  # 100 calls cannot bound it from above
    assert np.isnan(row(model([0.1]), "latency 50%")["low"])


def test_intervals_hold_the_true_quantile_in_95_of_100_cases():
    rng, held = np.random.default_rng(0), 0
    for _ in range(200):
        found = row(model(rng.exponential(size=60).tolist()), "latency 50%")
        held += found["low"] <= np.log(2) <= found["high"]
    assert held >= 185


def test_calls_without_answer_have_no_latency_but_are_counted():
    found = model([0.1, None, 0.1, 0.1])
    assert row(found, "latency 95%")["value"] == 0.1
    assert [row(found, name)["value"] for name in ("calls", "failures", "time-outs")] == [4, 0, 1]
    nothing = row(model([None, None]), "latency 50%")
    assert (np.isnan(nothing["value"]), nothing["calls"]) == (True, 0)


def test_durations_have_rows_of_their_own():
    found = row(model([0.2, 0.4, 0.6], JOINED), "latency 50%")
    assert found["sound_seconds"].tolist()[-1] == 2.0
    assert found["value"].tolist()[-1] == 0.4


def test_times_of_a_file_are_marked_as_given():
    found = row(Measured("theirs", given=[(0.5, 2.0), (1.0, 4.0)]), "speed")
    assert (found["value"], found["calls"], found["origin"]) == (4.0, 2, GIVEN)
    assert row(model([0.1]), "speed")["origin"] == MEASURED


def test_growth_is_that_between_the_first_and_the_last_turn():
    found = model([0.1], memory=[(10, 500), (20, 700), (30, 900)])
    assert row(found, "growth of memory")["value"] == 20


def test_what_too_few_turns_cannot_tell_is_told_by_the_first_call():
    found = model([0.1], memory=[(13, 900_000_000)], first_bytes=140_000_000, peak_bytes=900_000_000)
    assert np.isnan(row(found, "growth of memory")["value"])
    assert row(found, "memory after the first call")["value"] == 140e6
    about = {"machine": {}, "day": "2030-01-01", "notes": [], "synthetic": False, "table": "t"}
    assert "140 MB after the first call" in page(costs([found]), [], **about)
    grown = model([0.1], memory=[(n, 100e6 * n) for n in (1, 2, 3)], first_bytes=1, peak_bytes=300_000_000)
    written = page(costs([grown, Measured("lost")]), [], **about)
    assert "grows by 100 MB a call" in written and "1 of 2 models" in written
