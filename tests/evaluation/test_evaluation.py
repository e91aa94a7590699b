"""What a notebook is given, and one evaluation for tasks of all kinds."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.augment.sounds import Sound, SoundSet
from soundcheck.common.media import open_media
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import Evaluation
from soundcheck.evaluation.groups import NO_GROUPS, compare, labelled, of_suite
from soundcheck.evaluation.measure_sets import of_suite_groups
from soundcheck.evaluation.robustness import change_of_quality, quality
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.unspoken import unjudged
from soundcheck.metrics.additive import value

TASKS = tuple(BUILTIN[name] for name in ("arousal", "transcript", "embedding"))


def test_notebooks_alone_say_what_runs_them():
    for load in (Evaluation.load, open_media):
        with pytest.raises(ValueError, match="run by `soundcheck run`"):
            load("")


@pytest.fixture
def evaluation(load):
    """Eight speakers with ten segments each, in groups; a quarter of the labels is missing."""

    def made(devices=("phone", "headset"), groups=("device",)):
        count = np.arange(80)
        table = pd.DataFrame({"speaker": [f"s{n // 10}" for n in count], "transcript": "Go LEFT"})
        table["arousal"] = np.where(count % 4, count / 80, np.nan)
        table["device"] = np.repeat(devices, 80 // len(devices))
        answers = {"arousal": 0.5, "transcript": "Go right!"}
        return load("fairness_groups", table, answers, TASKS, groups=groups)

    return made


def test_all_tasks_keep_their_rows_in_one_place(evaluation):
    loaded = evaluation()
    values, words = (labelled(loaded, subset) for subset in loaded.subsets())
    assert (len(values), len(words), set(words.truth)) == (60, 80, {"go left"})
    assert [set(words.truth) for _, words in [loaded.subsets(as_written=True)]] == [{"Go LEFT"}]
    assert "c: 20 of 80 segments have no label for arousal" in loaded.notes
    compare(loaded, of_suite(loaded), of_suite_groups)
    frame = loaded.frame()
    judged = frame[frame["test"].eq("Mean Absolute Error") & frame["value"].notna()].set_index("group")
    errors, phone = np.abs(values.truth - 0.5), values.mask("device", "phone")
    gap = errors[phone].mean() - errors[~phone].mean()
    assert judged.loc["device: phone", "gap"] == pytest.approx(gap)
    (why,) = frame[frame["task"].eq("embedding")]["skipped"].unique()
    assert why == "the corpus has neither a list of trials nor two speakers to make one of"


def test_groups_that_are_not_compared_have_their_values_and_the_reason(evaluation):
    loaded = evaluation(["phone"] * 4 + ["headset"] * 3 + ["desk"])
    compare(loaded, of_suite(loaded), of_suite_groups)
    rows = loaded.estimated()
    rows = rows[rows["measure"].eq("mean_absolute_error")].set_index("part")
    values = labelled(loaded, next(iter(loaded.subsets())))
    desk = values.mask("device", "desk")
    assert rows.loc["device: desk", "value"] == pytest.approx(np.abs(values.truth - 0.5)[desk].mean())
    assert rows["low"].isna().all() and rows["excluded"].to_dict() == {
        "device: desk": f"{desk.sum()} segments, 25 needed",
        "device: headset": f"{values.mask('device', 'headset').sum()} segments, 25 needed",
        "device: phone": "no other group is large enough",
    }
    alone = evaluation(groups=())  # one row a task
    assert of_suite(alone) == []
    frame = alone.frame().set_index("task")[["skipped"]]
    assert frame.loc[["arousal", "transcript"], "skipped"].tolist() == [NO_GROUPS] * 2


def test_sounds_are_judged_unless_the_recogniser_may_know_their_language():
    for names, synthetic, languages, reason in (
        (["de/a.wav", "fr/b.wav"], True, (), "the sounds are in de, fr; name its languages under card"),
        (["a.wav", "radio/b.wav"], False, ("en",), ""),
        (["German/deep/a.wav", "fr/b.wav"], False, ("de", "en"), "the recogniser knows de, and some"),
    ):
        sounds = SoundSet("other_language", tuple(map(Sound, names)), synthetic=synthetic)
        why = unjudged(SimpleNamespace(languages=languages), sounds)
        assert (reason in why) if reason else not why


def test_quality_under_a_change_is_that_of_the_metric_on_segments_with_both():
    def qualities(task, truth, changed):
        predictions = Predictions(np.asarray(truth), np.asarray(changed))
        data = pd.DataFrame({"key": [str(n) for n in range(len(truth))]})
        subset = Subset("c", BUILTIN[task], data, truth, predictions, predictions, np.arange(len(truth)))
        return value(quality(subset, predictions)), value(change_of_quality(subset, predictions))

    truth = np.array([0.1, 0.4, 0.6, 0.9])
    for first, changed in ((0, truth + 0.1), (1, [np.nan, *truth[1:] + 0.1])):
        twice = 2 * np.var(truth[first:])  # means differ by 0.1, variances agree
        expected = twice / (twice + 0.01)
        assert qualities("arousal", truth, changed) == pytest.approx((expected, expected - 1))
    classes, changed = (np.repeat(["anger", "neutral"], counts).astype(object) for counts in ((2, 2), (1, 3)))
    assert qualities("emotion", classes, changed) == pytest.approx((0.75, -0.25))
