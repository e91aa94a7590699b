"""Runs Jupyter Book and Sphinx in a process of its own, on the doctrees of the last build if these are good.

Sphinx reads pages again whose files are newer, and nothing else. So whatever pages take from each other
(configuration, contents, titles, citations, versions of packages) is in one digest, and with another one
a build begins anew.
"""

import contextlib
import gc
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from soundcheck.book.pages import CONFIGURATION
from soundcheck.common import files
from soundcheck.common.errors import Problem

LIMIT = 1800  # seconds that it may take
YOUNG = 50_000  # objects after which Python looks for those that refer to each other and to nothing else
SECRET = re.compile("TOKEN|KEY|SECRET|PASS")  # in names of environment variables
# An extension of Jupyter Book does not say whether pages can be read in parallel; they are read one by one.
_SERIAL = ("is safe for parallel reading", "doing serial read")
# What other pages show of a page: headings, of notebooks the title, and citations.
_SHARED = re.compile(r"""^#+ .*$|"source": "(?:# [^\n"]*)|\{cite[^}]*\}`[^`]*`""", re.MULTILINE)


def build(source: Path, work: Path, log: Path, jobs: int, made_with: str) -> Problem | None:
    """Build the pages of ``source`` as ``work/html``; says why there are none."""
    note, key = work / "key", _key(source, made_with)
    known = note.read_text("utf-8") if note.is_file() and not note.is_symlink() else ""
    if known != key:
        shutil.rmtree(work, ignore_errors=True)
        (source / CONFIGURATION).unlink(missing_ok=True)
    note.unlink(missing_ok=True)  # until this build has come to its end, nobody knows what is in the folder
    work.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not SECRET.search(name.upper())}
    environment |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    command = [sys.executable, "-P", "-m", __name__, *map(str, (source, work, jobs))]
    with open(log, "ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return Problem("book", f"Sphinx did not end within {LIMIT} s")
        finally:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
    if code:
        return Problem("book", f"Sphinx ended with exit code {code}", f"See {log.name}")
    files.write_text(note, key)
    return None


def _key(source: Path, made_with: str) -> str:
    """Digest of what concerns all pages."""
    parts = [str(source), made_with]
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.suffix in (".ipynb", ".md"):
            parts.append(f"{name} {_SHARED.findall(path.read_text(encoding='utf-8'))}")
        elif path.suffix in (".yml", ".bib"):
            parts.append(f"{name} {files.digest(path)}")
    return files.digest("\n".join(parts))


def main(source: Path, work: Path, jobs: int) -> int:
    """Build pages in this process; gives an exit code, which is not 0 either if there is a warning."""
    from jupyter_book.cli.main import main as jupyter_book
    from sphinx.cmd.build import main as sphinx_build

    # A page is a tree of thousands of objects, and what was imported stays.
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 1000)
    if not (source / CONFIGURATION).is_file():
        jupyter_book(["config", "sphinx", str(source)], standalone_mode=False)
    warnings = work / "warnings.txt"
    options = ["-q", "-j", str(jobs), "-d", str(work / "doctrees"), "-w", str(warnings), "--keep-going"]
    code = sphinx_build([*options, str(source), str(work / "html")])
    messages = warnings.read_text(encoding="utf-8").splitlines() if warnings.is_file() else []
    serious = [line for line in messages if "WARNING" in line and not any(text in line for text in _SERIAL)]
    return code or int(bool(serious))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
