"""The same name gives the same draw, whatever else is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import seeds

KEYS = st.lists(st.text(st.characters(), max_size=10), unique=True, min_size=1, max_size=20)


def test_known_draws_never_change():
    """If they change, every published book changes."""
    assert seeds.uniform(0, "a", keys=["x"])[0] == 0.5569182708753732
    assert seeds.generator(0, "a").random() == 0.6477840511165267


@given(KEYS, st.randoms())
def test_uniform_does_not_depend_on_order_or_company(keys, random):
    draws = dict(zip(keys, seeds.uniform(0, "test", keys=keys), strict=True))
    shuffled = random.sample(keys, max(1, len(keys) // 2))
    assert [draws[key] for key in shuffled] == list(seeds.uniform(0, "test", keys=shuffled))
    assert seeds.uniform(0, "a", keys=[]).shape == (0,)


def test_generator_is_named_by_all_parts():
    """Numbers of NumPy and the order of options do not count."""
    names = [(0, "a", "b"), (1, "a", "b"), (0, "ab"), (0, "b", "a"), (0, "a", ["b"])]
    assert len({seeds.generator(*name).random() for name in names for _ in range(2)}) == 5
    one, other = {"a": 1, "b": 0.5}, {"b": np.float64(0.5), "a": np.int64(1)}
    assert seeds.generator(0, one).random() == seeds.generator(np.int64(0), other).random()
    with pytest.raises(TypeError, match="cannot be named by a object"):
        seeds.generator(0, object())
