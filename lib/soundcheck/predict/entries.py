"""What is kept of a model's answer."""

from __future__ import annotations

from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A kept answer: task -> value, the options that were drawn for the change, and the day, as ISO 8601."""

    answer: dict[str, float | str]
    drawn: dict[str, Any]
    day: str = ""
