"""What the trainings share: names of parameters, and the measured training split."""

import audiofile
import numpy as np
import pandas as pd
import pytest

from soundcheck_demo.models import parameters
from soundcheck_demo.speech import corpus


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("one = 1\n", "utf-8")
    return path


def name(source, beginning="demo-x", size="small", packages=("numpy",)):
    path = parameters.parameter_file(source.parent, beginning, size, sources=[source], packages=packages)
    assert path.parent == source.parent
    return path.name


def test_name_of_a_file_follows_everything_that_decides(source, monkeypatch):
    before = name(source)
    assert before.startswith("demo-x-") and before.endswith(".json")
    assert before == name(source)
    changed = [name(source, size="full"), name(source, packages=("numpy", "scipy")), name(source, "demo-y")]
    monkeypatch.setattr(corpus, "fingerprint", lambda size: "another corpus")
    changed.append(name(source))
    monkeypatch.undo()
    source.write_text("one = 2\n", "utf-8")
    changed.append(name(source))
    assert len({before, *changed}) == 6


def length(signal, sampling_rate):
    return np.array([len(signal), sampling_rate, signal.max()])


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_measures_the_training_split_in_its_order(tmp_path, jobs):
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(6)], "split": ["train", "test", "train"] * 2})
    table.to_csv(tmp_path / corpus.TABLE, index=False)
    for n in range(6):
        audiofile.write(tmp_path / f"{n}.wav", np.full(100 + n, n / 10), 16000)
    rows, measured = parameters.measure(tmp_path, length, jobs=jobs)
    assert rows["file"].tolist() == ["0.wav", "2.wav", "3.wav", "5.wav"]
    assert rows.index.tolist() == [0, 1, 2, 3]
    expected = [[100 + n, 16000, n / 10] for n in (0, 2, 3, 5)]
    np.testing.assert_allclose(measured, expected, atol=1e-4)


@pytest.mark.parametrize("progress", [False, True])
def test_progress_is_told_on_demand(tmp_path, monkeypatch, progress):
    told = {}

    def over(running, step, things, total, *, shown):
        told.update(step=step, things=things, total=total, shown=shown)
        return running

    monkeypatch.setattr(parameters.Progress, "over", over)
    pd.DataFrame({"file": ["0.wav"], "split": ["train"]}).to_csv(tmp_path / corpus.TABLE, index=False)
    audiofile.write(tmp_path / "0.wav", np.zeros(100), 16000)
    parameters.measure(tmp_path, length, title="recordings", progress=progress)
    assert told == {"step": "listening", "things": "recordings", "total": 1, "shown": progress}


def test_plain_numbers():
    assert parameters.plain(np.array([1 / 3, -20_000 / 3, 0.0])) == [0.333333, -6666.67, 0.0]
    assert parameters.plain(np.array([[1e-12 / 3], [1e12]])) == [[3.33333e-13], [1e12]]
    single = parameters.plain(np.array(2 / 3))
    assert single == 0.666667 and type(single) is float
    assert parameters.plain(np.zeros((0, 3))) == []
