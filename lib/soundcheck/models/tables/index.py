"""Which of the answers of a file belongs to which segment: what tables and lists of transcripts share."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from soundcheck.common.errors import InputError, Problems, input_error, nearest
from soundcheck.common.escaping import quoted, told_apart
from soundcheck.corpora.utterances import plain_path

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["TWICE", "Index", "found_once", "misfit_of_names", "refuse_two_sounds"]

# What to do about two answers to one segment: which is the right one, only the user knows.
TWICE = "Look where the two come from, such as two runs in one file, and give each run a file of its own"
_LOOKED_AT = 2_000  # files among which the one that is most like a name is looked for


class Index(abc.ABC):
    """Tells which of the answers of a file belongs to a segment.

    Attributes
    ----------
    noun
        What messages call the place of an answer, such as ``"row"``.
    names
        File or id of each answer.
    are_ids
        Whether they are ids, which have no extension.
    """

    noun: ClassVar[str]
    names: Sequence[str]
    are_ids: ClassVar[bool] = False

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the answers."""

    @abc.abstractmethod
    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the number of each segment's answer: int64 ``(segments,)``, -1 = none."""

    @abc.abstractmethod
    def where(self, *numbers: int) -> str:
        """Say where answers stand, one or two."""

    @abc.abstractmethod
    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if nothing fits the corpora, of which one has segments."""

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Find the answers of several corpora.

        Raises
        ------
        InputError
            Also if an answer would belong to different sounds in two of them.
        """
        problems = Problems()
        everywhere = []
        for corpus in corpora:
            try:
                everywhere.append(self.find(corpus))
            except InputError as error:
                problems.extend(error)
        problems.raise_if_any()
        refuse_two_sounds(corpora, everywhere, self.names, self.where, problems)
        problems.raise_if_any()
        return everywhere

    def computing_times(self) -> np.ndarray:
        """Give the seconds that answers took and those of their sounds, float64 ``(2, n)``; here nothing."""
        return np.zeros((2, 0))

    def remarks(self) -> list[str]:
        """Say what the file tells beside answers, for readers of the model's page; here nothing."""
        return []


def misfit_of_names(index: Index, corpora: Sequence[Corpus], remedy: str) -> InputError:
    """Make the error if no name fits a file of the corpora; shows what is most alike."""
    name = index.names[0]
    known = [str(file) for corpus in corpora for file in corpus.segments["file"][:_LOOKED_AT]]
    same = [
        file for file in known if plain_path(file).rpartition("/")[2] == plain_path(name).rpartition("/")[2]
    ]
    here, there = told_apart(name, next(iter(same), "") or nearest(name, known) or known[0])
    both = f"the name here is {here}, the most similar one in the corpus {there}"
    return input_error(index.where(0), f"no {index.noun} belongs to a segment: {both}", remedy)


def refuse_two_sounds(
    corpora: Sequence[Corpus],
    everywhere: Sequence[np.ndarray],
    names: Sequence[str],
    where: Callable[[int], str],
    problems: Problems,
) -> None:
    """Refuse answers that would belong to different sounds in two corpora: they are those of one.

    Parameters
    ----------
    corpora
        All that a file was matched with.
    everywhere
        For each corpus which answer belongs to each segment, int64 ``(segments,)``; -1 = none.
    names, where
        What is written in the file, and where.
    problems
        Takes what is wrong, one problem for two corpora.
    """
    known: dict[int, tuple[str, str, Corpus]] = {}
    told: dict[tuple[str, str], list[tuple[int, str, str]]] = {}
    for corpus, found in zip(corpora if len(corpora) > 1 else (), everywhere, strict=False):
        sounds, files = (corpus.segments[name].tolist() for name in ("audio", "file"))
        for position in np.flatnonzero(found >= 0).tolist():
            number = int(found[position])
            own = (sounds[position], files[position], corpus)
            sound, file, other = known.setdefault(number, own)
            if sound != own[0] and other is not corpus:
                told.setdefault((other.name, corpus.name), []).append((number, file, own[1]))
    for (one, other), answers in told.items():
        number, file, same = answers[0]
        both = f"{quoted(file)} of {quoted(one)} and {quoted(same)} of {quoted(other)}"
        more = f"; so do {len(answers) - 1} more" if len(answers) > 1 else ""
        what = f"{quoted(names[number])} would be the answer for {both}, two sounds{more}"
        remedy = f"Write `corpora: [{one}]` for the model, or give a table with a column corpus"
        problems.add(where(number), what, remedy)


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
