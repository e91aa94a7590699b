"""The workers of a Dask cluster, wherever it runs: Slurm, PBS, Kubernetes, some machines with SSH.

Conventions
-----------
- A unit goes to any worker that is fit for the run: :mod:`soundcheck.predict.on_worker` compares. Those that
  are not are left out by name; one that joins later is compared when it gets its first unit.
- A worker that is lost costs the unit that it had: Dask gives it to another one.
- What each worker needs once, the setup, is held by the cluster and not sent with every unit.
- Only this process writes anything.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Self

from soundcheck.common import files
from soundcheck.common.errors import SoundcheckError, input_error
from soundcheck.common.escaping import quoted, terminal
from soundcheck.models.base import NOT_ASKED
from soundcheck.predict import on_worker, protocol
from soundcheck.predict.protocol import Answered, Loss, Result, Setup, Unit
from soundcheck.predict.supervised import Log

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
MEET_SECONDS = 180.0  # for workers to load the model and compare it
POLL_SECONDS = 1.0  # how often to look which workers there are
EMPTY_SECONDS = 60.0  # without any worker after which nothing more is expected
SENT_BYTES = 1_000_000  # of a recording that is sent where it is not seen
WHERE = "--cluster"

logger = logging.getLogger(__name__)


class ClusterError(SoundcheckError):
    """The cluster is gone; what was answered is kept."""


def connect(address: str) -> Cluster:
    """Connect to a scheduler.

    Parameters
    ----------
    address
        Such as ``tcp://scheduler:8786``, or a scheduler file.

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
    """A connection to a scheduler.

    Parameters
    ----------
    client
        Of Dask.

    Attributes
    ----------
    refused
        Address of a worker -> why it is left out, for the present model.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.refused: dict[str, str] = {}
        self._told: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # there is nothing left to lose
            self.client.close(timeout=5)

    def threads(self) -> dict[str, int]:
        """Give how many units each worker answers at a time that is not left out."""
        return {
            address: count for address, count in self.client.nthreads().items() if address not in self.refused
        }

    def refuse(self, address: str, why: str) -> None:
        """Leave a worker out, and say so once."""
        self.refused[address] = why
        if (address, why) not in self._told:
            self._told.add((address, why))
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


@dataclasses.dataclass(eq=False)
class _Sent:
    """A unit on its way."""

    unit: Unit
    outer: Future[Answered]
    contents: dict[str, bytes] = dataclasses.field(default_factory=dict)
    failed: list[Result] = dataclasses.field(default_factory=list)


class ClusterWorkers:
    """Answers the units of one model on a cluster.

    Parameters
    ----------
    cluster
        The connection.
    setup
        For the processes of the model.
    fingerprint
        Of the model, as it is on this machine.
    cache
        Folder where models may keep things.
    log
        File for what the model prints.

    Raises
    ------
    InputError
        On entry, if no worker is fit.
    """

    def __init__(self, cluster: Cluster, setup: Setup, fingerprint: str, cache: Path, log: Path) -> None:
        self._cluster, self._client = cluster, cluster.client
        self._packed = on_worker.setup_content(setup, cache)
        self._digest = files.digest(self._packed)
        self._expected = on_worker.Expected.here(fingerprint)
        self._log = Log.file(log)
        self._events: queue.SimpleQueue[_Sent | Future | None] = queue.SimpleQueue()
        self._waiting: list[_Sent] = []
        self._flying: dict[Future, _Sent] = {}
        self._fit: dict[str, int] = {}
        self._executor: Executor | None = None
        self._sending = False  # whether workers do not see what this machine sees
        self._stopped = False
        self._seen = self._looked = 0.0  # when there was a worker, when workers were looked for
        self._thread = threading.Thread(target=self._manage, daemon=True)

    def __enter__(self) -> Self:
        self._meet()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join()
        with contextlib.suppress(Exception):  # they end by themselves after a while
            self._client.run(on_worker.forget, self._digest, workers=list(self._fit), on_error="ignore")
        self._log.close()

    @property
    def count(self) -> int:
        """Units that are answered at a time."""
        return max(1, sum(self._fit.values()))

    def submit(self, unit: Unit, tell: Callable[[list[Result]], None]) -> Future[Answered]:
        """Answer a unit; results stand in what is returned."""
        sent = _Sent(unit, Future())
        self._events.put(sent)
        return sent.outer

    def stop(self) -> None:
        """Answer nothing more."""
        self._stopped = True
        self._events.put(None)

    def _meet(self) -> None:
        """Compare all workers with this machine."""
        self._cluster.refused.clear()
        there = self._client.run(on_worker.versions, on_error="return")
        for address, versions in there.items():
            if isinstance(versions, BaseException):
                self._cluster.refuse(address, f"it cannot import Soundcheck ({versions})")
            elif why := self._expected.difference(versions):
                self._cluster.refuse(address, why)
        fit = self._cluster.threads()
        if fit:
            common = {"pure": False, "allow_other_workers": True}
            self._content = self._client.submit(on_worker.itself, self._packed, workers=list(fit), **common)
            asked = {
                self._client.get_executor(workers=[address], pure=False).submit(
                    on_worker.meet, self._digest, self._content, self._expected
                ): address
                for address in fit
            }
            for future in wait(
                asked, timeout=MEET_SECONDS
            ).done:  # a busy one is compared with its first unit
                why = f"it failed: {future.exception()}" if future.exception() else future.result()
                if why:
                    self._cluster.refuse(asked[future], why)
        self._fit = self._cluster.threads()
        self._seen = time.monotonic()
        if not self._fit:
            reasons = "; ".join(sorted({*self._cluster.refused.values()})) or "it has none"
            remedy = "Workers need the same versions as this machine, and the same files under the same paths"
            raise input_error(WHERE, f"no worker of the cluster can be used: {reasons}", remedy)

    # in a thread of its own

    def _manage(self) -> None:
        try:
            while not (self._stopped and not self._flying):
                event = None
                with contextlib.suppress(queue.Empty):
                    event = self._events.get(timeout=POLL_SECONDS)
                if isinstance(event, _Sent):
                    self._waiting.append(event)
                elif event is not None:
                    self._collect(event, self._flying[event])
                    del self._flying[event]
                if self._stopped:
                    self._cancel()
                else:
                    self._place()
        except Exception as error:  # told by the thread that asks
            self._stopped = True
            if not isinstance(error, SoundcheckError):
                error = ClusterError(f"The cluster is gone ({error}). Run again to go on.")
            for sent in [*self._waiting, *self._flying.values()]:
                sent.outer.set_exception(error)
        self._cancel()
        with contextlib.suppress(queue.Empty):
            while True:  # what came while it stopped
                event = self._events.get_nowait()
                if isinstance(event, _Sent):
                    event.outer.cancel()

    def _cancel(self) -> None:
        for sent in self._waiting:
            sent.outer.cancel()
        self._waiting.clear()
        for future in list(self._flying):
            future.cancel()

    def _place(self) -> None:
        """Give units that wait to workers."""
        now = time.monotonic()
        if now > self._looked + POLL_SECONDS:
            self._looked = now
            fit = self._cluster.threads()
            if fit != self._fit or self._executor is None:
                self._fit = fit
                # Only if all of these are gone others get a unit, which compare themselves then.
                self._executor = self._client.get_executor(
                    workers=list(fit), allow_other_workers=True, pure=False
                )
        if self._fit:
            self._seen = now
        elif now > self._seen + EMPTY_SECONDS:
            raise ClusterError(f"The cluster has no worker since {EMPTY_SECONDS:g} s. Run again to go on.")
        while self._waiting and self._fit:
            sent = self._waiting.pop(0)
            sizes = {item.path: _size(item.path) for item in sent.unit.items}
            sizes = {path: size for path, size in sizes.items() if size is not None}
            if self._sending:
                sent.contents |= _contents(
                    {path: size for path, size in sizes.items() if path not in sent.contents}
                )
            future = self._executor.submit(
                on_worker.answer,
                self._digest,
                self._content,
                self._expected,
                sent.unit,
                sizes,
                sent.contents,
            )
            self._flying[future] = sent
            future.add_done_callback(self._events.put)

    def _collect(self, future: Future, sent: _Sent) -> None:
        """Pass on what came back, or try again elsewhere or with what was missing."""
        from distributed import KilledWorker

        nothing = sent.unit.only(())
        try:
            reply: on_worker.Reply = future.result()
        except CancelledError:
            if self._stopped:
                sent.outer.cancel()
            else:  # what the cluster held is lost
                raise ClusterError("The cluster has dropped its work. Run again to go on.") from None
            return
        except KilledWorker:
            problem = "the worker of the cluster was lost, more than once"
            reply = on_worker.Reply(Answered(Loss(protocol.CALLING, problem, False, sent.unit, nothing)))
        if reply.refused:
            self._cluster.refuse(reply.worker, reply.refused)
            self._looked, self._fit = 0.0, {}
            self._waiting.append(sent)
        elif reply.unseen:
            self._send_along(sent, reply)
        else:
            self._log.write(reply.log)
            results = (*sent.failed, *reply.answered.results)
            sent.outer.set_result(dataclasses.replace(reply.answered, results=results))

    def _send_along(self, sent: _Sent, reply: on_worker.Reply) -> None:
        """Send recordings with a unit that its worker does not see; calls about large ones fail."""
        if not self._sending:
            self._sending = True
            shown = files_shown(reply.unseen)
            logger.warning("%s", terminal(f"{WHERE}: the worker {reply.worker} does not see {shown}"))
        sent.contents |= _contents({path: _size(path) or 0 for path in reply.unseen})
        lost = {path for path in reply.unseen if path not in sent.contents}
        for item in sent.unit.items:
            if item.path in lost:
                problem = f"{NOT_ASKED}: a worker of the cluster does not see {os.path.basename(item.path)}"
                sent.failed += [
                    Result(call.key, problem=problem, fault=protocol.BY_SIGNAL) for call in item.calls
                ]
        items = tuple(item for item in sent.unit.items if item.path not in lost)
        sent.unit = dataclasses.replace(sent.unit, items=items)
        if items:
            self._waiting.append(sent)
        else:
            sent.outer.set_result(Answered(results=tuple(sent.failed)))


def files_shown(paths: tuple[str, ...]) -> str:
    """Name a file, and count the others."""
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _size(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except OSError:
        return None


def _contents(sizes: dict[str, int]) -> dict[str, bytes]:
    """Read files that are small enough to be sent."""
    contents = {}
    for path, size in sizes.items():
        if size <= SENT_BYTES:
            with contextlib.suppress(OSError):
                contents[path] = Path(path).read_bytes()
    return contents
