"""Models of a suite in this process, which the library loads in children only."""

from soundcheck.models.base import Model
from soundcheck.suite.entries import ModelEntry, Suite


def load_model(entry: ModelEntry, suite: Suite) -> Model:
    """Load a model; Python models run their module's code."""
    return entry.about.load(entry, suite)
