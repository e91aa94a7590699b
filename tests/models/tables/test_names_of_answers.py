"""Which segment a prediction is for, in every format; refused files, a row of ``refused.yml`` each."""

import re
import unicodedata
from pathlib import Path

import pytest
import yaml
from answer_files import corpus, files

from soundcheck.common.messages import InputError


def lines(form: str, head: str = ""):
    return lambda names: head + "".join(form.format(name) + "\n" for name in names)


FORMATS = {  # name of the file -> writes a prediction under each name
    "hyp.csv": lines("{},turn left", "file,transcript\n"),
    "hyp.trn": lines("turn left ({})"),
    "hyp.stm": lines("{} 1 s1 0 2 turn left"),
}
NFD = unicodedata.normalize("NFD", "Bär/ä.wav")
LOOSE = "not written like"
CASES = [  # names of predictions, files of the corpus, which of them have one, what is told
    (["/data/M02/0001.wav", "x/2.wav"], ["F01/0001.wav", "2.wav"], [False, True], ""),
    (["F01/a.wav"], ["F01/a.mp3", "F02/a.mp3"], [True, False], LOOSE),
    (["a.wav"], ["F01/a.flac"], [True], LOOSE),
    ([NFD], ["Bär/ä.wav"], [True], LOOSE),
]
UNCLEAR = [
    (["a.wav"], ["x/a.wav", "y/a.wav"], "'a.wav' could mean 'x/a.wav' and 'y/a.wav'"),
    (["x/a.wav", "y/a.wav"], ["a.wav"], "'x/a.wav' and 'y/a.wav' mean the same"),
    # Messages never show two equal names: this one is Cyrillic.
    (["а.wav"], ["a.wav", "zz.wav"], r"belongs to a segment.*'\\u0430.wav'.*'a.wav'"),
]


@pytest.mark.parametrize("name", FORMATS)
def test_names_fit_by_all_that_both_sides_give(load, name):
    for names, known, expected, words in CASES:
        model, where = load(FORMATS[name](names), name), files(*known)
        answered = [text is not None for text in model.look_up(where, "")[0]["transcript"]]
        assert answered == expected, names
        notices = [notice for notice in model.notices([where]) if " is taken for " in notice]
        assert len(notices) == bool(words) and all(words in notice for notice in notices), names


@pytest.mark.parametrize("name", FORMATS)
def test_names_that_are_unclear_or_fit_nothing_are_refused(load, name):
    for names, known, words in UNCLEAR:
        with pytest.raises(InputError, match=words):
            load(FORMATS[name](names), name).notices([files(*known)])


@pytest.mark.parametrize("name", ["hyp.csv", "hyp.stm"])
def test_one_prediction_is_for_one_sound(load, name):
    model = load(FORMATS[name](["1.wav", "2.wav"]), name)
    one, two = files("1.wav", "2.wav", name="A"), files("1.wav", "2.wav", name="B")
    words = r"'1.wav' would be .* for several sounds, '1.wav' of 'A', '1.wav' of 'B'. "
    with pytest.raises(InputError, match=words + r"Write `corpora: \[A\]` for the model") as caught:
        model.notices([one, two])
    assert len(caught.value.problems) == 1
    assert model.notices([one]) == []
    with pytest.raises(InputError, match="for several sounds, '2.wav' of 'A', '2.wav' of 'B'. "):
        model.notices([one, files("2.wav", name="B")])
    same = [files("1.wav", "2.wav", name=letter, audio=["same", "too"]) for letter in "AB"]
    assert model.notices(same) == []


def test_times_that_do_not_fit_are_shown_with_all_digits(load):
    model = load("file,start,end,transcript\na.wav,0,1.50,turn\n", "hyp.csv")
    with pytest.raises(InputError, match="from 0 s to 1.5 s, in the corpus 'a.wav' from 0 s to 1.5345 s"):
        model.notices([corpus(("a.wav", 0.0, 1.5345))])


GROUPS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
ROWS = [(group, row) for group in GROUPS for row in group["rows"]]
CORPUS = corpus(("a.wav", 0.0, 1.5), ("a.wav", 1.5, 2.25), ("b.wav", float("nan"), float("nan")))


@pytest.mark.parametrize(("group", "row"), ROWS, ids=[row["words"][:50] for _, row in ROWS])
def test_refused(load, group, row):
    text = row.get("text", row.get("line"))
    text = group["before"] + text + "\n" if "line" in row else text
    content = text.encode(row.get("encoding", "utf-8"), "surrogatepass")
    with pytest.raises(InputError) as caught:
        load(content, group["name"], *group["tasks"], **row.get("options", {})).look_up(CORPUS, "")
    message = str(caught.value)
    assert re.search(row["words"], message), message
    assert row.get("options") or message.startswith(group["name"])
    assert len(caught.value.problems) == row.get("problems", 1)


@pytest.mark.parametrize("name", ["hyp.csv", "hyp.parquet", "text"])
def test_pickles_are_not_opened(load, name, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "CANARY",))

    import pickle

    with pytest.raises(InputError, match=f"{name}: this is a Python pickle, which is never opened"):
        load(pickle.dumps(Bomb()), name)
    assert not (tmp_path / "CANARY").exists()


def test_files_of_transcripts_hold_nothing_else(load):
    words = r"^suite.yml, models.theirs.tasks: text holds transcripts only .* emotion\. Give"
    with pytest.raises(InputError, match=words):
        load("a turn\n", "text", "transcript", "emotion")
    with pytest.raises(InputError, match="text is no table with columns"):
        load("a turn\n", "text", columns={"file": "path"})
