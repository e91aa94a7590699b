"""Reading and writing files so that nothing hangs, leaves its folder or stays half written.

Conventions
-----------
- Names that come from data never become file names: :func:`slug` makes one that is safe on every file
  system, and :func:`inside` refuses a path that leaves its root.
- Nothing is opened before :func:`require_regular` has seen that it is a regular file of bearable size
  (opening a named pipe waits for ever).
- Everything is written beside its place, flushed to disk and then renamed: a reader sees the old file, the
  new file or none. Every write returns the digest of what was written. A file that holds the same already is
  left as it is, with its time.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from soundcheck.common.messages import SoundcheckError, input_error, look, quoted, told_apart

TABLE_BYTES = 2 * 1024**3  # the largest table that is read
TEMPORARY = ".soundcheck-part-"  # prefix of files being written
ABANDONED = 86_400  # seconds after which nobody writes to such a file
MARKER = ".soundcheck"  # lies in every output folder
MODE = 0o644  # who may do what with a file that was written


class OutputError(SoundcheckError):
    """The output cannot be written: no space, no permission."""


def not_written(what: str, error: Exception) -> OutputError:
    """Make the error that says what cannot be written."""
    remedy = "Make space or choose another --out, then run again to go on."
    return OutputError(f"Cannot write {what}: {getattr(error, 'strerror', None) or error}. {remedy}")


def slug(name: str) -> str:
    """Make a file name from any text, different for different texts.

    A short text of lower-case letters, digits, ``_`` and ``-`` keeps its form; everything else is reduced to
    that and gets a hash of the whole text: ``a/b``, ``A-B`` and ``a-b`` stay apart on every file system.
    A text that ends like such a hash gets one, too: nobody can choose a name that stands for another.

    >>> slug("prosody")
    'prosody'
    >>> slug("../Prosody")
    'prosody-a244d366f2'
    """
    reduced = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:40].strip("-_")
    reserved = {"con", "prn", "aux", "nul", "index", "search", "genindex"}
    reserved |= {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)}
    hashed = re.search(r"(^|-)[0-9a-f]{10}$", name)
    if name and reduced == name and name not in reserved and not hashed:
        return name
    return f"{reduced}-{digest(name)[:10]}".lstrip("-")


def inside(root: str | os.PathLike, name: str | os.PathLike) -> Path:
    """Join a name to a root and make sure that the result stays inside, links resolved.

    Raises InputError: if the name is absolute or leads out of the root.
    """
    root = Path(root).resolve()
    path = root / name
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL character
        resolved = None
    if resolved is None or os.path.isabs(name) or not resolved.is_relative_to(root):
        what = "the path leads out of its folder"
        raise input_error(quoted(name), what, "Give a path relative to the folder")
    return path


def why_not_written(folder: Path, corpora: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Say why nothing can be written to a folder that need not exist, and what to do, for messages.

    - ``corpora``: folders by the names of their corpora, in which it must not lie.
    """
    existing = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield "the folder cannot be written", "Choose another folder, or change who may write to it"
    for name, root in corpora.items():
        if folder.resolve().is_relative_to(root.resolve()):
            what = f"the folder lies inside the corpus {quoted(name)}"
            yield what, "Choose a folder outside of all corpora"


def refuse_link(path: Path, depth: int = 0) -> None:
    """Refuse to write a file in the place of a link, or behind a link inside of an output folder.

    - ``depth``: number of folders above it that must not be links either; more if an output folder is farther
      above.
    - Raises InputError: if one of them is a symbolic link.
    """
    parents = path.absolute().parents
    depth = next((number for number, parent in enumerate(parents) if (parent / MARKER).is_file()), depth)
    for place in (path, *parents[:depth]):
        if place.is_symlink():
            what = "a symbolic link is there, and nothing is written through one"
            raise input_error(quoted(place, 200), what, "Remove the link, or choose another place")


def irregularity(path: str | os.PathLike, maximum: int | None = None) -> str:
    """Say why a path must not be opened; empty if it may.

    Looks at the file's kind and size only, so it never blocks.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "the link leads nowhere" if os.path.islink(path) else "the file does not exist"
    except PermissionError:
        return "permission denied"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    if stat.S_ISDIR(status.st_mode):
        return "this is a folder, not a file"
    if not stat.S_ISREG(status.st_mode):
        return "this is not a regular file"
    if maximum is not None and status.st_size > maximum:
        return f"the file has {status.st_size} bytes, more than the limit of {maximum}"
    if not os.access(path, os.R_OK):
        return "permission denied"
    return ""


def require_regular(
    path: str | os.PathLike, display_name: str | None = None, maximum: int = TABLE_BYTES
) -> Path:
    """Return the path if it may be opened.

    - ``display_name``: how messages call it; default: the path as given.
    - Raises InputError: if it is missing, not a regular file, too large or not readable. A missing file's
      message names the nearest name in its folder.
    """
    reason = irregularity(path, maximum)
    if reason:
        remedy = ""
        if "not exist" in reason:
            remedy = nearest_name(Path(path)) or "Check the path; one in a suite is relative to its folder"
        raise input_error(display_name or str(path), reason, remedy)
    return Path(path)


def nearest_name(path: Path) -> str:
    """Name what is called most alike in the deepest folder of the path that exists; empty if nothing is."""
    while not path.parent.is_dir() and path.parent != path:
        path = path.parent
    try:
        names = sorted(os.listdir(path.parent))
    except OSError:
        return ""
    for name in names:
        if look(name) == look(path.name) and name != path.name:  # umlauts of macOS are two characters
            return f"Did you mean {told_apart(path.name, name)[1]}, which looks the same?"
    near = [name.lower() for name in names if os.path.splitext(name)[0] == path.stem]
    near = near or difflib.get_close_matches(path.name.lower(), [name.lower() for name in names], n=1)
    original = [name for name in names if near and name.lower() == near[0]]
    return f"Did you mean {quoted(original[0])}?" if original else ""


def digest(content: str | bytes | os.PathLike) -> str:
    """Hash a text, bytes or the content of a file (``os.PathLike``) to 40 hexadecimal digits."""
    if isinstance(content, os.PathLike):
        with open(content, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).hexdigest()
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def digests_after(beginning: str) -> Callable[[str], str]:
    """Make a function that hashes texts as :func:`digest` does, each behind the same long beginning.

    >>> digests_after("one ")("two") == digest("one two")
    True
    """
    begun = hashlib.blake2b(beginning.encode("utf-8", "surrogatepass"), digest_size=20)

    def ended(text: str) -> str:
        hashed = begun.copy()
        hashed.update(text.encode("utf-8", "surrogatepass"))
        return hashed.hexdigest()

    return ended


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, then move it into place.

    If the block raises, the part is removed and the old file stays.

    Raises OutputError: if the disk is full or the folder cannot be written; names the file.
    """
    path = Path(path)
    part: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, suffix=path.suffix, dir=path.parent)
        os.close(handle)
        part = Path(name)
        yield part
        if not _is_the_same(path, part):
            with open(part, "rb") as file:
                os.fsync(file.fileno())
            os.chmod(part, MODE)
            os.replace(part, path)
            part = None
    except OSError as error:
        raise not_written(path.name, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _is_the_same(path: Path, new: Path) -> bool:
    """Whether a file is as it would be if the new one took its place."""
    try:
        status = os.lstat(path)
        usual = (stat.S_IFREG | MODE, os.stat(new).st_size)
        return (status.st_mode, status.st_size) == usual and digest(path) == digest(new)
    except OSError:
        return False


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write files where the user wants them, after :func:`refuse_link` of each."""
    for path in contents:
        refuse_link(path)
    for path, content in contents.items():
        (write_text if isinstance(content, str) else write_bytes)(path, content)


def write_bytes(path: str | os.PathLike, data: bytes) -> str:
    """Write a file whole or not at all; returns the digest of the data."""
    with replacing(path) as part:
        part.write_bytes(data)
    return digest(data)


def write_text(path: str | os.PathLike, text: str) -> str:
    """Write a UTF-8 text whole or not at all, with line feeds; returns the digest of the data."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))
