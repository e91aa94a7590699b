"""Pages about changes of the sound: before and after, what each group loses; text of data stays text."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells

from soundcheck.report import severity_views
from soundcheck.results.estimates import Estimate, estimate_frame


@pytest.fixture
def shown(monkeypatch):
    """Collect figures, alt texts and findings in place of displaying them."""
    found = []
    monkeypatch.setattr(severity_views.page, "show", lambda _, *what: found.append(what))
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
