"""Scores of probabilities, against scikit-learn and plain loops."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from soundcheck.metrics import confidence as brier
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.confidence import equal_mass_bins

CLASSES = ("anger", "joy", "neutral")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1, 1, 2], 400).round(2)
    probabilities[:, 2] = 1 - probabilities[:, :2].sum(axis=1)
    truth = np.array([rng.choice(CLASSES, p=row / row.sum()) for row in probabilities], dtype=object)
    return truth, probabilities


def test_brier_score_is_that_of_scikit_learn(data):
    truth, probabilities = data
    expected = sum(
        brier_score_loss(truth == name, probabilities[:, place].clip(0, 1))
        for place, name in enumerate(CLASSES)
    )
    assert value(brier.brier_score(truth, probabilities, CLASSES)) == pytest.approx(expected)


def test_parts_make_the_score_and_each_is_that_of_a_loop(data):
    truth, probabilities = data
    found = dict(zip(brier.PARTS, values(brier.brier_parts(truth, probabilities, CLASSES, 5)), strict=True))
    reliability = resolution = uncertainty = 0.0
    for place, name in enumerate(CLASSES):
        true, bins = truth == name, equal_mass_bins(probabilities[:, place], 5)
        uncertainty += true.mean() * (1 - true.mean())
        for number in set(bins.tolist()):
            own = bins == number
            reliability += own.mean() * (probabilities[own, place].mean() - true[own].mean()) ** 2
            resolution += own.mean() * (true[own].mean() - true.mean()) ** 2
    assert [*found.values()][:3] == pytest.approx([reliability, resolution, uncertainty])
    score = value(brier.brier_score(truth, probabilities, CLASSES))
    assert reliability - resolution + uncertainty + found["within bins"] == pytest.approx(score)
    skill = value(brier.brier_skill(truth, probabilities, CLASSES))
    assert skill == pytest.approx(1 - score / uncertainty)
