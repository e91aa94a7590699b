"""Groups that a suite names, through the command."""

import itertools
import re

import audmetric
import jiwer
import numpy as np
import pandas as pd
import pytest
from runs import Run, expectations, run, write

from soundcheck.results.states import FAIL, counted

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
WORDS = "left right up down stop go yes no one two three four".split()
MARKUP = "<i>phone</i>"
EACH = 20
SUITE = """
title: Groups
studies: false
replicates: 100
thresholds: gap
interval: t
groups: [{age: {young: [0, 30], old: [60, 120]}}, device × sex, emotion]
corpora:
  calls: {format: csv, path: calls.csv, audio: false}
  odd: {format: csv, path: odd.csv, audio: false, groups: [one, solo, half, left × right, device, small]}
  kinds: {format: csv, path: odd.csv, audio: false, groups: [left × right, kind]}
  bare: {format: csv, path: bare.csv, audio: false}
  part: {format: csv, path: part.csv, audio: false, trials: trials.txt, groups: [device]}
models:
  emotional: {predictions: emotions.csv, tasks: [arousal, valence, emotion], corpora: [calls]}
  strange: {predictions: emotions.csv, tasks: [arousal], corpora: [odd, bare]}
  written: {predictions: words.csv, tasks: [transcript], corpora: [calls]}
  embedded: {predictions: embeddings.csv, tasks: [embedding], corpora: [calls, kinds]}
  parted: {predictions: parted.csv, tasks: [arousal], corpora: [part]}
  mute: {predictions: parted.csv, tasks: [transcript], corpora: [part]}
  scored: {scores: scores.txt, corpora: [part]}
families: [fairness_groups]
"""


def speakers(name, count):
    """Files of speakers, one speaker after the other; also the number of each one's speaker."""
    number = np.repeat(np.arange(count), EACH)
    files = [f"{name}/{n}.wav" for n in range(len(number))]
    return pd.DataFrame({"file": files, "speaker": [f"{name[0]}{n:02d}" for n in number]}), number


def embedded(vectors):
    return [" ".join(f"{number:.5f}" for number in vector) for vector in vectors]


def calls():
    """Twenty-four speakers: the old are served worse, and classes of men on the phone."""
    rng, (table, s) = np.random.default_rng(8), speakers("calls", 24)
    count, old = len(table), s % 3 == 2
    table["age"], table["sex"] = np.array([22, 45, 70])[s % 3], np.array(["female", "male"])[s % 2]
    table["device"] = np.array([MARKUP, "headset"])[s // 2 % 2]
    table["arousal"], table["emotion"] = rng.random(count).round(4), rng.choice(CLASSES, count)
    said = rng.choice(WORDS, (count, 6))
    heard = np.where(rng.random(said.shape) > np.where(old, 0.5, 0.1)[:, None], said, "oops")
    table["transcript"], table["predicted transcript"] = [*map(" ".join, said)], [*map(" ".join, heard)]
    noise = rng.standard_normal((count, 8)) * np.where(old, 2.0, 0.5)[:, None]
    table["embedding"] = embedded(rng.standard_normal((24, 8))[s] + noise)
    error = rng.normal(0, np.where(old, 0.35, 0.1))
    table["predicted arousal"] = np.clip(table["arousal"] + error, 0, 1).round(4)
    table["predicted valence"] = (0.3 * rng.random(count) + 0.4 * old).round(4)
    right = np.where(table["sex"].eq("male") & table["device"].eq(MARKUP), 0.3, 0.85)
    guess = rng.choice(CLASSES, count)
    table["predicted emotion"] = np.where(rng.random(count) < right, table["emotion"], guess)
    return table


def odd():
    """Columns that cannot be compared, or that must be told about."""
    rng, (table, s) = np.random.default_rng(9), speakers("odd", 12)
    more = table[:10].assign(file=[f"odd/more{n}.wav" for n in range(10)])  # half as many more of the first
    table, s = pd.concat([table, more], ignore_index=True), np.append(s, np.zeros(10, int))
    n = np.arange(len(table)) % EACH
    table["sex"], table["kind"] = np.array(["female", "male"])[s % 2], np.array(["x", "y"])[s % 2]
    table["one"], table["solo"] = "same", np.where(s > 0, "rest", "alone")
    table["half"] = np.where(n % 2, "", np.array(["a", "b"])[s % 2])
    table["left"], table["right"] = np.where(s < 6, "l", ""), np.where(s < 6, "", "r")
    table["device"] = np.where(s % 4, "headset", MARKUP)
    few = (n == 0) & (s < 9) & (table.index < 12 * EACH)
    table["small"] = np.where(few, "few", np.where(s < 6, "u", "v"))
    table["arousal"], table["predicted arousal"] = rng.random((2, len(table)))
    return table.assign(embedding=embedded(rng.standard_normal((len(table), 8))))


def part():
    """Ten speakers with two devices each; three of four segments have a label."""
    rng, n = np.random.default_rng(5), np.arange(80) % 8
    table, _ = speakers("part", 4)
    table = table.assign(
        speaker=[f"s{row // 8}" for row in range(80)], device=np.array(["phone", "headset"])[n % 2]
    )
    arousal, error = rng.random(80).round(4), np.where(n % 2, 0.02, 0.3) * rng.choice([-1, 1], 80)
    return table.assign(arousal=np.where(n < 6, arousal, np.nan), predicted=(arousal + error).round(4))


def scores(table):
    """All pairs, with scores that are of no use between phones."""
    rng, rows = np.random.default_rng(6), []
    for one, other in itertools.combinations(table.itertuples(), 2):
        same, phones = one.speaker == other.speaker, one.device == other.device == "phone"
        score = rng.normal() if phones else rng.normal(1.0 if same else -1.0, 0.4)
        rows.append((int(same), one.file, other.file, round(float(score), 6), one.device, other.device))
    return pd.DataFrame(rows, columns=["same", "enrol", "test", "score", "first", "second"])


def written(table, *names, prefix="predicted "):
    return table[["file"]].assign(**{name: table[prefix + name] for name in names})


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder = tmp_path_factory.mktemp("fairness")
    bare = pd.DataFrame({"file": [f"bare/{n}.wav" for n in range(6)], "arousal": np.linspace(0.1, 0.9, 6)})
    tables = {make.__name__: make() for make in (calls, odd, part)} | {"bare": bare}
    for name, table in tables.items():
        hidden = [column for column in table if re.match("predicted|embedding", column)]
        write(folder, {f"{name}.csv": table.drop(columns=hidden)})
    of_calls, of_odd, of_part, _ = tables.values()
    emotional = pd.concat([of_calls, of_odd, bare.assign(**{"predicted arousal": 0.5})])
    scored = scores(of_part)
    lists = {
        "trials.txt": [f"{row.same} {row.enrol} {row.test}" for row in scored.itertuples()],
        "scores.txt": [f"{row.score} {row.enrol} {row.test}" for row in scored.itertuples()],
    }
    predictions = {
        "emotions.csv": written(emotional, "arousal", "valence", "emotion"),
        "words.csv": written(of_calls, "transcript"),
        "embeddings.csv": written(pd.concat([of_calls, of_odd]), "embedding", prefix=""),
        "parted.csv": of_part[["file"]].assign(arousal=of_part["predicted"], transcript="go"),
    }
    return run(undrawn, write(folder, lists | predictions | {"suite.yml": SUITE}), "--no-book")


@pytest.fixture(scope="module")
def main():
    table = calls()
    ages = table["age"].map({22: "young", 70: "old"})
    return table.assign(**{"age": ages, "device × sex": table["device"] + " × " + table["sex"]})


def row(whole, task, test, group, label=""):
    return whole.row(test, label, group, corpus="calls", task=task)


FORMULAS = {
    ("arousal", "Concordance Correlation Coeff"): audmetric.concordance_cc,
    ("arousal", "Mean Absolute Error"): audmetric.mean_absolute_error,
    ("valence", "Mean Value"): lambda _, predicted: predicted.mean(),
    ("emotion", "Unweighted Average Recall"): audmetric.unweighted_average_recall,
    ("transcript", "Word Error Rate Difference"): lambda said, heard: jiwer.wer(list(said), list(heard)),
}


@pytest.mark.parametrize(("task", "test"), FORMULAS)
def test_differences_equal_plain_formulas(whole, main, task, test):
    def formula(rows):
        return FORMULAS[task, test](rows.get(task), rows[f"predicted {task}"])

    for column in ("age", "device × sex"):
        everybody = main[main[column].notna()]
        for group, members in everybody.groupby(column):
            result = row(whole, task, test, f"{column}: {group}")
            others = everybody[everybody[column].ne(group)]
            assert result["value"] == pytest.approx(formula(members) - formula(everybody), abs=1e-9)
            assert result["gap"] == pytest.approx(formula(members) - formula(others), abs=1e-9)
            assert result["segments"] == len(members)


def test_rates_of_a_list_of_trials_are_those_of_the_groups_of_its_recordings(whole):
    table, of = scores(part()), {"model": "scored", "corpus": "part"}
    decided = (whole.out / "scores" / "scored" / "part.fairness_groups.txt").read_text().split()
    same, within = table["same"].eq(1), table["first"].eq(table["second"])
    wrong = (table["score"] > float(decided[-1])).ne(same)
    kinds = {"False Acceptance Rate Difference": ~same, "False Rejection Rate Difference": same}
    for test, kind in kinds.items():
        everybody = within & kind
        for group in ("phone", "headset"):
            members = table["first"].eq(group)
            result, rate = whole.row(test, group=f"device: {group}", **of), wrong[everybody & members].mean()
            assert result["value"] == pytest.approx(rate - wrong[everybody].mean(), abs=1e-9)
            assert result["gap"] == pytest.approx(rate - wrong[everybody & ~members].mean(), abs=1e-9)
    # Two groups are one test: the row of the better one repeats the state and names the other.
    rows = whole.rows(**of)
    rows = rows[rows["test"].str.endswith("Rate Difference")]
    assert rows["state"].eq(FAIL).all() and rows["holds"].all() and len(rows) == 4
    assert set(zip(rows["group"], rows["mirrors"], strict=True)) == {
        ("device: phone", ""),
        ("device: headset", "device: phone"),
    }


def test_what_was_planted_holds_and_nothing_else(whole):
    men, test = f"device × sex: {MARKUP} × male", "Unweighted Average Recall"
    planted = {(task, test, men if task == "emotion" else "age: old") for task, test in FORMULAS}
    assert ("emotion", test, men) in planted
    for place in (*planted, ("embedding", "False Rejection Rate Difference", "age: old")):
        assert bool(row(whole, *place)["holds"]), place
    holds = whole.rows(holds=True)
    holds = holds[holds["corpus"].ne("part")]
    two = holds["group"].eq("age: young")  # of two groups the gaps of both are the same
    assert set(holds.loc[~two, "group"]) == {"age: old", men}
    errors = holds[holds["test"].eq("Mean Absolute Error") | holds["test"].str.endswith("Rate Difference")]
    assert set(counted(errors)["group"]) == {"age: old"}  # two groups are one test, of the one worse off
    assert set(errors.loc[errors["group"].ne("age: old"), "mirrors"]) == {"age: old"}


@pytest.mark.parametrize(("cells", "why"), expectations("fairness", "reasons"))
def test_what_cannot_be_judged_says_why(whole, cells, why):
    rows = whole.rows(**cells)
    rows = rows[rows["value"].isna()]
    assert len(rows) and rows["skipped"].str.startswith(why).all(), rows["skipped"].tolist()


def test_only_labelled_segments_of_groups_within_speakers_are_compared(whole):
    table = part().dropna()
    errors, phone = (table["arousal"] - table["predicted"]).abs(), table["device"].eq("phone")
    rows = whole.rows(model="parted", corpus="part", test="Mean Absolute Error").set_index("group")
    gap = errors[phone].mean() - errors[~phone].mean()
    assert rows.loc["device: phone", "gap"] == pytest.approx(gap, abs=1e-9) and gap > 0
    assert rows.loc["device: phone", "segments"] == phone.sum() == 30 and rows["state"].eq(FAIL).all()
    assert rows["low"].isna().all()  # all errors of a device are of one size
    assert rows["skipped"].str.startswith("interval withheld: nothing varies").all()


@pytest.mark.parametrize("page", expectations("fairness", "pages"))
def test_pages_tell_what_is_missing_and_no_name_is_markup(whole, page):
    text = re.sub(r"\s+", " ", whole.shown(*page.split("/")))
    assert [words for words in expectations("fairness", "pages")[page] if words not in text] == []
    assert MARKUP not in text
    assert "every speaker of device × sex" not in text  # a part of a product does not differ by itself
