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
    label: str
    changes: tuple[str, ...]


def list_segments(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> Iterator[Segment]:
    """List the segments of a corpus, each with the changes that answers are wanted for, clean first."""
    table = corpus.segments
    masks = asked_changes(corpus, changes, wanted)
    paths = {file: str(corpus.root / file) for file in table["file"].unique()}
    # Most segments are heard under the same changes as others: what is alike is listed once.
    alike = [row.tobytes() for row in np.packbits(masks, axis=0).T]
    changes_of = {
        row: ("", *(changes[n] for n in np.flatnonzero(masks[:, number])))
        for row, number in {row: number for number, row in enumerate(alike)}.items()
    }
    texts = (table[name].tolist() for name in ("key", "audio", "file"))
    times = (_seconds(table[name]) for name in ("start", "end"))
    for key, content, file, start, end, row in zip(*texts, *times, alike, strict=True):
        yield Segment(key, content, paths[file], start, end, segment_label(file, start, end), changes_of[row])


def _seconds(column: pd.Series) -> list[float | None]:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isnan(values), None, values.astype(object)).tolist()


def asked_changes(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> np.ndarray:
    """Say under which changes answers are wanted for which segments, bool ``(changes, segments)``."""
    masks = wanted(corpus) if wanted else {}
    everywhere = np.ones(len(corpus.segments), dtype=bool)
    columns = [masks.get(change, everywhere) for change in changes]
    return np.stack(columns) if columns else np.zeros((0, len(everywhere)), dtype=bool)


def segment_label(file: str, start: float | None, end: float | None) -> str:
    """Call a segment as people do; times in seconds, ``None`` or NaN = bound of the file."""
    start, end = (None if time is None or time != time else time for time in (start, end))
    if start is None and end is None:
        return str(file)
    return f"{file} from {start or 0:.10g} s" + ("" if end is None else f" to {end:.10g} s")
