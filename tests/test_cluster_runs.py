"""Whole runs by one and two processes and on a Dask cluster: the same results, byte for byte."""

import time

import numpy as np
import pytest
import soundfile
from late import late

pytestmark = pytest.mark.slow

distributed = late("distributed")

MODEL = """
import numpy as np

def loud(signals, sampling_rate):
    # What is given together shows, as it may in a neural network.
    mean = np.mean([np.sqrt(np.mean(np.square(signal))) for signal in signals])
    return [
        {"arousal": float(np.clip(np.sqrt(np.mean(np.square(signal))) * 5 + mean / 100, 0, 1))}
        for signal in signals
    ]
"""
SUITE = """
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  loud: {python: "my_model:loud", tasks: [arousal], batch: 3}
families: [correctness_regression, robustness_small_changes]
sweeps: false
studies: false
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(1)
    (folder / "data").mkdir()
    rows = ["file,speaker,arousal"]
    for n in range(20):
        signal = rng.uniform(0.02, 0.3) * rng.standard_normal(3000 + 100 * n)
        soundfile.write(folder / "data" / f"{n}.wav", signal, 16000)
        rows.append(f"{n}.wav,s{n % 5},{rng.uniform():.3f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    return folder


def test_results_are_the_same_bytes(project, undrawn):
    def run(out, *options):
        return undrawn("run", "suite.yml", "--out", out, "--no-book", *options, cwd=project)

    done = [run("one", "--jobs", 1), run("two", "--jobs", 2)]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        done.append(run("cluster", "--jobs", 2, "--cluster", local.scheduler_address))
    assert [one.returncode for one in done] == [0, 0, 0], done[-1].stderr
    for name in ("results.csv", "predictions/loud/tones.parquet"):
        first, *others = ((project / out / name).read_bytes() for out in ("one", "two", "cluster"))
        assert all(other == first for other in others)


def test_a_cluster_that_cannot_be_reached(project, undrawn):
    start = time.monotonic()
    done = undrawn("run", "suite.yml", "--out", "nothing", "--cluster", "tcp://127.0.0.1:9", cwd=project)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "'tcp://127.0.0.1:9' cannot be reached" in done.stderr
    assert not (project / "nothing").exists()
    assert (
        time.monotonic() - start < 60
    )  # the limit is in the library: this command waits for the machine, too


def test_without_the_extra(project, undrawn, tmp_path):
    (tmp_path / "distributed").mkdir()
    (tmp_path / "distributed" / "__init__.py").write_text("raise ImportError('no distributed')")
    done = undrawn(
        "run", "suite.yml", "--cluster", "tcp://127.0.0.1:9", cwd=project, PYTHONPATH=str(tmp_path)
    )
    assert done.returncode == 2
    assert 'pip install "soundcheck-speech[cluster]"' in done.stderr
