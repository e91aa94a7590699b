"""The page of a corpus: what is in it, what is wrong with it, how it sounds; tables of groups and files."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from soundcheck.book import pages
from soundcheck.common.escaping import heading
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.common.templates import html
from soundcheck.common.wording import some
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measured import SAMPLE_SECONDS, SAMPLE_SOUNDS, measured_sounds
from soundcheck.corpora.measures import MEASURES
from soundcheck.evaluation.corpus_audit import Audit
from soundcheck.report import corpus_views, notices, style
from soundcheck.report.corpus_views import audited
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.players import player, row
from soundcheck.report.views import table
from soundcheck.results.record import CorpusRecord

SOUNDS = ("level", "signal_to_noise", "bandwidth")  # that are measured of every corpus, at least on a sample
ALIKE = 3  # items that are named of those that are left out for the same reason
LISTED = 20
EXAMPLES = 4  # segments of a corpus to listen to


def cells(
    about: CorpusRecord,
    corpus: Corpus,
    tasks: Mapping[str, Task],
    media: MediaStore,
    cache: Path,
    audit_: Audit | None = None,
) -> list[dict]:
    """Make the page of a corpus, as it was recorded and as it was loaded.

    ``cache`` keeps what is measured for this page; there is no audit of sentences that Soundcheck made.
    """
    listens, count = corpus.entry.audio, len(about.left_out)
    facts = corpus_views.facts_of(corpus.segments, corpus.formats, tasks, listens)
    facts["left out"] = f"{corpus_views.many(count, 'item')}, listed below" if count else "nothing"
    facts["source"] = f"{about.format}, digest of all sounds {about.digest[:16]}"
    top = [
        notices.synthetic_notice(about.synthetic),
        notices.caveats_notice(corpus.caveats),
        html("facts", facts=facts),
        notices.notes([*about.unlabelled, *about.notices]),
    ]
    sections = {
        "Audit": _audit(audit_, listens) if audit_ else Html(),
        "At a glance": join(_pictures(corpus, tasks, cache, media)),
        "Segments to listen to": _examples(corpus, media) if listens else Html(),
        "Details": join(_details(about, corpus)),
    }
    title = pages.markdown(f"# Corpus {heading(about.name)}")
    return [title, pages.output(join(top)), *pages.sections(sections)]


def _columns(corpus: Corpus) -> list[str]:
    """Name the columns whose values are people or circumstances, not labels."""
    columns = dict.fromkeys((*corpus_views.COLUMNS, *corpus.groups))
    return [name for name in columns if name in corpus.segments and corpus.segments[name].notna().any()]


def _audit(audit_: Audit, listens: bool) -> Html:
    """Say whether the corpus itself may be the explanation of what a model does."""
    known = ", because the table names no speakers" if audit_.block == "file" else ""
    units = corpus_views.many(audit_.blocks, audit_.block)
    note = (
        "Groups are compared in how they were recorded and labelled; a difference is named if it is "
        f"significant among all that were compared, and noticeable. Resampled and permuted: {units}{known}."
    )
    return audited(audit_, listens) + element("p", note, class_="sc-note", limit=None)


def _pictures(corpus: Corpus, tasks: Mapping[str, Task], cache: Path, media: MediaStore) -> Iterator[Html]:
    sounds = measured_sounds(corpus, SOUNDS, cache)
    if drawn := corpus_views.pictures(corpus.segments, _columns(corpus), tasks, sounds):
        yield style.show(media, *drawn)
    if sampled := [name for name, one in sounds.items() if not one.whole]:
        names = ", ".join(MEASURES[name].title for name in sampled).capitalize()
        count = corpus_views.many(sounds[sampled[0]].asked, "segment")
        limits = f"at most {SAMPLE_SOUNDS} and {SAMPLE_SECONDS / 60:.0f} minutes"
        yield element("p", f"{names}: of {count} drawn by content, {limits}.", class_="sc-note", limit=None)


def _details(about: CorpusRecord, corpus: Corpus) -> Iterator[Html]:
    if corpus.description:
        yield folded("Description", [element("p", corpus.description, limit=None)])
    summary = corpus_views.summary(corpus.segments, _columns(corpus))
    caption = "Median of the segments, and below it where the middle 90 % of them lie"
    yield folded("Groups, and what was measured", [corpus_views.group_table(summary, caption)])
    if corpus.formats:
        yield folded("Files", [corpus_views.format_table(corpus.formats)])
    if about.left_out:
        items = pd.DataFrame(about.left_out).groupby(["stage", "reason"], sort=False)["item"].agg(list)
        columns = {"item": lambda row: some(row.item, ALIKE), "stage": "stage", "reason": "reason"}
        yield folded("Left out", [table(items.reset_index(), columns, first=LISTED)])


def _examples(corpus: Corpus, media: MediaStore) -> Html:
    """Play a few segments, spread evenly over the corpus."""
    step = max(1, len(corpus.segments) // EXAMPLES)
    players = []
    for segment in corpus.segments.iloc[step // 2 :: step].head(EXAMPLES).to_dict("records"):
        signal = audio.read(corpus.root / segment["file"], segment["start"], segment["end"])
        about = (segment.get(name) for name in ("speaker", "sex", "language", "emotion", "transcript"))
        caption = ", ".join(text for text in about if isinstance(text, str) and text)
        players.append(player(media, signal, audio.SAMPLING_RATE, segment["file"], caption=caption))
    return row(players)
