"""The page for a meeting as PDF, typeset by Typst.

Text from data never becomes Typst's markup: the template is fixed, and reads all texts from JSON as strings,
which Typst shows as they are.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import matplotlib

from soundcheck.common.day import given_day
from soundcheck.common.escaping import xml_text
from soundcheck.common.extras import import_extra
from soundcheck.publish.sheet.content import Sheet

_SYNTHETIC = (
    "Synthetic speech: a synthesiser spoke the segments behind these numbers. They show how the tests work, "
    "not how a model does on people."
)


def needed() -> ModuleType:
    """Import Typst.

    Raises
    ------
    InputError
        If it is not installed; the message says how to install it.
    """
    return import_extra("typst", "pdf", "--pdf")


def pdf(sheet: Sheet) -> bytes:
    """Typeset the page.

    Parameters
    ----------
    sheet
        What stands on it; of sounds only what they are is said.

    Returns
    -------
    bytes
        The same for the same content, fonts and version of Typst: the file names no day but that of the
        environment variable ``SOURCE_DATE_EPOCH``.

    Raises
    ------
    InputError
        If Typst is not installed, or ``SOURCE_DATE_EPOCH`` is no number of seconds.
    """
    typst = needed()
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # those of the figures
    content = {
        "title": sheet.title,
        "purpose": sheet.purpose,
        "synthetic": _SYNTHETIC if sheet.synthetic else "",
        "verdict": [line.partition(":")[::2] for line in sheet.verdict],
        "facts": sheet.facts,
        "grids": [vars(grid) for grid in sheet.grids],
        "pictures": [vars(one) | {"svg": list(one.svg)} for one in sheet.pictures],
        "scenes": [_scene(one) for one in sheet.scenes],
        "date": [day.year, day.month, day.day] if (day := given_day()) else None,
    }
    return typst.compile(
        Path(__file__).with_name("sheet.typ").read_bytes(),
        format="pdf",
        font_paths=[str(fonts)],
        sys_inputs={"sheet": json.dumps(_shown(content) | {"origin": _shown(sheet.origin, None)})},
    )


def _scene(scene: object) -> dict[str, object]:
    heard = [f"{sound.label}: {sound.caption}" for sound in scene.sounds]
    words = [f"{head}: {text}" for head, text in scene.words]
    title = ": ".join(filter(None, (scene.family, scene.title)))
    return {"title": title, "finding": scene.finding, "lines": [*heard, *words]}


def _shown(value: object, longest: int | None = 30) -> object:
    """Make all texts fit for a document: characters that it can hold, and places to break long words."""
    if isinstance(value, str):
        text = xml_text(value)
        return text if longest is None else re.sub(rf"(\S{{{longest}}})(?=\S)", "\\1\u200b", text)
    if isinstance(value, dict):
        return {name: _shown(one, longest) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one, longest) for one in value]
    return value
