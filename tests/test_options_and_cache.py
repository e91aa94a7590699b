"""Numbers on the command line are checked as those of a suite; caches are measured and cleared."""

import click
import pytest
from click.testing import CliRunner

from soundcheck import cli
from soundcheck.common.files import MARKER
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.predict.store import NAME, Entry, Store

NEVER = ("nan", "-inf", "1e400", "-1", "9" * 5000, "", "one", "0x10")
WHOLE = (*NEVER, "1.5", "1e3")
NUMBERS = {
    "--matters-worse": ("check out", (*NEVER, "1e7")),
    "--jobs": ("run suite.yml", (*WHOLE, "0")),
    "--seed": ("verify out", WHOLE),
    "--groups": ("thresholds simulate", (*WHOLE, "1")),
}


@pytest.mark.parametrize("option", NUMBERS)
def test_numbers_that_are_refused(option):
    words, texts = NUMBERS[option]
    for text in texts:
        with pytest.raises(click.BadParameter) as caught:
            cli.commands.main([*words.split(), option, text], standalone_mode=False)
        message = caught.value.format_message()
        assert f"Invalid value for '{option}': '{text[:20]}" in message and " number from " in message


def test_numbers_that_are_read():
    for option, text in (("--matters-worse", "1e-3"), ("--seed", "7")):
        ended = CliRunner().invoke(cli.commands, [*NUMBERS[option][0].split(), option, text])
        assert ended.exit_code and "Invalid value" not in f"{ended.exception} {ended.output}"


SUITE = """
cache: shared
corpora: {c: {format: csv, path: c.csv}}
models: {guess: {random: gaussian, tasks: [arousal]}}
families: [correctness_regression]
"""


def cache(*words):
    return CliRunner().invoke(cli.commands, ["cache", *map(str, words)], catch_exceptions=False).output


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, "")
    for place in (tmp_path / "out" / "cache", tmp_path / "shared"):
        store = Store(place, "ab" * 20, tmp_path)
        store.add({"a": Entry({"arousal": 1.0}, {})})
        store.close()
        (place / "mine.txt").write_text("mine" * 100_000)
    (tmp_path / "out" / MARKER).touch()
    return tmp_path / "out"


def test_size_and_clearing_of_an_output_folder(out):
    assert "0.4 MB, of these 0.0 MB predictions" in cache("--out", out)
    assert (out / "cache" / NAME).exists()
    assert "Everything in it was removed" in cache("--out", out, "--clear")
    assert not (out / "cache").exists() and "0.0 MB" in cache("--out", out, "--clear")
    (out / "cache").symlink_to(out.parent / "shared")  # as others may have
    assert "The predictions of models were removed" in cache("--out", out, "--clear")


def test_of_a_shared_cache_only_predictions_are_removed(out, tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    (tmp_path / "c.csv").write_text("file,arousal\n")
    (tmp_path / "suite.yml").write_text(SUITE)
    assert f"Cache {tmp_path / 'shared'}" in cache(tmp_path / "suite.yml", "--out", out)
    assert "The predictions of models were removed" in cache(tmp_path / "suite.yml", "--out", out, "--clear")
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["mine.txt"]
    assert (out / "cache" / NAME).exists()
