"""The store of answers: what is kept, by whom, and what damage, kills and other runs do to it."""

import contextlib
import datetime
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from soundcheck.common import files
from soundcheck.common.file_contents import signature
from soundcheck.common.files import OutputError, digest
from soundcheck.predict import database, sessions, store
from soundcheck.predict.entries import Entry
from soundcheck.predict.sources import SourceCheck
from soundcheck.predict.store import Store

FINGERPRINT, OTHER = "ab" * 20, "cd" * 20
ENTRIES = {digest(str(n)): Entry({"arousal": n / 7, "emotion": "ängér"}, {"snr_db": n}) for n in range(50)}


@pytest.fixture
def kept(tmp_path) -> Store:
    return Store(tmp_path, FINGERPRINT)


def place(tmp_path: Path) -> Path:
    return tmp_path / "predictions.sqlite"


def keep(kept: Store, entries: dict = ENTRIES, opened: list = (), end: bool = True):
    """Write a session as one process of a model does."""
    session = kept.session()
    session.add(entries, opened)
    if end:
        session.close()
    return session


def fill(tmp_path: Path, entries: dict = ENTRIES, fingerprint: str = FINGERPRINT) -> Path:
    """Write a finished run."""
    kept = Store(tmp_path, fingerprint)
    keep(kept, entries)
    kept.settle()
    kept.close()
    return place(tmp_path)


def query(tmp_path: Path, statement: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(place(tmp_path))) as connection, connection:
        return connection.execute(statement).fetchall()


def child(code: str, *arguments: object, **options: object) -> subprocess.Popen:
    """Run code in another process."""
    begin = (
        "import sys; from pathlib import Path; from soundcheck.predict.store import Store\n"
        "from soundcheck.predict.entries import Entry\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", begin + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# Answers ----------------------------------------------------------------------------------------------------


def test_answers_are_found_before_and_after_they_are_settled(tmp_path, kept):
    assert kept.load() == {}
    keep(kept)
    for _ in range(2):
        other = Store(tmp_path, FINGERPRINT)
        assert other.load() == ENTRIES
        assert kept.load() == ENTRIES
        kept.settle()
        other.close()
    kept.close()
    assert {path.name for path in tmp_path.iterdir()} == {"predictions.sqlite", "predictions.sqlite.lock"}


def test_models_have_their_own(tmp_path):
    fill(tmp_path)
    fill(tmp_path, {"a": Entry({"arousal": 1.0}, {})}, OTHER)
    assert Store(tmp_path, OTHER).load() == {"a": Entry({"arousal": 1.0}, {})}
    assert Store(tmp_path, FINGERPRINT).load() == ENTRIES


def test_numbers_survive_exactly(kept):
    entries = {"a": Entry({"arousal": 0.1 + 0.2}, {}), "b": Entry({"arousal": 5e-324}, {}, "2026-11-23")}
    keep(kept, entries)
    kept.settle()
    assert kept.load() == entries


def test_answers_without_a_process_are_kept(kept):
    kept.add(ENTRIES)
    kept.settle()
    assert kept.load() == ENTRIES


def test_many_runs_leave_one_file(tmp_path):
    for number in range(40):
        fill(tmp_path, {f"{number}": Entry({"arousal": float(number)}, {})})
    assert len(Store(tmp_path, FINGERPRINT).load()) == 40
    assert query(tmp_path, "SELECT count(*) FROM bases") == [(1,)]
    assert place(tmp_path).stat().st_size < 100_000


def test_all_is_forgotten_but_what_is_being_written(tmp_path, kept):
    fill(tmp_path)
    live = keep(kept, {"live": Entry({"arousal": 1.0}, {})}, end=False)
    other = Store(tmp_path, FINGERPRINT)
    other.clear()
    assert list(other.load()) == ["live"]
    live.close()


# What answers rest on ---------------------------------------------------------------------------------------


@pytest.fixture
def weights(tmp_path) -> Path:
    path = tmp_path / "weights"
    path.write_text("1")
    return path


def opened(path: Path) -> list[list]:
    return [["read", path.name, *signature(path)]]


def checked(tmp_path: Path) -> Store:
    return Store(tmp_path, FINGERPRINT, SourceCheck(tmp_path))


def test_answers_of_other_files_are_not_believed_but_stay(tmp_path, weights):
    kept = checked(tmp_path)
    keep(kept, opened=opened(weights))
    kept.settle()
    assert list(kept.sources.files) == ["weights"]
    weights.write_text("2")
    changed = checked(tmp_path)
    assert changed.load() == {}
    assert changed.outdated == dict.fromkeys(ENTRIES, ["weights"])
    other = {key: Entry({"arousal": 2.0}, {}) for key in ENTRIES}
    keep(changed, other, opened(weights))
    changed.settle()
    assert checked(tmp_path).load() == other
    weights.write_text("1")
    assert checked(tmp_path).load() == ENTRIES


def test_a_file_that_changed_meanwhile(tmp_path, weights):
    kept = checked(tmp_path)
    keep(kept, opened=opened(weights))
    weights.write_text("other")
    kept.settle()
    assert (kept.dropped, kept.changed) == (len(ENTRIES), {"weights"})
    assert checked(tmp_path).load() == {}
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(0,)]


def test_only_the_process_that_opened_the_file_loses_its_answers(tmp_path, weights):
    kept = checked(tmp_path)
    keep(kept, {"old": Entry({}, {})}, opened(weights))
    weights.write_text("other")
    keep(kept, {"new": Entry({}, {})}, opened(weights))
    kept.settle()
    assert list(checked(tmp_path).load()) == ["new"]


def test_what_a_process_opens_later_counts_for_all_its_answers(tmp_path, weights):
    kept = checked(tmp_path)
    session = keep(kept, {"a": Entry({}, {})}, end=False)
    session.add({"b": Entry({}, {})}, opened(weights))
    session.close()
    weights.write_text("other")
    kept.settle()
    assert kept.dropped == 2


def test_a_file_that_is_gone(tmp_path, weights):
    """A run that ended knows that it was of no account; one that was interrupted does not."""
    for name in ("ended", "interrupted"):
        kept = checked(tmp_path)
        weights.write_text("1")
        keep(kept, {name: Entry({}, {})}, opened(weights))
        weights.unlink()
        if name == "ended":
            kept.settle()
    later = checked(tmp_path)
    assert list(later.load()) == ["ended"]
    assert later.outdated == {"interrupted": ["weights"]} and later.sources.gone == ("weights",)
    later.settle()
    assert query(tmp_path, "SELECT count(*) FROM sessions") == [(1,)]


def test_what_a_model_writes_is_no_source(tmp_path, weights):
    kept = checked(tmp_path)
    keep(kept, opened=[*opened(weights), ["written", "weights"]])
    weights.write_text("its log")
    kept.settle()
    assert checked(tmp_path).load() == ENTRIES and not kept.dropped


# Processes --------------------------------------------------------------------------------------------------

SETTLE = "kept = Store(Path(sys.argv[1]), sys.argv[2]); print(len(kept.load())); kept.settle()"


def test_a_live_session_is_left_alone(tmp_path, kept):
    live = keep(kept, end=False)
    with child(SETTLE, tmp_path, FINGERPRINT) as other:
        assert other.communicate()[0] == "50\n"
    ((state,),) = query(tmp_path, "SELECT content FROM sessions")
    assert "owner" in state
    live.add({"later": Entry({}, {})})
    live.close()
    kept.settle()
    ((state,),) = query(tmp_path, "SELECT content FROM sessions")
    assert "basis" in state
    assert len(kept.load()) == 51


WRITE = """
kept = Store(Path(sys.argv[1]), sys.argv[2])
session = kept.session()
first = int(sys.argv[3])
while True:
    session.add({f"{n}": Entry({"arousal": n / 7}, {}) for n in range(first, first + 5)})
    first += 5
    print(first, flush=True)
"""


def test_killed_writers_lose_nothing_that_they_committed(tmp_path):
    draw = random.Random(0)
    first = 0
    for _ in range(20):
        with child(WRITE, tmp_path, FINGERPRINT, first) as writer:
            writer.stdout.readline()
            time.sleep(draw.uniform(0, 0.05))
            writer.kill()
            committed = [int(line) for line in writer.stdout.read().split()]
        kept = Store(tmp_path, FINGERPRINT)
        found = kept.load()
        assert found == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(len(found))}
        assert len(found) % 5 == 0 and len(found) >= max([first + 5, *committed])
        first = len(found)
        assert (kept.damaged, kept.damage) == (0, [])
        kept.settle()
    states = query(tmp_path, "SELECT content FROM sessions")
    assert len(states) == 20 and all("basis" in state for (state,) in states)


def test_writers_at_once(tmp_path):
    code = """
kept = Store(Path(sys.argv[1]), sys.argv[2])
first = int(sys.argv[3])
kept.load()
session = kept.session()
for n in range(first, first + 100):
    session.add({f"{n}": Entry({"arousal": n / 7}, {})})
session.close()
kept.settle()
"""
    writers = [child(code, tmp_path, FINGERPRINT, 100 * n) for n in range(3)]
    for writer in writers:
        _, problems = writer.communicate()
        assert (writer.returncode, problems) == (0, "")
    assert len(Store(tmp_path, FINGERPRINT).load()) == 300


def test_whoever_is_taken_for_ended_goes_on(tmp_path, kept, weights, monkeypatch):
    session = keep(kept, opened=opened(weights), end=False)
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "_start", lambda _: None)
        patch.setattr(sessions.os, "getpid", lambda: 1)
        other = checked(tmp_path)
        assert other.load() == ENTRIES
        other.settle()
    session.add({"later": Entry({}, {})})
    session.close()
    weights.write_text("2")
    later = checked(tmp_path)
    assert later.load() == {}  # what it had opened before counts for what it answers later
    assert later.outdated.keys() == {*ENTRIES, "later"}


def test_a_lock_that_is_held_for_too_long(tmp_path, kept, monkeypatch):
    fill(tmp_path)
    monkeypatch.setattr(database, "LOCKED_SECONDS", 0.1)
    with contextlib.closing(sqlite3.connect(place(tmp_path), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert kept.load() == ENTRIES  # reading needs no lock
        with pytest.raises(OSError, match="another process has kept the file locked"):
            kept.session()
        other.execute("ROLLBACK")
        kept.session().close()
