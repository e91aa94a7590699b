"""Writes a suite or a family of tests to start from: ``soundcheck init``."""

from __future__ import annotations

import re
from pathlib import Path

from soundcheck.common import files, resources
from soundcheck.common.errors import InputError, Problem, input_error
from soundcheck.common.escaping import quoted

MODEL = '''"""A model to replace by yours: louder speech is more aroused."""

import numpy as np


def predict(signal, sampling_rate):
    """Predict from one signal: float32, shape (samples,), mono, 16000 Hz."""
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    return {"arousal": float(np.clip((level + 45) / 30, 0, 1))}
'''


MEASURE = '''def rarely_exceeded_error(subset, predictions):
    """Give the error that nine of ten predictions stay below."""
    return np.quantile(np.abs(predictions.clean - subset.truth), 0.9)


for subset in evaluation.subsets():
    evaluation.judge(subset, "Rarely Exceeded Error", rarely_exceeded_error)
page.verdicts(evaluation)'''

CELLS = (  # of the notebook of a family; texts with a line feed at the end are Markdown
    "# TITLE\n\nHow large are the errors that are rarely exceeded?\n",
    'run = ""',
    """import numpy as np

from soundcheck.evaluation import Evaluation
from soundcheck.report import page

evaluation = Evaluation.load(run)
page.opening(evaluation)""",
    """## Verdicts

A measure is a function of a subset (its rows, `subset.segments`, and their labels, `subset.truth`) and of
predictions for it (`predictions.clean`, and `predictions.changed` where signals were changed). It returns a
number, a mapping of label to number, or a statistic of `soundcheck.metrics`, which is faster.
""",
    MEASURE,
    "The rows go into the results table.\n",
    "evaluation.save()",
)

_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")


def _template(name: str) -> str:
    return Path(__file__).with_name("templates").joinpath(name).read_text(encoding="utf-8")


def write(folder: Path) -> str:
    """Write ``suite.yml`` and ``my_model.py`` into a folder; never overwrites.

    Raises InputError: if one of the files is there already.
    """
    write_files(folder, {"suite.yml": _template("suite.yml"), "my_model.py": MODEL}, "Choose another folder")
    return f"Wrote suite.yml and my_model.py. Next: soundcheck run {folder / 'suite.yml'}"


def write_family(folder: Path, name: str) -> str:
    """Write the three files of a family of tests, ready to run, beside a suite; never overwrites.

    - ``name``: name of the family: up to 40 letters, digits and underscores, a letter first.
    - Raises InputError: if the name cannot be used or is that of a family, or if one of the files is there
      already.
    """
    where = f"--family {quoted(name)}"
    if not _NAME.fullmatch(name) or name.lower() in ("all", "null"):
        what = "this cannot be the name of a family"
        raise input_error(
            where, what, "Use up to 40 letters (a to z), digits and underscores, a letter first"
        )
    shipped = {known.lower() for known in resources.names("thresholds", ".yml")}
    if name.lower() in shipped | {path.stem for path in (resources.root() / "notebooks").glob("*.ipynb")}:
        raise input_error(where, "Soundcheck has something of this name already", "Choose another name")
    title = name.replace("_", " ").capitalize()
    if not folder.is_dir():
        raise input_error(str(folder), "the folder does not exist", "Name the folder of your suite.yml")
    contents = {"thresholds/NAME.yml": _template("family.yml"), "notebooks/NAME.ipynb": _notebook()}
    contents["book/methods/NAME.md"] = _template("family.md")
    words = {"NAME": name, "TITLE": title}
    filled = {
        place.replace("NAME", name): re.sub("NAME|TITLE", lambda found: words[found[0]], text)
        for place, text in contents.items()
    }
    write_files(folder, filled, "Choose another name")
    suite = folder / "suite.yml"
    return (
        f"Wrote {', '.join(filled)}. Next: add {name} to families: in {suite} (families: all includes it), "
        f"then soundcheck run {suite}"
    )


def write_files(folder: Path, contents: dict[str, str], remedy: str) -> None:
    """Write all files, or none if one of them is there already."""
    for name in contents:
        files.refuse_link(folder / name, name.count("/"))
    there = [folder / name for name in contents if (folder / name).exists()]
    if there:
        raise InputError(Problem(str(path), "the file exists already", remedy) for path in there)
    files.write_all({folder / name: text for name, text in contents.items()})


def _notebook() -> str:
    """Make a notebook of the cells, as Jupyter writes it."""
    import nbformat  # only needed here, and slow to import

    cells = []
    for number, text in enumerate(CELLS):
        new = nbformat.v4.new_markdown_cell if text.endswith("\n") else nbformat.v4.new_code_cell
        metadata = {"tags": ["parameters"]} if text.startswith("run =") else {}
        cells.append(new(text.rstrip("\n"), id=f"cell-{number:02d}", metadata=metadata))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata=metadata)) + "\n"
