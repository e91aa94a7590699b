"""The demo's speech recognisers: PocketSphinx with its English model, told what to listen for.

In a suite: ``python: "soundcheck_demo.models.recogniser:grammar"``, or ``hurried``, ``gated``, ``words``,
``digits``.

- ``grammar`` expects a sentence of :mod:`soundcheck_demo.speech.texts` from beginning to end.
- ``hurried`` expects the same and looks less closely: it needs less time and errs more.
- ``gated`` is ``grammar`` behind a gate: it writes nothing into a steady sound without pauses.
- ``words`` expects the words of the commands in any order, and says how sure it is of each: a measure of the
  sound alone that no other word competes for, so it is much too sure.
- ``digits`` expects one digit or more.

PocketSphinx (Huggins-Daines et al. 2006, Pocketsphinx: a free, real-time continuous speech recognition system
for hand-held devices) is a real recogniser of the time before neural networks. Its model was trained on
Americans, at 16 kHz: other accents and telephone bands are hard for it.

Conventions
-----------
A transcript is lower case without punctuation; it is empty if nothing was recognised. An answer depends on
the signal alone: means of the features are taken over the signal, the estimate of the noise starts anew, and
before each signal the decoder hears the same short noise, listening for all phones of the language. Else
frames that are not scored anew ("ds") borrow from phones that were last looked at some signals ago.
The level is left as it is; signals are cut to full scale and rounded to 16 bits as any sound card does it.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import audresample
import numpy as np
import pocketsphinx

from soundcheck_demo.speech import texts

SAMPLING_RATE = 16000
SHORTEST = 0.1  # seconds; shorter signals hold no word
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
GATE = 25  # dB between loud and quiet frames; commands have 36 and more, babble about 17 at most
FRAME = 320  # samples of a frame of the gate
FORGET = "forget"  # name of the search that listens for all phones, and 0.05 s of noise that it hears
BEFORE = np.random.default_rng(1).normal(0, 1000, 800).astype(np.int16).tobytes()
SENTENCES = ("grammar", "hurried")  # tasks that expect whole sentences
# What the decoder is told. Looser beams and a second pass over the lattice take longer and find no more.
# "wip" is what a word costs, else noise is heard as many short words; a grammar of sentences needs the usual
# cost only. Commands are heard under many changes of the sound, so a state has 2 Gaussians there, not 4, and
# not every frame is scored ("ds"); a beam that is a little wider makes up for that.
COMMON = {"beam": 1e-30, "pbeam": 1e-30, "wbeam": 1e-20, "pl_window": 0, "bestpath": False}
SETTINGS: dict[str, dict[str, float]] = {
    "grammar": {"topn": 2, "ds": 2, "beam": 1e-35, "pbeam": 1e-35, "wbeam": 1e-23},
    "hurried": {"topn": 2, "ds": 3, "beam": 1e-25, "pbeam": 1e-25, "wbeam": 1e-17},
    "words": {"wip": 0.01},
    "digits": {"wip": 0.01},
}


def grammar(signal: np.ndarray, sampling_rate: int) -> dict[str, str]:
    """Recognise a sentence of the commands' grammar in a signal of any length and content."""
    return _answer("grammar", signal, sampling_rate)


def hurried(signal: np.ndarray, sampling_rate: int) -> dict[str, str]:
    """Recognise a sentence of the commands' grammar in less time, with more errors; as :func:`grammar`."""
    return _answer("hurried", signal, sampling_rate)


def gated(signal: np.ndarray, sampling_rate: int) -> dict[str, str]:
    """Recognise a sentence as :func:`grammar` does, but nothing where no pause tells words from noise."""
    samples = np.clip(np.nan_to_num(np.asarray(signal, dtype=np.float64).ravel()), -1, 1)
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    if len(frames):
        quiet, loud = np.percentile(np.sqrt(np.mean(frames**2, axis=1)), [10, 99])
        if loud < max(quiet, 1e-6) * 10 ** (GATE / 20):
            return {"transcript": ""}
    return grammar(signal, sampling_rate)


def words(signal: np.ndarray, sampling_rate: int) -> dict[str, object]:
    """Recognise words of the commands in any order, each with what the decoder gives as its probability."""
    answer = _answer("words", signal, sampling_rate)
    if answer["transcript"]:
        answer["words"] = [
            {"word": part.word.partition("(")[0], "confidence": float(part.prob)}
            for part in _decoder("words").seg()
            if part.word[0] not in "<("  # silence and joints of the grammar
        ]
    return answer


def digits(signal: np.ndarray, sampling_rate: int) -> dict[str, str]:
    """Recognise digits, zero to nine; otherwise as :func:`grammar`."""
    return _answer("digits", signal, sampling_rate)


def fingerprint() -> str:
    """Name what the answers depend on besides this code: the recogniser, whose model comes with it."""
    return f"pocketsphinx {importlib.metadata.version('pocketsphinx')}"


def _answer(task: str, signal: np.ndarray, sampling_rate: int) -> dict[str, Any]:
    signal = np.asarray(signal, dtype=np.float32).ravel()
    if sampling_rate != SAMPLING_RATE:
        signal = audresample.resample(signal, sampling_rate, SAMPLING_RATE).ravel()
    if len(signal) < SHORTEST * SAMPLING_RATE:
        return {"transcript": ""}
    samples = np.round(np.clip(np.nan_to_num(signal), -1.0, 32767 / 32768) * 32768).astype(np.int16)
    if not samples.any():
        return {"transcript": ""}
    decoder = _decoder(task)
    _listen(decoder, FORGET, BEFORE)
    _listen(decoder, task, samples.tobytes())
    hypothesis = decoder.hyp()
    return {"transcript": hypothesis.hypstr if hypothesis else ""}


def _listen(decoder: pocketsphinx.Decoder, search: str, samples: bytes) -> None:
    decoder.activate_search(search)
    decoder.reinit_feat()  # else it keeps its estimate of the noise from what it heard before
    decoder.start_utt()
    try:
        decoder.process_raw(samples, full_utt=True)
    finally:
        decoder.end_utt()


@functools.lru_cache(maxsize=len(SETTINGS))
def _decoder(task: str) -> pocketsphinx.Decoder:
    text, vocabulary = _task(task)
    with tempfile.TemporaryDirectory() as folder:
        dictionary = Path(folder) / "words.dict"
        dictionary.write_text("".join(_pronunciations(vocabulary)), encoding="utf-8")
        decoder = pocketsphinx.Decoder(
            hmm=pocketsphinx.get_model_path("en-us/en-us"),
            dict=str(dictionary),
            lm=None,
            loglevel="FATAL",
            logfn=os.devnull,
            **(COMMON | SETTINGS[task]),
        )
    if task in SENTENCES:
        decoder.add_fsg(task, condensed(decoder, text))
    else:  # words in any order come back to where they began, which has few states anyway
        decoder.add_jsgf_string(task, text)
    decoder.add_keyphrase(FORGET, vocabulary[0])  # beside its word such a search listens for any phone
    return decoder


def _task(task: str) -> tuple[str, tuple[str, ...]]:
    """Give grammar and vocabulary."""
    if task in SENTENCES:
        return texts.GRAMMAR, texts.grammar_words()
    vocabulary = texts.vocabulary() if task == "words" else DIGITS
    return f"#JSGF V1.0;\ngrammar {task};\npublic <{task}> = ({' | '.join(vocabulary)})+;\n", vocabulary


def _pronunciations(vocabulary: Sequence[str]) -> Iterator[str]:
    """Pick the lines of the model's dictionary that are needed; loading all of it would take longer."""
    wanted = set(vocabulary)
    with open(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as file:
        for line in file:
            if line.split(maxsplit=1)[0].partition("(")[0] in wanted:
                yield line


# The graph of words that PocketSphinx follows, as small as it can be. A grammar has a state behind every word
# of every rule, all of which are looked at ten milliseconds after ten milliseconds. Most are followed by the
# same words with the same probabilities: one state instead of them all gives the same answers, but for a few
# near ties, in two thirds of the time. Where words come in any order, more answers are others.

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
