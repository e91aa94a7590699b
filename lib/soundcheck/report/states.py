"""How the states of a row look: one label, sign and colour each, on pages, in figures and in the style sheet.

Conventions
-----------
- A sign in brackets is *open*: the data do not settle it. Signs and words carry the meaning, colours only
  support it; they are of the palette of Okabe and Ito, told apart by colour-blind readers.
- Red is what holds. Every other failure is open, and amber.
- Figures know the evidence of an interval but not what holds among all tests; see :func:`of_evidence`.
"""

from __future__ import annotations

import dataclasses

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


STATE = {
    state.name: state
    for state in (
        State(
            name=CLEAR_PASS,
            label="clear pass",
            sign="✓",
            css="sc-clear-pass",
            colour="#009e73",
            hatch="",
            marker="o",
            filled=True,
            light=("#8fd6bb", "#00382a"),
            dark=("#0f6b50", "#e2fff4"),
            explained="the whole interval lies on the passing side",
        ),
        State(
            name=OPEN_PASS,
            label="open pass",
            sign="(✓)",
            css="sc-open-pass",
            colour="#8fd6bb",
            hatch="//",
            marker="o",
            filled=False,
            light=("#e2f4ec", "#00523b"),
            dark=("#17372d", "#bfeedd"),
            explained="the test passed, but the data do not rule out a failure",
        ),
        State(
            name=OPEN_FAIL,
            label="open fail",
            sign="(✗)",
            css="sc-open-fail",
            colour="#e69f00",
            hatch="..",
            marker="X",
            filled=False,
            light=("#fbe7bd", "#5c3d00"),
            dark=("#5a430c", "#ffe9b8"),
            explained="the test failed, but among so many tests it may be chance",
        ),
        State(
            name=HOLDS,
            label="fail that holds",
            sign="✗",
            css="sc-holds",
            colour="#d55e00",
            hatch="",
            marker="X",
            filled=True,
            light=("#f09a70", "#4a1a00"),
            dark=("#99400d", "#fff0e6"),
            explained="the failure stands among all tests of the model and category",
        ),
        State(
            name=SHOWN,
            label="shown",
            sign="○",
            css="sc-shown",
            colour="#0072b2",
            hatch="",
            marker="s",
            filled=False,
            light=("#d6e8f5", "#0b3a5b"),
            dark=("#163a54", "#d3eafa"),
            explained="the value is shown without verdict, because nobody set a threshold",
        ),
        State(
            name=SKIPPED,
            label="skipped",
            sign="–",
            css="sc-skipped",
            colour="#767676",
            hatch="",
            marker=".",
            filled=False,
            light=("#e4e4e4", "#3d3d3d"),
            dark=("#3f4247", "#dcdcdc"),
            explained="there is no verdict",
        ),
    )
}
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
