"""Pages about changes of the sound: before and after, what each group loses; text of data stays text."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells, subset

from soundcheck.common.media import MediaStore
from soundcheck.evaluation import robustness
from soundcheck.report import severity_views
from soundcheck.results.estimates import Estimate, estimate_frame
from soundcheck.statistics.crossing import Crossing
from soundcheck.suite.families import Perturbation, PerturbationSeries


@pytest.fixture
def shown(monkeypatch):
    """Collect figures, alt texts and findings in place of displaying them."""
    found = []
    monkeypatch.setattr(severity_views.page, "show", lambda _, *what: found.append(what))
    return found


@pytest.fixture
def displayed(monkeypatch):
    found = []
    for module in (severity_views, severity_views.page):
        monkeypatch.setattr(module, "display", lambda *parts: found.extend(map(str, parts)))
    return found


def marks(figure):
    return [line.get_xdata()[0] for line in figure.axes[0].lines]


def test_quality_before_and_under_each_change(shown):
    about = ("m", "c", "f", "arousal", "concordance_cc")
    sides = {"before A": 0.75, "A": 0.5, "before B": 0.7, "B": 0.72, "A 20": 0.1}
    rows = [Estimate(*about, condition=name, value=value, low=0.0, high=1.0) for name, value in sides.items()]
    severity_views.quality(SimpleNamespace(estimated=lambda: estimate_frame(rows)))
    ((figure, alt, finding),) = shown
    ticks = [segment[0][0] for own in figure.axes[0].collections for segment in own.get_segments()]
    assert marks(figure) == [0.5, 0.72] and {0.75, 0.7} <= set(ticks)
    assert finding == "Largest loss: arousal: concordance 0.75 → 0.50 under A"
    assert alt == "Quality before and under each change, c"


def test_shares_of_unchanged_predictions_beside_their_thresholds(shown):
    rows = pd.DataFrame({"test": ["Percentage Unchanged Predictions A", "Change Ccc A"], "label": ""})
    rows = rows.assign(corpus="c", task="arousal", value=[0.4, 0.1], low=0.1, high=0.6, threshold=0.95)
    rows = rows.assign(passed=False, state="", low_sample=np.nan, high_sample=np.nan)
    severity_views.unchanged(SimpleNamespace(frame=lambda: rows))
    ((figure, _, finding),) = shown
    assert marks(figure) == [0.4] and finding == "Below its threshold: 1 share of 1"


def test_curves_begin_with_the_sound_as_it_is_and_the_largest_rise_comes_first(shown):
    names = ["corpus", "transformation", "level", "rate", "rate_low", "rate_high", "change", "change_low"]
    rows = [("c", "", "", 0.1, 0.05, 0.15, np.nan, np.nan)]
    rows += [("c", "A", level, 0.1 + n / 100, 0.0, 0.2, n / 100, -0.1) for n, level in enumerate("12")]
    rows += [("c", "B", level, 0.2 + n / 10, 0.1, 0.4, 0.1 + n / 10, 0.05) for n, level in enumerate("56")]
    frame = pd.DataFrame(rows, columns=names)
    series = {name: SimpleNamespace(axis=f"{name} in dB") for name in "AB"}
    evaluation = SimpleNamespace(family=SimpleNamespace(transformations=series))
    severity_views.curve_figure(evaluation, frame, "equal error rate")
    ((figure, _, finding),) = shown
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["B (B in dB)", "A (A in dB)"]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [0.1, 0.2, 0.3])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["clean", "5", "6"]
    assert finding == "Equal error rate 10.0\xa0% as it is; 30.0\xa0% under B 6"
    assert severity_views.worst_settings(frame) == [("B", "6"), ("A", "2")]


def test_groups_and_what_they_lose():
    names = ["corpus", "column", "group", "transformation", "value", "low", "high", "segments", "blocks"]
    losses = [
        (group, value, name) for group, value in (("male", 0.02), (HOSTILE, 0.12)) for name in ("", "A")
    ]
    rows = [("c", "sex", group, name, value, 0.0, 0.2, 30, 9) for group, value, name in losses]
    table = severity_views.group_table(
        [pd.DataFrame(rows, columns=names)], "rate", ("segments", "in", "speakers")
    )
    texts = [" ".join(line) for line in cells(table)]
    assert "12.0 points" in texts[1] and HOSTILE in texts[1] and "2.0 points" in texts[2]
    assert "No groups" in str(severity_views.group_table([], "rate", ("segments", "in", "speakers")))


def test_levels_at_which_a_rate_doubles():
    row = {"corpus": "c", "transformation": "A", "levels": ("20", "10", "0"), "clean": 0.1, "half": None}
    never = {"doubled": Crossing(np.inf, np.nan, np.nan), "remark": "remark"}
    found = [
        row | {"doubled": Crossing(0.5, 0.2, np.inf), "remark": ""},
        row | {"transformation": "B"} | never,
    ]
    html = str(severity_views.level_table(found, {name: SimpleNamespace(axis="dB") for name in "AB"}, "rate"))
    for part in ("15<", "18 to beyond 0", "not reached up to 0", "no interval: too few speakers", "remark"):
        assert part in html


def moved(task="arousal", change="", labels=True):
    values = np.linspace(0, 1, 6)
    about = {"speaker": list("aabbcc"), "corpus": HOSTILE, "change": change, "blocks": np.arange(6) // 2}
    return subset(values if labels else None, values, task, changed=values + 0.01 * np.arange(6), **about)


def test_movements_are_behind_a_line_for_each_change(displayed, tmp_path):
    several = [moved(task, change) for change in ("Babble", "Music") for task in ["arousal", "valence"]]
    severity_views.movements(SimpleNamespace(media=MediaStore(tmp_path)), several)
    assert len(displayed) == 2 and HOSTILE not in "".join(displayed)
    assert displayed[0].startswith("<details") and "<summary>Babble: 2 figures</summary>" in displayed[0]
    assert displayed[0].count("<figure") == 2 and 'alt="How predictions move: &lt;img' in displayed[0]
    assert "arousal under Music" in displayed[1] and "valence under Music" in displayed[1]


def test_curves_leave_out_what_has_no_labels_and_are_followed_by_their_numbers(displayed, tmp_path):
    rows = {"corpus": "c", "task": "arousal", "value": 0.5, "low": 0.4, "high": np.nan, "reference": 0.1}
    measured = []

    def curve(steps, measure, scale, name, series):
        measured.append((measure, name, series))
        return pd.DataFrame(
            [rows | {"step": step, "segments": len(own), "blocks": 1} for step, own in steps.items()]
        )

    evaluation = SimpleNamespace(media=MediaStore(tmp_path), curve=curve, block_names={"c": "speaker"})
    series = PerturbationSeries("Babble", "signal-to-noise ratio", {"0 dB": Perturbation("x", "y", {})})
    steps, without = {"clean": moved(), "0 dB": moved(change="0 dB")}, {"clean": moved(labels=False)}
    swept = [(dataclasses.replace(series, name="Empty"), [without]), (series, [steps, without])]
    severity_views.quality_curves(evaluation, swept)
    assert measured == [(robustness.quality, "concordance_cc", "Babble")]
    figure, table = displayed
    assert "No step changes anything" in figure
    assert 'alt="Quality of the predictions from mild to severe: Babble' in figure
    assert "<summary>All steps in numbers</summary>" in table and "6 in 1 speaker<" in table
