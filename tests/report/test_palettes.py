"""Figures are legible: colours of marks and of words, also of words on the cells of maps."""

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex

from soundcheck.report import states
from soundcheck.report.palettes import WHITE, contrast, for_words, on
from soundcheck.report.style import PALETTE


def test_black_on_white_has_the_largest_contrast():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a known pair
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@pytest.mark.parametrize("colour", [*PALETTE, *(state.colour for state in states.STATE.values())])
def test_words_of_each_colour_are_legible_on_paper(colour):
    assert contrast(for_words(colour), WHITE) >= 4.5


def test_words_on_each_cell_of_a_map_stand_out():
    for place in np.linspace(0, 1, 65):
        cell = to_hex(colormaps["Blues"](place))
        assert contrast(on(cell), cell) >= 4.5
