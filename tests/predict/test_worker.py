"""The process of a model: when it says what it has answered."""

from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from soundcheck.common.tasks import BUILTIN
from soundcheck.predict import workers
from soundcheck.predict.same_model import Watch
from soundcheck.predict.workers import Call, Excerpt, Unit
from soundcheck.suite.entries import Suite


@pytest.mark.parametrize(
    ("batch", "places", "keys"),
    [
        (None, [(0, 1), (2, 3), (3, 4)], [["0"], ["1", "2", "3"]]),
        (4, [(0, 4)], [["1"], ["0", "2", "3"]]),
        (4, [(0, 4), (0, 1), (2, 3), (3, 4)], [["1"], ["0"], ["2", "3"]]),  # each alone if together they fail
    ],
)
def test_what_came_first_is_sent_at_once_and_the_rest_together(tmp_path, monkeypatch, batch, places, keys):
    """The second recording is missing: nobody is asked about it."""
    monkeypatch.setattr(workers, "SEND_SECONDS", 60.0)
    for number in (0, 2, 3):
        soundfile.write(tmp_path / f"{number}.wav", np.full(160, 0.1), 16000)
    place, sent, called = [0.0] * 4, [], []

    def predict(signals: list, sampling_rate: int) -> list:
        assert place[0] > 0 and place[3] == workers.CALLING
        called.append(tuple(place[1:3]))
        if len(signals) > 1 and len(places) > 1:
            raise ValueError("too many")
        return [{"arousal": 0.5} for _ in signals]

    suite = Suite(tasks=BUILTIN, root=tmp_path)
    setup = SimpleNamespace(entry=SimpleNamespace(tasks=("arousal",), batch=batch), suite=suite)
    connection, model = SimpleNamespace(send=sent.append), SimpleNamespace(predict=predict)
    paths = [str(tmp_path / f"{number}.wav") for number in range(4)]
    calls = [Call(f"{number}", None, Excerpt(path, None, None, "")) for number, path in enumerate(paths)]
    workers.Worker(connection, setup, model, Watch(tmp_path), place).work(Unit(tuple(calls)))
    assert called == places
    assert [word for word, *_ in sent] == [*[workers.RESULTS] * (len(keys) - 1), workers.DONE]
    assert [[result.key for result in results] for _, results, _ in sent] == keys
    assert [bool(result.problem) for _, results, _ in sent for result in results].count(True) == 1
    assert place[3] == workers.IDLE
