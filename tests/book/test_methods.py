"""Method pages: figures of simulated scores where the text wants them; changed thresholds are marked."""

import re

import pytest

from soundcheck.augment.sounds import Sounds
from soundcheck.book import methods
from soundcheck.common import resources
from soundcheck.common.media import MediaStore
from soundcheck.suite.own_rules import OwnTest, with_own_tests
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow


@pytest.fixture
def page(tmp_path):
    media = MediaStore(tmp_path / "media", "media/")
    return lambda family: methods.MethodPage(family, media, None, 0, Sounds({})).text(tmp_path)


@pytest.mark.parametrize(("name", "groups", "panels"), [("fairness_accent", 30, 3), ("fairness_sex", 2, 6)])
def test_fairness_pages_show_simulated_maxima(page, monkeypatch, name, groups, panels):
    drawn, draw = [], methods.study_figures.simulated_maxima
    monkeypatch.setattr(
        methods.study_figures, "simulated_maxima", lambda *given: drawn.append(given) or draw(*given)
    )
    family = read_family(name)
    text = page(family)
    ((rows, marked),) = drawn
    assert len(rows) == panels and set(marked) == set(rows)
    published = {(value, groups) for test in family.tests.values() for value in test.thresholds.values()}
    assert {(threshold, of) for ((_, threshold, of),) in marked.values()} == published
    for own in rows.values():
        assert set(own["groups"]) == {2, 3, 6, 8, 20, 30} and own["metric"].nunique() == 1
    assert "Published thresholds are stars" in text and "<!-- simulated -->" not in text
    assert len(re.findall(r"<img ", text)) == 1


def test_thresholds_of_a_suite_are_marked_before_the_page_tells_their_source(page):
    shipped, agreed = read_family("correctness_regression"), OwnTest({"arousal": 0.2}, None, "agreed <b>")
    changes = {"Mean Absolute Error": agreed, "Pearson Correlation Coeff": OwnTest(run=False)}
    text = page(with_own_tests(shipped, changes))
    assert text.index("The suite changes thresholds of this family") < text.index("in this suite: ")
    assert "0.2 (agreed &lt;b&gt;)" in text and "switched off in this suite" in text
    assert "in this suite" not in page(shipped)


def test_the_seventeen_published_families_are_listed_as_their_source_names_them():
    families = [read_family(name) for name in resources.names("book/methods", ".md")]
    text = methods.listed(reversed(families))
    assert len(methods.PUBLISHED) == 17 == len(re.findall(r"\*(Correctness|Fairness|Robustness) ", text))
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(methods.SECTIONS.values())
    assert text.index("*Fairness Linguistic Sentiment*") < text.index("asr_word_errors.md")
