"""Writes all sources of the book: pages of results, models, corpora and methods, and its configuration."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from pydantic import TypeAdapter

from soundcheck.book import (
    all_results,
    answers,
    corpus_page,
    executed,
    filled,
    history_page,
    inputs,
    measures,
    methods,
    model_pages,
    overview,
    pages,
    recorded_tables,
    search_index,
    sheets,
)
from soundcheck.book.kept_cells import KeptCells, MadeAhead
from soundcheck.common import files, resources
from soundcheck.common.caveats import Caveat
from soundcheck.common.escaping import one_line
from soundcheck.common.file_contents import signature
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.evaluation.corpus_audit import Audit, audit
from soundcheck.report import failures, look_of_pages
from soundcheck.report.audit_views import recorded_otherwise
from soundcheck.report.html import Html, element
from soundcheck.report.key_figures import standing_notes
from soundcheck.report.tables import caveats_notice
from soundcheck.results import page_names
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.estimates import read_estimates
from soundcheck.results.facts import facts_by_model
from soundcheck.results.page_names import comparison_sheet, model_page
from soundcheck.results.record import ComparisonRecord, NotebookRecord, RunRecord, StudyRecord
from soundcheck.results.standing import PROVEN, standings
from soundcheck.run.output import Output
from soundcheck.sounds.sound import Sounds
from soundcheck.sounds.sources import speech_source
from soundcheck.suite.families import Family

NO_STUDIES = (
    "This page shows simulations whose truth is known; the suite leaves it out with `studies: false`."
)
STUDY_TITLES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
DRAWINGS = ("_static/architecture.svg",)
MOST_OPEN = 60  # result pages above which the menu shows only those of the current model


def assemble(
    sources: pages.Sources,
    output: Output,
    record: RunRecord,
    results: pd.DataFrame,
    *,
    suite_root: Path,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    tasks: Mapping[str, Task],
    sounds: Sounds,
    history: Path | None = None,
    jobs: int = 1,
) -> None:
    """Write what Jupyter Book reads of the book, and remove sources of pages that it no longer has.

    What else there is :meth:`~soundcheck.book.pages.Sources.complete` writes.
    """
    share = resources.root()
    near = MediaStore(output.media, "../media/", record.voices)
    kept = KeptCells(output.folder / "book-cells", output.media, inputs.made_with())
    signal, speech = None, speech_source()
    if speech is not None and any(map(methods.listens, families)):
        signal = speech.sample(output.cache, [corpus.entry for corpus in corpora])
    audits = {
        corpus.name: _audited(corpus, tasks, record, kept, output.cache, jobs)
        for corpus in corpora
        if not corpus.entry.probes_of  # sentences that Soundcheck itself made
    }
    corpus_pages = functools.partial(_corpus_pages, record, corpora, tasks, near, kept, output.cache, audits)
    method_pages = functools.partial(
        _method_pages, record, suite_root=suite_root, near=near, kept=kept, signal=signal, sounds=sounds
    )
    meeting = sheets.Sheets(output, record, results, kept)
    # They draw much: other cores make them while this one makes the pages of results.
    others = MadeAhead([corpus_pages, meeting.pictures, functools.partial(method_pages, families)], jobs)
    facts = facts_by_model(record, results, read_estimates(output.folder))
    sources.page("index", overview.cells(record, results, facts))
    by_name = {family.name: family for family in families}
    among = filled.among(results, accepted_reasons(results, record.accepted))
    published = (str(output.folder), executed.places(), executed.user_name())
    figures = files.digest(repr((record.figures, [(model.name, model.kind) for model in record.models])))
    for entry in record.notebooks:
        family = by_name[entry.family]
        rows = results[results["model"].eq(entry.model) & results["family"].eq(entry.family)]
        notebook = output.notebooks / files.slug(entry.model) / f"{files.slug(entry.family)}.ipynb"
        caveats = record.caveats_of({entry.model}, set(rows["corpus"]), set(rows["task"]))
        warning = caveats_notice(caveats) + _recorded_otherwise(record, family, rows, audits)
        make = functools.partial(_result_cells, output, record, entry, family, notebook, rows, among, warning)
        table = rows.to_json(orient="split", index=False, double_precision=15)
        about = (entry, family.title, family.question, _content(notebook), figures, caveats, published)
        sources.made(overview.page_of(entry), make, *about, table, among[rows.index].tolist())
    compared = [
        (output.comparisons / f"{entry.slug}.ipynb", f"Comparison {one_line(entry.name)}", entry)
        for entry in record.comparisons
    ]
    studied = [
        (output.studies / f"{entry.name}.ipynb", STUDY_TITLES[entry.name], entry) for entry in record.studies
    ]
    for notebook, title, entry in (*compared, *studied):
        caveats = _caveats_of_both(record, entry)
        make = functools.partial(_executed_cells, notebook, title, entry, output.folder, caveats)
        sources.made(overview.page_of(entry), make, title, entry, _content(notebook), caveats, published)
    for name in sorted(set(STUDY_TITLES) - {entry.name for entry in record.studies}):
        cells = [pages.markdown(f"# {STUDY_TITLES[name]}"), pages.markdown(NO_STUDIES)]
        sources.page(name, cells)
    for model in record.models:
        sources.page(model_page(model.slug), model_pages.model_cells(facts[model.name]))
    others.wait(method_pages(families[::-1]))
    for page, cells in corpus_pages():
        sources.page(page, cells)
    for page, cells in method_pages(families):
        sources.page(page, cells)
    family_titles = {family.name: family.title for family in record.families}
    sources.page("all_results", all_results.cells(results, among, family_titles))
    sources.data(all_results.ROWS, functools.partial(all_results.data, results, among, family_titles))
    meeting.write(sources)
    sources.page("provenance", model_pages.provenance_cells(record))
    if record.failed:
        sources.page("failures", model_pages.failures_cells(record))
    history_page.write(sources, output, kept, history)
    for page in sorted((share / "book").glob("*.md")):
        words = recorded_tables.filled(measures.page(page.read_text(encoding="utf-8")))
        sources.words(page.stem, words)
    entries = functools.partial(search_index.data, record, results, corpora, sources.folder)
    sources.data(search_index.NAME, entries)
    configure(sources, share, record)
    _contents(sources, share, record)
    sources.prune()
    kept.prune()


def _audited(
    corpus: Corpus, tasks: Mapping[str, Task], record: RunRecord, kept: KeptCells, cache: Path, jobs: int
) -> Audit:
    """Audit a corpus, unless that was done before with the same segments and settings."""
    settings = {"seed": record.seed, "replicates": record.replicates, "interval": record.interval}
    make = functools.partial(audit, corpus, tasks, cache, jobs=jobs, **settings)

    def told() -> list[dict]:
        found = dataclasses.asdict(make())
        return [json.loads(json.dumps(found, default=lambda number: number.item()))]  # NumPy's numbers

    tables = [one.to_json(orient="split", double_precision=15) for one in (corpus.segments, corpus.elsewhere)]
    unopened = {*corpus.elsewhere["file"]} if corpus.entry.audio and len(corpus.elsewhere) else ()
    seen = [(name, signature(corpus.root / name)) for name in sorted(unopened)]
    depends = (corpus.entry, corpus.groups, corpus.adjust, tasks, tables, seen, settings)
    found = TypeAdapter(Audit).validate_python(kept.cells(f"audits/{corpus.name}", told, *depends)[0])
    return make() if found.unreadable else found  # what could not be read may be there again


def _corpus_pages(
    record: RunRecord,
    corpora: Sequence[Corpus],
    tasks: Mapping[str, Task],
    near: MediaStore,
    kept: KeptCells,
    cache: Path,
    audits: Mapping[str, Audit],
) -> Iterator[tuple[str, list[dict]]]:
    """Give name and cells of the page of each corpus."""
    for about, corpus in zip(record.corpora, corpora, strict=True):
        page, found = page_names.corpus_page(about.slug), audits.get(about.name)
        make = functools.partial(corpus_page.cells, about, corpus, tasks, near, cache, found)
        table = corpus.segments.to_json(orient="split", double_precision=15)
        depends = (about, corpus.entry, corpus.groups, corpus.formats, tasks, table, record.voices, found)
        yield page, kept.cells(page, make, *depends)


def _method_pages(
    record: RunRecord,
    families: Sequence[Family],
    *,
    suite_root: Path,
    near: MediaStore,
    kept: KeptCells,
    signal: np.ndarray | None,
    sounds: Sounds,
) -> Iterator[tuple[str, list[dict]]]:
    """Give name and cells of the page of each family's method."""
    for family in families:
        page = f"methods/{files.slug(family.name)}"
        own = signal if methods.listens(family) else None
        make = functools.partial(methods.cells, family, suite_root, near, own, record.seed, sounds)
        words = files.digest(methods.written(family, suite_root))
        heard = None if own is None else files.digest(own.tobytes())
        cells = kept.cells(page, make, family, words, heard, record.seed, sounds.sets, record.voices)
        yield page, [*cells, pages.output(overview.tested(record, family.name))]


def _content(path: Path) -> str:
    return files.digest(path) if path.is_file() else ""


def _executed_cells(
    notebook: Path, title: str, entry: ComparisonRecord | StudyRecord, out: Path, caveats: Sequence[Caveat]
) -> list[dict]:
    """Make the page of a comparison, with the way to its page for a meeting, or of a study."""
    cells = executed.cells(notebook, title, entry, out)
    if isinstance(entry, ComparisonRecord):
        cells[1:1] = [pages.output(caveats_notice(caveats)), sheets.link(comparison_sheet(entry.slug))]
    return cells


def _caveats_of_both(record: RunRecord, entry: ComparisonRecord | StudyRecord) -> list[Caveat]:
    """Give the caveats of the two models that are compared."""
    if not isinstance(entry, ComparisonRecord):
        return []
    both = [model for model in record.models if model.name in (entry.baseline, entry.candidate)]
    tasks = {task for model in both for task in model.tasks}
    return record.caveats_of({model.name for model in both}, {c.name for c in record.corpora}, tasks)


def _result_cells(
    output: Output,
    record: RunRecord,
    entry: NotebookRecord,
    family: Family,
    notebook: Path,
    rows: pd.DataFrame,
    among: pd.Series,
    warning: Html,
) -> list[dict]:
    """Make the page of a model and a family: the answer, then the executed notebook with states filled in."""
    title = executed.title(entry.model, family.title)
    blocks = {corpus: failures.blocks_of(record, corpus) for corpus in rows["corpus"].unique()}
    fill = filled.FinalTable(rows, among, blocks)
    cells = executed.cells(notebook, title, entry, output.folder, fill)
    answered = answers.answer(rows, _no_merit(record, rows), functools.partial(failures.blocks_of, record))
    heading_line, _, words = cells[0]["source"].partition("\n")
    if few := overview.of_few_speakers(record, rows, "../../"):
        answered += element("p", element("strong", f"{overview.FEW_TITLE}.")) + few
    method = element("a", "How these tests work", href=f"../../methods/{files.slug(entry.family)}.html")
    answered += element("p", method, class_="sc-note")
    asked = [pages.markdown(words.strip())] * bool(words.strip())
    cells[:1] = [pages.markdown(heading_line), *asked, pages.output(answered + warning)]
    if not fill.placed:
        cells.append(pages.output(fill.html))
    return cells


def _recorded_otherwise(
    record: RunRecord, family: Family, rows: pd.DataFrame, audits: Mapping[str, Audit]
) -> Html:
    """Say which groups of a page of fairness were recorded otherwise."""
    if family.category != "fairness":
        return Html()
    addresses = {one.name: f"../../{page_names.corpus_page(one.slug)}.html" for one in record.corpora}
    return recorded_otherwise(rows, audits, addresses)


def _no_merit(record: RunRecord, rows: pd.DataFrame) -> list[str]:
    """Say at which tasks of a page the model is no better than guessing, or nobody knows."""
    random = record.references
    doubtful = rows[standings(rows, record.figures).ne(PROVEN) & ~rows["model"].isin(random)]
    return [
        note
        for model, tasks in doubtful.groupby("model")["task"]
        for note in standing_notes(record.figures, model, list(dict.fromkeys(tasks)))
    ]


def configure(sources: pages.Sources, share: Path, record: RunRecord) -> None:
    """Write the configuration of a book, with its style and bibliography beside it."""
    configuration = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
    configuration["title"] = one_line(record.title, "Soundcheck")
    if len(record.notebooks) > MOST_OPEN:  # else the menu would make every page large
        configuration["sphinx"]["config"]["html_theme_options"]["collapse_navbar"] = True
    sources.file("_config.yml", yaml.safe_dump(configuration, sort_keys=False))
    for name in ("references.bib", *DRAWINGS):
        sources.file(name, (share / "book" / name).read_text(encoding="utf-8"))
    sources.file("_static/soundcheck.css", look_of_pages.style())  # one of each: their order is ours
    sources.file("_static/soundcheck.js", look_of_pages.script())


def _contents(sources: pages.Sources, share: Path, record: RunRecord) -> None:
    """Write the table of contents."""
    contents = yaml.safe_load((share / "_toc.yml").read_text(encoding="utf-8"))
    results = []
    titles = {family.name: one_line(family.title) for family in record.families}  # below their model's name
    for model in record.models:
        own = [entry for entry in record.notebooks if entry.model == model.name]
        sections = [{"file": overview.page_of(entry), "title": titles[entry.family]} for entry in own]
        chapter = {"file": model_page(model.slug), "title": one_line(model.name)}
        results.append(chapter | ({"sections": sections} if sections else {}))
    failures = [{"file": "failures"}] if record.failed else []
    over_time = [{"file": history_page.NAME}] if history_page.NAME in sources.pages else []
    compared = [{"file": overview.page_of(entry)} for entry in record.comparisons]
    generated = [
        {"caption": "Results", "chapters": [*results, {"file": "all_results"}, *over_time, *failures]},
        *([{"caption": "Comparisons", "chapters": compared}] if compared else []),
        {
            "caption": "Corpora",
            "chapters": [
                {"file": page_names.corpus_page(c.slug), "title": one_line(c.name)} for c in record.corpora
            ],
        },
        {
            "caption": "Methods",
            "chapters": [{"file": f"methods/{files.slug(f.name)}"} for f in record.families],
        },
    ]
    about = contents.get("parts", [])
    about[-1]["chapters"].append({"file": "provenance"})
    contents["parts"] = generated + about
    sources.file("_toc.yml", yaml.safe_dump(contents, sort_keys=False))
