"""Assembles the book's sources, lets Jupyter Book build them, checks the site and puts it into place.

Nothing changes in ``html`` before the new site is complete: it is built beside and moved.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from soundcheck.book import (
    answers,
    executed,
    measures,
    methods,
    model_and_corpus_pages,
    overview,
    pages,
    recorded_tables,
    settled,
)
from soundcheck.book.check_site import SECRET, inspect
from soundcheck.book.trimming import trim
from soundcheck.common import files, resources
from soundcheck.common.errors import Problem
from soundcheck.common.escaping import heading
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.report import states
from soundcheck.report.key_figures import standing_notes
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.standing import PROVEN, standings
from soundcheck.run.output import Output
from soundcheck.sounds.sound import Sounds
from soundcheck.sounds.sources import speech_source
from soundcheck.suite.families import Family

NO_STUDIES = (
    "This page shows simulations whose truth is known; the suite leaves it out with `studies: false`."
)
STUDY_TITLES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
LIMIT = 1800  # seconds that Jupyter Book may take
MOST_OPEN = 60  # result pages above which the menu shows only those of the current model

_MEDIA = re.compile(r"media/([0-9a-f]{20}\.[a-z0-9]+)")


def build(
    output: Output,
    record: RunRecord,
    results: pd.DataFrame,
    *,
    suite_root: Path,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    tasks: Mapping[str, Task],
    sounds: Sounds,
) -> list[Problem]:
    """Build the book of a run.

    Parameters
    ----------
    output
        The output folder, with executed notebooks and media.
    record
        The run's record.
    results
        The results table.
    suite_root
        Folder of the suite, which may hold pages of its own families.
    families, corpora, tasks, sounds
        What was tested, and with which noises and impulse responses.

    Returns
    -------
    list of Problem
        Why there is no complete book; empty if there is.
    """
    source = output.folder / "book-src"
    shutil.rmtree(source, ignore_errors=True)
    names = assemble(
        source,
        output,
        record,
        results,
        suite_root=suite_root,
        families=families,
        corpora=corpora,
        tasks=tasks,
        sounds=sounds,
    )
    state = output.folder / "book-src.json"
    fingerprint = _fingerprint(source)
    if _unchanged(state, fingerprint) and not inspect(output.html, names, record.run, output.folder):
        return []
    state.unlink(missing_ok=True)
    site, problem = run_jupyter_book(source, output)
    if problem:
        return [problem]
    problems = inspect(site, names, record.run, output.folder)
    if problems:
        return problems
    into_place(site, output.html)
    files.write_text(state, json.dumps({"fingerprint": fingerprint}))
    return []


def assemble(
    source: Path,
    output: Output,
    record: RunRecord,
    results: pd.DataFrame,
    *,
    suite_root: Path,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    tasks: Mapping[str, Task],
    sounds: Sounds,
) -> list[str]:
    """Write all sources of the book; returns the names of its generated pages."""
    share = resources.root()
    near = MediaStore(output.media, "../media/")
    names = [pages.write(source, "index", overview.cells(record, results), record)]
    by_name = {family.name: family for family in families}
    among = settled.among(results, accepted_reasons(results, record.accepted))
    for entry in record.notebooks:
        folder, stem = files.slug(entry.model), files.slug(entry.family)
        family = by_name[entry.family]
        title = executed.title(entry.model, family.title)
        rows = results[results["model"].eq(entry.model) & results["family"].eq(entry.family)]
        fill = settled.Filling(settled.settled_cells(rows, among), str(settled.limits(rows, among)))
        notebook = output.notebooks / folder / f"{stem}.ipynb"
        cells = executed.cells(notebook, title, entry, output.folder, fill)
        about = f"How these tests work: [method](../../methods/{stem}.ipynb)."
        answered = answers.answer(rows, family.question, _no_merit(record, rows), among)
        heading_line, _, words = cells[0]["source"].partition("\n")
        words = f"{words.strip()}\n\n{about}".strip()
        cells[:1] = [pages.markdown(heading_line), pages.output(answered), pages.markdown(words)]
        names.append(pages.write(source, overview.page_of(entry), cells, record))
    for entry in record.comparisons:
        notebook = output.comparisons / f"{entry.slug}.ipynb"
        cells = executed.cells(notebook, f"Comparison {heading(entry.name)}", entry, output.folder)
        names.append(pages.write(source, overview.page_of(entry), cells, record))
    for entry in record.studies:
        notebook = output.studies / f"{entry.name}.ipynb"
        cells = executed.cells(notebook, STUDY_TITLES[entry.name], entry, output.folder)
        names.append(pages.write(source, overview.page_of(entry), cells, record))
    for name in sorted(set(STUDY_TITLES) - {entry.name for entry in record.studies}):
        cells = [pages.markdown(f"# {STUDY_TITLES[name]}"), pages.markdown(NO_STUDIES)]
        names.append(pages.write(source, name, cells, record))
    for model in record.models:
        cells = model_and_corpus_pages.model_cells(model, record, results, near)
        names.append(pages.write(source, f"models/{model.slug}", cells, record))
    for about, corpus in zip(record.corpora, corpora, strict=True):
        cells = model_and_corpus_pages.corpus_cells(about, corpus, tasks, near)
        names.append(pages.write(source, f"corpora/{about.slug}", cells, record))
    signal, speech = None, speech_source()
    if speech is not None and any(map(methods.listens, families)):
        signal = speech.sample(output.cache, [corpus.entry for corpus in corpora])
    for family in families:
        own = signal if methods.listens(family) else None
        cells = methods.cells(family, suite_root, near, own, record.seed, sounds)
        cells.append(pages.output(overview.tested(record, family.name)))
        names.append(pages.write(source, f"methods/{files.slug(family.name)}", cells, record))
    names.append(
        pages.write(source, "all_results", model_and_corpus_pages.all_results_cells(results, among), record)
    )
    names.append(pages.write(source, "provenance", model_and_corpus_pages.provenance_cells(record), record))
    if record.failed:
        names.append(pages.write(source, "failures", model_and_corpus_pages.failures_cells(record), record))
    for page in sorted((share / "book").glob("*.md")):
        words = recorded_tables.filled(measures.page(page.read_text(encoding="utf-8")))
        names.append(pages.write_words(source, page.stem, words, record))
    configure(source, share, record)
    _contents(source, share, record)
    _extra(source, output)
    return names


def _no_merit(record: RunRecord, rows: pd.DataFrame) -> list[str]:
    """Say at which tasks of a page the model is no better than guessing, or nobody knows."""
    random = {model.name for model in record.models if model.kind == "random"}
    doubtful = rows[standings(rows, record.figures).ne(PROVEN) & ~rows["model"].isin(random)]
    return [
        note
        for model, tasks in doubtful.groupby("model")["task"]
        for note in standing_notes(record.figures, model, list(dict.fromkeys(tasks)))
    ]


def configure(source: Path, share: Path, record: RunRecord) -> None:
    """Write the configuration of a book, with its style and bibliography beside it."""
    configuration = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
    configuration["title"] = heading(record.title, "Soundcheck")
    if len(record.notebooks) > MOST_OPEN:  # else the menu would make every page large
        configuration["sphinx"]["config"]["html_theme_options"]["collapse_navbar"] = True
    files.write_text(source / "_config.yml", yaml.safe_dump(configuration, sort_keys=False))
    shutil.copyfile(share / "book" / "references.bib", source / "references.bib")
    shutil.copytree(share / "book" / "_static", source / "_static", dirs_exist_ok=True)
    files.write_text(source / "_static" / "states.css", states.style_sheet())


def _contents(source: Path, share: Path, record: RunRecord) -> None:
    """Write the table of contents."""
    contents = yaml.safe_load((share / "_toc.yml").read_text(encoding="utf-8"))
    results = []
    for model in record.models:
        own = [entry for entry in record.notebooks if entry.model == model.name]
        sections = [{"file": overview.page_of(entry)} for entry in own]
        chapter = {"file": f"models/{model.slug}"}
        results.append(chapter | ({"sections": sections} if sections else {}))
    failures = [{"file": "failures"}] if record.failed else []
    compared = [{"file": overview.page_of(entry)} for entry in record.comparisons]
    generated = [
        {"caption": "Results", "chapters": [*results, {"file": "all_results"}, *failures]},
        *([{"caption": "Comparisons", "chapters": compared}] if compared else []),
        {"caption": "Corpora", "chapters": [{"file": f"corpora/{c.slug}"} for c in record.corpora]},
        {
            "caption": "Methods",
            "chapters": [{"file": f"methods/{files.slug(f.name)}"} for f in record.families],
        },
    ]
    about = contents.get("parts", [])
    about[-1]["chapters"].append({"file": "provenance"})
    contents["parts"] = generated + about
    files.write_text(source / "_toc.yml", yaml.safe_dump(contents, sort_keys=False))


def _extra(source: Path, output: Output) -> None:
    """Put sounds, pictures and tables beside the pages; drop sounds and pictures that no page refers to."""
    used = share_media(source, output)
    shutil.copyfile(output.results, source / "extra" / "results.csv")
    shutil.copyfile(output.left_out, source / "extra" / "left_out.csv")
    for table in (output.comparison_table, output.word_errors):
        if table.is_file():
            shutil.copyfile(table, source / "extra" / table.name)
    output.prune(output.media, used | _kept_by_notebooks(output))


def share_media(source: Path, output: Output) -> set[str]:
    """Put the sounds and pictures that pages refer to beside them; returns their names."""
    used = set()
    for page in source.rglob("*.ipynb"):
        used |= set(_MEDIA.findall(page.read_text(encoding="utf-8")))
    folder = source / "extra" / "media"
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(used):
        for media in (output.media, output.studies / "media"):
            if (media / name).is_file():
                _share(media / name, folder / name)
                break
    return used


def _share(path: Path, target: Path) -> None:
    """Give a file a second name; copy it where the file system knows no hard links."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def _kept_by_notebooks(output: Output) -> set[str]:
    """Name the media that executed notebooks refer to; they are not executed again to make them anew."""
    used = set()
    for notebook in (*output.notebooks.rglob("*.ipynb"), *output.comparisons.glob("*.ipynb")):
        used |= set(_MEDIA.findall(notebook.read_text(encoding="utf-8", errors="replace")))
    return used


def _fingerprint(source: Path) -> str:
    """Hash all sources of the book; media are named by their content."""
    parts = []
    for path in sorted(source.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(source))
            parts.append(name if name.startswith("extra/media/") else f"{name} {files.digest(path)}")
    return files.digest("\n".join(parts))


def _unchanged(state: Path, fingerprint: str) -> bool:
    try:
        return json.loads(state.read_text(encoding="utf-8"))["fingerprint"] == fingerprint
    except (OSError, ValueError, KeyError, TypeError):
        return False


def run_jupyter_book(source: Path, output: Output) -> tuple[Path, Problem | None]:
    """Let Jupyter Book build the sources; its output goes to the log."""
    target = output.folder / "book-build"
    shutil.rmtree(target, ignore_errors=True)
    arguments = ["build", str(source), "--path-output", str(target), "-W", "--keep-going", "-q"]
    command = [sys.executable, "-P", "-c", "from jupyter_book.cli.main import main; main()", *arguments]
    environment = {name: value for name, value in os.environ.items() if not SECRET.search(name.upper())}
    environment |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    with open(output.log, "ab") as log:
        try:
            code = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                timeout=LIMIT,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return target, Problem("book", f"Jupyter Book did not end within {LIMIT} s")
    site = target / "_build" / "html"
    if code or not (site / "index.html").is_file():
        return site, Problem("book", f"Jupyter Book ended with exit code {code}", f"See {output.log.name}")
    return site, None


def into_place(site: Path, html: Path) -> None:
    """Trim the finished site and move it to where the book is read, the old one out of the way first."""
    trim(site)
    old = html.with_name("html-old")
    shutil.rmtree(old, ignore_errors=True)
    if html.exists():
        os.replace(html, old)
    os.replace(site, html)
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(site.parents[1], ignore_errors=True)
