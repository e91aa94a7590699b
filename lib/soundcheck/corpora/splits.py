"""Splits of data under any of their usual names, and which of them is evaluated.

- A word of the name decides: ``Test1``, ``test-clean`` and ``TestSet`` are test sets. Of several words, train
  comes first. What is called ``eval``, or both dev and test, is a test set if there is no other.
- Without ``split:`` the split ``test`` is evaluated, or else all test sets. If there are none, the suite has
  to say which one, unless no name tells of training or development: then everything is evaluated.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence

from soundcheck.common.messages import counted, did_you_mean, flow, input_error, quoted
from soundcheck.suite.entries import CorpusEntry

ALL = "all"
TRAIN, DEV, TEST, EVAL = "train", "dev", "test", "eval"
COLUMNS = ("split", "splits", "split_set", "set", "subset", "partition", "data_split")  # that may hold splits
FEW = 20  # different splits
_WORDS = {
    TRAIN: "train[a-z]*|trn|pretrain[a-z]*|finetun[a-z]*|entra[iî]nement|entrenamiento|treino|训练集?",
    DEV: "dev|devel|develop|development|val|valid|validation|validate|vld|validierung|验证集?|开发集?",
    TEST: "test|tests|testing|tst|evltest|evaltest|testdaten|prueba|teste|测试集?",
    EVAL: "eval|evl|evaluation|devtest|testdev|heldout|holdout",
}
_CLASSES = {name: re.compile(f"(?:{words})(?:set|data|split|list)?") for name, words in _WORDS.items()}
_SHORT = {"tr": TRAIN, "cv": DEV, "dt": DEV, "va": DEV}  # of WSJ; of folders these are languages
_SHORT |= dict.fromkeys(("et", "tt", "te", "ts"), TEST)


@functools.cache
def split_class(name: str) -> str:
    """Say what a split is for: training, development, testing, perhaps testing; empty = unknown.

    >>> [split_class(name) for name in ("TRAIN", "Development", "Test2", "test-clean", "eval92", "latest")]
    ['train', 'dev', 'test', 'test', 'eval', '']
    """
    words = re.findall(r"[^\W\d_]+", name.lower())
    words += [*re.findall(r"[A-Z]?[a-z]+", name), "".join(words)]
    kinds = {kind for kind, known in _CLASSES.items() for word in words if known.fullmatch(word.lower())}
    if TRAIN in kinds:
        return TRAIN
    if TEST in kinds and DEV not in kinds:
        return TEST
    return EVAL if kinds - {DEV} else DEV if kinds else ""


def split_name(text: str) -> str:
    """Give the Hugging Face Hub's name of a split that is called by a single word; other names stay."""
    usual = {TRAIN: "train", DEV: "validation", TEST: "test"}
    return usual.get(split_class(text.lower()), text) if text.isalpha() else text


def split_among(parts: Sequence[str]) -> str:
    """Name the split that a part of a path is; empty if none is one.

    >>> split_among(["data", "dev"]), split_among(["Test"]), split_among(["Test1"]), split_among(["latest"])
    ('validation', 'test', 'Test1', '')
    """
    return next((split_name(part) for part in parts if split_class(part)), "")


def tell_splits(values: Iterable[str]) -> bool:
    """Say whether all that a column has are splits, among them training data."""
    names = {*values} - {""}
    kinds = {split_class(name) for name in names} if len(names) <= FEW else {""}
    return "" not in kinds and TRAIN in kinds and len(kinds) > 1


def kinds_of(names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Say what splits are for, by what the data say or by their names; see :func:`split_class`."""
    short = {name: _SHORT.get(re.match(r"[a-z]*", name.lower())[0], "") for name in names}
    return {name: kinds.get(name) or split_class(name) or short[name] for name in names}


def pick(kinds: Mapping[str, str], wanted: str | None) -> list[str]:
    """Choose the splits that are evaluated; none if the suite has to say it.

    ``wanted`` is what the suite says: a name, or another usual name for the same; ``None`` = nothing.
    """
    if wanted in kinds:
        return [wanted]
    word = (wanted or TEST).strip().lower()
    meant = split_class(word)
    same = [name for name in kinds if name.strip().lower() == word]
    of_kind = [name for name, kind in kinds.items() if meant and kind == meant]
    near = [name for name, kind in kinds.items() if {meant, kind} == {TEST, EVAL}]
    if picked := same or of_kind or near:
        return picked
    return list(kinds) if not wanted and {TRAIN, DEV}.isdisjoint(kinds.values()) else []


def likely(kinds: Mapping[str, str]) -> str:
    """Name the split that may best be evaluated if there is no test set."""
    return min(filter(None, kinds), key=lambda name: (DEV, "", TRAIN).index(kinds[name]))


def choose(
    counts: Mapping[str, int], entry: CorpusEntry, where: str, unit: str, declared: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Choose the splits of a corpus that are evaluated, and say which these are.

    - ``counts``: split -> its size in units, such as rows; ``""`` = what belongs to none.
    - ``declared``: what the data say about some of them, as in :func:`kinds_of`.
    - Returns names of the splits, and notices.
    - Raises InputError: if no split is the one that the suite names, several may be, or it has to name one.
    """
    names = sorted(counts)
    if (names == [""] and not entry.split) or entry.split == (ALL,):
        return names, []
    kinds = kinds_of(names, declared)
    chosen = pick(kinds, None) if entry.split is None else []

    def named(splits: Iterable[str]) -> str:
        sizes = {quoted(split or "no split", 40): counted(counts[split], unit) for split in splits}
        return ", ".join(f"{split} ({size})" for split, size in sizes.items())

    for wanted in entry.split or ():
        meant = pick(kinds, wanted)
        if len(meant) != 1:
            several = f"; several may be meant: {named(meant)}" if meant else ""
            remedy = f"Name one of them, or all: `split: {flow(meant)}`"
            remedy = remedy if meant else did_you_mean(wanted, filter(None, names)) or "Remove the key"
            raise input_error(where, f"no {unit} belongs to the split {quoted(wanted)}{several}", remedy)
        chosen += meant
    if not chosen:
        example = likely(kinds)
        reserve = ", if no model learned from it" if kinds[example] == TRAIN else ""
        remedy = f"Say which one is evaluated under corpora.{entry.name}, such as `split: {example}`{reserve}"
        what = f"none of the splits is called test: {named(names)}"
        raise input_error(where, what, f"{remedy}. `split: all` evaluates everything")
    others = [name for name in names if name not in chosen]
    if not others and len(chosen) == 1 and kinds[chosen[0]]:
        return chosen, []
    which = f"the split {named(chosen)} is" if len(chosen) == 1 else f"the splits {named(chosen)} are"
    notice = f"{which} evaluated; not used: {named(others) or 'none'}"
    return chosen, [notice if entry.split or len(chosen) == 1 else f"{notice}. `split:` chooses one"]
