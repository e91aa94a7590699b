"""Whether models know how sure they may be: confidences, probabilities and intervals against what is right.

Conventions
-----------
- A *confidence* is the probability from 0 to 1 that a prediction is right; ``correct`` is 1 where it is and 0
  where it is not, float64 ``(N,)`` each. NaN in either leaves the segment out; it counts as a missing
  prediction. For words there is one of each a word.
- *Equal-mass bins* hold the same number of segments each, but for equal confidences, which share a bin. Their
  edges come from all segments and stay in replicates.
- Probabilities of classes are float64 ``(N, classes)`` in the order of the classes; a row with NaN is a
  missing prediction. Segments whose truth is none of the classes are left out.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from soundcheck.metrics.additive import (
    Columns,
    Numbers,
    Statistic,
    Texts,
    mean_column,
    missing_predictions,
    numbers,
    of_columns,
    ratio,
    same_length,
    segments,
)
from soundcheck.metrics.weighted import Weighted
from soundcheck.metrics.word_errors import AlignedWord, align

BINS = 10  # that confidences are put into
PARTS = ("reliability", "resolution", "uncertainty", "within bins")  # Brier: first minus second plus others
CERTAIN = 1e-7  # by how much a confidence stays away from 0 and 1, whose logarithms are infinite


def equal_mass_bins(values: Numbers, bins: int = BINS) -> np.ndarray:
    """Put values into at most so many bins of the same number of segments; fewer where values are equal.

    Returns integer ``(N,)``: the bin from 0, in the order of the values; -1 for NaN.

    >>> equal_mass_bins([0.9, 0.2, 0.2, 0.8, np.nan], 2).tolist()
    [1, 0, 0, 1, -1]
    """
    values = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(values)
    ascending = np.sort(values[known])
    numbered = np.full(len(values), -1)
    if len(ascending):
        first = ascending[(np.arange(1, bins) * len(ascending)) // bins]  # lowest of each bin but the first
        place = np.searchsorted(np.unique(first), values, side="right")
        numbered[known] = np.unique(place[known], return_inverse=True)[1]
    return numbered


class _Known:
    """Confidences and whether they are right, of the segments that have both; and their bins."""

    def __init__(self, confidence: Numbers, correct: Numbers, bins: int = BINS) -> None:
        same_length(correct, confidence)
        confidence, correct = numbers(confidence), numbers(correct)
        self.rows = ~(np.isnan(confidence) | np.isnan(correct))
        self.confidence, self.correct = (np.where(self.rows, x, 0.0) for x in (confidence, correct))
        self.bin = equal_mass_bins(np.where(self.rows, confidence, np.nan), bins)
        self.bins = int(self.bin.max(initial=-1)) + 1

    def per_bin(self, values: np.ndarray) -> list[np.ndarray]:
        return [np.where(self.bin == number, values, 0.0) for number in range(self.bins)]


def mean_of_known(values: Numbers) -> Statistic:
    """Average numbers, one a segment; NaN counts as a missing prediction.

    >>> mean_of_known([0.25, 0.75, np.nan])
    Statistic(0.5)
    """
    values = numbers(values)
    missing = np.isnan(values)
    return mean_column(values, ~missing, missing)


def overconfidence(confidence: Numbers, correct: Numbers) -> Statistic:
    r"""Mean confidence minus the share of right predictions: above 0 too sure, below 0 too modest.

    .. math:: \frac1N \sum_i (c_i - o_i)

    Returns one value from -1 to 1, unbiased.

    >>> overconfidence([0.9, 0.8], [1, 0])
    Statistic(0.35)
    """
    same_length(correct, confidence)
    return mean_of_known(numbers(confidence) - numbers(correct))


def reliability(confidence: Numbers, correct: Numbers, bins: int = BINS) -> Statistic:
    """Share of right predictions in each equal-mass bin of confidence; labels are numbers of bins from 1.

    >>> reliability([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 0], 2)
    Statistic({'1': 0.0, '2': 0.5})
    """
    known = _Known(confidence, correct, bins)
    n, columns = known.bins, (*known.per_bin(known.rows.astype(float)), *known.per_bin(known.correct))
    return of_columns(
        known.rows,
        ~known.rows,
        columns,
        lambda sums: ratio(sums[..., 1 + n :], sums[..., 1 : 1 + n]),
        [str(number + 1) for number in range(n)],
        count=lambda sums: sums[..., 1 : 1 + n],
    )


def calibration_error(confidence: Numbers, correct: Numbers, bins: int = BINS) -> Statistic:
    r"""Compute the expected calibration error (ECE) in equal-mass bins.

    .. math:: \sum_b \frac{n_b}{n} \left| \bar c_b - \bar o_b \right|

    with the mean confidence and the share of right predictions of each bin. Naeini, Cooper and Hauskrecht
    (2015), Obtaining well calibrated probabilities using Bayesian binning. Biased upwards, because chance
    moves a bin in either direction and both count; see :func:`debiased_calibration_error`.

    >>> calibration_error([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0], 2)
    Statistic(0.25)
    """
    known = _Known(confidence, correct, bins)

    def compute(sums: np.ndarray) -> np.ndarray:
        return ratio(np.abs(sums[..., 1:]).sum(axis=-1, keepdims=True), sums[..., :1])

    gaps = known.per_bin(known.confidence - known.correct)
    return of_columns(known.rows, ~known.rows, gaps, compute)


class _OfBlocks(Weighted):
    """A statistic of one value that is computed from sums of blocks, not only from their total."""

    def __init__(self, rows: np.ndarray, blocks: np.ndarray) -> None:
        self._rows, self.count = rows, int(rows.sum())
        numbers_of_blocks, self._block = np.unique(blocks[rows], return_inverse=True)
        self.n_blocks = len(numbers_of_blocks)

    def _texts(self) -> tuple[list[str], str]:
        refusal, note = missing_predictions([Columns(self._rows, ~self._rows, ())])
        return [refusal or self._reason() if self.count else segments(0)], note

    def _reason(self) -> str:
        """Say why segments have no value."""
        raise NotImplementedError


class _Debiased(_OfBlocks):
    def __init__(self, known: _Known, blocks: np.ndarray) -> None:
        super().__init__(known.rows, blocks)
        gaps, counts = np.zeros((2, self.n_blocks, max(known.bins, 1)))
        place = (self._block, known.bin[known.rows])
        np.add.at(gaps, place, (known.confidence - known.correct)[known.rows])
        np.add.at(counts, place, 1.0)
        self._sums = np.concatenate([gaps, counts, gaps**2, gaps * counts, counts**2], axis=1)
        self._centred = gaps - counts * ratio(gaps.sum(axis=0), counts.sum(axis=0))
        self._counts = counts.sum(axis=1)
        self._size = np.abs(gaps.sum(axis=0)).sum() / max(counts.sum(), 1.0)

    def _reason(self) -> str:
        return "1 block, 2 needed" if self.n_blocks < 2 else ""

    def by_chance(self, weights: np.ndarray) -> np.ndarray:
        """Say how often calibrated predictions of these blocks would seem as far off, ``(1,)``."""
        weights = np.asarray(weights, dtype=np.float64)
        moved = np.abs(weights @ self._centred).sum(axis=1) * np.sqrt(ratio(self.n_blocks, self.n_blocks - 1))
        return np.array([np.mean(ratio(moved, weights @ self._counts) >= self._size)])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        weights = np.asarray(weights, dtype=np.float64)
        gap, count, gg, gc, cc = np.split(weights @ self._sums, 5, axis=1)
        mean, drawn = ratio(gap, count), weights.sum(axis=1, keepdims=True)
        spread = gg - 2 * mean * gc + mean**2 * cc  # of the sums of blocks around the mean of the bin
        error = np.sqrt(np.maximum(spread * ratio(drawn, drawn - 1), 0.0))  # of the sum of the bin
        size = np.abs(gap)
        z = ratio(size, error)
        folded = error * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + size * (1 - 2 * ndtr(-z))
        bias = np.where(error > 0, folded - size, 0.0)
        total = np.nansum(size - bias, axis=1, keepdims=True)
        return np.maximum(ratio(total, count.sum(axis=1, keepdims=True)), 0.0)


def debiased_calibration_error(
    confidence: Numbers, correct: Numbers, blocks: Numbers, bins: int = BINS
) -> Weighted:
    """:func:`calibration_error` minus what chance adds to it; ``blocks`` are whole numbers ``(N,)``.

    The gap of each bin is taken as normal around its true value, with the standard error that blocks have; by
    how much the expectation of its size is larger than the size is subtracted. As Kumar, Liang and Ma (2019),
    Verified uncertainty calibration, but for blocks. Where nothing is wrong about half of it is left, so an
    interval reaches down to 0 unless chance alone seldom makes an error as large. One block has no value.

    >>> debiased_calibration_error([0.9, 0.9, 0.9, 0.9], [0, 0, 0, 0], [0, 1, 2, 3])
    Statistic(0.9)
    """
    return _Debiased(_Known(confidence, correct, bins), np.asarray(blocks))


class _RiskArea(_OfBlocks):
    def __init__(self, known: _Known, blocks: np.ndarray, relative: bool) -> None:
        super().__init__(known.rows, blocks)
        self._relative, self._speakers = relative, np.where(known.rows, blocks, -1)
        confidence, correct = known.confidence[known.rows], known.correct[known.rows]
        self._surest_first = order = np.argsort(-confidence, kind="stable")
        self._block_of = self._block[order]
        self._wrong = 1.0 - correct[order]
        self._ends = np.flatnonzero(np.diff(confidence[order], append=np.inf))

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        areas = np.full((len(weights), 1), np.nan)
        for number, row in enumerate(np.asarray(weights, dtype=np.float64)):
            times = row[self._block_of]
            total, wrong = np.cumsum(times)[self._ends], np.cumsum(times * self._wrong)[self._ends]
            areas[number] = _area(total, wrong) if len(total) and total[-1] else np.nan
            if self._relative and len(total):
                areas[number] = ratio(areas[number], ratio(wrong[-1], total[-1]))
        return areas

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Add a row: its own error, which counts at all coverages beyond its own, and the place of others."""
        n, wrong, influence = len(self._wrong), self._wrong, np.zeros((len(self._rows), 1))
        if not wrong.any():
            return influence, self._speakers
        risk = wrong.mean()
        counts = np.diff(self._ends, prepend=-1)  # of rows that are as sure
        ends, starts = np.repeat(self._ends, counts), np.repeat(self._ends + 1 - counts, counts)
        share = (ends + 1) / n
        later = np.cumsum((wrong / share)[::-1])[::-1][starts] / n
        moved = risk - wrong * np.log(share) - later
        moved -= moved.mean()
        if self._relative:
            moved = (moved - self.point().value[0] * (wrong - risk)) / risk
        influence[np.flatnonzero(self._rows)[self._surest_first], 0] = moved / n
        return influence, self._speakers

    def _reason(self) -> str:
        return "no answer is wrong" if self._relative and not self._wrong.any() else ""


def _area(total: np.ndarray, wrong: np.ndarray) -> float:
    """Integrate the share of errors over coverage; errors rise evenly between equal confidences."""
    drawn = np.flatnonzero(np.diff(total, prepend=0.0))
    total, wrong = total[drawn], wrong[drawn]
    before, slope = np.append(0.0, total[:-1]), np.diff(wrong, prepend=0.0) / np.diff(total, prepend=0.0)
    rest = np.append(0.0, wrong[:-1]) - slope * before
    logs = np.log(total[1:] / total[:-1])
    return float((wrong[-1] + (rest[1:] * logs).sum()) / total[-1])


def area_under_risk(
    confidence: Numbers, correct: Numbers, blocks: Numbers, *, relative: bool = False
) -> Weighted:
    """Mean share of wrong predictions over all shares of segments that are kept, the surest first.

    The area under the curve of risk against coverage, as an integral: between segments of equal confidence,
    which may come in any order, errors rise evenly. Geifman and El-Yaniv (2017), Selective classification for
    deep neural networks.

    - ``blocks``: block of each segment, whole numbers ``(N,)``.
    - ``relative``: whether to divide by the share of wrong predictions.
    - Returns one value, lower is better; of a confidence that says nothing it is the share of wrong
      predictions, or 1.

    >>> area_under_risk([0.5, 0.5], [1, 0], [0, 1])
    Statistic(0.5)
    """
    return _RiskArea(_Known(confidence, correct), np.asarray(blocks), relative)


# Probabilities of classes


class _Forecasts:
    """Probabilities of classes and what is true, of the segments that have both."""

    def __init__(self, truth: Texts, probabilities: np.ndarray, classes: Sequence[str]) -> None:
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if probabilities.shape != (len(truth), len(classes)):
            raise ValueError(
                f"{len(truth)} labels of {len(classes)} classes do not fit probabilities of shape "
                f"{probabilities.shape}."
            )
        true = np.asarray(truth, dtype=object)[:, None] == np.asarray(classes, dtype=object)[None, :]
        labelled = true.any(axis=1)
        self.rows = labelled & ~np.isnan(probabilities).any(axis=1)
        self.missing = labelled & ~self.rows
        self.true = np.where(self.rows[:, None], true, False).astype(np.float64)
        self.probabilities = np.where(self.rows[:, None], probabilities, 0.0)
        self.score = ((self.probabilities - self.true) ** 2).sum(axis=1)


def brier_score(truth: Texts, probabilities: np.ndarray, classes: Sequence[str]) -> Statistic:
    r"""Brier score of all classes, from 0 to 2, lower is better.

    .. math:: \frac1n \sum_i \sum_k (p_{ik} - y_{ik})^2

    Brier (1950), Verification of forecasts expressed in terms of probability.

    >>> brier_score(["a", "b"], [[0.5, 0.5], [0.0, 1.0]], ["a", "b"])
    Statistic(0.25)
    """
    forecasts = _Forecasts(truth, probabilities, classes)
    return mean_column(forecasts.score, forecasts.rows, forecasts.missing)


def _uncertainty(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    return 1.0 - (ratio(counts, total) ** 2).sum(axis=-1, keepdims=True)


def brier_skill(truth: Texts, probabilities: np.ndarray, classes: Sequence[str]) -> Statistic:
    r"""By which share the Brier score is lower than that of the shares of the classes as probabilities.

    .. math:: 1 - \frac{\mathrm{Brier}}{1 - \sum_k \pi_k^2}

    Murphy (1973), A new vector partition of the probability score. Returns one value, 1 at best; less than 0
    is worse than knowing only the shares :math:`\pi_k`. Undefined where there is one class only.

    >>> brier_skill(["a", "b"], [[0.5, 0.5], [0.0, 1.0]], ["a", "b"])
    Statistic(0.5)
    """
    forecasts = _Forecasts(truth, probabilities, classes)

    def compute(sums: np.ndarray) -> np.ndarray:
        count, score, counts = sums[..., :1], sums[..., 1:2], sums[..., 2:]
        return 1.0 - ratio(ratio(score, count), _uncertainty(counts, count))

    columns = [forecasts.score, *forecasts.true.T]
    return of_columns(forecasts.rows, forecasts.missing, columns, compute)


def brier_parts(
    truth: Texts, probabilities: np.ndarray, classes: Sequence[str], bins: int = BINS
) -> Statistic:
    r"""Take the Brier score apart: reliability, resolution, uncertainty, and what is left within bins.

    .. math:: \frac1n \sum_{kb} n_{kb} (\bar p_{kb} - \bar y_{kb})^2
              - \frac1n \sum_{kb} n_{kb} (\bar y_{kb} - \pi_k)^2
              + 1 - \sum_k \pi_k^2 + \mathrm{rest}

    with the probabilities of each class :math:`k` in equal-mass bins :math:`b`. Murphy (1973). In small bins
    chance makes the first two too large, by about as much. Returns a value for each of :data:`PARTS`.

    >>> brier_parts(["a", "b"], [[0.5, 0.5], [0.0, 1.0]], ["a", "b"])
    Statistic({'reliability': 0.25, 'resolution': 0.5, 'uncertainty': 0.5, 'within bins': 0.0})
    """
    forecasts = _Forecasts(truth, probabilities, classes)
    columns, classes_of_bins = [forecasts.score, *forecasts.true.T], []
    for k, (probability, true) in enumerate(zip(forecasts.probabilities.T, forecasts.true.T, strict=True)):
        bin_of = equal_mass_bins(np.where(forecasts.rows, probability, np.nan), bins)
        for number in range(bin_of.max(initial=-1) + 1):
            inside = bin_of == number
            columns += [np.where(inside, column, 0.0) for column in (1.0, probability, true)]
            classes_of_bins.append(k)
    first = 2 + len(classes)

    def compute(sums: np.ndarray) -> np.ndarray:
        count, score, counts = sums[..., :1], sums[..., 1:2], sums[..., 2:first]
        size, given, true = (sums[..., first + part :: 3] for part in range(3))
        shares = ratio(counts, count)[..., classes_of_bins]
        share = ratio(true, size)
        reliable, resolved = (
            ratio(np.nansum(size * squares, axis=-1, keepdims=True), count)
            for squares in ((ratio(given, size) - share) ** 2, (share - shares) ** 2)
        )
        uncertain = _uncertainty(counts, count)
        rest = ratio(score, count) - (reliable - resolved + uncertain)
        return np.concatenate([reliable, resolved, uncertain, rest], axis=-1)

    return of_columns(forecasts.rows, forecasts.missing, columns, compute, PARTS)


# Intervals for values


def interval_coverage(truth: Numbers, low: Numbers, high: Numbers, above: float = 0.0) -> Statistic:
    """Share of true values within their interval, bounds included, minus the share ``above``.

    NaN counts as a missing prediction.

    >>> interval_coverage([0.5, 0.9], [0.4, 0.4], [0.6, 0.6], above=0.9)
    Statistic(-0.4)
    """
    truth, low, high = numbers(truth), numbers(low), numbers(high)
    inside = ((low <= truth) & (truth <= high)).astype(np.float64)
    return mean_of_known(np.where(np.isnan(truth + low + high), np.nan, inside - above))


def interval_skill(
    truth: Numbers, low: Numbers, high: Numbers, usual: tuple[float, float], level: float
) -> Statistic:
    r"""By which share the interval score is lower than that of one interval for all values.

    .. math:: S = (h - l) + \frac{2}{1 - q} \left((l - y)^+ + (y - h)^+\right)

    for intervals that shall hold a share of :math:`q` of all values. Gneiting and Raftery (2007), Strictly
    proper scoring rules, prediction, and estimation.

    - ``usual``: the interval that is compared with; ``level``: the share :math:`q`.
    - Returns one value, 1 at best; below 0 the intervals are worse than that one.

    >>> interval_skill([0.5, 0.5], [0.4, 0.4], [0.6, 0.6], (0.0, 1.0), 0.9)
    Statistic(0.8)
    """
    truth, low, high = numbers(truth), numbers(low), numbers(high)
    known = ~np.isnan(truth)
    rows = known & ~np.isnan(low + high)

    def score(first: np.ndarray | float, last: np.ndarray | float) -> np.ndarray:
        outside = np.maximum(first - truth, 0.0) + np.maximum(truth - last, 0.0)
        return last - first + 2 / (1 - level) * outside

    columns = [score(low, high), score(*usual)]
    return of_columns(rows, known & ~rows, columns, lambda sums: 1.0 - ratio(sums[..., 1:2], sums[..., 2:3]))


# Words


def recognised_words(reference: str, hypothesis: str) -> list[AlignedWord]:
    """Give the words of a hypothesis in their order, each with what the alignment says of it.

    Substituted and inserted words are wrong; deleted ones were not recognised and have no confidence.

    >>> [word.kind for word in recognised_words("the cat sat", "a cat sat down")]
    ['substitute', 'equal', 'equal', 'insert']
    """
    return [word for word in align(reference, hypothesis) if word.kind != "delete"]


def normalised_cross_entropy(confidence: Numbers, correct: Numbers) -> Statistic:
    r"""Which share of the uncertainty about words their confidences take away.

    .. math:: \frac{H + \sum_{\text{right}} \log_2 c_i + \sum_{\text{wrong}} \log_2 (1 - c_i)}{H}, \qquad
              H = -n \log_2 \frac nN - (N - n) \log_2 \left(1 - \frac nN\right)

    of :math:`N` words of which :math:`n` are right. Siu, Gish and Richardson (1997), Improved estimation,
    evaluation and applications of confidence measures for speech recognition; as NIST scores them since.

    Confidences are kept :data:`CERTAIN` away from 0 and 1, so that one wrong word does not decide everything.
    Returns one value, 1 at best; 0 is what the share of right words reaches as the confidence of all; less is
    worse than that. Undefined where all words are right, or none.

    >>> normalised_cross_entropy([0.5, 0.5], [1, 0]), normalised_cross_entropy([1, 0], [1, 0])
    (Statistic(0.0), Statistic(0.99999985573))
    """
    known = _Known(confidence, correct)
    rows, right, sure = known.rows, known.correct, np.clip(known.confidence, CERTAIN, 1 - CERTAIN)
    bits = np.log2(np.where(right == 1, sure, 1 - sure))

    def compute(sums: np.ndarray) -> np.ndarray:
        count, good, sum_of_bits = (sums[..., place : place + 1] for place in range(3))
        share = ratio(good, count)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -good * np.log2(share) - (count - good) * np.log2(1 - share)
        return 1.0 + ratio(sum_of_bits, entropy)

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("all words are right, or none" if sums[0] and sums[1] in (0, sums[0]) else "",)

    return of_columns(rows, ~rows, [right, bits], compute, reasons=reasons)
