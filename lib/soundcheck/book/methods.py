"""Method pages: the written text, with the thresholds from the file and sounds from the tested transforms."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from soundcheck import resources
from soundcheck.augment.registry import apply, missing
from soundcheck.book import pages
from soundcheck.corpora import audio
from soundcheck.corpora.demo import corpus as demo
from soundcheck.escaping import heading
from soundcheck.families import Change, Family
from soundcheck.media import MediaStore
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.material import material
from soundcheck.report.players import player, row, settings
from soundcheck.report.spectrum_figures import spectra
from soundcheck.report.style import show
from soundcheck.sounds.sound import Sounds

THRESHOLDS = "<!-- thresholds -->"  # lines of a written page that are replaced
LISTENING = "<!-- listening -->"
MATERIAL = "<!-- sounds -->"
SPECTRA = "<!-- spectra -->"
SAMPLE = "listening"  # stands for the content of the sample sound in draws


def sample(cache: Path, size: str) -> np.ndarray:
    """Give the sound on which changes are shown: the first segment of the demo corpus, at 16 kHz."""
    folder = demo.build(cache, size=size)
    return audio.read(min((folder / "audio").rglob("*.wav")))


def cells(
    family: Family, own: Path, media: MediaStore, signal: np.ndarray | None, seed: int, sounds: Sounds
) -> list[dict]:
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
    sounds
        Noises and impulse responses of the suite.
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
                parts.append(pages.output(_listening(family, media, signal, seed, sounds)))
        elif line.strip() == SPECTRA:
            flush()
            if signal is not None:
                parts.append(pages.output(_spectra(family, media, signal, seed, sounds)))
        elif line.strip() == MATERIAL:
            flush()
            parts.append(pages.output(material(family, sounds)))
        else:
            words.append(line)
    flush()
    if THRESHOLDS not in text:
        words += ["", "## Tests and thresholds"]
        flush()
        parts.append(pages.output(tables.threshold_table(family)))
    return parts


def _listening(family: Family, media: MediaStore, signal: np.ndarray, seed: int, sounds: Sounds) -> Html:
    """Play the sample and every changed version of it, made by the transforms that test the models.

    Of transformations every step is played, of a sweep the mildest, the middle and the most severe one.
    """
    shown = [
        player(media, signal, audio.SAMPLING_RATE, "Original", caption="synthetic speech of the demo corpus")
    ]
    rows = [
        row([*shown, *(_changed(change, media, signal, seed, sounds) for change in family.changes.values())])
    ]
    for series in family.transformations.values():
        played = [_changed(change, media, signal, seed, sounds) for change in series.steps.values()]
        rows.append(row(played, title=f"{series.name}: {series.axis}, from mild to severe"))
    for sweep in family.sweeps.values():
        steps = list(sweep.steps.values())
        chosen = [steps[0], steps[len(steps) // 2], steps[-1]]
        played = [_changed(change, media, signal, seed, sounds) for change in chosen]
        rows.append(row(played, title=f"{sweep.name}, from mild to severe"))
    return join(rows)


def _spectra(family: Family, media: MediaStore, signal: np.ndarray, seed: int, sounds: Sounds) -> Html:
    """Draw the spectra of the sample and of its changed versions."""
    signals = {"original": signal}
    for change in family.changes.values():
        if not missing(change, sounds):
            options = {"seed": seed, "content": SAMPLE, "sounds": sounds}
            signals[change.name] = apply(change, signal, audio.SAMPLING_RATE, **options)[0]
    figure = spectra(signals, audio.SAMPLING_RATE)
    return show(media, figure, f"Magnitude spectra: {', '.join(signals)}")


def _changed(change: Change, media: MediaStore, signal: np.ndarray, seed: int, sounds: Sounds) -> Html:
    if problem := missing(change, sounds):
        return element("figure", element("strong", change.name), element("figcaption", problem))
    changed, drawn = apply(change, signal, audio.SAMPLING_RATE, seed=seed, content=SAMPLE, sounds=sounds)
    return player(media, changed, audio.SAMPLING_RATE, change.name, caption=settings(drawn), color="changed")
