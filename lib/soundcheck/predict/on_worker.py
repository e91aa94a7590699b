"""What happens on a worker of a cluster: a supervised process of the model answers units there.

Conventions
-----------
- A worker may have several threads; each has a process of the model while it answers a unit. Processes that
  have nothing to do for :data:`IDLE_SECONDS` end.
- Before a worker answers its first unit for a setup it compares itself with the run (:class:`Expected`); one
  that differs answers nothing.
- Recordings are read from the path that the run reads them from. Where there is no file of the same size,
  they have to be sent with the unit.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import io
import os
import pickle
import platform
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

import soundcheck
from soundcheck.common.errors import InputError
from soundcheck.models.load import check_model
from soundcheck.predict.protocol import Answered, Result, Setup, Unit
from soundcheck.predict.supervised import Idle, Log, Supervised

IDLE_SECONDS = 60.0
LIBRARIES = ("numpy", "scipy", "soundfile", "audresample", "av")  # that read and change signals


@dataclasses.dataclass(frozen=True)
class Expected:
    """What a worker has to be so that its answers are those of the machine of the run.

    Parameters
    ----------
    versions
        Of Soundcheck, Python and libraries, by name.
    fingerprint
        Of the model, as the run sees it.
    """

    versions: dict[str, str]
    fingerprint: str

    @classmethod
    def here(cls, fingerprint: str) -> Expected:
        """Describe this machine."""
        return cls(versions(), fingerprint)

    def difference(self, there: Mapping[str, str]) -> str:
        """Say which version is another one; empty if none is."""
        for name, version in self.versions.items():
            if there.get(name) != version:
                return f"it has {name} {there.get(name)} instead of {version}"
        return ""


def versions() -> dict[str, str]:
    """Give the versions that answers may depend on."""
    own = {"Soundcheck": soundcheck.__version__, "Python": ".".join(platform.python_version_tuple()[:2])}
    return own | {name: importlib.metadata.version(name) for name in LIBRARIES}


@dataclasses.dataclass(frozen=True)
class Reply:
    """What a worker answers to a unit.

    Parameters
    ----------
    answered
        What became of it.
    refused
        Why this worker must not answer for this run; empty if it may.
    unseen
        Files of the unit that are not there; nothing was asked then.
    log
        What the model has printed.
    worker
        Address of the worker.
    """

    answered: Answered = dataclasses.field(default_factory=Answered)
    refused: str = ""
    unseen: tuple[str, ...] = ()
    log: bytes = b""
    worker: str = ""


def itself(content: bytes) -> bytes:
    """Give what was sent: what others then fetch from the worker, and what can be made again."""
    return content


def compare(content: bytes, expected: Expected) -> str:
    """Say why this worker must not answer for a run; empty if it may.

    Parameters
    ----------
    content
        A pickled pair of setup and cache folder.
    expected
        What it is compared with.
    """
    other = expected.difference(versions())
    if other:
        return other
    setup, cache = pickle.loads(content)
    for group in setup.sounds.sets.values():
        for sound in group.sounds:
            if sound.signal is None and not os.path.isfile(sound.path):
                return f"it does not see the {group.kind} {sound.name}, which signals are changed with"
    try:
        fingerprint = check_model(setup.entry, setup.suite)
    except InputError as error:
        problem = error.problems[0]
        return f"it cannot load the model: {problem.what}"
    same = fingerprint == expected.fingerprint
    return "" if same else "it sees other files of the model than the machine of the run"


class _Model:
    """The processes of one setup on this worker."""

    def __init__(self, content: bytes, expected: Expected) -> None:
        self.refused = compare(content, expected)
        self._idle = Idle(self._make)
        self._content = content
        self._logs: dict[Supervised, io.BytesIO] = {}
        self._timer: threading.Timer | None = None
        self._forgotten = threading.Event()

    def _make(self, number: int) -> Supervised:
        setup, cache = pickle.loads(self._content)
        printed = io.BytesIO()
        made = Supervised(setup, Path(cache), Log(lambda: printed).write, self._forgotten.is_set)
        self._logs[made] = printed
        return made

    def answer(self, unit: Unit) -> Reply:
        """Answer a unit."""
        self._keep()
        results: list[Result] = []
        with self._idle.one() as model:
            answered = model.answer(unit, results.extend)
            log = self._logs[model]
            printed = log.getvalue()
            log.seek(0)
            log.truncate()
        self._keep(IDLE_SECONDS)
        return Reply(dataclasses.replace(answered, results=tuple(results)), log=printed)

    def forget(self) -> None:
        """End all processes."""
        self._forgotten.set()
        self._keep()
        self._idle.dismiss()

    def _keep(self, seconds: float = 0.0) -> None:
        """Keep processes that wait; if seconds are given, only so long."""
        if self._timer is not None:
            self._timer.cancel()
        if seconds:
            self._timer = threading.Timer(seconds, self._idle.dismiss)
            self._timer.daemon = True
            self._timer.start()


_models: dict[str, _Model] = {}
_lock = threading.Lock()


def meet(digest: str, content: bytes, expected: Expected) -> str:
    """Get ready for a setup; gives why this worker must not answer, empty if it may."""
    with _lock:
        if digest not in _models:
            _models[digest] = _Model(content, expected)
        return _models[digest].refused


def forget(digest: str) -> None:
    """Forget a setup; its processes end soon."""
    with _lock:
        model = _models.pop(digest, None)
    if model is not None:
        threading.Thread(target=model.forget, daemon=True).start()


def answer(
    digest: str,
    content: bytes,
    expected: Expected,
    unit: Unit,
    sizes: Mapping[str, int],
    sent: Mapping[str, bytes],
) -> Reply:
    """Answer a unit.

    Parameters
    ----------
    digest, content
        The setup, see :func:`compare`.
    expected
        What this worker has to be.
    unit
        What to ask.
    sizes
        File -> its bytes on the machine of the run.
    sent
        File -> its content.
    """
    from distributed import get_worker

    worker = get_worker().address
    refused = meet(digest, content, expected)
    if refused:
        return Reply(refused=refused, worker=worker)
    away = [path for path, size in sizes.items() if not _is_here(path, size)]
    unseen = tuple(path for path in away if path not in sent)
    if unseen:
        return Reply(unseen=unseen, worker=worker)
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as folder:
        places = {}
        for number, path in enumerate(away):
            places[path] = os.path.join(folder, f"{number}{Path(path).suffix}")
            Path(places[path]).write_bytes(sent[path])
        items = [dataclasses.replace(item, path=places.get(item.path, item.path)) for item in unit.items]
        reply = _models[digest].answer(dataclasses.replace(unit, items=tuple(items)))
    return _with_own_paths(reply, unit)


def _is_here(path: str, size: int) -> bool:
    try:
        return os.path.isfile(path) and os.path.getsize(path) == size
    except OSError:
        return False


def _with_own_paths(reply: Reply, unit: Unit) -> Reply:
    """Say what was lost in terms of the unit as it was sent."""
    loss = reply.answered.loss
    if loss is None:
        return reply
    lost, rest = (
        dataclasses.replace(part, items=unit.only(set(part.keys)).items) for part in (loss.lost, loss.rest)
    )
    loss = dataclasses.replace(loss, lost=lost, rest=rest)
    return dataclasses.replace(reply, answered=dataclasses.replace(reply.answered, loss=loss))


def setup_content(setup: Setup, cache: Path) -> bytes:
    """Pack what workers need once."""
    return pickle.dumps((setup, str(cache)))
