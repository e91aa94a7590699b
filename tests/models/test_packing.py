"""Embeddings as text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from soundcheck.models.answers import pack, unpack


@given(arrays.arrays(np.float32, st.integers(0, 20), elements=st.floats(width=32, allow_nan=False)))
def test_nothing_is_lost(vector):
    found = unpack(pack(vector))
    assert found.dtype == np.float32
    assert found.tobytes() == vector.tobytes()


def test_bytes_do_not_depend_on_the_machine():
    assert pack(np.array([1.0], dtype=">f4")) == pack(np.array([1.0])) == "AACAPw=="
