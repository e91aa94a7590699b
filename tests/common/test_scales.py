"""Edges of ratings mean the same for all types of numbers; draws depend on nothing but their names."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import seeds
from soundcheck.common.tasks import BUILTIN, Task, another_scale, half_precision, seven_digits, usual_scales
from soundcheck.common.text_table import parse_number, read_text_table
from soundcheck.metrics.additive import values
from soundcheck.metrics.distribution import jensen_shannon_distance
from soundcheck.models.answers import check_output

AROUSAL = BUILTIN["arousal"]
GRID = np.round(np.arange(11) / 10, 1)
HUNDREDTHS = np.round(np.arange(101) / 100, 2)


def single(array: np.ndarray) -> np.ndarray:
    """Numbers as models in single precision hand them over: float64 with the digits of float32."""
    return np.asarray(array, dtype=np.float32).astype(np.float64)


def test_labels_on_a_scale():
    """What lies outside is not clipped."""
    scaled = Task("valence", "regression", low=1, high=7).scale(np.array([1, 4, 7, 8, np.nan]))
    np.testing.assert_allclose(scaled, [0, 0.5, 1, 7 / 6, np.nan])
    np.testing.assert_array_equal(AROUSAL.scale([0, 0.3, 1]), [0, 0.3, 1])


@given(st.integers(-9_999_999, 9_999_999), st.integers(-9, -4))
def test_decimals_of_seven_digits_survive_single_precision(digits, exponent):
    number = float(f"{digits}e{exponent}")
    assert seven_digits(single([number])).tolist() == [number] == seven_digits([number]).tolist()


def test_what_is_no_rating_is_kept():
    given = np.array([np.nan, np.inf, -np.inf, 1e30, -1e300, 0.0, 1e-20])
    np.testing.assert_array_equal(seven_digits(given), [np.nan, np.inf, -np.inf, 1e30, -1e300, 0, 0])


def test_measures_are_those_of_the_decimals():
    """As the digits stand, 0.6 in single precision lies in the bin above."""

    truth = np.repeat(GRID, 20)
    assert values(jensen_shannon_distance(truth, single(truth)))[0] > 0.2
    for read in (truth.astype(np.float32), AROUSAL.scale(single(truth))):
        assert values(jensen_shannon_distance(truth, read)) == [0.0]
    edges = np.array([0.1, 0.25, 0.3, 0.45, 0.55, 0.6, 0.75, 0.9])
    for low, high in ((1, 7), (0, 100), (-3, 3)):
        task = Task("own", "regression", low=low, high=high)
        np.testing.assert_array_equal(task.scale(single(low + edges * (high - low))), edges)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, str])
def test_predictions_and_tables_of_all_types_say_the_same(tmp_path, kind):
    for number in HUNDREDTHS.tolist():
        answer, problem = check_output({"arousal": (float if kind is str else kind)(number)}, [AROUSAL])
        assert problem == "" and AROUSAL.scale([answer["arousal"]]).tolist() == [number]
    assert [half_precision(np.float16(number)) for number in HUNDREDTHS] == HUNDREDTHS.tolist()
    pd.DataFrame({"file": "a.wav", "arousal": GRID.astype(kind)}).to_parquet(tmp_path / "table.parquet")
    cells = read_text_table(tmp_path / "table.parquet", "table.parquet").columns["arousal"]
    np.testing.assert_array_equal(AROUSAL.scale([parse_number(cell) for cell in cells]), GRID)


def test_usual_scales_are_named_and_never_the_ends_of_the_values():
    for ends, scales in {
        (1.86, 5.8): [(1, 7), (1, 9), (0, 10)],
        (-0.552, 0.946): [(-1, 1)],
        (12.5, 88): [(0, 100), (-100, 100)],
        (11, 19): [],
    }.items():
        assert usual_scales(np.array([ends[0], sum(ends) / 2, ends[1]])) == scales


def test_a_dozen_far_outside_are_another_scale():
    for numbers, stated, another in (
        ([-0.05, 0.3, 0.6, 1.08], False, False),
        ([-0.25, *np.linspace(0, 1, 30)], False, False),
        ([-0.25, -0.3, -0.8, *np.linspace(0, 1, 30)], False, True),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 5000)], False, True),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 5000)], True, False),
        ([*np.full(12, -0.21), *np.linspace(0, 1, 50_000)], False, False),  # two in ten thousand
        ([*np.full(50, -0.4), *np.linspace(0, 1, 500)], True, True),
        ([1.1, 1.2, 0.5], False, True),  # most of them
    ):
        assert another_scale(np.array(numbers), (0, 1), stated=stated) == another


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
