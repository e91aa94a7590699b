"""The sections of a card in Markdown: what the model is for, how it was tested, what holds, what is open.

Each function writes one section of the card of one model; :func:`sections` puts all of them together. Every
number stands with its interval and its counts, and is linked to its page if the book is published.
"""

from __future__ import annotations

from collections import Counter

from soundcheck.common.wording import counted, duration
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.groups import groups
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import bullets, inline, link, paragraphs, table
from soundcheck.report import failures, tables
from soundcheck.report.key_figures import EXPLAINED, interval, significant, standing_notes, value
from soundcheck.results import tally
from soundcheck.results.page_names import corpus_page
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.suite.card import FIELDS

MOST = 30  # rows of a table; all are in the results
_PROSE = ("intended_use", "training_data", "limitations")


def sections(facts: ModelFacts, context: CardContext) -> str:
    """Write all sections, each under a heading of the second level."""
    written = {
        "What it is for": purpose,
        "How it was tested": tested,
        "How good it is": figures,
        "What holds": holding,
        "What could not be concluded": undecided,
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
    if context.missing:
        parts.append(f"Not stated by those who made this card: {', '.join(context.missing)}.")
    return "\n\n".join(parts)


def tested(facts: ModelFacts, context: CardContext) -> str:
    """Write on which data and with which families it was tested."""
    total, skipped = tally(facts.counted), facts.tally.skipped
    hollow = len(facts.hollow)
    about = (
        f"Tested with Soundcheck {inline(facts.record.version)} by whoever ran the suite "
        f"“{inline(facts.record.title)}”; no one else has verified these results. "
        f"Families of tests: {len(facts.families)}. Their {len(facts.rows):,} tests: "
        f"{total.clear_pass:,} clear passes, {total.holds:,} failures that hold, "
        f"{total.open:,} open, {skipped:,} skipped"
        + (f", {total.shown:,} shown without verdict" if total.shown else "")
        + (
            f", {hollow:,} not counted, because the model is not better than guessing there."
            if hollow
            else "."
        )
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
    for family, own in facts.families:
        found, skipped = tally(facts.counted[facts.counted["family"].eq(family.name)]), tally(own).skipped
        hollow = int(facts.hollow["family"].eq(family.name).sum())
        title = link(inline(family.title), context.link(facts.page(family.name)))
        counts = (found.clear_pass, found.holds, found.open, skipped, found.shown + hollow)
        rows.append([title, inline(family.question), *(f"{count:,}" for count in counts)])
    head = ["family", "question", "clear passes", "failures that hold", "open", "skipped", "not counted"]
    return table(head, rows, (2, 3, 4, 5, 6))


def figures(facts: ModelFacts, context: CardContext) -> str:
    """Write the key figures."""
    if not facts.figures:
        return "No corpus has labels for what it predicts, so there is no number for that."
    rows = []
    page = context.link(facts.page())
    for figure in facts.figures:
        told = EXPLAINED.get(figure.standing, "")
        if figure.threshold is not None:
            told = f"at the threshold {significant(figure.threshold, 3)}"
        rows.append(
            [
                inline(figure.task),
                inline(figure.corpus),
                inline(figure.measure),
                link(value(figure), page) if figure.value is not None else "none",
                interval(figure) or f"none: {inline(figure.reason)}",
                "" if figure.guessing is None else value(figure, figure.guessing),
                f"{figure.segments:,}",
                counted(figure.blocks, figure.block),
                told,
            ]
        )
    head = ["task", "corpus", "measure", "value", "95 % interval", "guessing", "segments or trials"]
    return table([*head, "rests on", "that is"], rows, (3, 5, 6))


def holding(facts: ModelFacts, context: CardContext) -> str:
    """Write the failures that hold, the gravest first."""
    found = facts.holding
    hollow = len(facts.hollow)
    notes = []
    if hollow:
        notes = [
            f"Not counted here: {counted(hollow, 'test')} of fairness and robustness at tasks at which "
            "the model is not better than guessing, so that they mean nothing."
        ]
    if found.empty:
        told = "No failure holds. What is open may still hide one: see the next section."
        return "\n\n".join([told, *notes])
    titles = {family.name: family.title for family, _ in facts.families}
    several = len(facts.corpora) > 1
    rows = []
    told = found[~failures.mirrored(found)]
    for row in told.head(MOST).itertuples():
        title = link(inline(titles.get(row.family, row.family)), context.link(facts.page(row.family)))
        where = f"{inline(row.corpus)}: " if several else ""
        excuse = f" (accepted: {inline(row.accepted)})" if row.accepted else ""
        rows.append([title, f"{where}{inline(facts.sentence(row), 500)}{excuse}", f"{row.segments:,}"])
    left = len(found) - len(rows)
    mirrored = len(found) - len(told)
    same = f", {mirrored:,} of them the other side of two groups" if mirrored else ""
    more = [f"{left:,} more that hold are in the results{same}."] if left else []
    about = (
        f"{len(found):,} of {tally(facts.counted).judged:,} judged tests fail, and still do when it is "
        "accounted for how many tests there are (false discovery rate 5 %)."
    )
    return "\n\n".join([about, table(["family", "failure", "segments"], rows, (2,)), *more, *notes])


def undecided(facts: ModelFacts, context: CardContext) -> str:
    """Write what the data do not settle."""
    rows = []
    for family, _ in facts.families:
        own = facts.undecided[facts.undecided["family"].eq(family.name)]
        if own.empty:
            continue
        size = own["bound"].abs() - own["matters"]
        worst = own.loc[size.idxmax()] if size.notna().any() else None
        hides = ""
        if worst is not None:
            blocks = counted(int(worst["blocks"]), failures.blocks_of(facts.record, worst["corpus"]))
            name = tables.row_name(worst, worst["task"])
            hides = f"{significant(abs(worst['bound']))}: {inline(name)} ({blocks})"
        few = int((own["blocks"] < LEAST_BLOCKS).sum())
        title = link(inline(family.title), context.link(facts.page(family.name)))
        rows.append([title, f"{len(own):,}", hides, f"{few:,}"])
    if not rows:
        return "Nothing is open: each test that counts is a clear pass or a failure that holds."
    told = "An open test is no pass: the data do not settle it, and what its interval allows may be there."
    head = [
        "family",
        "open tests",
        "difference of a group that may hide",
        f"with fewer than {LEAST_BLOCKS} blocks",
    ]
    return f"{told}\n\n{table(head, rows, (1, 3))}"


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
    reasons = Counter(facts.skipped["skipped"])
    for reason, count in reasons.most_common(MOST):
        items.append(f"{counted(count, 'test')} skipped: {inline(reason)}")
    if len(reasons) > MOST:
        items.append(f"{len(reasons) - MOST:,} more reasons are in the results.")
    return bullets(items) if items else "Nothing was left out, nothing failed, nothing was skipped."


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
