"""Lists of trials for corpora that bring none: balanced over speakers, their segments and their sexes.

Speakers and the segments of each are shuffled; then they meet as in a tournament, round by round, so that
after each round all have taken part equally often.

Conventions
-----------
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
from collections.abc import Callable

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.wording import counted
from soundcheck.corpora.trials.trial_table import TrialTable, segment_names

_SEXES = ("female", "male")
_AT_ONCE = 1024  # pairs of speakers that are looked at together, at least

# Numbers of pairs of a round robin, int64 (N,) -> both sides and how far they are apart
_Round = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def generate(segments: pd.DataFrame, seed: int, *, targets: int, same_sex: int, cross_sex: int) -> TrialTable:
    """Make a balanced list of trials.

    Both sexes get the same number of the trials within a sex, as far as their pairs go. Speakers without sex,
    or with both, take part in target trials only; if nobody has a sex, non-target trials are of any two.

    Parameters
    ----------
    segments
        Segment table with columns ``file``, ``start``, ``end``, ``key``, ``audio``, ``speaker``, perhaps
        ``sex``.
    seed
        The suite's seed.
    targets, same_sex, cross_sex
        How many trials are wanted: target, non-target within a sex, and across sexes.

    Returns
    -------
    TrialTable
        Trials in this order, of single segments, no two of the same pair. Fewer than wanted, with a notice,
        if there are not as many pairs.

    Raises
    ------
    ValueError
        If there is no column speaker, or a number is negative.
    """
    if "speaker" not in segments.columns:
        raise ValueError("Trials are made from a corpus with a column speaker.")
    if min(targets, same_sex, cross_sex) < 0:
        raise ValueError("Numbers of trials are not negative.")
    voices = _Voices.of(segments, seed)
    notices = list(voices.notices)
    *own, across = voices.within_one_sex(targets)
    if across:
        notices.append(f"{counted(across, 'pair')} of one speaker and both sexes: no trials are made of them")
    parts = [own]
    found = len(parts[0][0])
    kinds = [f"{found} target trials"]
    _tell_short(found, targets, "target trials", notices)
    groups = [np.flatnonzero(voices.sex == sex) for sex in _SEXES]
    if not any(map(len, groups)):
        kind = "non-target trials"
        who = "each speaker has both sexes, or none" if across else "no speaker has a sex"
        notices.append(f"{who}: non-target trials are of any two")
        wanted = [(kind, same_sex + cross_sex, _any(voices, np.arange(len(voices)), same_sex + cross_sex))]
    else:
        without = int((voices.sex == "").sum())
        if without:
            who = f"{without} speaker{'s' * (without > 1)} without sex, or with both,"
            notices.append(f"{who} take{'s' * (without == 1)} part in target trials only")
        if cross_sex and not all(map(len, groups)):
            sex = _SEXES[int(len(groups[0]) == 0)]
            notices.append(f"all speakers with a sex are {sex}: there are no trials of different sexes")
            cross_sex = 0
        wanted = [
            ("non-target trials of the same sex", same_sex, _same(voices, groups, same_sex)),
            ("non-target trials of different sexes", cross_sex, _cross(voices, groups, cross_sex)),
        ]
    for kind, number, part in wanted:
        found = len(part[0])
        parts.append(part)
        kinds.append(f"{found} {kind}")
        _tell_short(found, number, kind, notices)
    first, second = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    target = np.arange(len(first)) < len(parts[0][0])
    notices.insert(0, f"{len(first)} trials were generated: {', '.join(kinds)}")
    return _table(segments, first, second, target, notices)


def _tell_short(found: int, wanted: int, kind: str, notices: list[str]) -> None:
    if found < wanted:
        notices.append(f"only {found} different {kind} are possible, {wanted} were wanted")


def _table(
    segments: pd.DataFrame, first: np.ndarray, second: np.ndarray, target: np.ndarray, notices: list[str]
) -> TrialTable:
    names, speakers = segment_names(segments, np.unique([first, second])), segments["speaker"].tolist()
    enrolment, members = pd.factorize(first)

    def texts(cells: list) -> pd.Series:
        return pd.Series([str(cell) for cell in cells], dtype=object)

    frame = pd.DataFrame(
        {
            "key": texts(range(len(first))),
            "enrol": texts([names[row] for row in first.tolist()]),
            "test": texts([names[row] for row in second.tolist()]),
            "target": target,
            "enrolment": enrolment.astype(np.int64),
            "segment": second.astype(np.int64),
            "enrol_speaker": texts([speakers[row] for row in first.tolist()]),
            "test_speaker": texts([speakers[row] for row in second.tolist()]),
        }
    )
    member_of = np.arange(len(members), dtype=np.int64)
    return TrialTable(
        frame, members.astype(np.int64), member_of, "generated", tuple(notices), listed=len(frame)
    )


# Speakers and their segments --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Voices:
    """Shuffled speakers with their shuffled segments.

    ``rows``: rows of the segment table, speaker by speaker; ``sounds``: number of the sound of each;
    ``begin``, ``count``: where the segments of each speaker begin there, and how many; ``sex``: of each
    speaker, empty = unknown; ``sign``: of each row of the segment table, 1 = female, -1 = male, 0 = unknown.
    """

    rows: np.ndarray
    sounds: np.ndarray
    begin: np.ndarray
    count: np.ndarray
    sex: np.ndarray
    sign: np.ndarray
    notices: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.count)

    @classmethod
    def of(cls, segments: pd.DataFrame, seed: int) -> _Voices:
        known = np.flatnonzero(segments["speaker"].notna())
        table = segments.iloc[known]
        names, keys = ([str(cell) for cell in table[column]] for column in ("speaker", "key"))
        # Sorted by name before shuffling, so that equal draws do not depend on the order of the table.
        codes, speakers = pd.factorize(np.array(names, dtype=object), sort=True)
        shuffled = np.argsort(seeds.uniform(seed, "trials", keys=speakers.tolist()), kind="stable")
        place = np.argsort(shuffled)[codes]
        by_key = pd.factorize(np.array(keys, dtype=object), sort=True)[0]
        order = np.lexsort((by_key, seeds.uniform(seed, "trials", keys=keys), place))
        sounds = pd.factorize(table["audio"])[0][order]
        place = place[order]
        again = pd.DataFrame({"speaker": place, "sound": sounds}).duplicated().to_numpy()
        notices = []
        if again.any():
            many = again.sum() > 1
            what = "segments repeat sounds of their speakers and take" if many else "segment repeats a sound"
            notices.append(f"{int(again.sum())} {what}{'' if many else ' of its speaker and takes'} no part")
        place = place[~again]
        count = np.bincount(place, minlength=len(speakers))
        sex = segments.get("sex", pd.Series(index=segments.index, dtype=object))
        sign = sex.map(dict(zip(_SEXES, (1, -1), strict=True))).fillna(0).to_numpy(dtype=np.int64)
        return cls(
            known[order][~again],
            sounds[~again],
            np.cumsum(count) - count,
            count,
            _sexes(sign[known], np.argsort(shuffled)[codes], len(speakers)),
            sign,
            tuple(notices),
        )

    def within(self, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """Compare each speaker with the same speaker: rows of both sides, ``(trials,)`` each."""
        pairs = self.count * (self.count - 1) // 2
        turns = _turns(pairs, wanted)
        own = np.minimum(pairs, turns)
        speaker = np.repeat(np.arange(len(self)), own)
        turn = np.arange(len(speaker)) - np.repeat(np.cumsum(own) - own, own)
        order = np.lexsort((speaker, turn))[:wanted]
        speaker, turn = speaker[order], turn[order]
        n = self.count[speaker]
        one, apart = turn % n, 1 + turn // n
        return self._row(speaker, one), self._row(speaker, (one + apart) % n)

    def within_one_sex(self, wanted: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Do the same without pairs of both sexes, of which it says how many were passed over."""
        asked = wanted
        while True:
            first, second = self.within(asked)
            same = self.sign[first] * self.sign[second] >= 0
            if same.sum() >= wanted or len(first) < asked:
                return first[same][:wanted], second[same][:wanted], int((~same).sum())
            asked *= 2

    def between(self, pairs: _Round, total: int, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """Compare speakers: rows of both sides, at most ``wanted``.

        Parameters
        ----------
        pairs
            Gives pairs of different speakers by their numbers.
        total
            How many there are.
        wanted
            Largest number of trials.
        """
        found: list[tuple[np.ndarray, np.ndarray]] = []
        met: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        missing, number = wanted, 0
        while missing > 0 and number < total:  # the first pass, of as many pairs as are needed
            some = pairs(np.arange(number, min(total, number + max(missing, _AT_ONCE))))
            number += len(some[0])
            met.append(some)
            found.append(self._meet(*some, np.zeros(len(some[0]), dtype=np.int64)))
            missing -= len(found[-1][0])
        one, other, apart = (np.concatenate(side) for side in zip(*met, strict=True)) if met else [_NONE] * 3
        passes = 1
        while missing > 0:
            left = self.count[one] * self.count[other] > passes
            one, other, apart = one[left], other[left], apart[left]
            if not len(one):
                break
            # All of these pairs have trials up to the pass in which the first has none left.
            end = min(int((self.count[one] * self.count[other]).min()), passes - (-missing // len(one)))
            turn, pair = np.divmod(np.arange((end - passes) * len(one)), len(one))
            found.append(self._meet(one[pair], other[pair], apart[pair], passes + turn))
            missing -= len(found[-1][0])
            passes = end
        first, second = (np.concatenate(side)[:wanted] for side in zip((_NONE, _NONE), *found, strict=True))
        return first, second

    def _meet(
        self, one: np.ndarray, other: np.ndarray, apart: np.ndarray, turn: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose the segments with which speakers meet for the n-th time; trials of one sound are dropped."""
        n, m = self.count[one], self.count[other]
        own = (turn + apart) % n
        theirs = (own + turn // n) % m
        first, second = self.begin[one] + own, self.begin[other] + theirs
        differ = self.sounds[first] != self.sounds[second]
        return self.rows[first[differ]], self.rows[second[differ]]

    def _row(self, speaker: np.ndarray, segment: np.ndarray) -> np.ndarray:
        return self.rows[self.begin[speaker] + segment]


_NONE = np.zeros(0, dtype=np.int64)


def _sexes(sign: np.ndarray, place: np.ndarray, speakers: int) -> np.ndarray:
    """Tell the sex of each speaker; empty if unknown, or if there are segments of both."""
    female, male = (np.bincount(place[sign == sex], minlength=speakers) > 0 for sex in (1, -1))
    return np.where(female & ~male, _SEXES[0], np.where(male & ~female, _SEXES[1], ""))


def _turns(pairs: np.ndarray, wanted: int) -> int:
    """Find how many turns it takes until there are as many trials as wanted; all turns if there never are."""
    low, high = 0, int(pairs.max(initial=0))
    while low < high:
        middle = (low + high) // 2
        if np.minimum(pairs, middle).sum() >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


# Pairs of speakers ------------------------------------------------------------------------------------------


def _any(voices: _Voices, group: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the speakers of a group with each other."""
    n = len(group)

    def pairs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, apart = numbers % n, 1 + numbers // n
        return group[one], group[(one + apart) % n], apart

    return voices.between(pairs, n * (n - 1) // 2, wanted)


def _same(voices: _Voices, groups: list[np.ndarray], wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the speakers of each group; groups take turns."""
    found = [_any(voices, group, wanted) for group in groups]
    turn = np.concatenate([np.arange(len(first)) for first, _ in found])
    order = np.argsort(turn, kind="stable")[:wanted]
    first, second = (np.concatenate(side)[order] for side in zip(*found, strict=True))
    return first, second


def _cross(voices: _Voices, groups: list[np.ndarray], wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the speakers of one group with those of the other; either is enrolled in turn."""
    small, large = sorted(groups, key=len)

    def pairs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, apart = numbers % len(large), numbers // len(large)
        return large[one], small[(one + apart) % len(small)], apart

    first, second = voices.between(pairs, len(small) * len(large), wanted)
    number = np.arange(len(first))
    swap = (number + number // max(1, len(large))) % 2 == 1
    return np.where(swap, second, first), np.where(swap, first, second)
