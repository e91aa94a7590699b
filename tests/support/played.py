"""Puts a notebook with players, and the sounds that it plays, into a made-up output folder."""

import html
import io
import json
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.common.media import MediaStore


def flac(seconds: float = 0.5, seed: int = 0) -> bytes:
    """Make noise, which no format can shorten."""
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, round(16000 * seconds)).astype(np.float32)
    buffer = io.BytesIO()
    soundfile.write(buffer, noise, 16000, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def played(
    folder: Path,
    sounds: dict[str, bytes],
    title: str = "",
    model: str = "m",
    family: str = "correctness_regression",
    more: str = "",
) -> list[Path]:
    """Write the executed notebook of a model and family with a row of players; give the files of sounds."""
    media = MediaStore(folder / "media", "../../media/")
    players = "".join(
        f'<figure class="sc-player"><strong>{html.escape(label)}</strong>'
        f'<img class="sc-picture" src="{media.add(b"png" + data[-9:], ".png")}" alt="">'
        f'<audio controls src="{media.add(data, ".flac")}"></audio>'
        "<figcaption>said<br>1 s</figcaption></figure>"
        for label, data in sounds.items()
    )
    shown = (
        f'<p class="sc-players-title">{html.escape(title)}</p><div class="sc-players">{players}</div>{more}'
    )
    output = {"output_type": "display_data", "data": {"text/html": [shown]}, "metadata": {}}
    path = folder / "notebooks" / model / f"{family}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown"}, {"outputs": [output]}]}))
    return [folder / "media" / media.name(data, ".flac") for data in sounds.values()]
