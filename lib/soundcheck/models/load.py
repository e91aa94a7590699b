"""Loads models, and checks them before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from soundcheck.models.base import Model

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite


def load_model(entry: ModelEntry, suite: Suite) -> Model:
    """Load a model into this process; Python models run their module's code.

    Raises
    ------
    InputError
        If it cannot be loaded.
    """
    return entry.about.load(entry, suite)


def check_model(entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
    """Make sure that a model can be loaded; code runs in a child process with a time limit.

    Parameters
    ----------
    entry, suite
        The model.
    corpora
        What it will be asked about; a table of predictions that has no row for them is refused.

    Returns
    -------
    str
        The model's fingerprint.

    Raises
    ------
    InputError
        Saying what was looked for, where, and what is wrong.
    """
    return entry.about.check(entry, suite, corpora)
