"""Makes the graph of words that PocketSphinx follows as small as it can be.

PocketSphinx compiles a grammar into a graph with a state behind every word of every rule, and looks at all
states ten milliseconds after ten milliseconds. Most of them are followed by the same words with the same
probabilities: one state instead of them all gives the same answers, but for a few near ties, in two thirds of
the time. That holds for grammars of sentences; where words come in any order, more answers are others.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pocketsphinx

CERTAIN = "1.000000"

Arc = tuple[int, int, str, str]  # from, to, probability and word as they are written; no word: none is spoken


def condensed(decoder: pocketsphinx.Decoder, grammar: str) -> pocketsphinx.FsgModel:
    """Compile a grammar (JSpeech Grammar Format) for a decoder, and merge the states that are alike."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.fsg"
        decoder.parse_jsgf(grammar).writefile(str(path))
        head, arcs = _read(path.read_text(encoding="utf-8"))
        start, final, arcs = condense(int(head["START_STATE"]), int(head["FINAL_STATE"]), arcs)
        path.write_text(_written(start, final, arcs), encoding="utf-8")
        return pocketsphinx.FsgModel.readfile(str(path), decoder.logmath, decoder.config["lw"])


def condense(start: int, final: int, arcs: list[Arc]) -> tuple[int, int, list[Arc]]:
    """Merge the states of a graph from which the same words lead to the same end, equally probable.

    Sentences begin at ``start`` and end at ``final``. The states of the smaller graph are counted from 0.

    >>> condense(0, 3, [(0, 1, "0.5", "a"), (0, 2, "0.5", "b"), (1, 3, "1", "c"), (2, 3, "1", "c")])
    (0, 2, [(0, 1, '0.5', 'a'), (0, 1, '0.5', 'b'), (1, 2, '1', 'c')])
    """
    while True:
        onwards: dict[int, set[tuple[int, str, str]]] = {}
        for begin, end, *labels in arcs:
            onwards.setdefault(begin, set()).add((end, *labels))
        instead, known = {}, {}
        for state, ways in sorted(onwards.items()):
            (end, probability, word), *others = ways
            silent = not others and not word and probability == CERTAIN
            if silent and state != start and end not in instead:
                instead[state] = end  # nothing happens here
            elif (same := known.setdefault(frozenset(ways), state)) != state:
                instead[state] = same
        if not instead:
            break
        arcs = [(_follow(a, instead), _follow(b, instead), *labels) for a, b, *labels in arcs]
        arcs = list(dict.fromkeys(arc for arc in arcs if arc[0] != arc[1] or arc[3]))
    left = {start, final, *(state for arc in arcs for state in arc[:2])}
    numbers = {state: number for number, state in enumerate(sorted(left))}
    arcs = sorted((numbers[a], numbers[b], *labels) for a, b, *labels in arcs)
    return numbers[start], numbers[final], arcs


def _follow(state: int, instead: dict[int, int]) -> int:
    while state in instead:
        state = instead[state]
    return state


def _read(text: str) -> tuple[dict[str, str], list[Arc]]:
    """Read a graph in PocketSphinx's format."""
    head, arcs = {}, []
    for line in text.splitlines():
        kind, *values = line.split() or [""]
        if kind != "TRANSITION":
            head[kind] = values[0] if values else ""
        else:
            begin, end, probability, word = (*values, "")[:4]
            arcs.append((int(begin), int(end), probability, word))
    return head, arcs


def _written(start: int, final: int, arcs: list[Arc]) -> str:
    states = 1 + max(max(arc[:2]) for arc in arcs)
    head = ["FSG_BEGIN words", f"NUM_STATES {states}", f"START_STATE {start}", f"FINAL_STATE {final}"]
    return "\n".join([*head, *(f"TRANSITION {' '.join(map(str, arc))}" for arc in arcs), "FSG_END", ""])
