"""What is heard is the signal itself, at its own level, with a picture and words for who does not hear it."""

import io
import re

import numpy as np
import pytest
import soundfile

from soundcheck.common.media import MediaStore
from soundcheck.report import players
from soundcheck.report.players import BANDS, HIGHEST_HZ, LONGEST, Side, player, row, sweep, switched

RATE = 16000


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path, "../media/")


def tone(amplitude, seconds=0.2, hertz=440.0, rate=RATE) -> np.ndarray:
    times = np.arange(round(rate * seconds)) / rate
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def sound(media, html) -> np.ndarray:
    name = re.search(r'<audio[^>]*src="../media/([^"]+\.flac)"', html).group(1)
    return soundfile.read(io.BytesIO((media.folder / name).read_bytes()), dtype="float32")[0]


def test_the_level_is_kept_and_said(media):
    html = str(player(media, tone(0.05), RATE, "Original", caption="arousal 0.4"))
    np.testing.assert_allclose(sound(media, html), tone(0.05), rtol=0, atol=1 / 32768)  # of 16 bit
    assert 'alt="Waveform and spectrogram of Original: 0.20 s, peak −26.0 dBFS, level ' in html
    for part in ('preload="none"', "controls", 'aria-label="Original"', "arousal 0.4"):
        assert part in html


@pytest.mark.parametrize("text", ['"><script>x</script>', "' onx='1", "\x00\x1b[31m\ud800\u202e\U0001f600"])
def test_text_from_data_stays_text(media, text):
    def shown(text):
        sides = [Side(tone(0.1), text, text)] * 2
        one = row([player(media, tone(0.1), RATE, text, caption=text)], title=text)
        return f"{one}{switched(media, sides, text)}{sweep(media, sides, text)}"

    plain, hostile = shown("x"), shown(text)
    assert hostile.count("<") == plain.count("<") and hostile.count('"') == plain.count('"')
    assert not set(hostile) & set("\x00\x1b\ud800\u202e")


def test_degenerate_signals_have_a_player_and_no_samples_are_told(media):
    for signal in (np.zeros(1600, np.float32), np.full(1, 0.5, np.float32)):
        html = str(player(media, signal, RATE, "x"))
        assert "dBFS" in html and not re.search("nan|inf", html)
    none = str(player(media, np.zeros(0, np.float32), RATE, "<b>", caption="cut"))
    assert "nothing to hear" in none and "<audio" not in none and "&lt;b&gt;" in none and "cut" in none


def test_of_a_long_sound_the_beginning_is_carried_and_said(media):
    html = str(player(media, np.concatenate([tone(0.1, LONGEST), tone(0.5, 10)]), RATE, "x"))
    assert "40.00 s, peak −6.0 dBFS" in html  # levels are those of all of it
    assert "drawn and played are the first 30 s" in html and 'data-seconds="30.000"' in html
    assert len(sound(media, html)) == LONGEST * RATE


def test_every_side_is_a_plain_player_and_one_without_sound_says_why(media, rng):
    noise = rng.normal(0, 0.1, (3, 1600)).astype(np.float32)
    sides = [Side(signal, name, f"said of {name}") for signal, name in zip(noise, "abc", strict=True)]
    html = str(switched(media, [*sides, Side(None, "Phone <1>", "the codec is missing")], "what they are"))
    assert re.findall("<strong>(.)</strong>", html) == ["a", "b", "c"]
    assert html.count("<audio controls") == html.count("<img") == html.count("dBFS</figcaption>") == 3
    assert all(f"said of {name}<br>" in html for name in "abc")
    assert "<button" not in html  # nothing that does nothing without the script
    assert "<strong>Phone &lt;1&gt;</strong><figcaption>the codec is missing</figcaption>" in html


@pytest.mark.parametrize(("amplitude", "rate"), [(1.0, 8000), (0.1, 48000)])
def test_a_sine_in_the_middle_of_a_band_has_its_level_there(amplitude, rate):
    band = 17
    levels = players.band_levels(tone(amplitude, 1.0, (band + 0.5) * HIGHEST_HZ / BANDS, rate), rate)
    inner = levels[:, 5:-5]  # at the ends the window looks at nothing
    assert (inner.argmax(axis=0) == BANDS - 1 - band).all()
    np.testing.assert_allclose(inner.max(axis=0), 20 * np.log10(amplitude), atol=0.7)
    if rate == 8000:
        assert (levels[: BANDS // 2 - 1] == -150).all()  # above half the rate is nothing
