"""Measured columns through the real command: groups, adjustment and the page of the corpus."""

import html
import re

import numpy as np
import pandas as pd
import pytest
import soundfile
from benchmarks import measured

from soundcheck.results.table import read_results

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
        noisy = n % 2
        heard = 0.05 * measured.syllables(rng, 1.6)
        heard = measured.mixed(heard, measured.noise("white", len(heard), rng), 10 if noisy else 30)
        soundfile.write(tmp_path / f"{n}.wav", heard, measured.RATE)
        said = "one two three"
        rows.append(
            {
                **{"file": f"{n}.wav", "speaker": f"s{n % 12}", "transcript": said},
                **{"device": "<b>phone</b>" if noisy else "headset", "answer": "one" if noisy else said},
            }
        )
    table = pd.DataFrame(rows)
    table.drop(columns="answer").to_csv(tmp_path / "segments.csv", index=False)
    answers = table[["file", "answer"]].rename(columns={"answer": "transcript"})
    answers.to_csv(tmp_path / "predictions.csv", index=False)
    (tmp_path / "suite.yml").write_text(SUITE)
    done = undrawn("run", "suite.yml", cwd=tmp_path, SOUNDCHECK_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    frame = read_results(tmp_path / "build" / "results.csv")
    groups = frame[frame["group"].str.startswith("signal_to_noise: ")]
    assert set(groups["group"]) == {"signal_to_noise: clean", "signal_to_noise: noisy"}
    assert groups["skipped"].eq("18 segments, 50 needed").all()
    page = (tmp_path / "build" / "html" / "corpora" / "calls.html").read_text()
    assert "<b>phone" not in page
    shown = {}
    for line in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL):
        cells = [
            html.unescape(re.sub("<[^>]+>", "|", cell)) for cell in re.findall(r"<td.*?>(.*?)</td>", line)
        ]
        if len(cells) == 7 and cells[1].isdigit():  # not the table of means
            del cells[3]  # length
            shown[cells[0]] = [float(cell.strip("|").split("|")[0].replace("−", "-")) for cell in cells[1:]]
    noisy, clean = (shown[f"signal_to_noise: {name}"] for name in ("noisy", "clean"))
    assert noisy[:2] == [18, 6] and abs(noisy[2] - 10) < 1 and abs(clean[2] - 30) < 1
    assert shown["device: <b>phone</b>"] == noisy
