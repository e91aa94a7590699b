"""Sounds and pictures of the book: stored once, named by content, shared by all pages."""

from __future__ import annotations

import base64
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.description import Description


def open_media(run: str) -> MediaStore:
    """Open the store that the runner describes in a JSON file, for pages that need nothing else."""
    description = Description.read(run)
    return MediaStore(description.media, description.prefix)


class MediaStore:
    """A folder of files named by their content.

    Parameters
    ----------
    folder
        Where the files are kept.
    prefix
        The way from a page to the folder in the finished book, such as ``../../media/``; relative, so that
        the book works from a disk and below any address.
    """

    def __init__(self, folder: Path, prefix: str = "media/") -> None:
        self.folder = folder
        self.prefix = prefix

    def name(self, data: bytes, suffix: str) -> str:
        """Name a file by its content: 20 digits of its digest and the suffix, such as ``.flac``."""
        return f"{files.digest(data)[:20]}{suffix}"

    def add(self, data: bytes, suffix: str) -> str:
        """Store a file if it is not there yet; returns its address for a page."""
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
