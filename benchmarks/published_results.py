"""What Soundcheck concludes from data that nobody here made, or that are like results which others published.

    SOUNDCHECK_PUBLISHED=FOLDER .venv/bin/python benchmarks/published_results.py [NAME ...]

The folder has ``artie`` and ``crema_d``; without it only what is simulated is run. Each case is run by the
real command; prints one table, and writes it to ``book/tables/published_results.csv`` if all cases were run.
Ends with 1 if a row does not come out as it has to.
"""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.results.table import read_estimates, read_results

TABLE = Path(__file__).parents[1] / "book" / "tables" / "published_results.csv"
COLUMNS = ("data", "what", "published", "found", "low", "high", "p", "state", "as it has to be")
SUITE = """
title: {title}
corpora:
  speech: {{format: {format}, path: {path}, audio: false{more}}}
models: {models}
families: {families}
studies: false
replicates: 1000
"""
WORDS = np.array("zero one two three four five six seven eight nine".split())


def run(folder: Path, **suite: str) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Run a suite; give its results, its estimates and what the command said."""
    head = suite.pop("head", "")
    text = head + SUITE.format(**({"title": "Published", "format": "csv", "more": ""} | suite))
    (folder / "suite.yml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml", "--no-book", "--jobs", "1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{done.stdout}{done.stderr}")
    return (
        read_results(folder / "build" / "results.csv"),
        read_estimates(folder / "build"),
        done.stdout + done.stderr,
    )


def models(*names: str) -> str:
    """Name recognisers whose answers lie in files of their names."""
    return f"{{{', '.join(f'{name}: {{predictions: {name}.csv, tasks: [transcript]}}' for name in names)}}}"


def one(frame: pd.DataFrame, **where: str) -> pd.Series:
    """Give the only row of a table with these cells."""
    for name, cell in where.items():
        frame = frame[frame[name].eq(cell)]
    if len(frame) != 1:
        sys.exit(f"{len(frame)} rows are {where}.")
    return frame.iloc[0]


def compared(data: str, row: pd.Series, published: str, right: bool) -> tuple:
    """Make a row of the table of a difference between groups, for these speakers if that is all there is."""
    only_these = row["state"] not in ("pass", "fail", "inconclusive") or pd.isna(row["gap_low"])
    low, high, p, state = (
        ("gap_low_sample", "gap_high_sample", "p_sample", "state_sample")
        if only_these
        else ("gap_low", "gap_high", "p_value", "state")
    )
    what = (
        f"{row['model']}: {row['test'].removesuffix(' Difference')}, {row['group']} against {row['against']}"
    )
    values = f"{row['group_value']:.3f} against {row['others_value']:.3f}"
    concluded = f"{row[state]} (these speakers)" if only_these else row[state]
    return data, what, published, values, row[low], row[high], row[p], concluded, right


def estimated(data: str, row: pd.Series, published: str, right: bool) -> tuple:
    """Make a row of the table of an estimate."""
    what = ", ".join(filter(None, (row["model"], row["measure"], row["label"])))
    return data, what, published, f"{row['value']:.3f}", row["low"], row["high"], np.nan, "", right


def copied(name: str, folder: Path) -> None:
    """Copy published tables to where a suite may be written."""
    shutil.copytree(Path(os.environ["SOUNDCHECK_PUBLISHED"]) / name, folder, dirs_exist_ok=True)
    folder.chmod(0o755)


def artie(folder: Path) -> Iterator[tuple]:
    """Run the Artie Bias Corpus (Meyer et al. 2020): accents against US English, and sexes."""
    copied("artie", folder)
    systems = ("amazon", "google", "deepspeech")
    results, estimates, _ = run(
        folder,
        head="normaliser: basic\ngroups: [{accent: {against: us}}]\n",
        format="commonvoice",
        path="artie-bias-corpus.tsv",
        models=models(*systems),
        families="[asr_word_errors]",
    )
    data, test = "Artie Bias Corpus", "Word Error Rate Difference"
    for name, rate in zip(systems, (0.246, 0.253, 0.411), strict=True):
        row = one(estimates, model=name, measure="word_error_rate", part="all", condition="")
        yield estimated(data, row, f"{rate:.3f}", abs(row["value"] - rate) < 0.001)
    reported = {"amazon": "0.363 against 0.188, p = 2e-16", "google": "0.298 against 0.194, p = 1e-7"}
    for name in systems:
        row = one(results, model=name, test=test, group="accent: indian")
        yield compared(data, row, reported.get(name, "Indian worse than US"), row["state"] == "fail")
    women = results[results["model"].eq("google") & results["group"].str.startswith("sex: ")]
    row = one(women[women["mirrors"].eq("")], test=test)
    yield compared(data, row, "0.316 against 0.244, p = 0.003", row["group"] == "sex: female")
    nobody = results["group"].str.contains(r": (?:NA|nan|unknown)$", regex=True).sum()
    yield data, "groups called NA", "0", str(nobody), np.nan, np.nan, np.nan, "", nobody == 0


def crema_d(folder: Path) -> Iterator[tuple]:
    """Run CREMA-D (Cao et al. 2014) with what most listeners heard as a model."""
    copied("crema_d", folder)
    classes = "[anger, disgust, fear, happiness, neutral, sadness]"
    results, estimates, _ = run(
        folder,
        head=f"tasks: {{emotion6: {{type: classification, classes: {classes}}}}}\n",
        path="segments.csv",
        models="{humans: {predictions: humans.csv, tasks: [emotion6]}}",
        families="[correctness_calibration, correctness_classification]",
    )
    row = one(estimates, measure="unweighted_average_recall", part="all", condition="")
    yield estimated("CREMA-D", row, "0.468 (0.445 to 0.490)", round(row["value"], 3) == 0.468)
    row = one(estimates, measure="overconfidence", part="all", condition="", label="")
    yield estimated("CREMA-D", row, "0.18", round(row["value"], 2) == 0.18)
    recalls = results[
        results["test"].eq("Recall Per Class") & results["family"].eq("correctness_classification")
    ]
    below, worst = recalls["state"].eq("fail").sum(), recalls.loc[recalls["value"].idxmin()]
    values = (
        f"{below}; lowest recall {worst['value']:.3f} of {worst['label']}, by chance {worst['threshold']:.3f}"
    )
    yield "CREMA-D", "humans, classes below chance", "0", values, *[np.nan] * 3, worst["state"], below == 0


def said(rng: np.random.Generator, speakers: pd.DataFrame, each: int, words: int) -> pd.DataFrame:
    """Let speakers say words, of which a recogniser mistakes exactly the share in the column ``rate``."""
    table = speakers.loc[speakers.index.repeat(each)].reset_index(drop=True)
    spoken = rng.integers(0, 10, (len(table), words))
    order = rng.permuted(np.tile(np.arange(each * words), (len(speakers), 1)), axis=1).reshape(spoken.shape)
    wrong = order < np.rint(table["rate"].to_numpy() * each * words)[:, np.newaxis]
    heard = np.where(wrong, (spoken + rng.integers(1, 10, spoken.shape)) % 10, spoken)
    table["file"] = [f"{number}.wav" for number in range(len(table))]
    for name, codes in (("transcript", spoken), ("heard", heard)):
        table[name] = [" ".join(row) for row in WORDS[codes]]
    return table


def answers(table: pd.DataFrame, folder: Path, name: str, column: str = "heard") -> None:
    """Write what a recogniser wrote."""
    table[["file", column]].rename(columns={column: "transcript"}).to_csv(folder / f"{name}.csv", index=False)


def low_rates(folder: Path) -> Iterator[tuple]:
    """Simulate word error rates of 5.3 and 2.1 %, 30 speakers of 300 words each side, as of two sexes."""
    rng = np.random.default_rng(1)
    sex = np.repeat(["female", "male"], 30)
    uneven = rng.gamma(4.0, 1.0, (2, 30))
    rate = np.repeat([0.053, 0.021], 30) * (uneven / uneven.mean(axis=1, keepdims=True)).ravel()
    table = said(
        rng, pd.DataFrame({"speaker": [f"s{n}" for n in range(60)], "sex": sex, "rate": rate}), 30, 10
    )
    table[["file", "speaker", "sex", "transcript"]].to_csv(folder / "segments.csv", index=False)
    answers(table, folder, "ours")
    results, _, _ = run(
        folder,
        path="segments.csv",
        models=models("ours"),
        families="[asr_word_errors]",
    )
    rows = results[results["test"].eq("Word Error Rate Difference") & results["mirrors"].eq("")]
    row = one(rows, group="sex: female")
    yield compared("simulated, low rates", row, "0.053 against 0.021", row["state"] == "fail")


def trials(folder: Path) -> Iterator[tuple]:
    """Simulate trials as of VoxCeleb1-H: 526 women, 664 men, false acceptances 6.5 and 2.9 %."""
    rng = np.random.default_rng(2)
    sex = np.repeat(["female", "male"], [526, 664])
    speaker, each = np.repeat(np.arange(1190), 4), 4
    names = [f"s{who:04}/{n % each}.wav" for n, who in enumerate(speaker)]
    frame = pd.DataFrame({"file": names, "speaker": [f"s{who:04}" for who in speaker], "sex": sex[speaker]})
    frame.to_csv(folder / "segments.csv", index=False)
    effect = rng.normal(0, 0.2, 1190)
    lists = []
    for low, high, count in ((0, 526, 20_000), (526, 1190, 20_000)):
        first, second = rng.integers(low * each, high * each, (2, count))
        lists.append(np.stack([first, second])[:, speaker[first] != speaker[second]])
    first = rng.integers(0, 1190, 8000) * each
    lists.append(np.stack([first, first + rng.integers(1, each, 8000)]))
    first, second = np.concatenate(lists, axis=1)
    first, second = np.unique(np.stack([first, second]), axis=1)
    target = speaker[first] == speaker[second]
    women = sex[speaker[first]] == "female"
    score = rng.normal(size=len(first)) + effect[speaker[first]] + effect[speaker[second]]
    score = score * 0.96 + np.where(target, 3.59, 0.382 * women)
    lines = [f"{int(same)} {names[a]} {names[b]}" for same, a, b in zip(target, first, second, strict=True)]
    (folder / "trials.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{value:.6f} {names[a]} {names[b]}" for value, a, b in zip(score, first, second, strict=True)]
    (folder / "scores.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    results, _, _ = run(
        folder,
        path="segments.csv",
        more=", trials: trials.txt",
        models="{network: {scores: scores.txt}}",
        families="[speaker_verification]",
    )
    rows = results[results["group"].str.startswith("sex: ") & results["mirrors"].eq("")]
    row = one(rows, test="False Acceptance Rate Difference")
    right = row["state"] == "fail" and row["group"] == "sex: female"
    yield compared("simulated, as VoxCeleb1-H", row, "0.0650 against 0.0289, p = 4e-10", right)


def digits(folder: Path) -> Iterator[tuple]:
    """Simulate 900 digits of 6 speakers, German at 23 %, the other accents at 1 to 8 %."""
    rng = np.random.default_rng(3)
    accents = ["de-DE", "de-DE", "en-US", "en-US", "el-GR", "fr-BE"]
    rates = np.array([0.25, 0.21, 0.01, 0.03, 0.08, 0.04])
    names = ["lucas", "yweweler", "jackson", "theo", "george", "nicolas"]
    table = said(rng, pd.DataFrame({"speaker": names, "accent": accents, "rate": rates}), 150, 1)
    table[["file", "speaker", "accent", "transcript"]].to_csv(folder / "segments.csv", index=False)
    answers(table, folder, "ours")
    wrong = table["heard"] != table["transcript"]
    mended = wrong & (wrong.cumsum() % 3 == 0)  # a third: now there are half as many errors more
    table["before"] = table["heard"].where(~mended, table["transcript"])
    answers(table, folder, "before", "before")
    results, _, output = run(
        folder,
        path="segments.csv",
        models=models("ours", "before"),
        families="[asr_word_errors]",
        head="comparisons: {new: {baseline: before, candidate: ours}}\n",
    )
    data = "simulated, 900 digits"
    row = one(results, model="ours", test="Word Error Rate Difference", group="accent: de-DE")
    yield compared(data, row, "0.23 against 0.01 to 0.08", row["state_sample"] == "reported")
    named = "de-DE" in output and "No failure" not in output
    yield data, "named in the terminal", "", "yes" if named else "no", *[np.nan] * 3, "", named
    contrasts = pd.read_csv(folder / "build" / "comparisons.csv")
    row = one(contrasts[contrasts["group"].isna()], test="Word Error Rate", candidate="ours")
    values = f"{row['baseline_value']:.3f} before, {row['candidate_value']:.3f} after"
    lows = (row.get(f"difference_{end}_sample", np.nan) for end in ("low", "high"))
    p, outcome = row.get("p_sample", np.nan), row.get("outcome_sample", "")
    yield (
        data,
        "51 % more errors",
        "0 better, 0 worse",
        values,
        *lows,
        p,
        f"{outcome} (these speakers)",
        p < 0.05,
    )


CASES: dict[str, Callable[[Path], Iterator[tuple]]] = {
    case.__name__: case for case in (artie, crema_d, low_rates, trials, digits)
}


def main() -> int:
    """Run the cases and print the table."""
    known = [
        name for name in CASES if name not in ("artie", "crema_d") or "SOUNDCHECK_PUBLISHED" in os.environ
    ]
    rows = []
    for name in sys.argv[1:] or known:
        with tempfile.TemporaryDirectory() as folder:
            rows += CASES[name](Path(folder))
    table = pd.DataFrame(rows, columns=COLUMNS)
    numbers = ["low", "high"]
    table[numbers] = table[numbers].astype(float).round(3)
    table["p"] = [f"{p:.1g}" if p == p else "" for p in table["p"]]
    print(table.to_string(index=False))
    if sys.argv[1:] == [] and len(known) == len(CASES):
        head = "# Results that others published\n# python benchmarks/published_results.py\n"
        rest = table.drop(columns=COLUMNS[-1]).to_csv(index=False)
        TABLE.write_text(f"{head}# {datetime.date.today()}\n{rest}", encoding="utf-8")
    return int(not table[COLUMNS[-1]].all())


if __name__ == "__main__":
    sys.exit(main())
