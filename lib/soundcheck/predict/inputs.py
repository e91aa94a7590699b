"""The segments of a corpus as models are asked about them: where their sound is, and under which changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

Wanted = Callable[["Corpus"], Mapping[str, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Segment:
    """What the engine needs to know of a segment."""

    key: str
    content: str
    path: str
    start: float | None
    end: float | None
    shown: str
    changes: tuple[str, ...]


def list_segments(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> Iterator[Segment]:
    """List the segments of a corpus, each with the changes that answers are wanted for, clean first."""
    table = corpus.segments
    asked = asked_changes(corpus, changes, wanted)
    paths = {file: str(corpus.root / file) for file in table["file"].unique()}
    columns = (table[name].tolist() for name in ("key", "audio", "file", "start", "end"))
    for number, (key, content, file, *times) in enumerate(zip(*columns, strict=True)):
        start, end = (None if pd.isna(time_) else float(time_) for time_ in times)
        own = [changes[n] for n in np.flatnonzero(asked[:, number])]
        yield Segment(key, content, paths[file], start, end, shown_segment(file, *times), ("", *own))


def asked_changes(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> np.ndarray:
    """Say under which changes answers are wanted for which segments, bool ``(changes, segments)``."""
    masks = wanted(corpus) if wanted else {}
    everywhere = np.ones(len(corpus.segments), dtype=bool)
    asked = [masks.get(change, everywhere) for change in changes]
    return np.stack(asked) if asked else np.zeros((0, len(everywhere)), dtype=bool)


def shown_segment(file: str, start: float, end: float) -> str:
    """Call a segment as people do; times in seconds, NaN = bound of the file."""
    shown = str(file)
    if not (pd.isna(start) and pd.isna(end)):
        shown += f" from {0 if pd.isna(start) else start:g} s" + ("" if pd.isna(end) else f" to {end:g} s")
    return shown
