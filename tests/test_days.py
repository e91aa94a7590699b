"""One notion of a day: in UTC, and the one that ``SOURCE_DATE_EPOCH`` sets, wherever a computer stands."""

import dataclasses
import datetime
import os
import re
from pathlib import Path

import pytest
from finished import FAILED, finished, verdict

from soundcheck.book import build, model_pages
from soundcheck.common import resources
from soundcheck.common.day import day_of, today
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import RunRecord

ZONES = ("Pacific/Kiritimati", "Etc/GMT+12", "UTC")
EVENING = 1_700_000_000  # 22:13 in UTC: the next day in Kiritimati
DAY, NEXT = "2023-11-14", "2023-11-15"


@pytest.fixture(scope="module")
def run(tmp_path_factory, recorded) -> Path:
    """A run with failures that are accepted until the day of the tests, in UTC, and until the day before."""
    rows = [verdict(), verdict(test="A", **FAILED), verdict(test="B", **FAILED)]
    accepted = [
        {"test": "A", "why": "being collected", "until": DAY},
        {"test": "B", "why": "being repaired", "until": "2023-11-13"},
    ]
    folder = finished(tmp_path_factory.mktemp("days") / "out", recorded, rows, accepted=accepted)
    record = RunRecord.read(folder / "run.json")  # all answers are new
    models = tuple(dataclasses.replace(model, asked=model.inputs) for model in record.models)
    dataclasses.replace(record, models=models).write(folder / "run.json")
    os.utime(folder / "run.json", (EVENING, EVENING))
    return folder


@pytest.mark.parametrize("zone", ZONES)
def test_check_sheet_and_card_are_of_one_day(run, command, tmp_path, zone):
    when = {"TZ": zone, "SOURCE_DATE_EPOCH": str(EVENING)}
    judged = command("check", run, "--junit", tmp_path / "j.xml", cwd=tmp_path, **when)
    assert re.search(r"^accepted: .* A: ", judged.stdout, re.M), judged.stdout
    assert re.search(r"^failed: .* B: ", judged.stdout, re.M) and judged.returncode == 1
    made = command("sheet", run, "--out", tmp_path / "s.html", cwd=tmp_path, **when)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "s.html").read_text()
    assert "being collected" in page and "2023-11-13" not in page
    assert f"200 given on {DAY}" in page and NEXT not in page
    made = command("card", run, "--out", tmp_path, cwd=tmp_path, **when)
    assert made.returncode == 0, made.stderr
    cards = "".join(path.read_text() for path in tmp_path.iterdir() if path.suffix in (".md", ".json"))
    assert DAY in cards and NEXT not in cards


@pytest.mark.parametrize("zone", ZONES)
def test_a_sheet_is_of_the_day_of_the_run(run, command, tmp_path, zone):
    made = command("sheet", run, "--out", tmp_path / "s.html", cwd=tmp_path, TZ=zone, SOURCE_DATE_EPOCH="")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "s.html").read_text()
    assert f"200 given on {DAY}" in page and NEXT not in page


def test_answers_are_of_that_day_on_the_page_of_a_model(monkeypatch, recorded, run):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EVENING))
    assert str(today()) == DAY and day_of(EVENING) == datetime.date(2023, 11, 14)
    record = RunRecord.read(run / "run.json")
    assert build.shown(record.models[0]).days == {DAY: 200}
    page = model_pages.model_cells(ModelFacts.read(run, record.models[0].name))
    assert f"200 given on {DAY}" in str(page)


def test_nothing_asks_for_the_local_day():
    """Of the local clock there is the time at which a run has begun, in the message to others."""
    local = re.compile(r"date\.today\(|datetime\.now\(\)|localtime|fromtimestamp\([^,)]*\)|strftime")
    root = resources.PACKAGE.parent
    paths = [*root.rglob("*.py"), *(resources.root() / "notebooks").glob("*.ipynb")]
    found = {path.name for path in paths if local.search(path.read_text("utf-8"))}
    assert found == {"output.py"}
