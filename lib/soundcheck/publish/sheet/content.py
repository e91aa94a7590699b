"""What stands on the page for a meeting, apart from how it looks: the content of HTML and PDF alike.

Conventions
-----------
- All texts are plain: they come from data in part, and whoever shows them escapes them.
- All lists are short, so that the page prints on one or two sheets; what is left out is counted.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Sequence

import pandas as pd

from soundcheck.common.wording import counted, duration
from soundcheck.publish.cards.groups import number_cells
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet import figures, sounds
from soundcheck.publish.sheet.earlier import Against, Change, changes_of
from soundcheck.publish.sheet.figures import Picture
from soundcheck.publish.sheet.sounds import Scene
from soundcheck.publish.verdict_lines import comparison_lines, plain, verdict_lines
from soundcheck.report import failures
from soundcheck.report.formats import significant
from soundcheck.report.inconclusive import columns as inconclusive_columns
from soundcheck.report.inconclusive import inconclusive, noun
from soundcheck.report.sentences import both_rules
from soundcheck.results.page_names import comparison_page
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.summary import aspects, headline, tally
from soundcheck.statistics.rules import WITHIN

MOST_FAILURES = 8  # rows of a table
MOST_INCONCLUSIVE = 5
MOST_CHANGES = 6
MOST_GROUPS = 8
MOST_CORPORA = 3


@dataclasses.dataclass(frozen=True)
class Grid:
    """A table: columns, rows, and what is to be said below it; which column has the longest texts."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    wide: int = 1


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The page for a meeting.

    Parameters
    ----------
    title
        What it is about.
    facts
        Name and text of what has to be known: answers, data, suite.
    purpose
        What the model is for.
    synthetic
        Whether any of the speech is synthetic.
    verdict
        Three lines, each ``"name: text"``.
    grids, pictures, scenes
        Tables, figures and sounds.
    origin
        Name and text of where the numbers come from, and how to check them.
    page
        Name of its page in the book, with suffix and relative to the book.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    purpose: str
    synthetic: bool
    verdict: tuple[str, ...]
    grids: tuple[Grid, ...]
    pictures: tuple[Picture, ...]
    scenes: tuple[Scene, ...]
    origin: tuple[tuple[str, str], ...]
    page: str


def model_sheet(
    facts: ModelFacts, against: Against, day: datetime.date, pictures: Sequence[Picture] | None = None
) -> Sheet:
    """Put the page of a model together.

    Parameters
    ----------
    facts
        What the run says of it.
    against
        What became of it since the last release, see :mod:`soundcheck.publish.sheet.earlier`.
    day
        The day of the run: answers that it asked for are of this day.
    pictures
        Its figures, if they are drawn already.
    """
    drawn = figures.model_pictures(facts) if pictures is None else pictures
    notes = (*against.told, *_more(len(against.changes), MOST_CHANGES))
    since = Grid("Against the last release", *_changed(against.changes), notes)
    return Sheet(
        title=plain(facts.model.name),
        facts=_about(facts, day),
        purpose=_purpose(facts),
        synthetic=facts.synthetic,
        verdict=tuple(verdict_lines(facts)),
        grids=(*_findings(facts), *_groups(facts), _inconclusive(facts), since),
        pictures=tuple(drawn),
        scenes=tuple(sounds.model_scenes(facts)),
        origin=_origin(facts),
        page=facts.page(),
    )


def comparison_sheet(
    facts: ModelFacts,
    entry: ComparisonRecord,
    frame: pd.DataFrame,
    day: datetime.date,
    pictures: Sequence[Picture] | None = None,
) -> Sheet:
    """Put the page of a comparison together.

    Parameters
    ----------
    facts
        Facts of the candidate.
    entry, frame
        The comparison and its rows.
    day, pictures
        As for :func:`model_sheet`.
    """
    drawn = figures.comparison_pictures(frame, facts) if pictures is None else pictures
    changes = changes_of(frame)
    columns, rows = _changed(changes)
    if entry.failed:
        notes: tuple[str, ...] = ("The comparison failed to run, so nothing can be said about it.",)
        lines = [f"The difference: {notes[0]}", *verdict_lines(facts)[:2]]
    else:
        told = () if changes else ("No test is better or worse; that is not the same as no difference.",)
        notes, lines = (*told, *_more(len(changes), MOST_CHANGES)), comparison_lines(frame, facts)
    return Sheet(
        title=f"{plain(entry.name)}: {plain(entry.candidate)} against {plain(entry.baseline)}",
        facts=_about(facts, day),
        purpose=_purpose(facts),
        synthetic=facts.synthetic,
        verdict=tuple(lines),
        grids=(
            Grid("What became worse or better", columns, rows, notes),
            *_findings(facts),
            _inconclusive(facts),
        ),
        pictures=tuple(drawn),
        scenes=tuple(sounds.comparison_scenes(facts, entry)),
        origin=_origin(facts),
        page=f"{comparison_page(entry.slug)}.html",
    )


def _about(facts: ModelFacts, day: datetime.date) -> tuple[tuple[str, str], ...]:
    model, record = facts.model, facts.record
    data = [_corpus(one) for one in facts.corpora[:MOST_CORPORA]]
    data += [f"{len(facts.corpora) - MOST_CORPORA} more corpora"] if len(facts.corpora) > MOST_CORPORA else []
    missing = model.failed + model.unusable
    without = f"; {counted(missing, 'input')} of {model.inputs:,} without an answer" if missing else ""
    return (
        ("answers", f"{model.given(day) or 'day not known'}{without}"),
        ("data", "; ".join(data) or "none"),
        ("tests", f"{tally(facts.rows)}; in {len(facts.families)} of the suite's families"),
        ("suite", f"{plain(record.title) or 'without title'}, run {record.run}"),
    )


def _corpus(corpus: object) -> str:
    parts = [counted(corpus.segments, "segment")]
    parts += [counted(corpus.speakers, "speaker")] if corpus.speakers else []
    parts += [duration(corpus.seconds)] if corpus.seconds else []
    kind = "SYNTHETIC speech, " if corpus.synthetic else ""
    return f"{plain(corpus.name, 40)} ({kind}{', '.join(parts)})"


def _purpose(facts: ModelFacts) -> str:
    tasks = ", ".join(plain(task, 30) for task in facts.model.tasks)
    said = facts.card.intended_use or facts.model.description
    if said:
        return f"{plain(said, 300)} Tested at: {tasks}."
    return f"Tested at: {tasks}. What it is for the suite does not say (`intended use` under `card:`)."


def _findings(facts: ModelFacts) -> Iterator[Grid]:
    """List failures, then what few speakers show, the largest first."""
    rows = facts.failing
    title = f"What fails: {counted(len(rows), 'test')}"
    if rows.empty:
        yield Grid(title, notes=(f"{headline(facts.counted)}.",))
    else:
        # The largest of each family, so that one weakness does not hide another; then the others.
        later = rows.groupby("family", sort=False).cumcount()
        yield _listed(facts, title, rows.assign(later=later.gt(0)).sort_values("later", kind="stable"))
    if len(facts.few):
        title = "Too few speakers to generalise: what these speakers show"
        grid = _listed(facts, title, facts.few)
        yield dataclasses.replace(grid, notes=("Intervals are for these speakers.", *grid.notes))


def _listed(facts: ModelFacts, title: str, rows: pd.DataFrame) -> Grid:
    shown = rows.head(MOST_FAILURES)
    lines = [
        (aspect, *_finding(row), plain(f"accepted: {row.accepted}", 60) if row.accepted else "")
        for aspect, row in zip(aspects(shown), shown.itertuples(), strict=True)
    ]
    speakers = noun(facts.record, rows)
    columns = ["aspect", "what", "value", "difference", "95 % interval", speakers, "margin or threshold", ""]
    if not any(line[-1] for line in lines):
        columns, lines = columns[:-1], [line[:-1] for line in lines]
    return Grid(title, tuple(columns), tuple(lines), _more(len(rows), len(shown)))


def _finding(row: object) -> tuple[str, ...]:
    """Write a row as cells: what, values, difference, interval, count, limit."""
    what, blocks = plain(failures.subject(row), 100), f"{row.blocks:,}"
    if row.test == failures.SEARCHED and row.skipped:
        what = plain(f"groups worse off in {row.task}: {row.skipped}", 160)
        return what, f"{row.value:g}", "", "", blocks, "0"
    rule = both_rules(row).partition(";")[0]
    if row.group and not pd.isna(row.gap):
        limit = "" if pd.isna(row.matters) else f"±{significant(row.matters)}"
        bounds = (
            (row.gap_low_sample, row.gap_high_sample) if failures.few(row) else (row.gap_low, row.gap_high)
        )
        values = f"{significant(row.group_value)} against {significant(row.others_value)}"
        limit = "; ".join(filter(None, (limit, rule)))
        return what, values, significant(row.gap), _interval(*bounds), blocks, limit
    limit = significant(row.threshold)
    limit = f"±{limit}" if row.rule == WITHIN else f"{row.rule} {limit}"
    return what, significant(row.value), "", _interval(row.low, row.high), blocks, limit


def _interval(low: float, high: float) -> str:
    return "none" if pd.isna(low) else f"{significant(low)} to {significant(high)}"


def _groups(facts: ModelFacts) -> Iterator[Grid]:
    """List how good the model is for each group, the worst first; none if no figure has groups."""
    rows = facts.group_values
    if len(rows):
        lines = [
            (plain(row.part, 60), plain(f"{row.title} of {row.task}", 60), *number_cells(row))
            for row in rows.head(MOST_GROUPS).itertuples()
        ]
        columns = ("group", "measure", "value", "95 % interval", "for these speakers", "rests on")
        yield Grid("Values of groups", columns, tuple(lines), _more(len(rows), len(lines)))


def _inconclusive(facts: ModelFacts) -> Grid:
    """List the families with the most inconclusive tests, and what is not excluded there."""
    rows = facts.inconclusive
    title = f"What could not be concluded: {counted(len(rows), 'inconclusive test')}"
    left = len(facts.not_evaluated)
    notes = [f"{counted(left, 'test')} not evaluated."] if left else []
    if facts.failed:
        notes.append(f"Failed to run: {', '.join(map(plain, facts.failed))}.")
    if rows.empty:
        return Grid(title, notes=("No test is inconclusive.", *notes))
    found = inconclusive(facts.record, rows)
    lines = [
        (plain(one.title, 60), *(plain(str(cell), 80) for cell in one.cells))
        for one in found[:MOST_INCONCLUSIVE]
    ]
    rest = found[MOST_INCONCLUSIVE:]
    if rest:
        more = counted(sum(one.tests for one in rest), "inconclusive test")
        notes.insert(0, f"{more} in {len(rest)} more {'family' if len(rest) == 1 else 'families'}.")
    return Grid(title, tuple(inconclusive_columns(facts.record, rows)), tuple(lines), tuple(notes), wide=2)


def _changed(changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Give columns and rows of what changed; half of the room is kept for what became better."""
    if not changes:
        return (), ()
    lost = [one for one in changes if one.outcome == changes[0].outcome]
    others = [one for one in changes if one.outcome != changes[0].outcome]
    kept = max(MOST_CHANGES // 2, MOST_CHANGES - len(others))
    shown = [*lost[:kept], *others[: MOST_CHANGES - min(kept, len(lost))]]
    columns = ("outcome", "what", "before", "now", "difference")
    return columns, tuple((one.outcome, one.what, one.before, one.after, one.difference) for one in shown)


def _more(total: int, shown: int) -> tuple[str, ...]:
    return (f"{total - shown:,} more are in the book and in the tables of the run.",) if total > shown else ()


def _origin(facts: ModelFacts) -> tuple[tuple[str, str], ...]:
    record, model = facts.record, facts.model
    versions = [f"{name} {record.versions[name]}" for name in ("Python", "numpy") if name in record.versions]
    interval = f"{record.replicates} replicates, {record.interval} intervals, seed {record.seed}"
    return (
        ("results.csv, SHA-256", facts.sha256),
        ("made with", ", ".join([f"Soundcheck {record.version}", *versions, interval])),
        (
            "model",
            f"{plain(model.target)}, fingerprint {model.fingerprint[:16]} of {plain(model.fingerprint_of)}",
        ),
        (
            "to check",
            "sha256sum results.csv gives the digest above; soundcheck verify checks a whole book; "
            "the same suite, data and version give the same table",
        ),
    )
