"""The page of evidence keeps the order of the Annex, claims nothing, and belongs to those who sign it."""

import datetime
import re

import pytest
from markdown_it import MarkdownIt
from tests.support.tested_models import HOSTILE, MODELS, context_of, facts_of

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.card_format import CARD_FORMATS

ORDER = [
    *("## What people have to add", "## 2(g) Validation and testing", "### Procedure"),
    *("### Testing data", "### Metrics", "### Accuracy", "### Robustness"),
    *("### Potentially discriminatory impacts", "### Test logs and reports", "| Name | Role |"),
    *("## 3 Capabilities", "### Accuracy for specific groups", "## 4 Appropriateness"),
]


@pytest.fixture
def made(tmp_path, recorded):
    def make(name, book_url="https://example.org/book", **changes):
        facts = facts_of(name, tmp_path, recorded, **changes)
        return CARD_FORMATS["annex-iv"]().text(facts, context_of(facts, book_url))

    return make


def rendered(text):
    return MarkdownIt("gfm-like", {"linkify": False}).render(text)


@pytest.mark.parametrize("name", MODELS)
def test_order_and_claims(made, name):
    text = made(name)
    places = [text.index(part) for part in ORDER]
    assert places == sorted(places)
    assert not re.search(r"\b(compl(y|ies|iant)|conforms|certified)\b", text.replace(HOSTILE, ""), re.I)
    assert "2026-11-05" in text and re.search(r"SHA-256 `[0-9a-f]{64}`", text)


def test_figures_and_failures_with_interval_counts_and_page(made):
    text = made("recogniser")
    assert (
        "| transcript | c | [word error rate](https://example.org/book/models/m.html) | 150 % "
        "| 12.5 % to 180 % |  | 100 % | 200 | 20 | better than chance |"
    ) in text
    page = "https://example.org/book/results/m/asr_word_errors.html"
    assert f"| [word error rate]({page}) | c | 150 % | 120 to 180 | below 50 % | 20 |  |" in text
    assert f"| welsh speakers | c | [word error rate]({page}) | 10 % | −10 % | 125 points | 10 to" in text
    assert "](" not in made("recogniser", book_url="")


def test_nothing_labelled(made):
    text = made("fairness only")
    assert "**its accuracy is not known**" in text
    assert "There are no tests of correctness for this model." in text
    assert "| fewer than 2 groups | 1 |" in text


def test_nothing_compared(made, recorded):
    text = made("recogniser", rows=MODELS["recogniser"]()["rows"][:2])
    assert "**nothing is known of differences between groups**" in text


def test_what_people_have_to_add(made):
    said = made("recogniser", card={"owner": "Us", "intended_use": "Calls.\n\n<b>Not</b> for hiring."})
    assert "- owner (`card:` of the suite)" in made("recogniser")
    assert "- owner (`card:` of the suite)" not in said
    assert "| Owner | Us |" in said and "&lt;b&gt;Not&lt;/b&gt; for hiring." in said


def test_models_no_better_than_chance_have_no_failures_that_count(made):
    row = MODELS["fairness only"]()["rows"][0]
    figure = {
        **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.0},
        **{"low": -0.1, "high": 0.1, "segments": 200, "blocks": 20, "guessing": 0.0, "standing": "hollow"},
    }
    text = made("fairness only", rows=[row], figures=[figure])
    assert "at arousal, where the model is no better than chance" in text
    assert "welsh" not in text


def test_accepted_failures_are_named_until_their_day_is_over(made, monkeypatch):
    noon = datetime.datetime(2026, 11, 5, 12, tzinfo=datetime.UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(noon.timestamp())))
    entry = {"model": "m", "test": "Mean Value", "why": "known | so", "until": "2026-11-05"}
    text = made("fairness only", accepted=[entry])
    assert "(accepted: known &#124; so (until 2026-11-05))" in text
    over = made("fairness only", accepted=[entry | {"until": "2026-11-04"}])
    assert "accepted" not in over


def test_hostile_names_do_nothing(made):
    shown = rendered(made("hostile", card=MODELS["hostile"]()["card"]))
    assert not re.search(r"<(img|script|a href=.javascript)", shown)
    assert "alert(1)" in shown  # the names are there to be read
    assert "\u202e" not in shown
    assert len(re.findall("<h1>", shown)) == 1
    for rows in re.findall(r"<table>(.*?)</table>", shown, re.DOTALL):
        assert len({row.count("<t") for row in re.findall(r"<tr>(.*?)</tr>", rows, re.DOTALL)}) == 1


def test_a_page_is_replaced_only_if_nobody_changed_it(tmp_path, recorded):
    facts = facts_of("recogniser", tmp_path, recorded)
    page, context = CARD_FORMATS["annex-iv"](), context_of(facts)
    text = page.text(facts, context)
    assert page.text(facts, context) == text
    other = context_of(facts, "")
    for untouched in (text, text.replace("\n", "\r\n"), ""):
        assert page.updated(untouched, "evidence.md", facts, other) == page.text(facts, other)
    for changed in (text.replace("*To be added by people.*", "See the manual."), text + "Signed: A", "# Own"):
        with pytest.raises(InputError, match="evidence.md.*people have written into this page"):
            page.updated(changed, "evidence.md", facts, other)
