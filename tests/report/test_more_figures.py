"""Figures of distributions, speakers and studies: any data are drawn, the same data give the same bytes."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import figures, speaker_views, study_figures
from soundcheck.report.style import show
from soundcheck.statistics.simulation import grid, simulate_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error:constrained_layout not applied", "error::RuntimeWarning"),
]

HOSTILE = ["$\\foo$", "_x", "名前", "a\nb", "x" * 300, "<b>"]


def subset(truth, prediction, task="arousal"):
    task = BUILTIN["arousal"] if task == "arousal" else Task(task, "classification", ("anger", "joy"))
    answers = Predictions(prediction)
    return Subset("c", task, pd.DataFrame(index=range(len(truth))), truth, answers, answers, truth)


def all_figures():
    rng = np.random.default_rng(0)
    values, classes = rng.random(90), np.array(["anger", "joy"], dtype=object)[rng.integers(2, size=90)]
    groups = np.array([*HOSTILE, None, "b"], dtype=object)[rng.integers(len(HOSTILE) + 2, size=90)]
    yield figures.distribution(subset(values, values**2), HOSTILE[1])
    yield figures.distribution(subset(np.full(9, 0.5), np.full(9, 0.7)), "one value")
    yield figures.distribution(subset(np.full(9, np.nan), values[:9]), "none")
    yield figures.distribution(subset(classes, classes[::-1], "mood"))
    yield figures.groups_against_all(values, groups, HOSTILE, title="numbers")
    yield figures.groups_against_all(classes, groups, HOSTILE, ["anger", "joy"], title="classes")
    yield figures.groups_against_all(values, groups, HOSTILE, compared=HOSTILE[:2])
    yield figures.groups_against_all([], [], ["a"])
    yield figures.expected_ranges(values, groups, {name: (0.3, 0.6) for name in HOSTILE})
    yield figures.expected_ranges([], [], {})
    for n in (0, 1, 2, 30, 300):
        truth = rng.random(n)
        yield speaker_views.average_figure(truth, truth[::-1], HOSTILE[0])
        yield speaker_views.rank_figure(truth, truth[::-1], HOSTILE[0])
    yield study_figures.interval_bars(study_figures.recorded("word_error_intervals")[0], "difference")
    yield study_figures.coverage_by_correlation(study_figures.recorded("word_errors")[0])
    rows = [(m, k, w, 0.9) for m in ("a", "b", "c") for k in (5, 40) for w in ("blockwise", "segments")]
    yield study_figures.coverage_by_speakers(
        pd.DataFrame(rows, columns=["metric", "speakers", "way", "coverage"])
    )
    yield study_figures.certainties({"ccc": range(10), "uar": [9] * 10})
    found = simulate_all(list(grid(("mean",), (2, 30), (20, 60))), runs=20)
    yield study_figures.simulated_maxima({"mean": found, "again": found}, {"mean": [(60, 0.075, 30)]})
    yield study_figures.simulated_maxima({"mean": found, "again": found}, {"mean": [(60, 0.075, 30)]}, 30)


def test_same_data_same_bytes(tmp_path):
    media = MediaStore(tmp_path / "media", "media/")
    first, second = ([str(show(media, figure, "x")) for figure in all_figures()] for _ in range(2))
    assert first == second and len(set(first)) > 15
    assert all(
        (media.folder / name).stat().st_size > 1000 for name in {path.name for path in media.folder.iterdir()}
    )


def test_misses_are_drawn_apart():
    frame = pd.DataFrame(
        [("blockwise", 1, -1, 1, 0), ("blockwise", 2, 1, 2, 0), ("blockwise", 3, np.nan, np.nan, 0)],
        columns=["way", "data_set", "low", "high", "true"],
    )
    (axes,) = study_figures.interval_bars(frame, "difference").axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "contains the true value: 1",
        "misses it: 1",
    ]


def test_a_finding_is_the_heading_of_its_figure_and_part_of_its_text(tmp_path):
    figure = figures.truth_and_prediction([0, 1], [0, 1])
    shown = str(figures.show(MediaStore(tmp_path), figure, "Dots", finding="<b> is pulled to the middle"))
    assert "<figcaption>&lt;b&gt; is pulled to the middle</figcaption><img" in shown
    assert 'alt="Dots. &lt;b&gt; is pulled to the middle"' in shown
    assert "figcaption" not in str(figures.show(MediaStore(tmp_path), figure, "Dots"))
