"""Groups that a suite names, through the command: for values, classes, transcripts and embeddings."""

import re

import jiwer
import numpy as np
import pandas as pd
import pytest
import soundfile
from sklearn.metrics import recall_score

from soundcheck.results.states import FAIL, counted
from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
WORDS = "left right up down stop go yes no one two three four".split()
SECONDS, EACH = 0.1, 20
MARKUP = "<i>phone</i>"
SUITE = """
title: Groups
studies: false
replicates: 200
thresholds: gap
interval: t
groups: [{age: {young: [0, 30], old: [60, 120]}}, device × sex, emotion]
corpora:
  calls: {format: csv, path: calls.csv}
  odd: {format: csv, path: odd.csv, groups: [one, solo, half, left × right, device, small, kind]}
  bare: {format: csv, path: bare.csv}
models:
  emotional: {predictions: emotions.csv, tasks: [arousal, valence, emotion]}
  written: {predictions: words.csv, tasks: [transcript], corpora: [calls]}
  voices: {predictions: voices.csv, tasks: [embedding], corpora: [calls, odd]}
families: [fairness_groups]
"""


def calls():
    """Twenty-four speakers: the old are served worse, and classes of men on the phone."""
    rng = np.random.default_rng(3)
    rows = []
    for s in range(24):
        age, sex, device = (22, 45, 70)[s % 3], ("female", "male")[s % 2], (MARKUP, "headset")[s // 2 % 2]
        noise, wrong = (0.35, 0.5) if age == 70 else (0.1, 0.1)
        right = 0.3 if (sex, device) == ("male", MARKUP) else 0.85
        voice = np.random.default_rng(s).standard_normal(8)
        for n in range(EACH):
            arousal, said = round(rng.random(), 4), rng.choice(WORDS, 6)
            emotion = str(rng.choice(CLASSES))
            vector = voice + rng.standard_normal(8) * (2.0 if age == 70 else 0.5)
            rows.append(
                {
                    **{"file": f"calls/{s:02d}.wav", "start": SECONDS * n, "end": SECONDS * (n + 1)},
                    **{"speaker": f"c{s:02d}", "age": age, "sex": sex, "device": device},
                    **{"arousal": arousal, "emotion": emotion, "transcript": " ".join(said)},
                    "predicted arousal": np.clip(arousal + rng.normal(0, noise), 0, 1).round(4),
                    "predicted valence": round(0.3 * rng.random() + 0.4 * (age == 70), 4),
                    "predicted emotion": emotion if rng.random() < right else str(rng.choice(CLASSES)),
                    "written": " ".join(w if rng.random() > wrong else "oops" for w in said),
                    "embedding": " ".join(map(repr, map(float, vector.round(5)))),
                }
            )
    return pd.DataFrame(rows)


def odd():
    """Columns that cannot be compared, or that must be told about."""
    rng = np.random.default_rng(4)
    rows = []
    for s in range(12):
        phone = s % 4 == 0
        for n in range(EACH + 10 * (s == 0)):
            rows.append(
                {
                    **{"file": f"odd/{s:02d}.wav", "start": SECONDS * n, "end": SECONDS * (n + 1)},
                    **{"speaker": f"o{s:02d}", "sex": "female" if s % 2 == 0 else "male", "one": "same"},
                    **{"solo": "alone" if s == 0 else "rest", "half": "" if n % 2 else "ab"[s % 2]},
                    **{"left": "l" if s < 6 else "", "right": "" if s < 6 else "r"},
                    **{"device": MARKUP if phone else "headset", "kind": "xy"[s % 2]},
                    **{"small": "few" if n == 0 and s < 9 else ("u" if s < 6 else "v")},
                    **{"arousal": rng.random(), "predicted arousal": rng.random()},
                    "embedding": " ".join(map(repr, map(float, rng.standard_normal(8)))),
                }
            )
    return pd.DataFrame(rows)


def save(folder, main, other):
    segment = ["file", "start", "end"]
    bare = pd.DataFrame({"file": [f"bare/{n}.wav" for n in range(6)], "arousal": np.linspace(0.1, 0.9, 6)})
    for name, count in (("calls", 24), ("odd", 12), ("bare", 6)):
        (folder / name).mkdir()
        for n in range(count):
            path = folder / name / (f"{n}.wav" if name == "bare" else f"{n:02d}.wav")
            soundfile.write(path, np.full(round((EACH + 10) * SECONDS * 16000), 1e-3 * (n + 1)), 16000)
    known = ["speaker", "age", "sex", "device", "arousal", "emotion", "transcript"]
    main[segment + known].to_csv(folder / "calls.csv", index=False)
    named = ["speaker", "sex", "one", "solo", "half", "left", "right", "device", "kind", "small", "arousal"]
    other[segment + named].to_csv(folder / "odd.csv", index=False)
    bare.to_csv(folder / "bare.csv", index=False)
    both = pd.concat([main, other, bare.assign(**{"predicted arousal": 0.5})])
    answers = {name: both[f"predicted {name}"] for name in ("arousal", "valence", "emotion")}
    both[segment].assign(**answers).to_csv(folder / "emotions.csv", index=False)
    main[segment].assign(transcript=main["written"]).to_csv(folder / "words.csv", index=False)
    pd.concat([main, other])[[*segment, "embedding"]].to_csv(folder / "voices.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)


@pytest.fixture(scope="module")
def run(tmp_path_factory, undrawn):
    folder = tmp_path_factory.mktemp("groups")
    save(folder, calls(), odd())
    done = undrawn("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


@pytest.fixture(scope="module")
def results(run):
    return read_results(run / "out" / "results.csv")


@pytest.fixture(scope="module")
def main():
    table = calls()
    ages = table["age"].map({22: "young", 70: "old"})
    return table.assign(**{"age": ages, "device × sex": table["device"] + " × " + table["sex"]})


def row(results, task, test, group, label=""):
    keys = {"corpus": "calls", "task": task, "test": test, "group": group, "label": label}
    found = results[np.logical_and.reduce([results[name].fillna("").eq(text) for name, text in keys.items()])]
    assert len(found) == 1, found
    return found.iloc[0]


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
        rows["transcript"].tolist(), rows["written"].tolist()
    ),
}


@pytest.mark.parametrize(("task", "test"), FORMULAS)
@pytest.mark.parametrize("column", ["age", "device × sex"])
def test_rows_equal_plain_formulas(results, main, task, test, column):
    formula, everybody = FORMULAS[task, test], main[main[column].notna()]
    for group, own in everybody.groupby(column):
        found = row(results, task, test, f"{column}: {group}")
        others = everybody[everybody[column].ne(group)]
        assert found["value"] == pytest.approx(formula(own) - formula(everybody), abs=1e-9)
        assert found["gap"] == pytest.approx(formula(own) - formula(others), abs=1e-9)
        assert found["segments"] == len(own)


def test_precision_is_that_at_the_shares_of_everybody(results, main):
    everybody = main[main["age"].notna()]
    shares = everybody["emotion"].value_counts(normalize=True)

    def precision(rows, label):
        called = {
            name: rows.loc[rows["emotion"].eq(name), "predicted emotion"].eq(label).mean() for name in CLASSES
        }
        return shares[label] * called[label] / sum(shares[name] * called[name] for name in CLASSES)

    for label in CLASSES:
        old, young = (precision(everybody[everybody["age"].eq(group)], label) for group in ("old", "young"))
        found = row(results, "emotion", "Precision Per Class", "age: old", label)
        assert found["gap"] == pytest.approx(old - young, abs=1e-9)
        assert found["value"] == pytest.approx(old - precision(everybody, label), abs=1e-9)


def test_rates_of_trials_equal_plain_counting(run, results):
    scored = pd.read_csv(run / "out" / "scores" / "voices" / "calls.fairness_groups.txt")
    ages = calls().assign(age=lambda t: t["age"].map({22: "young", 70: "old"})).set_index("file")["age"]
    ages = ages[~ages.index.duplicated()]
    first, second = (scored[side].str.split(" ").str[0] for side in ("enrol", "test"))
    wrong = scored["decision"].eq("accept").ne(first.eq(second)).to_numpy()
    groups, same = first.map(ages).to_numpy(dtype=object), first.eq(second).to_numpy()
    within = pd.notna(groups) & (groups == second.map(ages).to_numpy(dtype=object))
    for test, kind in (
        ("False Acceptance Rate Difference", ~same),
        ("False Rejection Rate Difference", same),
    ):
        everybody = wrong[within & kind].mean()
        for group in ("young", "old"):
            own, others = within & kind & (groups == group), within & kind & (groups != group)
            found = row(results, "embedding", test, f"age: {group}")
            assert found["value"] == pytest.approx(wrong[own].mean() - everybody, abs=1e-9)
            assert found["gap"] == pytest.approx(wrong[own].mean() - wrong[others].mean(), abs=1e-9)


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
def test_what_was_planted_holds(results, task, test, group):
    assert bool(row(results, task, test, group)["holds"])


def test_only_what_was_planted_holds(results):
    holds = results[results["holds"].eq(True)]
    planted = {"age: old", f"device × sex: {MARKUP} × male"}
    two = holds["group"].eq("age: young")  # of two groups the gaps of both are the same
    assert set(holds.loc[~two, "group"]) == planted
    worse_only = holds["test"].isin(["Mean Absolute Error"]) | holds["test"].str.endswith("Rate Difference")
    errors = holds[worse_only]
    assert set(counted(errors)["group"]) == {"age: old"}  # two groups are one test, of the one worse off
    assert set(errors.loc[errors["group"].ne("age: old"), "mirrors"]) == {"age: old"}


@pytest.mark.parametrize(
    ("corpus", "task", "group", "told"),
    [
        ("odd", "arousal", "one", "everything is one group: same"),
        ("odd", "arousal", "solo", "1 of 2 groups are large enough, 2 needed"),
        ("odd", "arousal", "solo: alone", "1 speaker, 2 needed"),
        ("odd", "arousal", "left × right", "no segment has a value of left × right"),
        ("odd", "arousal", "small: few", "9 segments, 25 needed"),
        ("odd", "embedding", "kind", "trials have a column kind of their own"),
        ("odd", "embedding", "left × right", "no trial lies within a group of left × right"),
        ("calls", "emotion", "emotion", "emotion is what is predicted: its groups have one label each"),
        ("calls", "arousal", "", "segments are labelled: the agreement with the labels is judged instead"),
        ("calls", "valence", "", "no segment has a label for valence: predictions are compared instead"),
    ],
)
def test_what_cannot_be_judged_says_why(results, corpus, task, group, told):
    own = results[results["corpus"].eq(corpus) & results["task"].eq(task)]
    own = own[own["group"].fillna("").eq(group) & own["value"].isna()]
    assert len(own) and own["skipped"].str.startswith(told).all(), own["skipped"].tolist()


def test_a_corpus_without_groups_has_one_row_a_task(results):
    own = results[results["corpus"].eq("bare") & results["model"].eq("emotional")]
    assert sorted(own["task"]) == ["arousal", "emotion", "valence"]
    assert own["skipped"].str.contains("name columns under groups:", regex=False).all()


def test_the_page_tells_what_is_missing_and_escapes_names(run):
    pages = {path.stem: path.read_text() for path in (run / "out" / "html").rglob("*.html")}
    assert not [name for name, page in pages.items() if MARKUP in page]
    assert "device × sex: &lt;i&gt;phone&lt;/i&gt; × male" in pages["index"]
    page = (run / "out" / "html" / "results" / "emotional" / "fairness_groups.html").read_text()
    text = re.sub(r"\s+", " ", page)
    told = "every speaker of device &lt;i&gt;phone&lt;/i&gt; is female: what differs may be the sex"
    assert told in text
    assert "125 of 250 segments have no value of half" in text
    assert "160 of 480 segments have no value of age" in text
    for words in (
        "Labels in per cent: ",
        "(✗ worse, beyond the margin)",
        "concordance of arousal (higher is better): old 0.62",
    ):
        assert words in text
    assert text.count("<audio") >= 3


def test_a_part_of_a_product_is_not_told_to_differ_by_itself(run):
    page = (run / "out" / "html" / "results" / "emotional" / "fairness_groups.html").read_text()
    assert "every speaker of device × sex" not in page


OTHERS = """
title: Few groups
studies: false
replicates: 100
thresholds: simulated
tasks: {style: {type: classification, classes: [read, acted, free]}}
corpora:
  part: {format: csv, path: part.csv, trials: trials.txt, groups: [device]}
  listed: {format: trials, path: listed.csv, audio: false}
  nobody: {format: csv, path: nobody.csv}
models:
  emotional: {predictions: emotions.csv, tasks: [arousal], corpora: [part, nobody]}
  styles: {predictions: styles.csv, tasks: [style], corpora: [part]}
  scored: {scores: scores.txt, corpora: [part]}
  written: {predictions: words.csv, tasks: [transcript], corpora: [part]}
  unknown: {scores: listed.txt, corpora: [listed]}
families: [fairness_groups]
"""


def part():
    """Ten speakers with two devices each; half of the segments have a label."""
    rng = np.random.default_rng(5)
    rows = []
    for s in range(10):
        for n in range(8):
            device, arousal = ("phone", "headset")[n % 2], round(rng.random(), 4)
            rows.append(
                {
                    **{"file": f"{s}-{n}.wav", "speaker": f"s{s}", "device": device},
                    **{"arousal": arousal if n < 6 else np.nan},
                    "predicted": round(
                        arousal + (0.3 if device == "phone" else 0.02) * rng.choice([-1, 1]), 4
                    ),
                }
            )
    return pd.DataFrame(rows)


def scores(table):
    """All pairs, with scores that are of no use between phones."""
    rng = np.random.default_rng(6)
    rows = []
    people, devices = table["speaker"].to_numpy(), table["device"].to_numpy()
    for a in range(len(table)):
        for b in range(a + 1, len(table)):
            same, phones = people[a] == people[b], devices[a] == devices[b] == "phone"
            score = rng.normal(1.0 if same else -1.0, 0.4) if not phones else rng.normal()
            rows.append(
                (
                    int(same),
                    table["file"][a],
                    table["file"][b],
                    round(float(score), 6),
                    devices[a],
                    devices[b],
                )
            )
    return pd.DataFrame(rows, columns=["same", "enrol", "test", "score", "first", "second"])


@pytest.fixture(scope="module")
def few(tmp_path_factory, undrawn):
    folder, table = tmp_path_factory.mktemp("few"), part()
    for n, file in enumerate(table["file"]):
        soundfile.write(folder / file, np.full(1600, 1e-3 * (n + 1)), 16000)
    table.drop(columns="predicted").to_csv(folder / "part.csv", index=False)
    table[["file", "arousal"]].dropna().to_csv(folder / "nobody.csv", index=False)
    table[["file"]].assign(arousal=table["predicted"]).to_csv(folder / "emotions.csv", index=False)
    styles = np.where(table["device"].eq("phone"), "read", "free")
    table[["file"]].assign(style=styles).to_csv(folder / "styles.csv", index=False)
    table[["file"]].assign(transcript="go").to_csv(folder / "words.csv", index=False)
    scored = scores(table)
    for name, columns in (
        ("trials.txt", ["same", "enrol", "test"]),
        ("scores.txt", ["score", "enrol", "test"]),
    ):
        scored[columns].to_csv(folder / name, sep=" ", header=False, index=False)
    few_trials = scored.head(200).assign(label=lambda rows: rows["same"])
    few_trials[["enrol", "test", "label"]].to_csv(folder / "listed.csv", index=False)
    few_trials[["score", "enrol", "test"]].to_csv(folder / "listed.txt", sep=" ", header=False, index=False)
    (folder / "suite.yml").write_text(OTHERS)
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder, read_results(folder / "out" / "results.csv")


def test_scores_of_a_list_are_compared_by_the_groups_of_its_recordings(few):
    folder, results = few
    scored = scores(part())
    decided = (folder / "out" / "scores" / "scored" / "part.fairness_groups.txt").read_text().split()
    same = scored["same"].eq(1)
    wrong = (scored["score"] > float(decided[-1])).ne(same)
    within = scored["first"].eq(scored["second"])
    for test, kind in (
        ("False Acceptance Rate Difference", ~same),
        ("False Rejection Rate Difference", same),
    ):
        for group in ("phone", "headset"):
            own = within & kind & scored["first"].eq(group)
            found = results[results["test"].eq(test) & results["group"].eq(f"device: {group}")].iloc[0]
            assert found["value"] == pytest.approx(wrong[own].mean() - wrong[within & kind].mean(), abs=1e-9)
            assert found["gap"] == pytest.approx(
                wrong[own].mean() - wrong[within & kind & ~own].mean(), abs=1e-9
            )
            # Two groups are one test: the row of the better one repeats the state and names the other.
            assert found["state"] == FAIL and found["holds"]
            assert found["mirrors"] == ("" if group == "phone" else "device: phone")


def test_only_labelled_segments_of_groups_within_speakers_are_compared(few, shown):
    folder, results = few
    table = part().dropna()
    errors = (table["arousal"] - table["predicted"]).abs()
    own = results[results["corpus"].eq("part") & results["test"].eq("Mean Absolute Error")]
    found = own.set_index("group")
    phone = table["device"].eq("phone")
    assert found.loc["device: phone", "gap"] == pytest.approx(
        errors[phone].mean() - errors[~phone].mean(), abs=1e-9
    )
    assert found.loc["device: phone", "segments"] == phone.sum() == 30
    assert found["state"].eq(FAIL).all() and found.loc["device: phone", "gap"] > 0
    assert found["mirrors"].to_dict() == {"device: phone": "", "device: headset": "device: phone"}
    assert own["low"].isna().all() and set(own["skipped"]) == {  # all errors of a device are of one size
        "interval withheld: nothing varies; published threshold: no simulation belongs to it"
    }
    page = shown(folder / "out", "emotional", "fairness_groups")
    assert "20 of 80 segments have no label for arousal" in page


@pytest.mark.parametrize(("model", "corpus"), [("emotional", "nobody"), ("unknown", "listed")])
def test_without_groups_or_speakers_one_row_tells(few, model, corpus):
    own = few[1][few[1]["model"].eq(model) & few[1]["corpus"].eq(corpus)]
    assert len(own) == 1 and own["skipped"].iloc[0].startswith(
        "the suite names no groups that this corpus has"
    )


def test_a_task_of_ones_own_is_shown(few, shown):
    own = few[1][few[1]["model"].eq("styles") & few[1]["value"].notna()]
    assert own["passed"].isna().all() and own["skipped"].str.startswith("no threshold for style").all()
    found = own.set_index(["group", "label"])["gap"]
    assert found["device: phone", "read"] == 1 and found["device: headset", "read"] == -1
    page = shown(few[0] / "out", "styles", "fairness_groups")
    assert "Share of predictions of style, read: lowest headset, 0" in page
    assert "○ reported" in page and "no threshold for style: shown without verdict" in page


def test_a_recogniser_without_transcripts_to_compare_with(few):
    own = few[1][few[1]["model"].eq("written")]
    assert own["skipped"].tolist() == ["the corpus has no transcripts"]
