"""A first look: little of each change, said wherever numbers are, and no card is made of it."""

import json

import pytest
from tones import make

from soundcheck.results.past_runs import read_runs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def quick(tmp_path_factory, undrawn):
    folder = make(tmp_path_factory.mktemp("quick") / "project")
    own = {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_CACHE": str(folder / "cache")}
    done = undrawn("run", "suite.yml", "--quick", "--no-book", cwd=folder, **own)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_has_a_folder_of_its_own_and_says_that_it_is_quick(quick):
    folder, printed = quick
    record = json.loads((folder / "build" / "quick" / "run.json").read_text())
    assert record["suite"]["quick"] and record["suite"]["segments_per_change"] == 50
    assert not record["suite"]["sweeps"] and "Caveat: A quick run: at most 50 segments" in printed


def test_check_and_history_name_it_and_card_refuses_it(quick, command):
    folder, _ = quick
    checked = command("check", "build/quick", cwd=folder)
    assert "Caveat: A quick run" in checked.stdout
    model = json.loads((folder / "build" / "quick" / "run.json").read_text())["order"][0]
    refused = command("card", "build/quick", "--model", model, cwd=folder)
    assert refused.returncode == 2 and "Run the suite without --quick" in refused.stderr
    full = folder / "build" / "later"
    full.mkdir()
    rows = (folder / "build" / "quick" / "results.csv").read_text()
    (full / "results.csv").write_text(rows.replace("0.5", "0.6", 1))
    assert "quick (quick run)" in [run.name for run in read_runs([folder / "build" / "quick", full]).runs]
