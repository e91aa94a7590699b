"""A corpus that is nothing but a list of trials: its files and who speaks."""

import pytest

from soundcheck.common.errors import InputError
from soundcheck.corpora.trials.speakers import read_trial_corpus
from soundcheck.suite.entries import CorpusEntry


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
