"""Method pages: the written text of a family, with thresholds, figures, and sounds made by the transforms."""

import dataclasses
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from soundcheck.augment.sounds import Sounds
from soundcheck.augment.sources import speech_source
from soundcheck.augment.transmission import tilt_filter
from soundcheck.book.pages import NO_VOICES, raw
from soundcheck.common import files, resources
from soundcheck.common.media import MediaStore
from soundcheck.common.messages import heading
from soundcheck.corpora import audio
from soundcheck.report import method_views
from soundcheck.report.html import element, join
from soundcheck.report.method_views import material
from soundcheck.report.players import Side, changed, sweep, switched
from soundcheck.report.style import show
from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import METRICS, setting_of
from soundcheck.suite.families import Family, Perturbation

SECTIONS = {  # category, or what a family is about -> heading of a list of families, in this order
    "correctness": "Correctness",
    "fairness": "Fairness",
    "robustness": "Robustness",
    "recognition": "Speech recognition",
    "verification": "Speaker verification",
}
PUBLISHED = """
correctness_classification correctness_consistency correctness_distribution correctness_regression
correctness_speaker_average correctness_speaker_ranking
fairness_accent fairness_language fairness_linguistic_sentiment fairness_pitch fairness_sex
robustness_background_noise robustness_low_quality_phone robustness_recording_condition
robustness_simulated_recording_condition robustness_small_changes robustness_spectral_tilt
""".split()  # the families of the published test suite of speech emotion models
CHANGED_BY_SUITE = (
    "The suite changes thresholds of this family or leaves tests out; the table marks these. What is said "
    "about the sources of thresholds is about the others."
)
SAMPLE = "listening"  # stands for the content of the sample sound in draws
_PLACE = re.compile(r"^<!-- (thresholds|listening|sounds|spectra|simulated|filters) -->$", re.MULTILINE)
_TITLE = re.compile(r"^# .*$", re.MULTILINE)
_THRESHOLDS = "<!-- thresholds -->"


def section(family: str, category: str) -> str:
    """Say under which of :data:`SECTIONS` a family is listed."""
    if family.startswith("asr_"):
        return "recognition"
    return "verification" if "verification" in family else category


def place(family: str, category: str) -> int:
    """Give the place of a family's section among all."""
    return list(SECTIONS).index(section(family, category))


def published_name(family: str) -> str:
    """Name a published family as its source does, such as "Fairness Sex"; empty for all others."""
    return family.replace("_", " ").title() if family in PUBLISHED else ""


def listens(family: Family) -> bool:
    """Say whether there is something to hear on the page of a family."""
    return bool(family.all_changes) or "condition" in family.columns


def written(family: str, suite_root: Path | None = None) -> Path:
    """Find what is written about a family; the folder of the suite comes first."""
    return resources.find(f"book/methods/{family}.md", suite_root)


@dataclasses.dataclass(frozen=True)
class MethodPage:
    """The page of a family."""

    family: Family
    media: MediaStore
    signal: np.ndarray | None  # sample sound at 16 kHz
    seed: int
    sounds: Sounds  # noises and impulse responses of the suite

    def text(self, suite_root: Path | None = None) -> str:
        """Give its Markdown; the folder of the suite may hold pages of its own."""
        text = written(self.family.name, suite_root).read_text(encoding="utf-8")
        opening = f"# {heading(self.family.title)}"
        if name := published_name(self.family.name):
            opening += f"\n\n*{name}* of the published tests {{cite:p}}`method-tests`."
        text = _TITLE.sub(lambda _: opening, text, count=1)
        if _THRESHOLDS not in text:
            text += f"\n\n## Tests and thresholds\n\n{_THRESHOLDS}\n"
        return _PLACE.sub(lambda match: getattr(self, f"_{match[1]}")(), text)

    def _thresholds(self) -> str:
        notice = f"{CHANGED_BY_SUITE}\n\n" if self.family.of_suite else ""
        return notice + raw(method_views.threshold_table(self.family))

    def _sounds(self) -> str:
        return raw(material(self.family, self.sounds))

    def _listening(self) -> str:
        """Play the sample and every changed version of it, made by the transforms that test the models.

        A family that compares recordings plays those that other microphones would make of the sample.
        """
        if not listens(self.family):
            return ""
        if self.signal is None:
            return "There is nothing to hear: no installed package has a sample of speech."
        parts = [] if self.media.heard else [element("p", NO_VOICES, class_="sc-notice")]
        if not self.family.all_changes:
            speech = speech_source()
            recorded = {name: speech.record(self.signal, name, SAMPLE) for name in speech.conditions}
            sides = [
                Side(signal.astype(np.float32), name.capitalize(), speech.conditions[name])
                for name, signal in recorded.items()
            ]
            parts.append(switched(self.media, sides))
        if self.family.changes:
            parts.append(switched(self.media, self._changed(self.family.changes.values())))
        for series in (*self.family.transformations.values(), *self.family.sweeps.values()):
            title = f"{series.name}: {series.axis}, from mild to severe"
            parts.append(sweep(self.media, self._changed(series.steps.values()), title))
        return raw(join(parts))

    def _changed(self, changes: Iterable[Perturbation]) -> list[Side]:
        options = {"seed": self.seed, "content": SAMPLE, "sounds": self.sounds}
        sides = [changed(self.signal, change, change.name, **options) for change in changes]
        return [Side(self.signal, "Original", speech_source().sample_caption), *sides]

    def _spectra(self) -> str:
        if self.signal is None:
            return ""
        sides = self._changed(self.family.changes.values())
        signals = {side.name: side.signal for side in sides if side.signal is not None}
        figure = method_views.spectra(signals, audio.SAMPLING_RATE)
        return raw(show(self.media, figure, f"Magnitude spectra: {', '.join(signals)}"))

    def _simulated(self) -> str:
        """Draw what unbiased random models score at most in the metrics that have thresholds."""
        recorded = simulation.recorded()
        panels, marked = {}, {}
        for test in filter(lambda test: test.simulation, self.family.tests.values()):
            groups, samples = simulation.published_size(test.simulation)
            setting = setting_of(test.simulation, groups, samples)
            same = [recorded[name].eq(getattr(setting, name)) for name in ("metric", "prediction", "truth")]
            rows = recorded[np.logical_and.reduce(same)]
            if len(rows):
                title = METRICS[setting.metric].title
                panels[title] = rows
                marked[title] = [(samples, each, groups) for each in sorted(set(test.thresholds.values()))]
        if not panels:
            return ""
        alt = (
            "Largest difference that 1000 unbiased random models show against the size of the groups: "
            f"{', '.join(panels)}. Published thresholds are stars"
        )
        return raw(show(self.media, method_views.simulated_maxima(panels, marked), alt))

    def _filters(self) -> str:
        """Draw the magnitude responses of the filters with which a family tilts spectra."""
        tilts = [tilt for tilt in self.family.changes.values() if tilt.transform == "spectral_tilt"]
        if not tilts:
            return ""
        filters = {tilt.name: tilt_filter(tilt.options["direction"]) for tilt in tilts}
        figure = method_views.magnitude_responses(filters, audio.SAMPLING_RATE)
        return raw(show(self.media, figure, f"Magnitude responses in decibel: {', '.join(filters)}"))


def listed(families: Iterable[Family]) -> str:
    """List families by section, each with its question."""
    sections: dict[str, list[str]] = {}
    for family in sorted(families, key=lambda family: place(family.name, family.category)):
        source = f" *{published}*" if (published := published_name(family.name)) else ""
        address = f"methods/{files.slug(family.name)}.md"
        line = f"- [{heading(family.title)}]({address}): {heading(family.question)}{source}"
        above = SECTIONS[section(family.name, family.category)]
        sections.setdefault(above, ["", f"## {above}", ""]).append(line)
    return "\n".join(itertools.chain(*sections.values()))
