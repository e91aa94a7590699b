"""Executes a notebook with IPython in this process, as an engine of papermill: no kernel, no sockets."""

from __future__ import annotations

import base64
import contextlib
import io
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.display import display
from nbformat.v4 import new_output
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from traitlets import Type
from traitlets.config import Config

NAME = "soundcheck"  # among papermill's engines
SAVED_SECONDS = 1.0  # a notebook is written before a cell if it was not for so long: writing takes its time


class OutOfTimeError(BaseException):
    """A cell took longer than it may; no `except Exception` of a notebook gets in the way."""


class _Stream(io.TextIOBase):
    """What a cell prints becomes its output, in order with what it shows."""

    def __init__(self, name: str, outputs: list[dict]) -> None:
        self._name, self._outputs = name, outputs

    def write(self, text: str) -> int:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("name") == self._name:
            last["text"] += text
        elif text:
            self._outputs.append(new_output("stream", name=self._name, text=text))
        return len(text)


class _Publisher(DisplayPublisher):
    """Makes outputs of what a cell displays."""

    def publish(self, data: dict, metadata: dict | None = None, **more: Any) -> None:
        name = (more.get("transient") or {}).get("display_id")
        self.shell.show("display_data", data, metadata, name, more.get("update", False))

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear()


class _Hook(DisplayHook):
    """Makes an output of the value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        self.shell.show("execute_result", format_dict, md_dict, execution_count=self.prompt_count)

    def finish_displayhook(self) -> None:
        self._is_active = False


class Shell(InteractiveShell):
    """IPython that collects the outputs of a cell."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    system = InteractiveShell.system_piped
    outputs: ClassVar[list[dict]] = []  # of the present cell

    def show(
        self,
        kind: str,
        data: Mapping[str, Any],
        metadata: Mapping[str, Any] | None,
        name: str | None = None,
        update: bool = False,
        **more: int,
    ) -> None:
        """Add an output, or put it in the place of an earlier one of the same name."""
        data = {
            key: base64.b64encode(value).decode() if isinstance(value, bytes) else value
            for key, value in data.items()
        }
        output = new_output(kind, data=data, metadata=dict(metadata or {}), **more)
        if update:
            for earlier in self._named.get(name, ()):
                earlier |= {"data": data, "metadata": output["metadata"]}
            return
        self.outputs.append(output)
        if name is not None:
            self._named.setdefault(name, []).append(output)

    _named: ClassVar[dict[str, list[dict]]] = {}

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        content = {"ename": etype.__name__, "evalue": str(evalue), "traceback": list(stb)}
        self.outputs.append(new_output("error", **content))

    def show_figures(self) -> None:
        """Show the figures that pyplot has open after a cell, whatever backend it has."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            for number in pyplot.get_fignums():
                display(pyplot.figure(number))
            pyplot.close("all")


def _shell(folder: str) -> Shell:
    settings = Config(HistoryManager={"enabled": False})
    shell = Shell.instance(config=settings, ipython_dir=folder)
    select_figure_formats(shell, {"png"})
    shell.events.register("post_execute", shell.show_figures)
    return shell


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what happens in a block after some seconds, as far as it is Python."""

    def end(*_: object) -> None:
        raise OutOfTimeError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class ShellEngine(Engine):
    """Executes all cells of a notebook until one fails."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, *, limit: float, folder: str, **_: object
    ) -> None:
        """Execute the cells, each of which may take ``limit`` seconds; papermill writes the notebook.

        - Raises OutOfTimeError: if a cell took longer.
        - Raises RuntimeError: if a cell ended the notebook without an error.
        """
        shell, saved = _shell(folder), time.monotonic()
        for number, cell in enumerate(nb_man.nb.cells, start=1):
            if cell.cell_type != "code" or not cell.source.strip():
                continue
            if time.monotonic() > saved + SAVED_SECONDS:  # for whoever ends a cell that no signal ends
                nb_man.save()
                saved = time.monotonic()
            cell.execution_count = shell.execution_count
            shell.outputs = cell.outputs = []
            with (
                contextlib.redirect_stdout(_Stream("stdout", cell.outputs)),
                contextlib.redirect_stderr(_Stream("stderr", cell.outputs)),
                _limited(limit),
            ):
                result = shell.run_cell(cell.source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            if isinstance(error, OutOfTimeError):
                raise error
            if isinstance(error, SystemExit):
                raise RuntimeError(f"the notebook ended in cell {number}, the cells after it did not run")
            if error is not None:
                if not any(output["output_type"] == "error" for output in cell.outputs):
                    shell._showtraceback(type(error), error, [])
                return


papermill_engines.register(NAME, ShellEngine)
