"""Duration, peak and level of every sound in a book.

Run ``python benchmarks/sounds.py BOOK``, with the folder of a built book. Every sound is decoded. Levels are
in dB relative to full scale; that of the active parts leaves out what lies 30 dB below the loudest 20 ms. A
sound that is clipped, very loud or very soft is marked.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import soundfile

LOUD, SOFT = -8.0, -45.0  # dB of the active parts that a listener would find odd


def decibel(power: float) -> float:
    return 10 * np.log10(max(power, 1e-12))


def active_level(signal: np.ndarray, rate: int) -> float:
    length = rate // 50
    frames = signal[: len(signal) // length * length].reshape(-1, length)
    power = np.mean(frames**2, axis=1) if len(frames) else np.array([np.mean(signal**2)])
    return decibel(float(power[power >= power.max() / 1000].mean()))


def main() -> None:
    folder = Path(sys.argv[1])
    odd = 0
    paths = sorted(folder.rglob("*.flac"))
    print(f"{'sound':<28}{'seconds':>9}{'peak':>8}{'level':>8}{'active':>8}")
    for path in paths:
        signal, rate = soundfile.read(path)
        peak, level, active = (
            20 * np.log10(max(np.abs(signal).max(), 1e-6)),
            decibel(float(np.mean(signal**2))),
            active_level(signal, rate),
        )
        notes = [word for word, there in (("loud", active > LOUD), ("soft", active < SOFT)) if there]
        notes += ["clipped"] if np.mean(np.abs(signal) >= 0.9999) > 0.001 else []
        odd += bool(notes)
        numbers = f"{len(signal) / rate:>9.2f}{peak:>8.1f}{level:>8.1f}{active:>8.1f}"
        print(f"{path.name[:26]:<28}{numbers}  {', '.join(notes)}")
    print(f"{len(paths)} sounds, {odd} of them odd")


if __name__ == "__main__":
    main()
