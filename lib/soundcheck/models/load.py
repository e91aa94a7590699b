"""Loads models, and checks them before anything runs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.common import files
from soundcheck.common.store import CACHE_VARIABLE, FileDigests
from soundcheck.models.base import Model

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite


def load_model(entry: ModelEntry, suite: Suite) -> Model:
    """Load a model into this process; Python models run their module's code."""
    return entry.about.load(entry, suite)


def check_model(entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
    """Make sure that a model can be loaded; code runs in a child process with a time limit.

    Gives the model's fingerprint, of the files that its entry names as well. ``corpora`` are what it will be
    asked about; a table of predictions that has no row for them is refused.
    """
    fingerprint = entry.about.check(entry, suite, corpora)
    named = entry.about.named_files(entry, suite)
    if not named:
        return fingerprint
    cache = os.environ.get(CACHE_VARIABLE)
    contents = FileDigests(Path(cache, "digests", f"{files.slug(entry.name)}.named.json") if cache else None)
    digests = [(_name(path, suite.root), contents.digest(path)) for path in named]
    contents.save()
    return files.digest(json.dumps([fingerprint, digests]))


def _name(path: Path, root: Path) -> str:
    """Name a file so that a project may be moved."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
