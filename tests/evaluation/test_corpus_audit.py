"""Groups that were recorded otherwise are found, by speakers; what chance explains is not."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora import columns
from soundcheck.corpora.columns import MEASURES
from soundcheck.corpora.load import Corpus
from soundcheck.evaluation import corpus_audit
from soundcheck.evaluation.corpus_audit import audit
from soundcheck.suite.entries import CorpusEntry

pytestmark = pytest.mark.slow

RATE = 16000
SPEAKERS, EACH = 16, 4
FAR_NEAR = np.repeat(["far", "near"], SPEAKERS // 2 * EACH)
SEXES = np.repeat(["female", "male"], SPEAKERS // 2 * EACH)


def made(folder, change=lambda signal, speaker: signal, speakers: int = SPEAKERS, **columns) -> Corpus:
    """Make a corpus of noisy bursts; ``change`` gets a signal and the number of its speaker."""
    rng, rows = np.random.default_rng(0), []
    for speaker in range(speakers):
        for n in range(EACH):
            loud = np.where(np.arange(RATE) % 4000 < 2500, 0.1, 0.0005)
            signal = change(loud * rng.standard_normal(RATE), speaker)
            name = f"{speaker}_{n}.wav"
            soundfile.write(folder / name, np.clip(signal, -1, 1 - 2**-15), RATE)
            rows.append((name, np.nan, np.nan, 1.0, f"digest {folder}/{name}", f"s{speaker}"))
    table = pd.DataFrame(rows, columns=["file", "start", "end", "duration", "audio", "speaker"])
    return labelled(Corpus("c", CorpusEntry("c", "csv"), folder, table, (), ()), **columns)


def labelled(corpus: Corpus, **columns) -> Corpus:
    """Say more of the segments; what is no common column and no task is a group of the suite."""
    groups = [name for name in columns if name not in (*BUILTIN, *corpus_audit.COLUMNS, "place", "duration")]
    known = tuple(name for name in groups if not name.endswith(")") and name not in MEASURES)
    return dataclasses.replace(corpus, segments=corpus.segments.assign(**columns), groups=known)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Corpus:
    return made(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def listened(tmp_path_factory, plain):
    """Audit the plain corpus with more columns; what was measured is kept for all."""
    cache = tmp_path_factory.mktemp("cache")
    return lambda tasks=(), **columns: audit(labelled(plain, **columns), dict(tasks), cache)


def compared(result: corpus_audit.Audit) -> set[str]:
    return {*result.frame[result.frame["gap"].notna()]["name"]}


CHANGES = {
    "clipping": lambda signal: np.clip(8 * signal, -1, 1 - 2**-15) * 1.0,
    "silence": lambda signal: np.where(np.arange(RATE) % 4000 < 1500, signal, 0.0005 * np.sign(signal)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_microphone_that_differs_is_found(name, tmp_path):
    half = SPEAKERS // 2
    planted = made(tmp_path, lambda x, who: CHANGES[name](x) if who < half else x, microphone=FAR_NEAR)
    result = audit(planted, {}, tmp_path / "cache")
    row = next(result.differences.query("column == 'microphone' and name == @name").itertuples())
    assert (row.group, row.segments, row.speakers) == ("far", half * EACH, half)
    assert row.gap == row.value - row.others and abs(row.gap) >= MEASURES[name].noticeable
    assert row.gap_low - 1e-9 <= row.gap <= row.gap_high + 1e-9 and row.gap_low * row.gap_high > 0


def test_what_is_alike_is_not_told_apart_and_what_is_the_same_is_named(listened):
    result = listened(microphone=FAR_NEAR, sex=np.tile(["male", "female"], 32))
    assert result.differences.empty and not result.repeats.recordings and result.blocks == SPEAKERS
    assert result.measured["level"] == (64, 64) and ("clipped samples", 0.0, "share") in result.unchanging
    assert not {"duration", "clipping"} & {*result.frame["name"]}


def test_speakers_are_few_however_many_segments_there_are(tmp_path):
    """Each speaker has a level of their own; of two against two nobody can say anything."""
    microphones = np.repeat(["far", "near"], 2 * EACH)
    few = made(tmp_path, lambda x, who: x * 0.3**who, speakers=4, microphone=microphones)
    result = audit(few, {}, tmp_path / "cache")
    row = next(result.frame.query("name == 'level' and gap.notna()").itertuples())
    assert row.noticed and not row.found and result.differences.empty


def test_a_column_that_varies_within_speakers_is_compared_within_them(listened):
    condition = np.tile(["far", "near", "near", "near"], SPEAKERS)
    result = listened(condition=condition, duration=np.where(condition == "far", 3.0, 1.0))
    assert result.differences["name"].tolist() == ["duration"]


def test_labels_are_compared_and_are_no_recordings(listened, rng):
    women = SEXES == "female"
    emotion, arousal = np.where(women, "anger", "neutral"), np.where(women, 0.8, 0.2)
    rows = listened(BUILTIN, sex=SEXES, emotion=emotion, arousal=arousal).differences
    assert {*rows["name"]} == {"arousal", "emotion: anger", "emotion: neutral"} and not rows["recorded"].any()
    # Means have intervals of speakers, and shares stay shares.
    emotion[3], arousal = "neutral", rng.uniform(size=64)
    frame = listened(BUILTIN, sex=SEXES, emotion=emotion, arousal=arousal).frame.set_index(["name", "group"])
    women, men, mean = (
        frame.loc[key] for key in (("emotion: anger", "female"), ("emotion: anger", "male"), ("arousal", ""))
    )
    assert women["value"] == pytest.approx(31 / 32) and 0.4 < women["low"] < 31 / 32 < women["high"] <= 1
    assert men["value"] == 0 == men["low"] and 0 < men["high"] < 0.5  # nobody of 8 speakers is not nobody
    assert mean["value"] == pytest.approx(arousal.mean()) and mean["low"] < mean["value"] < mean["high"]
    assert (mean["segments"], mean["speakers"]) == (64, SPEAKERS)
    task = Task("place", "classification", tuple("abc"))
    unused = listened({"place": task}, sex=SEXES, place=np.tile(list("ab"), 32)).unchanging
    assert "share of c (place)" in {title for title, *_ in unused}


def test_what_a_suite_asks_for_is_compared_too(listened):
    quality = np.where(FAR_NEAR == "far", 2.0, 3.5) + np.linspace(0, 0.1, 64)
    shares = {"speech_share": "much", "speech_share (number)": 0.9 + np.linspace(0, 0.01, 64)}
    result = listened(microphone=FAR_NEAR, predicted_quality=quality, **shares)
    assert {"predicted_quality", "speech_share", "level"} <= compared(result)
    (row,) = result.differences.itertuples()
    assert (row.name, row.unit, row.recorded) == ("predicted_quality", "1 to 5", True)
    ranges = listened(level=np.repeat(["loud", "soft"], 32))  # not compared by the measure itself
    assert "level" in {*ranges.frame["name"]} - compared(ranges)


def test_one_speaker_no_groups_no_speech_no_audio(tmp_path, plain):
    alone = made(tmp_path, lambda x, _: np.zeros(RATE), speakers=1, sex=["male", "female"] * 2)
    result = audit(alone, {}, tmp_path / "cache")
    assert result.differences.empty and result.blocks == 1
    assert result.measured["signal_to_noise"] == (0, 4) and result.measured["silence"] == (4, 4)
    silent = labelled(plain, sex=SEXES, duration=np.linspace(1, 2, 64))
    silent = dataclasses.replace(silent, entry=CorpusEntry("c", "csv", audio=False))
    result = audit(silent, {}, tmp_path / "nothing")
    assert compared(result) == {"duration"} == {*result.frame["name"]}
    assert not (tmp_path / "nothing").exists()


def test_a_part_of_a_large_corpus_is_listened_to(tmp_path, monkeypatch):
    every = made(tmp_path, speakers=4)
    monkeypatch.setattr(corpus_audit, "MOST", 10)
    result = audit(every, {}, tmp_path / "cache")
    assert result.measured["level"] == (10, 10) and result.unreadable == 0
    assert result.repeats.sounds == 16 and result.repeats.compared == 10
    monkeypatch.undo()
    (tmp_path / "0_0.wav").unlink()
    assert audit(every, {}, tmp_path / "other").unreadable == 1


def test_copies_and_speakers_in_splits_that_are_not_evaluated(tmp_path, monkeypatch):
    every = made(tmp_path, split="test")
    soundfile.write(tmp_path / "louder.wav", 2 * soundfile.read(tmp_path / "0_0.wav")[0], RATE)
    (tmp_path / "broken.wav").write_bytes(b"no sound")
    rows = {"file": ["louder.wav", "broken.wav", "9_1.wav"], "start": np.nan, "end": [np.nan, np.nan, 0.95]}
    rows |= {"speaker": ["s0", "somebody", "else"], "split": "train"}
    every = dataclasses.replace(every, elsewhere=pd.DataFrame(rows))
    result = audit(every, {}, tmp_path / "cache")
    copied = {copy.files: copy.speakers for copy in result.repeats.recordings}
    assert copied == {("0_0.wav", "louder.wav"): ("s0",), ("9_1.wav", "9_1.wav"): ("else", "s9")}
    assert (result.repeats.others, result.unused, result.repeats.sounds) == (2, 3, 64)
    assert (result.splits, result.shared) == (("test", "train"), ("s0",))
    assert result.measured["level"] == (64, 64)  # what is not evaluated is in no mean
    monkeypatch.setattr(columns, "UNUSED_SEGMENTS", 0)
    repeats = audit(every, {}, tmp_path / "cache").repeats
    assert repeats.recordings == () and repeats.others == 0
