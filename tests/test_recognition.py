"""Families of recognisers on a language of tones, through the command, against jiwer and formulas."""

import re

import jiwer
import numpy as np
import pandas as pd
import pytest
from runs import Run, changed, run, sound, told, write

from soundcheck.common import resources
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import excluded_settings
from soundcheck.metrics import differential
from soundcheck.metrics.word_errors import word_errors
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

RATE = 16000
TONES = {"go": 400, "left": 700, "right": 1100, "stop": 1700, "door": 2600}
FAMILIES = ("asr_word_errors", "asr_comparison", "asr_fairness", "asr_fault_localisation")
MODEL = f'''
import numpy as np

TONES = {TONES}


def recognise(signal, least):
    """Name the tone of each tenth of a second in which it holds enough of the energy."""
    words = []
    for start in range(0, len(signal) - 1599, 1600):
        spectrum = np.abs(np.fft.rfft(signal[start : start + 1600])) ** 2
        tones = {{word: spectrum[round(f / 10) - 2 : round(f / 10) + 3].sum() for word, f in TONES.items()}}
        share = {{word: energy / (spectrum.sum() + 1e-9) for word, energy in tones.items()}}
        word = max(share, key=share.get)
        if share[word] > least:
            words.append(word)
    return " ".join(words)


def good(signal, sampling_rate):
    return {{"transcript": recognise(signal, 0.4).upper() + "!"}}


def poor(signal, sampling_rate):
    if len(signal) == 8001:
        return {{"transcript": None}}
    if len(signal) == 8002:
        raise RuntimeError("this one is too much")
    return {{"transcript": recognise(signal, 0.7)}}


def strict(signal, sampling_rate):
    """Four words at half the speed are too long for it."""
    return {{"transcript": None if len(signal) > 12000 else recognise(signal, 0.9)}}


def silent(signal, sampling_rate):
    return {{"transcript": None}}
'''


def suite(models, families, corpora="tones: {format: csv, path: data/segments.csv}", more=""):
    own = "".join(f'  {name}: {{python: "tones:{name}", tasks: [transcript]}}\n' for name in models)
    known = "  known: {predictions: known.csv, tasks: [transcript]}\n" if "known" not in more else ""
    families = ", ".join(families)
    return (
        f"title: Tones\nstudies: false\nreplicates: 200\ncorpora:\n  {corpora}\nmodels:\n{own}{known}"
        f"families: [{families}]\n{more}"
    )


def small_thresholds(family):
    """Thresholds of a family that asks for fewer segments and sentences."""
    text = (resources.root() / "thresholds" / f"{family}.yml").read_text()
    text = changed(text, {"minimum_segments: 50": "minimum_segments: 4"})
    return text.replace("{sentences: 50}", "{sentences: 8}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight speakers, of whom every other one is husky, and four recordings without words that count."""
    folder, rng = tmp_path_factory.mktemp("recognition"), np.random.default_rng(3)

    def spoken(words, noise):
        time = np.arange(1600) / RATE
        signal = np.concatenate([0.3 * np.sin(2 * np.pi * TONES[word] * time) for word in words])
        return signal + noise * rng.standard_normal(len(signal))

    rows, known = [], []
    for speaker in range(8):
        accent, sex = ("clear", "husky")[speaker % 2], ("female", "male")[speaker // 4]
        for number in range(5):
            words = rng.choice(list(TONES), rng.integers(2, 5))
            name = f"s{speaker}_{number}.wav"
            sound(
                folder / "data" / name, spoken(words, 0.01 if accent == "clear" else rng.uniform(0.12, 0.2))
            )
            rows.append((name, f"s{speaker}", sex, accent, " ".join(words).capitalize() + "."))
            known.append((name, " ".join(words[:-1])))
    for name, length, text in (
        *(("empty", 8000, ""), ("none", 8001, "stop")),
        *(("crash", 8002, "<b>door</b> ποῦ"), ("noise", 8003, "...")),
    ):
        sound(folder / "data" / f"{name}.wav", np.pad(spoken(["go"], 0.01), (0, length - 1600)))
        rows.append((f"{name}.wav", "s0", "female", "clear", text))
    segments = pd.DataFrame(rows, columns=["file", "speaker", "sex", "accent", "transcript"])
    meetings = segments.assign(meeting=[f"m{n % 3}" for n in range(len(rows))])
    meetings["both"] = meetings["meeting"] + " " + meetings["speaker"]
    known = pd.DataFrame(known, columns=["file", "transcript"])
    guesses = known.copy()
    guesses.loc[::3, "transcript"] += " stop door"
    write(folder, {"data/segments.csv": segments, "data/meetings.csv": meetings})
    write(folder, {"data/bare.csv": segments[["file", "speaker"]]})
    write(folder, {"known.csv": known, "guesses.csv": guesses, "tones.py": MODEL})
    small = ("asr_word_errors", "asr_fairness", "asr_fault_localisation")
    write(folder, {f"thresholds/{family}.yml": small_thresholds(family) for family in small})
    return write(folder, {"suite.yml": suite(["good", "poor"], FAMILIES)})


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, code=3)  # the book is there, but a model failed on inputs


def beside(folder, name, text, thresholds):
    """Make a folder with a suite and thresholds of its own, and the same sounds and models."""
    other = folder / name
    write(other, {"suite.yml": text.replace("data/", "../data/"), **thresholds})
    for file in ("tones.py", "known.csv", "guesses.csv"):
        (other / file).write_text((folder / file).read_text())
    return other


def plain(text):
    return re.sub(r"[^\w\s]", " ", text.lower()).split()


def transcripts(whole, model):
    """What was said, and what a model wrote: ``None`` if it was asked in vain."""
    segments = whole.segments("tones")
    written = whole.predictions(model, "tones")["transcript"].reindex(segments.index)
    return segments, [None if pd.isna(text) else " ".join(plain(text)) for text in written]


def test_failures_are_told_and_notebooks_work(whole):
    (poor,) = [model for model in whole.record["models"] if model["name"] == "poor"]
    reasons = " ".join(failure["reason"] for failure in poor["failures"])
    assert "transcript is None, not a text" in reasons and "this one is too much" in reasons
    assert "1 of 44 segments have no transcript" in " ".join(whole.record["corpora"][0]["notices"])
    assert set(whole.results["family"]) == set(FAMILIES)


def test_word_error_rate_is_that_of_jiwer(whole):
    segments, written = transcripts(whole, "good")
    known = segments["transcript"].notna().to_numpy()
    said = [" ".join(plain(text)) for text in segments["transcript"][known]]
    written = [text for text, there in zip(written, known, strict=True) if there]
    inserted = sum(len(b.split()) for a, b in zip(said, written, strict=True) if not a)  # refused by jiwer
    output = jiwer.process_words(
        *map(list, zip(*[p for p in zip(said, written, strict=True) if p[0]], strict=True))
    )
    errors = output.substitutions + output.deletions + output.insertions + inserted
    found = whole.row("Word Error Rate", model="good")
    assert found["value"] == pytest.approx(errors / sum(len(text.split()) for text in said))
    assert (found["segments"], found["blocks"]) == (43, 8)
    (figure,) = [figure for figure in whole.record["figures"] if figure["model"] == "good"]
    assert figure["value"] == found["value"] and figure["standing"] == "proven"
    line = next(line for line in whole.done.stdout.splitlines() if line.startswith("  word error rate"))
    assert f"{100 * found['value']:.2g}"[:2] in line and "8 speakers)" in line


def test_the_table_of_word_errors_adds_up(whole):
    table = pd.read_csv(whole.out / "tables" / "word_errors.csv")
    assert set(table["model"]) == {"good", "poor", "known"} and (whole.out / "html/word_errors.csv").is_file()
    own = table[table["model"] == "good"].set_index(["column", "group"])
    everybody = own.xs("everybody", level="group").iloc[0]
    assert everybody["value"] == pytest.approx(whole.row("Word Error Rate", model="good")["value"])
    assert everybody[["insertions", "deletions", "substitutions"]].sum() == pytest.approx(everybody["value"])
    for column in ("accent", "speaker"):
        errors = (own.loc[column]["value"] * own.loc[column]["words"]).sum()
        assert errors == pytest.approx(everybody["value"] * everybody["words"]), column


def test_groups_add_up_and_inputs_asked_in_vain_are_missed_words(whole):
    segments, written = transcripts(whole, "poor")
    assert [key for key, text in zip(segments.index, written, strict=True) if text is None] == [
        "crash.wav||",
        "none.wav||",
    ]
    said = [None if pd.isna(text) else " ".join(plain(text)) for text in segments["transcript"]]
    counts = word_errors(said, [text or "" for text in written])
    known = ~np.isnan(counts.errors)
    total = counts.errors[known].sum() / counts.words[known].sum()
    assert known.sum() == 43 and whole.row("Word Error Rate", model="poor")["value"] == pytest.approx(total)
    for accent in ("clear", "husky"):
        mask = known & segments["accent"].eq(accent).to_numpy()
        rate = counts.errors[mask].sum() / counts.words[mask].sum()
        found = whole.row("Word Error Rate Difference", group=f"accent: {accent}", model="poor")
        assert found["value"] == pytest.approx(rate - total) and (accent == "husky") == (found["value"] > 0)
    words = sum(len(text.split()) for text in said if text)
    for page in ("good/asr_comparison", "poor/asr_word_errors"):
        text = whole.page(f"results/{page}")
        assert re.search(rf"<td[^>]*>{words}</td><td[^>]*>43</td><td[^>]*>8</td>", text), page


def test_differences_of_recognisers_are_opposite(whole):
    first = whole.row("Word Error Rate Difference", "poor", model="good")
    second = whole.row("Word Error Rate Difference", "good", model="poor")
    assert first["value"] == pytest.approx(-second["value"]) and first["value"] < 0
    assert first["low"] == pytest.approx(-second["high"])
    assert whole.row("Relative Word Error Rate Difference", "good", model="poor")["value"] > 0
    assert whole.row("Word Error Rate", model="known")["value"] > 0.2  # it leaves out all last words


@pytest.mark.parametrize("page", told("recognition", "pages"))
def test_pages_show_words_and_nothing_live(whole, page):
    assert whole.lacks(page, "recognition") == [] and "<b>door</b>" not in whole.page(page)


def test_what_cannot_be_tested_says_why(whole):
    told = whole.reasons(model="known", family="asr_fairness")
    assert all("a table of predictions cannot answer for changed signals" in reason for reason in told)
    row = whole.row("Word Error Rate Difference", group="language", model="good")
    assert row["skipped"] == "the corpus has no column language"


# Violations -------------------------------------------------------------------------------------------------


def test_violations_are_those_of_the_plain_computation(whole):
    family = read_family("asr_fairness")
    segments, sides = whole.segments("tones"), {}
    for model in ("good", "poor"):
        table = whole.predictions(model, "tones", None)
        wide = table.pivot(index="key", columns="change", values="transcript").reindex(segments.index)
        sides[model] = wide.map(lambda text: " ".join(plain(text)) if isinstance(text, str) else None)
    steps = [("", "", "")]
    for name, series in family.transformations.items():
        steps += [(name, step, change.identity) for step, change in series.steps.items()]
    identities = [identity for *_, identity in steps]
    answered = sides["good"][identities].notna().all(axis=1) & sides["poor"][identities].notna().all(axis=1)
    rows = []
    for accent in ("clear", "husky"):
        chosen = answered & segments["accent"].eq(accent)
        for name, step, identity in steps:
            texts = zip(*(sides[model].loc[chosen, identity] for model in ("good", "poor")), strict=True)
            edits, longer = np.sum([(0, 0), *(differential.word_edits(*pair) for pair in texts)], axis=0)
            rows.append(("good–poor", name, step, accent, edits / longer if longer else np.nan))
    table = pd.DataFrame(rows, columns=["pair", "transformation", "level", "group", "distance"])
    page = whole.page("results/good/asr_fairness")
    assert "tones: settings that are left out; 39 are counted</caption>" in page
    left_out = [("Scale", "0.6"), ("Scale", "0.5")]  # as in the paper
    kept = table[[(row.transformation, row.level) not in left_out for row in table.itertuples()]]
    counted = counts_of(tables_of(page, "Violations of each group, tones, accent")[0][1])
    assert [kind for kind, _ in counted].count("by transformation") == len(family.transformations) == 8
    compared = kept[kept["transformation"] != ""].groupby(["transformation", "level"])["distance"]
    comparisons = compared.apply(lambda both: both.notna().all()).sum()
    expected = differential.counts(differential.violations(kept, [0.1]), ["clear", "husky"]).loc["all"]
    assert comparisons > 20 and expected.sum() > 0
    for accent in ("clear", "husky"):
        found = whole.row("Violations Against Recognisers", group=f"accent: {accent}", model="good")
        assert found["value"] == pytest.approx(expected[accent] / comparisons)


def tables_of(page, beginning):
    return re.findall(rf"<caption>({beginning}[^<]*)</caption>(.*?)</table>", page, re.DOTALL)


def counts_of(table):
    """Give the numbers of each row of a table of violations, by the row's two names."""
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in table.split("<tr>")[2:]]
    return {(kind, name): [int(cell.replace(",", "")) for cell in rest] for kind, name, *rest in cells}


@pytest.fixture(scope="module")
def four(folder, undrawn) -> Run:
    """Run four recognisers, of whom one never answers, with three of the eight transformations."""
    others = re.compile(r"^ +(Clipping|Drop|Frame|High pass|Low pass): .*\n", re.MULTILINE)
    thresholds = {
        f"thresholds/{family}.yml": others.sub("", small_thresholds(family))
        for family in ("asr_fairness", "asr_fault_localisation")
    }
    text = suite(["good", "poor", "strict", "silent"], ["asr_fairness"])
    other = beside(
        folder,
        "others",
        text.replace("  known: {predictions: known.csv, tasks: [transcript]}\n", ""),
        thresholds,
    )
    return run(undrawn, other, "--no-book", code=3)  # one answers nothing, as the record says


def test_a_pair_has_the_same_counts_on_all_pages(four):
    pages = {name: four.shown(name, "asr_fairness") for name in ("good", "poor", "strict")}
    for beginning in (
        "Violations of each group, tones, ",
        "Violations beside those of ",
        "Differences between",
    ):
        of_all, *others = (
            [table for table in tables_of(page, beginning) if "transcripts" not in table[0]]
            for page in pages.values()
        )
        assert len(of_all) == 2 and others == [of_all] * 2, beginning  # accents and sexes
    rows = counts_of(tables_of(pages["good"], "Violations of each group, tones, accent")[0][1])
    pairs = {name for kind, name in rows if kind == "by pair"}
    assert pairs == {"good–poor", "good–strict", "poor–strict"}
    total = np.array(rows["in all", ""])
    assert total.sum() > 0 and (np.array(rows["comprehensible", ""]) <= total).all()
    for kind in ("by pair", "by τ", "by transformation"):
        assert np.array_equal(np.sum([row for (own, _), row in rows.items() if own == kind], axis=0), total)
    own = "Violations of each group, good–transcripts, tones, accent"
    assert (len(tables_of(pages["good"], own)), len(tables_of(pages["poor"], own))) == (1, 0)


def test_a_pair_has_the_same_counts_in_fault_localisation(four, undrawn):
    folder = four.out.parent
    answers = four.predictions("strict", "tones", None)
    scale = read_family("asr_fairness").transformations["Scale"].steps.values()
    # It lacks answers under the two settings that do not count.
    assert {*answers[answers["transcript"].isna()]["change"]} == {c.identity for c in [*scale][3:]}
    text = (folder / "suite.yml").read_text()
    write(folder, {"words.yml": changed(text, {"[asr_fairness]": "[asr_fault_localisation]"})})
    words = run(
        undrawn,
        folder,
        "--no-book",
        "--model",
        "good",
        "--model",
        "strict",
        suite="words.yml",
        out="words",
        code=3,
    )
    page = four.shown("good", "asr_fairness")
    for column in ("accent", "sex"):
        ((_, table),) = tables_of(page, f"Violations of each group, tones, {column}")
        counted = re.search(r"<td>by pair</td><td[^>]*>good–strict</td>(.*?)</tr>", table, re.DOTALL)[1]
        expected = re.findall(r"<td[^>]*>([\d,]+)</td>", counted)
        assert any(number != "0" for number in expected)
        for model in ("good", "strict"):
            ((_, table),) = tables_of(
                words.shown(model, "asr_fault_localisation"), f"tones, {column}, 2 recognisers"
            )
            assert re.findall(r"<td[^>]*>([\d,]+)</td></tr>", table) == expected


def test_a_recogniser_without_answers_is_not_compared(four):
    told = "no segment was answered under all settings by both that are compared"
    assert four.reasons(model="silent") == {told} and len(four.rows(model="silent")) == 2
    good = four.rows(model="good")
    assert good["value"].notna().all() and len(good) == 8  # others are tested as if it were not there
    assert "good and silent are not compared, no segment has both under all settings" in four.shown(
        "good", "asr_fairness"
    )


def settings(tmp_path, old="", new=""):
    """Give what only needs the family, with another line in its threshold file."""
    text = (resources.root() / "thresholds" / "asr_fairness.yml").read_text(encoding="utf-8")
    write(tmp_path, {"thresholds/asr_fairness.yml": changed(text, {old: new}) if old else text})
    found = object.__new__(Evaluation)
    found.family = read_family("asr_fairness", tmp_path)
    return found


def test_settings_that_are_left_out(tmp_path):
    """Those of the paper, which keeps 26 that are rated 7.2 or better; others on request."""
    paper = {("Scale", "0.6"), ("Scale", "0.5")}
    judged = settings(tmp_path).judged_settings([])
    assert len(judged) == 41 and judged["distance"].isna().all() and excluded_settings(judged) == paper
    assert len(judged) - len(excluded_settings(judged, 7.2)) == 26
    rated = settings(tmp_path, "minimum_rating: 0", "minimum_rating: 7.2").judged_settings([])
    assert len(excluded_settings(rated)) == 41 - 26 and "rated 6.84, below 7.2" in set(rated["left_out"])
    evaluation = settings(tmp_path, "destroyed: null", "destroyed: 0.85")

    def distances(of):
        rows = [("a–b", *own, group, of(own[1])) for own in evaluation.settings for group in "xy"]
        return pd.DataFrame(rows, columns=["pair", "transformation", "level", "group", "distance"])

    table = distances(lambda level: {"2": 0.9, "4": 0.8}.get(level, 0.1))
    judged = evaluation.judged_settings([table, table.assign(distance=np.nan)])
    assert excluded_settings(judged) == paper | {("Noise", "2"), ("Amplitude", "2")}
    assert set(judged["left_out"]) == {"", "excluded", "mean distance above 0.85"}
    # One pair of two rows at 0.9 and one of two at 0.7: 0.8 on average.
    assert excluded_settings(evaluation.judged_settings([table, distances(lambda _: 0.7)])) == paper


# Words that are lost ----------------------------------------------------------------------------------------


def localised(whole, model, rows=slice(None), minimum=2):
    """Localise words with nothing but the tables of predictions; gives those that are robust, and lost."""
    family = read_family("asr_fault_localisation")
    table, segments = whole.predictions(model, "tones", None), whole.segments("tones")
    wide = table.pivot(index="key", columns="change", values="transcript").reindex(segments.index)
    texts = wide.map(lambda text: " ".join(plain(text)) if isinstance(text, str) else None)
    texts = texts[segments["transcript"].notna()]
    levels = ["", *(change.identity for change in family.transformations["Noise"].steps.values())]
    answered = texts.loc[rows if isinstance(rows, slice) else rows[texts.index], levels].dropna()
    before, *after = (differential.word_counts(answered[level]) for level in levels)
    words = differential.localise(before, after, differential.Omega(0.5, True), minimum=minimum)
    kinds = (differential.ROBUST, differential.NOT_ROBUST)
    return [{word.word: word for word in words if word.kind == kind} for kind in kinds]


def test_a_group_keeps_words_that_everybody_together_loses(whole):
    _, lost = localised(whole, "good", whole.segments("tones")["accent"].eq("husky"))
    _, pooled = localised(whole, "good", minimum=3)
    assert lost.keys() - pooled.keys()
    page = whole.page("results/good/asr_fault_localisation")
    shown = re.search(r"<td>accent: husky</td>(.*?)</tr>", page, re.DOTALL)[1]
    assert all(f"{word.word} ({word.drop} of {word.count})" in shown for word in lost.values())
    assert f">{len(lost.keys() - pooled.keys())}<" in shown


def test_the_words_that_were_localised_are_spoken_to_recognisers_that_listen(whole):
    corpora = [corpus["name"] for corpus in whole.record["corpora"]]
    assert corpora == ["tones", "words of tones for good", "words of tones for poor"]
    (known,) = [model for model in whole.record["models"] if model["name"] == "known"]
    assert known["inputs"] == 44
    found = {}
    for path in (whole.out / "corpora").glob("words-of-*.parquet"):
        spoken, table = pd.read_parquet(path), next((whole.out / "predictions").glob(f"*/{path.name}"))
        heard = pd.read_parquet(table)
        assert heard["change"].nunique() == 2 and len(heard) == 2 * len(spoken)  # clean and noise
        assert len(spoken) in (8, 16)  # of each kind of words
        assert spoken.apply(lambda row: row["item"] in row["transcript"].split(), axis=1).all()
        found[table.parent.name] = set(spoken["item"])
    assert set(found) == {"good", "poor"}
    segments, choices = whole.segments("tones"), []
    for column in ("accent", "sex"):
        for group in segments[column].unique():
            robust, lost = localised(whole, "good", segments[column].eq(group))
            choices.append((bool(robust and lost), len(lost), {*robust, *lost}))
    assert found["good"] == max(choices, key=lambda own: own[:2])[2]


def test_words_of_a_corpus_without_transcripts_are_spoken_and_parts_of_a_book_stay(folder, whole, undrawn):
    text = suite(["poor"], FAMILIES, "tones: {format: csv, path: data/bare.csv}")
    write(folder, {"words.yml": text})
    how = {"suite": "words.yml", "out": "words", "code": 3}
    options = ("--model", "poor", "--no-book", "--family")
    words = run(undrawn, folder, *options, "asr_fault_localisation", **how)
    (spoken,) = (words.out / "corpora").glob("words-of-*.parquet")
    assert len(pd.read_parquet(spoken)) == 8
    page = words.shown("poor", "asr_fault_localisation")
    assert "8 sentences, around words of everybody" in page
    assert "tones: the suite has no other recogniser for this corpus" in page
    notebook = words.out / "notebooks" / "poor" / "asr_fault_localisation.ipynb"
    before = notebook.stat().st_mtime_ns  # another run speaks and asks nothing again
    run(undrawn, folder, *options, "asr_fault_localisation", **how)
    assert notebook.stat().st_mtime_ns == before
    run(undrawn, folder, *options, "asr_word_errors", **how)
    for place in ("corpora", "predictions/poor"):
        names = {path.name for path in (words.out / place).iterdir()}
        assert names == {"tones.parquet", spoken.name}


# What is missing --------------------------------------------------------------------------------------------

ALONE = """
  tones: {format: csv, path: data/segments.csv}
  bare: {format: csv, path: data/bare.csv}
  several: {format: csv, path: data/meetings.csv, blocks: [meeting, speaker]}
  combined: {format: csv, path: data/meetings.csv, blocks: both}
  speakers: {format: csv, path: data/meetings.csv, blocks: speaker}
models:
  good: {python: "tones:good", tasks: [transcript], corpora: [tones, bare]}
  known: {predictions: known.csv, tasks: [transcript], corpora: [several, combined, speakers]}
  guesses: {predictions: guesses.csv, tasks: [transcript], corpora: [several, combined, speakers]}
families: [asr_word_errors, asr_comparison, asr_fairness]
"""


@pytest.fixture(scope="module")
def alone(folder, undrawn) -> Run:
    """One recogniser alone; tables of two over blocks of several columns; groups below the usual sizes."""
    head = "title: Alone\nstudies: false\nreplicates: 200\ninterval: expanded\ncorpora:"
    small = {"thresholds/asr_fairness.yml": small_thresholds("asr_fairness")}
    return run(undrawn, beside(folder, "alone", head + ALONE, small), "--no-book")


@pytest.mark.parametrize(("cells", "why"), told("recognition", "reasons"))
def test_what_one_recogniser_or_few_segments_cannot_show_says_why(alone, cells, why):
    assert {reason for reason in alone.reasons(**cells) if not reason.startswith(why)} == set()


def test_one_recogniser_is_compared_with_transcripts_and_small_groups_are_shown(alone):
    against = alone.rows(test="Violations Against Transcripts", corpus="tones")
    assert len(against) and against["value"].notna().all()
    assert "Groups that are too small to be judged" in alone.shown("known", "asr_word_errors")


def test_blocks_of_several_columns_are_those_of_a_combined_one(alone):
    columns = ["model", "test", "label", "group", "value", "low", "high", "segments", "blocks", "certainty"]
    several, combined, speakers = (
        alone.rows(corpus=name)[[*columns, "skipped"]].reset_index(drop=True)
        for name in ("several", "combined", "speakers")
    )
    pd.testing.assert_frame_equal(several, combined)
    assert several["blocks"].max() == 24 and speakers["blocks"].max() == 8
    one, other = (
        alone.row("Word Error Rate", model="known", corpus=name) for name in ("several", "speakers")
    )
    assert one["value"] == other["value"] and one["low"] != other["low"]
    assert alone.record["suite"]["corpora"]["several"]["blocks"] == ["meeting", "speaker"]
    nested = "resampled together in intervals: speaker within meeting"
    assert [c["name"] for c in alone.record["corpora"] if nested in c["notices"]] == ["several"]


def test_no_setting_is_left_and_few_segments_are_changed(folder, undrawn):
    rated = {
        "thresholds/asr_fairness.yml": changed(
            small_thresholds("asr_fairness"), {"minimum_rating: 0": "minimum_rating: 11"}
        )
    }
    text = suite(["good"], ["asr_fairness"], more="limits: {transformed_segments: 8}\n")
    found = run(undrawn, beside(folder, "unrated", text, rated), "--no-book", "--model", "good")
    assert found.results.set_index("test")["skipped"].to_dict() == {
        "Violations Against Recognisers": "no other recogniser of the suite hears this corpus",
        "Violations Against Transcripts": "no setting is left to be counted",
    }
    asked = found.predictions("good", "tones", None)
    assert asked[asked["change"].ne("")].groupby("change").size().eq(8).all()
