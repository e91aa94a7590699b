"""What ``soundcheck init --family`` writes can be run, and nothing is overwritten."""

import re
import textwrap
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.results.table import read_results
from soundcheck.start import suites
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "like"),
    [
        *(("true", ""), ("MY_TITLE_NAME", ""), ("mine", "speaker_verification")),
    ],
)
def test_the_files_of_a_family_are_valid_and_not_overwritten(tmp_path, name, like):
    suites.write_suite(tmp_path, None, None)
    summary = suites.write_family(tmp_path, name, like)
    family, title = read_family(name, tmp_path), name.replace("_", " ").capitalize()
    assert (family.name, family.title) == (name, title) and name in read_suite(
        tmp_path / "suite.yml"
    ).families
    notebook = nbformat.read(tmp_path / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith(f"# {title}\n")
    assert notebook.cells[-1].source == "evaluation.save()"
    assert (tmp_path / "book" / "methods" / f"{name}.md").read_text().startswith(f"# {title}\n")
    assert f"add {name} to families:" in summary and str(tmp_path / "suite.yml") in summary
    if like:
        shipped = read_family(like, tmp_path)
        assert family.category == shipped.category
        assert (family.tests, family.changes) == (shipped.tests, shipped.changes)
    (tmp_path / "thresholds" / f"{name}.yml").unlink()
    with pytest.raises(InputError, match=f"notebooks/{name}.ipynb: the file exists already"):
        suites.write_family(tmp_path, name)
    assert not (tmp_path / "thresholds" / f"{name}.yml").exists()


def test_names_that_cannot_be_used(tmp_path):
    odd = ["", "../a", "9a", "é", "a\n", "a" * 41, "ALL", "Null"]
    for name in [*odd, "Fairness_Sex", "comparison"]:
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
corpora: {calls: {format: csv, path: calls.csv, audio: false}}
models: {table: {predictions: predictions.csv, tasks: [arousal]}}
families: [rare_errors, by_sex]
"""


def test_the_handbook_leads_to_a_page_in_the_book(tmp_path, undrawn):
    """The command and the code that the handbook prints, on a small table, up to the book."""
    text = (ROOT / "book" / "extending.md").read_text(encoding="utf-8")
    guide = text.partition("## A family of tests")[2].partition("\n## ")[0]
    (command,) = re.findall(r"soundcheck (init --family .*?) my-suite", guide)
    assert command == "init --family rare_errors"
    folder, rng, n = tmp_path / "my-suite", np.random.default_rng(0), 60
    folder.mkdir()
    table = pd.DataFrame([(f"{i}.wav", f"s{i % 12}") for i in range(n)], columns=["file", "speaker"])
    table["sex"] = np.where(np.arange(n) % 2, "female", "male")
    table["arousal"] = rng.random(n).round(3)
    predicted = table[["file"]].assign(arousal=(table["arousal"] + rng.normal(0, 0.1, n)).round(3))
    table.to_csv(folder / "calls.csv", index=False)
    predicted.to_csv(folder / "predictions.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)
    for line in (command, "init --family by_sex"):
        done = undrawn(*line.split(), "my-suite", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    first, second = map(textwrap.dedent, re.findall(r" *```python\n(.*?) *```", guide, re.DOTALL))
    # The handbook shows what is written; its second example gives numbers by label, in another family.
    path = folder / "notebooks" / "by_sex.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.source == first.strip()]
    judge = "    evaluation.judge(sample, 'Rarely Exceeded Error', error_by_sex)\n"
    cell.source = f"{second}\n\nfor sample in evaluation.samples():\n{judge}"
    nbformat.write(notebook, path)

    done = undrawn("run", "my-suite/suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    frame = read_results(tmp_path / "out" / "results.csv")
    rows = dict(list(frame.groupby("family")))
    errors = (predicted["arousal"] - table["arousal"]).abs()
    (row,) = rows["rare_errors"].to_dict("records")
    assert row["value"] == pytest.approx(errors.quantile(0.9), abs=1e-9)
    assert row["passed"] and (row["segments"], row["blocks"]) == (n, 12)
    assert row["low"] < row["value"] < row["high"] and row["reference"] > row["value"]
    by_sex = rows["by_sex"].set_index("label")["value"].to_dict()
    assert by_sex == pytest.approx(errors.groupby(table["sex"]).mean().to_dict(), abs=1e-9)
    html = tmp_path / "out" / "html"
    page = (html / "results" / "table" / "rare_errors.html").read_text()
    assert "Rarely Exceeded Error" in page and "calling the measure again for each replicate" in page
    assert "a first guess" in (html / "methods" / "rare_errors.html").read_text()
