"""What a recogniser says of each word that it wrote: a confidence.

It stands beside the transcript, under the names that recognisers use::

    {"transcript": "go on", "words": [{"word": "go", "confidence": 0.9}, {"word": "on", "confidence": 0.4}]}

Conventions
-----------
- A confidence is the probability that the word is right, from 0 to 1, under one of :data:`KEYS`: ours and
  that of Kaldi's descendants and of cloud services, Whisper's, Vosk's. Further keys, such as times, say
  nothing here.
- Words join to the transcript: the letters and digits of all of them, one after the other, are its own.
  Case, punctuation and blanks may differ.
- Words of which none has a confidence say nothing, and may be of any form.
- Kept answers and tables have them under ``transcript.words``, as JSON: ``[["turn", 0.9], ["left", 0.4]]``.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping, Sequence

from soundcheck.common.escaping import quoted

WORDS = "words"  # key of an answer, and what the column's name ends with
KEYS = ("confidence", "probability", "conf")
Words = list[tuple[str, float]]


def words_text(given: object, transcript: str) -> tuple[str, str]:
    """Turn what a model says of its words into what is kept.

    Parameters
    ----------
    given
        Anything.
    transcript
        The transcript beside it.

    Returns
    -------
    text
        JSON; empty if nothing is said, or there is a problem.
    problem
        Why words cannot be used; empty if they can.

    Examples
    --------
    >>> words_text([{"word": "Go", "confidence": 0.9}, {"word": "on", "confidence": 0.5}], "Go on.")
    ('[["Go", 0.9], ["on", 0.5]]', '')
    >>> words_text([{"word": "go", "confidence": 1.5}], "go")
    ('', "the word 'go' with the confidence 1.5, not a number from 0 to 1")
    """
    if not isinstance(given, Sequence) or not any(isinstance(one, Mapping) and _key(one) for one in given):
        return "", ""
    words: Words = []
    for one in given:
        word = one.get("word") if isinstance(one, Mapping) else None
        if not isinstance(word, str):
            return "", f"{WORDS} of which one has no text under 'word'"
        key = _key(one)
        if not key:
            return "", f"the word {quoted(word, 40)} without a confidence, beside others that have one"
        value = one[key].item() if hasattr(one[key], "item") else one[key]
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return "", f"the word {quoted(word, 40)} with a confidence that is no number"
        words.append((word.encode("utf-8", "backslashreplace").decode(), float(value)))
    problem = words_problem(words, transcript)
    return ("", problem) if problem else (json.dumps(words, ensure_ascii=False), "")


def _key(word: Mapping) -> str:
    return next((key for key in KEYS if word.get(key) is not None), "")


def words_problem(words: Words, transcript: str) -> str:
    """Say why words and their confidences are not those of a transcript; empty if they are."""
    for word, number in words:
        if not 0 <= number <= 1:  # of NaN, too
            return f"the word {quoted(word, 40)} with the confidence {number:.4g}, not a number from 0 to 1"
    said, own = _letters("".join(word for word, _ in words)), _letters(transcript)
    if said == own:
        return ""
    joined = quoted(" ".join(word for word, _ in words), 60)
    return f"{WORDS} that do not join to the transcript: {joined} instead of {quoted(transcript, 60)}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def read_words(text: str | None) -> Words | None:
    """Read what is kept; ``None`` if nothing is said.

    Raises
    ------
    ValueError
        If it is nothing of the kind, as in a table that somebody has written.

    Examples
    --------
    >>> read_words('[["go", 0.9]]'), read_words("")
    ([('go', 0.9)], None)
    """
    if not text or (isinstance(text, float) and math.isnan(text)):
        return None
    try:
        return [(str(word), float(number)) for word, number in json.loads(text)]
    except (TypeError, ValueError, RecursionError):
        raise ValueError('no list such as [["go", 0.9], ["on", 0.5]]') from None
