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
import io
import ipaddress
import json
import logging
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.escaping import quoted

ANSWER_BYTES = 1_000_000  # of an answer; a longer one is none
CONNECT_SECONDS = 10.0  # that making a connection may take
WORDS_LIMIT = 160  # characters of what a service says about a failure
SECRET_PART = 5  # characters of a key in a row that are not shown either
SECRET_LENGTH = 8  # characters from which a key cannot be a word of a transcript by chance
DURATION_SECONDS, DURATION_SHARE = 1.5, 0.1  # by which a duration may differ, or so much of it
_READ_BYTES = 65536
_AGAIN = (408, 425, 429)  # with 5xx: may go better the next time
_REFUSED = (401, 403, 404, 405, 407, 410)  # says nothing about the recording
_KEY = "check the key, and what it may be used for"


@dataclasses.dataclass
class RequestError(Exception):
    """A request that brought no transcript.

    Parameters
    ----------
    way
        How it failed, in a word.
    reason
        The same as a phrase that may be published.
    again
        Whether it may go better the next time.
    wait
        Seconds that the service asks to wait before that; ``None`` if it does not say.
    refused
        Whether it would say the same to any recording.
    recording
        Whether the recording may be the cause.
    """

    way: str
    reason: str
    again: bool = False
    wait: float | None = None
    refused: bool = False
    recording: bool = False


class Secret:
    """A key that must not be seen.

    Parameters
    ----------
    value
        The key; empty if there is none.
    """

    def __init__(self, value: str = "") -> None:
        self._value = value
        encoded = {value, urllib.parse.quote(value), urllib.parse.quote_plus(value)}
        encoded |= {base64.b64encode(value.encode()).decode(), json.dumps(value)[1:-1]} if value else set()
        self._forms = sorted(filter(None, encoded), key=len, reverse=True)
        self._parts = {
            form[place : place + SECRET_PART].lower()
            for form in self._forms
            for place in range(len(form) - SECRET_PART + 1)
        }

    def headers(self) -> dict[str, str]:
        """Give what shows the key to a service."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """Cut the key out of a text, and whatever runs of characters are part of it."""
        for form in self._forms:
            text = text.replace(form, "[key]")
        shown, end = "", 0
        for place in range(len(text)):
            if text[place : place + SECRET_PART].lower() in self._parts:
                if place >= end:
                    shown += "[key]"
                end = place + SECRET_PART
            if place >= end:
                shown += text[place]
        return shown

    def is_in(self, text: str) -> bool:
        """Say whether a text holds the key; a short one, which may be any word, is not looked for."""
        return len(self._value) >= SECRET_LENGTH and any(form in text for form in self._forms)


@dataclasses.dataclass(frozen=True)
class Recording:
    """What is sent.

    Parameters
    ----------
    content
        A WAV file: mono, 16 bit.
    seconds
        Its duration.
    """

    content: bytes
    seconds: float

    @classmethod
    def of(cls, signal: np.ndarray, sampling_rate: int) -> Recording:
        """Write a signal, float32 ``(samples,)``, as programs get it; what exceeds full scale is clipped."""
        import soundfile

        buffer = io.BytesIO()
        soundfile.write(buffer, np.clip(signal, -1, 1), sampling_rate, format="WAV", subtype="PCM_16")
        return cls(buffer.getvalue(), len(signal) / sampling_rate)

    @property
    def name(self) -> str:
        """Name under which it is sent; tells nothing but the content."""
        return f"{files.digest(self.content)[:16]}.wav"


class Service:
    """Where requests go; several threads may ask at a time.

    Parameters
    ----------
    url
        Address.
    fields
        What is sent beside the recording; several values under one name one after the other.
    secret
        The key.
    requests
        Connections that are kept open.
    """

    def __init__(
        self, url: str, fields: Mapping[str, str | Sequence[str]], secret: Secret, requests: int = 1
    ) -> None:
        import urllib3

        logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # its warnings quote the address
        self._url, self._secret = url, secret
        self._fields = [
            (name, text)
            for name, value in fields.items()
            for text in ((value,) if isinstance(value, str) else value)
        ]
        options: dict[str, Any] = {"maxsize": requests, "retries": False}
        proxy = _proxy(url)
        self._pool = (
            urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(num_pools=1, **options)
        )

    def transcribe(self, recording: Recording, seconds: float) -> Mapping[str, Any]:
        """Ask once.

        Parameters
        ----------
        recording
            What is to be heard.
        seconds
            That this may take.

        Returns
        -------
        Mapping
            What the service answers; the transcript is its ``text``.

        Raises
        ------
        RequestError
            If no transcript comes back.
        """
        import urllib3.exceptions as known

        end = time.monotonic() + seconds
        late = f"no answer within {seconds:.3g} s"
        try:
            status, headers, body = self._send(recording, end)
        except (known.ConnectTimeoutError, known.NewConnectionError, known.ProxyError) as error:
            way, why = _unconnected(error)
            raise RequestError(way, why, refused=True) from None
        except known.SSLError as error:
            why = getattr(error.args[0] if error.args else error, "verify_message", "") or "TLS failed"
            raise RequestError("tls", f"the connection is not safe: {why}", refused=True) from None
        except known.ReadTimeoutError:
            raise RequestError("late", late, again=True) from None
        except (known.HTTPError, OSError):
            raise RequestError("cut", "the connection was cut off", again=True) from None
        if body is None:
            raise RequestError("late", late, again=True)
        if not 200 <= status < 300:
            raise self._refusal(status, headers, body)
        return self._understand(body, recording)

    def _send(self, recording: Recording, end: float) -> tuple[int, Mapping[str, str], bytes | None]:
        """Give status, headers and the beginning of the body; ``None`` if it did not come in time."""
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
        body = bytearray()
        whole = False
        try:
            while len(body) <= ANSWER_BYTES and time.monotonic() < end:
                data = response.read1(_READ_BYTES)
                if not data:
                    whole = True
                    break
                body += data
        finally:
            if whole:
                response.release_conn()
            else:
                response.close()
        return response.status, response.headers, bytes(body) if whole or len(body) > ANSWER_BYTES else None

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> RequestError:
        """Say what a status means."""
        if 300 <= status < 400:
            place = quoted(self._secret.hide(_redirected(self._url, headers.get("Location", ""))), 200)
            reason = f"HTTP {status}: it redirects to {place}, which is not followed"
            return RequestError("redirect", reason, refused=True)
        phrase = http.client.responses.get(status, "")
        reason = f"HTTP {status}{phrase and f', {phrase}'}"
        if status in (401, 403):  # such answers like to quote a part of the key
            return RequestError(str(status), f"{reason}: {_KEY}", refused=True)
        if words := self._words(body):
            reason += f": {words}"
        again = status in _AGAIN or (500 <= status < 600 and status not in (501, 505))
        return RequestError(
            "busy" if again else str(status),
            reason,
            again=again,
            wait=_retry_after(headers.get("Retry-After")) if again else None,
            refused=status in _REFUSED,
            recording=not again and status not in _REFUSED,
        )

    def _words(self, body: bytes) -> str:
        """Find what a service says about a failure; empty if that is no JSON of the usual forms."""
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        for _ in range(3):
            if isinstance(content, Mapping):
                content = next((content[key] for key in ("error", "message", "detail") if key in content), "")
        return quoted(self._secret.hide(content), WORDS_LIMIT) if isinstance(content, str) and content else ""

    def _understand(self, body: bytes, recording: Recording) -> Mapping[str, Any]:
        def no(what: str) -> RequestError:
            return RequestError("answer", what, recording=True)

        if len(body) > ANSWER_BYTES:
            raise no(f"the answer is longer than {ANSWER_BYTES} bytes")
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            raise no("the answer is not JSON") from None
        if not isinstance(content, Mapping):
            raise no("the answer is JSON, but no object")
        text = content.get("text")
        if not isinstance(text, str):
            keys = ", ".join(quoted(self._secret.hide(key), 40) for key in list(content)[:5]) or "none"
            what = "no 'text'" if "text" not in content else "a 'text' that is no text"
            words = self._words(body)
            raise no(f"the answer has {what}; its keys: {keys}{words and f'; it says {words}'}")
        if self._secret.is_in(text):
            raise no("the answer repeats the key")
        if other := _contradiction(content, recording):
            raise no(f"the answer is for something else: {self._secret.hide(other)}")
        return content


def public_url(url: str) -> str:
    """Give an address for people: without name and password, and of a query only the names.

    Examples
    --------
    >>> public_url("https://me:secret@host:8000/v1/x?version=2&key=abc#y")
    'https://host:8000/v1/x?version=…&key=…'
    """
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "…"
    query = "&".join(f"{name.partition('=')[0]}=…" for name in parts.query.split("&") if name)
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _redirected(url: str, location: str) -> str:
    try:
        return public_url(urllib.parse.urljoin(url, location))
    except ValueError:
        return "…"


def _retry_after(value: str | None) -> float | None:
    """Read seconds or a date."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    try:
        return Retry().parse_retry_after(value) if value else None
    except (InvalidHeader, ValueError, OverflowError):
        return None


def _unconnected(error: Exception) -> tuple[str, str]:
    import urllib3.exceptions as known

    cause = error.__cause__ or error.__context__
    if isinstance(error, known.NameResolutionError):
        return "host", "there is no such host"
    if isinstance(error, known.ProxyError):
        return "proxy", "the proxy cannot be reached, or refuses"
    if not isinstance(error, known.NewConnectionError):
        return "connect", "no connection in time"
    why = getattr(cause, "strerror", None) or "nobody listens"
    return "connect", f"no connection: {why.lower()}"


def _proxy(url: str) -> str:
    """Name the proxy that the environment wants; empty for none, as for this machine."""
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    if own or urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(urllib.parse.urlsplit(url).scheme, "")


def _contradiction(content: Mapping[str, Any], recording: Recording) -> str:
    """Say where an answer names another duration or file than ours."""
    usage = content.get("usage")
    told = [content.get("duration")]
    if isinstance(usage, Mapping) and usage.get("type") == "duration":
        told.append(usage.get("seconds"))
    for value in told:
        try:
            seconds = float(value) if isinstance(value, int | float | str) else None
        except (ValueError, OverflowError):
            continue
        allowed = max(DURATION_SECONDS, DURATION_SHARE * recording.seconds)
        if seconds is not None and not abs(seconds - recording.seconds) <= allowed:
            return f"it heard {seconds:.4g} s, and was sent {recording.seconds:.4g} s"
    for key in ("file", "filename"):
        name = content.get(key)
        if isinstance(name, str) and name and name.rpartition("/")[2] != recording.name:
            return f"it names the file {quoted(name, 60)}"
    return ""
