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
from soundcheck.efficiency.costs import costs
from soundcheck.efficiency.measuring import Call, Measured
from soundcheck.efficiency.page import page
from soundcheck.efficiency.step import machine
from soundcheck.results.record import KeyFigure

pytestmark = pytest.mark.slow

SUITE = """
seed: 0
studies: false
replicates: 100
corpora: {tones: {format: csv, path: segments.csv}}
models:
  quick: {python: "costs:recognises", tasks: [transcript]}
  fails: {python: "costs:fails", tasks: [transcript]}
  theirs: {predictions: theirs.jsonl, tasks: [transcript]}
  plain: {predictions: plain.csv, tasks: [transcript]}
families: [asr_word_errors]
"""


def figure(model: str, value: float) -> KeyFigure:
    about = {"corpus": "tones", "task": "transcript", "measure": "word error rate", "standing": "proven"}
    numbers = {"value": value, "low": 0.1, "high": 0.9, "segments": 9, "blocks": 9, "guessing": 0.99}
    return KeyFigure(model=model, **about, **numbers)


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    folder = tmp_path_factory.mktemp("costs")
    shutil.copy(Path(__file__).with_name("costs.py"), folder)
    lines = []
    for number in range(9):
        sound = np.random.default_rng(number).uniform(-0.1, 0.1, 16000 * (1 + number // 3))
        soundfile.write(folder / f"{number}.wav", sound, 16000)
        lines.append({"audio_filepath": f"{number}.wav", "pred_text": "a", "duration": 2.0, "time": 0.25})
    (folder / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(9)], "transcript": "a b", "speaker": "s"})
    for name in ("segments.csv", "plain.csv"):
        table.to_csv(folder / name, index=False)
    (folder / "suite.yml").write_text(SUITE)

    def run(day: int, *options: str) -> str:
        seconds = str(1893456000 + 86400 * day)  # since 1970, of a day after 2030-01-01
        done = undrawn("run", "suite.yml", "--no-book", *options, cwd=folder, SOURCE_DATE_EPOCH=seconds)
        assert done.returncode in (0, 3), done.stderr  # a model fails now and then
        return done.stdout

    build, measuring = folder / "build", ("--efficiency", "0.2")
    run(0)
    results = (build / "results.csv").read_text().splitlines()
    assert not (build / "efficiency.csv").exists()
    assert "efficiency.html, measured with" in run(0, *measuring)
    for old, new in zip(results, (build / "results.csv").read_text().splitlines(), strict=True):
        assert old == new or old.startswith("fails,")  # whose predictions depend on the order of calls
    assert "efficiency" not in (build / "manifest.sha256").read_text()
    return build, lambda: run(1, *measuring)


def test_the_table_has_all_models_with_a_time_and_the_page_names_nobody(project):
    build, again = project
    frame = pd.read_csv(build / "efficiency.csv")
    assert set(frame["model"]) == {"quick", "fails", "theirs"}
    known = frame.set_index(["model", "measure"])
    assert known.loc[("theirs", "speed"), "value"].item() == 8
    assert set(frame.loc[frame["model"].eq("theirs"), "origin"]) == {"given"}
    assert known.loc[("fails", "failures"), "value"].item() > 0
    assert known.loc[("quick", "size on disk"), "value"].item() == (build.parent / "costs.py").stat().st_size
    assert known.loc[("quick", "peak memory"), "value"].item() > 10e6
    assert {1, 2, 4, 8, 16} == set(frame["sound_seconds"].dropna())
    text = (build / "efficiency.html").read_text()
    words = ["Correctness against speed", "times as its file gives them", "ValueError: now and then"]
    words += ["earlier run: plain", machine()["processor"], "2030-01-01"]
    assert all(word in text for word in words)
    text = json.dumps(machine()) + "".join(path.read_text() for path in build.glob("efficiency.*"))
    for private in (platform.node(), f"/{getpass.getuser()}/", str(build.parent)):
        assert private not in text
    # Nothing is measured again as long as nothing changed.
    names = [build / f"efficiency.{suffix}" for suffix in ("json", "csv")]
    before = [path.read_bytes() for path in names]
    assert "as measured on 2030-01-01" in again()
    assert [path.read_bytes() for path in names] == before
    (build / "efficiency.json").write_text("{}")  # nothing that can be read
    assert "measured with" in again()


def test_what_cannot_be_measured_is_refused():
    for arguments in (("--efficiency", "0"), ("--efficiency", "3", "--plan")):
        done = CliRunner().invoke(commands, ["run", "suite.yml", *arguments])
        assert done.exit_code == 2 and "--efficiency" in done.stderr


def test_names_and_problems_are_text():
    hostile = "<script>x</script>" + "x" * 5000
    calls = [Call(0, "recorded", 1.0, 0.1), Call(0, "recorded", 1.0, None, hostile)]
    frame = costs([Measured(name, 0.1, 0.1, calls) for name in (hostile, "מודל 🎤", "$x_1$")])
    figures = [figure(name, 0.5) for name in frame["model"].unique()]
    about = {"machine": {"processor": hostile}, "day": "2030-01-01", "notes": [hostile]}
    written = page(frame, figures, **about, synthetic=False, table="t")
    assert "<script" not in written and len(written) < 300_000
