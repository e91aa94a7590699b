"""Groups of fairness tests through their notebooks: bins with few segments, speakers drawn, equal weights."""

import ast

import nbformat
import numpy as np
import pandas as pd
import pytest
from runs import write

from soundcheck.common import resources
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.statistics import permutation, simulation

pytestmark = pytest.mark.slow


def few_arrangements(blocks: int, members: int, *_: object):
    """Yield twenty of the thousands of arrangements that p-values rest on."""
    rng = np.random.default_rng(0)
    yield np.array([rng.permutation(blocks) < members for _ in range(20)])


class Found:
    """What a notebook computed: its rows, its notes and the tables and figures that it shows."""

    def __init__(self, evaluation: Evaluation, displayed: list[str]) -> None:
        self.frame, self.notes, self.shown = evaluation.frame(), evaluation.notes, "".join(displayed)

    def row(self, test: str, group: str, label: str = "") -> pd.Series:
        return self.frame[self.frame[["test", "group", "label"]].eq([test, group, label]).all(axis=1)].iloc[0]

    def means(self, column: str = "value") -> dict[str, float]:
        """Differences of mean values, or how many segments they rest on, by accent."""
        rows = self.frame[self.frame["test"].eq("Mean Value") & self.frame["value"].notna()]
        return dict(zip(rows["group"].str.partition(": ")[2], rows[column], strict=True))


@pytest.fixture
def evaluate(tmp_path, monkeypatch, describe, blank_figures):
    """Run the notebook of a family, cell by cell, on a table with predictions in it."""
    # By how much random models or drawn groups differ is not of interest.
    monkeypatch.setattr(simulation, "MANY_RUNS", 20)
    monkeypatch.setattr(permutation, "arrangements", few_arrangements)
    MediaStore(tmp_path / "media", "media/")

    def run(family: str, table: pd.DataFrame, thresholds: str = "") -> Found:
        numbers = [f"{n:06d}" for n in range(len(table))]
        table = table.assign(key=numbers, file=numbers, start=0.0, end=1.0)
        paths = {name: tmp_path / f"{name}.parquet" for name in ("segments", "predictions")}
        predictions = table[["key", "predicted"]].rename(columns={"predicted": "arousal"})
        predictions = predictions.assign(change="", error="", drawn="")
        predictions.to_parquet(paths["predictions"])
        table.drop(columns="predicted").to_parquet(paths["segments"])
        write(tmp_path, {f"thresholds/{family}.yml": thresholds} if thresholds else {})
        known = "speaker" in table and table["speaker"].notna().all()
        corpus = CorpusDescription(
            **{"name": "c", "title": "c", "synthetic": False, "root": tmp_path, "audio": False},
            **{"base_condition": "", "probes_of": "", "trials": None},
            **{"blocks": ("speaker",) if known else ("file",), **paths},
        )
        describe(family, replicates=20, tasks=(BUILTIN["arousal"],), corpora=(corpus,)).write(
            tmp_path / "run.json"
        )
        displayed: list[str] = []
        space = {"display": lambda what: displayed.append(str(what))}
        for cell in nbformat.read(resources.root() / "notebooks" / f"{family}.ipynb", 4).cells:
            if cell.cell_type == "code":
                *body, last = ast.parse(cell.source).body
                if isinstance(last, ast.Expr):  # what it evaluates to is shown
                    last.value = ast.Call(ast.Name("display", ast.Load()), [last.value], [])
                code = compile(ast.fix_missing_locations(ast.Module([*body, last], [])), cell.id, "exec")
                exec(code, space)
                if "parameters" in cell.metadata.get("tags", []):
                    space["run"] = str(tmp_path / "run.json")
        return Found(space["evaluation"], displayed)

    return run


def people(column: str, group: str, women: int, men: int, each: int = 6) -> pd.DataFrame:
    """Make the segments of the speakers of a group."""
    rows = [(group, f"{group} f{n}", "female") for n in range(women)]
    rows += [(group, f"{group} m{n}", "male") for n in range(men)]
    table = pd.DataFrame(rows, columns=[column, "speaker", "sex"])
    return table.loc[table.index.repeat(each)].reset_index(drop=True)


def in_bins(size: int, low: int, high: int) -> np.ndarray:
    """Make numbers of which so many lie in the lowest and in the highest bin, the others in between."""
    return np.concatenate([np.full(low, 0.1), np.full(high, 0.9), np.linspace(0.3, 0.7, size - low - high)])


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.sample(frac=1, random_state=0, ignore_index=True)


def published_table(family: str, low: int, high: int) -> pd.DataFrame:
    """Make groups of the published size with so many segments in the outer bins of all groups together."""
    if family == "pitch":
        table = pd.DataFrame({"pitch": np.repeat([120.0, 160.0, 220.0], 1000)})
        table["speaker"] = [f"s{n // 1000}{n % 20}" for n in range(3000)]
        # The lowest and highest values are shared out evenly among the groups, but for a remainder.
        places = np.concatenate([table.index[n::1000] for n in range(1000)])
        table.loc[places, "arousal"] = in_bins(len(table), low, high)
        return table.assign(predicted=1 - table["arousal"])
    table = pd.concat([people("accent", f"accent {n:02d}", 5, 5) for n in range(31)], ignore_index=True)
    return table.assign(predicted=np.random.default_rng(0).permutation(in_bins(len(table), low, high)))


BINS, QUALITY = "Relative Difference Per Bin", "Recall Per Bin"
PUBLISHED = [
    ("accent", BINS, "accent: accent 07", 4, 3),
    ("pitch", QUALITY, "pitch: high", 69, 66),  # balanced groups have multiples of 3, and 66 are too few
]
LOWEST, HIGHEST = "(-inf, 0.25]", "(0.75, inf]"


@pytest.mark.parametrize(("family", "test", "group", "least", "fewer"), PUBLISHED)
def test_least_number_at_the_published_size(evaluate, family, test, group, least, fewer):
    """A bin with exactly the published number in all groups together is judged, one with fewer is not."""
    outcome = evaluate(f"fairness_{family}", shuffled(published_table(family, least, fewer)))
    judged, skipped = outcome.row(test, group, LOWEST), outcome.row(test, group, HIGHEST)
    assert judged["passed"] in (True, False) and pd.isna(skipped["passed"])
    # Lowest values are predicted to be highest: their recall is 0 for everybody, which has no interval.
    assert judged["skipped"] == ("interval withheld: nothing varies" if test == QUALITY else "")
    assert judged["value"] == 0 or test != QUALITY
    assert skipped["skipped"] == f"{fewer} segments, {min(least, 67)} needed"


def test_least_number_below_the_published_size(evaluate):
    """It follows the average size, so all languages are judged by the same bins."""
    table = pd.DataFrame({"language": np.repeat(["de", "en", "fr"], [1600, 200, 300])})  # 700 on average
    for low, judged in ((23, True), (22, False)):  # 67 * 700 / 2000 = 23.45
        table["predicted"] = np.random.default_rng(0).permutation(in_bins(len(table), low, 400))
        outcome = evaluate("fairness_language", table)
        rows = [outcome.row(BINS, f"language: {name}", LOWEST) for name in ("de", "en", "fr")]
        assert {row["skipped"] for row in rows} == ({""} if judged else {"22 segments, 23 needed"})


def archive(*more: pd.DataFrame) -> pd.DataFrame:
    """Make a large accent and two small ones; a model adds 0.1 to the large one."""
    parts = [("english", 300, 280), ("german", 5, 5), ("welsh", 7, 12)]
    table = pd.concat([*(people("accent", *part) for part in parts), *more], ignore_index=True)
    return table.assign(predicted=0.45 + 0.1 * table["accent"].eq("english"))


EQUAL_WEIGHTS = pytest.approx({"english": 0.2 / 3, "german": -0.1 / 3, "welsh": -0.1 / 3})
ALL_SEGMENTS = {"english": 3480, "german": 60, "welsh": 114}


def test_a_bias_for_a_large_accent_is_found_there(evaluate):
    """All speakers pooled, English would pass with 0.005 and the others fail with -0.095."""
    table = archive()
    pooled = table.groupby("accent")["predicted"].mean() - table["predicted"].mean()
    assert pooled.round(3).to_dict() == {"english": 0.005, "german": -0.095, "welsh": -0.095}
    outcome = evaluate("fairness_accent", shuffled(table))
    assert outcome.means() == EQUAL_WEIGHTS and {*outcome.means("segments").values()} == {60}
    assert "5 of 300 female, 5 of 280 male" in outcome.shown


def test_draws_depend_on_who_there_is(evaluate):
    table, rng = archive(), np.random.default_rng(0)
    habit = {speaker: rng.random() for speaker in sorted(set(table["speaker"]))}
    table["predicted"] = table["speaker"].map(habit)  # so that a mean tells who was drawn
    drawn = evaluate("fairness_accent", table).means()
    assert evaluate("fairness_accent", shuffled(table)).means() == pytest.approx(drawn, abs=1e-12)
    fewer = table[~table["speaker"].isin(["welsh m11", "welsh f6", "english f299"])]
    again = evaluate("fairness_accent", fewer).means()
    for accent in drawn:  # one of five speakers changes a mean by 0.1 at most, if it changes at all
        assert abs(drawn[accent] - drawn["german"] - again[accent] + again["german"]) <= 0.2


def test_accents_with_few_speakers_or_segments_are_shown_and_not_judged(evaluate):
    few, short = people("accent", "<dutch>", 2, 2, 20), people("accent", "scottish", 5, 5).iloc[:-1]
    outcome = evaluate("fairness_accent", shuffled(archive(few, short, people("accent", "irish", 9, 0, 20))))
    assert outcome.means() == EQUAL_WEIGHTS and "<dutch>" not in outcome.shown
    message = ["2 of 5 female and 2 of 5 male speakers", "59 of 60 segments", "0 of 5 male speakers"]
    message += ["&lt;dutch&gt;", "5 of 9 female, 0 of 0 male"]
    assert [words for words in message if words not in outcome.shown] == []
    one_sex = pd.concat([people("accent", name, 0, 12, 10) for name in ("irish", "welsh")])
    frame = evaluate("fairness_accent", one_sex.assign(predicted=0.5)).frame
    why = "0 of 2 accents with enough speakers and segments (irish: 0 of 5 female speakers; welsh: 0 of 5 "
    assert frame["passed"].isna().all() and frame["skipped"].str.startswith(why).all()


def test_without_sexes_ten_speakers_are_drawn_and_strange_ones_are_counted(evaluate):
    table = archive().assign(sex=None)
    outcome = evaluate("fairness_accent", table)
    assert {*outcome.means("segments").values()} == {60} and "10 of 580" in outcome.shown
    message = (
        "c: the sex of speakers is not known, so 10 speakers of each accent are drawn whatever their sex"
    )
    assert outcome.notes == [message]
    table = archive()
    table.loc[table["speaker"].eq("welsh f0"), "sex"] = "other"
    table.loc[table["speaker"].eq("welsh f1"), "speaker"] = None
    outcome = evaluate("fairness_accent", table)
    message = "c: 12 of 3654 segments with accent are without speaker, or not of female or male sex"
    assert outcome.notes == [message] and "5 of 5 female, 5 of 12 male" in outcome.shown


def test_all_segments_are_used_without_speakers_or_if_no_number_is_given(evaluate):
    shipped = (resources.root() / "thresholds" / "fairness_accent.yml").read_text("utf-8")
    line = next(line for line in shipped.splitlines() if line.startswith("  speakers:"))
    nobody = archive().drop(columns=["speaker", "sex"])
    message = ["c: speakers are not known, so all segments of each accent are used"]
    without = [(archive(), shipped.replace(line, "  speakers:"), [])]
    for table, thresholds, notes in [*without, (nobody, shipped, message)]:
        result = evaluate("fairness_accent", table, thresholds)
        assert result.means("segments") == ALL_SEGMENTS and result.notes == notes
        assert result.means() == EQUAL_WEIGHTS
