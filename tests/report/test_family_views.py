"""What pages of families show: groups, changes of the sound, trials, files in time, two models."""

import dataclasses
import gzip
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells, subset

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.groups import GroupCount, compared
from soundcheck.evaluation.measure_sets import TAKEN_FOR
from soundcheck.evaluation.temporal import changes
from soundcheck.metrics.additive import values as values_of
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.temporal import neighbours
from soundcheck.report import comparisons, group_views, label_views, severity_views, style, verification_views
from soundcheck.report.group_views import described, drawn, finding, group_values
from soundcheck.results.contrast import Contrast, contrast_frame
from soundcheck.results.rows import Estimate
from soundcheck.results.table import estimate_frame
from soundcheck.statistics import bootstrap
from soundcheck.statistics.bootstrap import Crossing
from soundcheck.suite.families import Perturbation, PerturbationSeries


@pytest.fixture
def collected_figures(monkeypatch):
    """Collect figures, alt texts and findings in place of displaying them."""
    collected = []
    monkeypatch.setattr(severity_views.page, "show", lambda _, *what: collected.append(what))
    return collected


@pytest.fixture
def displayed(monkeypatch):
    collected = []
    for module in (severity_views, severity_views.page):
        monkeypatch.setattr(module, "display", lambda *parts: collected.extend(map(str, parts)))
    return collected


def marks(figure):
    return [line.get_xdata()[0] for line in figure.axes[0].lines]


def test_quality_before_and_under_each_change_and_shares_of_unchanged_predictions(collected_figures):
    about = ("m", "c", "f", "arousal", "concordance_cc")
    sides = {"before A": 0.75, "A": 0.5, "before B": 0.7, "B": 0.72, "A 20": 0.1}
    rows = [Estimate(*about, condition=name, value=value, low=0.0, high=1.0) for name, value in sides.items()]
    severity_views.quality(SimpleNamespace(estimated=lambda: estimate_frame(rows)))
    rows = pd.DataFrame({"test": ["Percentage Unchanged Predictions A", "Change Ccc A"], "label": ""})
    rows = rows.assign(corpus="c", task="arousal", value=[0.4, 0.1], low=0.1, high=0.6, threshold=0.95)
    rows = rows.assign(passed=False, state="", low_sample=np.nan, high_sample=np.nan)
    severity_views.unchanged(SimpleNamespace(frame=lambda: rows))
    (figure, _, loss), (unchanged, _, below) = collected_figures
    ticks = [segment[0][0] for lines in figure.axes[0].collections for segment in lines.get_segments()]
    assert marks(figure) == [0.5, 0.72] and {0.75, 0.7} <= set(ticks)
    assert loss == "Largest loss: arousal: concordance 0.75 → 0.50 under A"
    assert marks(unchanged) == [0.4] and below == "1 of 1 share below the threshold"


def test_curves_begin_with_the_sound_as_it_is_and_the_largest_rise_comes_first(collected_figures):
    names = ["corpus", "transformation", "level", "rate", "rate_low", "rate_high", "change", "change_low"]
    rows = [("c", "", "", 0.1, 0.05, 0.15, np.nan, np.nan)]
    rows += [("c", "A", level, 0.1 + n / 100, 0.0, 0.2, n / 100, -0.1) for n, level in enumerate("12")]
    rows += [("c", "B", level, 0.2 + n / 10, 0.1, 0.4, 0.1 + n / 10, 0.05) for n, level in enumerate("56")]
    frame = pd.DataFrame(rows, columns=names)
    series = {name: SimpleNamespace(axis=f"{name} in dB") for name in "AB"}
    evaluation = SimpleNamespace(family=SimpleNamespace(transformations=series))
    severity_views.curve_figure(evaluation, frame, "equal error rate")
    ((figure, _, finding),) = collected_figures
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["c, B: B in dB", "c, A: A in dB"]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [0.1, 0.2, 0.3])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["clean", "5", "6"]
    assert finding == "Largest change: equal error rate 0.10 → 0.30 under B 6"
    assert severity_views.worst_settings(frame) == [("B", "6"), ("A", "2")]


def test_groups_and_what_they_lose_and_levels_at_which_a_rate_doubles():
    names = ["corpus", "column", "group", "transformation", "value", "low", "high", "segments", "blocks"]
    losses = {"male": 0.02, HOSTILE: 0.12}
    rows = [("c", "sex", group, name, 0.01, 0.0, 0.2, 30, 9) for name in ("", "A") for group in losses]
    frame = pd.DataFrame(rows, columns=names)
    frame["value"] = frame["group"].map(losses)
    table = severity_views.group_table([frame], "rate", ("segments", "in", "speakers"))
    lines = [line[2:4] for line in cells(table)[1:]]
    assert lines == [[HOSTILE, "12.0 points 0.0 to 20.0"], ["male", "2.0 points 0.0 to 20.0"]]
    row = {"corpus": "c", "transformation": "A", "levels": ("20", "10", "0"), "clean": 0.1, "half": None}
    doubled = row | {"doubled": Crossing(0.5, 0.2, np.inf), "remark": ""}
    never = row | {"doubled": Crossing(np.inf, np.nan, np.nan), "remark": ""}
    html = str(severity_views.level_table([doubled, never], {"A": SimpleNamespace(axis="dB")}, "rate"))
    for part in ("15<", "18 to beyond 0", "not reached up to 0", "no interval: too few speakers"):
        assert part in html


def moved(task="arousal", change="", labels=True):
    values, about = np.linspace(0, 1, 6), {"speaker": list("aabbcc"), "corpus": HOSTILE, "change": change}
    return subset(values if labels else None, values, task, changed=values + 0.01 * np.arange(6), **about)


def test_movements_are_behind_a_line_for_each_change(displayed, tmp_path, blank_figures):
    several = [moved(task, change) for change in ("Babble", "Music") for task in ["arousal", "valence"]]
    severity_views.movements(SimpleNamespace(media=MediaStore(tmp_path)), several)
    assert len(displayed) == 2 and HOSTILE not in "".join(displayed)
    assert "<summary>Babble: 2 figures</summary>" in displayed[0] and displayed[0].count("<figure") == 2
    assert "arousal: Music" in displayed[1] and "valence: Music" in displayed[1]


def test_curves_leave_out_what_has_no_labels_and_are_followed_by_their_numbers(displayed, tmp_path):
    row = {"corpus": "c", "task": "arousal", "value": 0.5, "low": 0.4, "high": np.nan, "reference": 0.1}
    measured = []

    def curve(steps, *about):
        measured.append(about)
        counts = ({"step": step, "segments": len(part), "blocks": 1} for step, part in steps.items())
        return pd.DataFrame(row | each for each in counts)

    evaluation = SimpleNamespace(media=MediaStore(tmp_path), curve=curve, block_names={"c": "speaker"})
    series = PerturbationSeries("Babble", "signal-to-noise ratio", {"0 dB": Perturbation("x", "y", {})})
    steps, without = {"clean": moved(), "0 dB": moved(change="0 dB")}, {"clean": moved(labels=False)}
    swept = [(dataclasses.replace(series, name="Empty"), [without]), (series, [steps, without])]
    severity_views.quality_curves(evaluation, swept)
    assert [about[2:] for about in measured] == [("concordance_cc", "Babble")]
    figure, table = displayed
    assert "No step changes anything" in figure
    assert 'alt="Quality of the predictions from mild to severe: Babble' in figure
    assert "<summary>All steps in numbers</summary>" in table and "6 in 1 speaker<" in table


def test_scores_of_trials_are_packed_and_the_same_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(verification_views, "threshold_in_use", lambda *_: 0.5)
    segments = pd.DataFrame({"enrol": ["a", "b", "c"], "test": ["d", "e", "f"]})
    scores = SimpleNamespace(clean=np.array([0.25, np.nan, 0.75]))
    subset = SimpleNamespace(corpus="<voices>", segments=segments, predictions=scores, truth=None)
    evaluation = SimpleNamespace(family="x", model="y", media=MediaStore(tmp_path))
    html = str(verification_views.score_file(evaluation, subset))
    assert str(verification_views.score_file(evaluation, subset)) == html
    assert "<voices>" not in html and 'download="scores.txt.gz"' in html and "2 scores" in html
    (path,) = tmp_path.iterdir()
    assert re.search(r'href="media/([0-9a-f]{20}\.gz)"', html)[1] == path.name
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines == ["score enrol test decision threshold", "0.25 a d reject 0.5", "0.75 c f accept 0.5"]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["arousal", "emotion"])
def test_files_in_time(tmp_path, task):
    """Two files of five segments, of which the second is predicted worst, and a short one."""
    files = ["a.wav"] * 5 + [HOSTILE * 99] * 5 + ["short.wav"] * 2
    start = np.array([0.0, 3, 6, 9, 12, 0, 3, 6, 9, 20, 0, 3])
    truth = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5])
    predicted = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.4, 0.5, 0.4, np.nan, 0.4, 0.5, 0.5])
    if task == "emotion":
        classes = np.array(BUILTIN["emotion"].classes, dtype=object)
        truth = classes[(3.99 * truth).astype(int)]
        predicted = np.where(np.isnan(predicted), None, classes[2])
    made = subset(truth, predicted, task, file=files, start=start, end=start + 2, duration=2.0)
    pairs = neighbours(*(made.segments[name] for name in ("file", "start", "end")))
    given = [(made, pairs, changes(made, made.truth, made.predictions.clean, pairs))]
    _, line = cells(label_views.files_table([(made, pairs)]))
    assert {task, "2", "10", "1.00", "9.00", "1"} <= set(line)
    directional = {"Mean Directional Error": lambda s, p: changes(s, s.truth, p.clean, pairs).mean_error()}
    always = changes(made, made.truth, np.full(12, made.truth[0]), pairs)  # what a trivial answer scores
    assert f"−{np.mean(always.truth):.3f}" in str(label_views.trivial_table([(made, directional)]))
    label_views.change_figures(SimpleNamespace(media=MediaStore(tmp_path)), given)
    figure = label_views.course_figure(given)
    assert HOSTILE not in str(style.show(MediaStore(tmp_path), figure, "alt"))
    truth, predicted = figure.axes[0].get_lines()
    assert truth.get_xdata().tolist() == [0, 3, 6, 9, 20]
    if task == "arousal":
        assert predicted.get_xdata().tolist() == [0, 3, 6, 20]  # without the missing one


FOUND = Contrast(
    *("old", HOSTILE, "c", "f", "correctness", "t", HOSTILE),
    **{"baseline_value": 0.5, "candidate_value": 0.4, "difference": -0.1, "low": -0.15, "high": -0.05},
    **{"outcome": "worse", "rule": ">", "blocks": 6, "segments": 60, "pairing": "paired"},
    **{"p_value": 0.00412345, "adjusted_p_value": 0.00412345, "certainty": 1.0},
)


def test_two_models_in_an_answer_a_table_and_a_figure():
    frame = contrast_frame([FOUND])
    answer, table = str(comparisons.answer(frame)), str(comparisons.contrast_table(frame))
    assert "is better on 0 and worse on 1 of 1 test." in answer
    assert "−0.150 to −0.050" in table and "<img" not in answer + table and "†" not in table
    assert "p = 0.0041" in " ".join(cells(table)[1])
    assert "p =" not in str(comparisons.contrast_table(frame.assign(p_value=np.nan)))
    fewer = dataclasses.replace(FOUND, test="Errors", rule="<", outcome="better")
    both = contrast_frame([FOUND, fewer]).assign(name=["more is better", "fewer is better"])
    assert [line.get_xdata()[0] for line in comparisons._differences(both).axes[0].lines] == [-0.1, 0.1]


def test_what_was_corrected_and_broken():
    comparison = SimpleNamespace(interval="percentile")
    comparison.resample = bootstrap.resample
    spoken = subset([f"{HOSTILE} on"] * 6, ["on"] * 6, "transcript", changed=[f"{HOSTILE} off"] * 6)
    table, words = str(comparisons.word_impacts(comparison, [spoken])), str(comparisons.words(spoken))
    assert "changed words" in words and "<img" not in words and "0.0\xa0%" in table
    baseline, candidate = ["anger"] * 5 + ["joy"], ["joy"] + ["anger"] * 5
    classes = subset(["anger"] * 6, baseline, "emotion", changed=candidate)
    table = str(comparisons.impacts(comparison, [classes]))
    assert table.count("16.7\xa0%") == 2 and "33.3\xa0%" in table and "neutral" in table
    assert "share no task" in str(comparisons.corrected_and_broken(comparison, [], []))


pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error:posx")

TESTS = {
    **{"word_error_rate": "Word Error Rate Difference", "concordance_cc": "Concordance Correlation Coeff"},
    **{"mean_value": "Mean Value", "recall": "Recall Per Class"},
    "predicted_share": "Relative Difference Per Class",
}
PLACE = {"model": "m", "corpus": "c", "family": "f", "task": "t"}


def estimates(measure, values, **given):
    about = PLACE | {"measure": measure, "segments": 30, "speakers": 6} | given
    return estimate_frame(
        Estimate(**about, part=f"age: {group}", value=value, low=value - 0.1, high=value + 0.1)
        for group, value in values.items()
    )


def rows(measure, evidence, gaps):
    about = PLACE | {"test": TESTS[measure], "against": "others", "others_value": 0.2, "matters": 0.05}
    about |= {"rule": "<", "threshold": 0.05, "ratio": np.nan}
    about |= dict.fromkeys(("label", "state", "state_sample"), "")
    names = ("gap", "value"), ("gap_low", "low"), ("gap_high", "high")
    return pd.DataFrame(
        about
        | {"group": f"age: {group}", "evidence": known}
        | {name: gap + off for off, both in zip((0, -0.1, 0.1), names, strict=True) for name in both}
        for (group, gap), known in zip(gaps.items(), evidence, strict=True)
    )


def figure_of(measure, values, evidence, gaps):
    return drawn(group_values(estimates(measure, values), rows(measure, evidence, gaps)))


THREE = {"young": 0.1, "old": 0.5, "middle": 0.2}, ["clear pass", "clear fail", "open"]


def test_the_worst_group_comes_first_with_its_own_value_reference_and_margin():
    frame = figure_of("word_error_rate", *THREE, {"young": -0.01, "old": 0.3, "middle": 0.02})
    assert frame["name"].tolist() == ["old (30)", "middle (30)", "young (30)"]
    assert [text[0] for text in frame["words"]] == ["✗", "?", "✓"]
    assert set(frame["panel"]) == {"word error rate of t (lower is better)"}
    assert set(frame["reference"]) == {0.2} and set(frame["margin"]) == {0.05}
    worst = "worst old, 50 % (95 % 40 to 60); best young, 10 % (95 % 0 to 20)"
    assert finding(frame) == f"Word error rate of t: {worst}"
    assert "old 50 % (95 % 40 to 60) (✗ worse, beyond the margin)" in described(frame)
    frame = figure_of("concordance_cc", *THREE, {"young": -0.01, "old": 0.3, "middle": 0.02})
    assert frame["group"].iloc[0] == "young" and frame["words"].iloc[-1] == "✗ better, beyond the margin"
    assert finding(frame).startswith("Concordance of t: worst young, 0.10 (95 % 0 to 0.20); best")
    frame = figure_of("word_error_rate", dict.fromkeys("ab", 0.0), ["clear pass"] * 2, {"a": 0.0, "b": 0.0})
    assert finding(frame) == "Word error rate of t: 0 % for all groups"
    # Of two groups one is tested, and the other is its reference; one that is too small is never the best.
    values, gaps = {"young": 0.1, "old": 0.5}, {"young": -0.4, "old": 0.4}
    frame = figure_of("word_error_rate", values | {"few": 0.0}, ["clear fail"] * 2, gaps)
    assert frame["words"].tolist() == ["✗ worse, beyond the margin", "the reference", "– not compared"]
    assert frame["reference"].tolist()[:2] == [0.2, 0.1] and "best young" in finding(frame)


@pytest.fixture
def devices(rng):
    """Two groups of emotions; half of <b> is taken for neutral, one segment has no prediction."""
    truth = rng.choice(["anger", "joy"], 80).astype(object)
    predicted = truth.copy()
    predicted[:20], predicted[79] = "neutral", None
    task = Task("emotion", "classification", ("anger", "joy", "neutral"))
    return subset(truth, predicted, task, device=np.repeat(["<b>", "room"], 40), blocks=np.arange(80) % 8)


def test_what_segments_are_taken_for_is_counted_by_hand(devices):
    (measure,) = TAKEN_FOR.values()
    statistic = measure(devices, devices.predictions)
    for group, shares in {"<b>": [0, 0, 0.5], "room": [0, 0, 0]}.items():
        assert values_of(restrict(statistic, devices.mask("device", group))).tolist() == shares


def test_groups_that_are_worse_have_their_error_profile(devices, tmp_path):
    about = {"corpus": "c", "task": "emotion", "group": "device: <b>", "gap": -0.5, "matters": 0.1}
    frame = pd.DataFrame([about | {"gap_low": -0.6, "gap_high": -0.4}])

    def estimated(subset, measures, parts):
        place = PLACE | {"task": "emotion", "measure": "taken_for", "segments": 40}
        return estimate_frame(
            Estimate(**place, label=name, part=part, value=value, low=0.0, high=0.7)
            for part, shares in zip(parts, ([0, 0, 0.5], [0, 0, 0]), strict=True)
            for name, value in zip(subset.task.classes, shares, strict=True)
        )

    media = MediaStore(tmp_path / "media", "media/")
    evaluation = SimpleNamespace(frame=lambda: frame, estimates=estimated, media=media)
    both = [compared(devices, "device", [GroupCount("<b>", 40), GroupCount("room", 40)])]
    sentence = "wrongly taken for neutral: device: &lt;b&gt; 50 % (95 % 0 to 70); device: room 0 %"
    assert sentence in str(group_views.error_profile(evaluation, both))
    frame["gap_high"] = 1.0  # nobody is significantly worse
    assert str(group_views.error_profile(evaluation, both)) == ""


def test_sizes_say_why_groups_are_not_compared_and_labels_are_shares(devices):
    counts = [GroupCount("<b>", 40, 2), GroupCount("room", 40, 1, "1 speaker, 2 needed")]
    counts.append(GroupCount("", 3, lacks="no value"))
    table = str(group_views.sizes([compared(devices, "device", counts)]))
    assert "&lt;b&gt;" in table and "1 speaker, 2" in table and "(none)" in table and "2.00" not in table
    assert "no group to compare" in str(group_views.sizes([compared(devices, "device", [])]))
    both = [compared(devices, "device", [GroupCount("<b>", 40), GroupCount("room", 40)])]
    shares = cells(group_views.label_shares(both))
    assert f"{100 * np.mean(devices.truth[:40] == 'anger'):.1f}" in " ".join(map(" ".join, shares))
