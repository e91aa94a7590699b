"""What counts as the same word: text normalisers, chosen by name.

Word error rates depend on the normaliser as much as on the recogniser. So it is chosen by name from a closed
list, both sides get the same one, and its name and version belong to every number.

Conventions
-----------
- A normaliser maps a text to a text whose words are what ``.split()`` gives, separated by single blanks.
- ``none`` and ``basic`` are idempotent. The two of Whisper come from the package whisper-normalizer, which
  is imported when one of them is first used. What they return is OpenAI's, but for blanks at the ends.
- ``basic`` keeps a word whole at the signs that UAX 29 allows inside of words: apostrophes, the colon of
  Swedish and Finnish (EU:n), the middle dot of Catalan (l·l), the gershayim of Hebrew.
- A mark of a noise or an unknown word is a bracket with nothing but words of ``noise_marks.csv``, at least
  one of which names a noise (*sound*), is a label that people do not put into round brackets (*label*) or
  only beside other words (*together*), or one that only stands between < and > (*tag*). So are all tokens of
  Whisper, ``<|en|>``, and events of CHAT, ``&=laughs``. Of ``[laughter-yes]`` the word stays.
- ``open-asr`` is the one of the Open ASR Leaderboard (Srivastav et al. 2025), whose rules are Whisper's and
  some of its own. They change with time, so its version names the commit whose rules these are.
- **No text takes long.** More than 30 combining marks in a row are cut to 30, as in the Stream-Safe Text
  Format of Unicode (UAX 15), because normal forms are slow to sort such rows. Regular expressions of the
  package look through the rest of the text for each bracket that is never closed, and through white space
  from each of its characters. So such brackets become one that it drops later anyway, and white space is cut
  to two characters, which changes no result.
"""

import csv
import dataclasses
import functools
import importlib.metadata
import re
import types
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_PACKAGE = "whisper-normalizer"
_NOISE_MARKS = Path(__file__).with_name("noise_marks.csv")
_MARKS = 30  # combining marks in a row that are kept; no script needs more
_ROUNDS = 8  # far more than any text needs until nothing changes any more


@dataclasses.dataclass(frozen=True)
class Normaliser:
    """A way to write texts so that they can be compared word by word; call it with a text."""

    name: str  # name by which it is chosen
    version: str  # changes whenever results may; for those of others, whose rules these are, with the package
    description: str  # what it does and its known traps, for people
    function: Callable[[str], str] = dataclasses.field(repr=False)  # maps a text to the normalised one

    def __call__(self, text: str, *, turkic: bool = False) -> str:
        """Normalise a text; ``turkic`` as :func:`is_turkic` says of its language.

        >>> NORMALISERS["basic"]("Don’t  stop — it's 5 o'clock!")
        "don't stop it's 5 o'clock"
        """
        if turkic and self.name[:5] == "basic":  # Whisper's have the rules of others
            text = text.replace("I\u0307", "i").translate(_TURKIC_SMALL)
        return self.function(text)

    @property
    def keeps_marks(self) -> bool:
        """Whether marks of noises count as words; Whisper's drop all brackets but ``{}``."""
        return self.function in (_plain, _with_marks)

    def prepare(self, text: str) -> str:
        """Put ``@``, no word, for the marks that it drops, whose brackets would be read as alternatives."""
        return without_marks(text, " @ ") if self.function is _basic else text


def changed_examples(
    normaliser: Callable[[str], str], texts: Iterable[str | None], count: int = 5
) -> list[tuple[str, str]]:
    """Show what a normaliser does to some texts.

    Returns at most ``count`` distinct texts and what became of them. Those that changed beyond white space
    come first, then the others; both in the order in which they first occur.

    >>> changed_examples(NORMALISERS["basic"], ["stop", "Stop!", "Stop!", "go  on"], count=2)
    [('Stop!', 'stop'), ('stop', 'stop')]
    """
    changed: list[tuple[str, str]] = []
    alike: list[tuple[str, str]] = []
    for text in dict.fromkeys(text for text in texts if isinstance(text, str)):
        if len(changed) >= count:
            break
        normalised = normaliser(text)
        (alike if normalised == _plain(text) else changed).append((text, normalised))
    return (changed + alike)[:count]


def _plain(text: str) -> str:
    return " ".join(text.split())


# Ours


class Translation(dict[int, str]):
    """A table for ``str.translate`` that asks a function about each character once."""

    def __init__(self, entry: Callable[[str], str]) -> None:
        super().__init__()
        self._entry = entry

    def __missing__(self, code: int) -> str:
        self[code] = entry = self._entry(chr(code))
        return entry


# As people type them, and letters of the same look; between letters nothing else is meant
APOSTROPHES = "'’‘‛ʼ´`′՚׳ʻʽʾʿʹꞌꞋ"
# Hebrew gershayim, middle dot, colon; typed in several ways
_SIGNS = {**dict.fromkeys("״“”„‟", '"'), **dict.fromkeys("‧•∙⋅", "·"), "꞉": ":"}
_BLANKS = "\u200b\u115f\u1160\u3164\uffa0"  # zero width space, Hangul fillers: no category says that
_IN_WORDS = "ـ՛՜՞"  # Arabic stretching, Armenian stress and questions: not letters, and not the end of a word
# Marks that only choose between looks
_VARIANTS = re.compile("[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_DOTTED = re.compile("(?<=[ijį])\u0307")  # what İ leaves, and Lithuanian writes below accents
_JOINED_SUFFIX = re.compile("(?<=[\u1820-\u18aa])\u202f(?=[\u1820-\u18aa])")  # Mongolian
_CUT_LETTER = re.compile("([ണനരലളകত])[\u0d4d\u09cd]\u200d")  # spelled as three characters before Unicode 5.1
_CUT_LETTERS = dict(zip("ണനരലളകত", "ൺൻർൽൾൿৎ", strict=True))


def _clean(character: str) -> str:
    """Settle what is typed in several ways, drop what cannot be seen."""
    if character in APOSTROPHES:
        return "'"
    if character in _BLANKS:
        return " "
    if (
        character in _IN_WORDS
        or unicodedata.category(character) in ("Cf", "Me")
        or _VARIANTS.match(character)
    ):
        return ""
    return _SIGNS.get(character, character)


def _kind(character: str) -> str:
    """Tell Latin (l), Hebrew (h) and other letters (b), digits (d), marks (m) and signs from what separates.

    Characters that this version of Unicode does not know yet count as letters.
    """
    category = unicodedata.category(character)
    if category[0] == "N":
        return "d"
    if category[0] == "L" or category in ("Co", "Cn"):
        return {"LATIN": "l", "HEBREW": "h"}.get(unicodedata.name(character, "").split(" ")[0], "b")
    return "m" if category[0] == "M" else character if character in "'\":·" else " "


def fold_case(text: str) -> str:
    """Make letters small; İ is i, without the combining dot that Unicode's folding leaves.

    >>> fold_case("İYİ Straße")
    'iyi strasse'
    """
    return _DOTTED.sub("", text.casefold())


_TURKIC = re.compile(r"(tr|tur|turkish|t[uü]rk[cç]e|türkisch|aze?|azj|azeri|azerbaijani|gag|crh)(?![^\W_])")
_TURKIC_SMALL = str.maketrans({"İ": "i", "I": "ı"})


@functools.cache
def is_turkic(language: object) -> bool:
    """Say whether a language, by its code or name, has I without a dot beside İ, as Turkish and Azeri."""
    return isinstance(language, str) and bool(_TURKIC.match(fold_case(language.strip())))


# Brackets, of full width too; %NOISE !SIL ++NOISE++ &=noise /noise/ *coughs*. With limits: no text takes long
_BRACKETS = [(r"\[［【", r"\]］】", ""), ("<＜", ">＞", ""), ("{｛", "}｝", "/"), ("(（", ")）", "")]
_MARK = re.compile(
    r"\*[^\s*][^*]{0,60}\*|&=[\w:]{1,60}|(?<![\w/])/{1,2}[^\s/]{1,60}/{1,2}(?![\w/])|(?<!\w)(?:[%％!~]|\+\+)\w{1,60}(?:\+\+)?(?!\w)"
    + "".join(
        f"|[{first}]{{1,3}}[^{first}{last}{no}]{{1,60}}[{last}]{{1,3}}" for first, last, no in _BRACKETS
    )
)
_MARK_START = re.compile(r"[\[［【<＜{｛(（*%％!~+/&]")
_LAUGHED = re.compile(r"\[(?:laughter|laugh|noise)-([^\s\]]+)\]", re.IGNORECASE)  # a word said with laughter


@functools.cache
def _mark_words() -> dict[str, str]:
    with _NOISE_MARKS.open(encoding="utf-8", newline="") as file:
        next(rows := csv.reader(file))
        return {word: kind for kind, words in rows for word in words.split()}


def _is_mark(written: str) -> bool:
    if written.startswith(("<|", "&=")):
        return True
    words = re.findall(r"[^\W\d_]+", fold_case(written))
    kinds = {_mark_words().get(word) for word in words}
    named = {"sound", "together"} if len(words) > 1 else {"sound"}
    if written[0] not in "(（*/" or "%" in written:  # people put words into round brackets
        named |= {"together", "label"} | ({"tag"} if written[0] == "<" else set())
    return bool(kinds & named) and kinds <= {*named, "together", "label", "beside"}


def noise_marks(text: str) -> list[str]:
    """List the marks of noises and unknown words in a text, as written.

    >>> noise_marks("[noise] turn (two) <unk> left ((laughs)) [laughs at me]")
    ['[noise]', '<unk>', '((laughs))']
    """
    marks = _MARK.findall(text) if _MARK_START.search(text) else []
    return [written for written in marks if _is_mark(written) or _LAUGHED.fullmatch(written)]


def without_marks(text: str, instead: str = " ") -> str:
    """Put something in the place of marks of noises and unknown words."""
    text = _LAUGHED.sub(lambda match: match[0] if _is_mark(match[0]) else match[1], text)
    return _MARK.sub(lambda match: instead if _is_mark(match[0]) else match[0], text)


def _stacking(character: str) -> str:
    """Tell characters that normal forms sort (m) from those that end a row of such."""
    return "m" if all(map(unicodedata.combining, unicodedata.normalize("NFKD", character))) else " "


_CLEAN, _KIND, _STACKING = map(Translation, (_clean, _kind, _stacking))
_WORD = re.compile(
    "[bdhl][bdhlm]*(?:(?:'[bdhl]|(?<=[dlm]):l|(?<=[lm])·l|(?<=[hm])\"h)[bdhlm]*)*"  # signs only inside
)
_ASCII_WORD = re.compile("[a-z0-9]+(?:'[a-z0-9]+|:[a-z][a-z0-9]*)*")  # the same where there are no marks
_LONG_BLANK = re.compile(r"(\s\s)\s+")
_STACK = re.compile("m" * _MARKS + "m+")


def _unstacked(text: str) -> str:
    """Cut rows of combining marks to what any script needs."""
    stacking = "" if text.isascii() else text.translate(_STACKING)
    for stack in reversed(list(_STACK.finditer(stacking))):
        text = text[: stack.start() + _MARKS] + text[stack.end() :]
    return text


def _basic(text: str) -> str:
    return _with_marks(without_marks(text) if _MARK_START.search(text) else text)


def _with_marks(text: str) -> str:
    if text.isascii():
        return " ".join(_ASCII_WORD.findall(text.lower().replace("`", "'")))
    return " ".join(filter(None, map(_basic_piece, _JOINED_SUFFIX.sub("", text).split())))


@functools.lru_cache(maxsize=2**13)
def _basic_piece(text: str) -> str:
    """Normalise what stands between white space, which nothing reaches across; the same pieces come often."""
    text = _CUT_LETTER.sub(lambda match: _CUT_LETTERS[match[1]], text)
    for _ in range(_ROUNDS):  # folding may undo a normal form and dropping may join parts of another
        before = text
        text = fold_case(unicodedata.normalize("NFKC", _unstacked(text.translate(_CLEAN))))
        if text == before:
            break
    return " ".join(text[word.start() : word.end()] for word in _WORD.finditer(text.translate(_KIND)))


# Whisper's

_OPENAI = "20250625"  # release of openai-whisper whose rules these are
_NOT_OF_OPENAI = ("kinda", "sorta", "dunno", "cause")  # contractions that the package added


@functools.cache
def _whisper(name: str) -> Callable[[str], str]:
    if name == "basic":
        from whisper_normalizer.basic import BasicTextNormalizer

        return BasicTextNormalizer()
    from whisper_normalizer.english import EnglishTextNormalizer

    normaliser = EnglishTextNormalizer()
    for word in _NOT_OF_OPENAI:
        normaliser.replacers.pop(rf"\b{word}\b", None)
    if name == "leaderboard":
        normaliser.ignore_patterns = "(?!)"  # they have gone before letters were joined; "u.m." is no um
    return normaliser


def _whisper_basic(text: str) -> str:
    return _plain(_whisper("basic")(_harmless(text)))


def _whisper_english(text: str) -> str:
    return _english("english", _harmless(text))


def _english(name: str, text: str) -> str:
    """Apply the package; its rules for numbers give up on some that are thousands of digits long.

    Where they do, the halves of the text are normalised one by one, down to a single word, which gets the
    basic normaliser. ASR models that are stuck write such numbers, and one text must not end a run.
    """
    try:
        return _plain(_whisper(name)(text))
    except (AssertionError, ValueError):
        words = text.split()
    if len(words) < 2:
        return _basic(text)
    half = len(words) // 2
    parts = [" ".join(words[:half]), " ".join(words[half:])]
    return _plain(" ".join(_english(name, _harmless(part)) for part in parts))


# The Open ASR Leaderboard's of 2025: Whisper's for English with ellipses and abbreviations before it

# Commit of huggingface/open_asr_leaderboard; later ones have more fillers, respell names, join compounds
_LEADERBOARD = "0c261bf"
_FILLED_PAUSES = re.compile(r"\b(?:hmm|mm|mhm|mmm|uh|um)\b")
_ELLIPSIS = re.compile(r"\s*\.{3,}\s*")


def _joined_letters() -> list[tuple[re.Pattern[str], str]]:
    """List the rules that make a word of letters with periods; each sees what the last one left."""

    def rule(letters: int, between: str, end: str, plural: str = "") -> tuple[re.Pattern[str], str]:
        pattern = r"\b" + between.join(["([a-z])"] * letters) + end + r"\b"
        return re.compile(pattern), "".join(f"\\{k}" for k in range(1, letters + 1)) + plural

    close = [rule(letters, r"\.", r"\.?") for letters in (4, 3, 2)]
    apart = [rule(letters, r"\.\s+", r"\.") for letters in (4, 3, 2)]
    return [rule(3, r"\.", r"\.s", "s"), *close, *apart, rule(3, r"\.", r"\.'s", "s")]


_JOINED_LETTERS = _joined_letters()


def _leaderboard(text: str) -> str:
    text = _ELLIPSIS.sub(" ", _LONG_BLANK.sub(r"\1", text.lower()))
    text = re.sub(r"\(([^)]+?)\)", "", _harmless(text))
    text = re.sub(r"\s+'", "'", _FILLED_PAUSES.sub("", text))
    for pattern, replacement in _JOINED_LETTERS:
        text = pattern.sub(replacement, text)
    return _english("leaderboard", text)


def _harmless(text: str) -> str:
    """Do first what takes the package long; it then finds nothing left of it and returns the same."""
    text = _LONG_BLANK.sub(r"\1", _unstacked(text))
    text = _shut(text, "<[", ">]")
    text = re.sub(r"[<\[][^>\]]*[>\]]", "", text)  # as in the package; may leave new parentheses without end
    return _shut(text, "(", ")")


def _shut(text: str, opening: str, closing: str) -> str:
    """Replace brackets that are never closed by one that no rule of the package knows."""
    end = max(map(text.rfind, closing)) + 1
    return text[:end] + text[end:].translate(dict.fromkeys(map(ord, opening), "{"))


_WITH = f"with {_PACKAGE} {importlib.metadata.version(_PACKAGE)}"
_BASIC = (
    "For any language: no case, one form of characters that look alike (NFKC). Punctuation and symbols "
    "become blanks: well-known is two words, and so is 3.5. Apostrophes and other signs inside of words "
    "(EU:n, l·l), digits and combining marks stay, what cannot be seen goes. A number in words and the same "
    "in digits stay different. I is ı where the language is Turkish or Azeri. Marks of noises and unknown "
    "words ([noise], <unk>, %HESITATION) "
)
_ALL = (
    Normaliser("none", "1", "Changes nothing but white space: case and punctuation count.", _plain),
    Normaliser("basic", "2", f"{_BASIC}are dropped.", _basic),
    Normaliser("basic-with-marks", "2", f"{_BASIC}are words like any other.", _with_marks),
    Normaliser(
        "whisper-basic",
        f"{_OPENAI} {_WITH}",
        "Whisper's for any language: no case; punctuation and symbols become blanks. Drops text in brackets. "
        "Splits words at apostrophes. Combining marks become blanks as well, which tears apart the words of "
        "scripts with vowel signs, such as Devanagari.",
        _whisper_basic,
    ),
    Normaliser(
        "whisper-english",
        f"{_OPENAI} {_WITH}",
        "Whisper's for English: no case, punctuation, symbols and accents; numbers become digits, "
        "contractions are written out, British spelling becomes American, um and uh go. Drops text in "
        "brackets. Takes parts of names for words: O'Neil becomes 0 neil. Not idempotent: the result may "
        "change when it is normalised again.",
        _whisper_english,
    ),
    Normaliser(
        "open-asr-2025",
        f"{_LEADERBOARD} {_WITH}",
        "The Open ASR Leaderboard's for English of 2025: Whisper's for English with letters that are written "
        "with periods made one word (U.S.A. is usa) and without ellipses. The leaderboard has had more rules "
        "since 2026. Its traps are those of whisper-english.",
        _leaderboard,
    ),
)
NORMALISERS: Mapping[str, Normaliser] = types.MappingProxyType(
    {normaliser.name: normaliser for normaliser in _ALL} | {"open-asr": _ALL[-1]}  # its name until 2026
)
