"""What all tests share: a seeded generator, recordings of people, and the real command."""

import functools
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from browser import started_browser
from preloaded import BLANKS, ONE_THREAD, SHARED, TEMPLATES, UNBUILT, UNDRAWN, Preloaded
from runs import started

from soundcheck.augment.sounds import Sounds
from soundcheck.book import site
from soundcheck.evaluation.evaluation import EvaluationDescription
from soundcheck.run import notebook_server
from soundcheck.suite.families import Margin

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background: children would inherit that they ignore an interruption.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Other examples in each run, on busy machines, too
hypothesis.settings.register_profile("tests", max_examples=30, deadline=None)
hypothesis.settings.load_profile("tests")

# For workers: matrices are small, and threads of one test would take cores from the others.
for _name in ONE_THREAD:
    os.environ.setdefault(_name, "1")

# Compiled tests are kept, whatever is said of other bytecode: each worker collects them in half the time.
sys.dont_write_bytecode = False

# Imports and thousands of collected tests stay until the end: to look for garbage among them, again and
# again, takes a third of the collection's time, and some of each test's.
gc.disable()

LONGEST = """
predict/test_engine.py test_same_anywhere.py test_end_to_end.py test_books_of_runs.py test_human_speech.py
test_values_and_classes.py demo/models/test_prosody.py test_verification.py test_recognition.py
test_fairness.py test_documents.py test_caveats.py test_runs_again.py test_cards.py test_service_runs.py
test_retrained_models.py book/test_in_browser.py book/test_build.py models/transformers_folder/test_model.py
test_robustness.py test_stressed_recognisers.py test_confidence.py report/test_in_browser.py
""".split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker has one left when the others are done."""
    place = {Path(__file__).parent / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (place.get(item.path, len(place)), item.path))


def pytest_collection_finish() -> None:
    """Look for garbage from now on, among what tests make."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Test in twice as many processes as there are cores: tests often wait for what they have started."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def speech() -> Path:
    """Folder of human recordings with a segments.csv; tests that need it skip without it."""
    folder = os.environ.get("SOUNDCHECK_SPEECH")
    if not folder:
        pytest.skip("set SOUNDCHECK_SPEECH to a folder with recordings and a segments.csv")
    return Path(folder)


@pytest.fixture
def describe(tmp_path):
    """Describe an evaluation as a run would: ``describe("fairness_sex", replicates=20)``."""
    Sounds({}).write(tmp_path / "sounds.json")

    def described(family: str, **changes: object) -> EvaluationDescription:
        usual = {
            **{"model": "m", "suite_root": tmp_path, "sounds": tmp_path / "sounds.json", "corpora": ()},
            **{"others": {}, "tasks": (), "seed": 0, "replicates": 10, "interval": "percentile"},
            **{"thresholds": "published", "margin": Margin(), "balance_samples": 1000, "seconds": 120.0},
            **{"predicts_changes": False, "sweeps": False, "normaliser": "basic"},
            **{"transformed_segments": None, "media": tmp_path / "media", "prefix": "media/"},
            "rows": tmp_path / "rows.json",
        }
        return EvaluationDescription(family=family, **(usual | changes))

    return described


def common(factory: pytest.TempPathFactory, name: str) -> Path:
    """Give a folder that all processes of a test session share."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all runs of a test session, so that the demo corpus is synthesised once."""
    return common(tmp_path_factory, "cache")


@pytest.fixture(scope="session")
def full_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for the few tests of the whole demo corpus and its models."""
    return common(tmp_path_factory, "full")


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium: ``browser.open(path, width=390, theme="dark")``; tests skip where there is none.

    It ends with the module of tests: as long as it is there, no other event loop can run.
    """
    with started_browser() as started:
        yield started


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Preloaded]:
    """Give the server that forks commands, which all workers share; the first one that wants it starts it."""

    @functools.cache
    def server() -> Preloaded:
        folders = {"MPLCONFIGDIR": "matplotlib", TEMPLATES: "templates", SHARED: "cache"}
        variables = {variable: str(common(tmp_path_factory, name)) for variable, name in folders.items()}
        variables["MPLBACKEND"] = "agg"
        environment = os.environ | variables | {"JUPYTER_PLATFORM_DIRS": "1"}
        return Preloaded.shared(common(tmp_path_factory, "preloaded"), environment)

    return server


@pytest.fixture(scope="module")
def forked_sphinx(preloaded):
    """Books that a test builds without the command: forks of the server that has imported Sphinx, undrawn."""
    with pytest.MonkeyPatch.context() as patch:
        for place, replacement in BLANKS.items():
            patch.setattr(place, replacement)
        if notebook_server.FORKS:
            patch.setattr(site, "subprocess", preloaded().subprocess())
        yield


@pytest.fixture(scope="session")
def command(preloaded):
    """The ``soundcheck`` command: ``command("run", "suite.yml", cwd=folder)``.

    It is a process of its own, forked from one that has imported the library, and runs on one core, as
    several tests run at once; `runs.started` is what a user gets. Where pages let a signal be heard it is
    one of the small demo.
    """

    def run(
        *arguments: object, cwd: Path, timeout: float = 900, **environment: str
    ) -> subprocess.CompletedProcess:
        words = [str(argument) for argument in arguments]
        if words[0] in ("run", "compare") and "--jobs" not in words:
            words += ["--jobs", "1"]
        early = any(name.startswith("PYTHON") for name in environment)  # Python reads them when it starts
        if early or not notebook_server.FORKS:
            return started(*words, cwd=cwd, timeout=timeout, **environment)
        variables = {"SOUNDCHECK_DEMO_SIZE": "small"} | environment
        return preloaded().command(words, str(cwd), os.environ | variables, timeout)

    return run


@pytest.fixture
def blank_figures(monkeypatch) -> None:
    """Let figures that a test makes itself come out blank, too."""
    for place, replacement in BLANKS.items():
        monkeypatch.setattr(place, replacement)


@pytest.fixture(scope="session")
def undrawn(command):
    """The ``command``, but figures come out blank: for runs of what other tests let be drawn."""
    return functools.partial(command, **{UNDRAWN: "1"})


@pytest.fixture(scope="session")
def unbuilt(undrawn):
    """The ``undrawn`` command, but pages are what Sphinx would read: for what stands on pages, not how."""
    return functools.partial(undrawn, **{UNBUILT: "1"})
