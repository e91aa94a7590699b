"""What got worse: known differences, the right direction, paired where possible, and rarely a false alarm."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.results.made import BLOCKS, value

from soundcheck.common.messages import InputError
from soundcheck.results import gate, history
from soundcheck.results import rows as judged_rows
from soundcheck.results.contrast import Contrast, contrast_frame
from soundcheck.results.finished_run import read_run


@pytest.fixture
def compared(write):
    def of(before, after, place="here", seed=0):
        runs = [read_run(write(f"{place}{n}", [one], seed=n * seed)) for n, one in enumerate((before, after))]
        (rows,) = history.decided_changes([history.changes(runs[1], runs[0])], 0.0)
        return rows.to_dict("records")[0]

    return of


def error_of(replicates):
    return np.sqrt(BLOCKS / (BLOCKS - 1)) * replicates.std(ddof=1)


def test_paired_differences_by_hand(compared, judged):
    before, after = judged(number=0.70), judged(number=0.65)
    row, error = compared(before, after), error_of(before.replicates - after.replicates)
    assert row["pairing"] == "paired" and row["worse"] == pytest.approx(0.05)
    assert row["p_value"] == pytest.approx(stats.t.sf(0.05 / error, BLOCKS - 1), rel=1e-6)

    elsewhere = compared(judged(number=0.70, segments="others"), judged(number=0.65), "elsewhere")
    assert elsewhere["pairing"] == "unpaired" and 0.01 < elsewhere["p_value"] < 0.1  # paired: below 1e-10
    assert compared(before, after, "other draws", seed=1)["pairing"] == "unpaired"


@pytest.mark.parametrize(
    ("rule", "before", "after", "amount"),
    [(">", 0.6, 0.7, -0.1), ("<", 0.2, 0.3, 0.1), ("|value| <", 0.1, -0.25, 0.15)],
)
def test_worse_is_towards_failing(compared, judged, rule, before, after, amount):
    row = compared(judged(number=before, rule=rule), judged(number=after, rule=rule))
    assert row["worse"] == pytest.approx(amount) and (row["p_value"] < 0.01) == (amount > 0)


def test_a_table_alone_is_compared_by_its_intervals(write, judged):
    """Standard errors from percentile intervals, Welch's test as SciPy does it."""
    after, error = judged(number=0.65), 0.03
    reach = stats.norm.ppf(0.975) * error * np.sqrt((BLOCKS - 1) / BLOCKS)
    about = {"interval": "percentile"}
    now, before = write("now", [after], **about), write("before", [value(number=0.70, reach=reach)], **about)
    (before / "run.json").unlink()
    (row,) = history.changes(read_run(now), read_run(before / "results.csv")).to_dict("records")
    errors = [spread * np.sqrt(BLOCKS) for spread in (error, error_of(after.replicates))]
    welch = stats.ttest_ind_from_stats(0.70, errors[0], BLOCKS, 0.65, errors[1], BLOCKS, equal_var=False)
    assert row["pairing"] == "unpaired" and row["p_value"] == pytest.approx(welch.pvalue, rel=0.01)
    assert "no run.json" in gate.check(now, baselines=[before]).summary


def test_gaps_are_compared_where_the_rule_judges_them(compared, judged):
    """The gap is twice the value here, and so are its interval and its spread."""
    sides = []
    for number in (0.01, -0.04):
        plain = judged(number=number, rule="|value| <", threshold=0.1)
        row = plain.verdict
        gap = {"gap": 2 * row.value, "gap_low": 2 * row.low, "gap_high": 2 * row.high, "matters": 0.1}
        sides.append(dataclasses.replace(plain, verdict=dataclasses.replace(row, rule="|gap| <", **gap)))
    row = compared(*sides)
    assert row["pairing"] == "paired" and row["worse"] == pytest.approx(0.06)
    error = error_of(2 * (sides[1].replicates + sides[0].replicates))  # of sizes: the later one is negative
    assert row["p_value"] == pytest.approx(stats.t.sf(0.06 / error, BLOCKS - 1), rel=1e-6)


def test_what_a_gate_says_of_two_baselines(write, judged):
    first, second, now = (write(f"run{n}", [judged(number=n)]) for n in (0.7, 0.688, 0.680))
    assert gate.check(now, baselines=[second]).exit_code == 0
    outcome = gate.check(now, baselines=[second, first])  # small steps add up
    assert outcome.exit_code == 1 and "run0.7, now 0.68" in outcome.summary
    assert outcome.summary.count("Compared with") == 2
    # Small changes do not count, however sure.
    assert gate.check(second, baselines=[first], matters_worse=0.02).exit_code == 0
    outcome = gate.check(second, baselines=[first], matters_worse=0.005)
    assert outcome.exit_code == 1 and "worse by 0.012, p = " in outcome.summary


def test_baselines_with_other_tests_or_rows(write, judged, tmp_path):
    entries = [judged("T", 0.3), judged("U", 0.8)]
    pair = [judged("V", group="a"), judged("V", group="b", mirrors="a")]
    now, before = write("both", [*entries, judged("W", 0.2)]), write("more", [*entries, *pair])
    outcome = gate.check(now, baselines=[before])
    assert outcome.exit_code == 0 and "2 tests paired, 0 unpaired" in outcome.summary
    assert "1 test of" in outcome.summary and "not judged any more" in outcome.summary
    cases = (now / "junit.xml").read_text()
    assert 'message="as before: 0.3 is not' in cases and 'message="not compared: 0.2 is not' in cases
    judged_rows.save([judged(number=0.6)], now / "notebooks" / "m" / "f.json")  # those of another run
    assert not any(entry.drawn for entry in read_run(now).judged.values())
    path = tmp_path / "old.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"--baseline \S+old\.csv: .*columns are missing"):
        gate.check(now, baselines=[path])


def test_another_suite_is_refused_and_another_version_is_named(write, judged):
    now = write("now", [judged()], title="Ours", families=[])
    other = write("other", [judged(model="theirs")], title="Theirs")
    with pytest.raises(InputError, match="no judged test in common.*are theirs, those judged here m; "):
        gate.check(now, baselines=[other])
    old = write("old", [judged()], title="Ours", version="0.0.9")
    text = gate.check(now, baselines=[old]).summary
    assert f"{old} differs: Soundcheck 0.0.9 then, 0.1.0 now." in text
    assert "differs: family f then only." in text and "1 tests paired" in text


def test_false_discovery_rate_over_all_comparisons(rng):
    row = Contrast("m", "m", *"cfgt", test="T", difference=-0.1, rule=">")
    frames = [
        contrast_frame([dataclasses.replace(row, p_value=p_value) for p_value in p])
        for p in ([0.002, np.nan, 0.8], rng.uniform(0.2, 1, 17))
    ]
    first, second = history.decided_changes(frames, 0.01)
    one_sided = pd.concat(frames)["p_value"].dropna() / 2
    expected = stats.false_discovery_control(one_sided) <= 0.05
    assert first["outcome"].eq("worse").tolist() == [bool(expected[0]), False, False]
    assert not second["outcome"].eq("worse").any()
