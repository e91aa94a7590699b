"""The page *History*: what kept runs gave, what became better or worse; in a book and by its own command.

No place on any disk is shown: runs are known by the name of their folder and the digest of their results.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import pages
from soundcheck.book.build import HISTORY, history_files
from soundcheck.common import files, templates
from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.common.messages import InputError, Problem, counted, input_error
from soundcheck.report import verdict_tables
from soundcheck.report.comparisons import badge
from soundcheck.report.formats import Cell, estimate, label, measure, p_value, significant, stacked
from soundcheck.report.html import Html, element, join, notes, synthetic_notice
from soundcheck.report.style import GREEN, GREY, RED, look, show
from soundcheck.report.views import MOST_PANELS, lines, table
from soundcheck.results.contrast import BETTER, PAIRED, UNPAIRED, WORSE
from soundcheck.results.finished_run import read_history, read_runs
from soundcheck.results.history import TYPES, History, history_of, marked, matters
from soundcheck.results.table import frame_csv
from soundcheck.run.output import Output
from soundcheck.statistics.rules import ABOVE, BELOW, WITHIN

NAME = "over_time"
FIRST = 25  # rows of a table; the others are folded
MOST_NAMED = 20  # lines in the terminal
_TEST = ["model", "family", "corpus", "task", "test", "group", "label"]
_MARKS = {WORSE: (RED, "v"), BETTER: (GREEN, "^")}


def write(sources: pages.Sources, output: Output, folder: Path | None) -> bool:
    """Register the page of a folder of kept runs, if there are two of them or more with values."""
    known = history_of(read_history(folder)) if history_files(folder) else None
    if known is None or len(known.runs) < 2 or known.points["value"].isna().all():
        (output.folder / HISTORY).unlink(missing_ok=True)
        return False
    files.write_bytes(output.folder / HISTORY, frame_csv(known.points, TYPES))
    top, sections = _content(known, MediaStore(output.media))
    cells = [pages.markdown("# History"), pages.output(top), *pages.sections(sections)]
    return sources.page(NAME, lambda: cells)


def write_history(paths: Sequence[Path], out: Path, models: Sequence[str]) -> str:
    """Write the page and the table of runs that a user names; gives what came out, for the terminal.

    ``paths`` are output folders, results tables or folders of kept runs, ``out`` is a folder or the page.
    Raises an ``InputError`` if a run cannot be read, was edited or shares no test with the others, if there
    are fewer than two, or if no run has a model that is asked for.
    """
    from soundcheck.report.html import standalone

    page = out if out.suffix.lower() in (".html", ".htm") else out / "history.html"
    beside = page.with_name(HISTORY)
    for path, folder in ((page.parent, True), (page, False), (beside, False)):
        if path.exists() and path.is_dir() is not folder:
            what = "this is a file, not a folder" if folder else f"{path.name} is a folder there"
            raise input_error(f"--out {out}", what, "Name a folder, or a file that ends in .html")
    past, named = read_runs(paths), " ".join(f"RUN {path}" for path in paths)
    if len(past.runs) < 2:
        what = "all runs have the same results" if past.doubled else "this is a single run"
        raise input_error(named, what, "Name at least two that differ")
    history = history_of(past, models)
    if history.apart:
        about = ("it has no test in common with the other runs", "Leave it out; name runs of one suite")
        raise InputError([Problem(f"RUN {run.name}", *about) for run in history.apart])
    frame = history.points
    if frame["value"].isna().all():
        raise input_error(named, "no run holds a value", "Name other runs")
    top, sections = _content(history, EmbeddedMedia())
    parts = [element("h2", title) + content for title, content in sections.items() if content]
    body = join([element("h1", "History"), top, *parts])
    files.write_all({beside: frame_csv(frame, TYPES), page: standalone("History", body)})
    changes = marked(frame)
    lines = [
        f"{row.mark} in run {row.position}: {row.model} / {row.corpus} / {row.family}: "
        f"{' · '.join(filter(None, (row.task, measure(row.test), verdict_tables.below_test(row))))}: "
        f"by {abs(row.difference):.3g} ({row.pairing}; {_new(row)})"
        for row in changes.head(MOST_NAMED).itertuples()
    ]
    lines += [f"... and {len(changes) - MOST_NAMED} more."] if len(changes) > MOST_NAMED else []
    return "\n".join([_conclusion(frame), *lines, *_doubled(history), f"Page: {page}", f"Table: {beside}"])


def _content(history: History, media: MediaStore | EmbeddedMedia) -> tuple[Html, dict[str, Html]]:
    """Make what stands at the top of the page, and its sections by title."""
    frame = history.points
    corpora = [corpus for run in history.runs for corpus in run.corpora.values()]
    size = matters(history.runs)
    about = {"conclusion": _conclusion(frame), "size": size, "address": HISTORY}
    about["synthetic"] = synthetic_notice(any(corpus.synthetic for corpus in corpora))
    left = _doubled(history) + [str(problem) for problem in history.problems]
    left += [f"{run.name} has no test in common with the other runs." for run in history.apart]
    return templates.html("history", **about), {
        "What changed": _changed(frame),
        "Values over the runs": _figures(history, media),
        "Runs": _runs(history),
        "Where lines break, and why": _breaks(frame),
        "What was left out": notes(left),
    }


def _doubled(history: History) -> list[str]:
    return [f"{name} has the same results as {same} and counts once." for name, same in history.doubled]


def _new(row: object) -> str:
    return f"new: {row.changed or 'nothing that is recorded'}"


def _conclusion(frame: pd.DataFrame) -> str:
    """Say in a sentence or two what changed; names come from data and are not escaped."""
    tests = len(frame[_TEST].drop_duplicates())
    about = f"{counted(frame['position'].nunique(), 'run')}, {counted(tests, 'test')}"
    compared = frame[frame["p_value"].notna()]
    if compared.empty:
        return f"{about}: no two values could be compared."
    marks, pairing = (compared[name].value_counts() for name in ("mark", "pairing"))
    changed = [f"{counted(marks[name], 'value')} became {name}" for name in _MARKS if name in marks]
    return (
        f"{about}: {', '.join(changed) or 'nothing became significantly better or worse'}, among "
        f"{counted(len(compared), 'comparison')} with the run before ({pairing.get(PAIRED, 0)} paired, "
        f"{pairing.get(UNPAIRED, 0)} unpaired)."
    )


def _changed(frame: pd.DataFrame) -> Html:
    before = frame[[*_TEST, "position", "value"]].rename(columns={"position": "against", "value": "before"})
    columns = {
        "": lambda row: badge(row.mark),
        "runs": lambda row: Cell(f"{row.against}\u00a0→\u00a0{row.position}", row.position),
        "model, family": lambda row: stacked(row.model, row.family),
        "corpus, task": lambda row: stacked(row.corpus, row.task),
        "test": verdict_tables.test_cell,
        "value": lambda row: f"{significant(row.before)} → {significant(row.value)}",
        "difference (95 %)": lambda row: Cell(
            estimate(row.difference, row.difference_low, row.difference_high).replace("95 % ", ""),
            row.difference,
        ),
        "comparison": lambda row: stacked(
            f"{row.pairing}, {p_value(row.adjusted_p_value)}",
            "; ".join(filter(None, (_new(row), row.reason))),
        ),
    }
    return table(marked(frame).merge(before, "left"), columns, first=FIRST, none="")


def _runs(history: History) -> Html:
    """List the runs, with the versions of all that they tested."""
    points, rows = history.points, []
    for position, run in enumerate(history.runs, start=1):
        of_run = points[points["position"].eq(position)]
        values = of_run[of_run["value"].notna()]
        models = of_run.drop_duplicates("model")
        versions = zip(models["model"], models["model_version"].replace("", "unknown"), strict=True)
        marks = of_run["mark"].value_counts()
        changes = [f"{marks[name]} {name}" for name in _MARKS if name in marks]
        changes += [f"nothing of {name}" for name in sorted({*points["model"]} - {*values["model"]})]
        row = {"run": position, "saved (UTC)": run.date or f"unknown, {run.name}", "results": run.digest}
        row["models"] = ", ".join(map(" ".join, versions))
        row["data"] = run.data_version(of_run["corpus"].unique()) or "unknown"
        row["Soundcheck"] = run.record.version or "unknown"
        rows.append(row | {"values": len(values), "against the run before": "; ".join(changes)})
    return table(rows, sortable=False)


def _breaks(frame: pd.DataFrame) -> Html:
    """Count the points before which the line breaks, by runs, family and reason without its numbers."""
    rows = frame[frame["reason"].ne("") & frame["value"].notna()]
    short = rows["reason"].str.replace(r" \([^()]*\)", "", regex=True)
    rows = rows.assign(short=short, compared=rows["p_value"].notna())
    counts = rows.groupby(["position", "model", "family", "short"]).agg(
        tests=("value", "size"), compared=("compared", "sum"), reason=("reason", "first")
    )
    columns = {"up to run": "position", "model": "model", "family": "family", "tests": "tests"}
    columns |= {"compared all the same": "compared", "why, of the first of them": "reason"}
    return table(counts.reset_index(), columns, first=FIRST, none="")


def _figures(history: History, media: MediaStore | EmbeddedMedia) -> Html:
    """Draw the values of each model and family, a panel a test, those with marks first."""
    frame, figures = history.points, []
    records = [run.record for run in history.runs if run.recorded]
    titles = {family.name: family.title for record in records for family in record.families}
    parts = [*(name for name in ("corpus", "task") if frame[name].nunique() > 1), "group", "label"]
    drawn = frame[frame["value"].notna()].assign(
        name=frame["test"].map(measure).str.cat([frame[name].map(label) for name in parts], " "),
        line=frame["joined"].eq("").groupby([frame[name] for name in _TEST]).cumsum(),
        quiet=~frame["mark"].isin(_MARKS),
    )
    for (model, family), of_family in drawn.groupby(["model", "family"], sort=False):
        order = of_family.groupby("name", sort=False)["quiet"].min().sort_values(kind="stable").index
        rows = of_family.sort_values("name", key=lambda column: column.map(order.get_loc), kind="stable")
        marks = [
            f"{row.name} became {row.mark} in run {row.position}"
            for row in marked(rows).head(MOST_PANELS).itertuples(index=False)
        ]
        changes = "; ".join(marks) or "nothing became better or worse"
        alt = f"{family} of {model}: {counted(len(order), 'test')}: {changes}"
        figures.append(show(media, _figure(rows), alt, finding=f"{titles.get(family, family)}: {model}"))
    return join(figures)


def _figure(rows: pd.DataFrame) -> object:
    """Draw values over runs; values of other data or thresholds are not joined by a line."""
    with look():
        figure = lines(rows, "position", hue="line", panels="name", xlabel="run")
        for axes, (_, points) in zip(figure.axes, rows.groupby("name", sort=False), strict=False):
            if legend := axes.get_legend():
                legend.remove()
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.vlines(points["position"], points["low"], points["high"], color=GREY, linewidth=1)
            for rules, sign in (({ABOVE, BELOW, WITHIN}, 1), ({WITHIN}, -1)):  # of gaps the value is drawn
                limits = points[points["rule"].isin(rules)]
                ends = limits["position"] - 0.4, limits["position"] + 0.4
                axes.hlines(sign * limits["threshold"], *ends, color=GREY, linestyle="--", linewidth=1)
            for mark, (color, marker) in _MARKS.items():
                at = points[points["mark"].eq(mark)]
                axes.plot(at["position"], at["value"], marker, color=color, markersize=9, label=mark)
    return figure
