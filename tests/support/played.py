"""Puts a notebook with players, and the sounds that it plays, into a made-up output folder."""

import io
import json
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.common.media import EXAMPLES, MediaStore


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
    **about: object,
) -> list[Path]:
    """Write the executed notebook of a model and family that plays sounds; give the files of these."""
    media = MediaStore(folder / "media", "../../media/")
    shown = []
    for label, data in sounds.items():
        names = {"sound": media.add(data, ".flac"), "picture": media.add(b"png" + data[-9:], ".png")}
        names = {kind: address.removeprefix(media.prefix) for kind, address in names.items()}
        shown.append({"label": label, "caption": "said; 1 s", **names})
    example = {"title": title, "group": "", "words": [], "sounds": shown} | about
    output = {"output_type": "display_data", "data": {EXAMPLES: [example]}, "metadata": {}}
    path = folder / "notebooks" / model / f"{family}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown"}, {"outputs": [output]}]}))
    return [folder / "media" / media.name(data, ".flac") for data in sounds.values()]
