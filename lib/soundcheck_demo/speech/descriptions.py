"""What the pages of the book say about the demo's corpora, with the numbers of the corpora themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from soundcheck_demo.speech import commands, corpus, texts
from soundcheck_demo.speech.derived import CONDITIONS, ITEMS, SEGMENTS
from soundcheck_demo.speech.voices import TEXTS, Speaker

LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "pt": "Portuguese",
    "zh": "Chinese",
}
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()

_TEXT = Path(__file__).with_name("descriptions.md").read_text(encoding="utf-8")
WORDING = dict(section.split("\n", 1) for section in _TEXT.removeprefix("# ").split("\n# "))


def describe(size: str, part: str) -> str:
    """Describe a demo corpus for people, in a few sentences of plain text."""
    speakers = corpus.speakers(size, part)
    test = [(speaker, count) for speaker, count in speakers if speaker.split == "test"]
    accents: Counter[str] = Counter()
    for speaker, count in test:
        accents[speaker.accent] += count
    numbers = {
        "test": str(len(test)),
        "train": str(len(speakers) - len(test)),
        "people": _people([speaker for speaker, _ in test]),
        "accents": _list([accent.title() for accent in accents]),
        "group_segments": _range(accents.values()),
        "own_segments": _range(count for _, count in test),
        "languages": _list(
            [LANGUAGES[name] for name in dict.fromkeys(speaker.language for speaker, _ in test)]
        ),
        "sentences": _number(texts.EACH if part == TEXTS else len(texts.SCRIPT["test"])),
        "words": str(len(commands.vocabulary())),
        "items": _number(ITEMS),
        "segments": _number(SEGMENTS),
        "conditions": _number(len(CONDITIONS)),
    }
    return " ".join(WORDING[part].format(**numbers).split())


def _people(speakers: Sequence[Speaker]) -> str:
    """Say how many women and men the first group has; all groups have as many."""
    first = (speakers[0].language, speakers[0].accent)
    sexes = [speaker.sex for speaker in speakers if (speaker.language, speaker.accent) == first]
    parts = []
    for sex, one, several in (("female", "woman", "women"), ("male", "man", "men")):
        count = sexes.count(sex)
        parts.append(f"{_number(count)} {one if count == 1 else several}")
    return _list(parts)


def _number(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else str(count)


def _range(counts: Iterable[int]) -> str:
    fewest, *_, most = sorted([*counts] * 2)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _list(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
