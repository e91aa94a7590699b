"""Services as models: a server of this machine that misbehaves in every way, asked as in a run."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import audiofile
import numpy as np
import pytest
import yaml
from library_models import load_model
from services import Asked, Reply, serving, text

from soundcheck.common.messages import InputError
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.tasks import BUILTIN
from soundcheck.models import endpoint
from soundcheck.models.answers import NoAnswer, check_output
from soundcheck.models.base import check_model
from soundcheck.models.endpoint import (
    ANSWER_BYTES,
    FAILED_AFTER,
    REFUSED_AFTER,
    RequestCount,
    Secret,
    confidences,
)
from soundcheck.models.processes import RUN_VARIABLE
from soundcheck.run.selection import refuse_code
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.suite_file import read_suite

SECRET = "sk-Vq7/aB3+x%Zt9kLm2"
SIGNAL = np.sin(np.arange(16000) / 20).astype(np.float32) * 1.5  # beyond full scale
URL = "http://a/v1/x"
ROWS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8").replace("{SECRET}", SECRET))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.002)
    monkeypatch.setenv("ASR_KEY", SECRET)


@pytest.fixture
def suite(tmp_path: Path):
    def suite(target: str = URL, keys: str = "") -> tuple[ModelEntry, Suite]:
        (tmp_path / "suite.yml").write_text(
            "corpora: {demo: {format: demo}}\n"
            f"models: {{mine: {{endpoint: '{target}'{keys and ', ' + keys}}}}}\nfamilies: all\n"
        )
        read = read_suite(tmp_path / "suite.yml")
        return read.models["mine"], read

    return suite


@pytest.fixture
def model(suite):
    return lambda target, keys="": load_model(*suite(target, keys))


@pytest.fixture
def ask(model):
    """Ask a service about a recording; gives the output, and the requests that it took."""

    def ask(answer, keys: str = "") -> tuple[object, list[Asked]]:
        with serving(answer if callable(answer) else lambda *_: answer) as service:
            (output,) = model(service.url, keys).predict([SIGNAL], 16000)
        if isinstance(output, NoAnswer):
            assert check_output(output, [BUILTIN["transcript"]]) == ({}, output.problem)
        return output, service.asked

    return ask


def reply_of(row: dict) -> Reply:
    raw = row["raw"].encode("latin-1") * row.get("times", 1) if "raw" in row else None
    body = {"text": "x" * ANSWER_BYTES} if row.get("long") else row.get("body", {})
    return Reply(body, row.get("status", 200), row.get("headers", {}), raw=raw)


def then(first: Reply, number: int = 1, last: str = "at last"):
    """Give a reply so many times, then a transcript."""
    return lambda _, requests: first if requests <= number else text(last)


def test_a_recording_is_uploaded_as_programs_get_it(ask, tmp_path):
    usage = {"type": "duration", "seconds": 2}  # which fits, as the name of the file does

    def answer(asked: Asked, _: int) -> Reply:
        return text("grün  one\ntwo ", duration="1.2", file=f"up/{asked.name}", usage=usage)

    output, (asked,) = ask(answer, "model: whisper-1, language: de, key: $ASR_KEY")
    assert output == {"transcript": "grün  one\ntwo "}
    fields = {"model": "whisper-1", "language": "de", "response_format": "json", "temperature": "0"}
    assert asked.fields == fields and asked.path == "/v1/audio/transcriptions"
    assert asked.headers["Authorization"] == f"Bearer {SECRET}"
    audiofile.write(tmp_path / "x.wav", np.clip(SIGNAL, -1, 1), 16000, bit_depth=16)
    assert asked.content == (tmp_path / "x.wav").read_bytes()


def test_a_service_says_how_sure_it_is_if_it_is_asked(ask):
    words = [{"word": "turn", "probability": 0.9, "start": 0}, {"word": "left", "probability": 0.4}]
    segments = [{"avg_logprob": -0.5, "tokens": [1, 2, 3]}, {"avg_logprob": -1.5, "tokens": [4]}]
    reply = Reply({"text": "Turn left.", "words": words, "segments": segments, "language": "english"})
    assert ask(reply)[0] == {"transcript": "Turn left."}
    output, (requests,) = ask(reply, "confidence: true")
    sure = pytest.approx(np.exp(-0.75))
    assert output == {"transcript": "Turn left.", "words": words, "confidence": sure}
    checked, problem = check_output(output, [BUILTIN["transcript"]])
    assert not problem and checked["transcript.words"] == '[["turn", 0.9], ["left", 0.4]]'
    assert requests.fields["response_format"] == "verbose_json"
    assert requests.fields["timestamp_granularities[]"] in ("word", "segment")


def test_what_services_say_beside_the_text():
    def sure(*segments: dict) -> dict:
        return confidences({"text": "go", "segments": list(segments)})

    assert sure({"avg_logprob": 0.5}) == {}  # is none
    assert sure({"avg_logprob": -1.0}, {"avg_logprob": -3.0}) == {"confidence": pytest.approx(np.exp(-2))}
    timed = sure({"avg_logprob": -1, "start": 0, "end": 3}, {"avg_logprob": -3, "start": 3, "end": 4})
    assert timed == {"confidence": pytest.approx(np.exp(-1.5))}
    words = {"words": [{"word": "go", "probability": 1}]}
    assert sure(words) == words


def test_so_many_requests_at_a_time_and_answers_in_order(model):
    def answer(requests: Asked, _: int) -> Reply:
        if requests.samples == 160:
            return Reply({"error": {"message": "too short"}}, 400)
        return Reply({"text": str(requests.samples)}, sleep=0.3 - requests.samples / 32000)

    signals = [np.zeros(samples, np.float32) for samples in (160, 1600, 3200, 4800)]
    with serving(answer) as service:
        mine = model(service.url, "requests: 4")
        assert mine._entry.batch == 4
        first, *others = mine.predict(signals, 16000)
    assert first == NoAnswer("HTTP 400, Bad Request: 'too short'")
    assert [output["transcript"] for output in others] == ["1600", "3200", "4800"]
    assert service.most >= 3 and len(service.asked) == 4  # the others are not asked about again


@pytest.mark.parametrize("row", ROWS["replies"], ids=lambda row: row["words"][:40])
def test_answers_that_are_none_are_not_asked_for_again(ask, row):
    output, requests = ask(reply_of(row))
    assert row["words"] in output.problem and len(requests) == 1


@pytest.mark.parametrize("status", [429, 503, 0])
def test_what_may_go_better_is_tried_again(ask, monkeypatch, status):
    reply = Reply({}, status) if status else Reply({"text": "x"}, cut=True)
    output, requests = ask(then(reply, 2))
    assert output == {"transcript": "at last"} and len(requests) == 3
    waits = []
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(monotonic=time.monotonic, sleep=waits.append))
    output, requests = ask(reply)
    assert output.problem and len(requests) == endpoint.TRIES == len(waits) + 1


@pytest.mark.parametrize(("wait", "least"), [("1", 0.8), ("soon", 0)])
def test_the_service_says_how_long_to_wait(ask, wait, least):
    start = time.monotonic()
    output, _ = ask(then(Reply({}, 429, {"Retry-After": wait})))
    assert output == {"transcript": "at last"} and time.monotonic() - start > least


@pytest.mark.parametrize("wait", ["9" * 400, "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_nobody_waits_longer_than_there_is_time(ask, wait):
    start = time.monotonic()
    output, requests = ask(Reply({}, 429, {"Retry-After": wait}), "time_limit: 20")
    assert time.monotonic() - start < 10 and len(requests) == 1
    assert output.problem.startswith("HTTP 429, Too Many Requests; it asks to wait ")
    assert len(output.problem) < 500


def test_a_slow_try_is_given_up_for_another_and_all_end_in_time(ask):
    output, requests = ask(then(Reply({"text": "x"}, sleep=2)), "time_limit: 1")
    assert output == {"transcript": "at last"} and len(requests) == 2


def test_all_tries_end_in_time_also_if_an_answer_comes_byte_by_byte(model):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                for _ in range(100):
                    time.sleep(0.05)
                    connection.sendall(b" ")

        for _ in range(2):
            threading.Thread(target=serve, daemon=True).start()
        mine = model(f"http://127.0.0.1:{listening.getsockname()[1]}/v1/x", "time_limit: 1")
        start = time.monotonic()
        (output,) = mine.predict([SIGNAL], 16000)
        assert time.monotonic() - start < 1.5
    assert "no answer within" in output.problem


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.mark.parametrize("row", ROWS["refusals"], ids=lambda row: row["words"][:40])
def test_a_service_that_refuses_is_soon_not_asked_any_more(model, row):
    with serving(lambda *_: reply_of(row)) as service:
        mine = model(service.url, "requests: 1, key: ASR_KEY")
        outputs = [mine.predict([SIGNAL], 16000)[0] for _ in range(REFUSED_AFTER + 3)]
    assert len(service.asked) == REFUSED_AFTER
    assert all(row["words"] in output.problem for output in outputs)
    rests = [output.rest for output in outputs]
    assert [bool(rest) for rest in rests] == [False] * (REFUSED_AFTER - 1) + [True] * 4
    assert rests[-1] == outputs[-1].problem
    assert rests[-1].startswith("not asked, because 4 requests in a row failed")
    assert not [part for part in (SECRET[:6], SECRET[-4:], "abc") if part in str(outputs)]


def test_nobody_listens(model):
    mine = model(f"http://127.0.0.1:{closed_port()}/v1/x")
    first = mine.predict([SIGNAL] * 4, 16000)
    assert {output.problem for output in first} == {"no connection: connection refused"}
    assert any(output.rest for output in first)
    assert mine.predict([SIGNAL], 16000)[0].problem.startswith("not asked, because 4 requests")
    (output,) = model("http://no-such-host.invalid/v1/x").predict([SIGNAL], 16000)
    assert output.problem == "there is no such host"


def test_a_service_that_is_started_anew_is_waited_for(model, monkeypatch):
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.1)
    port = closed_port()
    mine = model(f"http://127.0.0.1:{port}/v1/x", "requests: 1")
    with serving(lambda *_: text("one"), port):
        assert mine.predict([SIGNAL], 16000) == [{"transcript": "one"}]

    def later() -> None:
        time.sleep(0.2)
        with serving(lambda *_: text("two"), port):
            time.sleep(3)

    threading.Thread(target=later, daemon=True).start()
    assert mine.predict([SIGNAL], 16000) == [{"transcript": "two"}]


def test_recordings_that_fail_do_not_stop_a_service_that_has_answered(model):
    bad = [SIGNAL[:160]] * (FAILED_AFTER + 4)
    with serving(lambda requests, _: text("x") if requests.samples > 200 else Reply({}, 400)) as service:
        mine = model(service.url)
        assert mine.predict([SIGNAL], 16000)[0] == {"transcript": "x"}
        assert not any(output.rest for output in mine.predict(bad, 16000))
        assert mine.predict([SIGNAL], 16000)[0] == {"transcript": "x"}
        assert any(output.rest for output in model(service.url).predict(bad, 16000))


def test_a_run_makes_no_more_requests_than_it_may(model, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(RUN_VARIABLE, "1-1")
    keys, limit = "requests: 2, most_requests: 3", "not asked: the limit of 3 requests was reached"
    with serving(then(Reply({}, 500), last="x")) as service:
        # One request has to be made again.
        assert model(service.url, keys).predict([SIGNAL] * 2, 16000) == [{"transcript": "x"}] * 2
        other = model(service.url, keys)  # another process of the run
        assert other.predict([SIGNAL], 16000) == [NoAnswer(limit, limit)]
        assert len(service.asked) == 3
        monkeypatch.setenv(RUN_VARIABLE, "2-2")
        assert model(service.url, keys).predict([SIGNAL], 16000) == [{"transcript": "x"}]
    counts = [RequestCount("mine", 30) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(lambda n: counts[n % 4].take(), range(80))) == 29  # of which one is made


def test_a_missing_key_is_told_before_anything_runs(suite, monkeypatch):
    entry, read = suite(keys="key: $ASR_KEY")
    assert entry.options["key"] == "ASR_KEY" and check_model(entry, read)
    for value, words in (("", "ASR_KEY is not set"), ("a\r\nX: 1", "holds characters that no key has")):
        monkeypatch.setenv("ASR_KEY", value)
        with pytest.raises(InputError, match=f"models.mine.key: the .*{words}"):
            check_model(entry, read)
    assert check_model(*suite())  # no key is needed


def test_a_key_in_the_suite_is_not_repeated(suite):
    for key in ("sk-1234567890abcdef", "[a, b]", "${ASR_KEY"):
        with pytest.raises(InputError) as caught:
            suite(keys=f'key: "{key}"')
        message = str(caught.value)
        assert "models.mine.key: this is not the name of an environment variable, in capitals" in message
        assert key not in message
    assert suite(keys="key: '${ASR_KEY}'")


@pytest.mark.parametrize("row", ROWS["repeats"], ids=str)
def test_a_key_that_the_service_repeats_is_cut_out(ask, row, capfd):
    output, _ = ask(reply_of(row), "key: ASR_KEY, confidence: true")
    message = (output.problem + "".join(capfd.readouterr())).lower()
    assert not [n for n in range(len(SECRET) - 4) if SECRET[n : n + 5].lower() in message]
    assert Secret("abc").hide("abcde of ABC") == "[key]de of ABC" and Secret().hide("/v1") == "/v1"


@pytest.mark.parametrize(("target", "words"), ROWS["addresses"].items())
def test_addresses_that_are_refused(suite, target, words):
    with pytest.raises(InputError, match="models.mine.endpoint: ") as caught:
        suite(target)
    assert words in str(caught.value) and "hunter2" not in str(caught.value)


def test_the_fingerprint_follows_what_is_asked_but_not_the_key(suite, monkeypatch):
    first = check_model(*suite(URL, "model: a, key: ASR_KEY"))
    for target, keys in ((URL, "model: b"), (URL, "model: a, language: de"), ("http://a/v1/y", "model: a")):
        assert check_model(*suite(target, keys)) != first
    monkeypatch.setenv("ASR_KEY", "another")
    for keys in ("model: a, requests: 9, most_requests: 5, time_limit: 3", "model: a, key: ASR_KEY"):
        assert check_model(*suite(URL, keys)) == first


def test_no_code_says_what_goes_out_and_nothing_secret_in_the_address(suite):
    entry, read = suite("https://host/v1/x?version=2&key=hunter2", "key: ASR_KEY")
    assert "hunter2" not in str(read.describe())
    with pytest.raises(InputError) as caught:
        refuse_code(read)
    assert entry.public_target == "https://host/v1/x?version=…&key=…"
    assert f"address that the suite names ({entry.public_target}), with the secret" in str(caught.value)
    assert "in the environment variable ASR_KEY" in str(caught.value)
