"""The same name gives the same draw, whatever else is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from soundcheck.common import seeds

# Draws of this version: if they change, every published book changes.
KNOWN_UNIFORM = 0.5569182708753732
KNOWN_GENERATOR = 0.6477840511165267

KEYS = st.lists(st.text(st.characters(), max_size=10), unique=True, min_size=1, max_size=20)


@given(KEYS, st.randoms())
def test_uniform_does_not_depend_on_order_or_company(keys, random):
    draws = dict(zip(keys, seeds.uniform(0, "test", keys=keys), strict=True))
    shuffled = keys[:]
    random.shuffle(shuffled)
    shuffled = shuffled[: max(1, len(keys) // 2)]
    assert [draws[key] for key in shuffled] == list(seeds.uniform(0, "test", keys=shuffled))
    assert seeds.uniform(0, "a", keys=[]).shape == (0,)


def test_uniform_is_uniform_and_independent_of_other_purposes_and_seeds():
    keys = [str(n) for n in range(20_000)]
    draws = seeds.uniform(0, "a", keys=keys)
    assert stats.kstest(draws, "uniform").pvalue > 0.001
    assert 0 < draws.min() and draws.max() < 1 and len(np.unique(draws)) == len(draws)
    for other in (seeds.uniform(1, "a", keys=keys), seeds.uniform(0, "b", keys=keys)):
        assert abs(np.corrcoef(draws, other)[0, 1]) < 0.03


def test_known_draws_never_change():
    assert seeds.uniform(0, "a", keys=["x"])[0] == KNOWN_UNIFORM
    assert seeds.generator(0, "a").random() == KNOWN_GENERATOR


def test_generator_is_named_by_all_parts():
    def draw(*name):
        return seeds.generator(*name).random()

    assert draw(0, "a", "b") == draw(0, "a", "b")
    different = {draw(0, "a", "b"), draw(1, "a", "b"), draw(0, "ab"), draw(0, "b", "a"), draw(0, "a", ["b"])}
    assert len(different) == 5
    # Numbers of NumPy and the order of options do not count.
    assert draw(0, {"a": 1, "b": 0.5}) == draw(np.int64(0), {"b": np.float64(0.5), "a": np.int64(1)})
    with pytest.raises(TypeError, match="cannot be named by a object"):
        draw(0, object())
