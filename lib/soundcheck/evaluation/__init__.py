"""What a notebook works with: one model, one family and the corpora that fit."""

from soundcheck.evaluation.evaluation import Comparison, Evaluation

Recognition = Verification = Evaluation  # names that notebooks of users may import

__all__ = ["Comparison", "Evaluation", "Recognition", "Verification"]
