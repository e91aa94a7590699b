"""``format: audiofolder``: a folder of sounds as the Hugging Face Hub knows it, with metadata or labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class AudioFolderKeys(TableKeys):
    """Keys of a folder of sounds."""

    path: Folder = ""


class AudioFolderFormat(TableFormat):
    """Folders of sounds; see :mod:`soundcheck.corpora.layouts.audio_folder`."""

    keyword = "audiofolder"
    keys = AudioFolderKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read the tables of a folder, or its folders as labels."""
        from soundcheck.corpora.layouts.audio_folder import read_audio_folder

        return read_audio_folder(entry, tasks)
