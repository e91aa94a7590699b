"""Words where nobody speaks, through the command, against plain loops over what was written."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import soundfile
from scipy import stats

from soundcheck.augment.registry import apply
from soundcheck.augment.sounds import Sounds
from soundcheck.evaluation.unspoken import IN_CORPUS
from soundcheck.results.estimates import read_estimates
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
MODEL = '''
import numpy as np


def hearing(signal, sampling_rate):
    """Write a word for each tenth of a second that is loud enough."""
    loud = [np.abs(signal[n : n + 1600]).max() > 0.05 for n in range(0, len(signal) - 1599, 1600)]
    return {"transcript": " ".join("stop" if one else "" for one in loud)}


def going_on(signal, sampling_rate):
    """Write what is heard, and go on writing in long silence; hostile words, too."""
    said = hearing(signal, sampling_rate)["transcript"]
    return {"transcript": said + (" <b>thanks</b> for watching" if len(signal) > 30 * 16000 else "")}


def silent(signal, sampling_rate):
    return {"transcript": ""}


def nothing(signal, sampling_rate):
    return {"transcript": None if np.abs(signal).max() < 0.2 else "stop"}


def endless(signal, sampling_rate):
    return {"transcript": "thanks " * 20000 if np.abs(signal).max() < 0.2 else "stop"}


def thanks(signal, sampling_rate):
    return {"transcript": "thanks " * 100}
'''
NAMES = ("hearing", "going_on", "silent", "nothing", "endless", "thanks")
SUITE = """
title: Sounds
studies: false
replicates: 100
interval: t
card: {{languages: [en]}}
corpora:
  beeps: {{format: csv, path: segments.csv}}
models:
{models}
families: [asr_hallucination]
sounds: {sounds}
limits: {{levels: 2}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder, rng = tmp_path_factory.mktemp("unspoken"), np.random.default_rng(0)
    (folder / "sounds").mkdir()
    for kind in ("babble", "coughing", "environmental", "music", "sneezing", "foreign/de"):
        (folder / "sounds" / kind).mkdir(parents=True)
        noise = rng.uniform(-0.5, 0.5, RATE)
        soundfile.write(folder / "sounds" / kind / "one.wav", noise, RATE, subtype="PCM_16")
    rows = ["file,speaker,language"]
    for number in range(12):
        beep = 0.5 * np.sin(np.arange(8000 + 800 * number) * (0.1 + 0.01 * number))
        soundfile.write(folder / f"{number}.wav", beep, RATE, subtype="PCM_16")
        rows.append(f"{number}.wav,s{number % 6},{('en-GB', '', 'fra')[number % 3]}")
    (folder / "segments.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "writers.py").write_text(MODEL)
    models = "".join(f'  {name}: {{python: "writers:{name}", tasks: [transcript]}}\n' for name in NAMES)
    models += '  german: {python: "writers:hearing", tasks: [transcript], card: {languages: [deu, fr]}}\n'
    text = SUITE.format(models=models, sounds="{noise: sounds, other_language: sounds/foreign}")
    (folder / "suite.yml").write_text(text)
    done = command(
        "run", "suite.yml", "--out", "out", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode == 3, done.stderr  # two recognisers failed to answer most
    return folder


@pytest.fixture(scope="module")
def results(run):
    return pd.read_csv(run / "out" / "results.csv", keep_default_na=False, na_values=[""])


@pytest.fixture(scope="module")
def signals(run):
    """What every segment sounds like under each change: kind -> signals; and as it is, under no name."""
    sounds = Sounds.load(run / "out" / "sounds.json")
    table = pd.read_parquet(run / "out" / "corpora" / "beeps.parquet")
    spoken = [soundfile.read(run / name, dtype="float32")[0] for name in table["file"]]
    found = {"": spoken}
    for name, change in read_family("asr_hallucination").changes.items():
        found[name] = [
            apply(change, signal, RATE, seed=0, content=content, sounds=sounds)[0]
            for signal, content in zip(spoken, table["audio"], strict=True)
        ]
    return found


def found(results, model, test, label):
    rows = results[(results["model"] == model) & (results["test"] == test) & (results["label"] == label)]
    assert len(rows) == 1
    return rows.iloc[0]


def writer(name):
    space = {}
    exec(MODEL, space)
    return lambda signal: space[name](signal, RATE)["transcript"]


@pytest.mark.parametrize("model", ["hearing", "going_on"])
def test_values_are_those_of_plain_loops(results, signals, model):
    write = writer(model)
    for kind, heard in signals.items():
        if not kind:
            continue
        texts = [re.sub(r"\W+", " ", write(signal)).split() for signal in heard]
        seconds = sum(len(signal) for signal in heard) / RATE
        expected = {"Characters Per Minute": 60 * sum(len(" ".join(text)) for text in texts) / seconds}
        if kind not in ("Speech Then Silence", "Looped Speech", "Backwards Speech"):
            expected["Words Per Minute"] = 60 * sum(map(len, texts)) / seconds
            expected["Share Of Empty Answers"] = sum(not text for text in texts) / len(texts)
        if kind == "Speech Then Silence":
            alone = [re.sub(r"\W+", " ", write(signal)).split() for signal in signals[""]]
            more = sum(len(text) - len(before) for text, before in zip(texts, alone, strict=True))
            expected["Inserted Words Per Minute"] = more / (0.5 * len(texts))
        if kind != "Looped Speech":
            again = [
                re.search(r"(?:^| )((?:\S+ ){0,4}\S+)(?: \1){3}(?: |$)", " ".join(text)) for text in texts
            ]
            expected["Repeated Words"] = sum(map(bool, again)) / len(again)
        for test, value in expected.items():
            assert found(results, model, test, kind)["value"] == pytest.approx(value, rel=1e-5), (kind, test)


def test_empty_answers_leave_room_for_speakers_who_get_words(results, run, shown):
    """Six of six speakers without a word: up to a share of them may get as many as people say.

    So nothing is concluded for new speakers, and no interval is shown; for these ones a share has that of its
    recordings.
    """
    share = 1 - 0.025 ** (1 / 6)
    for test, everything in (("Words Per Minute", 150), ("Characters Per Minute", 4000)):
        row = found(results, "silent", test, "Silence")
        assert row["value"] == 0 and share * everything > row["threshold"]
        assert pd.isna(row["low"]) and pd.isna(row["high"])
        assert row["skipped"] == "interval withheld: all of 6 speakers at 0, 20 needed"
        assert row["state"] == "inconclusive" and row["evidence"] == "open"
    row = found(results, "silent", "Share Of Empty Answers", "Silence")
    assert row["value"] == 1 and pd.isna(row["low"]) and pd.isna(row["high"])
    assert row["skipped"] == "interval withheld: all of 6 speakers at 1, 20 needed"
    assert row["state"] == "inconclusive" and 1 - share < row["threshold"]
    estimates = read_estimates(run / "out").query("model == 'silent' and condition == 'Silence'")
    estimates = estimates.set_index("measure")
    low = 1 / (1 + stats.norm.ppf(0.975) ** 2 / 12)  # Wilson: 12 of 12 recordings
    shares = estimates.loc[["share_of_empty_answers", "repeated_words"], ["low_sample", "high_sample"]]
    assert shares.to_numpy() == pytest.approx(np.array([[low, 1], [0, 1 - low]]))
    assert estimates.loc["words_per_minute", ["low", "high", "low_sample", "high_sample"]].isna().all()
    page = shown(run / "out", "silent", "asr_hallucination").replace("\xa0", " ").replace("&nbsp;", " ")
    judged = page.split("### From silence to sounds")[0]  # levels of one sound have intervals
    assert "1.00 to 1.00" not in judged and "0.54 to 1.00" not in judged
    assert "all of 6 speakers at 1, 20 needed" in page


def test_what_each_recogniser_does_wrong_is_found(results):
    assert not found(results, "hearing", "Share Of Empty Answers", "Babble Noise")["passed"]
    assert found(results, "hearing", "Share Of Empty Answers", "Silence")["passed"]
    assert found(results, "hearing", "Inserted Words Per Minute", "Speech Then Silence")["passed"]
    added = found(results, "going_on", "Inserted Words Per Minute", "Speech Then Silence")
    assert added["value"] > 2 and not added["passed"]
    again = found(results, "thanks", "Repeated Words", "Silence")
    assert again["value"] == 1 and not again["passed"]
    assert not found(results, "thanks", "Characters Per Minute", "White Noise")["passed"]
    assert results[results["model"] == "silent"]["passed"].eq(True).all()


def test_speech_in_another_language_is_judged_unless_the_recogniser_knows_it(results, run, signals, shown):
    table = pd.read_parquet(run / "out" / "corpora" / "beeps.parquet")
    pairs = zip(signals[""], table["language"], strict=True)
    french = [signal for signal, language in pairs if language == "fra"]
    words = sum(len(writer("hearing")(signal).split()) for signal in french)
    row = found(results, "hearing", "Words Per Minute", IN_CORPUS)
    assert row["value"] == pytest.approx(60 * words * RATE / sum(map(len, french)), rel=1e-5)
    assert row["segments"] == len(french) == 4 and not row["passed"]
    page = shown(run / "out", "hearing", "asr_hallucination")
    assert "4 of 12 segments are in fra, which the recogniser does not know" in page
    german = results[results["model"] == "german"]
    assert IN_CORPUS in set(german["label"]) and "Other Language" not in set(german["label"])
    page = shown(run / "out", "german", "asr_hallucination")
    assert "Other Language is not judged: the recogniser knows deu, and some of the sounds" in page


@pytest.mark.parametrize("model", ["nothing", "endless"])
def test_no_answer_is_no_empty_one(results, model, run, shown):
    silence = found(results, model, "Share Of Empty Answers", "Silence")
    assert silence["value"] == 0 and not silence["passed"]
    rate = found(results, model, "Words Per Minute", "Silence")
    assert pd.isna(rate["value"]) and rate["skipped"]
    page = shown(run / "out", model, "asr_hallucination")
    assert "Silence: 12 of 12 predictions are missing or were too long to be kept" in page


def test_pages_are_bounded_and_escaped(run, shown):
    pages = {model: shown(run / "out", model, "asr_hallucination") for model in NAMES}
    assert max(map(len, pages.values())) < 300_000
    assert all(page.count("<audio") <= 6 for page in pages.values())
    assert "<b>thanks" not in pages["going_on"]
    assert "nothing is written for 12 of 12 segments of speech either" in pages["silent"]
    assert "No word was written where nobody speaks" in pages["silent"]
    assert "the speech as it is" in pages["hearing"]


def test_every_notebook_ran(run):
    record = json.loads((run / "out" / "run.json").read_text(encoding="utf-8"))
    assert not record.get("failures")
