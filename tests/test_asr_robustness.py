"""Word errors under stress, through the command, against plain loops over what was written."""

import json
import re

import jiwer
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml

from soundcheck.common import resources
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
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
LEVELS = {"Noise": ["4", "2", "0"], "Packet Loss": ["5", "40"], "Amplitude": ["2.0", "0.5"]}
SUITE = """
title: Stress
studies: false
replicates: 200
interval: t
thresholds: gap
corpora:
  beeps: {{format: csv, path: beeps.csv}}
  plain: {{format: csv, path: plain.csv}}
models:
{models}
families: [asr_robustness]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, command, shared_cache):
    folder, rng = tmp_path_factory.mktemp("stress"), np.random.default_rng(0)
    tables = {"beeps": ["file,speaker,sex,transcript"], "plain": ["file,speaker,transcript"]}
    for number in range(60):
        count, woman = 3 + number % 3, number % 2
        one = np.concatenate([np.sin(0.2 * np.arange(3200)), np.zeros(1600)])
        # Each speaker has a noise of their own, that of women is louder.
        noise = (0.02 + 0.15 * woman + 0.1 * rng.random()) * rng.standard_normal(4800 * count)
        sound = 0.3 * np.tile(one, count) + 0.3 * noise * (number > 5)
        soundfile.write(folder / f"{number}.wav", sound, RATE, subtype="PCM_16")
        said = " ".join(["stop"] * count) + " <b>go</b>" * (number > 2)
        tables["beeps"].append(f"{number}.wav,s{number % 20},{'female' if woman else 'male'},{said}")
        if number < 4:
            tables["plain"].append(f"{number}.wav,s{number},{said if number else '.'}")
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "writers.py").write_text(MODEL)
    own = yaml.safe_load(resources.find("thresholds/asr_robustness.yml").read_text(encoding="utf-8"))
    for name, levels in LEVELS.items():
        own["transformations"][name]["values"] = [float(level) for level in levels]
    own["options"] |= {"sweep_segments": 60}  # all of them
    own["transformations"] = {name: own["transformations"][name] for name in LEVELS}
    (folder / "thresholds").mkdir()
    (folder / "thresholds" / "asr_robustness.yml").write_text(yaml.safe_dump(own, sort_keys=False))
    models = "".join(f'  {name}: {{python: "writers:{name}", tasks: [transcript]}}\n' for name in NAMES)
    (folder / "suite.yml").write_text(SUITE.format(models=models))
    done = command(
        "run", "suite.yml", "--out", "out", "--no-book", cwd=folder, SOUNDCHECK_CACHE=str(shared_cache)
    )
    assert done.returncode in (0, 3), done.stderr
    assert not json.loads((folder / "out" / "run.json").read_text(encoding="utf-8")).get("failures")
    return folder


@pytest.fixture(scope="module")
def results(run):
    return pd.read_csv(run / "out" / "results.csv", keep_default_na=False, na_values=[""])


@pytest.fixture(scope="module")
def written(run):
    """What was said, and what a model wrote for the segments: (transformation, level) -> texts."""
    changes = {
        change.identity: (name, step)
        for name, series in read_family("asr_robustness", run).transformations.items()
        for step, change in series.steps.items()
    }

    def of(model):
        said = pd.read_parquet(run / "out" / "corpora" / "beeps.parquet").set_index("key")["transcript"]
        rows = pd.read_parquet(run / "out" / "predictions" / model / "beeps.parquet")
        heard = {
            changes.get(change, ("", "")): own.set_index("key")["transcript"].reindex(said.index)
            for change, own in rows.groupby("change")
        }
        return said, heard

    return of


def errors(said, heard):
    """Count word errors and words by jiwer; what is missing counts as empty."""
    plain = [
        (
            " ".join(a.replace("<b>go</b>", "b go b").split()),
            " ".join(b.replace("<b>go</b>", "b go b").split()),
        )
        for a, b in zip(said, heard.fillna(""), strict=True)
    ]
    found = [jiwer.process_words(a, b) for a, b in plain]
    return sum(f.substitutions + f.deletions + f.insertions for f in found), sum(
        len(a.split()) for a, _ in plain
    )


def rows_of(results, model, test, corpus="beeps"):
    chosen = results["model"].eq(model) & results["test"].eq(test) & results["corpus"].eq(corpus)
    return results[chosen]


@pytest.mark.parametrize("model", ["hearing", "silent", "knowing"])
def test_changes_are_those_of_jiwer(results, written, model):
    said, heard = written(model)
    rows = rows_of(results, model, "Word Error Rate Change").set_index("label")
    assert set(rows.index) == {f"{name} {levels[0].removesuffix('.0')}" for name, levels in LEVELS.items()}
    clean, words = errors(said, heard["", ""])
    for (name, level), texts in heard.items():
        if f"{name} {level}" in rows.index:
            expected = (errors(said, texts)[0] - clean) / words
            assert rows.loc[f"{name} {level}", "value"] == pytest.approx(expected, abs=1e-6)


def rows_below(page, caption):
    """Give the cells of the table with a caption, without what stands in a second line."""
    start = page.index(caption)
    rows = re.findall(r"<tr.*?</tr>", page[start : page.index("</table>", start)], re.DOTALL)[1:]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    return [
        [" ".join(re.sub(r"<[^>]*>", "\n", cell).strip().split("\n")[:1]) for cell in row] for row in cells
    ]


def reached(levels, excess):
    """Say where the excess over a limit becomes positive, as pages do; by a loop."""
    for n, own in enumerate(excess):
        if own >= 0:
            if n == 0:
                return f"milder than {levels[0].removesuffix('.0')}"
            before, after = float(levels[n - 1]), float(levels[n])
            return f"{before + (after - before) * -excess[n - 1] / (own - excess[n - 1]):.3g}"
    return f"not reached up to {levels[-1].removesuffix('.0')}"


def test_levels_at_which_rates_double_are_those_of_jiwer(run, written, shown):
    said, heard = written("hearing")
    clean, words = errors(said, heard["", ""])
    found = rows_below(shown(run / "out", "hearing", "asr_robustness"), "Levels at which the word error rate")
    told = {row[1]: row[4:] for row in found if row[0] == "beeps"}
    assert set(told) == set(LEVELS)
    for name, levels in LEVELS.items():
        changed = [errors(said, heard[name, level.removesuffix(".0")])[0] for level in levels]
        limits = (2 * clean, words / 2)
        assert told[name] == [reached(levels, [own - limit for own in changed]) for limit in limits], name
    assert any(re.fullmatch(r"[\d.]+", cell) for cells in told.values() for cell in cells)


def test_the_random_reference_says_the_same_under_every_change(results):
    for test in ("Word Error Rate Change", "Word Error Rate Change Difference"):
        rows = rows_of(results, "hearing", test).dropna(subset="value")
        assert rows["reference"].eq(0).all() and rows["reference_passed"].eq(True).all()


def test_differences_of_groups_are_those_of_jiwer(run, results, written):
    said, heard = written("hearing")
    sex = pd.read_parquet(run / "out" / "corpora" / "beeps.parquet").set_index("key")["sex"]
    levels = [texts for setting, texts in heard.items() if setting[0]]

    def mean_change(mask):
        clean, words = errors(said[mask], heard["", ""][mask])
        return np.mean([errors(said[mask], texts[mask])[0] - clean for texts in levels]) / words

    rows = rows_of(results, "hearing", "Word Error Rate Change Difference").set_index("group")
    for group in ("female", "male"):
        own = rows.loc[f"sex: {group}"]
        expected = mean_change(sex.eq(group)) - mean_change(sex.notna())
        assert own["value"] == pytest.approx(expected, abs=1e-6)
    assert rows.loc["sex: female", "value"] > 0


def test_no_answer_is_no_gain(run, results, written, shown):
    """All words are missed where a recogniser was asked in vain, as the sound is and under changes."""
    said, heard = written("failing")
    answered = heard["", ""].notna()
    lost, clean = errors(said, heard["Noise", "4"]), errors(said, heard["", ""])
    kept = [errors(said[answered], heard[one][answered]) for one in (("Noise", "4"), ("", ""))]
    row = rows_of(results, "failing", "Word Error Rate Change").set_index("label").loc["Noise 4"]
    assert 0.5 < answered.mean() < 1
    assert row["value"] == pytest.approx((lost[0] - clean[0]) / clean[1], abs=1e-6)
    assert row["value"] > 0.1 and row["segments"] == len(said)
    assert row["value"] != pytest.approx((kept[0][0] - kept[1][0]) / kept[1][1], abs=1e-3)
    missing = sum(int(texts.isna().sum()) for setting, texts in heard.items() if setting[0])
    asked = sum(len(texts) for setting, texts in heard.items() if setting[0])
    page = shown(run / "out", "failing", "asr_robustness")
    assert f"beeps: {int((~answered).sum())} input without a prediction: all words count as missed" in page
    assert f"beeps: {missing} of {asked} transcripts under changes are missing; they count as empty" in page


def test_what_the_trivial_ones_get(results):
    silent = rows_of(results, "silent", "Word Error Rate Change")
    assert silent["value"].eq(0).all() and silent["passed"].eq(True).all()
    plain = rows_of(results, "silent", "Word Error Rate Change Difference", "plain")
    assert plain["skipped"].str.contains("no column").any() and plain["value"].isna().all()


def test_pages_tell_levels_and_stay_small(run, shown):
    pages = {model: shown(run / "out", model, "asr_robustness") for model in NAMES}
    assert max(map(len, pages.values())) < 400_000
    assert all(page.count("<audio") <= 8 for page in pages.values())
    assert "<b>go</b>" not in pages["hearing"]
    assert "not reached up to 40" in pages["hearing"] or "milder than" in pages["hearing"]
    assert "doubles only if words are made up" in pages["silent"]
    assert "fewer than" not in pages["hearing"] or "plain" in pages["hearing"]
