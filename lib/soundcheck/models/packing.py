"""Embeddings as text, for caches and messages that hold plain JSON values."""

from __future__ import annotations

import base64

import numpy as np


def pack(vector: np.ndarray) -> str:
    """Write a vector as text: base64 of float32 numbers, little endian.

    Examples
    --------
    >>> pack(np.array([1.0, 0.0]))
    'AACAPwAAAAA='
    """
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")


def unpack(text: str) -> np.ndarray:
    """Read what :func:`pack` wrote, float32 ``(d,)``.

    Examples
    --------
    >>> unpack("AACAPwAAAAA=").tolist()
    [1.0, 0.0]
    """
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float32)
