"""The keys that every model of a suite may have."""

from __future__ import annotations

from typing import Any

from soundcheck.suite import schema
from soundcheck.suite.entries import ERROR, LEFT_OUT


class ModelKeys(schema.Section):
    """Keys of every model, beside the one that introduces its kind."""

    tasks: schema.Texts | None = None
    batch: schema.whole(1, 1024) | None = None
    families: schema.Texts = []
    corpora: schema.Texts = []
    description: schema.Prose = ""
    license: schema.Text = ""
    time_limit: schema.number(0, 604_800, positive=True) | None = None
    range: Any = None  # the tasks of the model tell what is allowed
    values: dict[str, dict[str, schema.Text]] = {}
    files: schema.Names | None = None
    missing: schema.choice(ERROR, LEFT_OUT) = ""  # empty: an error where words are recognised
    card: Any = None  # read by soundcheck.suite.card
