"""What the trainings share: files of parameters that are whole, and the measured training split."""

import json

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


def test_fits_once(tmp_path):
    path = tmp_path / "cache" / "found.json"
    assert parameters.load(path) is None
    calls = []

    def fit():
        calls.append(path)
        return {"mean": [1.5, -2.0], "names": ["a", "b"]}

    first = parameters.find(path, fit)
    assert (
        parameters.find(path, fit)
        == first
        == parameters.load(path)
        == {"mean": [1.5, -2.0], "names": ["a", "b"]}
    )
    assert len(calls) == 1


def test_fits_not_if_another_process_was_faster(tmp_path, monkeypatch):
    path = tmp_path / "found.json"
    answers = iter([None, {"mean": [3.0]}])
    monkeypatch.setattr(parameters, "load", lambda _: next(answers))
    assert parameters.find(path, lambda: pytest.fail("fitted again")) == {"mean": [3.0]}


def test_a_failing_fit_leaves_nothing(tmp_path):
    path = tmp_path / "found.json"
    with pytest.raises(ZeroDivisionError):
        parameters.find(path, lambda: {"mean": 1 / 0})
    assert not path.exists()
    assert parameters.find(path, lambda: {"mean": 1.0}) == {"mean": 1.0}


@pytest.mark.parametrize(
    "content", ["", "[1, 2", "[]", "{}", "null", '{"digest": "0"}', '{"digest": "0", "parameters": {}}']
)
def test_a_damaged_file_is_made_again(tmp_path, content):
    path = tmp_path / "found.json"
    path.write_text(content, "utf-8")
    assert parameters.load(path) is None
    assert parameters.find(path, lambda: {"mean": 1.0}) == {"mean": 1.0} == parameters.load(path)


def test_an_edited_file_is_made_again(tmp_path):
    path = tmp_path / "found.json"
    parameters.find(path, lambda: {"mean": 1.0})
    stored = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(stored | {"parameters": {"mean": 2.0}}), "utf-8")
    assert parameters.load(path) is None


def test_a_folder_in_the_place_of_the_file_is_replaced(tmp_path):
    path = tmp_path / "found.json"
    (path / "below").mkdir(parents=True)
    assert parameters.find(path, lambda: {"mean": 1.0}) == {"mean": 1.0} == parameters.load(path)


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


@pytest.mark.parametrize(("progress", "disabled"), [(False, True), (True, None)])
def test_progress_is_shown_on_demand(tmp_path, monkeypatch, progress, disabled):
    """If wanted, and the output is a terminal."""
    told = {}

    def bar(running, **options):
        told.update(options)
        return running

    monkeypatch.setattr(parameters, "tqdm", bar)
    pd.DataFrame({"file": ["0.wav"], "split": ["train"]}).to_csv(tmp_path / corpus.TABLE, index=False)
    audiofile.write(tmp_path / "0.wav", np.zeros(100), 16000)
    parameters.measure(tmp_path, length, title="Listening", progress=progress)
    assert told == {"total": 1, "desc": "Listening", "disable": disabled}


def test_plain_numbers():
    assert parameters.plain(np.array([1 / 3, -20_000 / 3, 0.0])) == [0.333333, -6666.67, 0.0]
    assert parameters.plain(np.array([[1e-12 / 3], [1e12]])) == [[3.33333e-13], [1e12]]
    single = parameters.plain(np.array(2 / 3))
    assert single == 0.666667 and type(single) is float
    assert parameters.plain(np.zeros((0, 3))) == []
