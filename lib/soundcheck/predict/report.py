"""What became of the inputs of a model."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.caveats import Caveat
from soundcheck.common.class_words import as_values
from soundcheck.common.wording import some
from soundcheck.predict.canaries import Confirmation
from soundcheck.predict.opened_files import Sources
from soundcheck.suite.model_kind import public_path

REASONS = 5  # different reasons that a summary names
FILES = 5  # files that a note names
MISSING = 0.05  # share of inputs without an answer that makes numbers doubtful
NOTABLE = 0.01  # share of answers far outside of their scale that makes numbers doubtful


@dataclasses.dataclass(frozen=True)
class PredictionReport:
    """What became of the inputs of a model.

    Parameters
    ----------
    model
        Its name.
    code
        Digest of what its answers depend on, as far as that is known before it is asked: code, options, files
        that the suite names. Kept answers are found by it.
    tables
        Corpus -> prediction table.
    inputs
        Segments times signals (clean and changed); each is a row of a table.
    computed, reused
        Inputs answered in this run, and from the cache.
    failed
        Inputs to which the model gave no usable answer.
    unusable
        Inputs without an answer through no fault of the model: the signal could not be read or changed, or a
        table of predictions has no row for it. ``inputs = computed + reused + failed + unusable``.
    failures
        Corpus, segment, name of the change (empty = clean) and reason of each input without answer.
    out_of_range
        Numbers outside of their task's nominal range; they are kept.
    far_outside
        Task -> answers far outside of their scale, of how many, the lowest and the highest.
    unknown_classes
        Class that the task does not have -> how often it was answered; such an answer is wrong.
    meant
        Task -> answer that is no class -> the class that it probably means.
    repeated, repeated_different
        Inputs that were asked twice, and how many of them got another answer the second time.
    seconds
        That it took.
    notices
        What else a reader should know.
    answers_of
        Day on which the model was asked, if this run did not ask it; else empty.
    asked
        Inputs that the model was asked about in this run, whatever it said; 0 if it does not listen.
    days
        Day, as ISO 8601, on which answers from the cache were given -> how many.
    confirmation
        What came of asking some inputs again whose answers are kept.
    outdated, outdated_by
        Kept answers that were not used, and the files that have changed since they were given.
    dropped, dropped_by
        Answers that are not kept for later, and the files that changed while the model answered.
    damaged
        Kept answers that were not what was written, and were not used.
    damage
        Why the file with the answers of all models could not be used.
    sources
        What the kept answers rest on.
    kept_caveats
        Those of the run that asked the model, if this run did not.
    """

    model: str
    code: str = ""
    tables: dict[str, Path] = dataclasses.field(default_factory=dict)
    inputs: int = 0
    computed: int = 0
    reused: int = 0
    failed: int = 0
    unusable: int = 0
    failures: list[tuple[str, str, str, str]] = dataclasses.field(default_factory=list)
    out_of_range: int = 0
    unknown_classes: dict[str, int] = dataclasses.field(default_factory=dict)
    repeated: int = 0
    repeated_different: int = 0
    seconds: float = 0.0
    notices: tuple[str, ...] = ()
    answers_of: str = ""

    @property
    def digests(self) -> dict[str, str]:
        """Digest of each prediction table, by corpus."""
        return {corpus: files.digest(path) for corpus, path in self.tables.items() if path.is_file()}

    asked: int = 0
    days: dict[str, int] = dataclasses.field(default_factory=dict)
    confirmation: Confirmation = Confirmation()
    outdated: int = 0
    outdated_by: tuple[str, ...] = ()
    dropped: int = 0
    dropped_by: tuple[str, ...] = ()
    damaged: int = 0
    damage: tuple[str, ...] = ()
    sources: Sources = dataclasses.field(default_factory=Sources)
    meant: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    far_outside: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    kept_caveats: tuple[Caveat, ...] = ()

    @property
    def seen_files(self) -> dict[str, str]:
        """Files that the model opened, see :attr:`soundcheck.predict.opened_files.Sources.seen_files`."""
        return self.sources.seen_files

    @property
    def fingerprint(self) -> str:
        """Digest of all that its answers depend on: ``code``, and the files that it opened."""
        seen = sorted(self.seen_files.items())
        return files.digest(json.dumps([self.code, seen])) if seen else self.code

    def joined(self, later: PredictionReport) -> PredictionReport:
        """Add what became of other inputs of the same model, which were asked about later."""
        counts = collections.Counter(self.unknown_classes) + collections.Counter(later.unknown_classes)
        summed = (
            *("inputs", "computed", "reused", "failed", "unusable", "out_of_range"),
            *("repeated", "repeated_different", "asked", "outdated", "dropped", "damaged"),
        )
        days = collections.Counter(self.days) + collections.Counter(later.days)
        return dataclasses.replace(
            self,
            tables=self.tables | later.tables,
            far_outside=later.far_outside | self.far_outside,
            meant=later.meant | self.meant,
            failures=[*self.failures, *later.failures],
            unknown_classes=dict(counts),
            seconds=round(self.seconds + later.seconds, 3),
            notices=tuple(dict.fromkeys([*self.notices, *later.notices])),
            days=dict(sorted(days.items())),
            outdated_by=tuple(sorted({*self.outdated_by, *later.outdated_by})),
            dropped_by=tuple(sorted({*self.dropped_by, *later.dropped_by})),
            damage=tuple(dict.fromkeys([*self.damage, *later.damage])),
            sources=self.sources.joined(later.sources),
            **{name: getattr(self, name) + getattr(later, name) for name in summed},
        )

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
        if self.answers_of:
            return list(self.kept_caveats)
        found = [
            Caveat(
                f"{count} of {total} answers lie far outside of their scale, all from {low:.4g} to "
                f"{high:.4g}, so values may be wrong: check `range:` of models.{self.model}",
                model=self.model,
                task=task,
            )
            for task, (count, total, low, high) in self.far_outside.items()
            if count > NOTABLE * total
        ]
        for task, words in self.meant.items():
            count = sum(self.unknown_classes[word] for word in words)
            what = f"{count} answers are not classes of {task} and count as wrong"
            remedy = f"Say what they mean under models.{self.model}: `{as_values(task, words)}`"
            found.append(Caveat(f"{what}. {remedy}", self.model, task=task))
        if self.repeated_different:
            count = f"{self.repeated_different} of {self.repeated}"
            what = f"{count} inputs that were asked twice got another answer"
            advice = "the numbers are those of the first answers, another run may give others"
            found.append(Caveat(f"{what}: {advice}. Fix the model's seed", self.model))
        without = self.failed + self.unusable
        if without > MISSING * self.inputs:
            what = f"{without} of {self.inputs} inputs have no answer, so values are about the others"
            how = "word errors count inputs that were asked in vain as all missed where `missing: error`"
            found.append(Caveat(f"{what}; {how}. left_out.csv lists them", self.model))
        return found

    def reasons(self) -> list[tuple[str, int]]:
        """Give each reason for a missing answer with its count, the most frequent first."""
        counts = collections.Counter(problem for *_, problem in self.failures)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def notes(self) -> list[str]:
        """Say in sentences what is not as it should be; the same problem is told once, with its count."""
        notes = []
        if self.answers_of:
            notes.append(f"this run did not ask the model: its answers are those of {self.answers_of}")
        without = self.failed + self.unusable
        if without:
            notes.append(f"{without} of {self.inputs} inputs have no answer")
            reasons = self.reasons()
            notes += [f"{count} times: {reason}" for reason, count in reasons[:REASONS]]
            if len(reasons) > REASONS:
                notes.append(f"... and {len(reasons) - REASONS} other reasons")
        if self.out_of_range:
            notes.append(f"{self.out_of_range} answers lie outside of the nominal range; they are kept")
        notes += self.class_notes()
        if self.repeated_different:
            notes.append(
                f"{self.repeated_different} of {self.repeated} inputs predicted twice gave another answer"
            )
        notes += self.confirmation.notes()
        notes += outdated_notes(self.outdated, self.outdated_by)
        notes += dropped_notes(self.dropped, self.dropped_by)
        notes += damaged_notes(self.damaged, self.damage)
        return notes + _unseen(self.sources) + list(self.notices)


def outdated_notes(count: int, names: Sequence[str]) -> list[str]:
    """Say that kept answers were not used."""
    why = f"because these files are not what they were: {_listed(names)}"
    return [f"{count} inputs were asked anew, {why}"] if count else []


def dropped_notes(count: int, names: Sequence[str]) -> list[str]:
    """Say that answers are not kept."""
    why = f"because these files changed while the model answered: {_listed(names)}"
    return [f"{count} answers are not kept for later runs, {why}"] if count else []


def damaged_notes(count: int, damage: Sequence[str]) -> list[str]:
    """Say that kept answers could not be used because they, or the file that keeps them, were damaged."""
    lost_all = "kept answers of all models are lost or cannot be read, so they are asked anew"
    damaged = f"{count} kept answers were damaged and are asked anew"
    return [*(f"{lost_all}: {why}" for why in damage), *([damaged] if count else [])]


def _unseen(sources: Sources) -> list[str]:
    """Say what could not be looked at."""
    notes = []
    if sources.special:
        notes.append(
            f"the model reads from what is no regular file, so a change of it is not seen: "
            f"{_listed(sources.special)}"
        )
    if sources.gone:
        notes.append(
            f"files that the model had opened were gone in the end, so a change of them is not seen: "
            f"{_listed(sources.gone)}"
        )
    return notes


def _listed(names: Sequence[str]) -> str:
    return some([*map(public_path, names)], FILES)
