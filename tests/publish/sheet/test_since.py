"""What changed since the last release: by the rule of the gate, or the suite's own comparison."""

import numpy as np
import pytest
from tests.support.finished import finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.common.files import write_bytes
from soundcheck.publish.sheet.content import since
from soundcheck.results.contrast import Contrast, contrast_csv, contrast_frame
from soundcheck.results.facts import ModelFacts
from soundcheck.results.finished_run import read_run, rows_file
from soundcheck.results.judged import Judged, save


@pytest.fixture
def made(tmp_path, recorded):
    """Write a run in which test ``T0``, ``T1``, ... of the model have the given values."""
    spread = np.random.default_rng(0).normal(0, 0.02, 200)

    def make(name, values, **changes):
        ends = [{"value": value, "low": value - 0.05, "high": value + 0.05} for value in values]
        rows = [
            verdict(test=f"T{number}", passed=end["value"] > 0.5, evidence="open", **end)
            for number, end in enumerate(ends)
        ]
        folder = finished(tmp_path / name, recorded, rows, **changes)
        path = rows_file(folder, "m", "correctness_regression")
        path.parent.mkdir(parents=True)
        save([Judged(row, row.value + spread, "segments", "blocks") for row in rows], path)
        return folder

    return make


def test_what_got_worse_and_what_got_better(made):
    (table,) = since(ModelFacts.read(made("now", [0.6, 0.7, 0.6])), read_run(made("before", [0.7, 0.6, 0.6])))
    assert "Worse on 1 and better on 1 of 3 tests (3 paired) by more than 0.01" in table.notes[0]
    assert table.rows == [
        ("worse", "t0 of arousal", "0.70 → 0.60", "−0.10 (−0.10 to −0.10)"),
        ("better", "t1 of arousal", "0.60 → 0.70", "0.10 (0.10 to 0.10)"),
    ]
    now = made("later", [0.6], matters_worse=0.2)  # a small change does not matter
    (table,) = since(ModelFacts.read(now), read_run(made("once", [0.7])))
    assert "Worse on 0" in table.notes[0] and "by more than 0.2" in table.notes[0]


def test_an_earlier_run_of_another_model(made, tmp_path, recorded):
    other = finished(tmp_path / "other", recorded, [verdict("n")])
    with pytest.raises(InputError, match="no judged test in common with 'm': its models are 'n'"):
        since(ModelFacts.read(made("now", [0.6])), read_run(other))


def test_the_comparison_of_the_suite(made):
    row = Contrast(
        *("old", "m", "c", "f", "correctness", "arousal", "T0"),
        **{"baseline_value": 0.7, "candidate_value": 0.6, "difference": -0.1, "low": -0.2, "high": -0.05},
        **{"outcome": "worse", "p_value": 0.001, "rule": ">", "pairing": "paired"},
    )
    entry = {"name": "new", "slug": "new", "baseline": "old", "candidate": "m", "error": ""}
    entry |= {"status": "ok", "outcomes": {"better": 0, "worse": 1, "no evidence": 0}}
    folder = made("now", [0.6], comparisons=[entry])
    write_bytes(folder / "comparisons.csv", contrast_csv(contrast_frame([row])))
    (table,) = since(ModelFacts.read(folder))
    assert table.notes == ["For new speakers, m is better on 0 and worse on 1 of 1 test."]
    assert [cells[-1] for cells in table.rows] == ["−0.10 (−0.20 to −0.050)"]
    failed = made("later", [0.6], comparisons=[entry | {"status": "failed", "outcomes": {}}])
    assert since(ModelFacts.read(failed))[0].notes == ["The comparison with old failed to run."]
