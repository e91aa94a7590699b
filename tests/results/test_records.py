"""The record of a run: read as it was written; spoilt ones are refused with a message, never a traceback."""

import contextlib
import copy
import functools
import io
import json
import operator
import random
import re

import click
import pandas as pd
import pytest
from finished import FAILED, finished, record, verdict

from soundcheck import cli
from soundcheck.common import files
from soundcheck.common.messages import InputError, SoundcheckError
from soundcheck.results.facts import read_recorded
from soundcheck.results.record import RunRecord

ODD = "<b>\udcff\x00 {{ 7 }}"  # undecodable bytes of a file's name end up like this
NOTEBOOK = {"model": "m", "family": "f", "status": "failed", "error": ODD}
COMPARISON = {"name": "n", "slug": "n", "baseline": "m", "candidate": "o", "status": "ok", "error": ""}
COMPARISON |= {"outcomes_sample": {"better": 0, "worse": 1, "no evidence": 2}, "headlines": [ODD]}
SOUNDS = {"kind": "music", "source": "s", "synthetic": False, "sounds": 1, "seconds": 2.5, "digest": "d"}
FIGURE = {
    **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.5, "low": None},
    **{"high": None, "segments": 4, "blocks": 1, "guessing": 0.0, "standing": "unproven", "threshold": None},
    **{"reason": ODD, "block": "speaker", "low_sample": 0.4, "high_sample": 0.6},
}
FULL = {
    "figures": [FIGURE],
    "title": ODD,
    "order": ["m"],
    "sounds": [SOUNDS | {"left_out": [{"item": ODD, "reason": "r"}]}],
    "notebooks": [NOTEBOOK],
    "comparisons": [COMPARISON | {"outcomes": {"better": 1, "worse": 0, "no evidence": 2}}],
    "studies": [{"name": "s", "status": "timeout", "error": "slow"}],
}


def test_what_is_read_is_what_was_written_also_of_another_version(tmp_path):
    whole, path = record(**FULL), tmp_path / "run.json"
    assert whole.write(path) == files.digest(path) and RunRecord.read(path) == whole
    content = json.loads(path.read_text(encoding="ascii"))
    assert {name: content[name] for name in FULL} == FULL
    assert [notebook.display_name for notebook in whole.failed] == ["f of m", "s"]
    for name in ("figures", "accepted", "matters_worse", "verdicts", "book_digest", "library"):
        del content[name]
    content |= {"colour": "red", "notebooks": [NOTEBOOK | {"colour": 1}], "suite": {"shown": "old.yml"}}
    path.write_text(json.dumps(content))
    older = RunRecord.read(path)
    assert (older.figures, older.verdicts, older.suite) == (None, {}, {"source": "old.yml"})


ABOUT_TASK = {"name": "arousal", "kind": "regression", "classes": [], "low": 0.0, "high": 1.0}
SUITE = {
    **{"title": "Small", "source": "suite.yml", "digest": "s" * 40, "normaliser": "basic", "synonyms": []},
    "tasks": {"arousal": ABOUT_TASK},
    "models": {"m": {"name": "m", "kind": "predictions", "tasks": ["arousal"]}},
    "corpora": {"c": {"name": "c", "blocks": "speaker", "split": ["dev", "test"], "base_condition": ""}},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    figure = FIGURE | {"reason": "", "low": 0.4, "high": 0.7, "blocks": 20, "standing": "better"}
    about = {"figures": [figure], "accepted": [{"test": "A", "why": "known", "until": "2030-01-01"}]}
    for name, value in (("one", 0.6), ("two", 0.65)):
        rows = [verdict(value=value, state_sample="pass"), verdict(test="A", **FAILED)]
        rows += [verdict(family="robustness_small_changes")]
        finished(folder / name, rows, suite=SUITE, **about)
    return folder


REMOVED = "removed"


@pytest.mark.parametrize(
    ("place", "cell", "why"),
    [
        (("title",), REMOVED, "title: Field required"),
        (("notebooks",), [{"model": "m"}], r"notebooks\.0\.status: Field required"),
        (("suite", "tasks", "arousal", "low"), REMOVED, r"tasks\.arousal\.low: Field required"),
        (("suite", "synonyms"), [["a"]], r"synonyms\.0"),
        (("figures", 0, "corpus"), "c\udcff", r"figures\.0\.corpus: .* unicode"),
        (("families",), [], "it does not know the family 'correctness_regression'"),
        (("models", 0, "name"), "other", "it does not know the model 'm'"),
    ],
    ids=lambda cell: str(cell)[:40],
)
def test_what_is_wrong_with_a_record_is_said(runs, tmp_path, place, cell, why):
    record = json.loads((runs / "two" / "run.json").read_text())
    node = functools.reduce(operator.getitem, place[:-1], record)
    node[place[-1]] = cell
    if cell is REMOVED:
        del node[place[-1]]
    (tmp_path / "run.json").write_text(json.dumps(record))
    (tmp_path / "results.csv").write_bytes((runs / "two" / "results.csv").read_bytes())
    with pytest.raises(InputError) as caught:
        read_recorded(tmp_path)
    problem = str(caught.value.problems[0])
    assert re.search(why, problem) and problem.startswith("run.json: ") and "\n" not in problem
    assert problem.endswith("Run the suite again.")


JUNK = [None, 0, -1, 1.5, "", "x", "../..", [], {}, [1], {"a": 1}, True, 10**30, ["a", {"b": []}]]


def ends(*words: object) -> None:
    """Run a command in this process; whatever ends in another way than with a message or a code, raises."""
    with contextlib.suppress(SoundcheckError, click.ClickException, SystemExit):
        with contextlib.redirect_stdout(io.StringIO()):
            cli.commands.main([str(word) for word in words], standalone_mode=False)


def spoil(record: dict, chance: random.Random) -> dict:
    spoilt = copy.deepcopy(record)
    node, key = spoilt, "suite" if chance.random() < 0.3 else chance.choice(list(spoilt))
    while isinstance(node[key], dict | list) and node[key] and chance.random() < 0.7:
        node = node[key]
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
    if chance.random() < 0.3:
        del node[key]
    else:
        node[key] = chance.choice(JUNK)
    return spoilt


def spoil_table(table: pd.DataFrame, chance: random.Random) -> pd.DataFrame:
    spoilt, row, column = table.copy(), chance.randrange(len(table)), chance.randrange(len(table.columns))
    spoilt.iloc[row, column] = chance.choice(["", "x", "nan", "1", "-1", "True", "m", "c"])
    return spoilt


@pytest.mark.parametrize("seed", range(3))
def test_no_spoilt_run_ends_with_a_traceback(runs, tmp_path, seed):
    """Eight spoilt runs each; what is drawn of a run, such as its sheet, is asked of one."""
    chance, one, two = random.Random(seed), runs / "one", runs / "two"
    record = json.loads((two / "run.json").read_text())
    table = pd.read_csv(two / "results.csv", dtype=str, keep_default_na=False)
    for number in range(8):
        spoilt = spoil_table(table, chance) if number % 4 == 3 else table
        spoilt.to_csv(one / "results.csv", index=False)
        now = record | {"results": files.digest(one / "results.csv")}
        (one / "run.json").write_text(json.dumps(spoil(now, chance) if number % 4 < 3 else now))
        ends("check", one, "--junit", tmp_path / "j.xml")
        ends("check", two, "--baseline", one, "--junit", tmp_path / "j.xml")
        ends("card", one, "--model", "m", "--out", tmp_path / "cards")
        ends("verify", one)
    ends("sheet", one, "--model", "m", "--out", tmp_path / "s.html")
    ends("sheet", two, "--model", "m", "--baseline", one, "--out", tmp_path / "s.html")
    ends("history", one, two, "--out", tmp_path / "h")
