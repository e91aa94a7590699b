"""Transcripts as recognisers write them: ``.trn`` of NIST's SCTK, and ``text`` of Kaldi.

Both give one utterance a line, under an id instead of a file. Which segment an id means is found here.
Formats that name files are in :mod:`soundcheck.models.tables.result_lines`, those with times of their own in
:mod:`soundcheck.models.tables.timed_texts`; which format a file has is told in
:mod:`soundcheck.models.tables.transcript_formats`.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF, CR LF or CR; blank lines say nothing.
  Only blanks and tabs separate words.
- trn: ``words ... (id)``; lines that begin with ``;;`` are comments. Of alternatives ``{ a / b / @ }`` the
  first counts, ``@`` is nothing. A hesitation ``(%HESITATION)`` is the word ``%HESITATION``.
- Kaldi: ``id words ...``, in any order of lines.
- An id alone is an empty transcript, and that is an answer: nothing was recognised.
- Which segment an id means says :mod:`soundcheck.corpora.utterances`. If it fits several, the id is refused.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import decode_text
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.base import TEXT_LIMIT
from soundcheck.models.tables.index import TWICE, Index, found_once, misfit_of_names
from soundcheck.models.tables.transcript_formats import KALDI, TRN

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r"[ \t]+")
_HESITATION = re.compile(r"\((%[^()]+)\)")


@dataclasses.dataclass(frozen=True)
class Utterances(Index):
    """The transcripts of a file, and the segments that they belong to.

    Parameters
    ----------
    shown
        How messages call the file.
    names
        Id of each utterance, all different.
    texts
        What was recognised; empty = nothing.
    lines
        Line of each utterance.
    """

    shown: str
    names: Sequence[str]
    texts: Sequence[str]
    lines: Sequence[int]

    noun = "utterance"
    are_ids = True

    def __len__(self) -> int:
        return len(self.names)

    def where(self, *numbers: int) -> str:
        """Say where utterances stand."""
        lines = " and ".join(str(self.lines[number]) for number in sorted(numbers))
        return f"{self.shown} line{'s' * (len(numbers) > 1)} {lines}"

    @found_once
    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the utterance of each segment.

        Returns
        -------
        numpy.ndarray
            Numbers of utterances, int64 ``(segments,)``; -1 = none.

        Raises
        ------
        InputError
            If an id could mean several segments, or several ids mean the same.
        """
        problems = Problems()
        found = UtteranceNames(corpus.segments).assign(self.names, "id", self.where, problems)
        problems.raise_if_any()
        return found

    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if nothing fits the corpora."""
        remedy = (
            "Write the file without extension as id. Only a file whose name ends in .trn has ids at the end; "
            "STM and CTM need .stm and .ctm"
        )
        return misfit_of_names(self, corpora, remedy)


def long_text(text: str | None, shown: str, task: str) -> str:
    """Say that a text is too long to be a transcript; empty if it is not."""
    length = len(text or "")
    what = f"{shown} has a text of {length} characters for {task}; at most {TEXT_LIMIT} are a transcript"
    return what if length > TEXT_LIMIT else ""


# Reading ----------------------------------------------------------------------------------------------------


def read_transcripts(content: bytes, shown: str, form: str) -> Utterances:
    """Read the bytes of a file with transcripts.

    Parameters
    ----------
    content
        All bytes of the file.
    shown
        How messages call it.
    form
        ``"trn"`` or ``"kaldi"``.

    Raises
    ------
    InputError
        If it is no UTF-8 text or has no utterance; if a line has no id or alternatives that do not end; if an
        id is a duplicate. All problems of the lines at once.
    """
    problems = Problems()
    read = _READERS[form]
    ids: dict[str, int] = {}
    texts = []
    for line, text in text_lines(content, shown):
        try:
            utterance = read(text, f"{shown} line {line}")
        except InputError as error:
            problems.extend(error)
            continue
        if utterance is None:
            continue
        name, transcript = utterance
        if name in ids:
            what = f"duplicate id {quoted(name)}"
            problems.add(f"{shown} lines {ids[name]} and {line}", what, TWICE)
            continue
        ids[name] = line
        texts.append(transcript)
    problems.raise_if_any()
    if not ids:
        raise input_error(shown, "the file has no utterance", f"Give lines such as `{_EXAMPLES[form]}`")
    return Utterances(shown, list(ids), texts, list(ids.values()))


def text_lines(content: bytes, shown: str) -> Iterator[tuple[int, str]]:
    """Part a text into lines that are not blank, each with its number.

    Raises
    ------
    InputError
        If it is no UTF-8 text; names the line.
    """
    for number, line in enumerate(_LINE_END.split(decode_text(content, shown)), start=1):
        if line.strip():
            yield number, line


def _trn(line: str, where: str) -> tuple[str, str] | None:
    """Read a line of a trn; a comment is ``None``.

    Raises
    ------
    InputError
        If there is no id, or braces do not match.
    """
    if line.startswith(";;"):
        return None
    line = line.strip()
    begin = _last_bracket(line)
    name = line[begin + 1 : -1].strip() if begin >= 0 else ""
    if not name or name.startswith("%"):  # a hesitation is no id
        what = f"{quoted(line)} does not end with an id in parentheses"
        raise input_error(where, what, f"Write the id behind the words, such as `{_EXAMPLES[TRN]}`")
    return name, chosen_words(line[:begin], where)


def _last_bracket(line: str) -> int:
    """Find the parenthesis that the last character closes, -1 if it closes none; ids may hold pairs."""
    depth = 0
    for position in reversed(range(len(line))):
        depth += (line[position] == ")") - (line[position] == "(")
        if depth == 0:
            return position if line[position] == "(" else -1
    return -1


def chosen_words(text: str, where: str) -> str:
    """Take the first of all alternatives.

    Raises
    ------
    InputError
        If braces do not match.

    Examples
    --------
    >>> chosen_words("turn { left / right } { @ / please } (%UH) now", "hyp.trn line 1")
    'turn left %UH now'
    """
    remedy = "Write alternatives as `{ a / b / @ }`, with blanks around the signs"
    words = []
    first: list[bool] = []  # of each open brace: whether its first alternative is being read
    others = 0  # open braces of which it is another one
    for word in _BLANKS.split(text.strip()):
        if word == "{":
            first.append(True)
        elif word == "/" and first:
            others += first[-1]
            first[-1] = False
        elif word == "}":
            if not first:
                raise input_error(where, "a brace closes that was not opened", remedy)
            others -= not first.pop()
        elif not others and word not in ("", "@"):
            hesitation = _HESITATION.fullmatch(word)
            words.append(hesitation[1] if hesitation else word)
    if first:
        raise input_error(where, "a brace is not closed", remedy)
    return " ".join(words)


def _kaldi(line: str, where: str) -> tuple[str, str]:
    """Read a line of Kaldi's ``text``."""
    name, *words = _BLANKS.split(line.strip(), maxsplit=1)
    return name, words[0].strip() if words else ""


_READERS = {TRN: _trn, KALDI: _kaldi}
_EXAMPLES = {TRN: "turn left (s01-a)", KALDI: "s01-a turn left"}
