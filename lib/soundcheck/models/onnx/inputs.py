"""How signals go into an ONNX graph: alone, together, or in pieces.

Conventions
-----------
- The graph takes signals, float32 ``(samples,)``, ``(1, samples)`` or ``(signals, samples)``, and perhaps
  their lengths, int64 ``(signals,)``, under a name with ``len``.
- Where the graph fixes the number of samples, a signal is cut into pieces of that length, one after the
  other. The last piece is filled up: with the signal from its beginning again, as often as it takes, or with
  zeros. The numbers of a signal are the mean over its pieces.
- What stands beside a signal never changes its numbers (by more than :data:`CLOSE`): signals of several
  lengths go in together only if the graph takes lengths, and only if that was seen to change nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.models.base import reason
from soundcheck.models.batching import each_length, padded
from soundcheck.models.onnx.session import PYTHON_MODEL

FILLS = ("repeat", "zeros")
CLOSE = 1e-6  # relative and absolute
LENGTH_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
NUMBERS = ("tensor(float)", "tensor(double)", "tensor(float16)")
ONE_ROW = "Save the model with one row of numbers a signal, for instance a mean over time"
FLOATING_POINT = "Save the model with floating-point numbers there, such as the scores behind a class"
TRIED_SECONDS = (1.0, 10.0)  # of noise that a graph is tried with, until it answers
Values = dict[str, np.ndarray]  # output -> (signals, n)


class GraphError(ValueError):
    """A graph has answered with what is no row of numbers for each signal."""


@dataclasses.dataclass(frozen=True)
class _Form:
    """What a graph takes."""

    signals: str  # name of the input
    rank: int
    many: bool  # whether it takes several signals at once
    samples: int | None  # the length that it fixes
    lengths: str = ""  # name of the input for lengths
    length_type: str = ""


class Graph:
    """A session, ready to be given signals.

    Parameters
    ----------
    session
        Of ONNX Runtime, or alike.
    refuse
        Makes an error of what is wrong and a remedy.
    fill
        How pieces are filled up, one of :data:`FILLS`; empty = not said.
    batch
        Signals a call at most.
    rate
        Samples a second, to try the graph.

    Attributes
    ----------
    sizes
        Output -> how many numbers it gives a signal.
    unusable
        Output -> why it is no row of numbers for each signal, and what to do.

    Raises
    ------
    InputError
        If the graph takes or gives something else.
    """

    def __init__(
        self, session: Any, refuse: Callable[..., InputError], *, fill: str = "", batch: int = 1, rate: int
    ) -> None:
        self._session, self._refuse, self._fill, self._batch, self._rate = session, refuse, fill, batch, rate
        self._form = self._read_inputs()
        self._check_fill()
        self._together = self._in_one_call = False  # equally long ones; others as well
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, tuple[str, str]] = {}
        self._try()

    def values(self, signals: Sequence[np.ndarray], names: Sequence[str]) -> Values:
        """Give the numbers of some outputs, each ``(signals, n)``.

        Parameters
        ----------
        signals
            float32 ``(samples,)``, at the sampling rate of the graph.
        names
            Outputs.

        Raises
        ------
        GraphError
            If there is not one row of numbers for each signal.
        """
        if self._form.samples is not None:
            return self._of_pieces(signals, names)
        if len(signals) == 1:
            return self._call(signals[0][np.newaxis], _lengths(signals[0]), names)
        if self._in_one_call:
            return self._call(*padded(signals), names)
        if self._together:
            if len({len(signal) for signal in signals}) == 1:
                return self._call(np.stack(signals), np.full(len(signals), len(signals[0])), names)
            rows = each_length(signals, lambda batch: self._rows(batch, names))
        else:
            rows = [row for signal in signals for row in self._rows(signal[np.newaxis], names)]
        return {name: np.stack([row[name] for row in rows]) for name in names}

    def _rows(self, batch: np.ndarray, names: Sequence[str]) -> list[Values]:
        """Ask about signals that are equally long; one mapping of output to numbers for each."""
        lengths = np.full(len(batch), batch.shape[1])
        values = self._call(batch, lengths, names)
        return [{name: values[name][row] for name in names} for row in range(len(batch))]

    def _of_pieces(self, signals: Sequence[np.ndarray], names: Sequence[str]) -> Values:
        """Cut signals into pieces and average over those of each."""
        length = self._form.samples
        counts = [-(-len(signal) // length) for signal in signals]
        pieces = np.concatenate([_pieces(signal, length, self._fill) for signal in signals])
        step = self._batch if self._together else 1
        parts = [
            self._call(batch, np.full(len(batch), length), names)
            for batch in (pieces[begin : begin + step] for begin in range(0, len(pieces), step))
        ]
        borders = np.cumsum(counts)[:-1]
        found = {}
        for name in names:
            rows = np.split(np.concatenate([part[name] for part in parts]), borders)
            found[name] = np.stack([row[0] if len(row) == 1 else row.mean(axis=0) for row in rows])
        return found

    def _call(self, batch: np.ndarray, lengths: np.ndarray, names: Sequence[str]) -> Values:
        """Run the graph once and check what comes out; see :meth:`_run`."""
        values = {}
        for name, array in self._run(batch, lengths, names).items():
            try:
                values[name] = _as_rows(array, len(batch))
            except GraphError as error:
                raise GraphError(f"the output {quoted(name)}: {error}") from None
            if values[name].shape[1] != self.sizes[name]:
                count = values[name].shape[1]
                what = f"the output {quoted(name)} has {count} numbers instead of {self.sizes[name]}"
                raise GraphError(what)
        return values

    def _run(self, batch: np.ndarray, lengths: np.ndarray, names: Sequence[str]) -> Values:
        """Run the graph once: signals ``(signals, samples)``, lengths in samples; any shape comes out."""
        if not names:
            return {}  # ONNX Runtime would give all outputs
        form = self._form
        given = {form.signals: batch if form.rank == 2 else batch[0]}
        if form.lengths:
            given[form.lengths] = lengths.astype(LENGTH_TYPES[form.length_type])
        return dict(zip(names, self._session.run(list(names), given), strict=True))

    def _read_inputs(self) -> _Form:
        inputs = {one.name: one for one in self._session.get_inputs()}
        lengths = [one for one in inputs.values() if "len" in one.name.lower() and one.type in LENGTH_TYPES]
        signals = [one for one in inputs.values() if one not in lengths]
        shown = ", ".join(f"{quoted(one.name)} {_described(one)}" for one in inputs.values())
        if len(signals) != 1 or len(lengths) > 1:
            what = f"the graph takes {shown or 'nothing'}; a signal, and perhaps its length, is all there is"
            raise self._refuse(what, PYTHON_MODEL)
        (one,) = signals
        if one.type != "tensor(float)":
            what = f"its input {quoted(one.name)} is {_described(one)}; signals are float32"
            raise self._refuse(what, "Save the model with float32 input")
        rank = len(one.shape or ())
        if rank not in (1, 2):
            what = f"its input {quoted(one.name)} is {_described(one)}; signals have the shape (1, samples)"
            raise self._refuse(what, f"If it takes features: {PYTHON_MODEL[0].lower()}{PYTHON_MODEL[1:]}")
        first, samples = one.shape[0] if rank == 2 else 1, one.shape[-1]
        if isinstance(first, int) and first > 1:
            what = f"its input {quoted(one.name)} is {_described(one)}: always {first} signals at once"
            raise self._refuse(what, "Save the model for one signal, or with a free first axis")
        return _Form(
            one.name,
            rank,
            rank == 2 and not isinstance(first, int),
            samples if isinstance(samples, int) else None,
            *((lengths[0].name, lengths[0].type) if lengths else ()),
        )

    def _check_fill(self) -> None:
        samples = self._form.samples
        if samples is not None and not self._fill:
            what = f"the graph takes exactly {samples} samples ({samples / self._rate:.4g} s)"
            remedy = "Say how the last piece of a signal is filled up: pieces: repeat or pieces: zeros"
            raise self._refuse(what, remedy)
        if samples is None and self._fill:
            raise self._refuse("the graph takes signals of any length", "Remove pieces")

    def _try(self) -> None:
        """Ask about noise: which numbers come out, and what signals do to each other."""
        names = []
        for one in self._session.get_outputs():
            if one.type in NUMBERS:
                names.append(one.name)
            else:
                what = f"it is {_described(one)}, not a tensor of floating-point numbers"
                self.unusable[one.name] = what, FLOATING_POINT
        noise = self._first_answers(names)
        half = noise[1, : noise.shape[1] // 2]
        if self._form.samples is None:
            with contextlib.suppress(Exception):  # it may be too short
                self._compare_sizes(self._run(half[np.newaxis], _lengths(half), list(self.sizes)))
        if not self.sizes:
            shown = "; ".join(f"{quoted(name)}: {why}" for name, (why, _) in self.unusable.items())
            remedies = dict.fromkeys(remedy for _, remedy in self.unusable.values())
            remedy = f"{'. '.join(remedies)}. Or: {PYTHON_MODEL}"
            raise self._refuse(f"no output is one row of numbers for a signal: {shown}", remedy)
        if self._form.many and self._batch > 1:
            self._together = True
            self._together = self._is_same(list(noise))
            if self._together and self._form.lengths and self._form.samples is None:
                self._in_one_call = True
                self._in_one_call = self._is_same([noise[0], half])

    def _first_answers(self, names: Sequence[str]) -> np.ndarray:
        """Find the outputs that can be used, and how many numbers they have; gives the noise it took."""
        first: Exception | None = None
        for seconds in TRIED_SECONDS:
            noise = _noise(2, self._form.samples or int(seconds * self._rate))
            try:
                found = self._run(noise[:1], _lengths(noise[0]), names)
            except Exception as error:
                first = first or error
                continue
            for name, array in found.items():
                try:
                    self.sizes[name] = _as_rows(array, 1).shape[1]
                except GraphError as error:
                    self.unusable[name] = str(error), ONE_ROW
            return noise
        what = f"it fails with {TRIED_SECONDS[0]:g} s of noise: {reason(first)}"
        raise self._refuse(what, "Try it outside of Soundcheck; is sampling_rate right?") from first

    def _compare_sizes(self, found: Values) -> None:
        """Leave out what has another size for another length of the signal."""
        for name, array in found.items():
            size, before = array.size, self.sizes[name]
            if size != before:
                del self.sizes[name]
                what = f"it has {before} or {size} numbers, depending on the signal's length"
                self.unusable[name] = what, ONE_ROW

    def _is_same(self, signals: Sequence[np.ndarray]) -> bool:
        """Say whether signals get the numbers together that each gets alone."""
        names = list(self.sizes)
        try:
            found = self.values(signals, names)
            parts = [self._call(signal[np.newaxis], _lengths(signal), names) for signal in signals]
        except Exception:  # it cannot take them together
            return False
        alone = {name: np.concatenate([part[name] for part in parts]) for name in names}
        return all(
            np.allclose(found[name], alone[name], rtol=CLOSE, atol=CLOSE, equal_nan=True) for name in names
        )


def _lengths(signal: np.ndarray) -> np.ndarray:
    return np.array([len(signal)], dtype=np.int64)


def _noise(count: int, length: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0.0, 0.1, (count, length)).astype(np.float32)


def _pieces(signal: np.ndarray, length: int, fill: str) -> np.ndarray:
    """Cut a signal, float32 ``(pieces, length)``."""
    size = -(-len(signal) // length) * length
    if fill == "repeat":
        return np.resize(signal, size).reshape(-1, length)
    whole = np.zeros(size, dtype=np.float32)
    whole[: len(signal)] = signal
    return whole.reshape(-1, length)


def _as_rows(array: np.ndarray, count: int) -> np.ndarray:
    """Give one row of numbers a signal, ``(count, n)``.

    Raises
    ------
    GraphError
        If there are not as many.
    """
    shape = array.shape
    if array.ndim < 2:
        if array.size == count:
            return array.reshape(count, 1)
        if count == 1:
            return array.reshape(1, -1)
    elif array.ndim == 2 and len(array) == count:
        return array
    raise GraphError(f"it has the shape {shape} for {count} signal{'s' * (count > 1)}")


def _described(one: Any) -> str:
    shape = ", ".join(str(size if size is not None else "?") for size in one.shape or ())
    return f"{one.type} ({shape})"
