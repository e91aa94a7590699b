"""Which of the answers of a file belongs to which segment: what tables and lists of transcripts share."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from soundcheck.common.errors import InputError

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["Index", "found_once"]


class Index(abc.ABC):
    """Tells which of the answers of a file belongs to a segment.

    Attributes
    ----------
    noun
        What messages call the place of an answer, such as ``"row"``.
    """

    noun: ClassVar[str]

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the answers."""

    @abc.abstractmethod
    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the number of each segment's answer: int64 ``(segments,)``, -1 = none."""

    @abc.abstractmethod
    def misfit(self, file: str) -> InputError:
        """Make the error if nothing fits the corpora; ``file`` is one of theirs."""

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Do the same for all corpora, and refuse what cannot belong to several; here all can."""
        return [self.find(corpus) for corpus in corpora]

    def computing_times(self) -> np.ndarray:
        """Give the seconds that answers took and those of their sounds, float64 ``(2, n)``; here nothing."""
        return np.zeros((2, 0))

    def remarks(self) -> list[str]:
        """Say what the file tells beside answers, for readers of the model's page; here nothing."""
        return []


def found_once(find: Callable[[Index, Corpus], np.ndarray]) -> Callable[[Index, Corpus], np.ndarray]:
    """Let :meth:`Index.find` look once: it is asked for notices, then for answers."""
    name = f"_{find.__name__} once"

    @functools.wraps(find)
    def kept(self: Index, corpus: Corpus) -> np.ndarray:
        # Number of the corpus -> itself, which so lives on, and result.
        known = vars(self).setdefault(name, {})
        if id(corpus) not in known:
            found = find(self, corpus)
            found.flags.writeable = False  # it is shared
            known[id(corpus)] = (corpus, found)
        return known[id(corpus)][1]

    return kept
