import bisect
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems
from soundcheck.common.text_table import TextTable
from soundcheck.models.tables.rows import SAME_SECONDS, TOLERANCE, TWICE, Rows, sort_rows

NAN = math.nan


def table(rows, corpora=None) -> tuple[TextTable, np.ndarray, np.ndarray]:
    """Make a table of (file, start, end)."""
    names, start, end = (list(column) for column in zip(*rows, strict=True))
    columns = {"file": names} | ({"corpus": corpora} if corpora else {})
    return TextTable(columns, range(2, len(rows) + 2), "line", "t.csv"), np.array(start), np.array(end)


def sort(rows, corpora=None, numbers=None):
    cells, start, end = table(rows, corpora)
    problems = Problems()
    numbers = np.arange(len(rows)) if numbers is None else np.array(numbers)
    frame = sort_rows(cells, numbers, np.array(start, float), np.array(end, float), problems)
    return Rows(cells.columns["file"], lambda *numbers: cells.where_all(numbers, "file"), frame), problems


def corpus(segments, name="demo"):
    """Make a corpus of (file, start, end, duration)."""
    return SimpleNamespace(
        name=name, segments=pd.DataFrame(segments, columns=["file", "start", "end", "duration"])
    )


def told(problems: Problems) -> list[str]:
    try:
        problems.raise_if_any()
    except InputError as error:
        return [str(problem) for problem in error.problems]
    return []


# The same, one segment and one row after the other ----------------------------------------------------------


def zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def plainly(rows, corpora, segments, name) -> list[int]:
    """Find the row of each segment by walking all rows of its file."""
    known: dict[tuple, list] = {}
    for number, (row, own) in enumerate(zip(rows, corpora, strict=True)):
        known.setdefault((own, row[0]), []).append((row[1], row[2], number))
    for same in known.values():
        same.sort(key=lambda row: (zero(row[0]), math.inf if math.isnan(row[1]) else row[1], row[2]))
    found = []
    for file, start, end, duration in segments:
        own = next((known[one, file] for one in (name, files.slug(name), "") if (one, file) in known), [])
        if len(own) == 1 and math.isnan(own[0][0]) and math.isnan(own[0][1]):
            if sum(other[0] == file for other in segments) > 1:
                return ["refused"]
            found.append(own[0][2])
            continue
        begin = zero(start)
        best, distance = -1, math.inf
        first = bisect.bisect_left([zero(row[0]) for row in own], begin - TOLERANCE)
        for row_start, row_end, number in own[first:]:
            if zero(row_start) > begin + TOLERANCE:
                break
            if math.isnan(row_end):
                away = 0.0 if math.isnan(end) else math.inf
            else:
                away = abs(row_end - (begin + duration if math.isnan(end) else end))
            late = abs(zero(row_start) - begin)
            if away <= TOLERANCE and away + late < distance:
                best, distance = number, away + late
        found.append(best)
    return found


times = st.one_of(
    st.just(NAN),
    st.integers(0, 6).map(lambda n: n / 4),
    # about the tolerance, to either side, but never at it, where rounding decides
    st.builds(
        lambda n, away: max(0.0, n / 4 + 3 * away * TOLERANCE / 4), st.integers(0, 6), st.integers(-3, 3)
    ),
)
names = st.sampled_from(["a.wav", "b.wav", "c.wav"])
rows_of = st.lists(
    st.tuples(st.sampled_from(["", "", "demo", "Other"]), names, times, times), min_size=1, max_size=12
)
segments_of = st.lists(
    st.tuples(names, times, times, st.sampled_from([NAN, 0.25, 0.5, 1.0])), min_size=1, max_size=10
)


@settings(max_examples=100)
@given(rows_of, segments_of, st.sampled_from(["demo", "Other"]))
def test_matching_equals_a_plain_loop(rows, segments, name):
    corpora, rows = [row[0] for row in rows], [row[1:] for row in rows]
    corpora = [files.slug(own) if own == "Other" else own for own in corpora]
    index, _ = sort(rows, corpora)
    expected = plainly(rows, corpora, segments, name)
    if expected == ["refused"]:
        with pytest.raises(InputError, match="several segments of"):
            index.find(corpus(segments, name))
    else:
        assert index.find(corpus(segments, name)).tolist() == expected


@settings(max_examples=50)
@given(st.lists(st.tuples(st.just("a.wav"), times, times), min_size=1, max_size=10))
def test_duplicates_are_neighbours_in_time(rows):
    _, problems = sort(rows)
    ordered = sorted(
        range(len(rows)),
        key=lambda n: (zero(rows[n][1]), math.inf if math.isnan(rows[n][2]) else rows[n][2], n),
    )
    expected = []
    for one, other in zip(ordered, ordered[1:], strict=False):
        (_, start, end), (_, next_start, next_end) = rows[one], rows[other]
        endless = math.isnan(end) and math.isnan(next_end)
        if abs(zero(start) - zero(next_start)) <= SAME_SECONDS and (
            endless or abs(end - next_end) <= SAME_SECONDS
        ):
            first, second = sorted((one + 2, other + 2))
            expected.append(f"t.csv lines {first} and {second}: the segment 'a.wav' is a duplicate. {TWICE}.")
    assert told(problems) == expected


def test_rows_without_file_are_named_in_their_order():
    _, problems = sort([("a.wav", 0, 1), ("", 0, 1), ("b.wav", 0, 1), ("", 1, 2)])
    assert [line.split(":")[0] for line in told(problems)] == [
        "t.csv line 3, column file",
        "t.csv line 5, column file",
    ]


def test_some_rows_of_a_table_keep_their_numbers():
    rows = [("a.wav", 0, 1), ("a.wav", 0, 1), ("b.wav", 0, 2)]
    index, problems = sort(rows, numbers=[1, 2])
    assert not told(problems)
    assert len(index) == 3
    assert index.find(corpus([("b.wav", 0.0, 2.0, 2.0), ("a.wav", 0.0, 1.0, 1.0)])).tolist() == [2, 1]


@pytest.mark.parametrize("side", ["start", "end"])
def test_many_rows_that_share_a_time_are_no_matter(side, monkeypatch):
    """Pairs of a segment and a row that are looked at grow with the table, not with its square."""
    looked_at, concat = [], pd.concat

    def counted(parts, **more):
        parts = list(parts)
        looked_at.extend([] if more else [sum(map(len, parts))])
        return concat(parts, **more)

    monkeypatch.setattr(pd, "concat", counted)
    for count in (500, 2000):
        times = [(0.0, n + 1.0) if side == "start" else (float(n), count + 1.0) for n in range(count)]
        index, _ = sort([("a.wav", *pair) for pair in times])
        near = [("a.wav", start + 0.001, end, NAN) for start, end in times]
        found = index.find(corpus(near))
        assert found.tolist() == list(range(count))
    assert looked_at[1::3] == [500, 2000]


def test_a_corpus_is_looked_at_once_but_errors_are_not_remembered():
    index, _ = sort([("a.wav", NAN, NAN)])
    one, wrong = corpus([("a.wav", NAN, NAN, 1.0)]), corpus([("a.wav", 0, 1, 1), ("a.wav", 1, 2, 1)])
    found = index.find(one)
    assert index.find(one) is found
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
    for _ in range(2):
        with pytest.raises(InputError, match="several segments"):
            index.find(wrong)
