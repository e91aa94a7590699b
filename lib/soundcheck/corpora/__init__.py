"""Reads corpora into one segment table."""
