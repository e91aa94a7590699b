"""Resampling, balancing and simulation."""

INTERVALS = ("percentile", "expanded", "gaussian")  # kinds of confidence intervals, see bootstrap
