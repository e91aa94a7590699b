"""What begins before anything heavy is imported: models are checked in processes of their own meanwhile.

Most of the time of a run that finds everything as it was goes into loading models, to ask each a few inputs
again. They load while this process still imports what a run needs. Only a folder in which a run has been
before is used: what is refused leaves nothing in any other. Nothing heavy is imported here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.predict.ahead import Ahead
from soundcheck.run.options import RunOptions
from soundcheck.run.output import Output
from soundcheck.suite.suite_file import read_suite


@contextlib.contextmanager
def begun(options: RunOptions) -> Iterator[Ahead]:
    """Begin to check the models of a suite; in the end of the block no process of them is left.

    Raises
    ------
    InputError
        If the suite or the folder cannot be used.
    """
    suite = read_suite(options.suite)
    with Ahead(options.jobs) as ahead:
        output = Output(options.out)
        if options.jobs > 1 and not (options.no_code or options.fresh) and output.has_run:
            output.refuse_links()
            os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things
            for name, entry in suite.models.items():
                if entry.about.checked_by and (not options.models or name in options.models):
                    ahead.check(entry, suite)
        yield ahead
