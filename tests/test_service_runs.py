"""Runs of the real command that ask a service, and programs that stay."""

import base64
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from killed import killed_run
from pages import example
from programs import gone
from runs import Run, changed, run, sound, write
from services import Asked, Reply, serving, text

pytestmark = pytest.mark.slow

SECRET = "sk-Vq7/aB3+x%Zt9kLm2"
COUNT, TWICE, CONFIRMING = 12, 8, 5  # clean inputs; of them are asked twice; confirm cached predictions
HEAD = """
title: Service
replicates: 100
studies: false
corpora:
  tones: {format: csv, path: data/segments.csv}
"""
WORDS = "one two three four five six seven eight nine ten eleven twelve".split()


def hear(asked: Asked, _: int) -> Reply:
    return text(f"Say {WORDS[asked.samples // 1600 - 1]}, now!")


class Project:
    """A folder with recordings of different lengths and a suite, and the command in it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command, self.printed = folder, command, []
        self.settings = {"SOUNDCHECK_CACHE": str(folder / "cache"), "ASR_KEY": SECRET}
        rng = np.random.default_rng(0)
        for number in range(COUNT):
            sound(folder / "data" / f"{number:02}.wav", 0.1 * rng.standard_normal(1600 * (number + 1)))
        rows = [(f"{n:02}.wav", f"s{n // 3}", f"say {WORDS[n]} now", 0.05 * n) for n in range(COUNT)]
        table = pd.DataFrame(rows, columns=["file", "speaker", "transcript", "arousal"])
        write(folder, {"data/segments.csv": table})

    def write(self, url: str, more: str = "key: $ASR_KEY") -> None:
        self.models(f"models: {{mine: {{endpoint: '{url}', {more}}}}}\n")

    def models(self, models: str, family: str = "asr_word_errors") -> None:
        write(self.folder, {"suite.yml": f"{HEAD}{models}families: [{family}]\n"})

    def run(self, *words: str, out: str = "build", code: int = 0, **environment: str) -> Run:
        done = run(self.command, self.folder, *words, out=out, code=code, **self.settings | environment)
        self.printed += [done.done.stdout, done.done.stderr]
        return done

    def leaks(self) -> list[str]:
        """Look for the key in all that was printed and written."""
        forms = [SECRET.encode(), base64.b64encode(SECRET.encode()), SECRET[6:].encode()]
        printed = [words for words in self.printed if any(form.decode() in words for form in forms)]
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return printed + [str(path) for path in files if any(form in path.read_bytes() for form in forms)]


@pytest.fixture
def project(tmp_path, undrawn) -> Project:
    return Project(tmp_path / "project", undrawn)


def answers(whole: Run) -> pd.DataFrame:
    return whole.predictions("mine", "tones").reset_index()


def test_a_run_asks_each_recording_once_and_some_twice(project):
    with serving(hear) as service:
        page = example("models", "A service")
        project.models(page.replace("http://localhost:8000/v1/audio/transcriptions", service.url))
        whole = project.run("--no-book")
        assert len(service.asked) == COUNT + TWICE and service.most <= 4
        fields = {"model": "whisper-large-v3", "language": "en", "temperature": "0"}
        assert all(fields.items() <= asked.fields.items() for asked in service.asked)
        first = (whole.out / "results.csv").read_bytes()
        assert answers(whole)["transcript"].tolist() == [f"Say {word}, now!" for word in WORDS]
        # Another run of two jobs, with a cache of its own: the same results, and no more requests at a time.
        cache = str(project.folder / "other")
        two = project.run("--no-book", "--jobs", "2", out="two", SOUNDCHECK_CACHE=cache)
        assert len(service.asked) == 2 * (COUNT + TWICE) and service.most <= 4
        assert (two.out / "results.csv").read_bytes() == first
        before = len(service.asked)
        again = project.run("--no-book")
        assert len(service.asked) == before + CONFIRMING
        assert (again.out / "results.csv").read_bytes() == first
        # Another model behind the same address is noticed, and asked about everything.
        service.answer = lambda asked, number: text("say one now")
        before = len(service.asked)
        other = project.run("--no-book")
        assert len(service.asked) >= before + COUNT
        assert other.record["models"][0]["confirmed_different"] == CONFIRMING
        message = "what has changed was not seen: a service may change under its name"
        assert message in other.done.stderr and set(answers(other)["transcript"]) == {"say one now"}
    assert project.leaks() == []


def test_some_failures_are_listed_and_asked_again_the_next_time(project, unbuilt):
    broken, project.command = [True], unbuilt

    def answer(asked: Asked, number: int) -> Reply:
        if asked.samples == 1600 and broken:
            return Reply({"error": {"message": f"<b>no</b> {SECRET}"}}, 400)
        if asked.samples == 3200 and broken:
            return Reply({"text": f"the key is {SECRET}"})
        return Reply({}, 503, {"Retry-After": "0"}) if number % 5 == 0 else hear(asked, number)

    with serving(answer) as service:
        project.write(f"{service.url}?version=2-hidden")
        whole = project.run(code=3)
        page = whole.page("models/mine")
        for words in ("the model is a service", "given on 20", "&lt;b&gt;no&lt;/b&gt; [key]", "?version=…"):
            assert words in page
        files = [path for path in whole.out.rglob("*") if path.is_file()]
        assert not [path for path in files if b"2-hidden" in path.read_bytes()]
        errors = answers(whole)["error"].tolist()
        assert errors[:2] == ["HTTP 400, Bad Request: '<b>no</b> [key]'", "the answer repeats the key"]
        assert set(errors[2:]) == {""}
        broken.clear()
        assert answers(project.run("--no-book"))["transcript"].notna().all()
    assert project.leaks() == []


def test_a_run_that_is_killed_goes_on_with_what_was_answered(project):
    with serving(hear) as service:
        project.write(service.url, "key: ASR_KEY, requests: 1")
        words = ("run", "suite.yml", "--no-book", "--jobs", "2")
        killed_run(*words, cwd=project.folder, answers=6, **project.settings)
        before = len(service.asked)
        whole = project.run("--no-book")
        more = len(service.asked) - before  # one request was under way
        assert COUNT - 6 <= more <= COUNT - 6 + CONFIRMING + TWICE + 1
    assert answers(whole)["transcript"].notna().all() and project.leaks() == []


def program(folder: Path, name: str, body: str) -> None:
    write(folder, {name: f"#!/bin/sh\n{body}\n"})
    (folder / name).chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker looks for its run once a second")
def test_no_program_stays_when_the_run_is_killed(project):
    program(project.folder, "my-asr", "echo $$ > started\nsleep 1000 &\necho $! >> started\nwait")
    project.models("models:\n  mine: {command: my-asr, stays: true}\n")
    started = project.folder / "started"
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml", "--no-book", "--jobs", "1"],
        cwd=project.folder,
        env=os.environ | project.settings,
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
    ) as process:
        end = time.monotonic() + 120
        while time.monotonic() < end and not (started.is_file() and len(started.read_text().split()) == 2):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    numbers = [int(word) for word in started.read_text().split()]
    assert len(numbers) == 2 and all(gone(number) for number in numbers)


def test_the_page_about_programs_works(project):
    """Its three models and its program, with others in the place of the recognisers."""
    program(project.folder, "my-asr", '[ -f "$3" ] && echo say one now')
    program(project.folder, "my-emotion", 'echo \'{"arousal": 0.25, "emotion": "joy"}\'')
    script = example("models", "A program", "python").replace("= len", "= lambda path: 'say one now'")
    write(project.folder, {"my_asr.py": script})
    names = ("once", "emotion", "stays")
    examples = {name: example("models", "A program", number=number) for number, name in enumerate(names)}
    models = [changed(text, {"models:\n": "", "mine:": f"{name}:"}) for name, text in examples.items()]
    project.models("models:\n" + "".join(models), "asr_word_errors, correctness_regression")
    whole = project.run("--no-book")
    once, values, stays = (whole.predictions(name, "tones") for name in names)
    assert set(once["transcript"]) == set(stays["transcript"]) == {"say one now"}
    assert set(values["arousal"]) == {0.25} and set(values["emotion"]) == {"joy"}
