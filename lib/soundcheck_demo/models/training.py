"""What the trainings of the demo models share: the cache, the measured training split, kept parameters.

Parameters are plain lists of numbers, rounded to six digits, so that they can be read, compared and loaded
without running code; see :mod:`soundcheck.common.store`. They are kept in the cache, the folder named by the
environment variable ``SOUNDCHECK_CACHE``, else ``build/cache`` below the current folder.
``SOUNDCHECK_DEMO_SIZE=small`` trains on the small demo corpus, for quick tests.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import audiofile
import numpy as np

from soundcheck.common import store
from soundcheck.common.files import digest
from soundcheck.common.progress import Progress
from soundcheck_demo.speech import corpus

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 6
LIMIT = 3.0  # standard deviations; what lies farther out is not in the training data


@dataclasses.dataclass(frozen=True)
class Training:
    """Finds the parameters of a model in the cache, or fits them; several processes may do so at once."""

    name: str  # beginning of the file's name
    fit: Callable[[Path, int, bool], dict]  # takes the folder of the corpus, jobs, whether to show progress
    sources: tuple[str, ...]  # files of the modules that decide parameters and predictions
    packages: tuple[str, ...]  # installed packages whose versions may change the parameters
    first: tuple[Training, ...] = ()  # of models that this one is made of

    def file(self, cache: Path, size: str = "full") -> Path:
        """Name the file of the parameters; the name changes with everything that decides them."""
        digests = [digest(Path(source)) for source in (__file__, *self.sources)]
        versions = [importlib.metadata.version(package) for package in self.packages]
        key = digest(json.dumps([corpus.fingerprint(size, corpus.SPEECH), digests, versions]))[:16]
        return Path(cache) / f"{self.name}-{key}.json"

    def train(self, cache: Path, *, size: str = "full", jobs: int = 1, progress: bool = False) -> dict:
        """Give the parameters for the corpus of a size, both of them kept in a cache."""

        def make() -> dict:
            folder = corpus.build(cache, size=size, jobs=jobs, progress=progress)
            return self.fit(folder, jobs, progress)

        return store.find(self.file(cache, size), make)

    def parameters(self) -> dict:
        """Give the parameters as arrays, trained if need be."""
        return _arrays(self, *place())

    def prepare(self, jobs: int = 1, progress: bool = False) -> None:
        """Train before several processes predict; finds everything finished if it has been done before."""
        for training in (*self.first, self):
            cache, size = place()
            training.train(cache, size=size, jobs=jobs, progress=progress)

    def fingerprint(self) -> str:
        """Hash the model: parameters and code; trains it if need be."""
        cache, size = place()
        fitted = [each.train(cache, size=size) for each in (*self.first, self)]
        return digest(json.dumps([fitted, [digest(Path(source)) for source in self.sources]]))


@functools.lru_cache(maxsize=8)
def _arrays(training: Training, cache: Path, size: str) -> dict:
    fitted = training.train(cache, size=size)
    return {
        name: np.array(value) if isinstance(value, list) and not isinstance(value[0], str) else value
        for name, value in fitted.items()
    }


def place() -> tuple[Path, str]:
    """Say where corpus and parameters are kept, and how large the corpus is."""
    cache = Path(os.environ.get("SOUNDCHECK_CACHE") or Path("build") / "cache")
    return cache.absolute(), os.environ.get("SOUNDCHECK_DEMO_SIZE") or "full"


def segments(folder: Path, split: str) -> pd.DataFrame:
    """Read the table of a demo corpus: the segments of a split."""
    import pandas as pd  # late: a model that is trained needs it not

    table = pd.read_csv(folder / corpus.TABLE, keep_default_na=False)
    return table[table["split"] == split].reset_index(drop=True)


def measure(
    folder: Path,
    names: Sequence[str],
    extract: Callable[[np.ndarray, int], np.ndarray],
    jobs: int = 1,
    progress: bool = False,
    title: str = "training segments of a demo model",
) -> np.ndarray:
    """Measure files of a demo corpus, ``(files, features)``, with a function of a module."""
    from joblib import Parallel, delayed  # late: a model that is trained needs it not

    running = Parallel(n_jobs=max(1, jobs), return_as="generator")(
        delayed(_extract)(extract, folder / name) for name in names
    )
    return np.array(list(Progress.over(running, "listening", title, len(names), visible=progress)))


def _extract(extract: Callable[[np.ndarray, int], np.ndarray], path: Path) -> np.ndarray:
    return extract(*audiofile.read(path))


def standard_scale(measured: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and standard deviation of each feature."""
    return measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)


def standardise(measured: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Standardise features (last axis) and limit them."""
    return np.clip((measured - mean) / scale, -LIMIT, LIMIT)


def plain(values: np.ndarray) -> list | float:
    """Round to a few significant digits, so that the last bits of another processor change nothing.

    >>> plain(np.array([1 / 3, 20_000 / 3]))
    [0.333333, 6666.67]
    """
    array = np.asarray(values, dtype=np.float64)
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in array.ravel()])
    return rounded.reshape(array.shape).tolist()
