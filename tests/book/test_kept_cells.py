"""Cells of pages are kept for as long as nothing changes that they are made of."""

import datetime
import json
import time

import pytest

from soundcheck.book import inputs
from soundcheck.book.kept_cells import KeptCells, MadeAhead
from soundcheck.book.pages import markdown, output
from soundcheck.common.media import MediaStore
from soundcheck.report.html import Html
from soundcheck.results.record import ModelRecord
from soundcheck.run.notebook_worker import FORKS


class Page:
    """A page with a sound; counts how often it is made."""

    def __init__(self, folder):
        self.folder, self.media, self.made = folder / "cells", folder / "media", 0

    def make(self):
        self.made += 1
        address = MediaStore(self.media).add(b"sound", ".flac")
        return [markdown("# Ä title"), output(Html(f'<audio src="{address}"></audio>'))]

    def cells(self, *depends, code="code", name="methods/one"):
        kept = KeptCells(self.folder, self.media, code)
        cells = kept.cells(name, self.make, *depends)
        kept.prune()
        return cells

    @property
    def file(self):
        return next(self.folder.glob("*.json"))


@pytest.fixture
def page(tmp_path):
    return Page(tmp_path)


def test_what_is_kept_is_what_was_made(page):
    assert page.cells("a", 1) == page.cells("a", 1)
    assert page.made == 1


def test_a_fork_makes_what_is_asked_for_later(page):
    def fails():
        raise ValueError

    MadeAhead([lambda: [page.cells()], fails], 2).wait()
    assert len(list(page.folder.glob("*.json"))) == FORKS
    page.cells()
    assert page.made == (not FORKS)


@pytest.mark.skipif(not FORKS, reason="nothing is forked here")
def test_while_a_fork_is_busy_pages_are_made_here_from_the_other_end(tmp_path):
    here, go = [], tmp_path / "go"

    def waits():
        while not go.exists():
            time.sleep(0.01)
        return ()

    def pages():
        for number in range(10_000):
            here.append(number)
            if number == 3:
                go.touch()
            time.sleep(0.01)
            yield number

    fork = MadeAhead([waits], 2)
    fork.wait(pages())
    assert 4 <= len(here) < 10_000  # as long as the other one was busy, and no longer
    before = len(here)
    fork.wait(pages())
    assert len(here) == before


@pytest.mark.parametrize(
    "changed",
    [
        {"depends": ("a", 2)},
        {"depends": ("a", "1")},
        {"depends": ("a", 1, None)},
        {"depends": ("a", 1), "code": "other"},
        {"depends": ("a", 1), "name": "methods/two"},
    ],
)
def test_other_material_makes_it_again(page, changed):
    page.cells("a", 1)
    page.cells(*changed.pop("depends"), **changed)
    assert page.made == 2


def _lose(page):
    next(page.media.iterdir()).unlink()


def _cut(page):
    next(page.media.iterdir()).write_bytes(b"")


def _flip(page):
    page.file.write_text(page.file.read_text().replace("audio", "video"))


def _empty(page):
    page.file.write_text("")


def _other(page):
    page.file.write_text(json.dumps([]))


@pytest.mark.parametrize("fault", [_lose, _cut, _flip, _empty, _other])
def test_what_is_damaged_is_made_again(page, fault):
    before = page.cells("a")
    fault(page)
    after = page.cells("a")
    assert page.made == 2
    assert [cell["source"] for cell in after] == [cell["source"] for cell in before]
    assert next(page.media.iterdir()).read_bytes() == b"sound"
    page.cells("a")
    assert page.made == 2


def test_pages_that_are_gone_are_forgotten(page):
    page.cells(name="methods/one")
    page.cells(name="methods/two")
    assert len(list(page.folder.iterdir())) == 1


def _model(**values):
    empty = dict.fromkeys(("name", "slug", "kind", "target", "description", "license", "fingerprint"), "")
    empty |= dict.fromkeys(("repeated", "repeated_different", "out_of_range"), 0)
    empty |= {"tasks": (), "notes": (), "failures": (), "unknown_classes": {}, "unusable": 0}
    return ModelRecord(**{**empty, "inputs": 9, "failed": 0, **values})


def test_a_run_that_finds_all_answers_shows_what_the_run_before_has_shown():
    today = datetime.date.today()
    asked = _model(asked=7, days={"2020-01-01": 2})
    found = _model(asked=0, days={"2020-01-01": 2, str(today): 7}, confirmed=5)
    assert inputs.shown(asked) == inputs.shown(found)
    assert asked.given(today) == found.given(today) == f"9 given on 2020-01-01 (2) and {today} (7)"
    # inputs without an answer are asked in each run
    failing = _model(asked=7, failed=3, days={"2020-01-01": 2})
    assert inputs.shown(failing) == inputs.shown(
        _model(asked=3, failed=3, days={"2020-01-01": 2, str(today): 4}, confirmed=5)
    )


def test_what_pages_say_of_answers_is_not_left_out():
    today = str(datetime.date.today())
    found = _model(days={today: 9}, confirmed=5)
    assert inputs.shown(found) != inputs.shown(_model(days={today: 9}, confirmed=5, confirmed_different=1))
    assert inputs.shown(found) != inputs.shown(_model(days={"2020-01-01": 9}, confirmed=5))
    assert _model().given(datetime.date.today()) == ""  # a table of predictions: nobody was asked
    assert _model(asked=9, failed=9).given(datetime.date.today()) == ""
