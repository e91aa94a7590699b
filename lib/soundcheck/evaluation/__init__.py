"""What a notebook works with: one model, one family and the corpora that fit."""

from soundcheck.evaluation.comparison import Comparison
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.verification import Verification

__all__ = ["Comparison", "Evaluation", "Recognition", "Verification"]
