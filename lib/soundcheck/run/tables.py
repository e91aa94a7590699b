"""Tables that a run writes beside its results: segments, trials, scores, word errors, what was left out.

Key figures, the words that are spoken, word errors, scores of trials and the results table follow from files
of the output folder and from the suite. So what came out is remembered under the digest of all that it
depends on: contents of files, never their names or times. A table that was written is left as it is if it
still has the digest that it was written with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.messages import spreadsheet
from soundcheck.common.resources import made_here
from soundcheck.common.store import JsonCache
from soundcheck.corpora.load import Corpus
from soundcheck.corpora.trials.trial_files import score_text
from soundcheck.corpora.trials.trial_table import TrialTable, write_table
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import SCORE, score_trials
from soundcheck.evaluation.trials import threshold_in_use
from soundcheck.evaluation.words import group_rates
from soundcheck.predict.tables import read_predictions
from soundcheck.run.material import Material
from soundcheck.run.notebooks import Job, Outcome
from soundcheck.run.output import Output


def write_segments(
    corpora: Iterable[Corpus], lists: Mapping[tuple[str, str], TrialTable], output: Output
) -> None:
    """Keep each segment table and each list of trials as Parquet, where notebooks and readers find it."""
    for corpus in corpora:
        with files.replacing(output.segments(corpus.name)) as part:
            corpus.segments.to_parquet(part, index=False)
    for place, table in lists.items():
        write_table(output.trials(*place), table)


def write_scores(material: Material) -> list[Path]:
    """Keep the scores of all trials as text for other tools, with what is decided at the threshold in use.

    A line is ``0.107 enrolled tested reject 0.4`` under a header; with trials of one kind only, which give
    no threshold, ``0.107 enrolled tested``. Lists the files.
    """
    tested = {family.name: family for family in material.families}
    keys = {corpus.name: corpus.segments["key"].tolist() for corpus in material.corpora}
    folder, written = material.output.scores, []
    for model, report in material.reports.items():
        for (corpus, family), table in material.lists.items():
            predictions = read_predictions(report.tables[corpus]) if corpus in report.tables else None
            if predictions is None or not {"embedding", SCORE} & set(predictions.columns):
                continue
            path = folder / files.slug(model) / f"{files.slug(corpus)}.{files.slug(family)}.txt"
            scores = score_trials(predictions, keys[corpus], table)
            target = table.frame["target"].to_numpy(dtype=bool)
            threshold = threshold_in_use(tested[family], model, scores, target)
            scored = ~np.isnan(scores)
            names = (table.frame.loc[scored, side].tolist() for side in ("enrol", "test"))
            files.write_bytes(path, score_text(*names, scores[scored], threshold)[0])
            written.append(path)
    return written


def write_word_errors(jobs: Iterable[Job], output: Output) -> list[Path]:
    """Keep the word errors of each recogniser, group and speaker as ``tables/word_errors.csv``, if any.

    Rates are shares of the words of the references, with all digits. Lists the file.
    """
    rows = []
    for job in jobs:
        evaluation = Evaluation(job.description)
        columns = (*evaluation.family.options.get("groups", ()), "speaker")
        for subset in evaluation.subsets():
            rows += [{"model": job.model} | row for row in group_rates(evaluation, subset, columns)]
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    texts = ["model", "corpus", "column", "group"]
    frame[texts] = frame[texts].astype(str).map(spreadsheet)
    _write(frame, output.word_errors)
    return [output.word_errors]


def write_left_out(material: Material) -> None:
    """List everything that was left out of the evaluation, with its reason, as ``left_out.csv``."""
    rows = [
        (item.stage, "", corpus.name, item.item, item.reason)
        for corpus in material.corpora
        for item in corpus.left_out
    ]
    rows += [
        ("sounds", "", "", f"{group.kind}: {item}", reason)
        for group in material.sounds.sets.values()
        for item, reason in group.left_out
    ]
    rows += [
        ("model", name, corpus, f"{item} {change}".strip(), reason)
        for name, report in material.reports.items()
        for corpus, item, change, reason in report.failures
    ]
    frame = pd.DataFrame(rows, columns=["stage", "model", "corpus", "item", "reason"])
    _write(frame.map(spreadsheet), material.output.left_out)


def write_drawn(drawn: Iterable[tuple[str, str, str, Sequence[str]]], output: Output) -> None:
    """List the segments that were drawn so that groups are alike, as ``drawn_segments.csv``, if any were."""
    rows = [(*place, key) for *place, keys in sorted(drawn) for key in keys]
    if not rows:
        output.drawn.unlink(missing_ok=True)
        return
    _write(pd.DataFrame(rows, columns=["corpus", "family", "task", "segment"]).map(spreadsheet), output.drawn)


def _write(frame: pd.DataFrame, path: Path) -> None:
    text = frame.to_csv(index=False, lineterminator="\n")
    files.write_bytes(path, text.encode("utf-8", "backslashreplace"))


# What follows from files that are as they were --------------------------------------------------------------


class Derived:
    """What earlier runs into an output folder have computed; what it depends on is compared by its repr."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._known = JsonCache(output.folder / "derived.json", made_here())

    def save(self) -> None:
        """Keep what this run has used or computed."""
        self._known.save()

    def find(self, name: str, depends: object, make: Callable[[], Any]) -> Any:
        """Give a value that JSON knows, not ``None``, or make it."""
        return self._known.find(_name(name, depends), make)

    def write(self, name: str, depends: object, paths: Callable[[], Iterable[Path]]) -> list[Path]:
        """Write files, unless they are as they were written when they depended on the same."""
        entry, root = _name(name, depends), self._output.folder
        known = self._known.get(entry)
        if known is None or any(_content(root / place) != digest for place, digest in known.items()):
            known = {path.relative_to(root).as_posix(): files.digest(path) for path in paths()}
            self._known.put(entry, known)
        return [root / place for place in known]

    def tables(self, material: Material) -> list[object]:
        """List what follows from the tables that models were asked about, and from their answers, depends on.

        Segments and trials count as they were written for notebooks. Tests and thresholds of families do not
        count: they judge answers, and nobody is asked anything else because of them.
        """
        output, suite = self._output, material.suite
        segments = [
            (corpus.name, repr(corpus.entry), files.digest(output.segments(corpus.name)))
            for corpus in material.corpora
        ]
        trials = [(place, files.digest(output.trials(*place))) for place in material.lists]
        answers = [
            (model, corpus, files.digest(path))
            for model, report in material.reports.items()
            for corpus, path in report.tables.items()
        ]
        settings = [getattr(suite, field.name) for field in dataclasses.fields(suite)]
        asking = [dataclasses.replace(family, tests={}, digest="") for family in material.families]
        return [settings, asking, segments, trials, answers]


def _name(name: str, depends: object) -> str:
    return f"{name} {files.digest(repr(depends))}"


def _content(path: Path) -> str:
    return files.digest(path) if path.is_file() and not path.is_symlink() else ""


def job_fingerprints(jobs: Iterable[Job]) -> list[tuple[str, str, str]]:
    """Say what follows from the descriptions of notebooks depends on."""
    return [(job.model, job.family, job.fingerprint) for job in jobs]


def outcome_digests(outcomes: Iterable[Outcome]) -> list[tuple[str, ...]]:
    """Say what follows from how notebooks ended, and from the rows that they saved, depends on."""
    return [
        (one.job.model, one.job.family, one.status, one.error, _content(one.job.rows)) for one in outcomes
    ]
