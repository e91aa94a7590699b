"""Files are counted by what their headers say, whatever they are called."""

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.corpora.audio import inspect
from soundcheck.corpora.inspection import sound_formats

KINDS = [
    ("a.wav", "WAV", "PCM_16", 16000, 1, "WAV, 16-bit PCM", 16),
    ("b.wav", "WAV", "PCM_U8", 8000, 1, "WAV, 8-bit PCM", 8),
    ("c.wav", "WAV", "PCM_24", 44100, 2, "WAV, 24-bit PCM", 24),
    ("d.wav", "WAV", "FLOAT", 22050, 1, "WAV, 32-bit float", 32),
    ("e.wav", "FLAC", "PCM_24", 48000, 1, "FLAC, 24-bit PCM", 24),  # whatever its name says
    ("f.ogg", "OGG", "VORBIS", 48000, 2, "Ogg, Vorbis", 0),
    ("g.wav", "WAV", "ULAW", 8000, 1, "WAV, µ-law", 8),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[5])
def test_headers_are_believed(tmp_path, kind):
    name, container, encoding, rate, channels, title, bits = kind
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, (rate, channels))
    soundfile.write(tmp_path / name, noise, rate, format=container, subtype=encoding)
    info = inspect(tmp_path / name, 60)
    assert info.problem == ""
    (found,) = sound_formats(pd.Series([name, name]), {name: info})
    assert (found.name, found.sampling_rate, found.channels, found.bits) == (title, rate, channels, bits)
    assert (found.files, found.segments) == (1, 2) and found.seconds == pytest.approx(1, abs=0.01)


def test_mixed_formats_are_counted_the_most_frequent_first(tmp_path):
    facts, names = {}, []
    for number, rate in enumerate((8000, 16000, 16000)):
        name = f"{number}.wav"
        soundfile.write(tmp_path / name, 0.1 * np.ones(rate), rate)
        facts[name] = inspect(tmp_path / name, 60)
        names += [name] * (1 + number)
    facts["unused.wav"] = facts["0.wav"]  # no segment is left of it
    found = sound_formats(pd.Series(names), facts)
    assert [(one.sampling_rate, one.files, one.segments) for one in found] == [(16000, 2, 5), (8000, 1, 1)]
    assert sound_formats(pd.Series(names), {}) == ()
