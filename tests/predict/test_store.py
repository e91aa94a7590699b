"""The store of answers: what is kept, and what damage, kills and other runs do to it."""

import contextlib
import datetime
import os
import random
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from soundcheck.common.files import OutputError, digest
from soundcheck.common.store import signature
from soundcheck.predict import store
from soundcheck.predict.protocol import Result
from soundcheck.predict.store import NAME, Entry, Store

FINGERPRINT, OTHER = "ab" * 20, "cd" * 20
ENTRIES = {digest(str(n)): Entry({"arousal": n / 7, "emotion": "ängér"}, {"snr_db": n}) for n in range(50)}


@pytest.fixture
def kept(tmp_path) -> Store:
    return Store(tmp_path, FINGERPRINT, tmp_path)


def place(tmp_path: Path) -> Path:
    return tmp_path / NAME


def keep(kept: Store, entries: dict = ENTRIES, opened: list = ()) -> None:
    """Write what a model answers, and has opened before."""
    with kept:
        for number, (key, entry) in enumerate(entries.items()):
            kept.keep(Result(key, entry.answer, entry.drawn, opened=() if number else opened))


def undated(entries: dict) -> dict:
    return {key: entry._replace(day="") for key, entry in entries.items()}


def load(tmp_path: Path, fingerprint: str = FINGERPRINT) -> dict:
    """Read as another run does."""
    kept = Store(tmp_path, fingerprint, tmp_path)
    found = undated(kept.load())
    kept.close()
    return found


def fill(tmp_path: Path, entries: dict = ENTRIES, fingerprint: str = FINGERPRINT) -> Path:
    """Write a finished run."""
    kept = Store(tmp_path, fingerprint, tmp_path)
    kept.add(entries)
    kept.settle()
    kept.close()
    return place(tmp_path)


def query(tmp_path: Path, statement: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(place(tmp_path))) as connection, connection:
        return connection.execute(statement).fetchall()


def child(code: str, *arguments: object) -> subprocess.Popen:
    """Run code in another process."""
    begin = "import sys; from pathlib import Path; from soundcheck.predict.store import Entry, Store\n"
    begin += "kept = Store(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[1]))\n"
    return subprocess.Popen(
        [sys.executable, "-c", begin + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# Answers ----------------------------------------------------------------------------------------------------


def test_answers_are_found_before_and_after_the_run_ends(tmp_path, kept):
    assert kept.load() == {}
    keep(kept)
    assert load(tmp_path) == ENTRIES == undated(kept.load())
    kept.settle()
    kept.close()
    assert load(tmp_path) == ENTRIES
    assert {path.name for path in tmp_path.iterdir()} == {NAME, f"{NAME}.lock"}


def test_models_have_their_own(tmp_path):
    fill(tmp_path)
    fill(tmp_path, {"a": Entry({"arousal": 1.0}, {})}, OTHER)
    assert load(tmp_path, OTHER) == {"a": Entry({"arousal": 1.0}, {})}
    Store(tmp_path, OTHER, tmp_path).clear()
    assert load(tmp_path, OTHER) == {} and load(tmp_path) == ENTRIES


def test_numbers_and_days_survive_exactly(kept):
    entries = {"a": Entry({"arousal": 0.1 + 0.2}, {}), "b": Entry({"arousal": 5e-324}, {}, "2026-11-23")}
    kept.add(entries)
    assert kept.load() == entries


def test_a_few_answers_are_written_soon_and_many_at_once(tmp_path, kept, monkeypatch):
    def wait_for(count: int) -> None:
        end = time.monotonic() + 20
        while len(load(tmp_path)) < count:
            assert time.monotonic() < end
            time.sleep(0.05)

    with kept:
        kept.keep(Result("a", {"arousal": 0.5}))
        wait_for(1)
    monkeypatch.setattr(store, "WRITE_SECONDS", 1000.0)
    with kept:
        for number in range(store.WRITE_ANSWERS + 5):
            kept.keep(Result(f"{number}", {"arousal": 0.5}))
        wait_for(store.WRITE_ANSWERS)
    assert len(load(tmp_path)) == store.WRITE_ANSWERS + 6


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_what_was_answered_before_an_error_is_kept(tmp_path, kept, error):
    with pytest.raises(error), kept:
        kept.keep(Result("a", {"arousal": 0.5}))
        raise error
    assert [*load(tmp_path)] == ["a"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("wrong")])
@pytest.mark.parametrize("when", ["at once", "in the end"])
def test_an_answer_that_cannot_be_written_stops_the_run(kept, monkeypatch, error, when):
    def fail(*_):
        raise error

    with pytest.raises((OutputError, ValueError), match=r"No space left|wrong"), kept:
        monkeypatch.setattr(Store, "_insert", fail)
        kept.keep(Result("a", {"arousal": 0.5}))
        end = time.monotonic() + 10
        while when == "at once":
            assert time.monotonic() < end
            time.sleep(0.05)
            kept.keep(Result("b", {"arousal": 0.5}))


# Files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def weights(tmp_path) -> Path:
    path = tmp_path / "weights"
    path.write_text("1")
    return path


def opened(path: Path) -> list[list]:
    return [["read", path.name, *signature(path)]]


def test_answers_of_other_files_are_forgotten(tmp_path, weights, kept):
    keep(kept, opened=opened(weights))
    kept.settle()
    assert list(kept.sources.files) == ["weights"]
    weights.write_text("2")
    later = Store(tmp_path, FINGERPRINT, tmp_path)
    assert later.load() == {}
    assert (later.outdated, later.outdated_by) == ({*ENTRIES}, ["weights"])
    other = {key: Entry({"arousal": 2.0}, {}) for key in ENTRIES}
    keep(later, other, opened(weights))
    later.settle()
    assert load(tmp_path) == other


@pytest.mark.parametrize("how", ["before it is written", "after it was written", "by another run"])
def test_a_file_that_changed_meanwhile(tmp_path, weights, kept, how):
    seen = opened(weights)
    if how == "before it is written":
        weights.write_text("other")
    keep(kept, opened=seen)
    if how == "after it was written":
        weights.write_text("other")
    if how == "by another run":  # which has seen another content
        query(tmp_path, "DELETE FROM models")
        Store(tmp_path, FINGERPRINT, tmp_path)._database.do(
            lambda connection: kept._write_files(connection, {"weights": "0" * 40})
        )
        keep(kept, {"later": Entry({}, {})})
    kept.settle()
    assert kept.dropped >= len(ENTRIES) and kept.dropped_by == ["weights"]
    assert load(tmp_path) == {}
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(0,)]


def test_a_file_that_is_gone(tmp_path, weights, kept):
    """A run that ended knows that it was of no account; one that was interrupted does not."""
    keep(kept, opened=opened(weights))
    weights.unlink()
    interrupted = Store(tmp_path, FINGERPRINT, tmp_path)
    assert interrupted.load() == {} and interrupted.outdated_by == ["weights"]
    weights.write_text("1")
    keep(kept, opened=opened(weights))
    weights.unlink()
    kept.settle()
    assert load(tmp_path) == ENTRIES and kept.sources.gone == {"weights": ""}


def test_what_a_model_writes_is_no_source(tmp_path, weights, kept):
    keep(kept, opened=[*opened(weights), ["written", "weights"]])
    weights.write_text("its log")
    kept.settle()
    assert load(tmp_path) == ENTRIES and not kept.dropped


@pytest.mark.parametrize("change", ["nothing", "weights", "missing"])
def test_answers_of_another_run(tmp_path, weights, kept, change):
    """Its files may be missing here, but not be others."""
    keep(kept, opened=opened(weights))
    kept.settle()
    kept.close()
    {"nothing": int, "weights": lambda: weights.write_text("2"), "missing": weights.unlink}[change]()
    other = Store(tmp_path, FINGERPRINT, tmp_path)
    entries, changed = other.elsewhere()
    assert undated(entries) == ENTRIES and changed == (["weights"] if change == "weights" else [])
    if change != "weights":
        new = Store(tmp_path / "new", FINGERPRINT, tmp_path)
        assert [new.merge(place(tmp_path)) for _ in range(2)] == [len(ENTRIES), 0]
        assert undated(new.load()) == ENTRIES and not new.outdated
        assert [*new.sources.seen_files] == ["weights"]


# Processes --------------------------------------------------------------------------------------------------

WRITE = """
first = int(sys.argv[3])
while True:
    kept.add({f"{n}": Entry({"arousal": n / 7}, {}) for n in range(first, first + 5)})
    first += 5
    print(first, flush=True)
"""


def test_killed_writers_lose_nothing_that_they_committed(tmp_path):
    draw = random.Random(0)
    first = 0
    for _ in range(10):
        with child(WRITE, tmp_path, FINGERPRINT, first) as writer:
            writer.stdout.readline()
            time.sleep(draw.uniform(0, 0.05))
            writer.kill()
            committed = [int(line) for line in writer.stdout.read().split()]
        kept = Store(tmp_path, FINGERPRINT, tmp_path)
        found = kept.load()
        assert found == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(len(found))}
        assert len(found) % 5 == 0 and len(found) >= max([first + 5, *committed])
        first = len(found)
        assert (kept.damaged, kept.damage) == (0, [])


EVERYTHING = """
while True:
    kept.load()
    for first in range(0, 600, 100):
        kept.add({f"{n}": Entry({"arousal": n / 7}, {"more": "." * 500}) for n in range(first, first + 100)})
    kept.settle()
    kept.clear()
    kept.close()
    print(flush=True)
"""


def test_kills_while_answers_are_written_and_removed(tmp_path):
    draw = random.Random(0)
    for _ in range(6):
        with child(EVERYTHING, tmp_path, FINGERPRINT) as writer:
            writer.stdout.readline()
            time.sleep(draw.uniform(0, 0.2))
            writer.kill()
        kept = Store(tmp_path, FINGERPRINT, tmp_path)
        for number, entry in kept.load().items():
            assert entry == Entry({"arousal": int(number) / 7}, {"more": "." * 500})
        assert (kept.damaged, kept.damage) == (0, [])
        kept.close()


def test_writers_at_once(tmp_path):
    code = """
first = int(sys.argv[3])
kept.load()
for n in range(first, first + 100):
    kept.add({f"{n}": Entry({"arousal": n / 7}, {})})
kept.settle()
"""
    writers = [child(code, tmp_path, FINGERPRINT, first) for first in (0, 100, 200)]
    assert [writer.communicate()[1] for writer in writers] == [""] * 3
    assert load(tmp_path) == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(300)}


def test_a_file_that_others_have_locked_for_too_long(tmp_path, kept, monkeypatch):
    fill(tmp_path)
    monkeypatch.setattr(store, "LOCKED_SECONDS", 0.1)
    with contextlib.closing(sqlite3.connect(place(tmp_path), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match="locked"):
            kept.load()
        other.execute("ROLLBACK")
    assert undated(kept.load()) == ENTRIES


# Damage -----------------------------------------------------------------------------------------------------


def cut_to_nothing(path):
    path.write_bytes(b"")


def cut_to_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def replace_by_text(path):
    path.write_text("This is somebody's own file. " * 500)


def replace_by_folder(path):
    path.unlink()
    (path / "inner").mkdir(parents=True)


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replace_by_link(path):
    path.unlink()
    path.symlink_to("nowhere")


def replace_by_other_database(path):
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (content TEXT)")


def put_folder_beside(path):
    Path(f"{path}-wal").mkdir()


def put_filled_folder_beside(path):
    Path(f"{path}-shm", "inner").mkdir(parents=True)


def flip_schema(path):
    content = path.read_bytes()
    path.write_bytes(content.replace(b"TABLE answers (fingerprint", b"TABLE answers (fingerprimt"))


DAMAGE = [
    *(cut_to_nothing, cut_to_half, replace_by_text, replace_by_folder, replace_by_pipe, replace_by_link),
    *(replace_by_other_database, put_folder_beside, put_filled_folder_beside, flip_schema),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_set_aside_and_told(tmp_path, damage):
    entries = {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(500)}
    damage(fill(tmp_path, entries))
    kept = Store(tmp_path, FINGERPRINT, tmp_path)
    found = kept.load()
    assert found.items() <= entries.items() and len(found) < len(entries)
    (why,) = kept.damage
    assert why.endswith("it was set aside as predictions.damaged.sqlite")
    assert os.path.lexists(tmp_path / "predictions.damaged.sqlite")
    kept.add(entries)
    kept.settle()
    assert kept.load() == entries
    assert len(kept.damage) == 1
    other = Store(tmp_path, OTHER, tmp_path)  # its answers were in the file, too
    assert other.load() == {} and other.damage == [why]


def test_what_was_set_aside_twice(tmp_path):
    for damage in (replace_by_folder, cut_to_half, replace_by_folder, replace_by_text):
        damage(fill(tmp_path, {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(500)}))
        assert len(load(tmp_path)) < 500
    assert (tmp_path / "predictions.damaged.sqlite" / "inner").is_dir()
    assert (tmp_path / "4.predictions.damaged.sqlite").read_text().startswith("This is somebody's")


def test_the_file_of_another_version(tmp_path):
    fill(tmp_path)
    query(tmp_path, "PRAGMA user_version = 2")
    kept = Store(tmp_path, FINGERPRINT, tmp_path)
    assert kept.load() == {}
    assert "has no predictions of this version of Soundcheck; it was set aside" in kept.damage[0]


@pytest.mark.parametrize(
    "change",
    [
        *("answer = replace(answer, '0', '1')", "key = key || 'x'", "digest = NULL", "answer = NULL"),
        *("key = rowid", "key = x'ff' || rowid"),
    ],
)
def test_a_damaged_answer_is_a_miss_and_told_once(tmp_path, change):
    fill(tmp_path)
    query(tmp_path, f"UPDATE answers SET {change} WHERE rowid IN (3, 7)")
    kept = Store(tmp_path, FINGERPRINT, tmp_path)
    found = kept.load()
    assert found.items() < ENTRIES.items()
    assert (len(found), kept.damaged, kept.damage) == (48, 2, [])
    again = Store(tmp_path, FINGERPRINT, tmp_path)
    assert (len(again.load()), again.damaged) == (48, 0)


@pytest.mark.parametrize("change", ["files = '{}'", "digest = NULL", "files = 1.5", "fingerprint = 'other'"])
def test_answers_whose_files_nobody_knows_are_not_believed(tmp_path, change, weights, kept):
    keep(kept, opened=opened(weights))
    kept.settle()
    kept.close()
    query(tmp_path, f"UPDATE models SET {change}")
    later = Store(tmp_path, FINGERPRINT, tmp_path)
    assert later.load() == {}
    assert (later.damage, later.damaged) == ([], len(ENTRIES))
    assert load(tmp_path) == {}


def test_answers_of_one_model_are_none_of_another(tmp_path):
    fill(tmp_path)
    fill(tmp_path, {"a": Entry({}, {})}, OTHER)
    query(tmp_path, f"UPDATE answers SET fingerprint = '{OTHER}'")
    kept = Store(tmp_path, OTHER, tmp_path)
    assert list(kept.load()) == ["a"]
    assert kept.damaged == len(ENTRIES)


def test_flipped_bits_never_make_a_wrong_answer(tmp_path):
    """Anywhere in a file of two models, one of which rests on a file: right answers or none."""
    weights = tmp_path / "weights"
    weights.write_text("1")
    kept = Store(tmp_path, OTHER, tmp_path)
    old = {key: Entry({"arousal": 99.0}, {}) for key in ENTRIES}
    keep(kept, old, opened(weights))
    kept.settle()
    kept.close()
    weights.write_text("2")  # so these answers must not be believed
    content = fill(tmp_path).read_bytes()
    assert load(tmp_path) == ENTRIES
    draw = random.Random(0)
    missed = 0
    places = [*range(0, 100, 5), *(draw.randrange(len(content)) for _ in range(80))]
    for place_of_bit in places:
        damaged = bytearray(content)
        damaged[place_of_bit] ^= 1 << draw.randrange(8)
        for path in tmp_path.glob("predictions*"):
            path.unlink()
        place(tmp_path).write_bytes(damaged)
        found = Store(tmp_path, FINGERPRINT, tmp_path)
        entries = found.load()
        assert entries.items() <= ENTRIES.items()
        missed += entries != ENTRIES
        found.add({"new": Entry({"arousal": 1.0}, {})})
        found.settle()
        found.close()
        after = load(tmp_path)
        assert after.items() <= {**ENTRIES, "new": Entry({"arousal": 1.0}, {})}.items()
    assert missed > 10


def test_flipped_bits_in_what_a_killed_run_leaves(tmp_path):
    """In the log that is written ahead, and the index of it: what was written last is missing, at most."""
    with child(WRITE, tmp_path, FINGERPRINT, 0) as writer:
        for _ in range(20):
            writer.stdout.readline()
        writer.kill()
    contents = {path: path.read_bytes() for path in tmp_path.glob("predictions.sqlite*")}
    draw = random.Random(0)
    counts = []
    for side in [*["-wal"] * 60, *["-shm"] * 20]:
        damaged = {path: bytearray(content) for path, content in contents.items()}
        content = damaged[tmp_path / f"predictions.sqlite{side}"]
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        for path, content in damaged.items():
            path.write_bytes(content)
        kept = Store(tmp_path, FINGERPRINT, tmp_path)
        found = kept.load()
        assert found == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(len(found))}
        kept.settle()
        kept.close()
        counts.append(len(found))
    assert min(counts) < max(counts) and min(counts[-20:]) == max(counts)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_log_that_is_cut(tmp_path, share):
    """As after a power failure: what was written last is missing, and nothing else."""
    with child(WRITE, tmp_path, FINGERPRINT, 0) as writer:
        for _ in range(20):
            writer.stdout.readline()
        writer.kill()
    log = tmp_path / "predictions.sqlite-wal"
    content = log.read_bytes()
    log.write_bytes(content[: round(len(content) * share)])
    kept = Store(tmp_path, FINGERPRINT, tmp_path)
    found = kept.load()
    assert found == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(len(found))}
    kept.settle()
    assert kept.load() == found and kept.damage == []


# Places that cannot be written ------------------------------------------------------------------------------


def test_a_full_disk(tmp_path, kept):
    fill(tmp_path)
    many = {digest(f"more {n}"): Entry({"arousal": float(n)}, {}) for n in range(20_000)}
    kept.load()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
        with pytest.raises(OutputError, match="Cannot write predictions"):
            kept.add(many)
        with contextlib.suppress(OutputError):
            kept.settle()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert load(tmp_path) == ENTRIES
    kept.add(many)
    assert kept.load() == ENTRIES | many and kept.damage == []


def test_a_place_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"Cannot write predictions\.sqlite in the cache"):
        Store(tmp_path / "file", FINGERPRINT, tmp_path).load()


def test_file_systems_without_shared_memory(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def without(path, *arguments, **options):
        return connect(f"file:{path}?vfs=unix-none", *arguments, uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", without)
    fill(tmp_path)
    assert not (tmp_path / f"{NAME}-wal").exists()
    assert load(tmp_path) == ENTRIES


def test_models_that_are_not_used_are_forgotten(tmp_path):
    fill(tmp_path, {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(20_000)}, OTHER)
    size = fill(tmp_path).stat().st_size
    day = datetime.date.today() - datetime.timedelta(store.UNUSED_DAYS)
    query(tmp_path, f"UPDATE models SET used = '{day}' WHERE fingerprint = '{OTHER}'")
    assert load(tmp_path) == ENTRIES
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(20_050,)]
    day -= datetime.timedelta(1)
    query(tmp_path, f"UPDATE models SET used = '{day}'")  # the model that predicts is in use
    assert load(tmp_path) == ENTRIES
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(50,)]
    assert query(tmp_path, "SELECT fingerprint FROM models") == [(FINGERPRINT,)]
    assert place(tmp_path).stat().st_size < size / 10
