"""Examples of the book's written pages, so that tests run what readers copy."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "book"


def example(page: str, heading: str, language: str = "yaml", number: int = 0) -> str:
    """Give a fenced block below a heading of a page: ``example("models", "ONNX")``."""
    text = PAGES.joinpath(f"{page}.md").read_text("utf-8")
    heading_line = re.search(rf"^(#+) {re.escape(heading)}.*$", text, re.MULTILINE)
    assert heading_line, f"{page}.md has no heading {heading!r}"
    rest = text[heading_line.end() :]
    end = re.search(rf"^#{{1,{len(heading_line[1])}}} ", rest, re.MULTILINE)
    section = rest[: end.start()] if end else rest
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[number]
