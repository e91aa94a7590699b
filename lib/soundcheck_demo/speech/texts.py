"""What the demo's speakers say: sentences, texts of a sentiment, commands and probes of words.

The grammar of commands is the one by which the demo's recognisers listen, too. It has two kinds of sentences:
commands such as "turn the kitchen light on", and probes, sentences around a given word. Some probes quote,
which fits any word: "anna writes the word thick again", "the next word of peter is spoons". Others suit a
class of words, where that is known: "anna loves the spoons at home", "peter counts twenty doors".

Conventions
-----------
- Speakers say neutral everyday sentences, different ones for training and for testing. A sentence takes
  Praat's synthesiser two to four seconds at a usual rate. Its words say nothing about the emotion in which it
  is spoken, so that a model can only go by the voice.
- Readers read sentences of negative, neutral and positive sentiment that say the same in eight languages.
  Sentence ``n`` of a sentiment is the same sentence in every language, as far as languages allow. Japanese is
  written in kana with spaces, because the synthesiser knows few readings of kanji.
- Sentences of the grammar are lower case without punctuation, words are separated by one space. All words
  are in the dictionary of PocketSphinx's English model. ``{room}`` in a pattern stands for a value of it.
"""

from __future__ import annotations

import csv
import itertools
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common.seeds import generator
from soundcheck_demo.speech.voices import Speaker

SENTIMENTS = ("negative", "neutral", "positive")
EACH = 5  # sentences of a sentiment


def _read(name: str, column: str) -> dict[str, tuple[str, ...]]:
    """Read the sentences of a table by the value of a column."""
    sentences: dict[str, tuple[str, ...]] = {}
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sentences[row[column]] = (*sentences.get(row[column], ()), row["sentence"])
    return sentences


SCRIPT = _read("script.csv", "split")
SENTENCES = _read("texts.csv", "language")  # one sentiment after the other


def place(reader: str, number: int) -> int:
    """Say which sentence a reader reads as number 0 to 2: one of each sentiment.

    Of the ten readers of a language a woman and a man read the same ones.
    """
    return EACH * number + (int(reader[1:]) - 1) // 2 % EACH


def sentiment(place: int) -> str:
    """Give the sentiment of a sentence by its place."""
    return SENTIMENTS[place // EACH]


# Commands and probes

_DATA = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
PATTERNS, NAMES, QUOTES = _DATA["patterns"], _DATA["names"], _DATA["quotes"]
OWN: str = _DATA["own"]  # the sentence for a word that complements were given for
SLOTS, FILLERS, FRAMES = _DATA["slots"], _DATA["fillers"], _DATA["frames"]
_CLASS = {word: kind for kind, words in _DATA["classes"].items() for word in words.split()}  # one of FRAMES

_SLOT = re.compile(r"\{(\w+)\}")


def draw_command(speaker: Speaker, number: int) -> str:
    """Draw a command.

    The patterns are dealt to the speakers like cards, in rounds of an order of their own, and so are the
    values of every slot. So all words occur about equally often, and the speakers of an accent together
    use all patterns about equally often. Names of speakers and numbers of segments count them.
    """
    round_, place = divmod((int(speaker.name[1:]) - 1) * speaker.segments + number, len(PATTERNS))
    pattern = PATTERNS[generator(0, "commands", round_).permutation(len(PATTERNS))[place]]

    def value(slot: re.Match) -> str:
        values = SLOTS[slot[1]]
        turn, card = divmod(round_, len(values))
        return values[generator(0, "commands", pattern, slot[1], turn).permutation(len(values))[card]]

    return _SLOT.sub(value, pattern)


def possible(word: str, complements: Sequence[str] = ()) -> int:
    """Count the different sentences around a word; see :func:`sentences`."""
    return sum(len(pile) for pile in _piles(word, complements, 0).values())


def sentences(
    word: str, count: int, *, seed: int = 0, first: int = 0, complements: Sequence[str] = ()
) -> list[str]:
    """Put a word into different sentences that suit it, and that do not hold it a second time.

    - ``count``: how many sentences, at most :func:`possible`.
    - ``seed``: decides together with the word which sentences come first, and nothing else does.
    - ``first``: number of the first sentence: even ones have a woman's name, odd ones a man's, while there
      are any.
    - ``complements``: ends of sentences that suit this word, such as ``"of wool"`` for *bags*; if there are
      any, all sentences have the form "anna likes bags of wool". Patterns take turns.
    """
    piles = _piles(word, complements, seed)
    patterns = list(dict.fromkeys(pattern for _, pattern in piles))
    start = int(generator(seed, "probe", word).integers(len(patterns)))
    chosen: list[str] = []
    turn = 0
    while len(chosen) < count:
        sex, number = (first + turn) % 2, start + turn // 2
        turn += 1
        rotated = [patterns[(number + n) % len(patterns)] for n in range(len(patterns))]
        pile = next((piles[sex, pattern] for pattern in rotated if piles[sex, pattern]), None)
        if pile:
            chosen.append(pile.pop())
    return chosen


def _piles(word: str, complements: Sequence[str], seed: int) -> dict[tuple[int, str], list[str]]:
    """Shuffle all sentences around a word, those of each pattern with names of women and of men apart."""
    of_class = [FRAMES[_CLASS[word]]] if word in _CLASS else []
    fillers = FILLERS | {"own": tuple(dict.fromkeys(complements))}
    piles = {}
    for pattern in [OWN] if complements else [*QUOTES, *of_class]:
        slots = [slot for slot in _SLOT.findall(pattern) if slot not in ("name", "word")]
        for sex in (0, 1):
            texts = [
                pattern.format(name=name, word=word, **dict(zip(slots, values, strict=True)))
                for name in NAMES[sex::2]
                for values in itertools.product(*(fillers[slot] for slot in slots))
            ]
            texts = [text for text in texts if text.split().count(word) <= 1]
            order = generator(seed, "probe", word, pattern, sex).permutation(len(texts))
            piles[sex, pattern] = [texts[n] for n in order]
    return piles


def vocabulary() -> tuple[str, ...]:
    """List the words of the commands, in alphabetical order."""
    texts = [_SLOT.sub(" ", pattern) for pattern in PATTERNS]
    texts += [value for values in SLOTS.values() for value in values]
    return tuple(sorted({word for text in texts for word in text.split()}))


def grammar_words() -> tuple[str, ...]:
    """List all words of the grammar, those around a probed word included, in alphabetical order."""
    texts = [_SLOT.sub(" ", pattern) for pattern in (*QUOTES, *FRAMES.values())]
    texts += [value for values in FILLERS.values() for value in values]
    return tuple(sorted({*vocabulary(), *NAMES, *(word for text in texts for word in text.split())}))


def _grammar() -> str:
    rules = {slot: " | ".join(values) for slot, values in (SLOTS | FILLERS).items()}
    rules |= {"name": " | ".join(NAMES), "word": " | ".join(vocabulary())}
    known = {kind: [word for word in vocabulary() if _CLASS.get(word) == kind] for kind in FRAMES}
    rules |= {f"probed_{kind}": " | ".join(words) for kind, words in known.items() if words}
    rules["command"] = " | ".join(_SLOT.sub(r"<\1>", pattern) for pattern in PATTERNS)
    frames = [f.replace("{word}", f"{{probed_{kind}}}") for kind, f in FRAMES.items() if known[kind]]
    rules["probe"] = " | ".join(_SLOT.sub(r"<\1>", pattern) for pattern in (*QUOTES, *frames))
    lines = ["#JSGF V1.0;", "grammar sentences;", "public <sentence> = <command> | <probe>;"]
    return "\n".join([*lines, *(f"<{name}> = {rule};" for name, rule in rules.items())]) + "\n"


GRAMMAR = _grammar()  # in the JSpeech Grammar Format, https://www.w3.org/TR/jsgf
