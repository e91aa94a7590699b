"""``format: kaldi``: a data folder of Kaldi or ESPnet, with ``wav.scp`` and the files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class KaldiKeys(TableKeys):
    """Keys of a data folder."""

    path: Folder = ""


class KaldiFormat(TableFormat):
    """Data folders; see :mod:`soundcheck.corpora.layouts.kaldi_folder`."""

    keyword = "kaldi"
    keys = KaldiKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read the files of the folder that say something about utterances."""
        from soundcheck.corpora.layouts.kaldi_folder import read_folder

        return read_folder(entry, tasks)
