"""What is in the keys of answers, and what is not."""

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.predict.keys import Keys, changing_code, reading_code, repeated_key
from soundcheck.predict.protocol import PlainChange

FINGERPRINT = "ab" * 20


def test_everything_that_an_answer_depends_on_is_in_its_key():
    arousal, emotion = BUILTIN["arousal"], BUILTIN["emotion"]
    noise = PlainChange("Noise", "white_noise", {"snr_db": [20, 30]})
    louder = PlainChange("Noise", "white_noise", {"snr_db": [20]})
    keys = Keys(FINGERPRINT, [arousal], [noise], 0)
    others = {
        "clean": keys.key("audio", None),
        "changed": keys.key("audio", 0),
        "audio": keys.key("other", None),
        "model": Keys("cd" * 20, [arousal], [noise], 0).key("audio", None),
        "tasks": Keys(FINGERPRINT, [arousal, emotion], [noise], 0).key("audio", None),
        "options": Keys(FINGERPRINT, [arousal], [louder], 0).key("audio", 0),
        "seed": Keys(FINGERPRINT, [arousal], [noise], 1).key("audio", 0),
        "repeated": repeated_key(keys.key("audio", None)),
    }
    assert len(set(others.values())) == len(others)


def test_what_an_answer_does_not_depend_on_is_not_in_its_key():
    noise = PlainChange("Noise", "white_noise", {"a": 1, "b": 2})
    same = PlainChange("Another name", "white_noise", {"b": 2, "a": 1})
    one = Keys(FINGERPRINT, [BUILTIN["arousal"]], [noise], 0)
    other = Keys(FINGERPRINT, [Task("arousal", "regression", (), 1, 7)], [noise, same], 0)
    assert one.key("audio", 0) == other.key("audio", 1)
    assert one.key("audio", None) == Keys(FINGERPRINT, [BUILTIN["arousal"]], [], 9).key("audio", None)


def test_code_that_makes_signals_is_in_the_keys():
    assert len({changing_code(), reading_code()}) == 2
