"""Figures and tables of verification: rates are where they belong, any data are drawn, the same bytes."""

import dataclasses
import gzip
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri

from soundcheck.common.media import MediaStore
from soundcheck.metrics.additive import value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import det_curve, equal_error_rate
from soundcheck.report import verification_views
from soundcheck.report.style import MOST_MARKS, show
from soundcheck.report.verification_views import det_figure, score_histograms
from soundcheck.results.estimates import Estimate, estimate_frame
from soundcheck.statistics.bootstrap import resample

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error:constrained_layout not applied", "error::RuntimeWarning"),
]

HOSTILE = ["$\\foo$", "_x", "名前", "a\nb", "\ud800", "x" * 300, "<b>"]


def entry(seed: int, n: int = 3000, apart: float = 3.0, *, band: bool = True) -> dict[str, object]:
    """Draw scores and give what is drawn of their curve."""
    rng = np.random.default_rng(seed)
    target = rng.random(n) < 0.3
    data = Trials(rng.normal(size=n) + apart * target, target, np.arange(n), np.arange(n), n)
    _, far, frr = det_curve(data)
    found: dict[str, object] = {"far": far, "frr": frr, "equal": value(equal_error_rate(data))}
    found["minimum"] = far[n // 2], frr[n // 2]
    if band:
        rates = ndtr(np.linspace(-3, 0.5, 30))
        middle = np.interp(-rates, -far, frr)
        found |= {"rates": rates, "low": 0.8 * middle, "high": np.minimum(1, 1.2 * middle + 0.01)}
    return found


def all_figures():
    nothing = np.full(3, np.nan)
    scores, target = np.random.default_rng(0).normal(size=200), np.arange(200) < 90
    yield det_figure({"all trials": entry(0)})
    yield det_figure({name: entry(n, 300) for n, name in enumerate(HOSTILE)})
    yield det_figure({"perfect": entry(0, apart=20.0), "reversed": entry(1, apart=-20.0)})
    yield det_figure({})
    yield score_histograms(scores, target, {"equal error rate": 0.1, "lowest cost": 2.4, "in use": 0.2})
    yield score_histograms(scores, target, dict(zip(HOSTILE, np.linspace(-2, 2, 7), strict=True)))
    yield score_histograms(nothing, target[:3], {"in use": np.nan})
    yield score_histograms([0.5] * 4, target[:4], {"in use": 0.5})


def test_same_data_same_bytes(tmp_path):
    media = MediaStore(tmp_path / "media", "media/")
    first = [str(show(media, figure, "x")) for figure in all_figures()]
    again = [str(show(media, figure, "x")) for figure in list(all_figures())[::3]]
    assert again == first[::3] and len(set(first)) == len(first)
    assert all(path.stat().st_size > 1000 for path in media.folder.iterdir())


def curve_of(figure):
    return max(figure.axes[0].lines, key=lambda line: len(line.get_xdata()))


def test_points_of_the_curve():
    own = entry(3)
    figure = det_figure({"all trials": own})
    points = {
        line.get_marker(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in figure.axes[0].lines
        if len(line.get_xdata()) == 1
    }
    assert points["o"] == pytest.approx([ndtri(own["equal"])] * 2)
    assert points["v"] == pytest.approx(ndtri(own["minimum"]))
    curve = curve_of(figure)
    at = np.interp(points["o"][0], curve.get_xdata(), curve.get_ydata())
    assert at == pytest.approx(points["o"][1], abs=0.05)


def test_steps_of_equal_scores_are_lines_between_rates():
    """The curve of constant scores is far + frr = 1: on quantiles, too, as many points show."""
    own = {"far": np.array([1.0, 0.0]), "frr": np.array([0.0, 1.0]), "equal": 0.5, "minimum": (0.0, 1.0)}
    x, y = (np.asarray(part) for part in curve_of(det_figure({"constant": own})).get_data())
    assert len(x) > 100
    np.testing.assert_allclose(ndtr(x) + ndtr(y), 1, atol=1e-5)


def test_long_curves_are_thinned_where_they_are_seen():
    own = entry(0, 200_000, band=False)
    figure = det_figure({"all trials": own})
    x, y = (np.asarray(part) for part in curve_of(figure).get_data())
    assert 200 < len(x) < MOST_MARKS
    low, high = figure.axes[0].get_xlim()
    seen = (x > low) & (x < high) & (y > low) & (y < high)
    assert np.hypot(np.diff(x[seen]), np.diff(y[seen])).max() < 0.1
    np.testing.assert_allclose(y[seen], ndtri(np.interp(-ndtr(x[seen]), -own["far"], own["frr"])), atol=0.05)


@pytest.mark.parametrize("bands", [True, False])
def test_bands_are_drawn_where_they_are_known(bands):
    figure = det_figure({"clean": entry(0, band=bands), "noise": entry(1, band=bands)})
    assert len(figure.axes[0].collections) == 2 * bands
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names.count("95 % interval") == bands


def test_densities_have_area_one_and_counts_are_said():
    rng = np.random.default_rng(0)
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
    assert axes.lines[0].get_xdata() == [0.25, 0.25]


def test_scores_of_trials_are_packed_and_the_same_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(verification_views, "threshold_in_use", lambda *_: 0.5)
    segments = pd.DataFrame({"enrol": ["a", "b", "c"], "test": ["d", "e", "f"]})
    scores = SimpleNamespace(clean=np.array([0.25, np.nan, 0.75]))
    subset = SimpleNamespace(corpus="<voices>", segments=segments, predictions=scores, truth=None)
    evaluation = SimpleNamespace(family="x", model="y", media=MediaStore(tmp_path))
    html = str(verification_views.score_file(evaluation, subset))
    assert str(verification_views.score_file(evaluation, subset)) == html
    assert "<voices>" not in html and 'download="scores.txt.gz"' in html and "2 scores" in html
    (path,) = tmp_path.iterdir()
    assert re.search(r'href="media/([0-9a-f]{20}\.gz)"', html)[1] == path.name
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines == ["score enrol test decision threshold", "0.25 a d reject 0.5", "0.75 c f accept 0.5"]


def test_errors_stand_with_their_units_and_intervals():
    target, owners = np.arange(90) < 30, np.arange(90) % 30
    scores = np.random.default_rng(0).normal(size=90) + target
    none, rows = np.zeros(0, dtype=int), []
    for name, own in {"as <b>": scores, "nothing": np.full(90, np.nan)}.items():
        found = resample(equal_error_rate(Trials(own, target, owners, owners, 30)), none, 200, 0)
        known = None if found.reasons[0] else float(found.value[0])
        about = {"condition": f"scores: {name}", "value": known, "excluded": found.reasons[0]}
        rows.append(Estimate("m", "c", "f", "embedding", "equal_error_rate", **about))
        rows.append(dataclasses.replace(rows[-1], measure="min_dcf"))
    html = str(verification_views._by_condition(estimate_frame(rows), "scores", "c"))
    assert ">as &lt;b&gt;<" in html and "<b>" not in html
    assert f"{100 * rows[0].value:.1f}" in html and f"{rows[0].value:.3f}" in html
    assert html.count("no score for 90 of 90 trials") == 2
    assert html.count("<th ") == 5 and "minimum detection cost" in html
