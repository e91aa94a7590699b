import importlib.util
import os
import sys
import textwrap
import time
import types
from pathlib import Path

import numpy as np
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.models import function, processes
from soundcheck.models.base import check_model
from soundcheck.models.function import FunctionModel
from soundcheck.suite.entries import ModelEntry, Suite

pytestmark = pytest.mark.usefixtures("forked_models")
GOOD = "def predict(signal, sampling_rate):\n    return {'arousal': 0.5}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "my suite"
    folder.mkdir()
    return folder


def write(root: Path, **modules: str) -> None:
    for name, text in modules.items():
        path = root / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


def entry(target: str = "model:predict", **more: object) -> ModelEntry:
    return ModelEntry("mine", "python", target, ("arousal",), **more)


def suite(root: Path) -> Suite:
    return Suite("t", 0, 100, "percentile", (), {}, {}, dict(BUILTIN), root, root / "suite.yml")


def check(root: Path, target: str = "model:predict", **more: object) -> str:
    return check_model(entry(target, **more), suite(root))


def refused(root: Path, *words: str, target: str = "model:predict") -> str:
    with pytest.raises(InputError) as caught:
        check(root, target)
    text = str(caught.value)
    assert text.startswith("suite.yml, models.mine.python")
    assert "Traceback" not in text
    assert str(root) not in text
    for word in words:
        assert word in text
    return text


# What is found ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    ["model:predict", "package:predict", "package.inner:predict", "model:Thing.method", "model:thing"],
)
def test_accepted_targets(root, target):
    more = "class Thing:\n    @staticmethod\n    def method(a, b): ...\n    def __call__(self, a, b): ...\n"
    write(root, model=GOOD + more + "thing = Thing()\n", package__in____init__=GOOD, package__in__inner=GOOD)
    assert len(check(root, target)) == 40


def test_shadowing_neighbours_hide_nothing(root):
    write(root, json="raise SystemError('not the real one')", numpy="raise SystemError('nor this')")
    write(root, model="import json, numpy, email\njson.dumps\nnumpy.zeros\nimport helper\n" + GOOD)
    write(root, helper="import json\njson.dumps")
    assert check(root)


def test_model_called_like_an_installed_module(root):
    write(root, statistics="import fractions\n" + GOOD, pytest=GOOD, json="import json as real\n" + GOOD)
    for name in ("statistics", "pytest", "json"):
        assert check(root, f"{name}:predict")


def test_nothing_is_written_beside_the_model(root):
    write(root, model="import helper\n" + GOOD, helper="", package__in____init__="")
    before = sorted(root.rglob("*"))
    check(root)
    assert sorted(root.rglob("*")) == before


# What is refused --------------------------------------------------------------------------------------------


def test_missing_module_names_the_nearest(root):
    write(root, model=GOOD)
    text = refused(root, "no module 'modle'", "modle.py", "suite's folder", target="modle:predict")
    assert "Did you mean 'model'?" in text


def test_missing_function_names_the_nearest(root):
    write(root, model=GOOD)
    refused(root, "'model' has no 'predcit'", "Did you mean 'predict'?", target="model:predcit")


def test_not_callable(root):
    write(root, model="predict = {}")
    refused(root, "'predict' in 'model' is not callable, it is of type dict")


def test_wrong_signature(root):
    write(root, model="def predict(signal): ...")
    refused(root, "takes (signal)", "def predict(signal, sampling_rate)")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\nimport torchh", ("model.py line 2", "No module named 'torchh'", "Install it")),
        ("import helper", ("helper.py line 1", "ZeroDivisionError: division by zero")),
        ("x = 1\nraise ValueError('many\\nlines /secret/place/x')", ("line 2", "ValueError: many lines x")),
        ("def predict(:", ("model.py line 1", "SyntaxError")),
        ("import sys; sys.exit(3)", ("SystemExit: 3",)),
        ("import os; os._exit(3)", ("ended the process (exit code 3)",)),
        ("import ctypes; ctypes.string_at(0)", ("ended the process (signal 11, SIGSEGV)",)),
        ("raise KeyboardInterrupt", ("KeyboardInterrupt",)),
        ("raise ModuleNotFoundError", ("ModuleNotFoundError",)),
        ("def fingerprint(): raise OSError('gone')\n" + GOOD, ("fingerprint() failed: OSError: gone",)),
    ],
)
def test_import_that_fails(root, source, words):
    write(root, model=source, helper="1 / 0")
    refused(root, *words)


def test_import_that_hangs(root, monkeypatch):
    monkeypatch.setattr(function, "IMPORT_SECONDS", 1.0)
    write(root, model="import ctypes; ctypes.CDLL(None).pause()")
    start = time.monotonic()
    refused(root, "importing the module did not end within 1 s")
    assert time.monotonic() - start < 8


def test_fingerprint_may_take_longer_than_the_import(root, monkeypatch):
    monkeypatch.setattr(function, "IMPORT_SECONDS", 2.0)
    write(root, model="import time\ndef fingerprint():\n    time.sleep(2.5)\n    return 'x'\n" + GOOD)
    assert check(root)


# Fingerprint ------------------------------------------------------------------------------------------------


def test_fingerprint_follows_source_helpers_and_own_word(root):
    write(root, model="import helper\n" + GOOD, helper="x = 1", neighbour="")
    seen = [check(root)]
    write(root, neighbour="x = 1")
    assert check(root) == seen[0]
    time_ = os.stat(root / "helper.py")
    write(root, helper="x = 2")  # same size, and the same time
    os.utime(root / "helper.py", ns=(time_.st_atime_ns, time_.st_mtime_ns))
    seen.append(check(root))
    write(root, model="import helper\nfingerprint = 'a'\n" + GOOD)
    seen.append(check(root))
    write(root, model="import helper\nfingerprint = 'b'\n" + GOOD)
    seen.append(check(root))
    seen.append(check(root, batch=4))
    assert len(set(seen)) == 5


def test_stale_bytecode_is_not_trusted(root):
    import py_compile

    write(root, model=GOOD)
    py_compile.compile(str(root / "model.py"))
    time_ = os.stat(root / "model.py")
    write(root, model=GOOD.replace("0.5", "0.7"))
    os.utime(root / "model.py", ns=(time_.st_atime_ns, time_.st_mtime_ns))
    model = FunctionModel.load(entry(), suite(root))
    assert model.predict([np.zeros(3, np.float32)], 16000) == [{"arousal": 0.7}]


def test_fingerprint_does_not_depend_on_the_place(root, tmp_path):
    write(root, model=GOOD)
    first = check(root)
    moved = root.rename(tmp_path / "moved")
    assert check(moved) == first


# Calling ----------------------------------------------------------------------------------------------------


def test_model_gets_arrays_of_its_own(root):
    write(root, own="def predict(signal, sampling_rate):\n    signal[:] = 7\n    return {'arousal': 0.5}\n")
    signal = np.arange(5, dtype=np.float32)
    signal.flags.writeable = False
    FunctionModel.load(entry("own:predict"), suite(root)).predict([signal], 16000)
    assert signal.tolist() == [0, 1, 2, 3, 4]


def test_batches(root):
    source = """
        def predict(signals, sampling_rate):
            assert isinstance(signals, list)
            return [{"arousal": float(len(signal))} for signal in signals][: 3]
        def nothing(signals, sampling_rate):
            return None
    """
    write(root, batches=source)
    model = FunctionModel.load(entry("batches:predict", batch=8), suite(root))
    signals = [np.zeros(n, np.float32) for n in range(1, 5)]
    assert model.predict(signals[:2], 16000) == [{"arousal": 1.0}, {"arousal": 2.0}]
    with pytest.raises(ValueError, match="3 answers for 4 signals"):
        model.predict(signals, 16000)
    with pytest.raises(TypeError, match="list of dicts, not NoneType"):
        FunctionModel.load(entry("batches:nothing", batch=8), suite(root)).predict(signals, 16000)


def test_prepare_gets_what_it_asks_for(root, tmp_path):
    source = """
        import os, pathlib
        def prepare(jobs):
            pathlib.Path(os.environ["SOUNDCHECK_CACHE"], "prepared").write_text(str(jobs))
        def predict(signal, sampling_rate): ...
    """
    write(root, model=source)
    FunctionModel.prepare(entry(), suite(root), cache=tmp_path, jobs=3, progress=True)
    assert (tmp_path / "prepared").read_text() == "3"


def test_no_process_is_started_to_prepare_what_has_no_prepare(root, tmp_path, monkeypatch):
    started = []
    ask = processes.in_child
    monkeypatch.setattr(processes, "in_child", lambda *own, **more: started.append(own) or ask(*own, **more))

    def prepare():
        before = len(started)
        FunctionModel.prepare(entry(), suite(root), cache=tmp_path, jobs=1, progress=False)
        return len(started) - before

    write(root, model=GOOD)
    assert prepare() == 1  # nobody has looked whether it has one
    before = check(root)
    assert prepare() == 0
    source = """
        import os, pathlib
        def prepare():
            pathlib.Path(os.environ["SOUNDCHECK_CACHE"], "prepared").touch()
    """
    write(root, model=textwrap.dedent(source) + GOOD)
    assert check(root) != before
    assert prepare() == 1 and (tmp_path / "prepared").exists()


def test_prepare_that_fails(root, tmp_path):
    write(root, model="def prepare(): raise OSError('no space')\n" + GOOD)
    with pytest.raises(InputError, match=r"prepare\(\) failed: OSError: no space"):
        FunctionModel.prepare(entry(), suite(root), cache=tmp_path, jobs=1, progress=False)


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
    found = function.sources(function.Imported(model, print, root))
    assert [name for name, _ in found] == ["late.py", "model.py"]
    with pytest.raises(ImportError, match="it was loaded"):
        _ = late.anything
