"""Tables of recorded studies in the written pages: a line ``<!-- recorded: NAME -->`` is replaced by one."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from soundcheck.corpora.measures import MEASURES
from soundcheck.report import formats, views
from soundcheck.report.corpus_views import group_table
from soundcheck.report.html import Html
from soundcheck.report.study_figures import recorded

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
            off = f"{sign}{formats.number(one.error, 1)} ± {formats.number(one.spread, 1)}"
            within = f"{100 * one.within_1_dB:.0f} % within 1 dB"
            cells.append(formats.Cell(formats.two_lines(off, within), one.error, "sc-number"))
        rows.append([speech, noise, *cells])
    caption = (
        "Estimated minus true signal-to-noise ratio in dB, mean and standard deviation of "
        f"{found['signals'].min()} signals each. Recorded with {made}."
    )
    return views.listed(rows, ["speech", "noise", *(f"{ratio} dB" for ratio in ratios)], caption=caption)


def _human_speech(found: pd.DataFrame, made: str) -> Html:
    caption = (
        "Six speakers of English digits, 8 kHz: median of the recordings, and below it where the middle "
        f"90 % of them lie. Recorded with {made}."
    )
    return group_table(found, caption)


def _human_accents(found: pd.DataFrame, made: str) -> Html:
    rows = []
    for one in found.itertuples():
        measure = MEASURES[one.measure]
        digits = formats.digits_for(one.mean, one.mean_of_others)
        numbers = [formats.number(value, digits) for value in (one.mean, one.mean_of_others, one.gap)]
        name = f"{measure.title} ({measure.unit})"
        rows.append([one.accent, name, *numbers, formats.number(one.p_value, 2)])
    least = formats.number(found["least_p"].min(), 3)
    caption = (
        "Accents of two speakers against the other four: means, difference, and in what share of all pairs "
        f"of speakers the difference is at least as large; no share lies below {least}. Recorded with {made}."
    )
    return views.listed(
        rows, ["accent", "measure", "mean", "mean of the others", "gap", "p-value"], caption=caption
    )


def _human_recognition(found: pd.DataFrame, made: str) -> Html:
    rows = []
    for one in found.itertuples():
        decibel = one.measure.startswith("SNR")
        if one.measure == "Word Error Rate":
            cell = formats.value_cell(one.value, one.low, one.high, "%")
        else:
            value, *ends = (_reached(end) if decibel else formats.number(end, 1) for end in one[3:6])
            cell = formats.Cell(formats.two_lines(value, " to ".join(ends)), one.value, "sc-number")
        rows.append([one.measure, one.sound, cell, one.segments, one.speakers])
    caption = (
        "A recogniser of digits on the same six people, with 95 % intervals: rates, signal-to-noise ratios "
        f"at which they reach a limit, and words where nobody speaks English. Recorded with {made}."
    )
    return views.listed(rows, ["measure", "sound", "value", "segments", "speakers"], caption=caption)


def _reached(decibel: float) -> str:
    if np.isinf(decibel):
        return "milder than heard" if decibel > 0 else "beyond what was heard"
    return f"{formats.number(decibel, 1)} dB"


TABLES: dict[str, Callable[[pd.DataFrame, str], Html]] = {
    "human_accents": _human_accents,
    "human_recognition": _human_recognition,
    "human_speech": _human_speech,
    "signal_to_noise": _signal_to_noise,
}
