"""What figures of curves and of rates show, in a sentence each.

Conventions
-----------
- What is compared are intervals that do not meet, which is careful: of two that overlap nothing is said.
  Rates of the same trials are compared by the interval of their difference.
- Sentences have no full stop: they are headings.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.key_figures import significant
from soundcheck.report.names import in_words, sentence
from soundcheck.report.style import label
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.intervals import interval

HALF = 0.5  # of predictions that stay
MOST_NAMED = 3
WITHIN = "within any group"  # as the rows of trials are called that no group has alone


def steps(frame: pd.DataFrame, what: str, axis: str = "") -> str:
    """Say from which step on a value is clearly lower than at the first one.

    Where the first step is compared with itself, as shares of unchanged predictions are, from which step on
    clearly fewer than half of the predictions stay.

    Parameters
    ----------
    frame
        Rows as for :func:`soundcheck.report.sweep_figures.curves`, steps from mild to severe.
    what
        What the value is.
    axis
        What the steps are, such as ``SNR in dB``.
    """
    from_step: dict[str, list[str]] = {}
    never, half = [], True
    several = frame["corpus"].nunique() > 1
    for (corpus, task), line in frame.groupby(["corpus", "task"], sort=False):
        name = f"{label(task, 20)} ({label(corpus, 20)})" if several else label(task, 20)
        first = line.iloc[0]
        half = bool(first["value"] == 1 and first["low"] == 1)
        limit = HALF if half else first["low"]
        lower = line["high"].lt(limit).to_numpy()
        lasting = lower[::-1].cumprod()[::-1].astype(bool)
        if lasting.any():
            step = str(line["step"].iloc[int(lasting.argmax())])
            from_step.setdefault(step, []).append(name)
        else:
            never.append(name)
    order = [str(step) for step in dict.fromkeys(frame["step"])]
    told = [
        f"from {_place(axis, step)} on ({', '.join(from_step[step])})" for step in order if step in from_step
    ]
    below = "clearly fewer than half stay" if half else "clearly lower than at first"
    if not told:
        short = "never clearly below a half" if half else "at no step clearly lower than at first"
        return f"{sentence(label(what, 60))}: {short}"
    left = f"; for {', '.join(never)} this cannot be told" if never else ""
    return f"{sentence(label(what, 60))}: {below} {', '.join(told)}{left}"


def rates(frame: pd.DataFrame, overall: float, what: str = "word error rate") -> str:
    """Say for which groups the whole interval of a rate lies above that of everybody.

    Parameters
    ----------
    frame
        Rows with ``group, value, low, high``.
    overall
        The rate of everybody, a share.
    what
        What the rate is.
    """
    known = frame[frame["value"].notna()].sort_values(["value", "group"], ascending=[False, True])
    above = known[known["low"].gt(overall)]
    everybody = f"the {what} of everybody, {_percent(overall)} %"
    if above.empty:
        return f"No group lies clearly above {everybody}"
    return f"Clearly above {everybody}: {_named(above, 'value', 'low', 'high')}"


def error_rates(frame: pd.DataFrame) -> str:
    """Say for which groups the errors of a verification lie clearly above those within any group.

    Non-targets within a group are harder than others, so all trials would be no fair comparison.

    Parameters
    ----------
    frame
        Rows as for :func:`soundcheck.report.verification_figures.error_rate_bars`; of each column one for the
        trials within any of its groups.
    """
    told = []
    everybody = frame[frame["group"].eq(WITHIN)].set_index("column")
    groups = frame[frame["column"].isin(everybody.index) & frame["group"].ne(WITHIN)]
    if groups.empty:
        return ""
    for kind, what in (("far", "false acceptances"), ("frr", "false rejections")):
        above = groups[groups[f"{kind}_low"].gt(groups["column"].map(everybody[kind]))]
        above = above.sort_values([kind, "group"], ascending=False)
        found = _named(above, kind, f"{kind}_low", f"{kind}_high") if len(above) else "no group"
        told.append(f"{what} {found}")
    return f"Clearly more than {WITHIN}: {'; '.join(told)}"


def changes_of_error(frame: pd.DataFrame, corpus: str) -> str:
    """Say under which changes the equal error rate clearly rises.

    Parameters
    ----------
    frame
        Rows of the results table.
    corpus
        Whose rows to look at.
    """
    known = frame[
        frame["test"].str.startswith("Change Eer ") & frame["corpus"].eq(corpus) & frame["low"].notna()
    ]
    if known.empty:
        return ""
    rises = known[known["low"].gt(0)].sort_values("value", ascending=False, kind="stable")
    left = len(known) - len(rises)
    if rises.empty:
        return f"Under none of {counted(len(known), 'change')} the EER can be told to rise"
    told = [
        f"{label(in_words(row.test).removeprefix('change of EER under '))} "
        f"(by {_percent(row.value)} points, 95 % {_percent(row.low)} to {_percent(row.high)})"
        for row in rises.head(MOST_NAMED).itertuples()
    ]
    more = f" and {len(rises) - len(told)} more" if len(rises) > len(told) else ""
    rest = f"; for {left} this cannot be told" if left else ""
    return f"The EER clearly rises under {', '.join(told)}{more}{rest}"


def _named(rows: pd.DataFrame, value: str, low: str, high: str) -> str:
    told = [
        f"{label(group)} ({_percent(rate)} %, 95 % {_percent(least)} to {_percent(most)})"
        for group, rate, least, most in rows[["group", value, low, high]].head(MOST_NAMED).to_numpy()
    ]
    more = f" and {len(rows) - len(told)} more" if len(rows) > len(told) else ""
    return f"{', '.join(told)}{more}"


def _place(axis: str, step: str) -> str:
    """Name a step with what it measures: 0 of ``SNR in dB`` is ``SNR 0 dB``."""
    what, _, unit = label(axis, 60).rpartition(" in ")
    return " ".join(filter(None, (what, label(step), unit))) if what else f"{unit} {label(step)}".strip()


def _percent(share: float) -> str:
    return significant(100 * share)


def of_more(found: Mapping[int | str, Resampled], kind: str) -> str:
    """Say whether errors are clearly fewer with the most, or longest, recordings than with the fewest.

    Parameters
    ----------
    found
        Number of recordings, or their length in words, ascending -> the rate of the same trials.
    kind
        Kind of interval.
    """
    first, *_, last = found
    few, many = found[first], found[last]
    low = high = np.nan
    if not any((*few.reasons, *few.withheld, *many.reasons, *many.withheld)):
        gap = many.value[0] - few.value[0]  # on the same replicates
        replicates = many.replicates[:, 0] - few.replicates[:, 0]
        low, high = interval(replicates, kind, blocks=int(few.blocks[0]), value=gap)
    clearly = (
        "clearly fewer errors" if high < 0 else "clearly more errors" if low > 0 else "no clear difference"
    )
    rates = [f"{100 * rate.value[0]:.3g} %" for rate in (few, many)]
    fewest = counted(first, "recording") if isinstance(first, int) else first
    return f"Equal error rate {rates[0]} with {fewest}, {rates[1]} with {last}: {clearly}"
