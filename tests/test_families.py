"""All correctness and fairness families on an audformat database, through the command, against formulas."""

import json
import re

import audformat
import numpy as np
import pandas as pd
import pytest
import soundfile
from scipy import stats
from scipy.spatial import distance

from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")
OTHERS = ("boredom", "fear", "surprise", "disgust")
DIMENSIONS = ("arousal", "dominance", "valence")
FAMILIES = (
    "correctness_classification",
    "correctness_regression",
    "correctness_consistency",
    "correctness_distribution",
    "correctness_speaker_average",
    "correctness_speaker_ranking",
    "fairness_accent",
    "fairness_language",
    "fairness_linguistic_sentiment",
    "fairness_pitch",
    "fairness_sex",
)
EACH, SECONDS = 40, 0.4
SUITE = f"""
title: Families
replicates: 200
studies: false
corpora:
  db:
    format: audformat
    path: db
    split: test
    columns: {{sex: speaker.gender, accent: speaker.accent, language: speaker.tongue}}
models:
  table: {{predictions: predictions.csv, tasks: [arousal, dominance, valence, emotion]}}
families: [{", ".join(FAMILIES)}]
"""


def segments() -> pd.DataFrame:
    """Twenty-four speakers with 40 segments each, labels and predictions."""
    rng = np.random.default_rng(0)
    languages = np.repeat(["deu", "eng", "zho", "dan"], [4, 10, 6, 4])
    rows = []
    for s in range(24):
        emotions = rng.permutation([*np.repeat(CLASSES, 8), *OTHERS, *rng.choice(CLASSES, 4)])
        for n, emotion in enumerate(emotions):
            rows.append(
                {
                    "file": f"audio/s{s:02d}.wav",
                    "start": SECONDS * n,
                    "end": SECONDS * (n + 1),
                    "speaker": f"s{s:02d}",
                    "sex": ("female", "male")[s % 2],
                    "accent": ("indian", "irish", "kenyan")[s // 10],
                    "language": languages[s],
                    "sentiment": ("negative", "neutral", "positive")[n % 3],
                    "emotion": str(emotion),
                }
            )
    table = pd.DataFrame(rows)
    habit = rng.normal(0, 0.1, 24)[table["speaker"].str[1:].astype(int)]
    for dimension in DIMENSIONS:
        table[dimension] = np.clip(rng.beta(2, 2, len(table)) + habit, 0, 1).round(4)
        noise = rng.normal(0, 0.1, len(table)) + 0.05 * table["accent"].eq("irish")
        table[f"predicted {dimension}"] = np.clip(table[dimension] + noise, 0, 1).round(4)
    guess = np.array(CLASSES, dtype=object)[rng.integers(4, size=len(table))]
    right = table["emotion"].isin(CLASSES) & (rng.random(len(table)) < 0.6)
    table["predicted emotion"] = np.where(right, table["emotion"], guess)
    return table


def save(table: pd.DataFrame, folder) -> None:
    """Write a database with a speaker table, two tables of labels and one of sentiments, and its audio."""
    db = audformat.Database("families")
    db.splits["test"] = audformat.Split("test")
    people = table.drop_duplicates("speaker").set_index("speaker")
    db["speaker"] = audformat.MiscTable(pd.Index(people.index, name="speaker", dtype="string"))
    for name, column in (("gender", "sex"), ("accent", "accent"), ("tongue", "language")):
        db["speaker"][name] = audformat.Column()
        db["speaker"][name].set(people[column].tolist())
    db.schemes["speaker"] = audformat.Scheme("str", labels="speaker")
    db.schemes["emotion"] = audformat.Scheme("str", labels=[*CLASSES, *OTHERS])
    db.schemes["value"] = audformat.Scheme("float", minimum=0, maximum=1)
    db.schemes["sentiment"] = audformat.Scheme("str", labels=["negative", "neutral", "positive"])
    half = table["speaker"] < "s12"
    for name, part in (("first", table[half]), ("second", table[~half]), ("texts", table)):
        index = audformat.segmented_index(
            part["file"].tolist(), pd.to_timedelta(part["start"], "s"), pd.to_timedelta(part["end"], "s")
        )
        db[name] = audformat.Table(index, split_id="test")
        columns = {"sentiment": "sentiment"}
        if name != "texts":
            columns = {"speaker": "speaker", "emotion": "emotion", **dict.fromkeys(DIMENSIONS, "value")}
        for column, scheme in columns.items():
            db[name][column] = audformat.Column(scheme_id=scheme)
            db[name][column].set(part[column].tolist())
    db.save(folder / "db")
    (folder / "db" / "audio").mkdir()
    time = np.arange(round(EACH * SECONDS * 16000)) / 16000
    for s, file in enumerate(sorted(set(table["file"]))):
        hertz = (110.0, 165.0, 230.0)[s % 3]
        tone = sum(np.sin(2 * np.pi * hertz * k * time) / k for k in range(1, 6))
        soundfile.write(folder / "db" / file, 0.1 * tone, 16000)
    predictions = table[["file", "start", "end"]].assign(
        **{name: table[f"predicted {name}"] for name in (*DIMENSIONS, "emotion")}
    )
    predictions.to_csv(folder / "predictions.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)


@pytest.fixture(scope="module")
def table():
    return segments()


@pytest.fixture(scope="module")
def out(tmp_path_factory, table, command):
    folder = tmp_path_factory.mktemp("families")
    save(table, folder)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder / "out"


@pytest.fixture(scope="module")
def results(out):
    frame = read_results(out / "results.csv")
    return frame.assign(label=frame["label"].fillna(""))


@pytest.fixture(scope="module")
def value(results):
    index = results.set_index(["family", "task", "test", "group", "label"])["value"]

    def found(family: str, task: str, test: str, label: str = "", group: str = "") -> float:
        return float(index.loc[(family, task, test, group, label)])

    return found


def test_every_family_judges_every_task(results):
    judged = results[results["passed"].notna()]
    for family in FAMILIES:
        tasks = set(judged.loc[judged["family"].eq(family), "task"])
        if family in ("correctness_regression", "correctness_consistency"):
            assert tasks == set(DIMENSIONS), family
        elif family == "correctness_classification":
            assert tasks == {"emotion"}
        else:
            assert tasks == {*DIMENSIONS, "emotion"}, family
    assert (results["blocks"].max(), results["segments"].max()) == (24, 960)


@pytest.mark.parametrize("family", FAMILIES)
def test_segments_stand_behind_every_number(out, family):
    """A few are heard, more are read; a link of each cell of a confusion table has its list."""
    cells = json.loads((out / "notebooks" / "table" / f"{family}.ipynb").read_text())["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert 1 <= html.count("<audio") <= 6 and "sc-segments" in html
    assert set(re.findall('href="#([^"]+)"', html)) == set(re.findall('<p id="([^"]+)"', html))
    assert (family == "correctness_classification") == ("sc-confusions" in html)


def test_the_worst_segment_is_the_one_with_the_largest_error(out, table):
    cells = json.loads((out / "notebooks" / "table" / "correctness_regression.ipynb").read_text())["cells"]
    html = "".join(
        "".join(o.get("data", {}).get("text/html", "")) for c in cells for o in c.get("outputs", ())
    )
    for dimension in DIMENSIONS:
        error = (table[f"predicted {dimension}"] - table[dimension]).abs()
        worst = table.loc[error.idxmax()]
        listed = html.partition(f"db, {dimension}: mean error {error.mean():.3f}</caption>")[2]
        first = listed.partition("<tbody>")[2].partition("</tr>")[0]
        said = f"labelled {worst[dimension]:.2f}; predicted {worst[f'predicted {dimension}']:.2f}"
        assert "worst" in first and worst["file"] in first and said in first, dimension


def test_correctness_against_formulas(table, value):
    known = table[table["emotion"].isin(CLASSES)]
    for task in DIMENSIONS:
        truth, prediction = table[task], table[f"predicted {task}"]
        assert value("correctness_regression", task, "Mean Absolute Error") == pytest.approx(
            (truth - prediction).abs().mean(), abs=1e-9
        )
        p, q = (
            np.bincount(np.clip(np.ceil(each * 10 - 1e-8), 1, 10).astype(int)) for each in (truth, prediction)
        )
        assert value("correctness_distribution", task, "Jensen Shannon Distance") == pytest.approx(
            distance.jensenshannon(p, q, base=2), abs=1e-9
        )
        means = table.groupby("speaker")[[task, f"predicted {task}"]].mean().to_numpy().T
        assert value("correctness_speaker_average", task, "Mean Absolute Error") == pytest.approx(
            np.abs(means[0] - means[1]).mean(), abs=1e-9
        )
        assert value("correctness_speaker_ranking", task, "Spearmans Rho") == pytest.approx(
            stats.spearmanr(*means).statistic, abs=1e-9
        )
    for label in CLASSES:
        share = known["predicted emotion"].eq(label), known["emotion"].eq(label)
        difference = value("correctness_distribution", "emotion", "Relative Difference Per Class", label)
        assert difference == pytest.approx(share[0].mean() - share[1].mean(), abs=1e-9)
        by = known.assign(p=share[0], t=share[1]).groupby("speaker")[["p", "t"]].mean()
        mae = value("correctness_speaker_average", "emotion", "Class Proportion Mean Absolute Error", label)
        assert mae == pytest.approx((by["p"] - by["t"]).abs().mean(), abs=1e-9)


@pytest.mark.parametrize(
    ("task", "kind", "category", "low", "high"),
    [
        ("arousal", "Low", "boredom", -9, 0.45),
        ("arousal", "High", "surprise", 0.55, 9),
        ("valence", "Low", "disgust", -9, 0.45),
        ("valence", "Neutral", "boredom", 0.3, 0.6),
        ("dominance", "Low", "fear", -9, 0.45),
        ("dominance", "Neutral", "happiness", 0.3, 0.6),
    ],
)
def test_consistency_against_counting(table, value, task, kind, category, low, high):
    own = table.loc[table["emotion"].eq(category), f"predicted {task}"]
    found = value("correctness_consistency", task, f"Samples In Expected {kind} Range", category)
    assert found == pytest.approx(own.between(low, high).mean(), abs=1e-9)


@pytest.mark.parametrize(
    ("family", "column", "names"),
    [
        ("fairness_accent", "accent", {"indian": "indian", "irish": "irish"}),  # four Kenyans are too few
        ("fairness_language", "language", {"deu": "de", "eng": "en", "zho": "zh"}),  # Danish takes no part
    ],
)
def test_groups_against_their_average(table, value, family, column, names):
    everybody = table[table[column].isin(names)]
    bins = {"(-inf, 0.25]": (-9, 0.25), "(0.25, 0.5]": (0.25, 0.5), "(0.5, 0.75]": (0.5, 0.75)}
    for code, name in names.items():
        own, group = everybody[everybody[column].eq(code)], f"{column}: {name}"
        for task in DIMENSIONS:
            predicted = f"predicted {task}"
            expected = own[predicted].mean() - everybody.groupby(column)[predicted].mean().mean()
            assert value(family, task, "Mean Value", group=group) == pytest.approx(expected, abs=1e-9)
            for label, (low, high) in bins.items():
                inside = (everybody[predicted] > low) & (everybody[predicted] <= high)
                shares = inside.groupby(everybody[column]).mean()
                found = value(family, task, "Relative Difference Per Bin", label, group)
                assert found == pytest.approx(shares[code] - shares.mean(), abs=1e-9)
        for label in CLASSES:
            shares = everybody["predicted emotion"].eq(label).groupby(everybody[column]).mean()
            found = value(family, "emotion", "Relative Difference Per Class", label, group)
            assert found == pytest.approx(shares[code] - shares.mean(), abs=1e-9)


def test_shifts_against_the_formula(table, value):
    names = {"deu": "de", "eng": "en", "zho": "zh"}
    everybody = table[table["language"].isin(names)]
    for sentiment in ("negative", "neutral", "positive"):
        shift = {}
        for code in names:
            own = everybody[everybody["language"].eq(code)]
            context = own[own["sentiment"].eq(sentiment)]
            shift[code] = context["predicted valence"].mean() - own["predicted valence"].mean()
        for code, name in names.items():
            expected = shift[code] - np.mean(list(shift.values()))
            group = f"language: {name}, sentiment: {sentiment}"
            found = value("fairness_linguistic_sentiment", "valence", "Mean Shift Difference", group=group)
            assert found == pytest.approx(expected, abs=1e-9)


def test_balanced_families(results):
    for family, groups in (("fairness_pitch", 3), ("fairness_sex", 2)):
        rows = results[results["family"].eq(family) & results["passed"].notna()]
        sizes = rows.loc[rows["test"].str.startswith("Concordance"), "segments"]
        assert sizes.nunique() <= 3 and len(sizes) == 3 * groups
    sexes = results[results["test"].str.startswith("Recall Per Class") & results["family"].eq("fairness_sex")]
    by_class = sexes.groupby("label")["value"].sum()
    np.testing.assert_allclose(by_class, 0, atol=1e-11)  # equally many of a class in both groups


ODD = f"""
title: Odd
replicates: 200
studies: false
corpora:
  odd: {{format: csv, path: odd.csv}}
models:
  table: {{predictions: predictions.csv, tasks: [arousal, dominance, valence, emotion]}}
families: [{", ".join(FAMILIES)}]
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory, command):
    """Two speakers, one silent; one accent, a strange sex and language, equal and missing labels.

    Sadness is predicted three times.
    """
    folder = tmp_path_factory.mktemp("odd")
    rng = np.random.default_rng(0)
    rows = []
    for n in range(40):
        first = n < 20
        soundfile.write(folder / f"{n}.wav", np.zeros(8000) if first else rng.normal(0, 0.05, 8000), 16000)
        rows.append(
            {
                "file": f"{n}.wav",
                "speaker": "s1" if first else "s2",
                "sex": "female" if first else ("alien" if n % 3 == 0 else "male"),
                "accent": "irish",
                "language": "xx" if n < 30 else "de",
                "sentiment": "negative",
                "arousal": 0.5,
                "valence": "" if n % 2 else round(float(rng.random()), 3),
                "emotion": "sadness" if n in (0, 1, 20, 22, 23) else "neutral" if n < 38 else "contempt",
            }
        )
    table = pd.DataFrame(rows)
    table.to_csv(folder / "odd.csv", index=False)
    answers = table[["file"]].assign(
        arousal=rng.random(40).round(3),
        dominance=0.5,
        valence=0.4,
        emotion=["sadness"] * 3 + ["neutral"] * 37,
    )
    answers.to_csv(folder / "predictions.csv", index=False)
    (folder / "suite.yml").write_text(ODD)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder, read_results(folder / "out" / "results.csv")


@pytest.mark.parametrize(
    ("family", "task", "told"),
    [
        ("correctness_classification", "emotion", "class 'anger' does not occur in the truth"),
        ("correctness_classification", "emotion", "3 predictions, 4 needed"),
        ("correctness_consistency", "arousal", "no category whose arousal is expected there"),
        ("correctness_regression", "dominance", "the corpus has no column dominance"),
        ("correctness_regression", "arousal", "constant truth"),
        ("correctness_speaker_average", "emotion", "no speaker has enough labelled segments"),
        ("correctness_speaker_ranking", "arousal", "all speakers have the same true value"),
        (
            "fairness_accent",
            "arousal",
            "0 of 2 accents with enough speakers and segments (irish: 1 of 5 female ",
        ),
        ("fairness_language", "emotion", "1 of 2 languages out of de, en"),
        ("fairness_linguistic_sentiment", "valence", "0 of 2 languages with 10 segments a sentiment"),
        ("fairness_pitch", "valence", "0 of 2 groups needed"),
        ("fairness_sex", "emotion", "interval withheld: 1 speaker, 5 needed"),
        ("fairness_sex", "emotion", " predictions, 4 needed"),
    ],
)
def test_what_cannot_be_tested_says_why(odd, family, task, told):
    _, frame = odd
    own = frame[frame["family"].eq(family) & frame["task"].eq(task)]
    assert own["skipped"].fillna("").str.contains(told, regex=False).any(), own["skipped"].unique()


def test_odd_labels_are_listed(odd):
    folder, frame = odd
    left_out = pd.read_csv(folder / "out" / "left_out.csv")
    assert {"sex 'alien'", "label 'contempt'"} <= set(left_out["item"])
    assert not frame["skipped"].fillna("").str.contains("not computed").any()
