"""Tasks of a suite's own, seven emotions and scales from 1 to 7, through the command, against formulas."""

import csv
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
import soundfile
from scipy.spatial import distance
from sklearn import metrics

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.results import states
from soundcheck.results.table import read_results
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

CLASSES = ("anger", "boredom", "disgust", "fear", "happiness", "neutral", "sadness")
FEELING = Task("feeling", "classification", CLASSES)
INTENSITY = Task("intensity", "regression", low=1, high=7)
AROUSAL = BUILTIN["arousal"]
RATE, SECONDS, EACH = 16000, 0.25, 60
LABELLED = (
    *("correctness_classification", "correctness_consistency", "correctness_distribution"),
    *("correctness_regression", "correctness_speaker_average", "correctness_speaker_ranking"),
    *("fairness_accent", "fairness_language", "fairness_linguistic_sentiment"),
    *("fairness_pitch", "fairness_sex", "fairness_groups", "fairness_worst_groups"),
)
CHANGED = (
    *("robustness_background_noise", "robustness_low_quality_phone", "robustness_recording_condition"),
    *("robustness_simulated_recording_condition", "robustness_small_changes", "robustness_spectral_tilt"),
)
MODEL = f"""
import numpy as np

CLASSES = {CLASSES!r}

def predict(signal, sampling_rate):
    crossings = float(np.mean(np.diff(np.sign(signal)) != 0)) if len(signal) > 1 else 0.0
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    value = float(np.clip(4 + 8 * (crossings - 0.2) + level / 20, 1, 7))
    return {{"feeling": CLASSES[int(40 * crossings) % 7], "intensity": value, "arousal": value}}
"""
TASKS = f"""
tasks:
  feeling: {{type: classification, classes: [{", ".join(CLASSES)}]}}
  intensity: {{type: regression, range: [1, 7]}}
"""
SUITE = f"""
title: Seven emotions
replicates: 200
sweeps: false
studies: false
interval: t
groups: [accent, sex × language]
{TASKS}
corpora:
  bare: {{format: csv, path: bare.csv, families: [fairness_groups]}}
  calls:
    format: csv
    path: calls.csv
    columns: {{feeling: emotion}}
    range: {{arousal: [1, 7]}}
    families: [{", ".join(LABELLED)}]
  heard:
    format: csv
    path: heard.csv
    columns: {{feeling: emotion}}
    range: {{arousal: [1, 7]}}
    families: [{", ".join(CHANGED)}]
models:
  table:
    predictions: table.csv
    tasks: [feeling, intensity, arousal]
    corpora: [calls, bare]
    range: [1, 7]
  other:
    {{predictions: other.csv, tasks: [feeling], corpora: [calls], families: [correctness_classification]}}
  mine: {{python: "my_model:predict", tasks: [feeling, intensity, arousal], corpora: [heard], range: [1, 7]}}
  guess: {{random: gaussian, corpora: [calls], families: [correctness_regression]}}
comparisons:
  new: {{baseline: other, candidate: table}}
families: [{", ".join((*LABELLED, *CHANGED))}]
tests:
  correctness_classification:
    Recall Per Class: {{threshold: {{feeling: 0.4}}, why: agreed}}
  fairness_accent:
    Relative Difference Per Class: {{matters: 0.1, why: what users notice}}
"""


def segments() -> pd.DataFrame:
    """Twenty speakers with eight or more segments of each class, labels from 1 to 7, and predictions."""
    rng = np.random.default_rng(5)
    rows = []
    for s in range(20):
        some = [*np.repeat(CLASSES, 8), *rng.choice(CLASSES, EACH - 56)]
        for n, emotion in enumerate(rng.permutation(some)):
            rows.append(
                {
                    **{"file": f"s{s:02d}.wav", "start": SECONDS * n, "end": SECONDS * (n + 1)},
                    **{"speaker": f"s{s:02d}", "sex": ("female", "male")[s % 2]},
                    **{"accent": ("indian", "irish")[s // 10], "language": ("en", "de")[s // 2 % 2]},
                    "sentiment": ("negative", "neutral", "positive")[n % 3],
                    "emotion": str(emotion),
                }
            )
    table = pd.DataFrame(rows)
    habit = rng.normal(0, 0.5, 20)[table["speaker"].str[1:].astype(int)]
    for name in ("intensity", "arousal"):
        table[name] = np.clip(1 + 6 * rng.beta(2, 2, len(table)) + habit, 1, 7).round(2)
        table[f"predicted {name}"] = np.clip(table[name] + rng.normal(0, 0.8, len(table)), 1, 7).round(2)
    guess = np.array(CLASSES, dtype=object)[rng.integers(7, size=len(table))]
    table["predicted feeling"] = np.where(rng.random(len(table)) < 0.5, table["emotion"], guess)
    table.loc[[3, 70, 500], "emotion"] = ""  # no label
    table.loc[[10, 900], "predicted feeling"] = "calm"  # no class of the task
    return table


def write(folder, table: pd.DataFrame) -> None:
    time = np.arange(round(EACH * SECONDS * RATE)) / RATE
    for s, file in enumerate(sorted(set(table["file"]))):
        tone = sum(np.sin(2 * np.pi * (110.0, 165.0, 230.0)[s % 3] * k * time) / k for k in range(1, 6))
        soundfile.write(folder / file, 0.1 * tone, RATE)
    shown = [name for name in table if not name.startswith("predicted")]
    table[shown].to_csv(folder / "calls.csv", index=False)
    unlabelled = ["emotion", "intensity", "arousal"]
    table[shown].drop(columns=unlabelled).to_csv(folder / "bare.csv", index=False)
    where = table[["file", "start", "end"]]
    names = ("feeling", "intensity", "arousal")
    where.assign(**{n: table[f"predicted {n}"] for n in names}).to_csv(folder / "table.csv", index=False)
    worse = table["predicted feeling"].where(np.arange(len(table)) % 3 > 0, "neutral")
    where.assign(feeling=worse).to_csv(folder / "other.csv", index=False)
    rng = np.random.default_rng(6)
    rows = []
    for speaker in range(6):
        for item, emotion in enumerate(CLASSES):
            near = 0.1 * rng.standard_normal(4000)
            near = np.convolve(near, np.ones(2 + (speaker + item) % 5) / 2, "same").astype(np.float32)
            for condition, signal in (("near", near), ("far", 0.7 * near + 0.3 * np.roll(near, 40))):
                name = f"h{speaker}_{item}_{condition}.wav"
                soundfile.write(folder / name, signal, RATE, subtype="PCM_16")
                value = round(rng.uniform(1, 7), 2)
                rows.append((name, f"h{speaker}", item, condition, emotion, value, value))
    columns = ["file", "speaker", "item", "condition", "emotion", "intensity", "arousal"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "heard.csv", index=False)
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)


@pytest.fixture(scope="module")
def table():
    return segments()


@pytest.fixture(scope="module")
def project(tmp_path_factory, table, undrawn):
    folder = tmp_path_factory.mktemp("own tasks")
    write(folder, table)
    # Nobody looks at pages of how robust it is.
    done = undrawn("run", "suite.yml", "--out", "heard", "--model", "mine", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    others = [word for name in ("table", "other", "guess") for word in ("--model", name)]
    done = undrawn("run", "suite.yml", "--out", "out", *others, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def frame(project):
    return read_results(project[0] / "out" / "results.csv")


@pytest.fixture(scope="module")
def row(frame):
    labelled = frame[frame["corpus"].ne("bare")]
    rows = labelled.set_index(["model", "family", "task", "test", "group", "label"]).sort_index()

    def found(family, task, test, label="", group="", model="table"):
        return rows.loc[(model, family, task, test, group, label)]

    return found


def page(folder, name):
    return (folder / "out" / "html" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("out", "model", "families"), [("out", "table", LABELLED), ("heard", "mine", CHANGED)]
)
def test_every_family_that_fits_computes_every_task(project, out, model, families):
    frame = read_results(project[0] / out / "results.csv")
    found = frame[frame["model"].eq(model) & frame["value"].notna()]
    for name in families:
        family = read_family(name)
        for task in (FEELING, INTENSITY, AROUSAL):
            tests = set(found.loc[found["family"].eq(name) & found["task"].eq(task.name), "test"])
            assert bool(tests) == family.applies_to(task), (name, task.name)
            # Not every range of consistency is expected, and worst groups are judged by one number.
            if name not in ("correctness_consistency", "fairness_worst_groups"):
                assert tests == {test.name for test in family.tests.values() if test.fits(task)}, name
    assert not frame["skipped"].str.startswith("error").any()


def test_values_are_those_of_plain_formulas(row, table):
    known = table[table["emotion"].ne("")]
    truth, predicted = known["emotion"], known["predicted feeling"]
    family = "correctness_classification"
    recalls = [float((predicted[truth.eq(name)] == name).mean()) for name in CLASSES]
    found = row(family, "feeling", "Unweighted Average Recall")
    assert found["value"] == pytest.approx(np.mean(recalls), abs=1e-9)
    own = metrics.recall_score(truth, predicted, labels=list(CLASSES), average="macro", zero_division=0)
    assert found["value"] == pytest.approx(own, abs=1e-9) and found["segments"] == len(known) == 1197
    for name, recall in zip(CLASSES, recalls, strict=True):
        each = row(family, "feeling", "Recall Per Class", name)
        assert each["value"] == pytest.approx(recall, abs=1e-9)
        assert each["segments"] == truth.eq(name).sum()
        share = row("correctness_distribution", "feeling", "Relative Difference Per Class", name)["value"]
        assert share == pytest.approx((predicted == name).mean() - (truth == name).mean(), abs=1e-9)
    # Answers that are mapped to the scale of a built-in task are read with seven digits afterwards.
    for name, exact in (("intensity", 1e-9), ("arousal", 1e-7)):
        x, y = ((table[column] - 1) / 6 for column in (name, f"predicted {name}"))
        ccc = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var(ddof=0) + y.var(ddof=0) + (x.mean() - y.mean()) ** 2)
        regression = "correctness_regression"
        found = row(regression, name, "Concordance Correlation Coeff")
        assert found["value"] == pytest.approx(ccc, abs=exact) and found["segments"] == 1200
        error = row(regression, name, "Mean Absolute Error")["value"]
        assert error == pytest.approx((x - y).abs().mean(), abs=exact)
        edges = np.linspace(0, 1, 11)
        counts = [
            np.bincount(np.clip(np.searchsorted(edges, v.round(12), "left") - 1, 0, 9), minlength=10)
            for v in (x, y)
        ]
        found = row("correctness_distribution", name, "Jensen Shannon Distance")["value"]
        assert found == pytest.approx(distance.jensenshannon(*counts, base=2), abs=1e-9)
        assert row(regression, name, "Mean Absolute Error")["threshold"] == 0.1


def test_thresholds_for_four_classes_judge_no_seven(frame, row, table):
    shown = frame[frame["evidence"].eq("shown")]
    assert shown[["state", "state_sample"]].eq(states.REPORTED).all(axis=None)
    assert shown["passed"].isna().all() and shown["value"].notna().all()
    assert shown[["p_value", "threshold", "certainty", "matters"]].isna().all(axis=None)
    assert set(shown["task"]) == {"feeling"}
    tests = {(family, test) for family, test in zip(shown["family"], shown["test"], strict=True)}
    kept = [(name, test) for name in LABELLED for test in read_family(name).tests.values() if test.classes]
    own = {("fairness_accent", "Relative Difference Per Class")}  # what the suite sets for them
    # Right and wrong answers are compared with the same answers given at random.
    own |= {
        ("correctness_classification", test.name)
        for name, test in kept
        if name == "correctness_classification"
    }
    assert len(own) > 3 and tests == {(name, test.name) for name, test in kept} - own
    bare = shown[shown["corpus"].eq("bare")]
    assert set(bare["test"]) == {"Relative Difference Per Class"} and len(bare) == 7 * (2 + 4)
    told = (
        "no threshold for feeling: shown without verdict; the one for classification is for 4 classes, not 7"
    )
    assert shown["skipped"].eq(told).all()
    known = table[table["emotion"].ne("")]
    found = row("correctness_classification", "feeling", "Unweighted Average Recall")
    assert found["threshold"] == pytest.approx(known["predicted feeling"].isin(CLASSES).mean() / 7, abs=1e-9)
    assert (found["rule"], found["passed"], found["state"]) == (">", True, states.PASS)
    by_chance = "no threshold: compared with the same answers given at random"
    assert found["skipped"] == by_chance and found["low"] < found["value"] < found["high"]
    found = row("correctness_classification", "feeling", "Precision Per Class", "fear")
    assert found["threshold"] == pytest.approx(known["emotion"].eq("fear").mean(), abs=1e-9)
    assert found["skipped"] == by_chance
    found = row("correctness_classification", "feeling", "Recall Per Class", "fear")
    assert found["threshold"] == 0.4 and found["passed"] is not None
    assert found["skipped"] == "set in this suite: 0.4 (agreed)"
    found = row("fairness_accent", "feeling", "Relative Difference Per Class", "fear", "accent: irish")
    assert (found["rule"], found["threshold"], found["matters"]) == ("|gap| <", 0.1, 0.1)
    assert "set in this suite: margin 0.1 (what users notice)" in found["skipped"]
    found = row("fairness_sex", "feeling", "Unweighted Average Recall", "", "sex: female")
    assert found["passed"] is not None and "simulated for 4 classes, not 7" in found["skipped"]


def test_everybody_says_what_is_shown(project, frame, undrawn):
    folder, told = project
    rows = states.counted(frame)
    shown = rows[rows["state"].eq(states.REPORTED)]
    assert shown["evidence"].eq("shown").all()
    count = int(shown["model"].eq("table").sum())
    assert count > 20 and re.search(rf"^table: .*, {count} reported$", told, re.MULTILINE)
    done = undrawn("check", "out", "--model", "table", cwd=folder)
    assert f", {count} reported" in done.stdout
    cases = {c.get("name"): c for c in ElementTree.parse(folder / "out" / "junit.xml").iter("testcase")}
    (case,) = cases["feeling / Class Proportion Mean Absolute Error / fear"]
    assert case.tag == "skipped" and case.get("message").startswith("reported: value = 0.03")
    assert "no threshold for feeling" in case.get("message")
    assert "values without threshold" in page(folder, "index")
    own = page(folder, "results/table/correctness_speaker_average")
    assert "○ reported" in own and "no threshold for feeling: shown without verdict" in own
    groups = page(folder, "results/table/fairness_groups")
    assert "○ reported" in groups and "feeling" in groups
    language = page(folder, "results/table/fairness_language")
    assert "○ reported" in language and "difference (95 %)" in language
    comparison = pd.read_csv(folder / "out" / "comparisons.csv")
    recall = comparison[comparison["test"].eq("Unweighted Average Recall")].iloc[0]
    assert recall["outcome"] == "better" and recall["skipped"].startswith("thresholds differ: ")


def test_nothing_is_dropped_in_silence(project, frame):
    folder, told = project
    corpus = page(folder, "corpora/calls")
    assert "3 of 1200 segments have no label for feeling" in corpus
    assert "The task feeling has all of them" in told  # boredom, disgust and fear are no classes of emotion
    assert "calm (4)" in page(folder, "models/table")  # twice in each of two corpora
    assert "table: classes that the task does not have, counted as wrong: calm (4)" in told
    for name in ("arousal", "intensity"):
        said = f"{name}: labels from 1 to 7 are shown from 0 to 1, where 0.1 is 0.6 of their scale"
        assert said in corpus and said in page(folder, "results/table/correctness_regression")
    assert {"arousal", "intensity"} <= set(frame.loc[frame["model"].eq("guess"), "task"])


SMALL = """
title: Small
studies: false
TASKS
corpora:
  calls: {format: csv, path: calls.csv, range: {arousal: [1, 7]}COLUMNS}
models:
  table: {predictions: table.csv, tasks: [MODEL]}
families: [correctness_classification]
"""


def small(folder, table, *, tasks="", columns="", model="emotion"):
    text = SMALL.replace("TASKS", tasks).replace("COLUMNS", columns).replace("MODEL", model)
    (folder / "suite.yml").write_text(text)
    names = {"emotion": "predicted feeling", "feeling": "predicted feeling"}
    predicted = table[["file", "start", "end"]].assign(**{n: table[c] for n, c in names.items()})
    predicted.to_csv(folder / "table.csv", index=False)
    table[[name for name in table if not name.startswith("predicted")]].to_csv(
        folder / "calls.csv", index=False
    )
    for file in set(table["file"]):
        soundfile.write(folder / file, np.full(round(EACH * SECONDS * RATE), 0.1), RATE)


def test_more_emotions_than_four_say_how_to_declare_them(tmp_path, table, undrawn, shown):
    """What is said is written into the suite, and nothing is lost any more."""
    some = table[table["speaker"].isin(["s00", "s01", "s02", "s03", "s04", "s05"])]
    some = some.replace({"emotion": {"fear": "<b>fear</b>", "disgust": "no: none"}})
    some["predicted feeling"] = some["predicted feeling"].replace(
        {"fear": "<b>fear</b>", "disgust": "no: none"}
    )
    small(tmp_path, some)
    done = undrawn("run", "suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (told,) = [line for line in done.stdout.splitlines() if "not classes of emotion" in line]
    count = some["emotion"].isin(["boredom", "<b>fear</b>", "no: none"]).sum()
    assert f"calls: {count} of 360 segments have labels that are not classes of emotion: " in told
    tasks, columns = re.search("`tasks: (.*?)`, and under corpora.calls `columns: (.*?)`", told).groups()
    assert columns == "{feeling: emotion}"
    with open(tmp_path / "out" / "left_out.csv", newline="", encoding="utf-8") as file:
        reasons = [entry["reason"] for entry in csv.DictReader(file)]
    assert len(reasons) == 3 and all("not a class of emotion" in reason for reason in reasons)
    corpus = page(tmp_path, "corpora/calls")
    assert "declare a task of your own" in corpus and "<b>fear</b>" not in corpus
    small(tmp_path, some, tasks=f"tasks: {tasks}", columns=f", columns: {columns}", model="feeling")
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    frame = read_results(tmp_path / "out" / "results.csv")
    found = frame[frame["test"].eq("Recall Per Class")].set_index("label")
    assert len(found) == 7 and found["segments"].sum() == some["emotion"].ne("").sum()
    assert found.loc["<b>fear</b>", "value"] > 0.4
    assert "<b>fear</b>" not in shown(tmp_path / "out", "table", "correctness_classification")


@pytest.mark.parametrize(
    ("tasks", "change", "told"),
    [
        ("tasks: {speaker: {type: classification, classes: [a, b]}}", {}, "cannot be the name of a task"),
        ("tasks: {emotion: {type: classification, classes: [a, b]}}", {}, "this task is built in"),
        (
            "tasks: {intensity: {type: regression, range: [1, 7]}}",
            {"intensity": 8.5},
            "labels not in 1 to 7: 1 of 60 ('8.5' in calls.csv line",
        ),
        ("tasks: {intensity: {type: regression, range: [1, 7]}}", {"intensity": "x"}, "is not a number"),
    ],
)
def test_bad_declarations_and_labels_are_refused(tmp_path, table, undrawn, tasks, change, told):
    some = table[table["speaker"].eq("s00")].astype(object)
    for name, value in change.items():
        some.loc[some.index[4], name] = value
    small(tmp_path, some, tasks=tasks)
    done = undrawn("run", "suite.yml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2 and told in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
