"""Tests speech models for correctness, fairness and robustness, and turns the results into a book."""

__version__ = "0.1.0"
