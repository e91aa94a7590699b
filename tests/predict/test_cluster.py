"""Units on a Dask cluster of processes on this machine: the same bytes, whatever becomes of its workers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import audiofile
import numpy as np
import pandas as pd
import pytest
from late import late

from soundcheck.common.errors import InputError
from soundcheck.common.files import digest
from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import cluster as cluster_module
from soundcheck.predict.cluster import connect
from soundcheck.predict.engine import predict_model
from soundcheck.predict.request import PredictionRequest
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Perturbation

pytestmark = pytest.mark.slow

distributed = late("distributed")

TONE = {
    "tone": Perturbation("Tone", "additive_tone", {"frequency": {"from": 5000, "to": 7000}, "snr_db": 20})
}
SEGMENTS = 40
MODEL = """
import os, pathlib, time
HERE = pathlib.Path(__file__).parent

def predict(signal, rate):
    number = len(signal) // 160 - 10
    if (HERE / "slow").exists():
        time.sleep(0.05)
    (HERE / "calls").open("a").write(f"{os.getppid()} ")
    if number == 7 and (HERE / "dies").exists():
        os._exit(3)
    return {"arousal": float((signal ** 2).mean())}
"""


@pytest.fixture(scope="module")
def scheduler():
    """Start two workers, one thread each, that are started again when they are killed."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        worker_dashboard_address=None,
    ) as local:
        yield local


@pytest.fixture
def world(tmp_path, forked_models):
    rng = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    for number in range(SEGMENTS):
        signal = rng.normal(0, 0.1, 160 * (10 + number)).astype(np.float32)
        audiofile.write(tmp_path / "data" / f"{number}.wav", signal, 16000)
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def run(world: Path, name: str, cluster=None, **options):
    names = [f"data/{number}.wav" for number in range(SEGMENTS)]
    segments = pd.DataFrame({"file": names, "start": np.nan, "end": np.nan, "duration": 1.0})
    segments["key"] = segments["file"] + "||"
    segments["audio"] = [digest(world / file) if (world / file).exists() else file for file in names]
    corpus = SimpleNamespace(name="demo", root=world, segments=segments)
    model = ModelEntry("mine", "python", "model:predict", ("arousal",), time_limit=20.0)
    suite = Suite(
        "t", 0, 100, "percentile", (), {}, {"mine": model}, BUILTIN, root=world, file=world / "suite.yml"
    )
    asked = PredictionRequest(model, suite, [corpus], TONE, world / name, world / name / "cache")
    return predict_model(asked, jobs=2, cluster=cluster, **options)


def content(report) -> bytes:
    return report.tables["demo"].read_bytes()


def test_the_same_bytes_and_failures_as_on_this_machine(world, scheduler):
    (world / "dies").touch()
    here = run(world, "here")
    (world / "calls").unlink()
    with connect(scheduler.scheduler_address) as cluster:
        there = run(world, "there", cluster)
    assert content(there) == content(here)
    assert there.failures == here.failures
    assert {reason for *_, reason in there.failures} == {"the model's process ended (exit code 3)"}
    assert there.notes() == here.notes()
    assert len(set((world / "calls").read_text().split())) >= 2  # a process on each worker
    again = run(world, "there")  # what the cluster has answered is kept here
    assert again.reused == there.computed


def test_a_worker_that_is_killed_costs_its_unit_only(world, scheduler):
    (world / "slow").touch()
    calls = world / "calls"

    def kill():
        while not calls.exists() or calls.stat().st_size < 60:
            time.sleep(0.02)
        os.kill(int(calls.read_text().split()[-2]), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with connect(scheduler.scheduler_address) as cluster:
        there = run(world, "there", cluster)
    killer.join(5)
    (world / "slow").unlink()
    assert content(there) == content(run(world, "here"))
    assert not there.failures


@contextlib.contextmanager
def extra_worker(scheduler, folder: Path, preload: str, name: str):
    """Start one more worker, which runs some code first."""
    (folder / "preload.py").write_text(preload)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address]
    options = ["--no-nanny", "--no-dashboard", "--name", name, "--preload", str(folder / "preload.py")]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    ) as process:
        yield process
        process.kill()


def wait_for(cluster, name: str) -> None:
    end = time.monotonic() + 60
    while name not in named(cluster):
        assert time.monotonic() < end
        time.sleep(0.1)


def named(cluster) -> set[str]:
    return {str(info["name"]) for info in cluster.client.scheduler_info(n_workers=-1)["workers"].values()}


OTHER = """
import soundcheck
soundcheck.__version__ = "0.0.1"
"""


def test_a_worker_with_another_version_is_left_out_by_name(world, scheduler, caplog):
    with (
        extra_worker(scheduler, world, OTHER, "odd") as odd,
        connect(scheduler.scheduler_address) as cluster,
    ):
        wait_for(cluster, "odd")
        there = run(world, "there", cluster)
    assert content(there) == content(run(world, "here"))
    assert "the worker odd" in caplog.text and "it has Soundcheck 0.0.1 instead of" in caplog.text
    assert any("left out: 1, because it has Soundcheck 0.0.1" in notice for notice in there.notices)
    assert str(odd.pid) not in (world / "calls").read_text().split()


def test_recordings_that_a_worker_does_not_see(world, scheduler):
    (world / "data" / "38.wav").rename(world / "38.wav")
    with connect(scheduler.scheduler_address) as cluster:
        there = run(world, "there", cluster)
    (world / "38.wav").rename(world / "data" / "38.wav")
    assert (there.failed, there.unusable) == (0, 2)
    assert all("the audio cannot be read" in reason for *_, reason in there.failures)


def test_no_worker_that_fits(world, scheduler, monkeypatch):
    monkeypatch.setattr(cluster_module.soundcheck, "__version__", "9.9.9")
    with (
        connect(scheduler.scheduler_address) as cluster,
        pytest.raises(InputError, match=r"instead of 9\.9\.9"),
    ):
        run(world, "there", cluster)


def test_nobody_answers(monkeypatch):
    assert cluster_module.CONNECT_SECONDS <= 12
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 2.0)
    with socket.socket() as taken:  # nothing listens behind it
        taken.bind(("127.0.0.1", 0))
        start = time.monotonic()
        with pytest.raises(InputError, match="cannot be reached"):
            connect(f"tcp://127.0.0.1:{taken.getsockname()[1]}")
        assert time.monotonic() - start < 8


@pytest.mark.parametrize("address", ["nowhere.json", "http://x", "tcp://", "/"])
def test_what_is_no_address(address):
    with pytest.raises(InputError, match="cannot be reached"):
        connect(address)


def test_a_scheduler_file(scheduler, tmp_path):
    with connect(scheduler.scheduler_address) as cluster:
        file = tmp_path / "scheduler.json"
        cluster.client.write_scheduler_file(str(file))
    with connect(str(file)) as cluster:
        assert len(cluster.threads()) == 2
    file.write_text("{}")
    with pytest.raises(InputError, match="cannot be reached"):
        connect(str(file))
