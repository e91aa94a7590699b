"""Smaller graphs of words: the same sentences, equally probable, and the same transcripts."""

import collections
import itertools

import audiofile
import numpy as np

from soundcheck_demo.models import recogniser, word_graph
from soundcheck_demo.speech import commands, corpus


def sentences(start, final, arcs):
    """List all sentences of a graph without loops, each with the probabilities of all its ways."""
    onwards = collections.defaultdict(list)
    for begin, end, probability, word in arcs:
        onwards[begin].append((end, float(probability), word))
    found = collections.defaultdict(set)

    def walk(state, said, probability):
        if state == final:
            found[" ".join(said)].add(round(probability, 9))
        for end, share, word in onwards[state]:
            walk(end, (*said, word) if word else said, probability * share)

    walk(start, (), 1.0)
    return found


def test_states_with_the_same_future_are_merged():
    #       a       c
    #     / 2 -> 4 \          what follows a and b is the same, and nothing happens between 4, 5 and 1
    #   0            1
    #     \ 3 -> 5 /
    #       b       c
    nothing = "1.000000"
    arcs = [(0, 2, "0.5", "a"), (0, 3, "0.5", "b"), (2, 4, "1", "c"), (3, 5, "1", "c")]
    arcs += [(4, 1, nothing, ""), (5, 1, nothing, "")]
    start, final, smaller = word_graph.condense(0, 1, arcs)
    assert (start, final) == (0, 1)
    assert smaller == [(0, 2, "0.5", "a"), (0, 2, "0.5", "b"), (2, 1, "1", "c")]


def test_states_are_kept_apart_by_words_probabilities_and_ends():
    arcs = [
        (0, 1, "0.2", "a"),
        (0, 2, "0.2", "b"),
        (0, 3, "0.2", "c"),
        (0, 4, "0.2", "d"),
        (0, 5, "0.2", "e"),
    ]
    arcs += [(1, 9, "1", "x"), (2, 9, "1", "y"), (3, 9, "0.5", "x"), (4, 1, "1", "x")]  # 5 leads nowhere
    start, final, smaller = word_graph.condense(0, 9, arcs)
    assert sentences(start, final, smaller) == sentences(0, 9, arcs)
    assert len({arc[1] for arc in smaller if arc[0] == start}) == 5


def test_random_graphs_keep_their_sentences():
    rng = np.random.default_rng(0)
    smaller = 0
    for _ in range(200):
        size = int(rng.integers(2, 9))
        arcs = [
            (a, b, str(rng.choice(["1.000000", "0.5"])), str(rng.choice(["", "x", "y"])))
            for a, b in itertools.combinations(range(size), 2)
            if rng.random() < 0.5
        ]
        if not any(arc[1] == size - 1 for arc in arcs):
            continue
        start, final, found = word_graph.condense(0, size - 1, arcs)
        assert sentences(start, final, found) == sentences(0, size - 1, arcs)
        smaller += len({*itertools.chain(*(arc[:2] for arc in found))}) < size
    assert smaller > 20


def test_the_commands_are_recognised_as_with_the_whole_graph(shared_cache):
    folder = corpus.build(shared_cache, size="small", part="commands", jobs=2)
    decoder = recogniser._decoder("grammar")
    decoder.add_jsgf_string("whole", commands.GRAMMAR)
    rng = np.random.default_rng(0)
    try:
        for number, path in enumerate(sorted(folder.rglob("*.wav"))):
            signal, rate = audiofile.read(path)
            signal = signal + (number % 2) * 0.02 * rng.standard_normal(len(signal))
            answers = set()
            for search in ("grammar", "whole"):
                decoder.activate_search(search)
                answers.add(recogniser.grammar(signal, rate)["transcript"])
            assert len(answers) == 1
    finally:
        recogniser._decoder.cache_clear()
