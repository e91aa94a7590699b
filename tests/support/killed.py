"""A run that is killed half-way: it does that of its own accord, so that the moment cannot be missed.

However fast or slow a machine is, the run ends once it has kept a number of answers, neither one more nor one
less.
"""

import signal
from pathlib import Path

from runs import started

CODE = """
import os, signal, sys
from soundcheck import cli
from soundcheck.predict.store import Store

left, keep = int(sys.argv.pop(1)), Store.write

def write(store):
    global left
    store._pending = store._pending[:left]
    left -= len(store._pending)
    keep(store)
    if not left:
        os.killpg(0, signal.SIGKILL)

if __name__ == "__main__":
    os.setsid()
    Store.write = write
    cli.main()
"""


def killed_run(*arguments: object, cwd: Path, answers: int, **environment: str) -> None:
    """Start a run in processes of its own, all of which are killed when it has kept so many predictions."""
    done = started(answers, *arguments, cwd=cwd, code=CODE, **environment)
    assert done.returncode == -signal.SIGKILL, f"exit code {done.returncode}: {done.stderr[-2000:]}"
