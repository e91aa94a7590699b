"""How often ``soundcheck check --baseline`` alarms: for an equally good model, and for one that got worse.

Run ``python benchmarks/baseline.py``: writes ``book/tables/baseline.csv``. Two models answer the same
segments of the same speakers. Both find the same speakers hard; each has in addition speakers of its own that
it does badly or well by, and errors of its own, as after a second training. Half of the 1,000 tests are
shares of right answers, half compare two groups of speakers. Either all true values are the same, or 20 of
the tests got worse by 0.1. Beside the rule that is used stands the usual one: a percentile interval of the
difference that lies on the side of failing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.results import history
from soundcheck.results.contrast import WORSE
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import KEY, Judged, Verdict
from soundcheck.results.table import to_frame
from soundcheck.statistics import bootstrap

TABLE = Path(__file__).parents[1] / "book" / "tables" / "baseline.csv"
RUNS, RUNS_PLANTED, TESTS, SEGMENTS, REPLICATES = 100, 20, 1000, 15, 1000
SPEAKERS = (10, 20, 40)
PLANTED, BY = 20, 0.1
SHARED, OWN = 0.6, 0.3  # standard deviations of speakers on the logit: of both models, and of each alone


def outcomes(
    rng: np.random.Generator, speakers: int, planted: int, tests: int = TESTS
) -> tuple[np.ndarray, np.ndarray]:
    """Draw how many segments of each speaker two models get right.

    Returns counts ``(tests, speakers)`` of the earlier and the new model; ``planted`` tests, half of each
    kind, got worse by :data:`BY`.
    """
    shape = (tests, speakers)
    logits = rng.uniform(-0.5, 2.0, (tests, 1)) + SHARED * rng.standard_normal(shape)
    counts = []
    for model in range(2):
        chance = 1 / (1 + np.exp(-logits - OWN * rng.standard_normal(shape)))
        if model:
            half = tests // 2
            chance[: planted // 2] -= BY
            chance[half : half + planted // 2, : speakers // 2] -= 2 * BY  # half of all are in the group
        counts.append(rng.binomial(SEGMENTS, np.clip(chance, 0, 1)))
    return counts[0], counts[1]


def finished(counts: np.ndarray, weights: np.ndarray) -> FinishedRun:
    """Judge the tests of one model as a run does, with its replicates.

    - ``counts``: from :func:`outcomes`.
    - ``weights``: how often each speaker was drawn, ``(replicates, speakers)``; the same for both models.
    """
    tests, speakers = counts.shape
    group = np.arange(speakers) < speakers // 2
    all_weights = np.vstack([np.ones(speakers), weights])

    def shares(rows: np.ndarray) -> np.ndarray:
        drawn = all_weights * rows
        with np.errstate(invalid="ignore"):
            return drawn @ counts.T / (SEGMENTS * drawn.sum(axis=1, keepdims=True))

    everybody = shares(np.ones(speakers, dtype=bool))
    against = shares(group) - everybody
    values = np.where(np.arange(tests) < tests // 2, everybody, against)
    verdicts, judged = [], {}
    for n in range(tests):
        is_group = n >= tests // 2
        value, replicates = float(values[0, n]), values[1:, n]
        rule, threshold = ("|value| <", 0.1) if is_group else (">", 0.5)
        verdict = Verdict(
            *("m", "c", "f", "fairness" if is_group else "correctness", "arousal", f"T{n:04}"),
            value=value,
            low=value - 0.1,
            high=value + 0.1,
            segments=speakers * SEGMENTS,
            blocks=int(group.sum()) if is_group else speakers,
            threshold=threshold,
            rule=rule,
            passed=abs(value) < threshold if is_group else value > threshold,
        )
        verdicts.append(verdict)
        judged[tuple(getattr(verdict, name) for name in KEY)] = Judged(verdict, replicates, "s", "b")
    run = FinishedRun(Path("results.csv"), to_frame(verdicts))
    run.__dict__["judged"] = judged  # as read from the output folder
    return run


def by_percentiles(before: FinishedRun, now: FinishedRun) -> bool:
    """Say whether any percentile interval of a difference lies on the side of failing."""
    keys = list(now.judged)
    old, new = (np.array([run.judged[key].replicates for key in keys]) for run in (before, now))
    values = np.array([[run.judged[key].verdict.value for key in keys] for run in (before, now)])
    is_group = np.array([now.judged[key].verdict.rule == "|value| <" for key in keys])
    with np.errstate(invalid="ignore"):
        difference = np.where(is_group[:, np.newaxis], np.abs(new) - np.abs(old), old - new)
    estimate = np.where(is_group, np.abs(values[1]) - np.abs(values[0]), values[0] - values[1])
    low = np.quantile(np.nan_to_num(difference), 0.025, axis=1)  # hardly ever is nobody of the group drawn
    return bool(((low > 0) & (estimate > RunRecord.matters_worse)).any())


def alarms(
    speakers: int, planted: int = 0, runs: int = RUNS, seed: int = 0, tests: int = TESTS
) -> dict[str, float]:
    """Count how many runs alarm.

    - ``planted``: tests that truly got worse.
    - ``runs, seed, tests``: how many runs are simulated, a name of the draws, and tests a run.
    - Returns shares of runs that alarm by each rule, the share of planted tests that are found, and the share
      of found tests that were not planted.
    """
    alarmed, usual, correct, false = 0, 0, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([seed, speakers, planted, run])
        weights = bootstrap.weights(speakers, REPLICATES, run)
        before, now = (finished(counts, weights) for counts in outcomes(rng, speakers, planted, tests))
        (decided,) = history.decided_changes([history.changes(now, before)], RunRecord.matters_worse)
        decided = decided["outcome"].eq(WORSE)
        number = now.frame.loc[decided.index[decided], "test"].str[1:].astype(int) % (tests // 2)
        right = int((number < planted // 2).sum())
        alarmed += bool(decided.any())
        usual += by_percentiles(before, now)
        correct, false = correct + right, false + int(decided.sum()) - right
    return {
        "speakers": speakers,
        "tests": tests,
        "planted": planted,
        "runs": runs,
        "alarms": alarmed / runs,
        "alarms_of_percentiles": usual / runs,
        "found": correct / (runs * planted) if planted else np.nan,
        "false_among_found": false / max(1, correct + false),
    }


def main() -> None:
    rows = []
    for planted, runs in ((0, RUNS), (PLANTED, RUNS_PLANTED)):
        for speakers in SPEAKERS:
            rows.append(alarms(speakers, planted, runs))
            print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    head = "# How often a check against an earlier run alarms\n# python benchmarks/baseline.py\n"
    files.write_text(TABLE, head + frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    sys.exit(int(frame.loc[frame["planted"] == 0, "alarms"].max() > 0.05))


if __name__ == "__main__":
    main()
