"""The page on pipelines says about alarms what was simulated, and shows the recipes of docs/ as they are.

``python tests/book/test_pipelines.py`` puts the recipes into the page again after a change.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from soundcheck.common import resources

BOOK = resources.root() / "book"
PAGE, ROOT = BOOK / "pipelines.md", Path(__file__).parents[2]
RECIPE = re.compile(r"<!-- (docs/[\w-]+\.yml) -->\n(\n```yaml\n.*?\n```\n)?", re.DOTALL)


def test_the_page_tells_the_recorded_simulation():
    text = " ".join((BOOK / "pipelines.md").read_text(encoding="utf-8").split())
    frame = pd.read_csv(BOOK / "tables" / "baseline.csv", comment="#").set_index(["planted", "speakers"])
    fair, worse = frame.loc[0], frame.loc[20]
    assert list(fair.index) == [10, 20, 40] and fair["tests"].eq(1000).all()

    def listed(column, rows):
        first, second, third = (f"{100 * share:.0f}" for share in rows[column])
        return f"{first}, {second} and {third}"

    assert f"this alarms in {listed('alarms', fair)} of 100 runs with 10, 20 and 40 speakers" in text
    assert f"each on its own, alarm in {listed('alarms_of_percentiles', fair)} of 100" in text
    assert f"got worse by 0.1, it alarms in {listed('alarms', worse)} of 100 runs" in text
    assert f"{listed('found', worse)} % of these tests are found" in text
    assert fair["alarms"].max() <= 0.05 and (fair["alarms_of_percentiles"] >= 0.95).all()
    assert worse["false_among_found"].max() < 0.1


@pytest.mark.parametrize("word", ["--strict", "--baseline", "--matters-worse", "accepted:", "until"])
def test_the_page_names_every_option(word):
    assert word in (BOOK / "pipelines.md").read_text(encoding="utf-8")


def with_recipes(text: str) -> str:
    def shown(found: re.Match) -> str:
        recipe = (ROOT / found[1]).read_text(encoding="utf-8")
        return f"<!-- {found[1]} -->\n\n```yaml\n{recipe}```\n"

    return RECIPE.sub(shown, text)


def test_the_page_shows_the_recipes_as_they_are():
    text = PAGE.read_text(encoding="utf-8")
    assert [found[1] for found in RECIPE.finditer(text)] == [
        "docs/soundcheck-github.yml",
        "docs/soundcheck-gitlab.yml",
    ]
    assert with_recipes(text) == text


def test_a_recipe_for_github_has_no_right_but_to_comment():
    recipe = yaml.safe_load((ROOT / "docs" / "soundcheck-github.yml").read_text(encoding="utf-8"))
    assert recipe["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "pull_request_target" not in recipe[True]  # `on`; it would run code of strangers with rights
    scripts = [step["run"] for step in recipe["jobs"]["soundcheck"]["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]  # nobody's text becomes a command


if __name__ == "__main__":
    PAGE.write_text(with_recipes(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
