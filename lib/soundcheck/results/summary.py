"""Old names of :mod:`soundcheck.results.facts`, until nobody imports them."""

from soundcheck.results.facts import Counts as Tally
from soundcheck.results.facts import counts as tally
from soundcheck.results.facts import few_speakers, headline, of_these_speakers
from soundcheck.results.standing import ASPECTS, CORRECTNESS, FAIRNESS, ROBUSTNESS, aspects

__all__ = [
    "ASPECTS",
    "CORRECTNESS",
    "FAIRNESS",
    "ROBUSTNESS",
    "Tally",
    "aspects",
    "few_speakers",
    "headline",
    "of_these_speakers",
    "tally",
]
