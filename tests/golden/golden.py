"""Golden files: what runs of whole suites, and commands with bad input, gave before a change of the code.

    python tests/golden/golden.py [NAME ...] [--record]

Each world is run by the real command in a new folder with an empty cache. Its tables and texts are compared
with those recorded, byte for byte; of a table that differs the rows are joined by their key, and what changed
is counted by column. ``SOUNDCHECK_PUBLISHED`` names a folder with results that others published; worlds that
need it are left out without.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import difflib
import functools
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import worlds
import yaml

from soundcheck.common import resources

HERE = Path(__file__).parent
KEYS = {
    "results.csv": ["model", "corpus", "family", "task", "test", "label", "group"],
    "estimates.csv": ["model", "corpus", "family", "task", "measure", "label", "part", "condition"],
    "comparisons.csv": ["baseline", "candidate", "corpus", "family", "task", "test", "label", "group"],
}
KEPT = (*KEYS, "left_out.csv", "tables/word_errors.csv", "junit.xml", "card/README.md", "said.txt")
# lines about time, the digest of the book (which has the versions of libraries), progress
VARYING = re.compile(
    r"^(?:Time: |Digest of the book: |\[\d+ (?:s|min)"
    r"|(?:speaking|measuring|predictions|notebooks|book|verify): \d+ of \d+ ).*\n?",
    re.MULTILINE,
)
EXAMPLES = 5
DAY = "1767225600"  # SOURCE_DATE_EPOCH: cards and sheets name the day


def soundcheck(*words: object, cwd: Path) -> subprocess.CompletedProcess:
    """Run the command as a user starts it."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": DAY, "PYTHONWARNINGS": "ignore"}
    environment.pop("SOUNDCHECK_CACHE", None)
    # A suite says python: where it lies is no part of a recorded digest.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    command = [sys.executable, "-P", "-m", "soundcheck.cli", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def said(done: subprocess.CompletedProcess, folder: Path) -> str:
    """Give exit code and output without what differs from run to run."""
    text = VARYING.sub("", f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    return text.replace(str(folder), "FOLDER")


def run_suite(suite: Path, folder: Path) -> dict[str, bytes]:
    """Run a suite from nothing, judge it, and make one card; gives the files that are compared."""
    out = folder / "out"
    texts = [said(soundcheck("run", suite, "--out", out, "--no-book", cwd=suite.parent), folder)]
    texts.append(said(soundcheck("check", out, cwd=folder), folder))
    tested = pd.read_csv(out / "results.csv", usecols=["model"])["model"].unique()
    model = next(name for name in tested if not name.startswith("random"))
    soundcheck("card", out, "--model", model, "--out", out / "card", cwd=folder)
    written = {name: (out / name).read_bytes() for name in KEPT if (out / name).is_file()}
    return written | {"said.txt": "".join(texts).encode()}


def run_commands(folder: Path) -> dict[str, bytes]:
    """Run each command of ``commands.yml`` in a project of its own; gives exit codes and messages."""
    entries = yaml.safe_load((HERE / "commands.yml").read_text("utf-8"))

    def run_command(number: int, entry: dict) -> str:
        place = folder / f"{number:03}"
        worlds.small(place)
        for name, text in entry.get("files", {}).items():
            (place / name).write_text(text, encoding="utf-8")
        for name, (old, new) in entry.get("replace", {}).items():
            before = (place / name).read_text("utf-8")
            if old not in before:
                raise SystemExit(f"commands.yml, {entry['name']}: {old!r} is not in {name}")
            (place / name).write_text(before.replace(old, new), encoding="utf-8")
        words = entry.get("command", "run suite.yml --out out --no-book --jobs 1").split()
        done = soundcheck(*words, cwd=place)
        shows = entry.get("shows", "")  # instead of an output that differs from run to run
        text = said(done, place) if not shows else f"exit {done.returncode}, {shows in done.stdout}\n"
        return f"## {entry['name']}\n{text}\n"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {"commands.txt": "".join(pool.map(run_command, range(len(entries)), entries)).encode()}


SUITES: dict[str, Callable[[Path], Path]] = {
    "kinds": worlds.kinds,
    "demo": lambda folder: resources.root() / "suite.yml",
    "full": lambda folder: resources.root() / "suites" / "full.yml",
    **{name: functools.partial(worlds.published, name) for name in worlds.PUBLISHED},
}
WORLDS = ("commands", *SUITES)


def differences(name: str, before: bytes, after: bytes) -> Iterable[str]:
    """Say what changed in a file: rows of a table by their key, lines of a text."""
    if name not in KEYS or not before or not after:
        texts = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
        lines = list(difflib.unified_diff(*texts, "recorded", "now", n=0, lineterm=""))
        yield f"  {len(lines)} lines of the comparison"
        yield from (f"    {line[:300]}" for line in lines[: 20 * EXAMPLES])
        return
    read = functools.partial(pd.read_csv, dtype=str, keep_default_na=False)
    old, new = read(io.BytesIO(before)), read(io.BytesIO(after))
    if list(old.columns) != list(new.columns):
        yield f"  columns: {' '.join(old.columns)} -> {' '.join(new.columns)}"
    key = [column for column in KEYS[name] if column in old and column in new]
    old, new = (table.set_index([*key, table.groupby(key).cumcount()]).sort_index() for table in (old, new))
    for word, rows in (("gone", old.index.difference(new.index)), ("new", new.index.difference(old.index))):
        families = collections.Counter(rows.get_level_values("family"))
        yield from (f"  {word} in {family}: {count}" for family, count in families.most_common())
    both = old.index.intersection(new.index)
    for column in old.columns.intersection(new.columns):
        pairs = pd.DataFrame({"recorded": old.loc[both, column], "now": new.loc[both, column]})
        changed = pairs[pairs["recorded"].ne(pairs["now"])]
        if len(changed):
            yield f"  {column}: {len(changed)} rows\n{changed.head(EXAMPLES).to_string()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=WORLDS, metavar="NAME", help=", ".join(WORLDS))
    parser.add_argument("--record", action="store_true", help="write what is found in the place of the old")
    options = parser.parse_args()
    failed = False
    for name in options.names or WORLDS:
        if name in worlds.PUBLISHED and not os.environ.get("SOUNDCHECK_PUBLISHED"):
            print(f"{name}: left out, SOUNDCHECK_PUBLISHED is not set", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
            folder = Path(temporary).resolve()
            now = run_commands(folder) if name == "commands" else run_suite(SUITES[name](folder), folder)
        place = HERE / "recorded" / name
        if options.record:
            shutil.rmtree(place, ignore_errors=True)
            for file, content in now.items():
                path = place / f"{file}.gz"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(gzip.compress(content, mtime=0))
        paths = place.rglob("*.gz")
        old = {str(path.relative_to(place))[:-3]: gzip.decompress(path.read_bytes()) for path in paths}
        files = sorted({*old, *now})
        different = [file for file in files if old.get(file) != now.get(file)]
        for file in different:
            changes = differences(file, old.get(file, b""), now.get(file, b""))
            print("\n".join([f"{name}/{file} differs", *changes]), flush=True)
        print(f"{name}: {len(files) - len(different)} of {len(files)} files as recorded", flush=True)
        failed = failed or bool(different)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
