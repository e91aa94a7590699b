"""What the trainings of the demo models share: the measured training split, and parameters kept as JSON.

Parameters are plain lists of numbers, so that they can be read, compared and loaded without running code. A
file of parameters carries a digest of its content: a damaged one is made again.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import audiofile
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from soundcheck.common.files import digest, write_text
from soundcheck.common.lock import exclusive
from soundcheck_demo.speech import corpus

__all__ = ["find", "load", "measure", "parameter_file", "plain"]

DIGITS = 6


def parameter_file(
    cache: Path, name: str, size: str, *, sources: Iterable[str], packages: Iterable[str]
) -> Path:
    """Name the file of some parameters; the name changes with everything that decides them.

    Parameters
    ----------
    cache
        Folder that keeps it.
    name
        Beginning of the file's name.
    size
        Size of the demo corpus.
    sources
        Files of the modules that decide the parameters, besides this one and the corpus.
    packages
        Installed packages whose versions may change the parameters.
    """
    digests = [digest(Path(source)) for source in (__file__, *sources)]
    versions = [importlib.metadata.version(package) for package in packages]
    key = digest(json.dumps([corpus.fingerprint(size), digests, versions]))[:16]
    return Path(cache) / f"{name}-{key}.json"


def find(path: Path, fit: Callable[[], dict]) -> dict:
    """Read parameters, or fit and keep them.

    Parameters
    ----------
    path
        File of the parameters. Several processes may ask at once; one does the work.
    fit
        Makes the parameters: texts, numbers, lists and dictionaries of them.

    Returns
    -------
    dict
        The parameters.
    """
    found = load(path)
    if found is None:
        with exclusive(path):
            found = load(path)
            if found is None:
                found = fit()
                if path.is_dir():  # somebody's mistake, in a cache
                    shutil.rmtree(path)
                write_text(path, json.dumps({"digest": digest(json.dumps(found)), "parameters": found}))
    return found


def load(path: Path) -> dict | None:
    """Read parameters; ``None`` if there are none or the file is damaged."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        parameters = stored["parameters"]
        return parameters if stored["digest"] == digest(json.dumps(parameters)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def measure(
    folder: Path,
    extract: Callable[[np.ndarray, int], np.ndarray],
    *,
    jobs: int = 1,
    progress: bool = False,
    title: str = "Demo model, training segments",
) -> tuple[pd.DataFrame, np.ndarray]:
    """Measure all training segments.

    Parameters
    ----------
    folder
        A demo corpus.
    extract
        Takes signal and sampling rate, gives features ``(features,)``; a function of a module.
    jobs
        Processes.
    progress, title
        Whether to show a progress bar, and what it says.

    Returns
    -------
    tuple of pandas.DataFrame and numpy.ndarray
        One row a segment of the training split; features, ``(segments, features)``.
    """
    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    table = table[table["split"] == "train"].reset_index(drop=True)
    running = Parallel(n_jobs=max(1, jobs), return_as="generator")(
        delayed(_extract)(extract, folder / name) for name in table["file"]
    )
    bar = tqdm(running, total=len(table), desc=title, disable=None if progress else True)
    return table, np.array(list(bar))


def _extract(extract: Callable[[np.ndarray, int], np.ndarray], path: Path) -> np.ndarray:
    return extract(*audiofile.read(path))


def plain(values: np.ndarray) -> list | float:
    """Round to a few significant digits, so that the last bits of another processor change nothing.

    Examples
    --------
    >>> plain(np.array([1 / 3, 20_000 / 3]))
    [0.333333, 6666.67]
    """
    array = np.asarray(values, dtype=np.float64)
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel()])
    return rounded.reshape(array.shape).tolist()
