"""Several sounds of one place, to be heard in turn: what a change does, whom a model takes for whom.

A page without its script shows as many players as there are sounds, side by side. The script makes them one:
they go on together, one of them is heard, and a key leads to another at the same position (``players.js``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from soundcheck.common.media import MediaStore
from soundcheck.corpora.audio import SAMPLING_RATE
from soundcheck.report.html import Html
from soundcheck.report.players import player, row, silent


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the sounds.

    Parameters
    ----------
    signal
        float32 ``(samples,)`` at :data:`soundcheck.corpora.audio.SAMPLING_RATE`; ``None`` if there is none,
        and then the caption says why.
    name, caption
        What it is, and what is said about it; both may come from data.
    """

    signal: np.ndarray | None
    name: str
    caption: str = ""


def switched(media: MediaStore, sides: Sequence[Side], title: str = "") -> Html:
    """Let sounds be compared, with a switch between them.

    Parameters
    ----------
    media
        Where sounds and pictures go.
    sides
        What is compared: the first one is that with which the others are. A single one gets a plain player.
    title
        What they have in common; may come from data.
    """
    return _shown(media, sides, title, "sc-pair")


def sweep(media: MediaStore, steps: Sequence[Side], title: str = "") -> Html:
    """Let a change be heard from mild to severe, with a slider.

    Parameters
    ----------
    media
        Where sounds and pictures go.
    steps
        The original first, then the change from mild to severe.
    title
        What is changed; may come from data.
    """
    return _shown(media, steps, title, "sc-pair sc-sweep")


def _shown(media: MediaStore, sides: Sequence[Side], title: str, kind: str) -> Html:
    players = []
    for number, side in enumerate(sides):
        color = "changed" if number else "original"
        if side.signal is None:
            players.append(silent(side.name, side.caption))
        else:
            words = {"caption": side.caption, "color": color}
            players.append(player(media, side.signal, SAMPLING_RATE, side.name, **words))
    return row(players, title, kind=kind)
