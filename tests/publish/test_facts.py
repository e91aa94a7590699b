"""Facts about a model are those of its tables; three lines say them; no name becomes markup."""

import html as names
import json
import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.support.findings import FIGURE, GAP, NOTHING, OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.messages import InputError, xml_text
from soundcheck.publish.cards.formats.huggingface import BEGIN, END
from soundcheck.publish.facts import as_markdown, inline, verdict_lines
from soundcheck.report.failures import for_groups
from soundcheck.results.facts import ModelFacts
from soundcheck.results.rows import Estimate
from soundcheck.results.table import estimate_frame, write_estimates
from soundcheck.suite.entries import Card

FEW = {"state": "inconclusive", "state_sample": "reported", "gap_low_sample": -0.25, "gap_high_sample": -0.12}
FEW |= {"passed": False, "holds": False, "evidence": "none", "gap_low": None, "gap_high": None, "blocks": 2}


@pytest.fixture
def read(tmp_path):
    """Write a run of some rows and read the facts of a model."""

    def facts(rows, model=None, kinds=None, **changes):
        return ModelFacts.read(finished(tmp_path, rows, kinds, **changes), model)

    return facts


def test_the_model_is_the_only_one_beside_random_references_or_has_to_be_named(read, tmp_path):
    assert read([verdict(), verdict("r")], kinds={"r": "random"}).model.name == "m"
    assert read([verdict(), verdict("r")], "r", {"r": "random"}).model.name == "r"
    for name, message in ((None, "2 models.*Name one of them"), ("mm", "no results of such a model")):
        with pytest.raises(InputError, match=message):
            read([verdict(), verdict("n")], name)
    (tmp_path / "run.json").unlink()
    with pytest.raises(InputError, match="no record of the run"):
        ModelFacts.read(tmp_path)


def test_what_people_say_of_the_model_comes_first(read, tmp_path):
    read([verdict()], card={"owner": "all", "license": "mit", "contact": "c"})
    about = json.loads((tmp_path / "run.json").read_text())
    about["models"][0] |= {"license": "apache-2.0", "card": {"owner": "we"}}
    (tmp_path / "run.json").write_text(json.dumps(about))
    assert ModelFacts.read(tmp_path).card == Card(owner="we", license="apache-2.0", contact="c")


def test_values_of_groups_are_estimates(read, tmp_path):
    read([verdict()], figures=[FIGURE])
    balanced = ("m", "c", "f", "arousal", "concordance_cc (balanced)")
    parts = {"sex: female": 0.7, "sex: male": 0.5, "all": 0.6}
    rows = [Estimate(*balanced, part=part, value=value) for part, value in parts.items()]
    rows += [Estimate(*balanced[:4], "pearson_cc", part="sex: male", value=0.1)]
    rows += [Estimate(*balanced, part="sex: male", condition="Noise 10", value=0.1)]
    write_estimates(estimate_frame(rows), tmp_path)
    groups = ModelFacts.read(tmp_path).group_values
    assert groups["part"].tolist() == ["sex: male", "sex: female"] and groups["value"].tolist() == [0.5, 0.7]


def test_a_group_that_is_better_off_is_a_difference_if_no_other_is(read):
    passes = GAP | OPEN | PUBLISHED | {"test": "Unweighted Average Recall", "state": "pass", "gap": 0.2}
    assert str(for_groups(read([verdict(**passes)]))).endswith(" arousal 0.30, others 0.48, better")


FRENCH = GAP | OPEN | {"group": "accent: french", "gap": 0.05, "gap_high": 0.21, "bound": 0.21}
PUBLISHED = {"passed": True, "rule": "|value| <", "threshold": 0.5, "reference_passed": True}
BROKEN = [{"model": "m", "family": "correctness_regression", "status": "failed", "error": "x"}]
ALL = [{}, GAP, FRENCH]


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        (ALL, "How good: m is better than chance: concordance of arousal 0.61 (95 % 0.57 to 0.66,"),
        (ALL, "What fails: 1 of 3 tests fails; the largest about fairness: arousal of german speakers"),
        (ALL, "a difference of up to 0.21 is not excluded (arousal of french speakers)"),
        ([FAILED, GAP], "2 of 2 tests fail; the largest about correctness: "),
        ([FAILED, GAP], "; the largest about fairness: arousal of german"),  # one bias hides no other
        ([GAP | PUBLISHED], "margin of 0.075); passes the published rule (|value| < 0.5). 0 pass, 1 fail"),
        ([GAP | FEW], "Nothing could be concluded: 1 difference has too few speakers. 0 pass"),
        ([GAP | FEW], "95 % −0.25 to −0.12 for these speakers, 2 speakers, margin 0.075"),
        ([NOTHING], ": 1 test not evaluated; the tests of correctness_regression failed to run."),
    ],
)
def test_three_lines_say_how_good_it_is_what_fails_and_what_is_unknown(read, rows, part):
    lines = verdict_lines(read([verdict(**row) for row in rows], figures=[FIGURE], notebooks=BROKEN))
    text = "\n".join(f"{head}: {words}" for head, words in lines)
    assert len(lines) == 3 and part in text


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "[a](javascript:b)", "# h\n- i\n\n> j"])
def test_names_become_no_markup_call_nobody_and_lead_nowhere(read, name):
    text = as_markdown(verdict_lines(read([verdict(name)])), name)
    page = BeautifulSoup(MarkdownIt("gfm-like", {"linkify": False}).render(text), "html.parser")
    assert " ".join(name.split()) in page.get_text().replace("\u2060", "")
    assert {tag.name for tag in page.find_all(True)} <= {"p", "strong", "ul", "li"}
    assert sum(line.startswith("- ") for line in text.splitlines()) == 3
    text = as_markdown([("What fails", "@team #12 !3 https://a.example www.b.example 0.5")], "m")
    assert not any(live in text for live in ("@t", "#1", "!3", "://", "www.")) and "0.5" in text


HOSTILE = [
    f"<script>alert(1)</script> {BEGIN} {END} <!-- x",
    "a | b || c **bold** _it_ ~~gone~~ `code` ``x`` \\`x\\` \\| &lt;b&gt; &#124;",
    "[here](javascript:alert(1)) ![x](y) [ref]: z {{ secrets }} {% raw %} $x^2$ $$y$$",
    *("# heading", "---", "===", "- item\n- item", "1. one", "> quote", "+ plus", "```\nfence\n```"),
    "a\n\n---\n\n# b\r\n\tcode",
    "https://example.org www.example.org a@example.org <https://example.org>",
    "\u202etxt.exe \x1b[31m \ud800 \"quotes\" 'and' “these”",
]


def rendered(text: str) -> str:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def seen(html: str) -> str:
    return " ".join(names.unescape(re.sub(r"<[^>]+>", "", html)).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_readers_see_the_text_and_nothing_else(text):
    harmless = " ".join(xml_text(text).split())
    for before, tags in (("", {"p"}), ("- ", {"ul", "li"}), ("## ", {"h2"})):
        html = rendered(before + inline(text))
        assert set(re.findall(r"</?([a-z0-9]+)", html)) == tags and seen(html) == harmless
    html = rendered(f"| a | b |\n| --- | ---: |\n| {inline(text)} | 1 |")
    assert html.count("<td") == 2 and seen(html.partition("<tbody>")[2]) == f"{harmless} 1"


@given(st.text(max_size=60))
@example("http://a.b\n")
def test_whatever_the_text(text):
    assert set(re.findall(r"<[^>]*>", rendered(f"x {inline(text)} y"))) == {"<p>", "</p>"}
    assert "://" not in inline(text) and "\n" not in inline(text)
