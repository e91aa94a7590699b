"""Pages about what was tested: models and corpora, and with what."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from soundcheck.book import pages, sheets
from soundcheck.book.model_tables import family_bars, figures_of, scores
from soundcheck.book.overview import page_of
from soundcheck.common import files
from soundcheck.common.escaping import heading
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.report import figures as drawn
from soundcheck.report import key_figures, tables
from soundcheck.report.bars import legend, score_cell
from soundcheck.report.html import Html, element, join
from soundcheck.report.measured_tables import differences, measured_table, summary
from soundcheck.report.players import player, row
from soundcheck.results import aspects, states, tally
from soundcheck.results.page_names import model_sheet
from soundcheck.results.provenance import PROVENANCE
from soundcheck.results.record import CorpusRecord, ModelRecord, RunRecord, SoundsRecord
from soundcheck.results.standing import PROVEN, standings
from soundcheck.results.summary import ASPECTS
from soundcheck.results.verdict import SKIPPED

LISTED = 200  # items that a page lists before it only counts
GROUPS = ("sex", "accent", "language")  # by which what was measured is shown, beside those of the suite
SENTENCES = 12  # that say how recordings of groups differ
EXAMPLES = 4  # segments of a corpus to listen to
FILES = 20  # names of files that a page lists


def value_cells(own: pd.DataFrame, media: MediaStore) -> list[dict]:
    """Make the figure of the values of one model: it takes longer than all else on the model's page."""
    if not own["value"].notna().any():
        return []
    figure = drawn.intervals(own)
    return [
        pages.markdown("## Values and their intervals\n\nAt most 60 tests, failed ones first."),
        pages.output(drawn.show(media, figure, "Values with 95 % intervals and thresholds")),
    ]


def model_cells(
    model: ModelRecord, record: RunRecord, own: pd.DataFrame, values: Sequence[dict]
) -> list[dict]:
    """Make the page of a model: what it is, what it passed, where it gave no answer.

    Parameters
    ----------
    model, record
        The model, and the run.
    own
        Its rows of the results.
    values
        From :func:`value_cells`.
    """
    facts = [
        ("name", model.name),
        ("kind", model.kind),
        ("source", model.target),
        ("tasks", ", ".join(model.tasks)),
        ("description", model.description or "–"),
        ("license", model.license or "–"),
        ("fingerprint", model.fingerprint[:16]),
        ("inputs", f"{model.inputs}, without an answer {model.failed + model.unusable}"),
    ]
    if given := model.given(datetime.date.today()):
        facts.append(("answers", given))
    if model.confirmed_different:
        facts.append(
            ("kept answers asked again", f"{model.confirmed_different} of {model.confirmed} were others now")
        )
    if model.seen_files:
        facts.append(("files looked at before kept answers are used", _some(model.seen_files)))
    if model.repeated:
        facts.append(("asked twice", f"{model.repeated_different} of {model.repeated} answers differed"))
    standing = standings(own, record.figures if model.kind != "random" else None)
    families = []
    for family in record.families:
        rows = own[own["family"] == family.name]
        if len(rows):
            page = f"../results/{model.slug}/{files.slug(family.name)}.html"
            name = element("a", family.title, href=page)
            bars = family_bars(rows, standing[rows.index])
            families.append([name, family.question, bars, int(states(rows).eq(SKIPPED).sum())])
    cells = [
        pages.markdown(f"# Model {heading(model.name)}"),
        *([sheets.link(model_sheet(model.slug))] if sheets.has_sheet(model) else []),
        *_how_good(model, record, own, standing),
        pages.markdown("## Results by family"),
        pages.output(legend()),
        pages.output(tables.table(families, ["family", "question", "tests", "skipped"])),
        pages.markdown("## About the model"),
        pages.output(_facts(facts)),
        pages.output(tables.notes(model.notes)),
    ]
    cells += values
    if model.failures:
        cells.append(pages.markdown("## Inputs without an answer"))
        rows = [
            [entry.corpus, entry.item, entry.change or "–", entry.reason] for entry in model.failures[:LISTED]
        ]
        shown = tables.table(rows, ["corpus", "segment", "change", "reason"])
        cells.append(pages.output(join([shown, _more(len(model.failures))])))
    return cells


def _how_good(
    model: ModelRecord, record: RunRecord, own: pd.DataFrame, standing: pd.Series
) -> Iterator[dict]:
    """Make the top of a model's page: its numbers, how it stands at its tasks, and its three scores."""
    figures = figures_of(record, model.name)
    if figures:
        yield pages.output(key_figures.figure_table(figures))
    notes = key_figures.standing_notes(record.figures, model.name, model.tasks)
    if notes and model.kind != "random":
        yield pages.markdown(
            "What is *hollow* or *unproven* is shown in grey and counts in no share: see "
            "[about this book](../about.md)."
        )
        yield pages.output(tables.notes(notes))
    counted = own[standing.eq(PROVEN)]
    about = aspects(counted)
    cells = [score_cell(found, tally(counted[about.eq(aspect)])) for aspect, found in scores(counted).items()]
    yield pages.output(tables.table([cells], list(ASPECTS), sortable=False))


def corpus_cells(
    about: CorpusRecord, corpus: Corpus, tasks: Mapping[str, Task], media: MediaStore
) -> list[dict]:
    """Make the page of a corpus: how it came about, what is in it, what was left out, how it sounds."""
    segments = corpus.segments
    facts = [
        ("name", about.name),
        ("format", about.format),
        ("segments", f"{about.segments:,}"),
        ("length", f"{about.seconds / 60:.1f} minutes" if about.seconds else "not known"),
        ("speakers", f"{about.speakers}" if about.speakers else "not known"),
        ("digest of all sounds", about.digest[:16]),
    ]
    cells = [
        pages.markdown(f"# Corpus {heading(about.name)}"),
        pages.output(join([tables.synthetic_notice(about.synthetic), _facts(facts)])),
    ]
    if corpus.description:
        cells.append(pages.output(element("p", corpus.description, limit=None)))
    notices = (*about.unlabelled, *about.notices)
    if notices:
        cells += [pages.markdown("## What to know"), pages.output(tables.notes(notices))]
    counts = []
    for column in ("sex", "language", "accent", "split", "condition"):
        if column in segments.columns:
            for value, rows in segments.groupby(column, sort=True):
                speakers = int(rows["speaker"].nunique()) if "speaker" in rows else ""
                counts.append([column, str(value), len(rows), speakers])
    if counts:
        cells += [
            pages.markdown("## Who speaks"),
            pages.output(tables.table(counts, ["column", "value", "segments", "speakers"])),
        ]
    cells += _measured(corpus)
    labelled = {
        name: segments[name]
        for name, task in tasks.items()
        if task.is_labelled and name in segments.columns and segments[name].notna().any()
    }
    if labelled:
        classes = {name: tasks[name].classes for name in labelled if not tasks[name].is_regression}
        figure = drawn.label_distribution(labelled, classes)
        alt = "How many segments have which label"
        cells += [pages.markdown("## Labels"), pages.output(drawn.show(media, figure, alt))]
    if corpus.entry.audio:
        cells += [pages.markdown("## Listen"), pages.output(_examples(corpus, media))]
    if about.left_out:
        rows = [[item.item, item.stage, item.reason] for item in about.left_out[:LISTED]]
        shown = tables.table(rows, ["item", "stage", "reason"])
        cells += [
            pages.markdown("## Left out"),
            pages.output(join([shown, _more(len(about.left_out))])),
        ]
    return cells


def _measured(corpus: Corpus) -> Iterator[dict]:
    """Show what was measured on the sounds, by the groups that the corpus has."""
    if not corpus.entry.audio:
        return
    named = [name for name in (*GROUPS, *corpus.groups) if name in corpus.segments.columns]
    groups = list(dict.fromkeys(named))
    yield pages.markdown(
        "## What was measured\n\nWhat the sounds themselves say, for all segments and by group: see "
        "[measured columns](../measured_columns.md). Groups that differ here may be served differently for "
        "this reason. The ranges describe segments; they are no confidence intervals, and with few speakers "
        "groups differ because these speakers do."
    )
    told = differences(corpus.segments, groups)
    if told:
        words = "Medians that lie apart by a third of the range of all segments or more:"
        shown = [*told[:SENTENCES], *([f"and {len(told) - SENTENCES} more"] if len(told) > SENTENCES else [])]
        yield pages.output(join([element("p", words), tables.notes(shown)]))
    caption = "Median of the segments, and below it where the middle 90 % of them lie"
    yield pages.output(measured_table(summary(corpus.segments, groups), caption))


def _examples(corpus: Corpus, media: MediaStore) -> Html:
    """Play a few segments, spread evenly over the corpus."""
    step = max(1, len(corpus.segments) // EXAMPLES)
    shown = []
    for segment in corpus.segments.iloc[step // 2 :: step].head(EXAMPLES).to_dict("records"):
        signal = audio.read(corpus.root / segment["file"], segment["start"], segment["end"])
        about = [segment.get(name) for name in ("speaker", "sex", "language", "emotion", "transcript")]
        caption = ", ".join(str(text) for text in about if isinstance(text, str) and text)
        shown.append(player(media, signal, audio.SAMPLING_RATE, segment["file"], caption=caption))
    return row(shown)


def failures_cells(record: RunRecord) -> list[dict]:
    """Make the page of notebooks that failed; their tests are skipped rows of the results."""
    rows = []
    for entry in record.failed:
        where = element("a", entry.display_name, href=f"{page_of(entry)}.html")
        rows.append([where, entry.status, "".join(entry.error.splitlines()[:1])])
    words = "# Failed notebooks\n\nTheir tests count as skipped. Each page shows how far its notebook came."
    return [pages.markdown(words), pages.output(tables.table(rows, ["notebook", "how", "error"]))]


def provenance_cells(record: RunRecord) -> list[dict]:
    """Make the page that says with what the book was made."""
    versions = [[name, version] for name, version in record.versions.items()]
    facts = [
        ("run", record.run),
        ("seed", str(record.seed)),
        ("replicates", str(record.replicates)),
        ("interval", record.interval),
        ("voices", record.voices),
        ("digest of results.csv", record.results),
        ("digest of the suite", record.suite["digest"]),
    ]
    families = [[family.name, family.title, family.digest[:16]] for family in record.families]
    return [
        pages.markdown(
            "# Provenance\n\nWith what this book was made. The same suite on the same data gives the same "
            "results."
        ),
        pages.output(_facts(facts)),
        pages.output(_listed_files()),
        pages.markdown("## Versions"),
        pages.output(tables.table(versions, ["package", "version"], sortable=False)),
        *_sounds(record.sounds),
        pages.markdown("## Threshold files"),
        pages.output(tables.table(families, ["family", "title", "digest"], sortable=False)),
    ]


def _listed_files() -> Html:
    """Say how a reader makes sure that the book is as it was built; its own digest cannot stand in it."""
    listed, made_of = (element("a", name, href=name) for name in (MANIFEST, PROVENANCE))
    command = element("code", f"sha256sum -c {MANIFEST}")
    told = ("All files of this book, with the SHA-256 digest of each: ", listed, ". In its folder, ")
    how = (command, " or soundcheck verify finds what was changed since.")
    return element("p", *told, *how, " What the book was made of, for programs: ", made_of, ".")


def _sounds(groups: Sequence[SoundsRecord]) -> list[dict]:
    if not groups:
        return []
    rows = [[g.kind, g.sounds, g.seconds, g.source, g.digest[:16]] for g in groups]
    columns = ["kind", "sounds", "seconds", "source", "digest"]
    words = "## Sounds\n\nNoises and impulse responses that signals were changed with."
    return [pages.markdown(words), pages.output(tables.table(rows, columns, sortable=False))]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - FILES} more" if len(names) > FILES else ""
    return ", ".join(names[:FILES]) + more


def _facts(facts: list[tuple[str, str]]) -> Html:
    parts = [
        part for name, value in facts for part in (element("dt", name), element("dd", value, limit=1000))
    ]
    return element("dl", *parts, class_="sc-facts")


def _more(count: int) -> Html:
    return (
        element("p", f"… and {count - LISTED} more; left_out.csv lists all.") if count > LISTED else Html("")
    )
