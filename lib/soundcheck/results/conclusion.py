"""What a comparison says, in sentences: the headline measures, how many tests, what is not known.

Each difference has two answers: for the speakers that were tested, and for new ones.
"""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.results.contrast import BETTER, NO_EVIDENCE, UNPAIRED, WORSE, headlines
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.statistics.rules import ABOVE
from soundcheck.suite.measures import measure_of

MOST_HEADLINES = 3  # measures that a conclusion names
_SAYS = {BETTER: "significantly better", WORSE: "significantly worse"}
_NEW = ("outcome", "p_value", "low", "high")  # columns of the answer for new speakers, and for these
_THESE = ("outcome_sample", "p_sample", "difference_low_sample", "difference_high_sample")


def conclusion(frame: pd.DataFrame) -> str:
    """Answer in a few sentences whether the candidate is better than the baseline.

    Names of models and tests come from data and are not escaped.
    """
    sentences = headline_sentences(frame)
    more = [f"{len(sentences) - MOST_HEADLINES} more in the table."] * (len(sentences) > MOST_HEADLINES)
    return " ".join([*sentences[:MOST_HEADLINES], *more, *counts_of_tests(frame)])


def counts_of_tests(frame: pd.DataFrame) -> list[str]:
    """Say on how many tests the candidate is better or worse, and of how many nothing is known."""
    if frame.empty:
        return ["The two models have no test in common."]
    baseline, candidate = frame["baseline"].iloc[0], frame["candidate"].iloc[0]
    parts = []
    for who, (outcome, p_value, *_) in (("these", _THESE), ("new", _NEW)):
        outcomes = frame.loc[frame[p_value].notna(), outcome]
        better, worse = (int(outcomes.eq(name).sum()) for name in (BETTER, WORSE))
        if tests := len(outcomes):
            on = f"better on {better} and worse on {worse} of {counted(tests, 'test')}"
            parts.append(f"For {who} speakers, {candidate} is {on}.")
    if not parts:
        parts = [f"Nothing can be said about {candidate} against {baseline}: no test has a p-value."]
    few = frame["outcome"].eq(NO_EVIDENCE) & frame["p_value"].isna()
    for remark, rows in (
        (f"Nothing concluded for new speakers, mostly as fewer than {LEAST_BLOCKS} contribute", few),
        ("Unpaired, which finds less, as speakers or draws are not the same", frame["pairing"].eq(UNPAIRED)),
        ("Not compared", frame["outcome"].eq("") & frame["outcome_sample"].eq("")),
    ):
        if number := int(rows.sum()):
            parts.append(f"{remark}: {counted(number, 'test')}.")
    return parts


def headline_sentences(frame: pd.DataFrame) -> list[str]:
    """Say of each corpus and task what its headline measure was and became, with both answers."""
    sentences = [_sentence(row) for row in headlines(frame).to_dict("records")]
    apart = frame["skipped"].str.startswith("on 0 segments")
    if not sentences and apart.any():
        names = " and ".join(frame.loc[apart, ["baseline", "candidate"]].iloc[0])
        remedy = "check `corpora:` and for which inputs their tables have rows"
        sentences.append(f"No segment was answered by both {names}, so nothing is compared: {remedy}.")
    return sentences


def summary_of(frame: pd.DataFrame) -> dict[str, object]:
    """Count outcomes and say the headlines, for the record of a comparison."""
    counts = {
        name: {outcome: int(frame[column].eq(outcome).sum()) for outcome in (BETTER, WORSE, NO_EVIDENCE)}
        for name, column in (("outcomes", "outcome"), ("outcomes_sample", "outcome_sample"))
    }
    return counts | {"headlines": tuple(headline_sentences(frame))}


def _sentence(row: dict) -> str:
    info, before = measure_of(row["test"], row["family"]), row["baseline_value"]
    values = f"{info.title} {before:.3g} → {row['candidate_value']:.3g}"
    where = f"{row['corpus']}, {row['task']}"
    if pd.isna(row["p_value"]) and pd.isna(row["p_sample"]):
        return f"{where}: {values}; {row['skipped'] or 'not compared'}."
    if row["skipped"].startswith("on "):
        values += f" {row['skipped'].partition(':')[0]}"
    either = {row["outcome"], row["outcome_sample"]} & {BETTER, WORSE}
    if either and info.error and row["rule"] != ABOVE and before:
        share = row["difference"] / before
        values += f", {100 * abs(share):.0f} % {'more' if share > 0 else 'fewer'} errors"
    answers: dict[str, list[str]] = {}
    for who, (outcome, p_value, low, high) in (("these", _THESE), ("new", _NEW)):
        if pd.isna(row[p_value]):
            continue
        says = _SAYS.get(row[outcome], "no significant difference")
        p = "p < 0.001" if row[p_value] < 0.001 else f"p = {row[p_value]:.2g}"
        interval = f"{row[low]:.2g} to {row[high]:.2g}".replace("-", "−")
        answers.setdefault(says, []).append(f"for {who} speakers (difference {interval}, {p})")
    parts = [f"{says} {' and '.join(of)}" for says, of in answers.items()]
    if pd.isna(row["p_value"]):
        few = f"{row['blocks']} are too few" if row["blocks"] < LEAST_BLOCKS else "values are too uncertain"
        parts.append(f"nothing follows for new speakers ({few})")
    return f"{where}: {values}: {'; '.join(parts)}."
