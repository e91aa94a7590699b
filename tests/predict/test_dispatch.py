"""How calls are divided and what becomes of lost ones, told by workers that answer as a test wants."""

import collections
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from soundcheck.predict import prediction
from soundcheck.predict.prediction import Dispatcher
from soundcheck.predict.workers import (
    BY_MODEL,
    BY_SIGNAL,
    CALLING,
    READING,
    STARTING,
    Call,
    Excerpt,
    Outcome,
    Result,
    Unit,
)


class Workers:
    """Answers each batch of a unit by a function: ``None``, or the step that dies, or ``"late"``.

    The answer to `last` says that there is none to anything else.
    """

    def __init__(self, count=1, batch=1, die=lambda keys: None, seconds=0.0, last=""):
        self.count, self._batch, self._die, self._seconds, self._last = count, batch, die, seconds, last
        self._threads = ThreadPoolExecutor(count)
        self.units: list[list[str]] = []
        self.batches: list[list[str]] = []
        self.stopped = False

    def submit(self, unit, emit):
        self.units.append(unit.keys)
        return self._threads.submit(self.answer, unit, emit)

    def stop(self):
        self.stopped = True

    def answer(self, unit, emit):
        begin = time.monotonic()
        for piece in unit.pieces(1 if unit.one_by_one else self._batch):
            if self.stopped:
                return Outcome(problem="stopped")
            self.batches.append(piece.keys)
            time.sleep(self._seconds * len(piece.keys))
            if step := self._die(piece.keys):
                late, lost = step == "late", () if step == STARTING else tuple(piece.keys)
                return Outcome(1.0, "it died", CALLING if late else step, late, lost)
            emit([Result(key, {"x": 1.0}, refusal="no more" * (key == self._last)) for key in piece.keys])
        return Outcome(time.monotonic() - begin)


def items(count: int, each: int = 1) -> list[Call]:
    excerpts = [Excerpt(f"{n}", None, None, f"{n}") for n in range(count)]
    return [Call(f"{excerpt.path}-{k}", k or None, excerpt) for excerpt in excerpts for k in range(each)]


def ask(workers: Workers, todo: list[Call], batch: int = 1) -> tuple[dict[str, Result], dict[str, str]]:
    """Give results and problems by key."""
    results: dict[str, Result] = {}

    def finished(result: Result) -> None:
        assert threading.current_thread() is threading.main_thread()
        assert result.key not in results
        results[result.key] = result

    Dispatcher(workers, batch, finished).run(todo)
    assert set(results) == set(Unit(tuple(todo)).keys)
    return results, {key: result.problem for key, result in results.items() if result.problem}


def test_a_fast_model_gets_long_units_and_all_workers_end_together_a_slow_one_short_units(monkeypatch):
    workers = Workers(2)
    ask(workers, items(300, 10))
    sizes = [len(unit) for unit in workers.units]
    assert (sizes[0], max(sizes), sizes[-1]) == (prediction.FIRST_CALLS, prediction.UNIT_CALLS, 1)
    monkeypatch.setattr(prediction, "UNIT_SECONDS", 0.02)
    workers = Workers(seconds=0.01)
    ask(workers, items(20))
    assert {len(unit) for unit in workers.units[3:]} <= {1, 2}


@pytest.mark.parametrize(("count", "size"), [(3, 16), (2, 500)])
def test_batches_are_whole_and_the_same_for_any_number_of_workers(count, size):
    workers = Workers(count, batch=size)
    todo = items(172, 7)
    ask(workers, todo, batch=size)
    keys = Unit(tuple(todo)).keys
    expected = [keys[first : first + size] for first in range(0, len(keys), size)]
    assert sorted(workers.batches) == sorted(expected)


def test_a_lost_batch_is_asked_one_by_one_and_the_culprit_twice():
    workers = Workers(2, batch=8, die=lambda keys: CALLING if "13-0" in keys else None)
    results, problems = ask(workers, items(40), batch=8)
    assert problems == {"13-0": "it died"} and results["13-0"].fault == BY_MODEL
    times = collections.Counter(tuple(batch) for batch in workers.batches)
    assert times[("13-0",)] == prediction.TRIES
    assert all(times[(f"{n}-0",)] == 1 for n in range(8, 16) if n != 13)
    results, _ = ask(Workers(die=lambda keys: READING if keys == ["2-0"] else None), items(5))
    assert [key for key, result in results.items() if result.fault == BY_SIGNAL] == ["2-0"]


def test_some_deaths_among_answers_give_nothing_up_and_one_may_be_by_chance():
    died = []

    def often(keys):
        by_chance = keys == ["3-0"] and not died
        died.extend(["once"] * by_chance)
        return CALLING if by_chance or keys[0].endswith("7-0") else None

    workers = Workers(2, die=often)
    _, problems = ask(workers, items(1000))
    assert {*problems} == {f"{n}-0" for n in range(7, 1000, 10)}
    assert not workers.stopped


def test_room_for_one_process_only():
    room = threading.Semaphore(1)

    class Small(Workers):
        def answer(self, unit, emit):
            if not room.acquire(blocking=False):
                return Outcome(problem="no room", step=STARTING)
            try:
                emit([])
                time.sleep(0.01)
                return super().answer(unit, emit)
            finally:
                room.release()

    assert not ask(Small(3), items(200))[1]


def test_a_model_that_always_dies_is_given_up_after_calls_far_apart():
    workers = Workers(die=lambda keys: CALLING)
    reasons = collections.Counter(ask(workers, items(2000))[1].values())
    tried = [int(batch[0].split("-")[0]) for batch in workers.batches]
    # In the beginning a loss may be a second try.
    first, last = prediction.GIVE_UP_AFTER - prediction.NO_RETRY_AFTER, prediction.GIVE_UP_AFTER
    assert first <= reasons["it died"] < last and workers.stopped
    assert max(tried[: prediction.SPREAD_AFTER]) < 20 and max(tried) > 1500
    assert sum("not asked, because 40 calls in a row failed" in reason for reason in reasons) == 1


def test_a_model_that_never_answers_in_time_is_given_up_soon():
    workers = Workers(die=lambda keys: "late")
    assert len(ask(workers, items(100))[1]) == 100
    assert len(workers.batches) <= prediction.HANGING_AFTER + 1


def test_a_model_that_does_not_start_is_not_asked_in_another_round_either():
    workers, results = Workers(2, die=lambda keys: STARTING), []
    dispatcher = Dispatcher(workers, 1, results.append)
    dispatcher.run(items(50))
    todo = len(workers.batches)
    assert prediction.STARTS <= todo <= prediction.STARTS + prediction.AHEAD * 2
    dispatcher.run(items(53)[50:])
    assert len(workers.batches) == todo
    assert [result.problem for result in results] == ["not asked: it died"] * 53


def test_nothing_is_asked_when_the_model_says_that_it_has_no_more_answers():
    workers = Workers(batch=2, last="5-0")  # of several, one may answer all before another says it
    results, problems = ask(workers, items(100), batch=2)
    given = {key for key, result in results.items() if result.answer}
    assert {"4-0", "5-0"} <= given and len(given) <= prediction.AHEAD * prediction.FIRST_CALLS
    assert set(problems.values()) == {"not asked: no more"}
