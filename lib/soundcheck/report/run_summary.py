"""What a run says of a model in words: how good it is, for whom worse, what breaks it."""

from collections.abc import Iterator
from typing import NamedTuple

from soundcheck.common.wording import counted, some
from soundcheck.report import failures
from soundcheck.report.key_figures import sentence as figure_in_words
from soundcheck.report.key_figures import standing_notes
from soundcheck.report.names import label
from soundcheck.results.facts import ModelFacts, counts, first, headline
from soundcheck.results.states import FAIL, FAIRNESS, INCONCLUSIVE, NOT_EVALUATED, PASS, ROBUSTNESS, aspects

MOST_ALSO = 2  # further groups that are named
MOST_FEW = 3  # differences with too few speakers that are named
NOT_TESTED = "not tested"


class Brief(NamedTuple):
    """A fact in a few words: for whom or under which change, and what; only what fails is named first."""

    state: str
    about: str
    says: str
    also: str = ""  # others of which the same is true

    def __str__(self) -> str:
        return f"{self.about}: {self.says}" if self.about else self.says


def for_groups(facts: ModelFacts) -> Brief:
    """Say for which group a model is worse, or the largest difference that shows nothing."""
    if (row := first(facts.groups)) is not None:
        groups = facts.groups[facts.groups["side"].eq(row.side)]
        who, *more = dict.fromkeys(map(failures.people, groups["group"]))
        return Brief(FAIL, who, f"{'' if row.side else 'differs: '}{_both(row)}", some(more, MOST_ALSO))
    if (row := facts.largest_difference) is None:
        return Brief(NOT_EVALUATED, "", _why_not(facts, FAIRNESS))
    if failures.few(row):
        state = "too few speakers to generalise"
    else:
        state = "within the margin" if row.state == PASS else row.state
    who = failures.people(row.group)
    return Brief(
        row.state, "", f"no group shown to be worse; largest difference: {who}, {_both(row)}, {state}"
    )


def under_changes(facts: ModelFacts) -> Brief:
    """Say under which change of the signal a model fails by most, or comes nearest to."""
    row = facts.worst_condition
    if row is None:
        return Brief(NOT_EVALUATED, "", _why_not(facts, ROBUSTNESS))
    about = failures.condition(row)
    if failures.change_of_quality(row) and row.after == row.after:
        measured, says = failures.before_and_after(row)
        says = f"{measured} {says.removesuffix(f' under {about}')}"
    else:
        named = failures.measured(row, False).removesuffix(f" under {about}")
        says = f"{named} {failures.amount(row, row.value)}, {failures.limit(row)}"
    if row.state == FAIL:
        return Brief(FAIL, about, says)
    state = "within its limit" if row.state == PASS else row.state
    return Brief(row.state, "", f"no change shown to break it; nearest: {about}, {says}, {state}")


def _both(row: object) -> str:
    """Write the values of a group and of those that it is compared with."""
    other = failures.others(row).removeprefix("the ")
    values = failures.amount(row, row.group_value), failures.amount(row, row.others_value)
    return f"{failures.measured(row)} {values[0]}, {other} {values[1]}"


def _why_not(facts: ModelFacts, aspect: str) -> str:
    """Say why nothing is known of groups or changes: not counted, not evaluated or not tested."""
    if aspects(facts.uncounted).eq(aspect).any():
        return "not counted: no better than chance"
    rows = facts.not_evaluated
    reasons = rows.loc[aspects(rows).eq(aspect), "skipped"]
    return f"not evaluated: {label(reasons.mode().iloc[0])}" if len(reasons) else NOT_TESTED


def standing_notes_in_short(facts: ModelFacts) -> list[str]:
    """Say at which tasks a model is not better than chance."""
    if facts.random:
        return []
    notes = standing_notes(facts.record.figures, facts.model.name, facts.model.tasks)
    return [note.partition(":")[0] for note in notes]


def summary_lines(facts: ModelFacts) -> Iterator[str]:
    """Sum up the results of a model for the terminal."""
    name = f"{facts.model.name} (random reference)" if facts.random else facts.model.name
    yield f"{name}: {facts.counts}"
    several = len({figure.corpus for figure in facts.figures}) > 1
    for figure in facts.figures:
        yield f"  {figure_in_words(figure, corpus=several)}"
    if facts.random:
        return
    for note in standing_notes_in_short(facts):
        left = facts.uncounted[facts.uncounted["task"].eq(note.partition(" at ")[2])]
        uncounted = f": its tests of fairness and robustness are not counted ({counts(left)})"
        yield f"  {note}" + (uncounted if len(left) else "")
    if not facts.counts[PASS] + facts.counts[FAIL]:
        yield f"  {headline(facts.counted)}"
    for words, brief in (("worse for", for_groups(facts)), ("breaks under", under_changes(facts))):
        if brief.state == FAIL:
            yield f"  {words} {brief}"
        elif brief.state in (PASS, INCONCLUSIVE) and facts.few.empty:
            yield f"  {brief.says}"
    if len(facts.few):
        yield "  Too few speakers to generalise; what these speakers show:"
    for row in facts.few.head(MOST_FEW).itertuples():
        where = f"{row.corpus}: " if several else ""
        yield f"    {where}{failures.sentence(row, facts.record.block_of(row.corpus))}"
    if len(facts.few) > MOST_FEW:
        yield f"    and {counted(len(facts.few) - MOST_FEW, 'more difference')}"
