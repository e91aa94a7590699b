"""Scores columns of a table: how good the predictions are, and for which groups they are worse.

Measures, intervals, margins and states are those of families of a suite, *Fairness between groups* and
*Speaker verification*: the table is a corpus without sounds, its predictions those of a model.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.augment.sounds import Sounds
from soundcheck.common.messages import did_you_mean, input_error, quoted, some
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, REGRESSION, TRANSCRIPTION, Task
from soundcheck.corpora.labels import WHO, without_nobody
from soundcheck.corpora.trials.trial_files import PAIR, read_scores, read_trials
from soundcheck.corpora.trials.trial_table import TrialTable, read_trial_corpus, resolve, write_table
from soundcheck.evaluation import Evaluation, measure_sets, words
from soundcheck.evaluation import groups as group_sets
from soundcheck.evaluation import trials as verification
from soundcheck.evaluation.evaluation import EvaluationDescription
from soundcheck.evaluation.subset import SCORE, CorpusDescription, Measure, Predictions, Subset
from soundcheck.metrics import classification, regression
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.metrics.weighted import Weighted
from soundcheck.metrics.word_errors import CHARACTER, unit_of
from soundcheck.metrics.word_rates import cer, wer
from soundcheck.models.tables.rows import scores_of_trials
from soundcheck.results.states import decide
from soundcheck.score import tables
from soundcheck.score.pages import Scores
from soundcheck.start.detect import likely_scale
from soundcheck.suite.corpus_format import OTHERS, UNUSABLE
from soundcheck.suite.entries import ERROR, CorpusEntry, Suite

TABLE = "table"  # how the corpus is called
KINDS = {"words": TRANSCRIPTION, "values": REGRESSION, "classes": CLASSIFICATION}
MOST_CLASSES = 50  # different labels, above which they are no classes
MOST_GROUPS = 300  # different values of a column of groups
MOST_NAMED = 8  # classes that no label has
FEWEST_VALUES = 3  # different numbers, below which they are classes
OF_SUITE = ("seed", "replicates", "interval", "thresholds", "margin", "balance_samples", "normaliser")


def evaluate(
    frame: pd.DataFrame,
    *,
    truth: str,
    prediction: str,
    groups: Sequence[str] = (),
    speaker: str | None = None,
    against: str | Mapping[str, str] = OTHERS,
    kind: str | None = None,
    scale: tuple[float, float] | None = None,
    model: str = "model",
) -> Scores:
    """Score a column of predictions against a column of labels, for everybody and for each group.

    - ``frame``: one row a recording; missing predictions of words count as all words missed.
    - ``truth, prediction``: columns of labels and predictions: words, classes or numbers.
    - ``groups``: columns whose values are compared, such as ``["sex", "accent"]``.
    - ``speaker``: column of speakers; without, nothing is concluded for new speakers.
    - ``against``: the group that others are compared with, or one for each column; by default all others.
    - ``kind``: ``"words"``, ``"values"`` or ``"classes"``; by default what the labels look like.
    - ``scale``: lowest and highest number of the scale of values; by default a usual one that fits.
    - Raises InputError: if a column is missing or cannot be used.

    >>> frame = pd.DataFrame({"said": ["a b", "c d"], "heard": ["a b", "c"], "who": ["s1", "s2"]})
    >>> scores = evaluate(frame, truth="said", prediction="heard", speaker="who")
    >>> scores.estimates.loc[scores.estimates["measure"] == "word_error_rate", "value"].tolist()
    [0.25]
    """
    _check_columns(frame, [truth, prediction, *groups, *([speaker] if speaker else [])], groups)
    frame = frame.reset_index(drop=True)
    task = _task(frame, truth, prediction, kind, scale)
    segments, notes = _segments(frame, task, truth, groups, speaker)
    references = _references(segments, groups, against)
    cells = frame[prediction]
    predicted = pd.to_numeric(cells).astype(float) if task.is_regression else _texts(cells)
    missing = predicted.isna()
    if missing.any() and not task.is_transcription:
        notes.append(f"{missing.sum():,} of {len(frame):,} predictions missing: they are left out")
    notes += _noticed(predicted.dropna(), task)
    predictions = pd.DataFrame({"key": segments["key"], "change": "", "drawn": "", task.name: predicted})
    predictions["error"] = np.where(missing, "missing", "")
    corpus = {"groups": tuple(groups), "against": references}
    with _evaluation("fairness_groups", task, segments, predictions, model, **corpus) as evaluation:
        for subset in evaluation.subsets():
            evaluation.estimates(subset, headline_measures(subset))
            if task.is_transcription:
                words.error_profile(evaluation, subset, {})
        if groups:
            group_sets.compare(evaluation, group_sets.of_suite(evaluation), measure_sets.of_suite_groups)
        return _scores(evaluation, task, notes)


def score_tables(
    references: Path, predictions: Path, *, against: str = OTHERS, kind: str | None = None, **columns: Any
) -> Scores:
    """Score a file of predictions against a file of references; columns that are not named are found out."""
    frame, predicted, notes = tables.side_by_side(references, predictions)
    columns = tables.recognise(frame, predicted, columns)
    speakers = f", speakers are those of {columns['speaker']}" if columns["speaker"] else ""
    notes.append(f"{columns['prediction']} is compared with {columns['truth']}{speakers}")
    scores = evaluate(frame, **columns, against=against, kind=kind, model=predictions.stem)
    return dataclasses.replace(scores, notes=(*notes, *scores.notes))


def score_trials(trials: Path, scores: Path, groups: Sequence[str] = (), *, against: str = OTHERS) -> Scores:
    """Score a file of scores against a list of trials of speaker verification, in the formats of a suite.

    Without a table of recordings the speakers follow from the list, which is noted. Groups of trials are in
    columns of the list, if it is a table.
    """
    listed, given = read_trials(trials, trials.name), read_scores(scores, scores.name)
    raw = read_trial_corpus(CorpusEntry(TABLE, "trials", path=trials, shown_path=trials.name))
    name = raw.table["file"]
    segments = raw.table.assign(key=name, start=np.nan, end=np.nan, duration=np.nan, audio=name)
    table = resolve(listed, segments)
    if PAIR[0] in given.frame:
        values = table.frame[PAIR].merge(given.frame, "left", on=PAIR)[SCORE]
    else:  # one number a line
        values = pd.Series(scores_of_trials(given, table))
    if values.isna().all():
        what = "none of its pairs is a trial of the list"
        raise input_error(scores.name, what, f"Name both sides as {trials.name} does")
    unscored = int(values.isna().sum())
    about = f"{unscored:,} of {len(values):,} trials have no score in {scores.name}: they are left out"
    notes = [*raw.notices, *table.notices, *([about] if unscored else [])]
    columns = tables.read(trials) if listed.is_table else pd.DataFrame(index=listed.frame.index)
    groups = groups or tables.usual_groups(columns)
    if groups and not len(columns.columns):
        remedy = f"Write the list as a CSV table with the columns enrol, test, label and {groups[0]}"
        raise input_error(trials.name, "lines of trials have no columns of groups", remedy)
    _check_columns(columns, groups, groups)
    group_cells = columns[list(groups)].iloc[table.numbers].reset_index(drop=True)
    table = dataclasses.replace(table, frame=pd.concat([table.frame, group_cells], axis=1))
    predictions = pd.DataFrame({"key": table.frame["key"], "change": "", "error": "", "drawn": ""})
    predictions[SCORE] = values
    corpus = {"groups": tuple(groups), "against": _references(group_cells, groups, against)}
    task, family = BUILTIN["embedding"], "speaker_verification"
    with _evaluation(family, task, segments, predictions, scores.stem, table, **corpus) as evaluation:
        for subset in evaluation.subsets():
            verification.overview(evaluation, subset)
        compared = group_sets.of_suite(evaluation) if groups else []

        def rate_within(subset: Subset, predictions: Predictions, mask: np.ndarray) -> Weighted:
            return equal_error_rate(evaluation.trials(subset, predictions.clean).only(mask))

        for of_column in compared:
            column, whole = of_column.column, of_column.everything
            counts = {f"{column}: {count.group}": count for count in of_column.counts if count.group}
            masks = {part: whole.mask(column, count.group) for part, count in counts.items()}
            lacks = {part: count.lacks for part, count in counts.items() if count.lacks}
            evaluation.estimates(whole, {"equal_error_rate": rate_within}, masks, excluded=lacks)
        group_sets.compare(evaluation, compared, measure_sets.of_suite_groups)
        result = _scores(evaluation, task, notes)
    costs = result.estimates["measure"].str.contains(" (cost", regex=False)
    return dataclasses.replace(result, estimates=result.estimates[~costs])


def _scores(evaluation: Evaluation, task: Task, notes: Sequence[str]) -> Scores:
    remarks = [re.sub(rf"^{TABLE}(: |, )", "", note) for note in evaluation.notes]  # it is the only corpus
    return Scores(
        evaluation.estimated().reset_index(drop=True),
        decide(evaluation.frame()).reset_index(drop=True),
        task,
        evaluation.model,
        tuple(dict.fromkeys([*notes, *evaluation.scales, *remarks])),
        evaluation.corpora[0].block_name,
    )


def headline_measures(subset: Subset) -> dict[str, Measure]:
    """Give the measures of a whole table by the kind of its task, the headline first."""
    if subset.task.is_transcription:
        unit = unit_of(subset.truth)
        rate = cer if unit == CHARACTER else wer
        return {f"{unit}_error_rate": lambda s, p: rate(s.truth, p.clean)}
    if subset.task.is_regression:
        functions = (regression.concordance_cc, regression.mean_absolute_error)
        return {one.__name__: lambda s, p, one=one: one(s.truth, p.clean) for one in functions}
    functions = {
        "unweighted_average_recall": classification.unweighted_average_recall,
        "accuracy": classification.accuracy,
        "recall": classification.recall_per_class,
    }
    classes = subset.task.classes
    return {name: lambda s, p, one=one: one(s.truth, p.clean, classes) for name, one in functions.items()}


# The table --------------------------------------------------------------------------------------------------


def _check_columns(frame: pd.DataFrame, columns: Sequence[str], grouping: Sequence[str]) -> None:
    names = [str(column) for column in frame.columns]
    for name in columns:
        if name not in frame.columns:
            raise input_error("the table", f"there is no column {quoted(name)}", did_you_mean(name, names))
        if names.count(str(name)) > 1:
            raise input_error("the table", f"two columns are called {quoted(name)}", "Rename one of them")
    for name in grouping:
        if name in UNUSABLE:
            raise input_error(f"column {name}", "it cannot be a group", UNUSABLE[name].capitalize())
        if (count := frame[name].nunique()) > MOST_GROUPS:
            what = f"it has {count} different values"
            raise input_error(f"column {name}", what, f"Name columns with at most {MOST_GROUPS} groups")
    if columns and not len(frame):
        raise input_error("the table", "it has no rows", "Give at least one row with a label")


def _task(
    frame: pd.DataFrame, truth: str, prediction: str, kind: str | None, scale: tuple[float, float] | None
) -> Task:
    """Find out what is predicted: words, classes or numbers."""
    if kind is not None and kind not in KINDS:
        raise input_error("kind", f"{quoted(kind)} is not known", did_you_mean(kind, KINDS))
    labels = frame[truth].dropna()
    if not len(labels):
        raise input_error(f"column {truth}", "no row has a label", "Name the column with what is true")
    if not frame[prediction].notna().any():
        what = "no row has a prediction"
        raise input_error(f"column {prediction}", what, "Name the column with what is predicted")
    numbers = {name: pd.to_numeric(frame[name].dropna(), errors="coerce") for name in (truth, prediction)}
    wrong = next((name for name, cells in numbers.items() if cells.isna().any()), "")
    different = labels.astype(str).unique()
    if kind is None and not wrong and len(different) >= FEWEST_VALUES:
        kind = "values"
    elif kind is None:
        sentences = labels.astype(str).str.strip().str.contains(r"\s", regex=True).mean() > 0.5
        # Of languages without blanks, what is hardly ever the same
        sentences |= unit_of(different) == CHARACTER and 2 * len(different) > len(labels)
        kind = "words" if sentences or len(different) > MOST_CLASSES else "classes"
    if kind == "words":
        return Task("transcript", TRANSCRIPTION)
    if kind == "values":
        if wrong:
            remedy = "Correct them, or name the kind"
            raise input_error(f"column {wrong}", "not all of it are numbers", remedy)
        return Task(truth, REGRESSION, (), *(scale or likely_scale(numbers[truth])))
    if len(different) > MOST_CLASSES:
        what = f"it has {len(different)} different labels"
        raise input_error(f"column {truth}", what, f"Classes are at most {MOST_CLASSES}; or name the kind")
    if len(different) < 2:
        raise input_error(f"column {truth}", "all labels are the same", "Give labels of two classes or more")
    return Task(truth, CLASSIFICATION, tuple(sorted(different)))


def _noticed(predicted: pd.Series, task: Task) -> Iterator[str]:
    """Say of predictions what their values do not show."""
    counts = predicted.map(str).value_counts()
    if len(counts) == 1:
        yield f"all predictions are the same: {quoted(counts.index[0])}"
    unknown = counts[~counts.index.isin(task.classes)]
    if task.classes and len(unknown):
        names = some([f"{quoted(name)} ({count:,})" for name, count in unknown.items()], MOST_NAMED)
        share = f"{unknown.sum():,} of {len(predicted):,} predictions"
        yield f"{share} name a class that no label has, and count as wrong: {names}"


def _segments(
    frame: pd.DataFrame, task: Task, truth: str, grouping: Sequence[str], speaker: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Make the segment table of a corpus, with what has to be said of it."""
    keys = [f"{row:09d}" for row in range(len(frame))]
    segments = pd.DataFrame({"key": keys, "file": keys, "start": np.nan, "end": np.nan, "duration": np.nan})
    labels = frame[truth]
    segments[task.name] = task.scale(pd.to_numeric(labels)) if task.is_regression else _texts(labels)
    for name in grouping:
        segments[name] = _texts(frame[name], tables.role_of(name))
    if speaker is None:
        return segments, ["no column of speakers is named, so that nothing is concluded for new speakers"]
    who = _texts(frame[speaker], "speaker")
    segments["speaker"] = who.where(who.notna(), "unknown " + segments["key"])
    unknown = f"{who.isna().sum():,} of {len(frame):,} rows name no speaker: each counts as one of its own"
    return segments, [unknown] * bool(who.isna().any())


def _texts(column: pd.Series, role: str = "") -> pd.Series:
    """Give cells as texts, ``None`` for empty ones and, by the role of the column, for words for nobody."""
    known = column.notna() & column.ne("")
    texts = column.astype(object).map(str).where(known, None).rename(role)
    return without_nobody(texts)[0] if role in WHO else texts


def _references(
    segments: pd.DataFrame, groups: Sequence[str], against: str | Mapping[str, str]
) -> dict[str, str]:
    """Give the group that others are compared with of each column; a single name is that of any column."""
    if isinstance(against, str):
        having = [name for name in groups if segments[name].eq(against).any()]
        if against != OTHERS and not groups:
            raise input_error("--against", "there are no groups", "Name their column with --group")
        against = {} if against == OTHERS else dict.fromkeys(having or groups, against)
    for column, name in against.items():
        known = segments[column].dropna().unique() if column in segments else ()
        if name != OTHERS and name not in known:
            remedy = did_you_mean(name, [*map(str, known)])
            raise input_error(f"column {column}", f"there is no group {quoted(name)}", remedy)
    return dict(against)


# The evaluation ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _evaluation(
    family: str,
    task: Task,
    segments: pd.DataFrame,
    predictions: pd.DataFrame,
    model: str,
    trials: TrialTable | None = None,
    **corpus: Any,
) -> Iterator[Evaluation]:
    """Make the evaluation of a suite with one model and one ``corpus``, for the time of a block."""
    suite = Suite()
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as name:
        folder = Path(name)
        parts = {part: folder / f"{part}.parquet" for part in ("segments", "predictions")}
        segments.to_parquet(parts["segments"], index=False)
        predictions.to_parquet(parts["predictions"], index=False)
        if trials is not None:
            parts["trials"] = folder / "trials.parquet"
            write_table(parts["trials"], trials)
        Sounds({}).write(folder / "sounds.json")
        parts |= {"root": folder, "name": TABLE, "title": TABLE, "audio": False, "missing": ERROR}
        yield Evaluation(
            EvaluationDescription(
                media=folder,
                prefix="",
                rows=folder / "rows.json",
                sounds=folder / "sounds.json",
                suite_root=folder,
                seconds=suite.notebook_seconds,
                tasks=(task,),
                model=model,
                family=family,
                corpora=(CorpusDescription(blocks=("speaker",), **parts, **corpus),),
                **{name: getattr(suite, name) for name in OF_SUITE},
            )
        )
