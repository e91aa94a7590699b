"""Speaker verification under stress, through the command, against plain loops over stored embeddings."""

import html
import json

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml

from soundcheck.common import resources
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE, SPEAKERS, EACH = 16000, 12, 6
FAMILY = "verification_robustness"
KEPT = {"Noise": ["10", "2"], "Packet Loss": ["5", "40"]}
MODEL = '''
import hashlib

import numpy as np


def hearing(signal, sampling_rate):
    """Energy of some bands against that of all: noise makes all voices alike."""
    power = np.abs(np.fft.rfft(signal, 4000)) ** 2
    bands = np.log(power[:1200].reshape(40, 30).mean(axis=1) + 1e-6)
    return {"embedding": bands - bands.mean()}


def failing(signal, sampling_rate):
    """No answer where there is noise above the voice."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    noisy = power[len(power) // 2 :].mean() > 0.02 * power[: len(power) // 2].mean()
    return {"embedding": None} if noisy else hearing(signal, sampling_rate)


def random(signal, sampling_rate):
    seed = int.from_bytes(hashlib.sha256(signal.tobytes()).digest()[:8], "big")
    return {"embedding": np.random.default_rng(seed).normal(size=16)}
'''
SUITE = """
title: Voices under stress
studies: false
replicates: 200
interval: t
thresholds: gap
limits: {levels: 2, transformations: {verification_robustness: [Noise, Packet Loss]}}
corpora:
  voices: {format: csv, path: data/voices.csv}
  listed: {format: csv, path: data/voices.csv, trials: data/trials.txt}
  alone: {format: csv, path: data/alone.csv}
  nobody: {format: csv, path: data/nobody.csv}
  unheard: {format: trials, path: unheard.csv, audio: false}
models:
  hearing: {python: "voices:hearing", tasks: [embedding], corpora: [voices, listed, alone, nobody]}
  failing: {python: "voices:failing", tasks: [embedding], corpora: [voices]}
  random: {python: "voices:random", tasks: [embedding], corpora: [voices]}
  table: {predictions: embeddings.csv, tasks: [embedding], corpora: [voices]}
  scored: {scores: scores.txt, corpora: [unheard]}
families: [verification_robustness]
"""


def voice(speaker, rng):
    """Beside a loud tone each speaker has three of her own; those of women are fainter: noise hides them."""
    own, time = np.random.default_rng(speaker), np.arange(4000) / RATE
    tones = own.uniform(600, 2500, 3) + rng.normal(0, 40, 3)
    signal = sum((0.02 + 0.06 * (1 - speaker % 2)) * np.sin(2 * np.pi * tone * time) for tone in tones)
    return 0.3 * (np.sin(2 * np.pi * 400 * time) + signal + 0.004 * rng.standard_normal(4000))


def name(speaker, number):
    return f"s{speaker:02d}_{number}.wav"


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder, rng = tmp_path_factory.mktemp("stress"), np.random.default_rng(3)
    (folder / "data").mkdir()
    scope = {}
    exec(MODEL, scope)
    rows, vectors = ["file,speaker,sex,accent"], ["file,embedding"]
    for speaker in range(SPEAKERS):
        for number in range(EACH):
            path = folder / "data" / name(speaker, number)
            soundfile.write(path, voice(speaker, rng), RATE, subtype="PCM_16")
            rows.append(f"{path.name},s{speaker:02d},{'female,<b>one' if speaker % 2 else 'male,two'}")
            heard = soundfile.read(path, dtype="float32")[0]
            embedding = scope["hearing"](heard, RATE)["embedding"]
            vectors.append(f"{path.name},{' '.join(map(repr, map(float, embedding)))}")
    (folder / "data" / "voices.csv").write_text("\n".join(rows))
    (folder / "data" / "alone.csv").write_text("\n".join(rows[: EACH + 1]))
    (folder / "data" / "nobody.csv").write_text("\n".join(row.split(",")[0] for row in rows))
    (folder / "embeddings.csv").write_text("\n".join(vectors))
    pairs = [(s, t) for s in range(SPEAKERS) for t in range(SPEAKERS)]
    listed = [f"{int(s == t)} {name(s, 0)} {name(t, 5)}" for s, t in pairs]  # tests the last recordings only
    (folder / "data" / "trials.txt").write_text("\n".join(listed))
    told = [line.split() for line in listed]
    (folder / "unheard.csv").write_text(
        "enrol,test,label\n" + "\n".join(f"{one},{two},{label}" for label, one, two in told)
    )
    (folder / "scores.txt").write_text(
        "\n".join(f"{float(label) + rng.normal():.3f} {a} {b}" for label, a, b in told)
    )
    own = yaml.safe_load(resources.find(f"thresholds/{FAMILY}.yml").read_text(encoding="utf-8"))
    own["options"] |= {"sweep_segments": 48, "minimum_trials": 20}
    own["trials"] = {"targets": 180, "same_sex": 200, "cross_sex": 150}
    (folder / "thresholds").mkdir()
    (folder / "thresholds" / f"{FAMILY}.yml").write_text(yaml.safe_dump(own, sort_keys=False))
    (folder / "voices.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    done = command(
        "run", "suite.yml", "--out", "out", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    record = json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    assert all(entry["status"] == "ok" for entry in record["notebooks"]), record["notebooks"]
    return folder


@pytest.fixture(scope="module")
def results(run):
    return pd.read_csv(run / "out" / "results.csv", keep_default_na=False, na_values=[""])


def rows_of(results, model, test, corpus="voices"):
    return results[results["model"].eq(model) & results["test"].eq(test) & results["corpus"].eq(corpus)]


@pytest.fixture(scope="module")
def scored(run):
    """Trials whose tested side was changed, and their scores by plain loops: (change, level) -> scores."""
    settings = {
        change.identity: (name, step)
        for name, series in read_family(FAMILY, run).transformations.items()
        for step, change in series.steps.items()
    }

    def of(model, corpus="voices"):
        trials = pd.read_parquet(run / "out" / "corpora" / f"{corpus}.{FAMILY}.trials.parquet")
        segments = pd.read_parquet(run / "out" / "corpora" / f"{corpus}.parquet")
        table = pd.read_parquet(run / "out" / "predictions" / model / f"{corpus}.parquet")
        known = {
            settings.get(change, ("", "")): own.set_index("key")["embedding"].to_dict()
            for change, own in table.groupby("change")
        }
        keys = segments["key"].tolist()
        members = trials.groupby("enrolment")["members"].apply(lambda rows: [m for row in rows for m in row])
        heard = set(next(own for setting, own in known.items() if setting[0]))
        trials = trials[[keys[row] in heard for row in trials["segment"]]]
        found = {}
        for setting, own in known.items():
            scores = []
            for trial in trials.itertuples():
                one, other = known["", ""][keys[members[trial.enrolment][0]]], own[keys[trial.segment]]
                both = one is not None and other is not None
                scores.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other) if both else np.nan)
            found[setting] = np.array(scores, dtype=float)
        sexes = segments["sex"].to_numpy()
        first = np.array([sexes[members[number][0]] for number in trials["enrolment"]])
        second = sexes[trials["segment"].to_numpy()]
        return found, trials["target"].to_numpy(), np.where(first == second, first, "")

    return of


def rejected(found, setting):
    """Take a missing score for the lowest; trials without one as they are do not count."""
    scores = found[setting].copy()
    scores[np.isnan(scores)] = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0
    there = np.isfinite(found["", ""])
    return scores[there], there


def errors(scores, target):
    """Both error rates at all thresholds, with plain loops: accepted non-targets, rejected targets."""
    points = [(1.0, 0.0)]
    for threshold in sorted(set(scores)):
        points.append((np.mean(scores[~target] > threshold), np.mean(scores[target] <= threshold)))
    return points


def equal_error(scores, target):
    points = errors(scores, target)
    for (far, frr), (next_far, next_frr) in zip(points, points[1:], strict=False):
        if next_far <= next_frr:
            part = (far - frr) / ((far - frr) - (next_far - next_frr))
            return frr + part * (next_frr - frr)
    raise AssertionError


def lowest_cost(scores, target):
    return min(frr + 19 * far for far, frr in errors(scores, target))  # 0.95 : 0.05


@pytest.mark.parametrize("model", ["hearing", "failing", "random"])
@pytest.mark.parametrize(
    ("test", "measure"),
    [("Equal Error Rate Change", equal_error), ("Minimum Detection Cost Change", lowest_cost)],
)
def test_changes_are_those_of_plain_loops(results, scored, model, test, measure):
    found, target, _ = scored(model)
    rows = rows_of(results, model, test).set_index("label")
    assert set(rows.index) == {f"{change} {levels[0]}" for change, levels in KEPT.items()}
    for change, levels in KEPT.items():
        (after, there), (before, _) = rejected(found, (change, levels[0])), rejected(found, ("", ""))
        expected = measure(after, target[there]) - measure(before, target[there])
        row = rows.loc[f"{change} {levels[0]}"]
        assert row["value"] == pytest.approx(expected, abs=1e-9)
        assert row["segments"] == there.sum() and row["blocks"] == SPEAKERS
        if np.array_equal(after, before):  # no score changed, so nothing can vary
            assert row["value"] == 0 and pd.isna(row["low"]) and pd.isna(row["high"])
            assert row["skipped"] == "interval withheld: nothing varies" and row["state"] == "pass"
        else:
            assert row["low"] <= row["value"] <= row["high"] and row["low"] < row["high"]
            assert pd.isna(row["skipped"])


def test_the_model_finds_noise_harder_and_the_random_one_nothing(results, scored):
    found, target, _ = scored("hearing")
    clean, mild, severe = (
        equal_error(found[one], target) for one in (("", ""), ("Noise", "10"), ("Noise", "2"))
    )
    assert clean < mild < severe
    found, target, _ = scored("random")
    assert abs(equal_error(found["", ""], target) - 0.5) < 0.1
    random = rows_of(results, "random", "Equal Error Rate Change")
    assert random["value"].abs().max() < 0.15
    assert results.loc[results["value"].notna(), "reference"].eq(0).all()


def test_differences_of_groups_are_those_of_plain_loops(results, scored):
    found, target, group = scored("hearing")
    levels = [(change, level) for change, levels in KEPT.items() for level in levels]

    def mean_change(mask):
        before = equal_error(found["", ""][mask], target[mask])
        return np.mean([equal_error(found[one][mask], target[mask]) - before for one in levels])

    rows = rows_of(results, "hearing", "Equal Error Rate Change Difference").set_index("group")
    for sex, other in (("female", "male"), ("male", "female")):
        own = rows.loc[f"sex: {sex}"]
        assert own["value"] == pytest.approx(mean_change(group == sex) - mean_change(group != ""), abs=1e-9)
        assert own["gap"] == pytest.approx(mean_change(group == sex) - mean_change(group == other), abs=1e-9)
        assert rows.loc[f"accent: {'<b>one' if sex == 'female' else 'two'}", "value"] == own["value"]
    assert "fewer than 2 groups of language" in rows.loc["language", "skipped"]


def test_levels_of_the_page_are_where_lines_cross(run, scored, shown):
    found, target, _ = scored("hearing")
    page = html.unescape(shown(run / "out", "hearing", FAMILY))
    assert len(page) < 400_000 and "<b>one" not in shown(run / "out", "hearing", FAMILY)
    clean = equal_error(found["", ""], target)
    for change, levels in KEPT.items():
        excess = [equal_error(found[change, level], target) - 2 * clean for level in levels]
        if excess[0] >= 0:
            told = f"milder than {levels[0]}"
        elif excess[1] < 0:
            told = f"not reached up to {levels[1]}"
        else:
            place = excess[0] / (excess[0] - excess[1])
            told = f"{float(levels[0]) + place * (float(levels[1]) - float(levels[0])):.3g}"
        assert told in page
    assert "changes that the suite leaves out: Babble, Far Field" in page


def test_no_answer_is_no_gain(run, results, scored, shown):
    found, _, _ = scored("failing")
    there = np.isfinite(found["", ""])
    assert there.all() and np.isnan(found["Noise", "2"]).mean() > 0.5
    row = rows_of(results, "failing", "Equal Error Rate Change").set_index("label").loc["Noise 10"]
    assert row["value"] > 0.1 and row["passed"] == False  # noqa: E712
    assert "these trials count as rejected" in shown(run / "out", "failing", FAMILY)


def test_only_tested_recordings_of_a_list_are_changed(run, scored):
    changed = pd.read_parquet(run / "out" / "predictions" / "hearing" / "listed.parquet").query(
        "change != ''"
    )
    found, target, _ = scored("hearing", "listed")
    assert changed.groupby("change")["key"].nunique().eq(SPEAKERS).all()
    assert changed["key"].str.contains("_5.wav").all()
    assert len(target) == SPEAKERS**2


def test_what_cannot_be_tested_is_skipped_with_its_reason(results):
    for model, corpus, reason in (
        ("hearing", "alone", "no non-target trials|fewer than 2 groups"),
        ("hearing", "nobody", "neither a list of trials nor two speakers"),
        ("table", "voices", "cannot answer for changed signals"),
        ("scored", "unheard", "cannot answer for changed signals"),
    ):
        own = results[results["model"].eq(model) & results["corpus"].eq(corpus)]
        assert len(own) >= 3 and own["value"].isna().all()
        assert own["skipped"].str.contains(reason).all(), own["skipped"].tolist()


def test_changes_are_those_of_recognisers():
    words, voices = (read_family(name).transformations for name in ("asr_robustness", FAMILY))
    for name, series in voices.items():
        if name != "Tilt":
            known = {step: change.identity for step, change in words[name].steps.items()}
            assert {step: change.identity for step, change in series.steps.items()}.items() <= known.items()


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (
            "{verification_robustness: [Nois]}",
            "verification_robustness has no change from mild to severe 'Nois'",
        ),
        ("{verification_robustnes: [Noise]}", "unknown family 'verification_robustnes'"),
        ("{verification_robustness: Noise}", "limits.transformations.verification_robustness"),
    ],
)
def test_slips_in_the_limits_are_told(run, command, limits, told):
    kept = "{verification_robustness: [Noise, Packet Loss]}"
    assert kept in SUITE
    (run / "slip.yml").write_text(SUITE.replace(kept, limits))
    done = command("run", "slip.yml", "--out", "slip", cwd=run)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
