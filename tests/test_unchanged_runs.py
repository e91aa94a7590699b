"""Through the real command: a run that finds everything as it was writes nothing; what changed is noticed."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from tones import SUITE, make

from soundcheck.common.files import digest

pytestmark = pytest.mark.slow

WRITTEN = ("results.csv", "results.parquet", "left_out.csv", "comparisons.csv")


class Repeated:
    """A suite that is run again and again, without a book."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command = make(folder), command
        (folder / "suite.yml").write_text(
            f"{SUITE}\ncomparisons:\n  both: {{baseline: loud, candidate: quiet}}\n"
        )

    def run(self, out: str = "out", *more: str) -> str:
        done = self.command(
            *("run", "suite.yml", "--out", out, "--no-book", "--jobs", "2", *more),
            cwd=self.folder,
            CALLS=str(self.folder / "calls.txt"),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tables(self, out: str = "out") -> dict[str, Path]:
        root = self.folder / out
        found = [root / name for name in WRITTEN]
        found += [path for part in ("corpora", "predictions") for path in (root / part).rglob("*.parquet")]
        return {path.relative_to(root).as_posix(): path for path in found}

    def content(self, out: str = "out") -> dict[str, str]:
        return {name: digest(path) for name, path in self.tables(out).items()}


@pytest.fixture(scope="module")
def repeated(tmp_path_factory, undrawn):
    repeated = Repeated(tmp_path_factory.mktemp("repeated") / "project", undrawn)
    repeated.run()
    repeated.known = {path.name for path in (repeated.folder / "out" / "cache" / "families").iterdir()}
    return repeated


def test_the_first_run_already_keeps_what_it_has_read(repeated):
    assert repeated.known == {"changes.json"}


def test_nothing_is_written_that_is_there_and_models_are_asked_again(repeated):
    before = {name: path.stat() for name, path in repeated.tables().items()}
    calls = (repeated.folder / "calls.txt").read_text()
    told = [line for line in repeated.run().splitlines() if not line.startswith("Time")]
    after = {name: path.stat() for name, path in repeated.tables().items()}
    assert {name: (s.st_ino, s.st_mtime_ns) for name, s in before.items()} == {
        name: (s.st_ino, s.st_mtime_ns) for name, s in after.items()
    }
    asked = (repeated.folder / "calls.txt").read_text()[len(calls) :]
    assert sorted(asked) == ["l"] * 5 + ["q"] * 5
    record = json.loads((repeated.folder / "out" / "run.json").read_text())
    assert [model["confirmed"] for model in record["models"]] == [5, 5]
    assert told == [line for line in repeated.run().splitlines() if not line.startswith("Time")]


@pytest.mark.parametrize("name", ["results.csv", "results.parquet", "corpora/tones.parquet"])
def test_a_table_that_was_edited_is_put_right(repeated, name):
    before = repeated.content()
    path = repeated.tables()[name]
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    repeated.run()
    assert repeated.content() == before


def test_a_broken_memory_changes_nothing(repeated):
    before = repeated.content()
    for name in ("derived.json", *(f"cache/families/{name}" for name in repeated.known)):
        path = repeated.folder / "out" / name
        path.write_text(path.read_text().replace('"values"', '"other"'))
    repeated.run()
    assert repeated.content() == before


def test_a_recording_that_changed_is_noticed(repeated):
    before = repeated.content()
    path = repeated.folder / "data" / "0.wav"
    signal = 0.9 * np.sin(2 * np.pi * 300 * np.arange(6000) / 16000)
    soundfile.write(path, signal.astype(np.float32), 16000)
    repeated.run()
    changed = {name for name, content in repeated.content().items() if content != before[name]}
    assert {"results.csv", "corpora/tones.parquet", "predictions/loud/tones.parquet"} <= changed
    repeated.run("anew", "--fresh")
    assert repeated.content() == repeated.content("anew")


def test_a_model_that_changed_is_noticed(repeated):
    path = repeated.folder / "my_model.py"
    path.write_text(path.read_text().replace("* 5, 0, 1", "* 4, 0, 1"))
    before = repeated.content()
    repeated.run()
    changed = {name for name, content in repeated.content().items() if content != before[name]}
    assert {"results.csv", "predictions/loud/tones.parquet", "predictions/quiet/tones.parquet"} <= changed
    repeated.run("other", "--fresh")
    assert repeated.content() == repeated.content("other")
