"""Finds classes by a word of suite.yml: those of a package of this library, and those of installed packages.

A class is added by writing it in a module of its own in the package that is looked through, or in a package
inside it; no list has to be edited. Other distributions name theirs as entry points, whose names are the
words::

    [project.entry-points."soundcheck.formats"]
    kaldi = "my_package.kaldi:KaldiFormat"
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted

Class = TypeVar("Class")


@functools.cache
def _installed(path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    """Look through all that is installed on a search path, once for all registries."""
    return importlib.metadata.entry_points()


class Registry(Mapping[str, type[Class]], Generic[Class]):
    """Classes by their ``keyword``; nothing is imported before somebody asks.

    - ``base``: what all of them are subclasses of.
    - ``package``: its modules are imported, and those of packages inside it; subclasses that they define and
      that have a keyword count.
    - ``group``: group of entry points; an entry point is loaded when its word is used.
    - Raises InputError: when asked: if two classes have the same word, or one of another distribution cannot
      be used.
    """

    def __init__(self, base: type[Class], package: str, group: str) -> None:
        self._base, self._package, self._group = base, package, group

    @functools.cached_property
    def _found(self) -> dict[str, type[Class] | importlib.metadata.EntryPoint]:
        found: dict[str, type[Class] | importlib.metadata.EntryPoint] = {}
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            for item in vars(importlib.import_module(module.name)).values():
                ours = isinstance(item, type) and issubclass(item, self._base)
                if ours and item.__module__ == module.name and item.__dict__.get("keyword"):
                    self._add(found, item.keyword, item)
        for point in _installed(tuple(sys.path)).select(group=self._group):
            self._add(found, point.name, point)
        return dict(sorted(found.items()))

    def _add(self, found: dict, keyword: str, item: object) -> None:
        if keyword in found and _name(found[keyword]) != _name(item):
            what = f"{quoted(keyword)} is registered by {_name(found[keyword])} and by {_name(item)}"
            raise input_error(self._group, what, "Uninstall one of the packages, or rename what it registers")
        found[keyword] = item

    def __getitem__(self, keyword: str) -> type[Class]:
        found = self._found[keyword]
        if isinstance(found, type):
            return found
        where = f"{self._group}, {_name(found)}"
        try:
            loaded = found.load()
        except Exception as error:  # whatever the module of another package raises
            what = f"{quoted(keyword)} cannot be loaded: {type(error).__name__}: {error}"
            raise input_error(where, what, "Correct or uninstall the package") from error
        if not (isinstance(loaded, type) and issubclass(loaded, self._base)):
            remedy = f"Register a subclass of {self._base.__module__}.{self._base.__name__}"
            raise input_error(where, f"{quoted(keyword)} is not a class that can be used here", remedy)
        self._found[keyword] = loaded
        return loaded

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _name(item: type | importlib.metadata.EntryPoint) -> str:
    if isinstance(item, type):
        return f"{item.__module__}.{item.__name__}"
    return f"{item.value} of {item.dist.name}" if item.dist else item.value
