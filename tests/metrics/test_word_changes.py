"""Words corrected and broken, against counts by hand and the word errors themselves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.word_changes import changed_words, word_changes
from soundcheck.metrics.word_errors import word_errors

SAID = ["go on now", "stop", "go", None, "up", "", "<b>now</b> go"]
OLD = ["no on now", "stop", None, "go", "up up", "oh", "go"]
NEW = ["go on", "stop it", "go", "go", "up", "", "<b>now</b> go"]


def test_counts_by_hand():
    found = word_changes(SAID, OLD, NEW)
    assert found.isna().all(axis=1).tolist() == [False, False, True, True, False, False, False]
    assert found["corrected"].dropna().tolist() == [1, 0, 0, 0, 1]
    assert found["broken"].dropna().tolist() == [1, 0, 0, 0, 0]
    assert found["put_in_baseline"].dropna().tolist() == [0, 0, 1, 1, 0]
    assert found["put_in_candidate"].dropna().tolist() == [0, 1, 0, 0, 0]
    words = changed_words(SAID, OLD, NEW)
    assert words.to_numpy().tolist() == [
        ["<b>now</b>", 1, 1, 0, 0],
        ["go", 2, 1, 0, 0],
        ["now", 1, 0, 1, 0],
    ]


texts = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8))
def test_corrected_minus_broken_is_the_difference_of_right_words(rows):
    said, old, new = zip(*rows, strict=True)
    found = word_changes(said, old, new)
    before, after = (word_errors(said, heard) for heard in (old, new))
    missed = [one.deletions + one.substitutions for one in (before, after)]
    np.testing.assert_array_equal(found["corrected"] - found["broken"], missed[0] - missed[1])
    np.testing.assert_array_equal(found["put_in_baseline"], before.insertions)
    words = changed_words(said, old, new)
    assert words[["corrected", "broken"]].sum().tolist() == found[["corrected", "broken"]].sum().tolist()
    back = changed_words(said, new, old)
    swapped = back.rename(columns={"corrected": "broken", "broken": "corrected"})[words.columns]
    assert swapped.to_numpy().tolist() == words.to_numpy().tolist()
