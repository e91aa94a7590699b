"""Spoken commands: the grammar, who says what, and sentences around words."""

import re

import audiofile
import numpy as np
import pandas as pd
import pocketsphinx
import pytest

from soundcheck.common.files import digest
from soundcheck_demo.speech import commands, corpus, sentences
from soundcheck_demo.speech.voices import BY_NAME

slow = pytest.mark.slow
KINDS = {"some": ["kitchen", "null", "../up", "déjà vu"], "others": ["a,b\n<c> [[d]]", "x\x00y", ""]}


@pytest.fixture(scope="module")
def table():
    return corpus.table("full", "commands")


# What is said


def test_table_and_words_that_are_spread_evenly(table):
    assert list(table.columns) == "file speaker sex language accent split transcript".split()
    assert len(table) == 150 and table["file"].is_unique and table["file"].is_monotonic_increasing
    assert set(table["split"]) == {"test"} and set(table["language"]) == {"en"}
    assert table["accent"].iloc[0] == "american"
    assert table["transcript"].str.fullmatch(r"[a-z]+( [a-z]+)+").all()
    words = table["transcript"].str.split().explode()
    assert set(words) == set(commands.vocabulary()) and 40 <= len(commands.vocabulary()) <= 50
    assert words.value_counts().min() >= 5
    # In all accents, too: frequent words are equally frequent, and no accent lacks a word.
    counts = words.to_frame().assign(accent=table["accent"]).value_counts().unstack("accent", fill_value=0)
    assert counts.loc["turn"].between(6, 7).all() and (counts > 0).all(axis=None)


def test_draws_depend_on_speaker_and_number_only(table):
    own = table[table["speaker"].eq("c07")]["transcript"].tolist()
    assert [commands.draw(BY_NAME["c07"], number) for number in (4, 3, 0)] == [own[4], own[3], own[0]]
    assert table["transcript"].nunique() > 60
    assert table.groupby("speaker")["transcript"].nunique().min() >= 5


class Grammar:
    """The rules of a JSGF grammar without weights, repetitions or brackets, matched by backtracking."""

    def __init__(self, text):
        lines = [line for line in text.splitlines() if "=" in line]
        rules = [line.removeprefix("public ").rstrip(";").split(" = ") for line in lines]
        self.rules = {name: [part.split() for part in body.split(" | ")] for name, body in rules}

    def ends(self, item, words):
        if item not in self.rules:
            return {1} if words[:1] == [item] else set()
        ends = set()
        for sequence in self.rules[item]:
            places = {0}
            for part in sequence:
                places = {n + m for n in places for m in self.ends(part, words[n:])}
            ends |= places
        return ends

    def accepts(self, sentence):
        words = sentence.split()
        return len(words) in self.ends("<sentence>", words)


@slow
def test_grammar_accepts_every_command_and_probe(table):
    grammar = Grammar(commands.GRAMMAR)
    assert all(map(grammar.accepts, table["transcript"]))
    assert not any(map(grammar.accepts, ["turn kitchen the light on", "go left"]))
    for word in commands.vocabulary():
        assert all(map(grammar.accepts, commands.sentences(word, commands.possible(word))))
    with open(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as file:
        known = {line.split(maxsplit=1)[0] for line in file}
    assert set(commands.vocabulary()) < set(commands.grammar_words()) <= known


# Sentences around words


def test_sentences_differ_and_hold_the_word_once():
    for word in commands.grammar_words():
        possible = commands.possible(word)
        said = commands.sentences(word, possible)
        assert len(set(said)) == possible >= 20 and said[:5] == commands.sentences(word, 5)
        assert all(sentence.split().count(word) == 1 for sentence in said)
    assert commands.sentences("kitchen", 0) == []
    first = {commands.sentences(word, 1)[0].replace(word, "") for word in commands.vocabulary()}
    assert len(first) > 10  # not every word gets the same one
    assert commands.sentences("kitchen", 5, seed=1) != commands.sentences("kitchen", 5)


def patterns(word, count=12):
    """Number the patterns of the sentences that a word gets, in the order of the grammar."""
    fillers = commands.FILLERS | {"name": commands.NAMES, "word": [word]}
    slots = {slot: f"({'|'.join(values)})" for slot, values in fillers.items()}
    shapes = [pattern.format(**slots) for pattern in (*commands.QUOTES, *commands.FRAMES.values())]
    said = commands.sentences(word, count)
    return [[n for n, shape in enumerate(shapes) if re.fullmatch(shape, sentence)] for sentence in said]


def test_sentences_suit_the_class_of_the_word():
    # Function words and unknown ones are quoted only: nobody "says of again".
    for word, skipped in {"of": {1}, "the": {0, 1}, "twice": set(), "zyzzyva": set()}.items():
        assert commands.class_of(word) == ""
        assert {n for matching in patterns(word) for n in matching} == {0, 1, 2} - skipped
    for word, kind in {"spoons": 3, "thick": 4, "six": 5, "open": 6, "left": 7}.items():
        used = patterns(word, 16)
        assert {n for matching in used for n in matching} == {0, 1, 2, kind}
        assert sum(kind in matching for matching in used) == 4  # patterns take turns
    classes = commands._DATA["classes"]
    listed = [word for words in classes.values() for word in words.split()]
    assert set(classes) == set(commands.FRAMES) and len(listed) == len(set(listed))


def test_complements_and_names_make_the_sentences():
    ends = ["of wool", "of groceries", "of concrete"]  # those of the paper
    said = commands.sentences("bags", 50, complements=ends)
    assert len(set(said)) == 50
    assert all(re.fullmatch(r"\w+ \w+ bags of (wool|groceries|concrete)", one) for one in said)
    assert commands.possible("bags", ends) == 6 * 5 * 3
    assert commands.possible("bags", ["of {name}"]) == 30  # braces are text
    for word, first in (("kitchen", 0), ("stop", 1)):  # women and men take turns
        said = commands.sentences(word, 24, first=first)
        names = [next(part for part in one.split() if part in commands.NAMES) for one in said]
        assert [commands.NAMES.index(name) % 2 for name in names] == [first, 1 - first] * 12


def test_sentences_are_dealt_evenly_and_depend_on_seed_and_word():
    table = sentences.table({"few": ["a", "b"], "many": [f"w{n}" for n in range(60)], "no": []}, 50)
    counts = table["keyword"].value_counts()
    assert counts["a"] == counts["b"] == 25 and counts.filter(like="w").tolist() == [1] * 50
    assert "w49" in counts and "w50" not in counts
    # Both kinds have the same voices, and those of both sexes have all accents.
    voices = table.groupby(table["keyword"].str.startswith("w"))["speaker"].value_counts().unstack()
    assert (voices.loc[False] == voices.loc[True]).all() and voices.to_numpy().min() == 12
    uneven = sentences.table({"some": ["a", "b", "c"]}, 50)["keyword"].value_counts()
    assert uneven.to_dict() == {"a": 17, "b": 17, "c": 16}
    assert len(sentences.table({"some": ["a"]}, 50, complements={"a": ["here"]})) == 30  # there are no more

    def said(words, seed):
        table = sentences.table({"kind": words}, 8, seed=seed)
        return set(table.loc[table["keyword"].eq("a"), "transcript"])

    assert said(["a", "b"], 3) == said(["c", "a"], 3) != said(["a", "b"], 4)


def test_what_cannot_be_spoken():
    for word in ("thick", "don't", "o’clock", "a", "I", "Bags"):
        assert sentences.obstacle(word) == ""
    obstacles = {"5": "digits", "b2b": "digits", "ποῦ": "not English", "küche": "not English", "<b>": "signs"}
    obstacles |= {"'s": "signs", "rock&roll": "signs", "": "signs", "t": "single letter"}
    for word, reason in (obstacles | {"a" * 31: "more than 30 letters"}).items():
        assert reason in sentences.obstacle(word)


def read(folder):
    return pd.read_csv(folder / "segments.csv", keep_default_na=False)


@slow
def test_spoken_sentences(tmp_path):
    folder = sentences.build(tmp_path / "two", KINDS, 16, jobs=2)
    table = read(folder)
    assert list(table.columns) == "file speaker sex language accent transcript keyword".split()
    assert table["keyword"].drop_duplicates().tolist() == [word for words in KINDS.values() for word in words]
    assert table["keyword"].value_counts(sort=False).tolist() == [4, 4, 4, 4, 6, 5, 5]
    for word, own in list(table.groupby("keyword", sort=False))[:4]:
        assert own["transcript"].tolist() == commands.sentences(word, 4)
        assert len(own[["accent", "sex"]].drop_duplicates()) == 4
        # The sexes of speaker and name in all pairs.
        names = [next(part for part in said.split() if part in commands.NAMES) for said in own["transcript"]]
        women = [commands.NAMES.index(name) % 2 == 0 for name in names]
        assert len(set(zip(own["sex"], women, strict=True))) == 4
    assert table["file"].is_unique and table["file"].str.fullmatch(r"audio/c\d\d/c\d\d_\d{3,}\.wav").all()
    for name in table["file"]:
        signal, rate = audiofile.read(folder / name, always_2d=True)
        assert (rate, signal.shape[0]) == (16000, 1)
        assert signal.size > 16000 and 0.02 < np.abs(signal).max() < 0.85

    def contents(folder):
        return {str(path.relative_to(folder)): digest(path) for path in folder.rglob("*") if path.is_file()}

    again = sentences.build(tmp_path / "one", KINDS, 16)
    assert again.name == folder.name and contents(again) == contents(folder)
    half = read(sentences.build(tmp_path, {"kind": ["\ud800"]}, 1))  # of a character
    assert half["keyword"].tolist() == ["?"] and read(sentences.build(tmp_path, {}, 3)).empty


def test_other_sentences_have_a_folder_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setattr(sentences.store, "folder", lambda path, *_: path)
    cases = (["a"], 2, 0), (["a"], 3, 0), (["a", "b"], 2, 0), (["a"], 2, 1)
    folders = {sentences.build(tmp_path, {"kind": words}, count, seed=seed) for words, count, seed in cases}
    assert len(folders) == 4
