"""What models do to a run: small models, asked about a few short recordings by real workers."""

import contextlib
import dataclasses
import datetime
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import audiofile
import numpy as np
import pandas as pd
import psutil
import pytest
from programs import soon

from soundcheck.common.files import OutputError, digest
from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.predict import prediction, store, workers
from soundcheck.predict.engine import predict_models
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest
from soundcheck.predict.tables import read_predictions
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Perturbation

pytestmark = pytest.mark.slow

TONE = {
    "tone": Perturbation("Tone", "additive_tone", {"frequency": {"from": 5000, "to": 7000}, "snr_db": 20})
}
NUMBER = "number = len(signal) // 160 - 10\n"  # of the segment: its length tells it
ANSWER = "return {'arousal': number / 10, 'emotion': 'anger'}"
POWER = "return {'arousal': float((signal ** 2).mean()), 'emotion': 'anger'}"


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
            signal = rng.normal(0, 0.1, 160 * (10 + number)).astype(np.float32)
            if not (path := self.root / f"{number}.wav").exists():  # else another run may be reading it
                audiofile.write(path, signal, 16000)

    def corpus(self, name: str = "demo", numbers: Iterable[int] = ()) -> SimpleNamespace:
        files = [f"{number}.wav" for number in numbers or range(self.segments)]
        segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0})
        segments["key"] = segments["file"] + "||"
        segments["audio"] = [digest(self.root / file) for file in files]
        return SimpleNamespace(name=name, root=self.root, segments=segments)

    def model(self, body: str, before: str = "") -> None:
        """Write a model that answers as ANSWER says after `body`; its folder is the current one."""
        body = textwrap.indent(NUMBER + textwrap.dedent(body) + "\n" + ANSWER, "    ")
        before = f"import os, pathlib, random, sys, time\nos.chdir({str(self.root)!r})\n{before}"
        self.source(f"{before}\ndef predict(signal, sampling_rate):\n{body}\n")

    def source(self, text: str) -> None:
        self.write("model.py", textwrap.dedent(text))

    def write(self, name: str, text: str) -> Path:
        (self.root / name).write_text(text)
        return self.root / name

    def request(
        self, changes=None, corpora=None, out=None, known=None, suite_corpora=None, entry=None, **more
    ) -> PredictionRequest:
        given = {"name": "mine", "kind": "python", "target": "model:predict", "time_limit": 20.0}
        model = ModelEntry(**given | {"tasks": self.tasks} | (entry or {}))
        named = {"corpora": suite_corpora or {}, "models": {"mine": model}, "tasks": BUILTIN | (known or {})}
        suite = Suite(**named, root=self.root, file=self.root / "suite.yml")
        asked = (model, suite, corpora or [self.corpus()], changes or {}, out or self.out, self.cache)
        return PredictionRequest(*asked, **more)

    def run(self, changes=None, corpora=None, jobs=1, cluster=None, **more) -> PredictionReport:
        with mock.patch.object(prediction, "REPEATED", self.repeated):
            (report,) = predict_models([self.request(changes, corpora, **more)], jobs=jobs, cluster=cluster)
        return report

    def log(self) -> str:
        return "".join(path.read_text("utf-8", "replace") for path in (self.out / "logs").glob("*"))

    def calls(self) -> int:
        return len((self.root / "calls").read_text())


COUNTED = "open('calls', 'a').write('x')"  # notes a call


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def asked_twice(world: World) -> None:
    """Let all that the test does ask some inputs twice, as every run of a user does."""
    world.repeated = prediction.REPEATED


def table(report: PredictionReport, corpus: str = "demo") -> pd.DataFrame:
    return read_predictions(report.tables[corpus])


def arousal(report: PredictionReport) -> set[float]:
    return set(table(report)["arousal"])


def failed(report: PredictionReport) -> dict[str, str]:
    return {item: reason for _, item, _, reason in report.failures}


# What comes out ---------------------------------------------------------------------------------------------


def test_a_second_run_asks_nothing_but_a_few_to_confirm(world, asked_twice):
    world.model(COUNTED)
    first = world.run(TONE)
    assert (first.inputs, first.computed, first.reused, first.failed, first.asked) == (12, 12, 0, 0, 12)
    assert first.notes() == []
    rows = table(first)
    assert rows.columns.tolist() == ["key", "change", "arousal", "emotion", "error", "drawn"]
    assert rows["key"].tolist() == [f"{number}.wav||" for number in range(6) for _ in "ab"]
    assert rows["arousal"].tolist() == pytest.approx([number / 10 for number in range(6) for _ in "ab"])
    assert rows["drawn"].str.contains("frequency").tolist() == [False, True] * 6
    calls = 12 + 6  # six clean inputs are asked twice
    assert world.calls() == calls
    second = world.run(TONE)
    assert (second.computed, second.reused, second.repeated, second.repeated_different) == (0, 12, 6, 0)
    assert (second.confirmation.asked, second.confirmation.different) == (5, 0)
    assert second.days == {datetime.date.today().isoformat(): 12}
    assert first.tables["demo"].read_bytes() == second.tables["demo"].read_bytes()
    world.run(TONE, [world.corpus(), world.corpus("again", [2, 3])])  # the same sound in another corpus
    assert world.run(TONE, confirm=False).reused == 12  # as a second round of one run does
    assert world.calls() == calls + 2 * 5
    fresh = world.run(TONE, fresh=True)
    assert (fresh.computed, fresh.reused, fresh.confirmation.asked) == (12, 0, 0)
    world.model("number = 5")
    assert world.run(TONE).computed == 12


def test_models_are_confirmed_before_their_turn_and_twins_share_their_answers(world, asked_twice):
    """Of three names of one model, and another one: nothing is asked twice, and an interruption ends all."""
    world.model(f"if os.path.exists('hold'): time.sleep(99)\n{COUNTED}")
    world.write("other.py", (world.root / "model.py").read_text().replace("/ 10", "/ 20"))
    targets = {"a": "model:predict", "b": "other:predict", "c": "model:predict"}

    def requests():
        for name, target in targets.items():
            yield world.request(entry={"name": name, "target": target})

    first, second = (list(predict_models(requests())) for _ in "ab")
    counts = [(report.model, report.computed, report.reused) for report in first]
    assert counts == [("a", 6, 0), ("b", 6, 0), ("c", 0, 6)]
    assert [(report.reused, report.confirmation.asked) for report in second] == [(6, 5)] * 3
    (world.root / "hold").touch()
    begin, reports = time.monotonic(), predict_models(requests())
    with pytest.raises(KeyboardInterrupt), mock.patch.object(Future, "result", side_effect=KeyboardInterrupt):
        next(reports)
    assert time.monotonic() - begin < 15


def test_changes_reach_the_model_and_the_number_of_jobs_does_not_matter(world):
    world.model(POWER)
    first = world.run(TONE, jobs=1)
    answers = table(first).pivot(index="key", columns="change", values="arousal")
    assert (answers["tone"] / answers[""]).between(1.01, 1.2).all()
    content = first.tables["demo"].read_bytes()
    assert world.run(TONE, jobs=3, fresh=True).tables["demo"].read_bytes() == content


def test_signals_that_a_change_leaves_as_they_were_are_marked(world):
    """Sample by sample: clipping of nothing, all that cannot change silence."""
    audiofile.write(world.root / "0.wav", np.zeros(1600, np.float32), 16000)
    options = {"gain": {"gain_db": -6}, "clip": {"ratio": 0}, "crop_beginning": {"percent": 5}}
    changes = {name: Perturbation(name, name, option) for name, option in options.items()}
    world.model("")
    for _ in ("asked", "from the cache"):
        rows = table(world.run(changes))
        rows = rows[rows["drawn"].str.contains('"unchanged": true', regex=False)]
        assert rows["change"].value_counts().to_dict() == {"clip": 6, "gain": 1}
        assert rows.loc[rows["change"] == "gain", "key"].item() == "0.wav||"


def test_each_segment_is_read_at_its_times(world):
    corpus = world.corpus(numbers=[0, 0, 5])
    corpus.segments["start"], corpus.segments["end"] = [0.01, 0.02, np.nan], [0.05, np.nan, np.nan]
    corpus.segments["audio"] = ["a", "b", "c"]
    world.model("number = 10 * len(signal) / sampling_rate")
    assert table(world.run(corpora=[corpus]))["arousal"].tolist() == pytest.approx([0.04, 0.08, 0.15])


def test_a_model_is_prepared_once_and_only_if_it_is_asked(world):
    prepare = "def prepare(jobs): pathlib.Path('prepared').open('a').write(f'{jobs} ')"
    world.model("number = len(pathlib.Path('prepared').read_text())", prepare)
    assert arousal(world.run(jobs=2)) == {0.2}
    world.run(jobs=2)
    assert (world.root / "prepared").read_text() == "2 "
    world.model("", "def prepare(): raise OSError('no room to train')")
    report = world.run()
    assert set(failed(report).values()) == {"not asked: its prepare() failed: OSError: no room to train"}


def test_every_round_has_a_log_and_the_environment_one_thread(world, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    world.model("print('threads', os.environ['OMP_NUM_THREADS'])")
    world.run()
    world.run(part="words", fresh=True)
    names = ("mine.1.log", "mine.words.1.log")
    assert all("threads 1\n" in (world.out / "logs" / name).read_text() for name in names)
    assert os.environ["OMP_NUM_THREADS"] == "7"


# Models that answer wrongly, hang or die --------------------------------------------------------------------

DEATH, LATE = "the model's process ended ({})", "no answer within 1 s"
WRONG = {  # what a model does -> why there is no answer, or none
    "return None": "the model returned None; expected is a dict such as {'arousal': 0.5, 'emotion': 'anger'}",
    "return {'arousel': 0.5}": "has no key 'arousal', 'emotion'; its keys: 'arousel'",
    "return {'arousal': np.ones(1), 'emotion': 'joy'}": "arousal is an array of shape (1,), not a number",
    "return {'arousal': float('nan'), 'emotion': 'joy'}": "arousal is nan, not a number",
    "return {'arousal': np.float32(1.5), 'emotion': np.str_('boredom')}": "",
    "raise ValueError('cannot read /secret/place/x')": "ValueError: cannot read x",
    "sys.exit(0)": "SystemExit: 0",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "os.kill(os.getpid(), 2)": "KeyboardInterrupt",
    "signal[:] = 0; signal.resize(3, refcheck=False); os.chdir('/')": "",
    "print('x' * 2_000_000); os.write(2, b'y' * 2_000_000)": "",
    "subprocess.Popen(['sleep', '99'])": "",
    "time.sleep(99)": LATE,
    "ctypes.PyDLL(None).pause()": LATE,
    "sum(itertools.count())": LATE,
    "os._exit(1)": DEATH.format("exit code 1"),
    "os._exit(0)": DEATH.format("exit code 0"),
    "os.kill(os.getpid(), 9)": DEATH.format("signal 9, SIGKILL"),
    "ctypes.string_at(0)": DEATH.format("signal 11, SIGSEGV"),
    "if not os.path.exists(MARK): open(MARK, 'w').close(); os.kill(os.getpid(), 9)": "",  # once
}


def test_whatever_a_model_does_costs_its_call_only(tmp_path, capfd):
    """Every other input is answered as ever: a process that was replaced begins with one."""
    world = World(tmp_path, segments=2 * len(WRONG))
    body = "\n".join(f"if number == {2 * place}:\n    {code}" for place, code in enumerate(WRONG))
    mark = f"MARK = {str(tmp_path / 'mark')!r}"
    imports = "import ctypes, itertools, subprocess\nimport numpy as np"
    world.model(f"{body}\nnumber %= 10", f"{imports}\n{mark}")
    start = time.monotonic()
    report = world.run(entry={"time_limit": 1.0}, jobs=2)
    assert time.monotonic() - start < 60 and not left_behind(world)
    wrong = {f"{2 * place}.wav": reason for place, reason in enumerate(WRONG.values()) if reason}
    reasons = failed(report)
    assert reasons.keys() == wrong.keys()
    for item, reason in wrong.items():
        assert reason in reasons[item], item
    assert (report.computed, report.failed, report.unusable) == (2 * len(WRONG) - len(wrong), len(wrong), 0)
    assert (report.out_of_range, report.unknown_classes) == (1, {"boredom": 1})
    assert "boredom (1)" in " ".join(report.notes())
    rows = table(report)
    bad = rows["error"] != ""
    assert rows.loc[bad, "arousal"].isna().all() and set(rows.loc[bad, "emotion"]) == {None}
    assert rows.loc[[1, 8, 18, 22], "arousal"].tolist() == pytest.approx([0.1, 1.5, 0.8, 0.2])
    assert capfd.readouterr() == ("", "")  # it is in the logs, up to a limit
    logs = list((world.out / "logs").glob("mine.*"))
    assert logs and all(path.stat().st_size < workers.LOG_BYTES + 100 for path in logs)
    assert "left out" in world.log()


def test_what_failed_is_asked_again_and_the_same_reason_told_once(world):
    world.model("raise ValueError('no weights')")
    report = world.run(TONE)
    assert report.notes() == ["12 of 12 inputs have no prediction", "12 times: ValueError: no weights"]
    assert report.failures[:2] == [("demo", "0.wav", name, "ValueError: no weights") for name in ("", "Tone")]
    assert "Traceback" in world.log()
    world.model("if number == 2 and not os.path.exists('up'): raise ValueError('no server')")
    for counts in ((10, 0, 2), (0, 10, 2), (2, 10, 0)):
        report = world.run(TONE)
        assert (report.computed, report.reused, report.failed) == counts
        if report.reused:
            world.write("up", "")


def test_a_model_that_cannot_be_loaded(world):
    world.model("", "if os.path.exists('checked'): 1 / 0\nopen('checked', 'w').close()")  # by its check
    report = world.run()
    assert report.failed == 6 and "ZeroDivisionError" in report.failures[0][3]
    world.source("1 / 0")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        world.run()


def test_a_model_that_no_corpus_is_for(world):
    world.model("")
    (report,) = predict_models([dataclasses.replace(world.request(), corpora=[])])
    assert (report.inputs, report.tables, report.out_of_range, report.far_outside) == (0, {}, 0, {})


def test_a_slow_first_call_is_not_a_hang(world):
    world.model("if not seen: time.sleep(1.2)\nseen.append(number)", "seen = []")
    assert world.run(entry={"time_limit": 1.0}).failed == 0


def test_what_cannot_be_read_or_changed_is_not_the_models_fault(world):
    world.model("")
    corpus = world.corpus()
    (world.root / "3.wav").unlink()
    wrong = {"wrong": Perturbation("Wrong", "additive_tone", {"frequency": 10**9, "snr_db": 20})}
    report = world.run(wrong, [corpus])
    assert (report.failed, report.unusable, report.computed) == (0, 7, 5)
    reasons = {(item, change): reason for _, item, change, reason in report.failures}
    assert "the audio cannot be read" in reasons["3.wav", ""] and str(world.root) not in reasons["3.wav", ""]
    assert "the change Wrong cannot be applied" in reasons["0.wav", "Wrong"]


@pytest.mark.parametrize(
    ("task", "answer"), [("arousal", "random.random()"), ("embedding", "[random.random(), 1.0]")]
)
def test_a_model_that_does_not_repeat_is_told_and_its_answers_are_kept(world, asked_twice, task, answer):
    world.tasks = (task,)
    world.model(f"return {{{task!r}: {answer}}}")
    report = world.run()
    assert report.repeated == 6 and report.repeated_different >= 2
    text = f"{report.repeated_different} of 6 inputs predicted twice gave another prediction"
    assert text in report.notes()
    report = world.run()
    assert (report.reused, report.confirmation.different) == (6, 0)
    assert any("does not predict the same twice" in note for note in report.notes())


def test_of_a_batch_that_fails_each_signal_is_asked_alone(tmp_path):
    """One number of each batch of four makes trouble; the last one only among others."""
    world = World(tmp_path, segments=20)
    world.source("""
        import os, pathlib, time
        def predict(signals, sampling_rate):
            numbers = [len(signal) // 160 - 10 for signal in signals]
            pathlib.Path(__file__).with_name("calls").open("a").write(f"{len(numbers)} ")
            if 1 in numbers: raise ValueError("one")
            if 5 in numbers: os._exit(1)
            if 9 in numbers: time.sleep(99)
            if 13 in numbers and len(numbers) > 1: numbers = numbers[:1]
            return [{"arousal": number / 20, "emotion": "anger"} for number in numbers]
    """)
    report = world.run(entry={"batch": 4, "time_limit": 1.0})
    assert (tmp_path / "calls").read_text().split().count("4") >= 5
    reasons = {"1.wav": "ValueError: one", "5.wav": DEATH.format("exit code 1"), "9.wav": LATE}
    assert failed(report) == reasons
    rows = table(report)
    right = rows["error"] == ""
    assert rows.loc[right, "arousal"].tolist() == pytest.approx(np.flatnonzero(right) / 20)


# The scale of answers ---------------------------------------------------------------------------------------


def on_scale(folder: Path, low: float, high: float, segments: int = 6) -> World:
    """Make a model that answers evenly from one end of a scale to the other."""
    world = World(folder, segments, tasks=("arousal",))
    world.model(f"{COUNTED}\nnumber = 10 * ({low} + {(high - low) / (segments - 1)} * number)")
    return world


def test_answers_are_scaled_and_kept_as_given(tmp_path):
    world = on_scale(tmp_path, 1, 7)
    report = world.run(entry={"ranges": {"arousal": (1.0, 7.0)}})
    assert table(report)["arousal"].tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert report.out_of_range == 0
    scaled = {"arousal": Task("arousal", "regression", (), 10.0, 20.0)}  # and nobody is asked again
    other = world.run(entry={"ranges": {"arousal": (0.0, 10.0)}}, known=scaled)
    assert table(other)["arousal"].tolist() == pytest.approx([11.0, 12.2, 13.4, 14.6, 15.8, 17.0])
    assert (other.computed, other.reused) == (0, 6)


def test_another_scale_stops_before_the_rest_is_asked(tmp_path):
    world = on_scale(tmp_path, 1, 7, segments=60)
    where = r"suite.yml, models.mine: arousal: (all|19) of the first 20 answers are not in 0 to 1 \("
    with pytest.raises(InputError, match=rf"^{where}.*`range: \[1, 7\]`"):
        world.run(TONE)
    asked = world.calls()
    assert 20 <= asked <= 24  # one worker is at most a few calls ahead
    assert not (world.out / "predictions").exists()
    with pytest.raises(InputError, match="range"):
        world.run(TONE)
    assert world.calls() <= asked + 5  # the answers were kept, and five are asked again to confirm


def test_the_scale_of_labels_is_guessed_if_answers_fit(tmp_path):
    world = on_scale(tmp_path, 11, 19)
    with pytest.raises(InputError, match=r"range: \[10, 20\]"):
        world.run(suite_corpora={"c": SimpleNamespace(ranges={"arousal": (10.0, 20.0)})})
    with pytest.raises(InputError, match=r"range: \[lowest, highest\]"):
        world.run()


def test_a_few_answers_outside_are_kept_and_a_dozen_far_outside_are_another_scale(tmp_path, monkeypatch):
    monkeypatch.setattr("soundcheck.predict.prediction.FIRST", 60)  # which are first depends on the folder
    (tmp_path / "few").mkdir()
    report = on_scale(tmp_path / "few", -0.5, 1.0).run()
    assert (report.computed, report.out_of_range) == (6, 2)
    assert report.notes() == ["2 predictions lie outside of the nominal range; they are used"]
    world = on_scale(tmp_path, -0.5, 1.0, segments=60)  # a fifth lies far outside
    with pytest.raises(InputError, match=r"`range: \[-1, 1\]`, or `range: \[0, 1\]` if it leaves that scale"):
        world.run(TONE)
    report = world.run(TONE, entry={"ranges": {"arousal": (1.0, -1.0)}})
    assert (report.failed, report.out_of_range, report.caveats()) == (0, 0, [])
    assert table(report)["arousal"].max() == pytest.approx(0.75)  # of what was -0.5


# Interruption -----------------------------------------------------------------------------------------------

WEIGHT = "number = float(open('weights.txt').read())"
SEGMENTS, HALF = 24, 12  # HALF: answers after which a model stands still that is held
SCRIPT = """
import pathlib, sys
sys.path[:] = {path!r}
from tests.predict.test_engine import World
World(pathlib.Path({root!r}), segments={segments}).run(jobs=2, entry={{"time_limit": 600.0}})
"""


@pytest.fixture
def start(preloaded):
    """Begin a run in a process of its own, which starts those of models: ``start(world)``."""

    @contextlib.contextmanager
    def started(world: World) -> Iterator[subprocess.Popen]:
        code = SCRIPT.format(path=sys.path, root=str(world.root), segments=world.segments)
        nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        environment = os.environ | {"SOUNDCHECK_TEST": str(world.root)}
        process = preloaded().subprocess().Popen([sys.executable, "-c", code], **nothing, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    return started


def left_behind(world: World) -> bool:
    """Tell if processes of models stay, or what they started: their environment knows the folder."""

    def is_alive(process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error):
            of_test = process.ppid() == forkserver._forkserver._forkserver_pid
            return of_test or any(str(world.root) in value for value in process.environ().values())
        return False

    return not soon(lambda: not any(map(is_alive, psutil.process_iter())))


def slow(world: World, held: bool = False) -> Path:
    """Write a model that notes when it was asked; held, it waits half-way until the file `hold` is gone."""
    waits = f"while os.path.getsize('calls') >= {16 * HALF} and os.path.exists('hold'):\n    time.sleep(0.02)"
    notes = "time.sleep(0.05)\nprint(f'{time.time():.4f}', file=open('calls', 'a'))"  # 16 letters
    world.model(f"{waits}\n{notes}\nnumber /= 10")
    if held:
        world.write("hold", "")
    return world.write("calls", "")


def wait_for(calls: Path, asked: int) -> None:
    assert soon(lambda: calls.stat().st_size >= 16 * asked, 120.0)


def test_nothing_finished_is_computed_twice_after_a_kill(tmp_path, start):
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
    calls.write_text("")
    report = world.run(jobs=2)
    assert HALF <= sum(end < killed - late for end in ended) <= report.reused <= HALF + 1
    assert (report.computed + report.reused, report.failed) == (SEGMENTS, 0)
    asked = len(calls.read_text().splitlines())
    assert asked == report.computed + report.repeated + report.confirmation.asked
    content = report.tables["demo"].read_bytes()
    assert world.run(jobs=2, fresh=True).tables["demo"].read_bytes() == content


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process(tmp_path, number, start):
    world = World(tmp_path, segments=SEGMENTS)
    calls = slow(world, held=True)
    with start(world) as process:
        wait_for(calls, 5)
        os.kill(process.pid, number)
        assert process.wait(120) != 0
    assert not left_behind(world)


def test_a_disk_that_is_full_while_the_store_grows(world):
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
    assert (report.reused, report.computed, report.upkeep.damage) == (6, 6, ())


def test_two_runs_at_once_share_a_cache(tmp_path, start):
    world = World(tmp_path, segments=SEGMENTS)
    slow(world)
    with start(world) as process:
        report = world.run(jobs=1, out=tmp_path / "second")
        assert process.wait(120) == 0
    assert (report.failures, report.computed + report.reused) == ([], SEGMENTS)
    first = world.out / "predictions" / "mine" / "demo.parquet"
    assert first.read_bytes() == report.tables["demo"].read_bytes()
    assert world.run().reused == SEGMENTS


# Files that a model opens -----------------------------------------------------------------------------------


def test_answers_of_other_weights_are_not_used(world, asked_twice, caplog):
    path = world.write("weights.txt", "1")
    world.model(WEIGHT)
    assert world.run(TONE).seen_files.keys() == {"model.py", "weights.txt"}
    os.utime(path, (1, 1))
    path.rename(world.root / "copy").rename(path)
    assert world.run(TONE).reused == 12  # it is the same
    path.write_text("2")
    second = world.run(TONE)
    assert (second.computed, second.reused, second.upkeep.outdated, arousal(second)) == (12, 0, 12, {0.2})
    assert "mine: 12 inputs were predicted again" in caplog.text and "weights.txt" in caplog.text
    third = world.run(TONE)
    assert (third.reused, third.upkeep.outdated, third.notes(), arousal(third)) == (12, 0, [], {0.2})
    for gone in (path.unlink, path.mkdir):
        gone()
        assert (world.run().reused, world.run().failed) == (0, 6)


def test_a_file_that_changes_while_the_model_answers(world, asked_twice, caplog):
    world.write("weights.txt", "1")
    # Another process writes: what the model's own writes is no source.
    change = "if number == 3: subprocess.run(['cp', 'model.py', 'weights.txt'])"
    world.model(f"open('weights.txt').read()\n{change}", "import subprocess")
    report = world.run()
    assert (report.computed, report.failed) == (6, 0)
    assert (report.upkeep.dropped, report.upkeep.dropped_by) == (12, ("weights.txt",))  # each was asked twice
    assert "not cached for later runs" in caplog.text
    assert world.run().reused == 0


def test_what_a_model_writes_or_imports_late(world):
    """What it writes itself is no source; a module that it imports when it is called is one."""
    world.write("tardy.py", "value = 1")
    logs = "open('log', 'a').write('x'); open('log').read(); os.replace('log', 'a'); os.replace('a', 'log')"
    world.model(f"{logs}\nimport tardy\nnumber = tardy.value")
    assert world.run().seen_files.keys() == {"model.py", "tardy.py"}
    assert world.run().reused == 6
    world.write("tardy.py", "value = 2")
    assert arousal(world.run()) == {0.2}


def test_odd_things_that_a_model_opens(world):
    """A folder, a pipe, a device, a file that is gone afterwards, a missing one, a descriptor."""
    os.mkfifo(world.root / "feed")
    before = """
import subprocess
subprocess.run(["touch", "short-lived"])
for name in (os.getcwd(), "feed", "/dev/zero", "short-lived", "missing", b"model.py", pathlib.Path("feed")):
    try:
        with open(os.open(name, os.O_RDONLY | os.O_NONBLOCK)) as file:
            file.read(1)
    except OSError:
        pass
os.unlink("short-lived")
"""
    world.model("", before)
    for reused in (0, 6):
        report = world.run()
        assert (report.reused, [*report.seen_files]) == (reused, ["model.py"])
        (note,) = report.notes()
        assert note.endswith("a change of it is not seen: feed, short-lived")


# Kept answers that are asked again --------------------------------------------------------------------------

# Another process reads, which no audit hook sees.
UNSEEN = """
import subprocess
def unseen(name):
    return float(subprocess.check_output(["cat", name]))
"""


def test_another_answer_empties_the_cache(world, asked_twice, caplog):
    world.write("weights.txt", "0.5")
    world.model("number = unseen('weights.txt')", UNSEEN)
    world.run(TONE)
    world.write("weights.txt", "0.500001")  # a tenth of it is 1e-7 more: rounding
    assert world.run(TONE).confirmation.different == 0
    world.write("weights.txt", "0.50002")
    report = world.run(TONE)
    assert (report.computed, report.reused, arousal(report)) == (12, 0, {0.50002 / 10})
    assert (report.confirmation.asked, report.confirmation.different) == (5, 5)
    assert "mine: 5 of 5 cached predictions were different when they were computed again" in caplog.text
    assert "under files:" in " ".join(report.notes())


def test_files_of_the_suite_tell_what_nobody_sees(world, asked_twice):
    for name in ("a.bin", "b.bin"):
        world.write(name, "1")
    world.model("number = unseen('a.bin')", UNSEEN)
    named = {"files": ("*.bin",)}
    first = world.run(entry=named)
    assert first.seen_files.keys() == {"a.bin", "b.bin", "model.py"}
    for changed in ("b.bin", "c.bin"):  # the pattern means this one, too
        world.write(changed, "2")
        second = world.run(entry=named)
        assert (second.computed, second.confirmation.asked) == (6, 0)
        assert second.fingerprint != first.fingerprint


def test_a_model_that_does_not_repeat_is_emptied_if_it_is_another_one(world, asked_twice):
    world.write("weights.txt", "1")
    world.model("number = unseen('weights.txt') + random.random() / 100", UNSEEN)
    world.run()
    assert world.run().confirmation.different == 0
    world.write("weights.txt", "5")
    report = world.run()
    assert (report.computed, report.confirmation.different) == (6, 5)
    assert min(arousal(report)) >= 0.5
    assert world.run().reused == 6


def test_kept_answers_that_cannot_be_confirmed_stay(world, asked_twice):
    up = world.write("up", "")
    world.model("if not os.path.exists('up'): raise OSError('no server')")
    first = table(world.run())
    up.unlink()
    report = world.run()
    assert (report.reused, report.confirmation.unanswered) == (6, 5)
    assert "5 of 5 cached predictions could not be confirmed: OSError: no server" in report.notes()
    assert table(report).equals(first)


def test_embeddings_are_kept_unless_they_have_no_direction_or_another_length(world, asked_twice):
    odd = {1: "[0.0, 0.0]", 2: "[1.0, float('nan')]", 4: "[1.0, 2.0]"}
    cases = "\n".join(f"if number == {number}: return {{'embedding': {odd[number]}}}" for number in odd)
    world.model(f"{cases}\nreturn {{'embedding': np.array([number, 1.0, -0.5])}}", "import numpy as np")
    reasons = {
        "1.wav": "embedding is a vector of zeros, which has no direction",
        "2.wav": "embedding is a vector with 1 nan among 2 numbers",
        "4.wav": "embedding has 2 numbers; most have 3, and others cannot be compared",
    }
    world.tasks = ("embedding",)
    for asked in (6, 2):  # computed, and from the cache
        report = world.run()
        rows = table(report)
        assert report.asked == asked
        assert failed(report) == reasons and report.repeated_different == 0
        assert rows["embedding"].isna().tolist() == [number in odd for number in range(6)]
        assert np.stack(rows["embedding"].dropna()).tolist() == [[float(n), 1.0, -0.5] for n in (0, 3, 5)]
        assert rows["embedding"][0].dtype == np.float32
