"""Groups in one call: each against all, in a column of its own; columns without groups are listed."""

import types

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import groups
from soundcheck.evaluation.groups import voice_groups
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.distribution import bin_proportions
from soundcheck.metrics.regression import mean_value
from soundcheck.suite.margins import Margin
from soundcheck.suite.thresholds import read_family

TASK = BUILTIN["arousal"]
MEAN = {"Mean Value": lambda s, p: mean_value(p.clean)}


def evaluation(family: str, **options) -> Judging:
    found = Judging()
    found.model, found.family, found.tasks = "m", read_family(family), [TASK]
    found.family.options.update(options)
    found.corpora = [types.SimpleNamespace(name="c", adjust=(), against={})]
    found.seed, found.replicates, found.interval, found.thresholds = 0, 20, "percentile", "published"
    found.margin = Margin(relative=None)
    found._estimates, found._drawn, found._group_values = [], {}, []
    found.block_names = {"c": "speaker"}
    found.notes, found._judged, found._simulated, found._reasons, found._columns = [], [], {}, {}, {}
    found._seconds_left = 10.0
    return found


@pytest.fixture
def subset(rng) -> Subset:
    """Three languages of different sizes, with sentiments; one prediction is missing."""
    table = pd.DataFrame({"language": np.repeat(["de", "en", "fr"], [120, 60, 30]), "nothing": None})
    table["key"] = [f"k{n:03d}" for n in range(len(table))]
    table["sentiment"] = rng.choice(["negative", "positive"], len(table))
    predicted, random = rng.random(len(table)), rng.random(len(table))
    predicted[3] = np.nan
    return Subset(
        "c",
        TASK,
        table,
        None,
        Predictions(predicted),
        Predictions(random, random=True),
        np.arange(len(table)) % 12,
    )


def found(judging: Judging) -> dict[tuple[str, str], float]:
    frame = judging.frame()
    known = frame[frame["value"].notna()]
    return {(row.test, row.group): row.value for row in known[known["label"].eq("")].itertuples()}


@pytest.mark.parametrize("against", [groups.EVERYBODY, groups.AVERAGE])
def test_each_group_against_all(subset, against):
    judging, names = evaluation("fairness_language"), ["de", "en", "fr"]
    groups.judge_groups(judging, subset, "language", names, MEAN, against=against)
    table = subset.segments.assign(value=subset.predictions.clean)
    means = table.groupby("language")["value"].mean()
    all_groups = means.mean() if against == groups.AVERAGE else table["value"].mean()
    expected = {("Mean Value", f"language: {name}"): means[name] - all_groups for name in names}
    assert found(judging) == pytest.approx(expected, abs=1e-11)
    frame = judging.frame().set_index("group")
    assert frame.loc["language: de", "segments"] == 119 and frame.loc["language: fr", "segments"] == 30
    # what unequal sizes are worth, see the test of equal_size
    assert set(judging.simulated()["groups"]) == {3}


def test_groups_in_a_context(subset):
    judging = evaluation("fairness_linguistic_sentiment")
    tests = {"Mean Shift Difference": lambda s, p, inside: mean_value(p.clean)}
    context = ("sentiment", "negative")
    groups.judge_groups(judging, subset, "language", ["de", "en", "fr"], tests, context=context)
    table = subset.segments.assign(value=subset.predictions.clean)
    inside = table[table["sentiment"].eq("negative")].groupby("language")["value"].mean()
    shifts = inside - table.groupby("language")["value"].mean()
    assert found(judging) == pytest.approx(
        {
            ("Mean Shift Difference", f"language: {name}, sentiment: negative"): shift - shifts.mean()
            for name, shift in shifts.items()
        },
        abs=1e-11,
    )


def test_labels_stay_beside_the_group(subset):
    judging = evaluation("fairness_language")
    tests = {"Relative Difference Per Bin": lambda s, p: bin_proportions(p.clean)}
    groups.judge_groups(judging, subset, "language", ["de", "en"], tests)
    frame = judging.frame()
    judged = frame[frame["value"].notna()]
    assert len(judged) == 8 and set(judged["group"]) == {"language: de", "language: en"}
    assert judged["label"].nunique() == 4 and not judged["label"].str.contains("de").any()
    assert set(judged["test"]) == {"Relative Difference Per Bin"}


def test_columns_are_any_word_and_unknown_ones_are_listed(subset):
    judging = evaluation("fairness_language", groups=["language", "dialect", "nothing", "sentiment"])
    names = {"language": ["de", "en", "fr"], "sentiment": ["negative"]}
    columns = groups.compared_columns(
        judging, subset, MEAN, lambda s, column: names[column], "fewer than 2 groups with 5 segments"
    )
    assert columns == {"language": ["de", "en", "fr"]}
    for column, own in columns.items():
        groups.judge_groups(judging, subset, column, own, MEAN)
    frame = judging.frame()
    own = frame[frame["test"].eq("Mean Value")].set_index("group")
    assert own["skipped"].drop([f"language: {name}" for name in names["language"]]).to_dict() == {
        "dialect": "the corpus has no column dialect",
        "nothing": "the corpus has no column nothing",
        "sentiment": "fewer than 2 groups with 5 segments",
    }
    assert own["value"].notna().sum() == 3
    assert frame["group"].eq("").sum() == 1  # the other test for values was not judged at all


def test_why_nothing_was_judged_is_told_beside_columns(subset):
    judging = evaluation("fairness_language", groups=["dialect"])
    judging.skip(subset, "nobody listens", "Mean Value")
    assert groups.compared_columns(judging, subset, MEAN, lambda s, column: [], "few") == {}
    frame = judging.frame()
    own = frame[frame["test"].eq("Mean Value")].set_index("group")["skipped"].to_dict()
    assert own == {"": "nobody listens", "dialect": "the corpus has no column dialect"}


def test_labels_that_are_groups(subset):
    """A measure may give a value for each group at once; the random reference is told apart."""
    judging, heard = evaluation("fairness_language"), []

    def measure(subset, predictions):
        heard.append(predictions.random)
        return bin_proportions(predictions.clean)

    judging.judge(subset, "Mean Value", measure, column="range")
    frame = judging.frame()
    judged = frame[frame["value"].notna()]
    assert (
        judged["label"].eq("").all() and judged["group"].str.startswith("range: ").all() and len(judged) == 4
    )
    assert heard == [False, True]


def test_predictions_keep_whose_they_are(subset):
    both = (subset.reference, subset.reference.take(np.arange(3)), subset.reference.unchanged())
    assert all(predictions.random for predictions in both)
    assert not subset.predictions.unchanged().random


# Voices


def data(**pitches):
    speakers = [name for name, values in pitches.items() for _ in values]
    return [value for values in pitches.values() for value in values], speakers


def test_borders_belong_to_the_lower_group():
    found, _ = voice_groups(*data(a=[145.0] * 26, b=[145.01] * 26, c=[190.0] * 26, d=[190.01] * 26))
    assert [found[26 * n] for n in range(4)] == ["low", "medium", "medium", "high"]


def test_more_than_25_usable_segments():
    found, told = voice_groups(*data(a=[120.0] * 25, b=[120.0] * 26, c=[120.0] * 25 + [40.0, 351.0, np.nan]))
    assert set(found[25:51]) == {"low"} and set(found[:25]) == set(found[51:]) == {None}
    rows = told.set_index("group")["segments"]
    assert rows["low"] == 26 and rows["speakers with up to 25 usable segments"] == 50
    assert rows["no pitch from 50 to 350 Hz"] == 3


def test_segments_outside_do_not_move_a_speaker():
    found, told = voice_groups(*data(a=[140.0] * 30 + [600.0] * 30))
    assert set(found[:30]) == {"low"} and set(found[30:]) == {None}
    low = told.set_index("group").loc["low"]
    assert (low["speakers"], low["lowest"], low["highest"]) == (1, 140.0, 140.0)


def test_whispered_speakers_and_segments_of_nobody():
    pitch, speakers = data(a=[np.nan] * 30, b=[200.0] * 30)
    speakers[-1] = None
    found, told = voice_groups(pitch, speakers)
    assert set(found[:30]) == {None} and set(found[30:59]) == {"high"} and found[59] is None
    assert told.set_index("group").loc["no speaker", "segments"] == 1


def test_no_voice():
    found, told = voice_groups([], [])
    assert len(found) == 0 and told["segments"].sum() == 0


def test_limits_can_be_moved():
    found, _ = voice_groups(*data(a=[120.0] * 3), (100, 200), (110, 115), 2)
    assert set(found) == {"high"}
    assert isinstance(voice_groups([100.0], ["a"])[1], pd.DataFrame)
