"""What is installed: the files of Soundcheck, the digest of its code, other packages and what they register.

Notebooks, thresholds and pages lie beside ``lib/`` in a checkout, where people edit them, and travel inside a
wheel as ``soundcheck/_share``. A suite may bring families of its own in folders ``notebooks``, ``thresholds``
and ``book/methods`` beside its suite.yml; those come first.

A class is registered for a word of suite.yml by writing it in a module of the package that is looked through,
or in a package inside it; no list has to be edited. Other distributions name theirs as entry points, whose
names are the words::

    [project.entry-points."soundcheck.formats"]
    kaldi = "my_package.kaldi:KaldiFormat"
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from soundcheck.common import files
from soundcheck.common.messages import input_error, quoted

# Files ------------------------------------------------------------------------------------------------------

PACKAGE = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".csv", ".j2", ".css", ".typ")  # code, tables and templates


def root() -> Path:
    """Folder that holds ``notebooks``, ``thresholds``, ``book`` and the demo's ``suite.yml``."""
    share = PACKAGE / "_share"
    return share if share.is_dir() else PACKAGE.parent.parent


def find(name: str, first: Path | None = None) -> Path | None:
    """Find a file such as ``thresholds/fairness_sex.yml``; ``None`` if there is none.

    - ``first``: folder of the suite, looked at first.
    """
    places = [place / name for place in (first, root()) if place is not None]
    return next((place for place in places if place.is_file()), None)


def names(folder: str, suffix: str, first: Path | None = None) -> list[str]:
    """List the stems of all files of a folder, sorted, the suite's own included."""
    places = [place / folder for place in (first, root()) if place is not None]
    paths = [path for place in places if place.is_dir() for path in place.glob(f"[!.]*{suffix}")]
    return sorted({path.stem for path in paths if path.is_file()})


@functools.cache
def library_digest() -> str:
    """Digest of all files of the library: what was computed with other code or tables is not kept."""
    sources = sorted(path for suffix in SUFFIXES for path in PACKAGE.rglob(f"*{suffix}"))
    return files.digest("\n".join(f"{path.relative_to(PACKAGE)} {files.digest(path)}" for path in sources))


def installed() -> list[str]:
    """Name all installed packages with their versions, and Python's."""
    names = {entry.name for place in filter(os.path.isdir, sys.path) for entry in os.scandir(place)}
    return [sys.version, *sorted(name for name in names if name.endswith(".dist-info"))]


def made_here() -> str:
    """Digest of the library and of all installed packages, a version for what is cached."""
    return files.digest(repr([library_digest(), installed()]))


# Packages ---------------------------------------------------------------------------------------------------

DISTRIBUTION = "soundcheck-speech"


def import_extra(module: str, extra: str, where: str) -> ModuleType:
    """Import a module of an optional package.

    - ``module``: its name, such as ``"onnxruntime"``.
    - ``extra``: the extra of this package that brings it.
    - ``where``: what needs it, for the message.
    - Raises InputError: if it is not installed, or cannot be imported.
    """
    remedy = _remedy(extra)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = f"the package {error.name} is not installed"
        raise input_error(where, missing, remedy) from error
    except Exception as error:  # a library that is missing, packages that do not fit together
        what = f"the package {module} cannot be imported: {type(error).__name__}: {error}"
        raise input_error(where, what, f"{remedy} --upgrade") from error


def extra_folder(package: str, extra: str, where: str) -> Path:
    """Find the folder of an optional package, such as for weights in it; nothing is imported.

    - ``package``: its name, such as ``"silero_vad"``.
    - ``extra, where``: see :func:`import_extra`.
    - Raises InputError: if it is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise input_error(where, f"the package {package} is not installed", _remedy(extra))
    return Path(spec.submodule_search_locations[0])


def _remedy(extra: str) -> str:
    return f'Install it: pip install "{DISTRIBUTION}[{extra}]"'


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Give the versions of installed distributions; empty text for those that are not there."""
    result = {}
    for name in distributions:
        try:
            result[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            result[name] = ""
    return result


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
