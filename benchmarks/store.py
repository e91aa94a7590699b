"""What it costs to keep answers, in one file that is safe at any moment, and in a journal and a Parquet file.

Run ``python benchmarks/store.py [answers]``, 200,000 by default, about a minute. The other way writes each
answer as a line with its digest, reads all lines in the end and packs them in a compressed Parquet file under
the digest of its content. Both ways write transactions, or lines, of 200 answers, and check what they read.

Ends with 1 if the goals are missed: for 200,000 answers 4 s of processor time to write and 2 s to read them.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from soundcheck.common.files import digest
from soundcheck.predict.store import Entry, Store

ANSWERS, TOGETHER = 200_000, 200
GOAL_WRITING, GOAL_READING = 4.0, 2.0  # seconds of processor time for 200,000 answers
FINGERPRINT = "ab" * 20
COLUMNS = ("key", "answer", "drawn", "day")


def answers(count: int) -> dict[str, Entry]:
    """Make answers with a number, a class and a drawn option each."""
    return {
        digest(f"{number}"): Entry(
            {"arousal": number / 7, "emotion": "happiness"}, {"snr_db": number % 40}, "2026-11-23"
        )
        for number in range(count)
    }


def blocks(entries: dict[str, Entry]) -> Iterator[dict[str, Entry]]:
    """Put answers together as a run does."""
    items = list(entries.items())
    for first in range(0, len(items), TOGETHER):
        yield dict(items[first : first + TOGETHER])


def write_store(folder: Path, entries: dict[str, Entry]) -> None:
    """Write as a run does that nothing interrupts."""
    store = Store(folder, FINGERPRINT, folder)
    for block in blocks(entries):
        store.add(block)
    store.settle()
    store.close()


def read_store(folder: Path) -> dict[str, Entry]:
    """Read as the next run does."""
    return Store(folder, FINGERPRINT, folder).load()


def write_files(folder: Path, entries: dict[str, Entry]) -> None:
    """Write a journal, then pack it."""
    journal = folder / "journal"
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for block in blocks(entries):
        for key, entry in block.items():
            text = json.dumps([key, *entry], separators=(",", ":"), sort_keys=True)
            os.write(descriptor, f"{digest(text)[:16]} {text}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)
    rows = []
    for line in journal.read_text().splitlines():
        check, _, text = line.partition(" ")
        if digest(text)[:16] == check:
            key, answer, drawn, day = json.loads(text)
            rows.append((key, json.dumps(answer, sort_keys=True), json.dumps(drawn, sort_keys=True), day))
    columns = [list(column) for column in zip(*sorted(rows), strict=True)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, names=COLUMNS), sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    (folder / f"{digest(content)}.parquet").write_bytes(content)
    journal.unlink()


def read_files(folder: Path) -> dict[str, Entry]:
    """Read packed answers."""
    (path,) = folder.glob("*.parquet")
    content = path.read_bytes()
    if digest(content) != path.stem:
        return {}
    table = pq.read_table(pa.BufferReader(content))
    rows = zip(*(table[name].to_pylist() for name in COLUMNS), strict=True)
    return {key: Entry(json.loads(answer), json.loads(drawn), day) for key, answer, drawn, day in rows}


def seconds(function: Callable, *arguments: object) -> tuple[float, object]:
    """Measure the processor time of a call; gives what it returned, too."""
    start = time.process_time()
    returned = function(*arguments)
    return time.process_time() - start, returned


def main(count: int = ANSWERS) -> int:
    """Measure both ways and compare."""
    entries = answers(count)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="soundcheck-benchmark-") as place:
        for name, write, read in (
            ("one SQLite file", write_store, read_store),
            ("journal and Parquet", write_files, read_files),
        ):
            folder = Path(place, name)
            folder.mkdir()
            writing, _ = seconds(write, folder, entries)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            reading, same = seconds(read, folder)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            if same != entries:
                print(f"{name}: other answers were read than were written")
                return 1
            size = sum(path.stat().st_size for path in folder.iterdir())
            found[name] = [writing, reading, size / 1e6]
            print(
                f"{name:20} writing {writing:6.2f} s, reading {reading:6.2f} s of processor time, "
                f"{size / 1e6:.1f} MB on disk, {memory / 1024:.0f} MB more memory"
            )
    own, other = found.values()
    ratios = [mine / theirs for mine, theirs in zip(own, other, strict=True)]
    print("{:20} writing {:6.2f},   reading {:6.2f},   size {:.1f}".format("ratio", *ratios))
    share = count / ANSWERS
    return 0 if own[0] <= GOAL_WRITING * share and own[1] <= GOAL_READING * share else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
