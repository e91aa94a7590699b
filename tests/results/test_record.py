"""The record of a run: read as it was written; anything else is refused with one message."""

import json

import pytest

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.results import gate
from soundcheck.results.record import ModelRecord, RunRecord

ODD = "<b>\udcff\x00 {{ 7 }}"  # undecodable bytes of a file's name end up like this
NOTEBOOK = {"model": "m", "family": "f", "status": "failed", "error": ODD}
COMPARISON = {"name": "n", "slug": "n", "baseline": "m", "candidate": "o", "status": "ok", "error": ""}
COMPARISON |= {"outcomes_sample": {"better": 0, "worse": 1, "no evidence": 2}, "headlines": [ODD]}
FIGURE = {
    **{"model": "m", "corpus": ODD, "task": "arousal", "measure": "concordance", "value": 0.5, "low": None},
    **{"high": None, "segments": 4, "blocks": 1, "guessing": 0.0, "standing": "unproven", "threshold": None},
    **{"reason": "1 block", "block": "speaker", "low_sample": 0.4, "high_sample": 0.6},
}
FULL = {
    "figures": [FIGURE],
    "title": ODD,
    "order": ["m"],
    "sounds": [
        {
            **{"kind": "music", "source": "s", "synthetic": False, "sounds": 1, "seconds": 2.5},
            **{"left_out": [{"item": ODD, "reason": "r"}], "digest": "d"},
        }
    ],
    "notebooks": [NOTEBOOK],
    "comparisons": [COMPARISON | {"outcomes": {"better": 1, "worse": 0, "no evidence": 2}}],
    "studies": [{"name": "s", "status": "timeout", "error": "slow"}],
}


def test_what_is_read_is_what_was_written(tmp_path, recorded):
    record = recorded(**FULL)
    digest = record.write(tmp_path / "run.json")
    assert digest == files.digest(tmp_path / "run.json")
    assert RunRecord.read(tmp_path / "run.json") == record
    content = json.loads((tmp_path / "run.json").read_text(encoding="ascii"))
    assert {name: content[name] for name in FULL} == FULL
    assert [one.display_name for one in record.failed] == ["f of m", "s"]


def test_a_record_of_another_version_can_be_read(tmp_path, recorded):
    recorded(**FULL).write(tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text(encoding="ascii"))
    for name in ("figures", "accepted", "matters_worse"):
        del content[name]
    content |= {"colour": "red", "notebooks": [NOTEBOOK | {"colour": 1}]}
    (tmp_path / "run.json").write_text(json.dumps(content))
    assert RunRecord.read(tmp_path / "run.json").figures is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "Expecting property name"),
        ("[]", "(Input should be a dictionary"),
        ('{"cells": []}', "title: Field required"),
        (FULL | {"notebooks": [{"model": "m"}]}, "notebooks.0.status: Field required"),
        (FULL | {"seed": "some"}, "seed: Input should be a valid integer"),
        (b"\xff", "utf-8"),
    ],
)
def test_anything_else_is_refused_with_one_message(tmp_path, recorded, content, told):
    path = tmp_path / "run.json"
    if isinstance(content, dict):
        recorded().write(path)
        path.write_text(json.dumps(json.loads(path.read_text()) | content))
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "results.csv").write_text("")
    for refused in (RunRecord.read, lambda path: gate.check(path.parent)):
        with pytest.raises(InputError) as caught:
            refused(path)
        (problem,) = caught.value.problems
        assert "run.json: the record of the run cannot be read" in str(problem)
        assert told in str(problem) and "Run the suite again" in str(problem)
        assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("asked", "days", "told"),
    [
        (0, {}, ""),  # a table of predictions
        (1200, {}, "1,200 computed now, none from the cache"),
        (0, {"2026-11-20": 7}, "7 from the cache of 2026-11-20, 0 computed now"),
        (
            3,
            {"2026-11-22": 2, "2026-11-20": 7},
            "9 from the cache of 2026-11-20 (7) and 2026-11-22 (2), 3 computed now",
        ),
        (
            0,
            {f"2026-11-{n}": 1 for n in (12, 11, 10)},
            "3 from the cache of 2026-11-10 to 2026-11-12, 0 computed now",
        ),
    ],
)
def test_where_answers_come_from(asked, days, told):
    empty = dict.fromkeys(("name", "slug", "kind", "target", "description", "license", "fingerprint"), "")
    empty |= dict.fromkeys(("inputs", "failed", "unusable", "repeated", "repeated_different"), 0)
    empty |= {"tasks": (), "notes": (), "failures": (), "out_of_range": 0, "unknown_classes": {}}
    assert ModelRecord(**empty, asked=asked, days=days).origin == told
