"""What the demo's speakers and readers say, from ``script.csv`` and ``texts.csv``.

Conventions
-----------
- Speakers say neutral everyday sentences, different ones for training and for testing. A sentence takes
  Praat's synthesiser two to four seconds at a usual rate. Its words say nothing about the emotion in which it
  is spoken, so that a model can only go by the voice.
- Readers read sentences of negative, neutral and positive sentiment that say the same in eight languages.
  Sentence ``n`` of a sentiment is the same sentence in every language, as far as languages allow. Japanese is
  written in kana with spaces, because the synthesiser knows few readings of kanji.
"""

from __future__ import annotations

import csv
from pathlib import Path

SENTIMENTS = ("negative", "neutral", "positive")
EACH = 5  # sentences of a sentiment


def _read(name: str, column: str) -> dict[str, tuple[str, ...]]:
    """Read the sentences of a table by the value of a column."""
    sentences: dict[str, tuple[str, ...]] = {}
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sentences[row[column]] = (*sentences.get(row[column], ()), row["sentence"])
    return sentences


SCRIPT = _read("script.csv", "split")
SENTENCES = _read("texts.csv", "language")  # one sentiment after the other


def place(reader: str, number: int) -> int:
    """Say which sentence a reader reads as number 0 to 2: one of each sentiment.

    Of the ten readers of a language a woman and a man read the same ones.
    """
    return EACH * number + (int(reader[1:]) - 1) // 2 % EACH


def sentiment(place: int) -> str:
    """Give the sentiment of a sentence by its place."""
    return SENTIMENTS[place // EACH]
