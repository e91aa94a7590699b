"""What data sets of the Hugging Face Hub have in common: names of columns, and names of splits.

Conventions
-----------
- Splits are called ``train``, ``validation`` and ``test`` where a folder has another usual word for one of
  these; names that say more, such as ``test-clean``, stay, and so does what a shard says before its number.
"""

from __future__ import annotations

from collections.abc import Sequence

from soundcheck.corpora.splits import DEV, TEST, TRAIN, split_class

NAMES = {  # our column -> usual names, the first that is there counts
    "transcript": ("transcript", "transcription", "text", "sentence", "normalized_text"),
    "speaker": ("speaker", "speaker_id", "client_id"),
    "sex": ("sex", "gender"),
    "language": ("language", "lang", "locale"),
    "accent": ("accent", "accents"),
}
_USUAL = {TRAIN: "train", DEV: "validation", TEST: "test"}


def split_name(text: str) -> str:
    """Give the usual name of a split that is called by a single word."""
    return _USUAL.get(split_class(text.lower()), text) if text.isalpha() else text


def split_among(parts: Sequence[str]) -> str:
    """Name the split that a part of a path is; empty if none is one.

    >>> split_among(["data", "dev"]), split_among(["Test"]), split_among(["Test1"]), split_among(["latest"])
    ('validation', 'test', 'Test1', '')
    """
    return next((split_name(part) for part in parts if split_class(part)), "")
