"""``soundcheck thresholds simulate``: what is asked is simulated, what cannot be is refused."""

import io

import pandas as pd
import pytest
from click.testing import CliRunner

from soundcheck import cli
from soundcheck.common.messages import InputError
from soundcheck.run import threshold_table
from soundcheck.statistics.simulation import simulated_threshold
from soundcheck.suite.thresholds import read_family


def test_one_metric_and_a_family_for_its_own_and_other_sizes():
    def simulated(*words: str) -> list[dict]:
        """Give the rows that the command writes."""
        words = ("thresholds", "simulate", *words, "--runs", "10", "--jobs", "1")
        done = CliRunner().invoke(cli.commands, words)
        assert done.exit_code == 0
        return pd.read_csv(io.StringIO(done.output)).to_dict("records")

    (row,) = simulated("--metric", "mean", "--groups", "3", "--samples", "40")
    assert (row["metric"], row["groups"], row["samples"], row["runs"]) == ("mean", 3, 40, 10)
    assert 0 < row["percentile_99"] <= row["percentile_999"] <= row["maximum"]
    rows = simulated("--family", "fairness_sex", "--samples", "60")
    assert len(rows) == 6 and {(row["samples"], row["groups"]) for row in rows} == {(60, 2)}
    tests = {test.simulation["name"]: test for test in read_family("fairness_sex").tests.values()}
    for row in rows:
        test = tests[row["metric"]]
        published = max(test.thresholds.values())
        judged = simulated_threshold(published, test.simulation, 2, 60).threshold
        assert (row["published"], row["threshold"]) == (published, judged)
    wanted = threshold_table.settings(family="fairness_sex", metrics=["ccc"])
    assert [(each.metric, each.groups, each.segments_per_group) for each in wanted] == [("ccc", 2, 1000)]


def test_refusals():
    with pytest.raises(InputError, match="Did you mean 'ccc'"):
        threshold_table.settings(metrics=["cc"])
    with pytest.raises(InputError, match="rests on a simulation"):
        threshold_table.settings(family="correctness_regression")
