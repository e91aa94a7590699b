"""``format: lhotse``: a manifest of cuts, ``cuts.jsonl.gz`` or ``cuts.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class LhotseFormat(TableFormat):
    """Manifests of cuts; see :mod:`soundcheck.corpora.layouts.lhotse_cuts`."""

    keyword = "lhotse"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read the supervisions of all cuts."""
        from soundcheck.corpora.layouts.lhotse_cuts import read_cuts

        return read_cuts(entry, tasks)
