"""A corpus is looked at once, another one anew; an error is not kept."""

import dataclasses

import numpy as np
import pytest

from soundcheck.models.tables.index import found_once


@dataclasses.dataclass(frozen=True)
class Index:
    asked: list

    @found_once
    def find(self, corpus):
        self.asked.append(corpus)
        if corpus == ["wrong"]:
            raise ValueError("wrong")
        return np.arange(len(corpus))


def test_each_corpus_once():
    index, one, other = Index([]), ["a"], ["a"]
    found = index.find(one)
    assert index.find(one) is found and len(index.asked) == 1
    index.find(other)
    assert index.asked[1] is other
    Index([]).find(one)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_errors_are_not_kept():
    index, wrong = Index([]), ["wrong"]
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            index.find(wrong)
    assert len(index.asked) == 2
