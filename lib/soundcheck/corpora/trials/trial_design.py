"""Trials of corpora that bring no list: a list is made that is balanced over speakers and their sexes.

Speakers and the segments of each are shuffled; then they meet as in a tournament, round by round, so that
after each round all have taken part equally often.

- The list depends on the seed, the names of speakers and the keys of segments, not on the order of the table.
  A shorter list of one kind is the beginning of a longer one.
- Of n shuffled segments of a speaker, number i meets number i + 1 modulo n, for all i, then i + 2, until each
  pair has met. Speakers take turns: all have their t-th pair before one has the next.
- Speakers meet in the same way, within a sex and across. When all pairs of speakers have met they meet again
  with other segments.
- Segments of a speaker that are of both sexes are not compared: one name stands for two people there.
- A segment whose sound a speaker has already takes no part; two speakers are not compared with one sound.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.messages import counted
from soundcheck.corpora.trials.trial_table import TrialTable, of_columns, segment_names
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus

_SEXES = ("female", "male")

_Pair = tuple[int, int]  # rows of the segment table
_Meeting = tuple[int, int, int]  # two numbers of a group, and how far apart they are


def trial_lists(
    suite: Suite, families: Sequence[Family], corpora: Iterable[Corpus]
) -> dict[tuple[str, str], TrialTable]:
    """Find or make the trials of each corpus for each family that compares utterances, by both names.

    Nothing for corpora with neither list nor speakers, and if no model that embeds recordings is compared.
    """
    lists = {}
    made: dict[tuple[object, ...], TrialTable] = {}  # families that ask for the same share it
    for corpus, family in itertools.product(corpora, families):
        compared = family.trials and corpus.entry.is_for(family.name) and _is_tested(suite, family, corpus)
        if not compared:
            continue
        trials = corpus.trials
        if trials is None and "speaker" in corpus.segments.columns:
            key = (corpus.name, *sorted(family.trials.items()))
            if key not in made:
                made[key] = generate(corpus.segments, suite.seed, **family.trials)
            trials = made[key] if len(made[key]) else None
        if trials is not None:
            lists[corpus.name, family.name] = trials
    return lists


def _is_tested(suite: Suite, family: Family, corpus: Corpus) -> bool:
    """Say whether a model that embeds recordings is compared."""
    models = [entry for entry in suite.models.values() if entry.is_for(family.name)]
    names = {name for entry in models if entry.listens_to(corpus.entry) for name in entry.tasks}
    return any(suite.tasks[name].is_embedding and family.applies_to(suite.tasks[name]) for name in names)


def generate(segments: pd.DataFrame, seed: int, *, targets: int, same_sex: int, cross_sex: int) -> TrialTable:
    """Make a balanced list of trials.

    Both sexes get the same number of the trials within a sex, as far as their pairs go. Speakers without sex,
    or with both, take part in target trials only; if nobody has a sex, non-target trials are of any two.

    - ``segments``: segment table with columns ``file``, ``start``, ``end``, ``key``, ``audio``, ``speaker``,
      perhaps ``sex``.
    - ``targets, same_sex, cross_sex``: how many trials are wanted: target, non-target within a sex, and
      across sexes.
    - Returns trials in this order, of single segments, no two of the same pair. Fewer than wanted, with a
      notice, if there are not as many pairs.
    """
    sexes = segments.get("sex", pd.Series(index=segments.index)).to_numpy(dtype=object)
    speakers, again = _speakers(segments.assign(sex=sexes), seed)
    within = _in_turn(_within(speaker) for speaker in speakers if len(speaker.rows) > 1)
    one_voice = (pair for pair in within if {sexes[row] for row in pair} != {*_SEXES})
    wanted = [("target trials", targets, one_voice)]
    groups = [[speaker for speaker in speakers if speaker.sex == sex] for sex in _SEXES]
    notices = []
    if again:
        notices.append(f"{counted(again, 'segment')} with a sound that the speaker has already: not compared")
    if not any(groups):
        notices.append("no speaker is of one sex: non-target trials are of any two")
        wanted.append(("non-target trials", same_sex + cross_sex, _among(speakers)))
    else:
        if without := sum(not speaker.sex for speaker in speakers):
            notices.append(f"{counted(without, 'speaker')} without sex, or with both: in target trials only")
        same = _in_turn(map(_among, groups))
        wanted.append(("non-target trials of the same sex", same_sex, same))
        wanted.append(("non-target trials of different sexes", cross_sex, _cross(*sorted(groups, key=len))))
    parts = {kind: [*itertools.islice(possible, number)] for kind, number, possible in wanted}
    for kind, number, _ in wanted:
        if len(parts[kind]) < number:
            notices.append(f"only {len(parts[kind])} different {kind} are possible, {number} were wanted")
    pairs = [pair for part in parts.values() for pair in part]
    sizes = ", ".join(f"{len(part)} {kind}" for kind, part in parts.items())
    notices.insert(0, f"{len(pairs)} trials were generated: {sizes}")
    return _table(segments, pairs, len(parts["target trials"]), notices)


def _table(segments: pd.DataFrame, pairs: list[_Pair], targets: int, notices: list[str]) -> TrialTable:
    rows = pd.DataFrame(np.array(pairs, dtype=np.int64).reshape(-1, 2), columns=["enrol", "test"])
    names, speakers = segment_names(segments, np.unique(rows)), segments["speaker"].astype(str).tolist()
    enrolment, members = pd.factorize(rows["enrol"].to_numpy())
    frame = rows.map(names.get).assign(
        key=rows.index.astype(str),
        target=rows.index < targets,
        enrolment=enrolment.astype(np.int64),
        segment=rows["test"],
        enrol_speaker=[speakers[row] for row in rows["enrol"]],
        test_speaker=[speakers[row] for row in rows["test"]],
    )
    numbers = np.arange(len(members), dtype=np.int64)
    return TrialTable(of_columns(frame), members, numbers, "generated", tuple(notices), listed=len(frame))


@dataclasses.dataclass(frozen=True)
class _Speaker:
    """A speaker with shuffled segments: rows and digests of their sounds; no ``sex`` if unknown or both."""

    rows: list[int]
    sounds: list[str]
    sex: str


def _speakers(segments: pd.DataFrame, seed: int) -> tuple[list[_Speaker], int]:
    """Shuffle speakers and the segments of each; also says how many segments take no part."""
    table = segments[["speaker", "key", "audio", "sex"]].reset_index(drop=True).dropna(subset="speaker")
    # Sorted by name and key, too, so that equal draws do not depend on the order of the table.
    for column, drawn in (("key", "of_key"), ("speaker", "of_speaker")):
        codes, names = pd.factorize(table[column].astype(str))
        table[column] = names[codes]
        table[drawn] = seeds.uniform(seed, "trials", keys=names.tolist())[codes]
    table = table.sort_values(["of_speaker", "speaker", "of_key", "key"])
    table["again"] = table.duplicated(["speaker", "audio"])
    speakers = []
    for _, group in itertools.groupby(table.itertuples(), key=attrgetter("speaker")):
        rows = [*group]
        sexes = {row.sex for row in rows} & {*_SEXES}
        new = [row for row in rows if not row.again]
        sex = sexes.pop() if len(sexes) == 1 else ""
        speakers.append(_Speaker([row.Index for row in new], [row.audio for row in new], sex))
    return speakers, int(table["again"].sum())


def _ring(size: int) -> Iterator[_Meeting]:
    """Let each of a group meet the next one in a ring, then the next but one, until each pair has met."""
    for number in range(size * (size - 1) // 2):
        one, apart = number % size, 1 + number // size
        yield one, (one + apart) % size, apart


def _in_turn(several: Iterable[Iterator[_Pair]]) -> Iterator[_Pair]:
    """Take one pair of each, again and again, until none has any left."""
    turns = itertools.zip_longest(*several)
    return (pair for turn in turns for pair in turn if pair is not None)


def _within(speaker: _Speaker) -> Iterator[_Pair]:
    """Compare a speaker with the same speaker."""
    return ((speaker.rows[first], speaker.rows[second]) for first, second, _ in _ring(len(speaker.rows)))


def _among(group: list[_Speaker]) -> Iterator[_Pair]:
    """Compare the speakers of a group with each other."""
    return _between(group, group, lambda: _ring(len(group)))


def _cross(small: list[_Speaker], large: list[_Speaker]) -> Iterator[_Pair]:
    """Compare the speakers of one group with those of the other; either is enrolled in turn."""
    n = len(large)

    def meetings() -> Iterator[_Meeting]:
        for number in range(len(small) * n):
            one, apart = number % n, number // n
            yield one, (one + apart) % len(small), apart

    for number, (one, other) in enumerate(_between(large, small, meetings)):
        yield (other, one) if (number + number // n) % 2 else (one, other)


def _between(
    enrolled: list[_Speaker], tested: list[_Speaker], meetings: Callable[[], Iterator[_Meeting]]
) -> Iterator[_Pair]:
    """Compare speakers that meet: all with one pair of segments, then with another, until none is left."""
    for turn in itertools.count():
        left = False
        for first, second, apart in meetings():
            a, b = enrolled[first], tested[second]
            n, m = len(a.rows), len(b.rows)
            if turn < n * m:
                left = True
                i = (turn + apart) % n
                j = (i + turn // n) % m
                if a.sounds[i] != b.sounds[j]:
                    yield a.rows[i], b.rows[j]
        if not left:
            return
