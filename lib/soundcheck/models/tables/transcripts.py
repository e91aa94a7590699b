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
- An id means the segment whose file is written like it; the forms that it may have are those of
  :mod:`soundcheck.corpora.utterances`. If it fits several segments, the id is refused.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.base import TEXT_LIMIT
from soundcheck.models.tables.index import Index, found_once
from soundcheck.models.tables.transcript_formats import KALDI, TRN

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["Utterances", "chosen_words", "long_text", "read_transcripts", "refuse_two_sounds", "text_lines"]

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
    ids
        Id of each utterance, all different.
    texts
        What was recognised; empty = nothing.
    lines
        Line of each utterance.
    """

    shown: str
    ids: Sequence[str]
    texts: Sequence[str]
    lines: Sequence[int]

    noun = "utterance"

    def __len__(self) -> int:
        return len(self.ids)

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
        found = np.full(len(corpus.segments), -1, dtype=np.int64)
        names = UtteranceNames(corpus.segments)
        for number, name in enumerate(self.ids):
            fitting = names.find(name)
            if len(fitting) > 1:
                self._note_ambiguous(number, corpus, fitting, problems)
            elif fitting and (one := found[fitting[0]]) >= 0:
                file = quoted(corpus.segments["file"].iat[fitting[0]])
                what = f"the ids {quoted(self.ids[one])} and {quoted(name)} mean the same segment {file}"
                where = f"{self.shown} lines {self.lines[one]} and {self.lines[number]}"
                problems.add(where, what, "Keep one of the lines")
            elif fitting:
                found[fitting[0]] = number
        problems.raise_if_any()
        return found

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Find the utterance of each segment of all corpora; see :meth:`find`.

        Raises
        ------
        InputError
            Also if an id means different sounds in two corpora: it can be the transcript of one only.
        """
        problems = Problems()
        everywhere = []
        for corpus in corpora:
            try:
                everywhere.append(self.find(corpus))
            except InputError as error:
                problems.extend(error)
        problems.raise_if_any()
        refuse_two_sounds(corpora, everywhere, self.shown, self.ids, self.lines)
        return everywhere

    def misfit(self, file: str) -> InputError:
        """Make the error if nothing fits the corpora; ``file`` is one of theirs."""
        return input_error(
            f"{self.shown} line {self.lines[0]}",
            f"no utterance belongs to a segment: the id here is {quoted(self.ids[0])}, "
            f"a file of the corpus {quoted(file)}",
            "Write the file without extension as id. Only a file whose name ends in .trn has ids at the end; "
            "STM and CTM need .stm and .ctm",
        )

    def _note_ambiguous(
        self, number: int, corpus: Corpus, positions: Sequence[int], problems: Problems
    ) -> None:
        written = corpus.segments["file"]
        if len({written.iat[position] for position in positions}) == len(positions):
            names = [written.iat[position] for position in positions[:2]]
            remedy = f"Write the file as id, such as {quoted(names[0])}"
        else:
            from soundcheck.corpora.segments import segment_name  # late: only this message needs it

            rows = corpus.segments[["file", "start", "end"]].iloc[positions[:2]].itertuples(index=False)
            names = [segment_name(*row) for row in rows]
            remedy = "Give a CSV table with the columns file, start, end and transcript"
        more = f" and {len(positions) - 2} more" if len(positions) > 2 else ""
        what = f"the id {quoted(self.ids[number])} could mean {quoted(names[0])} and {quoted(names[1])}{more}"
        problems.add(f"{self.shown} line {self.lines[number]}", what, remedy)


def refuse_two_sounds(
    corpora: Sequence[Corpus],
    everywhere: Sequence[np.ndarray],
    shown: str,
    ids: Sequence[str],
    lines: Sequence[int],
) -> None:
    """Refuse ids that mean different sounds in two corpora.

    Parameters
    ----------
    corpora
        All that a file was matched with.
    everywhere
        For each corpus which id belongs to each segment, int64 ``(segments,)``; -1 = none.
    shown
        How messages call the file.
    ids, lines
        What is written in it, and where.

    Raises
    ------
    InputError
        All such ids at once.
    """
    if len(corpora) < 2:
        return
    problems = Problems()
    known: dict[int, tuple[str, str, str]] = {}
    for corpus, found in zip(corpora, everywhere, strict=True):
        sounds, names = (corpus.segments[name].tolist() for name in ("audio", "file"))
        for position in np.flatnonzero(found >= 0).tolist():
            number = int(found[position])
            own = (sounds[position], names[position], corpus.name)
            sound, name, other = known.setdefault(number, own)
            if sound != own[0]:
                both = f"{quoted(name)} of {quoted(other)} and {quoted(own[1])} of {quoted(corpus.name)}"
                what = f"the id {quoted(ids[number])} means {both}, two sounds"
                remedy = "Give a CSV table with the columns corpus, file and transcript"
                problems.add(f"{shown} line {lines[number]}", what, remedy)
    problems.raise_if_any()


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
            problems.add(f"{shown} lines {ids[name]} and {line}", what, "Keep one of the lines")
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
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(content[: error.start].decode("latin-1"))) + 1
        what = f"byte {error.start} is not UTF-8 text"
        raise input_error(f"{shown} line {line}", what, "Save the file as UTF-8") from error
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if "\0" in line:
            what = f"character {line.index(chr(0)) + 1} is a NUL, this is not text"
            raise input_error(f"{shown} line {number}", what, "Save the file as UTF-8 text")
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
