"""Verdicts: a value, its counts and its threshold, one row of the results table each.

Conventions
-----------
- A row is *passed*, *failed* or *skipped*, never two of these. ``passed`` is empty if and only if the row is
  skipped, and then ``skipped`` says why.
- ``skipped`` also says what else is skipped in a row that has a verdict: its interval and certainty
  (``interval withheld: 1 block``) or its place among the informative tests (``not informative: ...``), and
  where the threshold comes from if not from where a reader expects (``changed in this suite: 0.5 → 0.15``).
- A verdict compares the value with the threshold by a strict rule. Values are settled to 12 significant
  digits, where float noise begins, but rounded no further; so the stored value gives the same verdict.
- Missing is ``None`` in a :class:`Verdict`, NaN (numbers) or ``None`` (verdicts) in a table, an empty cell in
  a file. No number is ever NaN or infinite.

Files: ``verdict`` makes rows, ``judged`` keeps them with their replicates, ``contrast`` compares two models
and ``conclusion`` says what came out, ``states`` what may be concluded among many tests, ``table`` writes and
``reading`` reads the results, ``summary`` counts them, ``standing`` says whose counts mean nothing.
"""

from soundcheck.results.conclusion import conclusion
from soundcheck.results.contrast import (
    BETTER,
    CONTRAST_COLUMNS,
    NO_EVIDENCE,
    WORSE,
    Contrast,
    contrast,
    contrast_csv,
    contrast_frame,
    contrasts,
    load_contrasts,
    save_contrasts,
)
from soundcheck.results.estimates import Estimate, collected, estimate_frame, read_estimates, write_estimates
from soundcheck.results.judged import REPLICATES, Judged, load, load_all, load_judged, save
from soundcheck.results.reading import read_results
from soundcheck.results.states import decide
from soundcheck.results.summary import Tally, aspects, tally
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import (
    RESULT_COLUMNS,
    Verdict,
    judge,
    skip,
    skipped_rows,
)

__all__ = [
    "BETTER",
    "CONTRAST_COLUMNS",
    "NO_EVIDENCE",
    "REPLICATES",
    "WORSE",
    "Contrast",
    "Estimate",
    "Judged",
    "collected",
    "conclusion",
    "contrast",
    "contrast_csv",
    "contrast_frame",
    "contrasts",
    "load_contrasts",
    "load_judged",
    "save_contrasts",
    "RESULT_COLUMNS",
    "Tally",
    "Verdict",
    "aspects",
    "judge",
    "load",
    "read_results",
    "save",
    "decide",
    "estimate_frame",
    "load_all",
    "read_estimates",
    "write_estimates",
    "skip",
    "skipped_rows",
    "tally",
    "to_frame",
    "write_results",
]
