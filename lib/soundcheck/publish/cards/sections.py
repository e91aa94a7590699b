"""The sections of a card in Markdown: what the model is for, how it was tested, what fails, what few show.

Each function writes one section of the card of one model; :func:`sections` puts all of them together. Every
number stands with its interval and its counts, and is linked to its page if the book is published.
"""

from __future__ import annotations

from collections import Counter

from soundcheck.common.wording import counted, duration
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.evidence import figure_table, sentences
from soundcheck.publish.cards.groups import groups
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import bullets, inline, link, paragraphs, table
from soundcheck.report.inconclusive import columns, inconclusive
from soundcheck.report.key_figures import (
    standing_notes,
)
from soundcheck.results.page_names import corpus_page
from soundcheck.results.states import STATES
from soundcheck.results.summary import headline, tally
from soundcheck.results.table import is_older
from soundcheck.suite.card import FIELDS

MOST = 30  # rows of a table; all are in the results
_PROSE = ("intended_use", "training_data", "limitations")


def sections(facts: ModelFacts, context: CardContext) -> str:
    """Write all sections, each under a heading of the second level."""
    written = {
        "What it is for": purpose,
        "How it was tested": tested,
        "How good it is": figure_table,
        "What fails": failing,
        "Too few speakers to generalise: what these speakers show": few,
        "What could not be concluded": inconclusive_tests,
        "Groups": groups,
        "Limits of these tests": limits,
        "How to reproduce": reproduction,
    }
    return "\n\n".join(f"## {title}\n\n{write(facts, context)}" for title, write in written.items())


def purpose(facts: ModelFacts, context: CardContext) -> str:
    """Write what people said about the model, and what they did not."""
    parts = [paragraphs(facts.model.description)] if facts.model.description else []
    card = context.card
    for name in _PROSE:
        if getattr(card, name):
            parts.append(f"**{FIELDS[name].capitalize()}.** {paragraphs(getattr(card, name))}")
    short = {name: getattr(card, name) for name in FIELDS if name not in _PROSE and getattr(card, name)}
    if short:
        told = {name: ", ".join(text) if isinstance(text, tuple) else text for name, text in short.items()}
        parts.append(bullets(f"{FIELDS[name].capitalize()}: {inline(text)}" for name, text in told.items()))
    if context.card.missing:
        parts.append(f"Not stated by those who made this card: {', '.join(context.card.missing)}.")
    return "\n\n".join(parts)


def tested(facts: ModelFacts, context: CardContext) -> str:
    """Write on which data and with which families it was tested."""
    left = len(facts.uncounted)
    about = (
        f"Tested with Soundcheck {inline(facts.record.version)} by whoever ran the suite "
        f"“{inline(facts.record.title)}”; no one else has verified these results. "
        f"Families of tests: {len(facts.families)}. Their tests: {tally(facts.counted)}"
        + (f"; {left:,} not counted, because the model is no better than chance there." if left else ".")
    )
    rows = []
    for corpus in facts.corpora:
        shown = inline(corpus.title or corpus.name)
        rows.append(
            [
                link(shown, context.link(f"{corpus_page(corpus.slug)}.html")),
                f"{corpus.segments:,}",
                f"{corpus.speakers:,}" if corpus.speakers else "not known",
                duration(corpus.seconds) if corpus.seconds else "no audio",
                "synthetic" if corpus.synthetic else "as recorded",
                f"{len(corpus.unused):,}",
            ]
        )
    data = table(["corpus", "segments", "speakers", "length", "speech", "left out"], rows, (1, 2, 5))
    warning = (
        ["**Some of the speech is synthetic:** made by a machine, so that results say little about people."]
        if facts.synthetic
        else []
    )
    return "\n\n".join([about, *warning, data, "By family:", _families(facts, context)])


def _families(facts: ModelFacts, context: CardContext) -> str:
    rows = []
    for family, _ in facts.families:
        found = tally(facts.counted[facts.counted["family"].eq(family.name)]).values()
        left = int(facts.uncounted["family"].eq(family.name).sum())
        title = link(inline(family.title), context.link(facts.page(family.name)))
        rows.append([title, inline(family.question), *(f"{count:,}" for count in (*found, left))])
    return table(["family", "question", *STATES, "not counted"], rows, range(2, 8))


def failing(facts: ModelFacts, context: CardContext) -> str:
    """Write the failures, the largest first."""
    parts = [f"{headline(facts.counted)}."]
    if len(facts.failing):
        parts.append(bullets(sentences(facts, context, facts.failing, MOST)))
    if len(facts.uncounted):
        parts.append(
            f"Not counted here: {counted(len(facts.uncounted), 'test')} of fairness and robustness at tasks "
            "at which the model is no better than chance, so that they mean nothing."
        )
    return "\n\n".join(parts)


def few(facts: ModelFacts, context: CardContext) -> str:
    """Write which differences these speakers show, where they are too few to say anything about others."""
    if is_older(facts.rows):
        return "Not known: the results are of an earlier version, which kept no intervals for these speakers."
    if facts.few.empty:
        return "Every difference has enough speakers, or no value."
    return bullets(sentences(facts, context, facts.few, MOST))


def inconclusive_tests(facts: ModelFacts, context: CardContext) -> str:
    """Write what the data do not decide, by family."""
    if facts.inconclusive.empty:
        return "No test that counts is inconclusive."
    rows = []
    for one in inconclusive(facts.record, facts.inconclusive):
        title = link(inline(one.title), context.link(facts.page(one.family)))
        rows.append([title, *map(inline, one.cells)])
    about = "An inconclusive test is no pass: what its interval contains is not excluded."
    return f"{about}\n\n{table(columns(facts.record, facts.inconclusive), rows, (1, 3))}"


def limits(facts: ModelFacts, context: CardContext) -> str:
    """Write what was not tested, did not answer or has to be read with care."""
    model = facts.model
    items = [f"{inline(str(caveat), 500)}." for caveat in facts.caveats]
    items += [inline(note[:1].upper() + note[1:], 500) for note in model.notes]
    standing = standing_notes(facts.record.figures, model.name, model.tasks)
    items += [f"The model is {inline(note, 500)}." for note in standing]
    items += [
        f"The notebook of {inline(name)} did not come to its end: its tests are missing."
        for name in facts.failed
    ]
    for corpus in facts.corpora:
        name = inline(corpus.name)
        told = [*corpus.notices, *corpus.unlabelled]
        told += [f"{len(corpus.unused):,} items were left out"] if corpus.unused else []
        items += [f"Corpus {name}: {inline(note, 500)}." for note in told]
    reasons = Counter(facts.not_evaluated["skipped"])
    for reason, count in reasons.most_common(MOST):
        items.append(f"{counted(count, 'test')} not evaluated: {inline(reason)}")
    if len(reasons) > MOST:
        items.append(f"{len(reasons) - MOST:,} more reasons are in the results.")
    return bullets(items) if items else "Nothing was left out, nothing failed, everything was evaluated."


def reproduction(facts: ModelFacts, context: CardContext) -> str:
    """Write with what the results were made."""
    record, model = facts.record, facts.model
    suite = str(record.suite.get("shown", "suite.yml"))
    versions = ", ".join(f"{inline(name)} {inline(version)}" for name, version in record.versions.items())
    items = [
        f"Model: {inline(model.kind)} {inline(model.target)}, fingerprint {inline(model.fingerprint)} "
        f"of {inline(model.fingerprint_of)}",
        f"Command: `soundcheck run` with the suite {inline(suite)}, whose digest begins with "
        f"{inline(str(record.suite.get('digest', ''))[:12])}",
        f"Seed {record.seed}, {record.replicates:,} replicates, {inline(record.interval)} intervals",
        f"SHA-256 of results.csv: {facts.sha256}",
        *(f"Corpus {inline(corpus.name)}: digest {inline(corpus.digest)}" for corpus in facts.corpora),
        f"Versions: {versions}",
        f"Date of this card: {context.date.isoformat()}",
    ]
    if context.book_url:
        items.append(link("All results, with listening examples", context.link("index.html")))
    return bullets(items)
