"""Transcripts as they are compared: normalised for the language of each segment, in the units of the corpus.

Conventions
-----------
- The language is that of the column ``language``; only Turkish and Azeri have letters of their own case.
- Where some references of a corpus are in scripts without blanks between words and others are not, characters
  of such scripts are words of their own on both sides, see :mod:`soundcheck.metrics.writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.normalisation import NORMALISERS, changed_examples, is_turkic
from soundcheck.metrics.writing import MIXED, characters_apart, unit_of

SAID, HEARD, FIRST = "said", "heard", "first"  # references, hypotheses, the first wording of references


class TranscriptReader:
    """Normalises transcripts; each text once.

    Parameters
    ----------
    normaliser, alternatives, synonyms
        Those of the suite.
    """

    def __init__(self, normaliser: str, alternatives: bool, synonyms: Sequence[tuple[str, str]]) -> None:
        self.normaliser = NORMALISERS[normaliser]
        self._wordings = alternatives, synonyms, self.normaliser.prepare
        self._readers: dict[tuple[str, bool, bool], Callable[[str], str]] = {}
        self._known: dict[tuple[tuple[str, bool, bool], str], str] = {}
        self._mixed: dict[tuple[str, str], bool] = {}

    def read(
        self, texts: np.ndarray | None, side: str, segments: pd.DataFrame, mixed: bool = False
    ) -> np.ndarray | None:
        """Normalise the texts of segments, ``(segments,)``; missing ones are ``None``.

        Parameters
        ----------
        texts
            As written; ``None`` = there are none.
        side
            :data:`SAID`, :data:`HEARD` or :data:`FIRST`.
        segments
            Their rows of the segment table.
        mixed
            Whether the corpus has references of both kinds of scripts, from :meth:`mixed`.
        """
        if texts is None:
            return None
        turkic = np.zeros(len(texts), dtype=bool)
        if "language" in segments:
            turkic = segments["language"].isin(list(filter(is_turkic, segments["language"].unique())))
        found = np.empty(len(texts), dtype=object)
        for row, (text, small) in enumerate(zip(texts, turkic, strict=True)):
            found[row] = None if text is None else self._one(text, (side, bool(small), mixed))
        return found

    def mixed(self, view: CorpusView, task: Task) -> bool:
        """Say whether only some references of a corpus are in scripts without blanks between words."""
        place = (view.name, task.name)
        if place not in self._mixed:
            self._mixed[place] = unit_of(self.read(view.labels(task), SAID, view.segments)) == MIXED
        return self._mixed[place]

    def examples(self, count: int) -> list[tuple[str, str]]:
        """Give texts that the normaliser changed, and what became of them."""
        ways = {text: way for way, text in reversed(self._known)}
        return changed_examples(lambda text: str(self._known[ways[text], text]), reversed(ways), count)

    def _one(self, text: str, way: tuple[str, bool, bool]) -> str:
        if (way, text) not in self._known:
            if way not in self._readers:
                self._readers[way] = self._reader(*way)
            self._known[way, text] = self._readers[way](text)
        return self._known[way, text]

    def _reader(self, side: str, turkic: bool, mixed: bool) -> Callable[[str], str]:
        def normalise(text: str) -> str:
            text = self.normaliser(text, turkic=turkic)
            return characters_apart(text) if mixed else text

        if side == HEARD:
            return normalise
        wordings = WordingReader(normalise, *self._wordings)
        return wordings if side == SAID else wordings.plain
