from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.predict.protocol import Call, Item, Unit, take


def item(name: str, count: int) -> Item:
    return Item(name, None, None, name, tuple(Call(f"{name}{n}", n or None) for n in range(count)))


@pytest.fixture
def unit() -> Unit:
    return Unit((item("a", 3), item("b", 1), item("c", 2)))


def test_parts_of_units(unit):
    assert unit.keys == ["a0", "a1", "a2", "b0", "c0", "c1"]
    assert unit.only({"a1", "c0"}).keys == ["a1", "c0"]
    assert unit.only({*unit.keys}) == unit
    assert unit.only(()).items == ()


@given(st.lists(st.integers(1, 9), max_size=9), st.integers(1, 12))
def test_pieces_of_units(counts, size):
    unit = Unit(tuple(item(f"{n}-", count) for n, count in enumerate(counts)), one_by_one=True)
    pieces = unit.pieces(size)
    assert [key for piece in pieces for key in piece.keys] == unit.keys
    assert all(len(piece.keys) == size for piece in pieces[:-1])
    assert all(piece.one_by_one and piece.items for piece in pieces)
    assert all(item.calls and item.path == item.content for piece in pieces for item in piece.items)


def test_taking_leaves_the_rest():
    queue = deque([item("a", 3), item("b", 2)])
    assert Unit(take(queue, 4)).keys == ["a0", "a1", "a2", "b0"]
    assert Unit(tuple(queue)).keys == ["b1"]
    assert Unit(take(queue, 4)).keys == ["b1"] and not queue
