"""The study of groups that nobody named: its corpora are as it says, and pages say what it recorded."""

import re

import numpy as np
import pytest
from benchmarks import worst_groups as study

from soundcheck.common import resources
from soundcheck.report.study_figures import recorded


@pytest.mark.parametrize("kind", [study.HALF, study.EIGHTH])
def test_the_planted_group_is_an_eighth_of_the_speech(kind):
    columns, wrong, speaker, planted = study.draw(np.random.default_rng(0), 400, kind)
    assert planted.mean() == pytest.approx(1 / 8, abs=0.01)
    assert len(np.unique(speaker[planted])) == (200 if kind == study.HALF else 50)
    assert wrong[planted].mean() - wrong[~planted].mean() == pytest.approx(study.WORSE, abs=0.03)
    assert all(len(words) == len(wrong) for words in columns.values()) and len(columns) == 7


def test_without_a_planted_group_all_are_served_alike():
    columns, wrong, _, planted = study.draw(np.random.default_rng(0), 400, study.NOBODY)
    assert not planted.any() and wrong.mean() == pytest.approx(study.WRONG, abs=0.01)
    women = columns["sex"] == "sex: 1"
    assert wrong[women].mean() == pytest.approx(wrong[~women].mean(), abs=0.03)


def test_more_corpora_begin_with_the_same_ones():
    assert study.study(20, study.HALF, 2) == study.study(20, study.HALF, 2)


def test_what_is_promised_was_recorded():
    table, made = recorded("worst_groups")
    assert "python benchmarks/worst_groups.py" in made and table["corpora"].eq(study.CORPORA).all()
    rows = table.set_index(["planted", "speakers"])
    assert rows.loc[(study.HALF, 60), "found"] >= study.LEAST_FOUND
    assert (rows.loc[study.NOBODY, "named"] <= study.MOST_NAMED).all()


def test_the_page_of_the_method_shows_what_was_recorded():
    table, _ = recorded("worst_groups")
    rows = table.set_index(["planted", "speakers"])
    page = (resources.root() / "book" / "methods" / "fairness_worst_groups.md").read_text("utf-8")
    lines = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, flags=re.MULTILINE)
    assert len(lines) == len(study.SPEAKERS)
    for speakers, *shown in ([int(cell) for cell in line] for line in lines):
        expected = [
            rows.loc[(study.NOBODY, speakers), "candidates"],
            *(100 * rows.loc[(kind, speakers), "found"] for kind in (study.HALF, study.EIGHTH)),
            100 * rows.loc[(study.NOBODY, speakers), "named"],
        ]
        assert shown == [round(number) for number in expected]
