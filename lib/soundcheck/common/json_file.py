"""Dataclasses that are kept in JSON files, read and checked by pydantic, and how they are made of others."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from soundcheck.common import files

if TYPE_CHECKING:
    from pydantic import ConfigDict, TypeAdapter

T = TypeVar("T")


class JsonFile:
    """Base of a dataclass that can be written and read; one with other fields is not read."""

    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid"}

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read what :meth:`write` wrote.

        Raises OSError: if the file cannot be read. Raises ValueError: if it is not JSON, or its fields are
        not those of the class (pydantic's ``ValidationError``).
        """
        return _adapter(cls).validate_python(json.loads(Path(path).read_text(encoding="utf-8")))

    def write(self, path: str | os.PathLike) -> str:
        """Write all fields, as ASCII so that any text survives; returns the digest of the file.

        Raises ValueError: if a number is NaN or infinite.
        """
        content = _adapter(type(self)).dump_python(self, mode="json")
        return files.write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@functools.cache
def _adapter(kind: type) -> TypeAdapter:
    """Make what checks the fields of a class; that takes longer than to read a file."""
    from pydantic import TypeAdapter  # late: a model's process knows such classes, but reads none

    return TypeAdapter(kind)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description(JsonFile):
    """What every notebook gets: a JSON file whose path is its only parameter.

    :mod:`soundcheck.evaluation.description` adds what the others need.
    """

    media: Path  # folder for sounds and pictures
    prefix: str  # the way from the notebook's page to that folder in the finished book
    rows: Path  # file for the rows and notes that the notebook saves
    # whether recordings may be heard and seen, see :class:`soundcheck.common.media.MediaStore`
    voices: str = "all"

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read a description; raises ValueError if the notebook was started by hand, without a file."""
        if not path:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return super().read(path)


def made_of(kind: type[T], *sources: object, **more: object) -> T:
    """Make a dataclass of what is given, and of attributes of the same names of the first source with one.

    Fields that nothing has keep their defaults.
    """
    for field in dataclasses.fields(kind):
        if field.name not in more:
            source = next((source for source in sources if hasattr(source, field.name)), None)
            if source is not None:
                more[field.name] = getattr(source, field.name)
    return kind(**more)
