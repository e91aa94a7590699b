"""What the pages of the book say about the demo's corpora, with the numbers of the corpora themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from soundcheck_demo.speech import commands, corpus, script, texts
from soundcheck_demo.speech.monologues import SEGMENTS
from soundcheck_demo.speech.recordings import CONDITIONS, ITEMS
from soundcheck_demo.speech.voices import COMMANDS, MONOLOGUES, RECORDINGS, SPEECH, TEXTS, Speaker

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

WORDING = {
    SPEECH: """
        All speech of this corpus is synthetic. Praat's built-in synthesiser reads neutral everyday
        sentences with {test} test and {train} training speakers: a voice, the pronunciation rules of a
        region or language, and a habitual pitch, rate and vocal tract each. In the test split {people} each
        speak English with these accents: {accents}, {group_segments} segments an accent and {own_segments}
        a speaker. Foreign accents are English text read by the rules of the other language. All accents
        have the same voices, with small differences of pitch and vocal tract, so differences between
        accents are found more easily than among people. Arousal, dominance and valence are drawn around the
        regions of anger, happiness, neutral and sadness; they set pitch, pitch range, rate, loudness,
        spectral slope, breathiness and vocal tract, with errors of expression, and every recording has a
        gain and a noise floor of its own. So the labels are known exactly, voices and the {sentences}
        sentences of the test split do not occur in training, and the corpus can show that the tests work,
        how a book reads, and how a model of prosody reacts to changes of a signal. It cannot show how a
        model does on people: real emotion, real rooms and real speakers vary in ways that this corpus does
        not have, and nobody was asked what they hear.
        """,
    TEXTS: """
        All speech of this corpus is synthetic. Praat's built-in synthesiser reads sentences of negative,
        neutral and positive sentiment, {sentences} of each, in {languages}. Each language has {people},
        with the same voices in all languages, and everybody reads one sentence of each sentiment. The
        sentences say the same in all languages and are read without emotion, so that only the words differ
        between sentiments, and only language and synthesiser between languages. The translations are ours.
        The corpus shows that the tests work; it cannot show how a model does on people.
        """,
    RECORDINGS: """
        All speech of this corpus is synthetic, and so are its recordings: {items} segments of each of the
        {test} test speakers of the demo corpus as a headset, a boundary microphone on a table and a mobile
        phone would record them at the same time, {conditions} recordings of each segment. Room, filters,
        compression and noise are computed. The corpus shows that the tests of recording conditions work; it
        cannot show how a model does with real microphones.
        """,
    COMMANDS: """
        All speech of this corpus is synthetic. Praat's built-in synthesiser speaks short commands, such as
        turn the kitchen light on, with {test} speakers: {people} for each of these accents: {accents},
        {group_segments} commands an accent. The same voices speak all accents, with small differences of
        pitch and vocal tract, so that accents differ in their pronunciation only. The commands come from a
        small grammar of {words} words, whose patterns and values are dealt evenly, and the transcripts are
        exact. They are spoken without emotion and recorded with little noise. Foreign accents are strong:
        the synthesiser reads English spelling as if it were the other language. The corpus shows that the
        tests of speech recognition work, and what changes of a signal do to a recogniser; it cannot show
        how a recogniser does on people.
        """,
    MONOLOGUES: """
        All speech of this corpus is synthetic: {segments} segments each of half of the {test} test speakers
        of the demo corpus, one after the other in one file, with pauses of 0.3 to 1.2 seconds. Half of these
        speakers jump from one emotion to the next; the others begin with the least aroused segment and end
        with the most aroused one. The corpus shows that the tests of behaviour in time work; it cannot show
        how a model follows people, who do not change their mood as dice fall.
        """,
}


def describe(size: str, part: str) -> str:
    """Describe a demo corpus for people, in a few sentences of plain text.

    Parameters
    ----------
    size, part
        As :func:`soundcheck_demo.speech.corpus.build` has them.
    """
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
        "sentences": _number(texts.EACH if part == TEXTS else len(script.TEST)),
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
    found = []
    for sex, one, several in (("female", "woman", "women"), ("male", "man", "men")):
        count = sexes.count(sex)
        found.append(f"{_number(count)} {one if count == 1 else several}")
    return _list(found)


def _number(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else str(count)


def _range(counts: Iterable[int]) -> str:
    fewest, *_, most = sorted([*counts] * 2)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _list(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
