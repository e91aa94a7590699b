"""Reads the models of a suite: what each is, what it predicts, and what it is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN, TRANSCRIPTION, Task
from soundcheck.suite import schema
from soundcheck.suite.card import read_card
from soundcheck.suite.entries import ERROR, LEFT_OUT, ModelEntry
from soundcheck.suite.entry_reader import EntryReader
from soundcheck.suite.model_keys import ModelKeys
from soundcheck.suite.model_kind import MODEL_KINDS, ModelKind
from soundcheck.suite.paths import find_files
from soundcheck.suite.yaml_reader import Document


class ModelReader(EntryReader):
    """Reads the models of one suite.

    - ``document, problems``: the suite, and where problems are noted.
    - ``tasks``: built-in and declared tasks by name.
    - ``seconds``: what a call may take if the model does not say.
    """

    def __init__(
        self, document: Document, problems: Problems, file: Path, tasks: Mapping[str, Task], seconds: float
    ) -> None:
        super().__init__(document, problems, file)
        self.tasks = tasks
        self.seconds = seconds

    def read_model(self, name: str, value: object) -> ModelEntry | None:
        """Read a model."""
        path = ("models", name)
        kinds = tuple(MODEL_KINDS)
        given = [kind for kind in kinds if isinstance(value, dict) and kind in value]
        kind = MODEL_KINDS[given[0]] if len(given) == 1 else None
        model = self.read_keys(path, value, kind, ModelKeys, MODEL_KINDS, "kind", kinds)
        if not isinstance(value, dict):
            return None
        if len(given) > 1:
            self.note(path, f"two kinds of model: {' and '.join(given)}", "Keep one of them")
        if not given:
            self.note(path, "it does not say what the model is", f"Add one of: {', '.join(kinds)}")
        if kind is None:
            return None
        place = (*path, kind.keyword)
        if model is not None:
            families = resources.names("thresholds", ".yml", own=self.file.parent)
            self.known_names((*path, "families"), model.families, families, "family")
            known = list(self.document.data.get("corpora") or {})
            self.known_names((*path, "corpora"), model.corpora, known, "corpus")
            for text in model.files or ():
                _, what, remedy = find_files(self.file, text)
                if what:
                    self.note((*path, "files"), what, remedy)
        target = self.check(place, value[kind.keyword], schema.Text)
        if target is None or model is None:
            return None
        file, what, remedy = kind.check_target(target, self.file)
        if what:
            self.note(place, what, remedy)
        else:
            for key, what, remedy in kind.problems(target, model):
                self.note((*path, key), what, remedy)
        tasks = self.read_model_tasks(path, kind, target, model.tasks)
        entry = ModelEntry(
            name=name,
            kind=kind.keyword,
            target=target,
            tasks=tasks,
            path=file,
            batch=model.batch,
            families=tuple(model.families),
            corpora=tuple(model.corpora),
            description=model.description,
            license=model.license,
            time_limit=model.time_limit or self.seconds,
            ranges=self.read_scale((*path, "range"), kind, model.range, tasks),
            values=self.read_meanings((*path, "values"), model.values, tasks),
            files=tuple(model.files or ()),
            card=read_card(self, (*path, "card"), model.card),
            missing=self.read_missing((*path, "missing"), model.missing, tasks),
            options=model.model_dump(exclude=set(ModelKeys.model_fields)),
        )
        return kind.complete(entry)

    def read_missing(self, path: tuple, value: str, names: Sequence[str]) -> str:
        """Read how an input without an answer counts."""
        words = [task for name in names if (task := self.tasks[name]).kind == TRANSCRIPTION]
        if value == ERROR and names and not words:
            self.note(path, "the model recognises no words that could be missed", "Remove it")
        return value or (ERROR if words else LEFT_OUT)

    def read_scale(
        self, path: tuple, kind: type[ModelKind], value: object, names: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        """Read on which scale a model answers numbers."""
        tasks = [self.tasks[name] for name in names]
        if value is not None and names and not (kind.has_scale and any(task.is_regression for task in tasks)):
            what = (
                "the model predicts no number" if kind.has_scale else f"{kind.keyword} models need no scale"
            )
            self.note(path, what, "Remove it. It is the scale on which a model answers regression tasks")
            return {}
        return self.read_ranges(path, value, tasks)

    def read_meanings(
        self, path: tuple, value: dict[str, dict[str, str]], names: Sequence[str]
    ) -> dict[str, dict[str, str]]:
        """Read which classes the words in answers mean."""
        for task, words in value.items():
            classes = self.tasks[task].classes if task in names else ()
            for word, name in words.items():
                if name not in classes:
                    remedy = did_you_mean(name, classes) or "Name a task with classes that the model answers"
                    self.note((*path, task, word), f"{quoted(name)} is no class of {task}", remedy)
        return value

    def read_model_tasks(
        self, path: tuple, kind: type[ModelKind], target: str, names: list[str] | None
    ) -> tuple[str, ...]:
        """Read what a model predicts."""
        place = (*path, "tasks")
        remedy = f"Name what it predicts: {', '.join(self.tasks)}"
        if names is None:
            default = kind.default_tasks(target)
            if default is None:
                self.note(place, "the key is missing", remedy)
            declared = [task for name, task in self.tasks.items() if name not in BUILTIN]
            if not kind.answers_declared:
                declared = []
            return (default or ()) + tuple(t.name for t in declared if not kind.check_tasks(target, [t]))
        if not names:
            self.note(place, "no task is named", remedy)
        tasks = self.known_names(place, names, list(self.tasks), "task")
        for what, advice in kind.check_tasks(target, [self.tasks[task] for task in tasks]):
            self.note(place, what, advice)
        return tasks
