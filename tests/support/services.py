"""A transcription service on this machine that behaves, or misbehaves, as a test wants."""

from __future__ import annotations

import dataclasses
import email.parser
import email.policy
import http.server
import io
import json
import socket
import threading
import time
import wave
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress


@dataclasses.dataclass
class Asked:
    """A request: the fields of its form, the file, and how many samples it has."""

    path: str
    headers: Mapping[str, str]
    fields: dict[str, str]
    name: str
    content: bytes
    samples: int


@dataclasses.dataclass
class Reply:
    """What the service does: an answer, perhaps slow, perhaps cut off."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    sleep: float = 0.0
    cut: bool = False
    raw: bytes | None = None


def text(words: str, **more: object) -> Reply:
    return Reply({"text": words} | more)


class Service:
    """Requests so far, and what is answered: ``answer(asked, number)`` gives a :class:`Reply`."""

    def __init__(self, answer: Callable[[Asked, int], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.most = self.now = 0  # at a time
        self.lock = threading.Lock()
        self.url = ""

    def handle(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        asked = _parse(handler, body)
        with self.lock:
            self.asked.append(asked)
            number = len(self.asked)
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            reply = self.answer(asked, number)
            time.sleep(reply.sleep)
        finally:
            with self.lock:
                self.now -= 1
        _send(handler, reply)


def _parse(handler: http.server.BaseHTTPRequestHandler, body: bytes) -> Asked:
    head = f"Content-Type: {handler.headers.get('Content-Type', 'text/plain')}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    fields, name, content = {}, "", b""
    for part in message.iter_parts():
        label = part.get_param("name", header="content-disposition")
        if part.get_filename():
            name, content = part.get_filename(), part.get_payload(decode=True)
        else:
            fields[label] = part.get_payload(decode=True).decode()
    with wave.open(io.BytesIO(content)) as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        samples = sound.getnframes()
    return Asked(handler.path, dict(handler.headers), fields, name, content, samples)


def _send(handler: http.server.BaseHTTPRequestHandler, reply: Reply) -> None:
    body = json.dumps(reply.body).encode() if reply.raw is None else reply.raw
    try:
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
        handler.end_headers()
        handler.wfile.write(body)
        if reply.cut:
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
    except OSError:  # whoever asked has gone
        handler.close_connection = True


@contextmanager
def serving(answer: Callable[[Asked, int], Reply], port: int = 0) -> Iterator[Service]:
    """Run a service for the time of a block."""
    service = Service(answer)
    connections: list[socket.socket] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            connections.append(self.connection)

        def do_POST(self) -> None:
            service.handle(self)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", port), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/v1/audio/transcriptions"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
