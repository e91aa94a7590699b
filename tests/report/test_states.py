"""Each state looks like itself, with and without colour; a bar has a part for each that occurs."""

import re

import pytest

from soundcheck.report import states
from soundcheck.report.style import contrast
from soundcheck.results.facts import Counts
from soundcheck.results.states import STATES
from soundcheck.results.verdict import EVIDENCE


def test_every_state_has_a_look_of_its_own_without_colour():
    assert set(states.STATE) == set(STATES)
    for look in (lambda s: s.sign, lambda s: s.css, lambda s: (s.marker, s.filled)):
        assert len({look(state) for state in states.STATE.values()}) == len(STATES)
    assert len({(states.STATE[name].colour, states.STATE[name].hatch) for name in states.JUDGED}) == 3


def test_figures_know_the_interval_only():
    looks = [states.of_evidence(evidence).name for evidence in (*EVIDENCE, "")]
    assert dict(zip((*EVIDENCE, ""), looks, strict=True)) == {
        **{"clear pass": "pass", "clear fail": "fail", "open": "inconclusive", "none": "inconclusive"},
        **{"shown": "reported", "": "not evaluated"},
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_badges_can_be_read_and_the_style_sheet_has_them(theme):
    selector = 'html[data-theme="dark"] ' if theme == "dark" else ""
    for state in states.STATE.values():
        assert contrast(*getattr(state, theme)) >= 4.5, state.name  # WCAG 2.1, AA
        assert (
            len(re.findall(rf"^{re.escape(selector)}\.{state.css} ", states.style_sheet(), re.MULTILINE)) == 1
        )


def test_a_bar_has_a_part_for_each_state_that_occurs():
    bar = str(states.bar(Counts(zip(STATES, (12, 0, 5, 3, 0), strict=True))))
    parts = re.findall(r"sc-part (\S+)\" style=\"flex-grow: (\d+)", bar)
    assert parts == [("sc-inconclusive", "5"), ("sc-pass", "12")]
    assert 'aria-label="0 fail, 5 inconclusive, 12 pass"' in bar
    assert "✓ 12 pass" in bar and "✗ 0 fail" in bar and "reported" not in bar
