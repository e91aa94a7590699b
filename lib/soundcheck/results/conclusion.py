"""What a comparison says, in sentences: the headline measures, how many tests, what is not excluded.

Each difference has two answers: for the speakers that were tested, and for new ones.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.results.contrast import BETTER, NO_EVIDENCE, UNPAIRED, WORSE, headlines
from soundcheck.statistics.rules import ABOVE
from soundcheck.statistics.significance import LEAST_BLOCKS
from soundcheck.suite.measures import measure_of

HEADLINES_TOLD = 3


def conclusion(frame: pd.DataFrame) -> str:
    """Answer in a few sentences whether the candidate is better than the baseline.

    Names of models and tests come from data and are not escaped.
    """
    if frame.empty:
        return "The two models have no test in common."
    baseline, candidate = frame["baseline"].iloc[0], frame["candidate"].iloc[0]
    parts = headline_sentences(frame)
    number = len(parts)
    parts = [
        *parts[:HEADLINES_TOLD],
        *([f"{number - HEADLINES_TOLD} more."] if number > HEADLINES_TOLD else []),
    ]
    tested = frame[frame["p_value"].notna()]
    sample = frame[frame["p_sample"].notna()]
    known = pd.concat([tested, sample])
    if len(known) and known["difference"].eq(0).all():
        same = counted(known.index.nunique(), "test")
        parts.append(f"{candidate} and {baseline} have the same value on each of {same}.")
    elif known.empty:
        parts.append(f"Nothing can be said about {candidate} against {baseline}: no test has a p-value.")
    else:
        counts = [(tested, "outcome", "for new speakers"), (sample, "outcome_sample", "with these speakers")]
        parts += [
            f"{candidate} is better than {baseline} on {_counts(rows[name])} {who}."
            for rows, name, who in counts
            if len(rows)
        ]
        losses = possible_losses(tested)
        if losses.max() > 0:
            widest = tested.loc[losses.idxmax()]
            label = f"bin {widest['label']}" if widest["label"].startswith(("(", "[")) else widest["label"]
            place = ", ".join(filter(None, (widest["test"], widest["group"], label)))
            parts.append(
                f"Not excluded for new speakers: a loss of up to {losses.max():.2g} on a test without a "
                f"significant difference ({place})."
            )
    few = int((frame["outcome"].eq(NO_EVIDENCE) & frame["p_value"].isna()).sum())
    if few and len(known):
        speakers = f"most often because fewer than {LEAST_BLOCKS} speakers contribute"
        parts.append(f"Nothing follows for new speakers from {counted(few, 'test')}, {speakers}.")
    unpaired = int(frame["pairing"].eq(UNPAIRED).sum())
    if unpaired:
        parts.append(
            f"{counted(unpaired, 'test')} {'is' if unpaired == 1 else 'are'} unpaired, "
            "which finds less: the two models were not tested on the same speakers with the same draws."
        )
    absent = int((frame["outcome"].eq("") & frame["outcome_sample"].eq("")).sum())
    if absent:
        parts.append(f"{counted(absent, 'test')} could not be compared.")
    return " ".join(parts)


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
    info = measure_of(row["test"], row["family"])
    values = f"{row['baseline_value']:.3g} → {row['candidate_value']:.3g}"
    these = _result(row, "outcome_sample", "p_sample", ("difference_low_sample", "difference_high_sample"))
    new = _result(row, "outcome", "p_value", ("low", "high"))
    if not these and not new:
        return f"{row['corpus']}, {row['task']}: {info.title} {values}; {row['skipped'] or 'not compared'}."
    if row["skipped"].startswith("on "):
        values += f" {row['skipped'].partition(':')[0]}"
    amount = _amount(row)
    if amount and (these.startswith("significant") or new.startswith("significant")):
        values += f", {amount}"
    enough = row["blocks"] >= LEAST_BLOCKS
    speakers = "too uncertain" if enough else f"too few ({row['blocks']} here)"
    return (
        f"{row['corpus']}, {row['task']}: {info.title} {values}; with these speakers {these or 'not known'}; "
        f"for new speakers {new or speakers}."
    )


def _result(row: dict, outcome: str, p_value: str, ends: tuple[str, str]) -> str:
    if pd.isna(row[p_value]):
        return ""
    p = "p < 0.001" if row[p_value] < 0.001 else f"p = {row[p_value]:.2g}"
    says = "significant, " + row[outcome] if row[outcome] in (BETTER, WORSE) else "no significant difference"
    interval = f"{row[ends[0]]:.2g} to {row[ends[1]]:.2g}".replace("-", "−")
    return f"{says} (difference {interval}, {p})"


def _amount(row: dict) -> str:
    """Write a difference of error rates as so many more or fewer errors."""
    if not measure_of(row["test"], row["family"]).error or row["rule"] == ABOVE or not row["baseline_value"]:
        return ""
    share = row["difference"] / row["baseline_value"]
    return f"{abs(share):.0%} {'more' if share > 0 else 'fewer'} errors".replace("%", " %")


def _counts(outcomes: pd.Series) -> str:
    better, worse = (int(outcomes.eq(name).sum()) for name in (BETTER, WORSE))
    return f"{better} and worse on {worse} of {counted(len(outcomes), 'test')}"


def possible_losses(frame: pd.DataFrame) -> pd.Series:
    """Give how much worse the candidate may be on tests without evidence, by the ends of their intervals.

    Sizes in units of the tests, 0 or more, with the index of those rows that have an interval.
    """
    rows = frame[frame["outcome"].eq(NO_EVIDENCE) & frame["low"].notna()]
    loss = np.where(rows["rule"].eq(ABOVE), -rows["low"], rows["high"])
    return pd.Series(np.maximum(loss.astype(float), 0.0), index=rows.index)
