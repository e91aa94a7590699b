"""papermill's way of executing a notebook, with one difference: it writes the file seldom.

papermill checks and writes the whole notebook before and after every cell, which takes longer than all else
that it does. Here it is written when it is complete, and a second after a change while a cell still computes:
whoever ends the process of a slow notebook finds what it had shown until then.
"""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_core.utils import ensure_event_loop
from papermill.engines import NBClientEngine, NotebookExecutionManager, papermill_engines

NAME = "soundcheck"  # among papermill's engines
SECONDS = 1.0  # from a change until it is written, while a cell computes


class SparingEngine(NBClientEngine):
    """Executes a notebook and writes it seldom."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, **options: Any
    ) -> None:
        """Execute the notebook that a manager has; papermill writes it before and after this."""
        # papermill waits for a cell in this loop, so nothing changes the notebook while it is written.
        loop = ensure_event_loop()
        save, waiting = nb_man.save, list[asyncio.TimerHandle]()

        def save_now() -> None:
            waiting.clear()
            save()

        def save_soon() -> None:
            if not waiting:
                waiting.append(loop.call_later(SECONDS, save_now))

        nb_man.save = save_soon
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **options)
        finally:
            del nb_man.save
            for handle in waiting:
                handle.cancel()


papermill_engines.register(NAME, SparingEngine)
