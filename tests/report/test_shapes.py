"""Shapes of distributions against SciPy and NumPy."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde

from soundcheck.report import shapes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [2, 30, 1000])
def test_a_density_is_that_of_scipy(rng, count, weighted):
    values, weights = rng.beta(2, 3, count), rng.random(count) if weighted else None
    places, heights = shapes.density(values, weights)
    assert (places[0], places[-1]) == (values.min(), values.max()) and len(places) == len(heights) == 200
    np.testing.assert_allclose(heights, gaussian_kde(values, weights=weights)(places), rtol=1e-9)


def test_missing_values_have_no_weight_and_those_beyond_are_at_the_edge():
    values, weights = np.array([0.2, np.nan, 0.4, 1.7]), np.array([1.0, 50.0, 2.0, 3.0])
    expected = shapes.density(np.array([0.2, 0.4, 1.0]), weights[[0, 2, 3]])
    np.testing.assert_array_equal(shapes.density(values, weights), expected)


def test_constant_values_are_a_line_and_none_are_nothing():
    assert shapes.density([]) is None and shapes.density([np.nan]) is None
    axes = Figure().subplots()
    shapes.draw_density(axes, shapes.density([]), "red", filled=True)
    assert not axes.lines and not axes.collections
    shapes.draw_density(axes, shapes.density([0.3, 0.3]), "red", filled=True)
    assert axes.lines[0].get_xdata() == [0.3, 0.3] and not axes.collections


@pytest.mark.parametrize(("stat", "total"), [("count", 400), ("percent", 100), ("density", 1 / 0.1)])
def test_histograms_and_their_densities_have_the_height_that_is_named(rng, stat, total):
    values, edges = rng.normal(0.5, 0.1, 400), np.linspace(-0.5, 1.5, 21)
    axes = Figure().subplots()
    shapes.histogram(axes, values, edges, stat, "blue", label="name")
    (bars,) = axes.patches
    np.testing.assert_allclose(bars.get_data().values, total * np.histogram(values, edges)[0] / 400)
    (smooth,) = axes.lines
    area = np.trapezoid(smooth.get_ydata(), smooth.get_xdata())
    assert area == pytest.approx(0.1 * total, rel=0.02)
    assert bars.get_label() == "name"


def test_counts_of_two_directions(rng):
    x, y, edges = rng.random(50), rng.random(50), [np.linspace(0, 1, 4), np.linspace(0, 1, 6)]
    figure = Figure()
    axes = figure.subplots()
    shapes.counts_map(axes, x, y, edges, cbar=True)
    (mesh,) = axes.collections
    counts = np.histogram2d(x, y, bins=edges)[0].T
    np.testing.assert_array_equal(mesh.get_array().filled(0), counts)
    assert mesh.get_array().mask.sum() == (counts == 0).sum()  # white
    assert mesh.get_clim() == (0, counts.max())
    assert figure.axes[1].get_ylabel() == "segments"
