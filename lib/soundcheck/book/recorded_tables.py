"""Tables of recorded studies in the written pages: a line ``<!-- recorded: NAME -->`` is replaced by one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from soundcheck.corpora.measures import MEASURES
from soundcheck.report import tables
from soundcheck.report.html import Html
from soundcheck.report.measured_tables import measured_table
from soundcheck.report.study_figures import recorded

__all__ = ["TABLES", "filled"]

_LINE = re.compile(r"^<!-- recorded: (\w+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """Put recorded tables into the words of a written page.

    Raises
    ------
    KeyError
        If a line names a table that is none of :data:`TABLES`.
    """
    return _LINE.sub(lambda line: _raw(TABLES[line[1]](*recorded(line[1]))), text)


def _raw(html: Html) -> str:
    return f"```{{raw}} html\n{html}\n```"


def _signal_to_noise(found: pd.DataFrame, made: str) -> Html:
    ratios = list(dict.fromkeys(found["ratio"]))
    rows = []
    for (speech, noise), own in found.groupby(["speech", "noise"], sort=False):
        cells = []
        for one in own.set_index("ratio").loc[ratios].itertuples():
            sign = "+" if one.error > 0 else ""
            off = f"{sign}{tables.number(one.error, 1)} ± {tables.number(one.spread, 1)}"
            within = f"{100 * one.within_1_dB:.0f} % within 1 dB"
            cells.append(tables.Cell(tables.two_lines(off, within), one.error, "sc-number"))
        rows.append([speech, noise, *cells])
    caption = (
        "Estimated minus true signal-to-noise ratio in dB, mean and standard deviation of "
        f"{found['signals'].min()} signals each. Recorded with {made}."
    )
    return tables.table(rows, ["speech", "noise", *(f"{ratio} dB" for ratio in ratios)], caption=caption)


def _human_speech(found: pd.DataFrame, made: str) -> Html:
    caption = (
        "Six speakers of English digits, 8 kHz: median of the recordings, and below it where the middle "
        f"90 % of them lie. Recorded with {made}."
    )
    return measured_table(found, caption)


def _human_accents(found: pd.DataFrame, made: str) -> Html:
    rows = []
    for one in found.itertuples():
        measure = MEASURES[one.measure]
        digits = tables.digits_for(one.mean, one.mean_of_others)
        numbers = [tables.number(value, digits) for value in (one.mean, one.mean_of_others, one.gap)]
        name = f"{measure.title} ({measure.unit})"
        rows.append([one.accent, name, *numbers, tables.number(one.p_value, 2)])
    least = tables.number(found["least_p"].min(), 3)
    caption = (
        "Accents of two speakers against the other four: means, difference, and in what share of all pairs "
        f"of speakers the difference is at least as large; no share lies below {least}. Recorded with {made}."
    )
    return tables.table(
        rows, ["accent", "measure", "mean", "mean of the others", "gap", "p-value"], caption=caption
    )


TABLES: dict[str, Callable[[pd.DataFrame, str], Html]] = {
    "human_accents": _human_accents,
    "human_speech": _human_speech,
    "signal_to_noise": _signal_to_noise,
}
