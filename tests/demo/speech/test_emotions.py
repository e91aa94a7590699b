"""Labels, speakers and texts of the demo, without any audio."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import EMOTION
from soundcheck_demo.speech import corpus, descriptions, texts
from soundcheck_demo.speech.emotions import SURE, draw, settings
from soundcheck_demo.speech.voices import BY_NAME, CALLERS, READERS, SPEAKERS


@pytest.fixture(scope="module")
def table():
    return corpus.table("full")


def test_size(table):
    assert table["split"].value_counts().to_dict() == {"test": 976, "train": 432}


def test_every_bin_is_occupied(table):
    for split, least in (("test", 60), ("train", 20)):
        for dimension in ("arousal", "dominance", "valence"):
            counts = np.histogram(table.loc[table["split"] == split, dimension], [0, 0.25, 0.5, 0.75, 1.001])[
                0
            ]
            assert counts.min() >= least, (split, dimension)
            assert counts[1:3].sum() > counts[[0, 3]].sum()  # most lie in the middle


def test_labels_fit_the_classes(table):
    mean = table.groupby("emotion")[["arousal", "dominance", "valence"]].mean()
    assert mean.loc["anger", "arousal"] > 0.6
    assert mean.loc["anger", "dominance"] > 0.6
    assert mean.loc["anger", "valence"] < 0.4
    assert mean.loc["happiness", "valence"] > 0.6
    assert mean.loc["neutral"].between(0.4, 0.6).all()
    assert mean.loc["sadness"].max() < 0.4


def test_every_speaker_has_every_emotion(table):
    counts = table.groupby(["speaker", "emotion"]).size().unstack()
    assert counts.min().min() >= 2
    main = counts[counts.sum(axis=1) >= 36]
    assert len(main) == 12 + 8 and main.min().min() >= SURE
    assert main.std().min() > 0  # speakers differ in their proportions


@pytest.mark.parametrize(
    ("part", "column", "groups", "segments"),
    [("speech", "accent", 4, 244), ("texts", "language", 8, 30), ("commands", "accent", 3, 50)],
)
def test_groups_have_enough_women_and_men(part, column, groups, segments):
    """Five are the fewest that an interval is given for; ten speakers find what is planted."""
    test = corpus.table("full", part).query("split == 'test'")
    sexes = test.drop_duplicates("speaker").groupby([column, "sex"]).size().unstack()
    assert len(sexes) == groups and sexes.eq(5).all(axis=None)
    assert test[column].value_counts().eq(segments).all()


def test_no_speaker_speaks_for_a_group():
    """The speakers of an accent weigh as much as eight equal ones or more."""
    test = corpus.table("full").query("split == 'test'")
    for _, own in test.groupby("accent"):
        counts = own["speaker"].value_counts()
        assert counts.sum() ** 2 / (counts**2).sum() > 8


def test_groups_have_the_same_voices_and_habits():
    for speakers in (SPEAKERS[12:], READERS, CALLERS):
        frame = pd.DataFrame([dataclasses.asdict(speaker) for speaker in speakers])
        groups = frame.groupby(["language", "accent"])
        for column in ("voice", "rate", "segments"):
            assert len(set(groups[column].agg(tuple))) == 1
        assert groups["pitch"].mean().max() - groups["pitch"].mean().min() < 0.5  # semitones
        assert not frame.duplicated(["voice", "pitch", "tract", "rules"]).any()


def test_texts_say_the_same_in_eight_languages():
    table = corpus.table("full", "texts")
    assert len(table) == 8 * 15 * 2
    assert not {"accent", "emotion", "arousal"} & set(table.columns)
    counts = table.groupby(["language", "sentiment", "sex"]).size()
    assert len(counts) == 8 * 3 * 2 and set(counts) == {5}
    for language, lines in texts.SENTENCES.items():
        assert len(set(lines)) == 15
        own = table[table["language"].eq(language)]
        assert set(own["transcript"]) == set(lines)  # every sentence is read, by a woman and a man
        assert set(own.groupby("transcript")["sex"].nunique()) == {2}
        for sentiment, part in own.groupby("sentiment"):
            assert {lines.index(text) // 5 for text in part["transcript"]} == {
                texts.SENTIMENTS.index(sentiment)
            }


def test_speakers():
    assert len({speaker.name for speaker in SPEAKERS}) == len(SPEAKERS) >= 24
    for split in ("train", "test"):
        sexes = [speaker.sex for speaker in SPEAKERS if speaker.split == split]
        assert sexes.count("female") == sexes.count("male") >= 6
    voices = {split: {s.voice for s in SPEAKERS if s.split == split} for split in ("train", "test")}
    assert not voices["train"] & voices["test"]
    assert all(bool(speaker.accent) == (speaker.language == "en") for speaker in SPEAKERS)
    assert sum(speaker.small > 0 for speaker in BY_NAME.values()) == 4 + 4 + 4 + 12


def test_script():
    lines = [*texts.SCRIPT["train"], *texts.SCRIPT["test"]]
    assert len(set(lines)) == len(lines) >= 40


def test_descriptions_tell_the_numbers_of_the_corpus():
    said = {part: descriptions.describe("full", part) for part in corpus.PARTS}
    for part, words in {
        "speech": "40 test and 12 training speakers|five women and five men|American, British, German and "
        "Spanish, 244 segments an accent and 8 to 36 a speaker|28 sentences",
        "texts": "five of each, in German, English|Portuguese and Chinese. Each language has five women",
        "recordings": "five segments of each of the 40 test speakers|three recordings",
        "monologues": "five segments each of half of the 40 test speakers",
        "commands": "30 speakers: five women and five men|American, British and German, 50 commands|49 words",
    }.items():
        assert all(word in said[part] for word in words.split("|")), said[part]
    small = descriptions.describe("small", "speech")
    assert "4 test and 4 training speakers" in small and "one woman and one man" in small
    assert "32 segments an accent and 16 a speaker" in small
    for description in said.values():
        assert "synthetic" in description and "cannot show" in description and "  " not in description


def test_first_segments_hold_all_emotions():
    for start in range(0, 4 * SURE, 4):
        assert {draw(SPEAKERS[3], start + n).emotion for n in range(4)} == set(EMOTION)


def test_settings_follow_the_emotion():
    speaker = BY_NAME["s13"]

    def chosen(*expressed):
        return settings(speaker, expressed, np.random.default_rng(1))

    calm, excited = chosen(-0.6, 0, 0), chosen(0.6, 0, 0)
    assert excited.semitones > calm.semitones
    assert excited.words_per_minute > calm.words_per_minute
    assert excited.level_db > calm.level_db
    assert excited.tilt_db > calm.tilt_db
    assert chosen(0, 0.6, 0).semitones < chosen(0, -0.6, 0).semitones
    assert chosen(0, 0, 0.6).range_factor > chosen(0, 0, -0.6).range_factor
    assert chosen(0, 0, 0.6).tract < chosen(0, 0, -0.6).tract


@pytest.mark.parametrize("extreme", [-5.0, 5.0])
def test_settings_stay_within_what_the_synthesiser_takes(extreme, rng):
    for speaker in SPEAKERS:
        found = settings(speaker, (extreme, extreme, extreme), rng)
        assert 0.1 <= found.range_factor <= 2
        assert -6 <= found.semitones <= 9
        assert 0 <= found.word_gap <= 0.05
        assert found.level_db < -15
