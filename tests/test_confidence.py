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

CLASSES, WORDS = {CLASSES}, {WORDS}


def shares(signal, power):
    """Know the emotion by the loudness of four parts; know less where there is noise."""
    parts = np.square(signal[: len(signal) // 4 * 4]).reshape(4, -1).mean(axis=1) + 1e-6
    found = (parts / parts.sum()) ** power
    return found / found.sum()


def fair(signal, sampling_rate):
    found = shares(signal, 1)
    value = float(found[0])
    arousal = {{"value": value, "low": value - 0.2, "high": value + 0.2}}
    return {{"emotion": dict(zip(CLASSES, found)), "arousal": arousal}}


def bold(signal, sampling_rate):
    arousal = {{"value": 0.5, "low": 0.49, "high": 0.51}}
    return {{"emotion": dict(zip(CLASSES, shares(signal, 8).tolist())), "arousal": arousal}}


def sure(signal, sampling_rate):
    """A confidence without probabilities, and none at all for what is quiet."""
    found = shares(signal, 1)
    answer = {{"emotion": CLASSES[int(found.argmax())], "arousal": 0.5}}
    return answer | ({{"confidence": found.max()}} if np.abs(signal).max() > 0.3 else {{}})


def wrong(signal, sampling_rate):
    return {{"emotion": {{"anger": 0.5, "neutral": 0.4}}, "arousal": 0.5}}


def heard(signal):
    """Each tenth of a second is a word: how often its sign changes names it, its level says how surely."""
    found = []
    for start in range(0, len(signal) - 1599, 1600):
        part = signal[start : start + 1600]
        changes = np.count_nonzero(np.diff(np.sign(part)))
        word = min(range(6), key=lambda number: abs(changes - 1600 / (2 + number)))
        found.append((WORDS[word], abs(part).mean()))
    return found


def said(found):
    text = " ".join(word for word, _ in found).capitalize() + "."
    return {{"transcript": text, "words": [{{"word": w, "confidence": c, "start": 0.1}} for w, c in found]}}


def words_fair(signal, sampling_rate):
    return said(heard(signal))


def words_bold(signal, sampling_rate):
    return said([(word, 1 - (1 - sure) / 8) for word, sure in heard(signal)])


def words_whole(signal, sampling_rate):
    found = heard(signal)
    return {{"transcript": said(found)["transcript"], "confidence": np.prod([sure for _, sure in found])}}


def words_apart(signal, sampling_rate):
    return said(heard(signal)) | {{"transcript": "stop"}}


def words_silent(signal, sampling_rate):
    return {{"transcript": "go", "words": ["go"]}}
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
  tones: {format: csv, path: tones.csv}
models:
"""
EMOTIONAL = ("fair", "bold", "sure", "wrong")
WRITTEN = ("words_fair", "words_bold", "words_whole", "words_apart", "words_silent")
TABLES = """\
  odd: {predictions: odd.csv, tasks: [emotion, arousal], corpora: [beeps]}
  few: {predictions: few.csv, tasks: [transcript], corpora: [tones]}
"""


def people(prefix, count):
    """Segments of twenty speakers, ten of them women."""
    number = np.arange(count)
    table = pd.DataFrame({"file": [f"{prefix}{n}.wav" for n in number], "speaker": number % 20})
    return table.assign(
        speaker="s" + table["speaker"].astype(str), sex=np.where(number % 20 < 10, "female", "male")
    )


def emotions(folder):
    """The emotion is drawn by how loud each of four parts is."""
    rng, table = np.random.default_rng(0), people("", 160)
    loud = rng.dirichlet([1, 1, 1, 1], len(table))
    for file, parts in zip(table["file"], loud, strict=True):
        sound(folder / file, 0.9 * np.concatenate([np.sqrt(p) * rng.uniform(-1, 1, 800) for p in parts]))
    arousal = np.clip(loud[:, 0] + 0.15 * rng.standard_normal(len(table)), 0, 1).round(3)
    return table.assign(emotion=[CLASSES[rng.choice(4, p=parts)] for parts in loud], arousal=arousal)


def words(folder):
    """Words are right as often as they are loud; some are put in or left out."""
    rng, table, texts = np.random.default_rng(0), people("w", 120), []
    for file in table["file"]:
        parts, text = [], []
        for _ in range(rng.integers(2, 6)):
            word, sure = rng.integers(6), rng.uniform(0.3, 0.98)
            parts.append(sure * np.resize(np.repeat([1, -1], 2 + word), 1600))
            if rng.random() < sure:
                text.append(WORDS[word])
            elif rng.random() < 0.7:  # else it is put in
                text.append(WORDS[(word + 1) % 6])
        text += ["go"] if rng.random() < 0.2 else []  # is left out
        sound(folder / file, np.concatenate(parts))
        texts.append(" ".join(text) or "stop")
    return table.assign(transcript=texts)


def tables(beeps, tones):
    """Anger whatever the probabilities, which most lack, with values outside their interval; few are sure."""
    shares = np.random.default_rng(0).dirichlet([1, 1, 1, 1], len(beeps)).round(6)
    shares[:, 3] = 1 - shares[:, :3].sum(axis=1)
    shares[:100] = np.nan
    outside = {"emotion": "anger", "arousal": 0.999, "arousal.low": 0.1, "arousal.high": 0.2}
    odd = beeps[["file"]].assign(**outside, **{f"emotion.{c}": shares[:, n] for n, c in enumerate(CLASSES)})
    cells = [json.dumps([[word, 0.5] for word in text.split()]) for text in tones["transcript"]]
    few = tones[["file", "transcript"]].assign(**{"transcript.words": cells})
    few.loc[few.index % 3 > 0, "transcript.words"] = ""  # of every third transcript
    return {"odd.csv": odd, "few.csv": few}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder, name = tmp_path_factory.mktemp("sure"), "thresholds/correctness_calibration.yml"
    family = yaml.safe_load((resources.root() / name).read_text("utf-8"))
    noise = {"transform": "white_noise", "axis": "SNR in dB", "option": "snr_db", "values": [20, 0]}
    family["sweeps"] = {"Noise": noise}
    family["options"] |= {"bins": 5, "sweep_segments": 80}
    own = [("emotion, arousal", "beeps", name) for name in EMOTIONAL]
    own += [("transcript", "tones", name) for name in WRITTEN]
    models = "".join(
        f'  {name}: {{python: "sayers:{name}", tasks: [{tasks}], corpora: [{corpus}]}}\n'
        for tasks, corpus, name in own
    )
    beeps, tones = emotions(folder), words(folder)
    write(folder, {"suite.yml": SUITE + models + TABLES, name: yaml.safe_dump(family, sort_keys=False)})
    write(folder, {"beeps.csv": beeps, "tones.csv": tones} | tables(beeps, tones))
    return run(undrawn, write(folder, {"sayers.py": MODEL}), "--no-book", code=3)


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
    found = whole.row("Overconfidence Difference", group="sex: female", model=model, task="emotion")
    assert found["value"] == pytest.approx(over[women].mean() - over.mean())
    assert found["gap"] == pytest.approx(over[women].mean() - over[~women].mean())
    assert (found["segments"], found["blocks"]) == (80, 10)


def test_change_is_that_of_the_most_severe_noise_on_the_same_segments(whole):
    table, truth = whole.predictions("fair", "beeps", None), whole.segments("beeps")
    severe = [name for name in table["change"].unique() if name][-1]
    changed, clean = (table[table["change"] == name].set_index("key") for name in (severe, ""))
    means = []
    for own in (changed, clean.loc[changed.index]):
        sure = own[[f"emotion.{name}" for name in CLASSES]].to_numpy().max(axis=1)
        means.append(np.mean(sure - (own["emotion"] == truth.loc[own.index, "emotion"])))
    found = whole.rows(model="fair", test="Overconfidence Change").iloc[0]
    assert found["segments"] == len(changed) == 80 and found["value"] == pytest.approx(means[0] - means[1])


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
    found = whole.row("Normalised Cross Entropy", model=model)["value"]
    assert found == value(confidence.normalised_cross_entropy(sure, good)) and 0.4 < good.mean() < 0.8
    found = whole.row("Overconfidence", model=model)
    assert found["value"] == pytest.approx(over.mean())
    assert (found["segments"], found["blocks"]) == (len(words), 20)
    women = sex == "female"
    found = whole.row("Overconfidence Difference", group="sex: female", model=model)["value"]
    assert found == pytest.approx(over[women].mean() - over.mean())


def test_transcripts_are_right_if_no_word_is_wrong(whole):
    table, truth = whole.predictions("words_whole", "tones"), whole.segments("tones")
    said = table["transcript"].str.lower().str.rstrip(".").reindex(truth.index)
    over = (table["confidence"].reindex(truth.index) - (said == truth["transcript"])).mean()
    found = whole.row("Transcript Overconfidence", model="words_whole")
    assert found["value"] == pytest.approx(over) and found["segments"] == 120


def test_who_knows_is_told_from_who_is_too_sure_and_from_who_hears_nothing(whole):
    def row(test, model, **of):
        return whole.row(test, model=model, **of)

    for prefix in ("", "words_"):
        fair, bold = (row("Expected Calibration Error", f"{prefix}{one}") for one in ("fair", "bold"))
        assert fair["value"] < 0.1 < bold["low"] and bold["evidence"] == "clear fail"
    assert row("Brier Skill", "fair")["low"] > 0
    assert row("Interval Coverage Error", "bold", task="arousal")["evidence"] == "clear fail"
    assert row("Normalised Cross Entropy", "words_fair")["low"] > 0
    assert row("Normalised Cross Entropy", "words_bold")["evidence"] == "clear fail"
    areas = [row("Relative Area Under Risk", f"words_{one}")["value"] for one in ("fair", "bold")]
    assert areas[0] == pytest.approx(areas[1], abs=1e-3) and areas[0] < 0.9  # both order words alike
    for model, tests, reference in (
        ("fair", ("Expected Calibration Error", "Brier Skill", "Interval Skill", "Overconfidence"), 0),
        ("words_fair", ("Overconfidence", "Normalised Cross Entropy"), 0),
        ("fair", ["Relative Area Under Risk"], 1),
        ("words_fair", ["Relative Area Under Risk"], 1),
    ):
        for test in tests:
            assert row(test, model)["reference"] == pytest.approx(reference, abs=1e-9), test


@pytest.mark.parametrize(("cells", "why"), expectations("confidence", "reasons"))
def test_what_a_model_does_not_say_is_not_judged(whole, cells, why):
    assert all(why in reason for reason in whole.reasons(**cells))


def test_who_says_nothing_has_no_page_and_what_cannot_be_is_listed(whole):
    assert np.isfinite(whole.row("Overconfidence", model="sure")["value"])  # a confidence alone is enough
    families = ("correctness_calibration", "asr_confidence")
    found = [set(whole.rows(family=family)["model"]) for family in families]
    assert found == [{"fair", "bold", "sure", "odd"}, {"words_fair", "words_bold", "words_whole", "few"}]
    left_out = (whole.out / "left_out.csv").read_text(encoding="utf-8")
    assert "emotion is probabilities that add up to 0.9 instead of 1" in left_out
    assert "words that do not join to the transcript" in left_out
    for page, words in expectations("confidence", "pages").items():
        assert [one for one in words if one not in whole.shown(*page.split("/"))] == []


def test_few_confidences_are_not_judged_as_if_they_were_all(whole):
    row = whole.row("Overconfidence", model="odd", family="correctness_calibration")
    assert row["skipped"] == "no prediction for 100 of 160 segments"
    words = pd.read_csv(whole.out.parent / "tones.csv")["transcript"].str.split().str.len()
    why = f"no prediction for {words[np.arange(120) % 3 > 0].sum()} of {words.sum()} segments"
    for test in ("Expected Calibration Error", "Normalised Cross Entropy", "Relative Area Under Risk"):
        assert whole.row(test, model="few")["skipped"] == why
    page = whole.shown("odd", "correctness_calibration")
    for words in ("without how sure", "name another class than the likeliest", "lie outside their"):
        assert words in page
