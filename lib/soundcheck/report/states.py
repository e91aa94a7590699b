"""How the states of a row look: one label, sign and colour each, on pages, in figures and in the style sheet.

Conventions
-----------
- A sign in brackets is *open*: the data do not settle it. Signs and words carry the meaning, colours only
  support it; they are of the palette of Okabe and Ito, told apart by colour-blind readers.
- Red is what holds. Every other failure is open, and amber.
- Figures know the evidence of an interval but not what holds among all tests; see :func:`of_evidence`.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from soundcheck.report.html import Html, element
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL, OPEN_PASS, SHOWN, SKIPPED, STATES


@dataclasses.dataclass(frozen=True)
class State:
    """The look of a state.

    Parameters
    ----------
    name
        One of :data:`soundcheck.results.verdict.STATES`.
    label
        What pages call it.
    sign
        Shown before the label, or alone where there is no room.
    css
        Class of its badges and of its part of a bar.
    colour
        For figures, which lie on white.
    hatch
        Of bars in figures; ``""`` for what is settled.
    marker, filled
        Of points in figures; what is open is hollow.
    light, dark
        Background and text of badges in the two themes of the book.
    explained
        What it means, in a sentence.
    """

    name: str
    label: str
    sign: str
    css: str
    colour: str
    hatch: str
    marker: str
    filled: bool
    light: tuple[str, str]
    dark: tuple[str, str]
    explained: str


def _read() -> Iterator[State]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            themes = {theme: (row.pop(theme), row.pop(f"{theme}_text")) for theme in ("light", "dark")}
            yield State(**row | themes | {"filled": row["filled"] == "yes"})


STATE = {state.name: state for state in _read()}
JUDGED = STATES[:4]  # from the best to the worst, the order of a bar's parts


def mark(name: str, words: str | None = None) -> Html:
    """Show a state as a badge: its sign and its label, or other words."""
    state = STATE[name]
    text = f"{state.sign} {state.label if words is None else words}".strip()
    return element("span", text, class_=f"sc-badge {state.css}", title=state.explained)


def of_evidence(passed: bool | None, evidence: str) -> State:
    """Give the look of a row before it is known what holds: a clear failure looks like one that holds."""
    if passed is None:
        return STATE[SHOWN if evidence == SHOWN else SKIPPED]
    if evidence == "clear fail":
        return STATE[HOLDS]
    if evidence == "clear pass":
        return STATE[CLEAR_PASS]
    return STATE[OPEN_PASS if passed else OPEN_FAIL]


_PATTERNS = {  # of hatched parts of a bar; the text colour makes them, thinned
    "//": "repeating-linear-gradient(135deg, transparent 0 3px, {ink} 3px 4.5px)",
    "..": "radial-gradient({ink} 1px, transparent 1.3px) 0 0 / 5px 5px",
}


def style_sheet() -> str:
    """Write the colours of all states for both themes, as CSS that pages load beside their own.

    A part of a bar (``sc-part``) is hatched as in figures; badges are not, they hold words.
    """
    rules = []
    for theme, colours in (("", "light"), ('html[data-theme="dark"] ', "dark")):
        for state in STATE.values():
            back, text = getattr(state, colours)
            rules.append(f"{theme}.{state.css} {{ background-color: {back}; color: {text}; }}")
            if state.hatch:
                pattern = _PATTERNS[state.hatch].format(ink=f"color-mix(in srgb, {text} 45%, transparent)")
                rules.append(f"{theme}.sc-part.{state.css} {{ background: {pattern}, {back}; }}")
    return "\n".join(rules) + "\n"
