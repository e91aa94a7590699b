"""What the page about data shows of formats, with files as it says."""

import pytest
import yaml
from pages import PAGES

from soundcheck.suite.suite_file import read_suite

PAGE = PAGES.joinpath("data.md").read_text("utf-8")


@pytest.mark.parametrize("number", range(PAGE.count("```yaml\n")))
def test_examples_of_the_page_are_suites(tmp_path, monkeypatch, number):
    """Files and folders are made as far as the entries name them; `~` is a folder of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = PAGE.split("```yaml\n")[1 + number].partition("```")[0]
    content = yaml.safe_load(text)
    for entry in content.get("corpora", {}).values():
        for key in ("path", "root", "trials", "enrolments"):
            if name := entry.get(key, "").replace("~", str(tmp_path)):
                place = tmp_path / name
                is_file = "." in place.name and key != "root"
                (place.parent if is_file else place).mkdir(parents=True, exist_ok=True)
                place.touch() if is_file else None
    models = "models:\n  m: {random: gaussian}\nfamilies: [correctness_regression]\n"
    text = text if "corpora" in content else f"corpora:\n  c: {{format: csv, path: suite.yml}}\n{text}"
    (tmp_path / "suite.yml").write_text(text.partition("models:")[0] + models)
    assert read_suite(tmp_path / "suite.yml").corpora
