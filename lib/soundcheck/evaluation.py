"""What a notebook holds in its hand: one model, one family and the corpora that fit.

A notebook loads an :class:`Evaluation`, takes a :class:`Sample` for each corpus and task, computes a
statistic and has it judged::

    evaluation = Evaluation.load(run)
    for sample in evaluation.samples():
        evaluation.judge(
            sample,
            "Mean Absolute Error",
            lambda sample, answers: mean_absolute_error(sample.truth, answers.clean),
        )
    evaluation.save()

A *measure* is a function of a sample and the answers of one answerer. It is called twice, with the answers of
the model and with those of the random reference model, so that no verdict stands without its reference.

Conventions
-----------
- Labels and predictions of regression tasks are scaled to 0..1 (see :class:`soundcheck.tasks.Task`).
- A sample holds every labelled segment, also those that the model gave no answer for (NaN or ``None``):
  metrics leave them out and count them, and all models are tested on the same segments.
- Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the
  reason.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck import bootstrap, files, seeds, simulation, verdicts, views
from soundcheck.balance import at_most, balance, equally_many_speakers
from soundcheck.media import MediaStore
from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.weighted import Weighted
from soundcheck.models.reference import reference_answers
from soundcheck.tasks import Task
from soundcheck.thresholds import Change, Family, TestDefinition, read_family


@dataclasses.dataclass(frozen=True)
class Answers:
    """What one answerer says about the rows of a sample.

    Parameters
    ----------
    clean
        Predictions for the signals as they are, shape ``(segments,)``: float64 or class names.
    changed
        Predictions for the changed signals; ``None`` if the sample has no change.
    """

    clean: np.ndarray
    changed: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Answers:
        """Keep some rows."""
        return Answers(self.clean[rows], None if self.changed is None else self.changed[rows])


Measure = Callable[["Sample", Answers], Statistic | Weighted]


@dataclasses.dataclass(frozen=True)
class Sample:
    """The rows of one corpus that can be evaluated for one task, in canonical order.

    Parameters
    ----------
    corpus
        Name of the corpus.
    task
        The task.
    segments
        Rows of the segment table.
    truth
        Labels, shape ``(segments,)``; ``None`` if the corpus has none for the task. Complete if the family
        needs labels, else possibly with gaps.
    answers, reference
        Predictions of the model and of the random reference model.
    blocks
        Block of each row, as integer codes from 0.
    change
        Name of the change, empty for clean signals.
    root
        Folder of the corpus, for listening; never shown.
    group_size
        How many groups are compared, and how many segments each has; decides simulated thresholds.
    """

    corpus: str
    task: Task
    segments: pd.DataFrame
    truth: np.ndarray | None
    answers: Answers
    reference: Answers
    blocks: np.ndarray
    change: str = ""
    root: Path = Path()
    group_size: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.segments)

    def take(self, rows: np.ndarray) -> Sample:
        """Keep the rows with these numbers, in canonical order."""
        rows = np.sort(np.asarray(rows))
        segments = self.segments.iloc[rows].reset_index(drop=True)
        _, blocks = np.unique(self.blocks[rows], return_inverse=True)
        return dataclasses.replace(
            self,
            segments=segments,
            truth=None if self.truth is None else self.truth[rows],
            answers=self.answers.take(rows),
            reference=self.reference.take(rows),
            blocks=blocks,
        )

    def mask(self, column: str, value: object) -> np.ndarray:
        """Say which rows have a value in a column of the segment table, bool ``(segments,)``."""
        return self.segments[column].eq(value).fillna(False).to_numpy(dtype=bool)

    def with_column(self, name: str, values: Sequence[object]) -> Sample:
        """Add a column to the segment table."""
        return dataclasses.replace(self, segments=self.segments.assign(**{name: values}))

    def sized(self, groups: int, samples: int) -> Sample:
        """Say how many groups are compared, and how many segments the tested one has."""
        return dataclasses.replace(self, group_size=(groups, samples))


class Evaluation:
    """One model and one family, with everything that the notebook needs.

    Parameters
    ----------
    description
        What the runner writes: see :func:`describe`.
    """

    def __init__(self, description: Mapping) -> None:
        self.model: str = description["model"]
        self.family: Family = read_family(description["family"], Path(description["own"]))
        self.tasks = [views.read_task(task) for task in description["tasks"]]
        self.seed: int = description["seed"]
        self.replicates: int = description["replicates"]
        self.interval: str = description["interval"]
        self.thresholds: str = description["thresholds"]
        self.balance_samples: int = description["balance_samples"]
        self.answers_changes: bool = description["answers_changes"]
        self.media = MediaStore(Path(description["media"]), description["prefix"])
        self.corpora = [views.read_view(corpus) for corpus in description["corpora"]]
        self._simulated: dict[tuple, dict] = {}
        self._judged: list[verdicts.Judged] = []
        self.notes: list[str] = []
        self._reasons: dict[tuple[str, str], str] = {}
        self._rows_file = Path(description["rows"])

    @classmethod
    def load(cls, run: str) -> Evaluation:
        """Load the evaluation that the runner described in a JSON file."""
        if not run:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return cls(json.loads(Path(run).read_text(encoding="utf-8")))

    @property
    def synthetic(self) -> bool:
        """Whether any of the corpora is synthetic."""
        return any(corpus.synthetic for corpus in self.corpora)

    def change(self, name: str) -> Change:
        """Return one of the family's changes."""
        return self.family.changes[name]

    def samples(self, change: str = "") -> Iterator[Sample]:
        """Give the evaluable rows of each corpus and task, clean or with the answers under a change.

        Corpora and tasks that the family cannot be applied to are passed over; their tests become skipped
        rows with the reason.
        """
        for corpus in self.corpora:
            for task in self.tasks:
                reason = self._obstacle(corpus, task)
                if reason:
                    self._reasons[corpus.name, task.name] = reason
                else:
                    yield self._sample(corpus, task, change)

    def _obstacle(self, corpus: views.CorpusView, task: Task) -> str:
        """Say why the family cannot be applied to a corpus and task; empty if it can."""
        for column in self.family.columns:
            if column not in corpus.segments.columns or corpus.segments[column].isna().all():
                return f"the corpus has no column {'emotion' if column == 'category' else column}"
        if self.family.label:
            if task.name not in corpus.segments.columns:
                return f"the corpus has no column {task.name}"
            if corpus.segments[task.name].isna().all():
                return f"no segment has a label for {task.name}"
        if self.family.changes and not self.answers_changes:
            return "a table of predictions cannot answer for changed signals"
        return ""

    def _sample(self, corpus: views.CorpusView, task: Task, change: str) -> Sample:
        segments = corpus.segments
        truth, rows = None, np.arange(len(segments))
        if task.name in segments.columns and segments[task.name].notna().any():
            truth = corpus.labels(task)
        # Changes need no labels; but where there are some, all tests of a change rest on the same segments.
        if self.family.label or (self.family.changes and truth is not None):
            rows = np.flatnonzero(pd.notna(truth))
            missing = len(segments) - len(rows)
            if missing:
                self._tell(
                    f"{corpus.name}: {missing} of {len(segments)} segments have no label for {task.name}"
                )
        identity = self.family.changes[change].identity if change else ""
        keys = [f"{corpus.name}|{key}" for key in segments["key"]]

        def reference(under: str) -> np.ndarray:
            return reference_answers(task, self.seed, keys, under)

        answers = Answers(corpus.answers(task))
        random = Answers(reference(""))
        if change:
            answers = dataclasses.replace(answers, changed=corpus.answers(task, identity))
            random = dataclasses.replace(random, changed=reference(identity))
        everything = Sample(
            corpus.name, task, segments, truth, answers, random, corpus.block_codes(), change, corpus.root
        )
        return everything.take(rows)

    def balanced(self, sample: Sample, column: str) -> tuple[Sample, str]:
        """Draw equally large groups with the same distribution of labels (see :mod:`soundcheck.balance`).

        Parameters
        ----------
        sample
            Labelled rows.
        column
            Column of the segment table that holds the group; the family's option ``groups`` lists its values.
            Groups without segments are passed over.

        Returns
        -------
        tuple of Sample and str
            The drawn rows, and why there are fewer than wanted, else ``""``.
        """
        groups = sample.segments[column].where(sample.segments[column].isin(self.family.options["groups"]))
        rng = seeds.generator(self.seed, "balance", self.family.name, sample.corpus, sample.task.name)
        drawn = balance(
            sample.truth,
            groups.to_numpy(dtype=object),
            self.balance_samples,
            rng,
            sample.task.kind,
            sample.segments["key"].to_numpy(dtype=object),
        )
        if drawn.note:
            self._tell(f"{sample.corpus}, {sample.task.name}: {drawn.note}")
        found = sample.take(drawn.rows)
        return found.sized(found.segments[column].nunique(), drawn.samples), drawn.note

    def at_most(self, sample: Sample, column: str, samples: int) -> Sample:
        """Keep so many random segments of each group, and tell how many were left out.

        Parameters
        ----------
        sample
            Rows to draw from; those without group are left out.
        column
            Column of the segment table that holds the group.
        samples
            Segments to keep of each group.
        """
        groups = sample.segments[column].to_numpy(dtype=object)
        rng = seeds.generator(self.seed, "at most", self.family.name, sample.corpus)
        rows = at_most(groups, samples, rng, sample.segments["key"].to_numpy(dtype=object))
        surplus = int(pd.notna(groups).sum()) - len(rows)
        if surplus:
            self._tell(
                f"{sample.corpus}: {surplus} segments of groups with more than {samples} were not drawn"
            )
        return sample.take(rows)

    def equally_many_speakers(self, sample: Sample, column: str) -> Sample:
        """Keep as many female as male speakers of each group, and tell who was left out.

        Parameters
        ----------
        sample
            Rows to draw from.
        column
            Column of the segment table that holds the group. Without columns ``speaker`` and ``sex`` all
            rows are kept, and a note says so.
        """
        there = [name for name in ("speaker", "sex") if name in sample.segments]
        if len(there) < 2:
            self._tell(f"{sample.corpus}: speakers cannot be balanced by sex without columns speaker and sex")
            return sample
        rng = seeds.generator(self.seed, "equally many speakers", self.family.name, sample.corpus)
        columns = (sample.segments[name].to_numpy(dtype=object) for name in (column, *there))
        rows, told = equally_many_speakers(*columns, rng)
        for group, (kept, female, male) in told.items():
            if kept < max(female, male):
                self._tell(
                    f"{sample.corpus}, {group}: {kept} of {female} female and {kept} of {male} male speakers"
                )
        return sample.take(rows)

    def skip(self, sample: Sample, reason: str) -> None:
        """Say why the tests of a corpus and task that are not judged are skipped."""
        self._reasons[sample.corpus, sample.task.name] = reason

    def judge(self, sample: Sample, test: str, measure: Measure) -> list[verdicts.Verdict]:
        """Compute a measure with its interval, compare it with its threshold and the random reference.

        Parameters
        ----------
        sample
            Rows to evaluate.
        test
            Name of the test in the family's threshold file.
        measure
            Function of a sample and answers that gives a :class:`~soundcheck.metrics.additive.Statistic`.

        Returns
        -------
        list of Verdict
            One for each label of the statistic; also kept for :meth:`save`.

        Raises
        ------
        KeyError
            If the family's threshold file has no such test.
        """
        definition = self.family.tests[test]
        statistic = measure(sample, sample.answers)
        found = bootstrap.resample(statistic, sample.blocks, self.replicates, self.seed)
        for note in filter(None, dict.fromkeys(found.notes)):
            self._tell(f"{sample.corpus}, {sample.task.name}, {test}: {note}")
        judged = verdicts.judge(
            found,
            model=self.model,
            corpus=sample.corpus,
            family=self.family.name,
            category=self.family.category,
            task=sample.task.name,
            test=test,
            rule=definition.rule,
            threshold=self._threshold(sample, definition),
            reference=values(measure(sample, sample.reference)),
            kind=self.interval,
        )
        population = _population(sample, statistic, found)
        for n, verdict in enumerate(judged):
            self._judged.append(verdicts.Judged(verdict, found.samples[:, n], *population))
        return judged

    def _threshold(self, sample: Sample, definition: TestDefinition) -> float | None:
        """Give the threshold of a test: the published one, or one simulated for the sizes of the groups."""
        published = definition.threshold_for(sample.task)
        if sample.group_size is None or not definition.simulation or published is None:
            return published
        groups, samples = sample.group_size
        four_classes = sample.task.is_regression or len(sample.task.classes) == 4
        if groups < 2 or samples < 2 or not four_classes:
            self._tell(
                f"{sample.corpus}, {sample.task.name}: the published thresholds hold, because simulations "
                "are for 2 groups or more of at least 2 segments and for 4 classes"
            )
            return published
        setting = simulation.setting_of(definition.simulation, groups, samples)
        found = simulation.simulate(setting, simulation.MANY_RUNS)
        suggested = simulation.suggested_threshold(found)
        row = {
            "corpus": sample.corpus,
            "task": sample.task.name,
            "test": definition.name,
            "groups": groups,
            "samples": samples,
            "published": published,
            "percentile_99": found.percentile_99,
            "percentile_999": found.percentile_999,
            "simulated": suggested,
        }
        self._simulated[tuple(row.values())] = row
        return suggested if self.thresholds == "simulated" else published

    def simulated(self) -> pd.DataFrame:
        """Give what unbiased random models score in groups of the sizes that were tested.

        Returns
        -------
        pandas.DataFrame
            One row a corpus, task, test and size of groups: ``published`` threshold, ``percentile_99``
            and ``percentile_999`` of the simulated scores, and the threshold ``simulated`` from them.
        """
        return pd.DataFrame(list(self._simulated.values()))

    def frame(self) -> pd.DataFrame:
        """Give all verdicts so far as rows of the results table, tests that were not judged as skipped."""
        return verdicts.to_frame(entry.verdict for entry in self._rows())

    def _rows(self) -> list[verdicts.Judged]:
        judged = {(row.verdict.corpus, row.verdict.task, row.verdict.test) for row in self._judged}
        rows = list(self._judged)
        for corpus in self.corpora:
            for task in self.tasks:
                reason = self._reasons.get((corpus.name, task.name), "not computed by the notebook")
                for row in verdicts.skipped_rows(self.model, corpus.name, self.family, task, reason):
                    if (row.corpus, row.task, row.test) not in judged:
                        rows.append(verdicts.Judged(row, np.empty(0)))
        return rows

    def _tell(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        verdicts.save(self._rows(), self._rows_file, notes=self.notes)


def _population(
    sample: Sample, statistic: Statistic | Weighted, found: bootstrap.Resampled
) -> tuple[str, str]:
    """Say on which segments and on which blocks a statistic rests, as two digests."""
    everybody = "\n".join(sample.segments["key"])
    if isinstance(statistic, Weighted):
        used, rows = statistic.n_blocks, found.segments.tolist()
    else:
        used = np.unique(sample.blocks[statistic.rows]).tolist()
        rows = np.flatnonzero(statistic.rows).tolist()
    return files.digest(f"{everybody}\n{rows}"), files.digest(f"{everybody}\n{used}")
