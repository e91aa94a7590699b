"""The synthetic demo corpora."""
