"""The one notion of a day: in UTC, and today is what reproducible builds set in ``SOURCE_DATE_EPOCH``."""

from __future__ import annotations

import datetime
import os
import time

from soundcheck.common.messages import input_error, quoted

_EPOCH = "SOURCE_DATE_EPOCH"  # seconds since 1970


def given_day() -> datetime.date | None:
    """Give the day, in UTC, that ``SOURCE_DATE_EPOCH`` sets; ``None`` if it sets none.

    Raises InputError: if it is not a number of seconds.
    """
    given = os.environ.get(_EPOCH, "")
    try:
        return day_of(int(given)) if given else None
    except (ValueError, OverflowError, OSError):
        what = f"{quoted(given)} is not a number of seconds since 1970"
        raise input_error(_EPOCH, what, "Set a whole number, or unset it") from None


def today() -> datetime.date:
    """Give the day of what is done and published now, in UTC; see :func:`given_day`."""
    return given_day() or day_of(time.time())


def day_of(seconds: float) -> datetime.date:
    """Give the day of a time in seconds since 1970, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date()
