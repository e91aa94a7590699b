"""What a page shows of files in time."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.temporal import changes
from soundcheck.metrics.temporal import FileChanges, neighbours
from soundcheck.report import figures, temporal_views

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "w" * 5000
CLASSES = BUILTIN["emotion"].classes


def make(task="arousal", corpus="c"):
    """Two files of five segments, of which the second is predicted worst, and a short one."""
    files = ["a.wav"] * 5 + [HOSTILE] * 5 + ["short.wav"] * 2
    start = np.array([0.0, 3, 6, 9, 12, 0, 3, 6, 9, 20, 0, 3])
    truth = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5])
    predicted = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.4, 0.5, 0.4, np.nan, 0.4, 0.5, 0.5])
    if task == "emotion":
        truth = np.array(CLASSES, dtype=object)[(3.99 * truth).astype(int)]
        predicted = np.where(np.isnan(predicted), None, np.full(12, CLASSES[2], dtype=object))
    table = pd.DataFrame({"file": files, "start": start, "end": start + 2, "duration": 2.0})
    table["key"] = [f"k{n:02d}" for n in range(12)]
    answers = Predictions(predicted)
    subset = Subset(corpus, BUILTIN[task], table, truth, answers, answers, np.arange(12))
    pairs = neighbours(table["file"], table["start"], table["end"])
    return subset, pairs, changes(subset, truth, predicted, pairs)


def test_files_that_take_part_and_their_distances():
    text = str(temporal_views.files_table([make()[:2]]))
    for cell in ("arousal", ">2<", ">10<", ">1.00<", ">9.00<", ">1<"):
        assert cell in text


def test_model_beside_trivial_answers():
    for task in ("arousal", "emotion"):
        subset, pairs, _ = make(task)
        measures = {
            "Mean Directional Error": lambda s, p, pairs=pairs: FileChanges.mean_error(
                changes(s, s.truth, p.clean, pairs)
            )
        }
        text = str(temporal_views.trivial_table([(subset, measures)]))
        always = changes(subset, subset.truth, np.full(12, subset.truth[0]), pairs)
        assert f"−{np.mean(always.truth):.3f}" in text


@pytest.mark.parametrize("task", ["arousal", "emotion"])
def test_figures_are_drawn_of_hostile_names(tmp_path, task):
    found = make(task, HOSTILE)
    evaluation = SimpleNamespace(media=MediaStore(tmp_path))
    temporal_views.change_figures(evaluation, [found])
    figure = temporal_views.course_figure([found])
    assert "<img src=x" not in str(figures.show(MediaStore(tmp_path), figure, "alt"))
    truth, predicted = figure.axes[0].get_lines()
    assert truth.get_xdata().tolist() == [0, 3, 6, 9, 20]
    if task == "arousal":
        assert truth.get_ydata().tolist() == [0.1, 0.9, 0.1, 0.9, 0.1]
        assert predicted.get_xdata().tolist() == [0, 3, 6, 20]  # without the missing one


def test_nothing_to_show():
    assert str(temporal_views.files_table([])) == str(temporal_views.trivial_table([])) == ""
    temporal_views.growth_curves(None, [])
