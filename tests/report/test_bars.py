"""Bars of three parts and the numbers beside them."""

import re
from types import SimpleNamespace

from soundcheck.book.model_pages import figures_table
from soundcheck.report import states
from soundcheck.report.key_figures import (
    sentence,
    standing_notes,
    worse_than_chance,
)
from soundcheck.results.facts import Counts
from soundcheck.results.record import KeyFigure
from soundcheck.results.states import STATES


def counts(passed=0, failed=0, inconclusive=0, missing=0, reported=0) -> Counts:
    return Counts(zip(STATES, (passed, failed, inconclusive, missing, reported), strict=True))


def test_a_bar_has_a_part_for_each_state_that_occurs():
    bar = str(states.bar(counts(12, 0, 5, 3)))
    assert re.findall(r"sc-part (\S+)\" style=\"flex-grow: (\d+)", bar) == [
        ("sc-inconclusive", "5"),
        ("sc-pass", "12"),
    ]
    assert 'aria-label="0 fail, 5 inconclusive, 12 pass"' in bar
    assert "✓ 12 pass" in bar and "✗ 0 fail" in bar and "reported" not in bar


def figure(**changes) -> KeyFigure:
    plain = {
        **{"model": "m", "corpus": "talk", "task": "arousal", "measure": "concordance", "value": 0.6184},
        **{"low": 0.571, "high": 0.662, "segments": 400, "blocks": 26, "guessing": 0.0, "standing": "proven"},
    }
    return KeyFigure(**(plain | changes))


def test_a_number_in_one_line():
    assert sentence(figure()) == "concordance of arousal 0.62 (95 % 0.57 to 0.66, 26 speakers)"
    rate = figure(measure="word error rate", task="transcript", value=0.1234, low=0.1, high=1.02)
    told = "word error rate on talk 12.3\xa0% (95 % 10.0 to 102\xa0%, 26 speakers)"
    assert sentence(rate, corpus=True) == told
    few = figure(low=None, high=None, blocks=1, reason="interval withheld: 1 block")
    assert sentence(few) == "concordance of arousal 0.62 (no interval for new speakers, 1 speaker)"
    assert sentence(figure(value=None, low=None, high=None, reason="0 segments")).endswith("none, 0 segments")


def test_a_table_of_numbers_says_what_they_mean():
    rates = figure(measure="false acceptance rate", standing="", guessing=None, threshold=0.3446)
    shown = str(
        figures_table(SimpleNamespace(figures=[figure(), figure(corpus="<b>", standing="hollow"), rates]))
    )
    assert ">better than chance<" in shown and ">no better than chance<" in shown
    assert "at the threshold in use, 0.345" in shown
    assert "&lt;b&gt;" in shown


def test_notes_name_the_number_or_why_there_is_none():
    figures = [figure(standing="hollow", value=0.02, low=-0.03, high=0.06)]
    found = standing_notes(figures, "m", ["arousal", "valence"])
    assert found[0] == (
        "no better than chance at arousal: concordance of arousal 0.020 (95 % −0.030 to 0.060, 26 speakers)"
    )
    assert found[1] == "not known to be better than chance at valence: no corpus has labels for it"
    assert standing_notes([figure()], "m", ["arousal"]) == []
    assert standing_notes(None, "m", ["arousal"]) == []


def test_an_interval_on_the_wrong_side_of_guessing_is_worse_than_chance():
    turned = figure(standing="hollow", value=-0.98, low=-0.99, high=-0.96)
    assert standing_notes([turned], "m", ["arousal"])[0].startswith("worse than chance at arousal:")
    assert "worse than chance" in str(figures_table(SimpleNamespace(figures=[turned])))
    rate = figure(measure="equal error rate", guessing=0.5, value=0.97, low=0.93, high=0.99)
    assert worse_than_chance(rate) and not worse_than_chance(figure())
    # An interval that reaches guessing says nothing of the direction.
    assert not worse_than_chance(figure(standing="hollow", value=-0.02, low=-0.06, high=0.03))
