"""The page of a corpus: what it is made of, who speaks, what was measured and left out, how it sounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from soundcheck.book import pages
from soundcheck.book.model_pages import LISTED, definitions, more_items
from soundcheck.common.escaping import heading
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.common.wording import some
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measures import MEASURES
from soundcheck.corpora.sound_sample import MOST, SECONDS, Measured, measured_sounds
from soundcheck.evaluation.corpus_audit import Audit
from soundcheck.report import corpus_figures, corpus_tables, tables
from soundcheck.report import figures as drawn
from soundcheck.report.audit_views import audited
from soundcheck.report.html import Html, element, join
from soundcheck.report.measured_tables import measured_table, summary
from soundcheck.report.players import player, row
from soundcheck.results.record import CorpusRecord

GROUPS = ("sex", "accent", "language")  # by which what was measured is shown, beside those of the suite
SOUNDS = ("level", "signal_to_noise", "bandwidth")  # that are measured of every corpus, at least on a sample
ALIKE = 3  # items that are named of those that are left out for the same reason
EXAMPLES = 4  # segments of a corpus to listen to


def cells(
    about: CorpusRecord,
    corpus: Corpus,
    tasks: Mapping[str, Task],
    media: MediaStore,
    cache: Path,
    found: Audit | None = None,
) -> list[dict]:
    """Make the page of a corpus.

    Parameters
    ----------
    about, corpus
        The corpus, as it was recorded and as it was loaded.
    tasks
        Of the suite; labels of each are drawn.
    media
        Where figures and sounds go.
    cache
        Keeps what is measured for this page.
    found
        The audit of the corpus; ``None`` for sentences that Soundcheck itself made.
    """
    segments = corpus.segments
    sounds = measured_sounds(corpus, SOUNDS, cache)
    facts = corpus_tables.facts_of(segments, corpus.formats, sounds, corpus.entry.audio)
    facts += [
        (
            "left out",
            f"{corpus_tables.many(len(about.left_out), 'item')}, listed below"
            if about.left_out
            else "nothing",
        ),
        ("source", f"{about.format}, digest of all sounds {about.digest[:16]}"),
    ]
    notices = (*about.unlabelled, *about.notices)
    return [
        pages.markdown(f"# Corpus {heading(about.name)}"),
        pages.output(tables.synthetic_notice(about.synthetic)),
        *([pages.output(tables.caveats_notice(corpus.caveats))] if corpus.caveats else []),
        pages.output(join([definitions(facts), _description(corpus)])),
        *_section("What to know", tables.notes(notices) if notices else Html()),
        *_pictures(corpus, sounds, media),
        *_audit(corpus, found),
        *_section("Files", _files(corpus)),
        *_section("Who speaks", corpus_tables.value_table(segments, _columns(corpus))),
        *_measured(corpus, found is not None),
        *_labels(corpus, tasks, media),
        *_section("Listen", _examples(corpus, media) if corpus.entry.audio else Html()),
        *_left_out(about),
    ]


def _section(title: str, shown: Html) -> list[dict]:
    """Make a section, unless there is nothing in it."""
    return [pages.markdown(f"## {title}"), pages.output(shown)] if str(shown) else []


def _description(corpus: Corpus) -> Html:
    return element("p", corpus.description, limit=None) if corpus.description else Html()


def _columns(corpus: Corpus) -> list[str]:
    """Name the columns whose values are people or circumstances, not labels."""
    return list(dict.fromkeys((*corpus_tables.COLUMNS, *corpus.groups)))


def _pictures(corpus: Corpus, sounds: Mapping[str, Measured], media: MediaStore) -> Iterator[dict]:
    found = [
        corpus_figures.recordings(corpus.segments, sounds),
        corpus_figures.speakers(corpus.segments, _columns(corpus)),
    ]
    if not any(found):
        return
    yield pages.markdown("## At a glance")
    sampled = [name for name, one in sounds.items() if not one.whole]
    if sampled:
        count = sounds[sampled[0]].asked
        names = [MEASURES[name].title for name in sampled]
        what = " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))).capitalize()
        words = (
            f"{what}: of {count:,} {'segment' if count == 1 else 'segments'}, drawn by content, at most "
            f"{MOST} and {SECONDS / 60:.0f} minutes of sound. No test needed to know more."
        )
        yield pages.output(element("p", words))
    yield pages.output(join(drawn.show(media, *one) for one in found if one))


def _audit(corpus: Corpus, found: Audit | None) -> Iterator[dict]:
    """Say whether the corpus itself may be the explanation."""
    if found is None:
        return
    yield pages.markdown(
        "## Audit\n\nMay the corpus itself be the explanation for what a model does? Groups are compared in "
        "how they were recorded and labelled, and copies are looked for: see "
        "[measured columns](../measured_columns.md). A difference is named if it is significant among all "
        "that were looked at, and large enough to be noticed."
    )
    known = ", because the table names no speakers" if found.block == "file" else ""
    words = f"Resampled and permuted: {corpus_tables.many(found.blocks, found.block)}{known}."
    rests = element("p", words, class_="sc-note", limit=None)
    yield pages.output(audited(found, corpus.entry.audio) + rests)


def _files(corpus: Corpus) -> Html:
    if not corpus.formats:
        return Html()
    told = tables.notes(corpus_tables.heard_as(corpus.formats))
    return join([corpus_tables.format_table(corpus.formats), told])


def _measured(corpus: Corpus, has_audit: bool) -> Iterator[dict]:
    """Show what was measured on the sounds, by the groups that the corpus has."""
    if not corpus.entry.audio:
        return
    named = [name for name in (*GROUPS, *corpus.groups) if name in corpus.segments.columns]
    groups = list(dict.fromkeys(named))
    proof = ": see [Audit](#audit)" if has_audit else ""
    yield pages.markdown(
        "## What was measured\n\nWhat the sounds themselves say, for all segments and by group: see "
        "[measured columns](../measured_columns.md). The ranges describe segments; they are no confidence "
        f"intervals, and with few speakers groups differ because these speakers do{proof}."
    )
    caption = "Median of the segments, and below it where the middle 90 % of them lie"
    yield pages.output(measured_table(summary(corpus.segments, groups), caption))


def _labels(corpus: Corpus, tasks: Mapping[str, Task], media: MediaStore) -> list[dict]:
    segments = corpus.segments
    labelled = {
        name: segments[name]
        for name, task in tasks.items()
        if task.is_labelled and name in segments.columns and segments[name].notna().any()
    }
    if not labelled:
        return []
    classes: dict[str, Sequence[str]] = {
        name: tasks[name].classes for name in labelled if not tasks[name].is_regression
    }
    figure = drawn.label_distribution(labelled, classes)
    counts = ", ".join(f"{name} {int(values.notna().sum()):,}" for name, values in labelled.items())
    words = element("p", f"Segments with a label, of {len(segments):,}: {counts}.", limit=None)
    return _section("Labels", words + drawn.show(media, figure, "How many segments have which label"))


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


def _left_out(about: CorpusRecord) -> list[dict]:
    if not about.left_out:
        return []
    alike: dict[tuple[str, str], list[str]] = {}
    for item in about.left_out:
        alike.setdefault((item.stage, item.reason), []).append(item.item)
    rows = [[some(names, ALIKE), *why] for why, names in alike.items()]
    shown = tables.table(rows[:LISTED], ["item", "stage", "reason"])
    return _section("Left out", join([shown, more_items(len(rows))]))
