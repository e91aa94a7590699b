"""Method pages: the written text, with the thresholds from the file and sounds from the tested transforms."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from soundcheck import resources
from soundcheck.augment.registry import apply
from soundcheck.book import pages
from soundcheck.corpora import audio
from soundcheck.corpora.demo import corpus as demo
from soundcheck.escaping import heading
from soundcheck.media import MediaStore
from soundcheck.report import tables
from soundcheck.report.html import Html
from soundcheck.report.players import player, row, settings
from soundcheck.thresholds import Family

THRESHOLDS = "<!-- thresholds -->"  # lines of a written page that are replaced
LISTENING = "<!-- listening -->"
SAMPLE = "listening"  # stands for the content of the sample sound in draws


def sample(cache: Path, size: str) -> np.ndarray:
    """Give the sound on which changes are shown: the first segment of the demo corpus, at 16 kHz."""
    folder = demo.build(cache, size=size)
    return audio.read(min((folder / "audio").rglob("*.wav")))


def cells(family: Family, own: Path, media: MediaStore, signal: np.ndarray | None, seed: int) -> list[dict]:
    """Make the page of a family.

    Parameters
    ----------
    family
        The family.
    own
        Folder of the suite, which may hold pages of its own.
    media
        Where sounds go.
    signal
        Sample sound at 16 kHz; ``None`` if the family changes no signals.
    seed
        The suite's seed.
    """
    path = resources.find(f"book/methods/{family.name}.md", own)
    parts: list[dict] = []
    words: list[str] = []

    def flush() -> None:
        if "".join(words).strip():
            parts.append(pages.markdown("\n".join(words)))
        words.clear()

    titled = False
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("# ") and not titled:
            titled = True
            words.append(f"# {heading(family.title)}")
        elif line.strip() == THRESHOLDS:
            flush()
            parts.append(pages.output(tables.threshold_table(family)))
        elif line.strip() == LISTENING:
            flush()
            if signal is not None:
                parts.append(pages.output(_listening(family, media, signal, seed)))
        else:
            words.append(line)
    flush()
    if THRESHOLDS not in text:
        words += ["", "## Tests and thresholds"]
        flush()
        parts.append(pages.output(tables.threshold_table(family)))
    return parts


def _listening(family: Family, media: MediaStore, signal: np.ndarray, seed: int) -> Html:
    """Play the sample and every changed version of it, made by the transforms that test the models."""
    shown = [
        player(media, signal, audio.SAMPLING_RATE, "Original", caption="synthetic speech of the demo corpus")
    ]
    for change in family.changes.values():
        changed, drawn = apply(change, signal, audio.SAMPLING_RATE, seed=seed, content=SAMPLE)
        shown.append(
            player(media, changed, audio.SAMPLING_RATE, change.name, caption=settings(drawn), color="changed")
        )
    return row(shown)
