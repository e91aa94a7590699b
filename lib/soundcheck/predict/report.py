"""What became of the inputs of a model."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

from soundcheck.common import files
from soundcheck.common.messages import Caveat
from soundcheck.common.tasks import as_values
from soundcheck.predict.same_model import Confirmation, seen_files
from soundcheck.predict.store import Upkeep

REASONS = 5  # different reasons that a summary names
MISSING = 0.05  # share of inputs without an answer that makes numbers doubtful
NOTABLE = 0.01  # share of answers far outside of their scale that makes numbers doubtful


@dataclasses.dataclass(frozen=True)
class PredictionReport:
    """What became of the inputs of a model; ``inputs = computed + reused + failed + unusable``."""

    model: str  # its name
    code: str = ""  # digest of code, options and files that the suite names: kept answers are found by it
    tables: dict[str, Path] = dataclasses.field(default_factory=dict)  # corpus -> prediction table
    inputs: int = 0  # segments times signals (clean and changed); each is a row of a table
    computed: int = 0  # answered in this run
    reused: int = 0  # answered in the cache
    failed: int = 0  # to which the model gave no usable answer
    unusable: int = 0  # whose signal could not be read or changed, or for which a table has no row
    failures: list[tuple[str, str, str, str]] = dataclasses.field(default_factory=list)
    # of each input without answer: corpus, segment, name of the change (empty = clean), and reason
    out_of_range: int = 0  # numbers outside of their task's nominal range; they are kept
    unknown_classes: dict[str, int] = dataclasses.field(default_factory=dict)  # no class of the task -> count
    repeated: int = 0  # inputs that were predicted twice, and ...
    repeated_different: int = 0  # ... how many of them got another answer the second time
    seconds: float = 0.0  # that it took
    notices: tuple[str, ...] = ()  # what else a reader should know
    asked: int = 0  # inputs that the model predicted in this run, whatever it said; 0 if it does not listen
    days: dict[str, int] = dataclasses.field(default_factory=dict)  # day of answers from the cache -> count
    confirmation: Confirmation = Confirmation()  # what came of predicting some kept answers again
    upkeep: Upkeep = dataclasses.field(default_factory=Upkeep)  # what became of the kept answers
    meant: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)  # task -> answer -> class
    far_outside: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    # task -> answers far outside of their scale, of how many, the lowest and the highest

    @property
    def digests(self) -> dict[str, str]:
        """Digest of each prediction table, by corpus."""
        return {corpus: files.digest(path) for corpus, path in self.tables.items() if path.is_file()}

    @property
    def seen_files(self) -> dict[str, str]:
        """Files that the model opened: name -> digest of the content."""
        return seen_files(self.upkeep.files)

    @property
    def fingerprint(self) -> str:
        """Digest of all that its answers depend on: ``code``, and the files that it opened."""
        seen = sorted(self.seen_files.items())
        return files.digest(json.dumps([self.code, seen])) if seen else self.code

    def joined(self, later: PredictionReport) -> PredictionReport:
        """Add what became of other inputs of the same model, which were predicted later."""
        unchanged = {name: getattr(self, name) for name in ("model", "code", "confirmation")}
        return dataclasses.replace(_joined(self, later), **unchanged)

    def class_notes(self) -> list[str]:
        """Say in a sentence which classes were answered that the task does not have, if any."""
        if not self.unknown_classes:
            return []
        counts = sorted(self.unknown_classes.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{name} ({count})" for name, count in counts[:10])
        more = ", ..." if len(counts) > 10 else ""
        return [f"classes that the task does not have, counted as wrong: {listed}{more}"]

    def caveats(self) -> list[Caveat]:
        """Say what makes numbers of the model doubtful."""
        caveats = [
            Caveat(
                f"{count} of {total} predictions lie far outside of their scale, all from {low:.4g} to "
                f"{high:.4g}, so values may be wrong: check `range:` of models.{self.model}",
                model=self.model,
                task=task,
            )
            for task, (count, total, low, high) in self.far_outside.items()
            if count > NOTABLE * total
        ]
        for task, words in self.meant.items():
            count = sum(self.unknown_classes[word] for word in words)
            what = f"{count} predictions are not classes of {task} and count as wrong"
            remedy = f"Say what they mean under models.{self.model}: `{as_values(task, words)}`"
            caveats.append(Caveat(f"{what}. {remedy}", self.model, task=task))
        if self.repeated_different:
            count = f"{self.repeated_different} of {self.repeated}"
            what = f"{count} inputs that were predicted twice got another prediction"
            advice = "the numbers are those of the first predictions, another run may give others"
            caveats.append(Caveat(f"{what}: {advice}. Fix the model's seed", self.model))
        without = self.failed + self.unusable
        if without > MISSING * self.inputs:
            what = f"{without} of {self.inputs} inputs have no prediction for some task"
            how = "its values are about the others, and missing transcripts are errors (`missing: error`)"
            caveats.append(Caveat(f"{what}: {how}. left_out.csv lists them", self.model))
        return caveats

    def reasons(self) -> list[tuple[str, int]]:
        """Give each reason for a missing answer with its count, the most frequent first."""
        counts = Counter(problem for *_, problem in self.failures)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def notes(self) -> list[str]:
        """Say in sentences what is not as it should be; the same problem once, with its count."""
        notes = []
        without = self.failed + self.unusable
        if without:
            notes.append(f"{without} of {self.inputs} inputs have no prediction")
            reasons = self.reasons()
            notes += [f"{count} times: {reason}" for reason, count in reasons[:REASONS]]
            if len(reasons) > REASONS:
                notes.append(f"... and {len(reasons) - REASONS} other reasons")
        if self.out_of_range:
            notes.append(f"{self.out_of_range} predictions lie outside of the nominal range; they are used")
        notes += self.class_notes()
        if self.repeated_different:
            notes.append(
                f"{self.repeated_different} of {self.repeated} inputs predicted twice gave another prediction"
            )
        notes += self.confirmation.notes()
        return notes + self.upkeep.notes() + list(self.notices)


def _joined(first: Any, second: Any) -> Any:
    """Add counts, one by one or of each name; put names and texts together, each once."""
    if dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first)]
        return type(first)(**{name: _joined(getattr(first, name), getattr(second, name)) for name in names})
    if isinstance(first, tuple):
        return tuple(dict.fromkeys([*first, *second]))
    if isinstance(first, dict):
        if not all(isinstance(value, int) for value in (first | second).values()):
            return first | (second | first)
        return dict(sorted((Counter(first) + Counter(second)).items()))
    return round(first + second, 3) if isinstance(first, float) else first + second
