"""The store of answers: what it keeps, and what damage, kills and other runs do to it."""

import contextlib
import datetime
import multiprocessing
import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from soundcheck.common.files import OutputError, digest
from soundcheck.common.store import signature
from soundcheck.predict import store
from soundcheck.predict.same_model import seen_files
from soundcheck.predict.store import NAME, Entry, Store
from soundcheck.predict.workers import Opened, Result

FINGERPRINT, OTHER = "ab" * 20, "cd" * 20
ENTRIES = {digest(str(n)): Entry({"arousal": n / 7, "emotion": "ängér"}, {"snr_db": n}) for n in range(50)}
MANY = {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(500)}


@pytest.fixture
def answers(tmp_path) -> Store:
    return Store(tmp_path, FINGERPRINT, tmp_path)


def keep(answers: Store, entries: dict = ENTRIES, opened: list = ()) -> None:
    """Write what a model answers, and has opened before."""
    for number, (key, entry) in enumerate(entries.items()):
        answers.keep(Result(key, entry.answer, entry.drawn, opened=() if number else opened))
    answers.write()


def undated(entries: dict) -> dict:
    return {key: entry._replace(day="") for key, entry in entries.items()}


def load(folder: Path, fingerprint: str = FINGERPRINT) -> dict:
    """Read as another run does."""
    answers = Store(folder, fingerprint, folder)
    entries = undated(answers.load())
    answers.close()
    return entries


def fill(folder: Path, entries: dict = ENTRIES, fingerprint: str = FINGERPRINT, opened: list = ()) -> Path:
    """Write a finished run."""
    answers = Store(folder, fingerprint, folder)
    keep(answers, entries, opened)
    answers.settle()
    answers.close()
    return folder / NAME


def query(folder: Path, statement: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(folder / NAME)) as connection, connection:
        return connection.execute(statement).fetchall()


def test_answers_are_found_before_and_after_the_run_ends_each_model_its_own(tmp_path, answers):
    assert answers.load() == {}
    keep(answers)
    assert load(tmp_path) == ENTRIES == undated(answers.load())
    for path in tmp_path.iterdir():  # as another process clears a cache
        path.unlink()
    keep(answers)
    answers.settle()
    answers.close()
    assert {path.name for path in tmp_path.iterdir()} == {NAME, f"{NAME}.lock"}
    exact = {"a": Entry({"arousal": 0.1 + 0.2}, {}), "b": Entry({"arousal": 5e-324}, {}, "2026-11-23")}
    other = Store(tmp_path, OTHER, tmp_path)
    other.add(exact)
    assert other.load() == exact
    other.clear()
    assert load(tmp_path, OTHER) == {} and load(tmp_path) == ENTRIES


def test_answers_are_written_soon_and_the_rest_in_the_end(tmp_path, answers, monkeypatch):
    answers.keep(Result("a", {"arousal": 0.5}))
    answers.write_due()
    assert not load(tmp_path)
    time.sleep(store.WRITE_SECONDS)
    answers.write_due()
    assert len(load(tmp_path)) == 1
    monkeypatch.setattr(store, "WRITE_SECONDS", 1000.0)
    for number in range(500):
        answers.keep(Result(f"{number}", {"arousal": 0.5}))
    assert len(load(tmp_path)) == 1
    answers.close()
    assert len(load(tmp_path)) == 501


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
def test_an_answer_that_cannot_be_written_stops_the_run(answers, monkeypatch, seconds):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "_insert", fail)
    monkeypatch.setattr(store, "WRITE_SECONDS", seconds)
    with pytest.raises(OutputError, match="No space left"):
        answers.keep(Result("a", {"arousal": 0.5}))
        assert seconds
        answers.close()


@pytest.fixture
def weights(tmp_path) -> Path:
    path = tmp_path / "weights"
    path.write_text("1")
    return path


def opened(path: Path) -> list[Opened]:
    return [Opened("read", path.name, signature(path))]


def knows(answers: Store, **digests: str) -> None:
    answers._database.do(lambda connection: answers._write_files(connection, digests))


@pytest.mark.parametrize("how", ["before writing", "after", "between", "by an earlier run", "by another run"])
def test_a_file_that_changed_meanwhile(tmp_path, weights, answers, how):
    seen, later = opened(weights), {"later": Entry({}, {})}
    if how == "before writing":
        weights.write_text("other")
    if how == "by an earlier run":  # which has ended since this one has begun
        knows(answers, weights="0" * 40)
    keep(answers, opened=seen)
    if how in ("after", "between"):
        weights.write_text("other")
    if how == "between":  # two processes of the run
        keep(answers, later, opened(weights))
        assert load(tmp_path) == {}  # as after a kill
    if how == "by another run":  # which has seen another content
        knows(answers, weights="0" * 40)
        keep(answers, later)
    answers.settle()
    assert answers.upkeep.dropped >= len(ENTRIES) and answers.upkeep.dropped_by == ("weights",)
    assert load(tmp_path) == {} and query(tmp_path, "SELECT count(*) FROM answers") == [(0,)]


def test_a_file_that_is_gone(tmp_path, weights, answers):
    """A run that ended knows that it was of no account; one that was interrupted does not."""
    keep(answers, opened=opened(weights))
    weights.unlink()
    interrupted = Store(tmp_path, FINGERPRINT, tmp_path)
    assert interrupted.load() == {} and interrupted.upkeep.outdated_by == ("weights",)
    weights.write_text("1")
    keep(answers, opened=opened(weights))
    weights.unlink()
    answers.settle()
    assert load(tmp_path) == ENTRIES and answers.upkeep.files == {"weights": ""}


def test_answers_that_rest_on_another_file_are_forgotten(tmp_path, weights, answers):
    fill(tmp_path, opened=opened(weights))
    weights.write_text("2")
    assert load(tmp_path) == {}
    new = {"new": Entry({}, {})}
    keep(answers, opened=opened(weights))
    Store(tmp_path, FINGERPRINT, tmp_path).clear()  # of a run that begins afresh meanwhile
    keep(answers, new)
    assert load(tmp_path) == new
    weights.write_text("3")
    assert load(tmp_path) == {}


@pytest.mark.parametrize("change", ["weights", "missing"])
def test_answers_of_another_run(tmp_path, weights, change):
    """Its files may be missing here, but not be others."""
    fill(tmp_path, opened=opened(weights))
    weights.unlink()
    if change == "weights":
        weights.write_text("2")
    entries, _, changed = Store(tmp_path, FINGERPRINT, tmp_path).elsewhere()
    assert undated(entries) == ENTRIES and changed == (["weights"] if change == "weights" else [])
    new = Store(tmp_path / "new", FINGERPRINT, tmp_path)
    new.add({"old": Entry({}, {})})  # of earlier weights
    knows(new, weights="0" * 40)
    taken = len(ENTRIES) if change == "missing" else 0
    assert [new.merge(tmp_path / NAME) for _ in range(2)] == [taken, 0]
    if taken:
        assert undated(new.load()) == ENTRIES and not new.upkeep.outdated_by
        assert [*seen_files(new.upkeep.files)] == ["weights"]


def test_kills_while_answers_are_written_and_removed(tmp_path):
    def write():
        while True:
            fill(tmp_path, MANY)
            Store(tmp_path, FINGERPRINT, tmp_path).clear()

    for number in range(3):
        writer = multiprocessing.get_context("fork").Process(target=write)
        writer.start()
        time.sleep(random.Random(number).uniform(0.1, 0.3))
        writer.kill()
        writer.join()
        answers = Store(tmp_path, FINGERPRINT, tmp_path)
        assert undated(answers.load()).items() <= MANY.items()
        assert (answers.upkeep.damaged, answers.upkeep.damage) == (0, ())
        answers.close()


def test_a_file_that_others_have_locked_for_too_long(tmp_path, answers, monkeypatch):
    fill(tmp_path)
    monkeypatch.setattr(store, "LOCKED_SECONDS", 0.1)
    with contextlib.closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match="locked"):
            answers.load()
        other.execute("ROLLBACK")
    assert undated(answers.load()) == ENTRIES


def with_other_database(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (content TEXT)")


DAMAGE = {
    "nothing": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "text": lambda path: path.write_text("This is somebody's own file. " * 500),
    "folder": lambda path: (path.unlink(), (path / "inner").mkdir(parents=True)),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "link": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "other database": with_other_database,
    "filled folder beside": lambda path: Path(f"{path}-shm", "inner").mkdir(parents=True),
    "version": lambda path: query(path.parent, "PRAGMA user_version = 2"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_set_aside_and_told(tmp_path, damage):
    DAMAGE[damage](fill(tmp_path, MANY))
    answers = Store(tmp_path, FINGERPRINT, tmp_path)
    entries = answers.load()
    assert entries.items() <= MANY.items() and len(entries) < len(MANY)
    (why,) = answers.upkeep.damage
    assert why.endswith("it was set aside as predictions.damaged.sqlite")
    assert "has no predictions of this version of Soundcheck" in why or damage != "version"
    assert os.path.lexists(tmp_path / "predictions.damaged.sqlite")
    answers.add(MANY)
    answers.settle()
    assert answers.load() == MANY and len(answers.upkeep.damage) == 1
    other = Store(tmp_path, OTHER, tmp_path)  # its answers were in the file, too
    assert other.load() == {} and other.upkeep.damage == (why,)
    answers.close()
    other.close()
    DAMAGE["text"](tmp_path / NAME)
    assert load(tmp_path) == {}
    assert (tmp_path / "2.predictions.damaged.sqlite").read_text().startswith("This is somebody's")


@pytest.mark.parametrize(
    ("statement", "damaged"),
    [
        ("answers SET answer = replace(answer, '0', '1') WHERE fingerprint < 'b' AND rowid IN (3, 7)", 2),
        ("answers SET answer = NULL WHERE fingerprint < 'b' AND rowid IN (3, 7)", 2),
        ("answers SET key = x'ff' || rowid WHERE fingerprint < 'b' AND rowid IN (3, 7)", 2),
        # what the answers rest on is not known any more
        ("models SET files = '{}' WHERE fingerprint < 'b'", len(ENTRIES)),
        ("models SET fingerprint = 'other' WHERE fingerprint < 'b'", len(ENTRIES)),
        (f"answers SET fingerprint = '{FINGERPRINT}'", 1),  # those of another model
    ],
)
def test_a_damaged_answer_is_a_miss_and_told_once(tmp_path, weights, statement, damaged):
    fill(tmp_path, opened=opened(weights))
    fill(tmp_path, {"a": Entry({}, {})}, OTHER)
    query(tmp_path, f"UPDATE {statement}")
    later = Store(tmp_path, FINGERPRINT, tmp_path)
    entries = undated(later.load())
    assert entries.items() <= ENTRIES.items() and len(entries) in (len(ENTRIES) - damaged, len(ENTRIES))
    assert (later.upkeep.damaged, later.upkeep.damage) == (damaged, ())
    again = Store(tmp_path, FINGERPRINT, tmp_path)
    assert (undated(again.load()), again.upkeep.damaged) == (entries, 0)


def test_flipped_bits_never_make_a_wrong_answer(tmp_path, weights):
    """Anywhere in a file of two models, one of which rests on a file: right answers or none."""
    fill(tmp_path, {key: Entry({"arousal": 99.0}, {}) for key in ENTRIES}, OTHER, opened(weights))
    weights.write_text("2")  # so these answers must not be believed
    content = fill(tmp_path).read_bytes()
    assert load(tmp_path) == ENTRIES
    draw, missed, new = random.Random(0), 0, {"new": Entry({"arousal": 1.0}, {})}
    for place in [*range(0, 100, 5), *(draw.randrange(len(content)) for _ in range(80))]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        for path in tmp_path.glob("predictions*"):
            path.unlink()
        (tmp_path / NAME).write_bytes(damaged)
        entries = load(tmp_path)
        assert entries.items() <= ENTRIES.items()
        missed += entries != ENTRIES
        fill(tmp_path, new)
        assert load(tmp_path).items() <= (ENTRIES | new).items()
    assert missed > 10


def test_a_place_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"Cannot write predictions\.sqlite in the cache"):
        Store(tmp_path / "file", FINGERPRINT, tmp_path).load()


def test_file_systems_of_several_machines(tmp_path, monkeypatch):
    """Their processes share no memory, which a write-ahead log needs; SQLite does not notice."""
    monkeypatch.setattr(store, "LOCAL", ())
    fill(tmp_path)
    assert query(tmp_path, "PRAGMA journal_mode") == [("delete",)]
    assert not (tmp_path / f"{NAME}-wal").exists()
    assert load(tmp_path) == ENTRIES


def test_models_that_are_not_used_are_forgotten(tmp_path):
    fill(tmp_path, {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(5_000)}, OTHER)
    size = fill(tmp_path).stat().st_size
    for days, remaining in ((store.UNUSED_DAYS, 5_050), (store.UNUSED_DAYS + 1, 50)):
        day = datetime.date.today() - datetime.timedelta(days)
        query(tmp_path, f"UPDATE models SET used = '{day}'")  # the model that predicts is in use
        assert load(tmp_path) == ENTRIES
        assert query(tmp_path, "SELECT count(*) FROM models") == [(2,)]  # it may be the next one's turn
        store.forget_unused(tmp_path)
        assert query(tmp_path, "SELECT count(*) FROM answers") == [(remaining,)]
    assert query(tmp_path, "SELECT fingerprint FROM models") == [(FINGERPRINT,)]
    assert (tmp_path / NAME).stat().st_size < size / 10
