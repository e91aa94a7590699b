"""References with several wordings: sclite's documented forms; every wording written out."""

import itertools
import pickle

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics import alternatives
from soundcheck.metrics.alternatives import Choice, Reference, WordingReader
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.metrics.word_errors import (
    align,
    character_errors,
    confusions,
    word_changes,
    word_errors,
    wrong_words,
)

basic = NORMALISERS["basic"]
read = WordingReader(basic, alternatives=True)


def errors(reference, hypothesis):
    return word_errors([reference], [hypothesis]).errors[0]


def test_the_documented_example_of_sclite():
    said = read("i've { um / uh / @ } as far as i'm concerned")
    assert said == read("I've {um / uh / @} as far as I'm concerned.")
    for filler, wrong, words in (("um ", 0, 7), ("uh ", 0, 7), ("", 0, 6), ("eh ", 1, 6), ("um uh ", 1, 7)):
        counts = word_errors([said], [f"i've {filler}as far as i'm concerned"])
        assert counts.errors[0] == wrong and (wrong or counts.words[0] == words)
    said = read("(well) we {are going to / {'re / are} gonna} go")  # may be missing, and nested
    for heard in ("well we are going to go", "we 're gonna go", "we are gonna go"):
        assert errors(said, basic(heard)) == 0
    assert errors(said, "we going go") == 2
    assert errors(read("he (said so) then"), "he said so then") == 0  # not one word: text


def wordings(wording):
    """Write out every wording."""
    parts = [
        [each for option in element.options for each in wordings(option)]
        if isinstance(element, Choice)
        else [list(element)]
        for element in wording
    ]
    return [sum(way, []) for way in itertools.product(*parts)]


words = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(tuple)
choices = st.recursive(
    words,
    lambda below: st.lists(st.lists(below, max_size=2).map(tuple), min_size=2, max_size=3).map(
        lambda options: Choice(tuple(options))
    ),
    max_leaves=4,
)


@given(st.lists(choices, min_size=1, max_size=3).map(tuple), st.lists(st.sampled_from("abcd"), max_size=6))
def test_the_fewest_errors_of_all_wordings(wording, heard):
    said, text = Reference(wording), " ".join(heard)
    every = wordings(wording)

    def count(way):
        return len(heard) if not way else sum_of(jiwer.process_words(" ".join(way), text))

    fewest = min(map(count, every))
    assert errors(said, text) == fewest
    chosen = alternatives.cheapest(said, text).split()
    assert chosen in every and count(chosen) == fewest


def sum_of(output):
    return output.substitutions + output.deletions + output.insertions


def test_bad_alternatives():
    for text, what in (
        ("go { left / right", "opened by { and not closed"),
        ("go left / right }", "} that { did not open"),
        ("go { left }", "only one alternative"),
        ("go {left/right}", "blanks stand around each /"),
        ("go { left / }", "an alternative is empty; @ stands for nothing"),
        ("{ a / " * 21 + "b" + " }" * 21, "nested more than 20 deep"),
    ):
        with pytest.raises(ValueError, match=what.replace("{", r"\{").replace("}", r"\}")):
            alternatives.parse(text)


def test_synonyms_stand_for_each_other_and_are_not_said_again():
    reader = WordingReader(basic, synonyms=[("going to", "gonna"), ("gonna", "gunna"), ("OK", "okay")])
    for said in ("I'm going to be ok", "I'm GUNNA be OK!"):
        assert errors(reader(said), "i'm gonna be okay") == 0
    assert errors(reader("going"), "gonna") == 1 and type(reader("going on")) is str
    both = WordingReader(basic, alternatives=True, synonyms=[("ok", "okay")])
    assert errors(both("{ ok / fine } then"), "okay then") == 0
    for pairs in ([("a", "b"), ("b", "c"), ("c", "a")], [("x", "y"), ("a", "b"), ("b", "a")]):
        with pytest.raises(ValueError, match="2"):
            alternatives.synonym_sets(pairs)


def test_all_that_aligns_takes_the_same_wording():
    said, heard = read("{ colour / color } me (very) red"), "color me rad"
    assert [word.kind for word in align(said, heard)] == ["equal", "equal", "substitute"]
    table = confusions([said], [heard])
    assert table[["reference", "hypothesis", "share"]].to_numpy().tolist() == [["red", "rad", 1 / 3]]
    counts = character_errors([said], [heard])
    assert counts.words[0] == len("color me red") and counts.errors[0] == 1
    # So do two recognisers.
    assert alternatives.common_wording(said, ["color me red", "color me very red"]) == "color me red"
    changes = word_changes([said], ["color me red"], ["colour me very bread"])
    assert changes.to_numpy().tolist() == [[0.0, 2.0, 3.0, 0.0, 1.0]]
    table = wrong_words([said, said], {"a": ["color me red"] * 2, "b": ["color me bed"] * 2})
    assert table.to_numpy().tolist() == [["red", 2, 0, 2]]


def test_a_reference_is_not_the_text_of_its_first_wording():
    said = read("go { left / right }")
    assert str(said) == "go left" and said != "go left" and "go left" != said
    assert word_errors([said, "go left"], ["go right"] * 2).errors.tolist() == [0, 1]
    again = pickle.loads(pickle.dumps(said))
    assert again == said and hash(again) == hash(said)
    assert word_errors([said, None], [None, "go"]).words.tolist()[0] == 2  # without an answer, the first
