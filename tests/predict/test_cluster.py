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

import pytest
from late import late
from tests.predict.test_engine import TONE, World, failed

from soundcheck.common.errors import InputError
from soundcheck.predict import cluster as cluster_module
from soundcheck.predict.cluster import connect

pytestmark = pytest.mark.slow

distributed = late("distributed")

MODEL = """
import os, pathlib, time
HERE = pathlib.Path(__file__).parent

def predict(signal, rate):
    number = len(signal) // 160 - 10
    if (HERE / "slow").exists():
        time.sleep(0.1)
    (HERE / "calls").open("a").write(f"{os.getppid()} ")
    if number == 7 and (HERE / "dies").exists():
        os._exit(3)
    return {"arousal": float((signal ** 2).mean())}
"""


@pytest.fixture(scope="module")
def scheduler():
    """Start two workers, one thread each, that are started again when they are killed."""
    quiet = {"dashboard_address": None, "worker_dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as local:
        yield local


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path, segments=40, tasks=("arousal",))
    world.source(MODEL)
    return world


@pytest.fixture
def cluster(scheduler):
    with connect(scheduler.scheduler_address) as connected:
        yield connected


def run(world: World, name: str, cluster=None):
    """Run into an output folder of its own, with a cache of its own."""
    world.out, world.cache = world.root / name, world.root / name / "cache"
    return world.run(TONE, jobs=2, cluster=cluster)


def content(report) -> bytes:
    return report.tables["demo"].read_bytes()


def test_the_same_bytes_and_failures_as_on_this_machine(world, cluster):
    (world.root / "dies").touch()
    here = run(world, "here")
    (world.root / "calls").unlink()
    (world.root / "slow").touch()  # so that each worker gets something to do
    remote = run(world, "there", cluster)
    assert content(remote) == content(here)
    assert (remote.failures, remote.notes()) == (here.failures, here.notes())
    assert failed(remote) == {"7.wav": "the model's process ended (exit code 3)"}
    assert len(set((world.root / "calls").read_text().split())) >= 2  # a process on each worker
    assert run(world, "there").reused == remote.computed  # what the cluster has answered is kept here


def test_a_worker_that_is_killed_costs_its_unit_only(world, cluster):
    (world.root / "slow").touch()
    calls = world.root / "calls"

    def kill():
        while not calls.exists() or calls.stat().st_size < 60:
            time.sleep(0.02)
        os.kill(int(calls.read_text().split()[-2]), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    remote = run(world, "there", cluster)
    killer.join(5)
    (world.root / "slow").unlink()
    assert content(remote) == content(run(world, "here")) and not remote.failures


@contextlib.contextmanager
def extra_worker(scheduler, folder: Path, preload: str, name: str):
    """Start one more worker, which runs some code first."""
    (folder / "preload.py").write_text(preload)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address, "--no-nanny"]
    command += ["--no-dashboard", "--name", name, "--preload", str(folder / "preload.py")]
    nothing = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, **nothing, cwd=folder) as process:
        yield process
        process.kill()


def test_a_worker_with_another_version_is_left_out_by_name(world, scheduler, cluster, caplog):
    code = 'import soundcheck\nsoundcheck.__version__ = "0.0.1"\n'
    with extra_worker(scheduler, world.root, code, "odd") as odd:
        end, names = time.monotonic() + 60, set()
        while "odd" not in names:
            assert time.monotonic() < end
            time.sleep(0.1)
            workers = cluster.client.scheduler_info(n_workers=-1)["workers"].values()
            names = {str(info["name"]) for info in workers}
        (world.root / "slow").touch()
        remote = run(world, "there", cluster)
    assert content(remote) == content(run(world, "here"))
    assert "the worker odd" in caplog.text and "it has Soundcheck 0.0.1 instead of" in caplog.text
    assert any("left out: 1, because it has Soundcheck 0.0.1" in notice for notice in remote.notices)
    assert str(odd.pid) not in (world.root / "calls").read_text().split()


def test_recordings_that_a_worker_does_not_see(world, cluster):
    corpus = world.corpus()
    (world.root / "38.wav").unlink()
    remote = world.run(TONE, [corpus], jobs=2, cluster=cluster)
    assert (remote.failed, remote.unusable) == (0, 2)
    assert all("the audio cannot be read" in reason for *_, reason in remote.failures)


def test_no_worker_that_fits(world, cluster, monkeypatch):
    monkeypatch.setattr(cluster_module.soundcheck, "__version__", "9.9.9")
    with pytest.raises(InputError, match=r"instead of 9\.9\.9"):
        run(world, "there", cluster)


def test_addresses_where_nobody_answers(monkeypatch):
    assert cluster_module.CONNECT_SECONDS <= 12
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 2.0)
    with socket.socket() as taken:  # nothing listens behind it
        taken.bind(("127.0.0.1", 0))
        places = [f"tcp://127.0.0.1:{taken.getsockname()[1]}", "nowhere.json", "http://x", "tcp://", "/"]
        for address in places:
            start = time.monotonic()
            with pytest.raises(InputError, match="cannot be reached"):
                connect(address)
            assert time.monotonic() - start < 8, address


def test_a_scheduler_file(cluster, tmp_path):
    file = tmp_path / "scheduler.json"
    cluster.client.write_scheduler_file(str(file))
    with connect(str(file)) as again:
        assert len(again.threads()) == 2
    file.write_text("{}")
    with pytest.raises(InputError, match="cannot be reached"):
        connect(str(file))
