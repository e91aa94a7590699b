"""What every transform has in common: how it is declared and what it may rely on.

Conventions
-----------
A transform is declared as a function of the signal and of what else it needs, and is called with all of it:
``f(signal, sampling_rate, rng, *, sounds, option...)``.

- ``signal``: one channel, float32 ``(samples,)``, full scale at ±1; never changed, may be read-only
- ``sampling_rate``: in Hz
- ``rng``: the only source of chance, made by the caller from what the signal contains
- ``sounds``: noises and impulse responses, :class:`soundcheck.augment.sounds.Sounds`; only for transforms
  that draw from them, one of whose options tells the kind
- options: keyword-only, annotated with their type and range, with the unit in the name or in the docstring
- returns float32 ``(samples,)``, C-contiguous: a new array or, where samples are only left out, a read-only
  view of the signal; a ValueError says why a signal cannot be changed

Samples beyond ±1 are kept: a transform clips or scales only where its definition says so, and whoever writes
the result to an integer format clips it there. Every transform has one more option, ``full_scale``: with
``"clipped"`` the result is clipped to ±1, so that all models hear the same, also those that get an integer
file; the default is ``"kept"``. Options are checked before the signal is looked at, so that a wrong one is
refused for silence too.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import numbers
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

import numpy as np

from soundcheck.common.messages import did_you_mean, quoted

_CONTEXT = ("sampling_rate", "rng", "sounds")  # what a transform may ask for beside its options


@dataclasses.dataclass(frozen=True)
class Range:
    """Numbers that an option may be."""

    low: float
    high: float | None  # ``None`` = half the sampling rate
    ends: str = "[]"  # as intervals are written: ``"("`` or ``")"`` if an end itself is not allowed
    zero: bool = False  # whether 0 is allowed as well

    def problem(self, value: float, sampling_rate: int) -> str:
        """Say what a value must be; empty if it is."""
        high = sampling_rate / 2 if self.high is None else self.high
        at_end = (value == self.low and self.ends[0] == "[") or (value == high and self.ends[1] == "]")
        if self.low < value < high or at_end or (self.zero and value == 0):
            return ""
        or_zero, half = "0 or " if self.zero else "", ", half the sampling rate" if self.high is None else ""
        from_text, to_text = {"[": "at least", "(": "above"}, {"]": "at most", ")": "below"}
        ends = from_text[self.ends[0]], self.low, "and", to_text[self.ends[1]], f"{high:g}"
        return f"must be {or_zero}{' '.join(map(str, ends))}{half}"


@dataclasses.dataclass(frozen=True)
class Option:
    """What an option of a transform may be."""

    name: str
    default: object  # ``inspect.Parameter.empty`` = it has to be given
    kind: type | None  # ``float`` or ``int``; ``None`` = one of those allowed
    allowed: tuple = ()
    within: Range | None = None

    @classmethod
    def of(cls, parameter: inspect.Parameter) -> Option:
        """Read the annotation of a parameter."""
        arguments = typing.get_args(parameter.annotation)
        if typing.get_origin(parameter.annotation) is Literal:
            return cls(parameter.name, parameter.default, None, arguments)
        kind, within = arguments or (parameter.annotation, None)
        return cls(parameter.name, parameter.default, kind, (), within)

    def problem(self, value: object, sampling_rate: int) -> str:
        """Say what is wrong with a value, and the remedy; empty if nothing is."""
        if self.kind is None:
            if value in self.allowed:
                return ""
            return f"{quoted(value)} is not allowed. {did_you_mean(value, self.allowed)}"
        # A comparison refuses NaN and infinity, and takes whole numbers too large for a float.
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not number or not abs(value) < sys.float_info.max:
            return f"{quoted(value)} is not a number. Give a finite number"
        if self.kind is int and not isinstance(value, numbers.Integral):
            return f"{quoted(value)} is not a whole number. Give a whole number"
        problem = self.within.problem(value, sampling_rate) if self.within else ""
        return problem and f"{value} is out of range, it {problem}"


Rng = np.random.Generator
Decibels = Annotated[float, Range(-120, 120)]
Hertz = Annotated[float, Range(0, None, "()")]
Seconds = Annotated[float, Range(0, 600)]  # beyond that an option is a slip and would fill the memory
Milliseconds = Annotated[float, Range(1, 1000)]
Metres = Annotated[float, Range(0.01, 1000)]


@dataclasses.dataclass(frozen=True)
class Transform:
    """A change of a signal that threshold files may name."""

    name: str
    function: Callable[..., np.ndarray]  # checked, see the conventions of this module
    options: Mapping[str, Option]  # by name
    sounds: str  # the option that tells which kind of sound is drawn from; empty if none is
    missing: Callable[[], str]  # says what the transform needs and this machine lacks; empty if nothing
    check: Callable[..., str]  # says what is wrong with a combination of options; empty if nothing is


FULL_SCALE = Option("full_scale", "kept", None, ("kept", "clipped"))
TRANSFORMS: dict[str, Transform] = {}  # filled by the decorator


def transform(
    formula: Callable[..., np.ndarray] | None = None,
    *,
    sounds: str = "",
    missing: Callable[[], str] = lambda: "",
    check: Callable[..., str] = lambda **options: "",
) -> Callable:
    """Declare a function as a transform, whose signals and options are checked before it is called.

    - ``sounds, missing, check``: see :class:`Transform`.
    - Raises ValueError: if there is a transform of that name; by the decorated function: if the signal has
      not one dimension with samples, or an option is wrong.
    """
    if formula is None:
        return functools.partial(transform, sounds=sounds, missing=missing, check=check)
    name, parameters = formula.__name__, inspect.signature(formula, eval_str=True).parameters
    if name in TRANSFORMS:
        first = TRANSFORMS[name].function.__module__
        raise ValueError(f"{name} is defined in {first} and in {formula.__module__}")
    options = {key: Option.of(each) for key, each in parameters.items() if key not in ("signal", *_CONTEXT)}
    needed = [key for key in _CONTEXT if key in parameters]

    @functools.wraps(formula)
    def function(
        signal: np.ndarray,
        sampling_rate: int,
        rng: np.random.Generator,
        *,
        sounds: object = None,
        full_scale: str = "kept",
        **chosen: object,
    ) -> np.ndarray:
        signal = np.asarray(signal, dtype=np.float32)
        if signal.ndim != 1 or not signal.size:
            what = f"a signal of shape {signal.shape} cannot be changed"
            raise ValueError(f"{what}; one channel with samples is needed")
        for key, value in chosen.items():
            if key in options and (problem := options[key].problem(value, sampling_rate)):
                raise ValueError(f"{key} {problem}")
        if problem := check(**chosen):
            raise ValueError(problem)
        context = {"sampling_rate": sampling_rate, "rng": rng, "sounds": sounds}
        result = formula(signal, **{key: context[key] for key in needed}, **chosen)
        if full_scale == "clipped":
            result = np.clip(result, -1, 1)
        result = np.ascontiguousarray(result, np.float32)
        if np.may_share_memory(result, signal):
            result = result.view()
            result.flags.writeable = False
        return result

    del function.__wrapped__  # whose signature is not the one to call
    options_of_all = options | {FULL_SCALE.name: FULL_SCALE}
    TRANSFORMS[name] = Transform(name, function, options_of_all, sounds, missing, check)
    return function
