"""Figures of verification: rates are where they belong, any data are drawn, the same data give same bytes."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from soundcheck.report.verification_figures import (
    det_figure,
    equal_error_curve,
    score_histograms,
)

from soundcheck.common.media import MediaStore
from soundcheck.metrics.additive import value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import det_curve, equal_error_rate
from soundcheck.report import verification_figures
from soundcheck.report.style import MOST_MARKS, look, show
from soundcheck.results.estimates import Estimate

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
    found |= {"minimum": (far[n // 2], frr[n // 2]), "operating": (far[n // 3], frr[n // 3])}
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
    yield det_figure({"undefined": {"far": nothing, "frr": nothing, "equal": np.nan}})
    yield det_figure({})
    yield score_histograms(scores, target, {"equal error rate": 0.1, "lowest cost": 2.4, "in use": 0.2}, "x")
    yield score_histograms(scores, target, dict(zip(HOSTILE, np.linspace(-2, 2, 7), strict=True)), HOSTILE[0])
    yield score_histograms(nothing, target[:3], {"in use": np.nan})
    yield score_histograms([0.5] * 4, target[:4], {"in use": 0.5})
    yield score_histograms([], [], {}, "nothing")


def test_same_data_same_bytes(tmp_path):
    media = MediaStore(tmp_path / "media", "media/")
    first = [str(show(media, figure, "x")) for figure in all_figures()]
    again = [str(show(media, figure, "x")) for figure in list(all_figures())[::3]]
    assert again == first[::3] and len(set(first)) == len(first)
    assert all(path.stat().st_size > 1000 for path in media.folder.iterdir())


def test_texts_lie_within_figures_and_apart():
    """Nothing is cut off, and no words are written over others."""
    for figure in all_figures():
        with look():
            figure.draw_without_rendering()
        width, height = figure.bbox.size
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
        for axes in figure.axes:
            boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                boxes += [
                    tick.label1.get_window_extent()
                    for tick in axis.get_major_ticks()
                    if low <= tick.get_loc() <= high and tick.label1.get_visible() and tick.label1.get_text()
                ]
            for n, box in enumerate(boxes):
                assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
                assert not any(box.overlaps(other) for other in boxes[:n])


def test_points_of_the_curve():
    own = entry(3)
    (axes,) = det_figure({"all trials": own}).axes
    points = {
        line.get_marker(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if len(line.get_xdata()) == 1
    }
    assert points["o"] == pytest.approx([ndtri(own["equal"])] * 2)
    assert points["v"] == pytest.approx(ndtri(own["minimum"]))
    low, high = axes.get_xlim()
    assert points["s"] == pytest.approx(np.clip(ndtri(own["operating"]), low, high))
    # The point of equal errors lies on the curve that is drawn.
    curve = max(axes.lines, key=lambda line: len(line.get_xdata()))
    at = np.interp(points["o"][0], curve.get_xdata()[::-1], curve.get_ydata()[::-1])
    assert at == pytest.approx(points["o"][1], abs=0.05)


def test_axes_are_normal_quantiles_of_percents():
    (axes,) = det_figure({"all trials": entry(3)}).axes
    assert axes.get_xlim() == axes.get_ylim()
    for ticks, names in (
        (axes.get_xticks(), axes.get_xticklabels()),
        (axes.get_yticks(), axes.get_yticklabels()),
    ):
        shares = [float(name.get_text()) / 100 for name in names]
        np.testing.assert_allclose(ndtr(ticks), shares, atol=1e-12)
        assert {0.01, 0.1, 0.4} <= set(shares)


def test_steps_of_equal_scores_are_lines_between_rates():
    """The curve of constant scores is far + frr = 1: on quantiles, too, as many points show."""
    own = {"far": np.array([1.0, 0.0]), "frr": np.array([0.0, 1.0]), "equal": 0.5}
    (axes,) = det_figure({"constant": own}).axes
    curve = max(axes.lines, key=lambda line: len(line.get_xdata()))
    x, y = (np.asarray(part) for part in curve.get_data())
    assert len(x) > 100
    np.testing.assert_allclose(ndtr(x) + ndtr(y), 1, atol=1e-6)


def test_long_curves_are_thinned_where_they_are_seen():
    own = entry(0, 200_000, band=False)
    (axes,) = det_figure({"all trials": own}).axes
    curve = max(axes.lines, key=lambda line: len(line.get_xdata()))
    x, y = (np.asarray(part) for part in curve.get_data())
    assert 500 < len(x) < MOST_MARKS
    low, high = axes.get_xlim()
    seen = (x > low) & (x < high) & (y > low) & (y < high)
    assert np.hypot(np.diff(x[seen]), np.diff(y[seen])).max() < 0.1
    np.testing.assert_allclose(y[seen], ndtri(np.interp(-ndtr(x[seen]), -own["far"], own["frr"])), atol=0.05)


def test_curves_are_told_apart_without_colours():
    figure = det_figure({f"change {n}": entry(n, 300, 4 - 0.3 * n) for n in range(8)}, bands=False)
    (axes,) = figure.axes
    curves = [line for line in axes.lines if len(line.get_xdata()) > 50]
    assert len({str(line._dash_pattern) for line in curves}) == 8
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[0].startswith("change 0, EER ") and names[-3:] == ["equal errors", "lowest cost", "in use"]


def test_curves_beyond_the_most_are_said():
    figure = det_figure({f"change {n}": entry(n, 100) for n in range(verification_figures.MOST_CURVES + 1)})
    assert figure.axes[0].get_title(loc="right") == "the first 8 of 9"


@pytest.mark.parametrize("bands", [True, False])
def test_bands_can_be_left_out(bands):
    figure = det_figure({"clean": entry(0), "noise": entry(1)}, bands=bands)
    assert len(figure.axes[0].collections) == 2 * bands
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("95 % interval" in names) == bands


def test_curves_are_named_directly_where_there_is_room():
    far_apart = det_figure({"clean": entry(0, apart=4.0), "noise": entry(1, apart=1.5)}, bands=False)
    assert {text.get_text() for text in far_apart.axes[0].texts} == {"clean", "noise"}
    alike = {name * 8: entry(0, apart=3.0) for name in ("abc", "def", "ghi")}
    assert len(det_figure(alike, bands=False).axes[0].texts) < 3
    assert not det_figure({"alone": entry(0)}).axes[0].texts


def test_densities_have_area_one_and_counts_are_told():
    rng = np.random.default_rng(0)
    scores, target = rng.normal(size=5000), np.arange(5000) < 1000
    scores[:10], scores[-4:] = np.nan, 1e6
    figure = score_histograms(scores, target, {"in use": 0.25})
    (axes,) = figure.axes
    for patch in axes.patches:
        heights, edges, _ = patch.get_data()
        assert (heights * np.diff(edges)).sum() == pytest.approx(1)
        assert edges[-1] < 1e6  # few extreme scores do not hide the others
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["non-target (4,000 trials)", "target (990 trials)"]
    assert axes.texts[0].get_text() == "in use: 0.25" and axes.lines[0].get_xdata() == [0.25, 0.25]


@pytest.mark.parametrize("seed", [0, 1])
def test_curve_of_errors_has_a_point_a_number(seed):
    rng = np.random.default_rng(seed)
    found = {}
    for n in (1, 2, 5):
        target = np.arange(400) < 100
        scores = rng.normal(size=400) + n * target if n < 5 or seed else np.full(400, np.nan)
        owners = np.arange(400) % 25
        data = Trials(scores, target, owners, owners, 25)
        value, low, high = equal_error_rate(data).point().value[0] + np.array([0.0, -0.1, 0.1])
        numbers = {"value": value, "low": low, "high": high} if np.isfinite(value) else {}
        found[n] = Estimate("m", "c", "f", "embedding", "equal_error_rate", **numbers)
    figure = equal_error_curve(found, "recordings")
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(
        line.get_ydata(), [100 * (np.nan if rate.value is None else rate.value) for rate in found.values()]
    )
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["1", "2", "5"]
