"""What some sounds of a corpus measure, where no test needed to know it of all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measured import measure
from soundcheck.suite.groups import number_of, numbers_of

MOST = 300  # sounds of a sample
SECONDS = 3600.0  # of sound in it; hour-long recordings are few


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a measure gave."""

    values: np.ndarray  # one number a segment that could be measured, float64
    asked: int  # segments that were measured, with those that gave no number
    whole: bool  # whether these are all segments, and not a sample


def measured_sounds(corpus: Corpus, names: Sequence[str], cache: Path) -> dict[str, Measured]:
    """Find what was measured on all segments, and measure the rest on a sample that is drawn by content.

    - ``corpus``: with audio; of one without nothing is measured.
    - ``names``: of :data:`soundcheck.corpora.measures.MEASURES`.
    - ``cache``: keeps what was measured: a sample is listened to once.
    - Returns measures that gave a number, in the order of ``names``.
    """
    if not corpus.entry.audio:
        return {}
    table = corpus.segments
    known = [name for name in names if is_known(table, name)]
    sample = table if len(known) == len(names) else sampled(corpus, names, cache)
    found = {}
    for name in names:
        source = table if name in known else sample
        values = numbers_of(source, name)
        if np.isfinite(values).any():
            found[name] = Measured(values[np.isfinite(values)], len(values), len(source) == len(table))
    return found


def sampled(corpus: Corpus, names: Sequence[str], cache: Path) -> pd.DataFrame:
    """Give rows of the segment table, drawn by content, with what is not known of all of them measured."""
    sample = drawn(corpus.segments)
    rest = [name for name in names if not is_known(corpus.segments, name)]
    # What the data bring under the names of measures is theirs; here the sound is asked.
    bare = sample.drop(columns=[name for name in rest if name in sample])
    part = dataclasses.replace(corpus, name=f"{corpus.name} sample", segments=bare)
    return measure(part, rest, cache).segments


def is_known(table: pd.DataFrame, name: str) -> bool:
    """Say whether a column of numbers tells a measure of all segments."""
    return any(c in table and pd.api.types.is_numeric_dtype(table[c]) for c in (name, number_of(name)))


def drawn(table: pd.DataFrame, most: int | None = None, seconds: float = SECONDS) -> pd.DataFrame:
    """Draw sounds by their content, each once: the same ones in any order of the table.

    - ``most``: sounds, :data:`MOST` if not given.
    - ``seconds``: of sound, all together; one sound there always is.
    """
    sounds = table.drop_duplicates("audio")
    order = sounds["audio"].map(lambda audio: files.digest(f"sample {audio}")).sort_values().index
    found = sounds.loc[order[: MOST if most is None else most]]
    enough = found["duration"].fillna(0.0).cumsum().le(seconds)
    enough.iloc[:1] = True
    return found[enough].reset_index(drop=True)
