"""What begins before anything heavy is imported: models are checked in processes of their own meanwhile.

Most of the time of a run that finds everything as it was goes into loading models, to ask each a few inputs
again. They load while this process still imports what a run needs and reads families and corpora.

Conventions
-----------
- Nothing heavy is imported here: neither tables nor what draws or computes.
- Only a folder in which a run has been before is used. What is refused leaves nothing in any other.
- Nothing is decided here: whoever checks a model later gets the check that has begun.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.predict.ahead import Ahead
from soundcheck.run.output import Output
from soundcheck.suite.entries import Suite
from soundcheck.suite.suite_file import read_suite


@dataclasses.dataclass(frozen=True)
class Early:
    """What a run finds done, or on its way.

    Parameters
    ----------
    suite
        The suite, as its file says.
    ahead
        Threads in which models are being checked.
    """

    suite: Suite
    ahead: Ahead


@contextlib.contextmanager
def begun(
    suite_file: Path, out: Path, *, jobs: int, models: Collection[str] = (), check: bool = True
) -> Iterator[Early]:
    """Read a suite and begin to check its models; in the end of the block no process of them is left.

    Parameters
    ----------
    suite_file
        The suite.yml.
    out
        Output folder; models are checked if a run has left its record there.
    jobs
        Models at a time; they are checked if there is more than one process.
    models
        Names of those that are asked; default all.
    check
        Whether models may be loaded before anything else is known.

    Raises
    ------
    InputError
        If the suite or the folder cannot be used.
    """
    suite = read_suite(suite_file)
    with Ahead(jobs) as ahead:
        output = Output(out)
        if check and jobs > 1 and output.has_run:
            output.refuse_links()
            os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things
            for name, entry in suite.models.items():
                if entry.about.checked_by and (not models or name in models):
                    ahead.check(entry, suite)
        yield Early(suite, ahead)
