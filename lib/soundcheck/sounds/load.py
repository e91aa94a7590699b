"""Loads the sound material of a suite: what it brings itself, and synthesised sounds for the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from soundcheck.sounds.recorded import read_sounds
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import SoundEntry, Suite

__all__ = ["load_sounds"]


def load_sounds(
    suite: Suite, kinds: Collection[str], cache: Path, *, jobs: int = 1, progress: bool = False
) -> Sounds:
    """Load the kinds of sounds that are needed.

    Parameters
    ----------
    suite
        Its ``sounds``, and the limit of the length of files.
    kinds
        Kinds that any transform needs; what the suite names is checked even if nothing needs it.
    cache
        Folder for synthesised sounds and for what is known about files.
    jobs, progress
        Processes; whether to show progress bars.

    Raises
    ------
    InputError
        If what the suite names cannot be used.
    """
    limit = suite.audio_limit
    sets = read_sounds(suite.sounds, limit, cache, jobs=jobs, progress=progress)
    missing = sorted(set(kinds) - set(sets))
    if missing:
        from soundcheck_demo.sounds import build

        folder = build.build(cache, jobs=jobs, progress=progress)
        entries = {kind: SoundEntry(kind, folder / kind, kind) for kind in missing}
        for kind, found in read_sounds(entries, limit, cache).items():
            sets[kind] = dataclasses.replace(found, source=build.SOURCES[kind], synthetic=True)
    return Sounds({kind: sets[kind] for kind in sorted(sets) if kind in kinds})
