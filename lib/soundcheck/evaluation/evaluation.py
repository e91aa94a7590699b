"""What a notebook works with: one model, one family and the corpora that fit; or two models.

A notebook loads an :class:`Evaluation`, takes a :class:`Subset` for each corpus and task, computes a
statistic and has it judged::

    evaluation = Evaluation.load(run)
    for subset in evaluation.subsets():
        evaluation.judge(subset, "Mean Absolute Error", lambda s, p: mean_absolute_error(s.truth, p.clean))
    evaluation.save()

A *measure* is a function of a subset and predictions. It returns a statistic of :mod:`soundcheck.metrics`, a
number, or a mapping of label to number (see :mod:`soundcheck.evaluation.subset`). It is called with the
predictions of the model and with those of the random reference model.

- Labels and predictions of regression tasks are scaled to 0..1 (see :class:`soundcheck.common.tasks.Task`).
- A subset has every labelled segment, also without a prediction (NaN or ``None``): metrics leave these out
  and count them, and all models are tested on the same segments.
- Texts are normalised, see :mod:`soundcheck.evaluation.recognition`; tasks with embeddings have trials in the
  place of segments, and scores as predictions, see :mod:`soundcheck.evaluation.trials`.

A :class:`Comparison` is of two models on the same segments. Tests are not computed again: the families'
notebooks keep the replicates of what they judge, and those of two models on the same blocks are paired (see
:mod:`soundcheck.results.contrast`).
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from soundcheck.augment import registry
from soundcheck.augment.sounds import Sounds
from soundcheck.common import seeds
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import counted
from soundcheck.common.tasks import Task
from soundcheck.evaluation import changed_segments
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.recognition import HYPOTHESIS, REFERENCE, TextTasks, TranscriptReader
from soundcheck.evaluation.subset import CLEAN as AS_IS
from soundcheck.evaluation.subset import (
    Corpora,
    CorpusDescription,
    CorpusView,
    ModelDescription,
    Predictions,
    Subset,
    read_view,
)
from soundcheck.evaluation.trials import NO_CHANGES, TrialTasks, with_groups
from soundcheck.metrics.differential import Setting
from soundcheck.models.reference import reference_predictions, reference_scores
from soundcheck.predict.tables import differ
from soundcheck.results.contrast import ContrastsFile, contrast_frame, contrasts
from soundcheck.results.rows import Judged, load_judged
from soundcheck.suite import families
from soundcheck.suite.corpus_format import with_suite_groups
from soundcheck.suite.entries import ERROR
from soundcheck.suite.families import Family, Margin, OwnTest, Perturbation, PerturbationSeries
from soundcheck.suite.thresholds import read_family


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationDescription(ModelDescription):
    """One model and one family, for :class:`Evaluation`."""

    model: str  # their names
    family: str
    suite_root: Path  # folder of the suite, which may hold threshold files of its own families
    sounds: Path  # file that lists the noises and impulse responses
    # corpora that the family looks at, with the predictions of the model
    corpora: tuple[CorpusDescription, ...]
    # other models that predict the same -> the corpora with their predictions, if the family compares
    # them
    others: dict[str, tuple[CorpusDescription, ...]] = dataclasses.field(default_factory=dict)
    thresholds: str
    margin: Margin
    balance_samples: int
    seconds: float  # time limit of a cell
    predicts_changes: bool = False  # whether the model can be asked about changed signals
    sweeps: bool = False
    normaliser: str
    transformed_segments: int | None = None
    segments_per_change: int | None = None
    levels: int | None = None
    transformations: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    # test -> what the suite changes about it
    tests: dict[str, OwnTest] = dataclasses.field(default_factory=dict)
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    guesses: bool = False  # whether the model answers at random and hears nothing
    # codes of the languages that the model knows, if the suite says so and the family needs it
    languages: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class GroupCount:
    """How large a group is."""

    group: str  # empty for segments that have no value
    segments: int  # with a label if there are labels; of trials those of two speakers
    speakers: int | str | None = None  # or which ones were drawn; ``None`` if they are not known
    lacks: str = ""  # why it is not compared, empty if it is
    targets: int | None = None  # trials of one speaker; ``None`` for segments


def too_few(needed: Iterable[tuple[int | None, str, int]]) -> str:
    """Say what a group has too few of; empty if it is large enough.

    ``needed`` are numbers, of what, and the least of each; ``None`` is not known, and enough.

    >>> too_few([(40, "segment", 25), (1, "speaker", 2)])
    '1 speaker, 2 needed'
    """
    lacks = (
        f"{counted(n, noun)}, {least} needed" for n, noun, least in needed if n is not None and n < least
    )
    return next(lacks, "")


def count_groups(
    table: pd.DataFrame, column: str, needed: Callable[..., Iterable], names: Iterable[str] | None = None
) -> list[GroupCount]:
    """Count segments and speakers of the groups of a column; ``needed`` gets name, rows and speakers."""
    counts = []
    for name in sorted(table[column].dropna().unique()) if names is None else names:
        rows = table[table[column].eq(name).fillna(False).to_numpy(dtype=bool)]
        speakers = rows["speaker"].nunique() if "speaker" in rows and rows["speaker"].notna().any() else None
        counts.append(GroupCount(name, len(rows), speakers, too_few(needed(name, rows, speakers))))
    return counts


def group_counts(evaluation: Judging, subset: Subset, column: str) -> list[GroupCount]:
    """Count the groups of a column, and say of each what it lacks by the family's options."""
    options = evaluation.family.options
    if column not in subset.segments:
        return []
    if subset.task.is_embedding:
        least, counts = options["minimum_trials"], []
        for name in sorted(subset.segments[column].dropna().unique()):
            mask = subset.mask(column, name)
            targets = int(subset.truth[mask].sum())
            others = int(mask.sum()) - targets
            speakers = np.unique(subset.segments.loc[mask, ["first", "second"]])
            needed = [(others, "non-target trial", least), (targets, "target trial", least)]
            needed.append((len(speakers), "speaker", options["minimum_speakers"]))
            counts.append(GroupCount(name, others, len(speakers), too_few(needed), targets))
        return counts
    least, least_words = (options.get(name, 0) for name in ("minimum_segments", "minimum_words"))
    table = evaluation.view(subset).segments
    changed = changed_segments.changed_rows(evaluation.family, evaluation.tasks, table, evaluation.seed)

    def needed_of(name: str, rows: pd.DataFrame, _: int | None) -> Iterator[tuple[int, str, int]]:
        mask = subset.mask(column, name)
        yield len(rows), "segment", least
        yield int(mask.sum()), "transformed segment", least
        if least_words:
            yield sum(len(text.split()) for text in subset.truth[mask]), "word", least_words

    return count_groups(table[changed], column, needed_of)


NO_AUDIO = "the corpus has no audio that could be changed"
NO_ANSWERS = "a table of predictions cannot answer for changed signals"


def obstacle(family: Family, task: Task, corpus: CorpusView, predicts_changes: bool) -> str:
    """Say why a family cannot be applied; empty if it can."""
    segments = corpus.segments
    for column in family.columns:
        if column not in segments.columns or segments[column].isna().all():
            return f"the corpus has no column {'emotion' if column == 'category' else column}"
    if family.label:
        if task.name not in segments.columns:
            return f"the corpus has no column {task.name}"
        if segments[task.name].isna().all():
            return f"no segment has a label for {task.name}"
    measured = [name for name in family.measured if name in segments.columns]
    alone = not family.options.get("columns")  # else what the table brings will do
    if not corpus.audio and alone and measured and segments[measured].isna().all(axis=None):
        return f"the corpus has no audio on which {' and '.join(measured)} could be measured"
    needed = [*family.changes.values(), *family.transformed]
    if needed and not predicts_changes:
        return NO_ANSWERS
    if needed and not corpus.audio:
        return NO_AUDIO
    return next(filter(None, map(registry.missing, needed)), "")


CLEAN = "clean"  # the first step of a sweep
NO_TRIALS = "the corpus has neither a list of trials nor two speakers to make one of"
PLAIN_SHARE = 0.8  # of the time limit of a notebook that all calls of plain functions may take


class Evaluation(TextTasks, TrialTasks):
    """One model and one family, with everything that the notebook needs."""

    def __init__(self, description: EvaluationDescription) -> None:
        super().__init__()
        vars(self).update(vars(description))  # model, tasks, seed, replicates, interval, thresholds, ...
        known = read_family(description.family, description.suite_root)
        family = known.limited(description)
        self._seconds_left = PLAIN_SHARE * description.seconds
        self.sounds = Sounds.load(description.sounds)
        self.media = MediaStore.of(description)
        views = [read_view(corpus) for corpus in description.corpora]
        if "missing" in family.options:  # where no words are the right answer, no answer is none
            views = [dataclasses.replace(view, missing=family.options["missing"]) for view in views]
        family = with_suite_groups(family, (name for view in views for name in view.groups))
        self.family: Family = families.with_own_tests(family, description.tests)
        self.corpora = [view for view in views if not view.probes_of]
        self.probes = {view.probes_of: view for view in views if view.probes_of}
        wanted = description.transformations.get(known.name, known.series)
        if left_out := [name for name in known.series if name not in wanted]:
            self.note(f"changes that the suite leaves out: {', '.join(left_out)}")
        self._start_reading(views)

    @classmethod
    def load(cls, run: str) -> Self:
        """Load the evaluation that the runner described in a JSON file."""
        return cls(EvaluationDescription.read(run))

    @property
    def block_names(self) -> dict[str, str]:
        """What is resampled of each corpus, in the singular: ``speaker``, ``file`` or ``block``."""
        return {corpus.name: corpus.block_name for corpus in self.corpora}

    def option(self, name: str) -> Any:
        """Give an option of the family that may be one value, or one for each model with a ``default``."""
        return self.family.option(name, self.model)

    def groups(self, subset: Subset, column: str) -> list[str]:
        """List the groups of a column that are large enough; empty if there are not two of them."""
        result = [count.group for count in group_counts(self, subset, column) if not count.lacks]
        return result if len(result) > 1 else []

    @property
    def settings(self) -> dict[Setting, Perturbation | None]:
        """All settings of the family's transformations, the signals as they are first."""
        series = self.family.transformations.items()
        steps = {(name, step): change for name, sweep in series for step, change in sweep.steps.items()}
        return {AS_IS: None} | steps

    def subsets(
        self, change: str = "", base: str = "", *, unchanged: bool = False, as_written: bool = False
    ) -> Iterator[Subset]:
        """Give the evaluable rows of each corpus and task, clean or with the predictions under a change.

        ``base`` names the change in the place of the clean signals; ``unchanged`` counts signals that a
        change leaves as they are; texts are normalised unless ``as_written``. What does not fit is skipped.
        """
        changed, before = self.family.changes.get(change), self.family.changes.get(base)
        missing = registry.missing(changed, self.sounds) if changed else ""
        for corpus, task in self._applicable():
            if task.is_embedding and self.why_unscored(change):
                continue  # tests of clean trials need no changes
            if missing:
                self._reasons[corpus.name, task.name, ""][""] = missing
                continue
            yield self._subset(corpus, task, changed, before, unchanged=unchanged, as_written=as_written)

    samples = subsets  # the name in notebooks of users

    def _applicable(self) -> Iterator[tuple[CorpusView, Task]]:
        """Give the corpora and tasks that the family can be applied to; others are skipped."""
        for corpus, task in itertools.product(self.corpora, self.tasks):
            if task.is_embedding:  # its changes are looked at one by one: clean trials need none of them
                reason = "" if corpus.trials is not None else NO_TRIALS
            else:
                reason = obstacle(self.family, task, corpus, self.predicts_changes)
            if reason:
                self._reasons[corpus.name, task.name, ""][""] = reason
            else:
                yield corpus, task

    def swept(self, sweep: PerturbationSeries, base: str = "") -> Iterator[dict[str, Subset]]:
        """Give for each corpus and task a subset a step of a sweep, all of the same segments.

        The first one, ``"clean"`` or the name of the base, has predictions for these signals on both sides.
        Steps that cannot be made are left out; a single one that is left shows nothing.
        """
        changes = self.possible(sweep)
        if len(changes) < 2:
            self.note(f"{sweep.name}: not shown, because fewer than two steps are left")
            return
        before = self.family.changes.get(base)
        for corpus, task in self._applicable():
            rows = self._swept_rows(corpus, sweep.name, changes.values())
            if not rows.any():
                continue
            steps = {step: self._subset(corpus, task, to, before, rows) for step, to in changes.items()}
            first = next(iter(steps.values()))
            if len(first):
                yield {base or CLEAN: first.unchanged()} | steps

    def possible(self, series: PerturbationSeries) -> dict[str, Perturbation]:
        """Give the steps of a series that this machine and the sound material can make; note the others."""
        lacks = {step: registry.missing(change, self.sounds) for step, change in series.steps.items()}
        for step in filter(lacks.get, lacks):
            self.note(f"{series.name}, {step}: {lacks[step]}")
        return {step: change for step, change in series.steps.items() if not lacks[step]}

    def _swept_rows(self, corpus: CorpusView, series: str, steps: Iterable[Perturbation]) -> np.ndarray:
        """Say which segments of a corpus are looked at in sweeps, and are changed by any step of a series."""
        drawn = changed_segments.swept_rows(
            *(self.family, self.tasks, corpus.segments, corpus.blocks, self.seed, corpus.trials)
        )
        return self._changed(corpus, drawn, series, steps, "at all steps")

    def _changed(
        self, corpus: CorpusView, rows: np.ndarray, name: str, changes: Iterable[Perturbation], when: str
    ) -> np.ndarray:
        """Leave out the segments that changes leave as they are, as silence under a gain; say so."""
        same = rows & corpus.unchanged(*(change.identity for change in changes))
        what = f"segments are the same {when}, sample by sample, and do not count"
        self.note_share(f"{corpus.name}, {name}", same[rows], what)
        return rows & ~same

    def pairs(self) -> Iterator[Subset]:
        """Give for each corpus, task and pair of conditions the recordings of the same words.

        ``clean`` are predictions for the base condition, ``changed`` those for the other one; of more than
        the family's option ``pairs`` so many are drawn.
        """
        for corpus, task in self._applicable():
            whole = dataclasses.replace(self._subset(corpus, task), truth=None)
            predicted, random = whole.predictions.clean, whole.reference.clean
            pairings = changed_segments.pairings(corpus.segments, corpus.base_condition)
            for pairing in pairings:
                for note in pairing.notes:
                    self.note(note, whole)
                drawn = self._drawn_pairs(corpus, pairing)
                first, second = (rows[drawn] for rows in pairing.rows)
                if len(first):
                    yield dataclasses.replace(
                        whole.take(first),
                        predictions=Predictions(predicted[first], predicted[second]),
                        reference=Predictions(random[first], random[second], random=True),
                        change=f"{pairing.base} to {pairing.other}",
                        partner=corpus.segments.iloc[second].reset_index(drop=True),
                    )
            if not any(len(pairing.rows[0]) for pairing in pairings):
                self.skip(whole, "no item was recorded under two conditions")

    def _drawn_pairs(self, corpus: CorpusView, pairing: changed_segments.Pairing) -> np.ndarray:
        keys = corpus.segments["key"].iloc[pairing.rows[0]].tolist()
        most = self.family.options.get("pairs") or len(keys)
        if most < len(keys):
            about = f"{corpus.name}, {pairing.base} to {pairing.other}"
            self.note(f"{about}: {most} of {len(keys)} pairs were drawn")
        draws = seeds.uniform(self.seed, "pairs", self.family.name, pairing.other, keys=keys)
        return changed_segments.smallest(draws, np.ones(len(keys), dtype=bool), most)

    def transformed(self) -> Iterator[Subset]:
        """Give for each corpus the segments, or trials, with predictions under all ``settings``."""
        series, steps = ", ".join(self.family.transformations), list(self.settings.values())[1:]
        for corpus, task in self._applicable():
            if task.is_embedding and not (self.predicts_changes and corpus.audio):
                why = NO_AUDIO if self.predicts_changes else NO_CHANGES
                self._reasons[corpus.name, task.name, ""][""] = why
                continue
            rows = self._swept_rows(corpus, series, steps)
            if task.is_embedding:
                tested = rows[corpus.trials.frame["segment"].to_numpy()]
                if not tested.all():
                    what = f"{tested.sum()} of {len(tested)} trials test one of them"
                    self.note(f"{corpus.name}: {rows.sum()} tested recordings were changed; {what}")
                subset, place = self._subset(corpus, task, rows=tested), np.flatnonzero(tested)
                changed = [corpus.scores(step.identity, place) for step in steps]
                predicted = [subset.predictions.clean, *changed]
            else:
                if not rows.all():
                    self.note(f"{corpus.name}: {rows.sum()} of {len(rows)} segments were transformed")
                subset = self._subset(corpus, task, rows=rows)
                predicted = self.series(subset)
            random = [self.random_predictions(subset, change) for change in self.settings.values()]
            both = self.under_settings(predicted), self.under_settings(random, random=True)
            yield dataclasses.replace(subset, predictions=both[0], reference=both[1])

    def under_settings(self, series: Sequence[np.ndarray], *, random: bool = False) -> Predictions:
        """Put predictions under all settings together."""
        return Predictions(series[0], random=random, settings=dict(zip(self.settings, series, strict=True)))

    def _subset(
        self,
        corpus: CorpusView,
        task: Task,
        change: Perturbation | None = None,
        base: Perturbation | None = None,
        rows: np.ndarray | None = None,
        *,
        unchanged: bool = False,
        as_written: bool = False,
    ) -> Subset:
        """Give the rows of a corpus, or some of them, with predictions for the signals and under a change."""
        segments, truth, blocks = corpus.segments, None, corpus.block_codes()
        chosen, of_trials = np.ones(len(segments), dtype=bool), task.is_embedding
        if not of_trials and task.name in segments and segments[task.name].notna().any():
            truth = corpus.labels(task)
            if self.family.label or task.is_transcription and self.family.changes:
                chosen = pd.notna(truth)
                self.note_share(corpus.name, ~chosen, f"segments have no label for {task.name}")
        if change is not None:
            drawn = changed_segments.changed_rows(self.family, self.tasks, segments, self.seed)
            if not of_trials:
                self.note_share(corpus.name, (chosen & ~drawn)[chosen], "segments were not drawn")
            chosen = chosen & drawn
            if rows is None and not unchanged:
                both = filter(None, (change, base))
                chosen = self._changed(corpus, chosen, change.name, both, "after it")
        if of_trials:
            segments = with_groups(corpus.trials, segments, self.family.options.get("groups", ()))
            truth, blocks = segments["target"].to_numpy(dtype=bool), np.zeros(len(segments), dtype=np.intp)
            chosen = chosen[segments["segment"].to_numpy()]  # the tested side is changed
            if not chosen.all():
                self.note(f"{corpus.name}: of {len(chosen)} trials {chosen.sum()} were changed")
        chosen = chosen if rows is None else chosen & rows
        changes = [base] if change is None else [base, change]
        identities = [each.identity if each else "" for each in changes]
        if task.is_transcription and corpus.missing == ERROR:
            for asked in (None, change):
                if count := int(corpus.lost(asked.identity if asked else "").sum()):
                    where = f"{corpus.name}, {asked.name}" if asked else corpus.name
                    what = f"{counted(count, 'input')} without a prediction: all words count as missed"
                    self.note(f"{where}: {what}")
        answers = map(corpus.scores if of_trials else functools.partial(corpus.predicted, task), identities)
        predictions = Predictions(*answers)
        everything = Subset(
            *(corpus.name, task, segments, truth, predictions, predictions, blocks),
            change=change.name if change else "",
            root=corpus.root,
            base=base.name if base else "",
        )
        random = Predictions(*(self.random_predictions(everything, each) for each in changes), random=True)
        subset = dataclasses.replace(everything, reference=random).take(chosen)
        return self._normalised(subset) if task.is_transcription and not as_written else subset

    def random_predictions(self, subset: Subset, change: Perturbation | None = None) -> np.ndarray:
        """Draw what the random reference predicts for the rows of a subset; transcripts from its own."""
        under, keys = change.identity if change else "", subset.segments["key"].tolist()
        if subset.task.is_embedding:
            return reference_scores(self.seed, [f"{subset.corpus}|trial {key}" for key in keys], under)
        texts = () if subset.truth is None or not subset.task.is_transcription else list(subset.truth)
        keys = [f"{subset.corpus}|{key}" for key in keys]
        return reference_predictions(subset.task, self.seed, keys, under, texts)


# Two models


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonDescription(ModelDescription):
    """Two models, for :class:`Comparison`."""

    comparison: str  # its name in the suite
    baseline: str  # names of the models; of two runs with the run that they are from
    candidate: str
    titles: dict[str, str]  # family -> its title
    # each corpus twice, with the predictions of the baseline and of the candidate
    corpora: tuple[tuple[CorpusDescription, CorpusDescription], ...]
    # files with the rows of the baseline and of the candidate, a pair a family; ``None`` where one has none
    pairs: tuple[tuple[Path | None, Path | None], ...]
    normaliser: str
    # the same on the segments that both answered, of families that one of them answered more for
    common: tuple[tuple[Path, Path], ...] = ()
    # whether replicates on the same blocks were drawn with the same weights: not those of other seeds
    same_draws: bool = True
    unlike: tuple[str, ...] = ()  # tasks that were measured in other ways, and are not compared
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()


class Comparison(Corpora):
    """Two models, every test that both were judged on, and their predictions."""

    guesses = False  # whether a model hears nothing

    def __init__(self, description: ComparisonDescription) -> None:
        names_of = ("baseline", "candidate", "titles", "tasks", "seed", "replicates", "interval", "rows")
        vars(self).update({name: getattr(description, name) for name in names_of})
        self.name = description.comparison
        self.media = MediaStore.of(description)
        self._pairs = [tuple(map(read_view, pair)) for pair in description.corpora]
        self.corpora = [first for first, _ in self._pairs]
        self._texts = TranscriptReader(description.normaliser, description.alternatives, description.synonyms)
        names = (description.baseline, description.candidate)

        def read(pairs: Sequence[tuple[Path | None, Path | None]], side: int) -> list[Judged]:
            paths = filter(None, (pair[side] for pair in pairs))
            entries = (entry for path in paths for entry in load_judged(path, parts=True))
            return [row.of(names[side]) for row in entries if row.verdict.task not in description.unlike]

        judged, common = (
            [read(entries, n) for n in (0, 1)] for entries in (description.pairs, description.common)
        )
        apart = {
            first.name
            for first, other in description.corpora
            if differ(first.predictions, other.predictions, (first.missing == ERROR, other.missing == ERROR))
        }
        self.contrasts = contrasts(*judged, description.same_draws, tuple(common), apart, names)

    @classmethod
    def load(cls, run: str) -> Self:
        """Load the comparison that the runner described in a JSON file."""
        return cls(ComparisonDescription.read(run))

    def frame(self) -> pd.DataFrame:
        """Give all contrasts as a table."""
        return contrast_frame(self.contrasts)

    def answered(self) -> pd.DataFrame:
        """List who answered each segment of each corpus: ``corpus, task, file, baseline, candidate``."""
        result = []
        for views, task in itertools.product(self._pairs, self.tasks):
            sides = [pd.notna(view.predicted(task)) for view in views]
            about = {"corpus": views[0].name, "task": task.name, "file": views[0].segments["file"]}
            result.append(pd.DataFrame(about | dict(zip(("baseline", "candidate"), sides, strict=True))))
        return pd.concat(result) if result else pd.DataFrame()

    def pairs(self) -> Iterator[Subset]:
        """Give the predictions of both models for each corpus and each task with labels that both predict.

        ``clean`` are the predictions of the baseline, ``changed`` those of the candidate; labels that are
        missing, and classes that the task does not have, are NaN or ``None``.
        """
        for views, task in itertools.product(self._pairs, self.tasks):
            if task.is_labelled:
                truth = views[0].labels(task)
                if not task.is_regression:
                    truth = np.where(np.isin(truth.astype(str), task.classes), truth, None)
                yield _both(views[0], task, truth, *(view.predicted(task) for view in views))

    def transcripts(self) -> Iterator[Subset]:
        """Give what was said and what both recognisers heard, for each corpus with transcripts."""
        for (first, second), task in itertools.product(self._pairs, self.tasks):
            if task.is_transcription and not first.probes_of:
                apart = self._texts.apart(first, task)
                sides = [(first.labels(task), REFERENCE)]
                sides += [(view.predicted(task), HYPOTHESIS) for view in (first, second)]
                texts = [self._texts.read(raw, side, first.segments, apart) for raw, side in sides]
                pair = _both(first, task, *texts)
                if pair.labelled:
                    yield pair

    def save(self) -> None:
        """Write the contrasts for the run that collects them; the last thing that the notebook does."""
        ContrastsFile(tuple(self.contrasts)).write(self.rows)


def _both(view: CorpusView, task: Task, truth: np.ndarray, *predicted: np.ndarray) -> Subset:
    both = Predictions(*predicted)
    return Subset(view.name, task, view.segments, truth, both, both, view.block_codes(), root=view.root)
