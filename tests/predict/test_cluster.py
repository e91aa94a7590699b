"""Units on a Dask cluster of processes on this machine: the same bytes, whatever becomes of its workers."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from late import late
from programs import soon
from tests.predict.test_engine import TONE, World, failed

from soundcheck.common.messages import InputError
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
    if number == 7:
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
def cluster(scheduler, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": scheduler.scheduler_address}))
    with connect(str(file)) as connected:
        yield connected


def run(world: World, name: str, cluster=None):
    """Run into an output folder of its own, with a cache of its own, without the last recording."""
    world.out, world.cache = world.root / name, world.root / name / "cache"
    corpus = world.corpus()
    (world.root / "39.wav").unlink()
    report = world.run(TONE, [corpus], jobs=2, cluster=cluster)
    World(world.root, world.segments)  # writes it again
    return report, report.tables["demo"].read_bytes()


@pytest.fixture
def odd_worker(world, scheduler, cluster):
    """Start one more worker, which has another version."""
    preload = world.write("preload.py", 'import soundcheck\nsoundcheck.__version__ = "0.0.1"\n')
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address, "--no-nanny"]
    command += ["--no-dashboard", "--name", "odd", "--preload", str(preload)]
    nothing = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, **nothing, cwd=world.root) as process:
        cluster.client.wait_for_workers(3, timeout=60)
        yield process
        process.kill()


def test_the_same_bytes_and_failures_as_on_this_machine_without_the_odd_worker(
    world, cluster, odd_worker, caplog
):
    here, content = run(world, "here")
    (world.root / "calls").unlink()
    (world.root / "slow").touch()  # so that each worker gets something to do
    remote, of_cluster = run(world, "there", cluster)
    assert of_cluster == content and remote.failures == here.failures
    reasons = failed(remote)
    assert reasons["7.wav"] == "the model's process ended (exit code 3)"
    assert "the audio cannot be read" in reasons["39.wav"]
    assert (remote.failed, remote.unusable) == (2, 2)
    workers = set((world.root / "calls").read_text().split())
    assert len(workers) >= 2 and str(odd_worker.pid) not in workers  # a process on each worker that fits
    assert "the worker odd" in caplog.text and "it has Soundcheck 0.0.1 instead of" in caplog.text
    assert any("left out: 1, because it has Soundcheck 0.0.1" in notice for notice in remote.notices)
    (world.root / "slow").unlink()
    assert run(world, "there")[0].reused == remote.computed  # what the cluster has answered is kept here


def test_a_worker_that_is_killed_costs_its_unit_only(world, cluster):
    (world.root / "slow").touch()
    calls = world.write("calls", "")

    def kill():
        assert soon(lambda: calls.stat().st_size > 60, 60.0)
        os.kill(int(calls.read_text().split()[-2]), signal.SIGKILL)
        (world.root / "slow").unlink()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    remote, of_cluster = run(world, "there", cluster)
    killer.join(5)
    assert not (world.root / "slow").exists()
    here, content = run(world, "here")
    assert of_cluster == content and remote.failures == here.failures


def test_no_worker_that_fits(world, cluster, monkeypatch):
    monkeypatch.setattr(cluster_module.soundcheck, "__version__", "9.9.9")
    with pytest.raises(InputError, match=r"instead of 9\.9\.9"):
        run(world, "there", cluster)


def test_addresses_where_nobody_answers(monkeypatch, tmp_path):
    assert cluster_module.CONNECT_SECONDS <= 12
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    (tmp_path / "empty.json").write_text("{}")
    with socket.socket() as taken:  # nothing listens behind it
        taken.bind(("127.0.0.1", 0))
        silent = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        for address in (silent, "nowhere.json", "http://x", "/", str(tmp_path / "empty.json")):
            start = time.monotonic()
            with pytest.raises(InputError, match="cannot be reached"):
                connect(address)
            assert time.monotonic() - start < 7, address
