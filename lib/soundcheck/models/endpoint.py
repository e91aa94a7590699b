"""A model that is a service: ``endpoint: https://host/v1/audio/transcriptions`` with OpenAI's protocol.

Each signal is one request, ``requests`` at a time: a form with a file and a few fields goes there, a JSON
object comes back, whose ``text`` is the transcript; with ``confidence: true`` also how sure the service is,
if it says so. Many servers speak this protocol.

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
- Redirects are not followed: neither recordings nor the key go anywhere that the suite does not name.
- No message holds what a library says about a request, as that may quote the address or a header. Texts of
  the service are short, and the key is cut out of them.
- An answer that names the duration of what was heard, or a file, must name ours. Most say neither; then
  nobody can see whether it belongs to the recording.

Cached predictions rest on the address and the fields. What runs behind them is not seen, and may change; see
:mod:`soundcheck.predict.same_model`.
"""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import logging
import math
import numbers
import os
import random
import re
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from soundcheck.common import files, store
from soundcheck.common.json_lines import json_or_none
from soundcheck.common.messages import input_error, quoted
from soundcheck.models.answers import CONFIDENCE, NOT_ASKED, WORDS, NoAnswer
from soundcheck.models.base import RECOGNISES, TRANSCRIPT, Model
from soundcheck.models.processes import RUN_VARIABLE
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelEntry, ModelKeys, Suite

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
    if parts.path.rstrip("/") in ("", "/v1"):
        return f"{address} is not yet the place that takes recordings", whole
    return "", ""


# One request ------------------------------------------------------------------------------------------------


ANSWER_BYTES = 1_000_000  # of an answer; a longer one is none
CONNECT_SECONDS = 10.0  # that making a connection may take
WORDS_LIMIT = 160  # characters of what a service says about a failure
SECRET_LENGTH = 8  # characters from which a key cannot be a word of a transcript by chance
DURATION_SECONDS, DURATION_SHARE = 1.5, 0.1  # by which a duration may differ, or so much of it
# What is sent to hear of confidences: words come only with times of words, segments with those of segments.
SURE_FIELDS = {"response_format": "verbose_json", "timestamp_granularities[]": ("word", "segment")}
_READ_BYTES = 65536
_AGAIN = (408, 425, 429)  # with 5xx: may go better the next time
_REFUSED = (401, 403, 404, 405, 407, 410)  # says nothing about the recording


@dataclasses.dataclass
class RequestError(Exception):
    """A request that brought no transcript."""

    way: str  # how it failed, in a word
    reason: str  # the same as a phrase that may be published
    again: bool = False  # whether it may go better the next time
    wait: float | None = None  # seconds that the service asks to wait before that; None: it does not say
    refused: bool = False  # whether it would say the same to any recording
    recording: bool = False  # whether the recording may be the cause


class Secret:
    """A key that must not be seen; empty if there is none."""

    def __init__(self, value: str = "") -> None:
        self._value = value
        encoded = {value, urllib.parse.quote(value), urllib.parse.quote_plus(value)}
        encoded |= {base64.b64encode(value.encode()).decode(), json.dumps(value)[1:-1]}
        self._forms = sorted(filter(None, encoded), key=len, reverse=True)

    def headers(self) -> dict[str, str]:
        """Give what shows the key to a service."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """Cut the key out of a text."""
        for form in self._forms:
            text = text.replace(form, "[key]")
        return text

    def is_in(self, text: str) -> bool:
        """Say whether a text holds the key; a short one, which may be any word, is not looked for."""
        return len(self._value) >= SECRET_LENGTH and self.hide(text) != text


@dataclasses.dataclass(frozen=True)
class Recording:
    """What is sent."""

    content: bytes  # a WAV file: mono, 16 bit
    seconds: float

    @classmethod
    def of(cls, signal: np.ndarray, sampling_rate: int) -> Recording:
        """Write a signal, float32 ``(samples,)``, as programs get it; what exceeds full scale is clipped."""
        from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

        return cls(audio.encode(signal, sampling_rate, "WAV"), len(signal) / sampling_rate)

    @property
    def name(self) -> str:
        """Name under which it is sent; tells nothing but the content."""
        return f"{files.digest(self.content)[:16]}.wav"


class Service:
    """Where requests go; several threads may ask at a time, and so many connections are open."""

    def __init__(
        self, url: str, fields: Mapping[str, str | Sequence[str]], secret: Secret, requests: int = 1
    ) -> None:
        import urllib3

        logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # its warnings quote the address
        self._url, self._secret = url, secret
        several = {name: (value,) if isinstance(value, str) else value for name, value in fields.items()}
        self._fields = [(name, text) for name, texts in several.items() for text in texts]
        options: dict[str, Any] = {"maxsize": requests, "retries": False}
        proxy = _proxy(url)
        self._pool = urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(**options)

    def transcribe(self, recording: Recording, seconds: float) -> Mapping[str, Any]:
        """Ask once, for at most so many seconds; the transcript is the ``text`` of what comes back."""
        from urllib3.exceptions import HTTPError

        try:
            status, headers, body = self._send(recording, time.monotonic() + seconds)
        except (HTTPError, OSError) as error:
            raise _failure(error, seconds) from None
        if 200 <= status < 300:
            return self._understand(body, recording)
        raise self._refusal(status, headers, body)

    def _send(self, recording: Recording, end: float) -> tuple[int, Mapping[str, str], bytes]:
        """Give status, headers and the beginning of the body; raises TimeoutError if it takes too long."""
        from urllib3 import Timeout

        left = max(0.01, end - time.monotonic())
        response = self._pool.request(
            "POST",
            self._url,
            fields=[*self._fields, ("file", (recording.name, recording.content, "audio/wav"))],
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **self._secret.headers()},
            timeout=Timeout(connect=min(CONNECT_SECONDS, left), read=left),
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        body, data = b"", b"more"
        try:
            while data and len(body) <= ANSWER_BYTES:
                if time.monotonic() > end:
                    raise TimeoutError
                data = response.read1(_READ_BYTES)
                body += data
        finally:
            (response.close if data else response.release_conn)()
        return response.status, response.headers, body

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> RequestError:
        """Say what a status means."""
        if 300 <= status < 400:
            place = urllib.parse.urljoin(self._url, headers.get("Location", ""))
            place = quoted(self._secret.hide(public_url(place)), 200)
            reason = f"HTTP {status}: it redirects to {place}, which is not followed"
            return RequestError("redirect", reason, refused=True)
        phrase = http.client.responses.get(status, "")
        reason = f"HTTP {status}{phrase and f', {phrase}'}"
        if status in (401, 403):  # such answers like to quote a part of the key
            reason += ": check the key, and what it may be used for"
        elif words := self._words(body):
            reason += f": {words}"
        if status in _REFUSED:
            return RequestError(str(status), reason, refused=True)
        if status in _AGAIN or (500 <= status < 600 and status not in (501, 505)):
            return RequestError("busy", reason, again=True, wait=_retry_after(headers.get("Retry-After")))
        return RequestError(str(status), reason, recording=True)

    def _words(self, body: bytes) -> str:
        """Find what a service says about a failure; empty if that is no JSON of the usual forms."""
        content = json_or_none(body)
        for _ in range(3):
            if isinstance(content, Mapping):
                content = next((content[key] for key in ("error", "message", "detail") if key in content), "")
        return quoted(self._secret.hide(content), WORDS_LIMIT) if isinstance(content, str) and content else ""

    def _understand(self, body: bytes, recording: Recording) -> Mapping[str, Any]:
        content, what = json_or_none(body), ""
        if len(body) > ANSWER_BYTES:
            what = f"the answer is longer than {ANSWER_BYTES} bytes"
        elif not isinstance(content, Mapping):
            what = "the answer is no JSON object"
        elif not isinstance(content.get("text"), str):
            keys = ", ".join(quoted(self._secret.hide(key), 40) for key in list(content)[:5]) or "none"
            what = "no 'text'" if "text" not in content else "a 'text' that is no text"
            words = self._words(body)
            what = f"the answer has {what}; its keys: {keys}{words and f'; it says {words}'}"
        elif self._secret.is_in(content["text"]):
            what = "the answer repeats the key"
        elif other := _contradiction(content, recording):
            what = f"the answer is for something else: {self._secret.hide(other)}"
        if what:
            raise RequestError("answer", what, recording=True)
        return content


def _failure(error: Exception, seconds: float) -> RequestError:
    """Say why nothing came; what the library says may quote the address or a header."""
    import urllib3.exceptions as known

    why = getattr(error.__cause__ or error.__context__, "strerror", None) or "nobody listens"
    unsafe = getattr(error.args[0] if error.args else error, "verify_message", "") or "TLS failed"
    for kind, way, reason in (
        (known.NameResolutionError, "host", "there is no such host"),
        (known.ProxyError, "proxy", "the proxy cannot be reached, or refuses"),
        (known.NewConnectionError, "connect", f"no connection: {why.lower()}"),
        (known.ConnectTimeoutError, "connect", "no connection in time"),
        (known.SSLError, "tls", f"the connection is not safe: {unsafe}"),
    ):
        if isinstance(error, kind):
            return RequestError(way, reason, refused=True)
    if isinstance(error, known.ReadTimeoutError | TimeoutError):
        return RequestError("late", f"no answer within {seconds:.3g} s", again=True)
    return RequestError("cut", "the connection was cut off", again=True)


def public_url(url: str) -> str:
    """Give an address for people: without name and password, and of a query only the names.

    >>> public_url("https://me:secret@host:8000/v1/x?version=2&key=abc#y")
    'https://host:8000/v1/x?version=…&key=…'
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "…"
    query = "&".join(f"{name.partition('=')[0]}=…" for name in parts.query.split("&") if name)
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _retry_after(value: str | None) -> float | None:
    """Read seconds or a date."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    try:
        return Retry().parse_retry_after(value) if value else None
    except (InvalidHeader, ValueError, OverflowError):
        return None


def _proxy(url: str) -> str:
    """Name the proxy that the environment wants; empty for none, as for this machine."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(parts.scheme, "")


def _contradiction(content: Mapping[str, Any], recording: Recording) -> str:
    """Say where an answer names another duration or file than ours."""
    usage = content.get("usage")
    of_usage = isinstance(usage, Mapping) and usage.get("type") == "duration"
    for value in (content.get("duration"), usage.get("seconds") if of_usage else None):
        try:
            seconds = float(value) if isinstance(value, int | float | str) else recording.seconds
        except (ValueError, OverflowError):
            continue
        allowed = max(DURATION_SECONDS, DURATION_SHARE * recording.seconds)
        if not abs(seconds - recording.seconds) <= allowed:
            return f"it heard {seconds:.4g} s, and was sent {recording.seconds:.4g} s"
    for key in ("file", "filename"):
        name = content.get(key)
        if isinstance(name, str) and name and name.rpartition("/")[2] != recording.name:
            return f"it names the file {quoted(name, 60)}"
    return ""


def confidences(content: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a service says of its answer, as a model does; empty if it says nothing.

    OpenAI's has ``segments`` with ``avg_logprob``, the mean logarithm of the probabilities of their tokens;
    others give ``words`` with ``probability``, too, on top or in segments. The confidence of a transcript is
    the geometric mean of the probabilities of its tokens: segments count by their tokens, or by their
    duration, or alike.

    >>> confidences({"text": "go on", "segments": [{"avg_logprob": 0.0, "tokens": [1, 2]}]})
    {'confidence': 1.0}
    >>> confidences({"text": "go", "words": [{"word": "go", "probability": 0.5}]})
    {'words': [{'word': 'go', 'probability': 0.5}]}
    """
    segments = _mappings(content.get("segments"))
    words = _mappings(content.get(WORDS)) or [
        word for part in segments for word in _mappings(part.get(WORDS))
    ]
    stated: dict[str, Any] = {WORDS: words} if words else {}
    logs = [part.get("avg_logprob") for part in segments]
    if logs and all(_is_number(log) and log <= 0 for log in logs):
        sizes = [_size(part) for part in segments]
        weights = sizes if all(sizes) else None
        stated[CONFIDENCE] = math.exp(np.average(logs, weights=weights))
    return stated


def _size(segment: Mapping[str, Any]) -> float:
    if isinstance(segment.get("tokens"), Sequence) and segment["tokens"]:
        return float(len(segment["tokens"]))
    start, end = segment.get("start"), segment.get("end")
    return max(float(end - start), 0.0) if _is_number(start) and _is_number(end) else 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
