"""Options of threshold files that name settings, or that would be misread in silence."""

import pytest

from soundcheck.common import resources
from soundcheck.common.errors import InputError
from soundcheck.suite.thresholds import read_family

SHIPPED = (resources.root() / "thresholds" / "asr_fairness.yml").read_text(encoding="utf-8")
EXCLUDED = "excluded: {Scale: [0.6, 0.5]}"
ALL = (
    "excluded: {Amplitude: [2.0, 0.5, 0.4, 0.3, 0.2, 0.1], Clipping: [0.05, 0.04, 0.03, 0.02, 0.01], "
    "Drop: [5, 10, 15, 20, 25], Frame: [10, 20, 30, 40, 50], High pass: [500, 600, 700, 800, 900], "
    "Low pass: [500, 600, 700, 800, 900], Noise: [10, 8, 6, 4, 2], Scale: [0.9, 0.8, 0.7, 0.6, 0.5]}"
)


def own(folder, old, new):
    assert old in SHIPPED
    (folder / "thresholds").mkdir(exist_ok=True)
    (folder / "thresholds" / "asr_fairness.yml").write_text(SHIPPED.replace(old, new, 1), encoding="utf-8")
    return read_family("asr_fairness", folder)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            EXCLUDED,
            "excluded: {Scal: [0.6]}",
            r"options.excluded.Scal: unknown transformation 'Scal'. Did you mean 'Scale'\?",
        ),
        (
            EXCLUDED,
            "excluded: {Scale: [0.6, 0.55]}",
            r"options.excluded.Scale item 2: Scale has no level '0.55'. Its levels: 0.9, 0.8, 0.7, 0.6, 0.5",
        ),
        (EXCLUDED, "excluded: {Scale: 0.6}", r"excluded.Scale: this is not a list of levels. Write \[0.9\]"),
        (
            EXCLUDED,
            "excluded: [Scale]",
            r"options.excluded: this names no settings. Write {Scale: \[0.6, 0.5\]}",
        ),
        (EXCLUDED, ALL, r"options.excluded: no setting is left. Leave out fewer levels"),
        (
            "{10: 7.22,",
            "{11: 7.22,",
            r"options.ratings.Noise.'?11'?: Noise has no level '11'. Its levels: 10, 8",
        ),
        (
            "average: micro",
            "average: mean",
            r"options.average: 'mean' is not known here.*Allowed: micro, macro",
        ),
        (
            "destroyed: null",
            "destroyed: 85",
            r"options.destroyed: '85' is out of range. Give a number from 0 to 1",
        ),
        ("destroyed: null", "destroyed: no", r"options: 'no' may be a number, a truth value or a text"),
        ("{accent: american, sex: male}", "american", r"options.base_groups: 'american' is not a mapping"),
        ("tau: 0.1 ", "tau: 10% ", r"options: '10%' may be a number, a truth value or a text"),
        ("[0.01, 0.05, 0.1, 0.15]", "[0.01, high]", r"options.taus item 2: 'high' is not a number"),
        ("minimum_segments: 50", "minimum_segments: 0", r"options.minimum_segments: '0' is out of range"),
        ("taus: [0.01, 0.05, 0.1, 0.15]", "taus: []", r"options.taus: these are not different numbers"),
        ("[0.01, 0.05, 0.1, 0.15]", "[0.1, 0.10]", r"options.taus: these are not different numbers"),
        ("sweep_segments: null", "sweep_segments: 0", r"options.sweep_segments: '0' is out of range"),
        (
            "sweep_segments: null",
            "sweep_segments: many",
            r"options.sweep_segments: 'many' is not a whole number",
        ),
        ("sweep_segments: null", "sweep_segment: 80", r"options.sweep_segment: unknown option. Did you mean"),
        ("average: micro", "averages: macro", r"options.averages: unknown option. Did you mean 'average'\?"),
    ],
)
def test_refused(tmp_path, old, new, words):
    with pytest.raises(InputError, match=rf"(?s)^thresholds/asr_fairness.yml line \d+, .*{words}"):
        own(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "by: Noise",
            "by: Noise\n  averge: macro",
            r"options.averge: unknown option. Did you mean 'average'\?",
        ),
        ("average: micro", "average: mean", r"options.average: 'mean' is not known here"),
        ("by: Noise", "by: Noise\n  excluded: {Scale: [0.6]}", r"Scale has no level '0.6'"),
        ("by: Noise", "by: Noise\n  destroyed: 0.85", r"options.destroyed: unknown option"),
        (
            "  Noise 2 dB:",
            "  Noise 4 dB: {transform: white_noise, snr_db: 4}\n  Noise 2 dB:",
            r"changes: sentences around words are heard as they are and under one change",
        ),
    ],
)
def test_options_of_fault_localisation_are_checked(tmp_path, old, new, words):
    text = (resources.root() / "thresholds" / "asr_fault_localisation.yml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / "thresholds").mkdir()
    file = tmp_path / "thresholds" / "asr_fault_localisation.yml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_family("asr_fault_localisation", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "    regression: 0.1 ",
            "    regresion: 0.1 ",
            r"options.matters.regresion: unknown key. Did you mean 'regression'",
        ),
        ("    embedding: 0.05 ", "    embedding: 0 ", r"options.matters.embedding: '?0'? .*"),
        ("columns: [duration]", "columns: duration", r"options.columns: .duration. is not a list"),
        ("heard: 2", "heard: some", r"options.heard: 'some' is not a whole number"),
    ],
)
def test_options_of_the_search_for_groups_are_checked(tmp_path, old, new, words):
    text = (resources.root() / "thresholds" / "fairness_worst_groups.yml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / "thresholds").mkdir()
    (tmp_path / "thresholds" / "fairness_worst_groups.yml").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=rf"(?s){words}"):
        read_family("fairness_worst_groups", tmp_path)


def test_levels_are_numbers_however_they_are_written(tmp_path):
    family = own(tmp_path, EXCLUDED, "excluded: {Scale: [0.60, .5], Amplitude: [2]}")
    assert [family.transformations["Scale"].step(level) for level in (0.60, 0.5, "0.50")] == [
        "0.6",
        "0.5",
        "0.5",
    ]
    assert family.transformations["Amplitude"].step("2.0") == "2"
    assert family.transformations["Scale"].step(0.55) is None
    assert own(tmp_path, EXCLUDED, "excluded: null").options["excluded"] is None


def test_options_of_other_families_are_theirs(tmp_path):
    text = (resources.root() / "thresholds" / "correctness_regression.yml").read_text(encoding="utf-8")
    (tmp_path / "thresholds").mkdir()
    file = tmp_path / "thresholds" / "correctness_regression.yml"
    file.write_text(text + "\noptions: {excluded: nobody, average: mean}\n", encoding="utf-8")
    assert read_family("correctness_regression", tmp_path).options["excluded"] == "nobody"


@pytest.mark.parametrize(
    ("family", "old", "new", "words"),
    [
        (
            "sex",
            "bin_minimum: {count: 67, segments: 1000}",
            "bin_minimum_share: 0.07",
            "bin_minimum: the key is missing",
        ),
        ("pitch", "bin_minimum: {count: 67, segments: 1000}", "bin_minimum: null", "bin_minimum: "),
        ("accent", "minimum_segments: 60", "minimum: 60", "minimum_segments: the key is missing"),
        (
            "accent",
            "minimum_segments: 60",
            "minimum_segments: sixty",
            "minimum_segments: 'sixty' is not a whole number",
        ),
        ("language", "samples: 2000 #", "samples: 0 #", "samples: '0' is out of range"),
        ("groups", "minimum_speakers: 5", "people: 5", "minimum_speakers: the key is missing"),
        (
            "groups",
            "minimum_trials: 50",
            "minimum_trials: few",
            "minimum_trials: 'few' is not a whole number",
        ),
        ("linguistic_sentiment", "languages: [de, en", "tongues: [de, en", "languages: the key is missing"),
    ],
)
def test_options_that_fairness_needs(tmp_path, family, old, new, words):
    text = (resources.root() / "thresholds" / f"fairness_{family}.yml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "thresholds").mkdir()
    (tmp_path / "thresholds" / f"fairness_{family}.yml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=rf"(?s)thresholds/fairness_{family}.yml.*{words}") as caught:
        read_family(f"fairness_{family}", tmp_path)
    assert len(caught.value.problems) == 1
