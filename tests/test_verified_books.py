"""Through the real command: a book is verified, tampered with, verified again, and computed again."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tones import SUITE, make

from soundcheck.common.manifest import MANIFEST, sha256

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
        return self("run", "suite.yml", "--out", "out", *words)

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def calls(self) -> int:
        return len((self.folder / "calls.txt").read_text())


@pytest.fixture(scope="module")
def verified(tmp_path_factory, command):
    verified = Verified(tmp_path_factory.mktemp("verified") / "project", command)
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
    for folder in ("out", "out/html"):
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
    verified("verify", "out")
    assert "Digest" not in verified.run("--no-book")
    assert "The pages are those of an earlier run." in verified("verify", "out")
    assert f"Digest of the book: {digest}\n" in verified.run()


def test_tests_come_out_the_same_again_and_models_are_asked_anew(verified):
    before, calls = sha256(verified.out / MANIFEST), verified.calls()
    told = verified("verify", "out", "--again", "suite.yml", "--tests", "2", "--jobs", "1")
    assert "\nAll came out the same.\n" in told and "2 tests drawn, " in told
    assert verified.calls() > calls
    assert sha256(verified.out / MANIFEST) == before
    verified("verify", "out")


def test_another_model_comes_out_differently(verified):
    model = verified.folder / "my_model.py"
    before = model.read_text()
    model.write_text(before.replace("* 5, 0, 1", "* 4, 0, 1"))
    told = verified("verify", "out/html", "--again", "suite.yml", "--tests", "1", "--jobs", "1", code=1)
    model.write_text(before)
    assert re.search(r"differs: loud / tones / .*: value .*, now .* \(by ", told)
    assert "The model 'loud' changed, by its digest." in told
    assert re.search(r"\d+ tests? came out differently\.", told)


def test_the_suite_of_another_book_is_refused(verified):
    other = SMALL.replace("loud:", "other:")
    (verified.folder / "other.yml").write_text(other)
    told = verified("verify", "out", "--again", "other.yml", code=2)
    assert "other.yml: the suite has no model and family of which the book holds a value." in told
