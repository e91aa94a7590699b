"""The page for a meeting: complete, bounded, carrying everything with it, whatever names are in it."""

import datetime
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from played import flac, played
from tests.support.findings import FIGURE, GAP, HOSTILE, OPEN, many
from tests.support.finished import finished, verdict

from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import model_sheet
from soundcheck.publish.sheet.tables import Table, since
from soundcheck.publish.sheet.writing import MOST_BYTES, page
from soundcheck.results.estimates import Estimate, estimate_frame, write_estimates

pytestmark = pytest.mark.slow

DAY = datetime.date(2027, 3, 1)


class Seen(HTMLParser):
    """Collects addresses and what could run, of a page that is read as browsers read it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses, self.tags, self.events, self.words = [], [], [], ""
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("href", "src", "srcset", "poster")]
        if ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]
        self.events += [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, text):
        self.words += text


@pytest.fixture
def sheet(tmp_path, recorded):
    def made(rows, model="m", changed=(), **changes):
        facts = ModelFacts.read(finished(tmp_path, recorded, rows, **changes), model)
        return model_sheet(facts, changed or since(facts), DAY)

    return made


def test_what_stands_on_it(sheet, tmp_path):
    sounds = {"original": flac(), "noise": flac(seed=1)}
    played(tmp_path, sounds, "a.wav under Noise: 1 → 2", family="fairness_accent")
    changed = [Table("Against the last release", ["what"], [("recall",)], ["Worse on 1 of 9 tests."])]
    text = page(sheet([verdict(), verdict(**GAP)], changed=changed, figures=[FIGURE]), "../models/m.html")
    seen = Seen(text)
    for told in (
        *("How good.", "m is better than chance", "1 of 2 tests fails", "c (200 segments"),
        *("arousal of german speakers", "0.30, the others 0.48", "−0.18 (−0.32 to −0.11)", "±0.075"),
        *("✓ 1 pass", "✗ 1 fail", "Against the last release", "Worse on 1 of 9 tests.", "recall"),
        *("a.wav under Noise: 1 → 2", "results.csv, SHA-256", "Soundcheck 0.1.0"),
    ):
        assert told in seen.words, told
    kinds = [address.partition(";")[0] for address in seen.addresses]
    assert kinds.count("data:image/svg+xml") == 2 and kinds.count("data:audio/flac") == 2
    assert [address for address in seen.addresses if not address.startswith("data:")] == ["../models/m.html"]
    assert "Synthetic" not in seen.words


def test_hostile_names_are_shown_and_do_nothing(sheet):
    rows = [verdict(HOSTILE), verdict(HOSTILE, **GAP | {"group": f"accent: {HOSTILE}"})]
    rows.append(verdict(HOSTILE, **GAP | OPEN | {"group": f"x: {HOSTILE}", "gap": 0.05}))
    text = page(sheet(rows, HOSTILE, title=HOSTILE, figures=[FIGURE | {"model": HOSTILE, "task": HOSTILE}]))
    seen = Seen(text)
    assert seen.events == [] and "script" not in seen.tags
    assert "<img src=x" in seen.words and not any(address == "x" for address in seen.addresses)
    assert "\u202e" not in text and "\x07" not in text


def test_synthetic_speech_is_said(sheet, tmp_path, recorded):
    folder = finished(tmp_path, recorded, [verdict()])
    record = (folder / "run.json").read_text()
    (folder / "run.json").write_text(record.replace('"synthetic": false', '"synthetic": true'))
    facts = ModelFacts.read(folder)
    words = Seen(page(model_sheet(facts, [], DAY))).words
    assert "Synthetic speech: the numbers show" in words and "(synthetic speech, " in words


@pytest.mark.parametrize("seconds", [1, 60])
def test_the_file_is_bounded(sheet, tmp_path, seconds):
    for family in ("correctness_regression", "fairness_accent"):
        sounds = {name: flac(seconds, seed=len(family) + n) for n, name in enumerate(("original", "noise"))}
        played(tmp_path, sounds, "a.wav", family=family)
    text = page(sheet([verdict(**OPEN), verdict(**GAP)], figures=[FIGURE]))
    assert len(text.encode()) <= MOST_BYTES
    assert text.count("data:audio/flac") == 4
    assert ("the first 8 of" in text) == (seconds > 8)


def test_days_of_answers(tmp_path, recorded):
    folder = finished(tmp_path, recorded, [verdict()])
    record = json.loads((folder / "run.json").read_text())
    record["models"][0] |= {"asked": 150, "days": {"2027-02-01": 50}, "inputs": 203, "unusable": 3}
    (folder / "run.json").write_text(json.dumps(record))
    facts = ModelFacts.read(folder)
    told = dict(model_sheet(facts, [], DAY).origin)["predictions"]
    assert told == "200 given on 2027-02-01 (50) and 2027-03-01 (150); none for 3 inputs of 203"


def test_long_lists_are_cut_and_counted(sheet):
    failing, unknown = sheet(many(), figures=[FIGURE]).tables
    assert failing.title == "What fails" and len(failing.rows) == 8
    assert failing.notes == ["32 more are in the tables of the run."]
    ((kind, tests, bound, plan),) = unknown.rows
    assert (kind, tests, plan) == ("accent", "40", "more than 10 times as many")
    assert bound.startswith("0.20: ") and bound.endswith("arousal of 0 speakers")


def test_values_of_groups_and_classes_the_worst_first(sheet, tmp_path):
    about = {"model": "m", "corpus": "c", "family": "f", "task": "arousal", "measure": "concordance_cc"}
    values = {"sex: male": 0.7, "sex: female": 0.4}
    rows = [Estimate(**about, part=part, value=value, speakers=9) for part, value in values.items()]
    anger = about | {"task": "emotion", "measure": "recall", "label": "anger"}
    write_estimates(estimate_frame([*rows, Estimate(**anger, value=0.2, speakers=9)]), tmp_path)
    _, groups, classes, _ = sheet([verdict(), verdict(task="emotion")], figures=[FIGURE]).tables
    assert groups.columns == ["", "concordance of arousal", "speakers"]
    assert [row[:2] for row in groups.rows] == [
        ("female speakers", "0.40 (no interval)"),
        ("male speakers", "0.70 (no interval)"),
    ]
    assert classes.rows == [("anger", "0.20 (no interval)", "9")]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_it_prints_on_at_most_two_pages(sheet, tmp_path):
    for number in range(2):
        sounds = {name: flac(1, seed=2 * number + n) for n, name in enumerate(("original", "noise"))}
        played(tmp_path, sounds, "title " * 30, family=f"family_{number}_{'x' * 60}")
    rows = [("worse", "recall of something long " * 4, "0.7 → 0.6", "−0.1")] * 8
    notes = ["A sentence that says what became of it. " * 6]
    changed = [Table("Against the last release", ["", "what", "before → after", "difference"], rows, notes)]
    figures = [FIGURE | {"task": f"task {n}", "corpus": f"corpus {n % 3}"} for n in range(9)]
    (tmp_path / "sheet.html").write_text(page(sheet(many(), changed=changed, figures=figures)))
    out = tmp_path / "sheet.pdf"
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/chromium",
    ]
    command += ["--no-pdf-header-footer", f"--print-to-pdf={out}", (tmp_path / "sheet.html").as_uri()]
    subprocess.run(command, capture_output=True, timeout=300, check=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", out.read_bytes())) in (1, 2)
