"""What models do to a run: small models, asked about a few short recordings by real workers."""

import contextlib
import dataclasses
import datetime
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import audiofile
import numpy as np
import pandas as pd
import psutil
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.files import OutputError, digest
from soundcheck.common.store import FileDigests
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models.reference import reference_predictions
from soundcheck.predict import dispatch, executor, prediction, store
from soundcheck.predict.engine import predict_model
from soundcheck.predict.opened_files import changed_files
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest
from soundcheck.predict.tables import read_predictions
from soundcheck.run import notebook_server
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Perturbation

pytestmark = pytest.mark.slow

TONE = {
    "tone": Perturbation("Tone", "additive_tone", {"frequency": {"from": 5000, "to": 7000}, "snr_db": 20})
}
# Segment number of a signal: its length tells it.
NUMBER = "number = len(signal) // 160 - 10\n"
ANSWER = "return {'arousal': number / 10, 'emotion': 'anger'}"


@dataclasses.dataclass
class World:
    """A folder with recordings 0.wav, 1.wav, ... and a model.py.

    `repeated` inputs are asked twice, by another process; where a test is not about that it would only wait.
    """

    root: Path
    segments: int = 6
    tasks: tuple[str, ...] = ("arousal", "emotion")
    repeated: int = 0

    def __post_init__(self) -> None:
        self.out, self.cache = self.root / "out", self.root / "out" / "cache"
        rng = np.random.default_rng(0)
        for number in range(self.segments):
            path = self.root / f"{number}.wav"
            signal = rng.normal(0, 0.1, 160 * (10 + number)).astype(np.float32)
            if not path.exists():  # else another run may just be reading it
                audiofile.write(path, signal, 16000)

    def corpus(self, name: str = "demo", numbers: list[int] | None = None) -> SimpleNamespace:
        numbers = list(range(self.segments)) if numbers is None else numbers
        files = [f"{number}.wav" for number in numbers]
        segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0})
        segments["key"] = segments["file"] + "||"
        segments["audio"] = [digest(self.root / file) for file in files]
        return SimpleNamespace(name=name, root=self.root, segments=segments)

    def model(self, body: str, before: str = "") -> None:
        body = textwrap.indent(NUMBER + textwrap.dedent(body) + "\n" + ANSWER, "    ")
        self.source(f"{textwrap.dedent(before)}\ndef predict(signal, sampling_rate):\n{body}\n")

    def source(self, text: str) -> None:
        (self.root / "model.py").write_text(textwrap.dedent(text))

    def entry(self, known=None, suite_corpora=None, **entry) -> tuple[ModelEntry, Suite]:
        given = {"kind": "python", "target": "model:predict", "tasks": self.tasks, "time_limit": 20.0} | entry
        model = ModelEntry(name="mine", **given)
        named = ("t", 0, 100, "percentile", (), suite_corpora or {})
        tasks = BUILTIN | (known or {})
        return model, Suite(*named, {"mine": model}, tasks, self.root, self.root / "suite.yml")

    def run(
        self,
        changes=None,
        corpora=None,
        jobs=1,
        out=None,
        log="",
        known=None,
        suite_corpora=None,
        fresh=False,
        confirm=True,
        **entry,
    ) -> PredictionReport:
        model, suite = self.entry(known, suite_corpora, **entry)
        corpora = corpora or [self.corpus()]
        out = out or self.out
        options = {"jobs": jobs, "log": log, "fresh": fresh, "confirm": confirm}
        with mock.patch.object(prediction, "REPEATED", self.repeated):
            return predict_model(
                PredictionRequest(model, suite, corpora, changes or {}, out, self.cache), **options
            )

    def log(self) -> str:
        return "".join(path.read_text("utf-8", "replace") for path in (self.out / "logs").glob("*"))


@pytest.fixture
def started_models() -> None:
    """Start the processes of models as a run does: tests that look for what is left behind see only these."""


@pytest.fixture(autouse=True)
def models(request: pytest.FixtureRequest) -> None:
    if "started_models" not in request.fixturenames:
        request.getfixturevalue("forked_models")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def asked_twice(world: World) -> World:
    """Let all that the test does ask some inputs twice, as every run of a user does."""
    world.repeated = prediction.REPEATED
    return world


def table(report: PredictionReport, corpus: str = "demo") -> pd.DataFrame:
    return read_predictions(report.tables[corpus])


def failed(report: PredictionReport) -> dict[str, str]:
    return {item: reason for _, item, _, reason in report.failures}


# What comes out ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("asked_twice")
def test_table_has_all_rows_in_order(world):
    world.model("")
    report = world.run(TONE)
    assert (report.inputs, report.computed, report.reused, report.failed) == (12, 12, 0, 0)
    rows = table(report)
    assert rows.columns.tolist() == ["key", "change", "arousal", "emotion", "error", "drawn"]
    assert rows["key"].tolist() == [f"{number}.wav||" for number in range(6) for _ in "ab"]
    assert rows["change"].tolist() == ["", "tone"] * 6
    assert rows["arousal"].tolist() == pytest.approx([number / 10 for number in range(6) for _ in "ab"])
    assert rows["emotion"].tolist() == ["anger"] * 12
    assert (rows["error"] == "").all()
    assert rows["drawn"].str.contains("frequency").tolist() == [False, True] * 6
    assert report.notes() == []


def test_changes_reach_the_model(world):
    world.tasks = ("arousal",)
    world.source("def predict(signal, rate):\n    return {'arousal': float((signal ** 2).mean())}\n")
    rows = table(world.run(TONE))
    clean, changed = (rows.loc[rows["change"] == change, "arousal"].to_numpy() for change in ("", "tone"))
    assert ((changed / clean > 1.01) & (changed / clean < 1.2)).all()


def test_signals_that_a_change_leaves_as_they_were_are_marked(world):
    """Sample by sample: clipping of nothing, a gain of 0 dB, all that cannot change silence."""
    audiofile.write(world.root / "0.wav", np.zeros(1600, np.float32), 16000)
    options = {
        "gain": {"gain_db": -6},
        "none": {"gain_db": 0},
        "clip": {"ratio": 0},
        "crop_beginning": {"percent": 5},
    }
    changes = {name: Perturbation(name, {"none": "gain"}.get(name, name), it) for name, it in options.items()}
    world.model("")
    for _ in "ab":  # asked, and from the cache
        rows = table(world.run(changes))
        same = rows["drawn"].str.contains('"unchanged": true', regex=False)
        found = {change: same[rows["change"] == change].tolist() for change in ("", *options)}
        other = [False] * 6
        assert found == {
            "": other,
            "gain": [True, *other[1:]],
            "none": [True] * 6,
            "clip": [True] * 6,
            "crop_beginning": other,
        }


def test_number_of_jobs_does_not_matter(world):
    world.tasks = ("arousal",)
    world.source("def predict(signal, rate):\n    return {'arousal': float((signal ** 2).mean())}\n")
    first = world.run(TONE, jobs=1).tables["demo"].read_bytes()
    world.cache = world.root / "other cache"
    second = world.run(TONE, jobs=3, out=world.root / "other").tables["demo"].read_bytes()
    assert first == second


@pytest.mark.usefixtures("asked_twice")
def test_second_run_asks_nothing(world):
    world.model("open('calls', 'a').write('x')", before=f"import os; os.chdir({str(world.root)!r})")
    first = world.run(TONE)
    calls = (world.root / "calls").read_text()
    assert len(calls) == 12 + 6  # six clean inputs are asked twice
    second = world.run(TONE)
    assert (second.computed, second.reused) == (0, 12)
    assert (second.repeated, second.repeated_different) == (6, 0)
    assert (second.confirmation.asked, second.confirmation.different) == (5, 0)
    calls += "x" * 5  # some inputs are asked again, to confirm what is kept
    assert (world.root / "calls").read_text() == calls
    assert first.tables["demo"].read_bytes() == second.tables["demo"].read_bytes()
    world.run(TONE, [world.corpus(), world.corpus("again", [2, 3])])
    assert (world.root / "calls").read_text() == calls + "x" * 5  # the same sound in another corpus
    world.model("number = 5")
    assert world.run(TONE).computed == 12


def test_each_segment_is_read_at_its_times(world):
    corpus = world.corpus(numbers=[0, 0, 5])
    corpus.segments["start"], corpus.segments["end"] = [0.01, 0.02, np.nan], [0.05, np.nan, np.nan]
    corpus.segments["audio"] = ["a", "b", "c"]
    world.source("def predict(signal, rate):\n    return {'arousal': len(signal) / rate, 'emotion': ''}\n")
    rows = table(world.run(corpora=[corpus]))
    assert rows["arousal"].tolist() == pytest.approx([0.04, 0.08, 0.15])


def test_a_model_is_prepared_once_and_only_if_it_is_asked(world):
    before = """
        import os, pathlib
        PLACE = pathlib.Path(os.environ["SOUNDCHECK_CACHE"], "prepared")
        def prepare(jobs, progress):
            PLACE.parent.mkdir(parents=True, exist_ok=True)
            PLACE.open("a").write(f"{jobs} ")
    """
    world.model("number = len(PLACE.read_text())", before=before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOUNDCHECK_CACHE", str(world.cache))
        assert table(world.run(jobs=2))["arousal"].tolist() == [0.2] * 6
        world.run(jobs=2)
    assert (world.cache / "prepared").read_text() == "2 "


def test_a_model_that_cannot_be_prepared(world):
    world.model("", before="def prepare(): raise OSError('no room to train')")
    report = world.run()
    assert report.failed == 6
    assert set(failed(report).values()) == {"not asked: its prepare() failed: OSError: no room to train"}


# Models that answer wrongly ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_raises_is_listed_and_asked_again_next_time(world):
    world.model("if number == 2: raise ValueError('cannot read /secret/place/x')")
    report = world.run(TONE)
    assert (report.computed, report.failed) == (10, 2)
    assert report.failures == [
        ("demo", "2.wav", "", "ValueError: cannot read x"),
        ("demo", "2.wav", "Tone", "ValueError: cannot read x"),
    ]
    rows = table(report)
    bad = rows["error"] != ""
    assert rows.loc[bad, "key"].tolist() == ["2.wav||"] * 2
    assert rows.loc[bad, "arousal"].isna().all()
    assert rows.loc[bad, "emotion"].tolist() == [None, None]
    assert "Traceback" in world.log()
    again = world.run(TONE)
    assert (again.computed, again.reused, again.failed) == (0, 10, 2)
    assert report.tables["demo"].read_bytes() == again.tables["demo"].read_bytes()


def test_every_round_has_a_log(world):
    world.model("print('first')")
    world.run(corpora=[world.corpus("one")])
    world.model("print('second')")
    world.run(corpora=[world.corpus("two")], log="words")
    names = {path.name for path in (world.out / "logs").glob("*")}
    assert {"mine.1.log", "mine.words.1.log"} <= names
    assert "first" in world.log() and "second" in world.log()


def test_the_same_problem_is_told_once(world):
    world.model("raise ValueError('no weights')")
    report = world.run(TONE)
    assert report.failed == 12
    assert report.notes() == ["12 of 12 inputs have no prediction", "12 times: ValueError: no weights"]


@pytest.mark.parametrize("how", ["sys.exit(0)", "raise KeyboardInterrupt", "os.kill(os.getpid(), 2)"])
def test_a_model_that_ends_its_call_in_another_way(world, how):
    world.model(f"if number == 2: {how}", before="import os, sys")
    report = world.run()
    assert (report.computed, list(failed(report))) == (5, ["2.wav"])
    assert "SystemExit: 0" in failed(report)["2.wav"] or "KeyboardInterrupt" in failed(report)["2.wav"]


def test_unusable_answers(world):
    answers = {
        0: "None",
        1: "{'arousel': 0.5}",
        2: "{'arousal': np.array([0.5]), 'emotion': 'anger'}",
        3: "{'arousal': float('nan'), 'emotion': 'anger'}",
        4: "{'arousal': np.float32(1.5), 'emotion': np.str_('boredom')}",
    }
    for number, answer in answers.items():
        answers[number] = f"if number == {number}: return {answer}"
    world.model("\n".join(answers.values()), before="import numpy as np")
    report = world.run()
    reasons = failed(report)
    assert list(reasons) == ["0.wav", "1.wav", "2.wav", "3.wav"]
    assert (
        "returned None; expected is a dict such as {'arousal': 0.5, 'emotion': 'anger'}" in reasons["0.wav"]
    )
    assert "no key 'arousal', 'emotion'; its keys: 'arousel'" in reasons["1.wav"]
    assert reasons["2.wav"] == "arousal is an array of shape (1,), not a number"
    assert reasons["3.wav"] == "arousal is nan, not a number"
    assert (report.out_of_range, report.unknown_classes) == (1, {"boredom": 1})
    assert "boredom (1)" in " ".join(report.notes())
    assert table(report).loc[4, ["arousal", "emotion"]].tolist() == [1.5, "boredom"]


def test_a_model_that_changes_its_input_or_directory(world):
    world.model("import os; os.chdir('/')\nsignal[:] = 0; signal.resize(3, refcheck=False)")
    report = world.run(TONE)
    assert report.failed == 0
    assert table(report)["arousal"].tolist() == pytest.approx([n / 10 for n in range(6) for _ in "ab"])


def test_a_model_that_chatters(world, capfd):
    world.model("print('x' * 400_000); os.write(2, b'y' * 400_000)", before="import os")
    assert world.run().failed == 0
    assert capfd.readouterr() == ("", "")
    logs = list((world.out / "logs").glob("mine.*"))
    assert logs
    assert all(path.stat().st_size < executor.LOG_BYTES + 100 for path in logs)
    assert "left out" in world.log()


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_is_not_deterministic(world):
    world.model("number = random.random()", before="import random")
    report = world.run()
    assert (report.repeated, report.repeated_different) == (6, 6)
    assert "6 of 6 inputs predicted twice gave another prediction" in report.notes()
    assert world.run().repeated_different == 6


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_depends_on_the_order(world):
    world.model("calls.append(1); number = len(calls)", before="calls = []")
    assert world.run().repeated_different >= 2  # asked twice in different orders; few places coincide


# Models that hang or die ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["time.sleep(99)", "ctypes.PyDLL(None).pause()", "sum(itertools.count())"])
def test_a_model_that_hangs(world, how, left_behind):
    world.model(f"if number == 2: {how}", before="import ctypes, itertools, time")
    start = time.monotonic()
    report = world.run(time_limit=1.0, jobs=2)
    assert failed(report) == {"2.wav": "no answer within 1 s"}
    assert report.computed == 5
    assert time.monotonic() - start < 15
    assert not left_behind(world)


def test_a_model_that_always_hangs_does_not_last_for_ever(world, monkeypatch):
    monkeypatch.setattr(dispatch, "SPREAD_AFTER", 2)
    monkeypatch.setattr(dispatch, "GIVE_UP_AFTER", 3)
    world.model("time.sleep(99)", before="import time")
    report = world.run(time_limit=0.2)
    assert report.failed == 6
    reasons = list(failed(report).values())
    assert reasons.count("no answer within 0.2 s") == 3
    assert sum("not asked, because 3 calls in a row failed" in reason for reason in reasons) == 3


@pytest.mark.usefixtures("asked_twice")
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("os._exit(1)", "exit code 1"),
        ("os._exit(0)", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "signal 9, SIGKILL"),
        ("ctypes.string_at(0)", "signal 11, SIGSEGV"),
    ],
)
def test_a_model_that_dies(world, how, words):
    world.model(f"if number in (2, 3): {how}", before="import ctypes, os")
    report = world.run(jobs=2)
    reason = f"the model's process ended ({words})"
    assert failed(report) == {"2.wav": reason, "3.wav": reason}
    assert report.computed == 4


def test_a_worker_that_is_killed_from_outside_once(world):
    once = """
        mark = pathlib.Path(__file__).with_name("mark")
        if number == 2 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
    """
    world.model(once, before="import os, pathlib")
    report = world.run()
    assert (report.computed, report.failed) == (6, 0)


@pytest.mark.usefixtures("started_models")
def test_a_model_that_cannot_be_loaded_by_workers(world):
    mark = f"pathlib.Path({str(world.root / 'checked')!r})"  # what the check of the model leaves
    world.model("", before=f"import pathlib\nif {mark}.exists(): 1 / 0\n{mark}.touch()")
    report = world.run()
    assert report.failed == 6
    assert "ZeroDivisionError" in report.failures[0][3]


def test_a_model_that_cannot_be_imported_is_refused(world):
    world.source("1 / 0")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        world.run()
    assert not world.out.exists()


def test_a_slow_first_call_is_not_a_hang(world):
    world.model("ready = ready or time.sleep(1.0) or True", before="import time\nready = False")
    text = (world.root / "model.py").read_text().replace("    number =", "    global ready\n    number =", 1)
    world.source(text)
    assert world.run(time_limit=0.5).failed == 0


@pytest.mark.usefixtures("started_models")
def test_a_model_that_leaves_processes_behind(world, left_behind):
    world.model("subprocess.Popen(['sleep', '99'])", before="import subprocess")
    assert world.run().failed == 0
    assert not left_behind(world)


def test_audio_that_is_gone_is_not_the_models_fault(world):
    world.model("")
    corpus = world.corpus()
    (world.root / "3.wav").unlink()
    report = world.run(TONE, [corpus])
    assert (report.failed, report.unusable, report.computed) == (0, 2, 10)
    assert "the audio cannot be read" in failed(report)["3.wav"]
    assert str(world.root) not in failed(report)["3.wav"]


def test_a_change_that_cannot_be_applied_is_not_the_models_fault(world):
    world.model("")
    wrong = {"wrong": Perturbation("Wrong", "additive_tone", {"frequency": 10**9, "snr_db": 20})}
    report = world.run(wrong)
    assert (report.failed, report.unusable, report.computed) == (0, 6, 6)
    assert "the change Wrong cannot be applied" in report.failures[0][3]
    assert report.failures[0][2] == "Wrong"


# Batches ----------------------------------------------------------------------------------------------------

BATCH = """
    def predict(signals, sampling_rate):
        numbers = [len(signal) // 160 - 10 for signal in signals]
        open({calls!r}, "a").write(f"{{len(numbers)}} ")
        {trouble}
        return [{{"arousal": number / 10, "emotion": "anger"}} for number in numbers]
"""


@pytest.mark.usefixtures("asked_twice")
@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("pass", ""),
        ("if 2 in numbers: raise ValueError('two')", "ValueError: two"),
        ("if 2 in numbers: import os; os._exit(1)", "the model's process ended (exit code 1)"),
        ("if 2 in numbers: import time; time.sleep(99)", "no answer within 1 s"),
        ("numbers = numbers[:1] if 2 in numbers and len(numbers) > 1 else numbers", ""),
    ],
)
def test_batches(world, trouble, words):
    calls = world.root / "calls"
    world.source(BATCH.format(calls=str(calls), trouble=trouble))
    report = world.run(TONE, batch=4, time_limit=1.0)
    assert calls.read_text().split().count("4") >= 2
    assert set(failed(report).items()) == ({("2.wav", words)} if words else set())
    assert report.failed == (2 if words else 0)
    assert report.computed == 12 - report.failed


# The scale of answers ---------------------------------------------------------------------------------------


def told(world: World) -> list[float]:
    """Give the calls that a model counted."""
    return [float(line) for line in (world.root / "calls").read_text().split()]


def on_scale(world: World, low: float, high: float, segments: int = 6) -> None:
    """Write a model that answers evenly from one end of a scale to the other, and notes each answer."""
    world.tasks = ("arousal",)
    step = (high - low) / (segments - 1)
    world.source(
        f"""
        def predict(signal, sampling_rate):
            answer = {low} + {step} * (len(signal) // 160 - 10)
            with open({str(world.root / "calls")!r}, "a") as file:
                file.write(f"{{answer}} ")
            return {{"arousal": answer}}
        """
    )


def test_answers_are_scaled_and_kept_as_given(world):
    on_scale(world, 1, 7)
    report = world.run(ranges={"arousal": (1.0, 7.0)})
    assert table(report)["arousal"].tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert report.out_of_range == 0
    other = world.run(ranges={"arousal": (0.0, 10.0)})  # another scale: nobody is asked again
    assert table(other)["arousal"].tolist() == [0.1, 0.22, 0.34, 0.46, 0.58, 0.7]
    assert (other.computed, other.reused) == (0, 6)


def test_scaled_answers_live_in_the_range_of_the_task(world):
    on_scale(world, -1, 1)
    nominal = Task("arousal", "regression", (), 10.0, 20.0)
    report = world.run(ranges={"arousal": (-1.0, 1.0)}, known={"arousal": nominal})
    assert table(report)["arousal"].tolist() == [10.0, 12.0, 14.0, 16.0, 18.0, 20.0]


def test_another_scale_stops_before_the_rest_is_asked(tmp_path):
    world = World(tmp_path, segments=60)
    on_scale(world, 1, 7, segments=60)
    with pytest.raises(InputError) as caught:
        world.run(TONE)
    text = str(caught.value)
    assert re.match(
        r"suite.yml, models.mine: arousal: (all|19) of the first 20 answers are not in 0 to 1 \(", text
    )
    assert "`range: [1, 7]`" in text
    asked = len(told(world))
    assert 20 <= asked <= 24  # one worker is at most a few calls ahead
    assert not (world.out / "predictions").exists()
    with pytest.raises(InputError, match="range"):
        world.run(TONE)
    confirming = 5
    assert len(told(world)) <= asked + confirming  # the answers were kept: nobody else is asked again
    report = world.run(TONE, ranges={"arousal": (1.0, 7.0)})
    assert (report.inputs, report.failed, report.out_of_range) == (120, 0, 0)


def test_the_scale_of_labels_is_guessed_if_answers_fit(world):
    on_scale(world, 11, 19)
    corpora = {"c": SimpleNamespace(ranges={"arousal": (10.0, 20.0)})}
    with pytest.raises(InputError, match=r"range: \[10, 20\]"):
        world.run(suite_corpora=corpora)
    with pytest.raises(InputError, match=r"range: \[lowest, highest\]"):
        world.run()


def test_a_few_answers_outside_are_kept(world):
    on_scale(world, -0.5, 1.0)  # 2 of 6
    report = world.run()
    assert (report.computed, report.out_of_range) == (6, 2)
    assert report.notes() == ["2 predictions lie outside of the nominal range; they are used"]


def test_a_dozen_far_outside_are_another_scale(tmp_path):
    world = World(tmp_path, segments=60)
    on_scale(world, -0.5, 1.0, segments=60)  # a fifth lies far outside
    with pytest.raises(InputError, match=r"`range: \[-1, 1\]`, or `range: \[0, 1\]` if it leaves that scale"):
        world.run(TONE)
    report = world.run(TONE, ranges={"arousal": (1.0, -1.0)})
    assert (report.failed, report.out_of_range, report.caveats()) == (0, 0, [])
    assert table(report)["arousal"].max() == pytest.approx(0.75)  # of what was -0.5


def test_failures_say_nothing_of_the_scale(world):
    world.tasks = ("arousal",)
    world.source("def predict(signal, rate):\n    raise ValueError('no')\n")
    assert world.run().failed == 6


# Interruption -----------------------------------------------------------------------------------------------

SEGMENTS = 24
SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
import importlib.util
specification = importlib.util.spec_from_file_location("engine_test", {file!r})
module = importlib.util.module_from_spec(specification)
sys.modules["engine_test"] = module
specification.loader.exec_module(module)
module.World(Path({root!r}), segments=module.SEGMENTS).run(jobs=2, time_limit=600.0)
"""


@pytest.fixture
def start(preloaded):
    """Begin a run in a process of its own, which starts those of models: ``start(world)``."""

    @contextlib.contextmanager
    def started(world: World) -> Iterator[subprocess.Popen]:
        code = SCRIPT.format(here=str(world.root), file=__file__, root=str(world.root))
        popen = preloaded().modules()[0].Popen if notebook_server.FORKS else subprocess.Popen
        nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        process = popen(
            [sys.executable, "-c", code], **nothing, env=os.environ | {"SOUNDCHECK_TEST": str(world.root)}
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    return started


@pytest.fixture
def left_behind():
    """List processes of models, and what they have started: their environment knows the cache of the test."""

    def found(world: World) -> list[int]:
        known = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if process.parent().pid == server() or str(world.root) in " ".join(process.cmdline()):
                    known.append(process.pid)
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if str(world.root).encode() in (place / "environ").read_bytes():
                    known.append(int(place.name))
        return known

    def left(world: World) -> list[int]:
        end = time.monotonic() + 5
        while (known := found(world)) and time.monotonic() < end:
            time.sleep(0.05)
        return known

    return left


def server() -> int | None:
    """Give the number of the process that those of models are forked from."""
    return forkserver._forkserver._forkserver_pid


HALF = 12  # answers after which a model stands still that is held


def slow(world: World, then: str = "number /= 10", before: str = "", held: bool = False) -> Path:
    """Write a model that notes when it was asked; held, it waits half-way until the file `hold` is gone."""
    calls, hold = world.root / "calls", world.root / "hold"
    calls.touch()
    waits = f"while os.path.getsize({str(calls)!r}) >= {16 * HALF} and os.path.exists({str(hold)!r}):"
    notes = f"print(f'{{time.time():.4f}}', file=open({str(calls)!r}, 'a'))"  # 16 letters
    world.model(
        f"{waits}\n    time.sleep(0.02)\ntime.sleep(0.05)\n{notes}\n{then}", f"import os, time\n{before}"
    )
    if held:
        hold.touch()
    return calls


def wait_for(path: Path, asked: int) -> None:
    end = time.monotonic() + 120
    while path.stat().st_size < 16 * asked:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_nothing_finished_is_computed_twice_after_a_kill(tmp_path, start, left_behind):
    world = World(tmp_path, segments=SEGMENTS)
    calls = slow(world, held=True)
    late = store.WRITE_SECONDS + 0.7  # half a second may be lost, and this machine may be busy
    with start(world) as process:
        wait_for(calls, HALF)
        time.sleep(late + 0.1)  # times are rounded
        killed = time.time()
        process.kill()
    assert not left_behind(world)
    (world.root / "hold").unlink()
    ended = [float(line) for line in calls.read_text().splitlines()]
    report = world.run(jobs=2)
    assert HALF <= sum(end < killed - late for end in ended) <= report.reused <= HALF + 1
    assert (report.computed + report.reused, report.failed) == (SEGMENTS, 0)
    asked = len(calls.read_text().splitlines()) - len(ended)
    assert asked == report.computed + report.repeated + report.confirmation.asked
    (tmp_path / "other").mkdir()
    undisturbed = World(tmp_path / "other", segments=SEGMENTS)
    slow(undisturbed)
    assert undisturbed.run(jobs=2).tables["demo"].read_bytes() == report.tables["demo"].read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process(tmp_path, number, start, left_behind):
    world = World(tmp_path, segments=SEGMENTS)
    calls = slow(world, held=True)
    with start(world) as process:
        wait_for(calls, 5)
        os.kill(process.pid, number)
        assert process.wait(120) != 0
    assert not left_behind(world)


def test_a_cache_that_cannot_be_written(world, left_behind):
    world.model("")
    world.cache.parent.mkdir()
    world.cache.write_text("a file in the place of the folder")
    with pytest.raises(OutputError, match="Cannot write"):
        world.run()
    assert not left_behind(world)


def test_a_disk_that_is_full_while_the_store_grows(world, left_behind):
    world.model("")
    world.run()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = world.cache / "predictions.sqlite"
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 4, before[1]))
        with pytest.raises(OutputError, match="Cannot write predictions.sqlite in the cache: "):
            world.run(TONE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not left_behind(world)
    report = world.run(TONE)
    assert (report.reused, report.computed, report.damage) == (6, 6, ())


@pytest.mark.usefixtures("asked_twice")
def test_a_damaged_store_is_computed_again_and_told(world, caplog):
    world.model("")
    first = table(world.run(TONE))
    path = world.cache / "predictions.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute("UPDATE answers SET answer = replace(answer, '0.1', '0.7')")
    report = world.run(TONE)
    assert (report.damaged, report.reused, report.computed) == (3, 10, 2)  # 0.1: clean, repeated, changed
    assert "3 cached predictions were damaged and are computed again" in report.notes()
    assert "mine: 3 cached predictions were damaged" in caplog.text
    assert table(report).equals(first)
    path.write_bytes(b"no database")
    report = world.run(TONE)
    assert (report.reused, report.computed) == (0, 12)
    (note,) = report.notes()
    assert (
        "cached predictions of all models are lost" in note
        and "set aside as predictions.damaged.sqlite" in note
    )
    assert f"mine: {note}" in caplog.text
    assert table(report).equals(first)
    assert world.run(TONE).notes() == []


def test_two_runs_at_once_share_a_cache(tmp_path, start):
    world = World(tmp_path, segments=SEGMENTS)
    slow(world)
    with start(world) as process:
        report = world.run(jobs=1, out=tmp_path / "second")
        assert process.wait(120) == 0
    assert (report.failures, report.computed + report.reused) == ([], SEGMENTS)
    first, second = world.out / "predictions" / "mine" / "demo.parquet", report.tables["demo"]
    pd.testing.assert_frame_equal(read_predictions(first), read_predictions(second))  # says what differs
    assert first.read_bytes() == second.read_bytes()
    assert world.run().reused == SEGMENTS


# Files that a model opens -----------------------------------------------------------------------------------

WEIGHT = "number = float(open(os.path.join(HERE, 'weights.txt')).read())"
HERE = "import os, pathlib\nHERE = os.path.dirname(__file__)\n"


def write_weights(world: World, text: str, name: str = "weights.txt") -> Path:
    path = world.root / name
    path.write_text(text)
    return path


@pytest.mark.usefixtures("asked_twice")
def test_answers_of_other_weights_are_not_used(world, caplog):
    write_weights(world, "1")
    world.model(WEIGHT, before=HERE)
    first = world.run(TONE)
    assert first.seen_files.keys() == {"model.py", "weights.txt"}
    write_weights(world, "2")
    second = world.run(TONE)
    assert (second.computed, second.reused, second.outdated) == (12, 0, 12)
    assert set(table(second)["arousal"]) == {0.2}
    assert "mine: 12 inputs were predicted again" in caplog.text and "weights.txt" in caplog.text
    third = world.run(TONE)
    assert (third.computed, third.reused, third.outdated, third.notes()) == (0, 12, 0, [])
    assert set(table(third)["arousal"]) == {0.2}


@pytest.mark.usefixtures("asked_twice")
def test_a_file_that_was_only_touched_is_the_same(world):
    path = write_weights(world, "1")
    world.model(WEIGHT, before=HERE)
    world.run()
    os.utime(path, (1, 1))
    path.rename(world.root / "copy")
    (world.root / "copy").rename(path)
    assert world.run().reused == 6


@pytest.mark.usefixtures("asked_twice")
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: (path.unlink(), path.mkdir())])
def test_a_file_that_vanished_is_another_one(world, damage):
    path = write_weights(world, "1")
    world.model("number = float(open(os.path.join(HERE, 'weights.txt')).read())", before=HERE)
    world.run()
    damage(path)
    report = world.run()
    assert (report.reused, report.failed) == (0, 6)


@pytest.mark.usefixtures("asked_twice")
def test_a_file_that_changes_while_the_model_answers(world, caplog):
    write_weights(world, "1")
    write_weights(world, "2", "other.txt")
    # Another process writes: what the model's own writes is no source.
    change = "if number == 3: subprocess.run(['cp', 'other.txt', 'weights.txt'])"
    world.model(f"open('weights.txt').read()\n{change}", before=HERE + "import subprocess; os.chdir(HERE)")
    report = world.run()
    assert (report.computed, report.failed) == (6, 0)
    assert (report.dropped, report.dropped_by) == (12, ("weights.txt",))  # each was asked twice
    assert any("not cached for later runs" in note and "weights.txt" in note for note in report.notes())
    assert "not cached for later runs" in caplog.text
    assert world.run().reused == 0


def test_what_a_model_writes_itself_is_no_source(world):
    body = "open('log', 'a').write('x'); open('log').read(); os.replace('log', 'a'); os.replace('a', 'log')"
    world.model(body, before=HERE + "os.chdir(HERE)")
    assert world.run().seen_files.keys() == {"model.py"}
    assert world.run().reused == 6


def test_odd_things_that_a_model_opens(world):
    """A folder, a pipe, a device, a file that is gone afterwards, a missing one, a descriptor."""
    os.mkfifo(world.root / "feed")
    before = """
        import subprocess
        subprocess.run(["touch", "short-lived"])
        def read(name):
            try:
                descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
            except OSError:
                return
            try:
                with open(descriptor) as file:
                    file.read(1)
            except OSError:
                pass
        for name in (HERE, "feed", "/dev/zero", "short-lived", "missing", b"model.py", pathlib.Path("feed")):
            read(name)
        os.unlink("short-lived")
    """
    world.model("", before=HERE + "os.chdir(HERE)\n" + textwrap.dedent(before))
    for reused in (0, 6):
        report = world.run()
        assert (report.reused, [*report.seen_files]) == (reused, ["model.py"])
        assert report.sources.special == ("feed",)
        assert report.sources.gone == {"short-lived": ""}
        assert [note.rpartition(": ")[2] for note in report.notes()] == ["feed", "short-lived"]


def test_ten_thousand_files(world):
    (world.root / "many").mkdir()
    for number in range(10_000):
        write_weights(world, str(number), f"many/{number}")
    world.model(
        "", before=HERE + "for name in sorted(os.listdir(f'{HERE}/many')): open(f'{HERE}/many/{name}')"
    )
    report = world.run()
    assert len(report.sources.files) == 10_001 and report.notes() == []
    start = time.monotonic()
    contents = FileDigests()
    assert changed_files(report.sources, world.root, contents) == []
    assert changed_files(report.sources, world.root, contents) == []
    assert time.monotonic() - start < 10
    assert (world.cache / "predictions.sqlite").stat().st_size < 2_000_000


def test_a_module_that_is_imported_late_counts(world):
    write_weights(world, "value = 1", "tardy.py")
    world.model("import tardy\nnumber = tardy.value", before="import sys")
    world.run()
    write_weights(world, "value = 2", "tardy.py")
    assert set(table(world.run())["arousal"]) == {0.2}


def test_weights_change_after_a_run_was_killed(tmp_path, start):
    world = World(tmp_path, segments=SEGMENTS)
    write_weights(world, "1")
    calls = slow(world, WEIGHT, HERE, held=True)
    with start(world) as process:
        wait_for(calls, HALF)
        time.sleep(store.WRITE_SECONDS + 0.7)
        process.kill()
    (world.root / "hold").unlink()
    write_weights(world, "2")
    report = world.run(jobs=2)
    assert report.reused == 0 and report.outdated > 0
    assert set(table(report)["arousal"]) == {0.2}
    assert world.run().reused == SEGMENTS


# Kept answers that are asked again --------------------------------------------------------------------------

# Reads what no audit hook sees.
UNSEEN = """
import ctypes, os
HERE = os.path.dirname(__file__)
def unseen(name):
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(c.fopen(os.path.join(HERE, name).encode(), b"r"))
    text = ctypes.create_string_buffer(20)
    c.fread(text, 1, 19, file)
    c.fclose(file)
    return float(text.value)
"""


@pytest.mark.usefixtures("asked_twice")
def test_another_answer_empties_the_cache(world, caplog):
    write_weights(world, "1")
    world.model("number = unseen('weights.txt')", before=UNSEEN)
    world.run(TONE)
    write_weights(world, "2")
    report = world.run(TONE)
    assert (report.computed, report.reused) == (12, 0)
    assert set(table(report)["arousal"]) == {0.2}
    assert (report.confirmation.asked, report.confirmation.different) == (5, 5)
    assert "mine: 5 of 5 cached predictions were different when they were computed again" in caplog.text
    assert "under files:" in " ".join(report.notes())
    again = world.run(TONE)
    assert (again.reused, again.confirmation.different) == (12, 0)


@pytest.mark.usefixtures("asked_twice")
def test_numbers_may_differ_by_rounding(world):
    write_weights(world, "0.5")
    world.model("number = unseen('weights.txt')", before=UNSEEN)
    world.run()
    write_weights(world, "0.500001")  # a tenth of it is 1e-7 more
    assert world.run().confirmation.different == 0
    write_weights(world, "0.50002")
    assert world.run().confirmation.different == 5


@pytest.mark.usefixtures("asked_twice")
def test_files_of_the_suite_tell_what_nobody_sees(world):
    for name in ("a.bin", "b.bin"):
        write_weights(world, "1", name)
    world.model("number = unseen('a.bin')", before=UNSEEN)
    first = world.run(files=("*.bin",))
    assert first.seen_files.keys() == {"a.bin", "b.bin", "model.py"}
    write_weights(world, "2", "b.bin")
    second = world.run(files=("*.bin",))
    assert (second.computed, second.confirmation.asked) == (6, 0)
    assert second.fingerprint != first.fingerprint
    write_weights(world, "1", "c.bin")  # one more that the pattern means
    assert world.run(files=("*.bin",)).computed == 6


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_does_not_repeat_is_not_emptied(world):
    world.model("number = random.random()", before="import random")
    world.run(TONE)
    for _ in range(2):
        report = world.run(TONE)
        assert (report.reused, report.confirmation.different) == (12, 0)
        assert any("does not predict the same twice" in note for note in report.notes())


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_does_not_repeat_is_emptied_if_it_is_another_one(world):
    write_weights(world, "1")
    world.model("number = unseen('weights.txt') + random.random() / 100", before="import random" + UNSEEN)
    world.run()
    assert world.run().confirmation.different == 0
    write_weights(world, "5")
    report = world.run()
    assert (report.computed, report.confirmation.different) == (6, 5)
    assert table(report)["arousal"].min() >= 0.5
    assert world.run().reused == 6


@pytest.mark.usefixtures("asked_twice")
def test_a_model_that_rarely_repeats_is_emptied_at_most_once(world):
    """Only changed signals get another answer each time, which the check of clean ones cannot know."""
    body = "return {'arousal': random.random() if signal.std() > 0.1005 else 0.5, 'emotion': 'anger'}"
    world.model(body, before="import random")
    world.run(TONE)
    reports = [world.run(TONE) for _ in range(2)]
    assert [report.reused for report in reports] == [12, 12]


@pytest.mark.usefixtures("asked_twice")
def test_kept_answers_that_cannot_be_confirmed_stay(world, caplog):
    (world.root / "up").touch()
    body = "if not os.path.exists(os.path.join(HERE, 'up')): raise OSError('no server')"
    world.model(body, before=HERE)
    first = table(world.run())
    (world.root / "up").unlink()
    report = world.run()
    assert (report.reused, report.confirmation.unanswered) == (6, 5)
    assert "5 of 5 cached predictions could not be confirmed: OSError: no server" in report.notes()
    assert "could not be confirmed" in caplog.text
    assert table(report).equals(first)


@pytest.mark.usefixtures("asked_twice")
def test_fresh_asks_everything_anew(world):
    world.model("")
    world.run(TONE)
    report = world.run(TONE, fresh=True)
    assert (report.computed, report.reused, report.confirmation.asked) == (12, 0, 0)
    assert world.run(TONE).reused == 12


@pytest.mark.usefixtures("asked_twice")
def test_a_second_round_confirms_nothing(world):
    world.model("open('calls', 'a').write('x')", before=f"import os; os.chdir({str(world.root)!r})")
    world.run()
    calls = (world.root / "calls").read_text()
    assert world.run(confirm=False).reused == 6
    assert (world.root / "calls").read_text() == calls


@pytest.mark.usefixtures("asked_twice")
def test_days_of_kept_answers_are_told(world):
    world.model("")
    world.run()
    report = world.run(TONE)
    assert report.asked == 6
    assert report.days == {datetime.date.today().isoformat(): 6}


# Embeddings -------------------------------------------------------------------------------------------------


def test_embeddings_are_kept(world):
    world.model("return {'embedding': np.array([number, 1.0, -0.5])}", before="import numpy as np")
    rows = table(world.run(tasks=("embedding",)))
    assert np.stack(rows["embedding"]).tolist() == [[float(n), 1.0, -0.5] for n in range(6)]
    assert rows["embedding"][0].dtype == np.float32


@pytest.mark.usefixtures("asked_twice")
def test_embeddings_of_another_length_are_failures(world):
    world.model("return {'embedding': [1.0] * (2 if number == 4 else 3)}")
    for _ in range(2):  # computed, and from the cache
        report = world.run(tasks=("embedding",))
        rows = table(report)
        assert rows["embedding"].isna().tolist() == [False] * 4 + [True, False]
        assert rows["error"][4] == "embedding has 2 numbers; most have 3, and others cannot be compared"
        assert (report.failed, report.repeated_different) == (1, 0)
        assert report.failures == [("demo", "4.wav", "", rows["error"][4])]


def test_zeros_and_nan_are_no_embeddings(world):
    world.model(
        "return {'embedding': [0.0, 0.0] if number == 1 else [number, float('nan') if number == 2 else 1]}"
    )
    report = world.run(tasks=("embedding",))
    assert table(report)["error"].tolist()[1:3] == [
        "embedding is a vector of zeros, which has no direction",
        "embedding is a vector with 1 nan among 2 numbers",
    ]
    assert report.failed == 2


@pytest.mark.usefixtures("asked_twice")
def test_embeddings_that_are_not_deterministic(world):
    world.model("return {'embedding': np.random.default_rng().normal(size=3)}", before="import numpy as np")
    report = world.run(tasks=("embedding",))
    assert (report.repeated, report.repeated_different) == (6, 6)


# Models that do not listen ----------------------------------------------------------------------------------


def test_random_model(world):
    report = world.run(TONE, kind="random", target="gaussian", tasks=("arousal",))
    rows = table(report)
    keys = [f"demo|{key}" for key in rows["key"]][::2]
    for change in ("", "tone"):
        expected = reference_predictions(BUILTIN["arousal"], 0, keys, change)
        assert rows.loc[rows["change"] == change, "arousal"].tolist() == expected.tolist()
    assert (report.inputs, report.computed, report.failed) == (12, 12, 0)


def test_table_of_predictions(world):
    path = world.root / "theirs.csv"
    path.write_text("file,arousal\n0.wav,0.5\n1.wav,1.5\nx.wav,0\n")
    report = world.run(TONE, kind="predictions", target="theirs.csv", path=path, tasks=("arousal",))
    rows = table(report)
    assert (rows["change"] == "").all()
    assert rows["arousal"].tolist()[:2] == [0.5, 1.5]
    assert (report.inputs, report.computed, report.failed, report.unusable) == (6, 2, 0, 4)
    assert report.failures[0] == ("demo", "2.wav", "", "not asked: no row in theirs.csv")
    assert report.out_of_range == 1
    assert "1 row belongs to no segment of the corpora" in report.notes()


def test_environment_of_a_model(world, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    world.model("number = int(os.environ['OMP_NUM_THREADS'])", before="import os")
    assert table(world.run())["arousal"].tolist() == [0.1] * 6
    assert os.environ["OMP_NUM_THREADS"] == "7"
