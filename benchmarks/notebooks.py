"""How much time a notebook costs beside its own work: forks of one process, and papermill alone.

Run ``python benchmarks/notebooks.py``. The same notebook, which imports what families import and draws a
figure, is executed one after the other by papermill with an ordinary kernel and by the runner with one
worker; the start of the worker stands apart, because a run pays for it once.

Ends with 1 if the goals are missed: 0.3 s a notebook, 7 times less than papermill alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import nbformat
import papermill

from soundcheck.common.media import Description
from soundcheck.run.notebooks import Job, Notebooks

NOTEBOOKS = 12
GOAL_SECONDS, GOAL_RATIO = 0.3, 7
CELL = """from soundcheck.evaluation import Evaluation
from soundcheck.report import label_views, group_views, page
import matplotlib.pyplot as plt
figure, axis = plt.subplots()
axis.plot([0, 1], [1, 0])
figure.canvas.draw()"""


def main() -> int:
    """Time both and compare."""
    folder = Path(tempfile.mkdtemp(prefix="soundcheck-benchmark-"))
    cells = [
        nbformat.v4.new_code_cell("run = ''", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(CELL),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    source = folder / "source.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), source)

    alone = []
    for number in range(NOTEBOOKS // 2):
        begin = time.perf_counter()
        papermill.execute_notebook(
            str(source), str(folder / f"alone {number}.ipynb"), {"run": ""}, progress_bar=False
        )
        alone.append(time.perf_counter() - begin)

    jobs = [
        Job(
            "model",
            f"family {number}",
            source,
            folder / f"forked {number}.ipynb",
            Description(media=folder, prefix="", rows=folder / f"{number}.json"),
            "",
            60.0,
            judges=False,
        )
        for number in range(NOTEBOOKS)
    ]
    times = [time.perf_counter()]
    with Notebooks(folder / "cache", folder / "log", workers=1) as notebooks:
        outcomes = notebooks.execute(jobs, lambda _: times.append(time.perf_counter()))
    failed = [outcome.error for outcome in outcomes if outcome.error]
    if failed:
        print(failed[0])
        return 1
    each = [after - before for before, after in zip(times, times[1:], strict=False)]
    usual, forked = sorted(alone)[len(alone) // 2], sorted(each[1:])[len(each) // 2]
    print(f"papermill alone      {usual:6.2f} s a notebook (median of {len(alone)})")
    print(f"forks of one process {forked:6.2f} s a notebook (median of {len(each) - 1})")
    print(f"ratio                {usual / forked:6.1f}")
    print(f"the first, with the start of the worker {each[0]:.2f} s")
    return 0 if forked <= GOAL_SECONDS and usual / forked >= GOAL_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
