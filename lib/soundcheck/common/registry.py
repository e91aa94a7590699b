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
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Generic, TypeVar

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted

Class = TypeVar("Class")


class Registry(Mapping[str, type[Class]], Generic[Class]):
    """Classes by their ``keyword``; nothing is imported before somebody asks.

    - ``base``: what all of them are subclasses of.
    - ``package``: its modules are imported, and those of packages inside it; subclasses with a keyword count.
    - ``group``: group of entry points; an entry point is loaded when its word is used.
    - Raises InputError: at first use, if two classes have the same word, or one of another distribution
      cannot be used.
    """

    def __init__(self, base: type[Class], package: str, group: str) -> None:
        self._base, self._package, self._group = base, package, group

    @functools.cached_property
    def _classes(self) -> dict[str, type[Class] | EntryPoint]:
        package = importlib.import_module(self._package)
        modules = [
            importlib.import_module(module.name)
            for module in pkgutil.walk_packages(package.__path__, f"{self._package}.")
        ]
        ours = [
            (item.keyword, item)
            for module in modules
            for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, self._base)
            if item.__module__ == module.__name__ and item.__dict__.get("keyword")
        ]
        points = importlib.metadata.entry_points(group=self._group)
        classes: dict[str, type[Class] | EntryPoint] = {}
        for keyword, item in [*ours, *((point.name, point) for point in points)]:
            other = classes.setdefault(keyword, item)
            if _name(other) != _name(item):
                what = f"{quoted(keyword)} is registered by {_name(other)} and by {_name(item)}"
                remedy = "Uninstall one of the packages, or rename what it registers"
                raise input_error(self._group, what, remedy)
        return dict(sorted(classes.items()))

    def __getitem__(self, keyword: str) -> type[Class]:
        item = self._classes[keyword]
        if not isinstance(item, type):  # an entry point, perhaps of a package in place of importlib.metadata
            where = f"{self._group}, {_name(item)}"
            try:
                item = item.load()
            except Exception as error:  # whatever the module of another package raises
                what = f"{quoted(keyword)} cannot be loaded: {type(error).__name__}: {error}"
                raise input_error(where, what, "Correct or uninstall the package") from error
            if not (isinstance(item, type) and issubclass(item, self._base)):
                remedy = f"Register a subclass of {self._base.__module__}.{self._base.__name__}"
                raise input_error(where, f"{quoted(keyword)} is not a class that can be used here", remedy)
            self._classes[keyword] = item
        return item

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


def _name(item: type | EntryPoint) -> str:
    if isinstance(item, type):
        return f"{item.__module__}.{item.__name__}"
    return f"{item.value} of {item.dist.name}" if item.dist else item.value
