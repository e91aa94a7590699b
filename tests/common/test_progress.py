"""How far a step is: a bar for people, few lines for logs."""

from types import SimpleNamespace

import pytest

from soundcheck.common.progress import EVERY, Progress


@pytest.fixture
def log(capsys, monkeypatch):
    """Report steps that take so many seconds; gives the lines of a log."""

    def report(stage, things, total, seconds, size=1):
        now = [100.0]
        monkeypatch.setattr("soundcheck.common.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
        with Progress(stage, things, total) as bar:
            for step in seconds:
                now[0] += step
                bar.update(size)
        return capsys.readouterr().err.splitlines()

    return report


def test_a_log_gets_a_line_each_half_minute_with_the_time_left(log):
    assert log("predictions", "inputs of prosody", 3400, [1] * 60, size=10) == [
        "predictions: 300 of 3400 inputs of prosody, about 5 min 10 s left",
        "predictions: 600 of 3400 inputs of prosody, about 4 min 40 s left",
    ]
    assert not log("notebooks", "of families", 50, [(EVERY - 1) / 50] * 50)  # it ends sooner
    (line,) = log("looking at audio", "files of \x1b[2Jcalls", 1, [40])
    assert line.startswith("looking at audio: 1 of 1 files of ") and line.endswith("calls")  # nothing is left
    assert "\x1b" not in line
