"""Cosines of embeddings: plain loops as the oracle, scores that do not depend on their company."""

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.trials import NORMS, cosine_scores, mean_directions, normalised_scores

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

some = settings(max_examples=10, deadline=None)


def drawn(seed: int, n: int = 40, d: int = 19, count: int = 500):
    """Draw embeddings of two sides and trials of them."""
    rng = np.random.default_rng(seed)
    return *rng.normal(size=(2, n, d)), *rng.integers(n, size=(2, count))


def test_known_angles():
    enrolled = np.array([[1.0, 0.0], [3.0, 3.0]])
    tested = np.array([[5.0, 0.0], [0.0, 2.0], [-7.0, 0.0], [1.0, np.sqrt(3)]])
    result = cosine_scores(enrolled, tested, np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 0]))
    np.testing.assert_allclose(result, [1, 0, -1, 0.5, np.sqrt(0.5)], atol=1e-15)
    embeddings, places = np.random.default_rng(0).normal(size=(300, 192)).astype(np.float32), np.arange(300)
    same = cosine_scores(embeddings, embeddings, places, places)
    assert (same <= 1).all() and (same > 1 - 1e-14).all()  # never more than alike


@some
@given(st.integers(0, 2**31), st.sampled_from([3, 19, 512]))
def test_scores_do_not_depend_on_their_company_memory_or_type(seed, d):
    enrolled, tested, first, second = drawn(seed, d=d)
    result = cosine_scores(enrolled, tested, first, second)
    alone = [cosine_scores(enrolled, tested, first[n : n + 1], second[n : n + 1])[0] for n in range(99)]
    assert result[:99].tobytes() == np.array(alone).tobytes()
    mixed = np.random.default_rng(seed).permutation(500)
    assert cosine_scores(enrolled, tested, first[mixed], second[mixed]).tobytes() == result[mixed].tobytes()
    assert cosine_scores(tested, enrolled, second, first).tobytes() == result.tobytes()
    whole = [np.round(side * 8) for side in (enrolled, tested)]
    expected = cosine_scores(*whole, first, second).tobytes()
    for change in (np.asfortranarray, lambda a: a.astype(np.float32)):
        assert cosine_scores(*map(change, whole), first.astype(np.int16), second).tobytes() == expected


@some
@given(st.integers(0, 2**31))
def test_an_enrolment_is_the_average_of_directions_and_does_not_depend_on_others(seed):
    embeddings, _, members, member_of = drawn(seed, count=200)
    result = mean_directions(embeddings, members, member_of, 40)
    for n in np.unique(member_of):
        rows = members[member_of == n]
        expected = np.mean([row / np.linalg.norm(row) for row in embeddings[rows]], axis=0)
        np.testing.assert_allclose(result[n], expected, atol=1e-15)
        alone = mean_directions(embeddings, rows, np.zeros(len(rows), int), 1)
        assert alone[0].tobytes() == result[n].tobytes()
    mixed = np.random.default_rng(seed).permutation(200)
    assert mean_directions(embeddings, members[mixed], member_of[mixed], 40).tobytes() == result.tobytes()
    opposite = np.array([[2.0, 0.0], [-3.0, 0.0]])  # leave no direction
    means = mean_directions(opposite, np.arange(2), np.zeros(2, int), 1)
    assert np.isnan(cosine_scores(means, opposite, np.zeros(1, int), np.zeros(1, int)))


@pytest.mark.parametrize("top", [2, 100])
def test_normalised_scores_are_those_of_plain_loops(top):
    rng = np.random.default_rng(top)
    enrolled, tested, scores = rng.normal(size=(4, 9)), rng.normal(size=(6, 9)), rng.normal(size=30)
    first, second = rng.integers(4, size=30), rng.integers(6, size=30)
    result = normalised_scores(scores, first, second, enrolled, tested, top)
    assert tuple(result) == NORMS

    def against(score, cohort):
        return (score - statistics.fmean(cohort)) / statistics.pstdev(cohort)

    for n, score in enumerate(scores):
        sides = enrolled[first[n]].tolist(), tested[second[n]].tolist()
        z, t = (against(score, side) for side in sides)
        near = sum(against(score, sorted(side, reverse=True)[:top]) for side in sides)
        assert [result[name][n] for name in NORMS] == pytest.approx([z, t, (z + t) / 2, near / 2])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_without_direction_or_spread_there_is_no_score(bad):
    enrolled = np.array([[1.0, 2.0], bad])
    result = cosine_scores(enrolled, enrolled, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert np.isnan(result).tolist() == [False, True, True, True]
    means = mean_directions(enrolled, np.array([0, 1, 1]), np.array([0, 0, 1]), 3)
    np.testing.assert_allclose(means[0], np.array([1, 2]) / np.sqrt(5), atol=1e-15)
    assert np.isnan(means[1:]).all()
    enrolled, tested = np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.4]]), np.array([[0.3, np.nan, 0.2], [0, 1, 2]])
    result = normalised_scores(np.full(3, 0.5), np.array([0, 1, 1]), np.array([1, 0, 1]), enrolled, tested, 3)
    assert np.isnan(result["z-norm"]).tolist() == [True, False, False]
    assert np.isnan(result["adaptive s-norm"]).tolist() == [True, True, False]
