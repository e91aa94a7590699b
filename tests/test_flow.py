"""Data flows one way: a module imports only from rooms before its own."""

import ast
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import soundcheck

LIBRARY = Path(soundcheck.__file__).parent

# The packages in the order of the flow; one imports only from those before it. Inside a package anything goes
# that is no circle.
ORDER = """
common metrics statistics suite corpora sounds augment models predict results evaluation start
report score publish run efficiency book pipeline commands cli
"""


def modules() -> dict[str, Path]:
    found = {}
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name and "_share" not in parts:
            found[name] = path
    return found


def room(name: str, rooms: list[str]) -> int | None:
    """Number of the package that a module belongs to."""
    package = name.partition(".")[0]
    return rooms.index(package) if package in rooms else None


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("soundcheck"):
            base = node.module.removeprefix("soundcheck").lstrip(".")
            names |= {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                alias.name.removeprefix("soundcheck.") for alias in node.names if "soundcheck." in alias.name
            }
    return names


def test_every_module_has_a_room():
    rooms = ORDER.split()
    homeless = [name for name in modules() if room(name, rooms) is None]
    assert modules()
    assert homeless == []


def test_imports_point_backwards():
    rooms = ORDER.split()
    against = []
    for name, path in modules().items():
        own = room(name, rooms)
        for imported in imports(path):
            other = room(imported, rooms)
            if own is not None and other is not None and other > own:
                against.append(f"{name} imports {imported}")
    assert against == []


def test_the_library_does_without_the_demo():
    against = []
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [node.module] if isinstance(node, ast.ImportFrom) else []
            against += [name for item in found if item.startswith("soundcheck_demo")]
    assert against == []


HEAVY = {"pandas", "papermill", "matplotlib", "scipy", "parselmouth", "sklearn", "pyarrow", "soundfile"}


@pytest.mark.parametrize(
    "code",
    [
        "from soundcheck import cli",
        "from soundcheck.suite.suite_file import read_suite; from soundcheck.common import resources; "
        "read_suite(resources.root() / 'suite.yml')",
    ],
    ids=["help", "suite"],
)
def test_help_and_suites_import_nothing_heavy(code):
    code = f"import sys; {code}; print(sorted({HEAVY} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


# Packages of other people -----------------------------------------------------------------------------------

FORMAT = """
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CorpusFormat, CorpusKeys, File


class ListKeys(CorpusKeys):
    path: File = ""
    separator: schema.Text = " "


class ListFormat(CorpusFormat):
    keyword = "list"
    keys = ListKeys

    @classmethod
    def read(cls, entry, tasks):
        import pandas as pd
        from soundcheck.corpora.segments import RawTable

        lines = entry.path.read_text().splitlines()
        cells = [line.split(entry.options["separator"]) for line in lines]
        table = pd.DataFrame(cells, columns=["file", "speaker", "arousal"], dtype=object)
        places = [f"{entry.shown_path} line {n}" for n in range(1, len(lines) + 1)]
        return RawTable(table, places, entry.path.parent, entry.shown_path)
"""

KIND = """
import numpy as np
from soundcheck.models.base import Model
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite import schema


class LevelKeys(ModelKeys):
    offset: schema.number(0, 1) = 0.0


class LevelModel(Model):
    keyword = "level"
    keys = LevelKeys
    runs_code = False

    @classmethod
    def check_target(cls, target, suite_file):
        fine = target.isdecimal()
        return None, "" if fine else f"{target} is not a whole number", "" if fine else "Write 5"

    @classmethod
    def default_tasks(cls, target):
        return ("arousal",)

    @classmethod
    def load(cls, entry, suite):
        model = cls()
        model.name, model.tasks = entry.name, entry.tasks
        model.factor, model.offset = int(entry.target), entry.options["offset"]
        return model

    @property
    def fingerprint(self):
        return f"level {self.factor} {self.offset}"

    def predict(self, signals, sampling_rate):
        return [{"arousal": self.offset + self.factor * float(np.abs(s).mean())} for s in signals]
"""


def package(folder: Path, name: str, entry_points: str, **modules: str) -> str:
    """Install a distribution into a folder, as pip would; gives what belongs on the path."""
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entry_points)
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    return str(folder)


def corpus(folder: Path) -> None:
    """Write twelve sounds of growing level, listed in two layouts."""
    folder.mkdir()
    levels = [n / 20 for n in range(1, 13)]
    for n, level in enumerate(levels):
        tone = level * np.sin(2 * np.pi * (100 + n) * np.arange(8000) / 16000)
        soundfile.write(folder / f"{n}.wav", tone, 16000)
    rows = [(f"{n}.wav", f"s{n % 4}", f"{level:.2f}") for n, level in enumerate(levels)]
    (folder / "calls.list").write_text("".join("|".join(row) + "\n" for row in rows))
    rows = [("file", "speaker", "arousal"), *rows]
    (folder / "calls.csv").write_text("".join(",".join(row) + "\n" for row in rows))


REGISTERED = """
[soundcheck.formats]
list = formats:ListFormat

[soundcheck.models]
level = kinds:LevelModel
"""

OWN = """
replicates: 100
corpora:
  calls: {format: list, path: data/calls.list, separator: "|"}
models:
  mine: {level: 1, offset: 0.0}
  clean: {level: 2}
families: [correctness_regression]
studies: false
"""


@pytest.mark.slow
def test_a_format_and_a_kind_of_model_of_another_package(tmp_path, started_command):
    site = package(tmp_path / "site", "own", REGISTERED, formats=FORMAT, kinds=KIND)
    corpus(tmp_path / "data")
    (tmp_path / "suite.yml").write_text(OWN)
    done = started_command("run", "suite.yml", "--no-code", "--no-book", cwd=tmp_path, PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "build" / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    values = {row["model"]: float(row["value"]) for row in rows if row["test"] == "Mean Absolute Error"}
    level, mean = 6.5 / 20, 2 / np.pi  # the mean of a sine's magnitude
    assert values["mine"] == pytest.approx(level * (1 - mean), abs=1e-3)
    assert values["clean"] == pytest.approx(level * (2 * mean - 1), abs=1e-3)
    record = json.loads((tmp_path / "build" / "run.json").read_text())
    assert record["corpora"][0]["format"] == "list"
    assert record["suite"]["corpora"]["calls"]["options"] == {"separator": "|"}
    assert [model["kind"] for model in record["models"]] == ["level", "level"]

    wrong = (
        OWN.replace("separator:", "seperator:").replace("level: 1", "level: x").replace("level: 2", "levl: 2")
    )
    (tmp_path / "suite.yml").write_text(wrong)
    done = started_command("run", "suite.yml", cwd=tmp_path, PYTHONPATH=site)
    assert done.returncode == 2
    for words in (
        "corpora.calls.seperator: unknown key. Did you mean 'separator'?",
        "models.mine.level: x is not a whole number. Write 5.",
        "models.clean.levl: unknown key. Did you mean 'level'?",
    ):
        assert words in done.stderr


@pytest.mark.slow
def test_what_other_packages_do_wrong_is_told(tmp_path, started_command):
    corpus(tmp_path / "data")
    (tmp_path / "suite.yml").write_text(OWN)
    clash = REGISTERED.replace("list =", "csv =")
    cases = [
        (
            clash,
            FORMAT,
            "'csv' is registered by soundcheck.corpora.formats.csv.CsvFormat and by formats:",
        ),
        (REGISTERED, "import nothing_there", "'list' cannot be loaded: ModuleNotFoundError"),
        (REGISTERED, "ListFormat = dict", "'list' is not a class that can be used here"),
        (
            REGISTERED,
            FORMAT.replace('"speaker", "arousal"]', '"speaker"]'),
            "corpora.calls: the format 'list' fails: ValueError: 2 columns passed, passed data had 3",
        ),
    ]
    for number, (points, text, words) in enumerate(cases):
        site = package(tmp_path / str(number), "own", points, formats=text, kinds=KIND)
        done = started_command("run", "suite.yml", cwd=tmp_path, PYTHONPATH=site)
        assert done.returncode == 2 and words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_everything_but_the_demo_works_without_it(tmp_path, started_command):
    # Another distribution of the library comes first on the path: one that registers nothing.
    absent = "raise ImportError('the demo is not installed')"
    site = package(tmp_path / "site", "soundcheck_speech", "", soundcheck_demo=absent)
    corpus(tmp_path / "data")
    text = """
replicates: 100
corpora:
  calls: {format: csv, path: data/calls.csv}
models:
  guess: {random: gaussian}
families: [correctness_regression, robustness_small_changes]
studies: false
sweeps: false
"""
    (tmp_path / "suite.yml").write_text(text)
    done = started_command("run", "suite.yml", cwd=tmp_path, PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "build" / "html" / "methods" / "robustness_small_changes.html"
    assert "There is nothing to hear: no installed package has a sample of speech." in page.read_text()
    (tmp_path / "suite.yml").write_text(text.replace("small_changes", "background_noise"))
    done = started_command("run", "suite.yml", cwd=tmp_path, PYTHONPATH=site)
    assert done.returncode == 2
    assert "nobody has sounds of babble, coughing, environmental, music, sneezing" in done.stderr
    (tmp_path / "suite.yml").write_text(text.replace("csv, path: data/calls.csv", "demo"))
    done = started_command("run", "suite.yml", cwd=tmp_path, PYTHONPATH=site)
    assert done.returncode == 2
    assert "corpora.calls.format: 'demo' is not known here." in done.stderr
    assert "Allowed: audformat, " in done.stderr
