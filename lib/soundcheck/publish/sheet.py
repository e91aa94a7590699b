"""The one-page summary of a model or a comparison of a finished run, as HTML and PDF.

Its figures are how good a model is against chance, and the largest differences; its tables what fails, values
of groups and classes, what is not known, what changed. Texts come from data in part: whoever shows them
escapes and cuts them. Lists are short; what is left out is counted.
"""

import dataclasses
import datetime
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
import pandas as pd

from soundcheck.common import files, templates
from soundcheck.common.day import day_of, given_day
from soundcheck.common.messages import Problems, counted, duration, xml_text
from soundcheck.common.resources import import_extra
from soundcheck.publish.facts import INCONCLUSIVE as INCONCLUSIVE_LINE
from soundcheck.publish.facts import as_markdown, page, plain, verdict_lines
from soundcheck.publish.sheet_sounds import Scene, carried, comparison_scenes, model_scenes
from soundcheck.report import failures, key_figures
from soundcheck.report.formats import JUDGED, estimate, remark, significant, state_bar
from soundcheck.report.html import Html, standalone
from soundcheck.report.style import label, svg
from soundcheck.report.views import forest
from soundcheck.results import history
from soundcheck.results.contrast import BETTER, PAIRED, WORSE, conclusion
from soundcheck.results.facts import ModelFacts, findings, headline, read_recorded
from soundcheck.results.finished_run import FinishedRun, read_run
from soundcheck.results.record import ComparisonRecord, CorpusRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.suite.families import measure_of

MOST_BYTES = 2_000_000  # of the HTML file, sounds included
LONGEST = 1000  # characters of a conclusion, and of a text of a PDF
LONGEST_WORD = 70  # characters of a PDF that are not broken: a SHA-256 stays whole
_PAGES, _TEXTS = (".html", ".htm"), (".md", ".txt")
MOST_CORPORA = 3
MOST_DRAWN = 8  # rows of a figure
MOST_ROWS = 8
MOST_UNKNOWN = 5
MOST_MEASURES = 4  # columns of values
MOST_CHANGES = 4  # tests that are worse, and that are better
SINCE = "Against the last release"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: without rows only its title and notes are shown."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: Sequence[str] = ()

    @classmethod
    def of_first(cls, title: str, frame: pd.DataFrame, total: int, notes: Sequence[str] = ()) -> "Table":
        """Make a table of the first of so many rows in all, without columns that no row fills."""
        filled = frame.loc[:, frame.ne("").any()]
        left = total - len(frame)
        notes = [*notes, *([f"{left:,} more are in the tables of the run."] if left > 0 else [])]
        return cls(title, [*filled], [*filled.itertuples(index=False, name=None)], notes)


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure: what it is called, what it shows for readers who do not see it, and the SVG."""

    title: str
    alt: str
    svg: str

    @property
    def address(self) -> str:
        """An address that holds it."""
        return carried("image/svg+xml", self.svg.encode())


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


def model_sheet(facts: ModelFacts, day: datetime.date, baseline: FinishedRun | None = None) -> Sheet:
    """Put the page of a model together; new predictions are of ``day``, changes :func:`since` a baseline."""
    return _sheet(
        facts,
        day,
        title=facts.model.name,
        lines=verdict_lines(facts),
        pictures=model_pictures(facts),
        tables=[*failing(facts), *values(facts), *unknown(facts), *since(facts, baseline)],
        scenes=model_scenes(facts),
        page=page(facts),
    )


def comparison_sheet(
    facts: ModelFacts, entry: ComparisonRecord, frame: pd.DataFrame, day: datetime.date
) -> Sheet:
    """Put the page of a comparison together, of its rows and the facts of the candidate."""
    difference = plain(conclusion(frame), LONGEST)
    if entry.failed:
        difference = "The comparison failed to run, so nothing can be said about it."
    lines = [line for line in verdict_lines(facts) if line[0] != INCONCLUSIVE_LINE]
    differing = changed("Tests that became worse or better", frame, [difference] if entry.failed else [])
    return _sheet(
        facts,
        day,
        title=f"{entry.name}: {entry.candidate} against {entry.baseline}",
        lines=[("The difference", difference), *lines],
        pictures=comparison_pictures(frame, facts),
        tables=[differing, *failing(facts), *unknown(facts)],
        scenes=comparison_scenes(facts, entry),
        page=f"{entry.page}.html",
    )


def _sheet(
    facts: ModelFacts, day: datetime.date, lines: Sequence[tuple[str, str]], **contents: object
) -> Sheet:
    """Add what pages of models and of comparisons have in common."""
    model, record = facts.model, facts.record
    left = len(facts.corpora) - MOST_CORPORA
    data = [*map(_size, facts.corpora[:MOST_CORPORA]), *([f"{left} more corpora"] if left > 0 else [])]
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
        bar=state_bar(facts.counts),
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
    title = f"{len(rows)} of {len(known)} differences, worse first, by p; 95 % intervals; ✗ worse, ✓ better"
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
    return [Picture(title, "; ".join(alts), svg(forest(named, unit=unit)).decode())] if alts else []


def _values(facts: ModelFacts) -> list[Picture]:
    figures = [figure for figure in facts.figures if figure.value is not None][:MOST_DRAWN]
    several = len({figure.corpus for figure in figures}) > 1
    rows = []
    for figure in figures:
        rate = figure.measure in key_figures.RATES
        numbers = figure.value, figure.low, figure.high, figure.guessing
        names = [*([] if rate else [figure.task]), figure.measure, *([figure.corpus] if several else [])]
        axis = "errors in %: less is better" if rate else "more is better"
        scaled = pd.Series(numbers, ["value", "low", "high", "reference"], dtype=float)
        scaled *= 100 if rate else 1
        rows.append({"name": " · ".join(names), "panel": axis, **scaled})
    alt = "; ".join(plain(key_figures.sentence(figure, corpus=several), 200) for figure in figures)
    title = "How good, 95 % intervals; grey: chance"
    return [Picture(title, alt, svg(forest(pd.DataFrame(rows), panels="panel")).decode())] if rows else []


def failing(facts: ModelFacts) -> Iterator[Table]:
    """List what fails, a row a fact, then what few speakers show, the largest first."""
    if facts.findings.empty:
        yield Table("What fails", notes=[f"{headline(facts.counted)}."])
    for title, rows in (("What fails", facts.findings), (failures.FEW_TITLE, facts.few)):
        if len(rows):
            lines = pd.DataFrame(_finding(facts, row) for row in rows.head(MOST_ROWS).itertuples())
            yield Table.of_first(title, lines, len(rows))


def _finding(facts: ModelFacts, row: object) -> dict[str, str]:
    fact, more = failures.finding(row, facts.record.block_of(row.corpus)), getattr(row, "more", 0)
    about = [f"accepted: {row.accepted}" if row.accepted else ""]
    about.append(f"and {counted(more, 'more measure')}" if more else "")
    return {
        "what": ", ".join(filter(None, [failures.subject(row), *about])),
        "value": fact.says,
        "interval and limit": "; ".join(filter(None, [fact.rests, fact.limit])),
    }


def values(facts: ModelFacts) -> Iterator[Table]:
    """Give values of groups and classes, a column a measure; those that are worse in most of them first."""
    classes = facts.classes.assign(part=facts.classes["label"], title="recall", order=facts.classes["value"])
    groups = ("Values by group", facts.group_values, failures.people)
    for title, rows, named in (groups, ("Values by class", classes, label)):
        if rows.empty:
            continue
        measures = rows["title"] + rows["task"].map(
            lambda task: "" if task in failures.SINGLE else f" of {task}"
        )
        rows = rows.assign(measure=measures, cell=[*map(_cell, rows.itertuples())])
        rows["rank"] = rows.groupby(["corpus", "measure"])["order"].rank(pct=True)
        parts = rows.groupby(["corpus", "part"])
        worst = parts["rank"].mean().sort_values(kind="stable").index
        key = {"index": ["corpus", "part"], "columns": "measure", "values": "cell"}
        pivoted = rows.pivot_table(**key, aggfunc="last").reindex(worst[:MOST_ROWS]).fillna("")
        several = rows["corpus"].nunique() > 1
        names = [named(part) + (f" ({corpus})" if several else "") for corpus, part in pivoted.index]
        table = pivoted[measures.unique()[:MOST_MEASURES]]
        table.insert(0, "", names)
        table["speakers"] = [f"{number or ''}" for number in parts["speakers"].max()[pivoted.index]]
        few = table.map(lambda text: text.endswith("*")).any(axis=None)
        notes = ["* for these speakers; there is no interval for new ones"] if few else []
        yield Table.of_first(f"{title} (95 % intervals)", table, len(worst), notes)


def _cell(row: object) -> str:
    few = pd.isna(row.low) and not pd.isna(row.low_sample)
    low, high = (row.low_sample, row.high_sample) if few else (row.low, row.high)
    text = estimate(row.value, low, high, percent=row.title in key_figures.RATES)
    return text.replace("(95 % ", "(") + ("*" if few else "")


def unknown(facts: ModelFacts) -> Iterator[Table]:
    """List groups with the most inconclusive tests, what is not excluded, and what would decide."""
    left = [f"{counted(len(facts.not_evaluated), 'test')} not evaluated."] if len(facts.not_evaluated) else []
    left += [f"Failed to run: {', '.join(facts.failed)}."] if facts.failed else []
    lines = []
    for kind in facts.unknown.head(MOST_UNKNOWN).itertuples():
        row = None if kind.row == -1 else facts.rows.loc[kind.row]
        bound = "" if row is None else f"{failures.points(row, abs(row.bound))}: {failures.subject(row)}"
        plan = "" if pd.isna(kind.needed) else failures.planned(kind.needed, kind.blocks)
        lines.append((kind.kind.replace("_", " "), f"{kind.tests}", bound, plan))
    columns = ["groups by", "inconclusive", "difference not excluded", "speakers to decide half of them"]
    lines = pd.DataFrame(lines, columns=columns)
    if len(lines) or left:
        yield Table.of_first("What could not be concluded", lines, len(facts.unknown), left)


def since(facts: ModelFacts, baseline: FinishedRun | None = None) -> list[Table]:
    """Say what got worse or better since an earlier run by the rule of the gate.

    Without one, the comparisons of the suite that have the model as candidate say it. Raises an
    ``InputError`` if the earlier run has no judged test in common with the model, or ``comparisons.csv`` was
    edited.
    """
    if baseline is not None:
        return [_since(facts, baseline)]
    entries = [entry for entry in facts.record.comparisons if entry.candidate == facts.model.name]
    frames = [facts.run.contrasts(entry) for entry in entries]
    notes = [
        f"The comparison with {entry.baseline} failed to run." if entry.failed else remark(conclusion(frame))
        for entry, frame in zip(entries, frames, strict=True)
    ]
    differing = [frame for frame in frames if frame["outcome"].isin((WORSE, BETTER)).any()]
    return [changed(SINCE, [*differing, *frames][0], notes)] if frames else []


def changed(title: str, frame: pd.DataFrame, notes: Sequence[str] = ()) -> "Table":
    """List the tests of a comparison that are worse, then those that are better, the surest first."""
    rows = frame[frame["outcome"].isin((WORSE, BETTER))].sort_values("p_value", kind="stable")
    rows = rows.sort_values("outcome", ascending=False, kind="stable")  # worse before better
    lines = []
    for row in rows.groupby("outcome", sort=False).head(MOST_CHANGES).itertuples():
        before, after = (failures.amount(row, value) for value in (row.baseline_value, row.candidate_value))
        ends = "" if pd.isna(row.low) else f" ({failures.span(row, row.low, row.high).removeprefix('95 % ')})"
        difference = f"{failures.points(row, row.difference)}{ends}"
        about = f"{failures.subject(row)}{_minus(row)}"
        lines.append((row.outcome, about, f"{before} → {after}", difference))
    none = ["No test is better or worse; that is not the same as no difference."]
    lines = pd.DataFrame(lines, columns=["", "what", "before → after", "difference (95 %)"])
    return Table.of_first(title, lines, len(rows), notes or ([] if len(lines) else none))


def _minus(row: object) -> str:
    """Say what is subtracted from the value of a group, as the published rule does; of own values nothing."""
    if not row.group or row.test.islower() or not measure_of(row.test, row.family).name:
        return ""
    return " − others" if row.rule in GAP_RULES else " − all"


def _since(facts: ModelFacts, baseline: FinishedRun) -> Table:
    frame = facts.run.frame[facts.run.frame["model"].eq(facts.model.name)]
    now = dataclasses.replace(facts.run, frame=frame)
    changes, margin = history.changes(now, baseline), facts.record.matters_worse
    (rows,) = history.decided_changes([changes], margin)
    tested, paired = int(rows["p_value"].notna().sum()), int(rows["pairing"].eq(PAIRED).sum())
    lost, won = (int(rows["outcome"].eq(outcome).sum()) for outcome in (WORSE, BETTER))
    notes = [
        f"Worse on {lost} and better on {won} of {counted(tested, 'test')} ({paired} paired) "
        f"by more than {margin:g}."
    ]
    if tested < len(rows):
        left = counted(len(rows) - tested, "test")
        notes.append(f"{left} could not be compared: no interval, or too few speakers.")
    notes += [f"The earlier run differs: {what}." for what in history.differences(now, baseline)]
    p_value = rows["p_value"].where(rows["outcome"].eq(WORSE), 1 - rows["p_value"])
    return changed(SINCE, rows.assign(p_value=p_value), notes)


def write(
    results: Path,
    out: Path | None = None,
    *,
    model: str | None = None,
    comparison: str | None = None,
    baseline: Path | None = None,
    pdf: bool = False,
    text: Path | None = None,
) -> str:
    """Write the page of a model or of a comparison of a run; returns its lines, and what was written.

    The page is ``out``, by default ``sheets/NAME.html`` beside the results, the PDF is put beside it, and
    ``text`` is a Markdown file for the lines; ``baseline`` is the run of the last release. Raises an
    ``InputError`` if anything cannot be used or written, or Typst is not installed; nothing is written then.
    """
    problems = Problems()  # names by which another file could be overwritten that nobody meant
    for option, path, allowed in (("--out", out, _PAGES), ("--text", text, _TEXTS)):
        if path is not None and path.suffix.lower() not in allowed:
            problems.add(f"{option} {path}", f"the name does not end in {' or '.join(allowed)}", "Rename it")
    problems.raise_if_any()
    if pdf:
        import_extra("typst", "pdf", "--pdf")
    if comparison is None:
        facts = ModelFacts.read(results, model)
        earlier = read_run(baseline, f"--baseline {baseline}") if baseline is not None else None
        made = model_sheet(facts, _day(facts.run), earlier)
        name = facts.model.sheet
    else:
        run = read_recorded(results)
        entry = run.comparison(comparison)
        frame = run.contrasts(entry)
        facts = ModelFacts(run, entry.candidate)
        made = comparison_sheet(facts, entry, frame, _day(run))
        name = entry.sheet
    target = facts.run.path.parent / f"{name}.html" if out is None else out
    contents: dict[Path, str | bytes] = {target: html_page(made, _book(facts, made, target))}
    if pdf:
        contents[target.with_suffix(".pdf")] = typeset(made)
    if text is not None:
        contents[text] = as_markdown(made.lines, made.title)
    files.write_all(contents)
    lines = [f"{head}: {line}" for head, line in made.lines]
    return "\n".join([*lines, *(f"Written: {path}" for path in contents)])


def html_page(sheet: Sheet, book: str = "", mark: Html | None = None) -> str:
    """Write the page as one HTML file, which loads nothing from anywhere.

    ``book`` is the way to its page in the book, if there is one; by ``mark`` the book knows the page. It has
    at most :data:`MOST_BYTES` in UTF-8, without sounds that have no room.
    """
    style = (templates.FOLDER / "sheet.css").read_text(encoding="utf-8")
    body = templates.html("sheet", sheet=sheet, book=book, mark=mark or "")
    made = standalone(f"{sheet.title}: summary of tests", body, style)
    if sheet.scenes and len(made.encode()) > MOST_BYTES:
        return html_page(dataclasses.replace(sheet, scenes=sheet.scenes[:-1]), book, mark)
    return made


def typeset(sheet: Sheet) -> bytes:
    """Typeset the page as PDF; of sounds only what they are is said.

    Text from data never becomes Typst's markup: the template is fixed, and reads all texts from JSON as
    strings, which Typst shows as they are. The bytes are the same for the same content, fonts and version of
    Typst: the file names no day but that of the environment variable ``SOURCE_DATE_EPOCH``.
    """
    typst = import_extra("typst", "pdf", "--pdf")
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # those of the figures
    content = _fit(dataclasses.asdict(sheet)) | {"pictures": [vars(picture) for picture in sheet.pictures]}
    content["date"] = [day.year, day.month, day.day] if (day := given_day()) else None
    return typst.compile(
        (templates.FOLDER / "sheet.typ").read_bytes(),
        format="pdf",
        font_paths=[str(fonts)],
        sys_inputs={"sheet": json.dumps(content, default=lambda _: None)},
    )


def _fit(value: object) -> object:
    """Make all texts fit for a document: of characters that it can hold, neither long nor without breaks."""
    if isinstance(value, str):
        return re.sub(rf"(\S{{{LONGEST_WORD}}})(?=\S)", "\\1\u200b", xml_text(plain(value, LONGEST)))
    if isinstance(value, dict):
        return {name: _fit(part) for name, part in value.items()}
    return [_fit(part) for part in value] if isinstance(value, list | tuple) else value


def _day(run: FinishedRun) -> datetime.date:
    """Give the day of the run, which its record does not name: that of the file."""
    return given_day() or day_of(run.path.with_name("run.json").stat().st_mtime)


def _book(facts: ModelFacts, made: Sheet, target: Path) -> str:
    """Give the way from the page to the book of this run, if that lies beside it."""
    folder = facts.run.path.parent.resolve()
    page = folder / "html" / made.page
    beside = target.parent.resolve().is_relative_to(folder)
    if not (facts.record.book and beside and page.is_file()):
        return ""
    return os.path.relpath(page, target.parent.resolve()).replace(os.sep, "/")
