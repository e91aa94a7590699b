"""Executes one notebook in a process of its own.

papermill changes the working directory and a kernel may die, so each notebook gets its own process, and one
string as parameter, the path of the evaluation's description (papermill pastes other values unescaped into
code). :mod:`soundcheck.run.notebook_worker` calls :func:`main` in forks; where there are none, the process is
``python -m soundcheck.run.notebook_process TASK.json``.

A notebook counts as executed only if every code cell has an execution count: ``sys.exit(0)`` in a cell ends
the run without an error, and a kernel that dies leaves a notebook without any error in it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from pathlib import Path

from soundcheck.common.json_file import JsonFile
from soundcheck.run import shown_figures
from soundcheck.run.notebook_outputs import unshown

KERNEL_NAME = "python3"
START_SECONDS = 180  # a kernel may start slowly on a busy machine


@dataclasses.dataclass(frozen=True)
class NotebookTask(JsonFile):
    """What the process is to do.

    Parameters
    ----------
    source, target
        The notebook, and where the executed one is written.
    description
        The notebook's parameter.
    limit
        Seconds that a cell may take.
    ending
        File for the :class:`Ending`.
    folder
        Folder in which the notebook runs.
    """

    source: Path
    target: Path
    description: Path
    limit: float
    ending: Path
    folder: Path


@dataclasses.dataclass(frozen=True)
class Ending(JsonFile):
    """How a notebook ended: the problem, whether any cell was executed, kinds of outputs no page shows."""

    problem: str
    started: bool
    unshown: tuple[str, ...] = ()


def jupyter_folders(folder: Path) -> dict[str, str]:
    """Make private Jupyter folders and return the environment that points there.

    Kernels write connection files and a history; several runs at once, or a home that cannot be written,
    must not matter. The kernel is the very Python that runs us, whatever kernels the user has installed.
    """
    kernel = folder / "kernels" / KERNEL_NAME
    kernel.mkdir(parents=True, exist_ok=True)
    arguments = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    arguments += ["--HistoryManager.enabled=False", f"--IPKernelApp.exec_lines={shown_figures.BEGIN}"]
    specification = {"argv": arguments, "display_name": "Python 3", "language": "python"}
    if hasattr(os, "fork"):
        specification["metadata"] = {"kernel_provisioner": {"provisioner_name": "soundcheck-forked"}}
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    (folder / "ipython").mkdir(exist_ok=True)
    return {
        "JUPYTER_PATH": str(folder),
        "JUPYTER_DATA_DIR": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # figures become outputs
    }


def unfinished_cell(notebook: dict) -> int | None:
    """Find the first code cell that was not executed to its end.

    Returns its number, counted from 1, or ``None`` if all were.
    """
    for number, cell in enumerate(notebook.get("cells", []), start=1):
        if cell.get("cell_type") != "code" or not "".join(cell.get("source", "")).strip():
            continue
        failed = any(output.get("output_type") == "error" for output in cell.get("outputs", []))
        if cell.get("execution_count") is None or failed:
            return number
    return None


def started(notebook: dict) -> bool:
    """Tell whether at least one code cell of the user's notebook was executed."""
    return any(
        cell.get("execution_count") is not None
        for cell in notebook.get("cells", [])
        if cell.get("cell_type") == "code"
    )


def main(task_file: str, **options: object) -> int:
    """Execute the notebook that a file with a :class:`NotebookTask` names, and write its ending.

    Parameters
    ----------
    task_file
        The file.
    options
        For the engine of papermill.
    """
    task = NotebookTask.read(task_file)
    import nbformat
    import papermill

    from soundcheck.run import notebook_engine

    problem = ""
    try:
        papermill.execute_notebook(
            str(task.source),
            str(task.target),
            parameters={"run": str(task.description)},
            engine_name=notebook_engine.NAME,
            kernel_name=KERNEL_NAME,
            progress_bar=False,
            log_output=False,
            start_timeout=START_SECONDS,
            execution_timeout=math.ceil(task.limit),
            autosave_cell_every=0,
            cwd=str(task.folder),
            **options,
        )
    except papermill.PapermillExecutionError as error:
        problem = f"{error.ename}: {error.evalue}"
    except Exception as error:  # kernel death, time limit, notebook format: all end as a listed failure
        problem = f"{type(error).__name__}: {error}"
    try:
        notebook = nbformat.read(task.target, as_version=4)
    except Exception as error:  # nothing usable was written
        notebook = {"cells": []}
        problem = problem or f"{type(error).__name__}: {error}"
    cell = unfinished_cell(notebook)
    if not problem and cell is not None:
        problem = f"the kernel ended in cell {cell}, the cells after it did not run"
    Ending(problem, started(notebook), unshown(notebook["cells"])).write(task.ending)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
