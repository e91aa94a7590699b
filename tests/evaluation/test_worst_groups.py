"""What is looked at in a corpus, what is passed over and told, and the row that is kept."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.description import CorpusDescription
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.worst_groups import (
    MOST_VALUES,
    NO_GROUP,
    columns_of,
    in_ranges,
    judge_found,
    search_all,
    search_groups,
    searched_subsets,
)
from soundcheck.metrics.regression import mean_absolute_error
from soundcheck.report import worst_group_views as views

TEST = "Groups Served Worse"


def badly(subset, predictions):
    return mean_absolute_error(subset.truth, predictions.clean)


def people(speakers: int = 40, each: int = 12, worse: float = 0.4, seed: int = 0) -> pd.DataFrame:
    """Speakers of two sexes over three channels; the model is worse for women over a telephone."""
    rng = np.random.default_rng(seed)
    speaker = np.repeat(np.arange(speakers), each)
    table = pd.DataFrame(
        {
            "speaker": [f"s{s:02d}" for s in speaker],
            "sex": np.array(["female", "male"])[speaker % 2],
            "condition": rng.choice(["<b>phone</b>", "room", "car"], size=len(speaker)),
            "duration": rng.gamma(3, size=len(speaker)),
            "pitch": np.nan,
            "arousal": rng.random(len(speaker)),
        }
    )
    planted = table["sex"].eq("female") & table["condition"].eq("<b>phone</b>")
    table["predicted"] = table["arousal"] + rng.normal(0, 0.1, len(speaker)) + worse * planted
    return table


@pytest.fixture
def evaluation(tmp_path, describe):
    """Load an evaluation of a table with predictions in it."""

    def load(table: pd.DataFrame, groups: tuple[str, ...] = ()) -> Evaluation:
        numbers = [f"{n:06d}" for n in range(len(table))]
        table = table.assign(key=numbers, file=numbers, start=0.0, end=1.0)
        given = table[["key"]].assign(change="", error="", drawn="", arousal=table["predicted"])
        given.to_parquet(tmp_path / "predictions.parquet")
        table.drop(columns="predicted").to_parquet(tmp_path / "segments.parquet")
        corpus = CorpusDescription(
            **{"name": "c", "title": "c", "synthetic": False, "root": tmp_path, "audio": False},
            **{"base_condition": "", "probes_of": "", "trials": None, "groups": groups, "adjust": ()},
            blocks=("speaker",),
            segments=tmp_path / "segments.parquet",
            predictions=tmp_path / "predictions.parquet",
        )
        tasks = (BUILTIN["arousal"],)
        return Evaluation(describe("fairness_worst_groups", replicates=200, tasks=tasks, corpora=(corpus,)))

    return load


def test_columns_are_those_whose_words_may_be_groups():
    table = pd.DataFrame(
        {
            "speaker": [f"s{n}" for n in range(500)],
            "accent": [f"village {n}" for n in range(500)],
            "sex": ["female", "male"] * 250,
            "language": "en",
            "sentiment": None,
            "emotion": ["anger", None, "joy", None] * 125,
            "category": ["anger", None, "joy", None] * 125,
            "age": ["young", "old"] * 250,
            "age (number)": np.arange(500.0),
            "duration": np.arange(500.0),
            "pitch": np.nan,
            "level": np.arange(500.0),
        }
    )
    found, passed_over = columns_of(table, ["age"], ["duration", "pitch"], {"speaker"})
    assert list(found) == ["sex", "emotion", "age", "duration"]
    assert passed_over == {
        "accent": f"it has 500 values, more than {MOST_VALUES}",
        "language": "it has one value",
        "sentiment": "it has no value",
        "category": "it says the same as emotion",
        "pitch": "it could not be measured",
    }
    assert found["emotion"][:2].tolist() == ["emotion: anger", None]
    table = pd.DataFrame(
        {"pitch": ["low", "high"], "pitch (number)": [100.0, 200.0], "level": ["loud", "soft"]}
    )
    found, passed_over = columns_of(table, ["pitch"], ["pitch", "level"])  # words, also under such a name
    assert found["pitch"].tolist() == ["pitch: low", "pitch: high"] and not passed_over
    assert found["level"].tolist() == ["level: loud", "level: soft"]


def test_names_of_ranges_hold_units_and_minus_signs():
    level = in_ranges("level", np.array([-40.0, -30.0, -20.0, -10.0]))
    assert level[0] == "level below −32.5 dB" and level[-1] == "level above −17.5 dB"
    noise = in_ranges("signal_to_noise", np.array([1.0, 2.0, 3.0, 4.0]))
    assert noise[0] == "signal-to-noise ratio below 1.75 dB"
    alike = in_ranges("duration", np.array([0.1, 0.3 - 0.2, 1.1 - 1.0, 0.2]))
    assert alike[0] == alike[1] == alike[2]
    clipped = in_ranges("clipping", np.array([0.0, 0.0, 0.0, 0.0, 0.02]))
    assert set(clipped) == {"clipped samples of 0 %", "clipped samples above 0 %"}


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60))
def test_a_range_says_where_its_numbers_lie(numbers):
    for number, word in zip(numbers, in_ranges("x", np.array(numbers)), strict=True):
        where, *ends = word.replace("−", "-").removeprefix("x ").replace(" to ", " ").split()
        ends = [float(end) for end in ends]
        if where == "below":
            assert number < ends[0]
        elif where == "above":
            assert number > ends[0]
        else:
            assert ends[0] <= number <= ends[-1]


def searched(loaded: Evaluation):
    """Search the groups of the only corpus and keep the row."""
    (subset,) = searched_subsets(loaded)
    found = search_groups(loaded, subset, badly, 0.1)
    if found is not None:
        judge_found(loaded, found, TEST)
    return found, next(loaded.frame().itertuples())


def test_the_row_counts_and_its_remark_names(evaluation):
    found, row = searched(evaluation(people()))
    assert (row.value, row.passed, row.reference, row.label, row.group) == (1, False, 0, "", "")
    assert row.skipped.startswith("sex: female × condition: <b>phone</b> (0.3")
    assert row.p_value == found.search.p_value < 0.001 and row.evidence == "none"
    assert pd.isna(row.low) and pd.isna(row.matters) and (row.segments, row.blocks) == (480, 40)
    assert found.passed_over == {"pitch": "it could not be measured"}
    loaded = evaluation(people(worse=0))
    found, row = searched(loaded)
    assert (row.value, row.passed) == (0, True) and row.skipped.startswith("none of ")
    shown = str(views.named_groups(loaded, [found]))
    assert shown.startswith("<p>No group is shown to be worse: c, arousal (of ")


def test_names_with_markup_are_escaped_on_the_page(evaluation):
    loaded = evaluation(people())
    found = search_all(loaded, TEST)
    shown = str(views.looked_at(found)) + str(views.named_groups(loaded, found))
    shown += str(views.could_be_shown(found)) + str(views.segments(loaded, found))
    assert "<b>phone" not in shown and shown.count("&lt;b&gt;phone&lt;/b&gt;") > 3
    assert "left out: it could not be measured" in shown and "Finding nothing is no proof" in shown


def test_what_is_heard_are_the_worst_of_the_group_and_typical_others(evaluation):
    table = people()
    loaded = evaluation(table)
    shown = str(views.segments(loaded, search_all(loaded, TEST)))
    errors = (table["predicted"] - table["arousal"]).abs()
    group = table["sex"].eq("female") & table["condition"].eq("<b>phone</b>")
    assert f"<p>{errors[group].idxmax():06d} " in shown
    assert shown.count("the others, typical; labelled") == 2
    assert shown.count("phone&lt;/b&gt;, worst; labelled") == 2


def test_what_is_too_small_or_missing_is_a_skipped_row_or_a_note(evaluation):
    assert searched(evaluation(people(speakers=8)))[0] is not None  # channels have all 8 on either side
    found, row = searched(evaluation(people(speakers=4)))
    assert found is None and pd.isna(row.passed) and row.skipped == NO_GROUP
    table = people()
    table.loc[table.index % 3 > 0, "predicted"] = np.nan
    found, row = searched(evaluation(table))
    assert found is None and row.skipped == "no prediction for 320 of 480 segments"
    table = people()
    table.loc[table["condition"].eq("car") & (table.index % 12 > 4), "predicted"] = np.nan
    loaded = evaluation(table)
    assert searched(loaded)[0].search.named
    notes = " ".join(loaded.notes)
    assert "could not be judged" in notes and "no prediction for" in notes
