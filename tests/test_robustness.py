"""The robustness families on own data, own noises and own rooms, through the command, against formulas."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
import soundfile
from preloaded import MISSING

from soundcheck.results.table import read_results
from soundcheck.run import notebook_server
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
FAMILIES = (
    "robustness_background_noise",
    "robustness_low_quality_phone",
    "robustness_recording_condition",
    "robustness_simulated_recording_condition",
    "robustness_small_changes",
    "robustness_spectral_tilt",
)
MODEL = '''
import numpy as np

def predict(signal, sampling_rate):
    """Crossings of zero and level; no answer for what is as loud as a convolved signal with a first beat."""
    if len(signal) == 4321:
        return {"arousal": float("nan"), "emotion": "anger"}
    crossings = float(np.mean(np.diff(np.sign(signal)) != 0)) if len(signal) > 1 else 0.0
    level = 10 * np.log10(max(1e-12, float(np.mean(np.square(signal)))))
    emotion = "anger" if crossings > 0.2 else "happiness" if crossings > 0.15 else "sadness"
    return {"arousal": float(np.clip(1.8 * crossings + (level + 30) / 200, 0, 1)), "emotion": emotion}
'''
SUITE = f"""
title: Robustness
studies: false
sweeps: false
replicates: 200
sounds:
  noise: musan
  coughing: coughs
  rooms: {{path: rooms, base: hut}}
corpora:
  talk: {{format: csv, path: data/segments.csv}}
models:
  mine: {{python: "my_model:predict", tasks: [arousal, emotion]}}
families: [{", ".join(FAMILIES)}]
"""


def voice(rng, seconds):
    """Noise of a drawn colour with syllables."""
    count = round(seconds * RATE)
    colour = np.convolve(rng.standard_normal(count), np.ones(int(rng.integers(2, 9))), "same")
    syllables = 0.6 + 0.5 * np.sin(np.arange(count) / rng.uniform(400, 900))
    return (0.1 * colour / np.abs(colour).max() * syllables).astype(np.float32)


def make_project(folder):
    rng = np.random.default_rng(7)
    (folder / "data").mkdir(parents=True)
    rows = ["file,speaker,item,condition,arousal,emotion"]
    for speaker in range(6):
        for item in range(4):
            near = voice(rng, 0.5)
            for condition, signal in (("near", near), ("far", 0.7 * near + 0.3 * np.roll(near, 40))):
                name = f"s{speaker}_{item}_{condition}.wav"
                soundfile.write(folder / "data" / name, signal, RATE, subtype="PCM_16")
                emotion = ("anger", "happiness", "sadness")[(speaker + item) % 3] if item < 2 else ""
                rows.append(f"{name},s{speaker},{item},{condition},{rng.uniform():.3f},{emotion}")
    odd = {
        "silent": np.zeros(8000),
        "short": voice(rng, 0.02),
        "no answer": voice(rng, 4321 / RATE),
        "full scale": np.where(voice(rng, 0.5) > 0, 1.0, -1.0),
        "alone": voice(rng, 0.5),
    }
    for n, (name, signal) in enumerate(odd.items()):
        soundfile.write(folder / "data" / f"{name}.wav", signal, RATE, subtype="PCM_16")
        rows.append(f"{name}.wav,s{n},{name},{'near' if name == 'alone' else ''},0.5,anger")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    for kind in ("speech", "music", "noise"):
        (folder / "musan" / kind).mkdir(parents=True)
        for n in range(3):
            soundfile.write(folder / "musan" / kind / f"{n}.wav", voice(rng, 0.2 + n), RATE)
    (folder / "musan/music/broken.mp3").write_bytes(b"this is no music")
    for name, seconds in (("coughs/a", 0.1), ("coughs/b", 0.3)):
        (folder / "coughs").mkdir(exist_ok=True)
        soundfile.write(folder / f"{name}.wav", voice(rng, seconds), RATE)
    for room, decay in (("hut", 0.002), ("hall", 0.05), ("cave", 0.1)):
        (folder / "rooms" / room).mkdir(parents=True)
        time = np.arange(9600) / 48000
        tail = rng.standard_normal((9600, 2)) * np.exp(-time / decay)[:, None]
        tail[:5, 0] = 0
        tail[5, 0] = 20
        soundfile.write(folder / "rooms" / room / "ir.wav", tail / 30, 48000)
    (folder / "rooms/impulse_responses.csv").write_text(
        "file,label,distance\nhut/ir.wav,hut,1\nhall/ir.wav,hall,1.2\ncave/ir.wav,cave,2.5\n"
    )
    (folder / "my_model.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory, command, shared_cache):
    folder = make_project(tmp_path_factory.mktemp("robustness"))
    done = command("run", "suite.yml", "--out", "out", "--jobs", "2", cwd=folder, **environment(shared_cache))
    return folder, done


def environment(cache, **more):
    return {"SOUNDCHECK_CACHE": str(cache), "SOUNDCHECK_DEMO_SIZE": "small", **more}


@pytest.fixture(scope="module")
def results(project):
    folder, _ = project
    frame = read_results(folder / "out" / "results.csv")
    return frame.assign(label=frame["label"].fillna(""), skipped=frame["skipped"].fillna(""))


@pytest.fixture(scope="module")
def answers(project):
    """Without those for signals that a change has left as they were: they do not count."""
    folder, _ = project
    table = pd.read_parquet(folder / "out" / "predictions" / "mine" / "talk.parquet")
    return table[~table["drawn"].str.contains('"unchanged": true', regex=False)]


def test_run_tells_what_has_no_answer(project):
    folder, done = project
    assert done.returncode == 3, done.stderr + done.stdout  # one recording has no answer
    assert "mine gave no prediction for" in done.stdout
    left_out = pd.read_csv(folder / "out" / "left_out.csv")
    reasons = left_out.groupby("item")["reason"].first()
    assert reasons["no answer.wav"] == "arousal is nan, not a number"
    assert "no answer.wav Babble Noise" in reasons.index
    assert reasons["music: broken.mp3"].startswith("no audio format that is read here")


def test_every_test_of_every_family_is_judged(results):
    assert set(results["family"]) == set(FAMILIES)
    judged = results[results["value"].notna()]
    assert len(judged) == len(results), results[results["value"].isna()][["test", "task", "skipped"]]
    assert (judged["passed"] == (judged["value"] > judged["threshold"])).all()


def changed(answers, transform):
    return sorted(change for change in answers["change"].unique() if change.startswith(transform))


def test_unchanged_shares_equal_the_formula(results, answers):
    """Of a family with one change, the share can be computed from the table of predictions."""
    (phone,) = changed(answers, "low_quality_phone")
    clean = answers[answers["change"] == ""].set_index("key")
    after = answers[answers["change"] == phone].set_index("key").reindex(clean.index)
    rows = results[results["family"] == "robustness_low_quality_phone"].set_index(["task", "test"])
    both = clean["arousal"].notna() & after["arousal"].notna()
    share = ((clean["arousal"] - after["arousal"]).abs()[both] < 0.05).mean()
    row = rows.loc[("arousal", "Percentage Unchanged Predictions Low Quality Phone")]
    assert row["value"] == pytest.approx(share, abs=1e-9) and row["segments"] == both.sum()
    both = clean["emotion"].notna() & after["emotion"].notna()
    share = (clean["emotion"] == after["emotion"])[both].mean()
    row = rows.loc[("emotion", "Percentage Unchanged Predictions Low Quality Phone")]
    assert row["value"] == pytest.approx(share, abs=1e-9)


def test_quality_rests_on_labelled_segments_and_unchanged_predictions_on_all(results, answers, project):
    labels = pd.read_csv(project[0] / "data/segments.csv", keep_default_na=False).set_index("file")["emotion"]
    (phone,) = changed(answers, "low_quality_phone")
    said = {
        change: answers[answers["change"] == change].assign(
            file=lambda table: table["key"].str.split("|").str[0]
        )
        for change in ("", phone)
    }
    said = {
        change: table.set_index("file")["emotion"].reindex(labels.index) for change, table in said.items()
    }
    both = said[""].notna() & said[phone].notna()
    labelled = both & (labels != "")
    assert both.sum() > 1.5 * labelled.sum()

    def uar(change):
        right = (said[change] == labels)[labelled]
        return right.groupby(labels[labelled]).mean().mean()

    rows = results[results["family"] == "robustness_low_quality_phone"].set_index(["task", "test"])
    row = rows.loc[("emotion", "Change Uar Low Quality Phone")]
    assert row["value"] == pytest.approx(uar(phone) - uar(""), abs=1e-9) and row["segments"] == labelled.sum()
    row = rows.loc[("emotion", "Percentage Unchanged Predictions Low Quality Phone")]
    assert row["segments"] == both.sum()
    for family in ("small_changes", "simulated_recording_condition"):
        own = results[(results["family"] == f"robustness_{family}") & (results["task"] == "emotion")]
        assert own["segments"].min() > 1.5 * labelled.sum()
    page = (project[0] / "out/html/results/mine/robustness_low_quality_phone.html").read_text()
    counts = (
        f"{(labels != '').sum() - 1} of {len(labels) - 1} segments have a label"  # silence does not count
    )
    assert counts in page and "the share of unchanged predictions on all" in page


def test_pairs_of_recordings_equal_the_formula(results, answers, project):
    clean = answers[answers["change"] == ""].copy()
    clean["file"] = clean["key"].str.split("|").str[0]
    clean = clean.set_index("file")
    near = [file for file in clean.index if file.endswith("_near.wav")]
    far = [file.replace("near", "far") for file in near]
    moved = np.abs(clean.loc[near, "arousal"].to_numpy() - clean.loc[far, "arousal"].to_numpy())
    rows = results[results["family"] == "robustness_recording_condition"].set_index("task")
    assert rows.loc["arousal", "value"] == pytest.approx((moved < 0.05).mean(), abs=1e-9)
    assert rows["segments"].eq(24).all() and rows["blocks"].eq(6).all()
    assert rows["label"].eq("near to far").all()  # 25 recordings are near, 24 far
    page = (project[0] / "out/html/results/mine/robustness_recording_condition.html").read_text()
    assert (
        page.count('alt="Magnitude spectra: ') == 1
    )  # once for each pair of conditions, whatever the tasks are
    assert "have no partner under" in page


def test_rooms_are_compared_with_the_base_and_not_with_the_clean_signal(results, answers):
    changes = read_family("robustness_simulated_recording_condition").changes
    assert len(changed(answers, "reverberation")) == len(changes) == 4
    said = {
        name: answers[answers["change"] == change.identity].set_index("key")["arousal"]
        for name, change in changes.items()
    }
    rows = results[results["task"] == "arousal"].set_index("test")["value"]
    for what in ("Position", "Room"):
        base, other = said[f"Base {what}"], said[f"Simulated {what}"]
        both = base.notna() & other.notna()
        share = ((base - other).abs()[both] < 0.05).mean()
        found = rows[f"Percentage Unchanged Predictions Simulated {what}"]
        assert found == pytest.approx(share, abs=1e-9)


def test_silent_and_short_signals_have_answers(answers):
    for name in ("silent.wav", "short.wav", "full scale.wav"):
        own = answers[answers["key"].str.startswith(name)]
        assert own["arousal"].notna().mean() > 0.95, own[own["arousal"].isna()][["change", "error"]]


def test_pages_say_which_sounds_were_used(project):
    folder, _ = project
    for page in ("results/mine", "methods"):
        text = (folder / "out/html" / page / "robustness_background_noise.html").read_text()
        assert "recordings of the suite, musan/music" in text
        assert "1 files of music cannot be used: broken.mp3" in text
        assert "synthesised: bursts of shaped noise" in text  # sneezes
        assert str(folder) not in text
    text = (folder / "out/html/methods/robustness_simulated_recording_condition.html").read_text()
    assert "recordings of the suite, rooms" in text and "computed: image sources" in text
    cells = [re.findall(">([^<>]+)</td>", row) for row in re.findall("<tr>.*?</tr>", text, re.DOTALL)]
    assert ["hut", "1", "hut/ir.wav", "Base Room"] in cells
    assert ["hall", "1.2", "hall/ir.wav", "Simulated Room"] in cells
    assert ["cave", "2.5", "cave/ir.wav", "nothing"] in cells  # too far, and there are no sweeps


def test_pages_let_hear_every_change(project):
    folder, _ = project
    text = (folder / "out/html/methods/robustness_background_noise.html").read_text()
    assert text.count("<audio") == 1 + 6  # the original and six changes
    players = re.findall("<audio[^>]*>", text)
    assert all('preload="none"' in player and "aria-label=" in player for player in players)
    text = (folder / "out/html/methods/robustness_recording_condition.html").read_text()
    assert re.findall('aria-label="([^"]*)"', text)[:3] and text.count("<audio") == 3
    assert all(f"<strong>{name}</strong>" in text for name in ("Headset", "Boundary", "Mobile"))
    text = (folder / "out/html/methods/robustness_spectral_tilt.html").read_text()
    assert "Magnitude responses in decibel: Downward Tilt, Upward Tilt" in text
    listening = (folder / "out/html/results/mine/robustness_simulated_recording_condition.html").read_text()
    assert listening.count("<audio") == 15  # five segments: recording, base, other


@pytest.fixture(scope="module")
def swept(project, command, shared_cache, tmp_path_factory):
    """Run the families with sweeps, and that of the codec where the library of codecs is broken."""
    other = tmp_path_factory.mktemp("swept") / "other"
    shutil.copytree(project[0], other, ignore=shutil.ignore_patterns("out"))
    (other / "suite.yml").write_text(SUITE.replace("sweeps: false", "sweeps: true"))
    if notebook_server.FORKS:
        missing = {MISSING: "av"}
    else:
        (other / "stub").mkdir()
        (other / "stub/av.py").write_text("raise ImportError('no codecs here')\n")
        missing = {"PYTHONPATH": str(other / "stub")}
    names = ("background_noise", "simulated_recording_condition", "low_quality_phone")
    families = [word for name in names for word in ("--family", f"robustness_{name}")]
    done = command("run", "suite.yml", *families, cwd=other, **environment(shared_cache), **missing)
    assert done.returncode == 3, done.stderr + done.stdout  # one recording has no answer, changed or not
    return other


def test_sweeps_show_where_the_model_breaks(swept):
    other = swept
    page = (other / "build/html/results/mine/robustness_background_noise.html").read_text()
    for what in ("Share of unchanged predictions", "Quality of the predictions"):
        assert f'alt="{what} from mild to severe: Babble Noise, White Noise' in page
    assert page.count(">clean</td>") == 8  # two measures, series and tasks
    method = (other / "build/html/methods/robustness_background_noise.html").read_text()
    assert method.count("<audio") == 1 + 6 + 2 * (1 + 7)  # two sweeps besides, from the original on
    answers = pd.read_parquet(other / "build/predictions/mine/talk.parquet")
    assert answers["change"].nunique() == 1 + 6 + 2 * 7 + 4 + 2
    page = (other / "build/html/results/mine/robustness_simulated_recording_condition.html").read_text()
    assert "Share of unchanged predictions from mild to severe: Rooms by distance" in page
    steps = re.findall("<td[^>]*>(Base Room|1|2|4)</td>", page)
    assert steps.count("Base Room") == 3  # arousal, emotion, its use; nothing was measured four times as far
    method = (other / "build/html/methods/robustness_simulated_recording_condition.html").read_text()
    assert "a distance within a ratio of 1.4 of 4 m" in method and "Rooms by distance, 2<" in method
    frame = read_results(other / "build/results.csv")
    assert not frame["test"].str.contains("dB|SNR").any()  # nothing of a sweep is judged


def test_same_sounds_and_predictions_for_any_jobs_and_order(project, undrawn, shared_cache, tmp_path):
    folder, _ = project
    other = tmp_path / "other"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("out"))
    table = (other / "data/segments.csv").read_text().splitlines()
    (other / "data/segments.csv").write_text("\n".join([table[0], *table[:0:-1]]) + "\n")
    cache = tmp_path / "cache"
    for part in shared_cache.iterdir():
        if part.is_dir() and part.name.startswith(("sounds-", "demo-")):
            shutil.copytree(part, cache / part.name)
    options = ("--out", "out", "--jobs", "1", "--no-book")
    done = undrawn("run", "suite.yml", *options, cwd=other, **environment(cache))
    assert done.returncode == 3
    for name in ("results.csv", "predictions/mine/talk.parquet"):
        assert (other / "out" / name).read_bytes() == (folder / "out" / name).read_bytes()

    def sounds(root):  # named by content
        pages = [path.read_text() for path in (root / "out/notebooks").rglob("*.ipynb")]
        return {name for page in pages for name in re.findall(r"media/(\w+\.flac)", page)}

    assert sounds(other) == sounds(folder) != set()


def test_rooms_that_are_all_farther_away_skip_the_test_with_the_reason(
    project, undrawn, shown, shared_cache, tmp_path
):
    folder, _ = project
    other = tmp_path / "other"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("out"))
    table = other / "rooms/impulse_responses.csv"
    table.write_text("file,label,distance\nhut/ir.wav,hut,1\nhall/ir.wav,hall,zero\ncave/ir.wav,cave,0\n")
    family = ("--family", "robustness_simulated_recording_condition")
    done = undrawn("run", "suite.yml", *family, cwd=other, **environment(shared_cache))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "rooms/impulse_responses.csv line 3, column distance: 'zero' is not a number" in done.stderr
    assert (
        "line 4, column distance: '0' is not a valid distance, it must be above 0. Give the metres"
        in done.stderr
    )
    table.write_text("file,label,distance\nhut/ir.wav,hut,1\nhall/ir.wav,hall,4\ncave/ir.wav,cave,8\n")
    (other / "suite.yml").write_text(SUITE.replace("sweeps: false", "sweeps: true"))
    done = undrawn("run", "suite.yml", *family, "--no-book", cwd=other, **environment(shared_cache))
    assert done.returncode == 3, done.stderr + done.stdout  # one recording has no answer
    frame = read_results(other / "build" / "results.csv").set_index(["task", "test"])
    for task in ("arousal", "emotion"):
        position, room = (
            frame.loc[(task, f"Percentage Unchanged Predictions Simulated {what}")]
            for what in ("Position", "Room")
        )
        assert pd.notna(position["value"]) and pd.isna(room["value"])
        assert room["skipped"] == (
            "of rooms, nothing but hut was measured at a distance within a ratio of 1.5 of 1 m"
        )
    page = shown(other / "build", "mine", "robustness_simulated_recording_condition")
    assert "Rooms by distance, 2: of rooms, nothing but hut was measured at a distance within" in page
    assert "Rooms by distance: not shown, because fewer than two steps are left" in page
    assert "Rooms by distance, 4" not in page and "severe: Rooms by distance" not in page


def test_a_missing_codec_skips_the_family_with_the_reason(swept):
    frame = read_results(swept / "build" / "results.csv")
    frame = frame[frame["family"] == "robustness_low_quality_phone"]
    assert frame["value"].isna().all() and len(frame) == 4
    assert frame["skipped"].str.contains("the codec library PyAV cannot be loaded").all()
    page = (swept / "build/html/methods/robustness_low_quality_phone.html").read_text()
    assert "PyAV cannot be loaded" in page


def test_sounds_that_cannot_be_used_are_refused_before_anything_runs(tmp_path, command, shared_cache):
    folder = make_project(tmp_path / "project")
    shutil.rmtree(folder / "coughs")
    (folder / "coughs").mkdir()
    text = SUITE.replace("base: hut", "base: huts").replace(
        "sounds:\n", "sounds:\n  sneezing: nowhere\n  birds: musan\n"
    )
    (folder / "suite.yml").write_text(text)
    done = command("run", "suite.yml", cwd=folder, **environment(shared_cache))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "suite.yml line 7, sounds.sneezing: 'nowhere': the folder does not exist" in done.stderr
    assert "line 8, sounds.birds: unknown kind of sound 'birds'" in done.stderr
    (folder / "suite.yml").write_text(SUITE.replace("base: hut", "base: huts"))
    done = command("run", "suite.yml", cwd=folder, **environment(shared_cache))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "sounds.coughing: there is no audio file in 'coughs'" in done.stderr
    assert "sounds.rooms.base: no impulse response is called 'huts'. Did you mean 'hut'?" in done.stderr
    assert not (folder / "build" / "results.csv").exists()


@pytest.mark.parametrize("silent", [8, 24])
def test_segments_that_a_change_leaves_as_they_were_do_not_count(undrawn, tmp_path, rng, silent):
    """Nothing can be done to silence but to make it longer or shorter; the model calls all of it the same."""
    rows = ["file,speaker,arousal"]
    for n in range(24):
        sound = 0.0 * voice(rng, 1) if n < silent else 0.1 * voice(rng, 1)
        soundfile.write(tmp_path / f"{n}.wav", sound, RATE)
        rows.append(f"{n}.wav,s{n // 2},{n / 24:.2f}")
    (tmp_path / "t.csv").write_text("\n".join(rows))
    (tmp_path / "my_model.py").write_text(
        "def predict(signal, sampling_rate):\n    return {'arousal': 0.5}\n"
    )
    (tmp_path / "suite.yml").write_text(
        "sweeps: false\nstudies: false\nreplicates: 200\ncorpora: {c: {format: csv, path: t.csv}}\n"
        "models: {m: {python: 'my_model:predict', tasks: [arousal]}}\nfamilies: [robustness_small_changes]\n"
    )
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    frame = read_results(tmp_path / "out" / "results.csv").set_index("test")
    frame.index = frame.index.str.removeprefix("Percentage Unchanged Predictions ")
    longer = ["Append Zeros", "Crop Beginning", "Crop End", "Prepend Zeros"]
    assert frame.loc[longer, "segments"].eq(24).all()
    assert frame.drop(longer)["segments"].eq(24 - silent).all() and len(frame) == 10
    page = (tmp_path / "out" / "notebooks" / "m" / "robustness_small_changes.ipynb").read_text()
    assert (
        f"c, Gain: {silent} of 24 segments are the same after it, sample by sample, and do not count" in page
    )
