"""Alignment of transcripts word by word, and the words that a recogniser confuses most.

Conventions
-----------
- Words are what ``str.split`` gives; lower case, punctuation and numerals are the caller's to settle.
- The alignment has as few errors as possible; where several have, it is RapidFuzz's, as it is for jiwer.
- **Time grows with the product of the lengths.** Two transcripts of 20,000 words, which is two hours of
  speech, take 0.2 s; two of 200,000 words half a minute. What they share at the beginning and at the end
  takes no time. Memory grows with the lengths only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.additive import ratio, same_length
from soundcheck.metrics.alternatives import cheapest

Kind = Literal["equal", "substitute", "delete", "insert"]

COLUMNS = ("kind", "reference", "hypothesis", "count", "share")


class AlignedWord(NamedTuple):
    """One step of an alignment."""

    kind: Kind  # what became of the word
    reference: str  # word of the reference; empty if inserted
    hypothesis: str  # word of the hypothesis; empty if deleted


def align(reference: str, hypothesis: str) -> list[AlignedWord]:
    """Align two transcripts with as few errors as possible.

    - ``reference, hypothesis``: what was said and what was recognised.
    - Returns in the order of the transcripts; empty if both are.

    >>> for word in align("the cat sat", "a cat sat down"):
    ...     print(*word, sep="|")
    substitute|the|a
    equal|cat|cat
    equal|sat|sat
    insert||down
    """
    said, heard = cheapest(reference, hypothesis).split(), hypothesis.split()
    aligned: list[AlignedWord] = []
    for tag, start, end, from_, to in Levenshtein.opcodes(said, heard):
        if tag == "delete":
            aligned += [AlignedWord("delete", word, "") for word in said[start:end]]
        elif tag == "insert":
            aligned += [AlignedWord("insert", "", word) for word in heard[from_:to]]
        else:
            kind: Kind = "equal" if tag == "equal" else "substitute"
            words = zip(said[start:end], heard[from_:to], strict=True)
            aligned += [AlignedWord(kind, one, other) for one, other in words]
    return aligned


def missed_words(said: Sequence[str], heard: Sequence[str]) -> tuple[list[int], int]:
    """Find the words that a recogniser has not right: what :func:`align` tells, in a fraction of its time.

    - ``said, heard``: words of the reference and of the hypothesis.
    - Returns ``missed``: Places of words that are substituted or deleted, in their order.
    - Returns ``inserted``: How many words are put in.

    >>> missed_words(["the", "cat", "sat"], ["a", "cat", "sat", "down"])
    ([0], 1)
    """
    if said == heard:
        return [], 0
    errors = Levenshtein.editops(said, heard)
    missed = [place for kind, place, _ in errors if kind != "insert"]
    return missed, len(errors) - len(missed)


def confusions(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> pd.DataFrame:
    """Count which words a recogniser confuses, leaves out and adds.

    - ``references, hypotheses``: texts, ``(N,)``. Where one of the two is missing (``None`` or NaN), both are
      passed over.
    - Returns one row a different error, columns :data:`COLUMNS`: ``kind`` is ``substitute``, ``delete`` or
      ``insert``; ``reference`` and ``hypothesis`` are words, empty where there is none; ``count`` is how
      often it occurs; ``share`` is that by all words of the references that were compared, NaN if they have
      none. The most frequent come first, equally frequent ones alphabetically, column by column.
    - Raises ValueError: if there are not as many references as hypotheses.

    >>> confusions(["go on", "go"], ["no on", "no"])
             kind reference hypothesis  count     share
    0  substitute        go         no      2  0.666667
    """
    references, hypotheses = np.asarray(references, dtype=object), np.asarray(hypotheses, dtype=object)
    same_length(references, hypotheses)
    both = ~(pd.isna(references) | pd.isna(hypotheses))
    found: Counter[tuple[str, str, str]] = Counter()
    words = 0
    pairs = Counter(zip(references[both], hypotheses[both], strict=True))  # short commands come often
    for (reference, hypothesis), times in pairs.items():
        said, heard = cheapest(reference, hypothesis).split(), hypothesis.split()
        words += times * len(said)
        if said == heard:
            continue
        for tag, here, there in Levenshtein.editops(said, heard):
            if tag == "delete":
                found["delete", said[here], ""] += times
            elif tag == "insert":
                found["insert", "", heard[there]] += times
            else:
                found["substitute", said[here], heard[there]] += times
    rows = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    table = pd.DataFrame([error for error, _ in rows], columns=COLUMNS[:3], dtype=object)
    counts = np.array([count for _, count in rows], dtype=np.int64)
    return table.assign(count=counts, share=ratio(counts, words))
