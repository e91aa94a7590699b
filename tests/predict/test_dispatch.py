"""How calls are divided and what becomes of lost ones, told by workers that answer as a test wants."""

import collections
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from soundcheck.predict import dispatch, protocol
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.protocol import Call, Item, Outcome, Result, Unit


class Workers:
    """Answers each batch of a unit by a function: ``None``, or the step that dies, or ``"late"``."""

    def __init__(self, count=1, batch=1, die=lambda keys: None, seconds=0.0):
        self.count, self._batch, self._die, self._seconds = count, batch, die, seconds
        self._threads = ThreadPoolExecutor(count)
        self.units: list[list[str]] = []
        self.batches: list[list[str]] = []
        self.stopped = False
        self.last, self.refusal = "", "no more"  # which answer says that there is none to anything else
        self.at_once = self.most = 0
        self._lock = threading.Lock()

    def submit(self, unit, tell):
        self.units.append(unit.keys)
        return self._threads.submit(self._answer, unit, tell)

    def stop(self):
        self.stopped = True

    def check(self):
        pass

    def _answer(self, unit, tell):
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        try:
            return self._go(unit, tell)
        finally:
            with self._lock:
                self.at_once -= 1

    def _go(self, unit, tell):
        begin, left = time.monotonic(), list(unit.keys)
        size = 1 if unit.one_by_one else self._batch
        while left and not self.stopped:
            keys = left[:size]
            self.batches.append(keys)
            time.sleep(self._seconds * len(keys))
            step = self._die(keys)
            if step:
                late = step == "late"
                step = protocol.CALLING if late else step
                lost = () if step == protocol.STARTING else tuple(keys)
                return Outcome(1.0, "it died", step, late, lost)
            tell([Result(key, {"x": 1.0}, refusal=self.refusal if key == self.last else "") for key in keys])
            left = left[size:]
        if left:
            return Outcome(problem="stopped")
        return Outcome(time.monotonic() - begin)


def items(count: int, each: int = 1) -> list[Item]:
    return [
        Item(f"{n}", None, None, f"{n}", tuple(Call(f"{n}-{k}", k or None) for k in range(each)))
        for n in range(count)
    ]


def ask(workers: Workers, asked: list[Item], batch: int = 1) -> dict[str, Result]:
    results: dict[str, Result] = {}

    def finished(result: Result) -> None:
        assert threading.current_thread() is threading.main_thread()
        assert result.key not in results
        results[result.key] = result

    Dispatcher(workers, batch, finished).run(asked)
    assert set(results) == set(Unit(tuple(asked)).keys)
    return results


def problems(results: dict[str, Result]) -> dict[str, str]:
    return {key: result.problem for key, result in results.items() if result.problem}


def test_a_fast_model_gets_long_units_and_all_workers_end_together():
    workers = Workers(2)
    ask(workers, items(300, 10))
    sizes = [len(unit) for unit in workers.units]
    assert max(sizes) == dispatch.UNIT_CALLS
    assert sizes[0] == dispatch.FIRST_CALLS
    assert sizes[-1] == 1


def test_a_slow_model_gets_short_units(monkeypatch):
    monkeypatch.setattr(dispatch, "UNIT_SECONDS", 0.02)
    workers = Workers(seconds=0.01)
    ask(workers, items(40))
    assert {len(unit) for unit in workers.units[3:]} <= {1, 2}


@pytest.mark.parametrize("count", [1, 3])
def test_batches_are_whole_and_the_same_for_any_number_of_workers(count):
    workers = Workers(count, batch=16)
    asked = items(100, 7)
    ask(workers, asked, batch=16)
    keys = Unit(tuple(asked)).keys
    expected = [keys[first : first + 16] for first in range(0, 700, 16)]
    assert sorted(workers.batches) == sorted(expected)


def test_a_batch_larger_than_a_unit_is_whole():
    workers = Workers(2, batch=500)
    ask(workers, items(1200), batch=500)
    assert sorted(map(len, workers.batches)) == [200, 500, 500]


def test_a_lost_batch_is_asked_one_by_one_and_the_culprit_twice():
    workers = Workers(2, batch=8, die=lambda keys: protocol.CALLING if "13-0" in keys else None)
    results = ask(workers, items(40), batch=8)
    assert problems(results) == {"13-0": "it died"}
    assert results["13-0"].fault == protocol.BY_MODEL
    asked = collections.Counter(tuple(batch) for batch in workers.batches)
    assert asked[("13-0",)] == dispatch.TRIES
    assert all(asked[(f"{n}-0",)] == 1 for n in range(8, 16) if n != 13)


def test_a_call_that_died_once_is_answered_the_second_time():
    died = []

    def once(keys):
        if keys == ["3-0"] and not died:
            died.append(keys)
            return protocol.CALLING
        return None

    assert not problems(ask(Workers(die=once), items(9)))


def test_a_signal_that_cannot_be_read_is_not_the_models_fault():
    results = ask(Workers(die=lambda keys: protocol.READING if keys == ["2-0"] else None), items(5))
    assert [key for key, result in results.items() if result.fault == protocol.BY_SIGNAL] == ["2-0"]


def test_a_model_that_always_dies_is_given_up_after_calls_far_apart():
    workers = Workers(die=lambda keys: protocol.CALLING)
    results = ask(workers, items(2000))
    reasons = collections.Counter(problems(results).values())
    tried = [int(batch[0].split("-")[0]) for batch in workers.batches]
    # In the beginning a loss may be a second try.
    first, last = dispatch.GIVE_UP_AFTER - dispatch.NO_RETRY_AFTER, dispatch.GIVE_UP_AFTER
    assert first <= reasons["it died"] < last
    assert workers.stopped
    assert max(tried[: dispatch.SPREAD_AFTER]) < 20 and max(tried) > 1500
    assert sum("not asked, because 40 calls in a row failed" in reason for reason in reasons) == 1


def test_a_model_that_never_answers_in_time_is_given_up_soon():
    workers = Workers(die=lambda keys: "late")
    results = ask(workers, items(100))
    assert len(workers.batches) <= dispatch.HANGING_AFTER + 1
    assert len(problems(results)) == 100


def test_some_deaths_among_answers_give_nothing_up():
    workers = Workers(2, die=lambda keys: protocol.CALLING if keys[0].endswith("7-0") else None)
    results = ask(workers, items(1000))
    assert len(problems(results)) == 100
    assert not workers.stopped


def test_a_model_that_does_not_start():
    workers = Workers(2, die=lambda keys: protocol.STARTING)
    results = ask(workers, items(50))
    assert set(problems(results).values()) == {"not asked: it died"}
    assert dispatch.STARTS <= len(workers.batches) <= dispatch.STARTS + dispatch.AHEAD * 2


def test_room_for_one_process_only():
    busy = threading.Semaphore(1)

    class Small(Workers):
        def _go(self, unit, tell):
            if not busy.acquire(blocking=False):
                return Outcome(problem="no room", step=protocol.STARTING)
            try:
                tell([])
                time.sleep(0.01)
                return super()._go(unit, tell)
            finally:
                busy.release()

    assert not problems(ask(Small(3), items(500)))


def test_what_finished_raises_ends_the_run():
    def refuse(result):
        raise KeyError(result.key)

    with pytest.raises(KeyError):
        Dispatcher(Workers(), 1, refuse).run(items(5))


def test_a_second_round_after_giving_up_asks_nothing():
    workers, results = Workers(die=lambda keys: protocol.STARTING), []
    dispatcher = Dispatcher(workers, 1, results.append)
    dispatcher.run(items(3))
    asked = len(workers.batches)
    dispatcher.run(items(6)[3:])
    assert len(workers.batches) == asked
    assert len(results) == 6


def test_nothing_is_asked_when_the_model_says_that_it_has_no_more_answers():
    workers = Workers(count=2, batch=2)
    workers.last = "5-0"
    results = ask(workers, items(100), batch=2)
    assert len(results) == 100
    given = [key for key, result in results.items() if result.answer]
    assert {"4-0", "5-0"} <= {*given} and len(given) < 60
    assert {result.problem for result in results.values()} == {"", "not asked: no more"}
