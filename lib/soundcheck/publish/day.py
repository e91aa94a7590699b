"""The day that published files carry: today, or what reproducible builds set in ``SOURCE_DATE_EPOCH``."""

from __future__ import annotations

import datetime
import os

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted

__all__ = ["given_day", "today"]

_EPOCH = "SOURCE_DATE_EPOCH"  # seconds since 1970


def given_day() -> datetime.date | None:
    """Give the day, in UTC, that ``SOURCE_DATE_EPOCH`` sets; ``None`` if it sets none.

    Raises
    ------
    InputError
        If it is not a number of seconds.
    """
    given = os.environ.get(_EPOCH, "")
    if not given:
        return None
    try:
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC).date()
    except (ValueError, OverflowError, OSError):
        what = f"{quoted(given)} is not a number of seconds since 1970"
        raise input_error(_EPOCH, what, "Set a whole number, or unset it") from None


def today() -> datetime.date:
    """Give the day of what is published now, in UTC; see :func:`given_day`."""
    return given_day() or datetime.datetime.now(datetime.UTC).date()
