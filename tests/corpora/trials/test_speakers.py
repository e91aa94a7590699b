"""Who speaks in lists of trials: by folders, by labels, by enrolments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from segment_rows import rows

from soundcheck.corpora.trials.resolve import ContradictionError, infer_speakers


def inferred(*trials: tuple[str, str, int]) -> tuple[dict[str, str], str]:
    return infer_speakers(*zip(*trials, strict=True))


def test_folders_are_speakers_if_they_fit():
    speakers, how = inferred(("s1/a.wav", "s1/x/b.wav", 1), ("s1/a.wav", "s2/a.wav", 0))
    assert speakers == {"s1/a.wav": "s1", "s1/x/b.wav": "s1", "s2/a.wav": "s2"}
    assert how == "speakers are taken from the folders of the files, which fit all labels: 2 speakers"
    speakers, _ = inferred(("wav/id1/x/a", "wav/id1/y/b", 1), ("wav/id1/x/a", "wav/id2/x/a", 0))
    assert set(speakers.values()) == {"id1", "id2"}  # folders that all files share are passed over


@pytest.mark.parametrize(
    "trials",
    [
        [("s1/a", "s2/b", 1), ("s1/a", "s2/c", 0)],  # the target trial has two folders
        [("s1/a", "s1/b", 1), ("s1/a", "s1/c", 0)],  # the other trial has one
        [("s1/a", "b", 1), ("s1/a", "s2/c", 0)],  # one file has none
        [("a", "b", 1), ("a", "c", 0)],
    ],
)
def test_otherwise_target_trials_connect(trials):
    speakers, how = inferred(*trials)
    (one, other, _), (_, third, _) = trials
    assert speakers == {one: min(one, other), other: min(one, other), third: third}
    assert "files that target trials connect are one speaker: 2 speakers; " in how
    assert how.endswith("intervals are too narrow")


def test_target_trials_connect_over_others_and_name_by_the_alphabet():
    speakers, _ = inferred(("d", "c", 1), ("x", "y", 0), ("b", "c", 1), ("e", "b", 1), ("y", "b", 0))
    assert speakers == {"d": "b", "c": "b", "b": "b", "e": "b", "x": "x", "y": "y"}


def test_contradictions():
    words = "^a trial says that 'a' and 'c' are two speakers, other trials that they are one$"
    with pytest.raises(ContradictionError, match=words) as caught:
        inferred(("a", "b", 1), ("b", "c", 1), ("d", "c", 0), ("a", "c", 0))
    assert caught.value.trial == 3
    with pytest.raises(ValueError, match="^a trial compares 'a' with itself and says two speakers$"):
        inferred(("a", "a", 0))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_what_is_inferred_fits_all_labels(both):
    """Speakers are numbers modulo 3; names do not tell."""
    target = np.array([one % 3 == other % 3 for one, other in both])
    speakers, _ = infer_speakers([f"u{n}" for n, _ in both], [f"u{n}" for _, n in both], target)
    for (one, other), same in zip(both, target, strict=True):
        assert (speakers[f"u{one}"] == speakers[f"u{other}"]) == same
    assert all(int(speaker[1:]) % 3 == int(name[1:]) % 3 for name, speaker in speakers.items())


ENTRY = "format: trials, path: trials.txt, audio: false"


def test_recordings_of_a_list_and_their_speakers(load, refused):
    corpus = load(ENTRY, {"trials.txt": "1 id1/x/1.wav id1/y/2.wav\n0 id1/x/1.wav id2/z/3.wav\n"})
    names = [("id1/x/1.wav", "id1"), ("id1/y/2.wav", "id1"), ("id2/z/3.wav", "id2")]
    assert rows(corpus, "file", "speaker") == names
    assert any("folder" in notice for notice in corpus.notices) and len(corpus.trials) == 2
    refused("trials.txt line 3: .*column speaker", ENTRY, {"trials.txt": "1 a b\n1 b c\n0 a c\n"})
    files = {"trials.txt": "1 a target\n0 b c\n"}
    refused("^trials.txt line 2: 'c' is not a valid label", f"{ENTRY}, layout: kaldi", files)
    assert len(load(f"{ENTRY}, layout: voxceleb").segments) == 4


def test_an_enrolled_speaker_has_several_recordings(load):
    files = {"trials.txt": "anna t1 target\nben t1 nontarget\nben t2 target\n"}
    files |= {"enrolments.txt": "anna a1 a2\nben b1 b2 b3\n"}
    corpus = load(f"{ENTRY}, enrolments: enrolments.txt", files)
    anna, ben = [("a1",), ("a2",), ("t1",)], [("b1",), ("b2",), ("b3",), ("t2",)]
    speakers = dict(rows(corpus, "file", "speaker"))
    assert {*speakers} == {name for (name,) in [*anna, *ben]}
    assert len({speakers[name] for (name,) in anna}) == len({speakers[name] for (name,) in ben}) == 1
    assert speakers["t1"] != speakers["t2"]


def test_places_of_files_that_are_missing(refused):
    files = {"trials.txt": "m b target\n\nm c nontarget\n", "enrolments.txt": "m a1 a2\n"}
    text = refused("does not exist", "format: trials, path: trials.txt, enrolments: enrolments.txt", files)
    places = {line.partition(", column file")[0] for line in text.splitlines()}
    listed = {"trials.txt line 1", "trials.txt line 3"}
    assert places == listed | {"enrolments.txt, utterance a1", "enrolments.txt, utterance a2"}
