"""Figures take any data, show nothing live, and the same data give the same bytes."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex
from PIL import Image

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import examples, figures, states, study_figures
from soundcheck.report.figures import class_confusions, most_confused
from soundcheck.report.style import PALETTE, WHITE, contrast, on, png, show
from soundcheck.statistics.simulation import grid, simulate_all

# A figure whose layout collapses only warns.
pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error::RuntimeWarning")
HOSTILE = ["$\\foo$", "_x", "{{ 7 }}", "名前", "a\nb", "x" * 300, "<b>"]
JOY = "<b>joy</b>"
NAN = np.array([np.nan])


def subset(truth, predicted, classes=()):
    count, kind = len(truth), object if classes else float
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
    table["key"] = [f"{n:04d}" for n in range(count)][::-1]
    table["speaker"] = [f"s{n // 2}" for n in range(count)]
    answers = Predictions(np.array(predicted, dtype=kind))
    task = Task("mood", "classification", classes=tuple(classes)) if classes else BUILTIN["arousal"]
    return Subset("c", task, table, np.array(truth, dtype=kind), answers, answers, np.arange(count) // 2)


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    return MediaStore(tmp_path_factory.mktemp("drawn") / "media", "media/")


def all_figures():
    rng = np.random.default_rng(0)
    values, classes = rng.random(90), np.array(["anger", "joy"], dtype=object)[rng.integers(2, size=90)]
    groups = np.array([*HOSTILE, None, "b"], dtype=object)[rng.integers(len(HOSTILE) + 2, size=90)]
    yield from (figures.truth_and_prediction(values, values**2, text) for text in HOSTILE)
    yield figures.truth_and_prediction(NAN, NAN)
    yield figures.confusion_matrix([], [], ["a", "b"])
    yield from (figures.confusion_matrix([text, "a"], ["a", text], [text, "a"]) for text in HOSTILE)
    yield figures.distribution(subset(values, values**2), HOSTILE[1])
    yield figures.distribution(subset(np.full(9, 0.5), np.full(9, 0.7)), "one value")
    yield figures.distribution(subset(np.full(9, np.nan), values[:9]), "none")
    yield figures.distribution(subset(classes, classes[::-1], ("anger", "joy")))
    yield figures.by_group(values, groups, HOSTILE, title="numbers")
    yield figures.by_group(classes, groups, HOSTILE, ["anger", "joy"], title="classes")
    yield figures.by_group(values, groups, HOSTILE, expected=dict.fromkeys(HOSTILE, (0.3, 0.6)))
    yield figures.by_group(np.empty(0), [], ["a"])
    yield study_figures.interval_bars(study_figures.recorded("word_error_intervals")[0], "difference")
    yield study_figures.coverage_by_correlation(study_figures.recorded("word_errors")[0])
    rows = [(m, k, w, 0.9) for m in ("a", "b", "c") for k in (5, 40) for w in ("blockwise", "segments")]
    coverage = pd.DataFrame(rows, columns=["metric", "speakers", "way", "coverage"])
    yield study_figures.coverage_by_speakers(coverage)
    yield study_figures.certainties({"ccc": range(10), "uar": [9] * 10})
    found = simulate_all(list(grid(("mean",), (2, 30), (20, 60))), runs=20)
    for emphasised in (None, 30):
        panels, marked = {"mean": found, "again": found}, {"mean": [(60, 0.075, 30)]}
        yield study_figures.simulated_maxima(panels, marked, emphasised)


@pytest.mark.slow
def test_figures_of_any_data_are_the_same_each_time_without_dates_and_traces(media):
    first, second = ([str(show(media, figure, "x <x>")) for figure in all_figures()] for _ in range(2))
    assert first == second and len(set(first)) > 20
    for html in first:
        assert 'alt="x &lt;x&gt;"' in html and re.search(r'width="\d+" height="\d+"', html)
        path = media.folder / re.search(r'src="media/([^"]+)"', html).group(1)
        assert path.stat().st_size > 1000
        if path.suffix == ".svg":
            assert not re.search("<dc:date>|Matplotlib v|<script", path.read_text())
        else:
            assert "Software" not in Image.open(path).info


def test_many_marks_become_pixels_in_the_nearest_of_256_colours(media, rng):
    few, many = (figures.truth_and_prediction(rng.random(n), rng.random(n)) for n in (100, 5000))
    assert ".svg" in str(show(media, few, "x")) and ".png" in str(show(media, many, "x"))
    shown = str(show(media, few, "Dots", finding="<b> is compressed"))
    assert "<figcaption>&lt;b&gt; is compressed</figcaption><img" in shown
    assert 'alt="Dots. &lt;b&gt; is compressed"' in shown
    assert "figcaption" not in str(show(media, few, "Dots"))
    pixels = rng.integers(0, 256, (40, 30, 3), dtype=np.uint8) // 64 * 85
    (media.folder / "x.png").write_bytes(png(pixels))
    again = np.asarray(Image.open(media.folder / "x.png").convert("RGB"))
    np.testing.assert_array_equal(again, pixels)  # 64 colours: none is lost


def test_agreement_is_a_scatter_with_its_line_or_counts_with_percents():
    figure = figures.agreement(subset([0.0, 0.5, 1.0], [0.2, 0.4, 0.6]), "c: female")
    np.testing.assert_allclose(figure.axes[0].lines[-1].get_ydata()[[0, -1]], [0.2, 0.6])
    assert figure.axes[0].get_title(loc="left") == "c: female"
    figure = figures.confusion_matrix(["a", "a", "a", "b"], ["a", "a", "b", "z"], ["a", "b"])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["67 %\n(2)", "33 %\n(1)", "0 %\n(0)", "0 %\n(0)", "0 %\n(0)", "100 %\n(1)"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["a", "b", "other"]


def test_predictions_of_groups_are_shares_of_each_group_or_boxes():
    values, groups = np.array(["a"] * 30 + ["b"] * 10, dtype=object), np.repeat(["x", "y"], 20)
    (axes,) = figures.by_group(values, groups, ["x", "y"], ["a", "b"]).axes
    assert [bar.get_height() for bar in axes.patches] == [100, 0, 50, 50]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["x (20)", "y (20)"]
    (axes,) = figures.by_group(np.linspace(0, 1, 40), groups, ["x", "y"], expected={"x": (0.2, 9.0)}).axes
    assert axes.patches[0].get_width() == pytest.approx(0.8)
    many = [f"g{n}" for n in range(50)]
    assert "first 40 of 50" in figures.by_group(np.ones(50), many, many).axes[0].get_title(loc="left")


def test_misses_are_drawn_apart():
    rows = [("blockwise", 1, -1, 1, 0), ("blockwise", 2, 1, 2, 0), ("blockwise", 3, np.nan, np.nan, 0)]
    frame = pd.DataFrame(rows, columns=["way", "data_set", "low", "high", "true"])
    (axes,) = study_figures.interval_bars(frame, "difference").axes
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["contains the true value: 1", "misses it: 1"]


def test_words_stand_out_on_each_cell_of_a_map_and_marks_on_paper():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#ffffff", "#777777") == pytest.approx(4.48, abs=0.005)  # a known pair
    for cell in (to_hex(colormaps["Blues"](place)) for place in np.linspace(0, 1, 65)):
        assert contrast(on(cell), cell) >= 4.5
    for colour in (state.colour for state in states.STATE.values()):
        assert contrast(colour, WHITE) >= 3
    assert len(set(PALETTE)) == len(PALETTE)


def test_cells_lead_to_their_segments():
    text = str(class_confusions(subset(["a", "a", "a", JOY], ["a", JOY, JOY, JOY], ["a", JOY])))
    links, anchors = re.findall(r'href="#([^"]+)"', text), re.findall(r'<p id="([^"]+)"', text)
    assert sorted(links) == sorted(anchors) and len(set(anchors)) == 3
    assert "33 %" in text and "67 %" in text and "100 %" in text and JOY not in text
    cell = text.partition(f'<p id="{anchors[1]}"')[2].partition("</ul>")[0]
    # Keys run backwards, and each speaker has two: the one with the smaller key is in another cell.
    assert re.findall(r"(\d)\.wav", cell) == ["2", "1"]
    assert text.index("<details") < text.index('<p id="')  # a link opens what is folded
    text = str(class_confusions(subset(["a"] * 6, ["b"] * 6, ["a", "b"])))
    assert re.findall(r"(\d)\.wav", text.partition("<ul>")[2]) == ["5", "3", "1", "4"]  # each speaker once
    assert "and 2 more" in text


def test_what_does_not_count_in_a_table_of_confusions_is_said(monkeypatch):
    monkeypatch.setattr(figures, "MOST_CLASSES", 2)
    monkeypatch.setattr(figures, "MOST_CELLS", 1)
    given = subset(["a", "a", "b", "x", "c"], ["a", "b", "b", "a", None], ["a", "b", "c"])
    text = str(class_confusions(given))
    assert "The 2 of 3 classes" in text and "1 of 3 cells" in text
    assert "2 segments without a prediction or with another label" in text
    assert "–" in str(class_confusions(subset(["a"], [None], ["a", "b"])))


def test_the_most_frequent_confusions_are_played(tmp_path):
    view = SimpleNamespace(audio=False, root=tmp_path)
    evaluation = SimpleNamespace(media=MediaStore(tmp_path), view=lambda _: view, guesses=False)
    given = subset(["a", "a", "b"], ["b", "b", "b"], ["a", "b"])
    text = str(examples.show(evaluation, [most_confused(given)]))
    assert "labelled a; predicted b" in text and "labelled b" not in text
