"""Rows of a table and segments of a corpus are matched by times: against a plain loop."""

import math

import numpy as np
import pytest
from answer_files import NAN, corpus
from hypothesis import example, given, settings
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.common.messages import InputError, Problems
from soundcheck.common.text_table import TextTable
from soundcheck.models.tables.rows import SAME_SECONDS, TOLERANCE, TWICE, Rows, sort_rows


def sort(rows, corpora=None) -> tuple[Rows, list[str]]:
    """Sort rows of (file, start, end), which stand in lines from 2 on; gives them and what is told."""
    names, start, end = (list(column) for column in zip(*rows, strict=True))
    columns = {"file": names} | ({"corpus": corpora} if corpora else {})
    cells, problems = TextTable(columns, range(2, len(rows) + 2), "line", "t.csv"), Problems()
    frame = sort_rows(cells, np.array(start, float), np.array(end, float), problems)
    messages = [str(problem) for problem in problems._problems]
    return Rows(cells, {}, np.full(len(rows), ""), frame), messages


def zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def endless(value: float) -> float:
    return math.inf if math.isnan(value) else value


def plainly(rows, corpora, segments, name) -> list[int]:
    """Find the row of each segment by looking at all rows of its file."""
    places = []
    for file, start, end, duration in segments:
        of_file = [n for n, row in enumerate(rows) if row[0] == file]
        of_corpus = [[n for n in of_file if corpora[n] == one] for one in (name, files.slug(name), "")]
        numbers = next(filter(None, of_corpus), [])
        if len(numbers) == 1 and all(map(math.isnan, rows[numbers[0]][1:])):
            if [segment[0] for segment in segments].count(file) > 1:
                return ["refused"]
            places += numbers
            continue
        begin = zero(start)
        finish = begin + duration if math.isnan(end) else end

        def away(number: int, begin=begin, finish=finish, end=end) -> float:
            _, low, high = rows[number]
            late = abs(zero(low) - begin)
            open_ = 0.0 if math.isnan(end) else math.inf
            long = open_ if math.isnan(high) else abs(high - finish)
            return late + long if late <= TOLERANCE and long <= TOLERANCE else math.inf

        key = [(away(n), zero(rows[n][1]), endless(rows[n][2]), n) for n in numbers]
        places.append(min(key)[-1] if key and min(key)[0] < math.inf else -1)
    return places


TIMES = st.one_of(
    st.just(NAN),
    st.integers(0, 6).map(lambda n: n / 4),
    # about the tolerance, to either side, but never at it, where rounding decides
    st.builds(
        lambda n, away: max(0.0, n / 4 + 3 * away * TOLERANCE / 4), st.integers(0, 6), st.integers(-3, 3)
    ),
)
NAMES = st.sampled_from(["a.wav", "b.wav", "c.wav"])
CORPORA = st.sampled_from(["", "", "demo", "Other"])
ROWS = st.lists(st.tuples(CORPORA, NAMES, TIMES, TIMES), min_size=1, max_size=12)
DURATIONS = st.sampled_from([NAN, 0.25, 0.5, 1.0])
SEGMENTS = st.lists(st.tuples(NAMES, TIMES, TIMES, DURATIONS), min_size=1, max_size=10)
NEAREST = [("", "a.wav", 0.4925, 1.0), ("", "a.wav", 0.5025, 1.0)]  # both fit, the second one better


@settings(max_examples=60)
@given(ROWS, SEGMENTS, st.sampled_from(["demo", "Other"]))
@example(NEAREST, [("a.wav", 0.5, 1.0, 0.5)], "demo")
def test_matching_equals_a_plain_loop(rows, segments, name):
    corpora = [files.slug(row[0]) if row[0] == "Other" else row[0] for row in rows]
    rows = [row[1:] for row in rows]
    index, _ = sort(rows, corpora)
    expected = plainly(rows, corpora, segments, name)
    if expected == ["refused"]:
        with pytest.raises(InputError, match="several segments of"):
            index.find(corpus(*segments, name=name))
    else:
        assert index.find(corpus(*segments, name=name)).tolist() == expected


@given(st.lists(st.tuples(st.just("a.wav"), TIMES, TIMES), min_size=1, max_size=10))
def test_duplicates_are_neighbours_in_time(rows):
    order = sorted(range(len(rows)), key=lambda n: (zero(rows[n][1]), endless(rows[n][2]), n))
    expected = []
    for one, other in zip(order, order[1:], strict=False):
        (_, start, end), (_, next_start, next_end) = rows[one], rows[other]
        same_end = endless(end) == endless(next_end) or abs(end - next_end) <= SAME_SECONDS
        if abs(zero(start) - zero(next_start)) <= SAME_SECONDS and same_end:
            first, second = sorted((one + 2, other + 2))
            expected.append(f"t.csv lines {first} and {second}: the segment 'a.wav' is a duplicate. {TWICE}.")
    assert sort(rows)[1] == expected
