"""Method pages: the written text, with thresholds from the file, figures, and sounds from the transforms."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from soundcheck.augment.filters import tilt_filter
from soundcheck.augment.registry import apply, missing
from soundcheck.book import pages
from soundcheck.common import resources
from soundcheck.common.escaping import heading
from soundcheck.common.media import MediaStore
from soundcheck.corpora import audio
from soundcheck.report import study_figures, tables
from soundcheck.report.html import Html, join
from soundcheck.report.pair_player import Side, sweep, switched
from soundcheck.report.players import settings
from soundcheck.report.sound_tables import material
from soundcheck.report.spectrum_figures import magnitude_responses, spectra
from soundcheck.report.style import show
from soundcheck.sounds.sound import Sounds
from soundcheck.sounds.sources import speech_source
from soundcheck.statistics import simulated_thresholds
from soundcheck.statistics.simulated_metrics import METRICS
from soundcheck.statistics.simulation import setting_of
from soundcheck.suite.families import Family, Perturbation

HEADING = "## Tests and thresholds"
OWN = (
    "This suite judges some of these tests otherwise or leaves them out: the table marks them. What is said "
    "here about where thresholds come from is about the others, which the suite leaves as they are."
)
THRESHOLDS = "<!-- thresholds -->"  # lines of a written page that are replaced
LISTENING = "<!-- listening -->"
MATERIAL = "<!-- sounds -->"
SPECTRA = "<!-- spectra -->"
SIMULATED = "<!-- simulated -->"
FILTERS = "<!-- filters -->"
SAMPLE = "listening"  # stands for the content of the sample sound in draws


def listens(family: Family) -> bool:
    """Say whether there is something to hear on the page of a family."""
    return bool(family.all_changes) or "condition" in family.columns


def written(family: Family, own: Path) -> Path:
    """Find what is written about a family; the folder of the suite comes first."""
    return resources.find(f"book/methods/{family.name}.md", own)


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
        Sample sound at 16 kHz; ``None`` if there is nothing to hear.
    seed
        The suite's seed.
    sounds
        Noises and impulse responses of the suite.
    """
    path = written(family, own)
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
        elif line.strip() == HEADING and family.of_suite:
            words += [line, "", OWN]
        elif line.strip() == THRESHOLDS:
            if family.of_suite and HEADING not in text:
                words.append(OWN)
            flush()
            parts.append(pages.output(tables.threshold_table(family)))
        elif line.strip() == LISTENING:
            if signal is None and listens(family):
                words.append("There is nothing to hear: no installed package has a sample of speech.")
            flush()
            if signal is not None:
                parts.append(pages.output(_listening(family, media, signal, seed, sounds)))
        elif line.strip() == SPECTRA:
            flush()
            if signal is not None:
                parts.append(pages.output(_spectra(family, media, signal, seed, sounds)))
        elif line.strip() == SIMULATED:
            flush()
            parts.append(pages.output(_simulated(family, media)))
        elif line.strip() == FILTERS:
            flush()
            if family.changes:
                parts.append(pages.output(_filters(family, media)))
        elif line.strip() == MATERIAL:
            flush()
            parts.append(pages.output(material(family, sounds)))
        else:
            words.append(line)
    flush()
    if THRESHOLDS not in text:
        words += ["", HEADING, *(["", OWN] if family.of_suite else [])]
        flush()
        parts.append(pages.output(tables.threshold_table(family)))
    return parts


def _listening(family: Family, media: MediaStore, signal: np.ndarray, seed: int, sounds: Sounds) -> Html:
    """Play the sample and every changed version of it, made by the transforms that test the models.

    Changes from mild to severe have a slider with every step. A family that compares recordings plays those
    that other microphones would make of the sample.
    """
    speech = speech_source()
    if not family.all_changes:
        sides = []
        for name, caption in speech.conditions.items():
            recorded = speech.record(signal, name, SAMPLE).astype(np.float32)
            sides.append(Side(recorded, name.capitalize(), caption))
        return switched(media, sides)

    def changed(changes: Iterable[Perturbation]) -> list[Side]:
        original = Side(signal, "Original", speech.sample_caption)
        return [original, *(_changed(change, signal, seed, sounds) for change in changes)]

    shown = [switched(media, changed(family.changes.values()))] if family.changes else []
    for series in family.transformations.values():
        title = f"{series.name}: {series.axis}, from mild to severe"
        shown.append(sweep(media, changed(series.steps.values()), title))
    for series in family.sweeps.values():
        shown.append(sweep(media, changed(series.steps.values()), f"{series.name}, from mild to severe"))
    return join(shown)


def _spectra(family: Family, media: MediaStore, signal: np.ndarray, seed: int, sounds: Sounds) -> Html:
    """Draw the spectra of the sample and of its changed versions."""
    signals = {"original": signal}
    for change in family.changes.values():
        if not missing(change, sounds):
            options = {"seed": seed, "content": SAMPLE, "sounds": sounds}
            signals[change.name] = apply(change, signal, audio.SAMPLING_RATE, **options)[0]
    figure = spectra(signals, audio.SAMPLING_RATE)
    return show(media, figure, f"Magnitude spectra: {', '.join(signals)}")


def _simulated(family: Family, media: MediaStore) -> Html:
    """Draw what unbiased random models score at most in the metrics that have thresholds."""
    recorded = simulated_thresholds.recorded()
    panels, marked = {}, {}
    for test in filter(lambda test: test.simulation, family.tests.values()):
        groups, samples = simulated_thresholds.published_size(test.simulation)
        setting = setting_of(test.simulation, groups, samples)
        own = (recorded[name].eq(getattr(setting, name)) for name in ("metric", "prediction", "truth"))
        rows = recorded[np.logical_and.reduce(list(own))]
        if len(rows):
            title = METRICS[setting.metric].title
            panels[title] = rows
            marked[title] = [(samples, each, groups) for each in sorted(set(test.thresholds.values()))]
    if not panels:
        return Html()
    figure = study_figures.simulated_maxima(panels, marked, groups)
    alt = (
        "Largest difference that 1000 unbiased random models show against the size of the groups: "
        f"{', '.join(panels)}. The line of {groups} groups stands out; published thresholds are dashed lines"
    )
    return show(media, figure, alt)


def _filters(family: Family, media: MediaStore) -> Html:
    """Draw the magnitude responses of the filters with which a family tilts spectra."""
    filters = {
        change.name: tilt_filter(change.options["direction"])
        for change in family.changes.values()
        if change.transform == "spectral_tilt"
    }
    figure = magnitude_responses(filters, audio.SAMPLING_RATE)
    return show(media, figure, f"Magnitude responses in decibel: {', '.join(filters)}")


def _changed(change: Perturbation, signal: np.ndarray, seed: int, sounds: Sounds) -> Side:
    if problem := missing(change, sounds):
        return Side(None, change.name, problem)
    changed, drawn = apply(change, signal, audio.SAMPLING_RATE, seed=seed, content=SAMPLE, sounds=sounds)
    return Side(changed, change.name, settings(drawn))
