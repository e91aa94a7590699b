"""All transforms by name, the drawing of their options and their application to a signal.

A transform is added by declaring a function with :func:`soundcheck.augment.base.transform` in any module of
the modules that are listed here.

Conventions
-----------
The options of a change say what is drawn, anew for every signal:

- a list: one of its values, each equally likely
- a mapping ``{from: 5000, to: 7000}``: a whole number, both ends included, each equally likely
- anything else: that value

What is drawn depends on the suite's seed, the transform, its options and the content of the signal. It does
not depend on the order of signals or options, nor on what the change is called. Options are drawn first, in
the order of their names, and whatever else the transform needs afterwards from the same generator. Options
that a change lists as *common* do not count: steps of a sweep, which differ in nothing else, draw the same.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import typing
from collections.abc import Mapping
from types import MappingProxyType, ModuleType

import numpy as np

from soundcheck.augment import (
    codec,
    degradations,
    edits,
    filters,
    level,
    noise,
    prosody,
    rooms,
    transmission,
    unspoken,
)
from soundcheck.augment.base import Transform, declared
from soundcheck.augment.sounds import BASE, KINDS, OTHER, Sound, Sounds, SoundSet
from soundcheck.common import seeds
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.suite.entries import SPEECH_KINDS

ENDS = {"from", "to"}
TRIAL_RATE = 16000  # sampling rate in Hz at which a change is tried out
TRIAL_SAMPLES = 1600
MODULES = (codec, degradations, edits, filters, level, noise, prosody, rooms, transmission, unspoken)


_TRIAL_SOUNDS = Sounds(
    {
        kind: SoundSet(
            kind,
            tuple(Sound.of(role, np.array([0.5, -0.25], np.float32), role=role) for role in (BASE, OTHER)),
        )
        for kind in KINDS
    }
)


class Perturbation(typing.Protocol):
    """What a threshold file asks for: a transform with options to draw."""

    @property
    def name(self) -> str:
        """How the change is called in results."""

    @property
    def transform(self) -> str:
        """Name of the transform."""

    @property
    def options(self) -> Mapping[str, object]:
        """Option name -> value, list or ``{from, to}``."""

    @property
    def common(self) -> tuple[str, ...]:
        """Options on whose values nothing that is drawn depends."""


def collect(modules: typing.Iterable[ModuleType]) -> Mapping[str, Transform]:
    """Gather the transforms that modules define themselves, in alphabetical order.

    Raises ValueError: if two modules define a transform of the same name.
    """
    found: dict[str, Transform] = {}
    for module in modules:
        for thing in vars(module).values():
            mark = declared(thing)
            if mark is None or mark.function.__module__ != module.__name__:
                continue
            if mark.name in found:
                other = found[mark.name].function.__module__
                raise ValueError(f"{mark.name} is defined in {other} and in {module.__name__}")
            found[mark.name] = mark
    return MappingProxyType(dict(sorted(found.items())))


TRANSFORMS: Mapping[str, Transform] = collect(MODULES)


def draw(options: Mapping[str, object], rng: np.random.Generator) -> dict[str, object]:
    """Draw a value for each option, in the order of the option names.

    - ``options``: checked by :func:`check_change`.
    - ``rng``: its state moves on by one draw for each list or range.

    >>> draw({"snr_db": [40], "frequency": {"from": 7, "to": 7}, "order": 1}, np.random.default_rng(0))
    {'frequency': 7, 'order': 1, 'snr_db': 40}
    """
    drawn = {}
    for name in sorted(options):
        value = options[name]
        if isinstance(value, Mapping):
            value = int(rng.integers(value["from"], value["to"], endpoint=True))
        elif isinstance(value, list | tuple):
            value = value[int(rng.integers(len(value)))]
        drawn[name] = value
    return drawn


def apply(
    change: Perturbation,
    signal: np.ndarray,
    sampling_rate: int,
    *,
    seed: int,
    content: str,
    sounds: Sounds | None = None,
) -> tuple[np.ndarray, dict[str, object]]:
    """Change a signal.

    - ``change``: transform and options, checked by :func:`check_change`.
    - ``signal``: float32, shape ``(samples,)``, not empty; never changed, may be read-only.
    - ``content``: digest of the audio that the signal was read from.
    - ``sounds``: noises and impulse responses, for transforms that need them.
    - Returns ``signal``: float32, shape ``(samples,)``, finite; may be a read-only view of what was given.
    - Returns ``drawn``: Option name -> value used.
    - Raises InputError: if there is no such transform.
    - Raises ValueError: if the transform cannot be applied to this signal; the text says why.
    """
    transform = _lookup(change)
    drawn, rng = drawn_options(change, seed=seed, content=content)
    material = {"sounds": sounds or Sounds()} if transform.sounds else {}
    with np.errstate(over="ignore", invalid="ignore"):  # the check says it in words
        changed = transform.function(signal, sampling_rate, rng, **material, **drawn)
    if not np.isfinite(changed).all():
        raise ValueError(f"{transform.name} gives samples that are not finite numbers")
    return changed, drawn


def kind_of_sounds(change: Perturbation) -> tuple[str, ...]:
    """Name the kinds of sounds that a change draws from; empty if it draws from none."""
    option = _lookup(change).sounds
    value = change.options.get(option, ())
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(kind for kind in values if kind in KINDS)


def missing(change: Perturbation, sounds: Sounds | None = None) -> str:
    """Say what a change needs and this machine does not have; empty if all is there.

    - ``sounds``: the sound material; if given, the impulse responses that the change wants have to be there
      as well, and so has speech in another language.
    """
    transform = _lookup(change)
    if sounds is not None and (absent := set(kind_of_sounds(change)) & set(SPEECH_KINDS) - set(sounds.sets)):
        return f"there are no sounds of the kind {absent.pop()}; a suite names a folder of them under sounds"
    if sounds is not None and transform.sounds == "responses":
        try:
            drawable(change, sounds)
        except ValueError as error:
            return str(error)
    return transform.missing()


def drawable(change: Perturbation, sounds: Sounds) -> list[Sound]:
    """List the impulse responses that a change may draw.

    Raises ValueError: if there are none for one of its options, or if nothing is known of the distance that
    it wants.
    """
    known = _lookup(change).options
    wanted = [
        _drawable(change.options.get(name, known[name].default))[0] for name in ("role", "ratio", "times")
    ]
    found: dict[str, Sound] = {}
    for kind, role, ratio, times in itertools.product(kind_of_sounds(change), *wanted):
        if times != 1 and not sounds.of(kind, BASE)[0].distance:
            raise ValueError(
                f"nothing tells at which distances the impulse responses of {kind} were measured"
            )
        found |= {sound.name: sound for sound in sounds.responses(kind, role, ratio, times)}
    return list(found.values())


def drawn_options(
    change: Perturbation, *, seed: int, content: str
) -> tuple[dict[str, object], np.random.Generator]:
    """Draw the options of a change as :func:`apply` does, without any signal.

    - ``change, seed, content``: see :func:`apply`.
    - Returns ``drawn``: Option name -> value.
    - Returns ``rng``: What the transform draws all else from.
    """
    named = {name: value for name, value in change.options.items() if name not in change.common}
    rng = seeds.generator(seed, "change", change.transform, named, content)
    return draw(change.options, rng), rng


def _lookup(change: Perturbation) -> Transform:
    found = TRANSFORMS.get(change.transform)
    if found is None:
        raise input_error(
            f"change {quoted(change.name)}",
            f"there is no transform {quoted(change.transform)}",
            did_you_mean(change.transform, TRANSFORMS),
        )
    return found


def check_change(change: Perturbation) -> str:
    """Say what is wrong with a change before anything is run; empty if nothing is.

    Checks the names of transform and options, the kind of every value that could be drawn, and its range by
    trying the transform on a tenth of a second of sound at 16 kHz.

    Returns what is wrong and the remedy, as sentences; names neither the file nor the change.
    """
    transform = TRANSFORMS.get(change.transform) if isinstance(change.transform, str) else None
    if transform is None:
        remedy = did_you_mean(str(change.transform), TRANSFORMS)
        return f"there is no transform {quoted(change.transform)}. {remedy}."
    for name in change.options:
        if name not in transform.options:
            remedy = did_you_mean(str(name), transform.options)
            return f"{transform.name} has no option {quoted(name)}. {remedy}."
    for name in transform.required:
        if name not in change.options:
            return f"{transform.name} needs the option {name}. Give a value, a list or {{from, to}}."
    drawable: dict[str, list] = {}
    for name, value in change.options.items():
        drawable[name], problem = _drawable(value)
        problem = problem or _wrong_kind(drawable[name], transform.options[name])
        if problem:
            return f"option {name} of {transform.name}: {problem}."
    return _try(transform, drawable)


def _drawable(value: object) -> tuple[list, str]:
    """List the values that could be drawn, of a range only the ends."""
    if isinstance(value, list | tuple):
        return list(value), "" if value else "the list is empty. Give at least one value"
    if not isinstance(value, Mapping):
        return [value], ""
    if set(value) != ENDS:
        return [], f"{quoted(dict(value))} is not a valid range. Write {{from: 1, to: 2}}"
    low, high = value["from"], value["to"]
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in (low, high)):
        return [], f"{quoted(dict(value))} needs whole numbers. Use a list for anything else"
    if low > high:
        return [], f"the range starts at {low} and ends at {high}. Swap them"
    return [low, high], ""


def _wrong_kind(values: list, option: inspect.Parameter) -> str:
    """Compare values with what the function's annotation promises; other annotations are not checked."""
    kind = option.annotation
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # A comparison refuses NaN and infinity, and takes whole numbers too large for a float.
        if kind is float and not (number and abs(value) < sys.float_info.max):
            return f"{quoted(value)} is not a number. Give a finite number"
        if kind is int and not (number and isinstance(value, int)):
            return f"{quoted(value)} is not a whole number. Give a whole number"
        if kind is str and not isinstance(value, str):
            return f"{quoted(value)} is not a text. Put it in quotes"
        if typing.get_origin(kind) is typing.Literal and value not in typing.get_args(kind):
            return f"{quoted(value)} is not allowed. {did_you_mean(str(value), typing.get_args(kind))}"
    return ""


def _try(transform: Transform, drawable: Mapping[str, list]) -> str:
    """Call the transform with each value once, the other options at their first."""
    signal = np.zeros(TRIAL_SAMPLES, dtype=np.float32)
    signal[::2] = 0.5
    first = {name: values[0] for name, values in drawable.items()}
    tries = [first | {name: value} for name, values in drawable.items() for value in values]
    material = {"sounds": _TRIAL_SOUNDS} if transform.sounds else {}
    if transform.missing():
        return ""  # the book says so; the options cannot be tried
    for options in tries or [first]:
        try:
            transform.function(signal, TRIAL_RATE, np.random.default_rng(0), **material, **options)
        except ValueError as error:
            return f"{transform.name}: {error}."
    return ""
