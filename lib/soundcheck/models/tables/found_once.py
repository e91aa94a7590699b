"""Keeps which lines belong to the segments of a corpus: it is asked for notices first, then for answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["found_once"]

Index = TypeVar("Index")


def found_once(find: Callable[[Index, Corpus], np.ndarray]) -> Callable[[Index, Corpus], np.ndarray]:
    """Let a method find what belongs to a corpus once; what it gives cannot be written to."""
    name = f"_{find.__name__} once"

    @functools.wraps(find)
    def kept(self: Index, corpus: Corpus) -> np.ndarray:
        known = vars(self).setdefault(
            name, {}
        )  # number of the object -> itself, which so lives on, and result
        if id(corpus) not in known:
            found = find(self, corpus)
            found.flags.writeable = False
            known[id(corpus)] = (corpus, found)
        return known[id(corpus)][1]

    return kept
