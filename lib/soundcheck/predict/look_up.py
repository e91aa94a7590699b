"""Collects the answers of models that do not listen: tables, references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from soundcheck.models.base import LookUpModel
from soundcheck.predict.inputs import Wanted, list_segments
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Row

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.families import Perturbation


def look_up(
    model: LookUpModel, corpora: Sequence[Corpus], changes: Mapping[str, Perturbation], wanted: Wanted | None
) -> tuple[PredictionReport, dict[str, list[Row]]]:
    """Collect the answers of a model that does not listen."""
    rows: dict[str, list[Row]] = {}
    failures = []
    changed = list(changes) if model.changes_audio else []
    notices = tuple(model.notices(corpora))
    for corpus in corpora:
        found = {change: model.look_up(corpus, change) for change in ["", *changed]}
        rows[corpus.name] = []
        asked = model.asked(corpus)
        for number, item in enumerate(list_segments(corpus, changed, wanted) if asked is None else asked):
            for change in item.changes:
                answers, problems = found[change]
                row = Row(item.key, change, {}, problems[number])
                if row.error:
                    name = changes[change].name if change else ""
                    failures.append((corpus.name, item.shown, name, row.error))
                else:
                    row.answer = {task: values[number] for task, values in answers.items()}
                rows[corpus.name].append(row)
    count = sum(len(table) for table in rows.values())
    report = PredictionReport(
        model.name,
        model.fingerprint,
        computed=count - len(failures),
        unusable=len(failures),
        failures=failures,
        notices=notices,
    )
    return report, rows
