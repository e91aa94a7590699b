"""Models that are data: files which a library of the field runs, without code of their own.

Such a model is loaded in a child of the process that reads suites: weights are large, libraries slow to
import, and either may end the process.

Labels of classes need not be those of a task: a model may call anger ``ang`` or ``Angry``; suites say so with
``labels: {ang: anger}``. A label that means no class of the task is left out with ``labels: {other: }``: then
the best of the others is the prediction. With ``probabilities: softmax`` or ``probabilities: given`` scores
are given as probabilities of classes.
"""

from __future__ import annotations

import abc
import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import numpy as np

from soundcheck.common import files, resources
from soundcheck.common.files import irregularity
from soundcheck.common.messages import InputError, Problems, did_you_mean, flow, input_error, quoted, shorten
from soundcheck.common.tasks import Task, meanings
from soundcheck.models import processes
from soundcheck.models.answers import probability_problem
from soundcheck.models.base import Model, reason, where
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.paths import find_place
from soundcheck.suite.schema import Plain

LOAD_SECONDS = 600.0  # that loading the weights of a model may take
STATING = ("probabilities", "confidence")  # keys by which a model says how sure it is; off by default
T = TypeVar("T")
CONFIGURATION_BYTES = 50_000_000  # of a JSON file; an index of shards has some 100 kB
REASON = 200  # characters of what a parser says
DOWNLOAD = "Download it first: hf download OWNER/NAME --local-dir FOLDER"
_OUTSIDE = "Try it outside of Soundcheck"


class LibraryModel(Model):
    """A model that a library runs from files; ``where`` is what messages about it begin with."""

    runs_code = False
    extra: ClassVar[str] = ""  # the extra of this package that brings the library
    distributions: ClassVar[tuple[str, ...]] = ()  # those whose versions the predictions depend on

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self.entry = entry
        self.suite_file = suite.file
        self.where = where(entry, suite, type(self))
        self.open(suite.tasks_of(entry))

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Look for the folder; names of a hub are none."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        return place, what, f"{remedy}. {DOWNLOAD}" if "not exist" in what else remedy

    @abc.abstractmethod
    def open(self, tasks: Sequence) -> None:
        """Load the weights, and check that they can predict the tasks; called once."""

    def library(self, module: str) -> ModuleType:
        """Import a module of the library; an InputError says how to install it."""
        return resources.import_extra(module, self.extra, self.where)

    def refusal(self, what: str, remedy: str = "") -> InputError:
        """Make the error that says why the model cannot be used."""
        return input_error(self.where, what, remedy)

    @contextlib.contextmanager
    def understood(self, what: str, remedy: str) -> Iterator[None]:
        """Refuse the model if the library raises, whatever it says about files."""
        try:
            yield
        except Exception as error:
            raise self.refusal(f"{what}: {reason(error, self.entry.path)}", remedy) from error

    @property
    def fingerprint(self) -> str:
        """Digest of all that the suite says about it and of versions; its files are :meth:`named_files`."""
        entry = self.entry
        # Answers from before there were these keys are still those of models that do not use them.
        options = [(key, value) for key, value in entry.options.items() if value or key not in STATING]
        keys = (entry.kind, entry.target, entry.batch, entry.tasks, sorted(options))
        return files.digest(repr((*keys, resources.versions(self.distributions))))

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite) -> str:
        """Load the model in a child, within a time limit."""
        task = where(entry, suite), "loading the model", LOAD_SECONDS
        return processes.in_child(*task, load_fingerprint, cls, entry, suite)


def load_fingerprint(kind: type[LibraryModel], entry: ModelEntry, suite: Suite) -> str:
    """Load a model, and give its fingerprint."""
    try:
        return kind.load(entry, suite).fingerprint
    except InputError:
        raise
    except Exception as error:  # whatever a library says about files that it does not understand
        what = f"the model cannot be loaded: {reason(error, suite.root)}"
        raise input_error(where(entry, suite), what, _OUTSIDE) from error


def links_outside(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """List links that lead out of a folder, but for those of a hub's cache to the files beside it."""
    home = folder.resolve()
    if home.parent.name == "snapshots" and (home.parent.parent / "blobs").is_dir():
        home = home.parent.parent
    return [path for path in paths if path.is_symlink() and not path.resolve().is_relative_to(home)]


def read_configuration(path: Path) -> tuple[dict[str, Any], str]:
    """Read a JSON file that holds a mapping; gives it, empty if it cannot be read, and why it cannot."""
    if why := irregularity(path, CONFIGURATION_BYTES):
        return {}, why
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return {}, f"it is not JSON: {shorten(str(error), REASON)}"
    return (content, "") if isinstance(content, dict) else ({}, "it holds no mapping")


def each_length(
    signals: Sequence[np.ndarray], call: Callable[[np.ndarray], Sequence[T]], most: int | None = None
) -> list[T]:
    """Call once for all signals that are equally long, or ``most`` of them; one prediction a signal.

    ``call`` gets signals ``(signals, samples)`` and gives one prediction for each.

    >>> each_length([np.ones(2), np.ones(3), np.ones(2)], lambda batch: [batch.shape] * len(batch))
    [(2, 2), (1, 3), (2, 2)]
    """
    places: dict[int, list[int]] = {}
    for place, signal in enumerate(signals):
        places.setdefault(len(signal), []).append(place)
    outputs: dict[int, T] = {}
    for alike in places.values():
        for first in range(0, len(alike), most or len(alike)):
            batch = alike[first : first + (most or len(alike))]
            outputs |= zip(batch, call(np.stack([signals[place] for place in batch])), strict=True)
    return [outputs[place] for place in range(len(signals))]


def resampled(signal: np.ndarray, sampling_rate: int, wanted: int) -> np.ndarray:
    """Bring a signal to the sampling rate of a model, float32 ``(samples,)``."""
    if sampling_rate == wanted:
        return signal
    from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

    return audio.resampled(signal, sampling_rate, wanted)


# Labels of classes ------------------------------------------------------------------------------------------


NONE = ""  # in the place of a class: what the label means is no class
SOFTMAX, GIVEN = "softmax", "given"


def _class(value: object) -> object:
    """Let a label stand for nothing."""
    nothing = isinstance(value, Plain) and value.value is None
    return NONE if nothing else str(value) if isinstance(value, str) else value


Labels = dict[schema.Text, schema.parsed(str, _class)]  # the type of the key ``labels`` of a suite
Probabilities = schema.choice(SOFTMAX, GIVEN)  # the type of the key ``probabilities``


def meant(label: str, classes: Sequence[str], mapping: Mapping[str, str]) -> str | None:
    """Tell which class a label of the model means; ``None`` if nobody knows.

    ``mapping``: label -> class or :data:`NONE`, as the suite says. Upper and lower case count only where
    classes differ in nothing else.

    >>> meant("Anger", ["anger", "joy"], {}), meant("hap", ["anger", "joy"], {"hap": "joy"})
    ('anger', 'joy')
    """
    name = mapping.get(label, label)
    if name == NONE or name in classes:
        return name
    alike = [known for known in classes if known.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def classes_of(labels: Sequence[str], task: Task, mapping: Mapping[str, str], where: str) -> list[str]:
    """Find the class that each label means, :data:`NONE` for those that mean none.

    Raises InputError naming all labels that nobody knows, or if none is left.
    """
    problems = Problems()
    probable = meanings([label for label in labels if label not in mapping], task.classes)
    classes = [meant(label, task.classes, mapping) for label in labels]
    for label, name in zip(labels, classes, strict=True):
        if name is None:
            written = mapping.get(label, label)
            means = f", which is to mean {quoted(written)}," if written != label else ""
            what = f"the label {quoted(label)} of the model{means} is no class of {task.name}"
            proposed = flow(probable) if label in probable else f"{{{label}: ...}}"
            hint = f"Say what it means, labels: {proposed}, or nothing to leave it out"
            problems.add(where, what, f"{hint}. {did_you_mean(written, task.classes)}")
    if all(name == NONE for name in classes):
        problems.add(where, f"none of the model's labels means a class of {task.name}", "Correct labels")
    problems.raise_if_any()
    return [str(name) for name in classes]


def class_answers(scores: np.ndarray, classes: Sequence[str], how: str | None = None) -> list:
    """Read the scores of classes, ``(signals, labels)``; one prediction a signal, NaN where scores are none.

    ``classes`` are those of the labels; :data:`NONE` is left out. ``how`` scores become probabilities:
    ``None``: not, the class with the highest is the prediction, of equal ones the first. ``"softmax"``: they
    are logits. ``"given"``: they are probabilities; a row that adds up to something else than 1 stays as it
    is, for the check of predictions to refuse. Probabilities are those of the classes that are not left out,
    given that it is one of them; those of labels that mean the same add up.

    >>> class_answers(np.array([[0.2, 0.1, 0.7], [0.1, np.nan, 0.0]]), ["anger", "joy", ""])
    ['anger', nan]
    >>> class_answers(np.array([[0.0, 0.0, 9.0]]), ["anger", "joy", ""], "softmax")
    [{'anger': 0.5, 'joy': 0.5}]
    >>> class_answers(np.array([[0.4, 0.1, 0.5]]), ["anger", "joy", ""], "given")
    [{'anger': 0.8, 'joy': 0.2}]
    """
    places = [place for place, name in enumerate(classes) if name != NONE]
    names = [classes[place] for place in places]
    outputs: list[str | dict[str, float] | float] = []
    for row in np.asarray(scores, dtype=np.float64):
        selected = row[places]
        if np.isnan(selected).any() or not np.isfinite(selected.max()):
            outputs.append(float("nan"))
        elif how is None:
            outputs.append(names[int(selected.argmax())])
        else:
            selected = np.exp(selected - selected.max()) if how == SOFTMAX else selected
            if how == SOFTMAX or not probability_problem(row.tolist()):
                selected = selected / selected.sum() if selected.sum() > 0 else np.full(len(selected), np.nan)
            shares = dict.fromkeys(names, 0.0)
            for name, share in zip(names, selected.tolist(), strict=True):
                shares[name] += share
            outputs.append(float("nan") if np.isnan(selected).any() else shares)
    return outputs
