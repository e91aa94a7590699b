"""How fast word errors are counted, beside jiwer in the same run.

Run ``python benchmarks/word_errors.py [PAIRS]``. Counts the errors of 100,000 pairs of texts of three kinds:
short commands that are mostly right, sentences that are read, long utterances with many errors. Prints the
best of three times, taken in turn, and how many times faster than jiwer that is. Both get the same lists;
what was counted before is forgotten, so that each call counts anew.
Words are drawn like those of a language, few often and many rarely. Ends with 1 if words are not counted
three times as fast or a total differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import jiwer
import numpy as np

from soundcheck.metrics.word_errors import _counted, character_errors, word_errors

PAIRS = 100_000
CALLS = 3
WANTED = 3.0
VOCABULARY = 20_000
# Name -> words of a text, share of errors, different references
SHAPES = {
    "commands, 2 words, 5 %": (2, 0.05, 30),
    "read, 20 words, 10 %": (20, 0.1, None),
    "long, 100 words, 30 %": (100, 0.3, None),
}


def texts(pairs: int, words: int, share: float, different: int | None) -> tuple[list[str], list[str]]:
    """Draw references and hypotheses; an error is a wrong, a missing or an additional word."""
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"word{n}" for n in range(VOCABULARY)], dtype=object)
    likely = 1 / np.arange(1, VOCABULARY + 1)
    drawn = rng.choice(VOCABULARY, (different or pairs, words), p=likely / likely.sum())
    drawn = drawn[rng.integers(0, different, pairs)] if different else drawn
    others = rng.integers(0, VOCABULARY, drawn.shape)
    errors = np.where(rng.random(drawn.shape) < share, rng.integers(1, 4, drawn.shape), 0)
    references, hypotheses = [], []
    for said, other, error in zip(drawn, others, errors, strict=True):
        heard = np.stack([np.where(error == 1, other, said), other], axis=1)
        written = np.stack([error != 2, error == 3], axis=1)
        references.append(" ".join(vocabulary[said]))
        hypotheses.append(" ".join(vocabulary[heard[written]]))
    return references, hypotheses


def best(calls: list[Callable]) -> tuple[list[float], list]:
    """Best time of each call in seconds, and what it returned."""
    times, answers = [np.inf] * len(calls), [None] * len(calls)
    for _ in range(CALLS):
        for which, call in enumerate(calls):
            _counted.cache_clear()
            start = time.perf_counter()
            answers[which] = call()
            times[which] = min(times[which], time.perf_counter() - start)
    return times, answers


def main(pairs: int = PAIRS) -> int:
    fine = True
    print(f"{pairs} pairs")
    print(f"{'texts':<26}{'unit':<12}{'ours/s':>8}{'jiwer/s':>9}{'ratio':>8}")
    for name, (words, share, different) in SHAPES.items():
        references, hypotheses = texts(pairs, words, share, different)
        units = [("word", word_errors, jiwer.process_words)]
        if words < 100:  # jiwer would take minutes
            units.append(("character", character_errors, jiwer.process_characters))
        for unit, ours, theirs in units:
            calls = [lambda: ours(references, hypotheses), lambda: theirs(references, hypotheses)]  # noqa: B023
            (seconds, jiwer_seconds), (counts, output) = best(calls)
            ratio = jiwer_seconds / seconds
            kinds = ("substitutions", "deletions", "insertions")
            alike = all(getattr(counts, kind).sum() == getattr(output, kind) for kind in kinds)
            fine &= alike and (unit != "word" or ratio >= WANTED)
            note = "" if alike else "  totals differ"
            print(f"{name:<26}{unit:<12}{seconds:>8.2f}{jiwer_seconds:>9.2f}{ratio:>7.1f}x{note}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
