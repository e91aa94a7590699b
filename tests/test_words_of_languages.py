"""Words of several languages, scripts and annotations through the command: one run, a table of what comes."""

import json
import random

import jiwer
import pandas as pd
import pytest

from soundcheck.metrics.word_rates import group_error_rate

SUITE = """
studies: false
replicates: 100
normaliser: {normaliser}
alternatives: true
corpora:
  turkish: {{format: csv, path: turkish.csv, audio: false}}
  unnamed: {{format: csv, path: unnamed.csv, audio: false}}
  marks: {{format: csv, path: marks.csv, audio: false}}
  both: {{format: csv, path: both.csv, audio: false}}
models: {{m: {{predictions: heard.csv, tasks: [transcript]}}}}
families: [asr_word_errors, asr_formatting]
"""
TURKISH = [("İstanbul'da IŞIK yandı", "istanbul'da ışık yandı"), ("İyi günler", "iyi günler")]
MARKS = [  # reference, answer; all words are right
    ("[noise] turn left <unk> please", "turn left please"),
    ("<sil> turn right (laughs) now", "turn right now <unk>"),
    ("go on {NOISE} please", "go on please"),
    ("go { <unk> / left } now", "go left now"),
    ("stop (two) 2", "stop two 2"),
    ("[noise] (laughs)", ""),
]


def scripts():
    """120 English references of which 6 % of the words are wrong, 80 Chinese ones that are right."""
    draw = random.Random(1)
    for number in range(200):
        if number < 80:
            said = [draw.choice("花园 我 看 去 明天 房子".split()) for _ in range(8)]
            yield "zh", " ".join(said), "".join(said)
        else:
            said = [draw.choice("to the on street now please".split()) for _ in range(10)]
            heard = ["oh" if draw.random() < 0.06 else word for word in said]
            yield "en", " ".join(said), " ".join(heard)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, undrawn, shared_cache):
    folder = tmp_path_factory.mktemp("words")
    corpora = {
        "turkish": [("tr", *pair) for pair in TURKISH],
        "unnamed": [("", *TURKISH[1])],
        "marks": [("en", *pair) for pair in MARKS],
        "both": list(scripts()),
    }
    heard = []
    for name, rows in corpora.items():
        frame = pd.DataFrame(rows, columns=["language", "transcript", "heard"])
        frame["file"] = [f"{name}{n}.wav" for n in range(len(frame))]
        frame["speaker"] = [f"s{n // 5}" for n in range(len(frame))]
        heard.append(frame[["file", "heard"]].rename(columns={"heard": "transcript"}))
        frame.drop(columns="heard").to_csv(folder / f"{name}.csv", index=False)
    pd.concat(heard).to_csv(folder / "heard.csv", index=False)
    for normaliser in ("basic", "basic-with-marks"):
        (folder / f"{normaliser}.yml").write_text(SUITE.format(normaliser=normaliser), encoding="utf-8")
    done = undrawn(
        "run", "basic.yml", "--no-book", "--jobs", "1", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    table = pd.read_csv(folder / "build" / "results.csv", keep_default_na=False, na_values=[""])
    table = table[table["family"] == "asr_word_errors"]
    return {name: own.set_index("test") for name, own in table.groupby("corpus")}


@pytest.mark.parametrize("corpus", ["turkish", "unnamed", "marks"])
def test_what_is_only_writing_is_no_error(rows, corpus):
    assert rows[corpus].loc["Word Error Rate", "value"] == 0


def test_marks_are_counted_in_references_and_answers(folder, shown):
    record = json.loads((folder / "build" / "run.json").read_text(encoding="utf-8"))
    notices = {corpus["name"]: " ".join(corpus["notices"]) for corpus in record["corpora"]}
    assert "5 of 6 references have marks of noises or unknown words: '[noise]' (2)" in notices["marks"]
    assert "normaliser: basic-with-marks" in notices["marks"] and "marks" not in notices["both"]
    assert "marks of noises in 5 references and 1 answer are dropped" in shown(
        folder / "build", "m", "asr_word_errors"
    )


def test_a_reference_of_marks_alone_has_no_words(rows):
    assert rows["marks"].loc["Word Error Rate", "segments"] == len(MARKS)


def test_both_scripts_have_a_mixed_error_rate(rows):
    said, heard = zip(*[pair[1:] for pair in scripts() if pair[0] == "en"], strict=True)
    counts = jiwer.process_words(list(said), list(heard))
    errors = counts.substitutions + counts.deletions + counts.insertions
    units = sum(len(text.split()) if name == "en" else len(text) for name, text, _ in units_said())
    found = rows["both"]
    assert found.loc["Mixed Error Rate", "value"] == pytest.approx(errors / units)
    assert found.loc["Word Error Rate", "skipped"].endswith("see Mixed Error Rate")
    characters = jiwer.cer([text for _, text, _ in units_said()], [text for *_, text in scripts()])
    assert found.loc["Character Error Rate", "value"] == pytest.approx(characters)


def units_said():
    return [(name, said.replace(" ", "") if name == "zh" else said, heard) for name, said, heard in scripts()]


def test_nobody_is_accused_of_another_script(rows, folder, shown):
    groups = rows["both"][rows["both"]["group"].notna()].loc[["Character Error Rate Difference"]]
    own = groups.set_index("group")["value"]
    assert own["language: zh"] < 0 < own["language: en"]
    # Only English has wrong words, so that it is the one that is named.
    assert groups["mirrors"].dropna().to_dict() == {"Character Error Rate Difference": "language: en"}
    english = groups[groups["group"] == "language: en"].iloc[0]
    said, heard = zip(*[pair[1:] for pair in scripts() if pair[0] == "en"], strict=True)
    wrong = jiwer.cer(list(said), list(heard))
    assert english["group_value"] == pytest.approx(wrong) and english["others_value"] == 0
    assert "so error rates are mixed ones" in shown(folder / "build", "m", "asr_word_errors")
    record = json.loads((folder / "build" / "run.json").read_text(encoding="utf-8"))
    measures = {figure["corpus"]: figure["measure"] for figure in record["figures"]}
    assert measures["both"] == "mixed error rate" and measures["marks"] == "word error rate"


def test_formatted_texts_leave_out_what_has_no_words(folder, shown):
    page = shown(folder / "build", "m", "asr_formatting")
    assert "both: 80 of 200 references are written without blanks between words; they are left out" in page


def test_groups_of_two_scripts_are_compared_by_characters():
    mixed, words = (["停", "go on"], ["停", "go an"]), (["go", "go on"], ["go", "go an"])
    assert group_error_rate(*mixed).point().value[0] == pytest.approx(1 / 6)
    assert group_error_rate(*words).point().value[0] == pytest.approx(1 / 3)


def test_the_key_that_takes_marks_for_words(folder, undrawn, shared_cache):
    """Braces of a mark are then alternatives, which must have two."""
    done = undrawn("run", "basic-with-marks.yml", "--plan", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache))
    assert done.returncode == 2 and "there is only one alternative" in done.stdout + done.stderr
