"""Writes all sources of a report: its pages, its configuration and its contents."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from soundcheck.augment.sounds import Sounds
from soundcheck.augment.sources import speech_source
from soundcheck.book import (
    corpus_page,
    executed,
    history_page,
    methods,
    model_pages,
    overview,
    page_data,
    pages,
    result_pages,
    written,
)
from soundcheck.book.build import pages_part
from soundcheck.common import files, resources
from soundcheck.common.caveats import Caveat
from soundcheck.common.escaping import one_line
from soundcheck.common.media import MediaStore
from soundcheck.common.store import signature
from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.evaluation.corpus_audit import Audit, audit
from soundcheck.report.corpus_views import recorded_otherwise
from soundcheck.report.html import Html
from soundcheck.report.notices import caveats_notice
from soundcheck.report.verdict_tables import among_all
from soundcheck.results.estimates import read_estimates
from soundcheck.results.facts import ModelFacts, facts_by_model
from soundcheck.results.page_names import comparison_sheet, model_page
from soundcheck.results.page_names import corpus_page as corpus_page_of
from soundcheck.results.record import ComparisonRecord, RunRecord
from soundcheck.run.output import Output
from soundcheck.suite.families import Family

HANDBOOK = "How the tests work in detail, and how models and data of your own are tested, is in the {}."


@dataclasses.dataclass(frozen=True)
class Book:
    """All that a report is made of."""

    output: Output
    record: RunRecord
    results: pd.DataFrame
    suite_root: Path
    families: Sequence[Family]
    corpora: Sequence[Corpus]
    tasks: Mapping[str, Task]
    sounds: Sounds
    history: Path | None = None
    jobs: int = 1
    audits: dict[str, Audit | None] = dataclasses.field(default_factory=dict)  # those made so far

    @functools.cached_property
    def near(self) -> MediaStore:
        """The store of sounds and pictures as pages in folders see it."""
        return MediaStore(self.output.media, "../media/", self.record.voices)

    @functools.cached_property
    def facts(self) -> dict[str, ModelFacts]:
        """What the run says of each model."""
        return facts_by_model(self.record, self.results, read_estimates(self.output.folder))

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """All results with what is known of each row."""
        return among_all(pd.concat([facts.rows for facts in self.facts.values()]).sort_index())

    @functools.cached_property
    def titles(self) -> dict[str, str]:
        """Titles of the families by name."""
        return {family.name: family.title for family in self.record.families}

    @functools.cached_property
    def published(self) -> tuple[object, ...]:
        """What must not appear in pages of notebooks."""
        return str(self.output.folder), executed.places(), executed.user_name()

    def audit(self, name: str) -> Audit | None:
        """Audit a corpus, once; ``None`` for sentences that Soundcheck itself made."""
        if name not in self.audits:
            corpus = next(one for one in self.corpora if one.name == name)
            settings = {key: getattr(self.record, key) for key in ("seed", "replicates", "interval")}
            made = corpus.entry.probes_of
            result = (
                None if made else audit(corpus, self.tasks, self.output.cache, jobs=self.jobs, **settings)
            )
            self.audits[name] = result
        return self.audits[name]

    @functools.cached_property
    def audited(self) -> dict[str, str]:
        """Corpus -> digest of all that its audit depends on."""
        digests = {}
        for corpus in self.corpora:
            unopened = {*corpus.elsewhere["file"]} if corpus.entry.audio and len(corpus.elsewhere) else ()
            digests[corpus.name] = pages.digest(
                *(corpus.entry, corpus.groups, corpus.adjust, corpus.formats, self.tasks),
                *(corpus.segments, corpus.elsewhere),
                [(name, signature(corpus.root / name)) for name in sorted(unopened)],
                *(self.record.seed, self.record.replicates, self.record.interval),
            )
        return digests


def assemble(sources: pages.Sources, book: Book) -> None:
    """Register all pages of a report, and write its configuration."""
    sources.page("index", lambda: overview.cells(book.record, book.results, book.facts))
    sources.page("all_results", lambda: page_data.all_results_cells(book.results))
    sources.page("provenance", lambda: model_pages.provenance_cells(book.record))
    if book.record.failed:
        sources.page("failures", lambda: model_pages.failures_cells(book.record))
    _corpora(sources, book)
    _results(sources, book)
    _other_notebooks(sources, book)
    _models(sources, book)
    model_pages.write_summaries(sources, book.output, book.record, book.results)
    history_page.write(sources, book.output, book.history)
    _methods(sources, book)
    for name in written.REPORT:
        sources.words(name, functools.partial(written.page, name))
    sources.data(page_data.ROWS, functools.partial(page_data.all_results, book.rows, book.titles))
    segments = {str(name) for corpus in book.corpora for name in corpus.segments["file"].unique()}
    search = functools.partial(page_data.search_entries, book.record, book.rows, segments, sources.folder)
    sources.data(page_data.SEARCH, search, last=True)
    configure(sources, resources.root(), book.record)
    sources.file("_toc.yml", yaml.safe_dump(_contents(book, sources), sort_keys=False))


def _corpora(sources: pages.Sources, book: Book) -> None:
    for about, corpus in zip(book.record.corpora, book.corpora, strict=True):

        def make(about=about, corpus=corpus) -> list[dict]:
            audit_ = book.audit(about.name)
            return corpus_page.cells(about, corpus, book.tasks, book.near, book.output.cache, audit_)

        depends = (about, book.audited[about.name], book.record.voices)
        if sources.page(corpus_page_of(about.slug), make, *depends):
            book.audit(about.name)  # here it may take several processes; pages of fairness show it, too


def _results(sources: pages.Sources, book: Book) -> None:
    record, by_name = book.record, {family.name: family for family in book.families}
    figures = pages.digest(record.figures, [(model.name, model.kind) for model in record.models])
    for entry in record.notebooks:
        family = by_name[entry.family]
        rows = book.rows[book.rows["model"].eq(entry.model) & book.rows["family"].eq(entry.family)]
        notebook = book.output.notebooks / files.slug(entry.model) / f"{files.slug(entry.family)}.ipynb"
        caveats = record.caveats_of({entry.model}, set(rows["corpus"]), set(rows["task"]))

        def make(entry=entry, family=family, notebook=notebook, rows=rows, caveats=caveats):
            otherwise = _recorded_otherwise(book, family, rows)
            out = book.output.folder
            return result_pages.cells(record, entry, family, rows, notebook, out, caveats, otherwise)

        audited = [book.audited.get(corpus) for corpus in rows["corpus"].unique()]
        about = (entry, family.title, family.question, notebook, figures, caveats, book.published)
        sources.page(overview.page_of(entry), make, *about, rows.reset_index(drop=True), audited)


def _recorded_otherwise(book: Book, family: Family, rows: pd.DataFrame) -> Html:
    """Say which groups of a page of fairness were recorded otherwise."""
    if family.category != "fairness":
        return Html()
    audits = {name: audit_ for name in rows["corpus"].unique() if (audit_ := book.audit(name)) is not None}
    addresses = {one.name: f"../../{corpus_page_of(one.slug)}.html" for one in book.record.corpora}
    return recorded_otherwise(rows, audits, addresses)


def _other_notebooks(sources: pages.Sources, book: Book) -> None:
    """Register the pages of comparisons, with the way to their one-page summaries, and of studies."""
    output, record = book.output, book.record
    for entry in (*record.comparisons, *record.studies):
        compares = isinstance(entry, ComparisonRecord)
        if compares:
            title, notebook = f"Comparison {one_line(entry.name)}", output.comparisons / f"{entry.slug}.ipynb"
        else:
            title, notebook = written.STUDIES[entry.name], output.studies / f"{entry.name}.ipynb"
        caveats = _caveats_of_both(record, entry) if compares else []

        def make(notebook=notebook, title=title, entry=entry, compares=compares, caveats=caveats):
            cells = executed.cells(notebook, title, entry, output.folder)
            top = []
            if compares:
                top = [
                    pages.output(caveats_notice(caveats)),
                    model_pages.summary_link(comparison_sheet(entry.slug)),
                ]
            return [cells[0], *top, *cells[1:]]

        sources.page(overview.page_of(entry), make, title, entry, notebook, caveats, book.published)


def _caveats_of_both(record: RunRecord, entry: ComparisonRecord) -> list[Caveat]:
    """Give the caveats of the two models that are compared."""
    both = [model for model in record.models if model.name in (entry.baseline, entry.candidate)]
    tasks = {task for model in both for task in model.tasks}
    return record.caveats_of({model.name for model in both}, {c.name for c in record.corpora}, tasks)


def _models(sources: pages.Sources, book: Book) -> None:
    record, estimates = book.record, pages.digest(book.output.folder / "estimates.parquet")
    for model in record.models:

        def make(name: str = model.name) -> list[dict]:
            return model_pages.model_cells(book.facts[name])

        rows = book.results[book.results["model"].eq(model.name)]
        about = (pages_part(model), record.figures, record.families, record.accepted, record.caveats)
        sources.page(model_page(model.slug), make, *about, rows, estimates)


def _methods(sources: pages.Sources, book: Book) -> None:
    """Register the methods of the families that ran, and the list of them."""
    speech, signal = speech_source(), None
    if speech is not None and any(map(methods.listens, book.families)):
        signal = speech.sample(book.output.cache, [corpus.entry for corpus in book.corpora])
    for family in book.families:
        played = signal if methods.listens(family) else None

        def make(family=family, played=played) -> str:
            page = methods.MethodPage(family, book.near, played, book.record.seed, book.sounds)
            tested = pages.raw(overview.tested(book.record, family.name))
            return f"{page.text(book.suite_root)}\n\n{tested}"

        heard = None if played is None else files.digest(np.asarray(played).tobytes())
        models = [entry.model for entry in book.record.notebooks if entry.family == family.name]
        about = (methods.written(family.name, book.suite_root), heard, book.record.seed, book.sounds.sets)
        about += (book.record.voices, models)
        sources.words(f"methods/{files.slug(family.name)}", make, family, *about)
    listed = methods.listed((f.name, f.category, f.title, f.question) for f in book.families)
    words = written.page("methods").replace(written.METHODS, listed)
    handbook = sources.handbook
    address = f"[handbook]({handbook}/index.html)" if handbook else "handbook of Soundcheck"
    sources.words("methods", lambda: f"{words}\n\n{HANDBOOK.format(address)}")


def configure(sources: pages.Sources, share: Path, record: RunRecord) -> None:
    """Write the configuration of a report, with its bibliography beside it."""
    configuration = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
    configuration |= {"title": one_line(record.title, "Soundcheck"), "bibtex_bibfiles": ["references.bib"]}
    sources.file("_config.yml", yaml.safe_dump(configuration, sort_keys=False))
    sources.file("references.bib", (share / "book" / "references.bib").read_text(encoding="utf-8"))


def _contents(book: Book, sources: pages.Sources) -> dict:
    """Make the table of contents: of pages that there are, families by section below their model."""
    record = book.record
    ordered = sorted(book.families, key=lambda family: methods.place(family.name, family.category))
    order = {family.name: number for number, family in enumerate(ordered)}

    def chapter(name: str, title: str = "", below: Sequence[dict] = ()) -> dict:
        entry = {"file": name} | ({"title": one_line(title)} if title else {})
        return entry | ({"sections": list(below)} if below else {})

    models = []
    for model in record.models:
        entries = [entry for entry in record.notebooks if entry.model == model.name]
        entries.sort(key=lambda entry: order[entry.family])
        below = [chapter(overview.page_of(entry), book.titles[entry.family]) for entry in entries]
        models.append(chapter(model_page(model.slug), model.name, below))
    corpora = [chapter(corpus_page_of(corpus.slug), corpus.name) for corpus in record.corpora]
    families = [chapter(f"methods/{files.slug(family.name)}", family.title) for family in ordered]
    compared = [chapter(overview.page_of(entry)) for entry in record.comparisons]
    parts = [
        ("Results", [*models, *map(chapter, ("all_results", history_page.NAME, "failures"))]),
        ("Comparisons", compared),
        ("Corpora", corpora),
        ("Methods", [chapter("methods", below=families), *map(chapter, ("statistics", *written.STUDIES))]),
        ("About", [*map(chapter, ("reading", "columns", "provenance", "bibliography"))]),
    ]
    present = {name: [one for one in part if one["file"] in sources.pages] for name, part in parts}
    menu = [{"caption": caption, "chapters": chapters} for caption, chapters in present.items() if chapters]
    return {"format": "jb-book", "root": "index", "parts": menu}
