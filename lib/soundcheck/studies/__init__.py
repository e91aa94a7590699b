"""Studies of intervals whose truth is known: 95 % intervals ought to hold it in 95 of 100 data sets.

Data sets are drawn from models in which segments of a speaker resemble each other; each goes through the
metrics and the bootstrap that judge speech models, and what they say is compared with the truth.

Files: ``intervals`` studies any statistic, ``designs`` draws data for the usual ones, ``word_errors`` repeats
a published study.
"""

from soundcheck.studies.designs import DESIGNS, Design
from soundcheck.studies.intervals import (
    Calibration,
    Intervals,
    calibration,
    coverage,
    monte_carlo_error,
)
from soundcheck.studies.word_errors import (
    BLOCK_SIZES,
    CORRELATIONS,
    PUBLISHED,
    TRUE_DIFFERENCE,
    WordErrorStudy,
    coverage_of_word_errors,
    word_error_data,
    word_error_difference,
)

__all__ = [
    "BLOCK_SIZES",
    "CORRELATIONS",
    "DESIGNS",
    "PUBLISHED",
    "TRUE_DIFFERENCE",
    "Calibration",
    "Design",
    "Intervals",
    "WordErrorStudy",
    "calibration",
    "coverage",
    "coverage_of_word_errors",
    "monte_carlo_error",
    "word_error_data",
    "word_error_difference",
]
