"""Where an impulse response was measured: room or position and distance, which its name or a table tells.

Known file names are those of the Aachen impulse response database :cite:`jeub2009`,
``air_binaural_booth_0_3.wav`` and the like, and of the multichannel acoustic reverberation database at York
:cite:`wen2006`, ``ir_2_R.wav``: 2 m, to the right; or ``ir_2_R_4.wav``: microphone 4 of it. For anything
else a folder holds a table ``impulse_responses.csv`` with columns ``file`` and ``label`` and perhaps
``distance`` in metres, or a folder for each room or position.

Conventions
-----------
- One response is the reference, the *base*; responses of other rooms or positions are compared with it.
- The names of the Aachen database end in ``_<head>_<number>``, or ``_<channel>_<head>_<number>``; the number
  stands for the distance, as in the loader that comes with it. In the stairway an azimuth follows, in the
  Aula Carolina azimuth and microphone. Responses of its telephones have no distance.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, parse_number, read_text_table

TABLE = "impulse_responses.csv"
BASES = {"positions": "centre 1 m", "rooms": "booth"}  # what the others are compared with, if nothing is said
PUBLISHED = "binaural_booth_0_3"  # how the name of the published base of rooms ends
SIMILAR = 1.5  # ratio of distances up to which they count as similar when a base is chosen

_AIR = re.compile(
    r"air_(?:type\d_air_)?(binaural|phone)_([a-z]+(?:_[a-z]+)?)((?:_\d+)*)(?![a-z\d])", re.IGNORECASE
)
_AIR_METRES = {
    "booth": (0.5, 1, 1.5),
    "office": (1, 2, 3),
    "meeting": (1.45, 1.7, 1.9, 2.25, 2.8),
    "lecture": (2.25, 4, 5.56, 7.1, 8.68, 10.2),
    "stairway": (1, 2, 3),
    "aula_carolina": (1, 2, 3, 5, 15, 20),
}
_AIR_MORE = {"stairway": 1, "aula_carolina": 2}  # numbers that follow the one of the distance
_MARDY = re.compile(r"ir_(\d)_([LCR])(?:_(\d))?", re.IGNORECASE)
_SIDES = {"L": "left", "C": "centre", "R": "right"}
_MIDDLE = 4  # microphone of MARDY's array of eight that is used, where each has a file


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Where an impulse response was measured."""

    label: str
    distance: float = 0.0  # metres between mouth and microphone; 0 if unknown
    where: str = ""  # the row of the table that tells it, for messages; empty if no table does


def measurements(folder: Path, shown: str, names: Sequence[str]) -> dict[str, Measurement]:
    """Tell where each impulse response of a folder was measured.

    - ``folder, shown``: the folder, and how messages call it.
    - ``names``: its audio files, relative to it.
    - Returns by file. Files that stand for nothing (other microphones of an array) are missing.
    - Raises InputError: if nothing tells what the files stand for, or the table is wrong.
    """
    if (folder / TABLE).exists():
        return _from_table(folder, shown, names)
    found, arrays = {}, {}
    for name in names:
        stem = PurePosixPath(name).stem
        if match := _MARDY.fullmatch(stem):
            arrays[name] = int(match[3] or _MIDDLE)
            found[name] = Measurement(f"{_SIDES[match[2].upper()]} {match[1]} m", float(match[1]))
        elif match := _AIR.match(stem):
            found[name] = _of_air(match[1].lower(), match[2].lower(), match[3])
    if found:
        if _MIDDLE in arrays.values():
            return {name: place for name, place in found.items() if arrays.get(name, _MIDDLE) == _MIDDLE}
        return found
    folders = {name: PurePosixPath(name).parent.name for name in names}
    if len(set(folders.values())) > 1:
        return {name: Measurement(label) for name, label in folders.items() if label}
    remedy = f"Add a table {TABLE} with columns file and label, or use a folder for each"
    raise input_error(shown, "nothing tells which room or position the impulse responses stand for", remedy)


def _of_air(kind: str, room: str, numbers: str) -> Measurement:
    label = re.sub("_(hfrp|hhp)$", "", room)
    known = _AIR_METRES.get(label, ()) if kind == "binaural" else ()
    given = [int(number) for number in numbers.split("_")[1:]]
    given = given[: len(given) - _AIR_MORE.get(label, 0)]
    number = given[-1] if len(given) in (2, 3) else 0
    return Measurement(label, float(known[number - 1]) if 1 <= number <= len(known) else 0.0)


def _from_table(folder: Path, shown: str, names: Sequence[str]) -> dict[str, Measurement]:
    table = read_text_table(folder / TABLE, f"{shown}/{TABLE}")
    problems = Problems()
    for column in ("file", "label"):
        if column not in table.columns:
            problems.add(f"{table.header}, column {column}", "the column is missing", "Add it")
    problems.raise_if_any()
    told: dict[str, Measurement] = {}
    for row, (file, label) in enumerate(zip(table.columns["file"], table.columns["label"], strict=True)):
        where = table.where(row)
        if file not in names:
            what = f"{quoted(file)} is not an audio file of this folder"
            problems.add(f"{where}, column file", what, "Correct the name or remove the row")
        elif file in told:
            what = f"{quoted(file)} stands here a second time"
            problems.add(f"{where}, column file", what, "Remove one of the rows")
        elif not label.strip():
            problems.add(f"{where}, column label", "the cell is empty", "Name room or position")
        else:
            told[file] = Measurement(label.strip(), _distance(table, row, file, problems), where)
    problems.raise_if_any()
    return told


def _distance(table: TextTable, row: int, file: str, problems: Problems) -> float:
    """Read the distance of a row; notes what is wrong with it."""
    if "distance" not in table.columns:
        return 0.0
    text = table.columns["distance"][row].strip()
    remedy = "Give the metres between mouth and microphone, such as 1.5"
    metres, what = 0.0, ""
    if not text:
        what = f"{quoted(file)} has no distance"
        remedy += ", or remove the column"
    else:
        try:
            metres = parse_number(text)
        except ValueError as error:
            what = str(error)
        if not what and metres <= 0:
            what = f"{quoted(text)} is not a valid distance, it must be above 0"
    if what:
        problems.add(f"{table.where(row)}, column distance", what, remedy)
    return metres


def reference(found: Mapping[str, Measurement], usable: Collection[str], base: str, shown: str) -> str:
    """Choose the one response that others are compared with.

    If the base is a room or position with several responses, the published one is taken, else the one with
    the most other rooms at a similar distance, else the first by name.

    - ``usable``: files that can be read.
    - ``shown``: how messages call the place where the base is named.
    - Raises InputError: if there is no such response, or if a table leaves open which of several it is.
    """
    if base in found:
        candidates = [base]
    else:
        candidates = [name for name, place in found.items() if place.label.casefold() == base.casefold()]
    if not candidates:
        what = f"no impulse response is called {quoted(base)}"
        raise input_error(shown, what, did_you_mean(base, sorted({place.label for place in found.values()})))
    candidates = [name for name in candidates if name in usable]
    if not candidates:
        raise input_error(shown, f"no usable impulse response belongs to {quoted(base)}", "Check its files")

    def order(name: str) -> tuple[bool, int, str]:
        own = found[name]
        rooms = {
            place.label
            for place in found.values()
            if place.label.casefold() != own.label.casefold()
            and own.distance
            and 1 / SIMILAR <= place.distance / own.distance <= SIMILAR
        }
        return not PurePosixPath(name).stem.lower().endswith(PUBLISHED), -len(rooms), name

    chosen = min(candidates, key=order)
    for name in candidates:
        if name != chosen and found[name].where and found[name].distance == found[chosen].distance:
            at = f" at {found[name].distance:g} m" if found[name].distance else ""
            what = f"{quoted(base)} has two impulse responses{at}, {quoted(chosen)} and {quoted(name)}"
            remedy = "Only one can be the reference: remove a row, or name the file with base: in the suite"
            raise input_error(f"{found[name].where}, column label", what, remedy)
    return chosen
