"""Groups that were recorded otherwise are found, by speakers; what chance explains is not."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora import measured
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measures import MEASURES
from soundcheck.evaluation import corpus_audit
from soundcheck.evaluation.corpus_audit import audit
from soundcheck.suite.entries import CorpusEntry

pytestmark = pytest.mark.slow

RATE = 16000
SPEAKERS, EACH = 16, 4


@pytest.fixture
def corpus(tmp_path, rng):
    """Make a corpus of noisy bursts; ``change`` gets a signal and the number of its speaker."""

    def made(change=lambda signal, speaker: signal, speakers: int = SPEAKERS, **columns: object) -> Corpus:
        rows = []
        for speaker in range(speakers):
            for n in range(EACH):
                loud = np.where(np.arange(RATE) % 4000 < 2500, 0.1, 0.0005)
                signal = change(loud * rng.standard_normal(RATE), speaker)
                name = f"{speaker}_{n}.wav"
                soundfile.write(tmp_path / name, np.clip(signal, -1, 1 - 2**-15), RATE)
                rows.append((name, np.nan, np.nan, 1.0, f"digest {name}", f"s{speaker}"))
        names = ["file", "start", "end", "duration", "audio", "speaker"]
        table = pd.DataFrame(rows, columns=names).assign(**columns)
        groups = tuple(name for name in columns if name not in BUILTIN and name not in corpus_audit.COLUMNS)
        entry = CorpusEntry("c", "csv")
        return Corpus("c", entry, tmp_path, table, (), (), False, "", groups=groups)

    return made


def two(speakers: int = SPEAKERS) -> np.ndarray:
    """Name a microphone of each segment: half of the speakers have each."""
    return np.repeat(["far", "near"], speakers // 2 * EACH)


def compared(found: corpus_audit.Audit, name: str = "") -> pd.DataFrame:
    """Give the rows of groups that are compared with the others, of one quantity or of all."""
    rows = found.frame[found.frame["gap"].notna()]
    return rows[rows["name"].eq(name)] if name else rows


def narrow(signal: np.ndarray) -> np.ndarray:
    spectrum = np.fft.rfft(signal)
    spectrum[int(len(spectrum) * 0.5) :] = 0
    return np.fft.irfft(spectrum, len(signal))


CHANGES = {
    "level": lambda signal: 0.5 * signal,
    "bandwidth": narrow,
    "signal_to_noise": lambda signal: signal + 0.01 * np.random.default_rng(1).standard_normal(len(signal)),
    "clipping": lambda signal: np.clip(8 * signal, -1, 1 - 2**-15) * 1.0,
    "silence": lambda signal: np.where(np.arange(RATE) % 4000 < 1500, signal, 0.0005 * np.sign(signal)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_microphone_that_differs_is_found(name, corpus, tmp_path):
    half = SPEAKERS // 2
    planted = corpus(lambda x, who: CHANGES[name](x) if who < half else x, microphone=two())
    found = audit(planted, {}, tmp_path / "cache")
    one = next(found.differences.query("column == 'microphone' and name == @name").itertuples())
    assert (one.group, one.segments, one.speakers) == ("far", half * EACH, half)
    assert one.gap == one.value - one.others
    assert one.gap_low - 1e-9 <= one.gap <= one.gap_high + 1e-9 and not one.gap_low <= 0 <= one.gap_high
    assert abs(one.gap) >= MEASURES[name].noticeable


def test_what_is_alike_is_not_told_apart(corpus, tmp_path):
    found = audit(corpus(microphone=two(), sex=np.tile(["male", "female"], 32)), {}, tmp_path / "cache")
    assert found.differences.empty and not found.repeats.recordings
    assert found.measured["level"] == (64, 64) and found.blocks == SPEAKERS


def test_speakers_are_few_however_many_segments_there_are(corpus, tmp_path):
    """Each speaker has a level of their own; of two against two nobody can say anything."""
    few = corpus(lambda x, who: x * 0.3**who, speakers=4, microphone=two(4))
    found = audit(few, {}, tmp_path / "cache")
    one = next(compared(found, "level").itertuples())
    assert one.noticed and not one.found and np.isnan(one.gap_low)
    assert found.differences.empty


def test_a_column_that_varies_within_speakers_is_compared_within_them(corpus, tmp_path):
    every = corpus(condition=np.tile(["far", "near", "near", "near"], SPEAKERS))
    table = every.segments.assign(duration=np.where(every.segments["condition"] == "far", 3.0, 1.0))
    found = audit(dataclasses.replace(every, segments=table), {}, tmp_path / "cache")
    assert found.differences["name"].tolist() == ["duration"]


def test_labels_are_compared_and_are_no_recordings(corpus, tmp_path, rng):
    sex = np.repeat(["female", "male"], 32)
    angry = np.where(sex == "female", "anger", "neutral")
    every = corpus(sex=sex, emotion=angry, arousal=np.where(sex == "female", 0.8, 0.2))
    found = audit(every, BUILTIN, tmp_path / "cache").differences
    assert {*found["name"]} == {"arousal", "emotion: anger", "emotion: neutral"}
    assert not found["recorded"].any()


def test_means_have_intervals_of_speakers_and_shares_stay_shares(corpus, tmp_path, rng):
    sex = np.repeat(["female", "male"], 32)
    angry = np.where((sex == "female") & (np.arange(64) != 3), "anger", "neutral")
    every = corpus(sex=sex, emotion=angry, arousal=rng.uniform(size=64))
    found = audit(every, BUILTIN, tmp_path / "cache")
    own = {(one.column, one.group): one for one in found.frame.itertuples() if one.name == "emotion: anger"}
    assert list(own) == [("", ""), ("sex", "female"), ("sex", "male")]
    women, men = own["sex", "female"], own["sex", "male"]
    assert women.value == pytest.approx(31 / 32) and 0.4 < women.low < women.value < women.high <= 1
    assert men.value == 0 == men.low and 0 < men.high < 0.5  # nobody of 8 speakers is not nobody at all
    arousal = next(found.frame.query("name == 'arousal' and column == ''").itertuples())
    assert arousal.value == pytest.approx(every.segments["arousal"].mean())
    assert arousal.low < arousal.value < arousal.high
    assert (arousal.segments, arousal.speakers) == (64, SPEAKERS)


def test_what_is_the_same_everywhere_is_named_and_not_compared(corpus, tmp_path):
    found = audit(corpus(microphone=two()), {}, tmp_path / "cache")
    assert {("duration", 1.0, "s"), ("clipped samples", 0.0, "share")} <= {*found.unchanging}
    assert not {"duration", "clipping"} & {*found.frame["name"]}
    assert found.measured["clipping"] == (64, 64)


def test_what_a_suite_asks_for_is_compared_too(corpus, tmp_path):
    """Also where the suite cuts it into groups: the numbers stand beside their names then."""
    every = corpus(microphone=two())
    quality = np.where(two() == "far", 2.0, 3.5) + np.linspace(0, 0.1, 64)
    table = every.segments.assign(predicted_quality=quality, speech_share="much")
    table["speech_share (number)"] = 0.9 + np.linspace(0, 0.01, 64)
    found = audit(dataclasses.replace(every, segments=table), {}, tmp_path / "cache")
    assert {"predicted_quality", "speech_share", "level"} <= {*compared(found)["name"]}
    (one,) = found.differences.itertuples()
    assert (one.name, one.unit, one.recorded) == ("predicted_quality", "1 to 5", True)
    assert found.measured["predicted_quality"] == (64, 64)


def test_one_speaker_no_groups_no_speech(corpus, tmp_path):
    alone = corpus(lambda x, _: np.zeros(RATE), speakers=1, sex="male")
    found = audit(alone, {}, tmp_path / "cache")
    assert compared(found).empty and found.blocks == 1
    assert found.measured["signal_to_noise"] == (0, 4) and found.measured["silence"] == (4, 4)
    varied = dataclasses.replace(alone, segments=alone.segments.assign(sex=["male", "female"] * 2))
    assert audit(varied, {}, tmp_path / "cache").differences.empty


def test_without_audio_lengths_and_labels_are_compared(corpus, tmp_path):
    every = corpus(sex=np.repeat(["female", "male"], 32))
    lengths = every.segments.assign(duration=np.linspace(1, 2, len(every.segments)))
    silent = dataclasses.replace(every, segments=lengths, entry=CorpusEntry("c", "csv", audio=False))
    found = audit(silent, {}, tmp_path / "cache")
    assert {*compared(found)["name"]} == {"duration"} == {*found.frame["name"]}
    assert not (tmp_path / "cache").exists()


def test_a_part_of_a_large_corpus_is_listened_to(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_audit, "MOST", 10)
    every = corpus(sex=np.repeat(["female", "male"], 32))
    found = audit(every, {}, tmp_path / "cache")
    assert found.measured["level"] == (10, 10) and found.repeats.sounds == 64 and found.repeats.compared == 10
    assert found.unreadable == 0
    monkeypatch.undo()
    (tmp_path / "0_0.wav").unlink()
    assert audit(every, {}, tmp_path / "other").unreadable == 1


def test_copies_and_speakers_in_splits_that_are_not_evaluated(corpus, tmp_path, monkeypatch):
    every = corpus()
    soundfile.write(tmp_path / "louder.wav", 2 * soundfile.read(tmp_path / "0_0.wav")[0], RATE)
    (tmp_path / "broken.wav").write_bytes(b"no sound")
    rows = {"file": ["louder.wav", "broken.wav", "9_1.wav"], "start": np.nan, "end": [np.nan, np.nan, 0.95]}
    rows |= {"speaker": ["s0", "somebody", "else"], "split": "train"}
    table = every.segments.assign(split="test")
    made = dataclasses.replace(every, segments=table, elsewhere=pd.DataFrame(rows))
    found = audit(made, {}, tmp_path / "cache")
    copied = {one.files: one.speakers for one in found.repeats.recordings}
    assert copied == {("0_0.wav", "louder.wav"): ("s0",), ("9_1.wav", "9_1.wav"): ("else", "s9")}
    assert (found.repeats.others, found.unused, found.repeats.sounds) == (2, 3, 64)
    assert (found.splits, found.shared) == (("test", "train"), ("s0",))
    assert found.measured["level"] == (64, 64)  # what is not evaluated is in no mean
    monkeypatch.setattr(measured, "UNUSED_SEGMENTS", 0)
    found = audit(made, {}, tmp_path / "cache").repeats
    assert found.recordings == () and found.others == 0


def test_ranges_of_a_measure_are_not_compared_by_it(corpus, tmp_path):
    names = np.repeat(["loud", "soft"], 32)
    found = audit(corpus(lambda x, who: x if who < 8 else 0.3 * x, level=names), {}, tmp_path / "cache")
    assert "level" not in {*compared(found)["name"]} and "level" in {*found.frame["name"]}


def test_a_task_may_have_many_classes(corpus, tmp_path):
    task = Task("place", "classification", tuple("abcdef"))
    every = corpus(sex=np.repeat(["female", "male"], 32), place=np.tile(list("abcd"), 16))
    found = audit(every, {"place": task}, tmp_path / "cache")
    assert {f"place: {name}" for name in "abcd"} <= {*compared(found)["name"]}
    assert {f"place {name}" for name in "ef"} <= {title for title, *_ in found.unchanging}
