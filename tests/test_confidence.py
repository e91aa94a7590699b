"""What models say of their own answers and recognisers of their words, through the command, against loops."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from runs import Run, expectations, run, sound, write

from soundcheck.common import resources
from soundcheck.metrics import confidence
from soundcheck.metrics.word_errors import align

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
WORDS = ("go", "left", "right", "stop", "door", "light")
MODEL = f'''
import numpy as np


def fair(signal, sampling_rate):
    """Know the emotion by the loudness of four parts; know less where there is noise."""
    parts = np.square(signal[: len(signal) // 4 * 4]).reshape(4, -1).mean(axis=1) + 1e-6
    shares = parts / parts.sum()
    value = float(shares[0])
    arousal = {{"value": value, "low": value - 0.2, "high": value + 0.2}}
    return {{"emotion": dict(zip({CLASSES}, shares)), "arousal": arousal}}
'''
SUITE = """
title: Sure
studies: false
replicates: 100
interval: t
thresholds: gap
families: [correctness_calibration, asr_confidence]
corpora:
  beeps: {format: csv, path: beeps.csv}
  tones: {format: csv, path: tones.csv, audio: false}
models:
  fair: {python: "sayers:fair", tasks: [emotion, arousal], corpora: [beeps]}
"""
EMOTIONAL = ("bold", "sure", "odd")
WRITTEN = ("words_fair", "words_bold", "words_whole", "words_silent", "few")


def people(prefix, count):
    """Segments of twenty speakers, ten of them women."""
    number = np.arange(count)
    table = pd.DataFrame({"file": [f"{prefix}{n}.wav" for n in number], "speaker": number % 20})
    sex = np.where(number % 20 < 10, "female", "male")
    return table.assign(speaker="s" + table["speaker"].astype(str), sex=sex)


def probabilities(shares):
    return {f"emotion.{name}": shares[:, number] for number, name in enumerate(CLASSES)}


def emotions(folder):
    """The emotion is drawn by how loud each of four parts is. With predictions.

    ``bold`` is too sure; ``sure`` has a confidence alone; ``odd`` names anger whatever the probabilities,
    which most lack, and values outside their interval.
    """
    rng, beeps = np.random.default_rng(0), people("", 160)
    loud = rng.dirichlet([1, 1, 1, 1], len(beeps))
    for file, parts in zip(beeps["file"], loud, strict=True):
        sound(folder / file, 0.9 * np.concatenate([np.sqrt(p) * rng.uniform(-1, 1, 800) for p in parts]))
    arousal = np.clip(loud[:, 0] + 0.15 * rng.standard_normal(len(beeps)), 0, 1).round(3)
    emotion = [CLASSES[rng.choice(4, p=parts)] for parts in loud]
    likeliest = np.array(CLASSES)[loud.argmax(axis=1)]
    power = loud**8 / (loud**8).sum(axis=1, keepdims=True)
    interval = {"arousal": 0.5, "arousal.low": 0.49, "arousal.high": 0.51}
    bold = beeps[["file"]].assign(emotion=likeliest, **interval, **probabilities(power))
    sure = beeps[["file"]].assign(emotion=likeliest, arousal=0.5, confidence=loud.max(axis=1))
    outside = {"emotion": "anger", "arousal": 0.999, "arousal.low": 0.1, "arousal.high": 0.2}
    few = np.where(np.arange(len(beeps))[:, None] < 100, np.nan, loud)
    odd = beeps[["file"]].assign(**outside, **probabilities(few))
    beeps = beeps.assign(emotion=emotion, arousal=arousal)
    return {"beeps": beeps, "bold": bold, "sure": sure, "odd": odd}


def words():
    """Words are right as often as one is sure of them; some are put in or left out. With predictions.

    ``words_bold`` is too sure; ``words_whole`` knows how sure it is of all words together; ``few`` has
    confidences in every third transcript.
    """
    rng, tones = np.random.default_rng(0), people("w", 120)
    texts, heard, confidences = [], [], []
    for _ in tones["file"]:
        text, numbers = [], rng.integers(6, size=rng.integers(2, 6))
        sure = rng.uniform(0.3, 0.98, len(numbers))
        for number, chance in zip(numbers, sure, strict=True):
            if rng.random() < chance:
                text.append(WORDS[number])
            elif rng.random() < 0.7:  # else it is put in
                text.append(WORDS[(number + 1) % 6])
        text += ["go"] if rng.random() < 0.2 else []  # is left out
        texts.append(" ".join(text) or "stop")
        heard.append([WORDS[number] for number in numbers])
        confidences.append(sure)
    said = tones[["file"]].assign(transcript=[f"{' '.join(words).capitalize()}." for words in heard])

    def with_words(change):
        pairs = (zip(*both, strict=True) for both in zip(heard, map(change, confidences), strict=True))
        return said.assign(**{"transcript.words": [json.dumps([*pair]) for pair in pairs]})

    few = with_words(lambda sure: sure)
    few.loc[few.index % 3 > 0, "transcript.words"] = ""
    return {
        **{"tones": tones.assign(transcript=texts), "words_silent": said, "few": few},
        **{"words_fair": with_words(lambda s: s), "words_bold": with_words(lambda s: 1 - (1 - s) / 8)},
        "words_whole": said.assign(confidence=[sure.prod() for sure in confidences]),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder, name = tmp_path_factory.mktemp("sure"), "thresholds/correctness_calibration.yml"
    family = yaml.safe_load((resources.root() / name).read_text("utf-8"))
    noise = {"transform": "white_noise", "axis": "SNR in dB", "option": "snr_db", "values": [20, 0]}
    family["sweeps"] = {"Noise": noise}
    family["options"] |= {"bins": 5, "sweep_segments": 80}
    tables = [("emotion, arousal", "beeps", name) for name in EMOTIONAL]
    tables += [("transcript", "tones", name) for name in WRITTEN]
    models = "".join(
        f"  {name}: {{predictions: {name}.csv, tasks: [{tasks}], corpora: [{corpus}]}}\n"
        for tasks, corpus, name in tables
    )
    write(folder, {f"{name}.csv": table for name, table in (emotions(folder) | words()).items()})
    write(folder, {"suite.yml": SUITE + models, name: yaml.safe_dump(family, sort_keys=False)})
    return run(undrawn, write(folder, {"sayers.py": MODEL}), "--no-book")


def value(statistic):
    """A measure on all of its segments; measures are compared with loops and libraries in their own tests."""
    return pytest.approx(float(statistic.point().value[0]), abs=1e-9)


@pytest.mark.parametrize("model", ["fair", "bold"])
def test_confidence_in_classes_and_values(whole, model):
    truth = whole.segments("beeps")
    clean = whole.predictions(model, "beeps").reindex(truth.index)
    given = clean[[f"emotion.{name}" for name in CLASSES]].to_numpy()
    correct, sure = (clean["emotion"] == truth["emotion"]).to_numpy(dtype=float), given.max(axis=1)
    speakers = pd.factorize(truth["speaker"])[0]
    interval = (truth["arousal"], clean["arousal.low"], clean["arousal.high"])
    for test, statistic in {
        "Overconfidence": confidence.overconfidence(sure, correct),
        "Brier Skill": confidence.brier_skill(truth["emotion"], given, CLASSES),
        "Expected Calibration Error": confidence.debiased_calibration_error(sure, correct, speakers, 5),
        "Relative Area Under Risk": confidence.area_under_risk(sure, correct, speakers, relative=True),
        "Interval Coverage Error": confidence.interval_coverage(*interval, above=0.9),
    }.items():
        assert whole.row(test, model=model, family="correctness_calibration")["value"] == value(statistic), (
            test
        )
    women, over = (truth["sex"] == "female").to_numpy(), sure - correct
    row = whole.row("Overconfidence Difference", group="sex: female", model=model, task="emotion")
    assert row["value"] == pytest.approx(over[women].mean() - over.mean())
    assert row["gap"] == pytest.approx(over[women].mean() - over[~women].mean())
    assert (row["segments"], row["blocks"]) == (80, 10)


def test_change_is_that_of_the_most_severe_noise_on_the_same_segments(whole):
    table, truth = whole.predictions("fair", "beeps", None), whole.segments("beeps")
    severe = [name for name in table["change"].unique() if name][-1]
    changed, clean = (table[table["change"] == name].set_index("key") for name in (severe, ""))
    means = []
    for rows in (changed, clean.loc[changed.index]):
        sure = rows[[f"emotion.{name}" for name in CLASSES]].to_numpy().max(axis=1)
        means.append(np.mean(sure - (rows["emotion"] == truth.loc[rows.index, "emotion"])))
    row = whole.rows(model="fair", test="Overconfidence Change").iloc[0]
    assert row["segments"] == len(changed) == 80 and row["value"] == pytest.approx(means[0] - means[1])


@pytest.mark.parametrize("model", ["words_fair", "words_bold"])
def test_confidence_in_words(whole, model):
    table, words = whole.predictions(model, "tones"), []  # confidence, whether it is right, sex of each word
    for key, segment in whole.segments("tones").iterrows():
        said = json.loads(table.loc[key, "transcript.words"])
        text = " ".join(word for word, _ in said)
        steps = [step for step in align(segment["transcript"], text) if step.hypothesis]
        for (_, sure), step in zip(said, steps, strict=True):
            words.append((sure, step.reference == step.hypothesis, segment["sex"]))
    sure, good, sex = map(np.array, zip(*words, strict=True))
    over = sure - good
    row = whole.row("Normalised Cross Entropy", model=model)["value"]
    assert row == value(confidence.normalised_cross_entropy(sure, good)) and 0.4 < good.mean() < 0.8
    row = whole.row("Overconfidence", model=model)
    assert row["value"] == pytest.approx(over.mean())
    assert (row["segments"], row["blocks"]) == (len(words), 20)
    women = sex == "female"
    row = whole.row("Overconfidence Difference", group="sex: female", model=model)["value"]
    assert row == pytest.approx(over[women].mean() - over.mean())


def test_transcripts_are_right_if_no_word_is_wrong(whole):
    table, truth = whole.predictions("words_whole", "tones"), whole.segments("tones")
    said = table["transcript"].str.lower().str.rstrip(".").reindex(truth.index)
    over = (table["confidence"].reindex(truth.index) - (said == truth["transcript"])).mean()
    row = whole.row("Transcript Overconfidence", model="words_whole")
    assert row["value"] == pytest.approx(over) and row["segments"] == 120


def test_who_knows_is_told_from_who_is_too_sure_and_from_who_hears_nothing(whole):
    def row(test, model, **of):
        return whole.row(test, model=model, **of)

    for prefix in ("", "words_"):
        fair, bold = (row("Expected Calibration Error", f"{prefix}{name}") for name in ("fair", "bold"))
        assert fair["value"] < 0.1 < bold["low"] and bold["evidence"] == "clear fail"
    assert row("Brier Skill", "fair")["low"] > 0
    assert row("Interval Coverage Error", "bold", task="arousal")["evidence"] == "clear fail"
    assert row("Normalised Cross Entropy", "words_fair")["low"] > 0
    assert row("Normalised Cross Entropy", "words_bold")["evidence"] == "clear fail"
    areas = [row("Relative Area Under Risk", f"words_{name}")["value"] for name in ("fair", "bold")]
    assert areas[0] == pytest.approx(areas[1], abs=1e-3) and areas[0] < 0.9  # both order words alike


@pytest.mark.parametrize(("cells", "why"), expectations("confidence", "reasons"))
def test_what_a_model_does_not_say_is_not_judged(whole, cells, why):
    assert all(why in reason for reason in whole.reasons(**cells))


def test_who_says_nothing_has_no_page_and_what_cannot_be_is_listed(whole):
    assert np.isfinite(whole.row("Overconfidence", model="sure")["value"])  # a confidence alone is enough
    families = ("correctness_calibration", "asr_confidence")
    models = [set(whole.rows(family=family)["model"]) for family in families]
    assert models == [{"fair", "bold", "sure", "odd"}, {"words_fair", "words_bold", "words_whole", "few"}]
    for page, words in expectations("confidence", "pages").items():
        assert [text for text in words if text not in whole.shown(*page.split("/"))] == []


def test_few_confidences_are_not_judged_as_if_they_were_all(whole):
    row = whole.row("Overconfidence", model="odd", family="correctness_calibration")
    assert row["skipped"] == "no prediction for 100 of 160 segments"
    counts = pd.read_csv(whole.out.parent / "few.csv")["transcript"].str.split().str.len()
    why = f"no prediction for {counts[counts.index % 3 > 0].sum()} of {counts.sum()} segments"
    for test in ("Expected Calibration Error", "Normalised Cross Entropy", "Relative Area Under Risk"):
        assert whole.row(test, model="few")["skipped"] == why
    page = whole.shown("odd", "correctness_calibration")
    for words in ("without how sure", "name another class than the likeliest", "lie outside their"):
        assert words in page
