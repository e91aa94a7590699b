"""Programs that are started once and told one recording after the other, in this process and in workers."""

import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from library_models import load_model
from programs import World, emptied, gone, predict

from soundcheck.models import command
from soundcheck.models.answers import NoAnswer
from soundcheck.models.command import CommandModel
from soundcheck.predict.tables import read_predictions

# Tells its starts, then answers each path with what stands in {answer}.
LOOP = """
import os, sys, time, wave, json
sys.stdout.reconfigure(line_buffering=True)
with open("starts", "a") as file:
    print(os.getpid(), file=file)
for number, line in enumerate(sys.stdin, 1):
    path = line.rstrip("\\n")
    with wave.open(path) as sound:
        samples = sound.getnframes()
    {answer}
"""
FINE = 'print(path, f"heard {samples}", sep="\\t")'


def program(world: World, answer: str = FINE) -> None:
    world.python(LOOP.replace("{answer}", answer.replace("\n", "\n    ")))


def loaded(world: World, *tasks: str) -> CommandModel:
    return load_model(*world.suite("my-asr", tasks=tasks or ("transcript",), stays=True))


def starts(world: World) -> list[int]:
    return [int(line) for line in (world.root / "starts").read_text().split()]


def predicted(model: CommandModel, *samples: int, rate: int = 16000) -> list:
    """Predict silence of these lengths: a transcript each, or why there is none."""
    answers = model.predict([np.zeros(count, np.float32) for count in samples], rate)
    return [each if isinstance(each, NoAnswer) else each.get("transcript", each) for each in answers]


def test_one_program_answers_all(world):
    program(world)
    model = loaded(world)
    heard = predicted(model, 160) + predicted(model, 99, 88, rate=8000)
    assert heard == ["heard 160", "heard 99", "heard 88"]
    (pid,) = starts(world)
    assert psutil.pid_exists(pid)
    (folder,) = world.temporary.iterdir()
    assert list(folder.iterdir()) == []  # recordings are gone when they are answered
    del model
    assert gone(pid) and emptied(world.temporary)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('sys.exit("no  memory" if samples == 2 else None)', "ended with exit code 1: no memory"),
        ("sys.exit()", "the program ended before it had answered (exit code 0)"),
        ("print(f'heard {samples}')", "heard 2', but an answer is one line that begins with"),
        ("print(path + 'x', 'heard')", "the program wrote '2.wavx heard"),
        ("print(path, 'one\\ntwo')", "one\\ntwo"),
        ("print('x' * 2_000_000)", "the program wrote more than 1000000 bytes and was killed"),
        ("os.close(1); time.sleep(60)", "the program closed its standard output"),
        ("sys.stderr.write('x' * 300_000 + '\\n\\033[1mlast\\n'); sys.exit(3)", "exit code 3: last"),
    ],
)
def test_a_program_that_fails_once_is_started_again(world, answer, words):
    program(world, f"if samples == 2:\n    {answer}\n{FINE}")
    model = loaded(world)  # it ends with the model
    one, two, three = predicted(model, 1, 2, 3)
    assert (one, three) == ("heard 1", "heard 3")
    assert isinstance(two, NoAnswer) and words in two.problem, two
    assert str(world.temporary) not in two.problem and "\n" not in two.problem
    first, second = starts(world)
    assert gone(first) and psutil.pid_exists(second)


def test_a_line_that_comes_late_is_never_taken_for_an_answer(world):
    program(world, f"{FINE}\nif samples == 1:\n    sys.stdout.flush(); time.sleep(0.1); print('late')")
    model = loaded(world)
    assert predicted(model, 1) == ["heard 1"]
    time.sleep(0.4)
    second, third = predicted(model, 2, 3)
    assert third == "heard 3"
    assert "the program wrote 'late" in second.problem


def test_a_program_that_answers_one_and_ends_is_started_again(world):
    program(world, f"{FINE}\nsys.stdout.flush()\nbreak")
    model = loaded(world)
    for number in (1, 2):
        assert predicted(model, number) == [f"heard {number}"]
        assert gone(starts(world)[-1])
    assert len(starts(world)) == 2


def test_a_program_that_always_fails_is_given_up(world):
    world.program("", first="#!/no/such/interpreter")
    model = loaded(world)
    answers = [predicted(model, 1)[0] for _ in range(command.FAILED_AFTER)]
    assert "cannot be run: it does not exist, or not the interpreter" in answers[0].problem
    assert [bool(answer.rest) for answer in answers] == [False] * (command.FAILED_AFTER - 1) + [True]
    assert answers[-1].rest.startswith("not asked, because the program failed 20 times in a row")
    assert emptied(world.temporary)


def test_what_happens_in_a_run(world):
    """Recordings are told by their lengths: 1600 samples, 1760, 1920, ..."""
    program(
        world,
        """number = samples // 160 - 10
if number == 1: sys.exit("no weights")
if number == 2: time.sleep(1000)
if number == 4: os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1000"); print("a child", file=sys.stderr)
print(path, f"number {number}")""",
    )
    report = predict(world, 8, "my-asr", stays=True)
    rows = read_predictions(report.tables["demo"])
    problems = ["", "the program ended with exit code 1: no weights", "no answer within 2 s", *[""] * 5]
    assert rows["error"].tolist() == problems
    assert rows["transcript"].tolist() == ["number 0", None, None, *(f"number {n}" for n in range(3, 8))]
    assert (report.failed, report.repeated_different) == (2, 0)
    # One at first, one after each failure that asks on, and one in a fresh process for what is asked twice.
    assert 3 <= len(starts(world)) <= 6
    assert all(gone(pid) for pid in starts(world))
    assert not [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "1000"]]
    assert emptied(world.temporary)
    logs = "".join(path.read_text() for path in (world.root / "out" / "logs").iterdir())
    assert "a child" in logs and "no weights" in logs


KILLED = """
import pathlib, sys; import numpy as np
from soundcheck.common.tasks import BUILTIN
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.models.command import CommandModel
root, stays = pathlib.Path(sys.argv[1]), sys.argv[3] == "True"
entry = ModelEntry("mine", "command", sys.argv[2], ("transcript",), options={"stays": stays})
suite = Suite(file=root / "suite.yml", root=root, tasks=BUILTIN)
CommandModel(entry, suite).predict([np.zeros(9, "float32")], 16000)
"""


@pytest.mark.parametrize(("target", "stays"), [("my-asr", True), ("my-asr {audio}", False)])
def test_nothing_is_left_if_only_the_worker_is_killed(world, target, stays):
    world.python("import subprocess, time\nsubprocess.Popen(['sleep', '1000'])\ntime.sleep(1000)")
    words = [sys.executable, "-c", KILLED, str(world.root), target, str(stays)]
    with subprocess.Popen(words, start_new_session=True) as worker:
        end = time.monotonic() + 30
        children: list[psutil.Process] = []
        while not any(child.name() == "sleep" for child in children) and time.monotonic() < end:
            time.sleep(0.05)
            children = psutil.Process(worker.pid).children(recursive=True)
        assert len(list(world.temporary.iterdir())) == 1 and len(children) == 3  # with the guard
        worker.send_signal(signal.SIGKILL)  # the worker alone, not its group
    assert all(gone(child.pid) for child in children)
    assert emptied(world.temporary)
