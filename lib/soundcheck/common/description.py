"""What a notebook is told: a typed description in a JSON file, whose path is its only parameter."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Self

from pydantic import ConfigDict, TypeAdapter

__all__ = ["Description"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description:
    """What every notebook is told; :mod:`soundcheck.evaluation.description` adds what the others need.

    Parameters
    ----------
    media
        Folder for sounds and pictures.
    prefix
        The way from the notebook's page to that folder in the finished book.
    rows
        File for the rows and notes that the notebook saves.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    media: Path
    prefix: str
    rows: Path

    @classmethod
    def read(cls, run: str) -> Self:
        """Read what :meth:`write` wrote.

        Parameters
        ----------
        run
            Path of the file: the notebook's parameter.

        Raises
        ------
        ValueError
            If the notebook was started by hand, without a file, or if the file holds something else.
        """
        if not run:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return TypeAdapter(cls).validate_python(json.loads(Path(run).read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        """Write it as JSON; as ASCII, so that paths of any bytes survive."""
        path.write_text(json.dumps(TypeAdapter(type(self)).dump_python(self, mode="json")), encoding="utf-8")
