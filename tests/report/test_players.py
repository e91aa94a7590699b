"""What is heard is the signal itself, at its own level, with words for who does not hear it."""

import io
import re

import numpy as np
import pytest
import soundfile

from soundcheck.common.media import MediaStore
from soundcheck.report.players import LONGEST, Side, player, row, sweep, switched

RATE = 16000


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path, "../media/")


def tone(amplitude: float, seconds: float = 0.2) -> np.ndarray:
    return (amplitude * np.sin(2 * np.pi * 440 * np.arange(int(RATE * seconds)) / RATE)).astype(np.float32)


def sound(media: MediaStore, html: str) -> np.ndarray:
    name = re.search(r'<audio[^>]*src="../media/([^"]+\.flac)"', html).group(1)
    return soundfile.read(io.BytesIO((media.folder / name).read_bytes()), dtype="float32")[0]


def test_level_is_kept(media):
    quiet = str(player(media, tone(0.05), RATE, "quiet"))
    loud = str(player(media, tone(0.5), RATE, "loud"))
    step = 1 / 32768  # of 16 bit
    np.testing.assert_allclose(sound(media, quiet), tone(0.05), rtol=0, atol=step)
    np.testing.assert_allclose(sound(media, loud), tone(0.5), rtol=0, atol=step)
    assert "peak −26.0 dBFS" in quiet
    assert "peak −6.0 dBFS" in loud


def test_player_loads_nothing_until_asked_and_has_words(media):
    html = str(player(media, tone(0.1), RATE, "Original", caption="arousal 0.4"))
    assert 'preload="none"' in html
    assert "controls" in html
    assert 'aria-label="Original"' in html
    assert 'alt="Waveform and spectrogram of Original: 0.20 s, peak −20.0 dBFS, level −23.0 dBFS"' in html
    assert "arousal 0.4" in html


@pytest.mark.parametrize(
    "text", ['"><script>x</script>', "<img src=x onerror=alert(1)>", "' onx='1", "\x00\x1b[31m\ud800\u202e"]
)
def test_labels_from_data_stay_text(media, text):
    plain = str(row([player(media, tone(0.1), RATE, "x", caption="x")], title="x"))
    hostile = str(row([player(media, tone(0.1), RATE, text, caption=text)], title=text))
    assert hostile.count("<") == plain.count("<")
    assert hostile.count('"') == plain.count('"')
    assert not set(hostile) & set("\x00\x1b\ud800\u202e")
    hostile.encode("utf-8")


@pytest.mark.parametrize(
    "signal", [np.zeros(1600), np.zeros(1), np.ones(1) * 0.5], ids=["silence", "0", "1 sample"]
)
def test_degenerate_signals_have_a_player(media, signal):
    html = str(player(media, signal.astype(np.float32), RATE, "x"))
    assert "dBFS" in html
    assert not re.search("nan|inf", html)


def test_no_samples_are_told(media):
    html = str(player(media, np.zeros(0, np.float32), 16000, "<b>", caption="cut"))
    assert "nothing to hear" in html and "<audio" not in html and "&lt;b&gt;" in html and "cut" in html


def test_of_a_long_sound_the_beginning_is_carried_and_said(media):
    signal = np.concatenate([tone(0.1, LONGEST), tone(0.5, 10)])
    html = str(player(media, signal, RATE, "x"))
    assert "40.00 s, peak −6.0 dBFS" in html  # levels are those of all of it
    assert "drawn and played are the first 30 s" in html and 'data-seconds="30.000"' in html
    assert len(sound(media, html)) == LONGEST * RATE
    short = str(player(media, tone(0.1, LONGEST), RATE, "x"))
    assert "drawn and played" not in short and 'data-seconds="30.000"' in short


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
