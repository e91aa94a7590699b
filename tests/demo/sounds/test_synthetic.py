"""Synthesised sounds: drawn alike each time, different among themselves, and what they claim to be."""

import numpy as np
import soundfile

from soundcheck.common.seeds import generator
from soundcheck_demo.sounds import build, rooms, synthesised


def test_sounds_vary_and_repeat():
    makers = {name: getattr(synthesised, name) for name in ("cough", "sneeze", "music")}
    makers |= synthesised.SCENES
    for name, make in makers.items():
        one, again, two = (make(generator(0, "test", n)) for n in (1, 1, 2))
        assert np.array_equal(one, again) and np.isfinite(one).all() and one.any(), name
        assert name == "dial_tone" or not np.array_equal(one, two), name
        assert 0.15 <= len(one) / 16000 <= 12, name


def test_the_same_files_for_any_jobs(monkeypatch, tmp_path):
    for name in ("SENTENCES", "COUGHS", "SNEEZES", "PIECES", "TAKES"):
        monkeypatch.setattr(build, name, 1)
    monkeypatch.setattr(build, "VOICES", 2)
    monkeypatch.setattr(rooms, "ROOMS", {name: rooms.ROOMS[name] for name in ("booth", "office")})
    monkeypatch.setattr(rooms, "DISTANCES", (1,))
    one, two = (build.build(tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert {path.name for path in one.iterdir() if path.is_dir()} == set(build.SOURCES)
    names = {path.relative_to(one) for path in one.rglob("*") if path.is_file()}
    assert names == {path.relative_to(two) for path in two.rglob("*") if path.is_file()}
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes()
        if name.suffix == ".wav":
            signal, rate = soundfile.read(one / name)
            assert rate == 16000 and signal.ndim == 1 and 0.69 < np.abs(signal).max() < 0.71
