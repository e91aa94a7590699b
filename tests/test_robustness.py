"""The robustness families on own data, own noises and own rooms, through the command, against formulas."""

import itertools
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from preloaded import MISSING
from runs import Run, expectations, run, sound, write

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.run import notebook_server
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
TASKS = (BUILTIN["emotion"], Task("intensity", "regression", low=1, high=7))
SHARE = "Percentage Unchanged Predictions"
FAMILIES = """
robustness_background_noise robustness_low_quality_phone robustness_recording_condition
robustness_simulated_recording_condition robustness_small_changes robustness_spectral_tilt
""".split()
NOISE, PHONE, CONDITION, ROOMS, SMALL, TILT = FAMILIES
MODEL = '''
import numpy as np

def predict(signal, sampling_rate):
    """Crossings of zero and level; no answer for one length."""
    if len(signal) == 4321:
        return {"emotion": "anger", "intensity": float("nan")}
    crossings = float(np.mean(np.diff(np.sign(signal)) != 0)) if len(signal) > 1 else 0.0
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    emotion = "anger" if crossings > 0.2 else "happiness" if crossings > 0.15 else "sadness"
    share = float(np.clip(1.8 * crossings + (level + 30) / 200, 0, 1))
    return {"emotion": emotion, "intensity": 1 + 6 * share}
'''
SUITE = f"""
title: Robustness
studies: false
replicates: 100
sounds:
  noise: musan
  coughing: coughs
  rooms: {{path: rooms, base: hut}}
tasks:
  intensity: {{type: regression, range: [1, 7]}}
corpora:
  talk: {{format: csv, path: data/segments.csv}}
models:
  mine: {{python: "my_model:predict", tasks: [emotion, intensity]}}
families: [{", ".join(FAMILIES)}]
"""


ROOM_TABLE, BROKEN = "rooms/impulse_responses.csv", "musan/music/broken.mp3"


def distances(*metres):
    """Say at which distances the responses of three rooms were measured."""
    rooms = zip(("hut", "hall", "cave"), metres, strict=True)
    return ["file,label,distance", *(f"{room}/ir.wav,{room},{distance}" for room, distance in rooms)]


def voice(rng, seconds):
    """Noise of a drawn colour with syllables."""
    count = round(seconds * RATE)
    colour = np.convolve(rng.standard_normal(count), np.ones(int(rng.integers(2, 9))), "same")
    syllables = 0.6 + 0.5 * np.sin(np.arange(count) / rng.uniform(400, 900))
    return (0.1 * colour / np.abs(colour).max() * syllables).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng, rows = tmp_path_factory.mktemp("robustness"), np.random.default_rng(7), []
    for speaker, item in itertools.product(range(6), range(2)):
        near = voice(rng, 0.5)
        for condition, signal in (("near", near), ("far", 0.7 * near + 0.3 * np.roll(near, 40))):
            name = f"s{speaker}_{item}_{condition}.wav"
            sound(folder / "data" / name, signal)
            emotion = ("anger", "happiness", "sadness")[(speaker + item) % 3] if item < 1 else ""
            rows.append((name, f"s{speaker}", item, condition, round(rng.uniform(1, 7), 2), emotion))
    for n, (name, signal) in enumerate(
        {
            **{"silent": np.zeros(8000), "short": voice(rng, 0.02), "no answer": voice(rng, 4321 / RATE)},
            **{"full scale": np.where(voice(rng, 0.5) > 0, 1.0, -1.0), "alone": voice(rng, 0.5)},
        }.items()
    ):
        sound(folder / "data" / f"{name}.wav", signal)
        rows.append((f"{name}.wav", f"s{n}", name, "near" if name == "alone" else "", 4, "anger"))
    for kind, n in itertools.product(("speech", "music", "noise"), range(3)):
        sound(folder / "musan" / kind / f"{n}.wav", voice(rng, 0.2 + n))
    for name, seconds in (("a", 0.1), ("b", 0.3)):
        sound(folder / "coughs" / f"{name}.wav", voice(rng, seconds))
    for room, decay in (("hut", 0.002), ("hall", 0.05), ("cave", 0.1)):
        tail = rng.standard_normal((9600, 2)) * np.exp(-np.arange(9600) / 48000 / decay)[:, None]
        tail[:5, 0] = 0
        tail[5, 0] = 20
        sound(folder / "rooms" / room / "ir.wav", tail / 30, 48000)
    table = pd.DataFrame(rows, columns=["file", "speaker", "item", "condition", "intensity", "emotion"])
    write(folder, {"data/segments.csv": table, ROOM_TABLE: distances(1, 1.2, 2.5)})
    return write(folder, {"my_model.py": MODEL, "suite.yml": SUITE, BROKEN: "this is no music"})


@pytest.fixture(scope="module")
def whole(folder, unbuilt, shared_cache) -> Run:
    return run(unbuilt, folder, "--jobs", "2", code=3, SOUNDCHECK_CACHE=str(shared_cache))


@pytest.fixture(scope="module")
def predicted(whole):
    """Predictions by file: ``predicted("Low Quality Phone")``, without signals left as they were."""
    table = whole.predictions("mine", "talk", None)
    table = table[~table["drawn"].str.contains('"unchanged": true', regex=False)]
    table = table.assign(file=table["key"].str.split("|").str[0], intensity=(table["intensity"] - 1) / 6)
    changes = {name: one.identity for family in FAMILIES for name, one in read_family(family).changes.items()}

    def of(change=""):
        rows = table[table["change"].eq(changes.get(change, change))].set_index("file")
        return rows.reindex(table["file"].unique())

    return of


def test_what_has_no_prediction_is_told(whole):
    assert "mine gave no prediction for" in whole.done.stdout
    reasons = pd.read_csv(whole.out / "left_out.csv").groupby("item")["reason"].first()
    assert reasons["no answer.wav"] == "intensity is nan, not a number"
    assert "no answer.wav Babble Noise" in reasons.index
    assert reasons["music: broken.mp3"].startswith("no audio format that is read here")
    table = whole.predictions("mine", "talk", None)
    for name in ("silent.wav", "short.wav", "full scale.wav"):
        assert table.loc[table["key"].str.startswith(name), "intensity"].notna().mean() > 0.95


def test_every_test_of_every_family_is_judged_and_nothing_of_a_sweep(whole):
    rows = whole.results
    assert set(rows["family"]) == set(FAMILIES) and rows["value"].notna().all()
    assert (rows["passed"] == (rows["value"] > rows["threshold"]))[rows["threshold"].notna()].all()
    families = [read_family(name) for name in FAMILIES]
    tests = ((family, task, test) for family in families for task in TASKS for test in family.tests.values())
    expected = {(family.name, task.name, test.name) for family, task, test in tests if test.fits(task)}
    assert set(zip(rows["family"], rows["task"], rows["test"], strict=True)) == expected


def test_shares_and_quality_equal_the_formula(whole, predicted, folder):
    """Quality rests on labelled segments, the share of unchanged predictions on all."""
    before, after = predicted(), predicted("Low Quality Phone")
    for task, unchanged in (
        ("intensity", (before["intensity"] - after["intensity"]).abs() < 0.05),
        ("emotion", before["emotion"] == after["emotion"]),
    ):
        both = before[task].notna() & after[task].notna()
        row = whole.row(f"{SHARE} Low Quality Phone", task=task)
        assert row["value"] == pytest.approx(unchanged[both].mean(), abs=1e-9), task
        assert row["segments"] == both.sum()
    labels = pd.read_csv(folder / "data/segments.csv", keep_default_na=False).set_index("file")["emotion"]
    labelled = both & labels[both.index].ne("")
    truth = labels[labelled.index][labelled]
    recalls = [(rows["emotion"][labelled] == truth).groupby(truth).mean().mean() for rows in (after, before)]
    change = whole.row("Change Uar Low Quality Phone", task="emotion")
    assert change["value"] == pytest.approx(recalls[0] - recalls[1], abs=1e-9)
    assert change["segments"] == labelled.sum() < both.sum() / 1.5
    for family in (SMALL, ROOMS):
        assert whole.rows(family=family, task="emotion")["segments"].min() > 1.5 * labelled.sum()
    page, silent = whole.page(f"results/mine/{PHONE}"), 1  # which does not count
    counts = f"{(labels != '').sum() - silent} of {len(labels) - silent} segments have a label"
    assert counts in page and "the share of unchanged predictions on all" in page


def test_pairs_of_recordings_equal_the_formula(whole, predicted):
    clean = predicted()["intensity"]
    near = [file for file in clean.index if file.endswith("_near.wav")]
    moved = np.abs(clean[near].to_numpy() - clean[[f.replace("near", "far") for f in near]].to_numpy())
    row = whole.rows(family=CONDITION, task="intensity").iloc[0]
    assert row["value"] == pytest.approx((moved < 0.05).mean(), abs=1e-9)
    assert (row["segments"], row["blocks"], row["label"]) == (12, 6, "near to far")  # 13 are near, 12 far
    assert "have no partner under" in whole.page(f"results/mine/{CONDITION}")


def test_rooms_are_compared_with_the_base_and_not_with_the_clean_signal(whole, predicted):
    base, other = (predicted(f"{kind} Room")["intensity"] for kind in ("Base", "Simulated"))
    both = base.notna() & other.notna()
    row = whole.row(f"{SHARE} Simulated Room", task="intensity")
    assert row["value"] == pytest.approx(((base - other).abs()[both] < 0.05).mean(), abs=1e-9)


def test_pages_say_which_sounds_were_used_and_let_hear_every_change(whole, folder):
    for page in expectations("robustness", "pages"):
        assert whole.lacks(page, "robustness") == [] and str(folder) not in whole.page(page)
    assert len(re.findall('<audio[^>]*preload="none"', whole.page(f"results/mine/{ROOMS}"))) == 15


def test_what_is_missing_here_skips_tests_with_the_reason(folder, undrawn, shared_cache, tmp_path):
    """Rooms that are all farther away, and a library of codecs that is broken."""
    other = shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("out"))
    write(other, {ROOM_TABLE: distances(1, 4, 8)})
    missing = {MISSING: "av"}
    if not notebook_server.FORKS:
        write(other, {"stub/av.py": "raise ImportError('no codecs here')\n"})
        missing = {"PYTHONPATH": str(other / "stub")}
    words = ("--family", ROOMS, "--family", PHONE, "--no-book")
    without = run(undrawn, other, *words, code=3, SOUNDCHECK_CACHE=str(shared_cache), **missing)
    (why,) = without.reasons(test=f"{SHARE} Simulated Room")
    assert why == "of rooms, nothing but hut was measured at a distance within a ratio of 1.5 of 1 m"
    assert without.rows(test=f"{SHARE} Simulated Position")["value"].notna().all()
    page = without.shown("mine", ROOMS)
    assert "Rooms by distance: not shown, because fewer than two steps are left" in page
    assert "Rooms by distance, 4" not in page and "severe: Rooms by distance" not in page
    assert len(without.rows(family=PHONE)) == 2 * len(TASKS)
    assert all("the codec library PyAV cannot be loaded" in why for why in without.reasons(family=PHONE))
