"""Looks at many audio files at once and remembers by their content what they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from soundcheck.common import files, store
from soundcheck.common.progress import Progress
from soundcheck.corpora import audio
from soundcheck.corpora.audio import AudioInfo


def inspect_files(
    root: Path,
    names: Sequence[str],
    limit: float,
    path: Path,
    *,
    jobs: int = 1,
    progress: bool = False,
    title: str = "",
) -> dict[str, AudioInfo]:
    """Look at every file once; what is known about the same content is not looked at again.

    - ``root``: folder that the names are relative to.
    - ``limit``: seconds of the longest file that is read.
    - ``path``: file that keeps what is known.
    - ``progress, title``: whether to tell how far it is, and of what the files are.
    """
    version = files.digest(f"{limit} {files.digest(Path(audio.__file__))}")
    known = {key: AudioInfo(**value) for key, value in (store.read(path, version) or {}).items()}
    with ThreadPoolExecutor(
        max(1, jobs)
    ) as pool:  # joblib takes longer to hand a small file out than to read it
        hashes = list(pool.map(_digest, [root / name for name in names]))
    todo = {content: name for name, content in zip(names, hashes, strict=True) if content not in known}
    if todo:
        from joblib import Parallel, delayed  # late: mostly nothing is new

        found = Parallel(n_jobs=min(jobs, max(1, len(todo) // 50 + 1)), return_as="generator")(
            delayed(audio.inspect)(root / name, limit) for name in todo.values()
        )
        told = Progress.over(found, "looking at audio", f"files of {title}", len(todo), shown=progress)
        known |= dict(zip(todo, told, strict=True))
        lasting = [content for content in hashes if not content.startswith("?")]
        store.write(path, {content: dataclasses.asdict(known[content]) for content in lasting}, version)
    return {name: known[content] for name, content in zip(names, hashes, strict=True)}


def _digest(path: Path) -> str:
    """Hash a file; one that cannot be read gets a name of its own, so that it is looked at each time."""
    if files.irregularity(path):
        return f"?{path}"
    try:
        return files.digest(path)
    except OSError:
        return f"?{path}"
