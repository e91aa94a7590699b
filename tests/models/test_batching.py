"""Which signals go into a call together."""

import numpy as np

from soundcheck.models.batching import each_length, padded


def test_only_equally_long_signals_go_together(rng):
    signals = [rng.normal(size=length).astype(np.float32) for length in (5, 3, 5, 4, 3, 5)]
    calls = []

    def call(batch):
        calls.append(batch.shape)
        return batch.sum(axis=1).tolist()

    assert np.allclose(each_length(signals, call), [signal.sum() for signal in signals])
    assert sorted(calls) == [(1, 4), (2, 3), (3, 5)]


def test_padding_is_silence_behind():
    batch, lengths = padded([np.ones(2, np.float32), np.full(4, 2, np.float32)])
    assert batch.tolist() == [[1, 1, 0, 0], [2, 2, 2, 2]]
    assert batch.dtype == np.float32
    assert lengths.tolist() == [2, 4] and lengths.dtype == np.int64
