"""Transforms for what happens between mouth and recogniser: distance in a room, and packets that get lost."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import amplitude, centred, level_match, limit, rms

FADING = 0.5  # of each further packet in a row that is concealed


@transform(
    source="chosen for this suite; concealment repeats and fades, simpler than ITU-T G.711 Appendix I",
    level="Packets that arrive stay as they are.",
)
def lost_packets(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    percent: float,
    milliseconds: float = 20.0,
    concealment: Literal["none", "repetition"] = "none",
) -> np.ndarray:
    r"""Lose random packets, neighbours too, and leave gaps or conceal them.

    Of the :math:`P` packets, the last one perhaps shorter, :math:`\lfloor P \theta / 100 \rfloor` random ones
    are lost. Without concealment they become zero. With it the last packet that arrived is repeated, at half
    its amplitude, and at half of that for each further packet that is lost in a row; before the first packet
    that arrives there is silence.

    - ``rng``: draws an order in which packets are lost: more are lost at a higher share, and the same ones,
      too.
    - ``percent``: :math:`\theta`: share of the packets that are lost, from 0 to 100 per cent.
    - ``milliseconds``: duration of a packet, from 1 to 1000.
    - ``concealment``: ``"none"`` or ``"repetition"``.
    """
    require(0 <= percent <= 100, f"percent is {percent}. It must lie between 0 and 100")
    require(1 <= milliseconds <= 1000, f"milliseconds is {milliseconds}. It must lie between 1 and 1000")
    length = max(1, round(milliseconds * sampling_rate / 1000))
    count = -(-signal.size // length)
    packets = np.zeros((count, length), dtype=np.float32)
    packets.flat[: signal.size] = signal
    lost = np.zeros(count, dtype=bool)
    lost[rng.permutation(count)[: int(count * percent / 100)]] = True
    arrived = np.maximum.accumulate(np.where(lost, -1, np.arange(count)))  # the last one until then
    gap = np.arange(count) - arrived  # in packets; 0 for those that arrived
    kept = packets[np.maximum(arrived, 0)]
    gain = FADING**gap if concealment == "repetition" else np.zeros(count)
    gain = np.where(lost, np.where(arrived < 0, 0, gain), 1)
    return (kept * gain[:, None].astype(np.float32)).ravel()[: signal.size]


@transform(
    source="chosen for this suite; the tail is white noise that decays (Polack 1988)",
    level="Brought back to the RMS of the signal; if that would leave full scale, to a peak of 1.",
)
def far_field(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    metres: float,
    reverberation_time: float = 0.5,
    critical_distance: float = 1.0,
    snr_db: float = 30.0,
) -> np.ndarray:
    r"""Let the speech be heard from farther away, in a room with some noise.

    The direct sound loses 6 dB for each doubling of the distance :math:`d`; the reverberation and the noise
    of a room are equally loud everywhere. The reverberation is the signal, convolved with white Gaussian
    noise that decays by 60 dB within the reverberation time, and as loud as the direct sound at the critical
    distance :math:`c`: :math:`y = x + \frac{d}{c}\, r + n`, with the energy of the tail :math:`r` equal to
    that of the direct path and :math:`\mathrm{SNR}(d) = \mathrm{SNR} - 20 \log_{10} d` of the direct sound.

    - ``rng``: draws the tail of the room and the noise; the same at all distances.
    - ``metres``: :math:`d`, from 0.01 to 1000.
    - ``reverberation_time``: in seconds, from 0.05 to 5.
    - ``critical_distance``: :math:`c` in metres, from 0.01 to 1000.
    - ``snr_db``: signal-to-noise ratio at one metre in dB, from -120 to 120.
    - Returns float32, shape ``(samples,)``, within ±1; equal to the signal if that is silent.
    """
    require(0.01 <= metres <= 1000, f"metres is {metres}. It must lie between 0.01 and 1000")
    require(
        0.05 <= reverberation_time <= 5,
        f"reverberation_time is {reverberation_time}. It must lie between 0.05 and 5",
    )
    require(
        0.01 <= critical_distance <= 1000,
        f"critical_distance is {critical_distance}. It must lie between 0.01 and 1000",
    )
    require(-120 <= snr_db <= 120, f"snr_db is {snr_db}. It must lie between -120 and 120")
    tail = rng.standard_normal(max(1, round(reverberation_time * sampling_rate)))
    tail *= 10 ** (-3 * np.arange(tail.size) / tail.size)
    tail *= metres / critical_distance / np.sqrt(np.sum(tail**2))
    noise = rng.standard_normal(signal.size) * rms(signal) * amplitude(20 * np.log10(metres) - snr_db)
    heard = signal + scipy.signal.oaconvolve(centred(signal), tail)[: signal.size] + noise
    return limit(level_match(signal, heard))
