"""What the demo's speakers of commands say, and the grammar by which the demo's recognisers listen.

A small grammar is the one source of both. It has two kinds of sentences: commands such as "turn the kitchen
light on", and probes such as "anna says kitchen again", which put any word into the same surroundings.

Conventions
-----------
Sentences are lower case without punctuation, words are separated by one space. All words of the grammar are
in the dictionary of PocketSphinx's English model. ``{room}`` in a pattern stands for one value of that slot.

Public: :data:`GRAMMAR`, :func:`draw`, :func:`sentences`, :func:`vocabulary`.
"""

from __future__ import annotations

import re

from soundcheck.corpora.demo.voices import Speaker
from soundcheck.seeds import generator

PATTERNS = (
    "turn the {room} {device} {switch}",
    "set the {dial} to {number}",
    "{act} the {room} {opening}",
    "play some {style} in the {room}",
    "call {person}",
    "go {direction} now",
    "move {direction} {count} steps",
    "{change} the {running}",
)
SLOTS = {
    "room": ("kitchen", "bedroom", "garage", "garden"),
    "device": ("light", "fan", "radio"),
    "switch": ("on", "off"),
    "dial": ("heating", "volume", "timer"),
    "number": ("twenty", "thirty", "forty"),
    "act": ("open", "close"),
    "opening": ("door", "window", "curtains"),
    "style": ("jazz", "rock", "music"),
    "person": ("the doctor", "my sister", "my brother"),
    "direction": ("left", "right", "forward", "back"),
    "count": ("three", "five", "nine"),
    "change": ("start", "stop"),
    "running": ("timer", "clock", "music"),
}
EACH = 6  # commands of each speaker of the full corpus

NAMES = ("anna", "peter", "maria", "david", "susan", "robert")  # women and men in turn
VERBS = ("says", "repeats", "whispers", "writes")
COMPLEMENTS = ("again", "twice", "please", "slowly")
PROBES = len(NAMES) * len(VERBS) * len(COMPLEMENTS)  # different probes of a word

_SLOT = re.compile(r"\{(\w+)\}")


def draw(speaker: Speaker, number: int) -> str:
    """Draw a command.

    The patterns are dealt to the speakers like cards, in rounds of an order of their own, and so are the
    values of every slot. So all words occur about equally often, and the four speakers of an accent use
    each pattern three times.

    Parameters
    ----------
    speaker
        Who speaks; one of the part ``commands``, whose names count them.
    number
        Number of the speaker's segment, 0 to 5.
    """
    round_, place = divmod((int(speaker.name[1:]) - 1) * EACH + number, len(PATTERNS))
    pattern = PATTERNS[generator(0, "commands", round_).permutation(len(PATTERNS))[place]]

    def value(slot: re.Match) -> str:
        values = SLOTS[slot[1]]
        turn, card = divmod(round_, len(values))
        return values[generator(0, "commands", pattern, slot[1], turn).permutation(len(values))[card]]

    return _SLOT.sub(value, pattern)


def sentences(word: str, count: int) -> list[str]:
    """Put a word into different surroundings: name, verb, the word, complement.

    Parameters
    ----------
    word
        Any text.
    count
        How many sentences, at most 96.

    Returns
    -------
    list of str
        Different sentences, always the same ones for a word. Names of women and men take turns.

    Raises
    ------
    ValueError
        If there are not so many.
    """
    if not 0 <= count <= PROBES:
        raise ValueError(f"There are {PROBES} sentences for a word, not {count}.")
    start = int(generator(0, "commands", "probe", word).integers(PROBES))
    found = []
    for n in range(count):
        round_, place = divmod(n, len(NAMES))
        # Seven has no divisor in common with the sixteen pairs of verb and complement.
        verb, complement = divmod((start + 7 * round_ + 5 * place) % (PROBES // len(NAMES)), len(COMPLEMENTS))
        name = NAMES[(start // 2 * 2 + place) % len(NAMES)]
        found.append(f"{name} {VERBS[verb]} {word} {COMPLEMENTS[complement]}")
    return found


def vocabulary() -> tuple[str, ...]:
    """List the words of the commands, in alphabetical order."""
    texts = [_SLOT.sub(" ", pattern) for pattern in PATTERNS]
    texts += [value for values in SLOTS.values() for value in values]
    return tuple(sorted({word for text in texts for word in text.split()}))


def grammar_words() -> tuple[str, ...]:
    """List all words of the grammar, those around a probed word included, in alphabetical order."""
    return tuple(sorted({*vocabulary(), *NAMES, *VERBS, *COMPLEMENTS}))


def _grammar() -> str:
    rules = {slot: " | ".join(values) for slot, values in SLOTS.items()}
    rules |= {"name": " | ".join(NAMES), "verb": " | ".join(VERBS), "complement": " | ".join(COMPLEMENTS)}
    rules["word"] = " | ".join(vocabulary())
    rules["command"] = " | ".join(_SLOT.sub(r"<\1>", pattern) for pattern in PATTERNS)
    rules["probe"] = "<name> <verb> <word> <complement>"
    lines = ["#JSGF V1.0;", "grammar sentences;", "public <sentence> = <command> | <probe>;"]
    return "\n".join([*lines, *(f"<{name}> = {rule};" for name, rule in rules.items())]) + "\n"


GRAMMAR = _grammar()  # in the JSpeech Grammar Format, https://www.w3.org/TR/jsgf
