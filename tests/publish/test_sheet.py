"""The one-page summary: complete, bounded, with its sounds in it; and what changed since the last release."""

import base64
import dataclasses
import datetime
import io
import json
import re
import sys

import numpy as np
import pypdf
import pytest
import soundfile
from bs4 import BeautifulSoup
from tests.support.findings import FIGURE, GAP, HOSTILE, OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.files import write_bytes
from soundcheck.common.media import EXAMPLES, MediaStore
from soundcheck.common.messages import InputError
from soundcheck.publish.sheet import MOST_BYTES, Table, html_page, model_sheet, since, typeset
from soundcheck.publish.sheet_sounds import LONGEST, carried, model_scenes
from soundcheck.results.contrast import CONTRAST_TYPES, Contrast, contrast_frame
from soundcheck.results.facts import ModelFacts
from soundcheck.results.finished_run import read_run, rows_file
from soundcheck.results.rows import Estimate, Judged, save
from soundcheck.results.table import estimate_frame, frame_csv, write_estimates

pytestmark = pytest.mark.slow

DAY = datetime.date(2027, 3, 1)


def flac(seconds=0.5, seed=0):
    """Make a recording of noise, which no format can shorten."""
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, round(16000 * seconds)).astype(np.float32)
    buffer = io.BytesIO()
    soundfile.write(buffer, noise, 16000, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def played(folder, sounds, title="", family="correctness_regression", **about):
    """Write the executed notebook of a family that plays sounds; give the files of these."""
    media = MediaStore(folder / "media", "../../media/")
    players = []
    for label, data in sounds.items():
        names = {"sound": media.add(data, ".flac"), "picture": media.add(b"png" + data[-9:], ".png")}
        names = {kind: address.removeprefix(media.prefix) for kind, address in names.items()}
        players.append({"label": label, "caption": "said; 1 s", **names})
    example = {"title": title, "group": "", "words": [], "sounds": players} | about
    output = {"output_type": "display_data", "data": {EXAMPLES: [example]}, "metadata": {}}
    path = folder / "notebooks" / "m" / f"{family}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown"}, {"outputs": [output]}]}))
    return [folder / "media" / media.name(data, ".flac") for data in sounds.values()]


def many():
    """Make rows of 40 families with long names: of each a failure and an inconclusive test."""
    for number in range(40):
        gap = GAP | {"family": f"family_{number}_" + "x" * 60}
        yield verdict(**gap | {"group": f"device: {'long ' * 30}{number}"})
        yield verdict(**gap | OPEN | {"group": f"accent: {number}", "bound": 0.2, "gap": 0.05})


def addresses(soup):
    named = [tag.get(name) for tag in soup.find_all(True) for name in ("href", "src", "srcset", "poster")]
    return [address for address in named if address]


@pytest.fixture
def sheet(tmp_path):
    """Make the summary of a run of some rows; ``edit`` changes the text of its record."""

    def made(rows, model="m", changed=(), edit=lambda text: text, **changes):
        folder = finished(tmp_path, rows, **changes)
        (folder / "run.json").write_text(edit((folder / "run.json").read_text()))
        made = model_sheet(ModelFacts.read(folder, model), DAY)
        return dataclasses.replace(made, tables=[*made.tables, *changed])

    return made


CHANGED = Table("Against the last release", ["what"], [("recall",)], ["Worse on 1 of 9 tests."])


def test_what_stands_on_it(sheet, tmp_path):
    sounds = {"original": flac(), "noise": flac(seed=1)}
    played(tmp_path, sounds, "a.wav under Noise: 1 → 2", family="fairness_accent")
    made = sheet([verdict(), verdict(**GAP)], changed=[CHANGED], figures=[FIGURE])
    soup = BeautifulSoup(html_page(made, "../models/m.html"), "html.parser")
    for part in (
        *("How good.", "m is better than chance", "1 of 2 tests fails", "c (200 segments"),
        *("0.30 against 0.48 of the others", "difference −0.18, 95 % −0.32 to −0.11", "margin of 0.075"),
        *("✓ 1 pass", "✗ 1 fail", "Against the last release", "Worse on 1 of 9 tests.", "recall"),
        *("a.wav under Noise: 1 → 2", "results.csv, SHA-256", "Soundcheck 0.1.0"),
    ):
        assert part in soup.get_text(), part
    kinds = [address.partition(";")[0] for address in addresses(soup)]
    assert kinds.count("data:image/svg+xml") == 2 and kinds.count("data:audio/flac") == 2
    assert [kind for kind in kinds if not kind.startswith("data:")] == ["../models/m.html"]
    assert "Synthetic" not in soup.get_text()
    synthetic = sheet([verdict()], edit=lambda text: text.replace('"synthetic": false', '"synthetic": true'))
    assert "Synthetic speech: the numbers show" in html_page(synthetic)


def test_hostile_names_are_shown_and_do_nothing(sheet):
    rows = [verdict(HOSTILE), verdict(HOSTILE, **GAP | {"group": f"accent: #panic() {HOSTILE}"})]
    rows.append(verdict(HOSTILE, **GAP | OPEN | {"group": f"x: {HOSTILE}", "gap": 0.05}))
    made = sheet(rows, HOSTILE, title=HOSTILE, figures=[FIGURE | {"model": HOSTILE, "task": HOSTILE}])
    text = html_page(made)
    soup = BeautifulSoup(text, "html.parser")
    attributes = {name for tag in soup.find_all(True) for name in tag.attrs}
    assert not [name for name in attributes if name.startswith("on")] and soup.script is None
    assert "x" not in addresses(soup) and "<img src=x" in soup.get_text()
    assert "\u202e" not in text and "\x07" not in text and sheets(typeset(made)) in (1, 2)


def test_the_file_is_bounded(sheet, tmp_path):
    for family in ("correctness_regression", "fairness_accent"):
        sounds = {name: flac(60, seed=len(family) + n) for n, name in enumerate(("original", "noise"))}
        played(tmp_path, sounds, "a.wav", family=family)
    text = html_page(sheet([verdict(**OPEN), verdict(**GAP)], figures=[FIGURE]))
    assert len(text.encode()) <= MOST_BYTES and text.count("data:audio/flac") == 4
    assert "the first 8 of" in text


def test_long_lists_are_cut_and_counted(sheet):
    failing, unknown = sheet(many(), figures=[FIGURE]).tables
    assert failing.title == "What fails" and len(failing.rows) == 8
    assert failing.notes == ["32 more are in the tables of the run."]
    ((kind, tests, bound, plan),) = unknown.rows
    assert (kind, tests, plan) == ("accent", "40", "more than 10 times as many")
    assert bound.startswith("0.20: ") and bound.endswith("arousal of 0 speakers")


def test_values_of_groups_and_classes_the_worst_first(sheet, tmp_path):
    about = {"model": "m", "corpus": "c", "family": "f", "task": "arousal", "measure": "concordance_cc"}
    rows = [{"part": "sex: male", "value": 0.7}, {"part": "sex: female", "value": 0.4}]
    rows += [{"task": "emotion", "measure": "recall", "label": "anger", "value": 0.2}]
    write_estimates(estimate_frame(Estimate(**about | row, speakers=9) for row in rows), tmp_path)
    _, groups, classes = sheet([verdict(), verdict(task="emotion")], figures=[FIGURE]).tables
    assert groups.columns == ["", "concordance of arousal", "speakers"]
    lines = [" ".join(row).replace(" (no interval) 9", "") for row in groups.rows + classes.rows]
    assert lines == ["female speakers 0.40", "male speakers 0.70", "anger 0.20"]


def sheets(data):
    return len(pypdf.PdfReader(io.BytesIO(data)).pages)


def test_it_takes_at_most_two_sheets_of_paper_and_as_pdf_the_same_bytes(sheet, tmp_path, browser):
    for number in range(2):
        sounds = {name: flac(1, seed=2 * number + n) for n, name in enumerate(("original", "noise"))}
        played(tmp_path, sounds, "title " * 30, family=f"family_{number}_{'x' * 60}")
    rows = [("worse", "recall of something long " * 4, "0.7 → 0.6", "−0.1")] * 8
    changed = Table("Since", ["", "what", "before → after", "difference"], rows, ["A long sentence. " * 15])
    figures = [FIGURE | {"task": f"task {n}", "corpus": f"corpus {n % 3}"} for n in range(9)]
    made = sheet(many(), changed=[changed], figures=figures)
    (tmp_path / "sheet.html").write_text(html_page(made))
    opened = browser.open(tmp_path / "sheet.html")
    assert sheets(opened.pdf(prefer_css_page_size=True)) in (1, 2)
    browser.close(opened)
    made = sheet(many(), figures=[FIGURE])
    data = typeset(made)
    assert sheets(data) in (1, 2) and typeset(made) == data


def test_the_day_of_a_pdf_is_that_of_the_environment_or_none(sheet, monkeypatch):
    made = sheet([verdict()])
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert b"CreationDate" not in typeset(made)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert b"D:20260101" in typeset(made)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH: .* not a number of seconds"):
        typeset(made)
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(InputError, match=r"--pdf: .*typst.* pip install \"soundcheck-speech\[pdf\]\""):
        typeset(made)


@pytest.fixture
def made(tmp_path):
    """Write a run in which test ``T0``, ``T1``, ... of the model have the given values."""
    spread = np.random.default_rng(0).normal(0, 0.02, 200)

    def make(name, values, **changes):
        ends = [{"value": value, "low": value - 0.05, "high": value + 0.05} for value in values]
        rows = [
            verdict(test=f"T{number}", passed=end["value"] > 0.5, evidence="open", **end)
            for number, end in enumerate(ends)
        ]
        folder = finished(tmp_path / name, rows, **changes)
        path = rows_file(folder, "m", "correctness_regression")
        path.parent.mkdir(parents=True)
        save([Judged(row, row.value + spread, "segments", "blocks") for row in rows], path)
        return folder

    return make


def test_what_got_worse_and_what_got_better(made):
    (table,) = since(ModelFacts.read(made("now", [0.6, 0.7, 0.6])), read_run(made("before", [0.7, 0.6, 0.6])))
    assert "Worse on 1 and better on 1 of 3 tests (3 paired) by more than 0.01" in table.notes[0]
    assert table.rows == [
        ("worse", "t0 of arousal", "0.70 → 0.60", "−0.10 (−0.10 to −0.10)"),
        ("better", "t1 of arousal", "0.60 → 0.70", "0.10 (0.10 to 0.10)"),
    ]
    now = made("later", [0.6], matters_worse=0.2)  # a small change does not matter
    (table,) = since(ModelFacts.read(now), read_run(made("once", [0.7])))
    assert "Worse on 0" in table.notes[0] and "by more than 0.2" in table.notes[0]


def test_an_earlier_run_of_another_model(made, tmp_path):
    other = finished(tmp_path / "other", [verdict("n")])
    with pytest.raises(InputError, match="no judged test in common with .*: its models are n, .* here m"):
        since(ModelFacts.read(made("now", [0.6])), read_run(other))


def test_the_comparison_of_the_suite(made):
    row = Contrast(
        *("old", "m", "c", "f", "correctness", "arousal", "T0"),
        **{"baseline_value": 0.7, "candidate_value": 0.6, "difference": -0.1, "low": -0.2, "high": -0.05},
        **{"outcome": "worse", "p_value": 0.001, "rule": ">", "pairing": "paired"},
    )
    entry = {"name": "new", "slug": "new", "baseline": "old", "candidate": "m", "error": ""}
    entry |= {"status": "ok", "outcomes": {"better": 0, "worse": 1, "no evidence": 0}}
    folder = made("now", [0.6], comparisons=[entry])
    write_bytes(folder / "comparisons.csv", frame_csv(contrast_frame([row]), CONTRAST_TYPES))
    (table,) = since(ModelFacts.read(folder))
    assert table.notes == ["For new speakers, m is better on 0 and worse on 1 of 1 test."]
    assert [cells[-1] for cells in table.rows] == ["−0.10 (−0.20 to −0.050)"]
    failed = made("later", [0.6], comparisons=[entry | {"status": "failed", "outcomes": {}}])
    assert since(ModelFacts.read(failed))[0].notes == ["The comparison with old failed to run."]


@pytest.fixture
def folder(tmp_path):
    robustness = {"family": "robustness_noise", "category": "robustness", "test": "Unchanged Noise"}
    rows = verdict(**OPEN), verdict(**FAILED | robustness), verdict(**GAP)
    return finished(tmp_path, rows)


def scenes(folder):
    return model_scenes(ModelFacts.read(folder))


def test_the_family_of_the_largest_finding_comes_first(folder):
    played(folder, {"x": flac(seed=1)})
    title = "a.wav under Noise: 0.1 → 0.9"
    played(folder, {"original": flac(), "noise": flac(seed=2)}, title, family="robustness_noise")
    first, second = scenes(folder)
    assert [sound.label for sound in first.sounds] == ["original", "noise"]
    assert first.title == f"Robustness noise: {title}" and "unchanged noise of arousal" in first.finding
    assert first.sounds[0].caption == "said; 1 s" and first.sounds[0].sound == carried("audio/flac", flac())
    assert second.finding == ""


def test_a_sound_that_was_changed_or_linked_is_not_played(folder, tmp_path):
    (path,) = played(folder, {"x": flac()}, words=[["said", "turn left now"], ["recognised", None]])
    assert scenes(folder)[0].words == (("said", "turn left now"), ("recognised", "(nothing)"))
    path.write_bytes(flac(seed=9))
    assert scenes(folder) == []
    path.write_bytes(flac())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert scenes(folder) == []


@pytest.mark.parametrize("text", ["{", '{"cells": 1}', '{"cells": [{"outputs": [1]}]}', "words", "outside"])
def test_a_notebook_of_another_form_plays_nothing(folder, text):
    played(folder, {"x": flac()}, **({"words": 1} if text == "words" else {}))
    notebook = folder / "notebooks" / "m" / "correctness_regression.ipynb"
    outside = re.sub(r'"[0-9a-f]{20}\.flac"', '"../../x.flac"', notebook.read_text())
    notebook.write_text({"words": notebook.read_text(), "outside": outside}.get(text, text))
    assert scenes(folder) == []


def test_long_sounds_are_cut_and_say_so(folder):
    played(folder, {"short": flac(1), "long": flac(20, seed=1)})
    short, long = scenes(folder)[0].sounds
    assert short.sound == carried("audio/flac", flac(1))
    cut = base64.b64decode(long.sound.partition(",")[2])
    (signal, rate), (whole, _) = (soundfile.read(io.BytesIO(data)) for data in (cut, flac(20, seed=1)))
    assert len(signal) == LONGEST * rate and (signal == whole[: len(signal)]).all()
    assert long.caption == "said; 1 s; the first 8 of 20.0 s"
