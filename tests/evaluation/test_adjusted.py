"""Adjusted gaps of rows: what is left of a difference, refused columns, shares, and nothing else changed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from judging import judging

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.adjusted import adjusting_columns
from soundcheck.evaluation.groups import judge_groups
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.regression import concordance_cc, mean_value
from soundcheck.results.states import decide
from soundcheck.suite.groups import number_of

AROUSAL = BUILTIN["arousal"]
MEAN = {"Mean Value": lambda s, p: mean_value(p.clean)}
NEWER = ["adjusted", "adjusted_low", "adjusted_high", "counterpart", "adjusted_by"]


def voices(
    noisy: float = 0.0, accent: float = 0.0, speakers: int = 80, each: int = 20, seed: int = 0
) -> Subset:
    """Half of the speakers are Irish and speak in more noise; noise and accent raise what is predicted."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(speakers), each)
    irish = blocks < speakers // 2
    noise = rng.normal(size=speakers)[blocks] * 0.7 + rng.normal(size=len(blocks)) * 0.7 + irish
    values = 0.4 + noisy * noise + accent * irish + rng.normal(0, 0.02, len(blocks))
    values = values + rng.normal(0, 0.02, speakers)[blocks]
    table = pd.DataFrame({"key": np.arange(len(blocks)).astype(str), "noise": noise, "same": 1.0})
    table["accent"], table["none"] = np.where(irish, "irish", "welsh"), np.nan
    table["device"] = np.where(irish, "phone", "headset")
    table["room"] = rng.choice(["hall", "car"], len(blocks))
    subset = Subset(
        "c", AROUSAL, table, None, Predictions(values), Predictions(rng.random(len(blocks))), blocks
    )
    return subset.sized(2, len(blocks) // 2)


def frame_of(subset: Subset, adjust=("noise",), tests=MEAN, **settings) -> pd.DataFrame:
    own = judging("fairness_accent", AROUSAL, adjust, **{"replicates": 400} | settings)
    judge_groups(own, subset, "accent", ["irish", "welsh"], tests)
    frame = decide(own.frame())
    return frame[frame["test"].isin(tests) & frame["group"].ne("")].set_index("group")


def test_a_gap_that_is_all_noise_goes_and_one_of_the_accent_stays():
    noise = frame_of(voices(noisy=0.1)).loc["accent: irish"]
    assert noise["gap"] > 0.06
    assert abs(noise["adjusted"]) < 0.15 * noise["gap"] and noise["adjusted_low"] < 0 < noise["adjusted_high"]
    accent = frame_of(voices(accent=0.1)).loc["accent: irish"]
    assert accent["adjusted"] == pytest.approx(accent["gap"], rel=0.1)
    assert accent["adjusted_low"] < 0.1 < accent["adjusted_high"]
    for row in (noise, accent):
        assert row["adjusted_by"] == "noise" and 0.9 < row["counterpart"] <= 1


@pytest.mark.parametrize("thresholds", ["gap", "published"])
def test_nothing_else_of_a_row_changes(thresholds):
    subset = voices(noisy=0.1)
    with_it, without = frame_of(subset, thresholds=thresholds), frame_of(subset, (), thresholds=thresholds)
    pd.testing.assert_frame_equal(with_it.drop(columns=NEWER), without.drop(columns=NEWER))
    assert without["adjusted_by"].eq("").all() and without[NEWER[:4]].isna().all(axis=None)
    assert with_it["adjusted"].notna().all() and with_it["adjusted"].sum() == pytest.approx(0, abs=1e-11)
    ends = with_it["adjusted_low"]["accent: irish"], with_it["adjusted_high"]["accent: welsh"]
    assert ends[0] == pytest.approx(-ends[1])


def test_the_adjusted_gap_is_the_weighted_formula():
    subset = voices(noisy=0.1)
    frame = frame_of(subset, ("room",))
    values, irish = subset.predictions.clean, subset.mask("accent", "irish")
    room = subset.segments["room"].to_numpy()
    means = []
    for own in (irish, ~irish):
        shares = [(np.mean(room == name), values[own & (room == name)].mean()) for name in ("hall", "car")]
        means.append(sum(share * mean for share, mean in shares))
    assert frame.loc["accent: irish", "adjusted"] == pytest.approx(means[0] - means[1], abs=1e-9)
    assert frame["counterpart"].eq(1).all()


@pytest.mark.parametrize(
    ("adjust", "text"),
    [
        (("device",), "none: device decides the group"),
        (("same",), "none: same is the same for all"),
        (("none",), "none: none is not known of the group"),
        (("noise", "device"), "none: device decides the group"),
    ],
)
def test_columns_that_cannot_adjust_are_refused_with_words(adjust, text):
    frame = frame_of(voices(accent=0.1), adjust)
    assert frame["adjusted_by"].eq(text).all() and frame[NEWER[:4]].isna().all(axis=None)
    assert frame["holds"].eq(True).all()


def test_too_small_a_counterpart_is_shown_without_value():
    subset = voices(accent=0.1)
    alone = np.where(np.arange(len(subset)) % 5 > 0, subset.segments["device"], "both")
    frame = frame_of(subset.with_column("device", alone), ("device",))
    assert frame["adjusted_by"].eq("none: only 20 % of the group have a counterpart").all()
    assert frame["counterpart"].eq(0.2).all() and frame["adjusted"].isna().all()


def test_no_interval_if_nothing_varies():
    subset = voices()
    subset = dataclasses.replace(subset, predictions=Predictions(np.full(len(subset), 0.5)))
    frame = frame_of(subset)
    assert frame["adjusted"].eq(0).all() and frame[["adjusted_low", "adjusted_high"]].isna().all(axis=None)


def test_rows_without_gap_are_not_adjusted():
    subset = voices()
    tests = {"Concordance Correlation Coeff": lambda s, p: concordance_cc(s.truth, p.clean)}
    subset = dataclasses.replace(
        subset, truth=np.full(len(subset), 0.5), predictions=Predictions(np.full(len(subset), 0.5))
    )
    own = judging("fairness_sex", AROUSAL, ("noise",), replicates=400)
    judge_groups(own, subset, "accent", ["irish", "welsh"], tests)
    frame = own.frame().query("group != '' and test in @tests")
    assert frame["gap"].isna().all() and frame["adjusted_by"].eq("").all() and len(frame) == 2


def test_columns_are_numbers_or_words_under_their_own_names():
    subset = voices().with_column(number_of("age"), np.arange(1600.0))
    subset = subset.with_column("flag", pd.Series([True, None] * 800, dtype="boolean"))
    found = adjusting_columns(subset, [number_of("age"), "room", "flag"])
    assert list(found) == ["age", "room", "flag"]
    assert found["age"].dtype == np.float64 and found["room"].dtype == object
    assert found["flag"].tolist()[:2] == [True, None]


def test_ranges_of_a_number_are_not_adjusted_by_that_number():
    subset = voices(noisy=0.1)
    noise = subset.segments["noise"]
    subset = subset.with_column("noise (number)", noise).with_column(
        "noise", np.where(noise < 0.37, "quiet", "loud")
    )
    own = judging("fairness_accent", AROUSAL, ("noise (number)",), replicates=400)
    judge_groups(own, subset, "noise", ["loud", "quiet"], MEAN)
    frame = own.frame()
    frame = frame[frame["test"].isin(MEAN) & frame["group"].ne("")]
    assert frame["gap"].abs().min() > 0.1 and frame["adjusted"].isna().all()
    assert frame["adjusted_by"].eq("none: noise decides the group").all()
