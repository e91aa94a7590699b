import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import protocol, worker
from soundcheck.predict.opened_files import Watch
from soundcheck.predict.protocol import Call, Item, Unit


def test_a_worker_starts_light():
    code = (
        "import sys, soundcheck.predict.worker; "
        "heavy = {'papermill', 'matplotlib', "
        "'sklearn', 'pandas', 'pyarrow', 'parselmouth', 'distributed'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize(("batch", "places"), [(None, [(0, 1), (2, 3), (3, 4)]), (4, [(0, 4)])])
def test_what_came_first_is_told_at_once_and_the_rest_together(tmp_path, monkeypatch, batch, places):
    """The second recording is missing: nobody is asked about it."""
    monkeypatch.setattr(worker, "SEND_SECONDS", 60.0)
    for number in (0, 2, 3):
        soundfile.write(tmp_path / f"{number}.wav", np.full(160, 0.1), 16000)
    numbers, told, called = [0.0] * 4, [], []

    def predict(signals: list, sampling_rate: int) -> list:
        assert numbers[0] > 0 and numbers[3] == protocol.CALLING
        called.append(tuple(numbers[1:3]))
        return [{"arousal": 0.5} for _ in signals]

    setup = SimpleNamespace(
        entry=SimpleNamespace(tasks=("arousal",), batch=batch),
        suite=SimpleNamespace(tasks=BUILTIN, root=tmp_path),
    )
    connection, model = SimpleNamespace(send=told.append), SimpleNamespace(predict=predict)
    own = worker.Worker(connection, setup, model, Watch(tmp_path), numbers)
    items = [
        Item(str(tmp_path / f"{name}.wav"), None, None, "", (Call(f"{name}", None),)) for name in range(4)
    ]
    own.work(Unit(tuple(items)))
    assert called == places
    assert [word for word, _, _ in told] == [protocol.RESULTS, protocol.DONE]
    keys = [[result.key for result in results] for _, results, _ in told]
    assert keys == ([["0"], ["1", "2", "3"]] if batch is None else [["1"], ["0", "2", "3"]])
    assert [bool(result.problem) for _, results, _ in told for result in results].count(True) == 1
    assert numbers[3] == protocol.IDLE
