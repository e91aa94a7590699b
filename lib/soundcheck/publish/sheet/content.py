"""The content of the one-page summary of a model or a comparison, for HTML and PDF alike."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

import pandas as pd

from soundcheck.common.wording import counted, duration
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet import tables
from soundcheck.publish.sheet.figures import Picture, comparison_pictures, model_pictures
from soundcheck.publish.sheet.sounds import Scene, comparison_scenes, model_scenes
from soundcheck.publish.sheet.tables import Table
from soundcheck.publish.verdict_lines import comparison_lines, verdict_lines
from soundcheck.report import states
from soundcheck.report.html import Html
from soundcheck.report.names import remark
from soundcheck.report.states import JUDGED
from soundcheck.results.page_names import comparison_page
from soundcheck.results.record import ComparisonRecord, CorpusRecord

MOST_CORPORA = 3


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The page, from top to bottom; pairs are of a name and a text."""

    title: str
    purpose: str
    synthetic: bool  # whether any of the speech is
    lines: Sequence[tuple[str, str]]  # the answers: how good, what fails, what could not be concluded
    bar: Html  # numbers of tests
    counts: str  # the same in words
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    scenes: Sequence[Scene]
    origin: Sequence[tuple[str, str]]
    page: str  # its page in the book, relative to the book


def model_sheet(facts: ModelFacts, since: Sequence[Table], day: datetime.date) -> Sheet:
    """Put the page of a model together.

    ``since`` is what changed, see :func:`soundcheck.publish.sheet.tables.since`; new predictions are of
    ``day``.
    """
    return _sheet(
        facts,
        day,
        title=facts.model.name,
        lines=verdict_lines(facts),
        pictures=model_pictures(facts),
        tables=[*tables.failing(facts), *tables.values(facts), tables.unknown(facts), *since],
        scenes=model_scenes(facts),
        page=facts.page(),
    )


def comparison_sheet(
    facts: ModelFacts, entry: ComparisonRecord, frame: pd.DataFrame, day: datetime.date
) -> Sheet:
    """Put the page of a comparison together, of its rows and the facts of the candidate."""
    failed = ["The comparison failed to run, so nothing can be said about it."] if entry.failed else []
    lines = [f"The difference: {failed[0]}", *verdict_lines(facts)[:2]] if failed else []
    changed = tables.changed("Tests that became worse or better", frame, failed)
    return _sheet(
        facts,
        day,
        title=f"{entry.name}: {entry.candidate} against {entry.baseline}",
        lines=lines or comparison_lines(frame, facts),
        pictures=comparison_pictures(frame, facts),
        tables=[changed, *tables.failing(facts), tables.unknown(facts)],
        scenes=comparison_scenes(facts, entry),
        page=f"{comparison_page(entry.slug)}.html",
    )


def _sheet(facts: ModelFacts, day: datetime.date, lines: Sequence[str], **own: object) -> Sheet:
    """Add what pages of models and of comparisons have in common."""
    model, record = facts.model, facts.record
    data = [*map(_size, facts.corpora[:MOST_CORPORA])]
    data += [f"{len(facts.corpora) - MOST_CORPORA} more corpora"] * (len(facts.corpora) > MOST_CORPORA)
    missing = model.failed + model.unusable
    without = f"; none for {counted(missing, 'input')} of {model.inputs:,}" if missing else ""
    settings = f"{record.replicates} replicates, {record.interval} intervals, seed {record.seed}"
    said = (facts.card.intended_use or model.description).strip().rstrip(".")
    tasks = f"Tasks: {', '.join(model.tasks)}"
    origin = {
        "data": "; ".join(data) or "none",
        "predictions": f"{model.given(day) or 'day not known'}{without}",
        "suite": f"{record.title or 'without title'}, run {record.run}",
        "model": f"{model.target}, fingerprint {model.fingerprint[:16]} of {model.fingerprint_of}",
        "made with": f"Soundcheck {record.version}, {settings}",
        "results.csv, SHA-256": facts.sha256,
    }
    return Sheet(
        purpose=f"{'. '.join(filter(None, (said, tasks)))}.",
        synthetic=facts.synthetic,
        lines=[(name, remark(text.strip())) for name, _, text in (line.partition(":") for line in lines)],
        bar=states.bar(facts.counts),
        counts=", ".join(f"{facts.counts[name]} {name}" for name in JUDGED),
        origin=[*origin.items()],
        **own,
    )


def _size(corpus: CorpusRecord) -> str:
    parts = ["synthetic speech" if corpus.synthetic else "", counted(corpus.segments, "segment")]
    parts.append(counted(corpus.speakers, "speaker") if corpus.speakers else "")
    parts.append(duration(corpus.seconds) if corpus.seconds else "")
    return f"{corpus.name} ({', '.join(filter(None, parts))})"
