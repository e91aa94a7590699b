"""Python functions as models: how they are imported, checked in a child, fingerprinted and called."""

import importlib.util
import os
import py_compile
import sys
import textwrap
import time
import types
from pathlib import Path

import numpy as np
import pytest
import yaml
from answer_files import suite_of

from soundcheck.common.messages import InputError
from soundcheck.models import function
from soundcheck.models.base import check_model
from soundcheck.models.function import FunctionModel
from soundcheck.suite.entries import ModelEntry

GOOD = "def predict(signal, sampling_rate):\n    return {'arousal': 0.5}\n"
PREPARES = """
import os, pathlib
def prepare(jobs=0):
    pathlib.Path(os.environ["SOUNDCHECK_CACHE"], "prepared").write_text(str(jobs))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "my suite").mkdir()
    return tmp_path / "my suite"


def write(root: Path, **modules: str) -> None:
    for name, text in modules.items():
        path = root / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


def rewrite(path: Path, text: str) -> None:
    """Change a file so that neither its size nor its time tell."""
    before = os.stat(path)
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(path).st_size == before.st_size


def entry(target: str = "model:predict", **more: object) -> ModelEntry:
    return ModelEntry("mine", "python", target, ("arousal",), **more)


def check(root: Path, *target: str, **more: object) -> str:
    return check_model(entry(*target, **more), suite_of(root))


def load(root: Path, *target: str, **more: object) -> FunctionModel:
    return FunctionModel.load(entry(*target, **more), suite_of(root))


def prepare(root: Path, cache: Path, progress: bool = False) -> None:
    FunctionModel.prepare(entry(), suite_of(root), cache=cache, jobs=3, progress=progress)


@pytest.mark.parametrize("target", ["package.inner:predict", "model:Thing.method", "model:thing"])
def test_accepted_targets(root, target):
    more = "class Thing:\n    @staticmethod\n    def method(a, b): ...\n    def __call__(self, a, b): ...\n"
    write(root, model=GOOD + more + "thing = Thing()\n", package__in____init__=GOOD, package__in__inner=GOOD)
    before = sorted(root.rglob("*"))
    assert len(check(root, target)) == 40
    assert sorted(root.rglob("*")) == before  # nothing is written beside the model


def test_neighbours_hide_nothing_that_is_installed_and_a_model_may_be_called_like_it(root):
    write(root, mailbox="raise SystemError", json="import json as real\n" + GOOD, pytest=GOOD)
    write(root, model="import json, mailbox, helper\njson.dumps\nmailbox.mbox\n" + GOOD, helper="import json")
    for name in ("model", "pytest", "json"):
        assert check(root, f"{name}:predict")


ROWS = yaml.safe_load(Path(__file__).with_name("refused_functions.yml").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["words"][-1])
def test_refused(root, row):
    write(root, model=row.get("model", GOOD), helper="1 / 0", package__in____init__="")
    with pytest.raises(InputError) as caught:
        check(root, row.get("target", "model:predict"))
    message = str(caught.value)
    assert message.startswith("suite.yml, models.mine.python")
    assert "Traceback" not in message and str(root) not in message
    assert [word for word in row["words"] if word not in message] == []


def test_an_import_that_hangs_is_ended_but_fingerprint_may_take_longer(root, monkeypatch):
    monkeypatch.setattr(function, "IMPORT_SECONDS", 0.7)
    write(root, model="import ctypes; ctypes.CDLL(None).pause()")
    start = time.monotonic()
    with pytest.raises(InputError, match="importing the module did not end within 0.7 s"):
        check(root)
    assert time.monotonic() - start < 8
    monkeypatch.setattr(function, "IMPORT_SECONDS", 1.3)
    write(root, model="import time\ndef fingerprint():\n    time.sleep(1.4)\n    return 'x'\n" + GOOD)
    assert check(root)


def test_fingerprint_follows_source_helpers_and_own_word(root, tmp_path):
    write(root, model="import helper\n" + GOOD, helper="x = 1", neighbour="")
    seen = [check(root)]
    write(root, neighbour="x = 1")
    assert check(root) == seen[0]
    root = root.rename(tmp_path / "moved")
    assert check(root) == seen[0]
    rewrite(root / "helper.py", "x = 2")
    seen.append(check(root))
    for word in "ab":
        write(root, model=f"import helper\nfingerprint = lambda: '{word}'\n" + GOOD)
        seen.append(check(root))
    seen.append(check(root, batch=4))
    assert len(set(seen)) == 5


def test_stale_bytecode_is_not_trusted_and_a_model_gets_arrays_of_its_own(root):
    write(root, model=GOOD.replace("    return", "    signal[:] = 7\n    return"))
    py_compile.compile(str(root / "model.py"))
    rewrite(root / "model.py", (root / "model.py").read_text().replace("0.5", "0.7"))
    signal = np.arange(3, dtype=np.float32)
    signal.flags.writeable = False
    assert load(root).predict([signal], 16000) == [{"arousal": 0.7}]
    assert signal.tolist() == [0, 1, 2]


def test_looking_for_sources_loads_nothing_that_waits(root, monkeypatch):
    """A module that is loaded when it is looked at is a source, through links too, and stays as it is."""
    write(root, model=GOOD, late="raise ImportError('it was loaded')")
    (root.parent / "link").symlink_to(root)
    specification = importlib.util.spec_from_file_location("late", root.parent / "link" / "late.py")
    specification.loader = importlib.util.LazyLoader(specification.loader)
    late = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(late)
    monkeypatch.setitem(sys.modules, "late", late)
    model = types.ModuleType("model")
    model.__file__ = str(root / "model.py")
    monkeypatch.setitem(sys.modules, "model", model)
    files = function.sources(model, root)
    assert [name for name, _ in files] == ["late.py", "model.py"]
    with pytest.raises(ImportError, match="it was loaded"):
        _ = late.anything


def test_batches(root):
    source = """
        def predict(signals, sampling_rate):
            return [{"arousal": float(len(signal))} for signal in signals]
        def nothing(signals, sampling_rate):
            return None
    """
    write(root, batches=source)
    model, signals = load(root, "batches:predict", batch=8), [np.zeros(n, np.float32) for n in (1, 2)]
    assert model.predict(signals, 16000) == [{"arousal": 1.0}, {"arousal": 2.0}]
    with pytest.raises(TypeError, match="list of dicts, not NoneType"):
        load(root, "batches:nothing", batch=8).predict(signals, 16000)


def test_prepare_is_called_with_what_it_takes_if_there_is_one(root, tmp_path):
    write(root, model=GOOD)
    prepare(root, tmp_path)
    write(root, model=PREPARES + GOOD)
    prepare(root, tmp_path, progress=True)  # which it does not take
    assert (tmp_path / "prepared").read_text() == "3"
    write(root, model="def prepare(): raise OSError('no space')\n" + GOOD)
    with pytest.raises(InputError, match=r"prepare\(\) failed: OSError: no space"):
        prepare(root, tmp_path)
