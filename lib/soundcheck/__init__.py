"""Tests speech models for correctness, fairness and robustness, and turns the results into a book."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from soundcheck.score.scores import evaluate as evaluate

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Give ``soundcheck.evaluate``, whose imports take a second, when it is first used."""
    if name == "evaluate":
        from soundcheck.score.scores import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
