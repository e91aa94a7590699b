"""Impulse responses of rooms and microphone positions, by the image-source method.

pyroomacoustics computes them :cite:`scheibler2018`; without ray tracing, which is not deterministic. Rooms
are boxes; walls absorb the same share of the energy of all frequencies. Up to :data:`ORDER` reflections are
followed, so the end of a long reverberation is missing.
"""

from __future__ import annotations

import numpy as np

from soundcheck_demo.sounds.synthesised import RATE

ORDER = 35
HEIGHT = 1.6  # metres of mouth and microphone above the floor
FALLEN = 1e-4  # of the largest sample: where the end of a response is cut off

# Length, width, height in metres; absorbed share of the energy; distances of the microphone in metres. The
# first distance of each room is similar to that of the booth, with which the others are compared.
ROOMS: dict[str, tuple[tuple[float, float, float], float, tuple[float, ...]]] = {
    "booth": ((2.4, 1.9, 2.2), 0.75, (1.0,)),
    "lecture room": ((10.8, 8.9, 3.2), 0.24, (1.2, 2.3, 4.1)),
    "meeting room": ((6.1, 4.7, 2.8), 0.30, (1.0, 2.0, 3.4)),
    "office": ((4.9, 3.6, 2.7), 0.28, (0.9, 1.9)),
    "stairway": ((5.3, 2.9, 7.1), 0.13, (1.1, 2.2)),
}
# The room in which the positions are measured, after the size of the varechoic chamber of MARDY.
CHAMBER = (6.6, 5.9, 2.9)
CHAMBER_ABSORPTION = 0.35
ANGLES = {"left": 45.0, "centre": 0.0, "right": -45.0}  # degrees off the axis of the speaker
DISTANCES = (1, 2, 3)  # metres


def response(
    size: tuple[float, float, float], absorption: float, distance: float, angle: float = 0.0
) -> np.ndarray:
    """Compute the impulse response between a mouth and a microphone, with the delay of the direct path.

    - ``size``: length, width and height of the room in metres.
    - ``absorption``: share of the energy that a wall absorbs.
    - ``distance, angle``: of the microphone, in metres and degrees off the length of the room.
    """
    import pyroomacoustics  # late: takes a second, and rooms are computed once

    room = pyroomacoustics.ShoeBox(
        size,
        fs=RATE,
        materials=pyroomacoustics.Material(absorption),
        max_order=ORDER,
        ray_tracing=False,
        air_absorption=False,
    )
    # Off the middle, where reflections would arrive in pairs.
    mouth = np.array([0.22 * size[0], 0.46 * size[1], min(HEIGHT, 0.7 * size[2])])
    turn = np.deg2rad(angle)
    microphone = mouth + distance * np.array([np.cos(turn), np.sin(turn), 0.0])
    room.add_source(mouth)
    room.add_microphone(microphone[:, None] - np.array([[0.0], [0.0], [0.13]]))
    room.compute_rir()
    impulse = np.asarray(room.rir[0][0], dtype=np.float64)
    impulse = impulse / np.abs(impulse).max()
    return impulse[: np.flatnonzero(np.abs(impulse) > FALLEN)[-1] + 1]


def rooms() -> dict[tuple[str, float], np.ndarray]:
    """Compute the responses of all rooms: name of the room and distance in metres -> signal."""
    return {
        (name, distance): response(size, absorption, distance)
        for name, (size, absorption, distances) in ROOMS.items()
        for distance in distances
    }


def positions() -> dict[tuple[str, float], np.ndarray]:
    """Compute the responses of all positions in one room: direction and distance in metres -> signal."""
    return {
        (direction, distance): response(CHAMBER, CHAMBER_ABSORPTION, distance, angle)
        for distance in DISTANCES
        for direction, angle in ANGLES.items()
    }
