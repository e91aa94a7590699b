"""The store of answers: what is kept, by whom, and what damage, kills and other runs do to it."""

import contextlib
import datetime
import os
import platform
import random
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from soundcheck.common.file_contents import signature
from soundcheck.common.files import OutputError, digest
from soundcheck.predict import database, sessions, store
from soundcheck.predict.entries import Entry
from soundcheck.predict.sessions import SessionRow
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


def test_answers_of_another_store_rest_on_the_same(tmp_path, weights):
    kept = checked(tmp_path)
    keep(kept, opened=opened(weights))
    kept.settle()
    for text in ("1", "2"):
        weights.write_text("1")
        taken = Store(tmp_path / text, FINGERPRINT, SourceCheck(tmp_path))
        found = checked(tmp_path)
        taken.add(found.load(), found.sources)
        weights.write_text(text)
        assert taken.load() == (ENTRIES if text == "1" else {})
        taken.settle()
        assert taken.outdated == ({} if text == "1" else dict.fromkeys(ENTRIES, ["weights"]))


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
    assert later.outdated == {"interrupted": ["weights"]} and later.sources.gone == {"weights": ""}
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
    for _ in range(10):
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
    assert len(states) == 10 and all("basis" in state for (state,) in states)


EVERYTHING = """
while True:
    kept = Store(Path(sys.argv[1]), sys.argv[2])
    kept.load()
    for first in range(0, 600, 100):
        session = kept.session()
        numbers = range(first, first + 100)
        session.add({f"{n}": Entry({"arousal": n / 7}, {"more": "." * 500}) for n in numbers})
        session.close()
    kept.settle()
    kept.clear()
    kept._database.give_back()
    kept.close()
    print(flush=True)
"""


def test_kills_while_answers_are_settled_and_removed(tmp_path):
    draw = random.Random(0)
    for _ in range(6):
        with child(EVERYTHING, tmp_path, FINGERPRINT) as writer:
            writer.stdout.readline()
            time.sleep(draw.uniform(0, 0.2))
            writer.kill()
        kept = Store(tmp_path, FINGERPRINT)
        for number, entry in kept.load().items():
            assert entry == Entry({"arousal": int(number) / 7}, {"more": "." * 500})
        assert (kept.damaged, kept.damage) == (0, [])
        kept.close()


def test_when_a_session_has_ended():
    node, process = platform.node(), psutil.Process()
    now, start = time.time(), process.create_time()

    def ended(owner: list | None, since: float = now) -> bool:
        return SessionRow(1, b"", {"owner": owner, "since": since, "opened": []}).ended

    parent = process.parent()
    assert not ended([node, parent.pid, parent.create_time()])
    assert ended([node, parent.pid, parent.create_time() - 60])  # an earlier process of this number
    assert ended([node, process.pid, start])  # this process does not know of it
    assert ended(None)
    with subprocess.Popen([sys.executable, "-c", ""]) as zombie:
        begun = psutil.Process(zombie.pid).create_time()
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        assert ended([node, zombie.pid, begun])
    assert ended([node, zombie.pid, begun])
    assert not ended(["another machine", 1, start])
    assert ended(["another machine", 1, start], now - sessions.ELSEWHERE_SECONDS - 1)


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
    path.write_bytes(content.replace(b"TABLE answers (session", b"TABLE answers (sessiom"))


DAMAGE = [
    *(cut_to_nothing, cut_to_half, replace_by_text, replace_by_folder, replace_by_pipe, replace_by_link),
    *(replace_by_other_database, put_folder_beside, put_filled_folder_beside, flip_schema),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_set_aside_and_told(tmp_path, damage):
    entries = {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(500)}
    damage(fill(tmp_path, entries))
    kept = Store(tmp_path, FINGERPRINT)
    found = kept.load()
    assert found.items() <= entries.items() and len(found) < len(entries)
    (why,) = kept.damage
    assert why.endswith("it was set aside as predictions.damaged.sqlite")
    assert os.path.lexists(tmp_path / "predictions.damaged.sqlite")
    keep(kept, entries)
    kept.settle()
    assert kept.load() == entries
    assert len(kept.damage) == 1
    other = Store(tmp_path, OTHER)  # its answers were in the file, too
    assert other.load() == {} and other.damage == [why]
    assert Store(tmp_path, OTHER).damage == []


def test_what_was_set_aside_twice(tmp_path):
    for damage in (replace_by_folder, cut_to_nothing, replace_by_folder, replace_by_text):
        damage(fill(tmp_path))
        kept = Store(tmp_path, FINGERPRINT)
        assert kept.load() == {}
        kept.close()
    assert (tmp_path / "predictions.damaged.sqlite" / "inner").is_dir()
    assert (tmp_path / "2.predictions.damaged.sqlite").read_text().startswith("This is somebody's")
    assert (tmp_path / "3.predictions.damaged.sqlite" / "inner").is_dir()


def test_the_file_of_another_version_is_removed(tmp_path):
    fill(tmp_path)
    query(tmp_path, "PRAGMA user_version = 2")
    kept = Store(tmp_path, FINGERPRINT)
    assert kept.load() == {}
    assert kept.damage == ["the file was written by another version of Soundcheck; it was removed"]
    assert not list(tmp_path.glob("*damaged*"))


def test_what_earlier_versions_kept_is_removed(tmp_path):
    former = tmp_path / "predictions" / "ab" / FINGERPRINT
    former.mkdir(parents=True)
    (former / "0.parquet").touch()
    own = tmp_path / "predictions" / "mine.csv"
    own.touch()
    Store(tmp_path, FINGERPRINT).load()
    assert not former.exists() and own.exists()
    own.unlink()
    Store(tmp_path, FINGERPRINT).load()
    assert not own.parent.exists()
    own.parent.touch()  # a file, as a user may have it
    Store(tmp_path, FINGERPRINT).load()
    assert own.parent.exists()


CHANGES = [
    *("answers SET content = replace(content, '0', '1')", "answers SET key = 'other'"),
    *(
        "answers SET digest = NULL",
        "answers SET content = NULL",
        "answers SET key = 5",
        "answers SET key = x'ff'",
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_answer_is_a_miss_and_told_once(tmp_path, change):
    fill(tmp_path)
    query(tmp_path, f"UPDATE {change} WHERE rowid IN (3, 7)")
    kept = Store(tmp_path, FINGERPRINT)
    found = kept.load()
    assert found.items() < ENTRIES.items()
    assert (len(found), kept.damaged, kept.damage) == (48, 2, [])
    again = Store(tmp_path, FINGERPRINT)
    assert (len(again.load()), again.damaged) == (48, 0)
    keep(again)
    assert again.load() == ENTRIES


@pytest.mark.parametrize(
    "change",
    [
        *("sessions SET content = '{}'", "sessions SET digest = NULL", "sessions SET content = 1.5"),
        *(
            "sessions SET id = 1",
            "bases SET content = '{}'",
            "bases SET name = x'ff'",
            "bases SET content = 7",
        ),
    ],
)
def test_answers_whose_session_is_damaged_are_not_believed(tmp_path, change, weights):
    kept = checked(tmp_path)
    keep(kept, opened=opened(weights))
    kept.settle()
    kept.close()
    query(tmp_path, f"UPDATE {change}")
    later = checked(tmp_path)
    assert later.load() == {} and later.damage == []
    if "SET id" not in change:  # else nobody knows whose they were
        assert later.damaged == len(ENTRIES)
    assert checked(tmp_path).damaged == 0


def test_answers_of_one_session_are_none_of_another(tmp_path):
    """As if damage had moved a row: the other session rests on other files."""
    fill(tmp_path)
    fill(tmp_path, {"a": Entry({}, {})}, OTHER)
    query(tmp_path, f"UPDATE answers SET session = (SELECT id FROM sessions WHERE fingerprint = '{OTHER}')")
    kept = Store(tmp_path, OTHER)
    assert list(kept.load()) == ["a"]
    assert kept.damaged == len(ENTRIES)


def test_flipped_bits_never_make_a_wrong_answer(tmp_path):
    """Anywhere in a file of two models, one of which rests on a file: right answers or none."""
    weights = tmp_path / "weights"
    weights.write_text("1")
    kept = checked(tmp_path)
    old = {key: Entry({"arousal": 99.0}, {}) for key in ENTRIES}
    keep(kept, old, opened(weights))
    kept.settle()
    kept.close()
    weights.write_text("2")  # so these answers must not be believed
    content = fill(tmp_path).read_bytes()
    assert checked(tmp_path).load() == ENTRIES
    draw = random.Random(0)
    missed = 0
    places = [*range(0, 100, 5), *(draw.randrange(len(content)) for _ in range(80))]
    for place_of_bit in places:
        damaged = bytearray(content)
        damaged[place_of_bit] ^= 1 << draw.randrange(8)
        for path in tmp_path.glob("predictions*"):
            path.unlink()
        place(tmp_path).write_bytes(damaged)
        found = checked(tmp_path)
        entries = found.load()
        assert entries.items() <= ENTRIES.items()
        missed += entries != ENTRIES
        keep(found, {"new": Entry({"arousal": 1.0}, {})})
        found.settle()
        found.close()
        after = checked(tmp_path).load()
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
        kept = Store(tmp_path, FINGERPRINT)
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
    kept = Store(tmp_path, FINGERPRINT)
    found = kept.load()
    assert found == {f"{n}": Entry({"arousal": n / 7}, {}) for n in range(len(found))}
    kept.settle()
    assert kept.load() == found and kept.damage == []


@pytest.mark.parametrize("error", [MemoryError, sqlite3.ProgrammingError])
def test_what_is_whole_is_not_set_aside(tmp_path, error, monkeypatch):
    fill(tmp_path)
    kept = Store(tmp_path, FINGERPRINT)
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "read_answers", lambda *_: (_ for _ in ()).throw(error()))
        if error is MemoryError:
            assert kept.load() == {}
            assert kept.damage == ["the file cannot be read: Cannot allocate memory"]
        else:
            with pytest.raises(error):
                kept.load()
    assert Store(tmp_path, FINGERPRINT).load() == ENTRIES


def test_two_runs_with_a_file_that_is_damaged(tmp_path):
    """One sets it aside while the other writes; neither fails, and both go on in the new file."""
    fill(tmp_path)
    one = Store(tmp_path, OTHER)
    one.load()
    session = keep(one, {"a": Entry({}, {})}, end=False)
    other = Store(tmp_path, FINGERPRINT)
    other._database._remove("somebody found damage")
    assert other.load() == {} and other.damage
    keep(other)
    session.add({"b": Entry({}, {})})
    session.close()
    for kept in (one, other):
        kept.settle()
        kept.close()
    assert Store(tmp_path, FINGERPRINT).load() == ENTRIES
    assert list(Store(tmp_path, OTHER).load()) == ["b"]


# Places that cannot be written ------------------------------------------------------------------------------


def test_a_full_disk(tmp_path, kept):
    fill(tmp_path)
    many = {digest(f"more {n}"): Entry({"arousal": float(n)}, {}) for n in range(20_000)}
    kept.load()
    session = kept.session()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
        with pytest.raises(OSError, match="No space left|Input/output error"):
            session.add(many)
        session.close()
        with contextlib.suppress(OutputError):
            kept.settle()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert Store(tmp_path, FINGERPRINT).load() == ENTRIES
    keep(kept, many)
    kept.settle()
    assert kept.load() == ENTRIES | many
    assert kept.damage == []


def test_a_small_file_system(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", folder], stderr=-3).returncode:
        pytest.skip("needs the right to mount")
    try:
        fill(folder)
        kept = Store(folder, FINGERPRINT)
        session = kept.session()
        with pytest.raises(OSError, match="No space left"):
            session.add({digest(str(n)): Entry({"arousal": 1.0}, {"more": "." * 90}) for n in range(5000)})
        session.close()
        kept.close()
        assert Store(folder, FINGERPRINT).load() == ENTRIES
        (folder / "rest").write_bytes(b"." * 10)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


READ_ONLY = """
import os
if os.getuid() == 0:  # who may write anywhere
    os.setuid(65534)
kept = Store(Path(sys.argv[1]), sys.argv[2])
print(len(kept.load()), kept.damage)
kept.settle()
try:
    kept.session()
except OSError as error:
    print(error.strerror)
"""


def test_a_folder_that_cannot_be_written(tmp_path):
    folder = tmp_path / "cache"
    for path in (*tmp_path.parents, tmp_path):
        if path.stat().st_uid == os.getuid() and path != Path("/tmp"):
            path.chmod(0o755)
    folder.mkdir()
    fill(folder)
    folder.chmod(0o555)
    try:
        with child(READ_ONLY, folder, FINGERPRINT) as reader:
            assert reader.communicate() == ("50 []\nthe file cannot be written\n", "")
    finally:
        folder.chmod(0o755)


def test_a_path_that_is_too_long(tmp_path):
    folder = tmp_path
    while len(str(folder)) < 520:
        folder = folder / ("long" * 10)
    kept = Store(folder, FINGERPRINT)
    assert kept.load() == {}
    assert "too long" in kept.damage[0]
    with pytest.raises(OutputError, match="too long"):
        kept.clear()


@pytest.mark.parametrize("memory", ["none", "network"])
def test_file_systems_without_shared_memory(tmp_path, monkeypatch, memory):
    connect = sqlite3.connect

    def without(path, *arguments, **options):
        return connect(f"file:{path}?vfs=unix-none", *arguments, uri=True, **options)

    if memory == "none":
        monkeypatch.setattr(sqlite3, "connect", without)
    else:
        monkeypatch.setattr(database, "_on_network", lambda _: True)
    kept = Store(tmp_path, FINGERPRINT)
    keep(kept)
    assert not (tmp_path / "predictions.sqlite-wal").exists()
    kept.settle()
    kept.close()
    assert Store(tmp_path, FINGERPRINT).load() == ENTRIES


# Age --------------------------------------------------------------------------------------------------------


def test_models_that_are_not_used_are_forgotten(tmp_path):
    many = {digest(str(n)): Entry({"arousal": float(n)}, {}) for n in range(20_000)}
    fill(tmp_path, many, OTHER)
    fill(tmp_path)
    size = place(tmp_path).stat().st_size
    day = datetime.date.today() - datetime.timedelta(store.UNUSED_DAYS)
    query(tmp_path, f"UPDATE fingerprints SET used = '{day}' WHERE fingerprint = '{OTHER}'")
    Store(tmp_path, FINGERPRINT).load()
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(20_050,)]
    day -= datetime.timedelta(1)
    query(tmp_path, f"UPDATE fingerprints SET used = '{day}'")  # the model that asks is in use
    kept = Store(tmp_path, FINGERPRINT)
    assert kept.load() == ENTRIES
    kept.close()
    assert query(tmp_path, "SELECT count(*) FROM answers") == [(50,)]
    assert query(tmp_path, "SELECT fingerprint FROM fingerprints") == [(FINGERPRINT,)]
    assert place(tmp_path).stat().st_size < size / 10
