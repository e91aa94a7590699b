"""What a notebook is told: a typed description in a JSON file, whose path is its only parameter."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Self

from soundcheck.common.json_file import JsonFile


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description(JsonFile):
    """What every notebook is told; :mod:`soundcheck.evaluation.description` adds what the others need."""

    media: Path  # folder for sounds and pictures
    prefix: str  # the way from the notebook's page to that folder in the finished book
    rows: Path  # file for the rows and notes that the notebook saves
    # whether recordings may be heard and seen, see :class:`soundcheck.common.media.MediaStore`
    voices: str = "all"

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read a description.

        Raises ValueError: if the notebook was started by hand, without a file, or if the file holds something
        else.
        """
        if not path:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return super().read(path)
