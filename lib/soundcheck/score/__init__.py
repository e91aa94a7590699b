"""Scores predictions against references without a suite: values of a model and of groups of speakers."""
