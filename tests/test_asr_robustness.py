"""Word errors under stress, through the command, against jiwer on what was written."""

import re

import jiwer
import numpy as np
import pandas as pd
import pytest
import yaml
from runs import Run, run, sound, write

from soundcheck.common import resources
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

FAMILY = "asr_robustness"
MODEL = '''
import numpy as np


def hearing(signal, sampling_rate):
    """Write a word for each third of a second that begins much louder than it ends."""
    parts = np.square(signal[: len(signal) // 4800 * 4800]).reshape(-1, 4800)
    loud = parts[:, :3200].mean(axis=1) > 4 * parts[:, 3200:].mean(axis=1) + 1e-9
    return {"transcript": " ".join("stop" if one else "" for one in loud) + " <b>go</b>"}


def knowing(signal, sampling_rate):
    return {"transcript": " ".join(["stop"] * round(len(signal) / 4800))}


def failing(signal, sampling_rate):
    """No answer where there is noise in the pauses."""
    quiet = np.abs(signal[3300:4700]).max() < 0.3
    return {"transcript": "stop stop" if quiet else None}


def silent(signal, sampling_rate):
    return {"transcript": ""}
'''
NAMES = ("hearing", "knowing", "failing", "silent")
LEVELS = {"Noise": ["4", "2", "0"], "Packet Loss": ["5", "40"], "Amplitude": ["2", "0.5"]}
SUITE = """
title: Stress
studies: false
replicates: 200
interval: t
thresholds: gap
corpora:
  beeps: {format: csv, path: beeps.csv}
  plain: {format: csv, path: plain.csv}
models:
MODELS
families: [asr_robustness]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    """Twenty speakers with a noise of their own, which is louder for women; a corpus without groups."""
    folder, rng, rows = tmp_path_factory.mktemp("stress"), np.random.default_rng(0), []
    for number in range(60):
        count, woman = 3 + number % 3, number % 2
        one = np.concatenate([np.sin(0.2 * np.arange(3200)), np.zeros(1600)])
        noise = (0.02 + 0.15 * woman + 0.1 * rng.random()) * rng.standard_normal(4800 * count)
        sound(folder / f"{number}.wav", 0.3 * np.tile(one, count) + 0.3 * noise * (number > 5))
        said = " ".join(["stop"] * count) + " <b>go</b>" * (number > 2)
        rows.append((f"{number}.wav", f"s{number % 20}", "female" if woman else "male", said))
    beeps = pd.DataFrame(rows, columns=["file", "speaker", "sex", "transcript"])
    plain = beeps[:4].drop(columns="sex")
    plain.loc[0, "transcript"] = "."
    own = yaml.safe_load((resources.root() / f"thresholds/{FAMILY}.yml").read_text("utf-8"))
    own["transformations"] = {name: own["transformations"][name] for name in LEVELS}
    for name, levels in LEVELS.items():
        own["transformations"][name]["values"] = [float(level) for level in levels]
    own["options"] |= {"sweep_segments": 60}  # all of them
    models = "".join(f'  {name}: {{python: "writers:{name}", tasks: [transcript]}}\n' for name in NAMES)
    thresholds = {f"thresholds/{FAMILY}.yml": yaml.safe_dump(own, sort_keys=False)}
    write(folder, {"beeps.csv": beeps, "plain.csv": plain, "writers.py": MODEL, **thresholds})
    return run(undrawn, write(folder, {"suite.yml": SUITE.replace("MODELS\n", models)}), "--no-book", code=3)


@pytest.fixture(scope="module")
def written(whole):
    """What was said, and what a model wrote for the segments: (transformation, level) -> texts."""
    transformations = read_family(FAMILY, whole.out.parent).transformations
    identities = {(n, level): transformations[n].steps[level].identity for n in LEVELS for level in LEVELS[n]}

    def of(model):
        said = whole.segments("beeps")["transcript"]
        changes = identities | {("", ""): ""}
        texts = {
            one: whole.predictions(model, "beeps", change)["transcript"] for one, change in changes.items()
        }
        return said, {one: own.reindex(said.index) for one, own in texts.items()}

    return of


def errors(said, heard):
    """Count word errors and words by jiwer; what is missing counts as empty."""
    said, heard = (texts.fillna("").str.replace("<b>go</b>", "b go b").tolist() for texts in (said, heard))
    found = jiwer.process_words(said, heard)
    return found.substitutions + found.deletions + found.insertions, sum(len(text.split()) for text in said)


@pytest.mark.parametrize("model", ["hearing", "silent", "knowing", "failing"])
def test_changes_are_those_of_jiwer(whole, written, model):
    """All words are missed where a recogniser was asked in vain, as the sound is and under changes."""
    said, heard = written(model)
    rows = whole.rows(model=model, test="Word Error Rate Change", corpus="beeps").set_index("label")
    clean, words = errors(said, heard["", ""])
    expected = {
        f"{name} {level}": (errors(said, heard[name, level])[0] - clean) / words
        for name, (level, *_) in LEVELS.items()
    }
    assert rows["value"].to_dict() == pytest.approx(expected, abs=1e-6)
    assert rows["segments"].eq(len(said)).all() and rows["reference"].eq(0).all()
    if model == "silent":
        assert rows["value"].eq(0).all() and rows["passed"].eq(True).all()
    if model == "failing":
        answered, missing = (
            heard["", ""].notna(),
            sum(int(own.isna().sum()) for one, own in heard.items() if one[0]),
        )
        assert 0.5 < answered.mean() < 1 and rows.loc["Noise 4", "value"] > 0.1  # no answer is no gain
        page = whole.shown("failing", FAMILY)
        assert (
            f"beeps: {int((~answered).sum())} input without a prediction: all words count as missed" in page
        )
        told = f"{missing} of {7 * len(said)} transcripts under changes are missing; they count as empty"
        assert f"beeps: {told}" in page


def test_differences_of_groups_are_those_of_jiwer(whole, written):
    said, heard = written("hearing")
    sex, levels = whole.segments("beeps")["sex"], [texts for one, texts in heard.items() if one[0]]

    def mean_change(mask):
        clean, words = errors(said[mask], heard["", ""][mask])
        return np.mean([errors(said[mask], texts[mask])[0] - clean for texts in levels]) / words

    for group in ("female", "male"):
        own = whole.row(
            "Word Error Rate Change Difference", group=f"sex: {group}", model="hearing", corpus="beeps"
        )
        expected = mean_change(sex.eq(group)) - mean_change(sex.notna())
        assert own["value"] == pytest.approx(expected, abs=1e-6) and (own["value"] > 0) == (group == "female")
        assert own["reference"] == 0 and own["reference_passed"]
    reasons = whole.reasons(test="Word Error Rate Change Difference", model="silent", corpus="plain")
    assert any("no column" in reason for reason in reasons)


def cells_below(page, caption):
    """Give the cells of the table with a caption, without what stands in a second line."""
    start = page.index(caption)
    rows = re.findall(r"<tr.*?</tr>", page[start : page.index("</table>", start)], re.DOTALL)[1:]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]*>", "\n", cell).strip().partition("\n")[0] for cell in row] for row in cells]


def reached(levels, excess):
    """Say where the excess over a limit becomes positive, as pages do; by a loop."""
    for n, own in enumerate(excess):
        if own >= 0:
            if n == 0:
                return f"milder than {levels[0]}"
            before, after = float(levels[n - 1]), float(levels[n])
            return f"{before + (after - before) * -excess[n - 1] / (own - excess[n - 1]):.3g}"
    return f"not reached up to {levels[-1]}"


def test_levels_at_which_rates_double_are_those_of_jiwer(whole, written):
    said, heard = written("hearing")
    clean, words = errors(said, heard["", ""])
    found = cells_below(whole.shown("hearing", FAMILY), "Levels at which the word error rate")
    told = {row[1]: row[4:] for row in found if row[0] == "beeps"}
    expected = {}
    for name, levels in LEVELS.items():
        changed = [errors(said, heard[name, level])[0] for level in levels]
        expected[name] = [
            reached(levels, [own - limit for own in changed]) for limit in (2 * clean, words / 2)
        ]
    assert told == expected
    assert any(re.fullmatch(r"[\d.]+", cell) for cells in told.values() for cell in cells)


def test_pages_are_bounded_and_escaped(whole):
    pages = {model: whole.shown(model, FAMILY) for model in NAMES}
    assert max(map(len, pages.values())) < 400_000 and all(
        page.count("<audio") <= 8 for page in pages.values()
    )
    assert "<b>go</b>" not in pages["hearing"]
    assert "doubles only if words are made up" in pages["silent"]
