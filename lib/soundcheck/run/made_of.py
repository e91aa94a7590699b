"""Makes objects that hold the same as others."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

T = TypeVar("T")


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
