"""Lists of EmoBox."""

import json

import pytest
from segment_rows import rows


def item(name: str, label: str, **changes: object) -> dict:
    """Make a line as EmoBox writes it; ``...`` = without this key."""
    usual = {
        **{"key": f"emovo-{name}", "dataset": "emovo", "wav": f"downloads/emovo/{name}.wav", "type": "raw"},
        **{"sample_rate": 16000, "num_frame": 8000.0, "task": "category", "length": 0.5, "emo": label},
        "channel": 1,
    }
    return {key: value for key, value in (usual | changes).items() if value is not ...}


ITEMS = [item(f"{name}", name[:3]) for name in ("gio-f1-b1", "tri-f2-b1", "dis-m1-b1", "neu-f1-b2")]
LISTS = {
    "label_map.json": {"gio": "Happy", "tri": "Sad", "dis": "Disgust", "neu": "Neutral"},
    **{"emovo.jsonl": ITEMS, "emovo.json": {}},
    **{"fold_1/emovo_train_fold_1.jsonl": ITEMS[:1], "fold_1/emovo_test_fold_1.jsonl": ITEMS[1:]},
}


@pytest.fixture
def load(load):
    """Load a corpus of a checkout with these lists: ``load(", fold: 1", {"emovo.jsonl": [...]})``."""
    sounds = {f"EmoBox/{one['wav']}": number for number, one in enumerate(ITEMS)}

    def read(keys="", changes=()):
        lists = {f"EmoBox/data/emovo/{name}": content for name, content in (LISTS | dict(changes)).items()}
        return load(f"format: emobox, path: EmoBox/data/emovo{keys}", sounds | lists)

    return read


def test_the_list_of_a_corpus(load):
    corpus = load()
    assert rows(corpus, "file", "item", "emotion", "category", "duration") == [
        ("downloads/emovo/dis-m1-b1.wav", "emovo-dis-m1-b1", None, "Disgust", 0.5),
        ("downloads/emovo/gio-f1-b1.wav", "emovo-gio-f1-b1", "happiness", "happiness", 0.5),
        ("downloads/emovo/neu-f1-b2.wav", "emovo-neu-f1-b2", "neutral", "neutral", 0.5),
        ("downloads/emovo/tri-f2-b1.wav", "emovo-tri-f2-b1", "sadness", "sadness", 0.5),
    ]
    notices = " ".join(corpus.notices)
    assert "who speaks; `speaker_pattern:` finds it in the names of utterances" in notices
    assert "'Happy' counts as 'happiness' (1 row)" in notices
    assert "split" not in corpus.segments


def test_a_fold_with_speakers(load):
    corpus = load(", fold: 1, speaker_pattern: '-([fm]\\d)-'")
    assert rows(corpus, "item", "speaker", "split") == [
        ("emovo-dis-m1-b1", "m1", "test"),
        ("emovo-neu-f1-b2", "f1", "test"),
        ("emovo-tri-f2-b1", "f2", "test"),
    ]
    assert corpus.caveats[0].text.startswith("1 of 3 test speakers also train")
    assert "the names of utterances tell 3 speakers, as `speaker_pattern:` finds them" in corpus.notices
    assert len(load(", fold: 1, split: all").segments) == 4
    lists = {"fold_2/emovo_train_fold2.jsonl": ITEMS[:2], "fold_2/emovo_test_fold2.jsonl": ITEMS[2:]}
    assert len(load(", fold: 2", lists).segments) == 2  # as some folds are called


def test_labels_of_the_suite_and_speakers_of_the_lists(load):
    lists = {"emovo.jsonl": [item("gio-f1-b1", "gio", speaker="f1"), item("tri-f2-b1", "rab", speaker="f2")]}
    corpus = load(", values: {emotion: {Happy: neutral, rab: anger}}", lists)
    assert rows(corpus, "speaker", "emotion") == [("f1", "neutral"), ("f2", "anger")]
    assert "label_map.json has no name for 'rab' (1)" in corpus.notices


def test_other_tasks_are_listed(load):
    others = [item("x", ..., task="valence"), item("y", "gio", type="feature")]
    corpus = load("", {"emovo.jsonl": [*ITEMS, *others]})
    assert len(corpus.segments) == 4
    reason = "1 line of emovo.jsonl: not sounds with emotions"
    left_out = {(left.item, left.reason) for left in corpus.left_out}
    assert {("task 'valence'", reason), ("type 'feature'", reason)} <= left_out


def test_without_sound_lists_tell_durations(load):
    lists = {"emovo.jsonl": [item("nowhere", "gio", length=3.25), item("there", "tri", length=None)]}
    assert rows(load(", audio: false", lists), "duration") == [(3.25,), (None,)]


@pytest.mark.parametrize(
    ("keys", "changes", "words"),
    [
        ("", {"emovo.jsonl": None}, "^EmoBox/data/emovo: there is no list .* Name the folder of one corpus"),
        ("", {"other.jsonl": ITEMS}, r"there are 2 lists \(.jsonl\).*as `fold: 1`"),
        (", fold: 3", {}, "emovo/fold_3: there is not one list of the split test. There are fold_1"),
        (", fold: 0", {}, "corpora.c.fold"),
        (", speaker_pattern: '('", {}, "corpora.c.speaker_pattern: this is no regular expression"),
        (", speaker_pattern: '(a)(b)'", {}, "speaker_pattern: the pattern has several groups"),
        ("", {"emovo.jsonl": ""}, "emovo.jsonl: the file is empty"),
        ("", {"emovo.jsonl": [item("a", "gio", wav=...)]}, "emovo.jsonl line 1, key wav: it is missing"),
        ("", {"emovo.jsonl": [item("a", ...)]}, "emovo.jsonl line 1, key emo: it is missing"),
        ("", {"emovo.jsonl": [item("a", 3)]}, "line 1, key emo: a number, not a text"),
        ("", {"emovo.jsonl": [item("a", "gio", length="x")]}, "line 1, key length: a text, not a number"),
        ("", {"emovo.jsonl": [item("a", "gio", wav="../../../x.wav")]}, "leads out of the corpus folder"),
        ("", {"emovo.jsonl": [item("a", "gio", wav="/x.wav")]}, "is an absolute path"),
        ("", {"emovo.jsonl": [ITEMS[0], ITEMS[0]]}, "line 1 of emovo.jsonl and .* line 2 of emovo.jsonl:"),
        ("", {"emovo.jsonl": json.dumps({"a": {"wav": "x"}}, indent=1)}, "line 1: '{' is no JSON"),
        ("", {"label_map.json": "[1]"}, "label_map.json: this is a list, not an object"),
        ("", {"label_map.json": {"gio": 3}}, "label_map.json: the name of 'gio' is no text"),
    ],
)
def test_refused(refused, keys, changes, words):
    refused(words, keys, changes)
