"""Results in words, the same in terminal, book, cards and sheets: rows, and what a run says of a model."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from soundcheck.common.messages import counted, some
from soundcheck.corpora.columns import MEASURES
from soundcheck.report import key_figures
from soundcheck.report.formats import in_words, label, rule, significant
from soundcheck.report.key_figures import PER_CENT, RATES, written
from soundcheck.results import states
from soundcheck.results.facts import ModelFacts, counts, first, headline
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import NOT_ADJUSTED, OTHERS
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_RULES, one_sided
from soundcheck.suite.families import measure_of

PEOPLE = ("sex", "accent")  # columns whose values go before "speakers"
SINGLE = ("transcript", "embedding")  # tasks whose measures need no name of a task
SEARCHED = "Groups Served Worse"  # the test whose value counts groups, which its remark names
CLASS, *PARTS = " Per Class", " Per Bin", " Per Mark"  # ends of names of tests of a part
UNDER = "Percentage Unchanged Predictions"  # tests whose name ends with the change
UNPROVEN = ", not significant among all tests"
MOST_TIMES = 10  # as many speakers; a larger planning figure is not shown as a number
# Adjusted over plain difference: below the first most of it is explained, from the second on it remains.
EXPLAINED, REMAINS = 1 / 3, 2 / 3
MOST_ALSO = 2  # further groups that are named
FEW_TITLE = "Too few speakers to generalise: what these speakers show"
MOST_FEW = 3  # differences with too few speakers that are named
NOT_TESTED = "not tested"


class Finding(NamedTuple):
    """What a row says, in parts: ``{measured} of {who} is {says} ({rests}); it {limit}; {more}``."""

    who: str
    measured: str
    says: str
    rests: str
    limit: str = ""  # "has to be above 0.5", "the change has to be above −0.05"
    adjusted: str = ""

    @property
    def more(self) -> str:
        """What follows the brackets."""
        limit_ = f"it {self.limit}" if self.limit.startswith("has ") else self.limit
        return "".join(f"; {part}" for part in (limit_, self.adjusted) if part)

    def __str__(self) -> str:
        if not self.rests:
            return self.says
        about = f" of {self.who}" if self.who else ""
        return f"{self.measured}{about} is {self.says} ({self.rests}){self.more}"


def sentence(row: object, blocks: str = "speaker") -> str:
    """Write what a row of the results says; ``blocks`` is what was resampled, in the singular.

    ``word error rate of german speakers is 23 % against 4.0 % of the others (difference 19 %, 95 % 13 to
    25 %, interval beyond the margin of 5.0 %, 12 speakers)``
    """
    return str(finding(row, blocks))


def finding(row: object, blocks: str = "speaker") -> Finding:
    """Say in parts what a row says, see :func:`sentence`."""
    if row.test == SEARCHED and row.skipped:
        groups = counted(int(row.value), "group") if row.value else "no group"
        verb = "may be" if row.value and row.state != FAIL else "are" if row.value > 1 else "is"
        sure = "" if row.value else " significantly"
        task = "" if row.task in SINGLE else f" in {row.task}"
        return Finding("", "", f"{groups} {verb}{sure} worse off than the others{task}: {row.skipped}", "")
    count = counted(row.blocks, blocks)
    who, named = people(row.group), measured(row)
    if compares_groups(row) and not pd.isna(row.gap):
        bounds = (row.gap_low_sample, row.gap_high_sample) if few(row) else (row.gap_low, row.gap_high)
        whose = " for these recordings" if blocks == "file" else " for these speakers"
        ends = span(row, *bounds) + (whose if few(row) and not pd.isna(bounds[0]) else "")
        parts = [f"difference {points(row, row.gap)}", ends, count, _margin(row, *bounds)]
        says = f"{amount(row, row.group_value)} against {amount(row, row.others_value)} of {others(row)}"
        if pd.isna(row.group_value):  # of a version that kept no values of groups
            says = f"not that of {others(row)}"
        words = adjustment(row)
        adjusted = f"{words} (adjusted: {significant(row.adjusted)})" if words else ""
        return Finding(who, named, says, ", ".join(filter(None, parts)), adjusted=adjusted)
    rests = f"{span(row, row.low, row.high)}, {count}"
    if not pd.isna(getattr(row, "after", None)) and change_of_quality(row):
        rests = f"change {points(row, row.value)}, {rests}"
        return Finding(who, *before_and_after(row), rests, limit(row) and f"the change {limit(row)}")
    return Finding(who, named, amount(row, row.value), rests, limit(row))


def compares_groups(row: object) -> bool:
    """Say whether a row is about a difference between groups, and not about a value of one group."""
    return bool(row.group) and not (pd.isna(row.group_value) and pd.isna(row.matters))


def before_and_after(row: object) -> tuple[str, str]:
    """Name a measure of quality, and its value without and with the change that a row is about."""
    of = "" if row.measure in RATES else f" of {row.task}"
    before, after = (written(row.measure, number) for number in (row.before, row.after))
    return f"{row.measure}{of}", f"{before} → {after} under {condition(row)}"


def condition(row: object) -> str:
    """Name the change of the signal that a row is about."""
    return label(row.label) if row.label else in_words(row.about)


def change_of_quality(row: object) -> bool:
    """Say whether a test is about how much worse a model is under a change, and not about its answers."""
    return row.test.startswith("Change ") or row.test.endswith(" Change")


def amount(row: object, number: float) -> str:
    """Write a value of what a row measures; rates of errors in per cent, their changes in points of it.

    >>> from types import SimpleNamespace
    >>> amount(SimpleNamespace(test="Word Error Rate", family=""), 0.2345).split()
    ['23', '%']
    """
    if change_of_quality(row):
        return points(row, number)
    return f"{significant(100 * number)}{PER_CENT}" if is_rate(row) else significant(number)


def points(row: object, number: float) -> str:
    """Write a difference of values of what a row measures; of rates in points of per cent."""
    return f"{significant(100 * number)} points" if is_rate(row) else significant(number)


def is_rate(row: object) -> bool:
    """Say whether the values of a row are rates of errors, which are written in per cent."""
    change = row.test.startswith("Change Eer ") or row.test.endswith("Error Rate Change")
    return change or measure_of(row.test, row.family).rate


def limit(row: object) -> str:
    """Say what a value has to be; empty without a threshold."""
    if pd.isna(row.threshold):
        return ""
    side = {ABOVE: "above ", BELOW: "below "}.get(row.rule, "within ±")
    return f"has to be {side}{amount(row, row.threshold)}"


def few(row: object) -> bool:
    """Say whether a difference has too few speakers to generalise, or unknown ones; it is said of these."""
    return row.state == NOT_EVALUATED or (row.state == INCONCLUSIVE and row.state_sample == REPORTED)


def subject(row: object) -> str:
    """Name what a row is about, as its sentence does: ``recall of low arousal of Spanish speakers``."""
    about = f" of {people(row.group)}" if row.group else ""
    return f"{measured(row)}{about}"


def span(row: object, low: float, high: float) -> str:
    """Write an interval in the unit of a row."""
    if pd.isna(low):
        return "no interval"
    ends = (significant(100 * number if is_rate(row) else number) for number in (low, high))
    return f"95 % {' to '.join(ends)}"


def _margin(row: object, low: float, high: float) -> str:
    """Say where a difference lies beside its margin, and whether the whole interval lies there."""
    if pd.isna(row.matters):
        return ""
    size, margin = row.gap if one_sided(row.rule) else abs(row.gap), points(row, row.matters)
    if size < row.matters or few(row):
        return f"within the margin of {margin}" if row.state == PASS else f"margin {margin}"
    nearest = 0.0 if pd.isna(low) or low * high <= 0 else min(abs(low), abs(high))
    if nearest > row.matters:
        return f"interval beyond the margin of {margin}{'' if row.state == FAIL else UNPROVEN}"
    significant_ = "; that there is a difference is significant" if row.state == FAIL else ""
    return f"more than the margin of {margin}{significant_}"


def others(row: object) -> str:
    """Name whom a group is compared with: a group, or the others."""
    other = getattr(row, "other", "") or ("" if row.against in ("", OTHERS) else row.against)
    return people(f"{row.group.partition(': ')[0]}: {other}") if other else "the others"


def adjusted_for(text: str) -> str:
    """Name the columns that a row is adjusted for; ``""`` if it is not.

    >>> adjusted_for("signal_to_noise, device"), adjusted_for("none: device decides the group")
    ('signal-to-noise ratio and device', '')
    """
    names = [] if text.startswith(NOT_ADJUSTED) else [name for name in text.split(", ") if name]
    return " and ".join(MEASURES[n].title if n in MEASURES else n.replace("_", " ") for n in names)


def adjustment(row: object) -> str:
    """Say how much of a difference an adjustment explains; ``""`` if the difference itself is uncertain."""
    if pd.isna(row.adjusted) or pd.isna(row.gap) or not row.gap:
        return ""
    fails = not pd.isna(row.holds) and bool(row.holds)
    apart = not pd.isna(row.gap_low) and row.gap_low * row.gap_high > 0
    if not fails and not (apart and (pd.isna(row.matters) or abs(row.gap) >= row.matters)):
        return ""
    what, left = adjusted_for(row.adjusted_by), row.adjusted / row.gap
    if row.adjusted_low <= min(0, row.gap) and max(0, row.gap) <= row.adjusted_high:
        return f"how much of the difference is explained by the {what} is inconclusive"
    if left <= -EXPLAINED:
        return f"the difference is reversed when adjusted for {what}"
    if left >= REMAINS:
        return f"the difference remains when adjusted for {what}"
    return f"{'most' if left < EXPLAINED else 'part'} of the difference is explained by the {what}"


def both_rules(row: object) -> str:
    """Say what the rule of a threshold says where the state of a row is another; else ``""``.

    ``passes the published rule (|value| < 0.075)``
    """
    if not row.group or pd.isna(row.passed) or pd.isna(row.matters) or pd.isna(row.gap):
        return ""
    if (bool(row.passed), row.state) not in ((True, FAIL), (False, PASS)):
        return ""
    kind = "the rule" if row.rule in GAP_RULES else "the published rule"
    return f"{'passes' if row.passed else 'fails'} {kind} ({rule(row)})"


def measured(row: object, label_: bool = True) -> str:
    """Name what was measured; a difference of groups says by itself that it is one.

    Labels of classes and bins stand where people say them: ``recall of anger``, ``recall of arousal (up to
    0.25)``; ``label_`` leaves out any other.
    """
    if row.test == "Mean Value":
        return row.task
    info = measure_of(row.test, row.family)
    task = "" if row.task in SINGLE else f" of {row.task}"
    if not info.name or row.test.startswith(UNDER):
        name, under, change = in_words(row.test).partition(" under ")
        name = name.removesuffix(" difference") if row.group else name
    else:
        # Estimates have remarks in their names: concordance (balanced).
        name, under, change = row.test if " (" in row.test else info.title, "", ""
    if row.test.endswith(CLASS):
        return f"{name} of {label(row.label)}"
    if not row.label or not (label_ or row.test.endswith(tuple(PARTS)) or label(row.label) != row.label):
        return f"{name}{task}{under}{change}"
    if name.endswith(" difference"):  # from another recogniser
        return f"{name} to {label(row.label)}"
    return f"{name}{task}{under}{change} ({label(row.label)})"


def people(group: str) -> str:
    """Name a group as its members are called: ``german speakers``, ``age: young``."""
    columns, _, name = label(group).partition(": ")
    known = name and ": " not in name and {*columns.split(" × ")} <= {*PEOPLE}
    return f"{name} speakers" if known else label(group).replace("_", " ")


def planned(needed: float, now: float) -> str:
    """Write a planning figure.

    >>> planned(40, 12), planned(7851, 15), planned(float("nan"), float("nan"))
    ('about 40 in place of 12', 'more than 10 times as many', 'without interval')
    """
    if pd.isna(needed):
        return "without interval"
    if needed > MOST_TIMES * now:
        return f"more than {MOST_TIMES} times as many"
    return f"about {needed:,.0f} in place of {now:.0f}"


def noun(record: RunRecord, rows: pd.DataFrame) -> str:
    """Name what is resampled in all rows together, in the plural: ``speakers``; ``blocks`` if it differs."""
    blocks = {record.block_of(corpus) for corpus in rows["corpus"].unique()}
    return f"{blocks.pop()}s" if len(blocks) == 1 else "blocks"


class Brief(NamedTuple):
    """A fact in a few words: for whom or under which change, and what; only what fails is named first."""

    state: str
    about: str
    says: str
    also: str = ""  # others of which the same is true

    def __str__(self) -> str:
        return f"{self.about}: {self.says}" if self.about else self.says


def for_groups(facts: ModelFacts) -> Brief:
    """Say for which group a model is worse, or the largest difference that shows nothing.

    A group that loses more under a change of the sound may still be better off than the others.
    """
    if (row := first(facts.groups)) is not None:
        same = facts.groups["side"].eq(row.side) & ~facts.groups["test"].str.contains(" Change")
        who, *more = dict.fromkeys(map(people, [row.group, *facts.groups.loc[same, "group"]]))
        return Brief(FAIL, who, f"{'' if row.side else 'differs: '}{_both(row)}", some(more, MOST_ALSO))
    if (row := facts.largest_difference) is None:
        return Brief(NOT_EVALUATED, "", _why_not(facts, states.FAIRNESS))
    passing = "within the margin" if abs(row.gap) < row.matters else "better"
    state = passing if row.state == PASS else row.state
    state = "too few speakers to generalise" if few(row) else state
    none = "no group significantly worse beyond the margin"
    return Brief(row.state, "", f"{none}; largest difference: {people(row.group)}, {_both(row)}, {state}")


def under_changes(facts: ModelFacts) -> Brief:
    """Say under which change of the signal a model fails by most, or comes nearest to."""
    row = facts.worst_condition
    if row is None:
        return Brief(NOT_EVALUATED, "", _why_not(facts, states.ROBUSTNESS))
    about = condition(row)
    if change_of_quality(row) and row.after == row.after:
        quantity, says = before_and_after(row)
        says = f"{quantity} {says.removesuffix(f' under {about}')}"
    else:
        named = measured(row, False).removesuffix(f" under {about}")
        says = f"{named} {amount(row, row.value)}, {limit(row)}"
    if row.state == FAIL:
        return Brief(FAIL, about, says)
    state = "within its limit" if row.state == PASS else row.state
    return Brief(row.state, "", f"no change fails; nearest to its limit: {about}, {says}, {state}")


def _both(row: object) -> str:
    """Write the values of a group and of those that it is compared with."""
    other = others(row).removeprefix("the ")
    values = amount(row, row.group_value), amount(row, row.others_value)
    return f"{measured(row)} {values[0]}, {other} {values[1]}"


def _why_not(facts: ModelFacts, aspect: str) -> str:
    """Say why nothing is known of groups or changes: not counted, not evaluated or not tested."""
    if states.aspects(facts.uncounted).eq(aspect).any():
        return "not counted: no better than chance"
    rows = facts.not_evaluated
    reasons = rows.loc[states.aspects(rows).eq(aspect), "skipped"]
    return f"not evaluated: {label(reasons.mode().iloc[0])}" if len(reasons) else NOT_TESTED


def standing_notes_in_short(facts: ModelFacts) -> list[str]:
    """Say at which tasks a model is not better than chance."""
    if facts.random:
        return []
    notes = key_figures.standing_notes(facts.record.figures, facts.model.name, facts.model.tasks)
    return [note.partition(":")[0] for note in notes]


def summary_lines(facts: ModelFacts) -> Iterator[str]:
    """Sum up the results of a model for the terminal."""
    name = f"{facts.model.name} (random reference)" if facts.random else facts.model.name
    yield f"{name}: {facts.counts}"
    several = len({figure.corpus for figure in facts.figures}) > 1
    for figure in facts.figures:
        yield f"  {key_figures.sentence(figure, corpus=several)}"
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
        yield f"    {where}{sentence(row, facts.record.block_of(row.corpus))}"
    if len(facts.few) > MOST_FEW:
        yield f"    and {counted(len(facts.few) - MOST_FEW, 'more difference')}"
