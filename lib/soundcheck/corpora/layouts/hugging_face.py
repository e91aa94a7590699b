"""What data sets of the Hugging Face Hub have in common: names of columns, and names of splits.

Conventions
-----------
- Splits are called ``train``, ``validation`` and ``test``, whichever of the usual words a folder has;
  whatever else a shard says before its number is the name of its split.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NAMES", "SPLITS", "split_among"]

NAMES = {  # our column -> usual names, the first that is there counts
    "transcript": ("transcript", "transcription", "text", "sentence", "normalized_text"),
    "speaker": ("speaker", "speaker_id", "client_id"),
    "sex": ("sex", "gender"),
    "language": ("language", "lang", "locale"),
    "accent": ("accent", "accents"),
}
_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
SPLITS = {word: split for split, words in _WORDS.items() for word in words}


def split_among(parts: Sequence[str]) -> str:
    """Name the split that a part of a path is; empty if none is one.

    Examples
    --------
    >>> split_among(["data", "dev"]), split_among(["Test"]), split_among(["latest"])
    ('validation', 'test', '')
    """
    return next((SPLITS[part.lower()] for part in parts if part.lower() in SPLITS), "")
