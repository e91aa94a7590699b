"""How sure a transcription service is, from what Whisper's ``verbose_json`` tells beside the text.

Services differ in what they give: OpenAI's has ``segments`` with ``avg_logprob``, the mean logarithm of the
probabilities of their tokens; others give ``words`` with ``probability``, too, on top or in segments.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from soundcheck.models.stated import CONFIDENCE
from soundcheck.models.stated_words import WORDS

# What is asked for: words come only with times of words, segments with those of segments.
FIELDS = {"response_format": "verbose_json", "timestamp_granularities[]": ("word", "segment")}


def confidences(content: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a service says of its answer, as a model does; empty if it says nothing.

    The confidence of a transcript is the geometric mean of the probabilities of its tokens: segments count by
    their tokens, or by their duration, or alike.

    Examples
    --------
    >>> confidences({"text": "go on", "segments": [{"avg_logprob": 0.0, "tokens": [1, 2]}]})
    {'confidence': 1.0}
    >>> confidences({"text": "go", "words": [{"word": "go", "probability": 0.5}]})
    {'words': [{'word': 'go', 'probability': 0.5}]}
    """
    segments = _mappings(content.get("segments"))
    words = _mappings(content.get(WORDS)) or [
        word for part in segments for word in _mappings(part.get(WORDS))
    ]
    found: dict[str, Any] = {WORDS: words} if words else {}
    logs = [part.get("avg_logprob") for part in segments]
    if logs and all(_is_number(log) and log <= 0 for log in logs):
        sizes = [_size(part) for part in segments]
        sizes = sizes if all(sizes) else [1.0] * len(logs)
        total = math.fsum(log * size for log, size in zip(logs, sizes, strict=True))
        found[CONFIDENCE] = math.exp(total / math.fsum(sizes))
    return found


def _size(segment: Mapping[str, Any]) -> float:
    if isinstance(segment.get("tokens"), Sequence) and segment["tokens"]:
        return float(len(segment["tokens"]))
    start, end = segment.get("start"), segment.get("end")
    return max(float(end - start), 0.0) if _is_number(start) and _is_number(end) else 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
