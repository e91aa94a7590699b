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
        _TEMPLATE.encode(),
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


_TEMPLATE = """
#let sheet = json(bytes(sys.inputs.sheet))
#let muted = rgb("#444444")
#let day = if sheet.date == none { none } else {
  datetime(year: sheet.date.at(0), month: sheet.date.at(1), day: sheet.date.at(2))
}
#set document(title: sheet.title, date: day)
#set page(paper: "a4", margin: (x: 12mm, y: 11mm))
#set text(font: "DejaVu Sans", size: 7.6pt, lang: "en")
#set par(leading: 0.45em, spacing: 0.6em)
#set table(stroke: none, inset: (x: 1mm, y: 0.7mm))
#show heading.where(level: 1): set text(size: 14pt)
#show heading.where(level: 2): set text(size: 9pt)
#show heading: set block(above: 1em, below: 0.55em, sticky: true)
#let small(body) = text(size: 7pt, fill: muted, body)
#let pairs(list) = grid(
  columns: (auto, 1fr), column-gutter: 3mm, row-gutter: 0.9mm,
  ..list.map(pair => (small(strong(pair.at(0))), small(pair.at(1)))).flatten()
)
#let drawn(one) = figure(
  image(bytes(one.svg), format: "svg", alt: one.title + ". " + one.alt, width: 100%,
    height: if one.wide { 46mm } else { auto }, fit: "contain"),
  caption: small(one.title), numbering: none, supplement: none
)

#heading(level: 1, sheet.title)
#small(sheet.purpose)

#if sheet.synthetic != "" {
  block(stroke: (left: 2pt + rgb("#e69f00")), inset: (left: 2mm, y: 0.5mm), small(sheet.synthetic))
}
#block(fill: rgb("#eef4fa"), stroke: (left: 2.5pt + rgb("#0072b2")), inset: 2mm, width: 100%, {
  for line in sheet.verdict [#strong(line.at(0) + ".")#line.at(1)\\ ]
})
#pairs(sheet.facts)
#for grid in sheet.grids {
  heading(level: 2, grid.title)
  if grid.rows.len() > 0 {
    set text(size: 6.8pt)
    table(
      columns: grid.columns.enumerate().map(pair => if pair.at(0) == grid.wide { 1fr } else { auto }),
      table.hline(y: 1, stroke: 0.8pt + muted),
      table.header(..grid.columns.map(name => strong(name))),
      ..grid.rows.flatten().map(cell => [#cell]),
      table.hline(stroke: 0.4pt + muted)
    )
  }
  for note in grid.notes { small(note) + parbreak() }
}
#let narrow = sheet.pictures.filter(one => not one.wide)
#let wide = sheet.pictures.filter(one => one.wide)
#grid(columns: (1fr, 1fr), gutter: 3mm, ..narrow.map(drawn))
#for one in wide { drawn(one) }
#if sheet.scenes.len() > 0 {
  heading(level: 2, "To listen to, in the HTML page or the book")
  for scene in sheet.scenes {
    strong(scene.title) + parbreak()
    if scene.finding != "" { small("Holds: " + scene.finding + ".") + parbreak() }
    for line in scene.lines { small(line) + parbreak() }
  }
}
#heading(level: 2, "Where this comes from")
#pairs(sheet.origin)
"""
