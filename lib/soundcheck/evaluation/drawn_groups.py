"""How families draw groups: balanced ones, speakers of accents, and languages.

Draws depend on the suite's seed, the family, the corpus and keys of segments or speakers, not on the order of
rows. Notes say what was not drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.corpora.languages import among
from soundcheck.evaluation.eligibility import eligible
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import GroupCount, Groups, compared
from soundcheck.evaluation.speakers import voice_groups
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.regression import EDGES
from soundcheck.statistics import balance


def balanced(evaluation: Evaluation, subsets: Iterable[Subset], column: str) -> list[Groups]:
    """Draw equally large groups with the same distribution of labels.

    See :mod:`soundcheck.statistics.balance`. Tests of subsets with fewer than two groups are skipped.
    """
    found = []
    for subset in subsets:
        segments, wanted = subset.segments, evaluation.family.options["groups"]
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
        own = evaluation.drawn(subset, drawn.rows)
        if len(own):
            names = [group for group in wanted if own.segments[column].eq(group).any()]
            found.append(compared(own, column, names, counts_of(own, column, names)))
        else:
            evaluation.skip(subset, drawn.note)
    return found


def voices(evaluation: Evaluation) -> tuple[list[Subset], dict[str, pd.DataFrame]]:
    """Put speakers into groups by their mean pitch; says how many there are and who is left out."""
    options = evaluation.family.options
    limits = (options["usable"], options["borders"], options["speaker_segments"])
    found, tables = [], {}
    for subset in evaluation.subsets():
        groups, counts = voice_groups(subset.numbers("pitch"), subset.segments["speaker"], *limits)
        found.append(subset.with_column("pitch", groups))
        same = any(counts.equals(known) for known in tables.values())
        if not same:  # as all tasks have that have the same labelled segments
            tables[f"{subset.corpus}, {subset.task.name}"] = counts
    return found, tables


def accents(evaluation: Evaluation) -> list[Groups]:
    """Draw speakers of each accent; those with fewer speakers or segments are not compared."""
    found, least = [], evaluation.family.options["minimum_segments"]
    for subset in evaluation.subsets():
        drawn, speakers = drawn_speakers(evaluation, subset, "accent")
        sizes = drawn.segments["accent"].value_counts().reindex(list(speakers), fill_value=0)
        short = {accent: lacks for accent, (_, lacks) in speakers.items() if lacks}
        for accent in sizes.index[sizes < least]:
            short.setdefault(accent, f"{sizes[accent]} of {least} segments")
        counts = [
            GroupCount(accent, int(sizes[accent]), who, short.get(accent, ""))
            for accent, (who, _) in speakers.items()
        ]
        names = [accent for accent in speakers if accent not in short]
        found.append(compared(drawn, "accent", names, counts))
        if len(names) < 2:
            why = "; ".join(f"{accent}: {lacks}" for accent, lacks in list(short.items())[:3])
            evaluation.skip(subset, f"{len(names)} of 2 accents with enough speakers and segments ({why})")
    return found


def languages(evaluation: Evaluation) -> list[Groups]:
    """Draw segments of the languages that are looked at; those with too few are not compared.

    A family with sentiments needs enough segments of each, and uses no others.
    """
    found, options = [], evaluation.family.options
    wanted, least = options["languages"], options["minimum_segments"]
    sentiments = options.get("sentiments", ())
    for subset in evaluation.subsets():
        spoken = among(subset.segments["language"], wanted)
        if sentiments:
            spoken[~subset.segments["sentiment"].isin(sentiments).to_numpy()] = None
        subset = at_most(evaluation, subset.with_column("language", spoken), "language", options["samples"])
        there = subset.segments["language"].dropna().unique()
        counts = counts_of(subset, "language", there, least, sentiments)
        large = {count.group for count in counts if not count.lacks}
        names = [name for name in wanted if name in large]
        found.append(compared(subset, "language", names, counts))
        if len(names) < 2:
            few = f"out of {', '.join(wanted)} with at least {least} segments"
            few = f"with {least} segments a sentiment" if sentiments else few
            evaluation.skip(subset, f"{len(names)} of 2 languages {few}")
    return found


def counts_of(
    subset: Subset, column: str, names: Iterable[str], least: int = 0, sentiments: Iterable[str] = ()
) -> list[GroupCount]:
    """Count the segments and speakers of groups, and say which have too few, in all or of a sentiment."""
    counts = []
    for name in names:
        own = subset.segments[subset.mask(column, name)]
        speakers = own["speaker"].nunique() if "speaker" in own else None
        needed = [(len(own), "segment", least)]
        for sentiment in sentiments:
            needed.append((own["sentiment"].eq(sentiment).sum(), f"segment of {sentiment} sentiment", least))
        counts.append(GroupCount(name, len(own), speakers, eligible(needed)))
    return counts


def at_most(evaluation: Evaluation, subset: Subset, column: str, segments: int) -> Subset:
    """Keep so many random segments of each group; a note tells how many were not drawn."""
    groups = subset.segments[column].to_numpy(dtype=object)
    rng = seeds.generator(evaluation.seed, "at most", evaluation.family.name, subset.corpus)
    rows = balance.at_most(groups, segments, rng, subset.segments["key"].to_numpy(dtype=object))
    surplus = int(pd.notna(groups).sum()) - len(rows)
    if surplus:
        evaluation.note(
            f"{subset.corpus}: {surplus} segments of groups with more than {segments} were not drawn"
        )
    return evaluation.drawn(subset, rows)


def drawn_speakers(
    evaluation: Evaluation, subset: Subset, column: str
) -> tuple[Subset, dict[str, tuple[str, str]]]:
    """Keep the segments of so many speakers of each sex in each group.

    The family's option ``speakers`` says how many: ``{female: 5, male: 5}``; without it all segments are
    kept. If the corpus does not know the sex of its speakers, as many are drawn whatever their sex; if it
    does not know the speakers, all segments are kept. Notes say so.
    """
    subset = subset.take(np.flatnonzero(subset.segments[column].notna()))
    segments, corpus = subset.segments, subset.corpus
    needed = evaluation.family.options.get("speakers")
    known = {name for name in ("speaker", "sex") if name in segments and segments[name].notna().any()}
    if not needed or "speaker" not in known:
        if needed:
            evaluation.note(f"{corpus}: speakers are not known, so all segments of each {column} are used")
        return subset, dict.fromkeys(sorted(segments[column].unique()), ("all", ""))
    sexes = segments["sex"] if "sex" in known else pd.Series("", index=segments.index)
    if "sex" not in known:
        needed = {"": sum(needed.values())}
        evaluation.note(
            f"{corpus}: the sex of speakers is not known, so {needed['']} speakers of each {column} are "
            "drawn whatever their sex"
        )
    drawn = balance.draw_speakers(
        *(values.to_numpy(dtype=object) for values in (segments[column], segments["speaker"], sexes)),
        needed,
        lambda keys: seeds.uniform(evaluation.seed, "speakers", evaluation.family.name, corpus, keys=keys),
    )
    if drawn.unknown:
        what = "speaker" if "" in needed else f"speaker, or not of {' or '.join(needed)} sex"
        evaluation.note(
            f"{corpus}: {drawn.unknown} of {len(subset)} segments with {column} are without {what}"
        )
    counts = {}
    for group, found in drawn.counts.items():
        proportions = [f"{n} of {there} {sex}".strip() for sex, (n, there) in found.items()]
        lacks = [f"{n} of {needed[sex]} {sex}".strip() for sex, (n, _) in found.items() if n < needed[sex]]
        counts[group] = ", ".join(proportions), f"{' and '.join(lacks)} speakers" if lacks else ""
    return evaluation.drawn(subset, drawn.rows), counts
