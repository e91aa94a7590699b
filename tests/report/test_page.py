"""What notebooks show with one call: everything is displayed, in order, with alternative texts."""

from types import SimpleNamespace

import numpy as np
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.report import figures, page
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

HOSTILE = "<script>alert(1)</script>" + "x" * 5000


@pytest.fixture
def shown(monkeypatch):
    """Give the list of what is displayed, as text."""
    displayed = []
    monkeypatch.setattr(page, "display", lambda *parts: displayed.extend(map(str, parts)))
    return displayed


def test_verdicts_come_with_their_notes(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "verdict_table", lambda frame, blocks: f"{blocks}s: {frame}")
    told = {"notes": [f"{HOSTILE} was drawn"], "scales": [], "synthetic": True}
    evaluation = SimpleNamespace(frame=lambda: "rows", block_names="file", **told)
    page.opening(evaluation)
    page.verdicts(evaluation)
    opening, verdicts, notes = shown
    assert "ynthetic" in opening and verdicts == "files: rows"
    assert "was drawn" in notes and HOSTILE not in notes


def test_a_figure_is_stored_and_has_an_alternative_text(shown, tmp_path):
    evaluation = SimpleNamespace(media=MediaStore(tmp_path))
    figure = figures.truth_and_prediction([0, 1], [0.2, 0.8])
    page.show(evaluation, figure, HOSTILE)
    (text,) = shown
    assert HOSTILE not in text and "alt=" in text and len(list(tmp_path.iterdir())) == 1


def rows(*given):
    plain = dict(
        **dict(model="m", corpus="demo", family="f", category="c", task="emotion", segments=9, blocks=40),
        **dict(test="Unweighted Average Recall", value=0.6, low=0.5, high=0.7, skipped="no threshold"),
    )
    frame = to_frame([Verdict(**plain | each) for each in given])
    return SimpleNamespace(frame=lambda: frame)


def answered(task="emotion"):
    clean = np.array(["a", "a", "a", "b", None], dtype=object)
    return SimpleNamespace(
        corpus="demo", task=SimpleNamespace(name=task), predictions=SimpleNamespace(clean=clean)
    )


def test_a_finding_is_the_value_of_its_row():
    per_class = dict(test="Relative Difference Per Class", low=-0.3, high=-0.1)
    found = rows({}, per_class | dict(label="joy", value=-0.2), per_class | dict(label="calm", value=0.1))
    test = "Unweighted Average Recall"
    assert page.finding(found, test, answered()) == "Unweighted average recall 0.60 (95 % 0.50 to 0.70)"
    assert page.finding(found, test, answered("valence")) == ""
    assert page.finding(found, test, answered(), "joy") == ""
    assert page.finding(found, "Relative Difference Per Class", answered(), None) == (
        "Relative difference per class of joy −0.20 (95 % −0.30 to −0.10), farthest from 0 of 2"
    )


def test_the_class_with_the_lowest_recall_is_named_with_the_share_of_predictions_that_name_it():
    recalls = [("a", 0.9, 0.8, 1.0), (HOSTILE, 0.95, 0.8, 1.0), ("b", 0.24, 0.1, 0.4)]
    given = [
        dict(test="Recall Per Class", label=name, value=value, low=low, high=high)
        for name, value, low, high in recalls
    ]
    told = page.lowest_recall(rows(*given), answered())
    assert told == "Lowest recall: b, 0.24 (95 % 0.10 to 0.40); 25 % of all predictions"
    assert page.lowest_recall(rows({}), answered()) == ""
    assert len(page.lowest_recall(rows(given[1]), answered())) < 200
