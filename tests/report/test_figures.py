"""Figures take any data, are the same bytes each time, and show curves and points where they belong."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri
from tests.report.given import subset

from soundcheck.augment.transmission import tilt_filter
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.metrics.additive import value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import det_curve, equal_error_rate
from soundcheck.report import certainty_views, label_views, method_views
from soundcheck.report.label_views import class_confusions
from soundcheck.report.style import show, svg
from soundcheck.report.verification_views import det_figure, score_histograms
from soundcheck.statistics.simulation import grid, simulate_all

# A figure whose layout collapses only warns.
pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error::RuntimeWarning")
HOSTILE = ["$\\foo$", "_x", "{{ 7 }}", "名前", "a\nb", "x" * 300, "<b>"]
JOY = "<b>joy</b>"
MOOD, MOODS = Task("mood", "classification", ("anger", "joy")), np.array(["anger", "joy"], dtype=object)
NAN = np.full(3, np.nan)


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    return MediaStore(tmp_path_factory.mktemp("drawn") / "media", "media/")


def trial_errors(seed, n=3000, apart=3.0):
    """Draw scores of trials and give what is drawn of their curve."""
    rng = np.random.default_rng(seed)
    target = rng.random(n) < 0.3
    data = Trials(rng.normal(size=n) + apart * target, target, np.arange(n), np.arange(n), n)
    _, far, frr = det_curve(data)
    points = {"equal": value(equal_error_rate(data)), "minimum": (far[n // 2], frr[n // 2])}
    rates = ndtr(np.linspace(-3, 0.5, 30))
    middle = np.interp(-rates, -far, frr)
    band = {"rates": rates, "low": 0.8 * middle, "high": np.minimum(1, 1.2 * middle + 0.01)}
    return {"far": far, "frr": frr} | points | band


def all_figures():
    rng = np.random.default_rng(0)
    values, classes = rng.random(90), MOODS[rng.integers(2, size=90)]
    groups = np.array([*HOSTILE, None, "b"], dtype=object)[rng.integers(len(HOSTILE) + 2, size=90)]
    yield label_views.truth_and_prediction(values, values**2, " ".join(HOSTILE))
    yield label_views.truth_and_prediction(NAN, NAN)
    yield label_views.distribution(subset(values, values**2), HOSTILE[1])
    yield label_views.distribution(subset(np.full(9, 0.5), np.full(9, 0.7)), "one value")
    yield label_views.distribution(subset(np.full(9, np.nan), values[:9]), "none")
    yield label_views.distribution(subset(classes, classes[::-1], MOOD))
    yield label_views.by_group(values, groups, HOSTILE, expected=dict.fromkeys(HOSTILE, (0.3, 0.6)))
    yield label_views.by_group(classes, groups, HOSTILE, ["anger", "joy"], title="classes")
    yield label_views.by_group(np.empty(0), [], ["a"])
    yield method_views.interval_bars(method_views.recorded("word_error_intervals")[0], "difference")
    yield method_views.coverage_by_correlation(method_views.recorded("word_errors")[0])
    shares = {"metric": list("aabb"), "speakers": 5, "way": ["blockwise", "segments"] * 2, "coverage": 0.9}
    yield method_views.coverage_by_speakers(pd.DataFrame(shares))
    yield method_views.certainties({"ccc": range(10), "uar": [9] * 10})
    simulated = simulate_all(list(grid(("mean",), (2, 30), (20, 60))), runs=20)
    yield method_views.simulated_maxima({"mean": simulated}, {"mean": [(60, 0.075, 30)]})
    yield det_figure({name: trial_errors(n, 300) for n, name in enumerate([*HOSTILE, "\ud800"])})
    yield det_figure({"perfect": trial_errors(0, apart=20.0), "reversed": trial_errors(1, apart=-20.0)})
    yield det_figure({})
    scores, target = rng.normal(size=200), np.arange(200) < 90
    yield score_histograms(scores, target, dict(zip(HOSTILE, np.linspace(-2, 2, 7), strict=True)))
    yield score_histograms(NAN, target[:3], {"in use": np.nan})
    yield score_histograms([0.5] * 4, target[:4], {"in use": 0.5})


@pytest.mark.slow
def test_figures_of_any_data_are_the_same_each_time_without_dates_and_traces(media, rng):
    first = [str(show(media, figure, "x <x>")) for figure in all_figures()]
    again = [str(show(media, figure, "x <x>")) for figure in list(all_figures())[::5]]
    assert again == first[::5] and len(set(first)) == len(first)
    for html in first:
        assert 'alt="x &lt;x&gt;"' in html and re.search(r'width="\d+" height="\d+"', html)
        path = media.folder / re.search(r'src="media/([^"]+)"', html).group(1)
        assert not re.search("<dc:date>|Matplotlib v|<script", path.read_text())
    few, many = (svg(label_views.truth_and_prediction(*rng.random((2, n)))).decode() for n in (100, 5000))
    assert "<image" not in few and many.count("<image") == 1 and ">prediction<" in many  # pixels below words


def test_predictions_of_groups_are_shares_of_each_group_or_boxes():
    values, groups = np.array(["a"] * 30 + ["b"] * 10, dtype=object), np.repeat(["x", "y"], 20)
    (axes,) = label_views.by_group(values, groups, ["x", "y"], ["a", "b"]).axes
    assert [bar.get_height() for bar in axes.patches] == [100, 0, 50, 50]
    (axes,) = label_views.by_group(np.linspace(0, 1, 40), groups, ["x", "y"], expected={"x": (0.2, 9.0)}).axes
    assert axes.patches[0].get_width() == pytest.approx(0.8)


def test_the_tilt_filters_are_drawn_in_decibel():
    """The line 1 - f / 8000 is -6 dB at 4 kHz; twice f / 8000 is 0 dB there and +6 dB near 8 kHz."""
    filters = {name: tilt_filter(name.lower()) for name in ("Downward", "Upward")}
    (axes,) = method_views.magnitude_responses(filters, 16000).axes
    curves = {line.get_label(): line.get_xydata().T for line in axes.lines}
    points = [("Downward", 0, 0), ("Downward", 4, -6.02), ("Downward", 7.2, -20)]
    for name, kilohertz, decibel in [*points, ("Upward", 0.8, -13.98), ("Upward", 4, 0), ("Upward", 7, 4.86)]:
        assert np.interp(kilohertz, *curves[name]) == pytest.approx(decibel, abs=0.15)


def confusions(truth, predicted, *classes):
    """Write a table of confusions; keys run backwards, and each speaker has two segments."""
    numbers = range(len(truth))
    about = {"key": [f"{n:04d}" for n in numbers][::-1], "speaker": [f"s{n // 2}" for n in numbers]}
    return str(class_confusions(subset(truth, predicted, Task("mood", "classification", classes), **about)))


def test_cells_of_confusions_lead_to_their_segments(media):
    text = confusions(["a", "a", "a", JOY], ["a", JOY, JOY, JOY], "a", JOY)
    links, anchors = re.findall(r'href="#([^"]+)"', text), re.findall(r'<p id="([^"]+)"', text)
    assert sorted(links) == sorted(anchors) and len(set(anchors)) == 3
    assert "33 %" in text and "67 %" in text and "100 %" in text and JOY not in text
    cell = text.partition(f'<p id="{anchors[1]}"')[2].partition("</ul>")[0]
    assert re.findall(r"(\d)\.wav", cell) == ["2", "1"]
    assert text.index("<details") < text.index('<p id="')  # a link opens what is folded
    text = confusions(["a"] * 6, ["b"] * 6, "a", "b")
    assert re.findall(r"(\d)\.wav", text.partition("<ul>")[2]) == ["5", "3", "1", "4"]  # each speaker once
    assert "and 2 more" in text
    both = np.array(["a", "a", "b", None], dtype=object), np.array(["a", "z", JOY, "a"], dtype=object)
    text = str(label_views.agreement(media, *both, ("a", "b"), JOY, ("clean", JOY)))
    assert "<img" not in text and "href" not in text and JOY not in text
    assert "3 segments without a &lt;b&gt;joy&lt;/b&gt; or with another clean: not counted." in text


def test_risk_is_given_where_equal_confidences_end_and_few_points_are_drawn_of_many(rng):
    confidence, correct = np.array([0.9, 0.5, 0.5, np.nan, 0.7]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    coverage, risk = certainty_views.risk_at_coverage(confidence, correct)
    assert coverage == pytest.approx([0.25, 0.5, 1.0]) and risk == pytest.approx([0, 0.5, 0.5])
    many = certainty_views.risk_at_coverage(rng.random(5000), rng.integers(0, 2, 5000).astype(float))
    assert [len(axis) for axis in many] == [200, 200] and many[0][-1] == 1


def curve_of(figure):
    longest = max(figure.axes[0].lines, key=lambda line: len(line.get_xdata()))
    return longest.get_xydata().T


def test_a_detection_error_curve_passes_through_its_points_and_has_its_band():
    errors = trial_errors(3)
    figure = det_figure({"all trials": errors, "noise": trial_errors(1)})
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    points = {line.get_marker(): (line.get_xdata()[0], line.get_ydata()[0]) for line in lines[:2]}
    assert points["o"] == pytest.approx([ndtri(errors["equal"])] * 2)
    assert points["v"] == pytest.approx(ndtri(errors["minimum"]))
    x, y = curve_of(det_figure({"all trials": errors}))
    assert np.interp(points["o"][0], x, y) == pytest.approx(points["o"][1], abs=0.05)
    assert len(figure.axes[0].collections) == 2


def test_densities_of_scores_have_area_one_and_counts_are_said(rng):
    scores, target = rng.normal(size=5000), np.arange(5000) < 1000
    scores[:10], scores[-4:] = np.nan, 1e6
    figure = score_histograms(scores, target, {"in use": 0.25})
    (axes,) = figure.axes
    for patch in axes.patches:
        heights, edges, _ = patch.get_data()
        assert (heights * np.diff(edges)).sum() == pytest.approx(1)
        assert edges[-1] < 1e6  # few extreme scores do not hide the others
    names = {text.get_text() for text in figure.legends[0].get_texts()}
    assert names == {"non-target trials (4,000)", "target trials (990)", "threshold, in use: 0.25"}
