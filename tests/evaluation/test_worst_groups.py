"""What is looked at in a corpus, what is passed over and told, and the row that is kept."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.worst_groups import MOST_VALUES, NO_GROUP, columns_of, in_ranges, search_all
from soundcheck.report import group_views as views

TEST = "Groups Served Worse"
PHONE = "<b>phone</b>"


def people(speakers: int = 40, worse: float = 0.4) -> pd.DataFrame:
    """Speakers of two sexes over three channels; the model is worse for women over a telephone."""
    rng = np.random.default_rng(0)
    speaker = np.repeat(np.arange(speakers), 12)
    n = len(speaker)
    table = pd.DataFrame({"speaker": [f"s{s:02d}" for s in speaker]})
    table["sex"] = np.array(["female", "male"])[speaker % 2]
    table["condition"] = rng.choice([PHONE, "room", "car"], size=n)
    table = table.assign(duration=rng.gamma(3, size=n), pitch=np.nan, arousal=rng.random(n))
    planted = table["sex"].eq("female") & table["condition"].eq(PHONE)
    return table.assign(predicted=table["arousal"] + rng.normal(0, 0.1, n) + worse * planted)


@pytest.fixture
def searched(load):
    def of(table: pd.DataFrame):
        answers, tasks = {"arousal": table["predicted"]}, (BUILTIN["arousal"],)
        segments = table.drop(columns="predicted")
        own = load("fairness_worst_groups", segments, answers, tasks, audio=False, replicates=200)
        result = search_all(own, TEST)
        return own, result, next(own.frame().itertuples())

    return of


def test_columns_are_those_whose_words_may_be_groups():
    numbers = np.arange(500.0)
    table = pd.DataFrame({"speaker": [f"s{n}" for n in range(500)], "sex": ["female", "male"] * 250})
    table["accent"] = [f"village {n}" for n in range(500)]
    table = table.assign(language="en", sentiment=None, emotion=["anger", None, "joy", None] * 125)
    table = table.assign(category=table["emotion"], age=["young", "old"] * 250)
    table = table.assign(**{"age (number)": numbers, "duration": numbers, "pitch": np.nan, "level": numbers})
    columns, passed_over = columns_of(table, ["age"], ["duration", "pitch"], {"speaker"})
    assert list(columns) == ["sex", "emotion", "age", "duration"]
    assert passed_over == {
        "accent": f"it has 500 values, more than {MOST_VALUES}",
        "language": "it has one value",
        "sentiment": "it has no value",
        "category": "it says the same as emotion",
        "pitch": "it could not be measured",
    }
    assert columns["emotion"][:2].tolist() == ["emotion: anger", None]
    words = pd.DataFrame({"pitch": ["low", "high"], "pitch (number)": [1.0, 2.0]})
    columns, passed_over = columns_of(words, ["pitch"], ["pitch"])  # also under such a name
    assert columns["pitch"].tolist() == ["pitch: low", "pitch: high"] and not passed_over


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60))
def test_a_range_says_where_its_numbers_lie(numbers):
    for number, word in zip(numbers, in_ranges("x", np.array(numbers)), strict=True):
        where, *ends = word.replace("−", "-").removeprefix("x ").replace(" to ", " ").split()
        low, high = float(ends[0]), float(ends[-1])
        assert {"below": number < low, "above": number > low}.get(where, low <= number <= high)
    assert "clipped samples above 0 %" in in_ranges("clipping", np.array([0.0] * 4 + [0.02]))


def test_the_row_counts_and_its_remark_names(searched):
    table = people()
    own, (result,), row = searched(table)
    assert (row.value, row.passed, row.reference, row.label, row.group) == (1, False, 0, "", "")
    assert row.skipped.startswith(f"sex: female × condition: {PHONE} (0.3")
    assert row.p_value == result.search.p_value < 0.001 and row.evidence == "none"
    assert pd.isna(row.low) and pd.isna(row.matters) and (row.segments, row.blocks) == (480, 40)
    assert result.passed_over == {"pitch": "it could not be measured"}
    # On the page names are escaped, and the worst of the group and typical others are heard.
    heard = str(views.named_segments(own, [result]))
    page = str(views.looked_at([result])) + str(views.named_groups(own, [result])) + heard
    page += str(views.could_be_shown([result]))
    assert "<b>phone" not in page and page.count("&lt;b&gt;phone&lt;/b&gt;") > 3
    errors = (table["predicted"] - table["arousal"]).abs()
    group = table["sex"].eq("female") & table["condition"].eq(PHONE)
    assert f">{errors[group].idxmax():06d} " in heard
    assert heard.count("the others, typical; labelled") == 2
    assert heard.count("phone&lt;/b&gt;, worst; labelled") == 2


def test_nothing_found_too_little_or_missing(searched):
    own, result, row = searched(people(worse=0))
    assert (row.value, row.passed) == (0, True) and row.skipped.startswith("none of ")
    page = str(views.named_groups(own, result))
    assert page.startswith("<p>No group is shown to be worse: c, arousal (of ")
    _, result, row = searched(people(speakers=4))
    assert not result and pd.isna(row.passed) and row.skipped == NO_GROUP
    table = people()
    _, result, row = searched(table.assign(predicted=table["predicted"].where(table.index % 3 == 0)))
    assert not result and row.skipped == "no prediction for 320 of 480 segments"
    lost = table["condition"].eq("car") & (table.index % 12 > 4)
    own, (result,), _ = searched(table.assign(predicted=table["predicted"].mask(lost)))
    notes = " ".join(own.notes)
    assert result.search.named and "could not be judged" in notes and "no prediction for" in notes
