from __future__ import annotations

import numpy as np
import pytest

from soundcheck.augment import edits

RATE = 16000
COUNTS = [0, 1, 100, 500, 1000]
ALL = [edits.append_zeros, edits.prepend_zeros, edits.crop_beginning, edits.crop_end]


@pytest.fixture
def signal(rng):
    return rng.uniform(0.1, 1, 4000).astype(np.float32)  # no zeros of its own


@pytest.mark.parametrize("samples", COUNTS)
def test_zeros_are_added_at_the_right_end(signal, rng, samples):
    appended = edits.append_zeros(signal, RATE, rng, samples=samples)
    prepended = edits.prepend_zeros(signal, RATE, rng, samples=samples)
    assert appended.size == prepended.size == 4000 + samples
    assert np.array_equal(appended[:4000], signal)
    assert np.array_equal(prepended[samples:], signal)
    assert not appended[4000:].any() and not prepended[:samples].any()


@pytest.mark.parametrize("samples", COUNTS)
def test_samples_are_removed_from_the_right_end(signal, rng, samples):
    assert np.array_equal(edits.crop_beginning(signal, RATE, rng, samples=samples), signal[samples:])
    assert np.array_equal(edits.crop_end(signal, RATE, rng, samples=samples), signal[: 4000 - samples])


@pytest.mark.parametrize("samples", [3999, 4000, 4001, 1_000_000])
def test_crop_leaves_one_sample(signal, rng, samples):
    assert edits.crop_beginning(signal, RATE, rng, samples=samples).tolist() == [signal[-1]]
    assert edits.crop_end(signal, RATE, rng, samples=samples).tolist() == [signal[0]]


@pytest.mark.parametrize("edit", ALL)
def test_counts_are_samples_at_any_rate(signal, rng, edit):
    assert np.array_equal(edit(signal, 8000, rng, samples=100), edit(signal, 48000, rng, samples=100))


@pytest.mark.parametrize("edit", ALL)
@pytest.mark.parametrize("samples", [-1, 10_000_001])
def test_count_out_of_range(signal, rng, edit, samples):
    with pytest.raises(ValueError, match=f"samples is {samples}. It must lie between 0 and 10000000"):
        edit(signal, RATE, rng, samples=samples)


@pytest.mark.parametrize(
    ("rate", "seconds", "kept"), [(16000, 0.1, 1600), (8000, 0.1, 800), (16000, 1, 4000)]
)
def test_the_middle_is_kept(signal, rng, rate, seconds, kept):
    start = (4000 - kept) // 2
    assert np.array_equal(
        edits.central_part(signal, rate, rng, seconds=seconds), signal[start : start + kept]
    )


def test_of_the_middle_one_sample_is_left_and_nothing_is_no_length(signal, rng):
    assert edits.central_part(signal, RATE, rng, seconds=1e-9).size == 1
    with pytest.raises(ValueError, match="seconds is 0. It must be above 0"):
        edits.central_part(signal, RATE, rng, seconds=0)
