"""Threshold files say what they mean, and the shipped ones hold the published values."""

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml

from soundcheck.common import resources
from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.statistics.rules import passes
from soundcheck.statistics.simulation import minimum_per_bin, setting_of
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

PUBLISHED = Path(__file__).parents[1]


def rows_of(name):
    return list(csv.DictReader((PUBLISHED / name).read_text().splitlines()))


# What 1000 random models scored; checked in test_simulation.py, draw by draw.
SIMULATIONS = {
    (row["groups"], row["samples"], row["metric"], row["prediction"], row["truth"]): row
    for row in rows_of("published_simulations.csv")
}
# As published with the tests; of bins the fewest segments and the size of the groups that they are for.
ROWS = rows_of("published_thresholds.csv")
FAMILIES = sorted({row["family"] for row in ROWS})
RULE_NAMES = {">": ">", "<": "<", "abs<": "|value| <"}
GIVEN = yaml.safe_load(Path(__file__).with_name("published_changes.yml").read_text("utf-8"))
EMOTION_TASKS = ("arousal", "dominance", "valence", "emotion")


@pytest.fixture
def changed(tmp_path):

    def read(name, old, new):
        text = resources.root().joinpath("thresholds", f"{name}.yml").read_text("utf-8")
        assert old in text
        (tmp_path / "thresholds").mkdir(exist_ok=True)
        (tmp_path / "thresholds" / f"{name}.yml").write_text(text.replace(old, new))
        return read_family(name, tmp_path)

    return read


@pytest.mark.parametrize("name", FAMILIES)
def test_shipped_families_are_those_published(name):
    family = read_family(name)
    rows = [row for row in ROWS if row["family"] == name]
    assert set(family.tests) == {row["test"] for row in rows}
    for row in rows:
        test = family.tests[row["test"]]
        for task in EMOTION_TASKS:
            assert test.threshold_for(BUILTIN[task]) == (float(row[task]) if row[task] else None), row
        assert (test.rule, test.decimals) == (RULE_NAMES[row["compare"]], int(row["round"])), row
        assert test.source == "method-tests" and test.note
        if row["fewest"]:
            fewest = {"count": int(row["fewest"]), "segments": int(row["segments"])}
            assert family.options["bin_minimum"] == fewest
    assert family.name == name and name.startswith(family.category) and family.question.endswith("?")
    for task in (Task("stress", "regression"), Task("c", "classification", ("a", "b"))):
        # Only three dimensions are expected to go with an emotion.
        assert family.applies_to(task) == (task.kind in family.kinds and name != "correctness_consistency")
    assert pickle.loads(pickle.dumps(family)) == family
    if family.changes and not name.endswith("recording_condition"):
        assert all(any(test.endswith(f" {change}") for change in family.changes) for test in family.tests)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name.startswith("fairness")])
def test_fairness_thresholds_say_what_was_simulated(family):
    """Maximum, percentile, groups and segments are those of the published simulation of that metric."""
    sizes = {"accent": (30, 60), "language": (6, 1000), "linguistic_sentiment": (8, 1000), "pitch": (3, 1000)}
    size = sizes.get(family.removeprefix("fairness_"), (2, 1000))
    for test in read_family(family).tests.values():
        simulation = test.simulation
        (metric,) = (name for name in GIVEN["simulated"] if test.name.startswith(name))
        setting = setting_of(simulation, simulation["groups"], simulation["samples"])
        assert setting.metric == GIVEN["simulated"][metric]
        assert (setting.groups, setting.segments_per_group) == size
        key = (*map(str, size), setting.metric, setting.prediction, setting.truth)
        for name in ("maximum", "percentile_99"):
            assert simulation[name] == float(SIMULATIONS[key][name])
        per_bin = "Bin" in test.name
        assert simulation.get("minimum_per_bin") == (minimum_per_bin(size[1]) if per_bin else None)


def test_published_changes_and_options():
    for name, changes in GIVEN["changes"].items():
        expected = {change: Perturbation(change, *value) for change, value in changes.items()}
        assert read_family(name).changes == expected
    noise = read_family("robustness_background_noise").changes
    snrs = {name: change.options["snr_db"] for name, change in noise.items()}
    assert snrs == GIVEN["background_noise"]
    assert noise["Coughing"].transform == noise["Sneezing"].transform == "sound_event"
    phone = read_family("robustness_low_quality_phone").changes["Low Quality Phone"]
    assert phone.options == {"bit_rate": 7400}
    rooms = read_family("robustness_simulated_recording_condition")
    assert rooms.options["segments"] == 5000
    assert {change.options["role"] for name, change in rooms.changes.items() if "Base" in name} == {"base"}
    assert read_family("robustness_recording_condition").options["pairs"] == 5000
    sex = read_family("fairness_sex")
    assert sex.columns == ("sex",) and sex.options["groups"] == ["female", "male"]


def test_transformations_of_recognition():
    family = read_family("asr_fairness")
    levels = {name: list(sweep.steps) for name, sweep in family.transformations.items()}
    assert levels == GIVEN["levels"]
    assert family.others and not family.label and len(family.all_changes) == 41
    rated = family.options["ratings"]
    assert {name: len(of) for name, of in rated.items()} == {name: len(of) for name, of in levels.items()}
    clear = [value for ratings in rated.values() for value in ratings.values() if value >= 7.2]
    assert len(clear) == 26  # as the paper keeps
    faults = read_family("asr_fault_localisation")
    assert faults.probes == {"sentences": 50} and faults.others
    assert list(faults.transformations["Scale"].steps) == ["0.9", "0.8", "0.7"]
    # The other steps are the very same changes, so both families share their predictions.
    shared = {change.identity for change in faults.stepped} & {change.identity for change in family.stepped}
    assert len(shared) == len(faults.stepped) == 39
    assert faults.options["sample"] == family.options["sample"]


def test_rules_are_strict_and_unrounded():
    passing = {">": [0.5 + 1e-12], "<": [0.5 - 1e-12], "|value| <": [-0.4999]}
    failing = {">": [0.5, np.nan], "<": [0.5, np.nan], "|value| <": [-0.5, 0.5, np.nan]}
    for rule in passing:
        for values, expected in ((passing[rule], True), (failing[rule], False)):
            assert {*passes(rule, np.array(values), 0.5).tolist()} == {expected}
            assert {passes(rule, value, 0.5) for value in values} == {expected}
    with pytest.raises(ValueError, match="unknown rule '=>'"):
        passes("=>", 1, 0)


LEVELS_AND_SHARES = {  # guessing, or the size of a class, depends on how many there are
    *("Precision Per Class", "Recall Per Class", "Unweighted Average Precision", "Unweighted Average Recall"),
    *("Relative Difference Per Class", "Class Proportion Mean Absolute Error"),
    "Class Proportion Shift Difference",
}


@pytest.mark.parametrize("name", resources.names("thresholds", ".yml"))
def test_thresholds_of_four_classes_judge_no_other_number(name):
    two, four, seven = (Task("c", "classification", tuple("abcdefg"[:n])) for n in (2, 4, 7))
    for test in read_family(name).tests.values():
        general = test.thresholds.get("classification")
        level = test.name.startswith(("Relative", "Class Proportion")) or not name.startswith("fairness")
        level = level and test.name in LEVELS_AND_SHARES
        assert (test.classes == 4) == (level and general is not None), test.name
        assert test.threshold_for(four) == general
        for task in (two, seven):
            assert test.threshold_for(task) == (None if test.classes else general)
            assert bool(test.unsuited(task)) == bool(test.classes)
            assert test.fits(task) == ("classification" in test.thresholds)  # null: shown without verdict
        assert test.threshold_for(BUILTIN["emotion"]) == general
        assert test.threshold_for(Task("stress", "regression")) == test.thresholds.get("regression")


def test_other_thresholds_for_a_shipped_family(changed, tmp_path):
    for name in ("fairnes_sex", "../thresholds/fairness_sex"):
        with pytest.raises(InputError, match="no family"):
            read_family(name, tmp_path)
    name = "correctness_regression"
    assert changed(name, "threshold: 0.1", "threshold: 0.2").digest != read_family(name).digest
    further = changed(name, "tests:", "options: {excluded: nobody, average: mean}\ntests:").options
    assert further["excluded"] == "nobody"  # options of other families are theirs
    with pytest.raises(InputError, match=r"line \d+, .*unknown test. Did you mean 'Mean Absolute Error'\?"):
        changed(name, "Mean Absolute Error", "Mean Absolute Eror")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/correctness_regression.ipynb").touch()  # a notebook may compute others
    assert "Mean Absolute Eror" in read_family(name, tmp_path).tests


def test_levels_are_numbers_however_they_are_written(changed):
    """A step of a sweep draws alike for all values, so it is another change than one that does not."""
    alone = Perturbation("Noise", "white_noise", {"snr_db": 7.5})
    noises = [Perturbation("Noise", "white_noise", {"snr_db": decibel}, ("snr_db",)) for decibel in (7.5, 30)]
    assert len({change.identity for change in (alone, *noises)}) == 3
    file = "asr_fairness", "excluded: {Scale: [0.6, 0.5]}"
    transformations = changed(*file, "excluded: {Scale: [0.60, .5], Amplitude: [2]}").transformations
    steps = [transformations["Scale"].step(level) for level in (0.60, 0.5, "0.50", 0.55)]
    assert steps == ["0.6", "0.5", "0.5", None]
    assert transformations["Amplitude"].step("2.0") == "2"
