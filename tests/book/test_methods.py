"""Method pages: figures of simulated scores stand where the text wants them."""

import dataclasses
import re

import pytest

from soundcheck.augment.sounds import Sounds
from soundcheck.book import methods
from soundcheck.common import resources
from soundcheck.common.media import MediaStore
from soundcheck.suite.own_rules import OwnTest, with_own_tests
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

SIMULATED = "<!-- simulated -->"
PANELS = {
    "fairness_accent": (30, 3),
    "fairness_language": (6, 3),
    "fairness_linguistic_sentiment": (8, 3),
    "fairness_pitch": (3, 6),
    "fairness_sex": (2, 6),
}


def page(family, own, media):
    return methods.MethodPage(family, media, None, 0, Sounds({})).text(own)


@pytest.mark.parametrize("name", PANELS)
def test_fairness_pages_show_simulated_maxima(tmp_path, monkeypatch, name):
    drawn = []
    draw = methods.study_figures.simulated_maxima
    monkeypatch.setattr(
        methods.study_figures, "simulated_maxima", lambda *given: drawn.append(given) or draw(*given)
    )
    family = read_family(name)
    text = page(family, tmp_path, MediaStore(tmp_path / "media", "media/"))
    groups, count = PANELS[name]
    ((panels, marked, emphasised),) = drawn
    assert emphasised == groups and len(panels) == count and set(marked) == set(panels)
    for (shown,) in marked.values():
        assert shown[2] == groups
    thresholds = {threshold for test in family.tests.values() for threshold in test.thresholds.values()}
    assert {threshold for ((_, threshold, _),) in marked.values()} == thresholds
    for rows in panels.values():
        assert set(rows["groups"]) == {2, 3, 6, 8, 20, 30} and rows["metric"].nunique() == 1
    assert f"The line of {groups} groups is bold" in text and SIMULATED not in text
    assert len(re.findall(r"<img ", text)) == 1 and len(list((tmp_path / "media").iterdir())) == 1


def test_a_family_without_simulation_shows_none(tmp_path):
    family = dataclasses.replace(read_family("correctness_regression"), name="mine")
    assert not any(test.simulation for test in family.tests.values())
    own = tmp_path / "book" / "methods" / "mine.md"
    own.parent.mkdir(parents=True)
    own.write_text("# Mine\n\n<!-- simulated -->\n")
    text = page(family, tmp_path, MediaStore(tmp_path / "media", "media/"))
    assert SIMULATED not in text and "<img" not in text


def test_thresholds_of_a_suite_are_marked_before_the_page_tells_their_source(tmp_path):
    changes = {
        "Mean Absolute Error": OwnTest({"arousal": 0.2}, None, "agreed <b>"),
        "Pearson Correlation Coeff": OwnTest(run=False),
    }
    shipped = read_family("correctness_regression")
    family = with_own_tests(shipped, changes)
    media = MediaStore(tmp_path, "../media/")
    text = page(family, tmp_path, media)
    assert text.index("The suite changes thresholds of this family") < text.index("in this suite: ")
    assert "0.2 (agreed &lt;b&gt;)" in text and "switched off in this suite" in text
    plain = page(shipped, tmp_path, media)
    assert "in this suite" not in plain and "The suite changes" not in plain


def test_the_seventeen_published_families_are_listed_as_their_source_names_them():
    families = [read_family(name) for name in resources.names("book/methods", ".md")]
    text = methods.listed((one.name, one.category, one.title, one.question) for one in reversed(families))
    assert len(methods.PUBLISHED) == 17 == len(re.findall(r"\*(Correctness|Fairness|Robustness) ", text))
    headings = re.findall("^## (.*)$", text, re.MULTILINE)
    assert headings == list(methods.SECTIONS.values())
    assert text.index("*Fairness Linguistic Sentiment*") < text.index("asr_word_errors.md")
