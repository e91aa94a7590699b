"""Values, thresholds and tables: strict rules, the same after writing and reading; broken tables refused."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.results.made import ABOUT as WHAT
from tests.results.made import skipped, value
from tests.support.finished import finished, verdict

from soundcheck.common.errors import InputError
from soundcheck.common.files import write_bytes
from soundcheck.common.tasks import BUILTIN
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import require_count
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, pearson_cc
from soundcheck.results.contrast import Contrast, contrast_csv, contrast_frame
from soundcheck.results.estimates import Estimate, estimate_frame, write_estimates
from soundcheck.results.finished_run import read_run
from soundcheck.results.schema import read_parquet
from soundcheck.results.table import read_results, to_frame, to_verdicts, write_results
from soundcheck.results.verdict import RESULT_COLUMNS, RESULTS, judge, skipped_rows
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.families import Family, TestDefinition

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def judged(statistic, rule, threshold, blocks=None, **options):
    blocks = np.arange(len(statistic)) if blocks is None else blocks
    about = WHAT | {"test": "T"} | options
    return judge(resample(statistic, blocks, 200), rule=rule, threshold=threshold, **about)


def error_of(size: float, count: int = 40):
    return mean_absolute_error(np.zeros(count), np.full(count, size))


@pytest.mark.parametrize(
    ("error", "rule", "passed"),
    [(0.1, "<", False), (0.1, ">", False), (0.099, "<", True)],
)
def test_a_value_on_the_threshold_fails(error, rule, passed):
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
    (row,) = judged(mean_absolute_error([0.1, 0.2] * 3, [0.1, 0.3] * 3), "<", None, reference=[0.2])
    assert row.value == 0.05 and row.low is not None and row.evidence == "shown"
    assert (row.passed, row.certainty, row.reference_passed) == (None, None, None)
    assert row.skipped == "no threshold for arousal: shown without verdict"


def test_one_row_a_label():
    truth, prediction = ["a"] * 6 + ["b"] * 6, ["a"] * 12
    statistic = require_count(recall_per_class(truth, prediction, ["a", "b", "c"]), [12, 12, 3], 4)
    rows = judged(statistic, ">", 0.5, reference=[0.9, np.nan, np.nan])
    assert [(row.label, row.passed, row.reference_passed) for row in rows] == [
        *(("a", True, True), ("b", False, None), ("c", None, None))
    ]
    assert rows[2].skipped == "3 segments, 4 needed"
    with pytest.raises(ValueError, match="2 reference values do not fit 3 labels"):
        judged(statistic, ">", 0.5, reference=[0.1, 0.2])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"high": float("inf")}, "high of T is inf"),
        ({"passed": None}, "neither a verdict nor a reason"),
        ({"threshold": None, "passed": True}, "verdict without value or threshold"),
    ],
)
def test_a_verdict_cannot_be_made_wrong(cells, message):
    with pytest.raises(ValueError, match=message):
        value(**cells)


def test_skipped_rows_of_a_family():
    limits = {"A": (">", {"regression": 0.5}), "B": ("<", {"arousal": 0.1}), "C": ("<", {"emotion": 0.1})}
    tests = {name: TestDefinition(name, *limit) for name, limit in limits.items()}
    family = Family(name="f", category="fairness", title="F", kinds=("regression",), tests=tests)
    rows = skipped_rows("m", "c", family, BUILTIN["arousal"], "error: broken")
    assert [(row.test, row.threshold, row.rule) for row in rows] == [("A", 0.5, ">"), ("B", 0.1, "<")]
    assert {(row.passed, row.skipped, row.segments) for row in rows} == {(None, "error: broken", 0)}


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
    shuffled = to_frame(to_verdicts(frame.sample(frac=1, random_state=1)).values())
    pd.testing.assert_frame_equal(frame, shuffled)
    digest, data = write_results(frame, tmp_path), path.read_bytes()
    assert digest == write_results(frame.sample(frac=1, random_state=3), tmp_path)
    assert data == path.read_bytes() and data.endswith(b"\n") and b"\r\n" not in data
    for read in (read_results(path), read_parquet(tmp_path / "results.parquet", RESULTS)):
        pd.testing.assert_frame_equal(read, frame)
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"))))  # as other programs read it
    assert (rows[0]["model"], rows[0]["label"], rows[0]["value"]) == ("'=cmd", "'@x", "-0.5")
    assert {one["passed"] for one in rows} == {"True", "False", ""}
    assert "0.0333333333333" in {one["value"] for one in rows}
    assert pq.read_table(tmp_path / "results.parquet")["model"][0].as_py() == "=cmd"  # the true text
    write_estimates(estimate_frame([Estimate(*"mcfta", label="-a\rb", value=0.3)]), tmp_path)
    estimates = pd.read_csv(tmp_path / "estimates.csv", keep_default_na=False)
    assert estimates["label"].tolist() == ["'-a\rb"] and estimates["value"].tolist() == [0.3]
    with pytest.raises(ValueError, match="Two verdicts for m / c / f / arousal / T"):
        to_frame([value(), value()])


RULE = "contradicts its number, rule or threshold"
APART = "is above high, or one of them is missing"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"value": "nan"}, "line 2, column value: 'nan' is not a finite number"),
        ({"segments": "4.5"}, "column segments: '4.5' is not a number"),
        ({"segments": "-1"}, "line 2, column segments: '-1' is negative"),
        ({"passed": "true"}, "column passed: 'true' is not a valid verdict"),
        ({"value": "0.2"}, f"column passed: 'True' {RULE}"),
        ({"value": ""}, f"column passed: 'True' {RULE}"),
        ({"threshold": "", "reference_passed": ""}, f"column passed: 'True' {RULE}"),
        ({"rule": ">="}, "column rule: '>=' is none of >, <"),
        ({"passed": "", "certainty": ""}, "column passed: '' and neither a verdict nor"),
        ({"p_sample": "-1"}, "column p_sample: '-1.0' is not between 0 and 1"),
        ({"low": "0.8"}, f"column low: '0.8' {APART}"),
        ({"low": ""}, f"column low: '' {APART}"),
        ({"adjusted_low": "0.1"}, "column adjusted_low: '0.1' is above adjusted_high"),
        ({"reference": "0.6"}, f"column reference_passed: 'False' {RULE}"),
        ({"model": ""}, "column model: '' is empty"),
        ({"state": "holds"}, "column state: 'holds' is none of pass, fail, inconclusive"),
    ],
)
def test_rows_that_contradict_themselves(tmp_path, cells, message):
    row = value(certainty=0.99, reference=0.3, reference_passed=False)
    write_results(to_frame([row]), tmp_path)
    path = tmp_path / "results.csv"
    header, values = path.read_text().splitlines()
    edited = dict(zip(header.split(","), values.split(","), strict=True)) | cells
    texts = [f'"{text}"' if "," in text else text for text in edited.values()]
    path.write_text(f"{header}\n{','.join(texts)}\n")
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "the file is empty"),
        (lambda data: data.replace(b",blocks", b",block"), "columns are missing: blocks"),
        (lambda data: data.replace(b",group,", b",group,group,"), "columns twice: group"),
        (lambda data: data + data.splitlines(keepends=True)[1], "line 11: the same test as in an earlier"),
        (lambda data: data + b"a,b\n", "line 11: 2 cells instead of 46"),
        (lambda data: data + b'"a,b\n', "results.csv line"),
        (lambda data: data + b"\xff\n", "is not UTF-8"),
        (lambda data: data[:700], ""),
    ],
)
def test_damaged_files(tmp_path, damage, message):
    write_results(table(), tmp_path)
    path = tmp_path / "results.csv"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert message in str(caught.value)
    (tmp_path / "suite.yml").write_text("corpora: {}\n")
    with pytest.raises(InputError, match="this is a suite, .* `soundcheck run suite.yml --plan`"):
        read_results(tmp_path / "suite.yml")


CELLS = {"corpus": "c", "family": "f", "category": "correctness", "task": "arousal", "rule": ">"}
CELLS |= {"baseline_value": 0.5, "candidate_value": 0.7, "difference": 0.2, "low": 0.1, "high": 0.3}
CELLS |= {"outcome": "better", "baseline_passed": False, "candidate_passed": True, "threshold": 0.6}
CELLS |= {"p_value": 0.001, "adjusted_p_value": 0.002, "pairing": "paired", "segments": 20, "blocks": 9}
NAMES = ("=1+1", "new")


def test_comparisons_come_back_as_they_were_or_are_refused(tmp_path, recorded):
    rows = [Contrast(*NAMES, **CELLS, test=test, group=group) for test, group in (("T", ""), ("U", "-g"))]
    frame = contrast_frame([*rows, Contrast("other", "new", **CELLS, test="T")])
    entry = {
        "name": "a",
        "slug": "a",
        "baseline": NAMES[0],
        "candidate": NAMES[1],
        "status": "ok",
        "error": "",
    }
    entry["outcomes"] = {"better": 2, "worse": 0, "no evidence": 0}
    run = read_run(finished(tmp_path, recorded, [verdict("new")], comparisons=[entry]))
    path = tmp_path / "comparisons.csv"
    write_bytes(path, contrast_csv(frame))
    pd.testing.assert_frame_equal(run.contrasts(run.comparison("a")), frame[frame["baseline"].eq(NAMES[0])])
    with pytest.raises(InputError, match="no such comparison.*a"):
        run.comparison("aa")
    text = path.read_text()
    for edited, message in (
        (text.replace("better", "worse", 1), "not those that the run counted"),
        (text.replace("pairing", "pairs", 1), "columns are missing: pairing"),
        (text.replace("0.001", "lots", 1), "column p_value: 'lots' is not a number"),
    ):
        path.write_text(edited)
        with pytest.raises(InputError, match=message):
            run.contrasts(run.comparison("a"))
