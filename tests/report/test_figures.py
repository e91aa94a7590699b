"""Figures take any data, show nothing live, and the same data give the same bytes."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import figures, page
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

# A figure whose layout collapses only warns.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("error:constrained_layout not applied")]

HOSTILE = ["$\\foo$", "_x", "{{ 7 }}", "名前", "a\nb", "x" * 300, "<b>"]


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path / "media", "media/")


def frame(count: int = 4, **given):
    base = dict(model="m", corpus="c", family="f", category="fairness", task="arousal", rule="|value| <")
    base |= dict(threshold=0.1, segments=50, blocks=12, certainty=0.9, reference=0.01, reference_passed=True)
    rows = [
        Verdict(
            **(
                base
                | dict(test=f"T{n}", value=0.05 * n, low=0.05 * n - 0.1, high=0.05 * n + 0.1, passed=n < 2)
            )
        )
        for n in range(count)
    ]
    return to_frame(rows).assign(**given)


def all_figures(rng):
    truth = rng.random(80)
    prediction = np.clip(truth + rng.normal(0, 0.1, 80), 0, 1)
    names = np.array(["anger", "neutral", None], dtype=object)[rng.integers(0, 3, 60)]
    yield figures.truth_and_prediction(truth, prediction, "t")
    yield figures.confusion_matrix(names, names[::-1], ["anger", "neutral"])
    yield figures.shift(truth, prediction, "t")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Media with all figures, and how they are shown."""
    media = MediaStore(tmp_path_factory.mktemp("drawn") / "media", "media/")
    rng = np.random.default_rng(0)
    shown = [
        str(figures.show(media, figure, f"Figure {number} <x>"))
        for number, figure in enumerate(all_figures(rng))
    ]
    return media, shown


def test_each_figure_is_stored_with_size_and_words(drawn):
    media, shown = drawn
    for number, html in enumerate(shown):
        assert f'alt="Figure {number} &lt;x&gt;"' in html
        assert re.search(r'width="\d+" height="\d+"', html)
        name = re.search(r'src="media/([^"]+)"', html).group(1)
        assert (media.folder / name).stat().st_size > 1000
    assert number == 2


def test_same_data_same_bytes(drawn, media, rng):
    again = [figures.show(media, figure, f"Figure {n} <x>") for n, figure in enumerate(all_figures(rng))]
    assert [str(html) for html in again] == drawn[1]


def test_figures_carry_no_dates_and_no_traces(drawn):
    media, _ = drawn
    for path in media.folder.glob("*.svg"):
        text = path.read_text()
        assert "<dc:date>" not in text
        assert "Matplotlib v" not in text
        assert "<script" not in text
    for path in media.folder.glob("*.png"):
        assert "Software" not in Image.open(path).info


def test_many_marks_become_pixels(media, rng):
    few = figures.truth_and_prediction(rng.random(100), rng.random(100))
    many = figures.truth_and_prediction(rng.random(5000), rng.random(5000))
    assert ".svg" in str(figures.show(media, few, "x"))
    assert ".png" in str(figures.show(media, many, "x"))


@pytest.mark.parametrize("text", HOSTILE)
def test_any_name_can_be_drawn(media, text):
    drawn = [
        figures.confusion_matrix([text, "a"], ["a", text], [text, "a"]),
        figures.truth_and_prediction([0.1, 0.2], [0.1, 0.2], text),
        figures.shift([0.1], [0.2], text),
    ]
    for figure in drawn:
        str(figures.show(media, figure, text)).encode("utf-8")


def test_nothing_to_draw(media):
    nan = np.array([np.nan])
    for figure in (
        figures.truth_and_prediction(nan, nan),
        figures.confusion_matrix([], [], ["a", "b"]),
        figures.shift(nan, nan),
    ):
        assert "src=" in str(figures.show(media, figure, "empty"))


def test_confusion_matrix_counts_and_percents():
    figure = figures.confusion_matrix(["a", "a", "a", "b"], ["a", "a", "b", "z"], ["a", "b"])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["67 %\n(2)", "33 %\n(1)", "0 %\n(0)", "0 %\n(0)", "0 %\n(0)", "100 %\n(1)"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["a", "b", "other"]


def known(task, truth, prediction):
    size, kind = len(truth), float if task == "arousal" else object
    predictions = Predictions(np.array(prediction, dtype=kind))
    return Subset(
        *("c", BUILTIN[task], pd.DataFrame(index=range(size)), np.array(truth, dtype=kind)),
        *(predictions, predictions, np.arange(size)),
    )


def test_agreement_is_a_scatter_or_a_confusion_matrix():
    figure = figures.agreement(known("arousal", [0.0, 0.5, 1.0], [0.2, 0.4, 0.6]), "c: female")
    np.testing.assert_allclose(figure.axes[0].lines[-1].get_ydata()[[0, -1]], [0.2, 0.6])
    assert figure.axes[0].get_title(loc="left") == "c: female"
    figure = figures.agreement(known("emotion", ["anger", "anger"], ["anger", "sadness"]), "c: male")
    assert [text.get_text() for text in figure.axes[0].texts][:4] == [
        "50 %\n(1)",
        "0 %\n(0)",
        "0 %\n(0)",
        "50 %\n(1)",
    ]
    assert figure.axes[0].get_title(loc="left") == "c: male"


def test_groups_weigh_the_same_in_the_average():
    values = np.array(["a"] * 300 + ["b"] * 30 + ["a"] * 9, dtype=object)
    groups = np.repeat(["x", "y", "z"], [300, 30, 9])
    figure = figures.groups_against_all(values, groups, ["x", "y", "z"], ["a", "b"], compared=["x", "y"])
    heights = [[bar.get_height() for bar in axes.patches] for axes in figure.axes]
    expected = [[50, 50, 100, 0], [50, 50, 0, 100], [50, 50, 100, 0]]
    np.testing.assert_allclose(heights, expected, atol=1e-9)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["x (300)", "y (30)", "z (9), not judged"]


def test_a_density_follows_the_weights():
    values, groups = np.repeat([0.3, 0.7, 0.3], [30, 10, 10]), np.repeat(["x", "y"], [30, 20])
    figure = figures.groups_against_all(values + np.tile([-0.01, 0.01], 25), groups, ["x", "y"])
    (everybody,) = figure.axes[1].collections
    outline = everybody.get_paths()[0].vertices
    at_three, at_seven = (outline[np.abs(outline[:, 0] - x) < 0.01, 1].max() for x in (0.3, 0.7))
    assert at_three / at_seven == pytest.approx(3, rel=0.3)  # each group weighs the same: 1.5 to 0.5


def test_distributions_are_of_both():
    subset = known("arousal", np.repeat([0.1, 0.5, 0.9], [1, 2, 5]), np.repeat([0.1, 0.5, np.nan], [3, 4, 1]))
    figure = figures.distribution(subset)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Truth", "Prediction"]
    assert axes.get_ylabel() == "density of 7 segments" and axes.get_xlim() == (0, 1)
    figure = figures.distribution(known("emotion", ["anger", "anger", "sadness", None], ["anger", "joy"] * 2))
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    np.testing.assert_allclose([height for height in heights if height], [200 / 3, 100 / 3, 100])


def test_fit_line_and_axes():
    figure = figures.truth_and_prediction([0.0, 0.5, 1.0], [0.2, 0.4, 0.6])
    axes = figure.axes[0]
    assert axes.get_xlim() == axes.get_ylim() == (-0.1, 1.1)
    np.testing.assert_allclose(axes.lines[-1].get_ydata()[[0, -1]], [0.2, 0.6])


def test_movements_beyond_the_edge_are_said():
    figure = figures.shift([0.1, 0.5], [0.9, 0.5], "x")
    assert "1 beyond the edge" in figure.axes[0].get_title(loc="left")


def test_all_values_are_drawn_a_panel_a_measure(media, monkeypatch):
    drawn = []
    monkeypatch.setattr(page, "show", lambda evaluation, figure, alt: drawn.append((figure, alt)))
    rows = frame(9, label=["b", HOSTILE[0]] + ["a"] * 7, low=np.nan)
    page.intervals(SimpleNamespace(frame=lambda: rows))
    assert [len(figure.axes) for figure, _ in drawn] == [9] and drawn[0][1].endswith("T8")
    names = [
        tick.get_text() for figure, _ in drawn for axes in figure.axes for tick in axes.get_yticklabels()
    ]
    assert names == ["b", HOSTILE[0]] + ["a"] * 7
    page.intervals(SimpleNamespace(frame=lambda: rows.iloc[:0]))
    assert len(drawn) == 1
