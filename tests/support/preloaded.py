"""The ``soundcheck`` command and what it starts, forked from a process that has imported the library.

Starting Python and importing all that a run needs takes five seconds of processor time, and the tests run
the command hundreds of times. Here one server, which all workers of a test session share, imports and
computes nothing; each command is a fork of it with its own arguments, folder, environment and output, and
ends as Python ends. The processes that it starts for notebooks and the book are forked from the same server,
not from the command, so that they know nothing of it.

Tests that are about processes use ``runs.started``, or start what they need themselves.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
from base64 import b64decode
from contextlib import suppress
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import MagicMock

COMMAND, SCRIPT = "command", "-c"
MISSING = "SOUNDCHECK_TESTS_MISSING"  # a variable: modules that a fork does not find, installed or not
UNDRAWN = "SOUNDCHECK_TESTS_UNDRAWN"  # a variable: whether figures and pictures of sounds come out blank
UNBUILT = "SOUNDCHECK_TESTS_UNBUILT"  # a variable: whether pages of a book are their sources, without Sphinx
IMPORTED = "SOUNDCHECK_TESTS_IMPORTED"  # a variable: modules that the processes of models are forked with
SHARED = "SOUNDCHECK_TESTS_SHARED"  # a variable: folder of the demo's sounds and of simulated thresholds
TEMPLATES = "SOUNDCHECK_TESTS_TEMPLATES"  # a variable: folder of compiled templates of pages
NOTEBOOKS = "soundcheck.run.notebook_server"
BOOKS = "soundcheck.book.site"
EXTENSIONS = ("myst_nb.sphinx_ext", "sphinx_book_theme", "sphinx_external_toc", "sphinx_multitoc_numbering")
EXTENSIONS += ("sphinx.ext.mathjax", "sphinxcontrib.bibtex", "pybtex.plugin", "jupyter_book.cli.main")
EXTENSIONS += ("soundcheck.book.extension", "soundcheck.report.html")
# What the library imports when it is first needed, and every fork would.
LAZY = ("scipy.signal", "scipy.stats", "seaborn", "pyarrow.dataset", "pandas.core.methods.to_dict", "av")
LAZY += ("matplotlib.backends.backend_svg", "matplotlib.style", "PIL.GifImagePlugin", "PIL.JpegImagePlugin")
LAZY += ("pyroomacoustics", "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect")
LAZY += ("IPython.extensions.storemagic", "tornado.platform.asyncio", "joblib", "linkify_it", "markdown_it")
LAZY += ("parselmouth", "whisper_normalizer.english", "audplot", "pandas.plotting")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # numpy reads them when it is imported
END_SECONDS = 20.0
NUMBER = 4  # bytes
PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="
)
BLANK = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'


class Preloaded:
    """The server, of which processes can be asked for."""

    def __init__(self, address: str) -> None:
        self._address = address

    @classmethod
    def shared(cls, folder: Path, environment: dict[str, str]) -> Preloaded:
        """Find the server of a folder, or start it; it ends with the last process that has asked for it."""
        server = cls(str(folder / "address"))
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                server._connection = server.connected()
            except OSError:
                Path(server._address).unlink(missing_ok=True)
                with socket.socket(socket.AF_UNIX) as listening:
                    listening.bind(server._address)
                    listening.listen()
                    # It is kept, else Python would warn that nobody waits for it.
                    server._process = subprocess.Popen(
                        [sys.executable, "-P", __file__, server._address, str(listening.fileno())],
                        pass_fds=[listening.fileno()],
                        env=environment | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONHASHSEED": "0"},
                        stdin=subprocess.DEVNULL,
                    )
                server._connection = server.connected()
        return server

    def connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        return connection

    def subprocess(self) -> types.SimpleNamespace:
        """Give what code that starts processes takes for ``subprocess``: they are forked here."""
        return types.SimpleNamespace(**vars(subprocess) | {"Popen": self._popen})

    def _popen(
        self, arguments, *, stdin, stdout, stderr, env, start_new_session=False, pass_fds=()
    ) -> Forked:
        python, *words = arguments
        module, *words = words if words[0] == SCRIPT else words[2:]
        assert python == sys.executable and module in (NOTEBOOKS, BOOKS, SCRIPT)
        assert start_new_session == (module == NOTEBOOKS)
        words = [] if module == NOTEBOOKS else words  # it gets its own as descriptors
        with open(os.devnull, "r+b") as nothing:
            numbers = {None: 2, subprocess.DEVNULL: nothing.fileno()}
            streams = [stdin, stdout, stdout if module in (BOOKS, NOTEBOOKS) else stderr]
            streams = [one.fileno() if hasattr(one, "fileno") else numbers.get(one, one) for one in streams]
            return self._forked(module, words, os.getcwd(), env, *streams, *pass_fds)

    def _forked(self, kind: str, arguments: list, folder: str, environment: dict, *streams: int) -> Forked:
        request = {"kind": kind, "arguments": arguments, "folder": folder, "environment": dict(environment)}
        return Forked(self.connected(), request, *streams)

    def command(
        self, arguments: list[str], folder: str, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess:
        """Run the command, as ``subprocess.run`` would."""
        file = tempfile.TemporaryFile
        with open(os.devnull) as nothing, file("w+") as output, file("w+") as errors:
            streams = [stream.fileno() for stream in (nothing, output, errors)]
            process = self._forked(COMMAND, arguments, folder, environment, *streams)
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


class Forked:
    """A process that was forked, and what is asked of a ``subprocess.Popen``."""

    def __init__(self, server: socket.socket, request: dict[str, Any], *descriptors: int) -> None:
        self._server = server
        self.returncode: int | None = None
        with tempfile.TemporaryFile() as file:  # a stream may cut a long message
            file.write(json.dumps(request).encode())
            file.seek(0)
            socket.send_fds(server, [b"+"], [file.fileno(), *descriptors])
            self.pid = self._number()

    def _number(self) -> int:
        received = self._server.recv(NUMBER, socket.MSG_WAITALL)
        if not received:
            raise RuntimeError("the preloaded process has ended")
        return int.from_bytes(received, "little", signed=True)

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float = END_SECONDS) -> int:
        if self.returncode is None:
            if not select.select([self._server], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self.returncode = self._number()
            self._server.close()
        return self.returncode


def _preload() -> None:
    import soundcheck
    from soundcheck.common import messages, store, templates
    from soundcheck.evaluation.evaluation import EvaluationDescription
    from soundcheck.models import processes
    from soundcheck.results.record import RunRecord
    from soundcheck.run import notebook_server
    from soundcheck.suite import corpus_format, entries

    notebook_server.preload()
    for module in pkgutil.walk_packages(soundcheck.__path__, "soundcheck."):
        importlib.import_module(module.name)
    for name in LAZY:
        vars(importlib.import_module(name))  # loads one that waits for its first use
    for words in (entries.MODEL_KINDS, corpus_format.CORPUS_FORMATS):
        len(words)  # looks through all that is installed
    list(map(store.adapter, (EvaluationDescription, RunRecord)))
    pages = templates._environment(messages.escape)
    pages.filters |= templates.FILTERS
    for name in pages.list_templates(filter_func=lambda name: name.endswith(".html.j2")):
        pages.get_template(name)
    _keep_apart()
    processes.context().set_forkserver_preload([*processes.PRELOADED, "scipy.signal"])
    forkserver.ensure_running()  # the commands have it in common


@functools.cache
def _preload_sphinx() -> tuple[Any, str]:
    """Import what builds a book, once the first one is wanted; gives all entry points, and `TEMPLATES`."""
    from sphinx.application import builtin_extensions

    for name in (*builtin_extensions, *EXTENSIONS):
        importlib.import_module(name)
    installed = importlib.metadata.entry_points(), os.environ[TEMPLATES]
    _keep_apart()
    return installed


def sources(path: Path) -> str:
    """Give Markdown and HTML that a page is made of."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return text
    texts = []
    for cell in json.loads(text)["cells"]:
        texts += [cell["source"]] * (cell["cell_type"] == "markdown")
        texts += [output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ())]
    return "\n".join("".join(text) for text in texts)


def _as_sources(source: Path, work: Path, _: int) -> None:
    """Let each page of a book be what Sphinx would read."""
    for path in (*source.rglob("*.md"), *source.rglob("*.ipynb")):
        page = (work / "html" / path.relative_to(source)).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(sources(path), "utf-8")


def _build_book(source: Path, work: Path, jobs: int) -> int:
    """Build a book; what each build would look for or compile is that of the others."""
    import jinja2
    import pybtex.plugin
    import sphinx.registry
    import sphinx.theming

    from soundcheck.book import site

    installed, templates = _preload_sphinx()
    for module in (importlib.metadata, pybtex.plugin, sphinx.registry, sphinx.theming):
        module.entry_points = installed.select
    set_up = jinja2.Environment.__init__
    cache = jinja2.FileSystemBytecodeCache(templates)
    jinja2.Environment.__init__ = functools.partialmethod(set_up, bytecode_cache=cache)
    return site.main(source, work, jobs)


def _keep_apart() -> None:
    gc.collect()
    gc.freeze()  # else a fork copies all of it when it looks for what nobody needs


def _serve(listening: socket.socket) -> dict[str, Any]:
    """Fork whatever is asked for; comes back in each fork, with its request."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    connections: set[socket.socket] = set()
    forked: dict[int, socket.socket] = {}
    while True:
        for ready in select.select([reader, listening, *connections], [], [])[0]:
            if ready is reader:
                reader.recv(4096)
                continue
            if ready is listening:
                connections.add(listening.accept()[0])
                continue
            byte, descriptors, _, _ = socket.recv_fds(ready, 1, 6)
            if not byte:
                ready.close()
                connections.remove(ready)
                if not connections:
                    sys.exit()
                continue
            with os.fdopen(descriptors[0]) as file:
                request = json.load(file)
            if request["kind"] == BOOKS and UNBUILT not in request["environment"]:
                _preload_sphinx()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (reader, writer, listening, *connections):
                    other.close()
                for number, descriptor in enumerate(descriptors[1:4]):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
                return request | {"descriptors": descriptors[4:]}
            for descriptor in descriptors[1:]:
                os.close(descriptor)
            forked[pid] = ready
            _tell(ready, pid)
        while forked:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            _tell(forked.pop(pid), os.waitstatus_to_exitcode(status))


def _tell(connection: socket.socket, number: int) -> None:
    with suppress(OSError):  # whoever asked may be gone
        connection.sendall(number.to_bytes(NUMBER, "little", signed=True))


def undrawn(**_: Any) -> MagicMock:
    """Make a figure on which nothing is drawn."""
    figure = MagicMock(**{"get_size_inches.return_value": (6.0, 4.0)})

    def subplots(rows: int, columns: int, **_: Any) -> types.SimpleNamespace:
        figure.axes = [NOTHING] * (rows * columns)
        return types.SimpleNamespace(flat=figure.axes)

    figure.subplots = subplots
    return figure


NOTHING = MagicMock(**{"get_legend_handles_labels.return_value": ((), ())})
BLANKS = {  # what draws -> what stands in its place where figures and pictures of sounds come out blank
    "soundcheck.report.style.svg": lambda figure: BLANK,
    "soundcheck.report.style.Figure": undrawn,
    "soundcheck.report.players.picture": lambda *_: PIXEL,
    "soundcheck.report.style.FigureCanvasAgg": NOTHING,
    "pandas.plotting.PlotAccessor.__call__": NOTHING,
    **dict.fromkeys(("audplot.distribution", "seaborn.boxplot", "seaborn.histplot"), NOTHING),
}


def _share(folder: str) -> None:
    """Take from a folder what each run would compute anew: it is the same in all of them."""
    from soundcheck.common import store
    from soundcheck.statistics import simulation

    if demo := sys.modules.get("soundcheck_demo.registration"):
        make, sample = demo.DemoSounds.make, demo.DemoSpeech.sample
        demo.DemoSounds.make = lambda cache, **options: make(Path(folder), **options)
        demo.DemoSpeech.sample = lambda cache, corpora: sample(Path(folder), corpora)
    simulation.MANY_RUNS = simulation.RUNS  # many more only make it more exact
    simulated = simulation._simulated_quantile

    def quantile(setting: object) -> float:
        cache = os.environ.get(store.CACHE_VARIABLE, "")
        os.environ[store.CACHE_VARIABLE] = folder
        try:
            return simulated(setting)
        finally:
            os.environ[store.CACHE_VARIABLE] = cache

    simulation._simulated_quantile = quantile


def _run(address: str, request: dict[str, Any]) -> None:
    """Be the process that was asked for."""
    shared = os.environ[SHARED]
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # where the environment says
    os.chdir(request["folder"])
    sys.modules.update(dict.fromkeys(os.environ.get(MISSING, "").split()))
    _share(shared)
    if os.environ.get(UNDRAWN):
        for place, replacement in BLANKS.items():
            owner, _, name = place.rpartition(".")
            setattr(pkgutil.resolve_name(owner), name, replacement)
    if request["kind"] == BOOKS:
        time.tzset()
        source, work, jobs = request["arguments"]
        build = _as_sources if UNBUILT in os.environ else _build_book
        sys.exit(build(Path(source), Path(work), int(jobs)))
    if request["kind"] == SCRIPT:
        forkserver._forkserver.__init__()  # also what models are forked from
        exec(*request["arguments"], {})
        return
    from soundcheck import cli
    from soundcheck.book import site
    from soundcheck.run import notebook_server, notebooks

    if request["kind"] != COMMAND:
        os.setsid()
        sys.stdout.reconfigure(write_through=True)
        sys.argv = [request["kind"], *map(str, request["descriptors"]), str(os.getppid())]
        notebook_server.main()
        return
    if modules := os.environ.get(IMPORTED, "").split():
        from soundcheck.models import processes

        processes.PRELOADED += tuple(modules)
        forkserver._forkserver.__init__()
    else:
        forkserver._forkserver.ensure_running = lambda: None
    notebooks.subprocess = site.subprocess = Preloaded(address).subprocess()
    sys.argv = ["soundcheck", *request["arguments"]]
    cli.main()


def _end(code: object) -> NoReturn:
    """End as Python does, but for tearing down what was imported, which a fork would have to copy first."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    _preload()
    try:
        _run(sys.argv[1], _serve(socket.socket(fileno=int(sys.argv[2]))))
        _end(0)
    except SystemExit as end:
        _end(end.code)
    except BaseException:
        traceback.print_exc()
        _end(1)
