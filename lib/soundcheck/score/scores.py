"""Scores columns of a table: how good the predictions are, and for which groups they are worse.

Measures, intervals, margins and states are those of the family *Fairness between groups* of a suite: the
table is a corpus without sounds, its predictions those of a model.
"""

from __future__ import annotations

import dataclasses
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.scales import USUAL, usual_scales
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, REGRESSION, TRANSCRIPTION, Task
from soundcheck.common.wording import counted
from soundcheck.corpora import labels
from soundcheck.corpora.trials.resolve import resolve
from soundcheck.corpora.trials.speakers import read_trial_corpus
from soundcheck.corpora.trials.trial_files import read_scores, read_trials
from soundcheck.corpora.trials.trial_table import write_table
from soundcheck.evaluation import Evaluation, measure_sets, words
from soundcheck.evaluation import groups as group_sets
from soundcheck.evaluation import trials as verification
from soundcheck.evaluation.corpus_view import SCORE
from soundcheck.evaluation.description import CorpusDescription, EvaluationDescription
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.metrics import classification, regression
from soundcheck.metrics.word_rates import cer, wer
from soundcheck.metrics.writing import CHARACTER, MIXED, WORD, unit_of
from soundcheck.predict.tables import Columns, write_predictions
from soundcheck.results.states import FAIL, decide
from soundcheck.score import tables
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ERROR, CorpusEntry, Suite
from soundcheck.suite.groups import OTHERS, UNUSABLE

FAMILY = "fairness_groups"
CORPUS = "table"
KINDS = {"words": TRANSCRIPTION, "values": REGRESSION, "classes": CLASSIFICATION}
MOST_CLASSES = 50  # different labels, above which they are no classes
MOST_GROUPS = 300  # different values of a column of groups
RATES = {WORD: wer, CHARACTER: cer, MIXED: wer}  # what a unit counts
FEWEST_VALUES = 3  # different numbers, below which they are classes


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """What was computed: the tables of a run, for one model and one corpus."""

    estimates: pd.DataFrame  # every value with its intervals: the columns of estimates.csv
    results: pd.DataFrame  # differences between groups with margin and state: the columns of results.csv
    task: Task
    model: str
    notes: tuple[str, ...]  # what a reader has to know: missing values, how words were compared
    block: str  # what was resampled: ``speaker``, or ``file`` if no speakers are known

    @property
    def exit_code(self) -> int:
        """1 if a group is worse than its reference by more than the margin, else 0."""
        return EXIT_TEST_FAILED if self.results["state"].eq(FAIL).any() else EXIT_OK

    def __str__(self) -> str:
        from soundcheck.score.pages import text  # late: whoever reads the tables needs no text

        return text(self)

    def _repr_html_(self) -> str:
        from soundcheck.score.pages import body

        return str(body(self))

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page: the values, a figure and a table of each column of groups."""
        from soundcheck.score.pages import write_page

        return write_page(self, Path(path))


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
    - Raises InputError: if a column is missing or cannot be used; names all of them.

    >>> frame = pd.DataFrame({"said": ["a b", "c d"], "heard": ["a b", "c"], "who": ["s1", "s2"]})
    >>> found = evaluate(frame, truth="said", prediction="heard", speaker="who")
    >>> found.estimates.loc[found.estimates["measure"] == "word_error_rate", "value"].tolist()
    [0.25]
    """
    columns = [truth, prediction, *groups, *([speaker] if speaker else [])]
    _check_columns(frame, columns, groups)
    task = _task(frame, truth, prediction, kind, scale)
    references = dict.fromkeys(groups, against) if isinstance(against, str) else dict(against)
    segments, notes = _segments(frame, task, truth, groups, speaker)
    _check_references(segments, references)
    predicted, missing = _predictions(frame[prediction], task)
    if missing and not task.is_transcription:
        notes.append(f"{counted(missing, 'prediction')} of {len(frame)} missing: they are left out")
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as folder:
        _write_predictions(Path(folder) / "predictions.parquet", task, segments, predicted)
        evaluation = _evaluation(
            Path(folder), FAMILY, task, segments, model=model, columns=groups, references=references
        )
        for subset in evaluation.subsets():
            evaluation.estimates(subset, headline_measures(subset))
            if task.is_transcription:
                words.error_profile(evaluation, subset, {})
        _compare_groups(evaluation)
        return _scores(evaluation, task, notes)


def score_tables(
    references: Path,
    predictions: Path,
    wanted: tables.Columns,
    *,
    against: str = "",
    kind: str | None = None,
) -> Scores:
    """Score a file of predictions against a file of references; columns that are not named are found out.

    ``against`` names a group of any of the columns.
    """
    read = [tables.read(path) for path in (references, predictions)]
    frame, notes = tables.side_by_side(*read, (references.name, predictions.name))
    tables.check_named(frame, wanted)
    predicted = list(frame.columns[len(read[0].columns) :])
    columns = tables.found(frame, predicted, wanted)
    named = {name: against for name in columns.groups if against and frame[name].eq(against).any()}
    if against and not named:
        groups = [str(group) for name in columns.groups for group in frame[name].dropna().unique()]
        raise input_error("--against", f"there is no group {quoted(against)}", did_you_mean(against, groups))
    notes.append(
        f"{columns.prediction} is compared with {columns.truth}"
        + (f", speakers are those of {columns.speaker}" if columns.speaker else "")
    )
    found = evaluate(
        frame,
        truth=columns.truth,
        prediction=columns.prediction,
        groups=columns.groups,
        speaker=columns.speaker or None,
        against=named,
        kind=kind,
        model=predictions.stem,
    )
    return dataclasses.replace(found, notes=(*notes, *found.notes))


def score_trials(trials: Path, scores: Path) -> Scores:
    """Score a file of scores against a list of trials of speaker verification, in the formats of a suite.

    Without a table of recordings the speakers follow from the list, which is noted.
    """
    listed, given = read_trials(trials, trials.name), read_scores(scores, scores.name)
    raw = read_trial_corpus(CorpusEntry(CORPUS, "trials", trials, trials.name))
    segments = raw.table.assign(
        key=raw.table["file"], start=np.nan, end=np.nan, duration=np.nan, audio=raw.table["file"]
    )
    table = resolve(listed, segments)
    values = table.frame[["enrol", "test"]].merge(given.frame, "left", on=["enrol", "test"])["score"]
    if values.isna().all():
        what = "none of its pairs is a trial of the list"
        raise input_error(scores.name, what, f"Name both sides as {trials.name} does")
    task = BUILTIN["embedding"]
    predicted = pd.DataFrame(
        {"key": table.frame["key"], "change": "", SCORE: values, "error": "", "drawn": ""}
    )
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as folder:
        write_table(Path(folder) / "trials.parquet", table)
        predicted.to_parquet(Path(folder) / "predictions.parquet", index=False)
        evaluation = _evaluation(
            Path(folder), "speaker_verification", task, segments, model=scores.stem, trials=True
        )
        for subset in evaluation.subsets():
            verification.overview(evaluation, subset)
        found = _scores(evaluation, task, [*raw.notices, *table.notices])
    main = found.estimates[~found.estimates["measure"].str.contains(" (cost", regex=False)]
    return dataclasses.replace(found, estimates=main, results=found.results.iloc[:0])


def _scores(evaluation: Evaluation, task: Task, notes: Sequence[str]) -> Scores:
    return Scores(
        evaluation.estimated().reset_index(drop=True),
        decide(evaluation.frame()).reset_index(drop=True),
        task,
        evaluation.model,
        tuple(dict.fromkeys([*notes, *evaluation.scales, *(_plain(note) for note in evaluation.notes)])),
        evaluation.corpora[0].block_name,
    )


def _plain(note: str) -> str:
    """Write a note without the name of the only corpus."""
    return re.sub(rf"^{CORPUS}(: |, )", "", note)


def headline_measures(subset: Subset) -> dict[str, Measure]:
    """Give the measures of a whole table by the kind of its task, the headline first."""
    if subset.task.is_transcription:
        return {f"{unit_of(subset.truth)}_error_rate": lambda s, p: RATES[unit_of(s.truth)](s.truth, p.clean)}
    if subset.task.is_regression:
        return {
            "concordance_cc": lambda s, p: regression.concordance_cc(s.truth, p.clean),
            "mean_absolute_error": lambda s, p: regression.mean_absolute_error(s.truth, p.clean),
        }
    classes = subset.task.classes
    return {
        "unweighted_average_recall": lambda s, p: classification.unweighted_average_recall(
            s.truth, p.clean, classes
        ),
        "accuracy": lambda s, p: classification.accuracy(s.truth, p.clean, classes),
        "recall": lambda s, p: classification.recall_per_class(s.truth, p.clean, classes),
    }


def _compare_groups(evaluation: Evaluation) -> None:
    if evaluation.corpora[0].groups:
        group_sets.compare(evaluation, group_sets.of_suite(evaluation), measure_sets.of_suite_groups)


# The table --------------------------------------------------------------------------------------------------


def _check_columns(frame: pd.DataFrame, columns: Sequence[str], grouping: Sequence[str]) -> None:
    for name in columns:
        if name not in frame.columns:
            names = [str(column) for column in frame.columns]
            raise input_error("the table", f"there is no column {quoted(name)}", did_you_mean(name, names))
    for name in grouping:
        if name in UNUSABLE:
            raise input_error(f"column {name}", "it cannot be a group", UNUSABLE[name].capitalize())
        if (count := frame[name].nunique()) > MOST_GROUPS:
            what = f"it has {count} different values"
            raise input_error(f"column {name}", what, f"Name columns with at most {MOST_GROUPS} groups")
    if not len(frame):
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
    numbers = [pd.to_numeric(frame[name].dropna(), errors="coerce") for name in (truth, prediction)]
    different = labels.astype(str).nunique()
    numeric = all(len(own) and own.notna().all() for own in numbers)
    if kind is None:
        if numeric and different >= FEWEST_VALUES:
            kind = "values"
        else:
            blanks = labels.astype(str).str.strip().str.contains(r"\s", regex=True).mean() > 0.5
            kind = "words" if blanks or different > MOST_CLASSES else "classes"
    name = "transcript" if kind == "words" else truth
    if kind == "values":
        if not numeric:
            wrong = truth if numbers[0].isna().any() else prediction
            raise input_error(
                f"column {wrong}", "not all of it are numbers", "Correct them, or name the kind"
            )
        return Task(name, REGRESSION, (), *(scale or _scale(numbers[0])))
    if kind == "words":
        return Task(name, TRANSCRIPTION)
    if different > MOST_CLASSES:
        what = f"it has {different} different labels"
        raise input_error(f"column {truth}", what, f"Classes are at most {MOST_CLASSES}; or name the kind")
    if different < 2:
        raise input_error(f"column {truth}", "all labels are the same", "Give labels of two classes or more")
    return Task(name, CLASSIFICATION, tuple(sorted(labels.astype(str).unique())))


def _scale(labels: pd.Series) -> tuple[float, float]:
    """Guess the scale of numbers."""
    low, high = float(labels.min()), float(labels.max())
    around = [one for one in USUAL if one[0] <= low and high <= one[1]]
    return next(iter([*usual_scales(labels.to_numpy()), *around]), (math.floor(low), math.ceil(high)))


def _segments(
    frame: pd.DataFrame, task: Task, truth: str, grouping: Sequence[str], speaker: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Make the segment table of a corpus, with what has to be said of it."""
    keys = [f"{row:09d}" for row in range(len(frame))]
    segments = pd.DataFrame({"key": keys, "file": keys, "start": np.nan, "end": np.nan, "duration": np.nan})
    if task.is_regression:
        segments[task.name] = task.scale(pd.to_numeric(frame[truth]).to_numpy(np.float64))
    else:
        segments[task.name] = _texts(frame[truth])
    notes = []
    for name in (*grouping, *([speaker] if speaker else [])):
        role = "speaker" if name == speaker else tables.role_of(name)
        own = pd.Series(_texts(frame[name]), name=role, dtype=object)
        if role in labels.WHO:
            own, _ = labels.without_nobody(own)
        segments["speaker" if name == speaker else name] = own
        unknown = int(own.isna().sum())
        if unknown and name == speaker:
            segments["speaker"] = own.where(own.notna(), [f"unknown {key}" for key in keys])
            notes.append(
                f"{unknown} of {len(frame)} rows name no speaker: each counts as a speaker of its own"
            )
    if speaker is None:
        notes.append("no column of speakers is named, so that nothing is concluded for new speakers")
    return segments, notes


def _texts(column: pd.Series) -> list[str | None]:
    """Give cells as texts; empty and missing ones are ``None``."""
    return [
        None if missing or cell == "" else str(cell)
        for cell, missing in zip(column, column.isna(), strict=True)
    ]


def _check_references(segments: pd.DataFrame, references: Mapping[str, str]) -> None:
    for column, name in references.items():
        known = segments[column].dropna().unique() if column in segments else ()
        if name != OTHERS and name not in known:
            remedy = did_you_mean(name, [str(one) for one in known])
            raise input_error(f"column {column}", f"there is no group {quoted(name)}", remedy)


def _predictions(column: pd.Series, task: Task) -> tuple[np.ndarray, int]:
    """Give predictions as a table of predictions holds them, and how many are missing."""
    if task.is_regression:
        values = pd.to_numeric(column).to_numpy(np.float64)
        return values, int(np.isnan(values).sum())
    values = np.empty(len(column), dtype=object)
    empty = column.isna() if task.is_transcription else column.isna() | column.eq("")
    values[:] = ["" if missing else str(cell) for cell, missing in zip(column, empty, strict=True)]
    return values, int(empty.sum())


# The evaluation ---------------------------------------------------------------------------------------------


def _write_predictions(path: Path, task: Task, segments: pd.DataFrame, predicted: np.ndarray) -> None:
    missing = pd.isna(predicted) if task.is_regression else predicted == ""
    errors = ["missing" if one else "" for one in missing]
    rows = Columns(segments["key"].tolist(), [""] * len(segments), errors, {task.name: predicted})
    write_predictions(path, rows, [task])


def _evaluation(
    folder: Path,
    family: str,
    task: Task,
    segments: pd.DataFrame,
    *,
    model: str,
    columns: Sequence[str] = (),
    references: Mapping[str, str] = MappingProxyType({}),
    trials: bool = False,
) -> Evaluation:
    """Make the evaluation of a suite with one corpus and one model, whose predictions lie in the folder."""
    segments.to_parquet(folder / "segments.parquet", index=False)
    Sounds({}).write(folder / "sounds.json")
    suite = Suite()
    corpus = CorpusDescription(
        name=CORPUS,
        title=CORPUS,
        synthetic=False,
        blocks=("speaker",),
        base_condition="",
        probes_of="",
        root=folder,
        audio=False,
        segments=folder / "segments.parquet",
        predictions=folder / "predictions.parquet",
        trials=folder / "trials.parquet" if trials else None,
        groups=tuple(columns),
        against=dict(references),
        missing=ERROR,
    )
    return Evaluation(
        EvaluationDescription(
            media=folder,
            prefix="",
            rows=folder / "rows.json",
            tasks=(task,),
            seed=suite.seed,
            replicates=suite.replicates,
            interval=suite.interval,
            model=model,
            family=family,
            suite_root=folder,
            sounds=folder / "sounds.json",
            corpora=(corpus,),
            others={},
            thresholds=suite.thresholds,
            margin=suite.margin,
            balance_samples=suite.balance_samples,
            seconds=suite.notebook_seconds,
            predicts_changes=False,
            sweeps=False,
            normaliser=suite.normaliser,
            transformed_segments=None,
        )
    )
