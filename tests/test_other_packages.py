"""Formats of corpora and kinds of models of other people's packages, and the library without its demo."""

import re

import numpy as np
import pytest
from runs import changed, run, sound, started, write

from soundcheck.common import resources

pytestmark = pytest.mark.slow

EXAMPLES = re.findall(r"```python\n(.*?)```", resources.find("book/extending.md").read_text(), re.DOTALL)
FORMAT = """
import pandas
from soundcheck.corpora.raw_table import RawTable
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CorpusFormat, CorpusKeys, File


""" + "\n\n".join(
    example for name in ("ListKeys", "ListFormat") for example in EXAMPLES if f"class {name}(" in example
)

KIND = """
import numpy as np
from soundcheck.models.base import Model
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelKeys


class LevelKeys(ModelKeys):
    offset: schema.number(0, 1) = 0.0


class LevelModel(Model):
    keyword, keys, runs_code = "level", LevelKeys, False

    @classmethod
    def check_target(cls, target, suite_file):
        return (None, "", "") if target.isdecimal() else (None, f"{target} is not a whole number", "Write 5")

    @classmethod
    def default_tasks(cls, target):
        return ("arousal",)

    @classmethod
    def load(cls, entry, suite):
        model = cls()
        model.factor, model.offset = int(entry.target), entry.options["offset"]
        return model

    @property
    def fingerprint(self):
        return f"level {self.factor} {self.offset}"

    def predict(self, signals, sampling_rate):
        return [{"arousal": self.offset + self.factor * float(np.abs(s).mean())} for s in signals]
"""


def package(folder, name, points, **modules):
    """Install a distribution into a folder, as pip would."""
    files = {
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/entry_points.txt": points,
    }
    write(folder, files | {f"{module}.py": text for module, text in modules.items()})


REGISTERED = """
[soundcheck.formats]
list = formats:ListFormat

wrong = wrong:ListFormat

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve sounds of growing level, a suite, and a site with a package that registers what the suite names.

    Another distribution of the library comes first on the path, too: one that registers nothing.
    """
    tmp_path = tmp_path_factory.mktemp("others")
    wrong = changed(FORMAT, {'"speaker", "arousal"]': '"speaker"]', '"list"': '"wrong"'})
    package(tmp_path / "site", "own", REGISTERED, formats=FORMAT, wrong=wrong, kinds=KIND)
    gone = "raise ImportError('the demo is not installed')"
    package(tmp_path / "site", "soundcheck_speech", "", soundcheck_demo=gone)
    rows = [(f"{n}.wav", f"s{n % 4}", f"{(n + 1) / 20:.2f}") for n in range(12)]
    for n, (file, *_) in enumerate(rows):
        tone = np.sin(2 * np.pi * (101 + n) * np.arange(8000) / 16000)
        sound(tmp_path / "data" / file, (n + 1) / 20 * tone)
    return write(tmp_path, {"data/calls.list": ["|".join(row) for row in rows], "suite.yml": OWN})


def test_a_format_and_a_kind_of_model_of_another_package_and_no_demo(folder):
    whole = run(started, folder, "--no-code", "--no-book", PYTHONPATH=str(folder / "site"))
    level, mean = 6.5 / 20, 2 / np.pi  # the mean of a sine's magnitude
    errors = whole.rows(test="Mean Absolute Error").set_index("model")["value"]
    assert errors["mine"] == pytest.approx(level * (1 - mean), abs=1e-3)
    assert errors["clean"] == pytest.approx(level * (2 * mean - 1), abs=1e-3)
    record = whole.record
    assert record["corpora"][0]["format"] == "list"
    assert [model["kind"] for model in record["models"]] == ["level"] * 2
    assert record["suite"]["corpora"]["calls"]["options"] == {"separator": "|"}


REFUSED = """
import sys
from soundcheck import cli
for words in sys.argv[1:]:
    sys.argv[1:] = words.split()
    try:
        cli.main()
    except SystemExit as end:
        print(end.code)
"""


def test_what_is_wrong_with_a_suite_or_a_package_is_told(folder):
    wrong = {"separator:": "seperator:", "level: 1": "level: x", "level: 2": "levl: 2"}
    wrong |= {"corpora:": "corpora:\n  demo: {format: demo}"}
    files = {"wrong.yml": changed(OWN, wrong), "format.yml": changed(OWN, {"format: list": "format: wrong"})}
    write(folder, files)
    commands = ("run wrong.yml", "run format.yml --plan")  # by one process, which imports half of the time
    done = started(*commands, cwd=folder, code=REFUSED, PYTHONPATH=str(folder / "site"))
    assert done.stdout.split() == ["2", "2"] and "Traceback" not in done.stderr
    for words in (
        "corpora.calls.seperator: unknown key. Did you mean 'separator'?",
        "models.mine.level: x is not a whole number. Write 5.",
        "models.clean.levl: unknown key. Did you mean 'level'?",
        "corpora.demo.format: 'demo' is not known here.",
        "the format 'wrong' fails: ValueError: 2 columns passed, passed data had 3",
    ):
        assert words in done.stderr
