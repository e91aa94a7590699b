"""The layout that measures less draws what Matplotlib's own draws."""

import numpy as np
import pytest

from soundcheck.metrics.change import TOLERANCE
from soundcheck.report import figures
from soundcheck.report.layout import laid_out
from soundcheck.report.style import look, name_ticks, new

pytestmark = pytest.mark.slow

NAMES = [f"group {n}" for n in range(7)]


def panels(rng):
    groups = np.repeat(NAMES, 40)
    return figures.groups_against_all(rng.beta(2, 5, len(groups)), groups, NAMES, title="seven")


def classes(rng):
    groups, said = np.repeat(NAMES, 30), rng.choice(["happy", "sad", "something long"], 210)
    return figures.groups_against_all(said, groups, NAMES, sorted(set(said)), "seven")


def movement(rng):
    clean = rng.random(300)
    return figures.shift(clean, clean + rng.normal(0, TOLERANCE, 300), "with a scale of colours")


def square(rng):
    return figures.truth_and_prediction(rng.random(50), rng.random(50), "equal sides")


def table(rng):
    return figures.confusion_matrix(list("abcab"), list("abbac"), ["a", "b", "c"])


def powers_of_ten(rng):
    figure, (axes, _) = new(5, 3, 1, 2, sharey=True)
    axes.plot(rng.random(20) * 1e9)
    axes.set_title("above the power", loc="left")
    return figure


def logarithms(rng):
    figure, places = new(5, 4, 2, 2, sharex=True, sharey=True)
    for axes in places:
        axes.loglog([1, 10, 1000], 10 ** rng.uniform(-4, 4, 3))
    return figure


def upside_down(rng):
    figure, places = new(5, 4, 2, 2, sharex=True, sharey=True)
    for axes in places:
        axes.plot(rng.random(9) * 7 - 3)
    places[0].set_ylim(3, -2.5)
    name_ticks(places[0], ["one", "two", "a long name"])
    return figure


def words(rng):
    figure, (axes, _) = new(5, 3, 1, 2)
    axes.plot([0, 1], [0, 1])
    axes.text(0.9, 0.5, "reaches beyond the axes", rotation=35)
    axes.set_ylabel("label")
    return figure


FIGURES = [panels, classes, movement, square, table, powers_of_ten, logarithms, upside_down, words]


@pytest.mark.parametrize("make", FIGURES)
def test_what_is_drawn_is_the_same(make):
    usual, figure = (make(np.random.default_rng(5)) for _ in range(2))
    with look():
        usual.get_layout_engine().execute(usual)
        usual.set_layout_engine(None)
        usual.canvas.draw()
        with laid_out(figure):
            for expected, axes in zip(usual.axes, figure.axes, strict=True):
                if axes.get_subplotspec() is None:  # a scale of colours, whose place follows
                    continue
                place = expected.get_position().bounds
                np.testing.assert_allclose(axes.get_position().bounds, place, atol=0.005)  # some pixels
                axes.set_position(place)
            figure.canvas.draw()
    drawn = [np.asarray(each.canvas.buffer_rgba())[..., :3].astype(int) for each in (usual, figure)]
    assert (np.abs(drawn[0] - drawn[1]).max(axis=-1) > 16).mean() < 1e-3 and (drawn[0] < 255).any()


def test_axes_are_measured_as_often_as_needed(monkeypatch):
    figure, places = new(6, 2, 1, 3, sharey=True)
    for axes in places:
        axes.plot([0, 1])
        axes.set(xticks=[0, 1], yticks=[0, 1])
    places[1].text(0.5, 0.5, "words")
    asked, measure = [], type(places[0]).get_tightbbox
    monkeypatch.setattr(
        type(places[0]),
        "get_tightbbox",
        lambda axes, *args, **options: asked.append(axes) or measure(axes, *args, **options),
    )
    with laid_out(figure):
        assert [asked.count(axes) for axes in places] == [1, 2, 1]
    assert figure.get_layout_engine() is None  # drawing it moves nothing
    assert not any("get_tightbbox" in vars(part) for axes in places for part in (axes, axes.yaxis))


def test_ticks_without_names_are_two_lines():
    with look():
        figure, places = new(6, 2, 1, 2, sharey=True)
    for axes in places:
        axes.set_yticks([0, 1, 2])
        axes.set_ylim(0, 1.5)
    with laid_out(figure):
        grid, marks = places[1].lines
        assert not places[0].lines and places[0].yaxis.get_visible()
    np.testing.assert_array_equal(grid.get_ydata(), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(marks.get_ydata(), [0, 1])
