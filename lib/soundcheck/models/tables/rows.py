"""Which prediction of a file belongs to which segment.

Conventions
-----------
- A row names a corpus (or none, for all), a file, and perhaps start and end in seconds. A row without start
  begins with its file. Which file a name means says :mod:`soundcheck.corpora.utterances`.
- A single row of a file without any times fits its only segment, whatever the times of that are.
- Times that differ by at most :data:`TOLERANCE` are the same. Of several rows that fit a segment, the one
  with the nearest times is taken, then the one that begins first.
- Ids stand for segments instead of files, and have no times.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error, nearest
from soundcheck.common.escaping import quoted, told_apart
from soundcheck.common.text_table import TextTable
from soundcheck.corpora.utterances import UtteranceNames, matched_by_less, plain_path
from soundcheck.suite.groups import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus

TOLERANCE = 0.01  # seconds that times may differ by
SAME_SECONDS = 0.001  # two rows whose times differ by at most this are duplicates
# What to do about two predictions to one segment: which is the right one, only the user knows.
TWICE = "Look where the two come from, such as two runs in one file, and give each run a file of its own"
_BUCKET = 1.25 * TOLERANCE  # times that are the same lie in one bucket or in neighbours
_ENDLESS = 2.0**40  # instead of the end of a row that reaches to the end of its file
_LOOKED_AT = 2_000  # files among which the one that is most like a name is looked for


@dataclasses.dataclass(frozen=True)
class Rows:
    """The predictions of a file, and the segments that they belong to."""

    names: Sequence[str]  # file or id of each prediction
    where: Callable[..., str]  # says where predictions stand, given one or two numbers
    frame: pd.DataFrame | None = None  # see sort_rows; None: names are ids
    noun: str = "row"  # what messages call the place of a prediction
    name_noun: str = "name"
    without_times: tuple[str, str] = ("the table gives no times", "Add the columns start and end, in seconds")
    misfit_remedy: str = "Write the names as in the corpus, relative to its folder"
    _numbers: dict[int, tuple[Corpus, np.ndarray]] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the number of each segment's row, int64 ``(segments,)``, -1 = none; looks once a corpus.

        Raises InputError if a name could mean several files or segments, several names mean the same, or
        several segments of a file are meant without times.
        """
        if id(corpus) not in self._numbers:
            if self.frame is None:
                problems = Problems()
                numbers = UtteranceNames(corpus.segments).assign(
                    self.names, self.name_noun, self.where, problems
                )
                problems.raise_if_any()
            else:
                numbers = self._find_by_times(corpus)
            numbers.flags.writeable = False  # it is shared
            self._numbers[id(corpus)] = corpus, numbers
        return self._numbers[id(corpus)][1]

    def _find_by_times(self, corpus: Corpus) -> np.ndarray:
        import pandas as pd  # late: a suite is read without it

        segments, rows = corpus.segments, self.frame
        which, _ = pd.factorize(segments["file"])
        group = self._groups(corpus)[which]
        alone = rows[rows["whole"]].drop_duplicates("group").set_index("group")
        row = alone.reindex(group)
        whole = row["number"].notna().to_numpy()
        several = whole & segments["file"].duplicated(keep=False).to_numpy()
        for place in np.flatnonzero(several & (row["end"] == _ENDLESS).to_numpy())[:1]:
            what, remedy = self.without_times
            what = f"the corpus has several segments of {quoted(segments['file'].iloc[place])}, {what}"
            raise input_error(self.where(int(row["number"].iloc[place])), what, remedy)
        whole = whole & ~several
        numbers = np.where(whole, row["number"].fillna(-1), -1).astype(np.int64)
        wanted = pd.DataFrame({"segment": np.arange(len(numbers)), "group": group})
        start, end = (segments[name].to_numpy(dtype=np.float64) for name in ("start", "end"))
        start = np.nan_to_num(start)
        length = numbers_of(segments, "duration")
        wanted = wanted.assign(start=start, end=np.where(np.isnan(end), start + length, end))
        open_ = wanted[np.isnan(end)].assign(end=_ENDLESS)  # both reach to the end of the file
        wanted = pd.concat([wanted, open_])[lambda frame: (frame["group"] >= 0) & ~whole[frame["segment"]]]
        nearest_rows = _nearest(wanted, rows)
        numbers[nearest_rows["segment"]] = nearest_rows["number"]
        return numbers

    def _groups(self, corpus: Corpus) -> np.ndarray:
        """Give the group of rows that each file of a corpus means, int64 ``(files,)``; -1 = none."""
        problems = Problems()
        segments = corpus.segments.drop_duplicates("file").drop(columns="item", errors="ignore")
        names, first = UtteranceNames(segments), self.frame.drop_duplicates("group")
        known = np.full(len(segments), -1, dtype=np.int64)
        for one in dict.fromkeys(("", files.slug(corpus.name), corpus.name)):  # the last one counts
            named = first[first["corpus"] == one]

            def where(*places: int, named: pd.DataFrame = named) -> str:
                return self.where(*named["number"].iloc[list(places)].tolist())

            matches = names.assign(named["file"].tolist(), self.name_noun, where, problems)
            groups = np.append(named["group"].to_numpy(), -1)  # the last one of names that are not here
            known = np.where(matches >= 0, groups[matches], known)
        problems.raise_if_any()
        return known

    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if nothing fits the corpora: the names do not, or the times do not."""
        for corpus in corpora if self.frame is not None else ():
            group = self._groups(corpus)
            if (group >= 0).any():
                place = int(np.argmax(group >= 0))
                return self._misfit_of_times(
                    corpus.segments.drop_duplicates("file").iloc[place], group[place]
                )
        name, similar = most_alike(self.names[0], corpora)
        both = f"the name here is {name}, the most similar one in the corpus {similar}"
        what = f"no {self.noun} belongs to a segment: {both}"
        return input_error(self.where(0), what, self.misfit_remedy)

    def _misfit_of_times(self, segment: pd.Series, group: int) -> InputError:
        """Show the times of a segment whose file is known, and the nearest ones here."""
        begin, end = np.nan_to_num(float(segment["start"])), float(segment["end"])
        rows = self.frame[self.frame["group"] == group]
        away = (rows["start"] - begin).abs() + np.nan_to_num((rows["end"] - end).abs())
        row = rows.loc[away.idxmin()]
        here, wanted = (
            f"{float(low)!r} to {float(high)!r} s" if high < _ENDLESS else f"{float(low)!r} s to the end"
            for low, high in ((row["start"], row["end"]), (begin, end))
        )
        name = quoted(self.names[row["number"]])
        what = (
            f"no {self.noun} belongs to a segment: the files are known, the times are not those of the "
            f"corpus; of {name} there is {here} here and {wanted} in the corpus, {TOLERANCE:g} s may differ"
        )
        remedy = "Give start and end in seconds, as in the corpus"
        return input_error(self.where(int(row["number"])), what, remedy)


def _nearest(wanted: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Find the row of the same group with the nearest times, if any is the same, for each ``segment``.

    Joined on buckets of both times: rows that share one of them need not be looked at one by one.
    """
    import pandas as pd  # late: a suite is read without it

    rows = rows.assign(place=np.arange(len(rows)))
    same = wanted.merge(rows, on=["group", "start", "end"]).assign(away=0.0)  # most often all of them
    wanted, rows = (
        frame.assign(early=frame["start"] // _BUCKET, late=frame["end"] // _BUCKET)
        for frame in (wanted[~wanted["segment"].isin(same["segment"])], rows)
    )
    keys, times = ["group", "early", "late"], ["start", "end", "number", "place"]
    pairs = []
    for early, late in itertools.product((-1, 0, 1), repeat=2):
        moved = wanted.assign(early=wanted["early"] + early, late=wanted["late"] + late)
        pairs.append(moved.merge(rows[[*keys, *times]], on=keys, suffixes=("", "_row")))
    pair = pd.concat(pairs)
    early, late = (pair["start"] - pair["start_row"]).abs(), (pair["end"] - pair["end_row"]).abs()
    pair = pair.assign(away=early + late)[(early <= TOLERANCE) & (late <= TOLERANCE)]
    return pd.concat([same, pair]).sort_values(["away", "place"]).drop_duplicates("segment")


def sort_rows(
    cells: TextTable,
    numbers: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    problems: Problems,
    columns: Sequence[str] = (),
) -> pd.DataFrame:
    """Sort some rows of a table under their files, and note duplicates and rows without file.

    ``start`` and ``end`` are those of all rows in seconds, NaN = not given; duplicates are source with
    ``columns``. Gives ``corpus``, ``file``, ``group`` (their number), ``start``, ``end``, ``number``
    (of the row in the table) and ``whole`` (the only row of its file, without times).
    """
    import pandas as pd  # late: a suite is read without it

    names = np.array(cells.columns["file"], dtype=object)[numbers]
    corpora = [name.strip() for name in cells.columns.get("corpus", ())] or [""] * len(cells)
    for number in numbers[names == ""]:
        problems.add(cells.where(number, "file"), "the cell is empty")
    frame = pd.DataFrame({"corpus": np.array(corpora, dtype=object)[numbers], "file": names})
    frame = frame.assign(start=start[numbers], end=end[numbers], number=numbers)
    frame["group"] = frame.groupby(["corpus", "file"], sort=False).ngroup()
    timeless = frame["start"].isna() & frame["end"].isna()
    frame["whole"] = timeless & ~frame["group"].duplicated(keep=False)
    frame = frame.fillna({"start": 0.0, "end": _ENDLESS}).sort_values(["group", "start", "end", "number"])
    step = frame[["group", "start", "end"]].diff().abs()
    same = (step["group"] == 0) & (step["start"] <= SAME_SECONDS) & (step["end"] <= SAME_SECONDS)
    for place in np.flatnonzero(same):
        pair = sorted(frame["number"].iloc[[place - 1, place]].tolist())
        what = f"the segment {quoted(cells.columns['file'][pair[0]])} is a duplicate"
        for name in columns:
            one, other = (str(cells.columns[name][number]) for number in pair)
            what += f", its {name} {quoted(one, 40)} and {quoted(other, 40)}" if one != other else ""
        problems.add(cells.where_all(pair), what, TWICE)
    return frame


@dataclasses.dataclass(frozen=True)
class FileAnswers:
    """What a file of predictions holds."""

    rows: Mapping[str, Rows]  # change of the signal -> its rows; "" = none
    # Task, or what the model says of its predictions, -> value of each row: float64 (NaN = none) or object.
    answers: Mapping[str, np.ndarray]
    errors: Mapping[str, Mapping[int, str]] = dataclasses.field(
        default_factory=dict
    )  # task -> row -> why none
    drawn: Sequence[str] = ()  # of each row, what the run drew that wrote it
    remarks: Sequence[str] = ()  # for readers of the model's page
    # Seconds that predictions took and those of their sounds, as given, (2, n).
    computing_times: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((2, 0)))


def most_alike(name: str, corpora: Sequence[Corpus]) -> tuple[str, str]:
    """Show a name that fits no file of the corpora, and the file that is most like it."""
    known = [str(file) for corpus in corpora for file in corpus.segments["file"][:_LOOKED_AT]]
    base = plain_path(name).rpartition("/")[2]
    same = (file for file in known if plain_path(file).rpartition("/")[2] == base)
    return told_apart(name, next(same, "") or nearest(name, known) or known[0])


def uses_of(corpus: Corpus, segments: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
    """List which predictions (numbers) which segments (places) use: ``number, file, sound, corpus``."""
    uses = corpus.segments[["file", "audio"]].iloc[segments].rename(columns={"audio": "sound"})
    return uses.assign(number=numbers, corpus=corpus.name)


def used_by(
    corpora: Sequence[Corpus], uses: Callable[[Corpus], Sequence[pd.DataFrame]]
) -> tuple[pd.DataFrame, int]:
    """Put together what all corpora use, and count those predictions; raises the problems of all at once."""
    import pandas as pd  # late: a suite is read without it

    problems, frames = Problems(), []
    for corpus in corpora:
        with problems.collected():
            frames += uses(corpus)
    problems.raise_if_any()
    used = pd.concat(frames) if frames else pd.DataFrame(columns=["number", "file", "sound", "corpus"])
    return used, used["number"].nunique()


def compared(
    uses: pd.DataFrame, names: Sequence[str], where: Callable[[int], str], source: str, are_ids: bool
) -> list[str]:
    """Refuse predictions that would belong to different sounds in two corpora; say which names fit by less.

    ``uses`` are those of :func:`uses_of` in all corpora; ``names`` and ``where`` are of the predictions.
    """
    several = (uses.groupby("number")[["corpus", "sound"]].transform("nunique") > 1).all(axis=1)
    if several.any():
        both = uses[several]
        number, more = int(both["number"].iloc[0]), both["number"].nunique() - 1
        uses_of_one = both[both["number"] == number]
        pairs = uses_of_one.merge(uses_of_one, how="cross", suffixes=("", "_too"))
        pair = pairs[(pairs["corpus"] != pairs["corpus_too"]) & (pairs["sound"] != pairs["sound_too"])].iloc[
            0
        ]
        places = [f"{quoted(pair[f'file{n}'])} of {quoted(pair[f'corpus{n}'])}" for n in ("", "_too")]
        what = f"{quoted(names[number])} would be the prediction for {places[0]} and {places[1]}, two sounds"
        what += f"; so would {more} more" if more else ""
        remedy = f"Write `corpora: [{pair['corpus']}]` for the model, or give a table with a column corpus"
        raise input_error(where(number), what, remedy)
    used_names = np.array(names, dtype=object)[uses["number"].to_numpy(dtype=np.int64)]
    return matched_by_less({*zip(used_names, uses["file"], strict=True)}, source, are_ids)
