"""Each state looks like itself, with and without colour."""

import re

import pytest

from soundcheck.report import states
from soundcheck.results.states import STATES
from soundcheck.results.verdict import EVIDENCE


def test_every_state_has_a_look_of_its_own_without_colour():
    assert set(states.STATE) == set(STATES)
    for look in (lambda s: s.sign, lambda s: s.css, lambda s: (s.marker, s.filled)):
        assert len({look(state) for state in states.STATE.values()}) == len(STATES)
    judged = [states.STATE[name] for name in states.JUDGED]
    assert len({(state.colour, state.hatch) for state in judged}) == 3


def test_figures_know_the_interval_only():
    looks = {evidence: states.of_evidence(evidence).name for evidence in (*EVIDENCE, "")}
    assert looks == {
        "clear pass": "pass",
        "clear fail": "fail",
        "open": "inconclusive",
        "none": "inconclusive",
        "shown": "reported",
        "": "not evaluated",
    }


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_badges_can_be_read(theme):
    for state in states.STATE.values():
        back, text = (luminance(colour) for colour in getattr(state, theme))
        assert (max(back, text) + 0.05) / (min(back, text) + 0.05) >= 4.5, state.name  # WCAG 2.1, AA


def test_the_style_sheet_has_both_themes_of_all_states():
    sheet = states.style_sheet()
    for state in states.STATE.values():
        assert len(re.findall(rf"^\.{state.css} ", sheet, re.MULTILINE)) == 1
        assert len(re.findall(rf'^html\[data-theme="dark"\] \.{state.css} ', sheet, re.MULTILINE)) == 1
    assert sheet.count("{") == sheet.count("}")
