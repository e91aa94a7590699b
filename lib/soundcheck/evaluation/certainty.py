"""What a model says of its own predictions, beside what is true: confidences of classes, intervals of values.

A subset of this module has tables in the place of predictions, one row a segment: ``confidence``, ``correct``
(1 or 0) and the probability of each class; or ``low`` and ``high``, scaled to 0..1. NaN is nothing said.
The confidence is the one that the model gives, else the probability of the class that it names.

The reference ignores the sound: it gives the shares of the classes in the corpus and names the most frequent
one, and the same interval for every value, between quantiles of the labels. It is calibrated, and useless.
"""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.evaluation import groups
from soundcheck.evaluation.evaluation import NO_ANSWERS, Evaluation, GroupCount, count_groups
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import paired_difference, relabel
from soundcheck.metrics.word_errors import AlignedWord, align
from soundcheck.models.answers import BOUNDS, CONFIDENCE, read_words, word_names
from soundcheck.results.rows import ALL
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.suite.families import PerturbationSeries, measure_of


def judged_by(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the confidences and what is correct, float64 ``(segments,)`` each, of a table of classes."""
    return table[:, 0], table[:, 1]


def probabilities_of(table: np.ndarray) -> np.ndarray:
    """Give the probabilities of a table of classes, float64 ``(segments, classes)``."""
    return table[:, 2:]


def has_probabilities(subset: Subset) -> bool:
    """Say whether the model gives probabilities of classes for any segment."""
    return bool((~np.isnan(probabilities_of(subset.predictions.clean))).any())


def measures_of(evaluation: Evaluation, subset: Subset) -> dict[str, Measure]:
    """Give what is judged of a subset of this module: name of the test -> measure."""
    if subset.task.is_regression:
        level = float(evaluation.option("level"))
        coverage, skill = metrics.interval_coverage, metrics.interval_skill
        return {
            "Interval Coverage Error": lambda s, p: coverage(s.truth, *p.clean.T, above=level),
            "Interval Skill": lambda s, p: skill(s.truth, *p.clean.T, s.reference.clean[0], level),
        }
    bins, error = evaluation.family.options["bins"], metrics.debiased_calibration_error
    entropy, brier, risk = metrics.normalised_cross_entropy, metrics.brier_skill, metrics.area_under_risk
    result: dict[str, Measure] = {
        "Expected Calibration Error": lambda s, p: error(*judged_by(p.clean), s.blocks, bins),
        "Overconfidence": lambda s, p: metrics.overconfidence(*judged_by(p.clean)),
    }
    if subset.task.is_transcription:
        result["Normalised Cross Entropy"] = lambda s, p: entropy(*judged_by(p.clean))
    elif has_probabilities(subset):
        result["Brier Skill"] = lambda s, p: brier(s.truth, probabilities_of(p.clean), s.task.classes)
    result["Relative Area Under Risk"] = lambda s, p: risk(*judged_by(p.clean), s.blocks, relative=True)
    return result


def unbiased(evaluation: Evaluation, subset: Subset) -> tuple[str, Measure]:
    """Give the measure, unbiased in small groups, that is compared between groups and under changes."""
    test = "Interval Coverage Error" if subset.task.is_regression else "Overconfidence"
    return test.removesuffix(" Error"), measures_of(evaluation, subset)[test]


def under_change(measure: Measure) -> Measure:
    """Measure the predictions for the changed signals."""
    return lambda s, p: measure(s, Predictions(p.changed))


def estimates_of(
    evaluation: Evaluation, subset: Subset, part: str = ALL, condition: str = ""
) -> pd.DataFrame:
    """Estimate what is judged of everybody for a part of a corpus, or under a change if that is named."""
    named = {
        measure_of(test).name: under_change(measure) if condition else measure
        for test, measure in measures_of(evaluation, subset).items()
    }
    return evaluation.estimates(subset, named, {part: None}, condition=condition)


def stated_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the subsets for which the model says how sure it is; tests of the others are skipped."""
    result = []
    for subset in evaluation.subsets():
        stated, of_values = _stated(evaluation, subset), subset.task.is_regression
        if np.isnan(stated.predictions.clean[:, 0]).all():
            evaluation.skip(subset, "the model says nothing of how sure its answers are")
            continue
        result.append(stated)
        _note_odd_answers(evaluation, subset, stated)
        if reason := why_no_changes(evaluation):
            evaluation.skip(subset, reason, f"{unbiased(evaluation, stated)[0]} Change")
        if not of_values and not has_probabilities(stated):
            why = "the model gives a confidence, and no probabilities of all classes"
            evaluation.skip(subset, why, "Brier Skill")
    return result


def _note_odd_answers(evaluation: Evaluation, subset: Subset, stated: Subset) -> None:
    """Note of how many predictions nothing is said, and how many contradict what is said of them."""
    predicted, table = subset.predictions.clean, stated.predictions.clean
    known, what = pd.notna(predicted), "how sure the model is"
    if subset.task.is_regression:
        odd, what = (predicted < table[:, 0]) | (predicted > table[:, 1]), "an interval"
        contradiction = "lie outside their own interval"
    else:
        likeliest, classes = probabilities_of(table), np.array(subset.task.classes, dtype=object)
        named = np.where(predicted[:, None] == classes, likeliest, -np.inf).max(axis=1)
        odd = known & (named < likeliest.max(axis=1))
        contradiction = "name another class than the likeliest one"
    where = f"{subset.corpus}, {subset.task.name}"
    without = f"predictions come without {what}: they are left out, as if they were missing"
    evaluation.note_share(where, np.isnan(table[:, 0])[known], without)
    evaluation.note_share(where, odd[known], f"predictions {contradiction}")


def stated_sweeps(evaluation: Evaluation) -> Iterator[tuple[PerturbationSeries, dict[str, Subset]]]:
    """Give each series of changes with a subset a step, clean first, a corpus and task."""
    if why_no_changes(evaluation):
        return
    for series in evaluation.family.sweeps.values():
        identities = {name: change.identity for name, change in series.steps.items()}
        for steps in evaluation.swept(series):
            stated = {
                name: _stated(evaluation, subset, identities.get(name, "")) for name, subset in steps.items()
            }
            if not np.isnan(next(iter(stated.values())).predictions.clean[:, 0]).all():
                yield series, stated


def why_no_changes(evaluation: Evaluation) -> str:
    """Say why there are no predictions under changes; empty if there are."""
    if not evaluation.family.sweeps:
        return "the suite leaves out changes from mild to severe"
    return "" if evaluation.predicts_changes else NO_ANSWERS


def judge_change(evaluation: Evaluation, subset: Subset, label: str) -> None:
    """Judge the change from the clean signals to those of a subset: without the sound, be less confident."""

    def change(s: Subset, p: Predictions) -> Statistic:
        return relabel(paired_difference(under_change(measure)(s, p), measure(s, p)), lambda _: label)

    name, measure = unbiased(evaluation, subset)
    evaluation.judge(subset, f"{name} Change", change)


def judge_columns(evaluation: Evaluation, subset: Subset, noun: str = "segment") -> list[pd.DataFrame]:
    """Judge the groups of a corpus that are large enough, and estimate all measures for each of them."""
    least = evaluation.family.options["minimum_segments"]

    def needed(_: str, rows: pd.DataFrame, __: int | None) -> list[tuple[int, str, int]]:
        blocks = len(np.unique(subset.blocks[rows.index]))
        return [(len(rows), noun, least), (blocks, "speaker", LEAST_BLOCKS)]

    def counts_of(subset: Subset, column: str) -> list[GroupCount]:
        counts = count_groups(subset.segments, column, needed)
        for count in filter(lambda count: count.lacks, counts):
            evaluation.note(f"{subset.corpus}, {column}: {count.group} is not compared: {count.lacks}")
        return counts

    name, measure = unbiased(evaluation, subset)
    tests = {f"{name} Difference": measure}
    reason = f"fewer than 2 groups with {least} {noun}s and {LEAST_BLOCKS} speakers"
    judged = groups.judge_columns(evaluation, subset, tests, reason, counts_of=counts_of)
    return [
        estimates_of(evaluation, subset.take(mask), f"{each.column}: {group}")
        for each in judged
        for group, mask in each.masks.items()
    ]


def _stated(evaluation: Evaluation, subset: Subset, change: str = "") -> Subset:
    """Put what the model says of its answers in the place of these."""
    predictions, rows = subset.predictions, len(subset)
    clean = _table(evaluation, subset, "", predictions.clean)
    changed = None if predictions.changed is None else _table(evaluation, subset, change, predictions.changed)
    if subset.task.is_regression:
        level = float(evaluation.option("level"))
        ends = np.quantile(subset.truth, [(1 - level) / 2, (1 + level) / 2]) if rows else [0.0, 1.0]
        reference = np.tile(ends, (rows, 1))
    else:
        counts = np.array([(subset.truth == name).sum() for name in subset.task.classes], dtype=np.float64)
        shares, most = counts / max(counts.sum(), 1), int(np.argmax(counts))
        correct = (subset.truth == subset.task.classes[most]).astype(float)
        reference = np.column_stack([np.full(rows, shares[most]), correct, np.tile(shares, (rows, 1))])
    return dataclasses.replace(
        subset,
        predictions=Predictions(clean, changed),
        reference=Predictions(reference, None if changed is None else reference, random=True),
    )


def _columns(evaluation: Evaluation, subset: Subset, names: Sequence[str], change: str = "") -> np.ndarray:
    view = evaluation.view(subset)
    return view.stated(names, change)[view.segments["key"].isin(subset.segments["key"]).to_numpy()]


def _table(evaluation: Evaluation, subset: Subset, change: str, predicted: np.ndarray) -> np.ndarray:
    task = subset.task
    if task.is_regression:
        bounds = _columns(evaluation, subset, [f"{task.name}.{end}" for end in BOUNDS], change)
        return np.sort(np.stack([task.scale(bound) for bound in bounds.T], axis=1), axis=1)
    names = [CONFIDENCE, *(f"{task.name}.{name}" for name in task.classes)]
    stated = _columns(evaluation, subset, names, change)
    named = predicted[:, None] == np.array(task.classes, dtype=object)
    of_named = np.where(named.any(axis=1), np.where(named, stated[:, 1:], 0).sum(axis=1), np.nan)
    confidence = np.where(np.isnan(stated[:, 0]), of_named, stated[:, 0])
    table = np.column_stack([confidence, (predicted == subset.truth).astype(float)])
    table[pd.isna(predicted)] = np.nan
    return np.column_stack([table, stated[:, 1:]])


def word_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the words of all corpora for which the model says how sure it is of them."""
    result = []
    for subset in evaluation.subsets():
        (name,) = word_names([subset.task])
        texts = evaluation.view(subset).rows_under().reindex(subset.segments["key"], columns=[name])[name]
        stated = [read_words(text or None) for text in texts.fillna("")]
        if any(stated):
            result.append(_words(evaluation, subset, stated))
        else:
            _skip_unstated(evaluation, subset, "words")
    return result


def _words(evaluation: Evaluation, subset: Subset, stated: Sequence[list[tuple[str, float]]]) -> Subset:
    rows: list[int] = []
    steps: list[AlignedWord] = []
    sure: list[float] = []
    written, apart = subset.predictions.clean, 0
    for row, (text, given) in enumerate(zip(written, stated, strict=True)):
        words = (text or "").split()
        pieces = [(word, np.nan) for word in words]
        if given:
            pieces = [
                (piece, number) for word, number in given for piece in evaluation.words_of(subset, row, word)
            ]
        if text is None or [piece for piece, _ in pieces] != words:
            apart += bool(given)
            continue
        rows += [row] * len(pieces)
        steps += metrics.recognised_words(subset.truth[row], text)
        sure += [number for _, number in pieces]
    without = sum(map(bool, written)) - sum(map(bool, stated))
    counts = {"without confidences of words": without, "whose words are written otherwise": apart}
    for what, count in counts.items():
        if count > 0:
            evaluation.note(f"{counted(count, 'transcript')} {what}: left out", subset)
    correct = np.array([step.kind == "equal" for step in steps], dtype=np.float64)
    taken = np.array(rows, dtype=np.intp)
    segments = subset.segments.iloc[taken].reset_index(drop=True)
    truth = pd.Series(steps, dtype=object).to_numpy()
    words = dataclasses.replace(subset, segments=segments, truth=truth, blocks=subset.blocks[taken])
    return _with_table(words, np.array(sure, dtype=np.float64), correct)


def _skip_unstated(evaluation: Evaluation, subset: Subset, noun: str) -> None:
    """Skip the tests of words, or those of transcripts."""
    for test in evaluation.family.tests:
        if test.startswith("Transcript ") == (noun == "transcripts"):
            evaluation.skip(subset, f"the model says nothing of how sure its {noun} are", test)


def transcript_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the transcripts of all corpora for which the model says how sure it is of them."""
    result = []
    for subset in evaluation.subsets():
        sure = _columns(evaluation, subset, [CONFIDENCE])[:, 0]
        if np.isnan(sure).all():
            _skip_unstated(evaluation, subset, "transcripts")
            continue
        correct = [
            np.nan if text is None else float(all(step.kind == "equal" for step in align(reference, text)))
            for reference, text in zip(subset.truth, subset.predictions.clean, strict=True)
        ]
        result.append(_with_table(subset, sure, np.array(correct)))
    return result


def _with_table(subset: Subset, sure: np.ndarray, correct: np.ndarray) -> Subset:
    known = ~np.isnan(sure + correct)
    share = correct[known].mean() if known.any() else np.nan
    tables = [np.column_stack([side, correct]) for side in (sure, np.where(known, share, np.nan))]
    return dataclasses.replace(
        subset, predictions=Predictions(tables[0]), reference=Predictions(tables[1], random=True)
    )
