"""Speaker verification, as it is and under stress, through the command, against loops over embeddings."""

import itertools

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from runs import Run, changed, expectations, refused, run, sound, write
from sklearn import metrics

from soundcheck.common import resources
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE, SPEAKERS, EACH = 16000, 12, 6
STRESS, PLAIN = "verification_robustness", "speaker_verification"
LEVELS = {"Noise": ["10", "2"], "Packet Loss": ["5", "40"]}
MODEL = '''
import numpy as np


def good(signal, sampling_rate):
    """Energy of some bands against that of all: noise makes all voices alike."""
    power = np.abs(np.fft.rfft(signal, 4000)) ** 2
    bands = np.log(power[:1200].reshape(40, 30).mean(axis=1) + 1e-6)
    return {"embedding": bands - bands.mean()}


def odd(signal, sampling_rate):
    number = len(signal) - 4000
    if number == 4:
        raise RuntimeError("not this voice")
    embedding = good(signal, sampling_rate)["embedding"]
    return {"embedding": {1: np.zeros(40), 2: embedding[:7], 3: "nothing"}.get(number, embedding)}


def failing(signal, sampling_rate):
    """No answer where there is noise above the voice."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    noisy = power[len(power) // 2 :].mean() > 0.02 * power[: len(power) // 2].mean()
    return {"embedding": None} if noisy else good(signal, sampling_rate)
'''
SUITE = """
title: Voices of tones
studies: false
replicates: 100
interval: t
thresholds: gap
limits: {levels: 2, transformations: {verification_robustness: [Noise, Packet Loss]}}
corpora:
  voices: {format: csv, path: data/segments.csv, trials: data/trials.txt, families: [speaker_verification]}
  made: {format: csv, path: data/segments.csv, blocks: [sex, accent], families: [FAMILY]}  # draws speakers
  listed: {format: trials, path: trials.csv, audio: false}
  enrolled: {format: csv, path: data/segments.csv, trials: models.txt, enrolments: enrolments.txt, \
families: [speaker_verification]}
  nobody: {format: csv, path: data/nobody.csv, families: [verification_robustness]}
models:
  good: {python: "voices:good", tasks: [embedding]}
  odd: {python: "voices:odd", tasks: [embedding], corpora: [voices]}
  failing: {python: "voices:failing", tasks: [embedding], corpora: [made], families: [FAMILY]}
  scored: {scores: scores.txt, corpora: [listed]}
  table: {predictions: embeddings.csv, tasks: [embedding], corpora: [voices, made]}
families: [speaker_verification, verification_robustness]
""".replace("FAMILY", STRESS)


def voice(speaker, rng, length=4000):
    """Beside a loud tone each speaker has three of her own; those of women are fainter: noise hides them."""
    generator, time = np.random.default_rng(speaker), np.arange(length) / RATE
    tones = generator.uniform(600, 2500, 3) + rng.normal(0, 80, 3)
    signal = sum((0.02 + 0.06 * (1 - speaker % 2)) * np.sin(2 * np.pi * tone * time) for tone in tones)
    return 0.3 * (np.sin(2 * np.pi * 400 * time) + signal + 0.004 * rng.standard_normal(length))


def name(speaker, number):
    return f"s{speaker:02d}/{number}.wav"


def small_thresholds():
    """Thresholds of both families with few changes and small groups, so that the run is quick."""
    plain, stress = (
        yaml.safe_load((resources.root() / f"thresholds/{family}.yml").read_text())
        for family in (PLAIN, STRESS)
    )
    plain["trials"] = {"targets": 60, "same_sex": 50, "cross_sex": 40}
    plain["options"] |= {"minimum_trials": 10, "segments": 24, "cohort_top": 4}
    plain["changes"] = {"White Noise": plain["changes"]["White Noise"]}
    stress["trials"] = {"targets": 180, "same_sex": 200, "cross_sex": 150}
    stress["options"] |= {"minimum_trials": 20, "sweep_segments": 48}
    both = {PLAIN: plain, STRESS: stress}
    return {f"thresholds/{name}.yml": yaml.safe_dump(keys, sort_keys=False) for name, keys in both.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng, scope = tmp_path_factory.mktemp("verification"), np.random.default_rng(1), {}
    exec(MODEL, scope)
    rows, known = [], {}
    for speaker, number in itertools.product(range(SPEAKERS), range(EACH)):
        file = name(speaker, number)
        length = 4001 + speaker if number == 0 and speaker < 4 else 4000
        sound(folder / "data" / file, voice(speaker, rng, length))
        rows.append((file, f"s{speaker:02d}", *(("male", "two"), ("female", "<b>one"))[speaker % 2]))
        heard = soundfile.read(folder / "data" / file, dtype="float32")[0]
        known[file] = scope["good"](heard, RATE)["embedding"]
    everybody = range(SPEAKERS)
    pairs = [(1, name(s, a), name(s, b)) for s in everybody for b in range(EACH) for a in range(b)]
    while len(pairs) < 380:
        one, two = rng.choice(SPEAKERS, 2, replace=False)
        pairs.append((0, name(one, rng.integers(EACH)), name(two, rng.integers(EACH))))
    pairs = list(dict.fromkeys(pairs))
    trials = pd.DataFrame([pairs[n] for n in rng.permutation(len(pairs))], columns=["label", "enrol", "test"])
    sides = [unit(np.array([known[file] for file in trials[side]])) for side in ("enrol", "test")]
    scores = map(repr, (sides[0] * sides[1]).sum(axis=1).tolist())
    segments = pd.DataFrame(rows, columns=["file", "speaker", "sex", "accent"])
    columns = "speaker/utterances/video spaker/utterances/video"  # a header as it is found in the wild
    listed = [" ".join(map(str, row)) for row in trials.itertuples(index=False)]
    scored = [f"{score} {pair.partition(' ')[2]}" for score, pair in zip(scores, listed, strict=True)]
    vectors = [" ".join(map(repr, vector.tolist())) for vector in known.values()]
    meetings = [(s, t) for s in everybody for t in everybody]
    files = {
        "data/segments.csv": segments,
        "data/nobody.csv": segments[["file"]],
        "data/trials.txt": [f"label {columns}", *listed],
        "trials.csv": trials[["enrol", "test", "label"]],
        "scores.txt": [f"prediction {columns}", *reversed(scored)],
        "embeddings.csv": pd.DataFrame({"file": [*known], "embedding": vectors}),
        "enrolments.txt": [f"model{s:02d} {name(s, 0)} s{s:02d}/1 {name(s, 2)}" for s in everybody],
        "models.txt": [f"model{s:02d} {name(t, 3)} {'non' * (s != t)}target" for s, t in meetings],
    }
    return write(folder, files | small_thresholds() | {"voices.py": MODEL, "suite.yml": SUITE})


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book", code=3)  # models failed on inputs


def unit(vectors):
    """Bring vectors to length one."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def units(whole, model, corpus, change=""):
    """Give the embedding of each segment, of length one; ``None`` for those without."""
    vectors = whole.predictions(model, corpus, change)["embedding"]
    each = [vectors.get(key) for key in whole.segments(corpus).index]
    return [None if vector is None else unit(np.asarray(vector, dtype=float)) for vector in each]


def trials_of(whole, corpus, family=PLAIN):
    """Give the trials of a corpus, which are targets, and the segments of each enrolment."""
    trials = pd.read_parquet(whole.out / "corpora" / f"{corpus}.{family}.trials.parquet")
    members = trials.groupby("enrolment")["members"].apply(lambda rows: [m for row in rows for m in row])
    return trials, trials["target"].to_numpy(dtype=bool), members


def scored(whole, model, corpus="voices", family=PLAIN, change=""):
    """Score the trials of a corpus from its tables, with plain loops; those that changed are tested."""
    trials, target, members = trials_of(whole, corpus, family)
    enrolled, tested, scores = units(whole, model, corpus), units(whole, model, corpus, change), []
    for trial in trials.itertuples():
        vectors = [enrolled[m] for m in members[trial.enrolment] if enrolled[m] is not None]
        complete = vectors and tested[trial.segment] is not None
        mean = np.mean(vectors, axis=0) if complete else None
        scores.append(mean @ tested[trial.segment] / np.linalg.norm(mean) if complete else np.nan)
    return np.array(scores), target


def rates(scores, target):
    """Give both error rates at all thresholds: accepted non-targets, rejected targets."""
    accepted, right, _ = metrics.roc_curve(target, scores, drop_intermediate=False)
    return accepted, 1 - right


def equal_error(scores, target):
    far, frr = rates(scores, target)
    return np.interp(0, far - frr, frr)


def lowest_cost(scores, target, p=0.05, miss=1):
    """Lowest detection cost, in units of that of the better of accepting and rejecting everybody."""
    far, frr = rates(scores, target)
    return (miss * p * frr + (1 - p) * far).min() / min(miss * p, 1 - p)


def test_failures_are_told_and_all_else_works(whole):
    reasons = pd.read_csv(whole.out / "left_out.csv").query("model == 'odd'").set_index("item")["reason"]
    assert [reasons[name(speaker, 0)] for speaker in range(4)] == [
        "embedding is a vector of zeros, which has no direction",
        "embedding has 7 numbers; most have 40, and others cannot be compared",
        "embedding is the text 'nothing', not a vector of numbers",
        "RuntimeError: not this voice",
    ]
    assert not whole.results["skipped"].str.contains("not computed").any()


@pytest.mark.parametrize(("model", "corpus"), [("good", "enrolled"), ("odd", "voices")])
def test_equal_error_rate(whole, model, corpus):
    scores, target = scored(whole, model, corpus)
    known = ~np.isnan(scores)
    expected = equal_error(scores[known], target[known])
    row = whole.row("Equal Error Rate", model=model, corpus=corpus)
    assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert 0.02 < expected < 0.45 and 0.3 < row["reference"] < 0.7  # neither trivial nor hopeless
    assert (row["segments"], row["blocks"]) == (known.sum(), SPEAKERS)
    assert row["low"] <= row["value"] <= row["high"] and known.all() == (model == "good")


def test_costs(whole):
    scores, target = scored(whole, "good")
    cllr = np.logaddexp(0, -scores[target]).mean() + np.logaddexp(0, scores[~target]).mean()
    for test, label, expected in (
        ("Minimum Detection Cost", "", 0.05 * lowest_cost(scores, target)),
        ("Normalised Minimum Detection Cost", "nist 2008", lowest_cost(scores, target, 0.01, 10)),
        ("Log Likelihood Cost", "", cllr / 2 / np.log(2)),
    ):
        row = whole.row(test, label, model="good", corpus="voices")
        assert row["value"] == pytest.approx(expected, abs=1e-9), test
    best = pd.read_csv(whole.out / "estimates.csv").query("condition == 'tested half, best threshold'")
    best = best.query("model == 'good' and corpus == 'voices'").set_index("measure")["value"]
    both = best["false_acceptance_rate"], best["false_rejection_rate"]
    assert best["actual_dcf"] == pytest.approx(19 * both[0] + both[1])


def test_scores_and_tables_from_elsewhere_say_the_same_as_the_model(whole):
    expected = whole.row("Equal Error Rate", model="good", corpus="voices")
    for model, corpus in (("scored", "listed"), ("table", "voices")):
        row = whole.row("Equal Error Rate", model=model, corpus=corpus)
        for column in ("value", "low", "high", "segments", "blocks"):
            assert row[column] == pytest.approx(expected[column], abs=1e-6), (model, column)
    assert "listed" not in set(whole.rows(model="good")["corpus"])  # there is nothing to hear


def decisions(whole, model, corpus):
    path = whole.out / "scores" / model / f"{corpus}.{PLAIN}.txt"
    return pd.read_csv(path, sep=" ", dtype={"enrol": str, "test": str})


@pytest.mark.parametrize(("model", "corpus"), [("good", "voices"), ("scored", "listed")])
def test_score_files_hold_the_decisions_at_the_equal_error_rate(whole, model, corpus):
    file, (trials, target, _) = decisions(whole, model, corpus), trials_of(whole, corpus)
    assert file.columns.tolist() == ["score", "enrol", "test", "decision", "threshold"]
    assert len(file) == len(trials) and file["threshold"].nunique() == 1
    if corpus == "voices":  # in the order of the list
        assert file[["enrol", "test"]].to_numpy().tolist() == trials[["enrol", "test"]].to_numpy().tolist()
        np.testing.assert_allclose(file["score"], scored(whole, "good")[0], atol=1e-12)
    accepted = file["decision"].eq("accept").to_numpy()
    np.testing.assert_array_equal(accepted, file["score"] > file["threshold"])
    far, frr = accepted[~target].mean(), 1 - accepted[target].mean()
    of = {"model": model, "corpus": corpus}
    assert whole.row("Actual Detection Cost", **of)["value"] == pytest.approx(frr + 19 * far)
    assert [far, frr] == pytest.approx([whole.row("Equal Error Rate", **of)["value"]] * 2, abs=0.03)


def test_a_score_file_is_an_input_of_another_run(folder, whole, undrawn):
    suite = (
        "corpora: {voices: {format: trials, path: ../data/trials.txt, audio: false}}\nstudies: false\n"
        "models: {same: {scores: scores.txt}, fixed: {scores: scores.txt}}\n"
        f"families: [{PLAIN}]\nreplicates: 100\n"
    )
    plain, scores = f"thresholds/{PLAIN}.yml", (whole.out / f"scores/good/voices.{PLAIN}.txt").read_text()
    fixed = {"threshold: equal error rate": "threshold: {default: equal error rate, fixed: 0.4}"}
    files = {plain: changed(small_thresholds()[plain], fixed), "suite.yml": suite, "scores.txt": scores}
    other = run(undrawn, write(folder / "again", files), "--no-book")
    before, at = decisions(whole, "good", "voices"), decisions(other, "fixed", "voices")
    pd.testing.assert_frame_equal(decisions(other, "same", "voices"), before)
    assert at["threshold"].eq(0.4).all()
    assert at["decision"].tolist() == ["accept" if score > 0.4 else "reject" for score in before["score"]]


def test_pages_say_and_play(whole):
    for page, texts in expectations("verification", "pages").items():
        html = whole.shown(*page.split("/")[1:])
        assert [text for text in texts if text not in html] == [] and "<b>one" not in html
    assert whole.shown("good", PLAIN).count("<audio") == 2 * 13  # sides of wrong decisions
    assert "<audio" not in whole.shown("scored", PLAIN)


def test_what_cannot_be_tested_says_why(whole):
    for cells, why in expectations("verification", "reasons"):
        assert all(why in reason for reason in whole.reasons(**cells)), cells


# Under stress -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stressed(whole):
    """Scores of the trials whose tested side was changed: (change, level) -> scores; which are targets."""
    transformations = read_family(STRESS, whole.out.parent).transformations
    identities = {(n, level): transformations[n].steps[level].identity for n in LEVELS for level in LEVELS[n]}

    def of(model):
        heard = whole.predictions(model, "made", identities["Noise", "2"]).index
        trials, target, _ = trials_of(whole, "made", STRESS)
        tested, scores = whole.segments("made").index[trials["segment"]].isin(heard), {}
        for step, identity in (identities | {("", ""): ""}).items():
            scores[step] = scored(whole, model, "made", STRESS, identity)[0][tested]
        return scores, target[tested]

    return of


def test_changes_are_those_of_plain_loops(whole, stressed):
    change = "Noise"
    for model, measure in (("good", equal_error), ("good", lowest_cost), ("failing", equal_error)):
        scores, target = stressed(model)
        level, before = LEVELS[change][0], scores["", ""]
        after = np.nan_to_num(scores[change, level], nan=-2)  # a missing one is rejected
        test = {equal_error: "Equal Error Rate", lowest_cost: "Minimum Detection Cost"}[measure]
        row = whole.row(f"{test} Change", f"{change} {level}", model=model, corpus="made")
        assert row["value"] == pytest.approx(measure(after, target) - measure(before, target), abs=1e-9)
        assert (row["segments"], row["blocks"], row["reference"]) == (len(target), SPEAKERS, 0)
        assert row["low"] <= row["value"] <= row["high"]
    same = whole.row("Minimum Detection Cost Change", "Packet Loss 5", model="good", corpus="made")
    assert (same["value"], same["skipped"]) == (0, "interval withheld: nothing varies")
    row = whole.row("Equal Error Rate Change", "Noise 10", model="failing")
    assert row["value"] > 0.1 and row["passed"] is False  # no answer is no gain


def test_slips_are_told_at_once(folder, command):
    for old, new, message in (
        ("[Noise, Packet Loss]", "[Nois]", f"{STRESS} has no change from mild to severe 'Nois'"),
        ("[listed]", "[made]", "no corpus that it is asked about brings a list of trials"),
    ):
        write(folder, {"slip.yml": changed(SUITE, {old: new})})
        assert message in refused(command, folder, "run", "slip.yml", "--out", "slip")
