"""Through the real command: a book is verified, tampered with, verified again, and computed again."""

import json
import re
import shlex
import shutil
import string
from pathlib import Path

import pytest
import yaml
from tones import SUITE, make

from soundcheck import cli
from soundcheck.common.manifest import MANIFEST, sha256

pytestmark = pytest.mark.slow

SMALL = SUITE.replace("  quiet:", "  # quiet:")


class Verified:
    """A suite of one model, and the book of it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command = make(folder), command
        (folder / "suite.yml").write_text(SMALL)

    def __call__(self, *words: str, code: int = 0) -> str:
        done = self.command(*words, cwd=self.folder, CALLS=str(self.folder / "calls.txt"))
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def run(self, *words: str) -> str:
        return self("run", "suite.yml", "--out", "build", *words)

    @property
    def out(self) -> Path:
        return self.folder / "build"

    def calls(self) -> int:
        return len((self.folder / "calls.txt").read_text())


@pytest.fixture(scope="module")
def verified(tmp_path_factory, undrawn):
    verified = Verified(tmp_path_factory.mktemp("verified") / "project", undrawn)
    verified.told = verified.run()
    return verified


@pytest.fixture
def copy(verified, tmp_path):
    """A copy of the book that may be changed."""
    return shutil.copytree(verified.out / "html", tmp_path / "copy" / "html").parent


def test_the_run_prints_the_digest_and_the_record_carries_it(verified):
    digest = sha256(verified.out / "html" / MANIFEST)
    assert f"Digest of the book: {digest}\n" in verified.told
    assert json.loads((verified.out / "run.json").read_text())["book_digest"] == digest
    page = (verified.out / "html" / "provenance.html").read_text()
    assert 'href="manifest.sha256"' in page and 'href="provenance.json"' in page


def test_nothing_is_said_of_an_untouched_book(verified):
    digest = sha256(verified.out / "html" / MANIFEST)
    for folder in ("build", "build/html"):
        told = verified("verify", folder, "--digest", digest)
        assert told.endswith("Nothing was changed, added or removed.\n")
        assert not re.search("changed:|missing:|added:", told)
        assert "Model 'loud' (python): 132 inputs" in told


def test_one_byte_of_any_kind_of_file_is_found(verified, copy):
    names = [path.relative_to(copy).as_posix() for path in sorted(copy.rglob("*")) if path.is_file()]
    for pattern in (r"results\.csv", r"index\.html", r"media/.*\.flac", r"media/.*\.(png|svg)", r".*\.js"):
        path = copy / next(name for name in names if re.fullmatch(f"html/{pattern}", name))
        before = path.read_bytes()
        path.write_bytes(before[:-2] + bytes([before[-2] ^ 1]) + before[-1:])
        told = verified("verify", copy / "html", code=1)
        path.write_bytes(before)
        name = path.relative_to(copy / "html").as_posix()
        assert [line for line in told.splitlines() if line.startswith("changed:")] == [f"changed: '{name}'."]
    verified("verify", copy / "html")


def test_what_is_no_book_is_refused(verified, tmp_path):
    assert "there is no such folder" in verified("verify", "nowhere", code=2)
    assert "there is no book" in verified("verify", tmp_path, code=2)
    assert "there is no book" in verified("verify", "data", code=2)


def test_a_run_that_changes_nothing_writes_no_list_again_and_one_without_a_book_leaves_it(verified):
    path = verified.out / "html" / MANIFEST
    before = path.read_bytes(), path.stat().st_mtime_ns
    digest = sha256(path)
    assert f"Digest of the book: {digest}\n" in verified.run()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    verified("verify", "build")
    assert "Digest" not in verified.run("--no-book")
    assert "The pages are those of an earlier run." in verified("verify", "build")
    assert f"Digest of the book: {digest}\n" in verified.run()


def test_tests_come_out_the_same_again_and_models_are_asked_anew(verified):
    before, calls = sha256(verified.out / MANIFEST), verified.calls()
    told = verified("verify", "build", "--again", "suite.yml", "--tests", "2", "--jobs", "1")
    assert "\nAll came out the same.\n" in told and "2 tests drawn, " in told
    assert verified.calls() > calls
    assert sha256(verified.out / MANIFEST) == before
    verified("verify", "build")


def test_another_model_comes_out_differently(verified):
    model = verified.folder / "my_model.py"
    before = model.read_text()
    model.write_text(before.replace("* 5, 0, 1", "* 4, 0, 1"))
    (verified.folder / "kept.yml").write_text(SMALL + "history: kept\n")
    told = verified("verify", "build/html", "--again", "kept.yml", "--tests", "1", "--jobs", "1", code=1)
    model.write_text(before)
    assert not (verified.folder / "kept").exists()  # this is no run for a history
    assert re.search(r"differs: loud / tones / .*: value .*, now .* \(by ", told)
    assert "The model 'loud' changed, by its digest." in told
    assert re.search(r"\d+ tests? came out differently\.", told)


def test_the_suite_of_another_book_is_refused(verified):
    other = SMALL.replace("loud:", "other:")
    (verified.folder / "other.yml").write_text(other)
    told = verified("verify", "build", "--again", "other.yml", code=2)
    assert "other.yml: the suite has no model and family of which the book holds a value." in told


# The recipes of docs/ ---------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[1] / "docs"


def scripts(recipe: dict) -> tuple[list[str], dict[str, str]]:
    """Give the lines that a recipe runs in its order, and the variables that it sets."""
    if "jobs" in recipe:
        steps = recipe["jobs"]["soundcheck"]["steps"]
        texts, variables = [step["run"] for step in steps if "run" in step], recipe["env"]
    else:
        texts, variables = recipe["soundcheck"]["script"], recipe["soundcheck"]["variables"]
    return [line for text in texts for line in text.splitlines()], variables


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_the_commands_of_a_recipe_do_what_it_needs(verified, name):
    lines, variables = scripts(yaml.safe_load((DOCS / f"soundcheck-{name}.yml").read_text()))
    values = variables | {"MODEL": "loud"}
    assert values["SUITE"] == "suite.yml"
    for made in ("comment.md", "build/junit.xml"):
        (verified.folder / made).unlink(missing_ok=True)
    own = [line.partition("||")[0] for line in lines if line.startswith("soundcheck ")]
    words = [shlex.split(string.Template(line).substitute(values))[1:] for line in own]
    assert [command[0] for command in words if command[0] != "sheet"].count("check") == 1
    assert {command[0] for command in words} == {"run", "check", "verify", "sheet"}
    for command in words:
        if command[0] in cli.commands.commands:
            failures_may_hold = command[0] == "check"
            done = verified.command(*command, cwd=verified.folder, CALLS=str(verified.folder / "calls.txt"))
            assert done.returncode in ((0, 1) if failures_may_hold else (0,)), done.stderr
    assert (verified.folder / "build" / "junit.xml").is_file()
    if "sheet" in cli.commands.commands:
        assert (verified.folder / "comment.md").read_text().strip()


def test_what_a_recipe_keeps_is_enough_to_ask_nothing_again(verified):
    """A fresh clone with the cache and the marker of an earlier run."""
    fresh = verified.folder / "fresh"
    fresh.mkdir()
    shutil.copytree(verified.out / "cache", fresh / "cache")
    shutil.copyfile(verified.out / ".soundcheck", fresh / ".soundcheck")
    calls = verified.calls()
    told = verified("run", "suite.yml", "--out", "fresh", "--no-book")
    assert "predictions: 132 from the cache of" in told and ", 0 computed now" in told
    assert verified.calls() - calls <= 5  # asked again before kept answers are used
    assert (fresh / "results.csv").read_bytes() == (verified.out / "results.csv").read_bytes()
