import os
import subprocess
import sys

import pytest

from soundcheck.common.files import OutputError
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.predict import cache, journal
from soundcheck.predict.cache import Cache, Keys
from soundcheck.predict.journal import Entry, Journal
from soundcheck.predict.protocol import PlainChange

FINGERPRINT = "ab" * 20
ENTRIES = {f"{n:040x}": Entry({"arousal": n / 7, "emotion": "ängér"}, {"snr_db": n}) for n in range(50)}


@pytest.fixture
def store(tmp_path) -> Cache:
    return Cache(tmp_path, FINGERPRINT)


def keep(store: Cache, entries: dict = ENTRIES) -> None:
    written = Journal(store.folder)
    for key, entry in entries.items():
        written.add(key, entry)
    written.close()


def chunks(store: Cache) -> list:
    return sorted(store.folder.glob("*.parquet"))


# Journals ---------------------------------------------------------------------------------------------------


def test_journal_is_read_before_and_after_it_becomes_a_chunk(store):
    assert store.load() == {}
    keep(store)
    assert store.load() == ENTRIES
    store.compact()
    assert store.load() == ENTRIES
    assert [path.suffix for path in store.folder.iterdir()] == [".parquet"]


def test_numbers_survive_exactly(store):
    entries = {"a": Entry({"arousal": 0.1 + 0.2}, {}), "b": Entry({"arousal": 5e-324}, {})}
    keep(store, entries)
    store.compact()
    assert store.load() == entries


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_cut_line_is_no_line(store, cut):
    keep(store)
    path = next(store.folder.glob("*.journal"))
    path.write_bytes(path.read_bytes()[:-cut])
    assert len(store.load()) == 49
    store.compact()
    assert len(store.load()) == 49


def test_every_flipped_bit_of_a_journal_is_found(store):
    line = journal.encode("key", Entry({"arousal": 0.25}, {}))
    assert journal.decode(line[:-1]) == ("key", Entry({"arousal": 0.25}, {}))
    for place in range(len(line) - 1):
        for bit in range(8):
            damaged = bytearray(line[:-1])
            damaged[place] ^= 1 << bit
            assert journal.decode(bytes(damaged)) is None


def test_live_journal_is_left_alone(store):
    live = Journal(store.folder)
    live.add("a", Entry({"arousal": 1.0}, {}))
    root = store.folder.parents[2]
    code = (
        "from pathlib import Path; from soundcheck.predict.cache import Cache; "
        f"Cache(Path({str(root)!r}), {FINGERPRINT!r}).compact()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert live.path.exists()
    assert list(store.load()) == ["a"]
    live.close()
    store.compact()
    assert not live.path.exists()
    assert list(store.load()) == ["a"]


# Chunks -----------------------------------------------------------------------------------------------------


def fill(store: Cache):
    keep(store)
    store.compact()
    (path,) = chunks(store)
    return path


def cut_to_nothing(path):
    path.write_bytes(b"")


def cut_to_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


def replace_by_folder(path):
    path.unlink()
    (path / "inner").mkdir(parents=True)


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("damage", [cut_to_nothing, cut_to_half, flip, replace_by_folder, replace_by_pipe])
def test_damaged_chunk_is_a_miss_and_is_logged(store, damage, caplog):
    damage(fill(store))
    assert store.load() == {}
    assert "computed again" in caplog.text
    keep(store)
    store.compact()
    assert store.load() == ENTRIES


def test_chunk_of_another_version_is_a_miss(store, caplog):
    import io

    import pandas as pd

    from soundcheck.common.files import digest

    sink = io.BytesIO()
    pd.DataFrame({"key": ["a"], "value": [1]}).to_parquet(sink)
    store.folder.mkdir(parents=True)
    (store.folder / f"{digest(sink.getvalue())}.parquet").write_bytes(sink.getvalue())
    assert store.load() == {}
    assert "another version" in caplog.text


def test_same_answers_make_the_same_file(store, tmp_path):
    name = fill(store).name
    other = Cache(tmp_path / "other", FINGERPRINT)
    keep(other, dict(reversed(ENTRIES.items())))
    other.compact()
    assert [path.name for path in chunks(other)] == [name]


def test_many_runs_leave_few_files(store):
    for number in range(40):
        keep(store, {f"{number}": Entry({"arousal": float(number)}, {})})
        store.compact()
    assert len(store.load()) == 40
    assert len(list(store.folder.iterdir())) <= cache.MANY_CHUNKS + 1


def test_large_caches_are_split(store, monkeypatch):
    monkeypatch.setattr(cache, "CHUNK_ROWS", 20)
    fill_with = dict(list(ENTRIES.items()))
    keep(store, fill_with)
    store.compact()
    assert len(chunks(store)) == 3
    assert store.load() == ENTRIES


def test_full_disk_keeps_the_journal(store, monkeypatch):
    keep(store)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("soundcheck.common.files.os.replace", full)
    with pytest.raises(OutputError, match="No space left"):
        store.compact()
    monkeypatch.undo()
    assert store.load() == ENTRIES
    assert not [path for path in store.folder.iterdir() if "part" in path.name]


# Keys -------------------------------------------------------------------------------------------------------


def test_everything_that_an_answer_depends_on_is_in_its_key():
    arousal, emotion = BUILTIN["arousal"], BUILTIN["emotion"]
    noise = PlainChange("Noise", "white_noise", {"snr_db": [20, 30]})
    louder = PlainChange("Noise", "white_noise", {"snr_db": [20]})
    keys = Keys(FINGERPRINT, [arousal], [noise], 0)
    others = {
        "clean": keys.key("audio", None),
        "changed": keys.key("audio", 0),
        "audio": keys.key("other", None),
        "model": Keys("cd" * 20, [arousal], [noise], 0).key("audio", None),
        "tasks": Keys(FINGERPRINT, [arousal, emotion], [noise], 0).key("audio", None),
        "options": Keys(FINGERPRINT, [arousal], [louder], 0).key("audio", 0),
        "seed": Keys(FINGERPRINT, [arousal], [noise], 1).key("audio", 0),
        "repeated": cache.repeated_key(keys.key("audio", None)),
    }
    assert len(set(others.values())) == len(others)


def test_what_an_answer_does_not_depend_on_is_not_in_its_key():
    noise = PlainChange("Noise", "white_noise", {"a": 1, "b": 2})
    same = PlainChange("Another name", "white_noise", {"b": 2, "a": 1})
    one = Keys(FINGERPRINT, [BUILTIN["arousal"]], [noise], 0)
    other = Keys(FINGERPRINT, [Task("arousal", "regression", (), 1, 7)], [noise, same], 0)
    assert one.key("audio", 0) == other.key("audio", 1)
    assert one.key("audio", None) == Keys(FINGERPRINT, [BUILTIN["arousal"]], [], 9).key("audio", None)


def test_code_that_makes_signals_is_in_the_keys():
    assert len({cache.changing_code(), cache.reading_code()}) == 2
