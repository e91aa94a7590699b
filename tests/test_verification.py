"""Speaker verification through the command: voices of tones, lists of trials, scores without audio."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml

from soundcheck.common import resources, seeds
from soundcheck.metrics.calibration import fit_calibration

pytestmark = pytest.mark.slow

RATE = 16000
SPEAKERS, EACH = 12, 4
MODEL = '''
import numpy as np


def embed(signal):
    """Measure the energy of some bands against that of all."""
    power = np.abs(np.fft.rfft(signal, 4000)) ** 2
    bands = np.log(power[:1200].reshape(40, 30).mean(axis=1) + 1e-6)
    return bands - bands.mean()


def good(signal, sampling_rate):
    return {"embedding": embed(signal).astype("float32")}


def odd(signal, sampling_rate):
    number = len(signal) - 4000
    if number == 1:
        return {"embedding": np.zeros(40)}
    if number == 2:
        return {"embedding": embed(signal)[:7]}
    if number == 3:
        return {"embedding": "nothing"}
    if number == 4:
        raise RuntimeError("not this voice")
    return {"embedding": embed(signal)}
'''
SUITE = """
title: Voices of tones
studies: false
replicates: 200
corpora:
  voices: {format: csv, path: data/segments.csv, trials: data/trials.txt}
  made: {format: csv, path: data/segments.csv, blocks: [sex, accent]}  # trials draw speakers all the same
  listed: {format: trials, path: trials.csv, audio: false}
  enrolled: {format: csv, path: data/segments.csv, trials: models.txt, enrolments: enrolments.txt}
models:
  good: {python: "voices:good", tasks: [embedding]}
  odd: {python: "voices:odd", tasks: [embedding], corpora: [voices]}
  scored: {scores: scores.txt, corpora: [listed]}
  table: {predictions: embeddings.csv, tasks: [embedding], corpora: [voices]}
families: [speaker_verification]
"""


def name(speaker, number):
    return f"s{speaker:02d}/{number}.wav"


def voice(speaker, rng, length):
    """Each speaker has three tones of her own; women's are higher."""
    own = np.random.default_rng(speaker)
    time = np.arange(length) / RATE
    tones = own.uniform(300, 1500, 3) + (800 if speaker < SPEAKERS // 2 else 0)
    signal = sum(np.sin(2 * np.pi * (tone + rng.normal(0, 60)) * time) for tone in tones)
    return 0.05 * signal + rng.uniform(0.05, 0.3) * rng.standard_normal(length)


def listed_trials():
    """All pairs of one speaker, and some of two."""
    rng = np.random.default_rng(5)
    same = [
        (1, name(s, a), name(s, b)) for s in range(SPEAKERS) for a in range(EACH) for b in range(a + 1, EACH)
    ]
    other = []
    while len(other) < 200:
        one, two = rng.choice(SPEAKERS, 2, replace=False)
        other.append((0, name(one, rng.integers(EACH)), name(two, rng.integers(EACH))))
    found = list(dict.fromkeys([*same, *other]))
    return [found[n] for n in rng.permutation(len(found))]


def reference_eer(scores, target):
    """Sweep all thresholds with plain loops."""
    targets, others = scores[target], scores[~target]
    points = [(1.0, 0.0)]
    for threshold in sorted(set(scores)):
        points.append((np.mean(others > threshold), np.mean(targets <= threshold)))
    for (far, frr), (next_far, next_frr) in zip(points, points[1:], strict=False):
        if next_far <= next_frr:
            part = (far - frr) / ((far - frr) - (next_far - next_frr))
            return frr + part * (next_frr - frr)
    raise AssertionError


def small_thresholds():
    """The family's own file with few changes and small groups, so that the run is quick."""
    path = resources.root() / "thresholds" / "speaker_verification.yml"
    content = yaml.safe_load(path.read_text())
    content["trials"] = {"targets": 60, "same_sex": 50, "cross_sex": 40}
    content["options"] |= {"minimum_trials": 10, "minimum_speakers": 5, "segments": 24, "cohort_top": 4}
    kept = {"White Noise"}
    dropped = set(content["changes"]) - kept
    content["changes"] = {change: content["changes"][change] for change in kept}
    content["tests"] = {
        test: about
        for test, about in content["tests"].items()
        if not any(test.endswith(change) for change in dropped)
    }
    return yaml.safe_dump(content, sort_keys=False)


def make_project(folder):
    rng = np.random.default_rng(1)
    rows = ["file,speaker,sex,accent"]
    lengths = {(0, 0): 4001, (1, 0): 4002, (2, 0): 4003, (3, 0): 4004}
    known = {}
    scope = {}
    exec(MODEL, scope)
    for speaker in range(SPEAKERS):
        (folder / "data" / f"s{speaker:02d}").mkdir(parents=True)
        for number in range(EACH):
            signal = voice(speaker, rng, lengths.get((speaker, number), 4000))
            path = folder / "data" / name(speaker, number)
            soundfile.write(path, signal, RATE, subtype="PCM_16")
            sex = "female" if speaker < SPEAKERS // 2 else "male"
            rows.append(f"{name(speaker, number)},s{speaker:02d},{sex},{'<b>one' if speaker % 2 else 'two'}")
            heard = soundfile.read(path, dtype="float32")[0]
            known[name(speaker, number)] = scope["good"](heard, RATE)["embedding"].astype(float)
    trials = listed_trials()
    (folder / "data" / "segments.csv").write_text("\n".join(rows))
    lines = [f"{label} {one} {other}" for label, one, other in trials]
    columns = "speaker/utterances/video spaker/utterances/video"  # a header as it is found in the wild
    (folder / "data" / "trials.txt").write_text(f"label {columns}\n" + "\n".join(lines))
    cosines = [
        known[one] @ known[other] / np.linalg.norm(known[one]) / np.linalg.norm(known[other])
        for _, one, other in trials
    ]
    table = [f"{one},{other},{label}" for label, one, other in trials]
    (folder / "trials.csv").write_text("enrol,test,label\n" + "\n".join(table))
    scored = [
        f"{float(score)!r} {one} {other}" for score, (_, one, other) in zip(cosines, trials, strict=True)
    ]
    (folder / "scores.txt").write_text(f"prediction {columns}\n" + "\n".join(reversed(scored)))
    vectors = [f"{file},{' '.join(map(repr, map(float, vector)))}" for file, vector in known.items()]
    (folder / "embeddings.csv").write_text("file,embedding\n" + "\n".join(vectors))
    enrolments = [f"model{s:02d} {name(s, 0)} s{s:02d}/1 {name(s, 2)}" for s in range(SPEAKERS)]
    (folder / "enrolments.txt").write_text("\n".join(enrolments))
    against = [
        f"model{s:02d} {name(t, 3)} {'target' if s == t else 'nontarget'}"
        for s in range(SPEAKERS)
        for t in range(SPEAKERS)
    ]
    (folder / "models.txt").write_text("\n".join(against))
    (folder / "voices.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    (folder / "thresholds").mkdir()
    (folder / "thresholds" / "speaker_verification.yml").write_text(small_thresholds())


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder = tmp_path_factory.mktemp("verification")
    make_project(folder)
    settings = {"SOUNDCHECK_CACHE": str(shared_cache), "SOUNDCHECK_DEMO_SIZE": "small"}
    return folder, command("run", "suite.yml", cwd=folder, **settings)


@pytest.fixture(scope="module")
def results(run):
    return pd.read_csv(run[0] / "build" / "results.csv", keep_default_na=False, na_values=[""])


def row(results, model, corpus, test, label="", group=""):
    found = results[results["model"].eq(model) & results["corpus"].eq(corpus) & results["test"].eq(test)]
    found = found[(found["label"].fillna("") == label) & (found["group"].fillna("") == group)]
    assert len(found) == 1, found
    return found.iloc[0]


def trial_scores(run, model, corpus="voices"):
    """Score the trials of a corpus from its tables, with plain loops."""
    build = run[0] / "build"
    trials = pd.read_parquet(build / "corpora" / f"{corpus}.speaker_verification.trials.parquet")
    segments = pd.read_parquet(build / "corpora" / f"{corpus}.parquet")
    table = pd.read_parquet(build / "predictions" / model / f"{corpus}.parquet")
    vectors = table[table["change"] == ""].set_index("key")["embedding"]
    unit = {}
    for number, key in enumerate(segments["key"]):
        vector = vectors[key]
        vector = None if vector is None else np.asarray(vector, dtype=np.float64)
        unit[number] = None if vector is None else vector / np.linalg.norm(vector)
    members = trials.groupby("enrolment")["members"].apply(lambda rows: [m for row in rows for m in row])
    found = []
    for trial in trials.itertuples():
        own = [unit[m] for m in members[trial.enrolment] if unit[m] is not None]
        tested = unit[trial.segment]
        if not own or tested is None:
            found.append(np.nan)
        else:
            mean = np.mean(own, axis=0)
            found.append(mean @ tested / np.linalg.norm(mean))
    return np.array(found), trials


def test_run_is_complete_and_tells_failures(run, results):
    folder, done = run
    assert done.returncode == 3, done.stdout + done.stderr  # one model failed on inputs; the book is there
    record = json.loads((folder / "build" / "run.json").read_text())
    assert all(entry["status"] == "ok" for entry in record["notebooks"]), record["notebooks"]
    for model in ("good", "odd", "scored", "table"):
        assert (folder / "build" / "html" / "results" / model / "speaker_verification.html").is_file()
    reasons = pd.read_csv(folder / "build" / "left_out.csv").query("model == 'odd'")
    clean = reasons[~reasons["item"].str.contains("White Noise|Duration, ")].set_index("item")["reason"]
    assert clean.to_dict() == {
        name(0, 0): "embedding is a vector of zeros, which has no direction",
        name(1, 0): "embedding has 7 numbers; most have 40, and others cannot be compared",
        name(2, 0): "embedding is the text 'nothing', not a vector of numbers",
        name(3, 0): "RuntimeError: not this voice",
    }
    assert results["skipped"].fillna("").str.contains("not computed").sum() == 0


@pytest.mark.parametrize(
    ("model", "corpus"), [("good", "voices"), ("good", "made"), ("good", "enrolled"), ("odd", "voices")]
)
def test_equal_error_rate_of_the_tables(run, results, model, corpus):
    scores, trials = trial_scores(run, model, corpus)
    there = ~np.isnan(scores)
    expected = reference_eer(scores[there], trials["target"].to_numpy()[there])
    found = row(results, model, corpus, "Equal Error Rate")
    assert found["value"] == pytest.approx(expected, abs=1e-9)
    assert 0.02 < expected < 0.45  # neither trivial nor hopeless
    assert found["segments"] == there.sum()
    assert found["blocks"] == SPEAKERS
    assert found["low"] <= found["value"] <= found["high"]
    assert 0.3 < found["reference"] < 0.7
    assert there.all() == (model == "good")


def test_costs(run, results):
    scores, trials = trial_scores(run, "good")
    target = trials["target"].to_numpy()
    thresholds = np.append(-np.inf, np.unique(scores))
    frr = np.array([np.mean(scores[target] <= t) for t in thresholds])
    far = np.array([np.mean(scores[~target] > t) for t in thresholds])
    lowest = (0.05 * frr + 0.95 * far).min()
    assert row(results, "good", "voices", "Minimum Detection Cost")["value"] == pytest.approx(
        lowest, abs=1e-9
    )
    for label, p, miss in (
        ("voxceleb", 0.05, 1),
        ("nist 2016", 0.01, 1),
        ("nist 2008", 0.01, 10),
        ("balanced", 0.5, 1),
    ):
        cost = (miss * p * frr + (1 - p) * far).min() / min(miss * p, 1 - p)
        found = row(results, "good", "voices", "Normalised Minimum Detection Cost", label)
        assert found["value"] == pytest.approx(cost, abs=1e-9)
    cllr = np.logaddexp(0, -scores[target]).mean() + np.logaddexp(0, scores[~target]).mean()
    found = row(results, "good", "voices", "Log Likelihood Cost")
    assert found["value"] == pytest.approx(cllr / 2 / np.log(2), abs=1e-9)


def halves(trials, seed=0):
    """Deal speakers, and say which trials lie within the half that fits, and within the other one."""
    sides = [trials[f"{side}_speaker"].to_numpy() for side in ("enrol", "test")]
    names = sorted(set(sides[0]) | set(sides[1]))
    draws = dict(zip(names, seeds.uniform(seed, "calibration", keys=names), strict=True))
    first = sorted(names, key=draws.get)[: len(names) // 2]
    inside = [np.array([name in first for name in side]) for side in sides]
    return inside[0] & inside[1], ~inside[0] & ~inside[1]


def loop_rates(scores, target, threshold):
    accepted = [score > threshold for score in scores]
    hits = [ok for ok, same in zip(accepted, target, strict=True) if same]
    alarms = [ok for ok, same in zip(accepted, target, strict=True) if not same]
    return sum(alarms) / len(alarms), 1 - sum(hits) / len(hits)


@pytest.mark.parametrize(("model", "corpus"), [("good", "voices"), ("scored", "listed"), ("good", "made")])
def test_what_is_fitted_on_half_of_the_speakers_is_tested_on_the_others(run, results, model, corpus):
    scores, trials = trial_scores(run, "good", "voices" if corpus == "listed" else corpus)
    target = trials["target"].to_numpy(dtype=bool)
    fitting, tested = halves(trials)
    assert not fitting[tested].any() and fitting.any() and tested.any()
    line = fit_calibration(scores[fitting], target[fitting])  # against scikit-learn in its own tests
    ratios, same = line.slope * scores[tested] + line.offset, target[tested]
    far, frr = loop_rates(ratios, same, np.log(0.95 / 0.05))
    actual = (0.05 * frr + 0.95 * far) / 0.05
    found = row(results, model, corpus, "Carried Detection Cost")
    assert found["value"] == pytest.approx(actual, abs=1e-9)
    assert (found["segments"], found["blocks"]) == (tested.sum(), SPEAKERS // 2)
    rates = [loop_rates(scores[tested], same, at) for at in [-np.inf, *scores[tested]]]
    lowest = min((0.05 * frr + 0.95 * far) / 0.05 for far, frr in rates)
    found = row(results, model, corpus, "Cost Of Carrying Over")
    assert found["value"] == pytest.approx(actual - lowest, abs=1e-9)
    bits = np.log2(1 + np.exp(-ratios[same])).mean() + np.log2(1 + np.exp(ratios[~same])).mean()
    found = row(results, model, corpus, "Calibrated Log Likelihood Cost")
    assert found["value"] == pytest.approx(bits / 2, abs=1e-9)


def unit(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("corpus", ["voices", "enrolled"])
def test_scores_against_a_cohort(run, results, corpus):
    build = run[0] / "build"
    scores, trials = trial_scores(run, "good", corpus)
    segments = pd.read_parquet(build / "corpora" / f"{corpus}.parquet")
    table = pd.read_parquet(build / "predictions" / "good" / f"{corpus}.parquet")
    vectors = table[table["change"] == ""].set_index("key")["embedding"]
    units = [unit(np.asarray(vectors[key], dtype=float)) for key in segments["key"]]
    members = {}
    for trial in trials.itertuples():  # an enrolment's recordings stand where it comes first
        members.setdefault(trial.enrolment, []).extend(trial.members)
    in_cohort, tested = halves(trials)
    own = {}  # recordings of each speaker of the cohort
    for trial in trials[in_cohort].itertuples():
        own.setdefault(trial.test_speaker, set()).add(trial.segment)
        own.setdefault(trial.enrol_speaker, set()).update(members[trial.enrolment])
    cohort = [unit(np.mean([units[n] for n in sorted(rows)], axis=0)) for rows in own.values()]
    assert len(cohort) == SPEAKERS // 2
    found = {"z-norm": [], "t-norm": [], "s-norm": [], "adaptive s-norm": []}
    for trial, score in zip(trials[tested].itertuples(), scores[tested], strict=True):
        enrolled = unit(np.mean([units[n] for n in members[trial.enrolment]], axis=0))
        sides = [sorted(side @ other for other in cohort) for side in (enrolled, units[trial.segment])]
        z, t = ((score - np.mean(side)) / np.std(side) for side in sides)
        near = [(score - np.mean(side[-4:])) / np.std(side[-4:]) for side in sides]
        for name, value in zip(found, (z, t, (z + t) / 2, np.mean(near)), strict=True):
            found[name].append(value)
    target = trials["target"].to_numpy(dtype=bool)[tested]
    before = reference_eer(scores[tested], target)
    for name, values in found.items():
        gain = row(results, "good", corpus, "Eer Gain By Cohort", name)
        assert gain["value"] == pytest.approx(before - reference_eer(np.array(values), target), abs=1e-9)
        assert gain["blocks"] == SPEAKERS // 2


def test_more_recordings_are_enrolled_on_the_page(run):
    pages = run[0] / "build" / "html" / "results"
    good, scored = ((pages / model / "speaker_verification.html").read_text() for model in ("good", "scored"))
    assert "Equal error rate by enrolled recordings, voices" in good
    assert "listed: a table of scores has no embeddings to enrol anybody with" in scored


def test_scores_without_audio_have_no_cohort(run, results):
    skipped = row(results, "scored", "listed", "Eer Gain By Cohort")["skipped"]
    assert skipped == "scores of a table cannot be compared with a cohort: there are no embeddings"
    page = (run[0] / "build" / "html" / "results" / "scored" / "speaker_verification.html").read_text()
    assert "listed: scores are not normalised, scores of a table cannot" in page


def test_scores_and_tables_from_elsewhere_say_the_same_as_the_model(results):
    own = row(results, "good", "voices", "Equal Error Rate")
    for model, corpus in (("scored", "listed"), ("table", "voices")):
        found = row(results, model, corpus, "Equal Error Rate")
        for column in ("value", "low", "high", "segments", "blocks"):
            assert found[column] == pytest.approx(own[column], abs=1e-6), (model, column)
        skipped = row(results, model, corpus, "Change Eer White Noise")
        assert "cannot answer for changed signals" in skipped["skipped"]
    assert set(results.loc[results["model"] == "scored", "corpus"]) == {"listed"}
    assert "listed" not in set(results.loc[results["model"] == "good", "corpus"])  # there is nothing to hear


def test_groups_at_the_common_threshold(run, results):
    scores, trials = trial_scores(run, "good")
    segments = pd.read_csv(run[0] / "data" / "segments.csv").set_index("file")
    target = trials["target"].to_numpy()
    thresholds = np.unique(scores)
    far = np.array([np.mean(scores[~target] > t) for t in thresholds])
    frr = np.array([np.mean(scores[target] <= t) for t in thresholds])
    at = int(np.argmax(far <= frr))  # the threshold in use lies between this score and the one before
    sides = [segments.loc[trials[side], "sex"].to_numpy() for side in ("enrol", "test")]
    for sex in ("female", "male"):
        both = (sides[0] == sex) & (sides[1] == sex)
        found = row(results, "good", "voices", "False Acceptance Rate Difference", group=f"sex: {sex}")
        own, any_group = (scores[mask & ~target] for mask in (both, sides[0] == sides[1]))
        rates = [np.mean(own > t) - np.mean(any_group > t) for t in (thresholds[at - 1], thresholds[at])]
        assert min(rates) - 1e-9 <= found["value"] <= max(rates) + 1e-9
        assert found["segments"] == both.sum()
    accents = results[
        results["test"].eq("False Rejection Rate Difference")
        & results["model"].eq("good")
        & results["group"].str.startswith("accent")
    ]
    assert set(accents.loc[accents["corpus"] == "voices", "group"]) == {"accent: <b>one", "accent: two"}


def test_noise_on_the_tested_side_makes_it_worse(results):
    found = row(results, "good", "voices", "Change Eer White Noise")
    assert 0 < found["segments"] < row(results, "good", "voices", "Equal Error Rate")["segments"]
    assert found["low"] <= found["value"] <= found["high"]


def test_score_files_have_the_order_of_the_list(run):
    folder = run[0] / "build" / "scores" / "good"
    header, *lines = (folder / "voices.speaker_verification.txt").read_text().splitlines()
    assert header == "score enrol test decision threshold"
    scores, trials = trial_scores(run, "good")
    assert [line.split()[1:3] for line in lines] == trials[["enrol", "test"]].to_numpy().tolist()
    np.testing.assert_allclose([float(line.split()[0]) for line in lines], scores, atol=1e-12)
    with_nan = (run[0] / "build" / "scores" / "odd" / "voices.speaker_verification.txt").read_text()
    assert len(with_nan.splitlines()) == 1 + np.isfinite(trial_scores(run, "odd")[0]).sum()


def decisions(run, model, corpus):
    path = run[0] / "build" / "scores" / model / f"{corpus}.speaker_verification.txt"
    text = path.read_text()
    return pd.read_csv(path, sep="," if text.startswith('"') else " ", dtype={"enrol": str, "test": str})


@pytest.mark.parametrize(("model", "corpus"), [("good", "voices"), ("good", "made"), ("scored", "listed")])
def test_decisions_are_those_at_the_equal_error_rate(run, results, model, corpus):
    found = decisions(run, model, corpus)
    trials = pd.read_parquet(run[0] / "build" / "corpora" / f"{corpus}.speaker_verification.trials.parquet")
    assert len(found) == len(trials) and found["threshold"].nunique() == 1
    accepted = found["decision"].eq("accept").to_numpy()
    assert found["decision"].isin(["accept", "reject"]).all()
    np.testing.assert_array_equal(accepted, found["score"] > found["threshold"])
    target = trials["target"].to_numpy(dtype=bool)
    far, frr = accepted[~target].mean(), 1 - accepted[target].mean()
    cost = (0.05 * frr + 0.95 * far) / 0.05  # of the decisions, as on the page
    assert row(results, model, corpus, "Actual Detection Cost")["value"] == pytest.approx(cost)
    equal = row(results, model, corpus, "Equal Error Rate")["value"]
    assert min(far, frr) - 0.01 <= equal <= max(far, frr) + 0.01


def test_a_score_file_is_an_input_of_another_run(run, results, undrawn, shared_cache):
    folder = run[0] / "again"
    (folder / "thresholds").mkdir(parents=True)
    scores = run[0] / "build" / "scores" / "good" / "voices.speaker_verification.txt"
    shutil.copy(scores, folder / "scores.txt")
    shutil.copy(run[0] / "data" / "trials.txt", folder)
    family, option = small_thresholds(), "threshold: equal error rate"
    assert family.count(option) == 1
    family = family.replace(option, "threshold: {default: equal error rate, fixed: 0.4}")
    (folder / "thresholds" / "speaker_verification.yml").write_text(family)
    (folder / "suite.yml").write_text(
        "studies: false\nreplicates: 200\n"
        "corpora:\n  voices: {format: trials, path: trials.txt, audio: false}\n"
        "models:\n  same: {scores: scores.txt}\n  fixed: {scores: scores.txt}\n"
        "families: [speaker_verification]\n"
    )
    done = undrawn("run", "suite.yml", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache))
    assert done.returncode == 0, done.stdout + done.stderr
    frame = pd.read_csv(folder / "build" / "results.csv", keep_default_na=False, na_values=[""])
    first = row(results, "good", "voices", "Equal Error Rate")
    assert row(frame, "same", "voices", "Equal Error Rate")["value"] == first["value"]
    before = decisions(run, "good", "voices")
    pd.testing.assert_frame_equal(decisions((folder,), "same", "voices"), before)
    fixed = decisions((folder,), "fixed", "voices")
    assert fixed["threshold"].eq(0.4).all()
    assert fixed["decision"].tolist() == ["accept" if s > 0.4 else "reject" for s in before["score"]]


def test_page_escapes_groups_and_plays_pairs(run):
    html = run[0] / "build" / "html" / "results"
    page = (html / "good" / "speaker_verification.html").read_text()
    assert "<b>one" not in page and "&lt;b&gt;one" in page
    assert page.count("<audio") == 3 * 2 * 4 * 2  # corpora, kinds, trials, sides
    assert "Two speakers that sound alike to the model" in page
    without = (html / "scored" / "speaker_verification.html").read_text()
    assert "<audio" not in without
    assert "s00/0.wav with" in without or "with s" in without


def test_second_run_computes_nothing(run, command, shared_cache):
    folder = run[0]
    notebook = folder / "build" / "notebooks" / "good" / "speaker_verification.ipynb"
    before = (folder / "build" / "results.csv").read_bytes(), notebook.stat().st_mtime_ns
    settings = {"SOUNDCHECK_CACHE": str(shared_cache), "SOUNDCHECK_DEMO_SIZE": "small"}
    done = command("run", "suite.yml", "--no-book", cwd=folder, **settings)
    assert done.returncode == 3
    assert ((folder / "build" / "results.csv").read_bytes(), notebook.stat().st_mtime_ns) == before


# What is refused, all at once -------------------------------------------------------------------------------


REFUSED = """
studies: false
sweeps: false
corpora:
{corpora}
models:
{models}
families: [speaker_verification]
"""
MINE = 'python: "voices:good", tasks: [embedding]'
LISTED = "format: csv, path: segments.csv, trials: {}.txt"
GOOD = "1 a.wav b.wav\n0 a.wav c.wav"
BAD_LISTS = {  # name: the list, what is told
    "label": ("1 a.wav b.wav\n2 a.wav c.wav\n1 a.wav c.wav", ["label.txt line 2", "'2'"]),
    "twice": ("1 a.wav b.wav\n0 a.wav b.wav\n0 a.wav c.wav", ["twice.txt lines 1 and 2"]),
    "missing": (
        "1 a.wav b.wav\n0 a.wav gone.wav\n0 lost.wav c.wav",
        [
            "missing.txt line 2: no segment is called 'gone.wav'",
            "missing.txt line 3: no segment is called 'lost.wav'",
        ],
    ),
    "speakers": ("1 a.wav c.wav\n0 b.wav c.wav", ["speakers.txt line 1", "'anna' and 'ben'"]),
    "itself": ("0 a.wav a.wav\n1 a.wav b.wav", ["itself.txt line 1", "with itself and says two speakers"]),
    "words": ("1 a.wav\n1 a.wav b.wav\n0 a.wav c.wav", ["words.txt line 1"]),
    "mixed": (  # most lines decide
        "1 a.wav b.wav\na.wav c.wav nontarget\nb.wav c.wav nontarget",
        ["mixed.txt line 1: 'b.wav' is not a valid label"],
    ),
    "empty": ("", ["empty.txt: the file is empty"]),
}
BAD_SCORES = {
    "nan": ("0.5 a.wav b.wav\nnan a.wav c.wav", "nan.txt line 2"),
    "infinite": ("0.5 a.wav b.wav\ninf a.wav c.wav", "infinite.txt line 2"),
    "short": ("0.5 a.wav b.wav", "short.txt: no score for the trial 'a.wav' 'c.wav'"),
    "foreign": ("0.5 x.wav y.wav", "no score belongs to a trial"),
    "numbers": ("0.5\n0.1\n0.2", "the file has 3 scores without names, the list 2 trials"),
    "twice": ("0.5 a.wav b.wav\n0.1 a.wav c.wav\n0.6 a.wav b.wav", "twice.txt lines 1 and 3"),
}
DEGENERATE = {  # list, why there is no rate, the rate
    "targets": ("1 a.wav b.wav\n1 b.wav a.wav", "no non-target trials", None),
    "others": ("0 a.wav c.wav\n0 b.wav c.wav", "no target trials", None),
    "equal": (GOOD, "", 0.5),  # equal scores say nothing
    "again": ("1 b.wav a.wav\n1 b.wav a.wav\n0 b.wav c.wav", "", 0.0),  # kept
}
SCORES = "0.5 a.wav b.wav\n0.9 b.wav a.wav\n0.5 a.wav c.wav\n0.4 b.wav c.wav"


@pytest.fixture
def project(tmp_path, command, shared_cache):
    rng = np.random.default_rng(0)
    rows = ["file,speaker"]
    for file, speaker in (("a", "anna"), ("b", "anna"), ("c", "ben")):
        soundfile.write(tmp_path / f"{file}.wav", voice(1, rng, 4000), RATE, subtype="PCM_16")
        rows.append(f"{file}.wav,{speaker}")
    (tmp_path / "segments.csv").write_text("\n".join(rows))
    (tmp_path / "voices.py").write_text(MODEL)

    def run(corpora, models, files):
        for file, text in files.items():
            (tmp_path / f"{file}.txt").write_text(text)
        sections = [
            "\n".join(f"  {name}: {{{text}}}" for name, text in entries.items())
            for entries in (corpora, models)
        ]
        (tmp_path / "suite.yml").write_text(REFUSED.format(corpora=sections[0], models=sections[1]))
        done = command("run", "suite.yml", "--no-book", cwd=tmp_path, SOUNDCHECK_CACHE=str(shared_cache))
        assert "Traceback" not in done.stdout + done.stderr
        return tmp_path, done

    return run


def test_bad_lists_are_refused(project):
    files = {name: text for name, (text, _) in BAD_LISTS.items()}
    folder, done = project({name: LISTED.format(name) for name in files}, {"good": MINE}, files)
    assert done.returncode == 2, done.stderr
    for _, words in BAD_LISTS.values():
        for word in words:
            assert word in done.stderr
    assert not (folder / "build" / "results.csv").exists()


def test_bad_scores_are_refused(project):
    files = {name: text for name, (text, _) in BAD_SCORES.items()}
    models = {name: f"scores: {name}.txt" for name in files}
    _, done = project({"voices": LISTED.format("list")}, models, files | {"list": GOOD})
    assert done.returncode == 2, done.stdout + done.stderr
    for _, words in BAD_SCORES.values():
        assert words in done.stderr


def test_scores_need_a_list(project):
    corpora = {"voices": "format: csv, path: segments.csv"}
    _, done = project(corpora, {"theirs": "scores: scores.txt"}, {"scores": "0.5"})
    assert done.returncode == 2
    assert "no corpus that it is asked about brings a list of trials" in done.stderr


def test_degenerate_lists_are_run(project):
    corpora = {name: LISTED.format(name) for name in DEGENERATE}
    files = {name: trials for name, (trials, *_) in DEGENERATE.items()} | {"scores": SCORES}
    folder, done = project(corpora, {"theirs": "scores: scores.txt"}, files)
    assert done.returncode == 0, done.stdout + done.stderr
    frame = pd.read_csv(folder / "build" / "results.csv", keep_default_na=False, na_values=[""])
    for name, (_, reason, eer) in DEGENERATE.items():
        found = row(frame, "theirs", name, "Equal Error Rate")
        if eer is None:
            assert np.isnan(found["value"]) and reason in found["skipped"]
        else:
            assert found["value"] == eer
    assert not frame["skipped"].fillna("").str.contains("failed").any()
