"""The workers of a Dask cluster, wherever it runs: Slurm, PBS, Kubernetes, some machines with SSH.

Conventions
-----------
- A worker answers a unit in processes of its own machine, as a run without cluster does
  (:mod:`soundcheck.predict.executor`), and reads recordings from the path that the run reads them from.
- Before a worker answers its first unit of a run it compares itself: versions, and the model's fingerprint.
  One that differs is left out by name, also if it joins later.
- A worker that is lost costs the unit that it had: Dask gives it to another one.
- What each worker needs once, the setup, is held by the cluster and not sent with every unit.
- Only the process of the run writes anything.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import io
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
from soundcheck.common import files
from soundcheck.common.errors import InputError, SoundcheckError, input_error
from soundcheck.common.escaping import quoted, terminal
from soundcheck.models.load import check_model
from soundcheck.predict.executor import Emit, LocalExecutor, Log
from soundcheck.predict.protocol import Outcome, Result, Setup, Unit

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
COMPARE_SECONDS = 180.0  # for workers to load the model and compare it
EMPTY_SECONDS = 60.0  # without any worker after which nothing more is expected
IDLE_SECONDS = 60.0  # without a unit after which the process of a model ends
LIBRARIES = ("numpy", "scipy", "soundfile", "audresample", "av")  # that read and change signals
WHERE = "--cluster"

logger = logging.getLogger(__name__)


class ClusterError(SoundcheckError):
    """The cluster is gone; what was answered is kept."""


def connect(address: str) -> Cluster:
    """Connect to a scheduler, such as ``tcp://scheduler:8786``, or that of a scheduler file.

    Raises
    ------
    InputError
        If Dask is not installed, nobody answers, or there is no worker.
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
        self._said: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.client.close(timeout=5)
        except Exception:
            logger.debug("the connection was lost before it was closed")

    def threads(self) -> dict[str, int]:
        """Give how many units each worker answers at a time that is not left out."""
        return {
            address: count for address, count in self.client.nthreads().items() if address not in self.refused
        }

    def refuse(self, address: str, why: str) -> None:
        """Leave a worker out, and say so once."""
        self.refused[address] = why
        if (address, why) not in self._said:
            self._said.add((address, why))
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
    versions: dict[str, str]
    fingerprint: str

    @functools.cached_property
    def digest(self) -> str:
        return files.digest(self.content)


class ClusterExecutor:
    """Answers the units of one model on a cluster.

    Raises
    ------
    InputError
        On entry, if no worker is fit.
    """

    def __init__(self, cluster: Cluster, setup: Setup, fingerprint: str, cache: Path, log: Log) -> None:
        self._cluster, self._client, self._log = cluster, cluster.client, log
        self._shared = _Shared(pickle.dumps((setup, str(cache))), versions(), fingerprint)
        self._stopped = False
        self._seen = time.monotonic()  # when there was a worker
        self._flying: set = set()

    def __enter__(self) -> Self:
        self._cluster.refused.clear()
        # What the cluster holds is made again if the worker that holds it is lost.
        self._held = self._client.submit(_same, self._shared, pure=False)
        compared = {
            address: self._client.submit(_compare, self._held, workers=[address], pure=False)
            for address in self._cluster.threads()
        }
        deadline = time.monotonic() + COMPARE_SECONDS
        for address, future in compared.items():
            try:  # one that is busy is compared with its first unit
                why = future.result(timeout=max(0.1, deadline - time.monotonic()))
            except TimeoutError:
                continue
            except Exception as error:
                why = f"it failed: {error}"
            if why:
                self._cluster.refuse(address, why)
        if not self._cluster.threads():
            reasons = "; ".join(sorted({*self._cluster.refused.values()})) or "it has none"
            remedy = "Workers need the same versions as this machine, and the same files under the same paths"
            raise input_error(WHERE, f"no worker of the cluster can be used: {reasons}", remedy)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        try:
            self._client.run(_forget, self._shared.digest, on_error="ignore")
        except Exception:
            logger.debug("the cluster is gone")
        self._log.close()

    @property
    def count(self) -> int:
        """Units that are answered at a time."""
        return max(1, sum(self._cluster.threads().values()))

    def submit(self, unit: Unit, emit: Emit) -> Future[Outcome]:
        """Answer a unit; results stand in the outcome."""
        outer: Future[Outcome] = Future()
        self._send(unit, outer)
        return outer

    def stop(self) -> None:
        """Answer nothing more."""
        self._stopped = True
        self._client.cancel(list(self._flying), force=True)

    def check(self) -> None:
        """Raise if there has been no worker for long."""
        if self._cluster.threads():
            self._seen = time.monotonic()
        elif time.monotonic() > self._seen + EMPTY_SECONDS:
            raise ClusterError(f"The cluster has no worker since {EMPTY_SECONDS:g} s. Run again to go on.")

    def _send(self, unit: Unit, outer: Future[Outcome]) -> None:
        # Only if all of these are gone others get the unit, which compare themselves then.
        fit = list(self._cluster.threads())
        where = {"workers": fit, "allow_other_workers": True} if fit else {}
        inner = self._client.submit(_answer, self._held, unit, pure=False, **where)
        self._flying.add(inner)
        inner.add_done_callback(lambda done: self._collect(done, unit, outer))

    def _collect(self, inner: object, unit: Unit, outer: Future[Outcome]) -> None:
        """Pass on what came back, or try elsewhere."""
        from distributed import KilledWorker

        self._flying.discard(inner)
        try:
            reply: _Reply = inner.result()
            if reply.refused:
                self._cluster.refuse(reply.worker, reply.refused)
                self._send(unit, outer)
                return
            self._log.write(reply.log)
            outer.set_result(reply.outcome)
        except KilledWorker:
            problem = "the worker of the cluster was lost, more than once"
            outer.set_result(Outcome(problem=problem, lost=tuple(unit.keys)))
        except (CancelledError, Exception) as error:
            if self._stopped:
                outer.cancel()
                outer.set_running_or_notify_cancel()
            else:
                dropped = isinstance(error, CancelledError)
                what = "The cluster has dropped its work" if dropped else f"The cluster is gone ({error})"
                outer.set_exception(ClusterError(f"{what}. Run again to go on."))


# On a worker ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Reply:
    """What a worker answers to a unit."""

    outcome: Outcome = dataclasses.field(default_factory=Outcome)
    refused: str = ""  # why this worker must not answer for this run
    log: bytes = b""  # what the model has printed
    worker: str = ""  # address


class _Model:
    """The processes of one setup on this worker."""

    def __init__(self, shared: _Shared) -> None:
        self.refused = _difference(shared)
        if self.refused:
            return
        from distributed import get_worker

        multiprocessing.current_process().daemon = False  # else it must not start any
        setup, cache = pickle.loads(shared.content)
        self._printed: dict[int, io.BytesIO] = {}
        count = get_worker().state.nthreads
        self._executor = LocalExecutor(setup, count, Path(cache), self._log, IDLE_SECONDS)

    def _log(self, number: int) -> Log:
        self._printed[number] = io.BytesIO()
        return Log(lambda: self._printed[number])

    def answer(self, unit: Unit) -> _Reply:
        """Answer a unit."""
        results: list[Result] = []
        outcome = self._executor.submit(unit, results.extend).result()
        printed = b"".join(one.getvalue() for one in self._printed.values())
        for one in self._printed.values():
            one.seek(0)
            one.truncate()
        return _Reply(dataclasses.replace(outcome, results=tuple(results)), log=printed)

    def forget(self) -> None:
        """End all processes."""
        if not self.refused:
            self._executor.stop()
            self._executor.__exit__(None)


_models: dict[str, _Model] = {}
_lock = threading.Lock()


def _same(shared: _Shared) -> _Shared:
    return shared


def versions() -> dict[str, str]:
    """Give the versions that answers may depend on."""
    own = {"Soundcheck": soundcheck.__version__, "Python": ".".join(platform.python_version_tuple()[:2])}
    return own | {name: importlib.metadata.version(name) for name in LIBRARIES}


def _difference(shared: _Shared) -> str:
    """Say why this worker must not answer for a run; empty if it may."""
    own = versions()
    for name, version in shared.versions.items():
        if own.get(name) != version:
            return f"it has {name} {own.get(name)} instead of {version}"
    setup, _ = pickle.loads(shared.content)
    try:
        fingerprint = check_model(setup.entry, setup.suite)
    except InputError as error:
        return f"it cannot load the model: {error.problems[0].what}"
    same = fingerprint == shared.fingerprint
    return "" if same else "it sees other files of the model than the machine of the run"


def _model(shared: _Shared) -> _Model:
    with _lock:
        if shared.digest not in _models:
            _models[shared.digest] = _Model(shared)
        return _models[shared.digest]


def _compare(shared: _Shared) -> str:
    """Get ready for a model; gives why this worker must not answer, empty if it may."""
    return _model(shared).refused


def _answer(shared: _Shared, unit: Unit) -> _Reply:
    from distributed import get_worker

    model, worker = _model(shared), get_worker().address
    if model.refused:
        return _Reply(refused=model.refused, worker=worker)
    return dataclasses.replace(model.answer(unit), worker=worker)


def _forget(digest: str) -> None:
    """Forget a model; its processes end soon."""
    with _lock:
        model = _models.pop(digest, None)
    if model is not None:
        threading.Thread(target=model.forget, daemon=True).start()
