"""Shares of the inputs: even, equal everywhere, nothing twice and nothing left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.predict.request import Share

KEYS = [files.digest(str(number)) for number in range(3000)]


@given(of=st.integers(1, 40))
def test_each_key_belongs_to_exactly_one_share(of):
    shares = [Share(number, of) for number in range(1, of + 1)]
    counts = [sum(key in share for key in KEYS) for share in shares]
    assert sum(counts) == len(KEYS)
    assert all(sum(key in share for share in shares) == 1 for key in KEYS[:100])
    expected = len(KEYS) / of
    assert max(abs(count - expected) for count in counts) < 6 * expected**0.5  # a fair draw


def test_the_same_key_always_belongs_to_the_same_share():
    key = "000000000000005" + 25 * "f"  # the first digits are 5, and 5 modulo 3 is 2
    assert [number for number in (1, 2, 3) if key in Share(number, 3)] == [3]


@pytest.mark.parametrize("text", ["1/1", "2/3", "3/3", "100/100"])
def test_shares_are_read_as_they_are_written(text):
    assert str(Share.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0/3", "K must be from 1 to N"),
        ("4/3", "K must be from 1 to N"),
        ("1/0", "K must be from 1 to N"),
        ("a/b", "not of the form K/N"),
        ("1", "not of the form K/N"),
        ("1/3/5", "not of the form K/N"),
        ("-1/3", "not of the form K/N"),
        ("1.5/3", "not of the form K/N"),
        ("", "not of the form K/N"),
        ("\u0661/\u0663", "not of the form K/N"),
        ("1/9999999999", "not of the form K/N"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        Share.parse(text)
