"""Sounds of one place are plain players for a page without script, with what the script needs."""

import re

import numpy as np
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.report.pair_player import Side, sweep, switched


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path, "../media/")


@pytest.fixture
def sides(rng):
    noise = rng.normal(0, 0.1, (3, 1600)).astype(np.float32)
    return [Side(signal, name, f"said of {name}") for signal, name in zip(noise, "abc", strict=True)]


def test_every_side_is_a_plain_player(media, sides):
    html = str(switched(media, sides, "what they are"))
    assert html.startswith('<p class="sc-players-title">what they are</p><div class="sc-players sc-pair">')
    assert re.findall("<strong>(.)</strong>", html) == ["a", "b", "c"]
    assert html.count("<audio controls") == html.count("<img") == html.count("dBFS</figcaption>") == 3
    assert html.count('class="sc-player" data-seconds="0.100"') == 3
    assert all(f"said of {name}<br>" in html for name in "abc")
    assert "<button" not in html  # nothing that does nothing without the script


def test_a_sweep_is_told_from_a_pair(media, sides):
    pair, slider = str(switched(media, sides)), str(sweep(media, sides))
    assert slider == pair.replace('"sc-players sc-pair"', '"sc-players sc-pair sc-sweep"')
    assert "sc-players-title" not in pair


def test_the_same_sound_twice_is_stored_once(media, sides):
    switched(media, [sides[0], sides[0]])
    assert len(list(media.folder.glob("*.flac"))) == 1


def test_a_side_without_sound_says_why(media, sides):
    html = str(switched(media, [*sides, Side(None, "Phone <1>", "the codec is missing")]))
    assert html.count("<audio") == 3 and html.count("<figure") == 4
    assert "<strong>Phone &lt;1&gt;</strong><figcaption>the codec is missing</figcaption>" in html


@pytest.mark.parametrize("text", ['"><script>x</script>', "x" * 5000, "\u202e\U0001f600", "\ud800\x00"])
@pytest.mark.parametrize("shown", [switched, sweep])
def test_text_from_data_stays_text(media, sides, shown, text):
    plain = str(shown(media, [Side(sides[0].signal, "x", "x")] * 2, "x"))
    hostile = str(shown(media, [Side(sides[0].signal, text, text)] * 2, text))
    assert hostile.count("<") == plain.count("<") and hostile.count('"') == plain.count('"')
    hostile.encode("utf-8")
