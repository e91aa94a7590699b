"""What every transform has in common: how it is declared and what it may rely on.

Conventions
-----------
A transform is a function ``f(signal, sampling_rate, rng, *, option...)``:

- ``signal``: one channel, shape ``(samples,)``, full scale at ±1; never changed, may be read-only
- ``sampling_rate``: in Hz
- ``rng``: the only source of chance, made by the caller from what the signal contains
- ``sounds``: keyword-only and only if the transform needs noises or impulse responses: what it may draw from,
  :class:`soundcheck.augment.sounds.Sounds`; an option of the transform tells the kind
- options: keyword-only, annotated, with the unit in the name (``snr_db``) or in the docstring
- returns a float32 array, shape ``(samples,)``, C-contiguous: a new one or, where samples are only left out,
  a read-only view of the signal; whoever changes it in place has to copy it

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
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

_MARK = "declared_transform"
_NO_OPTIONS = ("signal", "sampling_rate", "rng", "sounds")
_FULL_SCALE = inspect.Parameter(
    "full_scale", inspect.Parameter.KEYWORD_ONLY, default="kept", annotation=Literal["kept", "clipped"]
)


@dataclasses.dataclass(frozen=True)
class Transform:
    """A change of a signal that threshold files may name."""

    name: str
    function: Callable[..., np.ndarray]  # the checked function, see the conventions of this module
    summary: str  # one plain sentence: the first line of the docstring
    source: str  # where the definition comes from
    level: str  # what happens to the level, a sentence
    # name of each option -> its parameter, with annotation and default
    options: Mapping[str, inspect.Parameter]
    # name of the option that tells which kind of sound the transform draws from; empty if it draws none
    sounds: str = ""
    # says what the transform needs and this machine does not have; empty if all is there
    missing: Callable[[], str] = lambda: ""

    @property
    def required(self) -> tuple[str, ...]:
        """Options without a default."""
        return tuple(name for name, option in self.options.items() if option.default is option.empty)


def transform(
    *, source: str, level: str, sounds: str = "", missing: Callable[[], str] = lambda: ""
) -> Callable[[Callable], Callable[..., np.ndarray]]:
    """Declare a function as a transform and take the checks of signals off its shoulders.

    - ``source``: paper or standard that defines it.
    - ``level``: what happens to the level, a sentence.
    - ``sounds, missing``: see :class:`Transform`.
    - Returns decorator. It only marks the function; :mod:`soundcheck.augment.registry` finds the mark.
    - Raises ValueError: by the decorated function: if the signal has not exactly one dimension or no samples.
      That the result is finite is checked by :func:`soundcheck.augment.registry.apply`, through which all
      signals go.
    """

    def declare(formula: Callable) -> Callable[..., np.ndarray]:
        @functools.wraps(formula)
        def function(
            signal: np.ndarray,
            sampling_rate: int,
            rng: np.random.Generator,
            *,
            full_scale: str = _FULL_SCALE.default,
            **options: object,
        ) -> np.ndarray:
            signal = np.asarray(signal, dtype=np.float32)
            if signal.ndim != 1 or not signal.size:
                raise ValueError(
                    f"a signal of shape {signal.shape} cannot be changed; one channel with samples is needed"
                )
            result = formula(signal, sampling_rate, rng, **options)
            if full_scale == "clipped":
                result = np.clip(result, -1, 1)
            result = np.ascontiguousarray(result, np.float32)
            if np.may_share_memory(result, signal):
                result = result.view()
                result.flags.writeable = False
            return result

        parameters = inspect.signature(formula, eval_str=True).parameters
        mark = Transform(
            name=formula.__name__,
            function=function,
            summary=inspect.getdoc(formula).splitlines()[0],
            source=source,
            level=level,
            options=MappingProxyType(
                {k: v for k, v in parameters.items() if k not in _NO_OPTIONS}
                | {_FULL_SCALE.name: _FULL_SCALE}
            ),
            sounds=sounds,
            missing=missing,
        )
        setattr(function, _MARK, mark)
        return function

    return declare


def declared(thing: object) -> Transform | None:
    """Return the declaration of a decorated function, ``None`` for anything else."""
    mark = getattr(thing, _MARK, None)
    return mark if isinstance(mark, Transform) else None


def require(condition: bool, problem: str) -> None:
    """Refuse the value of an option.

    Raises ValueError: with ``problem`` as text: the option, its value, what is allowed.
    """
    if not condition:
        raise ValueError(problem)
