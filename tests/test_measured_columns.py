"""Measured columns through the real command: groups, adjustment and the page of the corpus."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from benchmarks import measured
from runs import run, sound, write

pytestmark = pytest.mark.slow

SUITE = """
groups: [{signal_to_noise: {noisy: [-20, 20], clean: [20, 100]}}, device]
adjust: [level]
corpora:
  calls: {format: csv, path: segments.csv}
models:
  ours: {predictions: predictions.csv, tasks: [transcript]}
families: [asr_word_errors]
studies: false
"""


def test_noise_is_a_group_and_stands_on_the_page(tmp_path, undrawn):
    rng, rows = np.random.default_rng(0), []
    for n in range(36):
        clean = 0.05 * measured.syllables(rng, 1.6)
        noise = measured.noise("white", len(clean), rng)
        sound(tmp_path / f"{n}.wav", measured.mixed(clean, noise, 10 if n % 2 else 30), measured.RATE)
        rows.append((f"{n}.wav", f"s{n % 12}", "one two three", "<b>phone</b>" if n % 2 else "headset"))
    table = pd.DataFrame(rows, columns=["file", "speaker", "transcript", "device"])
    answers = table[["file"]].assign(transcript=["one two three", "one"] * 18)
    write(tmp_path, {"segments.csv": table, "predictions.csv": answers, "suite.yml": SUITE})
    found = run(undrawn, tmp_path)
    groups = found.results[found.results["group"].str.startswith("signal_to_noise: ")]
    assert set(groups["group"]) == {"signal_to_noise: clean", "signal_to_noise: noisy"}
    assert groups["skipped"].eq("18 segments, 50 needed").all()
    page, shown = found.page("corpora/calls"), {}
    assert "<b>phone" not in page
    for line in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL):
        cells = [re.sub("<[^>]+>", "|", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", line)]
        if len(cells) == 7 and cells[1].isdigit():  # not the table of means
            numbers = [cell.strip("|").split("|")[0].replace("−", "-") for cell in cells[1:]]
            shown[html.unescape(cells[0])] = [float(numbers[n]) for n in (0, 1, 3)]  # without the length
    noisy, clean = (shown[f"signal_to_noise: {name}"] for name in ("noisy", "clean"))
    assert noisy[:2] == [18, 6] and abs(noisy[2] - 10) < 1 and abs(clean[2] - 30) < 1
    assert shown["device: <b>phone</b>"] == noisy
