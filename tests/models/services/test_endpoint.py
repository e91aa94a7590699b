"""Services as models: a server of this machine that misbehaves in every way, asked as in a run."""

import datetime
import email.utils
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import audiofile
import numpy as np
import pytest
from services import Asked, Reply, serving, text

from soundcheck.common.errors import InputError
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import NoAnswer, check_output
from soundcheck.models.base import check_model, load_model
from soundcheck.models.processes import RUN_VARIABLE
from soundcheck.models.services import endpoint
from soundcheck.models.services.endpoint import FAILED_AFTER, REFUSED_AFTER, EndpointModel, RequestCount
from soundcheck.models.services.request import ANSWER_BYTES, Secret, confidences
from soundcheck.run.selection import refuse_code
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.suite_file import read_suite

SECRET = "sk-Vq7/aB3+x%Zt9kLm2"
SIGNAL = np.sin(np.arange(16000) / 20).astype(np.float32) * 1.5  # beyond full scale


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Wait shortly between tries, and know the key."""
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.01)
    monkeypatch.setenv("ASR_KEY", SECRET)


def suite(tmp_path: Path, target: str, more: str = "") -> tuple[ModelEntry, Suite]:
    (tmp_path / "suite.yml").write_text(
        "corpora: {demo: {format: demo}}\n"
        f"models: {{mine: {{endpoint: '{target}'{more and ', ' + more}}}}}\nfamilies: all\n"
    )
    found = read_suite(tmp_path / "suite.yml")
    return found.models["mine"], found


def model(tmp_path: Path, target: str, more: str = "") -> EndpointModel:
    return load_model(*suite(tmp_path, target, more))


def ask(tmp_path: Path, target: str, more: str = "", count: int = 1) -> list:
    return model(tmp_path, target, more).predict([SIGNAL] * count, 16000)


def failure(answers: list) -> str:
    (answer,) = answers
    assert isinstance(answer, NoAnswer), answer
    assert check_output(answer, [BUILTIN["transcript"]]) == ({}, answer.problem)
    return answer.problem


# What is sent and understood --------------------------------------------------------------------------------


def test_a_recording_is_uploaded_as_programs_get_it(tmp_path):
    with serving(lambda asked, _: text("grün  one\ntwo ")) as service:
        answers = ask(tmp_path, service.url, "model: whisper-1, language: de, key: $ASR_KEY")
    assert answers == [{"transcript": "grün  one\ntwo "}]
    (asked,) = service.asked
    own = {"model": "whisper-1", "language": "de", "response_format": "json", "temperature": "0"}
    assert asked.fields == own and asked.path == "/v1/audio/transcriptions"
    assert asked.headers["Authorization"] == f"Bearer {SECRET}"
    audiofile.write(tmp_path / "x.wav", np.clip(SIGNAL, -1, 1), 16000, bit_depth=16)
    assert asked.content == (tmp_path / "x.wav").read_bytes()


def test_a_service_says_how_sure_it_is_if_it_is_asked(tmp_path):
    words = [{"word": "turn", "probability": 0.9, "start": 0}, {"word": "left", "probability": 0.4}]
    segments = [
        {"avg_logprob": -0.5, "tokens": [1, 2, 3]},
        {"avg_logprob": -1.5, "tokens": [4]},
    ]
    told = Reply({"text": "Turn left.", "words": words, "segments": segments, "language": "english"})
    with serving(lambda *_: told) as service:
        assert ask(tmp_path, service.url) == [{"transcript": "Turn left."}]
        (answer,) = ask(tmp_path, service.url, "confidence: true")
    sure = pytest.approx(np.exp(-0.75))
    assert answer == {"transcript": "Turn left.", "words": words, "confidence": sure}
    kept, problem = check_output(answer, [BUILTIN["transcript"]])
    assert not problem and kept["transcript.words"] == '[["turn", 0.9], ["left", 0.4]]'
    plain, asked = service.asked
    assert plain.fields["response_format"] == "json"
    assert asked.fields["response_format"] == "verbose_json"
    assert asked.fields["timestamp_granularities[]"] in ("word", "segment")


GO = {"word": "go", "probability": 1}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ({}, {}),
        ({"segments": []}, {}),
        ({"segments": "x", "words": [3]}, {}),
        ({"segments": [{"avg_logprob": 0.5}]}, {}),  # is none
        ({"segments": [{"avg_logprob": "high"}, {"avg_logprob": -1}]}, {}),
        ({"segments": [{"avg_logprob": -1.0}, {"avg_logprob": -3.0}]}, {"confidence": np.exp(-2)}),
        (
            {
                "segments": [
                    {"avg_logprob": -1, "start": 0, "end": 3},
                    {"avg_logprob": -3, "start": 3, "end": 4},
                ]
            },
            {"confidence": np.exp(-1.5)},
        ),
        (
            {"segments": [{"words": [{"word": "go", "probability": 1}]}]},
            {"words": [{"word": "go", "probability": 1}]},
        ),
    ],
)
def test_what_services_say_beside_the_text(content, found):
    made = confidences({"text": "go", **content})
    assert made.keys() == found.keys() and made.get("words") == found.get("words")
    assert made.get("confidence", 0) == pytest.approx(found.get("confidence", 0))


def test_a_key_in_words_is_not_kept(tmp_path):
    reply = Reply({"text": "go", "words": [{"word": SECRET, "probability": 0.5}]})
    with serving(lambda *_: reply) as service:
        assert (
            failure(ask(tmp_path, service.url, "confidence: true, key: ASR_KEY"))
            == "the answer repeats the key"
        )


def test_so_many_requests_at_a_time_and_answers_in_order(tmp_path):
    signals = [np.zeros(1600 * n, np.float32) for n in range(1, 5)]

    def answer(asked: Asked, _: int) -> Reply:
        return Reply({"text": str(asked.samples)}, sleep=0.3 - asked.samples / 32000)

    with serving(answer) as service:
        mine = model(tmp_path, service.url, "requests: 4")
        assert mine._entry.batch == 4
        assert [a["transcript"] for a in mine.predict(signals, 16000)] == ["1600", "3200", "4800", "6400"]
    assert service.most == 4


def test_a_signal_that_fails_does_not_ask_about_the_others_again(tmp_path):
    def answer(asked: Asked, _: int) -> Reply:
        return Reply({"error": {"message": "too short"}}, 400) if asked.samples == 160 else text("fine")

    with serving(answer) as service:
        mine = model(tmp_path, service.url)
        got = mine.predict([SIGNAL, SIGNAL[:160], SIGNAL], 16000)
    assert got == [{"transcript": "fine"}, NoAnswer("HTTP 400, Bad Request: 'too short'"), got[0]]
    assert len(service.asked) == 3


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(raw=b"<html>"), "the answer is not JSON"),
        (Reply(raw=b"[" * 5000), "the answer is not JSON"),
        (Reply(raw=b"\xff\xfe"), "the answer is not JSON"),
        (Reply(["text"]), "the answer is JSON, but no object"),
        (Reply({"texts": "x"}), "the answer has no 'text'; its keys: 'texts'"),
        (Reply({"text": None}), "the answer has a 'text' that is no text; its keys: 'text'"),
        (Reply({"error": {"message": "no such\nmodel"}}), "it says 'no such\\nmodel'"),
        (Reply({"text": "x" * ANSWER_BYTES}), f"the answer is longer than {ANSWER_BYTES} bytes"),
        (text("x", duration=9.0), "the answer is for something else: it heard 9 s, and was sent 1 s"),
        (text("x", usage={"type": "duration", "seconds": 60}), "it heard 60 s, and was sent 1 s"),
        (text("x", filename="/elsewhere/other.wav"), "it names the file '/elsewhere/other.wav'"),
        (Reply({}, 413), "HTTP 413, "),
        (Reply({"detail": "bad \x1b[31m language"}, 422), ": 'bad \\x1b[31m language'"),
        (Reply({}, 501), "HTTP 501, Not Implemented"),
        (Reply({}, 418), "HTTP 418"),
        (Reply({}, 799), "HTTP 799"),
    ],
)
def test_answers_that_are_none_are_not_asked_for_again(tmp_path, reply, words):
    with serving(lambda *_: reply) as service:
        assert words in failure(ask(tmp_path, service.url))
    assert len(service.asked) == 1


def test_a_duration_and_a_file_that_fit_are_fine(tmp_path):
    def answer(asked: Asked, _: int) -> Reply:
        return text("x", duration="1.2", file=f"up/{asked.name}", usage={"type": "duration", "seconds": 2})

    with serving(answer) as service:
        assert ask(tmp_path, service.url) == [{"transcript": "x"}]


# Tries ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [Reply({}, 408), Reply({}, 429), Reply({}, 500), Reply({}, 503), Reply({"text": "x"}, cut=True)],
    ids=["408", "429", "500", "503", "cut off"],
)
def test_what_may_go_better_is_tried_again(tmp_path, reply):
    with serving(lambda _, number: reply if number < 3 else text("at last")) as service:
        assert ask(tmp_path, service.url) == [{"transcript": "at last"}]
    assert len(service.asked) == 3
    with serving(lambda *_: reply) as service:
        assert failure(ask(tmp_path, service.url))
    assert len(service.asked) == endpoint.TRIES


@pytest.mark.parametrize("date", [False, True])
def test_the_service_says_how_long_to_wait(tmp_path, date):
    times = []

    def answer(_: Asked, number: int) -> Reply:
        times.append(time.time())
        until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2)
        wait = email.utils.format_datetime(until, usegmt=True) if date else "1"
        return Reply({}, 429, {"Retry-After": wait}) if number == 1 else text("x")

    with serving(answer) as service:
        assert ask(tmp_path, service.url) == [{"transcript": "x"}]
    assert 0.8 < times[1] - times[0] < 4  # a date has no fractions of a second


@pytest.mark.parametrize("wait", ["3600", "9" * 400, "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_nobody_waits_longer_than_there_is_time(tmp_path, wait):
    with serving(lambda *_: Reply({}, 429, {"Retry-After": wait})) as service:
        start = time.monotonic()
        reason = failure(ask(tmp_path, service.url, "time_limit: 20"))
        assert time.monotonic() - start < 5
    assert reason.startswith("HTTP 429, Too Many Requests; it asks to wait ") and len(reason) < 500
    assert len(service.asked) == 1


@pytest.mark.parametrize("wait", ["soon", "-5", ""])
def test_nonsense_about_waiting_is_passed_over(tmp_path, wait):
    with serving(lambda _, n: Reply({}, 503, {"Retry-After": wait}) if n == 1 else text("x")) as service:
        assert ask(tmp_path, service.url) == [{"transcript": "x"}]


def test_a_slow_try_is_given_up_for_another_and_all_end_in_time(tmp_path):
    with serving(lambda _, number: Reply({"text": "x"}, sleep=3 if number == 1 else 0)) as service:
        assert ask(tmp_path, service.url, "time_limit: 2") == [{"transcript": "x"}]
        assert len(service.asked) == 2
    with serving(lambda *_: Reply({"text": "x"}, sleep=5)) as service:
        start = time.monotonic()
        assert "no answer within" in failure(ask(tmp_path, service.url, "time_limit: 2"))
        assert time.monotonic() - start < 2
        assert len(service.asked) == 2


def test_an_answer_that_drips_is_given_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1/x"

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                for _ in range(100):
                    time.sleep(0.05)
                    connection.sendall(b" ")

        def refuse_errors() -> None:
            try:
                drip()
            except OSError:
                return

        for _ in range(2):
            threading.Thread(target=refuse_errors, daemon=True).start()
        start = time.monotonic()
        assert "no answer within" in failure(ask(tmp_path, url, "time_limit: 2"))
        assert time.monotonic() - start < 2.2


# A service that does not answer at all ----------------------------------------------------------------------


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply({"error": {"message": f"wrong key {SECRET[:6]}**{SECRET[-4:]}"}}, 401), "HTTP 401, Unautho"),
        (Reply({}, 403), "HTTP 403, Forbidden: check the key"),
        (Reply({"error": "no model x"}, 404), "HTTP 404, Not Found: 'no model x'"),
        (
            Reply({}, 302, {"Location": "https://elsewhere/x?token=abc"}),
            "'https://elsewhere/x?token=…', which",
        ),
        (Reply({}, 307, {"Location": "/v1/other"}), "/v1/other', which is not followed"),
    ],
)
def test_a_service_that_refuses_is_soon_not_asked_any_more(tmp_path, reply, words):
    with serving(lambda *_: reply) as service:
        mine = model(tmp_path, service.url, "requests: 1, key: ASR_KEY")
        answers = [mine.predict([SIGNAL], 16000)[0] for _ in range(REFUSED_AFTER + 3)]
    assert len(service.asked) == REFUSED_AFTER
    assert all(words in answer.problem for answer in answers)
    rests = [answer.rest for answer in answers]
    assert rests[: REFUSED_AFTER - 1] == [""] * (REFUSED_AFTER - 1)
    assert all(rest.startswith("not asked, because 4 requests in a row failed") for rest in rests[3:])
    assert answers[-1].problem == rests[-1]
    for part in (SECRET[:6], SECRET[-4:], "abc"):
        assert part not in str(answers)


def test_nobody_listens(tmp_path):
    mine = model(tmp_path, f"http://127.0.0.1:{closed_port()}/v1/x")
    first = mine.predict([SIGNAL] * 4, 16000)
    assert {answer.problem for answer in first} == {"no connection: connection refused"}
    assert sum(bool(answer.rest) for answer in first) >= 1
    assert mine.predict([SIGNAL], 16000)[0].problem.startswith("not asked, because 4 requests")


def test_no_such_host(tmp_path):
    reason = failure(ask(tmp_path, "http://no-such-host.invalid/v1/x"))
    assert reason == "there is no such host"


def test_a_service_that_is_started_anew_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.3)
    port = closed_port()
    url = f"http://127.0.0.1:{port}/v1/x"
    mine = model(tmp_path, url, "requests: 1")
    with serving(lambda *_: text("one"), port):
        assert mine.predict([SIGNAL], 16000) == [{"transcript": "one"}]

    def later() -> None:
        time.sleep(0.5)
        with serving(lambda *_: text("two"), port):
            time.sleep(5)

    threading.Thread(target=later, daemon=True).start()
    assert mine.predict([SIGNAL], 16000) == [{"transcript": "two"}]


def test_recordings_that_fail_do_not_stop_a_service_that_has_answered(tmp_path):
    def answer(asked: Asked, _: int) -> Reply:
        return text("x") if asked.samples > 200 else Reply({}, 400)

    with serving(answer) as service:
        mine = model(tmp_path, service.url)
        bad = [SIGNAL[:160]] * (FAILED_AFTER + 4)
        assert mine.predict([SIGNAL], 16000)[0] == {"transcript": "x"}
        assert not any(one.rest for one in mine.predict(bad, 16000))
        assert mine.predict([SIGNAL], 16000)[0] == {"transcript": "x"}
        never = model(tmp_path, service.url)
        assert any(one.rest for one in never.predict(bad, 16000))


# Cost -------------------------------------------------------------------------------------------------------


def test_a_run_makes_no_more_requests_than_it_may(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(RUN_VARIABLE, "1-1")
    with serving(lambda _, number: Reply({}, 500) if number == 1 else text("x")) as service:
        mine = model(tmp_path, service.url, "requests: 2, most_requests: 3")
        answers = mine.predict([SIGNAL] * 2, 16000)
        assert answers == [{"transcript": "x"}] * 2  # with one request that had to be made again
        other = model(tmp_path, service.url, "most_requests: 3")  # another process of the run
        limit = "not asked: the limit of 3 requests was reached"
        assert other.predict([SIGNAL], 16000) == [NoAnswer(limit, limit)]
        assert len(service.asked) == 3
        monkeypatch.setenv(RUN_VARIABLE, "2-2")
        assert model(tmp_path, service.url, "most_requests: 3").predict([SIGNAL], 16000) == answers[:1]
    sizes = sorted(path.stat().st_size for path in (tmp_path / "cache" / "requests").iterdir())
    assert sizes == [0, 0, 1, 3]  # each with a lock


def test_many_processes_count_together(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv(RUN_VARIABLE, "3-3")
    counts = [RequestCount("mine", 30) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda n: counts[n % 4].take(), range(80)))
    assert sum(taken) == 30


# The key ----------------------------------------------------------------------------------------------------


def test_a_missing_key_is_told_before_anything_runs(tmp_path, monkeypatch):
    given = suite(tmp_path, "http://a/v1/x", "key: $ASR_KEY")
    assert given[0].options["key"] == "ASR_KEY"
    check_model(*given)
    for value in ("", "  "):
        monkeypatch.setenv("ASR_KEY", value)
        with pytest.raises(InputError, match=r"models.mine.key: the environment variable ASR_KEY is"):
            check_model(*given)
    monkeypatch.setenv("ASR_KEY", "line\r\nX-Other: 1")
    with pytest.raises(InputError, match="holds characters that no key has") as caught:
        check_model(*given)
    assert "X-Other" not in str(caught.value)
    check_model(*suite(tmp_path, "http://a/v1/x"))  # no key is needed


def test_a_key_in_the_suite_is_not_repeated(tmp_path):
    for key in ("sk-1234567890abcdef", "hf_abcdefghijkl", "$sk", "[a, b]", "{a: b}", "${ASR_KEY"):
        with pytest.raises(InputError) as caught:
            suite(tmp_path, "http://a/v1/x", f'key: "{key}"')
        told = str(caught.value)
        assert "models.mine.key: this is not the name of an environment variable, in capitals" in told
        assert key not in told
    assert suite(tmp_path, "http://a/v1/x", "key: ${ASR_KEY}".replace("${ASR_KEY}", "'${ASR_KEY}'"))


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"text": f"it is {SECRET}"}),
        Reply({"error": {"message": f"unknown key {SECRET}"}}, 400),
        Reply({"error": {"message": "unknown key sk-Vq7%2FaB3%2Bx%25Zt9kLm2"}}, 404),
        Reply({SECRET: 1}),
        Reply({}, 302, {"Location": f"http://other/{SECRET}?k={SECRET}"}),
        text("x", filename=f"{SECRET}.wav"),
        Reply(raw=SECRET.encode(), status=500),
        Reply(raw=SECRET.encode()),
    ],
)
def test_a_key_that_the_service_repeats_is_cut_out(tmp_path, reply, capfd):
    with serving(lambda *_: reply) as service:
        reason = failure(ask(tmp_path, service.url, "key: ASR_KEY"))
    told = (reason + "".join(capfd.readouterr())).lower()
    for part in (SECRET[place : place + 5] for place in range(len(SECRET) - 4)):
        assert part.lower() not in told


def test_what_is_no_key_is_shown():
    assert Secret("abc").hide("abcde of ABC") == "[key]de of ABC" and Secret().hide("/v1") == "/v1"


# The suite --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("localhost:8000/v1", "does not begin with http:// or https://"),
        ("file:///etc/passwd", "does not begin with http:// or https://"),
        ("http:///v1/x", "is not an address"),
        ("http://host:99999/v1/x", "is not an address"),
        ("http://[::1/v1/x", "is not an address"),
        ("http://ho st/v1/x", "is not an address"),
        ("http://me:hunter2@host/v1/x", "there is a name or password in the address"),
        ("http://host/v1/x#part", "goes on with #"),
        ("http://host", "is not yet the place that takes recordings"),
        ("http://host/v1/", "is not yet the place that takes recordings"),
    ],
)
def test_addresses_that_are_refused(tmp_path, target, words):
    with pytest.raises(InputError, match="models.mine.endpoint: ") as caught:
        suite(tmp_path, target)
    assert words in str(caught.value) and "hunter2" not in str(caught.value)


def test_nothing_secret_in_an_address_is_shown(tmp_path):
    entry, found = suite(tmp_path, "https://host/v1/x?version=2&key=hunter2")
    assert entry.public_target == "https://host/v1/x?version=…&key=…"
    assert "hunter2" not in str(found.describe())


def test_the_fingerprint_follows_what_is_asked_but_not_the_key(tmp_path, monkeypatch):
    own = "model: a, key: ASR_KEY"
    first = check_model(*suite(tmp_path, "http://a/v1/x", own))
    for more in ("model: b", "model: a, language: de"):
        assert check_model(*suite(tmp_path, "http://a/v1/x", more)) != first
    assert check_model(*suite(tmp_path, "http://a/v1/y", own)) != first
    monkeypatch.setenv("ASR_KEY", "another")
    same = ("model: a, requests: 9, most_requests: 5, time_limit: 3", own)
    assert {check_model(*suite(tmp_path, "http://a/v1/x", more)) for more in same} == {first}


def test_no_code_says_what_goes_out(tmp_path):
    _, found = suite(tmp_path, "http://a/v1/x", "key: ASR_KEY")
    with pytest.raises(InputError) as caught:
        refuse_code(found)
    assert str(caught.value) == (
        "suite.yml, models.mine: the model sends recordings to an address that the suite names "
        "(http://a/v1/x), with the secret in the environment variable ASR_KEY, which the suite names, too, "
        "and --no-code was given."
    )
