"""What a suite names: corpora, models and the settings of a run, checked and frozen.

Conventions
-----------
- Everything here is picklable: workers get entries and load corpora and models themselves.
- Paths are absolute; beside each stands the text that the user wrote, the only form that is ever shown.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from soundcheck.common.media import ALL, VOICES
from soundcheck.common.tasks import Task
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.statistics.rules import INTERVALS
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CorpusEntry
from soundcheck.suite.families import AcceptedFailure, Margin, OwnTest
from soundcheck.suite.groups import MEASURED_COLUMNS, GroupColumn
from soundcheck.suite.model_kind import ERROR, LEFT_OUT, Card, ModelEntry, public_path

__all__ = ["ERROR", "LEFT_OUT", "ComparisonEntry", "CorpusEntry", "ModelEntry", "Suite", "public_path"]

NOISE_KINDS = ("babble", "coughing", "environmental", "music", "sneezing")
RESPONSE_KINDS = ("positions", "rooms")  # impulse responses
SPEECH_KINDS = ("other_language",)  # no run needs them: without any, that test is left out
SETTINGS = (  # fields of a suite that are keys of the file's top level
    *("title", "seed", "replicates", "interval", "thresholds", "studies", "voices", "sweeps", "normaliser"),
    *("alternatives", "matters_worse", "measured", "handbook"),
)
QUICK_SEGMENTS, QUICK_LEVELS = 50, 2  # of a first look: under each change, of each sweep


@dataclasses.dataclass(frozen=True)
class SoundEntry:
    """Recordings that a suite brings for a kind of sound."""

    kind: str  # kind of sound, or ``"noise"`` for a folder that holds several kinds
    path: Path
    shown_path: str = ""  # the same as the user wrote it
    # impulse responses: the room or position, or the file, that the others are compared with; empty = the
    # usual one
    base: str = ""
    # audformat: column -> value of the segments to take
    where: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ComparisonEntry:
    """Two models that a suite wants compared."""

    name: str  # its key in the suite
    baseline: schema.Text  # name of the model in use
    candidate: schema.Text  # name of the model that may replace it


@dataclasses.dataclass(frozen=True)
class Suite:
    """A checked suite.

    Notebooks get all :data:`SETTINGS` but ``title``, ``measured``, ``handbook`` and ``studies``.

    - ``corpora, models, comparisons``: entries by name, in the order of the file.
    - ``groups, adjust, against``: columns whose groups are compared, by which differences are adjusted, and
      the groups of columns that others are compared with, of corpora that name none.
    - ``audio_limit, model_seconds, notebook_seconds``: seconds: longest segment that is used; a model's call;
      a notebook.
    """

    title: schema.Title = "Soundcheck"
    seed: schema.whole(0, 2**32 - 1) = 0
    replicates: schema.whole(100, 100_000) = 1000
    interval: schema.choice(*INTERVALS) = "t"
    families: tuple[str, ...] = ()  # names of the families to run
    corpora: dict[str, CorpusEntry] = dataclasses.field(default_factory=dict)
    models: dict[str, ModelEntry] = dataclasses.field(default_factory=dict)
    tasks: dict[str, Task] = dataclasses.field(default_factory=dict)  # built-in and declared tasks by name
    root: Path = Path()
    file: Path = Path("suite.yml")
    source: str = "suite.yml"  # suite.yml as the user named it
    digest: str = ""  # digest of the file's bytes
    comparisons: dict[str, ComparisonEntry] = dataclasses.field(default_factory=dict)
    # thresholds of tests that compare groups: ``"published"``; ``"simulated"``, which are the published ones
    # stretched to the suite's own group sizes; or ``"gap"``: a group passes if it differs from the others by
    # less than the margin
    thresholds: schema.choice("published", "simulated", "gap") = "published"
    # from which size a difference between a group and its reference is a failure, in tests without a margin
    # of their own; the key ``matters``
    margin: Margin = Margin()
    # whether the book shows, on simulated data, how good its intervals and thresholds are
    studies: schema.Boolean = True
    # what is heard in the book: ``"all"``, or ``"none"``: neither sounds nor pictures of single recordings
    voices: schema.choice(*VOICES) = ALL
    # recordings by kind of sound; other kinds are synthesised
    sounds: dict[str, SoundEntry] = dataclasses.field(default_factory=dict)
    sweeps: schema.Boolean = True  # whether robustness pages show how models do from mild to severe
    # what is done to transcripts before words are compared; see :mod:`soundcheck.metrics.normalisation`
    normaliser: schema.choice(*NORMALISERS) = "basic"
    # whether braces and words in parentheses in transcripts of corpora mean several wordings; see
    # :mod:`soundcheck.metrics.alternatives`
    alternatives: schema.Boolean = False
    # by how much a value has to be worse than in an earlier run before it counts
    matters_worse: schema.number(0, 1e6) = 0.01
    # family -> test -> what the suite changes about it
    tests: dict[str, dict[str, OwnTest]] = dataclasses.field(default_factory=dict)
    accepted: tuple[AcceptedFailure, ...] = ()  # failures that pipelines look past
    groups: tuple[GroupColumn, ...] = ()
    adjust: tuple[str, ...] = ()
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    # what is measured on the sounds of all corpora, whether or not a family needs it
    measured: tuple[schema.choice(*MEASURED_COLUMNS), ...] = ()
    balance_samples: int = 1000  # segments a group that balanced fairness families ask for
    # segments of a corpus that are transformed for families that need all levels of transformations; ``None``
    # = as many as their groups need to be judged
    transformed_segments: int | None = None
    # segments of a corpus that models hear under each change of the signal at most; ``None`` = as the
    # threshold files say
    segments_per_change: int | None = None
    # levels of each sweep and transformation at most, from mild to severe; ``None`` = all of the threshold
    # files
    levels: int | None = None
    # family -> names of the transformations and sweeps that are heard for it; all for families not named
    transformations: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    audio_limit: float = 3600.0
    model_seconds: float = 30.0
    notebook_seconds: float = 120.0
    card: Card = Card()  # what people say about all of its models, for cards
    # folder in which each finished run is kept, absolute; ``None`` = nowhere. It changes no result.
    history: Path | None = None
    cache: Path | None = None  # folder that several outputs share, absolute; it changes no result
    synonyms: tuple[tuple[str, str], ...] = ()  # pairs of phrases that count as the same there
    # class -> names whose recognition is counted
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    quick: bool = False  # a first look, see `quickened`; said wherever numbers of the run are
    handbook: schema.Address = ""  # address of the handbook, to which reports link; empty = they only name it

    def tasks_of(self, model: ModelEntry) -> list[Task]:
        """List what a model predicts."""
        return [self.tasks[name] for name in model.tasks]

    def quickened(self) -> Suite:
        """Give the suite of a first look: less of each change of the sound, all clean segments."""
        few = dict.fromkeys(("segments_per_change", "transformed_segments"), QUICK_SEGMENTS)
        few["levels"] = QUICK_LEVELS
        least = {name: min(most, getattr(self, name) or most) for name, most in few.items()}
        return dataclasses.replace(self, **least, sweeps=False, studies=False, quick=True, history=None)

    def describe(self) -> dict[str, Any]:
        """Describe the suite in plain JSON values, without absolute paths."""
        text = json.dumps(dataclasses.asdict(self), default=lambda value: public_path(str(value)))
        described = json.loads(text)
        for name in ("root", "file", "history", "cache"):  # places on this machine
            del described[name]
        described["source"] = self.file.name
        for entry in (*described["corpora"].values(), *described["sounds"].values()):
            for key in [key for key in entry if f"shown_{key}" in entry]:
                entry[key] = public_path(entry.pop(f"shown_{key}"))
        for entry in described["corpora"].values():
            entry["cut"] = public_path(entry["cut"])
            for key in ("blocks", "split"):
                if len(entry[key] or ()) == 1:
                    (entry[key],) = entry[key]
        for name, entry in described["models"].items():
            del entry["path"]
            entry["target"] = self.models[name].public_target
            entry["files"] = [public_path(text) for text in entry["files"]]
        return described
