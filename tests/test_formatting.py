"""Formatted text through the command, against plain loops over what was written."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
import soundfile
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.formatting import split_marks

TEXTS = (  # spoken, written, words that are entities
    ("hello anna how are you", "Hello, Anna. How are you?", {"person": ["Anna"]}),
    ("it is twenty five dollars", "It is $25!", {"money": ["$25"]}),
    ("call five five five one two three four", "Call 555-1234.", {"telephone number": ["555-1234"]}),
    ("<b>go</b> to the living room", "<b>Go</b> to the living room!", {"room": ["living room"]}),
    ("at ten thirty am", "At 10:30 am, Bob.", {"time": ["10:30 am"], "person": ["Bob"]}),
)
LOSSES = {"Anna": "Hannah", "$25": "$20", ",": "", "!": ".", "living room": "living big room"}
SUITE = """
title: Formatted
studies: false
replicates: 100
corpora:
  both: {format: csv, path: both.csv}
  plain: {format: csv, path: plain.csv}
  arabic: {format: csv, path: arabic.csv}
  chinese: {format: csv, path: chinese.csv}
models:
  perfect: {predictions: perfect.csv, tasks: [transcript]}
  lower: {predictions: lower.csv, tasks: [transcript]}
  loses: {predictions: loses.csv, tasks: [transcript]}
families: [asr_formatting]
entities: {person: [Anna, Bob], room: rooms.csv}
"""


def losing(text):
    for said, written in LOSSES.items():
        text = text.replace(said, written)
    return text


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder = tmp_path_factory.mktemp("formatted")
    (folder / "rooms.csv").write_text("name\nliving room\n")
    (folder / "suite.yml").write_text(SUITE)
    corpora = {
        "both": [(n, *TEXTS[n % 5][:2], "en") for n in range(30)],
        "plain": [(n, TEXTS[n % 5][0], "", "") for n in range(30, 40)],
        "arabic": [(n, "مرحبا يا Anna، 30؟", "", "ar") for n in range(40, 50)],
        "chinese": [(n, "你好，世界。", "", "zh") for n in range(50, 60)],
    }
    answers = {"perfect": str, "lower": str.lower, "loses": losing}
    rows = {name: [["file", "transcript"]] for name in answers}
    for name, own in corpora.items():
        columns = ["file", "speaker", "transcript", "transcript_written", "language"]
        table = [columns if name == "both" else [*columns[:3], "language"]]
        for n, spoken, written, language in own:
            tone = 0.1 * np.sin(np.arange(3000) * 0.05 * (1 + n / 60))
            soundfile.write(folder / f"{n}.wav", tone, 16000, subtype="PCM_16")
            row = [f"{n}.wav", f"s{n % 6}", spoken, written, language]
            table.append(row if name == "both" else [*row[:3], language])
            for model, change in answers.items():
                rows[model].append([f"{n}.wav", change(written or spoken)])
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)
    for model, own in rows.items():
        with (folder / f"{model}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(own)
    done = command(
        "run", "suite.yml", "--out", "out", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def results(run):
    table = pd.read_csv(run / "out" / "results.csv", keep_default_na=False, na_values=[""])
    table = table.fillna({"label": "", "skipped": ""}).set_index(["corpus", "model", "test", "label"])
    return table.sort_index()


def test_a_perfect_recogniser_has_no_error(results):
    own = results.xs("perfect", level="model").dropna(subset="value")
    assert len(own) > 10 and own["value"].eq(0).all() and own.loc["both", "passed"].ne(False).all()


def test_a_plain_one_loses_marks_and_capitals_but_no_entity(results, run):
    own = results.loc["both", "lower"]
    assert own.loc[("Capital Error Rate", ""), "value"] == 1
    assert own.loc["Entity Error Rate", "value"].eq(0).all()
    reference = run / "out" / "notebooks" / "lower" / "asr_formatting.ipynb"
    assert "right words, lower case, no marks" in reference.read_text(encoding="utf-8")


def test_values_are_those_of_plain_loops(results):
    own, written = results.loc["both", "loses"], [text for _, text, _ in TEXTS]
    marks = sum(text.count(mark) for text in written for mark in ",.?!")
    commas, shouts = ("".join(written).count(mark) for mark in ",!")
    assert own.loc[("Punctuation Error Rate", ""), "value"] == pytest.approx((commas + shouts) / marks)
    assert own.loc[("Punctuation Error Rate Per Mark", "comma"), "value"] == 1
    assert own.loc[("Punctuation Error Rate Per Mark", "exclamation mark"), "value"] == 1
    for mark in ("question mark", "full stop"):
        assert own.loc[("Punctuation Error Rate Per Mark", mark), "value"] == 0
    said, wrong = {}, {}
    for *_, entities in TEXTS:
        for kind, names in entities.items():
            said[kind] = said.get(kind, 0) + len(names)
            wrong[kind] = wrong.get(kind, 0) + sum(name in LOSSES for name in names)
    found = own.loc["Entity Error Rate"]
    assert set(found.index) == set(said)
    for kind, count in said.items():
        assert found.loc[kind, "value"] == pytest.approx(wrong[kind] / count), kind
    assert not found.loc["money", "passed"]


def test_both_references_stand_side_by_side(run, shown):
    page = shown(run / "out", "perfect", "asr_formatting")
    start = page.index("Word error rate against spoken and written references, both")
    rows = re.findall(r"<tr.*?</tr>", page[start : page.index("</table>", start)], re.DOTALL)[1:]
    cells = [
        [re.sub("<[^>]*>", " ", cell).split() for cell in re.findall("<td.*?</td>", row)] for row in rows
    ]
    found = {" ".join(name): (float(plain[0]), int(*right)) for name, plain, _, _, right, _ in cells}
    assert len(found) == 3
    sides = [
        [split_marks(text.casefold())[0] for text in side] for side in list(zip(*TEXTS, strict=True))[:2]
    ]
    wrong = sum(Levenshtein.distance(*pair) for pair in zip(*sides, strict=True))
    rate = 100 * wrong / sum(map(len, sides[0]))
    assert found["spoken"] == (pytest.approx(rate, abs=0.05), 12) and 0 < rate
    assert found["written"] == found["whichever is closer"] == (0, 30)
    assert "plain: no segment has a spoken and a written reference" in page


def test_what_references_do_not_have_is_skipped(results):
    plain = results.loc["plain", "perfect"]["skipped"]
    assert plain.loc[("Punctuation Error Rate", "")] == "no reference has punctuation"
    assert plain.loc[("Capital Error Rate", "")] == "no reference has capitals beside other letters"
    assert set(results.loc["plain", "perfect"].loc["Entity Error Rate"].index) >= {"money", "person", "room"}
    chinese = results.loc["chinese", "perfect"]["skipped"]
    assert chinese.str.contains("without blanks").all()


def test_other_languages_have_names_and_marks(results, run, shown):
    arabic = results.loc["arabic", "perfect"]
    assert list(arabic.loc["Entity Error Rate"].index) == ["person"]
    assert arabic.loc[("Punctuation Error Rate", ""), "value"] == 0
    page = shown(run / "out", "perfect", "asr_formatting")
    assert "arabic: 10 of 10 segments are not in English, of them only names are entities" in page


def test_pages_are_bounded_and_escaped(run, shown):
    pages = {model: shown(run / "out", model, "asr_formatting") for model in ("perfect", "lower", "loses")}
    assert max(map(len, pages.values())) < 400_000
    assert all("<b>" not in page and "<b>Go" not in page for page in pages.values())
    assert "hannah (6)" in pages["loses"] and "$20 (6)" in pages["loses"]
    assert "both: no entity is wrong" in pages["perfect"]
    assert not json.loads((run / "out" / "run.json").read_text(encoding="utf-8")).get("failures")
