"""Verifies a finished book: files by their digests, verdicts by the table, tests by computing them again."""
