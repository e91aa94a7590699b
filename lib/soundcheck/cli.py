"""The ``soundcheck`` command: every error ends as one message and an exit code."""

from __future__ import annotations

import errno
import gc
import signal
import sys
from typing import NoReturn

import click

from soundcheck.commands.command_line import commands
from soundcheck.common import messages
from soundcheck.common.messages import quoted, terminal

YOUNG = 50_000  # objects after which Python looks for unused cycles: tables and pages are many, and have none


class _Terminated(BaseException):
    """SIGTERM, as an exception that runs all clean-up on its way out."""


def _say(text: str) -> None:
    click.echo(terminal(text), err=True)


def _log_failure() -> str:
    """Keep the traceback of a defect of ours in a file, and say where."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="soundcheck-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        traceback.print_exc(file=file)
    return file.name


def main() -> None:
    """Entry point: every error ends as one message and an exit code, never as a traceback."""

    def terminate(number: int, frame: object) -> None:
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    gc.set_threshold(YOUNG, 20, 50)
    try:
        commands(standalone_mode=False)
    except click.exceptions.Abort:
        _interrupted(messages.EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(messages.EXIT_BAD_INPUT)
    except messages.SoundcheckError as error:
        _say(str(error))
        sys.exit(getattr(error, "exit_code", messages.EXIT_BAD_INPUT))
    except KeyboardInterrupt:
        _interrupted(messages.EXIT_INTERRUPTED)
    except _Terminated:
        _interrupted(messages.EXIT_TERMINATED)
    except BrokenPipeError:
        sys.exit(messages.EXIT_INCOMPLETE)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _say(f"{quoted(str(error.filename), 60)}: the name is too long here. Use a shorter path.")
            sys.exit(messages.EXIT_BAD_INPUT)
        # All else is a defect of ours.
        reason = f"{type(error).__name__}: {error}"
        _say(f"Soundcheck failed in a way that it should not: {reason}\nDetails are in {_log_failure()}.")
        sys.exit(messages.EXIT_INCOMPLETE)


def _interrupted(code: int) -> NoReturn:
    _say("Stopped. What was done is saved: run again to go on.")
    sys.exit(code)


if __name__ == "__main__":
    main()
