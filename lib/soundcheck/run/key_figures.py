"""Numbers that a meeting asks for first: how good each model is at its task, and if it beats guessing.

They are computed from predictions and labels, whatever families a suite has, and are rows of the estimates:

- values: concordance correlation coefficient; guessing scores 0
- classes: unweighted average recall; guessing scores 1 by the number of classes that occur in the labels
- words: word error rate, where scripts have no blanks that of characters, or of both; guessing scores what
  its own transcripts do, dealt out to other segments
- verification: equal error rate; guessing scores 0.5. False acceptances and rejections at the threshold in
  use stand beside it and decide nothing, because any threshold trades one for the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from soundcheck.common import seeds
from soundcheck.common.store import made_of
from soundcheck.common.tasks import Task
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.recognition import HYPOTHESIS, REFERENCE, TranscriptReader
from soundcheck.evaluation.subset import CorpusView
from soundcheck.evaluation.trials import enrolled_recordings, threshold_in_use
from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.regression import concordance_cc
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import (
    equal_error_rate,
    false_acceptance_rate,
    false_rejection_rate,
)
from soundcheck.metrics.weighted import Weighted
from soundcheck.metrics.word_errors import CHARACTER, unit_of, word_errors
from soundcheck.metrics.word_rates import characters_of, permuted_word_error_rates
from soundcheck.predict.tables import read_predictions
from soundcheck.results.record import KeyFigure
from soundcheck.results.rows import CHANCE, Estimate
from soundcheck.results.states import compared
from soundcheck.run.material import Material
from soundcheck.statistics.bootstrap import Resampled, resample_all
from soundcheck.statistics.evidence import FREE, Scale, withheld
from soundcheck.statistics.fixed_speakers import fixed_speakers
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import HIGHER, Family, info_of, named

FAMILY = "key figures"  # that owns their rows where no family has them
_AT_THRESHOLD = {
    "false acceptance rate": false_acceptance_rate,
    "false rejection rate": false_rejection_rate,
}


def key_figures(material: Material) -> tuple[KeyFigure, ...]:
    """Compute the numbers of all models, for each corpus with labels and each task, in this order."""
    suite, tested = material.suite, {family.name: family for family in material.families}
    lists = material.lists.items()
    figures_of_all: list[KeyFigure] = []
    for model, report in material.reports.items():
        for corpus in material.corpora:
            if corpus.entry.probes_of or corpus.name not in report.tables:
                continue
            trials = [(table, tested[family]) for (name, family), table in lists if name == corpus.name]
            predictions = read_predictions(report.tables[corpus.name])
            settings = {"predictions": predictions, "missing": suite.models[model].missing, "trials": None}
            view = made_of(CorpusView, corpus, corpus.entry, **settings, title=corpus.entry.title)
            for task in suite.tasks_of(suite.models[model]):
                figures = _Figures(suite, model, view, task)
                if task.is_embedding:
                    for table, family in trials[:1]:
                        figures_of_all += figures.of_trials(table, family)
                elif task.name in corpus.segments and corpus.segments[task.name].notna().any():
                    figures_of_all += figures.of_segments()
    return tuple(figures_of_all)


class _Figures:
    """The numbers of one model, corpus and task."""

    def __init__(self, suite: Suite, model: str, view: CorpusView, task: Task) -> None:
        self._suite, self._view, self._task = suite, view, task
        self._about = {"model": model, "corpus": view.name, "task": task.name}

    def of_segments(self) -> Iterator[KeyFigure]:
        """Give the number of a task whose labels belong to segments."""
        truth, predicted = self._view.labels(self._task), self._view.predicted(self._task)
        if self._task.is_regression:
            yield self._figure("concordance", concordance_cc(truth, predicted), 0.0)
        elif self._task.is_transcription:
            yield self._of_words(truth, predicted)
        else:
            classes = self._task.classes
            known = np.array([name if name in classes else None for name in truth], dtype=object)
            occurring = len(set(known) - {None})
            if occurring < 2:  # no average over classes, and nothing to tell apart
                return
            recall = unweighted_average_recall(known, predicted, classes)
            # With as many digits as values have: a sixth must not be worse than itself.
            yield self._figure("unweighted average recall", recall, round_significant(1 / occurring).item())

    def _of_words(self, truth: np.ndarray, predicted: np.ndarray) -> KeyFigure:
        texts = TranscriptReader(self._suite.normaliser, self._suite.alternatives, self._suite.synonyms)
        apart = texts.apart(self._view, self._task)
        truth, predicted = (
            texts.read(written, side, self._view.segments, apart)
            for side, written in ((REFERENCE, truth), (HYPOTHESIS, predicted))
        )
        keys = [f"{self._view.name}|{key}" for key in self._view.segments["key"]]
        draws = seeds.uniform(self._suite.seed, "dealt out", keys=keys)
        unit = unit_of(truth)
        count = characters_of if unit == CHARACTER else word_errors  # words cannot be told apart
        rates = permuted_word_error_rates(truth, predicted, draws, count)
        _, dealt, paired = self._resampled(*rates)
        (low,), (high,) = paired.interval("t", scale=FREE)
        blocks = int(paired.blocks[0])
        standing = compared(low, high, 0.0, blocks, more_is_better=False)
        return self._figure(f"{unit} error rate", rates[0], _some(dealt.value[0]), standing)

    def of_trials(self, table: TrialTable, family: Family) -> Iterator[KeyFigure]:
        """Give the error rates of verification."""
        view = CorpusView(**(vars(self._view) | {"trials": table}))
        frame, scores = table.frame, view.scores()
        target = frame["target"].to_numpy(dtype=bool)
        trials = Trials.of(scores, target, frame["enrol_speaker"], frame["test_speaker"])
        trials = trials.of_recordings(enrolled_recordings(table), frame["segment"])
        threshold = threshold_in_use(family, self._about["model"], scores, target)
        yield self._figure("equal error rate", equal_error_rate(trials), 0.5)
        if np.isfinite(threshold):
            for measure, rate in _AT_THRESHOLD.items():
                yield self._figure(measure, rate(trials, threshold), None, "", threshold)

    def _resampled(self, *statistics: Statistic | Weighted) -> list[Resampled]:
        blocks = self._view.block_codes()
        return resample_all(statistics, blocks, self._suite.replicates, self._suite.seed)

    def _figure(
        self,
        measure: str,
        statistic: Statistic | Weighted,
        guessing: float | None,
        standing: str | None = None,
        threshold: float | None = None,
    ) -> KeyFigure:
        """Put a number together; its standing follows from its interval if it is not given."""
        (resampled,), info = self._resampled(statistic), info_of(named(measure))
        scale = Scale(info.low, info.high)
        (low,), (high,) = resampled.interval(self._suite.interval, scale=scale)
        fixed = fixed_speakers(statistic, self._view.block_codes())
        here = fixed.value(0, resampled.value[0], scale).interval()
        blocks = int(resampled.blocks[0])
        if standing is None:
            standing = compared(low, high, guessing, blocks, more_is_better=info.better == HIGHER)
        why = withheld(resampled.value[0], low, high, blocks, scale)
        low, high = (np.nan, np.nan) if why else (low, high)
        return KeyFigure(
            **self._about,
            measure=measure,
            value=_some(resampled.value[0]),
            low=_some(low),
            high=_some(high),
            segments=int(resampled.segments[0]),
            blocks=blocks,
            guessing=guessing,
            standing=standing,
            threshold=threshold,
            reason=resampled.reasons[0] or resampled.withheld[0] or why,
            block="speaker" if self._task.is_embedding else self._view.block_name,
            low_sample=_some(here[0]),
            high_sample=_some(here[1]),
        )


def estimates(figures: Iterable[KeyFigure]) -> Iterator[Estimate]:
    """Make the figures rows of the estimates, with what guessing scores."""
    for figure in figures:
        about = {"family": FAMILY, "measure": named(figure.measure)}
        if figure.guessing is not None:
            chance = {"condition": CHANCE, "value": figure.guessing}
            yield Estimate(figure.model, figure.corpus, task=figure.task, **about, **chance)
        speakers = 0 if figure.block == "file" else figure.blocks
        yield made_of(Estimate, figure, **about, speakers=speakers, excluded=figure.reason)


def _some(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
