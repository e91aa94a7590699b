"""What got worse: known differences, the right direction, paired where possible, and rarely a false alarm."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from benchmarks.baseline import alarms
from scipy import stats

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.results import gate, worse
from soundcheck.results import judged as judged_rows
from soundcheck.results.contrast import Contrast, contrast_frame
from soundcheck.results.finished_run import read_run
from soundcheck.results.judged import Judged
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict

BLOCKS = 20


def row(test: str, value: float, rule: str = ">", spread: float = 0.02, **changes) -> Verdict:
    reach = stats.norm.ppf(0.975) * spread * np.sqrt((BLOCKS - 1) / BLOCKS)
    found = dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test=test)
    found |= dict(value=value, low=value - reach, high=value + reach, segments=100, blocks=BLOCKS)
    size = abs(value) if rule == "|value| <" else value
    found |= dict(rule=rule, threshold=0.5, passed=size > 0.5 if rule == ">" else size < 0.5)
    found["state"] = "pass" if found["passed"] else "fail"
    return Verdict(**(found | changes))


def judged(verdict: Verdict, rng, common=None, segments="s", blocks="b") -> Judged:
    """Replicates around the value: what both runs have in common, and some of its own."""
    noise = 0.001 * rng.standard_normal(1000) + (0 if common is None else common)
    return Judged(verdict, verdict.value + noise, segments, blocks)


@pytest.fixture
def run(tmp_path, recorded):
    """Write the output folder of a run as far as a comparison looks at it."""

    def write(name: str, entries: list[Judged], about: dict | None = None, keep: bool = True):
        folder = tmp_path / name
        digest = write_results(to_frame(entry.verdict for entry in entries), folder)
        for model in {entry.verdict.model for entry in entries} if keep else ():
            rows = folder / "notebooks" / files.slug(model) / "f.json"
            rows.parent.mkdir(parents=True)
            judged_rows.save([entry for entry in entries if entry.verdict.model == model], rows)
        recorded(**({"results": digest} | (about or {}))).write(folder / "run.json")
        return folder

    return write


def compared(now, before):
    (found,) = worse.with_outcomes([worse.changes(read_run(now), read_run(before))], 0.0)
    return {line["test"]: line for line in found.to_dict("records")}


def test_paired_differences_by_hand(run, rng):
    common = 0.02 * rng.standard_normal(1000)
    old, new = row("T", 0.70), row("T", 0.65)
    before, after = judged(old, rng, common), judged(new, rng, common)
    found = compared(run("now", [after]), run("before", [before]))["T"]
    differences = before.replicates - after.replicates
    error = np.sqrt(BLOCKS / (BLOCKS - 1)) * differences.std(ddof=1)
    assert found["pairing"] == "paired" and found["worse"] == pytest.approx(0.05)
    assert found["p_value"] == pytest.approx(stats.t.sf(0.05 / error, BLOCKS - 1), rel=1e-6)


@pytest.mark.parametrize(
    ("rule", "before", "after", "amount"),
    [
        (">", 0.7, 0.6, 0.1),
        (">", 0.6, 0.7, -0.1),
        ("<", 0.2, 0.3, 0.1),
        ("|value| <", 0.1, -0.25, 0.15),
        ("|value| <", -0.2, -0.3, 0.1),
        ("|value| <", -0.3, 0.2, -0.1),
    ],
)
def test_worse_is_towards_failing(run, rng, rule, before, after, amount):
    found = compared(
        run("now", [judged(row("T", after, rule), rng)]), run("before", [judged(row("T", before, rule), rng)])
    )["T"]
    assert found["worse"] == pytest.approx(amount)
    assert (found["p_value"] < 0.01) == (amount > 0)


@pytest.mark.parametrize("change", [{"segments": "others"}, {"blocks": "others"}])
def test_other_segments_are_compared_unpaired(run, rng, change):
    common = 0.02 * rng.standard_normal(1000)
    before = judged(row("T", 0.70), rng, common, **change)
    after = judged(row("T", 0.65), rng, common)
    found = compared(run("now", [after]), run("before", [before]))["T"]
    assert found["pairing"] == "unpaired" and 0.01 < found["p_value"] < 0.1  # paired it is below 1e-10


def test_a_table_alone_is_compared_by_its_intervals(run, rng):
    """Standard errors from percentile intervals, Welch's test as SciPy does it."""
    now, before = run("now", [judged(row("T", 0.65), rng)]), run("before", [judged(row("T", 0.70), rng)])
    for part in ("run.json", "notebooks"):
        (before / part).rename(before.parent / f"old {part}")
    found = compared(now, before / "results.csv")["T"]
    errors = 0.001 * np.sqrt(BLOCKS / (BLOCKS - 1)), 0.02
    expected = stats.ttest_ind_from_stats(
        *(0.70, errors[1] * np.sqrt(BLOCKS), BLOCKS, 0.65, errors[0] * np.sqrt(BLOCKS), BLOCKS),
        equal_var=False,
        alternative="greater",
    )
    assert found["pairing"] == "unpaired" and found["p_value"] == pytest.approx(expected.pvalue, rel=0.1)
    assert "no run.json" in gate.check(now, baselines=[before]).summary


def test_gaps_are_compared_where_the_rule_judges_them(run, rng):
    """The gap is twice the value here, and so are its interval and its spread."""

    def of(value):
        reach = 0.02
        gap = dict(gap=2 * value, gap_low=2 * value - 2 * reach, gap_high=2 * value + 2 * reach, matters=0.1)
        verdict = row("T", value, low=value - reach, high=value + reach, rule="|gap| <", threshold=0.1)
        return dataclasses.replace(verdict, passed=abs(2 * value) < 0.1, **gap)

    found = compared(run("now", [judged(of(-0.04), rng)]), run("before", [judged(of(0.01), rng)]))["T"]
    assert (
        found["pairing"] == "paired"
        and found["worse"] == pytest.approx(0.06)
        and found["baseline_value"] == 0.02
    )
    plain = compared(
        run("now2", [judged(row("T", -0.04, "|value| <"), rng)]),
        run("before2", [judged(row("T", 0.01, "|value| <"), rng)]),
    )["T"]
    assert found["p_value"] == pytest.approx(plain["p_value"], rel=0.1, abs=1e-9)


def test_failures_of_before_do_not_count_and_are_skipped_in_junit(run, rng):
    entries = [judged(row("T", 0.3), rng), judged(row("U", 0.8), rng)]
    now, before = run("now", entries), run("before", entries)
    outcome = gate.check(now, baselines=[before])
    assert outcome.exit_code == 0 and "2 tests paired, 0 unpaired" in outcome.summary
    assert 'message="as before: 0.3 is not' in (now / "junit.xml").read_text()
    assert gate.check(now, strict=True).exit_code == 1


def test_two_baselines_stop_small_steps(run, rng):
    first, second, now = (
        run(name, [judged(row("T", value), rng)])
        for name, value in (("accepted", 0.7), ("previous", 0.688), ("now", 0.680))
    )
    assert gate.check(now, baselines=[second]).exit_code == 0
    outcome = gate.check(now, baselines=[second, first])
    assert outcome.exit_code == 1 and "accepted, now 0.68" in outcome.summary
    assert outcome.summary.count("Compared with") == 2


def test_another_suite_is_refused_and_another_version_told(run, rng):
    now = run("now", [judged(row("T", 0.7), rng)], {"title": "Ours"})
    other = run("other", [judged(row("T", 0.7, model="theirs"), rng)], {"title": "Theirs"})
    with pytest.raises(
        InputError, match="no judged test in common.*models are theirs, those judged here m; "
    ):
        gate.check(now, baselines=[other])
    families = [dict(name="f", title="F", category="correctness", question="", digest="1")]
    old = run(
        "old", [judged(row("T", 0.7), rng)], {"title": "Ours", "version": "0.0.9", "families": families}
    )
    told = gate.check(now, baselines=[old]).summary
    assert f"{old} differs: Soundcheck 0.0.9 then, 0.1.0 now." in told
    assert "differs: family f then only." in told and "1 tests paired" in told


def test_tests_that_are_gone_are_told(run, rng):
    entries = [judged(row(test, 0.7), rng) for test in "TU"]
    told = gate.check(run("now", entries[:1]), baselines=[run("before", entries)])
    assert told.exit_code == 0 and "1 test of" in told.summary and "not judged any more" in told.summary


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "does not exist"), ("a,b\n1,2\n", "columns are missing"), ("", "the file is empty")],
)
def test_a_baseline_that_is_no_results_table(run, rng, tmp_path, text, words):
    now, path = run("now", [judged(row("T", 0.7), rng)]), tmp_path / "old.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=rf"--baseline \S+old\.csv: .*{words}"):
        gate.check(now, baselines=[path])


def test_rows_of_another_run_are_not_used(run, rng):
    folder = run("now", [judged(row("T", 0.7), rng)])
    assert len(read_run(folder).judged) == 1
    judged_rows.save([judged(row("T", 0.6), rng)], folder / "notebooks" / "m" / "f.json")
    assert read_run(folder).judged == {}


def test_false_discovery_rate_over_all_comparisons():
    def frame(p):
        row = Contrast("m", "m", *"cfgt", test="T", difference=-0.1, rule=">")
        return contrast_frame([dataclasses.replace(row, p_value=value) for value in p])

    rng = np.random.default_rng(0)
    frames = frame([0.002, np.nan, 0.8]), frame(rng.uniform(0.2, 1, 17))
    first, second = worse.with_outcomes(frames, 0.01)
    one_sided = pd.concat(frames)["p_value"].dropna() / 2
    expected = stats.false_discovery_control(one_sided) <= 0.05
    assert first["outcome"].eq("worse").tolist() == [bool(expected[0]), False, False]
    assert not second["outcome"].eq("worse").any() and not first["outcome"].eq("better").any()


def test_an_equally_good_model_rarely_alarms():
    """The study behind the page, with few runs: percentile intervals alarm in each of them."""
    found = alarms(20, runs=6, seed=1, tests=400)
    assert found["alarms"] <= 1 / 6 and found["alarms_of_percentiles"] == 1
    assert alarms(40, planted=20, runs=2, seed=1, tests=400)["found"] > 0.2


def test_small_changes_do_not_count_however_sure(run, rng):
    now, before = (run(n, [judged(row("T", v), rng)]) for n, v in (("now", 0.692), ("before", 0.7)))
    assert compared(now, before)["T"]["p_value"] < 1e-4
    assert gate.check(now, baselines=[before]).exit_code == 0
    outcome = gate.check(now, baselines=[before], matters_worse=0.005)
    assert outcome.exit_code == 1 and "worse: m / c / f: arousal / T: 0.7 in" in outcome.summary
    assert "worse by 0.008, p = " in outcome.summary and ", paired)" in outcome.summary
