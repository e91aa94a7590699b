"""The page for a meeting as one HTML file, which loads nothing from anywhere."""

from __future__ import annotations

import base64

from soundcheck.publish.sheet.content import Grid, Sheet
from soundcheck.publish.sheet.figures import Picture
from soundcheck.publish.sheet.sounds import Scene, Sound, fitting
from soundcheck.publish.sheet.style import MOST_BYTES, STYLE
from soundcheck.report.html import Html, element, style_sheet
from soundcheck.report.tables import synthetic_notice

_SPARE = 2_000  # for what is around the sounds
_FIRST_BYTES = "<!DOCTYPE html>\n"
# A browser refuses whatever does not come with the page itself.
_POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"


def page(sheet: Sheet, book: str = "", mark: Html | None = None) -> str:
    """Write the page.

    Parameters
    ----------
    sheet
        What stands on it.
    book
        The way from the page to its page in the book; ``""`` if there is none beside it.
    mark
        What the book knows the page by.

    Returns
    -------
    str
        At most :data:`~soundcheck.publish.sheet_style.MOST_BYTES` in UTF-8: sounds are cut or left out.
    """
    silent = _whole(sheet, [], book, mark)
    around = sum(len(str(_scene(scene))) for scene in sheet.scenes)
    around -= sum(4 * (len(s.data) + len(s.picture)) // 3 for scene in sheet.scenes for s in scene.sounds)
    room = MOST_BYTES - len(silent.encode()) - max(0, 2 * around) - _SPARE
    return _whole(sheet, fitting(sheet.scenes, room), book, mark)


def _whole(sheet: Sheet, scenes: list[Scene], book: str, mark: Html | None) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{sheet.title}: verdict"),
        style_sheet(STYLE),
    )
    parts = [
        element("h1", sheet.title),
        element("p", sheet.purpose, class_="purpose", limit=None),
        synthetic_notice(sheet.synthetic),
        _verdict(sheet.verdict),
        _facts(sheet.facts, "facts"),
        *map(_grid, sheet.grids),
        element("div", *map(_picture, sheet.pictures), class_="pictures"),
        *_listen(sheet, scenes),
        element("h2", "Where this comes from"),
        _facts(sheet.origin, "origin"),
    ]
    if book:
        parts.append(element("p", element("a", "The page of the book with all results", href=book)))
    body = element("body", element("main", *parts), *([mark] if mark is not None else []))
    return _FIRST_BYTES + str(element("html", head, body, lang="en")) + "\n"


def _facts(facts: tuple[tuple[str, str], ...], name: str) -> Html:
    pairs = [part for key, text in facts for part in (element("dt", key), element("dd", text, limit=None))]
    return element("dl", *pairs, class_=name)


def _verdict(lines: tuple[str, ...]) -> Html:
    shown = []
    for line in lines:
        head, _, rest = line.partition(":")
        shown.append(element("p", element("strong", f"{head}."), f" {rest.strip()}", limit=None))
    return element("section", *shown, class_="verdict")


def _grid(grid: Grid) -> Html:
    parts = [element("h2", grid.title)]
    if grid.rows:
        head = element("tr", *(element("th", name, scope="col") for name in grid.columns))
        body = [element("tr", *(element("td", cell) for cell in row)) for row in grid.rows]
        table = element("table", element("thead", head), element("tbody", *body))
        parts.append(element("div", table, class_="scroll", tabindex="0"))
    parts += [element("p", note, class_="note", limit=None) for note in grid.notes]
    return element("section", *parts)


def _picture(picture: Picture) -> Html:
    source = f"data:image/svg+xml;base64,{_base64(picture.svg)}"
    image = element("img", src=source, alt=f"{picture.title}. {picture.alt}")
    return element(
        "figure", image, element("figcaption", picture.title), class_="wide" if picture.wide else None
    )


def _listen(sheet: Sheet, scenes: list[Scene]) -> list[Html]:
    if not sheet.scenes:
        return []
    parts = [element("h2", "Listen"), element("div", *map(_scene, scenes), class_="scenes")]
    left = len(sheet.scenes) - len(scenes)
    if left:
        told = "There was no room for the sounds" if not scenes else "There was no room for more sounds"
        parts.append(element("p", f"{told}: they are in the book.", class_="note"))
    return [element("section", *parts, class_="listen")]


def _scene(scene: Scene) -> Html:
    title = ": ".join(filter(None, (scene.family, scene.title)))
    parts = [element("p", element("strong", title), class_="scene")]
    if scene.finding:
        parts.append(element("p", f"Fails: {scene.finding}.", class_="note", limit=None))
    parts.append(element("div", *map(_sound, scene.sounds), class_="sounds"))
    parts += [element("p", f"{head}: {text}", class_="note") for head, text in scene.words]
    return element("div", *parts, class_="scene")


def _sound(sound: Sound) -> Html:
    parts = [element("strong", sound.label)]
    if sound.picture:
        source = f"data:image/png;base64,{_base64(sound.picture)}"
        parts.append(element("img", src=source, alt=f"Picture of the sound {sound.label}"))
    address = f"data:audio/flac;base64,{_base64(sound.data)}"
    parts.append(element("audio", controls=True, preload="none", src=address, aria_label=sound.label))
    return element("figure", *parts, element("figcaption", sound.caption), class_="sound")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
