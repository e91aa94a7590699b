"""What is in a corpus more than once: copies, overlapping segments, and speakers of two splits."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import measured as known

from soundcheck.corpora.measures.fingerprint import fingerprint
from soundcheck.corpora.repeats import find_repeats, speakers_in_splits


@pytest.fixture(scope="module")
def prints() -> dict[str, str]:
    voices = [known.synthesised(n).astype(np.float32) for n in range(3)]
    found = {f"v{n}": fingerprint(voice, 16000) for n, voice in enumerate(voices)}
    return found | {"quiet": fingerprint(0.1 * voices[0], 16000), "nothing": ""}


def table(*audio: str, **columns: object) -> pd.DataFrame:
    names = [f"{n}.wav" for n in range(len(audio))]
    rows = pd.DataFrame({"file": names, "start": np.nan, "end": np.nan, "duration": 2.0, "audio": audio})
    return rows.assign(**columns)


def test_copies_are_told_with_what_is_odd_about_them(prints):
    rows = table(
        *("v0", "v1", "quiet", "v2"),
        speaker=["a", "b", "c", "b"],
        split=["train", "train", "test", "test"],
        emotion=["anger", "anger", "sadness", None],
    )
    (one,) = find_repeats(rows, prints, ["emotion"]).recordings
    assert one.files == ("0.wav", "2.wav") and not one.identical
    assert (one.speakers, one.splits, one.differing) == (("a", "c"), ("test", "train"), ("emotion",))
    assert speakers_in_splits(rows) == (["test", "train"], ["b"])


def test_the_same_bytes_need_no_fingerprint(prints):
    found = find_repeats(table("nothing", "v0", "nothing", "unheard", "unheard"), prints, [])
    assert [(one.files, one.identical) for one in found.recordings] == [
        (("0.wav", "2.wav"), True),
        (("3.wav", "4.wav"), True),
    ]
    assert (found.compared, found.sounds) == (1, 3)


def test_of_other_splits_only_what_is_evaluated_too_is_told(prints):
    rows = table("v0", "v1", speaker="a", split="test", emotion="anger")
    others = table("quiet", "v2", "v2", speaker="b", split="train", emotion="sadness")
    others["file"] = "train/" + others["file"]
    found = find_repeats(rows, prints, ["emotion"], others)
    (one,) = found.recordings
    assert (one.files, one.splits) == (("0.wav", "train/0.wav"), ("test", "train"))
    assert (one.speakers, one.differing) == (("a", "b"), ("emotion",))
    assert (found.compared, found.sounds, found.others) == (2, 2, 3)


def test_a_thousand_copies_of_one_file_are_one_recording(prints):
    (one,) = find_repeats(table(*["v0"] * 1000), prints, []).recordings
    assert len(one.files) == 1000 and one.identical


def test_parallel_recordings_are_meant_to_be_alike(prints):
    rows = table("v0", "quiet", "v1", item=["x", "x", "y"], condition=["near", "far", "near"])
    found = find_repeats(rows, prints, [])
    assert not found.recordings and found.parallel == 2
    assert find_repeats(rows.assign(item=["x", "y", "z"]), prints, []).recordings


def test_segments_of_a_file_that_overlap_are_no_copies(prints):
    times = {"start": [0.0, 1.0, 3.0, 0.0], "end": [2.0, 3.0, 4.0, 2.0]}
    rows = table("v0", "quiet", "v1", "v2", file=["a", "a", "a", "b"], **times)
    found = find_repeats(rows, prints, [])
    assert not found.recordings
    assert (found.overlapping, found.overlapping_files) == (1, 1)


def test_the_same_part_twice_is_a_copy(prints):
    rows = table("v0", "v0", file=["a", "a"], start=[0.0, 0.0], end=[2.0, 2.0])
    found = find_repeats(rows, prints, [])
    assert len(found.recordings) == 1 and not found.overlapping


def test_without_splits_or_speakers_nothing_is_shared():
    assert speakers_in_splits(table("v0")) == ([], [])
    assert speakers_in_splits(table("v0", split=["test"])) == (["test"], [])


def test_nothing_repeats_in_nothing():
    found = find_repeats(table("v0", "v1"), {}, [])
    assert not found.recordings and found.compared == 0
