"""What the splits hold that are not evaluated, as far as copies and speakers of the evaluated one go.

Conventions
-----------
- Loading a corpus does not open these files. They are read for the audit alone, and of many some are: whole
  files, drawn by their names.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.inspection import inspect_files
from soundcheck.corpora.load import identified
from soundcheck.corpora.measured import listened
from soundcheck.corpora.measures import FINGERPRINT

MOST = 20_000  # segments that are listened to
BYTES = 2_400_000_000  # of their files, some 20 hours
LONGEST = 24 * 3600.0  # seconds of a file


def heard_elsewhere(
    corpus: Corpus, cache: Path, jobs: int = 1
) -> tuple[pd.DataFrame, dict[str, float | str | None]]:
    """Listen to segments of the splits that are not evaluated.

    - ``corpus``: with audio; see :attr:`~soundcheck.corpora.corpus.Corpus.elsewhere`.
    - Returns the segments that could be read, with ``duration`` and ``audio`` like those that are evaluated,
      and digest of the sound -> fingerprint.
    """
    rows = corpus.elsewhere
    counts = rows["file"].value_counts()
    names = sorted(counts.index, key=lambda name: files.digest(f"other split {name}"))
    sizes = [os.path.getsize(corpus.root / name) for name in names]
    few = (counts[names].cumsum().to_numpy() <= MOST) & (np.cumsum(sizes) <= BYTES)
    names = [name for name, wanted in zip(names, few, strict=True) if wanted]
    title = f"{corpus.name} other splits"
    place = cache / "facts" / f"{files.slug(title)}.json"
    facts = inspect_files(corpus.root, names, LONGEST, place, jobs=jobs, progress=True, title=title[:40])
    facts = {name: fact for name, fact in facts.items() if not fact.problem}
    rows = rows[rows["file"].isin(facts)].reset_index(drop=True)
    length = rows["file"].map({name: fact.duration for name, fact in facts.items()}).astype(np.float64)
    start = rows["start"].fillna(0.0)
    rows = rows.assign(duration=np.minimum(rows["end"].fillna(np.inf), length) - start)
    rows = rows[rows["duration"] > 0].reset_index(drop=True)
    rows = identified(rows, {name: fact.digest for name, fact in facts.items()})
    if rows.empty:
        return rows, {}
    found, _ = listened(
        dataclasses.replace(corpus, name=title, segments=rows), (FINGERPRINT,), cache, jobs, progress=True
    )
    return rows, found[FINGERPRINT]
