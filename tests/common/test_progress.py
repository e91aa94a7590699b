"""How far a step is: a bar for people, few lines for logs."""

import io
import sys

import pytest

from soundcheck.common.progress import EVERY, Progress


class Clock:
    """Seconds that a test moves on."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_log_gets_a_line_each_half_minute_with_the_time_left(capsys):
    clock = Clock()
    with Progress("predictions", "inputs of prosody", 3400, clock=clock) as progress:
        for _ in range(120):  # ten inputs a second, told every second
            clock.now += 1
            progress.update(10)
    assert capsys.readouterr().err.splitlines() == [
        "predictions: 300 of 3400 inputs of prosody, about 5 min 10 s left",
        "predictions: 600 of 3400 inputs of prosody, about 4 min 40 s left",
        "predictions: 900 of 3400 inputs of prosody, about 4 min 10 s left",
        "predictions: 1200 of 3400 inputs of prosody, about 3 min 40 s left",
    ]


def test_steps_that_end_sooner_leave_no_line(capsys):
    clock = Clock()
    with Progress("notebooks", "of families", 50, clock=clock) as progress:
        for _ in range(50):
            clock.now += (EVERY - 1) / 50
            progress.update()
    assert capsys.readouterr().err == ""


def test_lines_are_never_closer_than_half_a_minute(capsys):
    clock, told = Clock(), []
    with Progress("measuring", "sounds", 2000, clock=clock) as progress:
        for step in range(1000):
            clock.now += 0.1 if step % 7 else 3.3
            progress.update(2)
            if capsys.readouterr().err:
                told.append(clock.now)
    gaps = [later - earlier for earlier, later in zip([100.0, *told], told, strict=False)]
    assert len(told) > 10 and min(gaps) >= EVERY and max(gaps) <= EVERY + 3.4


def test_the_last_line_names_no_time_and_text_cannot_move_the_cursor(capsys):
    clock = Clock()
    with Progress("looking at audio", "files of \x1b[2Jcalls", 1, clock=clock) as progress:
        clock.now += 40
        progress.update()
    line = capsys.readouterr().err
    assert line.startswith("looking at audio: 1 of 1 files of ") and line.endswith("calls\n")
    assert "\x1b" not in line and "left" not in line


@pytest.mark.parametrize("shown", [True, False])
def test_a_terminal_gets_a_bar_if_one_is_wanted(monkeypatch, shown):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    clock = Clock()
    with Progress("predictions", "inputs of prosody", 2, shown=shown, clock=clock) as progress:
        clock.now += 40
        progress.update(2)
    drawn = screen.getvalue()
    assert ("predictions: inputs of prosody: 100%" in drawn) == shown
    assert ("2 of 2" in drawn) is False  # no line beside the bar


def test_items_pass_unchanged(capsys):
    assert list(Progress.over(iter("abc"), "speaking", "voices", 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
