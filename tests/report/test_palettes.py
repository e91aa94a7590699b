"""Figures are legible on both grounds."""

import re

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex

from soundcheck.report import figures, palettes, states
from soundcheck.report.palettes import DARK, DARK_GROUND, GROUND, contrast, for_words, on, turned
from soundcheck.report.style import PALETTE, svg


def drawn():
    rng = np.random.default_rng(3)
    truth = rng.random(60)
    yield figures.truth_and_prediction(truth, truth**2, "demo")
    yield figures.shift(truth, truth**2, "demo")
    yield figures.groups_against_all(truth, ["a", "b"] * 30, ["a", "b"])
    yield figures.confusion_matrix(list("aabbccc"), list("abbbcca"), list("abc"))


def test_black_on_white_has_the_largest_contrast():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a known pair
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@pytest.mark.parametrize("colour", [*PALETTE, *(state.colour for state in states.STATE.values())])
def test_each_colour_of_the_palette_has_a_partner_that_stands_out_in_the_dark(colour):
    assert contrast(DARK[colour], DARK_GROUND) >= 4.5
    assert contrast(for_words(colour), GROUND) >= 4.5
    assert contrast(DARK[for_words(colour)], DARK_GROUND) >= 4.5


def test_partners_differ_from_each_other_as_the_colours_do():
    assert len({DARK[colour] for colour in PALETTE}) == len(PALETTE)


@pytest.mark.parametrize("name", ["Blues"])
def test_words_on_each_cell_of_a_map_stand_out_on_both_grounds(name):
    for place in np.linspace(0, 1, 65):
        cell = to_hex(colormaps[name](place))
        assert contrast(on(cell), cell) >= 4.5
        assert contrast(DARK[on(cell)], turned(cell)) >= 4.5


def test_a_map_is_turned_over():
    assert turned("#ffffff") == "#000000"
    assert turned("#000000") == "#ffffff"
    assert contrast(turned("#440154"), DARK_GROUND) > 4.5  # many segments in one bin


@pytest.mark.parametrize("figure", list(drawn()))
def test_all_colours_of_a_figure_that_a_reader_needs_change_with_the_ground(figure):
    written = svg(figure).decode()
    light, dark = written.split("@media(prefers-color-scheme:dark)")
    assert f":root{{fill:{DARK['#000000']}}}" in dark  # words without a colour of their own are black
    used = set(re.findall(r"(?:fill|stroke):(#[0-9a-f]{6})", light))
    assert {"#ffffff", "#000000"} <= used
    inline = re.findall(r'style="[^"]*(?:fill|stroke):(#[0-9a-f]{6})', dark)
    assert not set(inline) & set(DARK)  # what is written once would not change
    for colour in used & set(DARK):
        assert DARK[colour] in dark
    left = {colour for colour in used - set(DARK) if contrast(colour, DARK_GROUND) < 3}
    assert "cells" in written or not left


def test_words_that_look_like_rules_stay_as_they_are():
    figure = figures.truth_and_prediction([0, 1], [0, 1], "fill:#0072b2 {}")
    assert b">fill:#0072b2 {}<" in svg(figure)


def test_a_style_without_a_partner_needs_no_rule():
    assert not palettes.has_partner("fill:none;stroke-width:2")
    assert ".s1" not in palettes.dark_rules({"s1": "fill:none"})
    assert ".s1{fill:#e8e8e8}" in palettes.dark_rules({"s1": "fill:#000000;opacity:0.5"})
