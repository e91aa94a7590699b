"""Recognisers under stress and where nobody speaks, through the command, against jiwer and plain loops."""

import re

import jiwer
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from runs import Run, run, sound, write

from soundcheck.augment.registry import apply
from soundcheck.augment.sounds import Sounds
from soundcheck.common import resources
from soundcheck.evaluation.unspoken import IN_CORPUS
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE, STRESS, UNSPOKEN = 16000, "asr_robustness", "asr_hallucination"
MODEL = '''
import numpy as np


def beats(signal, sampling_rate):
    """Write a word for each third of a second that begins much louder than it ends."""
    parts = np.square(signal[: len(signal) // 4800 * 4800]).reshape(-1, 4800)
    loud = parts[:, :3200].mean(axis=1) > 4 * parts[:, 3200:].mean(axis=1) + 1e-9
    return {"transcript": " ".join("stop" if is_loud else "" for is_loud in loud) + " <b>go</b>"}


def failing(signal, sampling_rate):
    """No answer where there is noise in the pauses."""
    quiet = np.abs(signal[3300:4700]).max() < 0.3
    return {"transcript": "stop stop" if quiet else None}


def hearing(signal, sampling_rate):
    """Write a word for each tenth of a second that is loud enough."""
    loud = [np.abs(signal[n : n + 1600]).max() > 0.05 for n in range(0, len(signal) - 1599, 1600)]
    return {"transcript": " ".join("stop" if is_loud else "" for is_loud in loud)}


def going_on(signal, sampling_rate):
    """Write what is heard, and go on writing in long silence; hostile words, too, and one again and again."""
    said = hearing(signal, sampling_rate)["transcript"].strip() or "thanks " * 100
    return {"transcript": said + (" <b>thanks</b> for watching" if len(signal) > 30 * 16000 else "")}


def silent(signal, sampling_rate):
    return {"transcript": ""}


def endless(signal, sampling_rate):
    return {"transcript": "thanks " * 20000 if np.abs(signal).max() < 0.2 else "stop"}

'''
STRESSED = ("beats", "failing")
WRITING = ("hearing", "going_on", "silent", "endless")
LEVELS = {"Noise": ["4", "2", "0"], "Packet Loss": ["5", "40"], "Amplitude": ["2", "0.5"]}
SUITE = f"""
title: Stress and silence
studies: false
replicates: 100
interval: t
thresholds: gap
card: {{languages: [en]}}
corpora:
  beats: {{format: csv, path: beats.csv, families: [{STRESS}]}}
  beeps: {{format: csv, path: beeps.csv, families: [{UNSPOKEN}]}}
models:
  MODELS
families: [{STRESS}, {UNSPOKEN}]
sounds: {{noise: sounds, other_language: sounds/foreign}}
limits: {{transformations: {{{STRESS}: [{", ".join(LEVELS)}]}}}}
"""


def speakers(folder):
    """Sixty recordings of twenty speakers with a noise of their own, which is louder for women."""
    rng, rows = np.random.default_rng(0), []
    for number in range(60):
        count, woman = 3 + number % 3, number % 2
        beat = np.concatenate([np.sin(0.2 * np.arange(3200)), np.zeros(1600)])
        noise = (0.02 + 0.15 * woman + 0.1 * rng.random()) * rng.standard_normal(4800 * count)
        sound(folder / f"{number}.wav", 0.3 * np.tile(beat, count) + 0.3 * noise * (number > 5))
        said = " ".join(["stop"] * count) + " <b>go</b>" * (number > 2)
        rows.append((f"{number}.wav", f"s{number % 20}", ("male", "female")[woman], said))
    return pd.DataFrame(rows, columns=["file", "speaker", "sex", "transcript"])


def beeps(folder):
    """Twelve beeps of six speakers, a third of them in French, and noise in the place of all sounds."""
    rng, rows = np.random.default_rng(0), []
    for kind in ("babble", "coughing", "environmental", "music", "sneezing", "foreign/de"):
        sound(folder / "sounds" / kind / "one.wav", rng.uniform(-0.5, 0.5, RATE))
    for number in range(12):
        sound(folder / f"b{number}.wav", 0.5 * np.sin(np.arange(8000 + 800 * number) * (0.1 + 0.01 * number)))
        rows.append((f"b{number}.wav", f"s{number % 6}", ("en-GB", "", "fra")[number % 3]))
    return pd.DataFrame(rows, columns=["file", "speaker", "language"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder = tmp_path_factory.mktemp("stress")
    beats = speakers(folder)
    family = yaml.safe_load((resources.root() / f"thresholds/{STRESS}.yml").read_text("utf-8"))
    for name, levels in LEVELS.items():
        family["transformations"][name]["values"] = [float(level) for level in levels]
    family["options"] |= {"sweep_segments": 60}  # all of them
    models = []
    for name in dict.fromkeys(STRESSED + WRITING):
        corpora = ["beats"] * (name in STRESSED) + ["beeps"] * (name in WRITING)
        card = ", card: {languages: [deu, fr]}" * (name == "endless")
        models.append(f'{name}: {{python: "writers:{name}", tasks: [transcript], corpora: {corpora}{card}}}')
    files = {"beats.csv": beats, "beeps.csv": beeps(folder), "writers.py": MODEL}
    files[f"thresholds/{STRESS}.yml"] = yaml.safe_dump(family, sort_keys=False)
    files["suite.yml"] = SUITE.replace("MODELS", "\n  ".join(models))
    return run(undrawn, write(folder, files), "--no-book", code=3)  # some failed to answer


# Under stress -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(whole):
    """What was said, and what a model wrote for the segments: (transformation, level) -> texts."""
    transformations = read_family(STRESS, whole.out.parent).transformations
    changes = {(n, level): transformations[n].steps[level].identity for n in LEVELS for level in LEVELS[n]}

    def of(model):
        said = whole.segments("beats")["transcript"]
        return said, {
            step: whole.predictions(model, "beats", change)["transcript"].reindex(said.index)
            for step, change in (changes | {("", ""): ""}).items()
        }

    return of


def errors(said, heard):
    """Count word errors and words by jiwer; what is missing counts as empty."""
    said, heard = (texts.fillna("").str.replace("<b>go</b>", "b go b").tolist() for texts in (said, heard))
    counts = jiwer.process_words(said, heard)
    words = sum(len(text.split()) for text in said)
    return counts.substitutions + counts.deletions + counts.insertions, words


@pytest.mark.parametrize("model", STRESSED)
def test_changes_are_those_of_jiwer(whole, written, model):
    """All words are missed where a recogniser was asked in vain, as the sound is and under changes."""
    said, heard = written(model)
    rows = whole.rows(model=model, test="Word Error Rate Change", corpus="beats").set_index("label")
    clean, words = errors(said, heard["", ""])
    expected = {
        f"{name} {level}": (errors(said, heard[name, level])[0] - clean) / words
        for name, (level, *_) in LEVELS.items()
    }
    assert rows["value"].to_dict() == pytest.approx(expected, abs=1e-6)
    assert rows["segments"].eq(len(said)).all() and rows["reference"].eq(0).all()
    if model == "failing":
        clean, *changed = (int(answers.isna().sum()) for _, answers in sorted(heard.items()))
        assert 0 < clean < 30 and rows.loc["Noise 4", "value"] > 0.1  # no answer is no gain
        message = f"beats: {clean} input without a prediction: all words count as missed"
        assert message in whole.shown("failing", STRESS)
        message = f"beats: {sum(changed)} of {7 * len(said)} transcripts under changes are missing"
        assert message in whole.shown("failing", STRESS)


def test_differences_of_groups_are_those_of_jiwer(whole, written):
    said, heard = written("beats")
    sex, clean = whole.segments("beats")["sex"], heard.pop(("", ""))

    def mean_change(mask):
        before, words = errors(said[mask], clean[mask])
        return np.mean([errors(said[mask], texts[mask])[0] - before for texts in heard.values()]) / words

    row = whole.row("Word Error Rate Change Difference", group="sex: female", model="beats", corpus="beats")
    expected = mean_change(sex.eq("female")) - mean_change(sex.notna())
    assert row["value"] == pytest.approx(expected, abs=1e-6) and row["value"] > 0
    assert row["reference"] == 0 and row["reference_passed"]


def test_pages_are_bounded_and_escaped(whole):
    pages = {model: whole.shown(model, UNSPOKEN) for model in WRITING}
    assert max(map(len, pages.values())) < 300_000
    assert all(page.count("<audio") <= 6 for page in pages.values())
    assert "<b>go</b>" not in whole.shown("beats", STRESS) and "<b>thanks" not in pages["going_on"]
    assert "nothing is written for 12 of 12 segments of speech either" in pages["silent"]


# Where nobody speaks ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def signals(whole):
    """What every segment sounds like under each change: kind -> signals; and as it is, under no name."""
    sounds, table = Sounds.load(whole.out / "sounds.json"), whole.segments("beeps")
    spoken = [soundfile.read(whole.out.parent / name, dtype="float32")[0] for name in table["file"]]
    changed = {
        name: [
            apply(change, signal, RATE, seed=0, content=audio, sounds=sounds)[0]
            for signal, audio in zip(spoken, table["audio"], strict=True)
        ]
        for name, change in read_family(UNSPOKEN).changes.items()
    }
    return changed | {"": spoken}


def words(model, signal):
    space = {}
    exec(MODEL, space)
    return re.sub(r"\W+", " ", space[model](signal, RATE)["transcript"]).split()


@pytest.mark.parametrize("model", ["hearing", "going_on"])
def test_values_are_those_of_plain_loops(whole, signals, model):
    for kind in ("Silence", "White Noise", "Music", "Speech Then Silence"):
        texts = [words(model, signal) for signal in signals[kind]]
        seconds = sum(map(len, signals[kind])) / RATE
        expected = {"Characters Per Minute": 60 * sum(len(" ".join(text)) for text in texts) / seconds}
        if kind == "Speech Then Silence":
            more = sum(map(len, texts)) - sum(len(words(model, alone)) for alone in signals[""])
            expected["Inserted Words Per Minute"] = more / (0.5 * len(texts))
        else:
            expected["Words Per Minute"] = 60 * sum(map(len, texts)) / seconds
            expected["Share Of Empty Answers"] = np.mean([not text for text in texts])
        for test, value in expected.items():
            row = whole.row(test, kind, model=model)
            assert row["value"] == pytest.approx(value, rel=1e-5), (kind, test)


def test_empty_transcripts_leave_room_for_speakers_who_get_words(whole):
    """Six of six speakers without a word: nothing is concluded for others, and no interval is shown.

    Up to a share of others may get as many words as people say.
    """
    share = 1 - 0.025 ** (1 / 6)
    for test, value, at in (("Words Per Minute", 0, share * 150), ("Share Of Empty Answers", 1, 1 - share)):
        row = whole.row(test, "Silence", model="silent")
        assert row["value"] == value and pd.isna(row["low"]) and pd.isna(row["high"])
        assert at < row["threshold"] if value else at > row["threshold"]
        assert row["skipped"] == f"interval withheld: all of 6 speakers at {value}, 20 needed"
        assert row["state"] == "inconclusive"


def test_what_each_recogniser_does_wrong_is_judged(whole):
    for model, test, kind, passed in (
        ("hearing", "Share Of Empty Answers", "Babble Noise", False),
        ("hearing", "Share Of Empty Answers", "Silence", True),
        ("hearing", "Inserted Words Per Minute", "Speech Then Silence", True),
        ("going_on", "Inserted Words Per Minute", "Speech Then Silence", False),
        ("going_on", "Repeated Words", "Silence", False),
        ("hearing", "Characters Per Minute", "White Noise", False),
    ):
        assert whole.row(test, kind, model=model)["passed"] is passed, (model, test)
    assert whole.rows(model="silent", family=UNSPOKEN)["passed"].eq(True).all()


def test_speech_in_another_language_is_judged_unless_the_recogniser_knows_it(whole, signals):
    pairs = zip(signals[""], whole.segments("beeps")["language"], strict=True)
    french = [signal for signal, language in pairs if language == "fra"]
    count = sum(len(words("hearing", signal)) for signal in french)
    row = whole.row("Words Per Minute", IN_CORPUS, model="hearing")
    assert row["value"] == pytest.approx(60 * count * RATE / sum(map(len, french)), rel=1e-5)
    assert row["segments"] == len(french) == 4 and not row["passed"]
    message = "4 of 12 segments are in fra, which the recogniser does not know"
    assert message in whole.shown("hearing", UNSPOKEN)
    german = set(whole.rows(model="endless")["label"])
    assert IN_CORPUS in german and "Other Language" not in german
    message = "Other Language is not judged: the recogniser knows deu, and some of the sounds"
    assert message in whole.shown("endless", UNSPOKEN)


def test_no_transcript_is_no_empty_one(whole):
    silence = whole.row("Share Of Empty Answers", "Silence", model="endless")
    assert silence["value"] == 0 and not silence["passed"]
    rate = whole.row("Words Per Minute", "Silence", model="endless")
    assert pd.isna(rate["value"]) and rate["skipped"]
    message = "Silence: 12 of 12 predictions are missing or were too long to be kept"
    assert message in whole.shown("endless", UNSPOKEN)
