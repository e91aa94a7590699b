"""What must not change when the data change in a way that does not matter: every metric, every statistic."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics import change, classification, distribution, regression
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import difference, paired_difference, restrict
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import block_codes

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")


@dataclasses.dataclass
class Data:
    """Segments with everything that any metric needs."""

    truth: np.ndarray
    prediction: np.ndarray
    changed: np.ndarray
    group: np.ndarray
    speaker: np.ndarray

    def take(self, rows) -> "Data":
        return Data(*(getattr(self, field.name)[rows] for field in dataclasses.fields(self)))

    def replace(self, **columns) -> "Data":
        return dataclasses.replace(self, **columns)


def numbers(seed: int, n: int = 120, speakers: int = 12) -> Data:
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    prediction = np.clip(truth + rng.normal(0, 0.2, n), 0, 1)
    return Data(
        truth,
        prediction,
        np.clip(prediction + rng.normal(0, 0.05, n), 0, 1),
        rng.random(n) < 0.5,
        np.array([f"speaker {s:02d}" for s in rng.integers(0, speakers, n)]),
    )


def names(seed: int, n: int = 160, speakers: int = 12) -> Data:
    rng = np.random.default_rng(seed)
    truth, other = rng.choice(CLASSES, n), rng.choice(CLASSES, n)
    prediction = np.where(rng.random(n) < 0.6, truth, other)
    changed = np.where(rng.random(n) < 0.9, prediction, rng.choice(CLASSES, n))
    data = numbers(seed, n, speakers)
    return Data(
        truth.astype(object), prediction.astype(object), changed.astype(object), data.group, data.speaker
    )


def against_all(metric: Callable[..., Statistic]) -> Callable[[Data], Statistic]:
    def measure(data: Data) -> Statistic:
        everything = metric(data.truth, data.prediction)
        return difference(restrict(everything, data.group), everything)

    return measure


def after_change(metric: Callable[..., Statistic]) -> Callable[[Data], Statistic]:
    return lambda data: paired_difference(
        metric(data.truth, data.changed), metric(data.truth, data.prediction)
    )


def of_classes(metric: Callable[..., Statistic]) -> Callable[..., Statistic]:
    return lambda truth, prediction: metric(truth, prediction, CLASSES)


PLAIN = {
    "ccc": (numbers, regression.concordance_cc),
    "pearson": (numbers, regression.pearson_cc),
    "mae": (numbers, regression.mean_absolute_error),
    "mean error": (numbers, regression.mean_error),
    "mean": (numbers, lambda truth, prediction: regression.mean_value(prediction)),
    "precision per bin": (numbers, regression.precision_per_bin),
    "recall per bin": (numbers, regression.recall_per_bin),
    "bin shares": (numbers, lambda truth, prediction: distribution.bin_proportions(prediction)),
    "difference per bin": (numbers, distribution.relative_difference_per_bin),
    "jensen-shannon": (numbers, distribution.jensen_shannon_distance),
    "in range": (numbers, lambda truth, prediction: distribution.proportion_in_range(prediction, 0.3, 0.6)),
    "class shares": (names, lambda truth, prediction: distribution.class_proportions(prediction, CLASSES)),
    "difference per class": (names, of_classes(distribution.relative_difference_per_class)),
    "accuracy": (names, of_classes(classification.accuracy)),
    "recall": (names, of_classes(classification.recall_per_class)),
    "precision": (names, of_classes(classification.precision_per_class)),
    "uar": (names, of_classes(classification.unweighted_average_recall)),
    "uap": (names, of_classes(classification.unweighted_average_precision)),
}
MEASURES: dict[str, tuple[Callable[[int], Data], Callable[[Data], Statistic]]] = {
    name: (data, lambda d, metric=metric: metric(d.truth, d.prediction))
    for name, (data, metric) in PLAIN.items()
}
MEASURES |= {f"{name}, group": (data, against_all(metric)) for name, (data, metric) in PLAIN.items()}
MEASURES |= {f"{name}, change": (data, after_change(metric)) for name, (data, metric) in PLAIN.items()}
MEASURES |= {
    "unchanged numbers": (numbers, lambda d: change.unchanged(d.prediction, d.changed)),
    "unchanged names": (names, lambda d: change.unchanged(d.prediction, d.changed)),
}
every_measure = pytest.mark.parametrize("name", MEASURES)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=3, deadline=None)  # of seeds, each as good as another


def result(measure, data: Data, seed: int = 0, replicates: int = 100):
    return resample(measure(data), block_codes(data.speaker)[0], replicates, seed)


def image(found) -> bytes:
    """All bytes of a result."""
    low, high = found.interval()
    arrays = (found.value, found.replicates, low, high, found.segments, found.blocks)
    return b"".join(array.tobytes() for array in arrays) + repr((found.reasons, found.notes)).encode()


@every_measure
@few
@given(seeds)
def test_order_of_segments(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    shuffled = data.take(np.random.default_rng(seed).permutation(len(data.truth)))
    assert image(result(measure, data)) == image(result(measure, shuffled))


@every_measure
def test_memory_order_dtype_and_read_only(name):
    make, measure = MEASURES[name]
    data = make(1)
    strided = data.take(slice(None))
    for field in dataclasses.fields(Data):
        column = getattr(data, field.name)
        wide = np.zeros((len(column), 3), dtype=column.dtype)
        wide[:, 1] = column
        view = wide[:, 1]
        view.setflags(write=False)
        setattr(strided, field.name, view)
    assert not strided.truth.flags.c_contiguous
    assert image(result(measure, data)) == image(result(measure, strided))
    lists = data.replace(truth=list(data.truth), prediction=list(data.prediction), changed=list(data.changed))
    assert image(result(measure, data)) == image(result(measure, lists))


@every_measure
@few
@given(seeds)
def test_every_segment_twice_within_its_speaker(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    one, two = result(measure, data), result(measure, data.take(np.repeat(np.arange(len(data.truth)), 2)))
    np.testing.assert_allclose(one.value, two.value, atol=1e-9)
    np.testing.assert_allclose(one.interval(), two.interval(), atol=1e-9)
    assert two.segments.tolist() == (2 * one.segments).tolist()
    assert two.blocks.tolist() == one.blocks.tolist()


@every_measure
@few
@given(seeds)
def test_weight_k_is_k_copies(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    rng = np.random.default_rng(seed)
    blocks, n_blocks = block_codes(data.speaker)
    weights = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks))
    statistic = measure(data)
    weighted = statistic.compute(weights @ statistic.block_sums(blocks, n_blocks))
    copies = measure(data.take(np.repeat(np.arange(len(blocks)), weights[blocks])))
    np.testing.assert_allclose(weighted, copies.compute(copies.sums()), atol=1e-12)


WITHOUT_TRUTH = ("mean", "unchanged numbers", "unchanged names", "bin shares", "class shares", "in range")


@pytest.mark.parametrize("name", [name for name in MEASURES if name.split(",")[0] not in WITHOUT_TRUTH])
@few
@given(seeds)
def test_segments_that_do_not_contribute(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    more = make(seed + 1)
    more.truth = np.full(len(more.truth), None, dtype=object)
    more.speaker = np.char.add("a new ", more.speaker)  # sorts before the old ones
    if data.truth.dtype == np.float64:
        more.truth = more.truth.astype(np.float64)
    both = Data(
        *(
            np.concatenate([getattr(data, field.name), getattr(more, field.name)])
            for field in dataclasses.fields(Data)
        )
    )
    assert image(result(measure, data)) == image(result(measure, both))


@every_measure
def test_replicates_and_seed_do_not_touch_the_value(name):
    make, measure = MEASURES[name]
    data = make(2, n=800, speakers=60)
    found = [result(measure, data, replicates=n, seed=s) for n, s in ((1000, 0), (4000, 0), (1000, 1))]
    assert len({one.value.tobytes() for one in found}) == 1
    low, high = found[0].interval()
    for other, share in ((found[1], 0.1), (found[2], 0.15)):
        assert (np.abs(np.subtract(found[0].interval(), other.interval())) <= share * (high - low)).all()
    assert found[1].replicates[:1000].tobytes() == found[0].replicates.tobytes()


@pytest.mark.parametrize("name", [name for name in MEASURES if name.endswith(", change")])
@few
@given(seeds)
def test_swapping_two_models(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    swapped = data.replace(prediction=data.changed, changed=data.prediction)
    one, two = result(measure, data), result(measure, swapped)
    np.testing.assert_allclose(two.value, -one.value, atol=1e-12)
    np.testing.assert_allclose(two.interval()[0], -one.interval()[1], atol=1e-11)
    np.testing.assert_allclose(two.interval()[1], -one.interval()[0], atol=1e-11)


@few
@given(seeds, st.floats(0.01, 100), st.floats(-100, 100))
def test_scale_and_shift(seed, scale, shift):
    data = numbers(seed)
    moved = data.replace(truth=scale * data.truth + shift, prediction=scale * data.prediction + shift)
    for metric, factor in (
        (regression.concordance_cc, 1),
        (regression.pearson_cc, 1),
        (regression.mean_absolute_error, scale),
    ):
        one = result(lambda d, metric=metric: metric(d.truth, d.prediction), data)
        two = result(lambda d, metric=metric: metric(d.truth, d.prediction), moved)
        np.testing.assert_allclose(two.value, factor * one.value, atol=1e-9 * scale)


@pytest.mark.parametrize("per_class", [classification.recall_per_class, classification.precision_per_class])
def test_renaming_and_reordering_classes(per_class):
    data = names(4)
    mapping = dict(zip(CLASSES, ("zorn", "glück", "mitte", "leid"), strict=True))
    truth = np.array([mapping[name] for name in data.truth], dtype=object)
    prediction = np.array([mapping[name] for name in data.prediction], dtype=object)
    order = [mapping[name] for name in reversed(CLASSES)]
    one = result(lambda d: per_class(d.truth, d.prediction, CLASSES), data)
    two = result(lambda d: per_class(truth, prediction, order), data)
    assert dict(zip(two.labels, two.value, strict=True)) == {
        mapping[name]: value for name, value in zip(one.labels, one.value, strict=True)
    }
    assert two.interval()[0][::-1].tobytes() == one.interval()[0].tobytes()
    averaged = classification.unweighted_average_recall
    a = result(lambda d: averaged(d.truth, d.prediction, CLASSES), data)
    b = result(lambda d: averaged(truth, prediction, order), data)
    np.testing.assert_allclose(a.value, b.value, atol=1e-12)
