"""Through the real command: a book that grew by small changes equals one that is built at once."""

import shutil
from pathlib import Path

import pytest
from tones import SUITE, make

from soundcheck.common import resources
from soundcheck.common.files import digest

pytestmark = pytest.mark.slow

THRESHOLDS = "thresholds/correctness_regression.yml"
METHOD = "book/methods/correctness_regression.md"
BOOK = ("html", "book-build", "book-src", "book-pages.json", "book.json")


class Grown:
    """A suite whose book is built again after each change."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command = make(folder), command
        (self.folder / "notebooks").mkdir()
        for name in (THRESHOLDS, METHOD):
            (self.folder / name).parent.mkdir(parents=True)
            shutil.copyfile(resources.root() / name, self.folder / name)
        self.suite = SUITE.replace("  quiet:", "  # quiet:")  # is added later
        self.write(self.suite)

    def write(self, suite: str) -> None:
        (self.folder / "suite.yml").write_text(suite)

    def run(self, out: str = "out") -> dict[str, str]:
        done = self.command(
            *("run", "suite.yml", "--out", out), cwd=self.folder, CALLS=str(self.folder / "calls.txt")
        )
        assert done.returncode == 0, done.stderr
        html = self.folder / out / "html"
        found = {path.relative_to(html).as_posix(): path for path in html.rglob("*") if path.is_file()}
        return {name: digest(path) for name, path in found.items()}

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def times(self) -> dict[str, int]:
        """When each page was written; what Sphinx wrote is copied."""
        html = self.folder / "out" / "book-build" / "html"
        return {
            path.relative_to(html).as_posix(): path.stat().st_mtime_ns
            for path in html.rglob("*.html")
            if "_static" not in path.parts
        }

    def built_at_once(self) -> dict[str, str]:
        """Build the book of the same notebooks with nothing that was kept of a book."""
        for name in BOOK:
            path = self.folder / "out" / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return self.run()


@pytest.fixture(scope="module")
def grown(tmp_path_factory, command):
    """A suite with the book of a first run; the tests go on in their order."""
    grown = Grown(tmp_path_factory.mktemp("grown") / "project", command)
    grown.first = grown.run()
    return grown


def test_threshold_and_method_page(grown):
    before = grown.times()
    grown.edit(THRESHOLDS, "threshold: 0.5", "threshold: 0.45")
    small = grown.run()
    kept = {name for name, time in grown.times().items() if before.get(name) == time}
    assert "corpora/tones.html" in kept
    assert "models/loud.html" not in kept
    assert small["models/loud.html"] != grown.first["models/loud.html"]
    before = grown.times()
    with open(grown.folder / METHOD, "a") as page:
        page.write("\nA sentence more.\n")
    small = grown.run()
    changed = {name for name, time in grown.times().items() if before.get(name) != time}
    assert "methods/correctness_regression.html" in changed
    assert "models/loud.html" not in changed
    assert small == grown.built_at_once()


def test_new_model_removed_family_and_other_title(grown):
    """Each concerns all pages, so that Sphinx begins anew; what else was kept would last until the end."""
    grown.write(SUITE.replace(", robustness_small_changes", "").replace("title: Small", "title: Renamed"))
    small = grown.run()
    assert "models/quiet.html" in small and "methods/robustness_small_changes.html" not in small
    assert "Renamed" in (grown.folder / "out" / "html" / "index.html").read_text()
    assert small == grown.run("anew")
