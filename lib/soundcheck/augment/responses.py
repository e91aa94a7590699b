"""Where an impulse response was measured (room or position, distance), and which others are compared with.

Known file names are those of the Aachen impulse response database :cite:`jeub2009`,
``air_binaural_booth_0_3.wav`` and the like, and of the multichannel acoustic reverberation database at York
:cite:`wen2006`, ``ir_2_R.wav``: 2 m, to the right; or ``ir_2_R_4.wav``: microphone 4 of it. For anything
else a folder holds a table ``impulse_responses.csv`` with columns ``file`` and ``label`` and perhaps
``distance`` in metres, or a folder for each room or position.

Conventions
-----------
- One response is the reference, the *base*; responses of other rooms or positions are compared with it.
- ``published_responses.csv`` has the known names as regular expressions, the first that matches counts;
  labels and distances may refer to their groups. Of the array of York the microphone 4 is used, others only
  where it is missing. The numbers in names of Aachen are those of the loader that comes with it; responses
  of its telephones have no distance.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import parse_number, read_text_table

TABLE = "impulse_responses.csv"
BASES = {"positions": "centre 1 m", "rooms": "booth"}  # what the others are compared with, if nothing is said
PUBLISHED_BASE = "binaural_booth_0_3"  # how the name of the published base of rooms ends
SIMILAR = 1.5  # ratio of distances up to which they count as similar when a base is chosen


class Measurement(NamedTuple):
    """Where an impulse response was measured."""

    label: str
    distance: float = 0.0  # metres between mouth and microphone; 0 if unknown
    where: str = ""  # the row of the table that tells it, for messages; empty if no table does


def measurements(folder: Path, source: str, names: Sequence[str]) -> dict[str, Measurement]:
    """Tell where each impulse response of a folder was measured, by file.

    - ``source``: how messages call the folder.
    - ``names``: its audio files, relative to it. Those that stand for nothing (other microphones of an array)
      are missing in the result.
    - Raises InputError: if nothing tells what the files stand for, or the table is wrong.
    """
    if (folder / TABLE).exists():
        return _from_table(folder, source, names)
    with Path(__file__).with_name("published_responses.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    known: dict[str, dict[str, Measurement]] = {"yes": {}, "no": {}}  # by whether a name is preferred
    for name in names:
        for row in published:
            if match := re.fullmatch(row["pattern"], PurePosixPath(name).stem.lower()):
                distance = float(match.expand(row["distance"]))
                known[row["preferred"]][name] = Measurement(match.expand(row["label"]), distance)
                break
    if measured := known["yes"] or known["no"]:
        return measured
    folders = {name: PurePosixPath(name).parent.name for name in names}
    if len(set(folders.values())) > 1:
        return {name: Measurement(label) for name, label in folders.items() if label}
    remedy = f"Add a table {TABLE} with columns file and label, or use a folder for each"
    raise input_error(source, "nothing tells which room or position the impulse responses stand for", remedy)


def _from_table(folder: Path, source: str, names: Sequence[str]) -> dict[str, Measurement]:
    table = read_text_table(folder / TABLE, f"{source}/{TABLE}")
    problems = Problems()
    for column in ("file", "label"):
        if column not in table.columns:
            problems.add(f"{table.header}, column {column}", "the column is missing", "Add it")
    problems.raise_if_any()
    measured: dict[str, Measurement] = {}
    for row, (file, label) in enumerate(zip(table.columns["file"], table.columns["label"], strict=True)):
        where, distance = table.where(row), 0.0
        if file not in names:
            what = f"{quoted(file)} is not an audio file of this folder"
            problems.add(f"{where}, column file", what, "Correct the name or remove the row")
        elif file in measured:
            what = f"{quoted(file)} stands here a second time"
            problems.add(f"{where}, column file", what, "Remove one of the rows")
        elif not label.strip():
            problems.add(f"{where}, column label", "the cell is empty", "Name room or position")
        elif "distance" in table.columns:
            try:
                distance = _distance(table.columns["distance"][row].strip(), file)
            except ValueError as error:
                remedy = "Give the metres between mouth and microphone, such as 1.5, or remove the column"
                problems.add(f"{where}, column distance", str(error), remedy)
        measured[file] = Measurement(label.strip(), distance, where)
    problems.raise_if_any()
    return measured


def _distance(text: str, file: str) -> float:
    if not text:
        raise ValueError(f"{quoted(file)} has no distance")
    if (metres := parse_number(text)) > 0:
        return metres
    raise ValueError(f"{quoted(text)} is not a valid distance, it must be above 0")


def reference(measured: Mapping[str, Measurement], usable: Collection[str], base: str, source: str) -> str:
    """Choose the one response, a file, that others are compared with.

    If the base is a room or position with several responses, the published one is taken, else the one with
    the most other rooms at a similar distance, else the first by name.

    - ``usable``: files that can be read.
    - ``base``: a file, or a room or position in upper or lower case.
    - ``source``: how messages call the place where the base is named.
    - Raises InputError: if there is no such response, or if a table leaves open which of several it is.
    """
    same = [name for name, place in measured.items() if place.label.casefold() == base.casefold()]
    candidates = [base] if base in measured else same
    if not candidates:
        labels = sorted({place.label for place in measured.values()})
        raise input_error(source, f"no impulse response is called {quoted(base)}", did_you_mean(base, labels))
    candidates = [name for name in candidates if name in usable]
    if not candidates:
        raise input_error(source, f"no usable impulse response belongs to {quoted(base)}", "Check its files")

    def order(name: str) -> tuple[bool, int, str]:
        label, distance, _ = measured[name]
        similar = {
            place.label
            for place in measured.values()
            if place.label.casefold() != label.casefold()
            and distance
            and 1 / SIMILAR <= place.distance / distance <= SIMILAR
        }
        return not PurePosixPath(name).stem.lower().endswith(PUBLISHED_BASE), -len(similar), name

    chosen, *others = sorted(candidates, key=order)
    _, distance, _ = measured[chosen]
    for name in others:
        if measured[name].where and measured[name].distance == distance:
            at = f" at {distance:g} m" if distance else ""
            what = f"{quoted(base)} has two impulse responses{at}, {quoted(chosen)} and {quoted(name)}"
            remedy = "Only one can be the reference: remove a row, or name the file with base: in the suite"
            raise input_error(f"{measured[name].where}, column label", what, remedy)
    return chosen
