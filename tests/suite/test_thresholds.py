"""Threshold files say what they mean, and the shipped ones hold the published values."""

import csv
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from soundcheck.common import resources
from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.metrics.differential import read_omega
from soundcheck.statistics.rules import passes
from soundcheck.statistics.simulation import minimum_per_bin, setting_of
from soundcheck.suite.families import Perturbation, TestDefinition
from soundcheck.suite.thresholds import read_family

# What 1000 random models scored; checked in test_simulation.py, draw by draw.
PUBLISHED = Path(__file__).parents[1]
SIMULATIONS = {
    (row["groups"], row["samples"], row["metric"], row["prediction"], row["truth"]): row
    for row in csv.DictReader((PUBLISHED / "published_simulations.csv").read_text().splitlines())
}
# As published with the tests; of bins the fewest segments and the size of the groups that they are for.
with open(PUBLISHED / "published_thresholds.csv", newline="") as file:
    ROWS = list(csv.DictReader(file))
FAMILIES = sorted({row["family"] for row in ROWS})
RULE_NAMES = {">": ">", "<": "<", "abs<": "|value| <"}

GOOD = """\
family: mine
category: fairness
title: Mine
tasks: [regression]
tests:
  Mean Value:
    rule: "|value| <"
    range: [-1, 1]
    thresholds: {arousal: 0.03, regression: 0.1}
    source: words
"""


def own(tmp_path, text, name="mine"):
    (tmp_path / "thresholds").mkdir(exist_ok=True)
    (tmp_path / "thresholds" / f"{name}.yml").write_text(text)
    return read_family(name, tmp_path)


EMOTION_TASKS = ("arousal", "dominance", "valence", "emotion")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join((row["family"], row["test"], row["group"])))
def test_published_thresholds(row):
    test = read_family(row["family"]).tests[row["test"]]
    for name in EMOTION_TASKS:
        task = BUILTIN[name]
        assert test.threshold_for(task) == (float(row[name]) if row[name] else None)
    assert test.rule == RULE_NAMES[row["compare"]]
    assert test.decimals == int(row["round"])
    assert test.source == "method-tests"
    assert test.note
    if row["fewest"]:
        found = read_family(row["family"]).options["bin_minimum"]
        assert found == {"count": int(row["fewest"]), "segments": int(row["segments"])}


@pytest.mark.parametrize("name", FAMILIES)
def test_shipped_families_are_complete(name):
    family = read_family(name)
    assert set(family.tests) == {row["test"] for row in ROWS if row["family"] == name}
    assert family.name == name and name.startswith(family.category)
    assert family.question.endswith("?")
    further = {
        "regression": Task("stress", "regression"),
        "classification": Task("c", "classification", ("a", "b")),
    }
    for kind, task in further.items():
        # Only three dimensions are expected to go with an emotion.
        general = name != "correctness_consistency"
        assert family.applies_to(task) == (kind in family.kinds and general)
    assert pickle.loads(pickle.dumps(family)) == family
    json.dumps(family.options)


SIMULATED_NAMES = {  # of a test without its group
    "Mean Value": "mean",
    "Relative Difference Per Bin": "relative_difference_per_bin",
    "Relative Difference Per Class": "relative_difference_per_class",
    "Mean Shift Difference": "mean_shift_diff",
    "Bin Proportion Shift Difference": "bin_shift_diff",
    "Class Proportion Shift Difference": "class_shift_diff",
    "Concordance Correlation Coeff": "ccc",
    "Precision Per Bin": "precision_per_bin",
    "Recall Per Bin": "recall_per_bin",
    "Precision Per Class": "precision_per_class",
    "Recall Per Class": "recall_per_class",
    "Unweighted Average Recall": "recall",
}


@pytest.mark.parametrize("family", [name for name in FAMILIES if name.startswith("fairness")])
def test_fairness_thresholds_say_what_was_simulated(family):
    """Maximum, percentile, groups and segments are those of the published simulation of that metric."""
    sizes = {"accent": (30, 60), "language": (6, 1000), "linguistic_sentiment": (8, 1000), "pitch": (3, 1000)}
    size = sizes.get(family.removeprefix("fairness_"), (2, 1000))
    for test in read_family(family).tests.values():
        found = test.simulation
        (metric,) = (name for name in SIMULATED_NAMES if test.name.startswith(name))
        setting = setting_of(found, found["groups"], found["samples"])
        assert setting.metric == SIMULATED_NAMES[metric]
        assert (setting.groups, setting.segments_per_group) == size
        key = (*map(str, size), setting.metric, setting.prediction, setting.truth)
        for name in ("maximum", "percentile_99"):
            assert found[name] == float(SIMULATIONS[key][name])
        per_bin = "Bin" in test.name
        assert found.get("minimum_per_bin") == (minimum_per_bin(size[1]) if per_bin else None)


def test_needs_of_fairness_sex():
    family = read_family("fairness_sex")
    assert family.columns == ("sex",)
    assert family.options["groups"] == ["female", "male"]


def test_small_changes():
    changes = read_family("robustness_small_changes").changes
    expected = {
        "Additive Tone": ("additive_tone", {"frequency": {"from": 5000, "to": 7000}, "snr_db": [40, 45, 50]}),
        "Append Zeros": ("append_zeros", {"samples": [100, 500, 1000]}),
        "Clip": ("clip", {"ratio": [0.001, 0.002, 0.003]}),
        "Crop Beginning": ("crop_beginning", {"samples": [100, 500, 1000]}),
        "Crop End": ("crop_end", {"samples": [100, 500, 1000]}),
        "Gain": ("gain", {"gain_db": [-2, -1, 1, 2]}),
        "Highpass Filter": ("highpass_filter", {"cutoff": [50, 100, 150], "order": 1}),
        "Lowpass Filter": ("lowpass_filter", {"cutoff": [7500, 7000, 6500], "order": 1}),
        "Prepend Zeros": ("prepend_zeros", {"samples": [100, 500, 1000]}),
        "White Noise": ("white_noise", {"snr_db": [35, 40, 45]}),
    }
    assert changes == {name: Perturbation(name, *value) for name, value in expected.items()}


def test_spectral_tilt():
    changes = read_family("robustness_spectral_tilt").changes
    assert changes == {
        "Downward Tilt": Perturbation("Downward Tilt", "spectral_tilt", {"direction": "downward"}),
        "Upward Tilt": Perturbation("Upward Tilt", "spectral_tilt", {"direction": "upward"}),
    }


@pytest.mark.parametrize("name", ["robustness_small_changes", "robustness_spectral_tilt"])
def test_every_changed_test_has_its_change(name):
    family = read_family(name)
    assert all(any(test.endswith(f" {change}") for change in family.changes) for test in family.tests)


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (">", 0.5, False),
        (">", 0.5 + 1e-12, True),
        ("<", 0.5, False),
        ("<", 0.5 - 1e-12, True),
        ("|value| <", -0.5, False),
        ("|value| <", -0.4999, True),
        ("|value| <", 0.5, False),
        (">", np.nan, False),
        ("<", np.nan, False),
        ("|value| <", np.nan, False),
    ],
)
def test_rules_are_strict_and_unrounded(rule, value, expected):
    assert passes(rule, value, 0.5) is expected


def test_rules_take_arrays():
    values = np.array([-0.6, 0.2, np.nan])
    values.setflags(write=False)
    np.testing.assert_array_equal(passes("|value| <", values, 0.5), [False, True, False])


def test_unknown_rule():
    with pytest.raises(ValueError, match="unknown rule '=>'"):
        passes("=>", 1, 0)


def test_threshold_of_a_task_or_its_kind():
    test = TestDefinition("t", ">", {"arousal": 0.2, "regression": 0.4})
    assert test.threshold_for(BUILTIN["arousal"]) == 0.2
    assert test.threshold_for(BUILTIN["valence"]) == 0.4
    assert test.threshold_for(BUILTIN["emotion"]) is None
    assert test.passes(0.3, BUILTIN["arousal"]) is True
    assert test.passes(0.3, BUILTIN["valence"]) is False
    with pytest.raises(ValueError, match="no threshold for 'emotion'"):
        test.passes(0.3, BUILTIN["emotion"])


def test_a_family_of_ones_own(tmp_path):
    family = own(tmp_path, GOOD)
    assert family.tests["Mean Value"].thresholds == {"arousal": 0.03, "regression": 0.1}
    assert own(tmp_path, GOOD.replace("0.03", "3e-2")).tests == family.tests
    assert family.applies_to(BUILTIN["valence"]) and not family.applies_to(BUILTIN["emotion"])
    assert family.digest == own(tmp_path, GOOD + "# only a comment\n").digest
    assert family.digest != own(tmp_path, GOOD.replace("0.03", "0.04")).digest


def test_unknown_family_names_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"no family 'fairnes_sex'. Did you mean 'fairness_sex'\?"):
        read_family("fairnes_sex", tmp_path)
    with pytest.raises(InputError, match="no family"):
        read_family("../thresholds/fairness_sex")


def test_other_thresholds_for_a_shipped_family(tmp_path):
    shipped = (resources.root() / "thresholds/correctness_regression.yml").read_text()
    family = own(tmp_path, shipped.replace("threshold: 0.1", "threshold: 0.2"), "correctness_regression")
    assert family.tests["Mean Absolute Error"].thresholds["regression"] == 0.2
    assert family.digest != read_family("correctness_regression").digest
    typo = shipped.replace("Mean Absolute Error", "Mean Absolute Eror")
    with pytest.raises(InputError, match=r"line \d+, .*unknown test. Did you mean 'Mean Absolute Error'\?"):
        own(tmp_path, typo, "correctness_regression")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/correctness_regression.ipynb").touch()
    assert "Mean Absolute Eror" in own(tmp_path, typo, "correctness_regression").tests


def with_sweeps(text):
    return GOOD.replace("tests:\n", f"{text}tests:\n")


def test_sweeps_have_a_change_a_step(tmp_path):
    text = """sweeps:
  Noise: {transform: white_noise, axis: SNR in dB, option: snr_db, values: [30, 7.5]}
  Codecs:
    transform: codec
    axis: codec
    steps: {law: {name: g711-a}, few bits: {name: amr-nb, bit_rate: 4750}}
"""
    family = own(tmp_path, with_sweeps(text))
    noise, codecs = family.sweeps["Noise"], family.sweeps["Codecs"]
    assert list(noise.steps) == ["30", "7.5"] and noise.axis == "SNR in dB"
    assert noise.steps["7.5"] == Perturbation("Noise, 7.5", "white_noise", {"snr_db": 7.5}, ("snr_db",))
    assert codecs.steps["few bits"] == Perturbation(
        "Codecs, few bits", "codec", {"name": "amr-nb", "bit_rate": 4750}
    )
    assert len(family.all_changes) == 4 and not family.changes
    # A step draws alike for all values, so it is another change than one that draws by its value.
    alone = Perturbation("Noise", "white_noise", {"snr_db": 7.5})
    assert alone.identity != noise.steps["7.5"].identity != noise.steps["30"].identity


def test_background_noise_and_the_others():
    noise = read_family("robustness_background_noise").changes
    assert {name: change.options["snr_db"] for name, change in noise.items()} == {
        "Babble Noise": 20,
        "Coughing": 10,
        "Environmental Noise": 20,
        "Music": 20,
        "Sneezing": 10,
        "White Noise": 20,
    }
    assert noise["Coughing"].transform == noise["Sneezing"].transform == "sound_event"
    phone = read_family("robustness_low_quality_phone")
    assert phone.changes["Low Quality Phone"].options == {"bit_rate": 7400}
    rooms = read_family("robustness_simulated_recording_condition")
    assert rooms.options["segments"] == 5000
    assert {change.options["role"] for name, change in rooms.changes.items() if "Base" in name} == {"base"}
    assert read_family("robustness_recording_condition").options["pairs"] == 5000


def test_transformations_of_recognition():
    family = read_family("asr_fairness")
    levels = {name: list(series.steps) for name, series in family.transformations.items()}
    assert levels == {
        "Amplitude": ["2", "0.5", "0.4", "0.3", "0.2", "0.1"],
        "Clipping": ["0.05", "0.04", "0.03", "0.02", "0.01"],
        "Drop": ["5", "10", "15", "20", "25"],
        "Frame": ["10", "20", "30", "40", "50"],
        "High pass": ["500", "600", "700", "800", "900"],
        "Low pass": ["900", "800", "700", "600", "500"],
        "Noise": ["10", "8", "6", "4", "2"],
        "Scale": ["0.9", "0.8", "0.7", "0.6", "0.5"],
    }
    assert family.others and not family.label and len(family.all_changes) == 41
    rated = family.options["ratings"]
    assert {name: len(own) for name, own in rated.items()} == {name: len(own) for name, own in levels.items()}
    clear = [value for own in rated.values() for value in own.values() if value >= 7.2]
    assert len(clear) == 26  # as the paper keeps
    faults = read_family("asr_fault_localisation")
    assert faults.probes == {"sentences": 50} and faults.others
    assert list(faults.transformations["Scale"].steps) == ["0.9", "0.8", "0.7"]
    # The other steps are the very same changes, so both families share their predictions.
    shared = {change.identity for change in faults.stepped} & {change.identity for change in family.stepped}
    assert len(shared) == len(faults.stepped) == 39
    assert faults.options["sample"] == family.options["sample"]


@pytest.mark.parametrize("omega", ["3", "0.25", "{count: 3}", "{default: {share: 0.5}, mine: 2}"])
def test_omega_may_be_a_count_or_a_share(tmp_path, omega):
    name = "asr_fault_localisation"
    text = (resources.root() / "thresholds" / f"{name}.yml").read_text(encoding="utf-8")
    (tmp_path / "thresholds").mkdir()
    changed = text.replace("{share: 0.5}\n", f"{omega}\n")
    (tmp_path / "thresholds" / f"{name}.yml").write_text(changed, encoding="utf-8")
    assert read_omega(read_family(name, tmp_path).options["omega"], "mine").value in (3, 0.25, 2)


LEVELS_AND_SHARES = {  # guessing, or the size of a class, depends on how many there are
    *("Precision Per Class", "Recall Per Class", "Unweighted Average Precision", "Unweighted Average Recall"),
    *("Relative Difference Per Class", "Class Proportion Mean Absolute Error"),
    "Class Proportion Shift Difference",
}


@pytest.mark.parametrize("name", resources.names("thresholds", ".yml"))
def test_thresholds_of_four_classes_judge_no_other_number(name):
    family = read_family(name)
    two, four, seven = (Task("c", "classification", tuple("abcdefg"[:n])) for n in (2, 4, 7))
    for test in family.tests.values():
        general = test.thresholds.get("classification")
        difference = name.startswith("fairness") and not test.name.startswith(
            ("Relative", "Class Proportion")
        )
        level = test.name in LEVELS_AND_SHARES and not difference
        assert (test.classes == 4) == (level and general is not None), test.name
        assert test.threshold_for(four) == general
        for task in (two, seven):
            assert test.threshold_for(task) == (None if test.classes else general)
            assert bool(test.unsuited(task)) == bool(test.classes)
            assert test.fits(task) == ("classification" in test.thresholds)  # null: shown without verdict
        assert test.threshold_for(BUILTIN["emotion"]) == general
        assert test.threshold_for(Task("stress", "regression")) == test.thresholds.get("regression")


CHANGED = """\
family: mine
category: robustness
title: Mine
tasks: [regression, classification]
changes:
  Soft: {transform: gain, gain_db: -2}
  Loud: {transform: gain, gain_db: 2}
defaults: {rule: "<", source: words, decimals: 2}
tests:
  Change {change}: {threshold: 0.1, note: {Soft: quieter, Loud: louder}}
  Last: {rule: ">", thresholds: {regression: 0.2}}
"""


def test_a_test_may_stand_for_all_changes_and_take_what_the_file_says_of_all(tmp_path):
    family = own(tmp_path, CHANGED)
    soft, loud, last = family.tests.values()
    assert (soft.name, soft.note, loud.name, loud.note) == ("Change Soft", "quieter", "Change Loud", "louder")
    assert soft.thresholds == loud.thresholds == {"regression": 0.1, "classification": 0.1}
    assert (soft.rule, soft.source, soft.decimals, last.rule, last.source) == ("<", "words", 2, ">", "words")
    written = CHANGED.replace(
        "  Change {change}: {threshold: 0.1, note: {Soft: quieter, Loud: louder}}\n", ""
    )
    of_both = "{regression: 0.1, classification: 0.1}"
    each = f"{{rule: '<', source: words, decimals: 2, thresholds: {of_both}, note: %s}}"
    lines = [f"  Change {name}: {each % note}\n" for name, note in (("Soft", "quieter"), ("Loud", "louder"))]
    assert own(tmp_path, written.replace("tests:\n", "tests:\n" + "".join(lines))).digest == family.digest


def test_levels_are_numbers_however_they_are_written(tmp_path):
    def ratings(excluded):
        text = (resources.root() / "thresholds/asr_fairness.yml").read_text()
        return own(tmp_path, text.replace("excluded: {Scale: [0.6, 0.5]}", excluded), "asr_fairness")

    family = ratings("excluded: {Scale: [0.60, .5], Amplitude: [2]}")
    assert [family.transformations["Scale"].step(level) for level in (0.60, 0.5, "0.50")] == [
        "0.6",
        "0.5",
        "0.5",
    ]
    assert family.transformations["Amplitude"].step("2.0") == "2"
    assert family.transformations["Scale"].step(0.55) is None
    assert ratings("excluded: null").options["excluded"] is None


def test_options_of_other_families_are_theirs(tmp_path):
    text = (resources.root() / "thresholds/correctness_regression.yml").read_text()
    text += "\noptions: {excluded: nobody, average: mean}\n"
    assert own(tmp_path, text, "correctness_regression").options["excluded"] == "nobody"
