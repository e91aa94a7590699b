"""What an ONNX file needs besides itself, read from its bytes without any library.

An ONNX file is a message of Protocol Buffers. Its weights may lie in other files, which it names, and its
operators may come from libraries, which are code. Both are looked for before anything loads the file: in the
graph, in graphs inside of nodes, and in functions.

Conventions
-----------
- Numbers of fields are those of ``onnx.proto``. Fields that nothing here asks for are passed over.
- A file that gives a field several times is taken by all of them, whatever a library makes of it.
"""

from __future__ import annotations

import dataclasses
import mmap
from collections.abc import Iterator
from pathlib import Path

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.files import inside, irregularity

MODEL_BYTES = 2 * 1024**3  # a message of Protocol Buffers cannot be larger
DEPTH = 96  # of messages inside of each other; Protocol Buffers allow 100
FIELD_LIMIT = 50_000_000  # that are looked at
KNOWN_DOMAINS = (
    "",
    "ai.onnx",
    "ai.onnx.ml",
    "com.microsoft",
    "com.microsoft.nchwc",
)  # inside of ONNX Runtime

_POINTER = b"version https://git-lfs"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
# Message -> field -> message inside, or a word for what it tells.
_FIELDS = {
    "model": {7: "graph", 25: "function", 8: "opset", 14: "metadata"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 1: "function name", 10: "function domain"},
    "node": {4: "operator", 7: "domain", 5: "attribute"},
    "attribute": {5: "tensor", 10: "tensor", 6: "graph", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "external"},
    "external": {1: "key", 2: "value"},
    "metadata": {1: "key", 2: "value"},
    "opset": {},
}
_NESTED = frozenset(_FIELDS)


class OnnxFileError(Exception):
    """The file cannot be used; ``what`` is wrong and the ``remedy``, for a message."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what, self.remedy = what, remedy


@dataclasses.dataclass(frozen=True)
class OnnxFile:
    """What was found in an ONNX file.

    Parameters
    ----------
    external
        Other files that hold weights, as written, sorted.
    foreign
        Operators, as ``domain:operator``, that neither ONNX Runtime nor a function of the file defines.
    metadata
        What its author wrote down, by name.
    """

    external: tuple[str, ...]
    foreign: tuple[str, ...]
    metadata: dict[str, str]

    def data_files(self, folder: Path) -> list[Path]:
        """Find the files with weights.

        Parameters
        ----------
        folder
            That of the ONNX file.

        Raises
        ------
        OnnxFileError
            If a name leads out of the folder, or there is no such file.
        """
        found = []
        for name in self.external:
            try:
                path = inside(folder, name)
            except InputError:
                what = f"its weights lie in {quoted(name)}, outside of its folder"
                raise OnnxFileError(what, "Save the model with its weights beside it") from None
            reason = irregularity(path)
            if reason:
                raise OnnxFileError(f"its weights lie in {quoted(name)}: {reason}", "Put that file beside it")
            found.append(path)
        return found


def read_onnx_file(path: Path) -> OnnxFile:
    """Look through an ONNX file; weights are passed over.

    Raises
    ------
    OnnxFileError
        If it is missing, too large or not an ONNX file.
    """
    reason = irregularity(path, MODEL_BYTES)
    if reason:
        remedy = "Save its weights as external data" if "limit" in reason else "Check the path"
        raise OnnxFileError(reason, remedy)
    if not path.stat().st_size:
        raise OnnxFileError("the file is empty", "Save the model again")
    walk, understood = _Walk(), True
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[: len(_POINTER)] == _POINTER:
                what = "this is a pointer of Git LFS, not the model itself"
                raise OnnxFileError(what, "Fetch it: git lfs pull")
            with memoryview(content) as view:
                try:
                    walk.model(view)
                except (_DamagedError, UnicodeDecodeError):  # here, as it holds parts of the view
                    understood = False
    except OSError as error:
        raise OnnxFileError(f"the file cannot be read: {error.strerror}") from error
    if not understood:
        what = "this is no ONNX file, or a damaged one"
        raise OnnxFileError(what, "Save the model again, for instance with torch.onnx.export")
    return walk.found()


class _DamagedError(Exception):
    """The bytes are not what a message consists of."""


class _Walk:
    """Goes through a model and collects."""

    def __init__(self) -> None:
        self._external: set[str] = set()
        self._operators: set[tuple[str, str]] = set()
        self._functions: set[tuple[str, str]] = set()
        self._metadata: dict[str, str] = {}
        self._graphs = 0
        self._left = FIELD_LIMIT

    def found(self) -> OnnxFile:
        foreign = {
            f"{domain}:{name}"
            for domain, name in self._operators - self._functions
            if domain not in KNOWN_DOMAINS
        }
        return OnnxFile(tuple(sorted(self._external)), tuple(sorted(foreign)), self._metadata)

    def model(self, view: memoryview) -> None:
        self._message("model", view, 0)
        if not self._graphs:
            raise _DamagedError("no graph")

    def _message(self, kind: str, view: memoryview, depth: int) -> dict[str, list[str]]:
        """Go through a message; gives the texts in it."""
        if depth > DEPTH:
            raise _DamagedError("too deep")
        self._graphs += kind == "graph"
        texts: dict[str, list[str]] = {}
        known = _FIELDS[kind]
        for number, content in _fields(view):
            self._left -= 1
            if self._left < 0:
                raise _DamagedError("too many fields")
            name = known.get(number)
            if name is None:
                continue
            if content is None:
                raise _DamagedError(f"{name} is a number")
            if name in _NESTED:
                self._note(name, self._message(name, content, depth + 1))
            else:
                texts.setdefault(name, []).append(bytes(content).decode())
        return texts

    def _note(self, kind: str, texts: dict[str, list[str]]) -> None:
        """Remember what a message says."""
        if kind == "node":
            self._operators |= _pairs(texts.get("domain"), texts.get("operator"))
        elif kind == "function":
            self._functions |= _pairs(texts.get("function domain"), texts.get("function name"))
        elif kind == "external" and "location" in texts.get("key", ()):
            self._external |= set(texts.get("value", ("",)))
        elif kind == "metadata":
            self._metadata |= {key: value for key, value in _pairs(texts.get("key"), texts.get("value"))}


def _pairs(first: list[str] | None, second: list[str] | None) -> set[tuple[str, str]]:
    """Combine what two fields say; there is usually one of each, and none means the empty text."""
    return {(one, other) for one in first or [""] for other in second or [""]}


def _fields(view: memoryview) -> Iterator[tuple[int, memoryview | None]]:
    """Give the number of each field of a message, and its bytes if it has some.

    Raises
    ------
    _DamagedError
        If the bytes end too early, or are none of a message.
    """
    place, end = 0, len(view)
    while place < end:
        key, place = _varint(view, place)
        number, wire = key >> 3, key & 7
        content = None
        if wire == _VARINT:
            _, place = _varint(view, place)
        elif wire == _BYTES:
            size, place = _varint(view, place)
            content = view[place : place + size]
            place += size
        elif wire in (_FIXED32, _FIXED64):
            place += 4 if wire == _FIXED32 else 8
        else:
            raise _DamagedError(f"wire type {wire}")
        if place > end or not number:
            raise _DamagedError("the bytes end inside of a field")
        yield number, content


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte; gives it and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(view):
            break
        byte = view[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise _DamagedError("the bytes end inside of a number")
