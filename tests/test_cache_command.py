"""``soundcheck cache``, and a cache that outputs share."""

import pytest
from click.testing import CliRunner

from soundcheck.cli import commands
from soundcheck.common.files import MARKER
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.predict.store import NAME, Entry, Store

SUITE = """
cache: shared
corpora: {c: {format: csv, path: c.csv}}
models: {guess: {random: gaussian, tasks: [arousal]}}
families: [correctness_regression]
"""


def cache(*words: object) -> str:
    done = CliRunner().invoke(commands, ["cache", *map(str, words)], catch_exceptions=False)
    return done.output


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, "")
    folder = tmp_path / "out"
    for place in (folder / "cache", tmp_path / "shared"):
        store = Store(place, "ab" * 20, tmp_path)
        store.add({"a": Entry({"arousal": 1.0}, {})})
        store.close()
        (place / "mine.txt").write_text("mine" * 100_000)
    (folder / MARKER).touch()
    return folder


def test_size_and_clearing_of_an_output_folder(out):
    assert "0.4 MB, of these 0.0 MB predictions" in cache("--out", out)
    assert (out / "cache" / NAME).exists()
    assert "Everything in it was removed" in cache("--out", out, "--clear")
    assert not (out / "cache").exists()
    assert "0.0 MB" in cache("--out", out, "--clear")


def test_of_a_shared_cache_only_answers_are_removed(out, tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    (tmp_path / "c.csv").write_text("file,arousal\n")
    (tmp_path / "suite.yml").write_text(SUITE)
    assert f"Cache {tmp_path / 'shared'}" in cache(tmp_path / "suite.yml", "--out", out)
    assert "The predictions of models were removed" in cache(tmp_path / "suite.yml", "--out", out, "--clear")
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["mine.txt"]
    assert (out / "cache" / NAME).exists()
