"""What is written when, and what happens if it cannot be written."""

import sqlite3
import time

import pytest

from soundcheck.common.file_contents import signature
from soundcheck.common.files import OutputError
from soundcheck.predict import recorder
from soundcheck.predict.protocol import Result
from soundcheck.predict.recorder import Recorder
from soundcheck.predict.sources import SourceCheck
from soundcheck.predict.store import Store


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path, "ab" * 20, SourceCheck(tmp_path))


def keys(store: Store) -> set[str]:
    """Look at what is there, as another run does."""
    return {*Store(store._database.path.parent, "ab" * 20).load()}


def result(key: str, process: str = "p", opened: tuple = ()) -> Result:
    return Result(key, {"arousal": 0.5}, opened=opened, process=process)


def test_a_few_answers_are_written_soon(store):
    with Recorder(store) as kept:
        kept.keep(result("a"))
        end = time.monotonic() + 10
        while keys(store) != {"a"}:
            assert time.monotonic() < end
            time.sleep(0.05)
        kept.keep(result("b"))
    assert keys(store) == {"a", "b"}


def test_many_answers_are_written_at_once(store, monkeypatch):
    monkeypatch.setattr(recorder, "SECONDS", 1000.0)
    with Recorder(store) as kept:
        for number in range(recorder.ANSWERS + 5):
            kept.keep(result(f"{number}"))
        end = time.monotonic() + 10
        while len(keys(store)) < recorder.ANSWERS:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert len(keys(store)) == recorder.ANSWERS + 5


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_what_was_answered_before_an_error_is_kept(store, error):
    with pytest.raises(error), Recorder(store) as kept:
        kept.keep(result("a"))
        raise error
    assert keys(store) == {"a"}


def test_each_process_answers_for_itself(store, tmp_path):
    weights = tmp_path / "weights"
    weights.write_text("1")
    news = (["read", "weights", *signature(weights)],)
    with Recorder(store) as kept:
        kept.keep(result("a", "one", news))
        kept.keep(result("b", "other"))
        kept.keep(result("c", "one"))
    weights.write_text("another")
    store.settle()
    assert (store.dropped, store.changed, keys(store)) == (2, {"weights"}, {"b"})


def test_nothing_is_left_of_processes_that_did_not_answer(store):
    with Recorder(store):
        pass
    assert store._database.read(lambda c: c.execute("SELECT count(*) FROM sessions").fetchone()) == (0,)


def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path):
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(OutputError, match=r"Cannot write predictions\.sqlite in the cache"):
        Recorder(Store(place, "ab" * 20)).__enter__()


@pytest.mark.parametrize("when", ["while it is asked", "in the end"])
def test_an_answer_that_cannot_be_written_stops_the_run(store, monkeypatch, when):
    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"), Recorder(store) as kept:
        monkeypatch.setattr("soundcheck.predict.sessions.Session.add", full)
        kept.keep(result("a"))
        end = time.monotonic() + 10
        while when == "while it is asked":
            assert time.monotonic() < end
            time.sleep(0.05)
            kept.keep(result("b"))


def test_a_fault_of_the_writer_is_not_swallowed(store, monkeypatch):
    def wrong(*_):
        raise sqlite3.ProgrammingError("wrong")

    with pytest.raises(sqlite3.ProgrammingError), Recorder(store) as kept:
        monkeypatch.setattr("soundcheck.predict.sessions.Session.add", wrong)
        kept.keep(result("a"))
