"""Verdicts: a value, its counts and its threshold, one row of the results table each.

- ``passed`` is empty if and only if ``skipped`` says why there is no verdict. ``skipped`` also says what
  else is lacking in a row with a verdict: its interval, its information, or that its threshold was changed.
- A verdict compares the value with the threshold by a strict rule. Values are rounded to 12 significant
  digits, where float noise begins, and no further; so the stored value gives the same verdict.
- Missing is ``None`` in a row, NaN (numbers) or ``None`` (truths) in a frame, an empty cell in a file. No
  number is ever NaN or infinite.
"""
