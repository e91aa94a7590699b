"""Simulates random models for many settings and writes a table: ``soundcheck thresholds simulate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.messages import input_error, quoted, refuse_unknown
from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import Setting, simulated_threshold
from soundcheck.suite.thresholds import read_family


def settings(
    metrics: Sequence[str] = (),
    groups: Sequence[int] = (),
    samples: Sequence[int] = (),
    family: str | None = None,
) -> list[Setting]:
    """List what to simulate.

    Raises InputError: if there is no such metric or family, or nothing can be simulated.
    """
    refuse_unknown((("--metric", name, simulation.METRICS) for name in metrics), "there is no metric {}")
    if family is None:
        names = tuple(metrics) or tuple(simulation.METRICS)
        return list(
            simulation.grid(names, tuple(groups) or simulation.GROUPS, tuple(samples) or simulation.SAMPLES)
        )
    known = [test.simulation for test in read_family(family).tests.values() if test.simulation]
    if metrics:
        known = [simulations for simulations in known if simulations["name"] in metrics]
    if not known:
        what = f"no threshold of family {quoted(family)} rests on a simulation" + (
            " of it" if metrics else ""
        )
        raise input_error("--family", what, "Leave the option out, or name a fairness family")
    simulations = [
        simulation.setting_of(each, g, n)
        for each in known
        for g in groups or [each["groups"]]
        for n in samples or [each["samples"]]
    ]
    return list(dict.fromkeys(simulations))


def write(
    out: Path | None,
    wanted: Sequence[Setting],
    runs: int = simulation.RUNS,
    seed: int = 0,
    jobs: int = 1,
    family: str | None = None,
) -> str:
    """Simulate, write a CSV file if one is named, and give the table, or where it is.

    For a family, its published thresholds and what verdicts take for each size are further columns.
    """
    frame = simulation.simulate_all(wanted, runs, seed, jobs)
    if family is not None:
        frame = frame.merge(_thresholds(family, wanted), how="left")
    text = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    if out is None:
        return text.rstrip("\n")
    files.write_all({out: text})
    return f"Wrote {len(frame)} settings, {runs} runs each, to {out}"


def _thresholds(family: str, wanted: Sequence[Setting]) -> pd.DataFrame:
    """Give published and simulated thresholds of a family for some settings, one row a different one."""
    tests = list(read_family(family).tests.values())
    rows = []
    for setting in wanted:
        groups, samples = setting.groups, setting.segments_per_group
        for test in tests:
            if test.simulation and simulation.setting_of(test.simulation, groups, samples) == setting:
                key = (setting.metric, setting.truth, setting.prediction, groups, samples)
                for published in test.thresholds.values():
                    simulated = simulated_threshold(published, test.simulation, groups, samples)
                    rows.append((*key, published, simulated.threshold))
    columns = ["metric", "truth", "prediction", "groups", "samples", "published", "threshold"]
    return pd.DataFrame(rows, columns=columns).drop_duplicates()
