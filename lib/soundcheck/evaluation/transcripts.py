"""Transcripts as they are compared: normalised for the language of each segment, in the units of the corpus.

Conventions
-----------
- The language is that of the column ``language``; only Turkish and Azeri have letters of their own case.
- Where some references of a corpus are in scripts without blanks between words and others are not, characters
  of such scripts are words of their own on both sides, see :mod:`soundcheck.metrics.writing`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task
from soundcheck.common.wording import counted
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.normalisation import NORMALISERS, changed_examples, is_turkic
from soundcheck.metrics.writing import MIXED, characters_apart, unit_of

SAID, HEARD, FIRST = "said", "heard", "first"  # references, hypotheses, the first wording of references


class TranscriptReader:
    """Normalises transcripts; each text once."""

    def __init__(self, normaliser: str, alternatives: bool, synonyms: Sequence[tuple[str, str]]) -> None:
        self.normaliser = NORMALISERS[normaliser]
        self._wordings = alternatives, synonyms, self.normaliser.prepare
        self.alternatives = alternatives
        forms = ["alternatives and words in parentheses"] if alternatives else []
        forms += [f"{counted(len(synonyms), 'pair')} of synonyms"] if synonyms else []
        self.several = ", ".join(forms)  # how a reference may allow several wordings, if it may
        self._reader = functools.cache(self._make_reader)
        self._mixed: dict[tuple[str, str], bool] = {}
        self._known: dict[tuple[str, str, bool, bool], str] = {}

    def read(
        self, texts: Sequence[str | None] | None, side: str, segments: pd.DataFrame, mixed: bool = False
    ) -> np.ndarray | None:
        """Normalise the texts of segments, ``(segments,)``; missing ones are ``None``."""
        if texts is None:
            return None
        turkic = [False] * len(texts)
        if "language" in segments:
            turkic = segments["language"].map(is_turkic)
        found = np.empty(len(texts), dtype=object)
        for row, (text, small) in enumerate(zip(texts, turkic, strict=True)):
            if text is not None:
                place = (text, side, small, mixed)
                if place not in self._known:
                    self._known[place] = self._reader(*place[1:])(text)
                found[row] = self._known[place]
        return found

    def mixed(self, view: CorpusView, task: Task) -> bool:
        """Say whether only some references of a corpus are in scripts without blanks between words."""
        place = (view.name, task.name)
        if place not in self._mixed:
            self._mixed[place] = unit_of(self.read(view.labels(task), SAID, view.segments)) == MIXED
        return self._mixed[place]

    def examples(self, count: int) -> list[tuple[str, str]]:
        """Give texts that the normaliser changed, and what became of them."""
        became = {text: str(words) for (text, *_), words in self._known.items()}
        return changed_examples(became.__getitem__, became, count)

    def _make_reader(self, side: str, turkic: bool, mixed: bool) -> Callable[[str], str]:
        def normalise(text: str) -> str:
            text = self.normaliser(text, turkic=turkic)
            return characters_apart(text) if mixed else text

        if side == HEARD:
            return normalise
        wordings = WordingReader(normalise, *self._wordings)
        return wordings if side == SAID else wordings.plain
