"""Cosines of embeddings: plain loops as the oracle, scores that do not depend on their company."""

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.similarity import NORMS, cosine_scores, mean_directions, normalised_scores

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

some = settings(max_examples=15, deadline=None)


def drawn(seed: int, n: int = 40, d: int = 19, count: int = 500):
    """Draw embeddings of two sides and trials of them."""
    rng = np.random.default_rng(seed)
    return *rng.normal(size=(2, n, d)), *rng.integers(n, size=(2, count))


def test_known_angles():
    enrolled = np.array([[1.0, 0.0], [3.0, 3.0]])
    tested = np.array([[5.0, 0.0], [0.0, 2.0], [-7.0, 0.0], [1.0, np.sqrt(3)]])
    found = cosine_scores(enrolled, tested, np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 0]))
    np.testing.assert_allclose(found, [1, 0, -1, 0.5, np.sqrt(0.5)], atol=1e-15)


@some
@given(st.integers(0, 2**31), st.sampled_from([3, 19, 512]))
def test_scores_do_not_depend_on_their_company(seed, d):
    enrolled, tested, first, second = drawn(seed, d=d)
    found = cosine_scores(enrolled, tested, first, second)
    alone = [cosine_scores(enrolled, tested, first[n : n + 1], second[n : n + 1])[0] for n in range(99)]
    assert found[:99].tobytes() == np.array(alone).tobytes()
    mixed = np.random.default_rng(seed).permutation(500)
    assert cosine_scores(enrolled, tested, first[mixed], second[mixed]).tobytes() == found[mixed].tobytes()
    assert cosine_scores(tested, enrolled, second, first).tobytes() == found.tobytes()
    fewer = cosine_scores(enrolled[first[:1]], tested[second[:1]], np.array([0]), np.array([0]))
    assert fewer.tobytes() == found[:1].tobytes()


def test_memory_order_and_dtype():
    enrolled, tested, first, second = drawn(1)
    halves = [np.round(side * 8) for side in (enrolled, tested)]
    expected = cosine_scores(*halves, first, second)
    for change in (np.asfortranarray, lambda a: a.astype(np.float32), lambda a: a.astype(int)):
        found = cosine_scores(*(change(side) for side in halves), first.astype(np.int16), second)
        assert found.tobytes() == expected.tobytes()
    before = halves[0].copy()
    cosine_scores(*halves, first, second)
    assert (halves[0] == before).all()


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1.0, -np.inf], [-0.0, 0.0]])
def test_without_direction_there_is_no_score(bad):
    enrolled = np.array([[1.0, 2.0], bad])
    found = cosine_scores(enrolled, enrolled, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert np.isnan(found).tolist() == [False, True, True, True]
    members = np.array([0, 1, 1])
    means = mean_directions(enrolled, members, np.array([0, 0, 1]), 3)
    np.testing.assert_allclose(means[0], np.array([1, 2]) / np.sqrt(5), atol=1e-15)
    assert np.isnan(means[1:]).all()


def test_same_embedding_is_never_more_than_alike():
    rng = np.random.default_rng(0)
    embeddings = rng.normal(size=(300, 192)).astype(np.float32)
    places = np.arange(300)
    found = cosine_scores(embeddings, embeddings, places, places)
    assert (found <= 1).all() and (found > 1 - 1e-14).all()
    assert (cosine_scores(embeddings, -embeddings, places, places) == -found).all()


def test_an_enrolment_is_the_average_of_directions():
    embeddings = np.array([[2.0, 0.0], [0.0, 0.5], [-3.0, 0.0]])
    means = mean_directions(embeddings, np.array([0, 1, 0, 2, 1]), np.array([2, 2, 0, 0, 1]), 3)
    np.testing.assert_allclose(means, [[0, 0], [0, 1], [0.5, 0.5]], atol=1e-15)
    scores = cosine_scores(means, embeddings, np.array([0, 1, 2]), np.array([0, 1, 0]))
    assert np.isnan(scores[0])  # opposite members leave no direction
    np.testing.assert_allclose(scores[1:], [1, np.sqrt(0.5)], atol=1e-15)
    twice = mean_directions(embeddings, np.array([0, 0, 1]), np.zeros(3, int), 1)
    np.testing.assert_allclose(twice, [[2 / 3, 1 / 3]], atol=1e-15)


@some
@given(st.integers(0, 2**31))
def test_enrolments_do_not_depend_on_each_other(seed):
    embeddings, _, members, member_of = drawn(seed, count=200)
    found = mean_directions(embeddings, members, member_of, 40)
    expected = np.full_like(found, np.nan)
    for n in np.unique(member_of):
        own = embeddings[members[member_of == n]]
        expected[n] = np.mean([row / np.linalg.norm(row) for row in own], axis=0)
        alone = mean_directions(embeddings, members[member_of == n], np.zeros(len(own), int), 1)
        assert alone[0].tobytes() == found[n].tobytes()
    np.testing.assert_allclose(found, expected, atol=1e-15)
    mixed = np.random.default_rng(seed).permutation(200)
    assert mean_directions(embeddings, members[mixed], member_of[mixed], 40).tobytes() == found.tobytes()


# Normalised scores: plain loops as the oracle, sides that cannot be normalised


def loop(score, one, other, top):
    """Normalise one score with the standard library."""

    def against(cohort):
        return (score - statistics.fmean(cohort)) / statistics.pstdev(cohort)

    z, t = against(one), against(other)
    near = [against(sorted(side, reverse=True)[:top]) for side in (one, other)]
    return [z, t, (z + t) / 2, sum(near) / 2]


@pytest.mark.parametrize("top", [2, 5, 100])
def test_plain_loops_give_the_same(top):
    rng = np.random.default_rng(top)
    enrolled, tested = rng.normal(size=(4, 9)), rng.normal(size=(6, 9))
    first, second = rng.integers(4, size=30), rng.integers(6, size=30)
    scores = rng.normal(size=30)
    found = normalised_scores(scores, first, second, enrolled, tested, top)
    assert tuple(found) == NORMS
    for n, score in enumerate(scores):
        expected = loop(score, enrolled[first[n]].tolist(), tested[second[n]].tolist(), top)
        assert [found[name][n] for name in NORMS] == pytest.approx(expected)


def test_sides_that_score_the_same_against_everybody_have_no_score():
    enrolled, tested = np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.4]]), np.array([[0.3, np.nan, 0.2], [0, 1, 2]])
    found = normalised_scores(np.full(3, 0.5), np.array([0, 1, 1]), np.array([1, 0, 1]), enrolled, tested, 3)
    assert np.isnan(found["z-norm"]).tolist() == [True, False, False]
    assert np.isnan(found["t-norm"]).tolist() == [False, True, False]
    assert np.isnan(found["adaptive s-norm"]).tolist() == [True, True, False]
