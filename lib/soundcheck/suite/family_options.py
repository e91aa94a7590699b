"""Checks what a threshold file says to the notebook of a family in ``options``: a slip would go unseen.

Options of families that a suite brings are what their notebook makes of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator

from soundcheck.common.errors import did_you_mean
from soundcheck.metrics.differential import AVERAGES, read_omega
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import Family, PerturbationSeries

COMMON = ("segments", "sweep_segments", "sample", "pairs")  # options that any family may have
NAME_SETTINGS = ("excluded", "ratings")  # options that name levels of the family's transformations
_MILLION, _SHARE = schema.whole(1, 1_000_000), schema.number(0, 1)
_POSITIVE_SHARE = schema.number(0, 1, positive=True)


def _or_null(kind: Any) -> Any:
    return schema.parsed(kind | None, schema.plain_value)


def _check_rising(ends: list[float]) -> list[float]:
    if not ends or ends != sorted(set(ends)):
        raise schema.wrong("these are not rising numbers", "Write [1, 5, 10]")
    return ends


def _check_different(values: list[float]) -> list[float]:
    if not values or len(set(values)) < len(values):
        raise schema.wrong("these are not different numbers", "Write [0.05, 0.1]")
    return values


def _check_level(value: object) -> object:
    given = schema.free_value(value)
    levels = given.values() if isinstance(given, dict) else [given]
    if not levels or not all(type(level) in (int, float) and 0 < level < 1 for level in levels):
        what = f"{schema.display(value)} is not a share between 0 and 1"
        raise schema.wrong(what, "Write 0.9, or {default: 0.9, my-model: 0.95}")
    if isinstance(given, dict) and "default" not in given:
        raise schema.wrong("there is no default", "Write {default: 0.9, my-model: 0.95}")
    return given


def _check_omega(value: object) -> object:
    given = schema.free_value(value)
    try:
        read_omega(given)
    except ValueError as error:
        raise schema.wrong(str(error), "Write {count: 3} or {share: 0.5}") from None
    return given


def _check_group(value: object) -> object:
    given = schema.free_value(value)
    if given in ("", None, {}):
        return {}
    if not isinstance(given, dict) or len(given) != 1 or not all(isinstance(n, str) for n in given.values()):
        raise schema.wrong(f"{schema.display(value)} is not one group", "Write {accent: welsh}")
    return given


def _record(**fields: Any) -> type[schema.Section]:
    """Make the type of a section that has all of some fields."""
    return pydantic.create_model(
        "Record", __base__=schema.Section, **{name: (kind, ...) for name, kind in fields.items()}
    )


_ENDS = Annotated[list[schema.number(0, 1e6)], AfterValidator(_check_rising)]
_BY_TASK = dict.fromkeys(("regression", "classification", "transcription", "embedding"), _POSITIVE_SHARE)
_TYPES: tuple[tuple[Any, str], ...] = (
    (_or_null(schema.whole(1, 10**9)), "segments sweep_segments"),  # null: all
    (schema.whole(1, 100_000_000), "enrolled_trials minimum_trials"),
    (_MILLION, "group_count minimum_count minimum_predictions minimum_segments minimum_speakers"),
    (_MILLION, "samples words"),
    (schema.whole(2, 1_000_000), "cohort_top file_minimum"),
    (schema.whole(1, 1000), "bins"),
    (schema.whole(0, 1000), "heard"),
    (list[schema.whole(1, 1000)], "enrolled"),
    (schema.number(0, 1_000_000, positive=True), "characters_a_minute"),
    (schema.Number, "minimum_rating shown_rating"),
    (_SHARE, "tau"),
    (_or_null(_SHARE), "destroyed"),  # null: no limit
    (Annotated[list[_SHARE], AfterValidator(_check_different)], "taus"),
    (schema.parsed(_POSITIVE_SHARE | schema.Text, schema.plain_value), "calibration cohort"),
    (schema.Text, "by"),
    (schema.Texts, "columns groups languages"),
    (dict[str, schema.Text], "base_groups"),
    (dict[str, schema.Texts], "complements"),
    (schema.choice(*AVERAGES), "average"),
    (schema.parsed(object, _check_level), "level"),
    (schema.parsed(object, _check_omega), "omega"),
    (schema.parsed(object, _check_group), "probe_group"),
    (_record(count=_MILLION, segments=_MILLION), "bin_minimum"),
    (_record(female=_MILLION, male=_MILLION), "speakers"),
    (_record(words=schema.whole(1, 100), times=schema.whole(2, 1000)), "repeats"),
    (_record(**_BY_TASK), "matters"),  # by how much worse a group has to be
    (_record(word=_ENDS, character=_ENDS), "lengths speaking_rates"),  # ends of bins for each unit
)
OPTIONS = {name: kind for kind, names in _TYPES for name in names.split()}
# Of families with probes, whose options are used before the notebook runs.
LOCALISATION = ("by", "groups", "words", "minimum_count", "minimum_segments", "omega")
_LOCALISATION_TOO = ("group_count", "probe_group", "complements")
_OF_LANGUAGES = ("minimum_segments", "bin_minimum", "languages", "samples")
_REQUIRED = {
    "asr_hallucination": ("characters_a_minute", "repeats"),
    "correctness_temporal_behaviour": ("file_minimum",),
    "fairness_accent": ("minimum_segments", "bin_minimum"),
    "fairness_groups": ("minimum_segments", "bin_minimum", "minimum_trials", "minimum_speakers"),
    "fairness_language": _OF_LANGUAGES,
    "fairness_linguistic_sentiment": _OF_LANGUAGES,
    "fairness_pitch": ("groups", "bin_minimum"),
    "fairness_sex": ("groups", "bin_minimum"),
    "fairness_worst_groups": ("matters", "columns", "heard"),
    "verification_robustness": ("groups", "minimum_trials", "minimum_speakers"),
}
_OF_ANY_FAMILY = ("segments", "sweep_segments", "bin_minimum", "speakers")
_MAY_BE_EMPTY = ("speakers", "lengths", "speaking_rates")  # all speakers; no division into bins
# Families whose notebook takes no other options than those of the threshold file that Soundcheck brings.
CLOSED = ("asr_fairness", "asr_fault_localisation")


def check_options(reader: DocumentReader, family: Family, ours: Collection[str] | None) -> None:
    """Note options that are missing or have the wrong type.

    - ``ours``: names of options that a notebook of ours knows; ``None`` = all.
    """
    localised, more = (LOCALISATION, _LOCALISATION_TOO) if family.probes else ((), ())
    for name in (*_REQUIRED.get(family.name, ()), *localised):
        if name not in family.options:
            reader.note(("options", name), "the key is missing", "Add it")
    always = (*_OF_ANY_FAMILY, *localised, *more)
    for name, value in (reader.document.data.get("options") or {}).items():
        kind = OPTIONS.get(name)
        if kind is None or not (ours is None or name in (*ours, *always)):
            continue
        if schema.plain_value(value) is None and name in _MAY_BE_EMPTY:
            continue
        if isinstance(kind, type) and issubclass(kind, schema.Section):
            reader.section(("options", name), value, kind)
        else:
            reader.check(("options", name), value, kind)


def check_settings(
    reader: DocumentReader, options: Mapping[str, object], transformations: Mapping[str, PerturbationSeries]
) -> None:
    """Note settings that options name and the transformations do not have."""
    for option in [option for option in NAME_SETTINGS if options.get(option) is not None]:
        path, named = ("options", option), options[option]
        if not isinstance(named, dict):
            reader.note(path, "this names no settings", "Write {Scale: [0.6, 0.5]}")
            continue
        settings = {(name, step) for name, series in transformations.items() for step in series.steps}
        for name, levels in named.items():
            series = transformations.get(name)
            if series is None:
                what = f"unknown transformation {schema.display(name)}"
                reader.note((*path, name), what, did_you_mean(name, list(transformations)))
            elif not isinstance(levels, list | dict):
                remedy = f"Write [{next(iter(series.steps))}]"
                reader.note((*path, name), "this is not a list of levels", remedy)
            else:
                for place, level in enumerate(levels):
                    settings.discard((name, series.step(level)))
                    if series.step(level) is None:
                        below = (*path, name, place if isinstance(levels, list) else level)
                        what = f"{name} has no level {schema.display(str(level))}"
                        reader.note(below, what, f"Its levels: {', '.join(series.steps)}")
        if option == "excluded" and not settings:
            reader.note(path, "no setting is left", "Leave out fewer levels")
