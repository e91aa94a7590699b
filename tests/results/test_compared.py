"""Comparisons come back from their table as they went in; a table that was changed does not."""

import pandas as pd
import pytest
from tests.support.finished import finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.common.files import write_bytes
from soundcheck.results.contrast import Contrast, contrast_csv, contrast_frame
from soundcheck.results.finished_run import read_run

ROW = {
    **{"corpus": "c", "family": "f", "category": "correctness", "task": "arousal", "rule": ">"},
    **{"baseline_value": 0.5, "candidate_value": 0.7, "difference": 0.2, "low": 0.1, "high": 0.3},
    **{"outcome": "better", "baseline_passed": False, "candidate_passed": True, "segments": 20, "blocks": 9},
    **{"p_value": 0.001, "adjusted_p_value": 0.002, "pairing": "paired", "threshold": 0.6},
}
NAMES = ("=1+1", "new")


@pytest.fixture
def run(tmp_path, recorded):
    rows = [Contrast(*NAMES, **ROW, test=test, group=group) for test, group in (("T", ""), ("U", "-g"))]
    rows += [Contrast("other", "new", **ROW, test="T")]
    frame = contrast_frame(rows)
    entry = {
        **{
            "name": "a",
            "slug": "a",
            "baseline": NAMES[0],
            "candidate": NAMES[1],
            "status": "ok",
            "error": "",
        },
        "outcomes": {"better": 2, "worse": 0, "no evidence": 0},
    }
    folder = finished(
        tmp_path, recorded, [verdict("new")], comparisons=[entry, entry | {"name": "b", "slug": "b"}]
    )
    write_bytes(folder / "comparisons.csv", contrast_csv(frame))
    return read_run(folder), frame[frame["baseline"].eq(NAMES[0])]


def test_rows_come_back_as_they_were(run):
    found = run[0].contrasts(run[0].comparison("a"))
    pd.testing.assert_frame_equal(found, run[1])


def test_a_name_that_is_not_there(run):
    with pytest.raises(InputError, match="no such comparison.*'a'.*b"):
        run[0].comparison("aa")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text.replace("better", "worse", 1), "not those that the run counted"),
        (lambda text: text.rpartition("'-g")[0].rpartition("\n")[0] + "\n", "not those that the run counted"),
        (lambda text: text.replace("pairing", "pairs", 1), "columns are missing: pairing"),
        (lambda text: text.replace("0.001", "lots", 1), "column p_value: 'lots' is not a number"),
    ],
    ids=["edited", "cut", "column", "number"],
)
def test_a_table_that_was_changed_is_refused(run, edit, message):
    path = run[0].path.with_name("comparisons.csv")
    path.write_text(edit(path.read_text()))
    with pytest.raises(InputError, match=message):
        run[0].contrasts(run[0].comparison("a"))
