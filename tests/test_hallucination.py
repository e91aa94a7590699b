"""Words where nobody speaks, through the command, against plain loops over what was written."""

import re

import numpy as np
import pandas as pd
import pytest
import soundfile
from runs import Run, run, sound, write
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
card: {languages: [en]}
corpora:
  beeps: {format: csv, path: segments.csv}
models:
  german: {python: "writers:hearing", tasks: [transcript], card: {languages: [deu, fr]}}
MODELS
families: [asr_hallucination]
sounds: {noise: sounds, other_language: sounds/foreign}
limits: {levels: 2}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    """Twelve beeps of six speakers, a third of them in French, and noise in the place of all sounds."""
    folder, rng, rows = tmp_path_factory.mktemp("unspoken"), np.random.default_rng(0), []
    for kind in ("babble", "coughing", "environmental", "music", "sneezing", "foreign/de"):
        sound(folder / "sounds" / kind / "one.wav", rng.uniform(-0.5, 0.5, RATE))
    for number in range(12):
        beep = 0.5 * np.sin(np.arange(8000 + 800 * number) * (0.1 + 0.01 * number))
        sound(folder / f"{number}.wav", beep)
        rows.append((f"{number}.wav", f"s{number % 6}", ("en-GB", "", "fra")[number % 3]))
    models = "".join(f'  {name}: {{python: "writers:{name}", tasks: [transcript]}}\n' for name in NAMES)
    segments = pd.DataFrame(rows, columns=["file", "speaker", "language"])
    suite = SUITE.replace("MODELS\n", models)
    write(folder, {"segments.csv": segments, "writers.py": MODEL, "suite.yml": suite})
    return run(undrawn, folder, "--no-book", code=3)  # two recognisers failed to answer most


@pytest.fixture(scope="module")
def signals(whole):
    """What every segment sounds like under each change: kind -> signals; and as it is, under no name."""
    sounds, table = Sounds.load(whole.out / "sounds.json"), whole.segments("beeps")
    spoken = [soundfile.read(whole.out.parent / name, dtype="float32")[0] for name in table["file"]]
    found = {"": spoken}
    for name, change in read_family("asr_hallucination").changes.items():
        each = zip(spoken, table["audio"], strict=True)
        found[name] = [apply(change, s, RATE, seed=0, content=audio, sounds=sounds)[0] for s, audio in each]
    return found


def words(model, signal):
    space = {}
    exec(MODEL, space)
    return re.sub(r"\W+", " ", space[model](signal, RATE)["transcript"]).split()


@pytest.mark.parametrize("model", ["hearing", "going_on"])
def test_values_are_those_of_plain_loops(whole, signals, model):
    for kind in signals.keys() - {""}:
        texts = [words(model, signal) for signal in signals[kind]]
        seconds = sum(map(len, signals[kind])) / RATE
        expected = {"Characters Per Minute": 60 * sum(len(" ".join(text)) for text in texts) / seconds}
        if kind not in ("Speech Then Silence", "Looped Speech", "Backwards Speech"):
            expected["Words Per Minute"] = 60 * sum(map(len, texts)) / seconds
            expected["Share Of Empty Answers"] = np.mean([not text for text in texts])
        if kind == "Speech Then Silence":
            more = sum(
                len(text) - len(words(model, alone)) for text, alone in zip(texts, signals[""], strict=True)
            )
            expected["Inserted Words Per Minute"] = more / (0.5 * len(texts))
        if kind != "Looped Speech":
            again = re.compile(r"(?:^| )((?:\S+ ){0,4}\S+)(?: \1){3}(?: |$)")
            expected["Repeated Words"] = np.mean([bool(again.search(" ".join(text))) for text in texts])
        for test, value in expected.items():
            found = whole.row(test, kind, model=model)["value"]
            assert found == pytest.approx(value, rel=1e-5), (kind, test)


def test_empty_transcripts_leave_room_for_speakers_who_get_words(whole):
    """Six of six speakers without a word: up to a share of them may get as many as people say.

    So nothing is concluded for new speakers, and no interval is shown; for these ones a share has that of its
    recordings.
    """
    share = 1 - 0.025 ** (1 / 6)
    for test, value, at in (
        ("Words Per Minute", 0, share * 150),
        ("Characters Per Minute", 0, share * 4000),
        ("Share Of Empty Answers", 1, 1 - share),
    ):
        row = whole.row(test, "Silence", model="silent")
        assert row["value"] == value and pd.isna(row["low"]) and pd.isna(row["high"])
        assert at < row["threshold"] if value else at > row["threshold"]
        assert row["skipped"] == f"interval withheld: all of 6 speakers at {value}, 20 needed"
        assert row["state"] == "inconclusive"
    estimates = read_estimates(whole.out).query("model == 'silent' and condition == 'Silence'")
    estimates = estimates.set_index("measure")
    low = 1 / (1 + stats.norm.ppf(0.975) ** 2 / 12)  # Wilson: 12 of 12 recordings
    shares = estimates.loc[["share_of_empty_answers", "repeated_words"], ["low_sample", "high_sample"]]
    assert shares.to_numpy() == pytest.approx(np.array([[low, 1], [0, 1 - low]]))
    assert estimates.loc["words_per_minute", ["low", "high", "low_sample", "high_sample"]].isna().all()
    page = whole.shown("silent", "asr_hallucination").replace("\xa0", " ").replace("&nbsp;", " ")
    judged = page.split("### From silence to sounds")[0]  # levels of one sound have intervals
    assert "1.00 to 1.00" not in judged and "0.54 to 1.00" not in judged
    assert "all of 6 speakers at 1, 20 needed" in page


@pytest.mark.parametrize(
    ("model", "test", "kind", "passed"),
    [
        ("hearing", "Share Of Empty Answers", "Babble Noise", False),
        ("hearing", "Share Of Empty Answers", "Silence", True),
        ("hearing", "Inserted Words Per Minute", "Speech Then Silence", True),
        ("going_on", "Inserted Words Per Minute", "Speech Then Silence", False),
        ("thanks", "Repeated Words", "Silence", False),
        ("thanks", "Characters Per Minute", "White Noise", False),
    ],
)
def test_what_each_recogniser_does_wrong_is_found(whole, model, test, kind, passed):
    assert whole.row(test, kind, model=model)["passed"] is passed
    assert whole.rows(model="silent")["passed"].eq(True).all()


def test_speech_in_another_language_is_judged_unless_the_recogniser_knows_it(whole, signals):
    pairs = zip(signals[""], whole.segments("beeps")["language"], strict=True)
    french = [signal for signal, language in pairs if language == "fra"]
    written = sum(len(words("hearing", signal)) for signal in french)
    row = whole.row("Words Per Minute", IN_CORPUS, model="hearing")
    assert row["value"] == pytest.approx(60 * written * RATE / sum(map(len, french)), rel=1e-5)
    assert row["segments"] == len(french) == 4 and not row["passed"]
    told = "4 of 12 segments are in fra, which the recogniser does not know"
    assert told in whole.shown("hearing", "asr_hallucination")
    german = set(whole.rows(model="german")["label"])
    assert IN_CORPUS in german and "Other Language" not in german
    told = "Other Language is not judged: the recogniser knows deu, and some of the sounds"
    assert told in whole.shown("german", "asr_hallucination")


@pytest.mark.parametrize("model", ["nothing", "endless"])
def test_no_transcript_is_no_empty_one(whole, model):
    silence = whole.row("Share Of Empty Answers", "Silence", model=model)
    assert silence["value"] == 0 and not silence["passed"]
    rate = whole.row("Words Per Minute", "Silence", model=model)
    assert pd.isna(rate["value"]) and rate["skipped"]
    told = "Silence: 12 of 12 predictions are missing or were too long to be kept"
    assert told in whole.shown(model, "asr_hallucination")


def test_pages_are_bounded_and_escaped(whole):
    pages = {model: whole.shown(model, "asr_hallucination") for model in NAMES}
    assert max(map(len, pages.values())) < 300_000
    assert all(page.count("<audio") <= 6 for page in pages.values()) and "<b>thanks" not in pages["going_on"]
    assert "nothing is written for 12 of 12 segments of speech either" in pages["silent"]
    assert "No word was written where nobody speaks" in pages["silent"]
    assert "the speech as it is" in pages["hearing"]
