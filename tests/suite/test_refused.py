"""What suites and threshold files may not say: each bad input is refused with place, problem and remedy."""

import os
import re
from pathlib import Path

import pytest
import yaml

from soundcheck.common import resources
from soundcheck.common.errors import InputError
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

TABLE = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
INSTALLED = re.compile(r" ?(Allowed|Add one of): [^\n]*")  # names that depend on what is installed


def cases(kind: str) -> list:
    return [
        pytest.param(base, entry.get("text"), *case, id=f"{base}: {case[1]}"[:70])
        for base, entry in TABLE[kind].items()
        for case in entry["cases"]
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suites")
    for name in ("file.csv", "a.csv", "db/db.yaml", "folder/x", "thresholds/x"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(("base", "text", "old", "new", "message"), cases("suites"))
def test_suites(folder, monkeypatch, base, text, old, new, message):
    monkeypatch.chdir(folder)
    assert old in text
    (folder / "suite.yml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_suite("suite.yml")
    assert INSTALLED.sub("", str(caught.value)) == message


@pytest.mark.parametrize(("base", "text", "old", "new", "message"), cases("families"))
def test_families(folder, base, text, old, new, message):
    name = "mine" if text else base
    text = text or (resources.root() / "thresholds" / f"{name}.yml").read_text("utf-8")
    assert old in text
    file = folder / "thresholds" / f"{name}.yml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        with pytest.raises(InputError) as caught:
            read_family(name, folder)
    finally:
        file.unlink()
    assert INSTALLED.sub("", str(caught.value)) == message
