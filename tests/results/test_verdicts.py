"""Verdicts and the results table: strict, complete, the same after writing and reading."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import require_count
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, pearson_cc
from soundcheck.results.schema import columns_of, read_parquet
from soundcheck.results.table import read_results, to_frame, write_results
from soundcheck.results.verdict import RESULT_COLUMNS, RESULTS, Verdict, judge, skipped_rows
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.families import Family, TestDefinition

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

WHAT = {
    "model": "prosody",
    "corpus": "demo",
    "family": "correctness_regression",
    "category": "correctness",
    "task": "arousal",
    "test": "Mean Absolute Error",
}


def row(**changes) -> Verdict:
    plain = {
        **WHAT,
        "value": 0.08,
        "low": 0.07,
        "high": 0.09,
        "segments": 40,
        "blocks": 20,
        "threshold": 0.1,
        "rule": "<",
        "passed": True,
        "certainty": 0.99,
        "reference": 0.19,
        "reference_passed": False,
    }
    return Verdict(**(plain | changes))


def judged(statistic, rule, threshold, blocks=None, **options):
    blocks = np.arange(len(statistic)) if blocks is None else blocks
    return judge(resample(statistic, blocks, 200), rule=rule, threshold=threshold, **(WHAT | options))


# Judging


def test_columns_of_the_contract():
    assert RESULT_COLUMNS == [
        "model", "corpus", "family", "category", "task", "test", "label", "value", "low", "high", "segments",
        "blocks", "threshold", "rule", "passed", "certainty", "reference", "reference_passed", "skipped",
        "group", "gap", "gap_low", "gap_high", "evidence", "bound", "p_value", "holds", "matters", "least_p",
        "adjusted", "adjusted_low", "adjusted_high", "counterpart", "adjusted_by",
        "group_value", "others_value", "against", "ratio", "ratio_low", "ratio_high", "state", "state_sample",
        "gap_low_sample", "gap_high_sample", "p_sample", "mirrors",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "rule", "passed"),
    [(0.1, "<", False), (0.1, ">", False), (0.099, "<", True), (0.1, "|value| <", False)],
)
def test_a_value_on_the_threshold_fails(error, rule, passed):
    (found,) = judged(mean_absolute_error(np.full(40, 0.5), np.full(40, 0.5 + error)), rule, 0.1)
    assert found.value == error
    assert found.passed is passed
    assert found.certainty == 1.0


def test_the_stored_value_gives_the_same_verdict(tmp_path, rng):
    """Values next to the threshold by less than the 12th digit are on it, before and after storing."""
    for offset in (-1e-15, 0, 1e-15, 3e-13, -3e-13, 2e-12, -2e-12):
        (found,) = judged(mean_absolute_error(np.full(9, 0.0), np.full(9, 0.3 + offset)), "<", 0.3)
        write_results(to_frame([found]), tmp_path)
        assert read_results(tmp_path / "results.csv")["passed"].tolist() == [found.passed]
        assert found.passed is (offset < -1e-12)


def test_undefined_is_skipped_with_the_reason():
    (found,) = judged(pearson_cc([0.1, 0.5, 0.9], [0.3] * 3), ">", 0.5, reference=[0.02])
    assert (found.value, found.low, found.high, found.passed, found.certainty) == (None,) * 5
    assert found.skipped == "constant prediction"
    assert found.segments == 3
    assert (found.reference, found.reference_passed) == (0.02, False)
    (found,) = judged(concordance_cc([0.1, 0.5, 0.9], [0.3] * 3), ">", 0.5)
    assert (found.value, found.low, found.passed) == (0.0, None, False)


def test_one_block_keeps_the_verdict_and_says_so():
    (found,) = judged(mean_absolute_error([0.1, 0.2], [0.1, 0.2]), "<", 0.1, np.zeros(2, int))
    assert found.passed is True and found.value == 0.0
    assert (found.low, found.high, found.certainty, found.blocks) == (None, None, None, 1)
    assert found.skipped == "interval withheld: 1 block, 5 needed"


def test_no_threshold_reports_the_value_without_verdict():
    (found,) = judged(mean_absolute_error([0.1, 0.2] * 3, [0.1, 0.3] * 3), "<", None, reference=[0.2])
    assert found.value == 0.05 and found.low is not None
    assert (found.passed, found.certainty, found.reference_passed) == (None, None, None)
    assert found.skipped == f"no threshold for {found.task}: shown without verdict"
    assert (found.evidence, found.state) == ("shown", "")  # states come when all rows are together


def test_one_row_a_label():
    truth, prediction = ["a"] * 6 + ["b"] * 6, ["a"] * 6 + ["a"] * 6
    statistic = require_count(recall_per_class(truth, prediction, ["a", "b", "c"]), [12, 12, 3], 4)
    found = judged(statistic, ">", 0.5, reference=[0.9, np.nan, np.nan])
    assert [one.label for one in found] == ["a", "b", "c"]
    assert [one.passed for one in found] == [True, False, None]
    assert found[2].skipped == "3 segments, 4 needed"
    assert [one.reference_passed for one in found] == [True, None, None]
    with pytest.raises(ValueError, match="2 reference values do not fit 3 labels"):
        judged(statistic, ">", 0.5, reference=[0.1, 0.2])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": float("nan")}, "value of Mean Absolute Error is nan"),
        ({"high": float("inf")}, "high of Mean Absolute Error is inf"),
        ({"passed": None}, "neither a verdict nor a reason"),
        ({"value": None}, "verdict without value"),
        ({"threshold": None}, "verdict without value or threshold"),
    ],
)
def test_a_verdict_cannot_be_made_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        row(**changes)


def test_skipped_rows_of_a_family():
    tests = {
        "A": TestDefinition("A", ">", {"regression": 0.5}),
        "B": TestDefinition("B", "<", {"arousal": 0.1}),
        "C": TestDefinition("C", "<", {"emotion": 0.1}),
    }
    family = Family(name="f", category="fairness", title="F", kinds=("regression",), tests=tests)
    found = skipped_rows("m", "c", family, BUILTIN["arousal"], "error: broken")
    assert [(one.test, one.threshold, one.rule) for one in found] == [("A", 0.5, ">"), ("B", 0.1, "<")]
    assert {(one.passed, one.skipped, one.segments) for one in found} == {(None, "error: broken", 0)}


# The table


def table() -> pd.DataFrame:
    return to_frame(
        [
            row(label="=1+1", value=1 / 30),
            row(label="", passed=False, value=0.1, certainty=0.5),
            row(
                task="valence",
                label='a,"b"\nc\rd',
                passed=None,
                value=None,
                low=None,
                high=None,
                certainty=None,
                reference=None,
                reference_passed=None,
                skipped="1 segment",
            ),
            row(model="=cmd", label="@x", value=-0.5),
            row(test="NA", label="None", segments=3_000_000_000),
        ]
    )


def read(path):
    return read_results(path) if path.suffix == ".csv" else read_parquet(path, RESULTS)


def test_canonical_order_and_types():
    frame = table()
    assert frame.columns.tolist() == RESULT_COLUMNS
    assert frame["model"].tolist()[0] == "=cmd"
    shuffled = to_frame(
        [Verdict(**_plain(r)) for r in frame.sample(frac=1, random_state=1).itertuples(index=False)]
    )
    pd.testing.assert_frame_equal(frame, shuffled)
    assert frame["value"].dtype == np.float64 and frame["segments"].dtype == np.int64
    assert set(frame["passed"]) == {True, False, None}


def _plain(record) -> dict:
    found = record._asdict()
    for name in columns_of(RESULTS, "float"):
        found[name] = None if np.isnan(found[name]) else found[name]
    return found


@pytest.mark.parametrize("name", ["results.csv", "results.parquet"])
def test_round_trip(tmp_path, name):
    frame = table()
    frame["state"] = pd.Series("reported", index=frame.index, dtype="str")
    write_results(frame, tmp_path)
    pd.testing.assert_frame_equal(read(tmp_path / name), frame)


def test_csv_as_a_program_reads_it(tmp_path):
    digest = write_results(table(), tmp_path)
    data = (tmp_path / "results.csv").read_bytes()
    assert b"\r\n" not in data and data.endswith(b"\n")
    assert digest == write_results(table().sample(frac=1, random_state=3), tmp_path)
    assert data == (tmp_path / "results.csv").read_bytes()
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"))))
    assert rows[0]["model"] == "'=cmd" and rows[0]["label"] == "'@x" and rows[0]["value"] == "-0.5"
    assert {one["passed"] for one in rows} == {"True", "False", ""}
    assert "0.0333333333333" in {one["value"] for one in rows}
    assert "nan" not in data.decode().lower().split(",")
    assert all(one["passed"] or one["skipped"] for one in rows)


def test_parquet_keeps_the_true_text_and_real_nulls(tmp_path):
    write_results(table(), tmp_path)
    found = pq.read_table(tmp_path / "results.parquet")
    assert found["model"].to_pylist()[0] == "=cmd"
    assert found["value"].null_count == 1 and not np.isnan(found["value"].drop_null().to_numpy()).any()


# Reading what somebody broke


def edited(tmp_path, **cells):
    """Write one good row with some cells replaced."""
    write_results(to_frame([row()]), tmp_path)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text())))
    rows[0] |= cells
    text = io.StringIO()
    writer = csv.DictWriter(text, RESULT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / "edited.csv"
    path.write_text(text.getvalue())
    return path


NEXT_TO = "contradicts its number, rule or threshold"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"value": "nan"}, "line 2, column value: 'nan' is not a finite number"),
        ({"high": "inf"}, "column high: 'inf' is not a finite number"),
        ({"value": "0,08"}, "column value: '0,08' is not a number"),
        ({"segments": "4.5"}, "column segments: '4.5' is not a number"),
        ({"segments": ""}, "column segments: '' is not a number"),
        ({"segments": "-1"}, "line 2, column segments: '-1' is negative"),
        ({"passed": "yes"}, "column passed: 'yes' is not a valid verdict"),
        ({"passed": "False"}, f"column passed: 'False' {NEXT_TO}"),
        ({"value": "0.2"}, f"column passed: 'True' {NEXT_TO}"),
        ({"value": ""}, f"column passed: 'True' {NEXT_TO}"),
        ({"threshold": "", "reference_passed": ""}, f"column passed: 'True' {NEXT_TO}"),
        ({"rule": "", "reference_passed": ""}, f"column passed: 'True' {NEXT_TO}"),
        ({"rule": ">="}, "column rule: '>=' is none of >, <"),
        ({"passed": "", "certainty": ""}, "column passed: '' and neither a verdict nor"),
        ({"certainty": "1.5"}, "column certainty: '1.5' is not between 0 and 1"),
        ({"low": "0.2"}, "column low: '0.2' is above high, or one of them is missing"),
        ({"low": ""}, "column low: '' is above high, or one of them is missing"),
        ({"reference": ""}, f"column reference_passed: 'False' {NEXT_TO}"),
        ({"reference": "0.05"}, f"column reference_passed: 'False' {NEXT_TO}"),
        ({"model": ""}, "column model: '' is empty"),
        ({"adjusted_low": "0.1"}, "column adjusted_low: '0.1' is above adjusted_high"),
        ({"counterpart": "1.2"}, "column counterpart: '1.2' is not between 0 and 1"),
        ({"state": "holds"}, "column state: 'holds' is none of pass, fail, inconclusive"),
        ({"p_sample": "-1"}, "column p_sample: '-1.0' is not between 0 and 1"),
    ],
)
def test_rows_that_contradict_themselves(tmp_path, cells, message):
    assert len(read_results(edited(tmp_path))) == 1
    with pytest.raises(InputError) as caught:
        read_results(edited(tmp_path, **cells))
    assert message in str(caught.value)


def whole(tmp_path) -> bytes:
    write_results(table(), tmp_path)
    return (tmp_path / "results.csv").read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-20], "the file ends in the middle of a line"),
        (lambda data: b"", "the file is empty"),
        (lambda data: data.replace(b",blocks", b",block"), "columns are missing: blocks"),
        (lambda data: data.replace(b"value,low", b"value,value"), "columns are missing: low"),
        (lambda data: data.replace(b",group,", b",group,group,"), "columns twice: group"),
        (
            lambda data: data + data.splitlines(keepends=True)[1],
            "line 9: the same test as in an earlier line",
        ),
        (lambda data: data + b"a,b\n", "line 9: 2 cells instead of 46"),
        (lambda data: data + b'"a,b\n', "results.csv line"),
        (lambda data: data + b"\xff\n", "is not UTF-8"),
    ],
)
def test_damaged_files(tmp_path, damage, message):
    path = tmp_path / "results.csv"
    path.write_bytes(damage(whole(tmp_path)))
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert message in str(caught.value)


def test_every_cut_is_noticed_except_between_lines(tmp_path):
    data = whole(tmp_path)
    path = tmp_path / "results.csv"
    for end in range(1, len(data), 7):
        path.write_bytes(data[:end])
        if data[:end].endswith(b"\n"):
            continue
        with pytest.raises(InputError):
            read_results(path)


def test_a_suite_is_no_results_table(tmp_path):
    path = tmp_path / "suite.yml"
    path.write_text("corpora: {}\n")
    with pytest.raises(InputError, match="this is a suite, .* `soundcheck run suite.yml --plan`"):
        read_results(path)
