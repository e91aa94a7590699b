"""Writes the sounds of Parquet shards as files, once, so that they are read like those of any other corpus.

Conventions
-----------
- A sound is kept under the digest of its bytes; its readable name in the folder of the corpus is another link
  to the same file, or a copy where links do not exist. Both appear whole or not at all.
- The folder is that of these shards with this content. What was written of a row group is noted when all of
  it is there: a run that was stopped goes on with the next group, and what is gone or cut is written again.
- Names come from the data only as far as they are plain words; all others, and those that occur twice, are
  made from the numbers of shard and row. No folder comes from the data.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import files, store
from soundcheck.common.progress import Progress
from soundcheck.corpora.layouts import parquet_shards
from soundcheck.corpora.layouts.parquet_shards import Shard
from soundcheck.suite.entries import CorpusEntry

INDEX = ".index"
_MADE = re.compile(r"\d+-\d+(\..*)?")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,150}")


def names_of(shards: Sequence[Shard], paths: Sequence[Sequence[str]]) -> list[list[str]]:
    """Give each recording a name that is safe, different from all others, and known without its sound.

    - ``paths``: for each shard how the data call its recordings; ``""`` = not at all.

    >>> shard = Shard(Path("s"), "s", "test")
    >>> names_of([shard], [["x/a.wav", "b.wav", "b.wav", "../.c", ""]])
    [['test/a.wav', 'test/0-1.wav', 'test/0-2.wav', 'test/0-3', 'test/0-4']]
    """
    folders = [files.slug(shard.split) if shard.split else "" for shard in shards]
    bases = [[posixpath.basename(path.replace("\\", "/")) for path in own] for own in paths]
    counts = Counter(
        (folder, base.lower()) for folder, own in zip(folders, bases, strict=True) for base in own
    )

    def name(shard: int, row: int, base: str) -> str:
        plain = _PLAIN.fullmatch(base)
        if plain and counts[folders[shard], base.lower()] == 1 and not _MADE.fullmatch(base):
            return posixpath.join(folders[shard], base)
        ending = posixpath.splitext(base)[1] if plain else ""
        return posixpath.join(folders[shard], f"{shard}-{row}{ending}")

    return [[name(shard, row, base) for row, base in enumerate(own)] for shard, own in enumerate(bases)]


@functools.lru_cache(maxsize=4096)
def _digest(path: Path, *_: object) -> str:
    return files.digest(path)


def folder_of(entry: CorpusEntry, shards: Sequence[Shard], column: str, cache: Path) -> Path:
    """Name the folder of a corpus, by its name and the content of its shards."""
    content = []
    for shard in shards:
        about = os.stat(shard.path)  # so that a shard is read once for this, however often somebody asks
        content.append(_digest(shard.path, about.st_size, about.st_mtime_ns, about.st_ino))
    splits = [shard.split for shard in shards]
    whole = files.digest(repr((content, splits, column)))
    return cache / "parquet" / f"{files.slug(entry.name)}-{whole[:10]}"


def write_sounds(
    shards: Sequence[Shard], column: str, folder: Path, objects: Path, title: str, progress: bool
) -> None:
    """Write all sounds that are not there.

    - ``folder``: of the corpus, see :func:`folder_of`.
    - ``objects``: folder that keeps sounds by their content.
    - ``title, progress``: how the corpus is called, and whether to tell how far it is.
    - Raises InputError: if a shard is damaged; names the row group. What was written before stays.
    """
    paths, groups = zip(*(parquet_shards.recordings(shard, column) for shard in shards), strict=True)
    names = names_of(shards, paths)
    work = []
    for number, shard in enumerate(shards):
        ends = list(itertools.accumulate(groups[number], initial=0))
        for group, bounds in enumerate(itertools.pairwise(ends)):
            work.append((shard, group, names[number][slice(*bounds)], _note(folder, number, group)))
    with store.lock(folder):
        todo = [one for one in work if not _is_whole(folder, *one[2:])]
        done = (_write_group(folder, objects, column, *one) for one in todo)
        for _ in Progress.over(done, "unpacking", f"row groups of {title}", len(todo), shown=progress):
            pass


def present(folder: Path, shard: int, groups: int) -> list[bool]:
    """Say of each row of a shard whether there was a sound for it."""
    notes = [store.read(_note(folder, shard, group)) or {} for group in range(groups)]
    return [size >= 0 for note in notes for size in note.get("sizes", ())]


def _note(folder: Path, shard: int, group: int) -> Path:
    return folder / INDEX / f"{shard}-{group}.json"


def _is_whole(folder: Path, names: Sequence[str], note: Path) -> bool:
    """Say whether all sounds of a row group are there, as long as they were."""
    sizes = (store.read(note) or {}).get("sizes", ())
    if len(sizes) != len(names):
        return False
    with contextlib.suppress(OSError):
        return all(
            os.stat(folder / name).st_size == size
            for name, size in zip(names, sizes, strict=True)
            if size >= 0
        )
    return False


def _write_group(
    folder: Path,
    objects: Path,
    column: str,
    shard: Shard,
    group: int,
    names: Sequence[str],
    note: Path,
) -> None:
    sizes = []
    sounds = parquet_shards.sounds_in(shard, column, group)
    for name, data in zip(names, sounds, strict=True):
        sizes.append(-1 if data is None else len(data))
        if data is not None:
            _put(data, folder / name, objects)
    store.write(note, {"sizes": sizes})


def _put(data: bytes, place: Path, objects: Path) -> None:
    """Keep a sound under its content, and link its name to it."""
    content = files.digest(data)
    kept = objects / content[:2] / content
    try:
        if files.irregularity(kept) or files.digest(kept) != content:
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_name(f"{files.TEMPORARY}{os.getpid()}-{content}")
            part.write_bytes(data)
            os.replace(part, kept)
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f"{files.TEMPORARY}{os.getpid()}-{content}")
        try:
            os.link(kept, part)
        except OSError:  # another file system, or too many links
            shutil.copyfile(kept, part)
        os.replace(part, place)
        part.unlink(missing_ok=True)  # it stays if it was the same file already
    except OSError as error:
        what = f"Cannot unpack sounds into the cache: {error.strerror or error}. "
        raise files.OutputError(f"{what}Make space or choose another --out, then run again.") from error
