"""How often books accuse fair models, find unfair ones, and call equal models equal, by the states of rows.

    .venv/bin/python -m benchmarks.states [books a row] [PART ...]

100 books a row by default; parts are ``margins``, ``equal`` and ``pages``, or words from the name of a kind.
From 40 on they are recorded in ``book/tables/states.csv``. Ends with 1 if what the product promises does not
come out; each bar is widened by 2.6 standard errors of the study:

- *margins*: recognisers, judged with relative margins. A fair one fails any test in at most 5 of 100 books,
  also against a named reference and with uneven groups; 4 against 2 % among 15 tests is found in at least 80.
- *equal*: of two equal models none is better in 95 of 100 books, neither for these speakers nor for new ones.
- *pages*: whole first pages of fair models say fail in at most 5 of 100 books, of three kinds of model.

Conventions
-----------
- Speakers say 200 words in 20 utterances. Their error rates are gamma distributed with a coefficient of
  variation of 0.6 around that of their group.
- All books go through the functions that judge speech models. In bold stands what fails, and nothing else.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks import fair_models

from soundcheck.common import seeds
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import paired_difference, restrict
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import false_acceptance_rate, false_rejection_rate
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.results.rows import OTHERS, Verdict
from soundcheck.results.states import counted, decide
from soundcheck.results.table import to_frame
from soundcheck.statistics.bootstrap import resample_all
from soundcheck.statistics.evidence import adjusted_p_values, paired_test
from soundcheck.statistics.fixed_speakers import fixed_speakers
from soundcheck.suite import thresholds

TABLE = Path(__file__).parents[1] / "book" / "tables" / "states.csv"
BOOKS, LEAST_BOOKS, REPLICATES = 100, 40, 400
UTTERANCES, WORDS, VARIATION = 20, 10, 0.6
DESIGNS = {"13 × 10 speakers": (13, 10), "2 × 20 speakers": (2, 20), "8 × 10 speakers": (8, 10)}
COLUMNS = ("part", "kind", "books", "tests", "accused", "found", "passed", "new", "sample")
Row = dict[str, object]
read_family = functools.cache(thresholds.read_family)


def rates(
    rng: np.random.Generator, means: np.ndarray, variation: float | np.ndarray = VARIATION
) -> np.ndarray:
    """Draw the error rates of speakers."""
    return np.minimum(rng.gamma(1 / np.square(variation), means * np.square(variation)), 1.0)


def words_of(rng: np.random.Generator, rate: np.ndarray) -> tuple[Subset, Statistic]:
    """Let speakers speak; gives who spoke, and the word error rate."""
    blocks = np.repeat(np.arange(len(rate)), UTTERANCES)
    errors = rng.binomial(WORDS, rate[blocks])
    nothing = Predictions(np.zeros(len(blocks)))
    segments = pd.DataFrame({"key": np.arange(len(blocks)).astype(str)})
    subset = Subset("book", BUILTIN["transcript"], segments, None, nothing, nothing, blocks)
    return subset, word_error_rate(np.full(len(blocks), float(WORDS)), errors.astype(float))


def of_speakers(groups: np.ndarray) -> dict[str, np.ndarray]:
    """Give the utterances of each group of speakers."""
    return {str(name): np.repeat(groups == name, UTTERANCES) for name in np.unique(groups)}


def word_rows(
    rng: np.random.Generator, rate: np.ndarray, columns: dict[str, np.ndarray], against: str = OTHERS
) -> pd.DataFrame:
    """Judge the differences between groups of speakers."""
    subset, statistic = words_of(rng, rate)
    family, test, rows = read_family("asr_word_errors"), "Word Error Rate Difference", []
    for column, groups in columns.items():
        rows += fair_models.differences(
            subset, family, test, lambda *_: statistic, column, of_speakers(groups),
            against=against, replicates=REPLICATES,
        )  # fmt: skip
    return decide(to_frame(rows))


def fair_words(mean: float, against: str, uneven: bool) -> Callable[[np.random.Generator], pd.DataFrame]:
    """Make books of a fair recogniser: 13 accents of 10 speakers, or of 5 to 40 who differ more or less."""

    def book(rng: np.random.Generator) -> pd.DataFrame:
        sizes = rng.integers(5, 41, 13) if uneven else np.full(13, 10)
        accents = np.repeat(np.arange(13), sizes)
        variation = np.where(accents % 2, 0.9, 0.45) if uneven else VARIATION
        rate = rates(rng, np.full(len(accents), mean), variation)
        return word_rows(rng, rate, {"accent": accents}, against)

    return book


def twice(rng: np.random.Generator) -> pd.DataFrame:
    """Make a book of 40 women at 4 % and 40 men at 2 %, who have 13 accents and one of two devices."""
    women = np.arange(80) < 40
    rate = rates(rng, np.where(women, 0.04, 0.02))
    columns = {"sex": np.where(women, "female", "male"), "accent": rng.permutation(np.arange(80) % 13)}
    return word_rows(rng, rate, columns | {"device": rng.permutation(np.arange(80) % 2)})


def equal(speakers: int) -> Callable[[np.random.Generator], Row]:
    """Compare two models of equal rates: in all, for 13 accents and for 2 sexes."""

    def book(rng: np.random.Generator) -> Row:
        rate = rates(rng, np.full(speakers, 0.1))
        subset, first = words_of(rng, rate)
        second = words_of(rng, rate)[1]
        parts = [
            *of_speakers(np.arange(speakers) % 13).values(),
            *of_speakers(np.arange(speakers) % 2).values(),
        ]
        whole = paired_difference(second, first)
        statistics, new, sample = [whole, *(restrict(whole, part) for part in parts)], [], []
        for statistic, drawn in zip(statistics, resample_all(statistics, subset.blocks), strict=True):
            value = drawn.value[0]
            new.append(paired_test(drawn.replicates[:, 0], value, int(drawn.blocks[0]))[0])
            sample.append(fixed_speakers(statistic, subset.blocks).value(0, value).p_value(0.0))
        return {"new": differs(new), "sample": differs(sample)}

    return book


def differs(p_values: list[float]) -> bool:
    """Say whether any of several tests is significant after correction."""
    known = np.array([p for p in p_values if not np.isnan(p)])
    return bool(len(known) and (adjusted_p_values(known) <= 0.05).any())


def page_of_values(groups: int, speakers: int) -> Callable[[np.random.Generator], pd.DataFrame]:
    """Make first pages of a fair model of values and classes."""
    kind = fair_models.Kind(f"page of {groups} × {speakers}", speakers=speakers, accents=groups)
    family = read_family("fairness_accent")
    return lambda rng: fair_models.book(kind, int(rng.integers(2**31)), family, REPLICATES)


def page_of_words(groups: int, speakers: int) -> Callable[[np.random.Generator], pd.DataFrame]:
    """Make first pages of a fair recogniser."""
    accents = np.repeat(np.arange(groups), speakers)
    return lambda rng: word_rows(rng, rates(rng, np.full(len(accents), 0.08)), {"accent": accents})


def page_of_voices(groups: int, speakers: int) -> Callable[[np.random.Generator], pd.DataFrame]:
    """Make first pages of a fair model of speakers: trials within groups, 5 recordings a speaker."""
    family, each = read_family("speaker_verification"), 5
    speaker = np.arange(groups * speakers * each) // each

    def book(rng: np.random.Generator) -> pd.DataFrame:
        first, second = np.triu_indices(len(speaker), 1)
        enrolled, tested = speaker[first], speaker[second]
        same = enrolled // speakers == tested // speakers
        chosen = same & ((enrolled == tested) | (rng.random(len(first)) < 20 / (speakers * each)))
        first, second, enrolled, tested = (side[chosen] for side in (first, second, enrolled, tested))
        target, effect = enrolled == tested, rng.normal(0, 0.3, groups * speakers)
        of_recording = rng.normal(0, 0.4, len(speaker))
        scores = rng.normal(size=len(enrolled)) + 3.2 * target + effect[enrolled] + effect[tested]
        scores += of_recording[first] + of_recording[second]
        trials = Trials(scores, target, enrolled, tested, groups * speakers).of_recordings(first, second)
        segments = pd.DataFrame({"key": np.arange(len(enrolled)).astype(str)})
        nobody, answers = np.zeros(len(enrolled), dtype=np.intp), Predictions(scores)
        subset = Subset("book", BUILTIN["embedding"], segments, target, answers, answers, nobody)
        masks = {str(n): enrolled // speakers == n for n in range(groups)}
        rows: list[Verdict] = []
        for name, rate in (("Acceptance", false_acceptance_rate), ("Rejection", false_rejection_rate)):
            rows += fair_models.differences(
                subset,
                family,
                f"False {name} Rate Difference",
                lambda _, __, mask, rate=rate: rate(trials.only(mask), 1.6),
                "accent",
                masks,
                replicates=REPLICATES,
            )
        return decide(to_frame(rows))

    return book


def of_frame(frame: pd.DataFrame, planted: str = "") -> Row:
    """Say what a book says: whether a row fails that should not, and whether the planted one does."""
    rows = counted(frame)
    fails = rows[rows["state"].eq("fail")]
    fair = fails["group"].str.startswith("sex: ") if planted else pd.Series(False, index=fails.index)
    return {
        "tests": len(rows),
        "accused": bool((~fair).any()),
        "found": bool(fails["group"].eq(planted).any()),
        "passed": rows["state"].eq("pass").mean(),
    }


def kinds() -> Iterator[tuple[str, str, Callable[[np.random.Generator], Row]]]:
    """Give part, name and maker of each kind of book."""
    for mean in (0.03, 0.1, 0.3):
        make = fair_words(mean, OTHERS, False)
        yield "margins", f"fair, {mean:.0%} errors", lambda rng, make=make: of_frame(make(rng))
    for against, uneven, name in (
        ("0", False, "fair, 10% errors, named reference"),
        (OTHERS, True, "fair, 10% errors, uneven groups"),
        ("0", True, "fair, 10% errors, named reference, uneven groups"),
    ):
        make = fair_words(0.1, against, uneven)
        yield "margins", name, lambda rng, make=make: of_frame(make(rng))
    yield "margins", "4 against 2% errors", lambda rng: of_frame(twice(rng), "sex: female")
    for speakers in (6, 40):
        yield "equal", f"equal models, {speakers} speakers", equal(speakers)
    pages = {"recogniser": page_of_words, "voices": page_of_voices, "values and classes": page_of_values}
    for what, page in pages.items():
        for name, design in DESIGNS.items():
            make = page(*design)
            yield "pages", f"{what}, {name}", lambda rng, make=make: of_frame(make(rng))


def wrong(row: Row) -> bool:
    """Say whether a row is off its bar."""
    slack = 2.6 * np.sqrt(0.05 * 0.95 / row["books"])
    if row["kind"].startswith("4 against 2"):
        return row["found"] < 0.8 - 2.6 * np.sqrt(0.8 * 0.2 / row["books"])
    return max(row.get(name, 0.0) for name in ("accused", "new", "sample")) > 0.05 + slack


def record(row: Row) -> None:
    """Put a row into the table of the book, in place of the one of its kind."""
    known = pd.read_csv(TABLE, comment="#", dtype=str, keep_default_na=False) if TABLE.exists() else None
    known = [] if known is None else known.to_dict("records")
    order = [name for _, name, _ in kinds()]
    rows = [one for one in known if one["kind"] != row["kind"]] + [dict.fromkeys(COLUMNS) | row]
    rows = sorted(rows, key=lambda one: order.index(one["kind"]))
    about = "What books say of fair, unfair and equal models"
    fair_models.record("states", about, rows, "-m benchmarks.states", REPLICATES)


def main() -> int:
    """Judge books of all kinds; record those of enough books."""
    books = int(sys.argv[1]) if len(sys.argv) > 1 else BOOKS
    parts, off = sys.argv[2:] or ["margins", "equal", "pages"], []
    for part, name, make in kinds():
        if not any(part == asked or asked in name for asked in parts):
            continue
        start = time.perf_counter()
        outcomes = pd.DataFrame([make(seeds.generator(0, "states", name, n)) for n in range(books)])
        if not name.startswith("4 against 2"):
            outcomes = outcomes.drop(columns="found", errors="ignore")
        row = {"part": part, "kind": name, "books": books} | outcomes.astype(float).mean().round(4).to_dict()
        print(row, f"{time.perf_counter() - start:.0f} s", flush=True)
        off += [name] if wrong(row) else []
        if books >= LEAST_BOOKS:
            record(row)
    print("off: " + "; ".join(off) if off else "all within the bars")
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())
