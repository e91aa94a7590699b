"""A model that is a service: ``endpoint: https://host/v1/audio/transcriptions`` with OpenAI's protocol.

Each signal is one request (:mod:`soundcheck.models.transcription_request`), ``requests`` at a time; what
comes back is the transcript; with ``confidence: true`` also how sure the service is, if it says so.

Conventions
-----------
- One process of the run asks, on its machine, whatever the number of jobs or workers: so ``requests`` is what
  the service sees.
- All tries of a recording together take no longer than the model's time limit, one of them no longer than
  half of it. What may go better the next time (:data:`TRIES`) is tried again after a while that doubles, or
  that the service names, unless that is longer than there is time.
- A service that does not answer is not asked any more.
- The suite names the environment variable of the key. Its value is in the memory of the process that asks
  and in the header of its requests, nowhere else.

Cached predictions rest on the address and the fields. What runs behind them is not seen, and may change; see
:mod:`soundcheck.predict.same_model`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files, store
from soundcheck.common.messages import input_error, quoted
from soundcheck.models.answers import NOT_ASKED, NoAnswer
from soundcheck.models.base import RECOGNISES, TRANSCRIPT, Model
from soundcheck.models.processes import RUN_VARIABLE
from soundcheck.models.transcription_request import (
    SURE_FIELDS,
    Recording,
    RequestError,
    Secret,
    Service,
    confidences,
    public_url,
)
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelKeys

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

TRIES = 5  # of a recording
PAUSE_SECONDS = 0.5  # before the second try; then twice as long each time
TRY_SHARE = 0.5  # of the time limit that one try may take
MARGIN_SHARE, MARGIN_SECONDS = 0.1, 1.0  # by which all tries end before the process is killed, at most
REFUSED_AFTER = 4  # refusals in a row, which have nothing to do with the recording: nobody is asked any more
FAILED_AFTER = 20  # other failures in a row
_EXAMPLE = "for instance http://localhost:8000/v1/audio/transcriptions"


def _key_name(value: object) -> str:
    """Read the name of an environment variable; never shows what it may be instead."""
    match = re.fullmatch(r"\$?(\{)?([A-Z_][A-Z0-9_]*)(?(1)\})", str(value))
    if not match or len(match[2]) > 100:
        remedy = "Put the key itself into an environment variable, and write its name: key: $ASR_KEY"
        raise schema.wrong("this is not the name of an environment variable, in capitals", remedy)
    return match[2]


class EndpointKeys(ModelKeys):
    """Keys of services."""

    model: schema.Text = ""
    language: schema.Text = ""
    key: schema.parsed(str, _key_name) = ""
    requests: schema.whole(1, 64) = 4
    confidence: schema.Boolean = False
    most_requests: schema.whole(1, 1_000_000_000) | None = None


class EndpointModel(Model):
    """A transcription service as a model."""

    keyword = "endpoint"
    keys = EndpointKeys
    runs_code = False
    only_task = RECOGNISES
    asked_here = True
    unseen = "a service may change under its name"

    @classmethod
    def caveats(cls, entry: ModelEntry) -> list[str]:
        """Say that nobody can know whether the service is still the same."""
        what = "the model is a service: what answers there may change under the same name"
        return [f"{what}, so the days on which its answers were given belong to the results"]

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self._entry, name = entry, entry.options["key"]
        value = os.environ.get(name, "").strip() if name else ""
        where = f"{suite.file.name}, models.{entry.name}.key"
        if name and not value:
            what = f"the environment variable {name} is not set, or empty"
            raise input_error(where, what, f"Set it where Soundcheck is started: export {name}=...")
        if not (value.isascii() and value.isprintable()) or " " in value:
            what = f"the value of the environment variable {name} holds characters that no key has"
            raise input_error(where, what, "Set it to the key and nothing else")
        self._secret = Secret(value)
        declared = {name: entry.options[name] for name in ("model", "language")}
        form = SURE_FIELDS if entry.options["confidence"] else {"response_format": "json"}
        self._fields = {name: text for name, text in declared.items() if text} | form | {"temperature": "0"}
        self.fingerprint = files.digest(repr(("endpoint", entry.target, sorted(self._fields.items()))))
        self._breaker = Breaker()
        most = entry.options["most_requests"]
        self._count = RequestCount(entry.name, most) if most else None
        self._limit = f"{NOT_ASKED}: the limit of {most} requests was reached"
        self._service: Service | None = None

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Check the address; nobody is asked."""
        return None, *_check_url(target)

    @classmethod
    def problems(cls, target: str, keys: EndpointKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse batches."""
        if keys.batch is not None:
            yield "batch", "a request has one recording", "Write requests: for how many are made at a time"

    @classmethod
    def complete(cls, entry: ModelEntry) -> ModelEntry:
        """Let it be given as many signals as it may ask about at a time."""
        return dataclasses.replace(entry, batch=entry.options["requests"])

    @classmethod
    def refused_without_code(cls, entry: ModelEntry) -> str:
        """Say what goes out."""
        key, where = entry.options["key"], f"an address that the suite names ({entry.public_target})"
        secret = f", with the secret in the environment variable {key}, which the suite names, too"
        return f"the model sends recordings to {where}{secret if key else ''}"

    @classmethod
    def public_target(cls, target: str) -> str:
        """Give the address without what may be secret in it."""
        return public_url(target)

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Ask about all signals at a time; a failed request is :class:`NoAnswer`."""
        limit = self._entry.time_limit
        end = time.monotonic() + limit - min(MARGIN_SECONDS, MARGIN_SHARE * limit)
        if self._service is None:
            requests = self._entry.options["requests"]
            self._service = Service(self._entry.target, self._fields, self._secret, requests)
        recordings = [Recording.of(signal, sampling_rate) for signal in signals]
        with ThreadPoolExecutor(len(recordings)) as threads:
            return list(threads.map(lambda recording: self._answer(recording, end), recordings))

    def _answer(self, recording: Recording, end: float) -> dict[str, Any] | NoAnswer:
        pause = PAUSE_SECONDS
        failure: RequestError | None = None
        for more in reversed(range(TRIES)):
            if self._breaker.why:
                return NoAnswer(failure.reason if failure else self._breaker.why, self._breaker.why)
            if self._count is not None and not self._count.take():
                return NoAnswer(self._limit, self._limit)
            left = max(0.0, min(end - time.monotonic(), TRY_SHARE * self._entry.time_limit))
            try:
                content = self._service.transcribe(recording, left)
            except RequestError as error:
                failure = error
            else:
                self._breaker.succeed()
                stated = confidences(content) if self._entry.options["confidence"] else {}
                if self._secret.is_in(json.dumps(stated, ensure_ascii=False)):
                    return NoAnswer("the answer repeats the key")
                return {TRANSCRIPT: content["text"]} | stated
            # Nobody listens: if it ever answered, it may have been started anew.
            again = failure.again or (failure.way == "connect" and self._breaker.answered)
            waited = pause * random.uniform(0.75, 1.25) if failure.wait is None else failure.wait
            if not (again and more) or time.monotonic() + waited >= end:
                break
            time.sleep(waited)
            pause *= 2
        must_wait = failure.wait is not None and time.monotonic() + failure.wait >= end
        reason = f"{failure.reason}{f'; it asks to wait {failure.wait:.0f} s' if must_wait else ''}"
        self._breaker.fail(failure, reason)
        return NoAnswer(reason, self._breaker.why)


class Breaker:
    """Notices that a service does not answer, so that nobody waits for thousands of failures."""

    def __init__(self) -> None:
        self.answered = False  # whether it has ever answered
        self.why = ""  # why it is not asked any more; empty as long as it is
        self._lock = threading.Lock()
        self._way, self._in_a_row = "", 0

    def succeed(self) -> None:
        """Note an answer."""
        with self._lock:
            self.answered, self._in_a_row = True, 0

    def fail(self, failure: RequestError, reason: str) -> None:
        """Note a failure; one that the recording may have caused ends nothing if others were answered."""
        with self._lock:
            self._in_a_row = self._in_a_row + 1 if failure.way == self._way else 1
            self._way = failure.way
            limit = REFUSED_AFTER if failure.refused else FAILED_AFTER
            if not self.why and self._in_a_row >= limit and not (failure.recording and self.answered):
                self.why = f"not asked, because {limit} requests in a row failed, the last one with: {reason}"


class RequestCount:
    """Counts the requests of a run, those of all its processes together: the size of a file in the cache."""

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._count = 0  # where there is no cache: of this process
        self._lock = threading.Lock()
        cache, run = os.environ.get(store.CACHE_VARIABLE), os.environ.get(RUN_VARIABLE)
        self._file = Path(cache, "requests", f"{run}-{files.slug(name)}") if cache and run else None

    def take(self) -> bool:
        """Ask for one more request; says whether it may be made."""
        with self._lock:
            if self._file is None:
                self._count += 1
                return self._count <= self._most
            with store.lock(self._file), open(self._file, "ab") as file:
                return file.tell() < self._most and file.write(b".") == 1


def _check_url(target: str) -> tuple[str, str]:
    """Say what is wrong with an address, and what to do; never shows what may be secret in it."""
    address, whole = quoted(public_url(target)), f"Write the whole address, {_EXAMPLE}"
    no_address = f"{address} is not an address", f"Write one, {_EXAMPLE}"
    try:
        parts = urllib.parse.urlsplit(target)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return no_address
    if parts.scheme not in ("http", "https"):
        return f"{address} does not begin with http:// or https://", whole
    if "@" in parts.netloc:
        remedy = "Remove it; a key belongs into an environment variable: key: $ASR_KEY"
        return "there is a name or password in the address", remedy
    if not host or re.search(r"[\s\x00-\x1f\x7f\\]", target):
        return no_address
    if parts.fragment:
        return f"{address} goes on with #, which is never sent", "Remove it"
    if parts.path.rstrip("/") in ("", "/v1"):
        return f"{address} is not yet the place that takes recordings", whole
    return "", ""
