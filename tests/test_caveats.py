"""What makes numbers doubtful stands wherever they do: last lines, pages, check, sheet and card."""

import re

import numpy as np
import pandas as pd
import pytest
from runs import Run, expectations, inside, run, sound, write

pytestmark = pytest.mark.slow

TURNED = "is worse than chance. Are the scores distances? Then declare `distances: true`"
TWICE = "inputs that were predicted twice got another prediction"
MODEL = """import itertools

CALLS = itertools.count()


def predict(signal, sampling_rate):
    return {"arousal": next(CALLS) % 7 / 7}
"""
SUITE = """
corpora:
  voices: {format: trials, path: trials.txt, audio: false}
  calls: {format: csv, path: calls.csv}
models:
  distances: {scores: distances.txt, corpora: [voices]}
  similar: {scores: distances.txt, corpora: [voices], distances: true}
  moody: {python: "moody:predict", tasks: [arousal], corpora: [calls]}
families: [speaker_verification, correctness_regression]
replicates: 100
studies: false
comparisons: {turned: {baseline: similar, candidate: distances}}
"""


def voices():
    """Trials of sixteen speakers, with distances in the place of scores."""
    rng, trials, scores = np.random.default_rng(0), [], []
    names = [f"id{speaker:02}/{number}.wav" for speaker in range(16) for number in range(3)]
    for first in names:
        for second in rng.choice(names, 6, replace=False):
            if first != second:
                same = first[:4] == second[:4]
                trials.append(f"{int(same)} {first} {second}")
                scores.append(f"{first} {second} {rng.normal(0.2 if same else 0.9, 0.1):.4f}")
    return {"trials.txt": trials, "distances.txt": scores}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, unbuilt) -> Run:
    folder, rng = tmp_path_factory.mktemp("caveats"), np.random.default_rng(0)
    for number in range(12):
        sound(folder / f"{number}.wav", rng.normal(0, 0.1, 8000), 8000)
    rows = [(f"{number}.wav", f"s{number % 6}", number / 12) for number in range(12)]
    calls, tables = pd.DataFrame(rows, columns=["file", "speaker", "arousal"]), voices()
    tables["trials.txt"] = tables["trials.txt"][:-20]
    write(folder, tables | {"calls.csv": calls, "moody.py": MODEL, "suite.yml": SUITE})
    return run(unbuilt, folder)


def test_last_lines_record_and_gate_name_the_direction_and_the_key(whole):
    lines = whole.done.stdout
    assert re.search(rf"Caveat: distances, voices, embedding: equal error rate .* {re.escape(TURNED)}", lines)
    assert "worse than chance at embedding" in lines and "hollow at embedding" not in lines
    assert "Caveat: similar" not in lines  # the same scores with the key that mends them
    assert re.search(rf"Caveat: moody: [1-9]\d* of \d+ {TWICE}", lines)
    assert {caveat["model"] for caveat in whole.record["caveats"]} == {"moody", "distances"}
    every = inside("check", "out", cwd=whole.out.parent).stdout
    assert TURNED in every and TWICE in every
    assert "Caveat" not in inside("check", "out", "--model", "similar", cwd=whole.out.parent).stdout


def test_sheet_card_and_pages_say_it_above_their_numbers(whole):
    folder = whole.out.parent
    words = ("--model", "distances", "--text", "lines.md", "--out", "s.html")
    sheet = inside("sheet", "out", *words, cwd=folder).stdout
    assert "How good: distances is worse than chance:" in sheet and TURNED in sheet
    assert "**Caveat:**" in (folder / "lines.md").read_text() and TURNED in (folder / "s.html").read_text()
    assert inside("card", "out", "--model", "moody", "--out", "card", cwd=folder).returncode == 0
    assert TWICE in (folder / "card" / "README.md").read_text()
    for page in expectations("caveats", "pages"):
        text = whole.page(page)
        assert whole.lacks(page, "caveats") == []
        assert "moody" in page or text.index("Are the scores distances?") < text.index("<table"), page
    for page in ("models/similar", "results/similar/speaker_verification"):
        assert "Are the scores distances?" not in whole.page(page)


def test_a_new_list_of_trials_is_scored_for_all_models_and_caveats_stay(whole, undrawn):
    trials = sorted(voices()["trials.txt"])  # more between the same segments, in another order
    folder = write(whole.out.parent, {"trials.txt": trials})
    again = run(undrawn, folder, "--no-book", "--model", "similar")
    for model in ("distances", "similar"):  # also of the model that is not named
        assert len(again.predictions(model, "voices", None)) == len(trials)
    assert {caveat["model"] for caveat in again.record["caveats"]} == {"moody", "distances"}
