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

SUITE = """# A suite: which models are tested, on which corpora, by which families of tests.
title: My models

# The same seed gives the same book, on any machine and with any number of jobs.
seed: 0

# What the models listen to. Each corpus has a name of your choice.
corpora:
  demo: # synthetic speech, made on first use; says nothing about real voices
    format: demo
  # A table of your own recordings, with the columns file, speaker, sex and one column for each labelled task:
  # calls:
  #   format: csv
  #   path: data/segments.csv # relative to this file
  #   columns: {arousal: activation} # our name: the name in your table
  #   range: [1, 7] # lowest and highest possible label

# What is tested. Each model has a name of your choice and says what it predicts.
models:
  mine: # a function of one signal, in my_model.py beside this file
    python: "my_model:predict"
    tasks: [arousal]
    # range: [1, 7] # lowest and highest possible answer, if not 0 and 1
  random-gaussian: # guesses: a test that it passes tells little
    random: gaussian
  # Predictions that you already have, one row a segment:
  # theirs:
  #   predictions: theirs.csv
  #   tasks: [arousal]
  # A recogniser that is a program and prints the transcript:
  # asr:
  #   command: "my-asr --model small {audio}"

# What models predict beside arousal, dominance, valence, emotion, transcript and embedding:
# tasks:
#   feeling: {type: classification, classes: [anger, boredom, disgust, fear, joy, neutral, sadness]}
#   tension: {type: regression, range: [1, 7]}

# Noises and impulse responses are synthesised. Where you have recordings, name their folders:
# sounds:
#   noise: ~/data/musan # with folders speech, noise and music

# Which models are compared, segment by segment. Each comparison has a name of your choice.
comparisons:
  mine against chance: {baseline: random-gaussian, candidate: mine}

# How many segments of a corpus recognisers hear under dozens of transformations.
# Default: as many as it takes to judge each group that has 50.
# limits:
#   transformed_segments: 400

# Which tests are run: all, or a list such as [correctness_regression, fairness_sex].
families: all

# What a group may differ by. gap: from all others by less than what matters; published: from all together,
# itself included, by less than the published threshold; simulated: that stretched to the size of the groups.
thresholds: gap

# The difference to the others that matters, in all tests of groups; without it the published thresholds.
# matters: 0.1

# Groups that are compared beside sex, accent, language and pitch: columns, ranges of numbers, pairs;
# and what may explain a difference. Measured on the sound: signal_to_noise, level, bandwidth, duration, ...
# groups: [device, {age: {young: [0, 39], old: [40, 120]}}, sex × age]
# adjust: [signal_to_noise]

# Intervals by Student's t on a scale where values are free, honest with few speakers too; or percentile.
interval: t
"""


FAMILY = """# What the family NAME tests: rules, thresholds, and where the thresholds come from.
family: NAME
category: correctness # or fairness, robustness
title: TITLE
question: How large are the errors that are rarely exceeded?
tasks: [regression] # kinds of tasks that it is for: regression, classification, transcription
# columns: [speaker] # of the segment table that it needs besides the labels
tests:
  Rarely Exceeded Error: # the notebook judges it by this name
    rule: "<" # a value passes if it is below the threshold; ">" and "|value| <" are the others
    range: [0, 1]
    thresholds: {regression: 0.3} # of all tasks of this kind, or of one task by its name
    source: a first guess, to be replaced
    note: Nine of ten predictions are closer to the label than this.
"""

PAGE = """# TITLE

## Question

How large are the errors that are rarely exceeded? The mean absolute error says little about them.

## Computation

*Rarely Exceeded Error* is the 90 % quantile of the distances of predictions from labels, on the scale from
0 to 1.

## Tests and thresholds

<!-- thresholds -->

## What it cannot show

The threshold is a first guess.
"""

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


def write(folder: Path) -> str:
    """Write ``suite.yml`` and ``my_model.py`` into a folder; never overwrites.

    Returns
    -------
    str
        What to do next.

    Raises
    ------
    InputError
        If one of the files is there already.
    """
    write_files(folder, {"suite.yml": SUITE, "my_model.py": MODEL}, "Choose another folder")
    return f"Wrote suite.yml and my_model.py. Next: soundcheck run {folder / 'suite.yml'}"


def write_family(folder: Path, name: str) -> str:
    """Write the three files of a family of tests, ready to run, beside a suite; never overwrites.

    Parameters
    ----------
    folder
        Folder of the suite.
    name
        Name of the family: up to 40 letters, digits and underscores, a letter first.

    Returns
    -------
    str
        What to do next.

    Raises
    ------
    InputError
        If the name cannot be used or is that of a family, or if one of the files is there already.
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
    contents = {"thresholds/NAME.yml": FAMILY, "notebooks/NAME.ipynb": _notebook()}
    contents["book/methods/NAME.md"] = PAGE
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
