"""What a comparison says, in sentences: where the candidate is better or worse, and what may still hide."""

from __future__ import annotations

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.results.contrast import BETTER, NO_EVIDENCE, UNPAIRED, WORSE
from soundcheck.statistics.paired import LEAST_BLOCKS
from soundcheck.statistics.rules import ABOVE


def conclusion(frame: pd.DataFrame) -> str:
    """Answer whether the candidate is better than the baseline.

    Parameters
    ----------
    frame
        Contrasts of two models, see :func:`soundcheck.results.contrast_frame`.

    Returns
    -------
    str
        A few sentences; names of models and tests come from data and are not escaped.
    """
    if frame.empty:
        return "The two models have no test in common."
    baseline, candidate = frame["baseline"].iloc[0], frame["candidate"].iloc[0]
    tested = frame[frame["p_value"].notna()]
    few = int((frame["outcome"].eq(NO_EVIDENCE) & frame["p_value"].isna()).sum())
    parts = []
    if len(tested) and tested["difference"].eq(0).all():
        parts.append(
            f"{candidate} and {baseline} have the same value on each of {counted(len(tested), 'test')}."
        )
    elif tested.empty:
        parts.append(f"Nothing can be said about {candidate} against {baseline}: no test has a p-value.")
    else:
        better, worse = (int(tested["outcome"].eq(name).sum()) for name in (BETTER, WORSE))
        rest = len(tested) - better - worse
        parts.append(
            f"{candidate} is better than {baseline} on {better} and worse on {worse} of "
            f"{counted(len(tested), 'test')}"
            + (f"; on the other {rest} no difference was found." if better + worse and rest else ".")
        )
        losses = possible_losses(tested)
        if losses.max() > 0:
            widest = tested.loc[losses.idxmax()]
            place = ", ".join(filter(None, (widest["test"], widest["group"], widest["label"])))
            parts.append(
                "No evidence is not equality: a test without a difference may hide a loss of up to "
                f"{losses.median():.2g} (median of their intervals), at most {losses.max():.2g} ({place})."
            )
    if few:
        parts.append(
            f"{counted(few, 'more test')} had no interval, most often because fewer than "
            f"{LEAST_BLOCKS} speakers contribute."
        )
    unpaired = int(frame["pairing"].eq(UNPAIRED).sum())
    if unpaired:
        parts.append(
            f"{counted(unpaired, 'test')} {'is' if unpaired == 1 else 'are'} unpaired, "
            "which finds less: the two models were not tested on the same speakers with the same draws."
        )
    absent = int(frame["outcome"].eq("").sum())
    if absent:
        parts.append(f"{counted(absent, 'test')} could not be compared.")
    return " ".join(parts)


def possible_losses(frame: pd.DataFrame) -> pd.Series:
    """Give how much worse the candidate may be on tests without evidence, by the ends of their intervals.

    Parameters
    ----------
    frame
        Contrasts.

    Returns
    -------
    pandas.Series
        Sizes in units of the tests, 0 or more, with the index of those rows that have an interval.
    """
    rows = frame[frame["outcome"].eq(NO_EVIDENCE) & frame["low"].notna()]
    loss = np.where(rows["rule"].eq(ABOVE), -rows["low"], rows["high"])
    return pd.Series(np.maximum(loss.astype(float), 0.0), index=rows.index)
