"""All transforms by name, the drawing of their options and their application to a signal.

A transform is added by declaring a function with :func:`soundcheck.augment.base.transform` in one of the
modules that are imported here.

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
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.augment import edits, level, noise, prosody, transmission  # noqa: F401
from soundcheck.augment.base import TRANSFORMS
from soundcheck.augment.sounds import BASE, KINDS, Sound, Sounds
from soundcheck.common import seeds
from soundcheck.common.messages import did_you_mean, quoted
from soundcheck.suite.entries import SPEECH_KINDS

if TYPE_CHECKING:
    from soundcheck.suite.families import Perturbation

TRIAL_RATE = 16000  # Hz, the sampling rate for which options are checked before a run


def draw(options: Mapping[str, object], rng: np.random.Generator) -> dict[str, object]:
    """Draw a value for each checked option, in the order of their names; one draw a list or range.

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


def drawn_options(
    change: Perturbation, *, seed: int, content: str
) -> tuple[dict[str, object], np.random.Generator]:
    """Draw the options of a change for a signal, and give what the transform draws all else from."""
    named = {name: value for name, value in change.options.items() if name not in change.common}
    rng = seeds.generator(seed, "change", change.transform, named, content)
    return draw(change.options, rng), rng


def apply(
    change: Perturbation,
    signal: np.ndarray,
    sampling_rate: int,
    *,
    seed: int,
    content: str,
    sounds: Sounds | None = None,
) -> tuple[np.ndarray, dict[str, object]]:
    """Change a signal; gives the result and the options that were drawn.

    - ``change``: transform and options, checked by :func:`check_change`.
    - ``content``: digest of the audio that the signal was read from.
    - ``sounds``: noises and impulse responses, for transforms that need them.
    - Returns ``signal``: finite; see :mod:`soundcheck.augment.base`.
    - Raises ValueError: if the transform cannot be applied to this signal; the text says why.
    """
    transform = TRANSFORMS[change.transform]
    drawn, rng = drawn_options(change, seed=seed, content=content)
    with np.errstate(over="ignore", invalid="ignore"):  # the check says it in words
        changed = transform.function(signal, sampling_rate, rng, sounds=sounds or Sounds(), **drawn)
    if not np.isfinite(changed).all():
        raise ValueError(f"{transform.name} gives samples that are not finite numbers")
    return changed, drawn


def kind_of_sounds(change: Perturbation) -> tuple[str, ...]:
    """Name the kinds of sounds that a change draws from; empty if it draws from none."""
    kinds, _ = _values(change.options.get(TRANSFORMS[change.transform].sounds, ()))
    return tuple(kind for kind in kinds if kind in KINDS)


def missing(change: Perturbation, sounds: Sounds | None = None) -> str:
    """Say what a change needs and this machine does not have; empty if all is there.

    - ``sounds``: the sound material; if given, the impulse responses that the change wants have to be there
      as well, and so has speech in another language.
    """
    transform = TRANSFORMS[change.transform]
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
    options = TRANSFORMS[change.transform].options
    wanted = [
        _values(change.options.get(name, options[name].default))[0] for name in ("role", "ratio", "times")
    ]
    responses: dict[str, Sound] = {}
    for kind, role, ratio, times in itertools.product(kind_of_sounds(change), *wanted):
        if times != 1 and not sounds.of(kind, BASE)[0].distance:
            what = f"nothing tells at which distances the impulse responses of {kind} were measured"
            raise ValueError(what)
        responses |= {sound.name: sound for sound in sounds.responses(kind, role, ratio, times)}
    return list(responses.values())


def check_change(change: Perturbation) -> str:
    """Say what is wrong with a change before anything is run, and the remedy; empty if nothing is.

    Checks the names of transform and options and every value that could be drawn, of a range its ends. Names
    neither the file nor the change.
    """
    transform = TRANSFORMS.get(change.transform) if isinstance(change.transform, str) else None
    if transform is None:
        remedy = did_you_mean(str(change.transform), sorted(TRANSFORMS))
        return f"there is no transform {quoted(change.transform)}. {remedy}."
    for name in change.options:
        if name not in transform.options:
            remedy = did_you_mean(str(name), transform.options)
            return f"{transform.name} has no option {quoted(name)}. {remedy}."
    for name, option in transform.options.items():
        if option.default is inspect.Parameter.empty and name not in change.options:
            return f"{transform.name} needs the option {name}. Give a value, a list or {{from, to}}."
    values: dict[str, list] = {}
    for name, value in change.options.items():
        values[name], problem = _values(value)
        problems = [problem, *(transform.options[name].problem(each, TRIAL_RATE) for each in values[name])]
        if problem := next(filter(None, problems), ""):
            return f"option {name} of {transform.name}: {problem}."
    for chosen in itertools.product(*values.values()):
        if problem := transform.check(**dict(zip(values, chosen, strict=True))):
            return f"{transform.name}: {problem}."
    return ""


def _values(option: object) -> tuple[list, str]:
    """List the values that could be drawn, of a range only the ends; or say what is wrong."""
    if isinstance(option, list | tuple):
        return list(option), "" if option else "the list is empty. Give at least one value"
    if not isinstance(option, Mapping):
        return [option], ""
    if set(option) != {"from", "to"}:
        return [], f"{quoted(dict(option))} is not a valid range. Write {{from: 1, to: 2}}"
    low, high = option["from"], option["to"]
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in (low, high)):
        return [], f"{quoted(dict(option))} needs whole numbers. Use a list for anything else"
    if low > high:
        return [], f"the range starts at {low} and ends at {high}. Swap them"
    return [low, high], ""
