"""The workers of a Dask cluster, wherever it runs: Slurm, PBS, Kubernetes, some machines with SSH.

Conventions
-----------
- A worker answers a unit in processes of its own machine, as a run without cluster does
  (:mod:`soundcheck.predict.workers`), and reads recordings from the path that the run reads them from.
- Before a worker answers its first unit of a run it compares itself: versions, and the model's fingerprint.
  One that differs is left out by name, also if it joins later.
- A worker that is lost costs the unit that it had: Dask gives it to another one.
- What each worker needs once, the setup, is held by the cluster and not sent with every unit.
- Only the process of the run writes anything.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import multiprocessing
import os
import pickle
import platform
import threading
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import TYPE_CHECKING, Self

import soundcheck
from soundcheck.common import resources
from soundcheck.common.messages import InputError, SoundcheckError, input_error, quoted, terminal
from soundcheck.models.base import check_model
from soundcheck.predict import workers
from soundcheck.predict.workers import Emit, LocalExecutor, Log, Outcome, Result, Setup, Unit

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
EMPTY_SECONDS = 60.0  # without any worker after which nothing more is expected
IDLE_SECONDS = 20.0  # without a unit after which the process of a model ends
LIBRARIES = ("numpy", "scipy", "soundfile", "audresample", "av")  # that read and change signals
WHERE = "--cluster"

logger = logging.getLogger(__name__)


class ClusterError(SoundcheckError):
    """The cluster is gone; what was answered is kept."""


def connect(address: str) -> Cluster:
    """Connect to a scheduler, such as ``tcp://scheduler:8786``, or that of a scheduler file.

    Raises InputError: if Dask is not installed, nobody answers, or there is no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        remedy = 'Install it: pip install "soundcheck-speech[cluster]"'
        raise input_error(WHERE, f"Dask distributed is not installed here ({error})", remedy) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it says again what is raised
    remedy = "Start one with `dask scheduler` and some `dask worker ADDRESS`, and give its address"
    try:
        place: dict = {"address": address} if "://" in address else {"scheduler_file": address}
        if "scheduler_file" in place and not os.path.isfile(address):
            raise OSError("it is neither an address such as tcp://scheduler:8786 nor a file")
        client = Client(**place, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever strangers answer on a wrong port, and what stands in a wrong file
        why = " ".join(str(error).split()) or type(error).__name__
        raise input_error(WHERE, f"{quoted(address)} cannot be reached: {why}", remedy) from error
    return Cluster(client)


class Cluster:
    """A connection to a scheduler."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.refused: dict[str, str] = {}  # address of a worker -> why it is left out, for the present model
        self._warned: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.client.close(timeout=5)
        except Exception:
            logger.debug("the connection was lost before it was closed")

    def threads(self) -> dict[str, int]:
        """Give how many units each worker answers at a time that is not left out."""
        try:
            known = self.client.nthreads()
        except Exception as error:  # whatever Dask raises when nobody answers
            raise ClusterError(f"The cluster is gone ({error}). Run again to go on.") from error
        return {address: count for address, count in known.items() if address not in self.refused}

    def refuse(self, address: str, why: str) -> None:
        """Leave a worker out, and say so once."""
        self.refused[address] = why
        if (address, why) not in self._warned:
            self._warned.add((address, why))
            known = self.client.scheduler_info(n_workers=-1)["workers"]
            name = str(known.get(address, {}).get("name", address))
            label = name if name == address else f"{name} ({address})"
            logger.warning("%s", terminal(f"{WHERE}: the worker {label} is left out: {why}"))

    def notices(self) -> list[str]:
        """Say in sentences, without names, which workers were left out."""
        reasons = list(self.refused.values())
        return [
            f"workers of the cluster left out: {reasons.count(why)}, because {why}"
            for why in sorted({*reasons})
        ]


@dataclasses.dataclass(frozen=True)
class _Shared:
    """What a worker needs once for a model, and is compared with."""

    content: bytes  # setup and cache, pickled
    versions: tuple[tuple[str, str], ...]
    fingerprint: str


@dataclasses.dataclass(frozen=True)
class _Reply:
    """What a worker answers to a unit."""

    outcome: Outcome = dataclasses.field(default_factory=Outcome)
    results: list[Result] = dataclasses.field(default_factory=list)
    refused: str = ""  # why this worker must not answer for this run
    log: bytes = b""  # what the model has printed
    worker: str = ""  # address


class ClusterExecutor:
    """Answers the units of one model on a cluster."""

    def __init__(self, cluster: Cluster, setup: Setup, fingerprint: str, cache: Path, log: Log) -> None:
        self._cluster, self._client, self._log = cluster, cluster.client, log
        cluster.refused.clear()
        shared = _Shared(pickle.dumps((setup, str(cache))), versions(), fingerprint)
        # What the cluster holds is made again if the worker that holds it is lost.
        self._shared = self._client.submit(_same, shared, pure=False)
        self._in_flight: set = set()
        self._stopped = self._answered = False
        self._seen = time.monotonic()  # when there was a worker

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def count(self) -> int:
        """Units that are answered at a time; raises if there has been no worker for long."""
        count = sum(self._cluster.threads().values())
        if count:
            self._seen = time.monotonic()
        elif time.monotonic() > self._seen + EMPTY_SECONDS:
            raise ClusterError(f"The cluster has no worker since {EMPTY_SECONDS:g} s. Run again to go on.")
        return max(1, count)

    def submit(self, unit: Unit, emit: Emit) -> Future[Outcome]:
        """Answer a unit; its results are emitted together, when all of it is done."""
        outer: Future[Outcome] = Future()
        self._send(unit, emit, outer)
        return outer

    def stop(self) -> None:
        """Answer nothing more."""
        self._stopped = True
        self._client.cancel(list(self._in_flight), force=True)

    def _send(self, unit: Unit, emit: Emit, outer: Future[Outcome]) -> None:
        # Only if all of these are gone others get the unit, which compare themselves then.
        fit = list(self._cluster.threads())
        where = {"workers": fit, "allow_other_workers": True} if fit else {}
        inner = self._client.submit(_answer, self._shared, unit, pure=False, **where)
        self._in_flight.add(inner)
        inner.add_done_callback(lambda done: self._collect(done, unit, emit, outer))

    def _collect(self, inner: object, unit: Unit, emit: Emit, outer: Future[Outcome]) -> None:
        """Pass on what came back, or try elsewhere."""
        from distributed import KilledWorker

        self._in_flight.discard(inner)
        try:
            reply: _Reply = inner.result()
            if reply.refused:
                self._cluster.refuse(reply.worker, reply.refused)
                if not (self._answered or self._cluster.threads()):
                    reasons = "; ".join(sorted({*self._cluster.refused.values()}))
                    remedy = "Workers need the same versions and files as this machine, under the same paths"
                    raise input_error(WHERE, f"no worker of the cluster can be used: {reasons}", remedy)
                self._send(unit, emit, outer)
            else:
                self._answered = True
                self._log.write(reply.log)
                if reply.results:  # none would say that a model is loaded
                    emit(reply.results)
                outer.set_result(reply.outcome)
        except KilledWorker:
            problem = "the worker of the cluster was lost, more than once"
            outer.set_result(Outcome(problem=problem, lost=tuple(unit.keys)))
        except (CancelledError, Exception) as error:
            if self._stopped:
                outer.set_result(Outcome(problem=workers.STOPPED))
            else:
                what = "has dropped its work" if isinstance(error, CancelledError) else f"is gone ({error})"
                gone = ClusterError(f"The cluster {what}. Run again to go on.")
                outer.set_exception(error if isinstance(error, SoundcheckError) else gone)


# On a worker ------------------------------------------------------------------------------------------------


class _Model:
    """The processes of one model on this worker, which end by themselves when there is nothing to do."""

    def __init__(self, shared: _Shared) -> None:
        from distributed import get_worker

        multiprocessing.current_process().daemon = False  # else it must not start any
        self.refused = _difference(shared)
        self._printed: list[bytes] = []
        setup, cache = pickle.loads(shared.content)
        count = get_worker().state.nthreads
        log = self._printed.append
        self._executor = LocalExecutor(setup, count, Path(cache), lambda _: log, IDLE_SECONDS)

    def answer(self, unit: Unit) -> _Reply:
        """Answer a unit."""
        results: list[Result] = []
        outcome = self._executor.submit(unit, results.extend).result()
        printed = b"".join(self._printed)
        self._printed.clear()
        return _Reply(outcome, results, log=printed[: workers.LOG_BYTES])


_model = functools.lru_cache(1)(_Model)
_one_at_a_time = threading.Lock()


def _same(shared: _Shared) -> _Shared:
    return shared


def _answer(shared: _Shared, unit: Unit) -> _Reply:
    from distributed import get_worker

    with _one_at_a_time:
        model = _model(shared)
    address = get_worker().address
    return _Reply(refused=model.refused, worker=address) if model.refused else model.answer(unit)


def versions() -> tuple[tuple[str, str], ...]:
    """Give the names and versions that answers may depend on."""
    python = ".".join(platform.python_version_tuple()[:2])
    return (
        ("Soundcheck", soundcheck.__version__),
        ("Python", python),
        *resources.versions(LIBRARIES).items(),
    )


def _difference(shared: _Shared) -> str:
    """Say why this worker must not answer for a run; empty if it may."""
    for (name, installed), (_, version) in zip(versions(), shared.versions, strict=True):
        if installed != version:
            return f"it has {name} {installed} instead of {version}"
    setup, _ = pickle.loads(shared.content)
    try:
        fingerprint = check_model(setup.entry, setup.suite)
    except InputError as error:
        return f"it cannot load the model: {error.problems[0].what}"
    same = fingerprint == shared.fingerprint
    return "" if same else "it sees other files of the model than the machine of the run"
