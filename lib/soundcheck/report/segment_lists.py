"""What stands behind a number, shown: a few segments to hear, and lists of more that unfold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.report import tables
from soundcheck.report.chosen_segments import TYPICAL, Chosen
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import row
from soundcheck.report.segment_player import segment_name, segment_player

_COLUMNS = ("whose", "chosen as", "segment", "speaker", "label", "prediction", "off by")


@dataclasses.dataclass(frozen=True, eq=False)
class Behind:
    """A number and the segments behind it.

    Parameters
    ----------
    title
        What the number is about; may come from data.
    subset
        The segments.
    sides
        Whose segments -> those that were chosen.
    gap
        How large the number is; decides which one of a page is heard.
    note
        What else is to be said.
    heard
        How many segments of each kind are heard of each side, of those that have so many.
    """

    title: str
    subset: Subset
    sides: Mapping[str, Sequence[Chosen]]
    gap: float
    note: str = ""
    heard: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)


def show(evaluation: Evaluation, numbers: Iterable[Behind | Sequence[Behind]]) -> Html:
    """Let the segments behind the largest number be heard, and list those behind all of them.

    Parameters
    ----------
    evaluation
        For the media store, and whether the model listens at all.
    numbers
        What the functions of :mod:`soundcheck.report.segments_behind` give.
    """
    flat = [one for entry in numbers for one in ([entry] if isinstance(entry, Behind) else entry)]
    flat = [one for one in flat if any(one.sides.values())]
    if not flat:
        return element("p", "There is no segment to show.")
    shown = []
    if not evaluation.guesses:
        shown.append(_heard(evaluation, max(flat, key=lambda one: abs(one.gap))))
    together: dict[str, list[Behind]] = {}
    for one in flat:
        together.setdefault(place_of(one.subset), []).append(one)
    return join([*shown, *map(_listed, together.values())])


def place_of(subset: Subset) -> str:
    """Name the corpus and the task of segments."""
    return f"{subset.corpus}, {subset.task.name}"


def _heard(evaluation: Evaluation, number: Behind) -> Html:
    view, shown = evaluation.view(number.subset), []
    for side, counts in number.heard.items():
        for why, count in counts.items():
            rows = [one.row for one in number.sides.get(side, ()) if one.why == why][:count]
            for n in rows:
                segment = number.subset.segments.iloc[n]
                words = [", ".join(filter(None, (side, why))), *_said(number.subset, n)]
                color = "changed" if why == TYPICAL else "original"
                shown.append(segment_player(evaluation.media, view, segment, "; ".join(words), color))
    return row(shown, title=number.title) if shown else Html()


def _listed(numbers: Sequence[Behind]) -> Html:
    """List the segments of the numbers of one corpus and task in tables, folded together."""
    shown, count = [], 0
    for number in numbers:
        rows = [_row(number, side, one) for side, chosen in number.sides.items() for one in chosen]
        columns = [name for name in _COLUMNS if any(row.get(name) for row in rows)]
        shown.append(tables.table(rows, columns, caption=number.title, sortable=False))
        if number.note:
            shown.append(element("p", number.note, class_="sc-note", limit=None))
        count += len(rows)
    more = f"; and {counted(len(numbers) - 1, 'other group')}" if len(numbers) > 1 else ""
    head = element("summary", f"{counted(count, 'segment')}: {numbers[0].title}{more}", limit=400)
    return element("details", head, *shown, class_="sc-fold sc-segments")


def _row(number: Behind, side: str, one: Chosen) -> dict[str, object]:
    """Give a line of a list: column -> cell; columns that no line fills are not shown."""
    segment = number.subset.segments.iloc[one.row]
    speaker = segment.get("speaker")
    about = {"whose": side, "chosen as": one.why, "segment": segment_name(segment)}
    about["speaker"] = "" if pd.isna(speaker) else str(speaker)
    return about | dict(zip(_COLUMNS[-3:], _values(number.subset, one.row), strict=False))


def _values(subset: Subset, n: int) -> list[object]:
    truth = None if subset.truth is None else subset.truth[n]
    predicted = subset.predictions.clean[n]
    if not subset.task.is_regression:
        return ["" if pd.isna(one) else str(one) for one in (truth, predicted)]
    off = None if truth is None else float(abs(predicted - truth))
    return ["" if one is None else tables.number(float(one), 2) for one in (truth, predicted, off)]


def _said(subset: Subset, n: int) -> list[str]:
    label, predicted, *_ = _values(subset, n)
    return [*([f"labelled {label}"] if label else []), f"predicted {predicted}"]
