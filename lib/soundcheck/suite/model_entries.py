"""Reads the models of a suite: what each is, what it predicts, and what it is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import CLASSIFICATION, EMBEDDING, REGRESSION, Task
from soundcheck.suite import programs, schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.entries import ModelEntry
from soundcheck.suite.paths import find_place
from soundcheck.suite.yaml_reader import Document

__all__ = ["MODEL_KINDS", "ModelReader", "RANDOM_KINDS", "RANDOM_TASKS"]

RANDOM_TASKS = {"gaussian": ("arousal", "dominance", "valence"), "categorical": ("emotion",)}
RANDOM_KINDS = {"gaussian": REGRESSION, "categorical": CLASSIFICATION}  # of task that each answers
LATER_KINDS = ("onnx", "transformers")  # kinds of model that are planned


class _Model(schema.Section):
    tasks: schema.Texts | None = None
    batch: schema.whole(1, 1024) | None = None
    families: schema.Texts = []
    corpora: schema.Texts = []
    description: schema.Prose = ""
    license: schema.Text = ""
    time_limit: schema.number(0, 604_800, positive=True) | None = None
    distances: schema.Boolean = False


class ModelReader(DocumentReader):
    """Reads the models of one suite.

    Parameters
    ----------
    document, problems
        The suite, and where problems are noted.
    file
        The suite.yml, absolute.
    tasks
        Built-in and declared tasks by name.
    seconds
        What a call may take if the model does not say.
    """

    def __init__(
        self, document: Document, problems: Problems, file: Path, tasks: Mapping[str, Task], seconds: float
    ) -> None:
        super().__init__(document, problems)
        self.file = file
        self.tasks = tasks
        self.seconds = seconds

    def read_model(self, name: str, value: object) -> ModelEntry | None:
        """Read a model."""
        path = ("models", name)
        kinds = tuple(MODEL_KINDS)
        model = self.section(path, value, _Model, (*kinds, *LATER_KINDS))
        if not isinstance(value, dict):
            return None
        for kind in LATER_KINDS:
            if kind in value:
                what = "this kind of model is not supported yet in this version"
                self.note((*path, kind), what, f"Allowed: {', '.join(kinds)}")
        given = [kind for kind in kinds if kind in value]
        if len(given) > 1:
            self.note(path, f"two kinds of model: {' and '.join(given)}", "Keep one of them")
        if not given and not any(kind in value for kind in LATER_KINDS):
            self.note(path, "it does not say what the model is", f"Add one of: {', '.join(kinds)}")
        if len(given) != 1:
            return None
        kind = given[0]
        if model is not None:
            families = resources.names("thresholds", ".yml", own=self.file.parent)
            self.known_names((*path, "families"), model.families, families, "family")
            known = list(self.document.data.get("corpora") or {})
            self.known_names((*path, "corpora"), model.corpora, known, "corpus")
        target = schema.attempt(self.document, (*path, kind), self.problems, schema.parse_text, value[kind])
        if target is None or model is None:
            return None
        if model.distances and kind != "scores":
            self.note((*path, "distances"), "this belongs to a file of scores", "Remove it")
        place, default = MODEL_KINDS[kind](self, (*path, kind), target)
        return ModelEntry(
            name=name,
            kind=kind,
            target=target,
            tasks=self.read_model_tasks(path, kind, target, model.tasks, default),
            path=place,
            batch=model.batch,
            families=tuple(model.families),
            corpora=tuple(model.corpora),
            description=model.description,
            license=model.license,
            time_limit=model.time_limit or self.seconds,
            options={"distances": True} if model.distances else {},
        )

    def read_model_tasks(
        self, path: tuple, kind: str, target: str, names: list[str] | None, default: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Read what a model predicts."""
        remedy = f"Name what it predicts: {', '.join(self.tasks)}"
        if names is None:
            if not default:
                self.note(
                    (*path, "tasks"), "the key is missing", f"Name what it predicts: {', '.join(self.tasks)}"
                )
            return default
        if not names:
            self.note((*path, "tasks"), "no task is named", remedy)
        tasks = self.known_names((*path, "tasks"), names, list(self.tasks), "task")
        if kind == "random" and target in RANDOM_TASKS:
            for task in tasks:
                if self.tasks[task].kind != RANDOM_KINDS[target]:
                    what = f"random: {target} does not predict {quoted(task)}"
                    self.note(
                        (*path, "tasks"), what, "gaussian is for regression, categorical for classification"
                    )
        if kind == "scores" and set(tasks) - {EMBEDDING}:
            what = "scores of trials are all that the file holds"
            self.note((*path, "tasks"), what, f"Write tasks: [{EMBEDDING}], or leave the key out")
        if kind == "command" and set(tasks) - {programs.TASK}:
            what = f"the standard output of a command is a {programs.TASK}"
            self.note((*path, "tasks"), what, f"Write tasks: [{programs.TASK}], or leave the key out")
        return tasks

    def check_function(self, path: tuple, target: str) -> tuple[None, tuple[str, ...]]:
        """Check ``module:function``."""
        part = r"[^\W\d]\w*"
        if not re.fullmatch(rf"{part}(\.{part})*:{part}(\.{part})*", target):
            what = (
                f"{quoted(target)} has no colon"
                if ":" not in target
                else f"{quoted(target)} names no function"
            )
            self.note(path, what, "Write module:function, for instance my_package.my_module:predict")
        return None, ()

    def check_table(self, path: tuple, target: str) -> tuple[Path | None, tuple[str, ...]]:
        """Check a table of predictions."""
        place, what, remedy = find_place(self.file, target, folder=False)
        if what:
            self.note(path, what, remedy)
        return place, ()

    def check_scores(self, path: tuple, target: str) -> tuple[Path | None, tuple[str, ...]]:
        """Check a file of scores."""
        return self.check_table(path, target)[0], (EMBEDDING,)

    def check_random(self, path: tuple, target: str) -> tuple[None, tuple[str, ...]]:
        """Check the kind of a random model."""
        if target not in RANDOM_TASKS:
            self.note(path, f"unknown random model {quoted(target)}", did_you_mean(target, RANDOM_TASKS))
        return None, RANDOM_TASKS.get(target, ("",))

    def check_command(self, path: tuple, target: str) -> tuple[None, tuple[str, ...]]:
        """Check a command; the program is looked for later."""
        _, what, remedy = programs.parse_command(target)
        if what:
            self.note(path, what, remedy)
        return None, (programs.TASK,)


# The kinds of model: key -> check of its target, which gives the file it names and the default tasks.
MODEL_KINDS: dict[str, Callable[[ModelReader, tuple, str], tuple[Path | None, tuple[str, ...]]]] = {
    "python": ModelReader.check_function,
    "predictions": ModelReader.check_table,
    "scores": ModelReader.check_scores,
    "random": ModelReader.check_random,
    "command": ModelReader.check_command,
}
