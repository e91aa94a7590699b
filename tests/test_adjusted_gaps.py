"""A suite that asks whether it is the accent or the microphone, through the real command."""

import html

import numpy as np
import pytest
import soundfile

from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

SUITE = """
title: Far and near
corpora:
  rooms: {format: csv, path: data/segments.csv}
  phones: {format: csv, path: data/segments.csv, adjust: [device]}
adjust: [distance]
models:
  ours: {predictions: predictions.csv, tasks: [arousal]}
families: [fairness_accent]
interval: t
thresholds: gap
studies: false
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    """Irish speakers sit further away and have devices of their own; only distance lowers arousal."""
    folder = tmp_path_factory.mktemp("adjusted gaps")
    (folder / "data").mkdir()
    rng = np.random.default_rng(3)
    rows, answers = ["file,speaker,sex,accent,distance,device"], ["file,start,end,arousal"]
    for speaker in range(20):
        accent, sex = ("irish", "welsh")[speaker // 10], ("female", "male")[speaker % 2]
        effect = rng.normal(0, 0.01)
        for number in range(16):
            distance = rng.normal(2.2 if accent == "irish" else 1.8, 0.25)
            file = f"{speaker}_{number}.wav"
            noise = rng.normal(0, 0.1, 1600)
            soundfile.write(folder / "data" / file, noise.astype(np.float32), 16000)
            rows.append(f"{file},s{speaker},{sex},{accent},{distance:.3f},{accent} <b>phone</b>")
            answers.append(f"{file},,,{1.2 - 0.35 * distance + effect + rng.normal(0, 0.02):.4f}")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (folder / "predictions.csv").write_text("\n".join(answers) + "\n")
    (folder / "suite.yml").write_text(SUITE)
    done = undrawn("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def test_the_gap_goes_with_the_distance_and_not_with_the_accent(project):
    frame = read_results(project / "results.csv").query("test == 'Mean Value' and value == value")
    rooms = frame[frame["corpus"].eq("rooms")]
    assert rooms["holds"].all() and len(rooms) == 2
    assert rooms["adjusted_by"].eq("distance").all() and rooms["counterpart"].between(0.6, 1).all()
    assert (rooms["adjusted"].abs() < 0.25 * rooms["gap"].abs()).all()
    phones = frame[frame["corpus"].eq("phones")]
    assert phones["holds"].all() and phones["adjusted"].isna().all()
    assert phones["adjusted_by"].eq("none: device decides the group").all()


def test_pages_say_it_in_words(project):
    page = (project / "html/results/ours/fairness_accent.html").read_text(encoding="utf-8")
    assert "most of the difference is explained by the distance" in html.unescape(page)
    assert "device decides the group" in page and "States do not depend on it" in page
    assert page.count("Adjusted difference") == 1
