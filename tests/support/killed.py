"""A run that is killed half-way: it waits for that of its own accord, so that the moment cannot be missed.

However fast or slow a machine is, the run stands still once it has kept a number of answers, neither one more
nor one less, and does so for ever.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

STANDING = "stands still"
CODE = f"""
import sys, time
from soundcheck import cli
from soundcheck.predict.store import Store

left, keep = int(sys.argv.pop(1)), Store.write

def write(store):
    global left
    store._pending = store._pending[:left]
    left -= len(store._pending)
    keep(store)
    if not left:
        print({STANDING!r}, flush=True)
        time.sleep(10_000)

if __name__ == "__main__":
    Store.write = write
    cli.main()
"""


def killed_run(*arguments: object, cwd: Path, answers: int, **environment: str) -> None:
    """Start a run in a process of its own, and kill all of it when it has kept so many predictions."""
    words = [str(answers), *map(str, arguments)]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [sys.executable, "-P", "-c", CODE, *words],
            cwd=cwd,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
            text=True,
        ) as process,
    ):
        try:
            message = any(line.strip() == STANDING for line in process.stdout)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        end = said.read()[-2000:].decode(errors="replace")
    assert message, (
        f"the run ended before it had kept {answers} answers, exit code {process.returncode}: {end}"
    )
