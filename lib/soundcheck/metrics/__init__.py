"""Additive statistics of truth and prediction, and how they finish into numbers."""
