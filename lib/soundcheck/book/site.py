"""Has the site of a book built by Sphinx, lays it out and checks it: moved into place or not.

Jupyter Book and Sphinx run in a process of their own, on the doctrees of the last build if these are good.
Sphinx reads pages again whose files are newer, and nothing else. So whatever pages take from each other
(configuration, contents, titles, citations, versions of packages) is in one digest, and with another one
a build begins anew.

Checked is whether every page is there, and whether anything is fetched from elsewhere or leaks.

The title of the suite, the day of the run and the digest of its results stand in one style sheet of a site,
which says them below each page and on each sheet of paper: a page that says the same after the next run stays
as it is, byte for byte.
"""

import contextlib
import datetime
import gc
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.common import files
from soundcheck.common.media import SOUNDS
from soundcheck.common.messages import Problem, css_string, escape

if TYPE_CHECKING:
    from soundcheck.results.record import RunRecord

CONFIGURATION = "conf.py"  # made of _config.yml by Jupyter Book
LIMIT = 1800  # seconds that it may take
YOUNG = 50_000  # objects after which Python looks for those that refer to each other and to nothing else
SECRET = re.compile("TOKEN|KEY|SECRET|PASS")  # in names of environment variables
# An extension of Jupyter Book does not say whether pages can be read in parallel; they are read one by one.
_SERIAL = ("is safe for parallel reading", "doing serial read")
# What other pages show of a page: headings, of notebooks the title, and citations.
_SHARED = re.compile(r"""^#+ .*$|"source": "(?:# [^\n"]*)|\{cite[^}]*\}`[^`]*`""", re.MULTILINE)
NOT_PUBLISHED = (
    *("*.map", ".buildinfo"),  # of the theme's scripts, and Sphinx's own note
    *("*webpack-macros.html", "fontawesome.js"),  # of templates; see book/_templates
    *("*.ttf", "fa-brands-400.woff2", "fa-regular-400.woff2"),  # for old browsers; icons of no page
    "locales",  # texts of the theme in other languages; books are in English
)
_PRINTED = 70  # characters of a title that fit into the margin of a sheet
PAGE_BYTES = 1_000_000
TEXT_SUFFIXES = {".html", ".js", ".css", ".svg", ".csv", ".json", ".txt", ".inv"}
# What a page or a style sheet loads; addresses of links, in comments and of SVG name spaces are not fetched.
_FETCHED = re.compile(
    r"""(?:@import\s*["']|url\(\s*["']?|<(?:script|img|audio|video|source|iframe)\b[^>]*\ssrc\s*=\s*["']?|"""
    r"""<link\b(?![^>]*\brel=["']?canonical)[^>]*\shref\s*=\s*["']?)\s*(https?:|//)""",
    re.IGNORECASE,
)
_SOUNDING = re.compile(r"<(audio|video)\b|data:(audio|video)/", re.IGNORECASE)
UNHEARD_REMEDY = "Show recordings by soundcheck.report.players alone, or build the book with --voices all"
KINDS = {".css": "style sheet", ".html": "page"}


def run_sphinx(source: Path, work: Path, log: Path, jobs: int, made_with: str) -> Problem | None:
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


def lay_out(
    built: Path, target: Path, *, style: str, media: Iterable[Path], beside: Iterable[tuple[str, Path]]
) -> None:
    """Make the folder of a site.

    ``built`` is what Sphinx wrote; it writes into the same files again, so they are copied. ``style`` is of
    :func:`run_style`; ``media`` get a second name in the site; ``beside`` are names
    and files of finished pages and tables.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(built, target, ignore=shutil.ignore_patterns(*NOT_PUBLISHED))
    files.write_text(target / "_static" / "run.css", style)
    (target / "media").mkdir()
    for path in media:
        try:
            os.link(path, target / "media" / path.name)
        except OSError:  # the file system knows no hard links
            shutil.copyfile(path, target / "media" / path.name)
    for name, path in beside:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def into_place(site: Path, html: Path) -> None:
    """Move a finished site to where the book is read, the old one out of the way first."""
    old = html.with_name("html-old")
    shutil.rmtree(old, ignore_errors=True)
    if html.exists():
        os.replace(html, old)
    os.replace(site, html)
    shutil.rmtree(old, ignore_errors=True)


def signature(html: Path) -> str:
    """Digest of names, sizes and times of all files, which tell whether anybody has changed a site."""
    entries = []
    for folder, _, names in os.walk(html):
        for path in (os.path.join(folder, name) for name in names):
            seen = os.lstat(path)
            entries.append((os.path.relpath(path, html), seen.st_size, seen.st_mtime_ns))
    return files.digest(repr(sorted(entries)))


def run_style(record: "RunRecord", day: datetime.date) -> str:
    """Write the style sheet; ``day`` is when the run ended, in UTC."""
    about = f"run of {day.isoformat()}, results {record.run}"
    text = css_string(f", {record.title}, {about}", 300)
    left = css_string(record.title, _PRINTED)
    right = css_string(f"{about}, Soundcheck {record.version}, page ")
    font = "font: 7pt sans-serif; color: #555;"
    return (
        f".sc-footer::after {{ content: {text}; }}\n"
        "@page {\n"
        f"  @bottom-left {{ content: {left}; {font} }}\n"
        f'  @bottom-right {{ content: {right} counter(page) " / " counter(pages); {font} }}\n'
        "}\n"
    )


def inspect(html: Path, expected: Iterable[str], out: Path, *, sounds: bool = True) -> list[Problem]:
    """Check a finished site; empty if it can be published.

    ``expected`` are names of pages without suffix, the path of the output folder ``out`` must not appear, and
    without ``sounds`` nothing may be heard.
    """
    absent = [name for name in expected if not (html / f"{name}.html").is_file()]
    problems = [Problem(f"html/{name}.html", "the page is missing") for name in absent]
    leaks = _leaks(out)
    for path in sorted(html.rglob("*")):
        name, suffix = path.relative_to(html), path.suffix.lower()
        what = [("a sound, in a book without them", UNHEARD_REMEDY)] * (suffix in SOUNDS and not sounds)
        if suffix in TEXT_SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            ours = "_static" in name.parts  # of the theme, whose own links are not ours to check
            if suffix in KINDS and (suffix == ".css" or not ours) and _FETCHED.search(text):
                what.append((f"the {KINDS[suffix]} loads something from outside", ""))
            # Most texts do not hold the words at all, which is known sooner than what stands around them.
            held = {of for word, pattern, of in leaks if not ours and word in text and pattern.search(text)}
            what += [(f"the file holds {of}", "") for of in sorted(held)]
            if suffix == ".html" and not ours:
                # Summaries carry their sounds and pictures.
                if len(text.encode()) > PAGE_BYTES and name.parts[0] != "sheets":
                    what.append((f"the page is larger than {PAGE_BYTES} bytes", ""))
                if not sounds and _SOUNDING.search(text):
                    what.append(("the page plays a sound, in a book without them", UNHEARD_REMEDY))
        problems += [Problem(f"html/{name.as_posix()}", *each) for each in what]
    return problems


def places() -> list[str]:
    """List folders of this machine that must not appear in a page, longest first."""
    known = {str(Path.home()), os.getcwd(), sys.prefix, str(Path(__file__).resolve().parents[1])}
    known |= {str(Path(sys.prefix).resolve()), str(Path.cwd().resolve()), "/tmp"}
    return sorted((place for place in known if len(place) > 3), key=len, reverse=True)


def without_paths(text: str, out: Path) -> str:
    """Replace folders of this machine by an ellipsis."""
    for place in [str(out), *places()]:
        text = text.replace(place, "…").replace(escape(place, None), "…")
    return text


def user_name() -> str:
    """Name of the user; empty if it cannot be known."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _leaks(out: Path) -> list[tuple[str, re.Pattern[str], str]]:
    """List what belongs to this machine alone: a word, where it is a leak, and what it is."""
    leaks = []
    for folder, what in {out: "output", Path.home(): "home", Path.cwd(): "working"}.items():
        for text in sorted({str(folder), escape(folder, None)}):  # as it is and as HTML has it
            if len(folder.parts) > 1:
                # Not inside of a longer path or address: "/root" is no leak in "https://a.org/root".
                pattern = rf"(?<![\w.~-]){re.escape(text)}(?![\w.-])"
                leaks.append((text, pattern, f"the path of the {what} folder"))
    if name := user_name():
        leaks.append((name, rf"/(home|Users)/{re.escape(name)}\b", "the user's name"))
    for name, value in os.environ.items():
        if len(value) > 8 and SECRET.search(name.upper()):
            what = f"the value of the environment variable {name}"
            leaks.append((value, re.escape(value), what))
    host = socket.gethostname()
    if len(host) > 5 and "." in host:
        leaks.append((host, re.escape(host), "the name of this computer"))
    return [(word, re.compile(pattern), what) for word, pattern, what in leaks]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
