"""Groups that a suite names or that nobody named, through the command."""

import re

import jiwer
import numpy as np
import pandas as pd
import pytest
from runs import Run, run, sound, told, write
from sklearn.metrics import recall_score

from soundcheck.results.states import FAIL, counted

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
WORDS = "left right up down stop go yes no one two three four".split()
MARKUP = "<i>phone</i>"
SECONDS, EACH, SPEAKERS = 0.1, 20, 60
SUITE = """
title: Groups
studies: false
replicates: 200
thresholds: gap
interval: t
groups: [{age: {young: [0, 30], old: [60, 120]}}, device × sex, emotion]
corpora:
  calls: {format: csv, path: calls.csv, families: [fairness_groups]}
  odd:
    {format: csv, path: odd.csv, families: [fairness_groups],
    groups: [one, solo, half, left × right, device, small, kind]}
  bare: {format: csv, path: bare.csv, families: [fairness_groups]}
  part: {format: csv, path: part.csv, trials: trials.txt, groups: [device], families: [fairness_groups]}
  nobody: {format: csv, path: nobody.csv, families: [fairness_groups]}
  listed: {format: trials, path: listed.csv, audio: false}
  rooms: {format: csv, path: rooms.csv, groups: [device], families: [fairness_worst_groups]}
models:
  emotional: {predictions: emotions.csv, tasks: [arousal, valence, emotion], corpora: [calls, odd, bare]}
  written: {predictions: words.csv, tasks: [transcript], corpora: [calls]}
  embedded: {predictions: embeddings.csv, tasks: [embedding], corpora: [calls, odd]}
  parted: {predictions: parted.csv, tasks: [arousal], corpora: [part, nobody]}
  mute: {predictions: parted.csv, tasks: [transcript], corpora: [part]}
  scored: {scores: scores.txt, corpora: [part]}
  unknown: {scores: listed.txt, corpora: [listed]}
  uneven: {predictions: uneven.csv, tasks: [arousal, emotion, transcript], corpora: [rooms]}
  even: {predictions: even.csv, tasks: [emotion], corpora: [rooms]}
families: [fairness_groups, fairness_worst_groups]
"""
SEGMENT = ["file", "start", "end"]


def words_of(vector):
    return " ".join(f"{number:.5f}" for number in vector)


def segment(corpus, s, n):
    when = {"start": round(SECONDS * n, 3), "end": round(SECONDS * (n + 1), 3)}
    return {"file": f"{corpus}/{s:02d}.wav", **when, "speaker": f"{corpus[0]}{s:02d}"}


def calls():
    """Twenty-four speakers: the old are served worse, and classes of men on the phone."""
    rng, rows = np.random.default_rng(3), []
    for s in range(24):
        age, sex, device = (22, 45, 70)[s % 3], ("female", "male")[s % 2], (MARKUP, "headset")[s // 2 % 2]
        noise, wrong = (0.35, 0.5) if age == 70 else (0.1, 0.1)
        right = 0.3 if (sex, device) == ("male", MARKUP) else 0.85
        voice = np.random.default_rng(s).standard_normal(8)
        for n in range(EACH):
            arousal, said, emotion = round(rng.random(), 4), rng.choice(WORDS, 6), str(rng.choice(CLASSES))
            vector = voice + rng.standard_normal(8) * (2.0 if age == 70 else 0.5)
            rows.append(
                {
                    **segment("calls", s, n),
                    **{"age": age, "sex": sex, "device": device, "arousal": arousal},
                    **{"emotion": emotion, "transcript": " ".join(said), "embedding": words_of(vector)},
                    "predicted arousal": np.clip(arousal + rng.normal(0, noise), 0, 1).round(4),
                    "predicted valence": round(0.3 * rng.random() + 0.4 * (age == 70), 4),
                    "predicted emotion": emotion if rng.random() < right else str(rng.choice(CLASSES)),
                    "predicted transcript": " ".join(w if rng.random() > wrong else "oops" for w in said),
                }
            )
    return pd.DataFrame(rows)


def odd():
    """Columns that cannot be compared, or that must be told about."""
    rng, rows = np.random.default_rng(4), []
    for s in range(12):
        for n in range(EACH + 10 * (s == 0)):
            rows.append(
                {
                    **segment("odd", s, n),
                    **{"sex": ("female", "male")[s % 2], "one": "same", "solo": "rest" if s else "alone"},
                    **{"half": "" if n % 2 else "ab"[s % 2], "kind": "xy"[s % 2]},
                    **{"left": "l" if s < 6 else "", "right": "" if s < 6 else "r"},
                    **{"device": "headset" if s % 4 else MARKUP},
                    **{"small": "few" if n == 0 and s < 9 else ("u" if s < 6 else "v")},
                    **{"arousal": rng.random(), "predicted arousal": rng.random()},
                    "embedding": words_of(rng.standard_normal(8)),
                }
            )
    return pd.DataFrame(rows)


def part():
    """Ten speakers with two devices each; three of four segments have a label."""
    rng, rows = np.random.default_rng(5), []
    for s in range(10):
        for n in range(8):
            device, arousal = ("phone", "headset")[n % 2], round(rng.random(), 4)
            error = (0.3 if device == "phone" else 0.02) * rng.choice([-1, 1])
            about = {"file": f"part/{s}-{n}.wav", "speaker": f"s{s}", "device": device}
            rows.append(
                {**about, "arousal": arousal if n < 6 else np.nan, "predicted": round(arousal + error, 4)}
            )
    return pd.DataFrame(rows)


def scores(table):
    """All pairs, with scores that are of no use between phones."""
    rng, rows = np.random.default_rng(6), []
    for a, one in enumerate(table.itertuples()):
        for other in table[a + 1 :].itertuples():
            same, phones = one.speaker == other.speaker, one.device == other.device == "phone"
            score = rng.normal() if phones else rng.normal(1.0 if same else -1.0, 0.4)
            rows.append((int(same), one.file, other.file, round(float(score), 6), one.device, other.device))
    return pd.DataFrame(rows, columns=["same", "enrol", "test", "score", "first", "second"])


def rooms():
    """Speakers whose devices change; of one in eight a woman is on the phone, whom one model serves worse."""
    rng, number = np.random.default_rng(1), np.repeat(np.arange(SPEAKERS), EACH)
    table = pd.DataFrame([segment("rooms", s, n) for s in range(SPEAKERS) for n in range(EACH)])
    table["sex"] = np.array(["female", "male"])[number % 2]
    table["device"] = rng.choice([MARKUP, "headset", "room", "car"], size=len(table))
    table["worse"] = worse = table["sex"].eq("female") & table["device"].eq(MARKUP)
    table["accent"] = [f"village {s}" for s in number]  # too many to look at
    table["emotion"], table["arousal"] = rng.choice(CLASSES, len(table)), rng.random(len(table)).round(3)
    table["transcript"], habit = "turn the light on", rng.normal(0, 0.05, SPEAKERS)[number]
    for name, chance in (("uneven", 0.15 + habit + 0.4 * worse), ("even", 0.15 + habit)):
        other = np.roll(CLASSES, 1)[table["emotion"].map(CLASSES.index)]
        table[f"{name} emotion"] = np.where(rng.random(len(table)) < chance, other, table["emotion"])
    shift = rng.normal(0, 0.05, len(table)) + 0.3 * worse
    table["uneven arousal"] = (table["arousal"] + np.where(table["arousal"] < 0.5, 1, -1) * shift).round(6)
    off = rng.random(len(table)) < 0.3
    table["uneven transcript"] = np.where(off, "turn the light off", "turn the light on")
    return table


def written(table, *names, prefix="predicted "):
    return table[SEGMENT].assign(**{name: table[prefix + name] for name in names})


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder = tmp_path_factory.mktemp("fairness")
    bare = pd.DataFrame({"file": [f"bare/{n}.wav" for n in range(6)], "arousal": np.linspace(0.1, 0.9, 6)})
    tables = {make.__name__: make() for make in (calls, odd, part, rooms)} | {"bare": bare}
    for name, table in tables.items():
        for n, (file, own) in enumerate(table.groupby("file")):
            time = np.arange(round(16000 * (own["end"].max() if "end" in own else SECONDS))) / 16000
            sound(folder / file, 0.1 * np.sin(2 * np.pi * (110 + 2 * n) * time))
        hidden = [column for column in table if re.match("predicted|even |uneven|worse|embedding", column)]
        write(folder, {f"{name}.csv": table.drop(columns=hidden)})
    of_calls, of_odd, of_part, of_rooms, _ = tables.values()
    emotional = pd.concat([of_calls, of_odd, bare.assign(**{"predicted arousal": 0.5})])
    scored = scores(of_part)
    pairs = [(s, t, n) for s in range(9) for t in range(9) for n in (0, 2)]
    listed = [(f"s{s}/{n}.wav", f"s{t}/{n + 1}.wav", int(s == t)) for s, t, n in pairs]
    lists = {
        "trials.txt": [f"{row.same} {row.enrol} {row.test}" for row in scored.itertuples()],
        "scores.txt": [f"{row.score} {row.enrol} {row.test}" for row in scored.itertuples()],
        "listed.csv": pd.DataFrame(listed, columns=["enrol", "test", "label"]),
        "listed.txt": [f"{same + 0.01 * n} {one} {other}" for n, (one, other, same) in enumerate(listed)],
    }
    predictions = {
        "emotions.csv": written(emotional, "arousal", "valence", "emotion"),
        "words.csv": written(of_calls, "transcript"),
        "embeddings.csv": written(pd.concat([of_calls, of_odd]), "embedding", prefix=""),
        "uneven.csv": written(of_rooms, "arousal", "emotion", "transcript", prefix="uneven "),
        "even.csv": written(of_rooms, "emotion", prefix="even "),
        "parted.csv": of_part[["file"]].assign(arousal=of_part["predicted"], transcript="go"),
        "nobody.csv": of_part[["file", "arousal"]].dropna(),
    }
    return run(undrawn, write(folder, lists | predictions | {"suite.yml": SUITE}))


@pytest.fixture(scope="module")
def main():
    table = calls()
    ages = table["age"].map({22: "young", 70: "old"})
    return table.assign(**{"age": ages, "device × sex": table["device"] + " × " + table["sex"]})


def row(whole, task, test, group, label=""):
    return whole.row(test, label, group, corpus="calls", task=task, family="fairness_groups")


# Groups that a suite names ----------------------------------------------------------------------------------


def concordance(rows):
    truth, predicted = rows["arousal"], rows["predicted arousal"]
    spread = truth.var(ddof=0) + predicted.var(ddof=0) + (truth.mean() - predicted.mean()) ** 2
    return 2 * np.cov(truth, predicted, ddof=0)[0, 1] / spread


FORMULAS = {
    ("arousal", "Concordance Correlation Coeff"): concordance,
    ("arousal", "Mean Absolute Error"): lambda rows: (
        (rows["arousal"] - rows["predicted arousal"]).abs().mean()
    ),
    ("valence", "Mean Value"): lambda rows: rows["predicted valence"].mean(),
    ("emotion", "Unweighted Average Recall"): lambda rows: recall_score(
        rows["emotion"], rows["predicted emotion"], average="macro"
    ),
    ("transcript", "Word Error Rate Difference"): lambda rows: jiwer.wer(
        rows["transcript"].tolist(), rows["predicted transcript"].tolist()
    ),
}


@pytest.mark.parametrize(("task", "test"), FORMULAS)
@pytest.mark.parametrize("column", ["age", "device × sex"])
def test_differences_equal_plain_formulas(whole, main, task, test, column):
    formula, everybody = FORMULAS[task, test], main[main[column].notna()]
    for group, own in everybody.groupby(column):
        found = row(whole, task, test, f"{column}: {group}")
        others = everybody[everybody[column].ne(group)]
        assert found["value"] == pytest.approx(formula(own) - formula(everybody), abs=1e-9)
        assert found["gap"] == pytest.approx(formula(own) - formula(others), abs=1e-9)
        assert found["segments"] == len(own)


def test_rates_of_a_list_of_trials_are_those_of_the_groups_of_its_recordings(whole):
    table, of = scores(part()), {"model": "scored", "corpus": "part"}
    decided = (whole.out / "scores" / "scored" / "part.fairness_groups.txt").read_text().split()
    same, within = table["same"].eq(1), table["first"].eq(table["second"])
    wrong = (table["score"] > float(decided[-1])).ne(same)
    kinds = {"False Acceptance Rate Difference": ~same, "False Rejection Rate Difference": same}
    for test, kind in kinds.items():
        everybody = within & kind
        for group in ("phone", "headset"):
            own = table["first"].eq(group)
            found, rate = whole.row(test, group=f"device: {group}", **of), wrong[everybody & own].mean()
            assert found["value"] == pytest.approx(rate - wrong[everybody].mean(), abs=1e-9)
            assert found["gap"] == pytest.approx(rate - wrong[everybody & ~own].mean(), abs=1e-9)
    # Two groups are one test: the row of the better one repeats the state and names the other.
    rows = whole.rows(family="fairness_groups", **of)
    rows = rows[rows["test"].str.endswith("Rate Difference")]
    assert rows["state"].eq(FAIL).all() and rows["holds"].all() and len(rows) == 4
    assert set(zip(rows["group"], rows["mirrors"], strict=True)) == {
        ("device: phone", ""),
        ("device: headset", "device: phone"),
    }


@pytest.mark.parametrize(
    ("task", "test", "group"),
    [
        ("arousal", "Concordance Correlation Coeff", "age: old"),
        ("arousal", "Mean Absolute Error", "age: old"),
        ("valence", "Mean Value", "age: old"),
        ("emotion", "Unweighted Average Recall", f"device × sex: {MARKUP} × male"),
        ("transcript", "Word Error Rate Difference", "age: old"),
        ("embedding", "False Rejection Rate Difference", "age: old"),
    ],
)
def test_what_was_planted_holds(whole, task, test, group):
    assert bool(row(whole, task, test, group)["holds"])


def test_only_what_was_planted_holds(whole):
    holds = whole.rows(family="fairness_groups", holds=True)
    holds = holds[holds["corpus"].ne("part")]
    two = holds["group"].eq("age: young")  # of two groups the gaps of both are the same
    assert set(holds.loc[~two, "group"]) == {"age: old", f"device × sex: {MARKUP} × male"}
    errors = holds[holds["test"].eq("Mean Absolute Error") | holds["test"].str.endswith("Rate Difference")]
    assert set(counted(errors)["group"]) == {"age: old"}  # two groups are one test, of the one worse off
    assert set(errors.loc[errors["group"].ne("age: old"), "mirrors"]) == {"age: old"}


@pytest.mark.parametrize(("cells", "why"), told("fairness", "reasons"))
def test_what_cannot_be_judged_says_why(whole, cells, why):
    own = whole.rows(**cells)
    own = own[own["value"].isna()]
    assert len(own) and own["skipped"].str.startswith(why).all(), own["skipped"].tolist()
    assert len(own) == 1 or cells["corpus"] in ("calls", "odd", "listed")


def test_only_labelled_segments_of_groups_within_speakers_are_compared(whole):
    table = part().dropna()
    errors, phone = (table["arousal"] - table["predicted"]).abs(), table["device"].eq("phone")
    found = whole.rows(model="parted", corpus="part", test="Mean Absolute Error").set_index("group")
    gap = errors[phone].mean() - errors[~phone].mean()
    assert found.loc["device: phone", "gap"] == pytest.approx(gap, abs=1e-9) and gap > 0
    assert found.loc["device: phone", "segments"] == phone.sum() == 30 and found["state"].eq(FAIL).all()
    assert found["low"].isna().all()  # all errors of a device are of one size
    assert found["skipped"].str.startswith("interval withheld: nothing varies").all()


@pytest.mark.parametrize("page", told("fairness", "pages"))
def test_pages_tell_what_is_missing(whole, page):
    assert whole.lacks(page, "fairness") == []


def test_no_name_is_markup_and_recordings_are_heard(whole):
    pages = {path.stem: path.read_text() for path in (whole.out / "html").rglob("*.html")}
    assert not [name for name, page in pages.items() if MARKUP in page]
    page = whole.page("results/emotional/fairness_groups")
    assert "every speaker of device × sex" not in page  # a part of a product does not differ by itself
    heard = {
        "emotional": "fairness_groups",
        "uneven": "fairness_worst_groups",
        "even": "fairness_worst_groups",
    }
    counts = {model: whole.shown(model, family).count("<audio") for model, family in heard.items()}
    assert counts["emotional"] >= 3 and counts["uneven"] >= 8 and counts["even"] == 0


# Groups that nobody named -----------------------------------------------------------------------------------


def worst(whole, model, task):
    return whole.row("Groups Served Worse", family="fairness_worst_groups", model=model, task=task)


@pytest.mark.parametrize("task", ["arousal", "emotion"])
def test_a_planted_weakness_is_named_and_holds(whole, task):
    table, found = rooms(), worst(whole, "uneven", task)
    assert (found["value"], found["passed"], found["holds"], found["reference"]) == (1, False, True, 0)
    wrong = table["uneven emotion"].ne(table["emotion"]).astype(float)
    error = wrong if task == "emotion" else (table["uneven arousal"] - table["arousal"]).abs()
    gap = error[table["worse"]].mean() - error[~table["worse"]].mean()
    assert found["skipped"].startswith(f"sex: female × device: {MARKUP} ({gap:.2g} worse, ")
    assert found["p_value"] < 0.001 and pd.isna(found["low"])
    assert (found["blocks"], found["segments"]) == (SPEAKERS, SPEAKERS * EACH)


@pytest.mark.parametrize(("model", "task"), [("even", "emotion"), ("uneven", "transcript")])
def test_where_all_are_served_alike_nothing_is_named(whole, model, task):
    found = worst(whole, model, task)
    assert (found["value"], found["passed"], found["holds"], found["evidence"]) == (0, True, False, "none")
    assert found["skipped"].startswith("none of ")
