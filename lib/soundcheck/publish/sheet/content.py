"""The content of the one-page summary of a model or a comparison, for HTML and PDF alike.

Its figures are how good a model is against chance, and the largest differences.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common.wording import counted, duration
from soundcheck.publish.facts import comparison_lines, page, plain, verdict_lines
from soundcheck.publish.sheet import tables
from soundcheck.publish.sheet.sounds import Scene, carried, comparison_scenes, model_scenes
from soundcheck.publish.sheet.tables import Table
from soundcheck.report import failures, key_figures, states
from soundcheck.report.formats import significant
from soundcheck.report.html import Html
from soundcheck.report.names import remark
from soundcheck.report.states import JUDGED
from soundcheck.report.style import label, svg
from soundcheck.report.views import forest
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.facts import ModelFacts, findings
from soundcheck.results.page_names import comparison_page
from soundcheck.results.record import ComparisonRecord, CorpusRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS

MOST_CORPORA = 3
MOST_DRAWN = 8  # rows of a figure


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure: what it is called, what it shows for readers who do not see it, and the SVG."""

    title: str
    alt: str
    svg: str
    address: str  # which holds it

    @classmethod
    def of(cls, title: str, alt: str, figure: Figure) -> Picture:
        """Draw a figure."""
        drawn = svg(figure)
        return cls(title, alt, drawn.decode(), carried("image/svg+xml", drawn))


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
        page=page(facts),
    )


def comparison_sheet(
    facts: ModelFacts, entry: ComparisonRecord, frame: pd.DataFrame, day: datetime.date
) -> Sheet:
    """Put the page of a comparison together, of its rows and the facts of the candidate."""
    failed = ["The comparison failed to run, so nothing can be said about it."] if entry.failed else []
    lines = comparison_lines(frame, facts)
    if failed:
        lines[0] = ("The difference", *failed)
    changed = tables.changed("Tests that became worse or better", frame, failed)
    return _sheet(
        facts,
        day,
        title=f"{entry.name}: {entry.candidate} against {entry.baseline}",
        lines=lines,
        pictures=comparison_pictures(frame, facts),
        tables=[changed, *tables.failing(facts), tables.unknown(facts)],
        scenes=comparison_scenes(facts, entry),
        page=f"{comparison_page(entry.slug)}.html",
    )


def _sheet(
    facts: ModelFacts, day: datetime.date, lines: Sequence[tuple[str, str]], **contents: object
) -> Sheet:
    """Add what pages of models and of comparisons have in common."""
    model, record = facts.model, facts.record
    data = [*map(_size, facts.corpora[:MOST_CORPORA])]
    data += [f"{len(facts.corpora) - MOST_CORPORA} more corpora"] * (len(facts.corpora) > MOST_CORPORA)
    missing = model.failed + model.unusable
    without = f"; none for {counted(missing, 'input')} of {model.inputs:,}" if missing else ""
    settings = f"{record.replicates} replicates, {record.interval} intervals, seed {record.seed}"
    purpose = (facts.card.intended_use or model.description).strip().rstrip(".")
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
        purpose=f"{'. '.join(filter(None, (purpose, tasks)))}.",
        synthetic=facts.synthetic,
        lines=[(name, remark(text)) for name, text in lines],
        bar=states.bar(facts.counts),
        counts=", ".join(f"{facts.counts[name]} {name}" for name in JUDGED),
        origin=[*origin.items()],
        **contents,
    )


def _size(corpus: CorpusRecord) -> str:
    parts = ["synthetic speech" if corpus.synthetic else "", counted(corpus.segments, "segment")]
    parts.append(counted(corpus.speakers, "speaker") if corpus.speakers else "")
    parts.append(duration(corpus.seconds) if corpus.seconds else "")
    return f"{corpus.name} ({', '.join(filter(None, parts))})"


def model_pictures(facts: ModelFacts) -> list[Picture]:
    """Draw how good it is and its largest differences between groups; what would be empty is left out."""
    rows = facts.counted
    rows = findings(rows[rows["group"].ne("") & rows["gap_low"].notna() & rows["matters"].notna()])
    rows = rows.head(MOST_DRAWN).assign(
        value=rows["gap"], low=rows["gap_low"], high=rows["gap_high"], margin=rows["matters"]
    )
    title = "Largest differences of groups, 95 % intervals; grey: margin"
    unit = "below the others  ←  difference  →  above the others"
    return [*_values(facts), *_differences(title, rows, unit)]


def comparison_pictures(frame: pd.DataFrame, facts: ModelFacts) -> list[Picture]:
    """Draw where a candidate differs most, and how good it is."""
    known = frame[frame["low"].notna() & frame["p_value"].notna()]
    rank = known["outcome"].map({WORSE: 0, BETTER: 1}).fillna(2)
    rows = known.assign(rank=rank, value=known["difference"]).sort_values(["rank", "p_value"], kind="stable")
    rows["state"] = rows["outcome"].map({WORSE: FAIL, BETTER: PASS}).fillna(INCONCLUSIVE)
    rows = rows.head(MOST_DRAWN)
    title = f"The {len(rows)} surest of {len(known)} differences, 95 % intervals; ✗ worse, ✓ better"
    return [*_differences(title, rows, "candidate − baseline"), *_values(facts)]


def _differences(title: str, rows: pd.DataFrame, unit: str) -> list[Picture]:
    named = rows.assign(name="", words="", reference=0.0)
    alts = []
    for row in rows.itertuples():
        named.loc[row.Index, "name"] = measured = failures.measured(row)
        if row.group:
            values = [significant(getattr(row, name, None)) for name in ("group_value", "others_value")]
            both = f": {values[0]}, others {values[1]}" if any(values) else ""
            named.loc[row.Index, ["name", "words"]] = failures.people(row.group), f"{label(measured)}{both}"
        alts.append(f"{plain(failures.subject(row))} {significant(row.value)} ({row.state})")
    return [Picture.of(title, "; ".join(alts), forest(named, unit=unit))] if alts else []


def _values(facts: ModelFacts) -> list[Picture]:
    figures = [one for one in facts.figures if one.value is not None][:MOST_DRAWN]
    several = len({one.corpus for one in figures}) > 1
    rows = []
    for one in figures:
        rate = one.measure in key_figures.RATES
        numbers = {"value": one.value, "low": one.low, "high": one.high, "reference": one.guessing}
        names = [*([] if rate else [one.task]), one.measure, *([one.corpus] if several else [])]
        axis = "errors in %: less is better" if rate else "more is better"
        scaled = pd.Series(numbers, dtype=float) * (100 if rate else 1)
        rows.append({"name": " · ".join(names), "panel": axis, **scaled})
    alt = "; ".join(plain(key_figures.sentence(one, corpus=several), 200) for one in figures)
    title = "How good, 95 % intervals; grey: chance"
    return [Picture.of(title, alt, forest(pd.DataFrame(rows), panels="panel"))] if rows else []
