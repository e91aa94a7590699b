"""Tells in which format a file holds the transcripts of a recogniser."""

from __future__ import annotations

import os
import re

TRN = "trn"
KALDI = "kaldi"
STM = "stm"
CTM = "ctm"
SEGLST = "seglst"
JSONL = "jsonl"
BY_NAME = {".trn": TRN, ".stm": STM, ".ctm": CTM}
JSON_NAMES = (".json", ".jsonl", ".ndjson")
TABLES = (".csv", ".parquet", ".pq", ".tsv")  # names that promise a table

_FIRST_LINE = re.compile(rb"[\r\n]*([^\r\n]*)")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[{\]])")  # begins an object, or a list of them
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
_SEPARATORS = re.compile("[,;|]")  # of cells; a table with bars is refused when it is read


def transcript_format(name: str, content: bytes, column: str = "file") -> str:
    """Tell in which format a file holds transcripts.

    Parameters
    ----------
    name
        Name of the file; ``.trn``, ``.stm`` and ``.ctm`` decide, and names of tables unless it holds JSON.
    content
        Its bytes; decide otherwise.
    column
        What a table would call the column of files.

    Returns
    -------
    str
        ``"trn"``, ``"stm"``, ``"ctm"``, ``"seglst"`` (a JSON list), ``"jsonl"`` (JSON objects), ``"kaldi"``,
        or empty for what a table's reader is to read or refuse.

    Examples
    --------
    >>> transcript_format("text", b"s01-a turn left")
    'kaldi'
    >>> transcript_format("answers", b"file,transcript")
    ''
    >>> transcript_format("answers.json", b'[{"session_id": "s01"}]')
    'seglst'
    """
    extension = os.path.splitext(name)[1].lower()
    if extension in BY_NAME:
        return BY_NAME[extension]
    if extension in JSON_NAMES or _JSON.match(content):
        return SEGLST if _LIST.match(content) else JSONL
    if extension in TABLES or content.startswith(b"PAR1"):
        return ""
    first = _FIRST_LINE.match(content.removeprefix(b"\xef\xbb\xbf"))[1]
    try:
        line = first.decode()
    except UnicodeDecodeError:  # the reader of tables knows pickles, archives and the like by name
        return ""
    cells = [*_SEPARATORS.split(line), line.partition("\t")[0]]
    header = any(cell.strip(' "') == column for cell in cells)
    return "" if header or "\0" in line else KALDI
