"""Transcripts as people write them, through the command: wordings, scripts, marks, formatting, entities."""

import random
import re

import jiwer
import numpy as np
import pandas as pd
import pytest
from runs import Run, refused, run, write

pytestmark = pytest.mark.slow

SUITE = """
title: As the field reports them
studies: false
sweeps: false
replicates: 100
alternatives: true
normaliser: basic
synonyms: words.csv
entities: {person: [Anna, Bob], room: rooms.csv}
corpora:
  talk: {format: csv, path: talk.csv, audio: false}
  turkish: {format: csv, path: turkish.csv, audio: false}
  marks: {format: csv, path: marks.csv, audio: false}
  scripts: {format: csv, path: scripts.csv, audio: false}
  both: {format: csv, path: both.csv, audio: false}
  plain: {format: csv, path: plain.csv, audio: false}
  arabic: {format: csv, path: arabic.csv, audio: false}
  chinese: {format: csv, path: chinese.csv, audio: false}
models:
  known: {predictions: known.csv, tasks: [transcript], corpora: [talk, turkish, marks, scripts]}
  perfect: {predictions: perfect.csv, tasks: [transcript], corpora: FORMATTED}
  lower: {predictions: lower.csv, tasks: [transcript], corpora: FORMATTED}
  loses: {predictions: loses.csv, tasks: [transcript], corpora: FORMATTED}
families: [asr_word_errors, asr_formatting]
""".replace("FORMATTED", "[both, plain, arabic, chinese], families: [asr_formatting]")
# What was said, what was recognised, one wording of the former with the fewest errors
TALK = [
    ("I have {um / uh / @} seen it (now)", "I have seen it.", "i have seen it"),
    ("we are going to {go / leave / stay here}", "we are gonna stay hear", "we are gonna stay here"),
    ("turn left", None, "turn left"),
    ("{um / @} (please) stop here", "stop hear", "stop here"),
    ("it is {colour / color} ٣", "it is color ٣ yes", "it is color ٣"),
    ("אל תלך", "אל תלך", "אל תלך"),
]
TURKISH = [("İstanbul'da IŞIK yandı", "istanbul'da ışık yandı"), ("İyi günler", "iyi günler")]
MARKS = [  # reference, answer; all words are right
    ("[noise] turn left <unk> please", "turn left please"),
    ("<sil> turn right (laughs) now", "turn right now <unk>"),
    ("go on {NOISE} please", "go on please"),
    ("go { <unk> / left } now", "go left now"),
    ("stop (two) 2", "stop two 2"),
    ("[noise] (laughs)", ""),
]
FORMATTED = (  # spoken, written, words that are entities
    ("hello anna how are you", "Hello, Anna. How are you?", {"person": ["Anna"]}),
    ("it is twenty five dollars", "It is $25!", {"money": ["$25"]}),
    ("call five five five one two three four", "Call 555-1234.", {"telephone number": ["555-1234"]}),
    ("<b>go</b> to the living room", "<b>Go</b> to the living room!", {"room": ["living room"]}),
    ("at ten thirty am", "At 10:30 am, Bob.", {"time": ["10:30 am"], "person": ["Bob"]}),
)
LOSSES = {"Anna": "Hannah", "$25": "$20", ",": "", "!": ".", "living room": "living big room"}


def losing(text):
    for said, written in LOSSES.items():
        text = text.replace(said, written)
    return text


def scripts():
    """120 English references of which 6 % of the words are wrong, 80 Chinese ones that are right."""
    draw = random.Random(1)
    for number in range(200):
        if number < 80:
            said = [draw.choice("花园 我 看 去 明天 房子".split()) for _ in range(8)]
            yield "zh", " ".join(said), "".join(said)
        else:
            said = [draw.choice("to the on street now please".split()) for _ in range(10)]
            yield "en", " ".join(said), " ".join("oh" if draw.random() < 0.06 else word for word in said)


def texts(folder):
    """Write corpora of transcripts, and what recognisers made of them."""
    columns = ["language", "transcript", "heard", "transcript_written"]
    corpora = {
        "talk": [("", *pair[:2]) for _ in range(6) for pair in TALK],
        "turkish": [("tr", *pair) for pair in TURKISH],
        "marks": [("en", *pair) for pair in MARKS],
        "scripts": list(scripts()),
        "both": [("en", spoken, None, written) for spoken, written, _ in FORMATTED * 6],
        "plain": [("", spoken, None) for spoken, *_ in FORMATTED * 2],
        "arabic": [("ar", "مرحبا يا Anna، 30؟", None)] * 10,
        "chinese": [("zh", "你好，世界。", None)] * 10,
    }
    known, formatted = [], []
    for name, rows in corpora.items():
        table = pd.DataFrame(rows, columns=columns[: len(rows[0])])
        each = {"talk": len(TALK), "scripts": 5}.get(name)  # six speakers say the same in the talk
        table["speaker"] = [f"s{n // each if each else n % 6}" for n in range(len(rows))]
        table["file"], table["duration"] = [f"{name}{n}.wav" for n in range(len(rows))], 2.0
        write(folder, {f"{name}.csv": table.drop(columns="heard")})
        kind = formatted if name in ("both", "plain", "arabic", "chinese") else known
        kind.append(table.assign(best=table["transcript_written"] if name == "both" else table["transcript"]))
    known = pd.concat(known)[["file", "heard"]].rename(columns={"heard": "transcript"}).dropna()
    formatted = pd.concat(formatted)
    for model, change in (("perfect", str), ("lower", str.lower), ("loses", losing)):
        write(folder, {f"{model}.csv": formatted[["file"]].assign(transcript=formatted["best"].map(change))})
    synonyms = {"words.csv": "phrase,synonym\ngonna,going to\n", "rooms.csv": "name\nliving room\n"}
    return write(folder, {"known.csv": known, "suite.yml": SUITE, **synonyms})


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    return run(undrawn, texts(tmp_path_factory.mktemp("written")), "--no-book")


def rows_of(whole, corpus, family="asr_word_errors", model="known"):
    return whole.rows(corpus=corpus, family=family, model=model).set_index("test")


def plain(text):
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def units():
    """References of two scripts as they are counted: by words, and by characters without blanks."""
    return [said.replace(" ", "") if language == "zh" else said for language, said, _ in scripts()]


# Words and characters ---------------------------------------------------------------------------------------


def test_rates_of_the_field_are_those_of_jiwer(whole):
    rows = rows_of(whole, "talk")
    pairs = [(plain(best), plain(heard or "")) for _, heard, best in TALK]
    every = jiwer.process_words(*map(list, zip(*pairs, strict=True)))
    answered = [*map(list, zip(*(pair for pair in pairs if pair[1]), strict=True))]
    words = jiwer.process_words(*answered)
    expected = {
        "Word Error Rate": words.wer,
        "Word Error Rate With Missing": every.wer,
        "Sentence Error Rate": np.mean([said != heard for said, heard in zip(*answered, strict=True)]),
        "Match Error Rate": words.mer,
        "Word Information Lost": words.wil,
        "Character Error Rate": jiwer.cer(*answered),
    }
    for test, value in expected.items():
        assert rows.loc[test, "value"] == pytest.approx(value), test
    assert rows.loc["Word Error Rate With Missing", "segments"] == 6 * len(TALK) and every.wer > words.wer
    extra = rows.loc[["Sentence Error Rate", "Match Error Rate", "Word Information Lost"]]
    assert extra["passed"].isna().all() and set(extra["evidence"]) == {"shown"}
    page = whole.shown("known", "asr_word_errors")
    assert "no answer for 6 of 36 segments, 12 words counted as left out" in page
    assert "alternatives and words in parentheses, 1 pair of synonyms" in page


def test_the_key_figure_fits_the_script(whole):
    figures = {figure["corpus"]: figure["measure"] for figure in whole.record["figures"]}
    assert figures["talk"] == figures["marks"] == "word error rate"
    assert figures["scripts"] == "mixed error rate"


def test_what_is_only_writing_is_no_error_and_marks_are_counted(whole):
    for corpus, rows in (("turkish", TURKISH), ("marks", MARKS)):
        rate = rows_of(whole, corpus).loc["Word Error Rate"]
        assert (rate["value"], rate["segments"]) == (0, len(rows))
    notices = {corpus["name"]: " ".join(corpus["notices"]) for corpus in whole.record["corpora"]}
    assert "5 of 6 references have marks of noises or unknown words: '[noise]' (2)" in notices["marks"]
    assert "normaliser: basic-with-marks" in notices["marks"] and "marks" not in notices["scripts"]


def test_two_scripts_have_a_mixed_error_rate_and_nobody_is_accused_of_another_script(whole):
    said, heard = zip(*[pair[1:] for pair in scripts() if pair[0] == "en"], strict=True)
    counts = jiwer.process_words(list(said), list(heard))
    errors = counts.substitutions + counts.deletions + counts.insertions
    rows = rows_of(whole, "scripts")
    total = sum(len(text.split()) if " " in text else len(text) for text in units())
    assert rows.loc["Mixed Error Rate", "value"] == pytest.approx(errors / total)
    assert rows.loc["Word Error Rate", "skipped"].endswith("see Mixed Error Rate")
    characters = jiwer.cer(units(), [text for *_, text in scripts()])
    assert rows.loc["Character Error Rate", "value"] == pytest.approx(characters)
    groups = rows.loc[["Character Error Rate Difference"]].query("value == value").set_index("group")
    assert groups.loc["language: zh", "value"] < 0 < groups.loc["language: en", "value"]
    # Only English has wrong words, so that it is the one that is named.
    assert groups["mirrors"].to_dict() == {"language: en": "", "language: zh": "language: en"}
    assert groups.loc["language: en", "group_value"] == pytest.approx(jiwer.cer(list(said), list(heard)))
    message = "scripts: 80 of 200 references are written without blanks between words; they are left out"
    assert message in whole.shown("known", "asr_formatting")


def test_bad_wordings_are_refused_with_their_row(tmp_path, command):
    write(texts(tmp_path), {"talk.csv": "file,transcript\na.wav,go\nb.wav,go { left / right\n"})
    message = refused(command, tmp_path, "run", "suite.yml", "--plan")
    assert re.search(r"talk\.csv.*3.*\{ and not closed", message), message


# Formatted text ---------------------------------------------------------------------------------------------


def formatted(whole, model, corpus="both"):
    rows = whole.rows(model=model, corpus=corpus, family="asr_formatting")
    return rows.set_index(["test", "label"]).sort_index()


def test_a_perfect_recogniser_has_no_error_and_a_plain_one_loses_capitals_but_no_entity(whole):
    rows = whole.rows(model="perfect", family="asr_formatting").dropna(subset="value")
    assert len(rows) > 10 and rows["value"].eq(0).all()
    assert formatted(whole, "perfect")["passed"].ne(False).all()
    lower = formatted(whole, "lower")["value"]
    assert lower[("Capital Error Rate", "")] == 1 and lower["Entity Error Rate"].eq(0).all()


def test_errors_of_marks_and_entities_are_those_of_plain_loops(whole):
    rates, written = formatted(whole, "loses"), "".join(text for _, text, _ in FORMATTED)
    wrong = written.count(",") + written.count("!")
    rate = rates.loc[("Punctuation Error Rate", ""), "value"]
    assert rate == pytest.approx(wrong / sum(written.count(mark) for mark in ",.?!"))
    marks = rates.loc["Punctuation Error Rate Per Mark", "value"].to_dict()
    assert marks == {"comma": 1, "exclamation mark": 1, "question mark": 0, "full stop": 0}
    # "Anna" of two persons, the only amount and the only room are wrong.
    shares = {"person": 1 / 2, "money": 1, "telephone number": 0, "room": 1, "time": 0}
    assert rates.loc["Entity Error Rate", "value"].to_dict() == pytest.approx(shares)
    said = {kind: sum(kind in kinds for *_, kinds in FORMATTED) * 6 for kind in shares}
    assert rates.loc["Entity Error Rate", "segments"].to_dict() == said  # and not all 36
    assert not rates.loc["Entity Error Rate"].loc["money", "passed"]
    page = whole.shown("loses", "asr_formatting")
    assert "<b>" not in page and "hannah (6)" in page and "$20 (6)" in page


def test_what_references_do_not_have_is_skipped(whole):
    plain = formatted(whole, "perfect", "plain")["skipped"]
    assert plain[("Punctuation Error Rate", "")] == "no reference has punctuation"
    assert plain[("Capital Error Rate", "")] == "no reference has capitals beside other letters"
    assert set(plain["Entity Error Rate"].index) >= {"money", "person", "room"}
    assert formatted(whole, "perfect", "chinese")["skipped"].str.contains("without blanks").all()
    arabic = formatted(whole, "perfect", "arabic")["value"]
    assert [*arabic["Entity Error Rate"].index] == ["person"]
    assert arabic[("Punctuation Error Rate", "")] == 0
