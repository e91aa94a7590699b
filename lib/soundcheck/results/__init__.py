"""Verdicts: a value, its counts and its threshold, one row of the results table each."""
