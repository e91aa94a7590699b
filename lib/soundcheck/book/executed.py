"""Executed notebooks, made fit for publishing: code out of the way, no paths, bounded outputs.

The page of a model and a family begins with the answer: the headline test of the family with its values, then
the largest other failure. It and the final table are written from the finished results, as states depend on
the tests of all families, which a notebook does not know.
"""

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import pages
from soundcheck.book.overview import of_few_speakers
from soundcheck.book.site import without_paths
from soundcheck.common import files, templates
from soundcheck.common.messages import Caveat, counted, heading, one_line, shorten
from soundcheck.report import failures
from soundcheck.report.formats import STATE, p_value, sentence
from soundcheck.report.html import Html, caveats_notice, element, folded
from soundcheck.report.key_figures import standing_notes
from soundcheck.report.verdict_tables import VERDICTS, anchor_of, verdict_table
from soundcheck.results import facts, states
from soundcheck.results.record import Executed, NotebookRecord, RunRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, PROVEN, REPORTED
from soundcheck.run.notebook_outputs import IMAGES, SHOWABLE, kind_of, name_of, text_of
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.suite.families import Family

NOTHING = Html()
DETAILS = "## Details"
CODE = "sc-code"  # tag of cells whose code is shown if a reader asks for it
MOST_LINES = 200  # of printed text that an output keeps
MOST_CHARACTERS = 20_000
MOST_BYTES = 600_000  # of all outputs of a page
MOST_REASONS = 3
NO_GROUP = "no group fails the headline test; largest difference: "

_ACTIVE = re.compile(r"\\(href|url|class|cssId|style|require|data)\b")  # formulas that are more than formulas
_SECTIONS = re.compile(r"\n+(?=### )")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def cells(path: Path, title: str, outcome: Executed, out: Path, table: Html = NOTHING) -> list[dict]:
    """Read an executed notebook, which is missing if its process died, and clean its cells.

    The path of the output folder ``out`` is taken out of all texts. The finished ``table`` replaces the
    preliminary ones of the notebook, or stands at the end if there is none.
    """
    error = shorten(without_paths(_ANSI.sub("", outcome.error), out), MOST_CHARACTERS)
    failure = [pages.output(templates.html("failed", error=error))] if outcome.failed else []
    title_ = f"# {heading(title)}"
    try:
        every = list(json.loads(path.read_text(encoding="utf-8"))["cells"])
    except (OSError, ValueError, KeyError, TypeError):
        every = []
    displayed = (output.get("data", {}) for cell in every for output in cell.get("outputs", ()))
    start = f'<div class="{VERDICTS}">'
    preliminary = [data for data in displayed if text_of(data.get("text/html", "")).startswith(start)]
    for data in preliminary:
        data["text/html"] = str(table) if data is preliminary[0] else ""
    at_end = [] if preliminary or not table else [pages.output(table)]
    room, cleaned = MOST_BYTES, []
    for cell in every:
        source, tags = "".join(cell["source"]), {*cell.get("metadata", {}).get("tags", [])}
        if cell["cell_type"] != "code":
            if "papermill-error-cell-tag" not in tags and "papermill-error" not in source[:200]:
                cleaned.append(pages.markdown(_writable(source)))
        elif not tags & {"injected-parameters", "parameters"}:  # where a run has put what the notebook reads
            outputs, room = _outputs(cell.get("outputs", []), room, out)
            source = without_paths(_writable(source), out) or "pass"  # else outputs would vanish
            cleaned.append(pages.code(source, CODE, outputs, cell.get("execution_count")))
    # Before the first code a box that shows all code; the style sheet does the rest, without a script.
    coded = [number for number, cell in enumerate(cleaned) if cell["cell_type"] == "code"]
    if coded:
        cleaned.insert(coded[0], pages.output(templates.html("code_switch")))
    place = next((n for n, cell in enumerate(cleaned) if cell["source"].startswith("# ")), None)
    if place is None:
        return [pages.markdown(title_), *failure, *_folded(cleaned), *at_end]
    cleaned[place]["source"] = "\n".join([title_, cleaned[place]["source"].partition("\n")[2]])
    return [*_folded([*cleaned[: place + 1], *failure, *cleaned[place + 1 :]]), *at_end]


def _folded(cells: list[dict]) -> list[dict]:
    """Fold what stands below the heading *Details*: each section becomes a line that opens it."""
    start = next((n for n, cell in enumerate(cells) if cell["source"].startswith(DETAILS)), len(cells))
    # The first section may begin in the cell of the heading.
    parts = [part for cell in cells[start : start + 1] for part in _SECTIONS.split(cell["source"])]
    result, sections = [*cells[:start], *map(pages.markdown, parts[:1])], []
    for cell in [*map(pages.markdown, parts[1:]), *cells[start + 1 :]]:
        if cell["source"].startswith("### ") or not sections:
            sections.append([])
        sections[-1].append(cell)
    return result + [pages.output(_section(cells)) for cells in sections]


def _section(cells: list[dict]) -> Html:
    """Make one part of the page of a section: its texts, its outputs, and its code for those who ask."""
    first, _, words = cells[0]["source"].partition("\n")
    is_headed = cells[0]["cell_type"] == "markdown" and first.startswith("### ")
    parts = [_markdown(words)] if is_headed and words.strip() else []
    for cell in cells[is_headed:]:
        if cell["cell_type"] == "markdown":
            parts.append(_markdown(cell["source"]))
            continue
        if CODE in cell["metadata"].get("tags", []):
            parts.append(element("pre", cell["source"], class_=CODE, limit=None))
        parts += [Html(next(iter(output["data"].values()))) for output in cell["outputs"]]
    return folded(first.removeprefix("### ") if is_headed else "More", parts)


def _outputs(outputs: list[dict], room: int, out: Path) -> tuple[list[dict], int]:
    """Bound and clean the outputs of a cell; returns them and the room that is left on the page."""
    result: list[dict] = []
    for output in outputs:
        if output.get("name") == "stderr":
            continue
        content = _displayed(output, out)
        kind = "text/latex" if isinstance(content, _Formula) else "text/html"
        size = len(str(content).encode("utf-8", "replace"))
        if size > room:
            message = f"Left out: an output of {size // 1000} kB, which would make the page too large."
            kind, content, size = "text/html", element("p", message, class_="sc-notice"), 0
        room -= size
        result.append(pages.display(content, kind))
    return result, room


def _displayed(output: dict, out: Path) -> Html:
    """Show an output in the kind that a page shows, or say that it shows none of them."""
    if output.get("output_type") == "stream":
        return _printed(text_of(output.get("text", "")), out)
    if output.get("output_type") == "error":
        trace = "\n".join(output.get("traceback", []))
        return _printed(f"{output.get('ename')}: {output.get('evalue')}\n\n{trace}", out, "sc-error")
    data = output.get("data", {})
    kind = kind_of(data)
    if not kind:
        text = f"Left out: an output that no page can show ({name_of(data)}). {SHOWABLE}."
        return element("p", text, class_="sc-notice") if data else Html()
    text = _writable(text_of(data[kind]))
    if kind in IMAGES:  # as an image, a drawing runs no scripts
        coded = "".join(text.split())
        if kind == "image/svg+xml":
            coded = base64.b64encode(without_paths(text, out).encode()).decode()
        return element("img", src=f"data:{kind};base64,{coded}", alt="Figure of the notebook", limit=None)
    text = without_paths(text, out)
    if kind == "text/html":
        return Html(text)
    if kind == "text/markdown":
        return _markdown(text)
    if kind == "text/latex" and not _ACTIVE.search(text) and "$" not in text.strip("$ \n"):
        return _Formula(text)
    return _printed(text, out)


class _Formula(Html):
    """LaTeX, which Jupyter Book shows as a formula."""


def _markdown(text: str) -> Html:
    """Render Markdown of a notebook: no HTML, no pictures, and links to addresses outside only."""
    from markdown_it import MarkdownIt  # late: few notebooks show Markdown

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = lambda address: address.startswith(("https://", "http://", "mailto:"))
    return element("div", Html(parser.render(text)))


def _writable(text: str) -> str:
    """Show lone surrogates and NUL as escapes; no file can hold them."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def _printed(text: str, out: Path, class_: str | None = None) -> Html:
    """Show printed text without colours and paths, and of a long one the beginning."""
    text = without_paths(_ANSI.sub("", text), out).rstrip("\n")
    head = "\n".join(text.split("\n", MOST_LINES)[:MOST_LINES])[:MOST_CHARACTERS]
    if len(head) < len(text):
        head += "\n… the rest is left out"
    return element("pre", head, class_=class_, limit=None)


def title(model: str, family: str) -> str:
    """Make the title of a result page; plain text."""
    return f"{one_line(model)}: {one_line(family)}"


def result_cells(
    record: RunRecord,
    entry: NotebookRecord,
    family: Family,
    rows: pd.DataFrame,
    notebook: Path,
    out: Path,
    caveats: Sequence[Caveat],
    otherwise: Html,
) -> list[dict]:
    """Make the page; ``rows`` are its finished results, ``otherwise`` is which groups were recorded so."""
    written = cells(notebook, title(entry.model, family.title), entry, out, final_table(record, rows))
    heading_line, _, question = written[0]["source"].partition("\n")
    answered = answer(record, rows)
    if few := of_few_speakers(record, rows, "../../"):
        answered += element("p", element("strong", f"{failures.FEW_TITLE}.")) + few
    method = element("a", "How these tests work", href=f"../../methods/{files.slug(entry.family)}.html")
    answered += element("p", method, class_="sc-note") + caveats_notice(caveats) + otherwise
    asked = [pages.markdown(question.strip())] if question.strip() else []
    return [pages.markdown(heading_line), *asked, pages.output(answered), *written[1:]]


def answer(record: RunRecord, rows: pd.DataFrame) -> Html:
    """Answer the question of a family for a model: its headline test, then the largest other failure."""
    rows = states.counted(rows)
    # The tests that a family is known by decide, as in the heat map; all, where none of these was judged.
    judged = rows["first"] & rows["state"].isin((FAIL, INCONCLUSIVE, PASS))
    state, row, opening = _answered(rows[rows["first"]] if judged.any() else rows)
    failing = rows[rows["state"].eq(FAIL)]
    first, rests, address, other = sentence(opening), ".", "", None
    if row is not None:
        first, rests = _written(record, row, opening)
        address, failing = f"#{anchor_of(row)}", failing.drop(row.Index, errors="ignore")
    if (largest := facts.first(facts.by_excess(failing))) is not None:
        other = (*_written(record, largest, ""), f"#{anchor_of(largest)}")
    # At these tasks being robust or fair says nothing: the model may as well be guessing.
    doubtful = rows[rows["standing"].ne(PROVEN) & ~rows["model"].isin(record.references)]
    tasks = doubtful.groupby("model")["task"].unique().items()
    doubts = [note for model, names in tasks for note in standing_notes(record.figures, model, names)]
    ruled = rows["group"].ne("") & rows["matters"].notna() & rows["passed"].notna()
    ruled = rows[ruled & ~rows["rule"].isin(GAP_RULES)]
    fails = f"{ruled['passed'].eq(False).sum()} of {len(ruled)} fail"
    apart = sum(bool(failures.both_rules(row)) for row in ruled.itertuples())
    fails += f"; the two rules differ for {apart}, see the table" if apart else ""
    published = f" By the published rule (group minus all), {fails}." if len(ruled) else ""
    return templates.html(
        "answer",
        **{"state": STATE[state], "first": first, "rest": rests, "address": address, "other": other},
        counts=f"{facts.headline(rows)}.{published}" if len(rows) else "",
        notes=[f"{sentence(note)}." for note in doubts],
    )


def _written(record: RunRecord, row: object, opening: str) -> tuple[str, str]:
    fact = failures.finding(row, record.block_of(row.corpus))
    about = f" of {fact.who}" if fact.who else ""
    says = f"{opening}{fact.measured}{about} is {fact.says}" if fact.rests else fact.says
    return sentence(says), f" ({fact.rests}){fact.more}." if fact.rests else "."


def _answered(rows: pd.DataFrame) -> tuple[str, object, str]:
    """Give the state of a page, the row that its sentence is about, if any, and how the sentence begins."""
    inconclusive = rows["state"].eq(INCONCLUSIVE)
    compared = inconclusive & rows["gap"].notna() & rows["matters"].notna()
    for state, part, opening in (
        (FAIL, rows[rows["state"].eq(FAIL)], ""),
        (REPORTED, facts.few_speakers(rows), "too few speakers to generalise; for these, "),
        (INCONCLUSIVE, rows[compared], NO_GROUP),
        (INCONCLUSIVE, rows[inconclusive], "inconclusive: "),
        (PASS, rows[rows["state"].eq(PASS)], "passes; nearest to its limit: "),
    ):
        if len(part):
            return state, facts.first(part if state == REPORTED else facts.by_excess(part)), opening
    if rows["state"].eq(REPORTED).any():
        return REPORTED, None, "No threshold is set: values are reported"
    reasons = list(dict.fromkeys(rows.loc[rows["state"].eq(NOT_EVALUATED), "skipped"]))
    why = "; ".join(reasons[:MOST_REASONS]) + ("; …" if len(reasons) > MOST_REASONS else "")
    return NOT_EVALUATED, None, f"Not evaluated: {why}" if why else "There are no tests"


def final_table(record: RunRecord, rows: pd.DataFrame) -> Html:
    """Show the finished results."""
    blocks = {name: record.block_of(name) for name in rows["corpus"].unique()}
    return verdict_table(rows, blocks) + limits(rows)


def limits(rows: pd.DataFrame) -> Html:
    """Say how many inconclusive rows could not be significant alone, however large their difference."""
    few = rows[rows["state"].eq(INCONCLUSIVE) & rows["mirrors"].eq("") & rows["too_few"]]
    if few.empty:
        return Html()
    text = (
        f"{counted(len(few), 'test')} could not be significant alone, however large the difference: so few "
        f"speakers give at least {p_value(few['least_p'].min())}, too much among "
        f"{counted(int(few['tests'].max()), 'test')}."
    )
    return element("p", text, class_="sc-note", limit=None)
