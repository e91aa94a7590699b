"""What the trainings of the demo models share: the measured training split, and names of kept parameters.

Parameters are plain lists of numbers, so that they can be read, compared and loaded without running code; see
:mod:`soundcheck.common.store`.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import audiofile
import numpy as np

from soundcheck.common.files import digest
from soundcheck.common.progress import Progress
from soundcheck_demo.speech import corpus

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 6


def parameter_file(
    cache: Path, name: str, size: str, *, sources: Iterable[str], packages: Iterable[str]
) -> Path:
    """Name the file of some parameters; the name changes with everything that decides them.

    - ``name``: beginning of the file's name.
    - ``size``: size of the demo corpus.
    - ``sources``: files of the modules that decide the parameters, besides this one and the corpus.
    - ``packages``: installed packages whose versions may change the parameters.
    """
    digests = [digest(Path(source)) for source in (__file__, *sources)]
    versions = [importlib.metadata.version(package) for package in packages]
    key = digest(json.dumps([corpus.fingerprint(size), digests, versions]))[:16]
    return Path(cache) / f"{name}-{key}.json"


def measure(
    folder: Path,
    extract: Callable[[np.ndarray, int], np.ndarray],
    *,
    jobs: int = 1,
    progress: bool = False,
    title: str = "training segments of a demo model",
) -> tuple[pd.DataFrame, np.ndarray]:
    """Measure all training segments.

    - ``extract``: takes signal and sampling rate, gives features ``(features,)``; a function of a module.
    - ``progress, title``: whether to tell how far it is, and to what the model listens.
    - Returns one row a segment of the training split; features, ``(segments, features)``.
    """
    import pandas as pd  # late, as the next: a model that is trained needs neither
    from joblib import Parallel, delayed

    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    table = table[table["split"] == "train"].reset_index(drop=True)
    running = Parallel(n_jobs=max(1, jobs), return_as="generator")(
        delayed(_extract)(extract, folder / name) for name in table["file"]
    )
    told = Progress.over(running, "listening", title, len(table), shown=progress)
    return table, np.array(list(told))


def _extract(extract: Callable[[np.ndarray, int], np.ndarray], path: Path) -> np.ndarray:
    return extract(*audiofile.read(path))


def plain(values: np.ndarray) -> list | float:
    """Round to a few significant digits, so that the last bits of another processor change nothing.

    >>> plain(np.array([1 / 3, 20_000 / 3]))
    [0.333333, 6666.67]
    """
    array = np.asarray(values, dtype=np.float64)
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel()])
    return rounded.reshape(array.shape).tolist()
