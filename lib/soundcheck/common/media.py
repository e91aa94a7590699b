"""Sounds and pictures of the book: stored once, named by content, shared by all pages; and who says where."""

from __future__ import annotations

import base64
import dataclasses
import os
from pathlib import Path
from typing import Self

from soundcheck.common import files
from soundcheck.common.store import JsonFile

EXAMPLES = "application/vnd.soundcheck.examples+json"  # kind of output: what is heard in it, as data
UNHEARD = "sc-unheard"  # class of what stands for a recording in a book without voices
ALL, NONE = VOICES = ("all", "none")  # what is heard in a book
SOUNDS = (".flac", ".wav", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".m4a", ".webm", ".mp4")


def open_media(run: str) -> MediaStore:
    """Open the store that the runner describes in a JSON file, for pages that need nothing else."""
    return MediaStore.of(Description.read(run))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description(JsonFile):
    """What every notebook gets: a JSON file whose path is its only parameter.

    :mod:`soundcheck.evaluation.subset` and others add what notebooks about models need.
    """

    media: Path  # folder for sounds and pictures
    prefix: str  # the way from the notebook's page to that folder in the finished book
    rows: Path  # file for the rows and notes that the notebook saves
    # whether recordings may be heard and seen, see :class:`MediaStore`
    voices: str = "all"

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read a description; raises ValueError if the notebook was started by hand, without a file."""
        if not path:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return super().read(path)


class MediaStore:
    """A folder of files named by their content.

    - ``folder``: where the files are kept.
    - ``prefix``: the way from a page to the folder in the finished book, such as ``../../media/``; relative,
      so that the book works from a disk and below any address.
    - ``voices``: one of :data:`VOICES`: with ``"none"`` no sound is stored, and whoever shows a recording
      leaves out its pictures, too, since speech can be made of a spectrogram.
    - ``heard``: whether recordings may be heard and seen.
    """

    def __init__(self, folder: Path, prefix: str = "media/", voices: str = ALL) -> None:
        self.folder = folder
        self.prefix = prefix
        self.heard = voices != NONE

    @classmethod
    def of(cls, description: Description) -> Self:
        """Open the store that a description names."""
        return cls(description.media, description.prefix, description.voices)

    def name(self, data: bytes, suffix: str) -> str:
        """Name a file by its content: 20 digits of its digest and the suffix, such as ``.flac``."""
        return f"{files.digest(data)[:20]}{suffix}"

    def add(self, data: bytes, suffix: str) -> str:
        """Store a file if it is not there yet; returns its address for a page.

        Raises ValueError: if it is a sound, and the book has none.
        """
        if suffix.lower() in SOUNDS and not self.heard:
            raise ValueError("the book is built without sounds (voices: none), but a page wants to store one")
        name = self.name(data, suffix)
        path = self.folder / name
        if not path.is_file() or path.stat().st_size != len(data):
            files.write_bytes(path, data)
        return self.prefix + name


class EmbeddedMedia:
    """The store of a page that is one file: pictures are carried in their addresses."""

    _TYPES = {".svg": "image/svg+xml", ".png": "image/png"}

    def add(self, data: bytes, suffix: str) -> str:
        """Give the address of a picture, which holds it."""
        return f"data:{self._TYPES[suffix]};base64,{base64.b64encode(data).decode('ascii')}"
