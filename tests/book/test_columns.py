"""The page *Columns* explains each column of the three tables."""

import re
from pathlib import Path

import pytest

from soundcheck.common import resources
from soundcheck.results.contrast import CONTRAST_COLUMNS
from soundcheck.results.estimates import COLUMNS
from soundcheck.results.verdict import RESULT_COLUMNS

PAGE = resources.root() / "book" / "columns.md"


def explained(table: str) -> list[str]:
    section = Path(PAGE).read_text(encoding="utf-8").split(f"## {table}\n")[1].split("\n## ")[0]
    first = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return [name for cell in first for name in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize(
    ("table", "columns"),
    [("results.csv", RESULT_COLUMNS), ("estimates.csv", COLUMNS), ("comparisons.csv", CONTRAST_COLUMNS)],
)
def test_each_column_is_explained_once(table, columns):
    names = explained(table)
    assert sorted(names) == sorted(columns)
