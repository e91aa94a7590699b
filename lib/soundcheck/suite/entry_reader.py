"""Reads what entries of a suite have in common: keys by their kind, places, scales, cards."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from soundcheck.common import resources
from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.paths import find_place
from soundcheck.suite.yaml_reader import Document


class EntryReader(DocumentReader):
    """Reads entries of one suite."""

    def __init__(self, document: Document, problems: Problems, file: Path) -> None:
        super().__init__(document, problems)
        self.file = file
        self.root = file.parent
        self.tasks: dict[str, Task] = dict(BUILTIN)
        self.families = resources.names("thresholds", ".yml", own=self.root)

    def read_keys(
        self,
        path: tuple,
        value: object,
        chosen: type | None,
        common: type[schema.Section],
        known: Mapping[str, type],
        what: str,
        also: Collection[str] = (),
    ) -> Any:
        """Check an entry against the keys of its kind or format.

        - ``chosen``: the class that it belongs to; ``None`` = nobody knows, only the common keys are checked.
        - ``known``: all classes; a key that only others take gets a message of its own.
        - ``what``: how messages call the class, such as ``"format"``.
        - ``also``: keys that are read elsewhere.
        """
        keys = (chosen.keys if chosen else None) or common
        allowed = (*keys.model_fields, *also)
        if isinstance(value, dict) and any(key not in allowed for key in value):
            others = {key for other in known.values() for key in (other.keys or common).model_fields}
            foreign = [key for key in value if key in others and key not in allowed]
            for key in foreign if chosen else ():
                remedy = f"Remove it. Allowed: {', '.join(allowed)}"
                self.note((*path, key), f"{what} {chosen.keyword} does not take this key", remedy)
            value = {key: item for key, item in value.items() if key not in foreign}
        return self.section(path, value, keys, also)

    def read_path(self, path: tuple, text: str, *, folder: bool | None) -> Path | None:
        """Find a file or folder that the suite names; ``None`` = either."""
        if folder is None:
            folder = (self.root / os.path.expanduser(text)).is_dir()
        place, what, remedy = find_place(self.file, text, folder=folder)
        if what:
            self.note(path, what, remedy)
        return place

    def read_ranges(
        self, path: tuple, value: object, tasks: Iterable[Task]
    ) -> dict[str, tuple[float, float]]:
        """Read the scale of labels or predictions: one for all regression tasks, or one a task."""
        regression = [task.name for task in tasks if task.is_regression]
        if value is None:
            return {}
        if not isinstance(value, dict):
            bounds = self.check(path, value, schema.Scale)
            return dict.fromkeys(regression, bounds) if bounds else {}
        for task in [task for task in value if task not in regression]:
            self.note((*path, task), "not a regression task", did_you_mean(task, regression))
        ranges = {
            task: self.check((*path, task), item, schema.Scale)
            for task, item in value.items()
            if task in regression
        }
        return {task: bounds for task, bounds in ranges.items() if bounds}
