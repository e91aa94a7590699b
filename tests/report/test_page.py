"""What notebooks show with one call: everything is displayed, in order, with alternative texts."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import robustness
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import figures, page
from soundcheck.results.table import to_frame
from soundcheck.suite.families import Perturbation, PerturbationSeries

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shown(monkeypatch):
    """Give the list of what is displayed, as text."""
    displayed = []
    monkeypatch.setattr(page, "display", lambda *parts: displayed.extend(map(str, parts)))
    return displayed


def subset(task="arousal", change="", labels=True):
    values = np.linspace(0, 1, 6)
    data = pd.DataFrame({"key": [f"k{n}" for n in range(6)], "speaker": ["a", "a", "b", "b", "c", "c"]})
    predictions = Predictions(values, values + 0.01 * np.arange(6))
    truth = values if labels else None
    return Subset(HOSTILE, BUILTIN[task], data, truth, predictions, predictions, np.arange(6) // 2, change)


def test_every_movement_is_shown_with_its_text(shown, tmp_path):
    evaluation = SimpleNamespace(media=MediaStore(tmp_path), frame=lambda: to_frame([]))
    page.movements(evaluation, [subset(change="White Noise"), subset("valence", "Babble")])
    assert len(shown) == 2 and HOSTILE not in "".join(shown)
    assert "arousal under White Noise" in shown[0] and "valence under Babble" in shown[1]
    assert 'alt="How predictions move: &lt;script&gt;' in shown[0]


def test_many_movements_are_behind_a_line_for_each_change_that_says_what_is_inside(shown, tmp_path):
    evaluation = SimpleNamespace(media=MediaStore(tmp_path), frame=lambda: to_frame([]))
    several = [subset(task, change) for change in ("Babble", "Music") for task in ["arousal", "valence"] * 3]
    page.movements(evaluation, several)
    assert len(shown) == 2
    assert (
        shown[0].startswith("<details")
        and "<summary>Babble: 6 figures, arousal, valence</summary>" in shown[0]
    )
    assert shown[0].count("<figure") == 6


def test_curves_pass_over_series_without_a_subset_and_follow_figures_by_tables(shown, tmp_path):
    rows = {"corpus": "c", "task": "arousal", "value": 0.5, "low": 0.4, "high": 0.6, "reference": 0.1}
    measured = []

    def curve(steps, measure, scale, name, series):
        measured.append(measure)
        frame = [rows | {"step": step, "segments": len(own), "blocks": 3} for step, own in steps.items()]
        return pd.DataFrame(frame)

    evaluation = SimpleNamespace(media=MediaStore(tmp_path), curve=curve, block_names={})
    series = PerturbationSeries("Babble", "signal-to-noise ratio", {"0 dB": Perturbation("x", "y", {})})
    steps = {"clean": subset(), "0 dB": subset(change="0 dB")}
    swept = [(dataclasses.replace(series, name="Empty"), []), (series, [steps, steps])]
    page.curves(evaluation, swept, robustness.quality, "CCC or UAR", "quality of the predictions")
    assert measured == [robustness.quality] * 2 and len(shown) == 2
    assert 'alt="Babble: quality of the predictions. ' in shown[0] and "<table" in shown[1]
    assert "Empty" not in "".join(shown)


def test_series_keep_the_corpora_with_labels():
    series = PerturbationSeries("Babble", "", {})
    with_labels, without = {"clean": subset()}, {"clean": subset(labels=False)}
    assert robustness.labelled([(series, [with_labels, without])]) == [(series, [with_labels])]
    assert robustness.labelled([(series, [without])]) == [(series, [])]


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
