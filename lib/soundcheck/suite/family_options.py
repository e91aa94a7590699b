"""Checks what a threshold file says to the notebook of a family in ``options``.

A slip would go unseen or end the notebook.

Other options are what their notebook makes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AfterValidator

from soundcheck.common.errors import did_you_mean
from soundcheck.metrics.differential import AVERAGES
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import PerturbationSeries

COMMON = ("segments", "sweep_segments", "sample", "pairs")  # options that any family may have
NAME_SETTINGS = ("excluded", "ratings")  # options that name levels of the family's transformations


def _check_rising(ends: list[float]) -> list[float]:
    if not ends or ends != sorted(set(ends)):
        raise schema.wrong("these are not rising numbers", "Write [1, 5, 10]")
    return ends


class _Drawn(schema.Section):
    """Options of all families: how many segments are changed at most."""

    segments: schema.parsed(schema.whole(1, 10**9) | None, schema.plain_value) = None  # null: all
    sweep_segments: schema.parsed(schema.whole(1, 10**9) | None, schema.plain_value) = None  # null: see below


class _Grouped(schema.Section):
    """Options of families that change the sound and compare groups."""

    groups: schema.Texts = []
    minimum_segments: schema.whole(1, 1_000_000) = 1


class _Counted(_Grouped):
    """Options of families that count violations without transcripts."""

    taus: list[schema.number(0, 1)] = []
    average: schema.choice(*AVERAGES) = AVERAGES[0]


class _Judged(_Counted):
    """Options of families that judge them as well."""

    base_groups: dict[str, schema.Text] = {}
    tau: schema.number(0, 1) = 0
    destroyed: schema.parsed(schema.number(0, 1) | None, schema.plain_value) = None  # null: no limit
    minimum_rating: schema.Number = 0
    shown_rating: schema.Number = 0


class _Repeats(schema.Section):
    """When words of an answer count as repeated."""

    words: schema.whole(1, 100)
    times: schema.whole(2, 1000)


class _Unspoken(schema.Section):
    """Options of the family that listens to what is written where nobody speaks."""

    characters_a_minute: schema.number(0, 1_000_000, positive=True)
    repeats: _Repeats


class _Named(schema.Section):
    """Options of families that judge the precision of classes."""

    minimum_predictions: schema.whole(1, 1_000_000) = 1


def _check_level(value: object) -> object:
    given = schema.free_value(value)
    levels = given.values() if isinstance(given, dict) else [given]
    if not levels or not all(type(level) in (int, float) and 0 < level < 1 for level in levels):
        what = f"{schema.shown(value)} is not a share between 0 and 1"
        raise schema.wrong(what, "Write 0.9, or {default: 0.9, my-model: 0.95}")
    if isinstance(given, dict) and "default" not in given:
        raise schema.wrong("there is no default", "Write {default: 0.9, my-model: 0.95}")
    return given


class _Confided(_Grouped):
    """Options of families that put confidences into bins."""

    bins: schema.whole(1, 1000) = 10


class _Stated(_Confided):
    """Options of the family that tests what models say of their own answers."""

    level: schema.parsed(object, _check_level) = 0.9


class _Balanced(schema.Section):
    """Options of families that compare balanced groups."""

    groups: schema.Texts
    bin_minimum: dict[str, object]


class _Predicted(schema.Section):
    """Options of families that compare predictions for groups as they are."""

    minimum_segments: schema.whole(1, 1_000_000)
    bin_minimum: dict[str, object]


class _Served(_Predicted):
    """Options of the family that compares the groups that a suite names."""

    groups: schema.Texts = []
    minimum_trials: schema.whole(1, 100_000_000)
    minimum_speakers: schema.whole(1, 1_000_000)


class _Verified(schema.Section):
    """Options of the family that verifies speakers."""

    calibration: schema.parsed(schema.number(0, 1, positive=True) | schema.Text, schema.plain_value) = 0.5
    cohort: schema.parsed(schema.number(0, 1, positive=True) | schema.Text, schema.plain_value) = 0.5
    cohort_top: schema.whole(2, 1_000_000) = 2
    enrolled: list[schema.whole(1, 1000)] = []
    enrolled_trials: schema.whole(1, 100_000_000) = 1


class _Followed(schema.Section):
    """Options of families that follow files from segment to segment."""

    file_minimum: schema.whole(2, 1_000_000)


class _Tested(schema.Section):
    """Options of the family that compares trials under changes."""

    groups: schema.Texts
    minimum_trials: schema.whole(1, 100_000_000)
    minimum_speakers: schema.whole(1, 1_000_000)


class _Matters(schema.Section):
    """By how much worse a group has to be served, for each kind of task."""

    regression: schema.number(0, 1, positive=True)
    classification: schema.number(0, 1, positive=True)
    transcription: schema.number(0, 1, positive=True)
    embedding: schema.number(0, 1, positive=True)


class _Searched(schema.Section):
    """Options of the family that looks for groups that nobody named."""

    matters: _Matters
    columns: schema.Texts
    heard: schema.whole(0, 1000)


class _Spoken(_Predicted):
    """Options of families that compare languages."""

    languages: schema.Texts
    samples: schema.whole(1, 1_000_000)


class _Bins(schema.Section):
    """Ends of bins, rising, for each unit."""

    word: Annotated[list[schema.number(0, 1e6)], AfterValidator(_check_rising)]
    character: Annotated[list[schema.number(0, 1e6)], AfterValidator(_check_rising)]


class _Binned(schema.Section):
    """Options of the family that shows errors by length and by speaking rate."""

    lengths: _Bins | None = None
    speaking_rates: _Bins | None = None


_KNOWN = {
    "asr_confidence": _Confided,
    "asr_fairness": _Judged,
    "asr_fault_localisation": _Counted,
    "asr_hallucination": _Unspoken,
    "asr_robustness": _Grouped,
    "asr_word_errors": _Binned,
    "correctness_calibration": _Stated,
    "correctness_classification": _Named,
    "correctness_temporal_behaviour": _Followed,
    "fairness_accent": _Predicted,
    "fairness_groups": _Served,
    "fairness_language": _Spoken,
    "fairness_linguistic_sentiment": _Spoken,
    "fairness_pitch": _Balanced,
    "fairness_sex": _Balanced,
    "fairness_worst_groups": _Searched,
    "speaker_verification": _Verified,
    "verification_robustness": _Tested,
}


def known_options(family: str, shipped: Iterable[str]) -> set[str]:
    """Name all options of a family of recognisers; empty for other families.

    - ``shipped``: options of the threshold file that Soundcheck brings.
    """
    known = _KNOWN.get(family)
    if known is None or not issubclass(known, _Counted):
        return set()
    return {*shipped, *COMMON, "excluded", *known.model_fields}


def check_options(
    reader: DocumentReader,
    family: str,
    options: Mapping[str, object],
    transformations: Mapping[str, PerturbationSeries],
) -> None:
    """Note what is wrong with the options of a family.

    - ``reader``: reads the threshold file; takes the problems.
    - ``transformations``: changes from mild to severe that the options may name.
    """
    given = reader.document.data.get("options") or {}
    for known in (_Drawn, _KNOWN.get(family)):
        if known is not None:
            own = {key: given[key] for key in given if key in known.model_fields}
            read = reader.section(("options",), own, known)
            taus = read.taus if read is not None and "taus" in own else [0.1]
            if not taus or len(set(taus)) < len(taus):
                reader.note(("options", "taus"), "these are not different numbers", "Write [0.05, 0.1]")
    if transformations:
        for option in NAME_SETTINGS:
            _check_settings(reader, option, options.get(option), transformations)


def _check_settings(
    reader: DocumentReader, option: str, named: object, transformations: Mapping[str, PerturbationSeries]
) -> None:
    """Note settings that an option names and the transformations do not have."""
    if named is None:
        return
    if not isinstance(named, dict):
        reader.note(("options", option), "this names no settings", "Write {Scale: [0.6, 0.5]}")
        return
    found = set()
    for name, levels in named.items():
        path = ("options", option, name)
        series = transformations.get(name)
        if series is None:
            what = f"unknown transformation {schema.shown(name)}"
            reader.note(path, what, did_you_mean(name, list(transformations)))
        elif not isinstance(levels, list | dict):
            reader.note(path, "this is not a list of levels", f"Write [{next(iter(series.steps))}]")
        else:
            for place, level in enumerate(levels):
                step = series.step(level)
                found.add((name, step))
                if step is None:
                    below = (*path, place if isinstance(levels, list) else level)
                    what = f"{name} has no level {schema.shown(str(level))}"
                    reader.note(below, what, f"Its levels: {', '.join(series.steps)}")
    everything = {(name, step) for name, series in transformations.items() for step in series.steps}
    if option == "excluded" and found >= everything:
        reader.note(("options", option), "no setting is left", "Leave out fewer levels")
