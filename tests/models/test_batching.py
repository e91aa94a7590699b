"""Which signals go into a call together."""

import numpy as np

from soundcheck.models.library_model import each_length


def test_only_equally_long_signals_go_together(rng):
    signals = [rng.normal(size=length).astype(np.float32) for length in (5, 3, 5, 4, 3, 5)]
    calls = []

    def call(batch):
        calls.append(batch.shape)
        return batch.sum(axis=1).tolist()

    assert np.allclose(each_length(signals, call), [signal.sum() for signal in signals])
    assert sorted(calls) == [(1, 4), (2, 3), (3, 5)]
    calls.clear()
    assert np.allclose(each_length(signals, call, 2), [signal.sum() for signal in signals])
    assert sorted(calls) == [(1, 4), (1, 5), (2, 3), (2, 5)]
