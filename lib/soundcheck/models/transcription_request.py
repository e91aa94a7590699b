"""One request to a transcription service: what is sent, and what an answer means.

The protocol is that of OpenAI's ``/v1/audio/transcriptions``, which many servers speak: a form with a file
and a few fields goes there, a JSON object with a ``text`` comes back.

Conventions
-----------
- Redirects are not followed: neither recordings nor the key go anywhere that the suite does not name.
- No message holds what a library says about a request, as that may quote the address or a header. Texts of
  the service are short, and the key is cut out of them.
- An answer that names the duration of what was heard, or a file, must name ours. Most say neither; then
  nobody can see whether it belongs to the recording.
"""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import logging
import math
import numbers
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import quoted
from soundcheck.models.answers import CONFIDENCE, WORDS

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
        content = _json(body)
        for _ in range(3):
            if isinstance(content, Mapping):
                content = next((content[key] for key in ("error", "message", "detail") if key in content), "")
        return quoted(self._secret.hide(content), WORDS_LIMIT) if isinstance(content, str) and content else ""

    def _understand(self, body: bytes, recording: Recording) -> Mapping[str, Any]:
        content, what = _json(body), ""
        if len(body) > ANSWER_BYTES:
            what = f"the answer is longer than {ANSWER_BYTES} bytes"
        elif content is None:
            what = "the answer is not JSON"
        elif not isinstance(content, Mapping):
            what = "the answer is JSON, but no object"
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


def _json(body: bytes) -> Any:
    """Read JSON; ``None`` if it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


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
