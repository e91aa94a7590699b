"""What ``soundcheck init --family`` writes can be run, and nothing is overwritten."""

import json
import re
import textwrap
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.errors import InputError
from soundcheck.results.table import read_results
from soundcheck.start import suites
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["my_tests", "true", "MY_TITLE_NAME", "a" * 40])
def test_the_files_of_a_family_are_valid_and_not_overwritten(tmp_path, name):
    suites.write_suite(tmp_path, None, None)
    summary = suites.write_family(tmp_path, name)
    family = read_family(name, tmp_path)
    assert family.name == name and list(family.tests) == ["Rarely Exceeded Error"]
    notebook = nbformat.read(tmp_path / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith(f"# {family.title}\n")
    assert notebook.cells[-1].source == "evaluation.save()"
    assert (tmp_path / "book" / "methods" / f"{name}.md").read_text().startswith(f"# {family.title}\n")
    assert f"add {name} to families:" in summary and str(tmp_path / "suite.yml") in summary
    assert name in read_suite(tmp_path / "suite.yml").families
    (tmp_path / "thresholds" / f"{name}.yml").unlink()
    with pytest.raises(InputError, match=f"notebooks/{name}.ipynb: the file exists already"):
        suites.write_family(tmp_path, name)
    assert not (tmp_path / "thresholds" / f"{name}.yml").exists()


@pytest.mark.parametrize("like", ["robustness_small_changes", "speaker_verification"])
def test_a_family_may_copy_a_shipped_one(tmp_path, like):
    suites.write_family(tmp_path, "mine", like)
    copy, shipped = read_family("mine", tmp_path), read_family(like, tmp_path)
    assert (copy.name, copy.title, copy.category) == ("mine", "Mine", shipped.category)
    assert copy.tests == shipped.tests and copy.changes == shipped.changes
    notebook = nbformat.read(tmp_path / "notebooks" / "mine.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# Mine\n")


def test_names_that_cannot_be_used(tmp_path):
    odd = ["", "a b", "a-b", "../a", "a.b", "9a", "_a", "é", "a\n", "a" * 41, "all", "ALL", "Null"]
    for name in [*odd, "fairness_sex", "Fairness_Sex", "comparison"]:
        with pytest.raises(InputError, match="cannot be the name of a family|of this name already"):
            suites.write_family(tmp_path, name)
    with pytest.raises(InputError, match="Did you mean 'fairness_sex'"):
        suites.write_family(tmp_path, "other", "fairness_six")
    with pytest.raises(InputError, match="no: the folder does not exist"):
        suites.write_family(tmp_path / "no", "mine")
    assert not list(tmp_path.iterdir())


SUITE = """
studies: false
replicates: 200
corpora: {calls: {format: csv, path: calls.csv}}
models: {table: {predictions: predictions.csv, tasks: [arousal]}}
families: [rare_errors, by_sex, my_values, correctness_regression]
"""


def test_the_handbook_leads_to_a_page_in_the_book(tmp_path, undrawn):
    """The command and the code that the handbook prints, on a small table, up to the book."""
    text = (ROOT / "book" / "extending.md").read_text(encoding="utf-8")
    guide = text.partition("## A family of tests")[2].partition("\n## ")[0]
    (command,) = re.findall(r"soundcheck (init --family .*?) my-suite", guide)
    assert command == "init --family rare_errors"
    folder, rng, n = tmp_path / "my-suite", np.random.default_rng(0), 60
    folder.mkdir()
    names = [f"{i}.wav" for i in range(n)]
    table = pd.DataFrame({"file": names, "speaker": [f"s{i % 12}" for i in range(n)]})
    table["sex"] = np.where(np.arange(n) % 2, "female", "male")
    table["arousal"] = rng.random(n).round(3)
    for name in names:
        soundfile.write(folder / name, rng.normal(0, 0.05, 1600), 16000)
    table.to_csv(folder / "calls.csv", index=False)
    predicted = table[["file"]].assign(arousal=(table["arousal"] + rng.normal(0, 0.1, n)).round(3))
    predicted.to_csv(folder / "predictions.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)
    copied = "init --family my_values --like correctness_regression"
    for line in (command, "init --family by_sex", copied):
        done = undrawn(*line.split(), "my-suite", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    first, second = map(textwrap.dedent, re.findall(r" *```python\n(.*?) *```", guide, re.DOTALL))
    notebook = json.loads((folder / "notebooks" / "rare_errors.ipynb").read_text())
    code = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert first.strip() in code  # the handbook shows what is written
    # The second example gives numbers by label; it takes the place of the first in another family.
    path = folder / "notebooks" / "by_sex.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"][code.index(first.strip())]["source"] = second + (
        "\n\nfor sample in evaluation.samples():\n"
        "    evaluation.judge(sample, 'Rarely Exceeded Error', error_by_sex)\n"
    )
    path.write_text(json.dumps(notebook))

    done = undrawn("run", "my-suite/suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    frame = read_results(tmp_path / "out" / "results.csv")
    errors = (predicted["arousal"] - table["arousal"]).abs()
    (row,) = frame[frame["family"] == "rare_errors"].to_dict("records")
    assert row["value"] == pytest.approx(errors.quantile(0.9), abs=1e-9)
    assert row["passed"] and (row["segments"], row["blocks"]) == (n, 12)
    assert row["low"] < row["value"] < row["high"] and row["reference"] > row["value"]
    by_sex = frame[frame["family"] == "by_sex"].set_index("label")["value"]
    assert by_sex.to_dict() == pytest.approx(errors.groupby(table["sex"]).mean().to_dict(), abs=1e-9)
    values = [frame.loc[frame["family"] == name, "value"] for name in ("my_values", "correctness_regression")]
    assert len(values[0]) and values[0].tolist() == pytest.approx(values[1].tolist(), nan_ok=True)
    html = tmp_path / "out" / "html"
    page = (html / "results" / "table" / "rare_errors.html").read_text()
    assert "Rarely Exceeded Error" in page and "calling the measure again for each replicate" in page
    assert "a first guess" in (html / "methods" / "rare_errors.html").read_text()
