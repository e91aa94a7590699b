"""Spoken commands: the grammar, who says what, and sentences around words."""

import re

import audiofile
import numpy as np
import pandas as pd
import pocketsphinx
import pytest

from soundcheck.common.files import digest
from soundcheck_demo.speech import corpus, sentences, texts
from soundcheck_demo.speech.voices import BY_NAME

slow = pytest.mark.slow
KINDS = {"some": ["kitchen", "../up"], "others": ["a,b\n<c> [[d]]", "x\x00y", ""]}


@slow
def test_grammar_accepts_every_command_and_probe():
    table = corpus.table("full", "commands")
    decoder = pocketsphinx.Decoder(lm=None, loglevel="FATAL")
    with open(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as file:
        known = {line.split(maxsplit=1)[0] for line in file}
    assert set(texts.vocabulary()) < set(texts.grammar_words()) <= known
    assert decoder.parse_jsgf(texts.GRAMMAR) is not None
    lines = [line for line in texts.GRAMMAR.splitlines() if "=" in line]
    rules = dict(line.removeprefix("public ").rstrip(";").split(" = ") for line in lines)
    pattern = "<sentence>"
    while names := re.findall("<[^>]+>", pattern):  # no rule contains itself
        pattern = pattern.replace(names[0], f"(?:{rules[names[0]]})")
    accepts = re.compile(pattern.replace(" | ", "|")).fullmatch
    probes = [texts.sentences(word, texts.possible(word)) for word in texts.vocabulary()]
    assert all(map(accepts, [*table["transcript"], *sum(probes, [])]))
    assert not any(map(accepts, ["turn kitchen the light on", "go left"]))
    commands_of = table[table["speaker"].eq("c07")]["transcript"].tolist()  # whoever else speaks
    assert [texts.draw_command(BY_NAME["c07"], n) for n in (4, 3, 0)] == [commands_of[n] for n in (4, 3, 0)]


def test_sentences_differ_and_hold_the_word_once_or_complements_and_names():
    for word in texts.grammar_words():
        possible = texts.possible(word)
        probes = texts.sentences(word, possible)
        assert len(set(probes)) == possible >= 20 and probes[:5] == texts.sentences(word, 5)
        assert all(sentence.split().count(word) == 1 for sentence in probes)
    assert texts.sentences("kitchen", 5, seed=1) != texts.sentences("kitchen", 5)
    ends = ["of wool", "of groceries", "of concrete"]  # those of the paper
    probes = texts.sentences("bags", 50, complements=ends)
    assert len(set(probes)) == 50 and texts.possible("bags", ends) == 6 * 5 * 3
    assert all(re.fullmatch(r"\w+ \w+ bags of (wool|groceries|concrete)", text) for text in probes)


def test_sentences_are_dealt_evenly_and_depend_on_seed_and_word():
    table = sentences.table({"few": ["a", "b"], "many": [f"w{n}" for n in range(60)], "no": []}, 50)
    counts = table["keyword"].value_counts()
    assert counts["a"] == counts["b"] == 25 and counts.filter(like="w").tolist() == [1] * 50
    # Both kinds have the same voices, and those of both sexes have all accents.
    voices = table.groupby(table["keyword"].str.startswith("w"))["speaker"].value_counts().unstack()
    assert (voices.loc[False] == voices.loc[True]).all() and voices.to_numpy().min() == 12
    assert len(sentences.table({"some": ["a"]}, 50, complements={"a": ["here"]})) == 30  # there are no more

    def probes(words, seed):
        table = sentences.table({"kind": words}, 8, seed=seed)
        return set(table.loc[table["keyword"].eq("a"), "transcript"])

    assert probes(["a", "b"], 3) == probes(["c", "a"], 3) != probes(["a", "b"], 4)


def test_what_cannot_be_spoken():
    assert {sentences.obstacle(word) for word in ("thick", "don't", "o’clock", "I", "Bags")} == {""}
    obstacles = {"b2b": "digits", "küche": "not English", "<b>": "signs", "": "signs"}
    obstacles |= {"t": "single letter", "a" * 31: "more than 30 letters"}
    for word, reason in obstacles.items():
        assert reason in sentences.obstacle(word)


@slow
def test_spoken_sentences(tmp_path):
    folder = sentences.build(tmp_path / "two", KINDS, 8, jobs=2)
    table = pd.read_csv(folder / "segments.csv", keep_default_na=False)
    assert list(table.columns) == "file speaker sex language accent transcript keyword".split()
    assert table["keyword"].drop_duplicates().tolist() == [word for words in KINDS.values() for word in words]
    kitchen = table[table["keyword"].eq("kitchen")]
    assert kitchen["transcript"].tolist() == texts.sentences("kitchen", 4)
    assert len(kitchen[["accent", "sex"]].drop_duplicates()) == 4
    assert table["file"].is_unique and table["file"].str.fullmatch(r"audio/c\d\d/c\d\d_\d{3,}\.wav").all()
    for name in table["file"]:
        signal, rate = audiofile.read(folder / name)
        assert rate == 16000 and signal.size > 16000 and 0.02 < np.abs(signal).max() < 0.85
    again = sentences.build(tmp_path / "one", KINDS, 8)
    assert again.name == folder.name
    for name in (*table["file"], "segments.csv"):
        assert digest(again / name) == digest(folder / name)
