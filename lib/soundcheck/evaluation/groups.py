"""Groups of speakers or recordings: how they are drawn, how large they are, each judged against all.

One call judges measures for every group of a column; a measure knows nothing of groups::

    tests = {"Mean Value": lambda subset, predictions: mean_value(predictions.clean)}
    counts = [GroupCount("irish", 40), GroupCount("welsh", 60)]
    judge_groups(evaluation, compared(subset, "accent", counts), tests, against=AVERAGE)

- A value is that of the group minus that of all groups, itself included, on the same replicates. *All* is
  everybody together (:data:`EVERYBODY`) or the average of the groups (:data:`AVERAGE`). Its gap is that of
  the group minus that of all others, see :mod:`soundcheck.evaluation.conclusions`.
- A trial belongs to a group if both of its speakers do.
- Every group has a value among the estimates, those that are too small to be compared without interval.
- Draws depend on the suite's seed, the family, the corpus and keys of segments or speakers. Notes say what
  was not drawn.
- Of groups that a suite names all labelled segments are used, or all that there are without labels; nothing
  is balanced, and one that is a single speaker is counted and never judged.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.corpora.columns import VOICES
from soundcheck.corpora.labels import match_languages
from soundcheck.evaluation.conclusions import GroupGap
from soundcheck.evaluation.evaluation import Evaluation, GroupCount, count_groups, group_counts
from soundcheck.evaluation.measure_sets import MeasureSet, of_suite_groups
from soundcheck.evaluation.subset import Measure, Predictions, Subset, once
from soundcheck.evaluation.trials import TRIAL_COLUMNS
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import against_all, against_average, shift, shift_difference
from soundcheck.metrics.regression import EDGES
from soundcheck.metrics.weighted import Weighted, weighted_difference
from soundcheck.statistics import balance
from soundcheck.suite.corpus_format import BOTH, numbers_of

EVERYBODY, AVERAGE = "everybody", "average"
NO_GROUPS = (
    "the suite names no groups that this corpus has; name columns under groups:, such as "
    "groups: [device, sex × accent]"
)
FEWEST_SPEAKERS = 2  # of one nobody knows whether the group differs or the speaker
_NESTED = {
    "sex": "every speaker of {} is {}: what differs may be the sex",
    "accent": "every speaker of {} has the accent {}: what differs may be the accent",
    "language": "all speech of {} has the language {}: what differs may be the language",
}


CountsOf = Callable[[Subset, str], list[GroupCount]]  # of a column


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one column in one subset."""

    subset: Subset  # rows of the groups that are compared; of trials all, which give the threshold in use
    column: str
    counts: Sequence[GroupCount]  # of all groups, and at the end of what has no value
    everything: Subset  # also rows of groups that are not compared

    @property
    def names(self) -> list[str]:
        """Groups that are compared: none, or two and more."""
        names = large(self.counts)
        return names if len(names) > 1 else []

    @property
    def masks(self) -> dict[str, np.ndarray]:
        """Rows of each group that is compared, bool ``(rows,)``."""
        return {group: self.subset.mask(self.column, group) for group in self.names}


def large(counts: Iterable[GroupCount]) -> list[str]:
    """Name the groups that lack nothing."""
    return [count.group for count in counts if not count.lacks]


def compared(subset: Subset, column: str, counts: Sequence[GroupCount]) -> Groups:
    """Compare the groups of a subset that are large enough, if there are two or more of them."""
    result = Groups(subset, column, counts, subset)
    if not result.names or subset.task.is_embedding:
        return result
    members, size = subset.take(subset.segments[column].isin(result.names)), len(result.names)
    return dataclasses.replace(result, subset=members.sized(size, len(members) // size))


def compare(
    evaluation: Evaluation,
    result: Sequence[Groups],
    measures: MeasureSet,
    *,
    against: str = EVERYBODY,
    contexts: Sequence[tuple[str, str]] = (),
) -> None:
    """Judge a set of measures for all groups; without contexts those that are too small get their values.

    In contexts, values of a column such as a sentiment, it is judged by how much each shifts the measures.
    """
    for groups in () if contexts else result:
        estimate_others(evaluation, groups, measures(evaluation, groups.everything))
    for groups in result:
        for context in contexts or [None]:
            tests = measures(evaluation, groups.subset)
            judge_groups(evaluation, groups, tests, against=against, context=context)


def judge_groups(
    evaluation: Evaluation,
    groups: Groups,
    tests: Mapping[str, Measure],
    *,
    against: str = EVERYBODY,
    context: tuple[str, str] | None = None,
) -> None:
    """Judge measures for each group of a column against all groups; for trials with the mask of a group."""
    subset, column, masks = groups.subset, groups.column, groups.masks
    of_trials, everybody = subset.task.is_embedding, np.ones(len(subset), dtype=bool)
    rows, inside, where, called = list(masks.values()), everybody, "", dict(tests)
    if context:
        inside, where = subset.mask(*context), f", {': '.join(context)}"
        called = {test: functools.partial(measure, inside=inside) for test, measure in tests.items()}
    if not of_trials:  # once, not for each group
        called = {test: once(measure) for test, measure in called.items()}

    def shifted(measure: Measure, s: Subset, p: Predictions) -> Statistic:
        return shift(measure(s, p), everybody, inside)

    def difference(measure: Measure, place: int, s: Subset, p: Predictions) -> Statistic | Weighted:
        if of_trials:
            within = np.logical_or.reduce(rows)
            return weighted_difference(measure(s, p, rows[place]), measure(s, p, within))
        if context:
            return shift_difference(measure(s, p), rows, place, inside)
        if against == AVERAGE:
            return against_average(measure(s, p), rows, place)
        return against_all(measure(s, p), rows[place])

    bases = called
    if context:
        bases = {test: functools.partial(shifted, measure) for test, measure in called.items()}
    parts = {group: f"{column}: {group}{where}" for group in masks}
    evaluation.estimate_groups(subset, bases, dict(zip(parts.values(), rows, strict=True)))
    sizes = [int((mask & inside).sum()) for mask in rows]
    for place, (group, part) in enumerate(parts.items()):
        sized = subset if of_trials else subset.sized(len(rows), balance.equal_size(sizes, place))
        reference = evaluation.reference(subset, column, masks, group)
        for test, measure in called.items():
            gap = GroupGap(bases[test], masks[group], *reference)
            evaluation.judge(sized, test, functools.partial(difference, measure, place), part, gap=gap)


def estimate_others(evaluation: Evaluation, result: Groups, tests: Mapping[str, Measure]) -> None:
    """Estimate measures of the groups that are not compared, each with what it lacks."""
    lacks = {count.group: count.lacks or "no other group is large enough" for count in result.counts}
    lacks.pop("", None)
    parts = {group: f"{result.column}: {group}" for group in lacks if group not in result.names}
    if parts:
        subset = result.everything.sized(len(lacks), len(result.everything) // len(lacks))
        masks = {part: subset.mask(result.column, group) for group, part in parts.items()}
        evaluation.estimate_groups(subset, tests, masks, {parts[group]: lacks[group] for group in parts})


def columns_of(
    evaluation: Evaluation,
    subset: Subset,
    tests: Iterable[str],
    few: str = "",
    counts_of: CountsOf | None = None,
) -> list[Groups]:
    """Count the groups of the family's columns; those without two, and small ones, are skipped."""
    result, options, of_trials = [], evaluation.family.options, subset.task.is_embedding
    for column in options["groups"]:
        counts, why = [], f"the corpus has no column {column}"
        if of_trials or column in subset.segments and subset.segments[column].notna().any():
            counts = (counts_of or functools.partial(group_counts, evaluation))(subset, column)
            why = few or f"fewer than 2 groups with {options.get('minimum_segments')} segments"
        if of_trials:
            needed = f"{options['minimum_trials']} trials of each kind and {options['minimum_speakers']}"
            why = f"fewer than 2 groups of {column} with {needed} speakers"
        result.append(Groups(subset, column, counts, subset))
        for test in tests:
            for count in counts if not (of_trials or counts_of) else ():
                if count.lacks:
                    evaluation.skip(subset, count.lacks, test, f"{column}: {count.group}")
            if not result[-1].names:
                evaluation.skip(subset, why, test, column)
    return result


def judge_columns(
    evaluation: Evaluation,
    subset: Subset,
    tests: Mapping[str, Measure],
    few: str = "",
    against: str = EVERYBODY,
    counts_of: CountsOf | None = None,
) -> list[Groups]:
    """Judge the groups of each of the family's columns, among all segments of a subset."""
    result = columns_of(evaluation, subset, tests, few, counts_of)
    for groups in result:
        judge_groups(evaluation, groups, tests, against=against)
    return result


def too_small(result: Iterable[Groups]) -> list[tuple[object, ...]]:
    """List groups that are too small: corpus, column, name, segments, speakers, and what each lacks."""
    return [
        (groups.subset.corpus, groups.column, count.group, count.segments, count.speakers or "", count.lacks)
        for groups in result
        for count in groups.counts
        if count.lacks and count.group
    ]


# Groups that families draw


def balanced(evaluation: Evaluation, subsets: Iterable[Subset], column: str) -> list[Groups]:
    """Draw equally large groups with the same distribution of labels, see :mod:`statistics.balance`."""
    result, wanted = [], evaluation.family.options["groups"]
    for subset in subsets:
        segments = subset.segments
        purpose = ("balance", evaluation.family.name, subset.corpus, subset.task.name)
        drawn = balance.balance(
            subset.truth,
            segments[column].where(segments[column].isin(wanted)).to_numpy(dtype=object),
            evaluation.balance_samples,
            seeds.uniform(evaluation.seed, *purpose, keys=segments["key"].tolist()),
            subset.task.kind,
            subset.blocks,
            EDGES,
        )
        if drawn.note:
            evaluation.note(f"{subset.corpus}, {subset.task.name}: {drawn.note}")
        members = evaluation.drawn(subset, drawn.rows)
        if not len(members):
            evaluation.skip(subset, drawn.note)
            continue
        names = [group for group in wanted if members.segments[column].eq(group).any()]
        counts = count_groups(members.segments, column, lambda *_: (), names)
        result.append(compared(members, column, counts))
    return result


def voices(evaluation: Evaluation) -> tuple[list[Subset], dict[str, pd.DataFrame]]:
    """Put speakers into groups by their mean pitch; says how many there are and who is left out."""
    options = evaluation.family.options
    limits = (options["usable"], options["borders"], options["speaker_segments"])
    result, tables = [], {}
    for subset in evaluation.subsets():
        groups, counts = voice_groups(
            numbers_of(subset.segments, "pitch"), subset.segments["speaker"], *limits
        )
        result.append(subset.with_column("pitch", groups))
        if not any(counts.equals(known) for known in tables.values()):  # the labelled segments are the same
            tables[f"{subset.corpus}, {subset.task.name}"] = counts
    return result, tables


def voice_groups(
    pitch: Sequence[float],
    speakers: Sequence[object],
    usable: tuple[float, float] = (50.0, 350.0),
    borders: tuple[float, float] = (145.0, 190.0),
    more_than: int = 25,
) -> tuple[np.ndarray, pd.DataFrame]:
    """Name the group of each segment's speaker by mean pitch in Hz, and count groups and who has none."""
    table = pd.DataFrame({"pitch": pitch, "speaker": np.asarray(speakers, dtype=object)})
    known = table["speaker"].notna()
    fine = known & table["pitch"].between(*usable)
    pitches = table["pitch"].where(fine).groupby(table["speaker"])
    mean, enough = pitches.transform("mean"), fine & (pitches.transform("count") > more_than)
    names = np.array(VOICES, dtype=object)[np.searchsorted(borders, mean, side="left").clip(max=2)]
    groups = np.where(enough, names, None)
    masks = {name: pd.Series(groups == name) for name in VOICES} | {
        "no speaker": ~known,
        f"no pitch from {usable[0]:g} to {usable[1]:g} Hz": known & ~fine,
        f"speakers with up to {more_than} usable segments": fine & ~enough,
    }
    rows = []
    for name, mask in masks.items():
        means = mean[mask & (name in VOICES)]
        if name in VOICES or mask.any():
            rows.append((name, table["speaker"][mask].nunique(), int(mask.sum()), means.min(), means.max()))
    return groups, pd.DataFrame(rows, columns=["group", "speakers", "segments", "lowest", "highest"])


def accents(evaluation: Evaluation) -> list[Groups]:
    """Draw speakers of each accent; those with fewer speakers or segments are not compared."""
    result, least = [], evaluation.family.options["minimum_segments"]
    for subset in evaluation.subsets():
        drawn, speakers = drawn_speakers(evaluation, subset)
        sizes, counts = drawn.segments["accent"].value_counts(), []
        for accent, (drawn_names, lacks) in speakers.items():
            size = int(sizes.get(accent, 0))
            if not lacks and size < least:
                lacks = f"{size} of {least} segments"
            counts.append(GroupCount(accent, size, drawn_names, lacks))
        names = large(counts)
        result.append(compared(drawn, "accent", counts))
        if len(names) < 2:
            small = [count for count in counts if count.lacks]
            small.sort(key=lambda count: not speakers[count.group][1])  # those with too few speakers first
            why = "; ".join(f"{count.group}: {count.lacks}" for count in small[:3])
            evaluation.skip(subset, f"{len(names)} of 2 accents with enough speakers and segments ({why})")
    return result


def languages(evaluation: Evaluation) -> list[Groups]:
    """Draw segments of the languages that are looked at, or of their sentiments if the family has some."""
    result, options = [], evaluation.family.options
    wanted, least, most = options["languages"], options["minimum_segments"], options["samples"]
    sentiments = options.get("sentiments", ())

    def needed(_: str, rows: pd.DataFrame, __: int | None) -> Iterator[tuple[int, str, int]]:
        yield len(rows), "segment", least
        for sentiment in sentiments:
            yield rows["sentiment"].eq(sentiment).sum(), f"segment of {sentiment} sentiment", least

    for subset in evaluation.subsets():
        spoken = match_languages(subset.segments["language"], wanted)
        if sentiments:
            spoken[~subset.segments["sentiment"].isin(sentiments).to_numpy()] = None
        rng = seeds.generator(evaluation.seed, "at most", evaluation.family.name, subset.corpus)
        rows = balance.at_most(spoken, most, rng, subset.segments["key"].to_numpy(dtype=object))
        if surplus := int(pd.notna(spoken).sum()) - len(rows):
            evaluation.note(f"{surplus} segments of groups with more than {most} were not drawn", subset)
        subset = evaluation.drawn(subset.with_column("language", spoken), rows)
        present = set(subset.segments["language"].dropna())
        counts = count_groups(subset.segments, "language", needed, filter(present.__contains__, wanted))
        names = large(counts)
        result.append(compared(subset, "language", counts))
        if len(names) < 2:
            few = f"out of {', '.join(wanted)} with at least {least} segments"
            few = f"with {least} segments a sentiment" if sentiments else few
            evaluation.skip(subset, f"{len(names)} of 2 languages {few}")
    return result


def drawn_speakers(evaluation: Evaluation, subset: Subset) -> tuple[Subset, dict[str, tuple[str, str]]]:
    """Keep the segments of so many speakers of each sex in each accent; says who was drawn, and what lacks.

    The family's option ``speakers`` says how many: ``{female: 5, male: 5}``; without it, or speakers, all.
    """
    subset = subset.take(subset.segments["accent"].notna())
    segments, corpus = subset.segments, subset.corpus
    needed = evaluation.family.options.get("speakers")
    known = {name for name in ("speaker", "sex") if name in segments and segments[name].notna().any()}
    if not needed or "speaker" not in known:
        if needed:
            evaluation.note("speakers are not known, so all segments of each accent are used", subset)
        return subset, dict.fromkeys(sorted(segments["accent"].unique()), ("all", ""))
    sexes, unknown = segments.get("sex"), f"speaker, or not of {' or '.join(needed)} sex"
    if "sex" not in known:
        needed, sexes, unknown = {"": sum(needed.values())}, pd.Series("", index=segments.index), "speaker"
        instead = f"so {needed['']} speakers of each accent are drawn whatever their sex"
        evaluation.note(f"the sex of speakers is not known, {instead}", subset)
    drawn = balance.draw_speakers(
        *(values.to_numpy(dtype=object) for values in (segments["accent"], segments["speaker"], sexes)),
        needed,
        lambda keys: seeds.uniform(evaluation.seed, "speakers", evaluation.family.name, corpus, keys=keys),
    )
    if drawn.unknown:
        share = f"{drawn.unknown} of {len(subset)} segments with accent"
        evaluation.note(f"{share} are without {unknown}", subset)
    counts = {}
    for group, result in drawn.counts.items():
        names = ", ".join(f"{n} of {every} {sex}".strip() for sex, (n, every) in result.items())
        lacks = [f"{n} of {needed[sex]} {sex}".strip() for sex, (n, _) in result.items() if n < needed[sex]]
        counts[group] = names, f"{' and '.join(lacks)} speakers" if lacks else ""
    return evaluation.drawn(subset, drawn.rows), counts


# Groups that a suite names


def of_suite(evaluation: Evaluation) -> list[Groups]:
    """Find the groups of each column that the suite names for a corpus; skip what cannot be judged."""
    result = []
    for subset in [labelled(evaluation, subset) for subset in evaluation.subsets()]:
        tests, columns = of_suite_groups(evaluation, subset), evaluation.view(subset).groups
        if not columns:
            evaluation.not_applicable(subset, NO_GROUPS)
            continue
        other = "segments are labelled: the agreement with the labels is judged instead"
        if subset.task.is_transcription:
            other = "the corpus has no transcripts"
        elif subset.truth is None:
            other = f"no segment has a label for {subset.task.name}: predictions are compared instead"
        for test, definition in evaluation.family.tests.items():
            if test not in tests and definition.fits(subset.task):
                evaluation.skip(subset, other, test)
        for column in columns:
            groups, obstacle = _of_column(evaluation, subset, column)
            _note_what_differs(evaluation, groups)
            for test in tests if not groups.names else ():
                evaluation.skip(subset, obstacle, test, column)
            small = [count for count in groups.counts if count.group and count.lacks]
            for count in small if tests and len(groups.counts) > 1 else ():
                # One row a group: products have many, and the reason is the same for all tests.
                evaluation.skip(subset, count.lacks, next(iter(tests)), f"{column}: {count.group}")
            result.append(groups)
    return result


def labelled(evaluation: Evaluation, subset: Subset) -> Subset:
    """Keep the segments with a label if there are any, with a note about the others; else all of them."""
    if subset.task.is_embedding or subset.truth is None:
        return subset
    known = pd.notna(subset.truth)
    label = "transcript" if subset.task.is_transcription else f"label for {subset.task.name}"
    evaluation.note_share(subset.corpus, ~known, f"segments have no {label}")
    return subset.take(known)


def _of_column(evaluation: Evaluation, subset: Subset, column: str) -> tuple[Groups, str]:
    """Count the groups of a column; also says why none are compared, where that is so."""
    of_trials = subset.task.is_embedding
    if of_trials and column in TRIAL_COLUMNS:
        why = f"trials have a column {column} of their own; give it another name in the data"
        return Groups(subset, column, [], subset), why
    if subset.task.name in column.split(BOTH):
        why = f"{subset.task.name} is what is predicted: its groups have one label each"
        return Groups(subset, column, [], subset), why
    least = evaluation.family.options.get("minimum_segments")

    def needed(_: str, rows: pd.DataFrame, speakers: int | None) -> list[tuple[int | None, str, int]]:
        return [(len(rows), "segment", least), (speakers, "speaker", FEWEST_SPEAKERS)]

    missing = subset.segments[column].isna().to_numpy()
    if of_trials:
        counts, why = group_counts(evaluation, subset, column), f"no trial lies within a group of {column}"
    else:
        counts, why = count_groups(subset.segments, column, needed), f"no segment has a value of {column}"
    if counts:
        why = f"{len(large(counts))} of {len(counts)} groups are large enough, 2 needed"
        why = why if len(counts) > 1 else f"everything is one group: {counts[0].group}"
    if missing.any():
        targets = int(subset.truth[missing].sum()) if of_trials else None
        lacks = "not within one group" if of_trials else "no value"
        counts.append(GroupCount("", int(missing.sum()) - (targets or 0), None, lacks, targets))
    return compared(subset, column, counts), why


def _note_what_differs(evaluation: Evaluation, result: Groups) -> None:
    """Note what has no value, and which groups have one sex, accent or language only."""
    subset, column = result.subset, result.column
    if subset.task.is_embedding:
        threshold = evaluation.threshold(subset, subset.predictions.clean)
        evaluation.note(f"trials are accepted above a score of {threshold:.4g}", subset)
        return  # what lies within no group is in the table
    if missing := next((count.segments for count in result.counts if not count.group), 0):
        count = f"{missing:,} of {len(result.everything):,} segments"
        evaluation.note(f"{count} have no value of {column}", subset)
    for other, words in _NESTED.items():
        if other in column.split(BOTH) or subset.segments.get(other, pd.Series()).nunique() < 2:
            continue
        for group, mask in result.masks.items():
            values = subset.segments.loc[mask, other]
            if values.nunique(dropna=False) == 1 and values.notna().all():
                evaluation.note(words.format(f"{column} {group}", values.iloc[0]), subset)
