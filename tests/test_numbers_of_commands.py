"""Numbers on the command line are checked as those of a suite, before anything is read."""

import click
import pytest

from soundcheck import cli

NUMBERS = {
    "--matters-worse": ("check", "out"),
    "--efficiency": ("run", "suite.yml"),
    "--jobs": ("run", "suite.yml"),
    "--tests": ("verify", "out"),
    "--seed": ("verify", "out"),
    "--groups": ("thresholds", "simulate"),
    "--samples": ("thresholds", "simulate"),
    "--runs": ("thresholds", "simulate"),
}
NEVER = ("nan", "-nan", "inf", "-inf", "1e400", "-1", "9" * 40, "9" * 5000, "", "one", "0x10")
WHOLE = [option for option in NUMBERS if option not in ("--matters-worse", "--efficiency")]
REFUSED = [
    *((option, text) for option in NUMBERS for text in NEVER),
    *((option, text) for option in WHOLE for text in ("1.5", "2.0", "1e3")),
    *((option, "0") for option in NUMBERS if option not in ("--matters-worse", "--seed")),
    *(("--groups", "1"), ("--samples", "1"), ("--matters-worse", "1e7"), ("--efficiency", "1e7")),
]


@pytest.mark.parametrize(("option", "text"), REFUSED, ids=lambda text: text[:20])
def test_numbers_that_are_refused(option, text):
    with pytest.raises(click.BadParameter) as caught:
        cli.commands.main([*NUMBERS[option], option, text], standalone_mode=False)
    told = caught.value.format_message()
    assert f"Invalid value for '{option}': '{text[:20]}" in told and " number from " in told


@pytest.mark.parametrize("text", ["nan", "1e400"])
def test_a_gate_that_could_not_close(command, tmp_path, text):
    ended = command("check", "out", "--matters-worse", text, cwd=tmp_path)
    assert ended.returncode == 2
    assert f"'--matters-worse': '{text}' is not a number from 0 to 1,000,000." in ended.stderr


@pytest.mark.parametrize(
    ("option", "text"), [("--matters-worse", "0"), ("--matters-worse", "1e-3"), ("--tests", "7")]
)
def test_numbers_that_are_read(command, tmp_path, option, text):
    ended = command(*NUMBERS[option], option, text, cwd=tmp_path)
    assert ended.returncode == 2 and "Invalid value" not in ended.stderr and "out" in ended.stderr


@pytest.mark.parametrize("text", ["0/0", "0/1", "2/1", "1/0", "-1/2", "nan/1", "1.5/2", "1", "1/" + "9" * 20])
def test_shares_that_are_none(command, tmp_path, text):
    ended = command("run", "suite.yml", "--shard", text, cwd=tmp_path)
    assert ended.returncode == 2 and "--shard" in ended.stderr and "Traceback" not in ended.stderr
