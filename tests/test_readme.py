"""What the README tells to type works."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in found if containing in text)


def words(rng: np.random.Generator) -> pd.DataFrame:
    rows = [
        (
            f"{n}.wav",
            f"s{n % 30}",
            ("us", "indian")[n % 2],
            "turn the light on",
            ("turn the light on", "turn light")[n % 3 // 2],
        )
        for n in range(300)
    ]
    return pd.DataFrame(rows, columns=["file", "speaker", "accent", "said", "heard"])


def test_python_lines(tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    words(rng).to_csv("words.csv", index=False)
    code = block("python", "soundcheck.evaluate")
    assert len(code.splitlines()) <= 10
    exec(code, {})
    assert capsys.readouterr().out.startswith("model: word error rate")
    assert "By accent" in (tmp_path / "scores.html").read_text()


def test_score_command(tmp_path, command, rng):
    frame = words(rng)
    frame.rename(columns={"said": "transcript"}).drop(columns="heard").to_csv(
        tmp_path / "references.csv", index=False
    )
    frame[["file", "heard"]].to_csv(tmp_path / "predictions.csv", index=False)
    line = block("bash", "soundcheck score").split()
    done = command(*line[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accent, against us:" in done.stdout and (tmp_path / "scores.html").is_file()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
