"""Figures of the one-page summary: how good against chance, and the largest differences."""

from __future__ import annotations

import base64
import dataclasses

import pandas as pd
from matplotlib.figure import Figure

from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.verdict_lines import plain
from soundcheck.report import failures, key_figures
from soundcheck.report.formats import significant
from soundcheck.report.style import label, svg
from soundcheck.report.views import forest
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.facts import findings
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS

MOST_ROWS = 8  # of a figure


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure: what it is called, what it shows for readers who do not see it, and the SVG."""

    title: str
    alt: str
    svg: str

    @property
    def address(self) -> str:
        """An address that holds it."""
        return carried("image/svg+xml", self.svg.encode())


def carried(kind: str, data: bytes) -> str:
    """Make an address that holds what it leads to."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def model_pictures(facts: ModelFacts) -> list[Picture]:
    """Draw how good it is and its largest differences between groups; what would be empty is left out."""
    rows = facts.counted
    rows = findings(rows[rows["group"].ne("") & rows["gap_low"].notna() & rows["matters"].notna()])
    columns = {"gap": "value", "gap_low": "low", "gap_high": "high", "matters": "margin"}
    rows = rows.head(MOST_ROWS).drop(columns=[*columns.values()], errors="ignore").rename(columns=columns)
    title = "Largest differences of groups, 95 % intervals; grey: margin"
    unit = "below the others  ←  difference  →  above the others"
    return [*_values(facts), *_differences(title, rows, unit)]


def comparison_pictures(frame: pd.DataFrame, facts: ModelFacts) -> list[Picture]:
    """Draw where a candidate differs most, and how good it is."""
    known = frame[frame["low"].notna() & frame["p_value"].notna()]
    rank = known["outcome"].map({WORSE: 0, BETTER: 1}).fillna(2)
    rows = known.assign(rank=rank, value=known["difference"]).sort_values(["rank", "p_value"], kind="stable")
    rows["state"] = rows["outcome"].map({WORSE: FAIL, BETTER: PASS}).fillna(INCONCLUSIVE)
    rows = rows.head(MOST_ROWS)
    title = f"The {len(rows)} surest of {len(known)} differences, 95 % intervals; ✗ worse, ✓ better"
    return [*_differences(title, rows, "candidate − baseline"), *_values(facts)]


def _differences(title: str, rows: pd.DataFrame, unit: str) -> list[Picture]:
    names, words, told = [], [], []
    for row in rows.itertuples():
        measured = failures.measured(row)
        names.append(failures.people(row.group) if row.group else measured)
        values = [significant(getattr(row, name, None)) for name in ("group_value", "others_value")]
        both = f": {values[0]}, others {values[1]}" if any(values) else ""
        words.append(f"{label(measured)}{both}" if row.group else "")
        told.append(f"{plain(failures.subject(row))} {significant(row.value)} ({row.state})")
    shown = rows.assign(name=names, words=words, reference=0.0)
    return [_picture(title, "; ".join(told), forest(shown, unit=unit))] if names else []


def _values(facts: ModelFacts) -> list[Picture]:
    own = [one for one in facts.figures if one.value is not None][:MOST_ROWS]
    several = len({one.corpus for one in own}) > 1
    rows = []
    for one in own:
        rate = one.measure in key_figures.RATES
        numbers = {"value": one.value, "low": one.low, "high": one.high, "reference": one.guessing}
        names = [*([] if rate else [one.task]), one.measure, *([one.corpus] if several else [])]
        axis = "errors in %: less is better" if rate else "more is better"
        scaled = pd.Series(numbers, dtype=float) * (100 if rate else 1)
        rows.append({"name": " · ".join(names), "panel": axis, **scaled})
    alt = "; ".join(plain(key_figures.sentence(one, corpus=several), 200) for one in own)
    title = "How good, 95 % intervals; grey: chance"
    return [_picture(title, alt, forest(pd.DataFrame(rows), panels="panel"))] if rows else []


def _picture(title: str, alt: str, figure: Figure) -> Picture:
    return Picture(title, alt, svg(figure).decode())
