"""Messages to people: problems with what a user gave, text from data made harmless, words and YAML on a line.

A *problem* says where it is (file, line, column or key), what stands there and what to do about it.
Readers collect all problems of a file in :class:`Problems` and raise them together as one
:class:`InputError`; the command line prints its text and ends with exit code 2, without a traceback.

Exit codes
----------
========  ===========================================================
0         fine; the book is complete
1         a test failed, something got worse or was changed
2         bad input; nothing was run, or a model's scale was wrong
3         the book is built, but a notebook or a model failed
130, 143  interrupted, terminated; run again to go on
========  ===========================================================

Harmless text
-------------
Names, labels, transcripts and error messages come from people and models that nobody vouches for.
They pass through exactly one of these functions on their way out:

- :func:`escape` for HTML, text and attribute values alike
- :func:`terminal` for messages, logs and progress bars
- :func:`quoted` for a value inside a message, :func:`told_apart` for two names that are not the same
- :func:`spreadsheet` for text cells of CSV files
- :func:`css_string` for generated content in style sheets
- :func:`heading` for headings in Markdown, :func:`one_line` for titles that no Markdown is made of
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import html
import json
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# Words ------------------------------------------------------------------------------------------------------

# What YAML reads as the same text without quotes: words, paths.
_PLAIN = re.compile(r"(\.{1,2}/)*[^\W\d][\w./-]*( [\w./-]+)*|\.|(\.\./)*\.\.")
_MEANT = ("null", "true", "false", "yes", "no", "on", "off")  # by some YAML as something else


def counted(count: int, noun: str) -> str:
    """Write a number with its noun, whose plural ends in s.

    >>> counted(1, "block"), counted(0, "block")
    ('1 block', '0 blocks')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def some(names: Sequence[str], most: int) -> str:
    """Name the first of several, and count the others.

    >>> some(["a", "b", "c"], 2), some(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def duration(seconds: float) -> str:
    """Write a duration as people say it.

    >>> duration(4.26), duration(728), duration(7325)
    ('4 s', '12 min 8 s', '2 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def scalar(value: object) -> str:
    """Write a text or number as YAML.

    >>> scalar("data/test.tsv"), scalar("no"), scalar("a: b"), scalar(1.0)
    ('data/test.tsv', '"no"', '"a: b"', '1')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}"
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.lower() not in _MEANT
    return text if plain else json.dumps(text, ensure_ascii=False)


def flow(value: object) -> str:
    """Write a list or mapping of texts and numbers as YAML.

    >>> flow({"sex": {"m": "male"}, "range": (1, 7)})
    '{sex: {m: male}, range: [1, 7]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


# Harmless text ----------------------------------------------------------------------------------------------

PAGE_LIMIT = 200  # characters of a text from data that a page shows
VALUE_LIMIT = 80  # characters of a value that a message shows

# Bidirectional marks reorder what a reader sees; lone surrogates cannot be encoded.
_SPOOFING = re.compile("[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ILLEGAL_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_LOST_BLANK = re.compile("^ | $|(?<= ) ")
_MARKUP = re.compile(r"""[\\`*_{}\[\]<>()#|~$&@!^"']|:(?=//)|(?<=www)\.""", re.IGNORECASE)


def _visible(match: re.Match) -> str:
    return f"\\u{ord(match.group()):04x}"


def shorten(text: str, limit: int = PAGE_LIMIT) -> str:
    """Cut a text at ``limit`` characters and mark the cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def escape(value: object, limit: int | None = PAGE_LIMIT) -> str:
    """Make a value safe as HTML text or quoted attribute value.

    - ``value``: anything; its ``str`` is shown.
    - ``limit``: characters after which the text is cut; ``None`` keeps all of it.

    >>> escape("<b>'x'")
    '&lt;b&gt;&#x27;x&#x27;'
    """
    text = str(value) if limit is None else shorten(str(value), limit)
    return html.escape(xml_text(text), quote=True)


def css_string(value: object, limit: int = PAGE_LIMIT) -> str:
    r"""Write a value as a string of a style sheet, in quotes; whatever is not plain ASCII is escaped.

    >>> css_string('calls "A"')
    '"calls \\000022A\\000022"'
    """
    text = xml_text(shorten(str(value), limit))
    plain = (c if c.isascii() and (c.isalnum() or c in " .,-") else f"\\{ord(c):06x}" for c in text)
    return f'"{"".join(plain)}"'


def xml_text(value: object) -> str:
    """Remove what XML 1.0 cannot carry; a writer of XML does the escaping."""
    return _SPOOFING.sub(_visible, _ILLEGAL_XML.sub(_visible, str(value)))


def terminal(value: object) -> str:
    """Show control characters and bidirectional marks instead of obeying them; keeps line breaks."""
    text = _SPOOFING.sub(_visible, str(value))
    return "".join(f"\\x{ord(c):02x}" if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)


def quoted(value: object, limit: int = VALUE_LIMIT) -> str:
    """Show a value in a message: in quotes, on one line, at most ``limit`` characters.

    >>> quoted("a" * 100)[-4:]
    "aa…'"
    """
    text = terminal(str(value).replace("\n", "\\n"))
    return f"'{shorten(text, limit)}'"


def look(name: str) -> str:
    """Give what readers see of a name: no signs without a shape, no blanks at its ends, accents composed."""
    seen = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFC", seen).strip()


def told_apart(one: str, other: str) -> tuple[str, str]:
    r"""Show two names in a message, as :func:`quoted` does, so that nobody takes them for the same.

    Letters beyond ASCII that only one has are written as code points, and blanks at the ends; of long names
    the ends are shown from where they differ.

    >>> told_apart("a.wav", "a.wav ")
    ("'a.wav'", "'a.wav\\u0020'")
    >>> told_apart("a.wav", "\u0430.wav")
    ("'a.wav'", "'\\u0430.wav'")
    """
    same = os.path.commonprefix([one, other])
    cut = max(0, len(same) - 20) if max(len(one), len(other)) > VALUE_LIMIT else 0
    alike = difflib.SequenceMatcher(None, one[-200:], other[-200:], autojunk=False).ratio() > 0.75
    alike |= look(one) == look(other)
    texts = []
    for name, against in ((one, other), (other, one)):
        codes = {sign for sign in {*name} - {*against} if alike and not sign.isascii()}
        codes |= {" "} if name != name.strip() or "  " in name else set()
        text = "".join(f"\\u{ord(sign):04x}" if sign in codes else sign for sign in name[cut:])
        texts.append(quoted("…" * bool(cut) + text))
    return texts[0], texts[1]


def spreadsheet(value: str) -> str:
    """Keep a spreadsheet from running a text cell as a formula (CWE-1236).

    >>> spreadsheet("=1+1")
    "'=1+1"
    """
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def one_line(value: str, fallback: str = "unnamed") -> str:
    r"""Write a name or title as plain text on one line; what nobody sees is shown as an escape.

    >>> one_line("R&D – Größe, 模型"), one_line("a\u202eb\n")
    ('R&D – Größe, 模型', 'a\\u202eb\\u000a')
    """
    text = "".join(f"\\u{ord(c):04x}" if _is_unseen(c) else c for c in value)
    text = _LOST_BLANK.sub("\u00a0", text)  # HTML and Markdown drop blanks at the ends and beside others
    return shorten(text) if text.strip() else fallback


def _is_unseen(character: str) -> bool:
    if character in "\u200c\u200d":  # they shape words of Persian and of languages of India
        return False
    unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return unseen or bool(_ILLEGAL_XML.match(character))


def heading(value: str, fallback: str = "unnamed") -> str:
    """Write a name or title into a heading of Markdown, which shows what :func:`one_line` gives.

    >>> heading("C++ {{ 1 }}")
    'C++ &#123;&#123; 1 &#125;&#125;'
    """
    return _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", one_line(value, fallback))


# Problems ---------------------------------------------------------------------------------------------------

EXIT_OK = 0
EXIT_TEST_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INCOMPLETE = 3
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

MOST_LISTED = 20  # problems that a message lists before it only counts
EACH = 3  # problems of a kind that are examples of more

_PARTICULAR = re.compile(r"'[^']*'|\d+(?:[.:]\d+)*")  # in what problems of a kind differ


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    summary: str
    worse: int = 0  # tests on which a candidate is worse than its baseline


class SoundcheckError(Exception):
    """Root of all errors that are meant for a user; its text is the whole message."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    where: str  # file with line, column or key, relative to what the user named
    what: str  # what stands there and why it cannot be used, a sentence without full stop
    remedy: str = ""  # what is allowed or what to do, a sentence without full stop

    def __str__(self) -> str:
        remedy = f" {_sentence(self.remedy)}" if self.remedy else ""
        text = f"{self.where}: {_sentence(self.what)}{remedy}"
        return terminal(text.replace("\n", "\\n"))  # one problem, one line


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


class InputError(SoundcheckError):
    """Something that a user gave cannot be used.

    - ``problems``: at least one :class:`Problem`; the text shows 20 and counts the rest, and of many that
      differ in names and numbers only one, with two other places.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)  # passed on, so that the error can be pickled

    def __str__(self) -> str:
        kinds: dict[str, list[Problem]] = {}
        for problem in self.problems:
            kinds.setdefault(_PARTICULAR.sub("", f"{problem.where}:{problem.what}"), []).append(problem)
        blocks: list[tuple[str, int]] = []
        for alike in kinds.values():
            if len(alike) <= EACH:
                blocks += [(str(problem), 1) for problem in alike]
            else:
                first, *more = alike[:EACH]
                others = [other.where + f", {other.what}" * (other.what != first.what) for other in more]
                also = terminal("; ".join(others))
                blocks.append((f"{first} There are {len(alike)} of this kind, also {also}.", len(alike)))
        lines = [text for text, _ in blocks[:MOST_LISTED]]
        if rest := sum(count for _, count in blocks[MOST_LISTED:]):
            lines.append(f"... and {rest} more.")
        return "\n".join(lines)


def input_error(where: str, what: str, remedy: str = "") -> InputError:
    """Make the error of a single problem, to be raised by the caller."""
    return InputError([Problem(where, what, remedy)])


class Problems:
    """Collects problems, so that a user sees all of them at once.

    >>> problems = Problems()
    >>> problems.add("segments.csv line 5, column arousal", "'high' is not a number")
    >>> len(problems)
    1
    """

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}  # in the order in which they were noted

    def add(self, where: str, what: str, remedy: str = "") -> None:
        """Note one problem; the same one counts once."""
        self._problems[Problem(where, what, remedy)] = None

    def extend(self, error: InputError) -> None:
        """Take over the problems of an error."""
        self._problems |= dict.fromkeys(error.problems)

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Take over the problems of an error that is raised inside of a block."""
        try:
            yield
        except InputError as error:
            self.extend(error)

    def __len__(self) -> int:
        return len(self._problems)

    def raise_if_any(self) -> None:
        """Raise all problems noted so far as one :class:`InputError`."""
        if self._problems:
            raise InputError(self._problems)


def nearest(value: str, allowed: Iterable[str]) -> str:
    """Return the allowed name that is most like a text, upper and lower case alike; empty if none is.

    >>> nearest("audio", ["audio_seconds", "model_seconds"])
    'audio_seconds'
    """
    names = {name.lower(): name for name in reversed(list(allowed))}
    text = value.lower()
    near = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    if not near and len(text) > 2:
        near = [name for name in sorted(names) if name.startswith(text)]
    return names[near[0]] if near else ""


def did_you_mean(value: str, allowed: Iterable[str]) -> str:
    """Suggest the nearest allowed names, each once; never the very name that is not allowed.

    >>> did_you_mean("familis", ["families", "models"])
    "Did you mean 'families'? Allowed: families, models"
    """
    allowed = [name for name in dict.fromkeys(map(str, allowed)) if name != str(value)]
    near = nearest(str(value), allowed)
    hint = f"Did you mean '{near}'? " if near else ""
    return f"{hint}Allowed: {some(allowed, MOST_LISTED)}" if allowed else ""


def refuse_unknown(wanted: Iterable[tuple[str, str, Collection[str]]], what: str) -> None:
    """Refuse names that are not among those that are known: ``wanted`` are where they stand, name, and these.

    Raises InputError: naming all of them; ``{}`` in ``what`` is the name.
    """
    problems = Problems()
    for where, name, known in wanted:
        if name not in known:
            problems.add(where, what.format(quoted(name)), did_you_mean(name, known))
    problems.raise_if_any()


@dataclasses.dataclass(frozen=True)
class Caveat:
    """Something that a reader must know before believing a number.

    - ``model, corpus, task``: whose numbers are meant; empty = all.
    """

    text: str  # what it is and what follows from it, then what to do: sentences without the last full stop
    model: str = ""
    corpus: str = ""
    task: str = ""

    def __str__(self) -> str:
        subject = ", ".join(name for name in (self.model, self.corpus, self.task) if name)
        return f"{subject}: {self.text}" if subject else self.text

    def concerns(self, models: Collection[str], corpora: Collection[str], tasks: Collection[str]) -> bool:
        """Say whether numbers of any of these models, corpora and tasks are meant."""
        pairs = ((self.model, models), (self.corpus, corpora), (self.task, tasks))
        return all(not name or name in names for name, names in pairs)
