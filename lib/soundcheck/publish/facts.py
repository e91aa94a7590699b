"""What a finished run says of one model: what cards, records and the page for a meeting are made of.

Everything that leaves the book is computed from here, so that no two of them count differently. Facts are
those of the results table and its record; nothing is read from pages, and nothing about the model is guessed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.caveats import Caveat
from soundcheck.common.day import today
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.report import failures
from soundcheck.report.sentences import both_rules
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.estimates import ALL, read_estimates
from soundcheck.results.finished_run import FinishedRun, read_run
from soundcheck.results.page_names import model_page, result_page
from soundcheck.results.record import CorpusRecord, FamilyRecord, KeyFigure, ModelRecord, RunRecord
from soundcheck.results.standing import HOLLOW, standings
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, counted
from soundcheck.results.summary import few_speakers
from soundcheck.suite.card import Card
from soundcheck.suite.measures import LOWER, info_of

_RANDOM = "random"  # kind of the reference models


class ModelFacts:
    """What a run says of one model.

    Parameters
    ----------
    run
        The finished run; it has a record.
    model
        Name of a model of it.

    Attributes
    ----------
    record
        The record of the run.
    model
        What the suite says of the model, and what became of its inputs.
    rows
        Its rows of the results table, with the columns ``standing``, see
        :mod:`soundcheck.results.standing`, and ``accepted``, why the suite accepts the failure, or ``""``.
    """

    def __init__(self, run: FinishedRun, model: str) -> None:
        assert run.record is not None
        self.record: RunRecord = run.record
        self.run = run
        self.model: ModelRecord = next(one for one in run.record.models if one.name == model)
        own = run.frame[run.frame["model"].eq(model)]
        self.rows: pd.DataFrame = own.assign(
            standing=standings(own, run.record.figures),
            accepted=accepted_reasons(own, run.record.accepted, today()),
        )

    @property
    def card(self) -> Card:
        """What people wrote about it: its own words first, then those of the suite."""
        own = self.model.card.over(Card(license=self.model.license))
        return own.over(self.record.card)

    @functools.cached_property
    def sha256(self) -> str:
        """The SHA-256 of ``results.csv``, 64 hexadecimal digits, as ``sha256sum`` prints it."""
        with open(self.run.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @functools.cached_property
    def estimates(self) -> pd.DataFrame:
        """Its rows of the table of estimates."""
        found = read_estimates(self.run.path.parent)
        return found[found["model"].eq(self.model.name)]

    @functools.cached_property
    def group_values(self) -> pd.DataFrame:
        """How good it is for each group: estimates of the measures that its figures have, the worst first."""
        found = self.estimates[
            self.estimates["part"].ne(ALL)
            & self.estimates["condition"].eq("")
            & self.estimates["label"].eq("")
            & self.estimates["value"].notna()
        ]
        infos = found["measure"].map(info_of)
        wanted = {(figure.task, figure.measure) for figure in self.figures}
        found = found.assign(title=[info.title for info in infos], better=[info.better for info in infos])
        known = [(row.task, row.title) in wanted for row in found.itertuples()]
        found = found[np.array(known, dtype=bool)]
        order = found["value"].where(found["better"].ne(LOWER), -found["value"])
        found = found.assign(order=order).sort_values(["corpus", "task", "title", "order"], kind="stable")
        return found.drop_duplicates(["corpus", "task", "title", "part"])

    @functools.cached_property
    def counted(self) -> pd.DataFrame:
        """The rows that count: robustness and fairness only where the model is better than chance."""
        return counted(self.rows[self.rows["standing"].ne(HOLLOW)])

    @functools.cached_property
    def uncounted(self) -> pd.DataFrame:
        """The rows that were evaluated and do not count: the model is no better than chance there."""
        own = counted(self.rows)
        return own[own["standing"].eq(HOLLOW) & own["state"].ne(NOT_EVALUATED)]

    @functools.cached_property
    def failing(self) -> pd.DataFrame:
        """Tests that fail, the largest failure first."""
        return failures.by_excess(self.counted[self.counted["state"].eq(FAIL)])

    @functools.cached_property
    def inconclusive(self) -> pd.DataFrame:
        """Tests that the data do not decide: they are no passes."""
        return self.counted[self.counted["state"].eq(INCONCLUSIVE)]

    @functools.cached_property
    def few(self) -> pd.DataFrame:
        """Differences with too few speakers to generalise, the largest first."""
        return few_speakers(self.counted)

    @functools.cached_property
    def not_evaluated(self) -> pd.DataFrame:
        """Tests that were not evaluated, with reasons in the column ``skipped``."""
        own = counted(self.rows)
        return own[own["state"].eq(NOT_EVALUATED)]

    @functools.cached_property
    def families(self) -> list[tuple[FamilyRecord, pd.DataFrame]]:
        """The families that tested it, in the order of the book, each with its rows."""
        by_name = dict(list(self.rows.groupby("family", sort=False)))
        return [(family, by_name[family.name]) for family in self.record.families if family.name in by_name]

    @functools.cached_property
    def failed(self) -> list[str]:
        """Families whose notebook did not come to its end, so that its tests are missing."""
        own = [one for one in self.record.notebooks if one.model == self.model.name and one.failed]
        return [one.family for one in own]

    @functools.cached_property
    def figures(self) -> list[KeyFigure]:
        """How good it is at each of its tasks, with intervals and what guessing scores."""
        return [figure for figure in self.record.figures or () if figure.model == self.model.name]

    @functools.cached_property
    def corpora(self) -> list[CorpusRecord]:
        """The corpora that it was tested on."""
        seen = set(self.rows["corpus"])
        return [corpus for corpus in self.record.corpora if corpus.name in seen]

    @functools.cached_property
    def caveats(self) -> list[Caveat]:
        """What makes its numbers doubtful."""
        return self.record.caveats_of({self.model.name}, set(self.rows["corpus"]), set(self.rows["task"]))

    @property
    def synthetic(self) -> bool:
        """Whether any of the speech was made by a machine, which every page has to say."""
        return any(corpus.synthetic for corpus in self.corpora)

    def sentence(self, row: object) -> str:
        """Write what a row says, with its interval; rows are those of ``itertuples``."""
        said = failures.sentence(row, failures.blocks_of(self.record, row.corpus))
        return "; ".join(filter(None, (said, both_rules(row).partition(";")[0])))

    def page(self, family: str = "") -> str:
        """Name the page of the book about the model, or about it and a family, relative to the book."""
        name = result_page(self.model.name, family) if family else model_page(self.model.slug)
        return f"{name}.html"


def read_facts(path: Path, model: str | None = None) -> ModelFacts:
    """Read what a run says of a model.

    Parameters
    ----------
    path
        The output folder of a run, or ``results.csv`` in it.
    model
        Its name; ``None`` if there is only one beside the random references.

    Raises
    ------
    InputError
        If the results are missing, were edited, or have no record that can be read, if there is no such
        model, or if there are several and none is named.
    """
    run = read_recorded(path)
    return ModelFacts(run, _chosen(run.record, set(run.frame["model"]), model))


def read_recorded(path: Path) -> FinishedRun:
    """Read a run that has a record; see :func:`read_facts`."""
    run = read_run(path)
    if run.record is None:
        what = "there is no record of the run, run.json, beside it"
        raise input_error(run.path.name, what, "Give the output folder that `soundcheck run` wrote")
    listed = {"model": run.record.models, "family": run.record.families, "corpus": run.record.corpora}
    for column, known in listed.items():
        for name in sorted(set(run.frame[column]) - {one.name for one in known}):
            what = f"it does not know the {column} {quoted(name)}, of which {run.path.name} has rows"
            raise input_error("run.json", what, "Run the suite again")
    return run


def _chosen(record: RunRecord, tested: set[str], model: str | None) -> str:
    names: Sequence[str] = [one.name for one in record.models if one.name in tested]
    if model is not None:
        if model not in names:
            remedy = did_you_mean(model, names)
            raise input_error(f"--model {quoted(model)}", "the run has no results of such a model", remedy)
        return model
    own = [one.name for one in record.models if one.name in tested and one.kind != _RANDOM]
    if len(own) != 1:
        what = f"the run has {len(own)} models" if own else "the run has no model but random references"
        listed = ", ".join(map(quoted, own[:20])) or "none"
        raise input_error(
            "--model", what, f"Name one of them: {listed}" if own else "Run a suite with a model"
        )
    return own[0]
