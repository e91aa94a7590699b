"""Loads models, and checks them before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from soundcheck.common.errors import InputError, Problems
from soundcheck.models.base import Model

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

_AT_ONCE = 2  # children that check models at the same time


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


def check_models(
    entries: Iterable[ModelEntry], suite: Suite, corpora: Sequence[Corpus] = ()
) -> dict[str, str]:
    """Check several models and tell the problems of all at once.

    Returns
    -------
    dict
        Name -> fingerprint, in the order of the entries.

    Raises
    ------
    InputError
        If any of them cannot be loaded.
    """
    entries = list(entries)
    problems = Problems()
    fingerprints = {}
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        checks = [threads.submit(check_model, entry, suite, corpora) for entry in entries]
    for entry, check in zip(entries, checks, strict=True):
        try:
            fingerprints[entry.name] = check.result()
        except InputError as error:
            problems.extend(error)
    problems.raise_if_any()
    return fingerprints
