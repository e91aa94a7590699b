"""Families of recognisers on a language of tones, through the command, against jiwer and formulas."""

import itertools
import re

import jiwer
import numpy as np
import pandas as pd
import pytest
from runs import Run, expectations, run, sound, write

from soundcheck.common import resources
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import excluded_settings
from soundcheck.metrics.word_errors import word_errors
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
TONES = {"go": 400, "left": 700, "right": 1100, "stop": 1700, "door": 2600}
FAMILIES = "asr_word_errors, asr_comparison, asr_fairness, asr_fault_localisation"
BLOCKS = "format: csv, path: data/meetings.csv, families: [asr_word_errors]"
SUITE = f"""
title: Tones
studies: false
replicates: 100
corpora:
  tones: {{format: csv, path: data/segments.csv}}
  lonely: {{format: csv, path: data/segments.csv, families: [asr_comparison, asr_fairness]}}
  bare: {{format: csv, path: data/bare.csv, families: [asr_word_errors, asr_fairness]}}
  several: {{{BLOCKS}, blocks: [meeting, speaker]}}
  combined: {{{BLOCKS}, blocks: both}}
models:
  good: {{python: "tones:good", tasks: [transcript], corpora: [tones, lonely, bare]}}
  poor: {{python: "tones:poor", tasks: [transcript], corpora: [tones]}}
  known: {{predictions: known.csv, tasks: [transcript], corpora: [tones, several, combined]}}
  strict: {{python: "tones:strict", tasks: [transcript], corpora: [tones], families: [asr_fairness]}}
  silent: {{python: "tones:silent", tasks: [transcript], corpora: [tones], families: [asr_fairness]}}
limits:
  levels: 2
  transformations:
    asr_fairness: [Noise, Scale]
    asr_fault_localisation: [Noise, Scale]
families: [{FAMILIES}]
"""
MODEL = f'''
import numpy as np

TONES = {TONES}


def recognise(signal, least):
    """Name the tone of each tenth of a second in which it holds enough of the energy."""
    words = []
    for start in range(0, len(signal) - 1599, 1600):
        spectrum = np.abs(np.fft.rfft(signal[start : start + 1600])) ** 2
        tones = {{word: spectrum[round(f / 10) - 2 : round(f / 10) + 3].sum() for word, f in TONES.items()}}
        share = {{word: energy / (spectrum.sum() + 1e-9) for word, energy in tones.items()}}
        word = max(share, key=share.get)
        if share[word] > least:
            words.append(word)
    return " ".join(words)


def good(signal, sampling_rate):
    return {{"transcript": recognise(signal, 0.4).upper() + "!"}}


def poor(signal, sampling_rate):
    if len(signal) == 8001:
        return {{"transcript": None}}
    if len(signal) == 8002:
        raise RuntimeError("this one is too much")
    return {{"transcript": recognise(signal, 0.7)}}


def strict(signal, sampling_rate):
    """Four words at half the speed are too long for it."""
    return {{"transcript": None if len(signal) > 12000 else recognise(signal, 0.9)}}


def silent(signal, sampling_rate):
    return {{"transcript": None}}
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight speakers, of whom every other one is husky, and four recordings without words that count."""
    folder, rng, rows = tmp_path_factory.mktemp("recognition"), np.random.default_rng(3), []

    def spoken(words, noise):
        time = np.arange(1600) / RATE
        signal = np.concatenate([0.3 * np.sin(2 * np.pi * TONES[word] * time) for word in words])
        return signal + noise * rng.standard_normal(len(signal))

    for speaker, number in itertools.product(range(8), range(4)):
        words, name = rng.choice(list(TONES), rng.integers(2, 5)), f"s{speaker}_{number}.wav"
        sound(folder / "data" / name, spoken(words, rng.uniform(0.12, 0.2) if speaker % 2 else 0.01))
        groups = ("female", "male")[speaker // 4], ("clear", "husky")[speaker % 2]
        rows.append((name, f"s{speaker}", *groups, " ".join(words).capitalize() + "."))
    columns = ["file", "speaker", "sex", "accent", "transcript"]
    known = pd.DataFrame(rows, columns=columns)[["file", "transcript"]]
    known["transcript"] = known["transcript"].str.lower().str.rpartition(" ")[0]  # without the last word
    odd = [("empty", 8000, ""), ("none", 8001, "stop"), ("crash", 8002, "<b>door</b> ποῦ")]
    for name, length, text in [*odd, ("noise", 8003, "...")]:
        sound(folder / "data" / f"{name}.wav", np.pad(spoken(["go"], 0.01), (0, length - 1600)))
        rows.append((f"{name}.wav", "s0", "female", "clear", text))
    segments = pd.DataFrame(rows, columns=columns)
    meetings = segments.assign(meeting=[f"m{n % 3}" for n in range(len(rows))])
    meetings["both"] = meetings["meeting"] + " " + meetings["speaker"]
    tables = {"segments": segments, "meetings": meetings, "bare": segments[["file", "speaker"]]}
    write(folder, {f"data/{name}.csv": table for name, table in tables.items()})
    write(folder, {"known.csv": known, "tones.py": MODEL})
    for family in ("asr_word_errors", "asr_fairness", "asr_fault_localisation"):
        text = (resources.root() / "thresholds" / f"{family}.yml").read_text()
        text = text.replace("minimum_segments: 50", "minimum_segments: 4")
        write(folder, {f"thresholds/{family}.yml": text.replace("{sentences: 50}", "{sentences: 8}")})
    return write(folder, {"suite.yml": SUITE})


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book", code=3)  # a model failed on inputs


def plain(text):
    return re.sub(r"[^\w\s]", " ", text.lower()).split()


def transcripts(whole, model):
    """What was said, and what a model wrote: ``None`` if it was asked in vain."""
    segments = whole.segments("tones")
    written = whole.predictions(model, "tones")["transcript"].reindex(segments.index)
    return segments, [None if pd.isna(text) else " ".join(plain(text)) for text in written]


def test_failures_are_told(whole):
    (poor,) = [model for model in whole.record["models"] if model["name"] == "poor"]
    reasons = " ".join(failure["reason"] for failure in poor["failures"])
    assert "transcript is None, not a text" in reasons and "this one is too much" in reasons
    assert "1 of 36 segments have no transcript" in " ".join(whole.record["corpora"][0]["notices"])
    assert set(whole.results["family"]) == set(FAMILIES.split(", "))


def test_word_error_rate_is_that_of_jiwer(whole):
    segments, written = transcripts(whole, "good")
    pairs = [
        (" ".join(plain(text)), heard)
        for text, heard in zip(segments["transcript"], written, strict=True)
        if pd.notna(text)
    ]
    inserted = sum(len(heard.split()) for said, heard in pairs if not said)  # refused by jiwer
    output = jiwer.process_words(*map(list, zip(*[pair for pair in pairs if pair[0]], strict=True)))
    errors = output.substitutions + output.deletions + output.insertions + inserted
    row = whole.row("Word Error Rate", model="good", corpus="tones")
    assert row["value"] == pytest.approx(errors / sum(len(said.split()) for said, _ in pairs))
    assert (row["segments"], row["blocks"]) == (35, 8)
    figures = {(figure["model"], figure["corpus"]): figure for figure in whole.record["figures"]}
    figure = figures["good", "tones"]
    assert figure["value"] == row["value"] and figure["standing"] == "proven"
    table = pd.read_csv(whole.out / "tables" / "word_errors.csv")
    assert set(table["model"]) == {"good", "poor", "known"}
    rates = table[table["model"].eq("good") & table["corpus"].eq("tones")].set_index(["column", "group"])
    everybody = rates.xs("everybody", level="group").iloc[0]
    assert everybody["value"] == pytest.approx(row["value"])
    assert everybody[["insertions", "deletions", "substitutions"]].sum() == pytest.approx(row["value"])
    errors = (rates.loc["accent"]["value"] * rates.loc["accent"]["words"]).sum()
    assert errors == pytest.approx(everybody["value"] * everybody["words"])


def test_groups_add_up_and_inputs_asked_in_vain_are_missed_words(whole):
    segments, written = transcripts(whole, "poor")
    missing = [key for key, text in zip(segments.index, written, strict=True) if text is None]
    assert missing == ["crash.wav||", "none.wav||"]
    said = [None if pd.isna(text) else " ".join(plain(text)) for text in segments["transcript"]]
    counts = word_errors(said, [text or "" for text in written])
    known = ~np.isnan(counts.errors)
    total = counts.errors[known].sum() / counts.words[known].sum()
    assert known.sum() == 35 and whole.row("Word Error Rate", model="poor")["value"] == pytest.approx(total)
    for accent in ("clear", "husky"):
        mask = known & segments["accent"].eq(accent).to_numpy()
        rate = counts.errors[mask].sum() / counts.words[mask].sum()
        row = whole.row("Word Error Rate Difference", group=f"accent: {accent}", model="poor")
        assert row["value"] == pytest.approx(rate - total) and (accent == "husky") == (row["value"] > 0)


def test_pages_show_words_and_nothing_live(whole):
    for page, texts in expectations("recognition", "pages").items():
        html = whole.shown(*page.split("/")[1:])
        assert [text for text in texts if text not in html] == [] and "<b>door</b>" not in html
    reasons = whole.reasons(model="known", family="asr_fairness")
    assert all("a table of predictions cannot answer for changed signals" in reason for reason in reasons)
    row = whole.row("Word Error Rate Difference", group="language", model="good", corpus="tones")
    assert row["skipped"] == "the corpus has no column language"


# Violations -------------------------------------------------------------------------------------------------


def test_a_recogniser_without_answers_is_not_compared(whole):
    why = "no segment was answered under all settings by both that are compared"
    of = {"family": "asr_fairness"}
    assert whole.reasons(model="silent", **of) == {why} and len(whole.rows(model="silent", **of)) == 2
    good = whole.rows(model="good", corpus="tones", **of)
    assert good["value"].notna().all() and len(good) == 8  # others are tested as if it were not there
    message = "good and silent are not compared, no segment has both under all settings"
    assert message in whole.shown("good", "asr_fairness")


def settings(tmp_path, old="", new=""):
    """Give what only needs the family, with another line in its threshold file."""
    text = (resources.root() / "thresholds" / "asr_fairness.yml").read_text(encoding="utf-8")
    assert old in text
    write(tmp_path, {"thresholds/asr_fairness.yml": text.replace(old, new)})
    evaluation = object.__new__(Evaluation)
    evaluation.family = read_family("asr_fairness", tmp_path)
    return evaluation


def test_settings_that_are_left_out(tmp_path):
    """Those of the paper, which keeps 26 that are rated 7.2 or better; others on request."""
    paper = {("Scale", "0.6"), ("Scale", "0.5")}
    judged = settings(tmp_path).judged_settings([])
    assert len(judged) == 41 and judged["distance"].isna().all() and excluded_settings(judged) == paper
    rated = settings(tmp_path, "minimum_rating: 0", "minimum_rating: 7.2").judged_settings([])
    assert len(excluded_settings(judged, 7.2)) == len(excluded_settings(rated)) == 41 - 26
    assert "rated 6.84, below 7.2" in set(rated["left_out"])
    evaluation = settings(tmp_path, "destroyed: null", "destroyed: 0.85")
    rows = [
        ("a–b", *setting, group, {"2": 0.9, "4": 0.8}.get(setting[1], 0.1))
        for setting in evaluation.settings
        for group in "xy"
    ]
    table = pd.DataFrame(rows, columns=["pair", "transformation", "level", "group", "distance"])
    judged = evaluation.judged_settings([table, table.assign(distance=np.nan)])
    assert excluded_settings(judged) == paper | {("Noise", "2"), ("Amplitude", "2")}
    assert set(judged["left_out"]) == {"", "excluded", "mean distance above 0.85"}
    # One pair of two rows at 0.9 and one of two at 0.7: 0.8 on average.
    assert excluded_settings(evaluation.judged_settings([table, table.assign(distance=0.7)])) == paper


# Words that are lost ----------------------------------------------------------------------------------------


def test_the_words_that_were_localised_are_spoken_to_recognisers_that_listen(whole):
    corpora = {corpus["name"] for corpus in whole.record["corpora"]}
    assert {f"words of tones for {name}" for name in ("good", "poor")} < corpora
    for path in (whole.out / "corpora").glob("words-of-*.parquet"):
        spoken, (table,) = pd.read_parquet(path), (whole.out / "predictions").glob(f"*/{path.name}")
        heard = pd.read_parquet(table)
        assert heard["change"].nunique() == 2 and len(heard) == 2 * len(spoken)  # clean and noise
        assert len(spoken) in (8, 16)  # of each kind of words
        assert spoken.apply(lambda row: row["item"] in row["transcript"].split(), axis=1).all()


# What is missing --------------------------------------------------------------------------------------------


def test_what_one_recogniser_cannot_show_says_why(whole):
    for cells, why in expectations("recognition", "reasons"):
        assert all(reason.startswith(why) for reason in whole.reasons(**cells)), cells
    against = whole.rows(test="Violations Against Transcripts", corpus="lonely")
    assert len(against) and against["value"].notna().all()


def test_blocks_of_several_columns_are_those_of_a_combined_one(whole):
    columns = ["test", "label", "group", "value", "low", "high", "segments", "blocks", "certainty", "skipped"]
    several, combined = (
        whole.rows(corpus=name)[columns].reset_index(drop=True) for name in ("several", "combined")
    )
    pd.testing.assert_frame_equal(several, combined)
    assert several["blocks"].max() == 24  # of 8 speakers in 3 meetings
    nested = "resampled together in intervals: speaker within meeting"
    assert [c["name"] for c in whole.record["corpora"] if nested in c["notices"]] == ["several"]
