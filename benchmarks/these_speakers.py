"""How often intervals for these speakers cover what these very speakers would reach if recorded for ever.

    .venv/bin/python benchmarks/these_speakers.py [--sets 100] [--again 20]

Speakers differ in everything that counts and stay as they are; their recordings are drawn anew. With one
recording a speaker (of trials: up to three) speakers take the place of recordings, so speakers are drawn
anew, too, and the interval is about all speakers.

From 500 intervals a row on, it writes ``book/tables/these_speakers.csv``. Ends with 1 if an interval covers
less than 93 or more than 98 of 100, widened by the standard error of the study.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.combinators import restrict, sides
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate, false_acceptance_rate
from soundcheck.metrics.weighted import Weighted
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.evidence import Scale
from soundcheck.statistics.fixed_speakers import ForThese, fixed_speakers

TABLE = Path(__file__).parents[1] / "book" / "tables" / "these_speakers.csv"
DESIGNS = [(40, 1), (40, 2), (40, 3), (40, 10), (40, 40), (6, 10), (6, 40)]  # speakers, recordings of each
FOR_EVER = 100  # times as many recordings of a speaker stand for all; of trials 1,500 recordings
EVERYBODY = 200_000  # recordings that stand for all speakers
BARS = 0.93, 0.98
RECORDED = 500  # intervals a row from which the table is written
CLASSES = [str(number) for number in range(4)]
SHARE, ERRORS, CORRELATION = Scale(0.0, 1.0), Scale(0.0), Scale(-1.0, 1.0)


@dataclasses.dataclass(frozen=True)
class Recordings:
    """Whose recordings they are, truths, predictions, classes, words and errors, and vectors of voices."""

    speaker: np.ndarray
    truth: np.ndarray
    prediction: np.ndarray
    said: np.ndarray
    heard: np.ndarray
    words: np.ndarray
    errors: np.ndarray
    voice: np.ndarray

    @property
    def group(self) -> np.ndarray:
        """Say who belongs to the group: every third speaker."""
        return self.speaker % 3 == 0


def record(rng: np.random.Generator, speakers: np.ndarray, each: int) -> Recordings:
    """Record speakers, standard normal numbers ``(speakers, 16)`` that make them differ."""
    speaker = np.repeat(np.arange(len(speakers)), each)
    peculiar, n = speakers[speaker], len(speaker)
    truth = np.clip(0.5 + 0.1 * peculiar[:, 0] + 0.15 * rng.normal(size=n), 0, 1)
    noise = 0.12 * np.exp(0.3 * peculiar[:, 2]) * rng.normal(size=n)
    prediction = np.clip(0.15 + 0.7 * truth + 0.06 * peculiar[:, 1] + noise, 0, 1)
    said = rng.integers(0, 4, n)
    right = rng.random(n) < expit(1.2 + 0.8 * peculiar[:, 3])
    heard = np.where(right, said, (said + rng.integers(1, 4, n)) % 4)
    words = rng.integers(4, 16, n)
    rate = 0.1 * np.exp(0.6 * peculiar[:, 4]) * rng.gamma(2.0, 0.5, n)
    errors = rng.poisson(words * rate)
    voice = peculiar[:, 8:] + 0.8 * np.exp(0.2 * peculiar[:, 5:6]) * rng.normal(size=(n, 8))
    return Recordings(speaker, truth, prediction, said, heard, words, errors, voice)


def trials_of(made: Recordings, rng: np.random.Generator, most: int = 400_000) -> Trials:
    """Compare all pairs of recordings, or pairs of each kind that are drawn if there are too many."""
    n = len(made.speaker)
    if n * (n - 1) // 2 <= most:
        first, second = np.triu_indices(n, 1)
    else:
        each = n // (made.speaker[-1] + 1)
        first, other = rng.integers(0, n, (2, most))
        same = made.speaker[first] * each + rng.integers(0, each, most)
        second = np.where(np.arange(most) % 2 == 0, same, other)
        usable = (first != second) & (
            (np.arange(most) % 2 == 0) | (made.speaker[first] != made.speaker[other])
        )
        first, second = first[usable], second[usable]
    enrolled, tested = made.speaker[first], made.speaker[second]
    scores = -np.square(made.voice[first] - made.voice[second]).sum(axis=1)
    return Trials(scores, enrolled == tested, enrolled, tested, int(made.speaker[-1]) + 1).of_recordings(
        first, second
    )


Maker = Callable[[Recordings, np.random.Generator], Statistic | Weighted]


def recall(made: Recordings) -> Statistic:
    """Give the recall of each class."""
    return recall_per_class(made.said.astype(str), made.heard.astype(str), CLASSES)


def apart(statistic: Statistic, group: np.ndarray) -> Statistic:
    """Give the values of the group and the others, and their difference."""
    return sides(restrict(statistic, group), restrict(statistic, ~group))


def rate(made: Recordings) -> Statistic:
    """Give the word error rate."""
    return word_error_rate(made.words, made.errors)


def agreement(made: Recordings) -> Statistic:
    """Give the concordance of truth and prediction."""
    return concordance_cc(made.truth, made.prediction)


MEASURES: dict[str, tuple[Maker, Scale]] = {
    "mean value": (lambda made, _: mean_value(made.prediction), SHARE),
    "mean absolute error": (lambda made, _: mean_absolute_error(made.truth, made.prediction), ERRORS),
    "concordance": (lambda made, _: agreement(made), CORRELATION),
    "recall of a class": (lambda made, _: recall(made), SHARE),
    "unweighted average recall": (
        lambda made, _: unweighted_average_recall(made.said.astype(str), made.heard.astype(str), CLASSES),
        SHARE,
    ),
    "word error rate": (lambda made, _: rate(made), ERRORS),
    "difference of mean values": (lambda made, _: apart(mean_value(made.prediction), made.group), SHARE),
    "difference of recalls": (lambda made, _: apart(recall(made), made.group), SHARE),
    "difference of word error rates": (lambda made, _: apart(rate(made), made.group), ERRORS),
    "difference of concordances": (lambda made, _: apart(agreement(made), made.group), CORRELATION),
    "equal error rate": (lambda made, rng: equal_error_rate(trials_of(made, rng)), SHARE),
    "false acceptance rate": (lambda made, rng: false_acceptance_rate(trials_of(made, rng), -15.0), SHARE),
}


def of_trials(name: str) -> bool:
    """Say whether a measure compares recordings."""
    return name in ("equal error rate", "false acceptance rate")


def for_these(name: str, statistic: Statistic | Weighted, speakers: np.ndarray, scale: Scale) -> ForThese:
    """Say what is known of the first value, or of the first difference of two sides."""
    fixed, point = fixed_speakers(statistic, speakers), statistic.point()
    recordings = point.segments if "recall" in name and "average" not in name else 0 * point.segments
    if not name.startswith("difference"):
        return fixed.value(0, point.value[0], scale, recordings[0])
    places = [0, len(point.value) // 3]
    return fixed.difference(0, tuple(point.value[places]), scale, tuple(recordings[places]))


def true_value(name: str, statistic: Statistic | Weighted) -> float:
    """Give the first value, or the first difference of two sides."""
    all_values = values(statistic)
    return all_values[2 * len(all_values) // 3 if name.startswith("difference") else 0]


def covered(name: str, speakers: int, each: int, sets: int, again: int) -> dict[str, float | str]:
    """Count how often the interval of a measure covers the truth, and how wide it is."""
    make, scale = MEASURES[name]
    alone = each < (4 if of_trials(name) else 2)
    rng = np.random.default_rng([len(name), speakers, each])

    def drawn(count: int) -> np.ndarray:
        return rng.normal(size=(count, 16))

    def true(these: np.ndarray, recordings: int) -> float:
        return true_value(name, make(record(rng, these, recordings), rng))

    hits, widths, missing = 0, [], 0
    truth = true(drawn(EVERYBODY // each), each) if alone else np.nan
    for _ in range(sets):
        these = drawn(speakers)
        if not alone:
            truth = true(these, 1500 if of_trials(name) else FOR_EVER * each)
        for _ in range(again):
            made = record(rng, drawn(speakers) if alone else these, each)
            low, high = for_these(name, make(made, rng), made.speaker, scale).interval()
            missing += np.isnan(low)
            hits += low <= truth <= high
            widths.append(high - low)
    total = sets * again
    return {
        "measure": name,
        "speakers": speakers,
        "recordings of each": each,
        "intervals": total,
        "covered": hits / max(total - missing, 1),
        "median width": float(np.nanmedian(widths)),
        "without interval": missing / total,
    }


def main() -> int:
    """Run the study, print the table, and say whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=100, help="sets of speakers")
    parser.add_argument("--again", type=int, default=20, help="how often each set is recorded")
    parser.add_argument("--only", default="", help="measures whose name contains this")
    asked = parser.parse_args()
    rows, start = [], time.monotonic()
    for name, (speakers, each) in itertools.product(MEASURES, DESIGNS):
        if asked.only not in name or (of_trials(name) and (each == 1 or speakers * each > 500)):
            continue  # one recording a speaker makes no target trial; many make too many
        rows.append(covered(name, speakers, each, asked.sets, asked.again))
        print(" ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in rows[-1].values()))
    table = pd.DataFrame(rows).round(3)
    if asked.sets * asked.again >= RECORDED and not asked.only:
        head = "# How often intervals for these speakers cover\n# python benchmarks/these_speakers.py\n"
        TABLE.write_text(f"{head}# {datetime.date.today()}\n{table.to_csv(index=False)}", encoding="utf-8")
    slack = np.sqrt(0.95 * 0.05 / (asked.sets * asked.again))
    wrong = table[~table["covered"].between(BARS[0] - slack, BARS[1] + slack)]
    print(f"{len(wrong)} of {len(table)} rows outside, {time.monotonic() - start:.0f} s")
    return int(len(wrong) > 0)


if __name__ == "__main__":
    sys.exit(main())
