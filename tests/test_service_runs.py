"""Runs of the real command that ask a service, and programs that stay."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from killed import killed_run
from pages import example
from programs import gone
from services import Asked, Reply, serving, text

pytestmark = pytest.mark.slow

SECRET = "sk-Vq7/aB3+x%Zt9kLm2"
COUNT = 12
TWICE = 8  # clean inputs that are asked twice
SUITE = """
title: Service
replicates: 100
corpora:
  tones: {{format: csv, path: data/segments.csv}}
models:
  mine: {{{model}}}
families: [asr_word_errors]
studies: false
"""
WORDS = "one two three four five six seven eight nine ten eleven twelve".split()


def make(folder: Path) -> Path:
    """Write recordings of different lengths, each with its words."""
    (folder / "data").mkdir(parents=True)
    rng = np.random.default_rng(0)
    rows = ["file,speaker,transcript"]
    for number in range(COUNT):
        noise = 0.1 * rng.standard_normal(1600 * (number + 1))
        soundfile.write(folder / "data" / f"{number:02}.wav", noise, 16000)
        rows.append(f"{number:02}.wav,s{number // 3},say {WORDS[number]} now")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    return folder


def hear(asked: Asked, _: int) -> Reply:
    return text(f"Say {WORDS[asked.samples // 1600 - 1]}, now!")


class Project:
    """A folder with a suite, and the command in it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command = make(folder), command

    def write(self, url: str, more: str = "key: $ASR_KEY") -> None:
        model = f"endpoint: '{url}', {more}"
        (self.folder / "suite.yml").write_text(SUITE.format(model=model))

    def write_models(self, models: str, family: str = "asr_word_errors") -> None:
        head = SUITE.partition("models:")[0].format()
        (self.folder / "suite.yml").write_text(f"{head}{models}families: [{family}]\nstudies: false\n")

    @property
    def settings(self) -> dict[str, str]:
        return {"SOUNDCHECK_CACHE": str(self.folder / "cache"), "ASR_KEY": SECRET}

    def run(self, *arguments: str, book: bool = False, **environment: str):
        words = ("run", "suite.yml", *(() if book else ("--no-book",)), *arguments)
        done = self.command(*words, cwd=self.folder, **self.settings | environment)
        assert "Traceback" not in done.stderr
        return done

    def record(self, out: str = "build") -> dict:
        (model,) = json.loads((self.folder / out / "run.json").read_text())["models"]
        return model

    def answers(self, out: str = "build") -> pd.DataFrame:
        return pd.read_parquet(self.folder / out / "predictions" / "mine" / "tones.parquet")

    def leaks(self, *texts: str) -> list[str]:
        """Look for the key in all that was printed and written."""
        forms = [SECRET.encode(), base64.b64encode(SECRET.encode()), SECRET[6:].encode()]
        found = [words for words in texts if any(form.decode() in words for form in forms)]
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        assert len(files) > COUNT
        return found + [str(path) for path in files if any(form in path.read_bytes() for form in forms)]


@pytest.fixture
def project(tmp_path, undrawn) -> Project:
    return Project(tmp_path / "project", undrawn)


def test_a_run_asks_each_recording_once_and_some_twice(project):
    with serving(hear) as service:
        project.write(service.url, "key: $ASR_KEY, model: small, requests: 3")
        done = project.run()
        assert done.returncode == 0, done.stderr
        assert len(service.asked) == COUNT + TWICE and service.most <= 3
        first = (project.folder / "build" / "results.csv").read_bytes()
        record, given = project.record(), project.answers()
        assert given["transcript"].tolist() == [f"Say {word}, now!" for word in WORDS]
        assert record["target"] == service.url and record["inputs"] == COUNT and record["failed"] == 0
        assert any(
            "the model is a service: what answers there may change" in note for note in record["notes"]
        )
        # Another run of two jobs, with a cache of its own: the same results, and no more requests at a time.
        again = project.run("--jobs", "2", "--out", "two", SOUNDCHECK_CACHE=str(project.folder / "other"))
        assert again.returncode == 0, again.stderr
        assert len(service.asked) == 2 * (COUNT + TWICE) and service.most <= 3
        assert (project.folder / "two" / "results.csv").read_bytes() == first
        # Kept answers are confirmed by a few requests.
        before = len(service.asked)
        assert project.run().returncode == 0
        assert len(service.asked) == before + 5 and project.record()["confirmed"] == 5
        assert (project.folder / "build" / "results.csv").read_bytes() == first
        # Another model behind the same address is noticed, and asked about everything.
        service.answer = lambda asked, number: text("say one now")
        before = len(service.asked)
        changed = project.run()
        assert changed.returncode == 0
        assert len(service.asked) >= before + COUNT
        assert project.record()["confirmed_different"] == 5
        assert "what has changed was not seen: a service may change under its name" in changed.stderr
        assert set(project.answers()["transcript"]) == {"say one now"}
    printed = [text for one in (done, again, changed) for text in (one.stdout, one.stderr)]
    assert project.leaks(*printed) == []


def test_a_service_that_refuses_costs_four_requests(project):
    echo = {"error": {"message": f"Incorrect API key provided: {SECRET}"}}
    with serving(lambda *_: Reply(echo, 401)) as service:
        project.write(service.url)
        done = project.run("--jobs", "2")
    assert done.returncode == 3
    assert len(service.asked) == 4
    reasons = [failure["reason"] for failure in project.record()["failures"]]
    own = "HTTP 401, Unauthorized: check the key, and what it may be used for"
    assert len(reasons) == COUNT and reasons.count(own) >= 3
    rest = f"not asked, because 4 requests in a row failed, the last one with: {own}"
    assert set(reasons) == {own, rest}
    assert project.leaks(done.stdout, done.stderr) == []


def test_some_failures_are_listed_and_asked_again_the_next_time(project):
    broken = [True]

    def answer(asked: Asked, number: int) -> Reply:
        if asked.samples == 1600 and broken:
            return Reply({"error": {"message": f"<b>no</b> {SECRET}"}}, 400)
        if asked.samples == 3200 and broken:
            return Reply({"text": f"the key is {SECRET}"})
        if number % 5 == 0:
            return Reply({}, 503, {"Retry-After": "0"})
        return hear(asked, number)

    with serving(answer) as service:
        project.write(f"{service.url}?version=2-hidden")
        done = project.run(book=True)
        assert done.returncode == 3, done.stderr
        page = (project.folder / "build" / "html" / "models" / "mine.html").read_text()
        shown = ("the model is a service", "given on 20", "&lt;b&gt;no&lt;/b&gt; [key]", "?version=…")
        assert all(words in page for words in shown)
        assert not [p for p in (project.folder / "build").rglob("*") if b"2-hidden" in _content(p)]
        errors = project.answers()["error"].tolist()
        assert errors[:2] == ["HTTP 400, Bad Request: '<b>no</b> [key]'", "the answer repeats the key"]
        assert set(errors[2:]) == {""}
        broken.clear()
        assert project.run().returncode == 0
    assert project.answers()["transcript"].notna().all()
    assert project.leaks(done.stdout, done.stderr) == []


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def test_a_limit_of_requests_ends_asking_and_the_next_run_goes_on(project):
    with serving(hear) as service:
        project.write(service.url, "most_requests: 7, requests: 2")
        done = project.run("--jobs", "2")
        assert done.returncode == 3
        assert len(service.asked) == 7
        answered = project.answers()["transcript"].notna().sum()
        assert answered == 7
        reasons = {failure["reason"] for failure in project.record()["failures"]}
        assert reasons == {"not asked: the limit of 7 requests was reached"}
        project.write(service.url, "most_requests: 50")
        assert project.run().returncode == 0
        assert len(service.asked) == 7 + 5 + (COUNT - 7) + TWICE


def test_a_run_that_is_killed_goes_on_with_what_was_answered(project):
    with serving(hear) as service:
        project.write(service.url, "key: ASR_KEY, requests: 1")
        words = ("run", "suite.yml", "--no-book", "--jobs", "2")
        killed_run(*words, cwd=project.folder, answers=6, **project.settings)
        before = len(service.asked)
        done = project.run()
        assert done.returncode == 0, done.stderr
        # Kept answers are confirmed, the others asked, some twice; one was under way.
        assert COUNT - 6 <= len(service.asked) - before <= COUNT - 6 + 5 + TWICE + 1
    assert project.answers()["transcript"].notna().all()
    assert project.leaks(done.stdout, done.stderr) == []


def test_nothing_is_asked_without_a_key_or_with_no_code(project):
    with serving(hear) as service:
        project.write(service.url)
        done = project.run(ASR_KEY="")
        assert done.returncode == 2
        told = "models.mine.key: the environment variable ASR_KEY is not set, or empty. Set it where"
        assert told in done.stderr
        done = project.run("--no-code")
        assert done.returncode == 2
        assert "the model sends recordings to an address that the suite names (http://127" in done.stderr
        assert "variable ASR_KEY, which the suite names, too, and --no-code was given" in done.stderr
    assert service.asked == [] and not (project.folder / "build" / "results.csv").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker looks for its run once a second")
def test_no_program_stays_when_the_run_is_killed(project):
    program = project.folder / "my-asr"
    program.write_text("#!/bin/sh\necho $$ > started\nsleep 1000 &\necho $! >> started\nwait\n")
    program.chmod(0o755)
    project.write_models("models:\n  mine: {command: my-asr, stays: true}\n")
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml", "--no-book", "--jobs", "1"],
        cwd=project.folder,
        env=os.environ | project.settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        end, started = time.monotonic() + 120, project.folder / "started"
        while time.monotonic() < end and len(_content(started).split()) < 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    numbers = [int(word) for word in started.read_text().split()]
    assert len(numbers) == 2 and all(gone(number) for number in numbers)


def test_the_page_about_services_works(project):
    address = "http://localhost:8000/v1/audio/transcriptions"
    shown = example("models", "A service")
    assert address in shown
    with serving(hear) as service:
        models = shown.replace(address, service.url)
        project.write_models(models)
        done = project.run()
        assert done.returncode == 0, done.stderr
        assert len(service.asked) == COUNT + TWICE
        fields = {"model": "whisper-large-v3", "language": "en", "response_format": "json"}
        assert all(asked.fields == fields | {"temperature": "0"} for asked in service.asked)


def test_the_page_about_programs_works(project):
    """Its three suites and its program, with others in the place of the recognisers."""
    (project.folder / "my-asr").write_text('#!/bin/sh\n[ -f "$3" ] && echo say one now\n')
    (project.folder / "my-asr").chmod(0o755)
    script = example("models", "A program", "python").replace("= len", "= lambda path: 'say one now'")
    (project.folder / "my_asr.py").write_text(script)
    for number in (0, 2):
        project.write_models(example("models", "A program", number=number))
        done = project.run()
        assert done.returncode == 0, done.stderr
        assert set(project.answers()["transcript"]) == {"say one now"}
    values = '#!/bin/sh\necho \'{"arousal": 0.25, "emotion": "joy"}\'\n'
    (project.folder / "my-emotion").write_text(values)
    (project.folder / "my-emotion").chmod(0o755)
    table = project.folder / "data" / "segments.csv"
    table.write_text(table.read_text().replace("transcript\n", "other\n"))
    rows = [f"{line},{0.05 * n:.2f}" for n, line in enumerate(table.read_text().splitlines()[1:])]
    table.write_text("file,speaker,other,arousal\n" + "\n".join(rows) + "\n")
    project.write_models(example("models", "A program", number=1), "correctness_regression")
    done = project.run()
    assert done.returncode == 0, done.stderr
    assert set(project.answers()["arousal"]) == {0.25} and set(project.answers()["emotion"]) == {"joy"}
