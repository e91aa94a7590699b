"""What a run adds: a table and a page beside the book, measured once."""

import getpass
import json
import platform
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from click.testing import CliRunner

from soundcheck.cli import commands
from soundcheck.efficiency.measuring import Call, Measured
from soundcheck.efficiency.page import costs, page
from soundcheck.efficiency.step import machine
from soundcheck.results.record import KeyFigure

pytestmark = pytest.mark.slow

SUITE = """
studies: false
replicates: 100
corpora: {tones: {format: csv, path: segments.csv}}
models:
  quick: {python: "costs:recognises", tasks: [transcript]}
  fails: {python: "costs:fails", tasks: [transcript]}
  theirs: {predictions: theirs.jsonl, tasks: [transcript]}
  plain: {predictions: segments.csv, tasks: [transcript]}
families: [asr_word_errors]
"""


def test_the_table_has_all_models_with_a_time_and_the_page_names_nobody(undrawn, tmp_path):
    shutil.copy(Path(__file__).with_name("costs.py"), tmp_path)
    lines = []
    for number in range(9):
        sound = np.random.default_rng(number).uniform(-0.1, 0.1, 16000 * (1 + number // 3))
        soundfile.write(tmp_path / f"{number}.wav", sound, 16000)
        lines.append({"audio_filepath": f"{number}.wav", "pred_text": "a", "duration": 2.0, "time": 0.25})
    (tmp_path / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(9)], "transcript": "a b", "speaker": "s"})
    table.to_csv(tmp_path / "segments.csv", index=False)
    (tmp_path / "suite.yml").write_text(SUITE)

    def run(day: int) -> str:
        words = ("run", "suite.yml", "--no-book", "--efficiency", "0.2")
        done = undrawn(*words, cwd=tmp_path, SOURCE_DATE_EPOCH=str(1893456000 + 86400 * day))
        assert done.returncode in (0, 3), done.stderr  # a model fails now and then
        return done.stdout

    assert "efficiency.html, measured with" in run(0)
    build = tmp_path / "build"
    frame = pd.read_csv(build / "efficiency.csv")
    assert set(frame["model"]) == {"quick", "fails", "theirs"}
    known = frame.set_index(["model", "measure"])
    assert known.loc[("theirs", "speed"), "value"].item() == 8
    assert set(frame.loc[frame["model"].eq("theirs"), "origin"]) == {"given"}
    assert known.loc[("fails", "failures"), "value"].item() > 0
    assert known.loc[("quick", "size on disk"), "value"].item() == (tmp_path / "costs.py").stat().st_size
    assert known.loc[("quick", "peak memory"), "value"].item() > 10e6
    assert {1, 2, 4, 8, 16} == set(frame["sound_seconds"].dropna())
    text = (build / "efficiency.html").read_text()
    words = ["Correctness against speed", "times as its file gives them", "ValueError: now and then"]
    words += ["earlier run: plain", machine()["processor"], "2030-01-01"]
    assert all(word in text for word in words)
    text = json.dumps(machine()) + "".join(path.read_text() for path in build.glob("efficiency.*"))
    for private in (platform.node(), f"/{getpass.getuser()}/", str(tmp_path)):
        assert private not in text
    assert "efficiency" not in (build / "manifest.sha256").read_text()
    # Nothing is measured again as long as nothing changed.
    names = [build / f"efficiency.{suffix}" for suffix in ("json", "csv")]
    before = [path.read_bytes() for path in names]
    assert "as measured on 2030-01-01" in run(1)
    assert [path.read_bytes() for path in names] == before
    (build / "efficiency.json").write_text("{}")  # nothing that can be read
    assert "measured with" in run(1)


def test_what_cannot_be_measured_is_refused():
    for arguments in (("--efficiency", "0"), ("--efficiency", "3", "--plan")):
        done = CliRunner().invoke(commands, ["run", "suite.yml", *arguments])
        assert done.exit_code == 2 and "--efficiency" in done.stderr


def test_names_and_problems_are_text():
    hostile = "<script>x</script>" + "x" * 5000
    calls = [Call(0, "recorded", 1.0, 0.1), Call(0, "recorded", 1.0, None, hostile)]
    frame = costs([Measured(name, 0.1, 0.1, calls) for name in (hostile, "מודל 🎤", "$x_1$")])
    numbers = {"value": 0.5, "low": 0.1, "high": 0.9, "segments": 9, "blocks": 9, "guessing": 0.99}
    numbers |= {"corpus": "tones", "task": "transcript", "measure": "word error rate", "standing": "proven"}
    figures = [KeyFigure(model=name, **numbers) for name in frame["model"].unique()]
    about = {"machine": {"processor": hostile}, "day": "2030-01-01", "notes": [hostile]}
    written = page(frame, figures, **about, synthetic=False, table="t")
    assert "<script" not in written and len(written) < 300_000
