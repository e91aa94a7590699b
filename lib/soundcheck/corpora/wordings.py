"""Checks transcripts that allow several wordings before anything is run."""

from __future__ import annotations

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted
from soundcheck.corpora.segments import RawTable
from soundcheck.metrics.alternatives import parse
from soundcheck.metrics.normalisation import Normaliser

_COLUMN = "transcript"
_SHOWN = 60  # characters of a transcript that a message shows
_REMEDY = "Write { um / uh / @ } with blanks round each /, or leave out alternatives: true"


def check_wordings(raw: RawTable, normaliser: Normaliser) -> None:
    """Refuse transcripts whose alternatives cannot be read.

    - ``normaliser``: the suite's; marks that it drops are no alternatives.
    - Raises InputError: all such rows at once.
    """
    problems = Problems()
    for place, text in zip(raw.places, raw.table.get(_COLUMN, ()), strict=False):
        if isinstance(text, str):
            try:
                parse(normaliser.prepare(text))
            except ValueError as error:
                start = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
                problems.add(place, f"{quoted(start)}: {error}", _REMEDY)
    problems.raise_if_any()
