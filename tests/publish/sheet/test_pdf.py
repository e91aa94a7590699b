"""The page as PDF: names are texts and nothing else, and the same content gives the same bytes."""

import datetime
import re
import sys

import pytest
from tests.support.findings import FIGURE, GAP, HOSTILE, many
from tests.support.finished import finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import model_sheet
from soundcheck.publish.sheet.writing import typeset


@pytest.fixture
def made(tmp_path, recorded):
    def sheet(rows, model="m", **changes):
        facts = ModelFacts.read(finished(tmp_path, recorded, rows, **changes), model)
        return model_sheet(facts, [], datetime.date(2027, 3, 1))

    return sheet


def pages(data: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", data))


def test_many_rows_take_two_pages_and_the_same_bytes(made):
    pytest.importorskip("typst")
    sheet = made(many(), figures=[FIGURE])
    data = typeset(sheet)
    assert data.startswith(b"%PDF") and pages(data) in (1, 2)
    assert typeset(sheet) == data


def test_markup_in_names_does_nothing(made):
    pytest.importorskip("typst")
    rows = [verdict(HOSTILE), verdict(HOSTILE, **GAP | {"group": f"accent: #panic() {HOSTILE}"})]
    assert pages(typeset(made(rows, HOSTILE, title=HOSTILE))) == 1


def test_the_day_is_that_of_the_environment_or_none(made, monkeypatch):
    pytest.importorskip("typst")
    sheet = made([verdict()])
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert b"CreationDate" not in typeset(sheet)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert b"D:20260101" in typeset(sheet)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH: .* not a number of seconds"):
        typeset(sheet)


def test_without_typst_it_says_how_to_install_it(made, monkeypatch):
    sheet = made([verdict()])
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(InputError, match=r"--pdf: .*typst.* pip install \"soundcheck-speech\[pdf\]\""):
        typeset(sheet)
