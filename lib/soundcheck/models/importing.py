"""Imports the function that a suite names as ``module:function``, and says in plain words why it cannot.

Conventions
-----------
- A module ``model.py``, or a package, in the suite's folder is taken before anything installed of that name.
  That holds for the named module only: its neighbours are found after the standard library and installed
  packages, so that a ``json.py`` beside it hides nothing.
- Files in the suite's folder are compiled anew each time: compiled files that Python keeps are trusted by
  size and time, so a changed model could go unnoticed. None are written.
- Importing runs code. It is done in children of this process only: ``python -m soundcheck.models.importing``
  imports once and answers with the model's fingerprint, and whether it has to be prepared, or with what is
  wrong; it also runs a model's ``prepare``. A process that is to stay then gets the name of a module, and
  goes on with its ``serve(connection)``.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.models import processes
from soundcheck.models.base import reason

IMPORT_SECONDS = 60.0  # that the check of a model may take
PREPARE_SECONDS = 6 * 3600.0  # that a model may take to prepare itself, for instance to train
STAY = "check and stay"  # an action: the process can be asked more afterwards


class ModelImportError(Exception):
    """The function cannot be had; ``what`` is wrong and the ``remedy``, for a message."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what, self.remedy = what, remedy


@dataclasses.dataclass(frozen=True)
class Imported:
    """A model's function and the module that it came from."""

    module: ModuleType
    function: Callable


class _FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles a source file each time, without looking for a compiled one."""

    def get_code(self, fullname: str) -> object:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _real(path: str) -> str:
    """Resolve links as ``os.path.realpath``, but those of a folder once, for thousands of modules."""
    folder, name = os.path.split(path)
    if not folder or folder == path or name in ("", os.curdir, os.pardir):
        return os.path.realpath(path)
    place = os.path.join(_real_folder(folder), name)
    return os.path.realpath(place) if os.path.islink(place) else place


_real_folder = functools.cache(_real)


class _Root:
    """The suite's folder as a place to import from."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.path.realpath(folder)
        # A checkout's own library or a virtual environment may lie below the suite's folder.
        inner = [os.path.realpath(entry) for entry in (*sys.path, sys.prefix, sys.base_prefix) if entry]
        self.foreign = tuple(entry + os.sep for entry in inner if entry != self.folder and self._below(entry))

    def _below(self, path: str) -> bool:
        return path == self.folder or path.startswith(self.folder.rstrip(os.sep) + os.sep)

    def owns(self, path: str | None) -> bool:
        """Whether a file or folder is the suite's own, not part of something installed below it."""
        if not path:
            return False
        path = _real(path)
        return self._below(path) and not (path + os.sep).startswith(self.foreign)

    def make_importable(self) -> None:
        """Let neighbours of the model be imported, after everything else."""

        def hook(path: str) -> importlib.machinery.FileFinder:
            if not self.owns(path):
                raise ImportError("not in the suite's folder")
            extensions = (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES)
            sources = (_FreshLoader, importlib.machinery.SOURCE_SUFFIXES)
            return importlib.machinery.FileFinder(path, extensions, sources)

        sys.path_hooks.insert(0, hook)
        for path in [path for path in sys.path_importer_cache if self.owns(path)]:
            del sys.path_importer_cache[path]
        if self.folder not in sys.path:
            sys.path.append(self.folder)

    def own_file(self, name: str) -> Path | None:
        """Find the file of a top-level module in the folder."""
        for path in (Path(self.folder, name, "__init__.py"), Path(self.folder, f"{name}.py")):
            if path.is_file():
                return path
        return None

    def names(self) -> list[str]:
        """List what could be imported from the folder."""
        found = []
        for entry in os.scandir(self.folder):
            if entry.is_file() and entry.name.endswith(".py"):
                found.append(entry.name.removesuffix(".py"))
            elif entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py")):
                found.append(entry.name)
        return sorted(found)


def import_function(target: str, root: Path) -> Imported:
    """Import a function; runs the module's code in this process.

    Parameters
    ----------
    target
        ``"module:function"``, both may have dots.
    root
        Folder of the suite.

    Raises
    ------
    ModelImportError
        If there is no such module or function, or the module raises.
    """
    name, colon, attribute = target.partition(":")
    if not colon or not name or not attribute:
        raise ModelImportError(
            f"{quoted(target)} does not name a function",
            'Write "module:function", for instance "my_model:predict"',
        )
    sys.dont_write_bytecode = True
    place = _Root(root)
    place.make_importable()
    try:
        module = _import_module(name, place)
    except ModelImportError:
        raise
    except BaseException as error:  # whatever a module does while it is imported
        raise _explain(error, name, place) from error
    function: object = module
    for part in attribute.split("."):
        if not hasattr(function, part):
            public = [
                key for key in dir(function) if not key.startswith("_") and callable(getattr(function, key))
            ]
            what = f"{quoted(name)} has no {quoted(part)}"
            raise ModelImportError(f"the function was not found: {what}", did_you_mean(part, public))
        function = getattr(function, part)
    if not callable(function):
        kind = type(function).__name__
        raise ModelImportError(
            f"{quoted(attribute)} in {quoted(name)} is not callable, it is of type {kind}", "Name a function"
        )
    return Imported(module, function)


def _import_module(name: str, place: _Root) -> ModuleType:
    top, _, rest = name.partition(".")
    file = place.own_file(top)
    if file is None:
        return importlib.import_module(name)
    loaded = sys.modules.get(top)
    if loaded is None or not place.owns(getattr(loaded, "__file__", None)):
        # A model called like something installed gets another name, so that it does not hide that.
        taken = loaded is not None or top in sys.stdlib_module_names or _installed(top, place)
        top = f"suite_{top}" if taken else top
        folder = [str(file.parent)] if file.name == "__init__.py" else None
        loader = _FreshLoader(top, str(file))
        specification = importlib.util.spec_from_file_location(
            top, file, loader=loader, submodule_search_locations=folder
        )
        loaded = importlib.util.module_from_spec(specification)
        sys.modules[top] = loaded
        try:
            loader.exec_module(loaded)
        except BaseException:
            sys.modules.pop(top, None)
            raise
        loaded = sys.modules[top]
    return importlib.import_module(f"{top}.{rest}") if rest else loaded


def _installed(name: str, place: _Root) -> bool:
    try:
        specification = importlib.machinery.PathFinder.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return specification is not None and not place.owns(specification.origin)


def _explain(error: BaseException, name: str, place: _Root) -> ModelImportError:
    """Say why an import failed: the module is not there, or it raised."""
    top = name.partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        if error.name == top or place.own_file(top) is None:
            what = (
                f"there is no module {quoted(error.name)}, neither {error.name.replace('.', '/')}.py in the "
                "suite's folder nor installed"
            )
            return ModelImportError(
                what, did_you_mean(top, place.names()) or "Put the module beside suite.yml"
            )
        return ModelImportError(
            f"there is no module {quoted(error.name)} in the suite's folder", "Check the name"
        )
    where = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if place.owns(frame.filename):
            where = (
                f" in {os.path.relpath(os.path.realpath(frame.filename), place.folder)} line {frame.lineno}"
            )
            break
    if isinstance(error, SyntaxError) and place.owns(error.filename):
        where = f" in {os.path.relpath(os.path.realpath(error.filename), place.folder)} line {error.lineno}"
        error = type(error)(error.msg)
    what = f"importing the module {quoted(name)} failed{where}: {reason(error, Path(place.folder))}"
    missing = isinstance(error, ModuleNotFoundError)
    remedy = "Install it where Soundcheck is installed" if missing else "Correct the module"
    return ModelImportError(what, remedy)


def _file(module: object) -> object:
    """Say where a module lies, if it tells; one that loads itself when it is looked at is left as it is."""
    if isinstance(module, ModuleType):
        return object.__getattribute__(module, "__dict__").get("__file__")
    return getattr(module, "__file__", None)


def sources(imported: Imported, root: Path) -> list[tuple[str, str]]:
    """List the source files that a model consists of, as far as they are loaded.

    Those are the function's module, other modules of its package, and every module from the suite's folder.

    Returns
    -------
    list of (str, str)
        Name, without the folder where it lies, and digest of the content; sorted.
    """
    place = _Root(root)
    package = (imported.module.__package__ or "").rstrip(".") + "."
    found = {}
    for name, module in list(sys.modules.items()):
        file = _file(module)
        related = module is imported.module or (package != "." and name.startswith(package))
        if not isinstance(file, str) or not (related or place.owns(file)) or not os.path.isfile(file):
            continue
        shown = os.path.relpath(os.path.realpath(file), place.folder) if place.owns(file) else name
        found[shown] = files.digest(Path(file))
    return sorted(found.items())


def source_fingerprint(imported: Imported, root: Path) -> str:
    """Hash the source of a model and what its module's ``fingerprint``, a text or a function, says."""
    given = getattr(imported.module, "fingerprint", "")
    try:
        own = str(given() if callable(given) else given)
    except BaseException as error:
        what = f"its fingerprint() failed: {reason(error, root)}"
        raise ModelImportError(what, "Correct the module") from error
    return files.digest(json.dumps([sources(imported, root), own]))


def _check_signature(imported: Imported) -> None:
    try:
        signature = inspect.signature(imported.function)
    except (TypeError, ValueError):  # built-in, or it does not tell
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        what = f"the function takes {signature}, but gets a signal and its sampling rate: {error}"
        raise ModelImportError(what, "Write def predict(signal, sampling_rate)") from error


def _serve() -> None:
    """Answer one request of the parent, and go on if the model is to stay."""
    connection = processes.connect()
    action, target, root, options = connection.recv()
    if action != STAY:
        _answer(connection, action, target, root, options)
        return
    with processes.silent():  # what a check prints is nobody's
        _answer(connection, "check", target, root, options)
    processes.go_on(connection)


def _answer(connection: Connection, action: str, target: str, root: Path, options: dict) -> None:
    try:
        imported = import_function(target, root)
        if action == "check":
            _check_signature(imported)
            connection.send(processes.MoreTime(PREPARE_SECONDS))  # the module may have to read large files
            source = source_fingerprint(imported, root)
            connection.send(("fingerprint", (source, _preparation(imported) is not None)))
        else:
            connection.send(("prepared", _prepare(imported, root, options)))
    except ModelImportError as problem:
        connection.send(("problem", (problem.what, problem.remedy)))


def _preparation(imported: Imported) -> Callable | None:
    """Find the module's ``prepare``, if it has one."""
    prepare = getattr(imported.module, "prepare", None)
    return prepare if callable(prepare) else None


def _prepare(imported: Imported, root: Path, options: dict) -> bool:
    """Call the module's ``prepare`` with those of our options that it takes."""
    prepare = _preparation(imported)
    if prepare is None:
        return False
    parameters = inspect.signature(prepare).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        options = {
            parameter.name: options[parameter.name] for parameter in parameters if parameter.name in options
        }
    try:
        prepare(**options)
    except BaseException as error:
        traceback.print_exc()
        raise ModelImportError(
            f"its prepare() failed: {reason(error, root)}", "Correct the module"
        ) from error
    return True


if __name__ == "__main__":
    _serve()
