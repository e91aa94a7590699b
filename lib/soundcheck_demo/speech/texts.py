"""Sentences of negative, neutral and positive sentiment that say the same in eight languages.

Conventions
-----------
Sentence ``n`` of a sentiment is the same sentence in every language, as far as languages allow. Japanese is
written in kana with spaces, because the synthesiser knows few readings of kanji. Languages are named by their
ISO 639-1 code.
"""

from __future__ import annotations

import csv
import itertools
from operator import itemgetter
from pathlib import Path

SENTIMENTS = ("negative", "neutral", "positive")
EACH = 5  # sentences of a sentiment

with Path(__file__).with_name("texts.csv").open(encoding="utf-8", newline="") as _file:
    _rows = list(csv.DictReader(_file))
SENTENCES = {  # language -> its sentences, one sentiment after the other
    language: tuple(row["sentence"] for row in rows)
    for language, rows in itertools.groupby(_rows, key=itemgetter("language"))
}


def place(reader: str, number: int) -> int:
    """Say which sentence a reader reads as number 0 to 2: one of each sentiment.

    Of the ten readers of a language a woman and a man read the same ones.
    """
    return EACH * number + (int(reader[1:]) - 1) // 2 % EACH


def sentiment(place: int) -> str:
    """Give the sentiment of a sentence by its place."""
    return SENTIMENTS[place // EACH]
