"""A record that was spoilt is refused with a message, or read: no reader of runs ends with a traceback."""

import contextlib
import copy
import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import click
import pytest
from finished import FAILED, finished, verdict

from soundcheck import cli
from soundcheck.common import files
from soundcheck.common.errors import SoundcheckError
from soundcheck.common.tasks import BUILTIN

JUNK = (
    None,
    0,
    -1,
    1.5,
    "",
    "x",
    "../..",
    [],
    {},
    [1],
    {"a": 1},
    True,
    10**30,
    ["a", {"b": []}],
    "2027-99-99",
)
DESCRIBED = {
    **{"title": "Small", "shown": "suite.yml", "digest": "s" * 40, "normaliser": "basic", "synonyms": []},
    "tasks": {
        name: {"name": name, "kind": task.kind, "classes": list(task.classes), "low": 0.0, "high": 1.0}
        for name, task in BUILTIN.items()
    },
    "models": {"m": {"name": "m", "kind": "predictions", "tasks": ["arousal"]}},
    "corpora": {"c": {"name": "c", "blocks": "speaker", "split": None, "base_condition": ""}},
}


def figure(task: str, measure: str) -> dict[str, Any]:
    return {
        **{"model": "m", "corpus": "c", "task": task, "measure": measure, "value": 0.6, "low": 0.5},
        **{"high": 0.7, "segments": 200, "blocks": 20, "guessing": 0.0, "standing": "better"},
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory, recorded) -> Path:
    """Two runs of a suite, ``one`` to be spoilt and ``two``."""
    folder = tmp_path_factory.mktemp("runs")
    for name, value in (("one", 0.6), ("two", 0.65)):
        rows = [
            verdict(value=value, state_sample="pass"),  # not of a version without answers for these speakers
            verdict(test="A", **FAILED),
            verdict(family="robustness_small_changes"),
        ]
        accepted = [{"test": "A", "why": "known", "until": "2030-01-01"}]
        figures = [figure("arousal", "concordance")]
        finished(folder / name, recorded, rows, suite=DESCRIBED, accepted=accepted, figures=figures)
    return folder


def ends(*words: object) -> None:
    """Run a command in this process; whatever ends in another way than with a message or a code, raises."""
    with contextlib.suppress(SoundcheckError, click.ClickException, SystemExit):
        with contextlib.redirect_stdout(io.StringIO()):
            cli.commands.main([str(word) for word in words], standalone_mode=False)


def places(tree: object, path: tuple = ()) -> list[tuple]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


def spoil(record: dict, chance: random.Random) -> dict:
    spoilt = copy.deepcopy(record)
    top = "suite" if chance.random() < 0.3 else chance.choice(list(spoilt))
    place = chance.choice(places(spoilt[top], (top,)))
    node = spoilt
    for key in place[:-1]:
        node = node[key]
    how = chance.choice(["remove", "junk", "junk", "rename"])
    if how == "junk":
        node[place[-1]] = chance.choice(JUNK)
    else:
        item = node.pop(place[-1])
        if how == "rename":
            renamed = f"{item}x" if isinstance(item, str) else item
            node.update({f"{place[-1]}x": item}) if isinstance(node, dict) else node.append(renamed)
    return spoilt


def spoil_table(text: str, chance: random.Random) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    row, column = chance.randrange(1, len(rows)), chance.randrange(len(rows[0]))
    rows[row][column] = chance.choice(
        ["", "x", "nan", "1", "-1", "True", "m", "c", chance.choice(rows)[column]]
    )
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


@pytest.mark.parametrize("seed", range(15))
def test_no_spoilt_run_ends_with_a_traceback(runs, tmp_path, seed):
    """Ten spoilt runs each; what is drawn of a run, such as its sheet, is asked of some."""
    chance, one, two = random.Random(seed), runs / "one", runs / "two"
    record, table = json.loads((two / "run.json").read_text()), (two / "results.csv").read_text()
    for number in range(10):
        spoilt = copy.deepcopy(record)
        (one / "results.csv").write_text(spoil_table(table, chance) if number % 4 == 3 else table)
        spoilt["results"] = files.digest(one / "results.csv")
        if number % 4 < 3:
            spoilt = spoil(spoilt, chance)
        (one / "run.json").write_text(json.dumps(spoilt))
        ends("check", one, "--junit", tmp_path / "j.xml")
        ends("check", two, "--baseline", one, "--junit", tmp_path / "j.xml")
        ends("card", one, "--model", "m", "--out", tmp_path / "cards")
        ends("verify", one)
        if number in (0, 3):
            ends("sheet", one, "--model", "m", "--out", tmp_path / "s.html")
            ends("sheet", two, "--model", "m", "--baseline", one, "--out", tmp_path / "s.html")
            ends("history", one, two, "--out", tmp_path / "h")


SPOILT = [
    (("suite", "tasks", "arousal", "low"), "remove", r"tasks\.arousal\.low: Field required"),
    (("suite", "tasks", "emotion", "classes"), "remove", r"tasks\.emotion\.classes: Field required"),
    (("suite", "tasks", "emotion", "kind"), "guess", r"tasks\.emotion\.kind: "),
    (("suite", "tasks", "arousal"), [], r"tasks\.arousal: "),
    (("suite", "tasks"), [1], r"tasks: "),
    (("suite", "corpora", "c"), "x", r"corpora\.c: "),
    (("suite", "corpora", "c", "blocks"), True, r"corpora\.c\.blocks"),
    (("suite", "corpora", "c", "split"), ["test"], r"corpora\.c\.split: "),
    (("suite", "models", "m"), "x", r"models\.m: "),
    (("suite", "models", "m", "tasks"), 1, r"models\.m\.tasks: "),
    (("suite", "synonyms"), [["a"]], r"synonyms\.0"),
    (("card",), {"languages": "en"}, r"card\.languages: "),
    (("suite",), [], r"suite: "),
    (("families", 0, "name"), "unknown", "it does not know the family 'correctness_regression'"),
    (
        ("families",),
        [],
        "it does not know the family 'correctness_regression', of which results.csv has rows",
    ),
    (("corpora", 0, "name"), "d", "it does not know the corpus 'c'"),
    (("models", 0, "name"), "other", "it does not know the model 'm'"),
]


@pytest.mark.parametrize(("place", "value", "told"), SPOILT, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said(runs, command, tmp_path, place, value, told):
    record = json.loads((runs / "two" / "run.json").read_text())
    node = record
    for key in place[:-1]:
        node = node[key]
    if value == "remove":
        del node[place[-1]]
    else:
        node[place[-1]] = value
    (tmp_path / "results.csv").write_bytes((runs / "two" / "results.csv").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps(record))
    ended = command("card", tmp_path, "--out", tmp_path / "cards", cwd=tmp_path)
    assert ended.returncode == 2 and re.search("^run.json: ", ended.stderr, re.MULTILINE), ended.stderr
    assert re.search(told, ended.stderr) and ended.stderr.endswith("Run the suite again.\n")
