"""Who speaks in lists of trials: by folders, by labels, by enrolments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.errors import InputError
from soundcheck.corpora.trials.speakers import ContradictionError, infer_speakers, read_trial_corpus
from soundcheck.suite.entries import CorpusEntry


def inferred(*trials: tuple[str, str, int]) -> tuple[dict[str, str], str]:
    return infer_speakers(*zip(*trials, strict=True))


def test_folders_are_speakers_if_they_fit():
    speakers, how = inferred(("s1/a.wav", "s1/x/b.wav", 1), ("s1/a.wav", "s2/a.wav", 0))
    assert speakers == {"s1/a.wav": "s1", "s1/x/b.wav": "s1", "s2/a.wav": "s2"}
    assert how == "speakers are taken from the folders of the files, which fit all labels: 2 speakers"


def test_folders_that_all_files_share_are_passed_over():
    speakers, _ = inferred(("wav/id1/x/a", "wav/id1/y/b", 1), ("wav/id1/x/a", "wav/id2/x/a", 0))
    assert set(speakers.values()) == {"id1", "id2"}


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
    names = [f"u{n}" for n in range(10)]
    target = np.array([one % 3 == other % 3 for one, other in both])
    speakers, _ = infer_speakers([names[n] for n, _ in both], [names[n] for _, n in both], target)
    for (one, other), same in zip(both, target, strict=True):
        assert (speakers[names[one]] == speakers[names[other]]) == same
    assert all(int(speakers[name][1:]) % 3 == int(name[1:]) % 3 for name in speakers)


@pytest.fixture
def read(tmp_path):
    def read(trials, enrolments="", layout=""):
        (tmp_path / "trials.txt").write_text(trials)
        path = None
        if enrolments:
            path = tmp_path / "enrolments.txt"
            path.write_text(enrolments)
        file = tmp_path / "trials.txt"
        return read_trial_corpus(
            CorpusEntry(
                "pairs",
                "trials",
                file,
                "trials.txt",
                trials=file,
                enrolments=path,
                shown_enrolments="enrolments.txt",
                layout=layout,
            )
        )

    return read


def speakers(raw):
    return dict(zip(raw.table["file"], raw.table["speaker"], strict=True))


def test_the_first_folder_is_the_speaker(read):
    raw = read("1 id1/x/1.wav id1/y/2.wav\n0 id1/x/1.wav id2/z/3.wav\n")
    assert speakers(raw) == {"id1/x/1.wav": "id1", "id1/y/2.wav": "id1", "id2/z/3.wav": "id2"}
    assert list(raw.places)[2] == "trials.txt line 2"
    assert "folder" in raw.notices[0]


def test_recordings_of_targets_belong_together(read):
    found = speakers(read("1 a b\n1 b c\n0 a d\n1 d e\n"))
    assert found["a"] == found["b"] == found["c"] != found["d"] == found["e"]


def test_an_enrolled_speaker_has_several_recordings(read):
    raw = read("anna t1 target\nben t1 nontarget\nben t2 target\n", "anna a1 a2\nben b1 b2 b3\n")
    found = speakers(raw)
    assert set(found) == {"a1", "a2", "b1", "b2", "b3", "t1", "t2"}
    assert found["a1"] == found["a2"] == found["t1"]
    assert found["b1"] == found["b2"] == found["b3"] == found["t2"] != found["t1"]


def test_a_list_that_contradicts_itself_is_refused(read):
    with pytest.raises(InputError, match=r"trials.txt line 3: .*column speaker"):
        read("1 a b\n1 b c\n0 a c\n")


def test_the_corpus_may_say_the_layout(read):
    trials = "1 a target\n0 b c\n"
    with pytest.raises(InputError, match="^trials.txt line 2: 'c' is not a valid label"):
        read(trials, layout="kaldi")
    assert set(speakers(read(trials, layout="voxceleb"))) == {"a", "target", "b", "c"}


def test_places_of_files(read):
    raw = read("m b target\n\nm c nontarget\n", "m a1 a2\n")
    assert dict(zip(raw.table["file"], raw.places, strict=True)) == {
        "a1": "enrolments.txt, utterance a1",
        "b": "trials.txt line 1",
        "c": "trials.txt line 3",
        "a2": "enrolments.txt, utterance a2",
    }
