"""Registers all pages of a report, and their menu."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.augment.sounds import Sounds
from soundcheck.augment.sources import speech_source
from soundcheck.book import (
    corpus_page,
    executed,
    history_page,
    methods,
    overview,
    page_data,
    pages,
)
from soundcheck.book.build import pages_part
from soundcheck.book.corpus_page import recorded_otherwise
from soundcheck.book.pages import Sources, chapter
from soundcheck.common import files
from soundcheck.common.day import today
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import one_line
from soundcheck.common.store import signature
from soundcheck.common.tasks import Task
from soundcheck.corpora.load import Corpus
from soundcheck.evaluation.corpus_audit import Audit, audit
from soundcheck.publish import sheet
from soundcheck.report.html import Html, caveats_notice
from soundcheck.report.verdict_tables import among_all
from soundcheck.results.facts import ModelFacts, facts_by_model
from soundcheck.results.record import (
    ComparisonRecord,
    CorpusRecord,
    Executed,
    ModelRecord,
    NotebookRecord,
    RunRecord,
)
from soundcheck.results.table import read_estimates
from soundcheck.run.output import Output
from soundcheck.suite.families import Family

HANDBOOK = "How the tests work in detail, and how models and data of your own are tested, is in the {}."


@dataclasses.dataclass(frozen=True, eq=False)
class Book:
    """A report, and all that it is made of."""

    sources: Sources
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
    audits: dict[str, Audit] = dataclasses.field(default_factory=dict)  # those made so far

    def assemble(self) -> None:
        """Register all pages, with the data beside them, and write configuration and menu."""
        sources, record = self.sources, self.record
        sources.page("index", lambda: overview.cells(record, self.results, self.facts))
        corpora = [self._corpus(*each) for each in zip(record.corpora, self.corpora, strict=True)]
        results = [*map(self._model, record.models), chapter("all_results")]
        synthetic = any(corpus.synthetic for corpus in record.corpora)
        sources.page("all_results", lambda: page_data.all_results_cells(self.results, synthetic))
        if history_page.write(sources, self.output, self.history):
            results.append(chapter(history_page.NAME))
        if record.failed:
            sources.page("failures", lambda: overview.failures_cells(record))
            results.append(chapter("failures"))
        compared = [self._comparison(entry) for entry in record.comparisons]
        studies = [
            self._notebook(entry, self.output.studies / f"{entry.name}.ipynb", pages.STUDIES[entry.name])
            for entry in record.studies
        ]
        for name in pages.REPORT:
            sources.words(name, functools.partial(pages.written_page, name))
        sources.page("provenance", lambda: overview.provenance_cells(record))
        menu = {
            "Results": results,
            "Comparisons": compared,
            "Corpora": corpora,
            "Methods": [self._methods(), chapter("statistics"), *studies],
            "About": [*map(chapter, ("reading", "columns", "provenance", "bibliography"))],
        }
        titles = {family.name: family.title for family in record.families}
        sources.data(page_data.ROWS, functools.partial(page_data.all_results, self.rows, titles))
        segments = {str(name) for corpus in self.corpora for name in corpus.segments["file"].unique()}
        search = functools.partial(page_data.search_entries, record, self.rows, segments, sources.folder)
        sources.data(page_data.SEARCH, search, last=True)
        sources.configure(record.title, menu)

    @functools.cached_property
    def near(self) -> MediaStore:
        """The store of sounds and pictures as pages in folders see it."""
        return MediaStore(self.output.media, "../media/", self.record.voices)

    @functools.cached_property
    def facts(self) -> dict[str, ModelFacts]:
        """What the run says of each model."""
        estimates = read_estimates(self.output.folder)
        return facts_by_model(self.record, self.results, estimates, self.output.results)

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """All results with what is known of each row."""
        return among_all(pd.concat([facts.rows for facts in self.facts.values()]).sort_index())

    def audit(self, name: str) -> Audit | None:
        """Audit a corpus, once; ``None`` for sentences that Soundcheck itself made."""
        corpus = next(corpus for corpus in self.corpora if corpus.name == name)
        if name not in self.audits and not corpus.entry.probes_of:
            settings = {key: getattr(self.record, key) for key in ("seed", "replicates", "interval")}
            self.audits[name] = audit(corpus, self.tasks, self.output.cache, jobs=self.jobs, **settings)
        return self.audits.get(name)

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

    def _corpus(self, about: CorpusRecord, corpus: Corpus) -> dict:
        name = about.page

        def make() -> list[dict]:
            audit = self.audit(about.name)
            return corpus_page.cells(about, corpus, self.tasks, self.near, self.output.cache, audit)

        if self.sources.page(name, make, about, self.audited[about.name]):
            self.audit(about.name)  # here it may take several processes; pages of fairness show it, too
        return chapter(name, about.name)

    def _model(self, model: ModelRecord) -> dict:
        """Register the page and the summary of a model, and its results, which the menu has below it."""
        record, name = self.record, model.page

        about = (pages_part(model), record.figures, record.families, record.accepted, record.caveats)
        rows = self.results[self.results["model"].eq(model.name)]
        estimates = self.output.estimates.with_suffix(".parquet")
        make = functools.partial(overview.model_cells, self.facts[model.name])
        self.sources.page(name, make, *about, rows, estimates)
        if model.name not in record.references:
            summary = model.sheet
            self._summary(summary, lambda: sheet.model_sheet(self.facts[model.name], today()))
        entries = {entry.family: entry for entry in record.notebooks if entry.model == model.name}
        tested = [family for family in self._ordered if family.name in entries]
        below = [self._results(entries[family.name], family) for family in tested]
        return chapter(name, model.name, below)

    def _results(self, entry: NotebookRecord, family: Family) -> dict:
        """Register the page of a model and a family."""
        record, name = self.record, entry.page
        rows = self.rows[self.rows["model"].eq(entry.model) & self.rows["family"].eq(entry.family)]
        notebook = self.output.notebooks / files.slug(entry.model) / f"{files.slug(entry.family)}.ipynb"
        caveats = record.caveats_of({entry.model}, set(rows["corpus"]), set(rows["task"]))
        corpora = rows["corpus"].unique()

        def make() -> list[dict]:
            otherwise = Html()
            if family.category == "fairness":
                audits = {corpus: audit for corpus in corpora if (audit := self.audit(corpus)) is not None}
                addresses = {corpus.name: f"../../{corpus.page}.html" for corpus in record.corpora}
                otherwise = recorded_otherwise(rows, audits, addresses)
            out = self.output.folder
            return executed.result_cells(record, entry, family, rows, notebook, out, caveats, otherwise)

        about = (entry, family.title, family.question, notebook, caveats, record.figures)
        audited = [self.audited.get(corpus) for corpus in corpora]
        self.sources.page(name, make, *about, sorted(record.references), rows.reset_index(drop=True), audited)
        return chapter(name, family.title)

    def _comparison(self, entry: ComparisonRecord) -> dict:
        """Register the page and the summary of a comparison."""
        name = entry.sheet
        both = {entry.baseline, entry.candidate}
        tasks = {task for model in self.record.models if model.name in both for task in model.tasks}
        caveats = self.record.caveats_of(both, {corpus.name for corpus in self.record.corpora}, tasks)
        top = [pages.output(caveats_notice(caveats)), overview.summary_link(name)]

        def summary() -> sheet.Sheet:
            facts = self.facts[entry.candidate]
            return sheet.comparison_sheet(facts, entry, facts.run.contrasts(entry), today())

        self._summary(name, summary)
        notebook = self.output.comparisons / f"{entry.slug}.ipynb"
        return self._notebook(entry, notebook, f"Comparison {one_line(entry.name)}", top)

    def _notebook(self, entry: Executed, notebook: Path, title: str, top: Sequence[dict] = ()) -> dict:
        """Register the page of a notebook about all models, with cells below its title."""

        def make() -> list[dict]:
            first, *others = executed.cells(notebook, title, entry, self.output.folder)
            return [first, *top, *others]

        self.sources.page(entry.page, make, title, entry, notebook, top)
        return chapter(entry.page)

    def _summary(self, name: str, make: Callable[[], sheet.Sheet]) -> None:
        """Register a one-page summary, which stands beside the pages of the book."""

        def written() -> str:
            made = make()
            return sheet.html_page(made, "../" * name.count("/") + made.page, pages.footer())

        self.sources.data(f"{name}.html", written)

    @functools.cached_property
    def _ordered(self) -> list[Family]:
        return sorted(self.families, key=lambda family: methods.place(family.name, family.category))

    def _methods(self) -> dict:
        """Register the methods of the families that ran, and the list of them."""
        speech, signal, record = speech_source(), None, self.record
        if speech is not None and any(map(methods.listens, self.families)):
            signal = speech.sample(self.output.cache, [corpus.entry for corpus in self.corpora])
        heard = None if signal is None else files.digest(np.asarray(signal).tobytes())
        below = []
        for family in self._ordered:
            listens = methods.listens(family)

            def make(family: Family = family, played: np.ndarray | None = signal if listens else None) -> str:
                page = methods.MethodPage(family, self.near, played, record.seed, self.sounds)
                return f"{page.text(self.suite_root)}\n\n{pages.raw(overview.tested(record, family.name))}"

            models = [entry.model for entry in record.notebooks if entry.family == family.name]
            about = (methods.written(family.name, self.suite_root), heard if listens else None, models)
            name = f"methods/{files.slug(family.name)}"
            self.sources.words(name, make, family, *about, record.seed, self.sounds.sets)
            below.append(chapter(name, family.title))
        handbook = self.sources.handbook
        address = f"[handbook]({handbook}/index.html)" if handbook else "handbook of Soundcheck"
        words = pages.written_page("methods").replace(pages.METHODS, methods.listed(self.families))
        self.sources.words("methods", lambda: f"{words}\n\n{HANDBOOK.format(address)}")
        return chapter("methods", below=below)
