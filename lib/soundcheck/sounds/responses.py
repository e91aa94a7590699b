"""What an impulse response was measured in: the room or position that its file name or a table tells.

Known file names are those of the Aachen impulse response database :cite:`jeub2009`,
``air_binaural_booth_0_3.wav`` and the like, and of the multichannel acoustic reverberation database at York
:cite:`wen2006`, ``ir_2_R_4.wav``: 2 m, to the right, microphone 4. For anything else a folder holds a table
``impulse_responses.csv`` with columns ``file`` and ``label``, or a folder for each room or position.

Public: :func:`labels`, :data:`TABLE`, :data:`BASES`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from soundcheck.errors import Problems, refuse
from soundcheck.escaping import quoted
from soundcheck.text_table import read_text_table

TABLE = "impulse_responses.csv"
BASES = {"positions": "centre 1 m", "rooms": "booth"}  # what the others are compared with, if nothing is said

_AIR = re.compile(r"air_(?:type\d_air_)?(?:binaural|phone)_([a-z]+(?:_[a-z]+)?)_", re.IGNORECASE)
_MARDY = re.compile(r"ir_(\d)_([LCR])_(\d)", re.IGNORECASE)
_SIDES = {"L": "left", "C": "centre", "R": "right"}
_MIDDLE = 4  # microphone of MARDY's array of eight that is used


def labels(folder: Path, shown: str, names: Sequence[str]) -> dict[str, str]:
    """Tell what each impulse response of a folder stands for.

    Parameters
    ----------
    folder, shown
        The folder, and how messages call it.
    names
        Its audio files, relative to it.

    Returns
    -------
    dict of str to str
        File -> room or position. Files that stand for nothing (other microphones of an array) are missing.

    Raises
    ------
    InputError
        If nothing tells what the files stand for.
    """
    if (folder / TABLE).exists():
        return _from_table(folder, shown, names)
    found = {}
    for name in names:
        stem = PurePosixPath(name).stem
        if match := _MARDY.fullmatch(stem):
            found[name] = (f"{_SIDES[match[2].upper()]} {match[1]} m", int(match[3]))
        elif match := _AIR.match(stem):
            found[name] = (re.sub("_(hfrp|hhp)$", "", match[1].lower()), _MIDDLE)
    if found:
        middle = {name: label for name, (label, number) in found.items() if number == _MIDDLE}
        return middle or {name: label for name, (label, _) in found.items()}
    folders = {name: PurePosixPath(name).parent.name for name in names}
    if len(set(folders.values())) > 1:
        return {name: label for name, label in folders.items() if label}
    remedy = f"Add a table {TABLE} with columns file and label, or use a folder for each"
    raise refuse(shown, "nothing tells which room or position the impulse responses stand for", remedy)


def _from_table(folder: Path, shown: str, names: Sequence[str]) -> dict[str, str]:
    table = read_text_table(folder / TABLE, f"{shown}/{TABLE}")
    problems = Problems()
    for column in ("file", "label"):
        if column not in table.columns:
            problems.add(f"{table.header}, column {column}", "the column is missing", "Add it")
    problems.raise_if_any()
    told = {}
    for row, (file, label) in enumerate(zip(table.columns["file"], table.columns["label"], strict=True)):
        if file not in names:
            what = f"{quoted(file)} is no audio file of this folder"
            problems.add(f"{table.where(row)}, column file", what, "Correct the name or remove the row")
        elif not label.strip():
            problems.add(f"{table.where(row)}, column label", "the cell is empty", "Name room or position")
        told[file] = label.strip()
    problems.raise_if_any()
    return told
