"""Makes figures outputs of the cell that draws them, whatever backend matplotlib has; runs in the kernel."""

from __future__ import annotations

import sys

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.display import display

BEGIN = f"__import__({__name__!r}, fromlist=['begin']).begin(get_ipython())"  # the first line of a kernel


def begin(shell: InteractiveShell) -> None:
    """Let a kernel show figures: those of a last line, and those that pyplot has open after a cell."""
    select_figure_formats(shell, {"png"})
    shell.events.register("post_execute", _show_open_figures)


def _show_open_figures() -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        for number in pyplot.get_fignums():
            display(pyplot.figure(number))
        pyplot.close("all")
