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
    masks = wanted(corpus) if wanted else {}
    everywhere = np.ones(len(table), dtype=bool)
    asked = np.stack([masks.get(change, everywhere) for change in changes]) if changes else None
    columns = (table[name].tolist() for name in ("key", "audio", "file", "start", "end"))
    for number, (key, content, file, *times) in enumerate(zip(*columns, strict=True)):
        start, end = (None if pd.isna(time_) else float(time_) for time_ in times)
        shown = str(file)
        if start is not None or end is not None:
            shown += f" from {start or 0:g} s" + ("" if end is None else f" to {end:g} s")
        own = [] if asked is None else [changes[n] for n in np.flatnonzero(asked[:, number])]
        yield Segment(key, content, str(corpus.root / file), start, end, shown, ("", *own))
