"""Values, thresholds and tables: strict rules, the same after writing and reading; broken tables refused."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.results.made import ABOUT as WHAT
from tests.results.made import skipped, value
from tests.support.finished import finished, verdict

from soundcheck.common.files import write_bytes
from soundcheck.common.messages import InputError
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import require_count
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, pearson_cc
from soundcheck.results.contrast import CONTRAST_TYPES, Contrast, contrast_frame
from soundcheck.results.finished_run import read_run
from soundcheck.results.rows import Estimate, judge
from soundcheck.results.table import (
    RESULT_COLUMNS,
    RESULTS,
    estimate_frame,
    frame_csv,
    read_parquet,
    read_results,
    to_frame,
    to_verdicts,
    write_estimates,
    write_results,
)
from soundcheck.statistics.bootstrap import resample

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def judged(statistic, rule, threshold, blocks=None, **options):
    blocks = np.arange(len(statistic)) if blocks is None else blocks
    about = WHAT | {"test": "T"} | options
    return judge(resample(statistic, blocks, 200), rule=rule, threshold=threshold, **about)


def error_of(size: float, count: int = 40):
    return mean_absolute_error(np.zeros(count), np.full(count, size))


def test_a_value_on_the_threshold_fails():
    for error, rule, passed in ((0.1, "<", False), (0.1, ">", False), (0.099, "<", True)):
        (row,) = judged(error_of(error), rule, 0.1)
        assert (row.value, row.passed, row.certainty) == (error, passed, 1.0)


def test_the_stored_value_gives_the_same_verdict(tmp_path):
    """Values next to the threshold by less than the 12th digit are on it, before and after storing."""
    for offset in (-1e-15, 3e-13, -3e-13, 2e-12, -2e-12):
        (row,) = judged(error_of(0.3 + offset, 9), "<", 0.3)
        write_results(to_frame([row]), tmp_path)
        assert read_results(tmp_path / "results.csv")["passed"].tolist() == [row.passed]
        assert row.passed is (offset < -1e-12)


def test_undefined_is_skipped_with_the_reason():
    truth, constant = [0.1, 0.5, 0.9], [0.3] * 3
    (row,) = judged(pearson_cc(truth, constant), ">", 0.5, reference=[0.02])
    assert (row.value, row.low, row.high, row.passed, row.certainty) == (None,) * 5
    assert (row.skipped, row.segments) == ("constant prediction", 3)
    assert (row.reference, row.reference_passed) == (0.02, False)
    (row,) = judged(concordance_cc(truth, constant), ">", 0.5)
    assert (row.value, row.low, row.passed) == (0.0, None, False)


def test_what_lacks_of_a_verdict_is_said():
    (row,) = judged(error_of(0, 2), "<", 0.1, np.zeros(2, int))
    assert (row.passed, row.value, row.low, row.high, row.certainty, row.blocks) == (True, 0, *[None] * 3, 1)
    assert row.skipped == "interval withheld: 1 block, 5 needed"
    (row,) = judged(error_of(0.1), "<", None, reference=[0.2])
    assert (row.value, row.passed, row.certainty, row.reference_passed) == (0.1, None, None, None)
    assert row.skipped == "no threshold for arousal: shown without verdict" and row.evidence == "shown"


def test_one_row_a_label():
    statistic = recall_per_class(["a"] * 6 + ["b"] * 6, ["a"] * 12, ["a", "b", "c"])
    statistic = require_count(statistic, [12, 12, 3], 4)
    rows = judged(statistic, ">", 0.5, reference=[0.9, np.nan, np.nan])
    verdicts = [(row.label, row.passed, row.reference_passed) for row in rows]
    assert verdicts == [("a", True, True), ("b", False, None), ("c", None, None)]
    assert rows[2].skipped == "3 segments, 4 needed"


def table() -> pd.DataFrame:
    rows = [value(label="=1+1", number=1 / 30, rule="<"), value(number=0.4, certainty=0.5)]
    rows += [skipped("1 segment", task="valence", label=label) for label in ('a,"b"\nc\rd', "=1\r,\"x'")]
    rows += [value(model="=cmd", label="@x", number=-0.5)]
    rows += [value("NA", label="None", segments=3_000_000_000, reference=0.3, reference_passed=False)]
    return to_frame(rows)


def test_columns_of_the_contract():
    names = """model corpus family category task test label value low high segments blocks threshold rule
    passed certainty reference reference_passed skipped group gap gap_low gap_high evidence bound p_value
    holds matters least_p adjusted adjusted_low adjusted_high counterpart adjusted_by group_value others_value
    against ratio ratio_low ratio_high state state_sample gap_low_sample gap_high_sample p_sample mirrors"""
    assert names.split() == RESULT_COLUMNS


def test_tables_are_read_as_they_were_written_in_any_order(tmp_path):
    frame, path = table(), tmp_path / "results.csv"
    digest, data = write_results(frame, tmp_path), path.read_bytes()
    assert digest == write_results(frame.sample(frac=1, random_state=3), tmp_path)
    assert data == path.read_bytes() and data.endswith(b"\n") and b"\r\n" not in data
    for read in (read_results(path), read_parquet(tmp_path / "results.parquet", RESULTS)):
        pd.testing.assert_frame_equal(read, frame)
    pd.testing.assert_frame_equal(to_frame(to_verdicts(frame[::-1]).values()), frame)
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"))))  # as other programs read it
    assert (rows[0]["model"], rows[0]["label"], rows[0]["value"]) == ("'=cmd", "'@x", "-0.5")
    assert {row["passed"] for row in rows} == {"True", "False", ""}
    assert pq.read_table(tmp_path / "results.parquet")["model"][0].as_py() == "=cmd"  # the true text
    write_estimates(estimate_frame([Estimate(*"mcfta", label="-a\rb", value=0.3)]), tmp_path)
    assert pd.read_csv(tmp_path / "estimates.csv")["label"].tolist() == ["'-a\rb"]
    with pytest.raises(ValueError, match="Two verdicts for m / c / f / arousal / T"):
        to_frame([value(), value()])


RULE = "contradicts its number, rule or threshold"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"value": "nan"}, "line 2, column value: 'nan' is not a finite number"),
        ({"segments": "-1"}, "line 2, column segments: '-1' is negative"),
        ({"passed": "true"}, "column passed: 'true' is not a valid verdict"),
        ({"value": "0.2"}, f"column passed: 'True' {RULE}"),
        ({"rule": ">="}, "column rule: '>=' is none of >, <"),
        ({"passed": "", "certainty": ""}, "column passed: '' and neither a verdict nor"),
        ({"p_sample": "-1"}, "column p_sample: '-1.0' is not between 0 and 1"),
        ({"low": "0.8"}, "column low: '0.8' is above high, or one of them is missing"),
        ({"reference": "0.6"}, f"column reference_passed: 'False' {RULE}"),
        ({"model": ""}, "column model: '' is empty"),
        ({"state": "holds"}, "column state: 'holds' is none of pass, fail, inconclusive"),
    ],
)
def test_rows_that_contradict_themselves(tmp_path, cells, message):
    row = value(certainty=0.99, reference=0.3, reference_passed=False)
    write_results(to_frame([row]), tmp_path)
    path = tmp_path / "results.csv"
    pd.read_csv(path, dtype=str, keep_default_na=False).assign(**cells).to_csv(path, index=False)
    with pytest.raises(InputError, match=re.escape(message)):
        read_results(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "the file is empty"),
        (lambda data: data.replace(b",blocks", b",block"), "columns are missing: blocks"),
        (lambda data: data.replace(b",group,", b",group,group,"), "two columns are called 'group'"),
        (lambda data: data + data.splitlines(keepends=True)[1], "line 11: the same test as in an earlier"),
        (lambda data: data + b"a,b\n", "line 11: the row has 2 cells, the header 46. Run the suite again"),
        (lambda data: data + b'"a,b\n', "results.csv line"),
        (lambda data: data + b"\xff\n", "is not UTF-8"),
        (lambda data: data[:700], "results.csv"),
    ],
)
def test_damaged_files(tmp_path, damage, message):
    write_results(table(), tmp_path)
    path = tmp_path / "results.csv"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=re.escape(message)):
        read_results(path)


def test_a_suite_is_no_table(tmp_path):
    (tmp_path / "suite.yml").write_text("corpora: {}\n")
    with pytest.raises(InputError, match="this is a suite, .* `soundcheck run suite.yml --plan`"):
        read_results(tmp_path / "suite.yml")


CELLS = {"corpus": "c", "family": "f", "category": "correctness", "task": "arousal", "rule": ">"}
CELLS |= {"baseline_value": 0.5, "candidate_value": 0.7, "difference": 0.2, "low": 0.1, "high": 0.3}
CELLS |= {"outcome": "better", "baseline_passed": False, "candidate_passed": True, "threshold": 0.6}
CELLS |= {"p_value": 0.001, "adjusted_p_value": 0.002, "pairing": "paired", "segments": 20, "blocks": 9}
NAMES = ("=1+1", "new")


def test_comparisons_come_back_as_they_were_or_are_refused(tmp_path):
    rows = [Contrast(*NAMES, **CELLS, test=test, group=group) for test, group in (("T", ""), ("U", "-g"))]
    frame = contrast_frame([*rows, Contrast("other", "new", **CELLS, test="T")])
    entry = {"name": "a", "slug": "a", "baseline": NAMES[0], "candidate": NAMES[1], "status": "ok"}
    entry |= {"error": "", "outcomes": {"better": 2, "worse": 0, "no evidence": 0}}
    run = read_run(finished(tmp_path, [verdict("new")], comparisons=[entry]))
    path = tmp_path / "comparisons.csv"
    write_bytes(path, frame_csv(frame, CONTRAST_TYPES))
    pd.testing.assert_frame_equal(run.contrasts(run.comparison("a")), frame[frame["baseline"].eq(NAMES[0])])
    with pytest.raises(InputError, match="no such comparison.*a"):
        run.comparison("aa")
    text = path.read_text()
    for edited, message in (
        (text.replace("better", "worse", 1), "not those that the run counted"),
        (text.replace("0.001", "lots", 1), "column p_value: 'lots' is not a number"),
    ):
        path.write_text(edited)
        with pytest.raises(InputError, match=message):
            run.contrasts(run.comparison("a"))
