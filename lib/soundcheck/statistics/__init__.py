"""Resampling, balancing and simulation."""
