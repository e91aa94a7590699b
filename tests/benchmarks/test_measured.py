"""The studies of measured columns: their signals are as they say, their p-values those of a plain loop."""

import itertools

import numpy as np
import pandas as pd
import pytest
from benchmarks import human_speech, measured
from scipy import signal


def test_noise_is_added_as_strong_as_asked(rng):
    speech, added = measured.syllables(rng), measured.noise("pink", 5 * measured.RATE, rng)
    rest = measured.mixed(speech, added, 12).astype(np.float64) - speech
    assert 10 * np.log10(np.mean(speech**2) / np.mean(rest**2)) == pytest.approx(12, abs=1e-3)


def test_noises_have_the_colours_of_their_names(rng):
    def tilt(kind):
        hertz, power = signal.welch(measured.noise(kind, 160_000, rng), measured.RATE, nperseg=1024)
        bands = [power[(hertz >= low) & (hertz < 2 * low)].mean() for low in (500, 2000)]
        return 10 * np.log10(bands[0] / bands[1]) / 2  # dB an octave

    assert tilt("white") == pytest.approx(0, abs=0.5)
    assert tilt("pink") == pytest.approx(3, abs=0.5)
    assert tilt("rumble") == pytest.approx(6, abs=0.5)
    assert all(np.isfinite(measured.noise(kind, 8000, rng)).all() for kind in measured.KINDS)


def test_syllables_have_pauses(rng):
    speech = measured.syllables(rng)
    assert 0.1 < np.mean(np.abs(speech) < 1e-9) < 0.7


def test_p_values_of_accents_are_those_of_a_plain_loop(rng):
    speakers = [f"s{n}" for n in range(6)]
    accent = dict(zip(speakers, ["a", "a", "b", "b", "c", "d"], strict=True))
    table = pd.DataFrame({"speaker": np.repeat(speakers, 5), "level": rng.normal(size=30)})
    table["level"] += table["speaker"].map({"s0": 5, "s1": 4}).fillna(0)
    table.loc[3, "level"] = np.nan
    table["accent"] = table["speaker"].map(accent)
    found = human_speech.accents(table).set_index("accent")
    assert found.index.tolist() == ["a", "b"]  # of the others there is one speaker each

    def gap(pair):
        inside = table["speaker"].isin(pair)
        return table["level"][inside].mean() - table["level"][~inside].mean()

    for name, own in (("a", ("s0", "s1")), ("b", ("s2", "s3"))):
        gaps = np.abs([gap(pair) for pair in itertools.combinations(speakers, 2)])
        assert found.loc[name, "gap"] == pytest.approx(gap(own))
        assert found.loc[name, "p_value"] == pytest.approx(np.mean(gaps >= abs(gap(own)) - 1e-9))
    assert found.loc["a", "p_value"] == pytest.approx(1 / 15)
