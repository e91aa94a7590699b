"""What a page shows of files in time."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.report.given import HOSTILE, cells, subset

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.temporal import changes
from soundcheck.metrics.temporal import FileChanges, neighbours
from soundcheck.report import figures, temporal_views

pytestmark = pytest.mark.slow

CLASSES = BUILTIN["emotion"].classes


def make(task="arousal"):
    """Two files of five segments, of which the second is predicted worst, and a short one."""
    files = ["a.wav"] * 5 + [HOSTILE * 99] * 5 + ["short.wav"] * 2
    start = np.array([0.0, 3, 6, 9, 12, 0, 3, 6, 9, 20, 0, 3])
    truth = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5])
    predicted = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.4, 0.5, 0.4, np.nan, 0.4, 0.5, 0.5])
    if task == "emotion":
        truth = np.array(CLASSES, dtype=object)[(3.99 * truth).astype(int)]
        predicted = np.where(np.isnan(predicted), None, np.full(12, CLASSES[2], dtype=object))
    made = subset(truth, predicted, task, file=files, start=start, end=start + 2, duration=2.0)
    pairs = neighbours(*(made.segments[name] for name in ("file", "start", "end")))
    return made, pairs, changes(made, made.truth, made.predictions.clean, pairs)


@pytest.mark.parametrize("task", ["arousal", "emotion"])
def test_files_in_time(tmp_path, task):
    made, pairs, found = make(task)
    _, line = cells(temporal_views.files_table([(made, pairs)]))
    assert {task, "2", "10", "1.00", "9.00", "1"} <= set(line)
    measure = {
        "Mean Directional Error": lambda s, p: FileChanges.mean_error(changes(s, s.truth, p.clean, pairs))
    }
    always = changes(made, made.truth, np.full(12, made.truth[0]), pairs)  # what a trivial answer scores
    assert f"−{np.mean(always.truth):.3f}" in str(temporal_views.trivial_table([(made, measure)]))
    temporal_views.change_figures(SimpleNamespace(media=MediaStore(tmp_path)), [(made, pairs, found)])
    figure = temporal_views.course_figure([(made, pairs, found)])
    assert HOSTILE not in str(figures.show(MediaStore(tmp_path), figure, "alt"))
    truth, predicted = figure.axes[0].get_lines()
    assert truth.get_xdata().tolist() == [0, 3, 6, 9, 20]
    if task == "arousal":
        assert truth.get_ydata().tolist() == [0.1, 0.9, 0.1, 0.9, 0.1]
        assert predicted.get_xdata().tolist() == [0, 3, 6, 20]  # without the missing one
