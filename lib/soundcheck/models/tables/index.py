"""Which of the answers of a file belongs to which segment: what tables and lists of transcripts share."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from soundcheck.common.errors import InputError, input_error, nearest
from soundcheck.common.escaping import quoted, told_apart
from soundcheck.corpora.utterances import matched_by_less, plain_path

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus

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

    def computing_times(self) -> np.ndarray:
        """Give the seconds that answers took and those of their sounds, float64 ``(2, n)``; here nothing."""
        return np.zeros((2, 0))

    def remarks(self) -> list[str]:
        """Say what the file tells beside answers, for readers of the model's page; here nothing."""
        return []


def most_alike(name: str, corpora: Sequence[Corpus]) -> tuple[str, str]:
    """Show a name that fits no file of the corpora, and the file that is most like it."""
    known = [str(file) for corpus in corpora for file in corpus.segments["file"][:_LOOKED_AT]]
    base = plain_path(name).rpartition("/")[2]
    same = (file for file in known if plain_path(file).rpartition("/")[2] == base)
    return told_apart(name, next(same, "") or nearest(name, known) or known[0])


def misfit_of_names(index: Index, corpora: Sequence[Corpus], remedy: str) -> InputError:
    """Make the error if no name fits a file of the corpora."""
    here, there = most_alike(index.names[0], corpora)
    both = f"the name here is {here}, the most similar one in the corpus {there}"
    return input_error(index.where(0), f"no {index.noun} belongs to a segment: {both}", remedy)


def uses_of(corpus: Corpus, found: np.ndarray) -> pd.DataFrame:
    """List which answers the segments of a corpus use: ``number``, ``file``, ``sound`` and ``corpus``.

    Parameters
    ----------
    found
        Number of each segment's answer, int64 ``(segments,)``; -1 = none.
    """
    uses = corpus.segments[["file", "audio"]].rename(columns={"audio": "sound"})
    return uses.assign(number=found, corpus=corpus.name)[found >= 0]


def compared(
    uses: pd.DataFrame, names: Sequence[str], where: Callable[[int], str], shown: str, are_ids: bool
) -> list[str]:
    """Refuse answers that would belong to different sounds in two corpora; say which names fit by less.

    Parameters
    ----------
    uses
        See :func:`uses_of`; of all corpora.
    names, where, shown, are_ids
        Name of each answer, where it stands, what messages call the file, whether names are ids.

    Raises
    ------
    InputError
        If answers are used for two sounds.
    """
    several = (uses.groupby("number")[["corpus", "sound"]].transform("nunique") > 1).all(axis=1)
    if several.any():
        both = uses[several]
        number, more = int(both["number"].iloc[0]), both["number"].nunique() - 1
        own = both[both["number"] == number]
        pairs = own.merge(own, how="cross", suffixes=("", "_too"))
        pair = pairs[(pairs["corpus"] != pairs["corpus_too"]) & (pairs["sound"] != pairs["sound_too"])].iloc[
            0
        ]
        files = [f"{quoted(pair[f'file{n}'])} of {quoted(pair[f'corpus{n}'])}" for n in ("", "_too")]
        what = f"{quoted(names[number])} would be the answer for {files[0]} and {files[1]}, two sounds"
        what += f"; so would {more} more" if more else ""
        remedy = f"Write `corpora: [{pair['corpus']}]` for the model, or give a table with a column corpus"
        raise input_error(where(number), what, remedy)
    given = np.array(names, dtype=object)[uses["number"].to_numpy(dtype=np.int64)]
    return matched_by_less({*zip(given, uses["file"], strict=True)}, shown, are_ids)


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
