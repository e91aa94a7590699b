import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import protocol, workers
from soundcheck.predict.opened_files import Watch
from soundcheck.predict.protocol import Call, Item, Place, Unit


def test_a_worker_starts_light():
    code = (
        "import sys, soundcheck.predict.workers; "
        "heavy = {'papermill', 'matplotlib', 'sklearn', 'pandas', 'pyarrow', 'parselmouth', 'distributed'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_place_says_what_is_lost():
    numbers = [0.0] * 4
    seen = Place(numbers)
    assert seen.read()[0] == protocol.IDLE
    Place(numbers).enter(protocol.CALLING, 3, 5)
    step, calls, since = seen.read()
    assert (step, list("abcdefg")[calls], since > 0) == (protocol.CALLING, ["d", "e"], True)


@pytest.mark.parametrize(("batch", "places"), [(None, [(0, 1), (2, 3), (3, 4)]), (4, [(0, 4)])])
def test_what_came_first_is_told_at_once_and_the_rest_together(tmp_path, monkeypatch, batch, places):
    """The second recording is missing: nobody is asked about it."""
    monkeypatch.setattr(workers, "TELL_SECONDS", 60.0)
    for number in (0, 2, 3):
        soundfile.write(tmp_path / f"{number}.wav", np.full(160, 0.1), 16000)
    numbers, told, called = [0.0] * 4, [], []

    def predict(signals: list, sampling_rate: int) -> list:
        step, calls, _ = Place(numbers).read()
        assert step == protocol.CALLING
        called.append((calls.start, calls.stop))
        return [{"arousal": 0.5} for _ in signals]

    setup = SimpleNamespace(
        entry=SimpleNamespace(tasks=("arousal",), batch=batch),
        suite=SimpleNamespace(tasks=BUILTIN, root=tmp_path),
    )
    connection, model = SimpleNamespace(send=told.append), SimpleNamespace(predict=predict)
    worker = workers.Worker(connection, setup, model, Watch(tmp_path), Place(numbers))
    items = [
        Item(str(tmp_path / f"{name}.wav"), None, None, "", (Call(f"{name}", None),)) for name in range(4)
    ]
    worker.work(Unit(tuple(items)))
    assert called == places
    assert [word for word, _, _ in told] == [protocol.TOLD, protocol.DONE]
    keys = [[result.key for result in results] for _, results, _ in told]
    assert keys == ([["0"], ["1", "2", "3"]] if batch is None else [["1"], ["0", "2", "3"]])
    assert [bool(result.problem) for _, results, _ in told for result in results].count(True) == 1
    assert Place(numbers).read()[0] == protocol.IDLE
