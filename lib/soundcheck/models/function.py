"""A model that is a Python function: ``python: "module:function"``.

The function is called as ``predict(signal, sampling_rate)`` and returns one prediction. If the suite gives
the model a ``batch``, it is called as ``predict(signals, sampling_rate)`` with a list of signals and returns
a list of predictions. Anything callable will do. It gets arrays of its own, which it may change.

Beside the function its module may have

- ``fingerprint``, a text or a function without arguments that returns one: names what the predictions depend
  on besides Python source, such as the digest of a file of weights. It is asked before ``prepare``.
- ``prepare(jobs, progress)``: called once, in a process of its own, before the first signal is predicted; may
  train or download and keep the result in the folder named by the environment variable ``SOUNDCHECK_CACHE``.

Cached predictions rest on the source of the module and its neighbours, and on the files that were opened
before they were given (:mod:`soundcheck.predict.same_model`), such as weights and modules that are imported
late. Files that an extension module opens are not seen: let ``fingerprint`` cover them, or name them in the
suite under ``files:``.

Conventions
-----------
- A module ``model.py``, or a package, in the suite's folder is taken before anything installed of that name.
  That holds for the named module only: its neighbours are found after the standard library and installed
  packages, so that a ``json.py`` beside it hides nothing.
- Files in the suite's folder are compiled anew each time: compiled files that Python keeps are trusted by
  size and time, so a changed model could go unnoticed. None are written.
- Importing runs code. It is done in children of this process only.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import did_you_mean, input_error, quoted
from soundcheck.models import processes
from soundcheck.models.base import Model, reason, where
from soundcheck.suite.entries import ModelEntry, Suite

IMPORT_SECONDS = 60.0  # that the check of a model may take
PREPARE_SECONDS = 6 * 3600.0  # that a model may take to prepare itself, for instance to train


class FunctionModel(Model):
    """A Python function as a model."""

    keyword = "python"

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self._entry, self._root, self._where = entry, suite.root, where(entry, suite, type(self))
        self.module, self.function = import_function(entry.target, suite.root, self._where)

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Check ``module:function``."""
        part = r"[^\W\d]\w*"
        if re.fullmatch(rf"{part}(\.{part})*:{part}(\.{part})*", target):
            return None, "", ""
        why = "names no function" if ":" in target else "has no colon"
        remedy = "Write module:function, for instance my_package.my_module:predict"
        return None, f"{quoted(target)} {why}", remedy

    @property
    def fingerprint(self) -> str:
        """Digest of target, batch size, source and what the module says itself."""
        declared = getattr(self.module, "fingerprint", "")
        try:
            text = str(declared() if callable(declared) else declared)
        except BaseException as error:
            what = f"its fingerprint() failed: {reason(error, self._root)}"
            raise input_error(self._where, what, "Correct the module") from error
        source = files.digest(json.dumps([sources(self.module, self._root), text]))
        return files.digest(repr(("python", self._entry.target, self._entry.batch, source)))

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite) -> str:
        """Import the function in a child, within a time limit."""
        place, doing = where(entry, suite), "importing the module"
        return processes.in_child(place, doing, IMPORT_SECONDS, check_function, entry, suite)

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Call the module's ``prepare`` in a child, if it has one."""
        call = prepare_model, entry, suite, {"jobs": jobs, "progress": progress}
        task = where(entry, suite), "its prepare()", PREPARE_SECONDS
        processes.in_child(*task, *call, cache=cache, with_output=progress and sys.stderr.isatty())

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Call the function, once for all signals or once for each."""
        copies = [np.array(signal, dtype=np.float32, order="C", copy=True) for signal in signals]
        if self._entry.batch is None:
            return [self.function(signal, sampling_rate) for signal in copies]
        outputs = self.function(copies, sampling_rate)
        if not isinstance(outputs, list | tuple):
            raise TypeError(f"a model with batch must return a list of dicts, not {type(outputs).__name__}")
        return list(outputs)


class _FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles a source file each time, without looking for a compiled one."""

    def get_code(self, fullname: str) -> object:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


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
        path = os.path.realpath(path) if path else ""
        return self._below(path) and not (path + os.sep).startswith(self.foreign)

    def make_importable(self) -> None:
        """Let neighbours of the model be imported, after everything else."""

        def hook(path: str) -> importlib.machinery.FileFinder:
            if not self.owns(path):
                raise ImportError("not in the suite's folder")
            extensions = (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES)
            sources = (_FreshLoader, importlib.machinery.SOURCE_SUFFIXES)
            return importlib.machinery.FileFinder(path, extensions, sources)

        sys.dont_write_bytecode = True
        sys.path_hooks.insert(0, hook)
        for path in [path for path in sys.path_importer_cache if self.owns(path)]:
            del sys.path_importer_cache[path]
        if self.folder not in sys.path:
            sys.path.append(self.folder)

    def own_file(self, name: str) -> Path | None:
        """Find the file of a top-level module in the folder."""
        places = (Path(self.folder, name, "__init__.py"), Path(self.folder, f"{name}.py"))
        return next((path for path in places if path.is_file()), None)

    def names(self) -> list[str]:
        """List what could be imported from the folder."""
        modules = {path.stem for path in Path(self.folder).glob("*.py")}
        return sorted(modules | {path.parent.name for path in Path(self.folder).glob("*/__init__.py")})

    def displayed(self, path: str) -> str:
        """Name a file of the folder."""
        return os.path.relpath(os.path.realpath(path), self.folder)


def import_function(target: str, root: Path, where: str) -> tuple[ModuleType, Callable]:
    """Import ``"module:function"``, both may have dots; runs the module's code in this process.

    Raises InputError at ``where`` if there is no such module or function, or the module raises.
    """
    name, _, attribute = target.partition(":")
    place = _Root(root)
    place.make_importable()
    try:
        module = _import_module(name, place)
    except BaseException as error:  # whatever a module does while it is imported
        raise input_error(where, *_explain(error, name, place)) from error
    function: object = module
    for part in attribute.split("."):
        if not hasattr(function, part):
            what = f"the function was not found: {quoted(name)} has no {quoted(part)}"
            public = (key for key in dir(function) if key[0] != "_" and callable(getattr(function, key)))
            raise input_error(where, what, did_you_mean(part, [*public]))
        function = getattr(function, part)
    if not callable(function):
        raise input_error(where, f"{quoted(attribute)} in {quoted(name)} is not callable", "Name a function")
    return module, function


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
        loaded = sys.modules[top] = importlib.util.module_from_spec(specification)
        try:
            loader.exec_module(loaded)
        except BaseException:
            sys.modules.pop(top, None)
            raise
    return importlib.import_module(f"{top}.{rest}" if rest else top)


def _installed(name: str, place: _Root) -> bool:
    try:
        specification = importlib.machinery.PathFinder.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return specification is not None and not place.owns(specification.origin)


def _explain(error: BaseException, name: str, place: _Root) -> tuple[str, str]:
    """Say why an import failed, and what to do: the module is not there, or it raised."""
    top = name.partition(".")[0]
    missing = isinstance(error, ModuleNotFoundError)
    if missing and error.name and f"{name}.".startswith(f"{error.name}."):
        what = f"there is no module {quoted(error.name)}, neither in the suite's folder nor installed"
        return what, did_you_mean(top, place.names()) or "Put the module beside suite.yml"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename, error.lineno))
    suite_frames = [(path, line) for path, line in frames if place.owns(path)]
    at = f" in {place.displayed(suite_frames[-1][0])} line {suite_frames[-1][1]}" if suite_frames else ""
    if isinstance(error, SyntaxError):
        error = type(error)(error.msg)  # without file and line once more
    what = f"importing the module {quoted(name)} failed{at}: {reason(error, Path(place.folder))}"
    return what, "Install it where Soundcheck is installed" if missing else "Correct the module"


def sources(model: ModuleType, root: Path) -> list[tuple[str, str]]:
    """List the source files that a model consists of, as far as they are loaded: name and digest, sorted.

    Those are the function's module, other modules of its package, and every module from the suite's folder.
    """
    place, package = _Root(root), (model.__package__ or "").rstrip(".") + "."
    digests = {}
    for name, module in list(sys.modules.items()):
        # One that loads itself when it is looked at is left as it is.
        known = object.__getattribute__(module, "__dict__") if isinstance(module, ModuleType) else {}
        file = known.get("__file__")
        related = module is model or (package != "." and name.startswith(package))
        if isinstance(file, str) and (related or place.owns(file)) and os.path.isfile(file):
            digests[place.displayed(file) if place.owns(file) else name] = files.digest(Path(file))
    return sorted(digests.items())


def check_function(entry: ModelEntry, suite: Suite) -> str:
    """Import a function, check how it is called; gives its fingerprint."""
    model = FunctionModel(entry, suite)
    try:
        inspect.signature(model.function).bind(None, None)
    except ValueError:  # built-in, or it does not tell
        pass
    except TypeError as error:
        what = f"the function gets a signal and its sampling rate: {error}"
        raise input_error(where(entry, suite), what, "Write def predict(signal, sampling_rate)") from error
    processes.more_time(PREPARE_SECONDS)  # the module may have to read large files
    return model.fingerprint


def prepare_model(entry: ModelEntry, suite: Suite, options: dict) -> None:
    """Call the module's ``prepare``, if it has one, with those of our options that it takes."""
    prepare = getattr(FunctionModel(entry, suite).module, "prepare", None)
    if not callable(prepare):
        return
    parameters = inspect.signature(prepare).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        options = {name: value for name, value in options.items() if name in parameters}
    try:
        prepare(**options)
    except BaseException as error:
        traceback.print_exc()
        what = f"its prepare() failed: {reason(error, suite.root)}"
        raise input_error(where(entry, suite), what, "Correct the module") from error
