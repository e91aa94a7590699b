"""One evaluation for tasks of all kinds."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.description import CorpusDescription
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import NO_GROUPS, compare, labelled, of_suite
from soundcheck.evaluation.measure_sets import of_suite_groups
from soundcheck.predict.tables import Row, write_predictions

TASKS = tuple(BUILTIN[name] for name in ("arousal", "transcript", "embedding"))


@pytest.fixture
def corpus(tmp_path):
    """Eight speakers with ten segments each, in two groups; a quarter of the labels is missing."""

    def made(**further):
        count = np.arange(80)
        table = pd.DataFrame(
            {
                **{"key": [f"k{n:02d}" for n in count], "file": "a.wav", "start": 0.1 * count},
                **{"end": 0.1 * count + 0.1, "speaker": [f"s{n // 10}" for n in count]},
                **{"transcript": "Go LEFT", "arousal": np.where(count % 4, count / 80, np.nan)},
                "device": np.where(count < 40, "phone", "headset"),
            }
        )
        table.to_parquet(tmp_path / "segments.parquet")
        rows = [Row(key, "", {"arousal": 0.5, "transcript": "Go right!"}) for key in table["key"]]
        write_predictions(tmp_path / "predictions.parquet", rows, TASKS)
        usual = {
            **{"name": "c", "title": "", "synthetic": False, "blocks": ("speaker",), "probes_of": ""},
            **{"base_condition": "", "root": tmp_path, "audio": True, "trials": None},
            **{name: tmp_path / f"{name}.parquet" for name in ("segments", "predictions")},
        }
        return CorpusDescription(**(usual | further))

    return made


@pytest.fixture
def evaluation(describe, corpus):
    def made(**further):
        return Evaluation(describe("fairness_groups", tasks=TASKS, corpora=(corpus(**further),)))

    return made


def test_texts_are_normalised_or_as_written(evaluation):
    found = evaluation(groups=("device",))
    values, words = found.subsets()
    assert values.truth.dtype.kind == "f" and set(words.truth) == {"go left"}
    assert [set(words.truth) for _, words in [found.subsets(as_written=True)]] == [{"Go LEFT"}]


def test_all_tasks_keep_their_rows_in_one_place(evaluation):
    found = evaluation(groups=("device",))
    values, words = (labelled(found, subset) for subset in found.subsets())
    assert (len(values), len(words)) == (60, 80)
    assert "c: 20 of 80 segments have no label for arousal" in found.notes
    compare(found, of_suite(found), of_suite_groups)
    frame = found.frame()
    judged = frame[frame["test"].eq("Mean Absolute Error") & frame["value"].notna()].set_index("group")
    expected = np.abs(values.truth - 0.5)
    phone = values.segments["device"].eq("phone").to_numpy()
    assert judged.loc["device: phone", "gap"] == pytest.approx(
        expected[phone].mean() - expected[~phone].mean()
    )
    trials = frame[frame["task"].eq("embedding")]
    assert trials["skipped"].unique() == [
        "the corpus has neither a list of trials nor two speakers to make one of"
    ]


def test_groups_that_are_not_compared_have_their_values_and_the_reason(evaluation):
    found = evaluation(groups=("device",))
    devices = np.repeat(["phone", "headset", "desk"], [40, 30, 10])
    found.corpora[0].segments["device"] = devices
    compare(found, of_suite(found), of_suite_groups)
    rows = found.estimated()
    rows = rows[rows["measure"].eq("mean_absolute_error")].set_index("part")
    values = labelled(found, next(iter(found.subsets())))
    error = np.abs(values.truth - 0.5)
    own = values.segments["device"].eq("desk").to_numpy()
    assert rows.loc["device: desk", "value"] == pytest.approx(error[own].mean())
    headsets = values.segments["device"].eq("headset").sum()
    assert rows["excluded"].to_dict() == {
        "device: desk": f"{own.sum()} segments, 25 needed",
        "device: headset": f"{headsets} segments, 25 needed",
        "device: phone": "no other group is large enough",
    }
    assert rows["low"].isna().all()


def test_without_groups_there_is_one_row_a_task(evaluation):
    found = evaluation()
    assert of_suite(found) == []
    told = found.frame()[["task", "skipped"]].drop_duplicates()
    assert told[told["task"].ne("embedding")]["skipped"].tolist() == [NO_GROUPS] * 2
    assert (found.frame()["task"].value_counts()[["arousal", "transcript"]] == 1).all()
