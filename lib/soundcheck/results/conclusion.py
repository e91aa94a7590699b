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

HEADLINES_TOLD = 3
_SAYS = {BETTER: "significantly better", WORSE: "significantly worse"}
_NEW = ("outcome", "p_value", "low", "high")  # columns of the answer for new speakers, and for these
_THESE = ("outcome_sample", "p_sample", "difference_low_sample", "difference_high_sample")


def conclusion(frame: pd.DataFrame) -> str:
    """Answer in a few sentences whether the candidate is better than the baseline.

    Names of models and tests come from data and are not escaped.
    """
    if frame.empty:
        return "The two models have no test in common."
    baseline, candidate = frame["baseline"].iloc[0], frame["candidate"].iloc[0]
    sentences = headline_sentences(frame)
    parts = sentences[:HEADLINES_TOLD]
    if (more := len(sentences) - HEADLINES_TOLD) > 0:
        parts.append(f"{counted(more, 'further headline measure')} {_are(more)} in the table.")
    answers = {
        "For these speakers": frame.loc[frame["p_sample"].notna(), ["difference", "outcome_sample"]],
        "For new speakers": frame.loc[frame["p_value"].notna(), ["difference", "outcome"]],
    }
    known = pd.concat(answers.values())
    if known.empty:
        parts.append(f"Nothing can be said about {candidate} against {baseline}: no test has a p-value.")
    elif known["difference"].eq(0).all():
        same = counted(known.index.nunique(), "test")
        parts.append(f"{candidate} and {baseline} have the same value on each of {same}.")
    else:
        for who, rows in answers.items():
            better, worse = (int(rows.iloc[:, 1].eq(name).sum()) for name in (BETTER, WORSE))
            if tests := len(rows):
                on = f"better on {better} and worse on {worse} of {counted(tests, 'test')}"
                parts.append(f"{who}, {candidate} is {on}.")
    few = int((frame["outcome"].eq(NO_EVIDENCE) & frame["p_value"].isna()).sum())
    if few and len(known):
        why = f"most often because fewer than {LEAST_BLOCKS} speakers contribute"
        allow = "allows" if few == 1 else "allow"
        parts.append(f"{counted(few, 'test')} {allow} no conclusion for new speakers, {why}.")
    if unpaired := int(frame["pairing"].eq(UNPAIRED).sum()):
        parts.append(
            f"{counted(unpaired, 'test')} {_are(unpaired)} unpaired, "
            "which finds less: the two models were not tested on the same speakers with the same draws."
        )
    if absent := int((frame["outcome"].eq("") & frame["outcome_sample"].eq("")).sum()):
        parts.append(f"{counted(absent, 'test')} could not be compared.")
    return " ".join(parts)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


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
