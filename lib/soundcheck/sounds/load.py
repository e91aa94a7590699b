"""Loads the sound material of a suite: what it brings itself, and what other packages make for the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

from soundcheck.common.errors import input_error
from soundcheck.sounds.recorded import read_sounds
from soundcheck.sounds.sound import Sounds
from soundcheck.sounds.sources import SOUND_SOURCES
from soundcheck.suite.entries import SPEECH_KINDS, SoundEntry, Suite


def load_sounds(
    suite: Suite, kinds: Collection[str], cache: Path, *, jobs: int = 1, progress: bool = False
) -> Sounds:
    """Load the kinds of sounds that are needed.

    - ``suite``: its ``sounds``, and the limit of the length of files.
    - ``kinds``: kinds that any transform needs; what the suite names is checked even if nothing needs it.
      Speech in another language may be missing.
    - ``cache``: folder for synthesised sounds and for what is known about files.
    - ``jobs, progress``: processes; whether to show progress bars.
    - Raises InputError: if what the suite names cannot be used.
    """
    limit = suite.audio_limit
    sets = read_sounds(suite.sounds, limit, cache, jobs=jobs, progress=progress)
    missing = {kind for kind in kinds if kind not in sets}
    for source in SOUND_SOURCES.values() if missing else ():
        made = {kind: text for kind, text in source.kinds().items() if kind in missing}
        if made:
            folder = source.make(cache, jobs=jobs, progress=progress)
            entries = {kind: SoundEntry(kind, folder / kind, kind) for kind in made}
            for kind, found in read_sounds(entries, limit, cache).items():
                sets[kind] = dataclasses.replace(found, source=made[kind], synthetic=True)
            missing -= set(made)
    missing -= set(SPEECH_KINDS)
    if missing:
        what = f"nobody has sounds of {', '.join(sorted(missing))}, which the families draw from"
        remedy = "Name folders with recordings, or install a package that makes such sounds (soundcheck_demo)"
        raise input_error(f"{suite.file.name}, sounds", what, f"{remedy}; or name other families")
    return Sounds({kind: sets[kind] for kind in sorted(sets) if kind in kinds})
