"""Through the real command: data that say little, too much, or nothing become a book or one clear message."""

import numpy as np
import pytest
import soundfile
from tests.support.hard_suite import RATE, write_table

MANY = 40
SUITE = """
title: Hard
replicates: 100
corpora:
  small: {{format: csv, path: data/segments.csv}}
models:
{models}
families: [{families}]
studies: false
sweeps: false
"""


def suite(folder, models, families="correctness_regression"):
    """Write a suite; ``models`` is its YAML."""
    (folder / "suite.yml").write_text(SUITE.format(models=models, families=families))
    return folder


def table(folder, number=48, **columns):
    """Write a table of segments with silence beside it, and give the names of the files."""
    (folder / "data").mkdir()
    names = [f"{n}.wav" for n in range(number)]
    for name in names:
        soundfile.write(folder / "data" / name, np.zeros(RATE // 10), RATE)
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 1, number).round(3)
    others = [make(n) for make in columns.values() for n in range(1)]
    assert len(others) == len(columns)
    rows = [
        [names[n], f"s{n // 4}", truth[n], *(make(n) for make in columns.values())] for n in range(number)
    ]
    write_table(folder / "data" / "segments.csv", ["file", "speaker", "arousal", *columns], rows)
    return names


@pytest.fixture(scope="module")
def crowded(tmp_path_factory, command):
    """The book of many models, each a table of predictions."""
    folder = tmp_path_factory.mktemp("crowded")
    names, rng = table(folder), np.random.default_rng(1)
    for model in range(MANY):
        values = rng.uniform(0, 1, len(names)).round(3)
        write_table(
            folder / f"{model}.csv", ["file", "arousal"], [list(x) for x in zip(names, values, strict=True)]
        )
    models = "\n".join(f"  model {m}: {{predictions: {m}.csv, tasks: [arousal]}}" for m in range(MANY))
    done = command("run", "suite.yml", "--out", "out", cwd=suite(folder, models))
    assert done.returncode in (0, 1), done.stderr
    return folder / "out" / "html"


@pytest.mark.slow
def test_a_book_of_many_models_stays_usable(crowded, browser):
    assert max(path.stat().st_size for path in crowded.rglob("*.html")) < 1_000_000
    for width, theme in ((1400, "dark"), (390, "light")):
        assert browser.complaints(crowded / "index.html", width=width, theme=theme) == []
    page = browser.open(crowded / "index.html")
    for model in range(MANY):
        assert page.locator(f"article a:text-is('model {model}')").count(), model
        assert page.locator(f".bd-sidebar-primary a:text-is('Model model {model}')").count(), model
    browser.close(page)


def refused(command, folder):
    """Run a suite that cannot be run, and give what is said of it."""
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr + done.stdout


def test_a_corpus_without_any_readable_sound_is_refused_in_one_line(tmp_path, command):
    table(tmp_path, 4)
    for path in (tmp_path / "data").glob("*.wav"):
        path.write_bytes(b"no sound")
    (tmp_path / "m.py").write_text("def f(signal, rate):\n    return {'arousal': 0.5}\n")
    told = refused(command, suite(tmp_path, '  m: {python: "m:f", tasks: [arousal]}'))
    assert "small" in told


def test_hundreds_of_groups_are_refused_with_what_to_do(tmp_path, command):
    table(tmp_path, 300, device=lambda n: f"device {n}")
    (tmp_path / "p.csv").write_text("file,arousal\n0.wav,0.5\n")
    suite(tmp_path, "  m: {predictions: p.csv, tasks: [arousal]}", "fairness_groups")
    path = tmp_path / "suite.yml"
    path.write_text(path.read_text().replace("segments.csv}", "segments.csv, groups: [device]}"))
    told = refused(command, tmp_path)
    assert "300 different values, more than the 50" in told and "fewer values" in told
