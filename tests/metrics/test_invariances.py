"""What must not change when the data change in a way that does not matter: a measure or two of each kind."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics import change, classification, distribution, regression, word_errors, word_rates
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import difference, paired_difference, restrict
from soundcheck.statistics.bootstrap import block_codes, resample

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

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> "Data":
        return Data(*(change(getattr(self, field.name)) for field in dataclasses.fields(self)))

    def replace(self, **columns) -> "Data":
        return dataclasses.replace(self, **columns)


def numbers(seed: int, n: int = 120, speakers: int = 12) -> Data:
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    prediction = np.clip(truth + rng.normal(0, 0.2, n), 0, 1)
    changed = np.clip(prediction + rng.normal(0, 0.05, n), 0, 1)
    speaker = np.array([f"speaker {s:02d}" for s in rng.integers(0, speakers, n)])
    return Data(truth, prediction, changed, rng.random(n) < 0.5, speaker)


def names(seed: int, n: int = 160, speakers: int = 12) -> Data:
    rng = np.random.default_rng(seed)
    truth, other = rng.choice(CLASSES, n), rng.choice(CLASSES, n)
    prediction = np.where(rng.random(n) < 0.6, truth, other)
    changed = np.where(rng.random(n) < 0.9, prediction, rng.choice(CLASSES, n))
    labels = {"truth": truth, "prediction": prediction, "changed": changed}
    return numbers(seed, n, speakers).replace(**{k: v.astype(object) for k, v in labels.items()})


def texts(seed: int, n: int = 80, speakers: int = 12) -> Data:
    """Transcripts, a few words each; some are empty."""
    rng = np.random.default_rng(seed)
    truth, prediction, changed = (
        np.array([" ".join(rng.choice(["a", "b", "c"], rng.integers(5))) for _ in range(n)], dtype=object)
        for _ in range(3)
    )
    return numbers(seed, n, speakers).replace(truth=truth, prediction=prediction, changed=changed)


def of_counts(rate: Callable[[word_errors.Counts], Statistic]) -> Callable[..., Statistic]:
    return lambda truth, prediction: rate(word_errors.word_errors(truth, prediction))


def of_classes(metric: Callable[..., Statistic]) -> Callable[..., Statistic]:
    return lambda truth, prediction: metric(truth, prediction, CLASSES)


PLAIN = {
    "recall": (names, of_classes(classification.recall_per_class)),
    "uap": (names, of_classes(classification.unweighted_average_precision)),
    "ccc": (numbers, regression.concordance_cc),
    "mae": (numbers, regression.mean_absolute_error),
    "mean": (numbers, lambda truth, prediction: regression.mean_value(prediction)),
    "precision per bin": (numbers, regression.precision_per_bin),
    "jensen-shannon": (numbers, distribution.jensen_shannon_distance),
    "class shares": (names, lambda truth, prediction: distribution.class_proportions(prediction, CLASSES)),
    "difference per class": (names, of_classes(distribution.relative_difference_per_class)),
    "word errors": (texts, of_counts(word_errors.error_rates)),
    "information": (texts, of_counts(word_rates.word_information_lost)),
}


def of_group(metric: Callable[..., Statistic]) -> Callable[[Data], Statistic]:
    def measure(data: Data) -> Statistic:
        everything = metric(data.truth, data.prediction)
        return difference(restrict(everything, data.group), everything)

    return measure


def of_change(metric: Callable[..., Statistic]) -> Callable[[Data], Statistic]:
    return lambda d: paired_difference(metric(d.truth, d.changed), metric(d.truth, d.prediction))


MEASURES: dict[str, tuple[Callable[[int], Data], Callable[[Data], Statistic]]] = {
    name: (data, lambda d, metric=metric: metric(d.truth, d.prediction))
    for name, (data, metric) in PLAIN.items()
}
MEASURES |= {
    "ccc, group": (numbers, of_group(regression.concordance_cc)),
    "recall, change": (names, of_change(PLAIN["recall"][1])),
    "unchanged": (names, lambda d: change.unchanged(d.prediction, d.changed)),
}
WITHOUT_TRUTH = ("mean", "unchanged", "class shares")

every_measure = pytest.mark.parametrize("name", MEASURES)
any_seed = given(st.integers(0, 2**32 - 1))
few = settings(max_examples=2, deadline=None)  # of seeds, each as good as another


def result(measure, data: Data, seed: int = 0, replicates: int = 100):
    return resample(measure(data), block_codes(data.speaker)[0], replicates, seed)


def image(resampled) -> bytes:
    """All bytes of a result."""
    arrays = (resampled.value, resampled.replicates, *resampled.interval())
    numbers = b"".join(array.tobytes() for array in (*arrays, resampled.segments, resampled.blocks))
    return numbers + repr((resampled.reasons, resampled.notes)).encode()


def elsewhere(column: np.ndarray) -> np.ndarray:
    """Place a column otherwise in memory, and read-only."""
    view = np.stack([column] * 3, axis=1)[:, 1]
    view.setflags(write=False)
    return view


@every_measure
@few
@any_seed
def test_order_of_segments_memory_and_those_that_do_not_contribute(name, seed):
    make, measure = MEASURES[name]
    data, more = make(seed), make(seed + 1)
    expected = image(result(measure, data))
    order = np.random.default_rng(seed).permutation(len(data.truth))
    assert image(result(measure, data.map(lambda column: column[order]))) == expected
    assert image(result(measure, data.map(elsewhere))) == expected
    lists = {key: list(getattr(data, key)) for key in ("truth", "prediction", "changed")}
    assert image(result(measure, data.replace(**lists))) == expected
    if name in WITHOUT_TRUTH:
        return
    more.truth = np.full(len(more.truth), None, dtype=object).astype(data.truth.dtype)
    more.speaker = np.char.add("a new ", more.speaker)  # sorts before the old ones
    columns = [field.name for field in dataclasses.fields(Data)]
    both = Data(*(np.concatenate([getattr(each, column) for each in (data, more)]) for column in columns))
    assert image(result(measure, both)) == expected


@every_measure
@few
@any_seed
def test_every_segment_twice_and_weight_k_as_k_copies(name, seed):
    make, measure = MEASURES[name]
    data = make(seed)
    one, two = result(measure, data), result(measure, data.map(lambda column: np.repeat(column, 2)))
    np.testing.assert_allclose(one.value, two.value, atol=1e-9)
    np.testing.assert_allclose(one.interval(), two.interval(), atol=1e-9)
    assert two.segments.tolist() == (2 * one.segments).tolist()
    assert two.blocks.tolist() == one.blocks.tolist()
    blocks, n_blocks = block_codes(data.speaker)
    weights = np.random.default_rng(seed).multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks))
    statistic = measure(data)
    weighted = statistic.compute(weights @ statistic.block_sums(blocks, n_blocks))
    copies = measure(data.map(lambda column: np.repeat(column, weights[blocks])))
    np.testing.assert_allclose(weighted, copies.compute(copies.sums()), atol=1e-12)


@pytest.mark.parametrize("name", ["ccc", "recall, change"])
def test_replicates_and_seed_do_not_touch_the_value(name):
    make, measure = MEASURES[name]
    data = make(2, n=800, speakers=60)
    one, more, other = (result(measure, data, s, n) for n, s in ((1000, 0), (4000, 0), (1000, 1)))
    assert one.value.tobytes() == more.value.tobytes() == other.value.tobytes()
    width = np.subtract(*one.interval()[::-1])
    assert (np.abs(np.subtract(one.interval(), other.interval())) <= 0.15 * width).all()
    assert more.replicates[:1000].tobytes() == one.replicates.tobytes()


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_and_missing_predictions(name):
    make, metric = PLAIN[name]
    assert set(metric([], []).point().reasons) == {"no segments"}
    data = make(3)
    n, kind = len(data.truth), data.prediction.dtype
    few, many = (np.arange(n) < share * n for share in (0.1, 0.6))

    def without(gone):
        return metric(data.truth, np.where(gone, None, data.prediction).astype(kind)).point()

    point, alone = without(few), metric(data.truth[~few], data.prediction[~few]).point()
    assert all(f"no prediction for {few.sum()} of {n} segments" in note for note in point.notes)
    assert not any(point.reasons) and point.value.tolist() == alone.value.tolist()
    assert point.segments.tolist() == alone.segments.tolist()
    assert set(without(many).reasons) == {f"no prediction for {many.sum()} of {n} segments"}
    assert np.isnan(without(many).value).all()
    if name not in WITHOUT_TRUTH:
        with pytest.raises(ValueError, match=f"{n} labels do not fit {n - 1} predictions"):
            metric(data.truth, data.prediction[1:])
