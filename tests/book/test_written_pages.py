"""Written pages and pages of methods: what they say of simulations and tables is what was recorded.

``python tests/book/test_written_pages.py`` puts the recipes of docs/ into the page on pipelines again."""

import inspect
import os
import re
import select
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.report.given import subset

from soundcheck.augment.sounds import Sounds
from soundcheck.book import methods, pages
from soundcheck.common import resources
from soundcheck.common.media import MediaStore
from soundcheck.metrics import regression
from soundcheck.report import method_views
from soundcheck.report.method_views import recorded as recorded_table
from soundcheck.results.contrast import CONTRAST_COLUMNS
from soundcheck.results.table import COLUMNS, RESULT_COLUMNS
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.families import OwnTest, with_own_tests
from soundcheck.suite.thresholds import read_family


@pytest.fixture
def method_page(tmp_path):
    media = MediaStore(tmp_path / "media", "media/")
    return lambda family: methods.MethodPage(family, media, None, 0, Sounds({})).text(tmp_path)


@pytest.mark.parametrize(("name", "groups", "panels"), [("fairness_accent", 30, 3), ("fairness_sex", 2, 6)])
def test_fairness_pages_show_simulated_maxima(method_page, monkeypatch, name, groups, panels):
    drawn, draw = [], method_views.simulated_maxima
    monkeypatch.setattr(method_views, "simulated_maxima", lambda *given: drawn.append(given) or draw(*given))
    family = read_family(name)
    text = method_page(family)
    ((rows, marked),) = drawn
    assert len(rows) == panels and set(marked) == set(rows)
    published = {(value, groups) for test in family.tests.values() for value in test.thresholds.values()}
    assert {(threshold, of) for ((_, threshold, of),) in marked.values()} == published
    assert "<!-- simulated -->" not in text and text.count("<img ") == 1


def test_thresholds_of_a_suite_are_marked_before_the_page_tells_their_source(method_page):
    shipped, agreed = read_family("correctness_regression"), OwnTest({"arousal": 0.2}, None, "agreed <b>")
    changes = {"Mean Absolute Error": agreed, "Pearson Correlation Coeff": OwnTest(run=False)}
    text = method_page(with_own_tests(shipped, changes))
    assert text.index("The suite changes thresholds of this family") < text.index("in this suite: ")
    assert "0.2 (agreed &lt;b&gt;)" in text and "switched off in this suite" in text
    assert "in this suite" not in method_page(shipped)


def test_the_seventeen_published_families_are_listed_as_their_source_names_them():
    families = [read_family(name) for name in resources.names("book/methods", ".md")]
    text = methods.listed(reversed(families))
    assert len(methods.PUBLISHED) == 17 == len(re.findall(r"\*(Correctness|Fairness|Robustness) ", text))
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(methods.SECTIONS.values())


ROOT = resources.root()
RECIPE = re.compile(r"<!-- (docs/[\w-]+\.yml) -->\n(\n```yaml\n.*?\n```\n)?", re.DOTALL)


def page(name: str) -> str:
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def simulated(name: str, table: str, kind: str) -> tuple[str, pd.DataFrame]:
    """Give the words of a page without line breaks, and the table of its simulation."""
    frame = pd.read_csv(ROOT / "book" / "tables" / f"{table}.csv", comment="#")
    return " ".join(page(name).split()), frame.set_index(["planted", kind])


def percents(shares) -> str:
    first, second, third = (f"{100 * share:.0f}" for share in shares)
    return f"{first}, {second} and {third}"


def test_the_page_on_histories_tells_the_recorded_simulation():
    text, frame = simulated("history", "histories", "tests")
    same, planted = frame.loc[0], frame.loc[0.15]
    assert same["histories"].eq(1000).all() and same["marked"].max() <= 0.05
    shares = [f"{100 * share:.1f} %" for share in same["marked"]]
    assert f"{shares[0]} marked anything with independent tests, {shares[1]} with correlated" in text
    assert f"{percents(planted['found'])} % of these were marked" in text
    assert f"{percents(planted['wrong'])} % of the marks were wrong" in text


def test_the_page_on_pipelines_tells_the_recorded_simulation():
    text, frame = simulated("pipelines", "baseline", "speakers")
    fair, worse = frame.loc[0], frame.loc[20]
    assert list(fair.index) == [10, 20, 40] and fair["tests"].eq(1000).all()
    assert f"this alarms in {percents(fair['alarms'])} of 100 runs with 10, 20 and 40 speakers" in text
    assert f"each on its own, alarm in {percents(fair['alarms_of_percentiles'])} of 100" in text
    assert f"got worse by 0.1, it alarms in {percents(worse['alarms'])} of 100 runs" in text
    assert f"{percents(worse['found'])} % of these tests are found" in text
    assert fair["alarms"].max() <= 0.05 and (fair["alarms_of_percentiles"] >= 0.95).all()
    assert worse["false_among_found"].max() < 0.1


def with_recipes(text: str) -> str:
    def filled(match: re.Match) -> str:
        return f"<!-- {match[1]} -->\n\n```yaml\n{(ROOT / match[1]).read_text(encoding='utf-8')}```\n"

    return RECIPE.sub(filled, text)


def test_the_page_shows_the_recipes_as_they_are_and_that_for_github_has_no_right_but_to_comment():
    text = page("pipelines")
    names = [match[1] for match in RECIPE.finditer(text)]
    assert len(names) == 2 and with_recipes(text) == text
    recipe = yaml.safe_load((ROOT / names[0]).read_text(encoding="utf-8"))
    assert recipe["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "pull_request_target" not in recipe[True]  # `on`; it would run code of strangers with rights
    scripts = [step["run"] for step in recipe["jobs"]["soundcheck"]["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]  # nobody's text becomes a command


@pytest.mark.parametrize(
    ("name", "columns"),
    [("results.csv", RESULT_COLUMNS), ("estimates.csv", COLUMNS), ("comparisons.csv", CONTRAST_COLUMNS)],
)
def test_each_column_is_explained_once(name, columns):
    section = page("columns").split(f"## {name}\n")[1].split("\n## ")[0]
    first = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(name for cell in first for name in re.findall(r"`(\w+)`", cell)) == sorted(columns)


def test_recorded_tables_are_filled_in():
    text = page("measured_columns")
    named, filled = re.findall(r"<!-- recorded: (\w+) -->", text), pages.filled(text)
    assert len(named) == 4 == filled.count("```{raw} html") <= filled.count("<table") and "<!--" not in filled


def test_the_page_on_measured_columns_says_what_the_tables_show():
    errors, _ = recorded_table("signal_to_noise")
    steady = errors["noise"].isin(["white", "pink", "telephone", "hum"])
    assert errors.loc[steady & errors["speech"].eq("syllables"), "error"].abs().max() < 1
    assert errors.loc[steady & errors["ratio"].isin([10, 20, 30]), "error"].abs().max() < 1
    assert errors.loc[errors["ratio"].eq(40) & errors["speech"].ne("syllables") & steady, "error"].max() < 0
    accents, _ = recorded_table("human_accents")
    assert accents["least_p"].round(3).eq(0.067).all() and accents["p_value"].min() >= 0.0666
    people, _ = recorded_table("human_speech")
    speakers = people[people["group"].str.startswith("speaker")]
    medians = speakers.pivot(index="group", columns="measure", values="median")
    apart = medians.max() - medians.min()
    assert apart["signal_to_noise"] == pytest.approx(30, abs=1.5)
    assert apart["level"] == pytest.approx(22, abs=1)
    digits = recorded_table("human_recognition")[0].set_index(["measure", "sound"])["value"]
    assert digits["Word Error Rate", "as it is"] == pytest.approx(1 / 3, abs=0.05)
    doubled, words = digits["SNR where the rate doubles"], digits["Words Per Minute"]
    assert doubled["Noise"] == pytest.approx(8, abs=1) and doubled["Babble"] == pytest.approx(14, abs=1)
    assert words["Silence"] == words["White Noise"] == 0 and words["Other Language"] / 60 > 2


def test_every_public_function_that_gives_a_statistic_is_listed_once_with_its_docstring():
    text, declared = pages.written_page("measures"), 0
    for path in sorted(Path(inspect.getfile(regression)).parent.glob("[a-z]*.py")):
        code = path.read_text(encoding="utf-8")
        for name, returned in re.findall(r"^def ([a-z]\w*)\([^)]*\) -> ([^:]*):", code, re.MULTILINE):
            if re.search("Statistic|Weighted", returned):
                declared += 1
                assert text.count(f"- `{name}(") == 1, name
    assert declared > 40 and "det_curve(" not in text and "align(" not in text  # these give no statistic
    assert r"- `mean_absolute_error(truth, prediction)`: Mean absolute error, $\frac1N \sum |" in text
    assert "  ```pycon\n  >>> concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.8])\n  Statistic(0.96)\n" in text
    assert pages.MEASURES not in text and not re.search(":func:|:math:|(?<!`)``(?!`)", text)
    functions = [each for module in pages.measures().values() for each in module.values()]
    assert [each for each in functions if ">>> " not in inspect.getdoc(each)] == []


def test_the_examples_of_measures_run(rng):
    truth = rng.random(40)
    made = subset(truth, truth + 0.1, changed=truth + 0.3, blocks=np.arange(40) % 8)
    names = {"np": np}
    blocks = re.findall(r"```python\n(.*?)```", page("measures"), re.DOTALL)
    exec("".join(map(textwrap.dedent, blocks)), names)
    assert names["rarely_exceeded_error"](made, made.predictions) == pytest.approx(0.1)
    loss = resample(names["loss"](made, made.predictions), made.blocks, 100)
    assert loss.value[0] == pytest.approx(0.2)


def test_links_to_the_manual_lead_to_the_handbook_or_nowhere():
    absent = pages.missing(["fairness_thresholds"])
    text = "[a](../suite.md#keys) [b](../statistics.md) [c](../confidence_intervals.ipynb) [d](https://e.org/x.md)"
    others = "[b](../statistics.md) c [d](https://e.org/x.md)"
    assert pages.linked(text, "methods/x", absent) == f"a {others}"
    link = pages.linked(text, "methods/x", absent, "https://e.org/h")
    assert link == f"[a](https://e.org/h/book/suite.html#keys) {others}"
    assert pages.linked("[x](fairness_thresholds.ipynb)", "x", absent) == "[x](fairness_thresholds.ipynb)"


def test_the_handbook_names_every_written_page():
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for path in (ROOT / "book").rglob("*.md"):
        assert f": {path.relative_to(ROOT).with_suffix('').as_posix()}\n" in text, path


KILLED = """
import os, sys, time
from soundcheck.book import pages

def slow():
    os.write(1, b"at work ")
    time.sleep(60)

tasks = [pages._Task(f"{n}.md", slow, "") for n in range(2)]
list(pages._made(tasks, 2))
"""


def test_processes_that_make_pages_end_with_a_killed_run():
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE)
    printed = b""
    while printed.count(b"at work") < 2:
        printed += os.read(process.stdout.fileno(), 100) or pytest.fail("it ended by itself")
    process.kill()
    process.wait()
    ready, _, _ = select.select([process.stdout], [], [], 20)
    assert ready and os.read(process.stdout.fileno(), 100) == b""  # nobody holds its end any more
    process.stdout.close()


if __name__ == "__main__":
    (ROOT / "book" / "pipelines.md").write_text(with_recipes(page("pipelines")), encoding="utf-8")
