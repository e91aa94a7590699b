"""Parts of a page of evidence, as Markdown: what was tested, on whom, with which outcome, for which groups.

All tables count every test, of two groups that are one test one row. Lists of failures are cut as in
:mod:`soundcheck.publish.cards.limits`, and say so.
"""

from __future__ import annotations

import re
from urllib.parse import quote

import pandas as pd

from soundcheck.common import files
from soundcheck.common.wording import counted
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.limits import MOST, counts, cut
from soundcheck.publish.cards.measurements import note
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import bullets, inline, link, table
from soundcheck.report import key_figures
from soundcheck.results.record import FamilyRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.results.states import STATES
from soundcheck.results.states import counted as counted_rows
from soundcheck.results.summary import aspects, tally

_OUTCOMES = ["tests", *STATES]
_SENTENCE = 600  # characters


def corpora_table(facts: ModelFacts) -> str:
    """Show the data: how much of whom, what was left out, and the digest that names the very sounds."""
    head = ["corpus", "speech", "format", "segments", "speakers", "minutes", "left out", "notices", "digest"]
    rows = [
        [
            inline(corpus.name),
            "**synthetic**" if corpus.synthetic else "not said to be synthetic",
            inline(corpus.format),
            f"{corpus.segments}",
            f"{corpus.speakers or 'not known'}",
            f"{corpus.seconds / 60:.1f}",
            len(corpus.unused),
            len(corpus.notices),
            code(corpus.digest),
        ]
        for corpus in facts.corpora
    ]
    return table(head, rows, [3, 4, 5, 6, 7])


def descriptions(facts: ModelFacts) -> str:
    """Repeat what the suite says of its corpora."""
    told = [
        f"**{inline(corpus.title or corpus.name)}**: {inline(corpus.description, None)}"
        for corpus in facts.corpora
        if corpus.description
    ]
    return "\n\n".join(told)


def sounds_table(facts: ModelFacts) -> str:
    """Show what signals were changed with; empty if the run had no such sounds."""
    rows = [
        [inline(sound.kind), inline(sound.source), sound.sounds, f"{sound.seconds:.0f}", code(sound.digest)]
        for sound in facts.record.sounds
    ]
    return table(["sounds", "source", "number", "seconds", "digest"], rows, [2, 3]) if rows else ""


def threshold_table(facts: ModelFacts, context: CardContext) -> str:
    """Show what each test has to meet, by task where that differs."""
    rows = []
    for family, own in facts.families:
        shown = to_page(inline(family.title), _method(family), context)
        for test, same in own.groupby("test", sort=False):
            judged = same[same["value"].notna()]  # skipped tests of groups have the rule of the file
            by_rule = (judged if len(judged) else same).groupby("rule", sort=False)
            has_to = dict.fromkeys(_has_to(some, rule) for rule, some in by_rule)
            rows.append([shown, inline(test), " or ".join(has_to)])
    return table(["family", "test", "passes the rule if (gap: the group minus its reference)"], rows)


def _has_to(rows: pd.DataFrame, rule: str) -> str:
    by_task = rows.drop_duplicates(["task", "threshold"])
    found = by_task["threshold"].dropna().unique()
    if not len(found):
        return "no threshold"
    if len(found) == 1 and by_task["threshold"].notna().all():
        return inline(f"{rule} {found[0]:g}", None)
    told = [
        f"{rule} {row.threshold:g} ({row.task})"
        for row in by_task.itertuples()
        if row.threshold == row.threshold
    ]
    return inline(", ".join(told), None)


def measure_table(facts: ModelFacts, context: CardContext) -> str:
    """Show what each test measures; how, and where its thresholds come from, is on the method page."""
    rows = []
    for family, own in facts.families:
        shown = to_page(inline(family.title), _method(family), context)
        rows.append([f"**{shown}**", inline(family.question or "–")])
        notes = {test: note(family, test) for test in own["test"].unique()}
        rows += [[inline(test), inline(note, None)] for test, note in notes.items() if note]
    return table(["family or test", "what it asks or measures"], rows)


def figure_table(facts: ModelFacts, context: CardContext) -> str:
    """Show how good the model is at its tasks; says so if nobody knows."""
    if not facts.figures:
        return (
            "No corpus has labels for what the model predicts: **its accuracy is not known** from this run."
        )
    rows = []
    for figure in facts.figures:
        guessing = "" if figure.guessing is None else key_figures.value(figure, figure.guessing)
        remark = key_figures.EXPLAINED.get(figure.standing, "")
        if figure.threshold is not None:
            remark = f"at the threshold {key_figures.significant(figure.threshold, 3)}"
        rows.append(
            [
                inline(figure.task),
                inline(figure.corpus),
                to_page(inline(figure.measure), facts.page(), context),
                key_figures.value(figure) or f"none: {inline(figure.reason)}",
                key_figures.interval(figure) or inline(figure.reason or "none"),
                key_figures.sample_interval(figure),
                guessing,
                figure.segments,
                inline(counted(figure.blocks, figure.block)),
                remark,
            ]
        )
    head = [
        "task",
        "corpus",
        "measure",
        "value",
        "95 % interval",
        "for these speakers",
        "chance",
        "segments or trials",
        "rests on",
    ]
    return table([*head, "that is"], rows, [3, 6, 7])


def outcome(facts: ModelFacts, aspect: str) -> str:
    """Say in a sentence what became of the tests of an aspect, and at which tasks they mean nothing."""
    own = facts.rows[aspects(facts.rows).eq(aspect)]
    if own.empty:
        return f"The run has no tests of {aspect} for this model."
    no_better = own.loc[own["standing"].eq(HOLLOW), "task"].unique()
    told = f"{counts(own, aspect)}."
    if len(no_better):
        names = ", ".join(map(inline, no_better))
        told += f" The model is no better than chance at {names}: these tests mean nothing there."
    return told


def family_table(facts: ModelFacts, context: CardContext, aspect: str) -> str:
    """Count the tests of an aspect by family and outcome."""
    rows = []
    for family, own in facts.families:
        own = own[aspects(own).eq(aspect)]
        if len(own):
            shown = to_page(inline(family.title), facts.page(family.name), context)
            rows.append([shown, *_outcomes(own)])
    return table(["family", *_OUTCOMES], rows, range(1, 7)) if rows else ""


def _outcomes(rows: pd.DataFrame) -> list[int]:
    return [len(counted_rows(rows)), *tally(rows).values()]


def failure_list(facts: ModelFacts, context: CardContext, aspect: str) -> str:
    """List the failures of an aspect, then what few speakers show, where the model is better than chance."""
    of_all = facts.rows[aspects(facts.rows).eq(aspect)]
    where = ", at tasks where it is better than chance" if of_all["standing"].eq(HOLLOW).any() else ""
    titles = {
        "Failures": facts.failing,
        "Too few speakers to generalise; what these speakers show": facts.few,
    }
    parts = []
    for title, rows in titles.items():
        told = sentences(facts, context, rows[aspects(rows).eq(aspect)])
        parts += [f"{title}{where}:\n\n{bullets(told)}"] if told else []
    return "\n\n".join(parts)


def sentences(facts: ModelFacts, context: CardContext, rows: pd.DataFrame, most: int = MOST) -> list[str]:
    """Write what the first rows say, whether the suite accepts the failure, and where the book shows it."""
    told = []
    for row in rows.itertuples():
        where = f"{inline(row.corpus)}: " if len(facts.corpora) > 1 else ""
        text = f"{where}{inline(facts.sentence(row), _SENTENCE)}"
        text += f"; the suite accepts it: {inline(row.accepted)}" if row.accepted else ""
        page = to_page("page", facts.page(row.family), context)
        told.append(f"{text} ({page})" if context.book_url else text)
    return cut(told, most)


def to_page(shown: str, page: str, context: CardContext) -> str:
    """Link Markdown to a page of the book; the text alone if the book is not published."""
    return link(shown, context.link(quote(page)))


def code(text: str) -> str:
    """Show a digest or a name of hexadecimal digits; ``none`` if it is empty."""
    kept = re.sub(r"[^A-Za-z0-9.:-]", "", text)
    return f"`{kept}`" if kept else "none"


def _method(family: FamilyRecord) -> str:
    return f"methods/{files.slug(family.name)}.html"


def skipped_table(facts: ModelFacts) -> str:
    """Count why tests were not evaluated; empty if all were."""
    found = facts.not_evaluated["skipped"].value_counts()
    shown = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    rows = [[inline(reason), number] for reason, number in shown[:20]]
    rest = sum(number for _, number in shown[20:])
    rows += [[f"{len(shown) - 20} other reasons, see results.csv", rest]] if rest else []
    return table(["reason", "tests"], rows, [1]) if rows else ""
