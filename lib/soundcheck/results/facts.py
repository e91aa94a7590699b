"""What a run says, once: counts, findings and what is known of each model, for all pages, cards and messages.

Facts come from the tables of results and estimates and from the record; nothing is computed from signals or
predictions, and nothing is formatted. The second row of a pair of groups counts nowhere.
"""

import fnmatch
import functools
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from soundcheck.common import manifest
from soundcheck.common.messages import Caveat, input_error, quoted, refuse_unknown
from soundcheck.common.messages import counted as number_of
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION
from soundcheck.results import states
from soundcheck.results.finished_run import FinishedRun, read_run
from soundcheck.results.record import FamilyRecord, KeyFigure, ModelRecord, RunRecord
from soundcheck.results.rows import ALL
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, counted, sizes
from soundcheck.results.table import read_estimates
from soundcheck.statistics.rules import ABOVE, BELOW
from soundcheck.suite.entries import Card
from soundcheck.suite.families import HIGHER, LOWER, info_of, measure_of, named

# Tests whose name ends with the change that they are about; of others it is the label.
_CHANGE = r"^(?:Change \w+|Percentage Unchanged Predictions|Drift Under|Added Change Under) (.+)$"
FACT = ["model", "corpus", "task", "about"]  # further rows that agree in these are measures of the same fact
_ORDER = ["excess", "model", "corpus", "family", "task", "test", "group", "label"]
_BEFORE, _CHANGES = "before ", "before changes"  # conditions of clean signals: of a change, of a whole family


class Counts(dict[str, int]):
    """Number of rows of each state, in the order of :data:`soundcheck.results.states.STATES`."""

    @property
    def judged(self) -> int:
        """Rows that pass, fail or are inconclusive."""
        return self[PASS] + self[FAIL] + self[INCONCLUSIVE]

    def __str__(self) -> str:
        return ", ".join(f"{number} {state}" for state, number in self.items())


def counts(rows: pd.DataFrame) -> Counts:
    """Count the rows of a results table, or of a part of it, by state."""
    number = counted(rows)["state"].value_counts()
    return Counts({state: int(number.get(state, 0)) for state in states.STATES})


def headline(rows: pd.DataFrame) -> str:
    """Say how many tests fail, or that nothing could be concluded; without a full stop."""
    count, few = counts(rows), len(few_speakers(rows))
    tests = number_of(count.judged, "test")
    differences = f"{number_of(few, 'difference')} {'has' if few == 1 else 'have'} too few speakers"
    if count[FAIL]:
        return f"{count[FAIL]} of {tests} {'fails' if count[FAIL] == 1 else 'fail'}"
    if count[PASS] and few:  # no all-clear
        passing = f"{count[PASS]} of {tests} {'passes' if count[PASS] == 1 else 'pass'}"
        return f"{passing}, {count[INCONCLUSIVE]} inconclusive; {differences} to generalise"
    if count[PASS]:
        return f"None of {tests} fails"
    why = differences if few else f"{count[INCONCLUSIVE]} inconclusive, {count[NOT_EVALUATED]} not evaluated"
    return f"Nothing could be concluded: {why}"


def excess(frame: pd.DataFrame) -> pd.Series:
    """Say by how much rows miss what they have to meet, in widths of their intervals; NaN without interval.

    Of a difference what is beyond the margin, of any other value what is beyond the threshold.
    """
    of_groups = frame["matters"].notna() & frame["gap"].notna()
    value, limit, rule = frame["value"], frame["threshold"], frame["rule"]
    beyond = np.select(
        [of_groups, rule.eq(ABOVE), rule.eq(BELOW)],
        [sizes(frame) - frame["matters"], limit - value, value - limit],
        value.abs() - limit,
    )
    width = (frame["gap_high"] - frame["gap_low"]).where(of_groups, frame["high"] - frame["low"])
    return (beyond / width).replace(np.inf, 1e9)


def by_excess(frame: pd.DataFrame) -> pd.DataFrame:
    """Put rows in the order of their excess, the largest first."""
    ordered = frame.assign(excess=excess(frame))
    return ordered.sort_values(_ORDER, ascending=[False] + [True] * 7, kind="stable")


def speakers_needed(frame: pd.DataFrame) -> pd.Series:
    """Plan how many blocks it would take to decide inconclusive rows, float; infinite on the threshold.

    Half the width of an interval shrinks with the square root of the blocks. It has to fit between the value
    and what decides; where the value will lie then nobody knows, so this is for planning only.
    """
    needed = frame["blocks"] * (0.5 / excess(frame).abs()).pow(2)
    return np.ceil(needed.clip(lower=frame["blocks"] + 1).round(6))


def few_speakers(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the differences with too few or unknown speakers, the largest in units of its margin first.

    What two families find is one difference.
    """
    rows = counted(rows)
    few = rows["state_sample"].eq(REPORTED) & rows["state"].eq(INCONCLUSIVE)
    few |= rows["state"].eq(NOT_EVALUATED)
    few = rows[few & rows["gap"].notna() & rows["against"].ne("")]
    ordered = few.loc[_in_margins(few).sort_values(ascending=False, kind="stable").index]
    return ordered.drop_duplicates(["model", "corpus", "task", "test", "group", "label", "gap"])


def _in_margins(rows: pd.DataFrame) -> pd.Series:
    """Measure differences in units of their margins, negative where a group is better off."""
    return sizes(rows) / rows["matters"].fillna(1)


def facts_of(rows: pd.DataFrame, record: RunRecord, estimates: pd.DataFrame) -> pd.DataFrame:
    """Add to rows of the results what pages say of them.

    ``about``: the group, class or change of the signal; ``other``: of two groups the other one; ``first``:
    whether the test is one that its family is known by; ``side``: whether the group is *worse* or *better*
    off, empty for measures without a better side; ``measure``, ``before``, ``after``: how good the model is
    without and with the change, where estimates have both; ``standing`` as in
    :mod:`soundcheck.results.states`; ``accepted``: why the suite accepts the failure, or empty.
    """
    change = rows["test"].str.extract(_CHANGE)[0].fillna("")
    about = rows["label"].where(rows["label"].ne("") | change.eq(""), change)
    headlines = {family.name: family.headline for family in record.families}
    tests = list(zip(rows["test"], rows["family"], strict=True))
    better = pd.Series([measure_of(*test).better for test in tests], rows.index, dtype=object)
    worse = rows["gap"].lt(0).where(better.eq(HIGHER), rows["gap"].gt(0))
    side = worse.map({True: "worse", False: "better"}).where(better.isin((HIGHER, LOWER)), "")
    rows = rows.assign(
        about=rows["group"].where(rows["group"].ne(""), about),
        other=_other_of_two(rows),
        first=[
            any(fnmatch.fnmatchcase(test, one) for one in headlines.get(family, ())) for test, family in tests
        ],
        side=side.where(rows["gap"].notna() & rows["group"].ne(""), ""),
    )
    pairs = _before_and_after(record, estimates)
    rows = rows.merge(pairs, "left", left_on=FACT, right_on=[*FACT[:-1], "condition"]).set_axis(rows.index)
    of_groups = rows["group"].ne("")
    rows = rows.assign(**{name: rows[name].mask(of_groups) for name in ("measure", "before", "after")})
    accepted = states.accepted_reasons(rows, record.accepted)
    return rows.assign(standing=states.standings(rows, record.figures), accepted=accepted)


def _other_of_two(rows: pd.DataFrame) -> pd.Series:
    """Name for rows of two groups that are one test the value of the other group, of the rest nothing."""
    names = rows["group"].str.replace(r"^.*?: ", "", regex=True)
    of_pairs = states.counting(rows)[rows["mirrors"].ne("")].dropna()
    return pd.Series(names[of_pairs.index].array, of_pairs).reindex(rows.index, fill_value="")


def _before_and_after(record: RunRecord, estimates: pd.DataFrame) -> pd.DataFrame:
    """Give the values of the measures of key figures without and with each change of the signal."""
    key = FACT[:-1]
    figures = [
        (figure.model, figure.corpus, figure.task, named(figure.measure), figure.measure)
        for figure in record.figures or ()
        if figure.standing
    ]
    figures = pd.DataFrame(figures, columns=[*key, "measure", "title"]).drop_duplicates(key, keep="last")
    rows = estimates[estimates["part"].eq(ALL) & estimates["label"].eq("") & estimates["condition"].ne("")]
    rows = rows.merge(figures, on=[*key, "measure"])
    values = rows.set_index([*key, "condition"])["value"]
    clean = [
        values.reindex(pd.MultiIndex.from_frame(rows[key].assign(condition=before))).to_numpy()
        for before in (_BEFORE + rows["condition"], _CHANGES)
    ]
    rows = rows.assign(before=np.where(np.isnan(clean[0]), clean[1], clean[0]), after=rows["value"])
    rows = rows[rows["before"].notna() & ~rows["condition"].str.startswith(_BEFORE)]
    return rows.assign(measure=rows["title"])[[*key, "condition", "measure", "before", "after"]]


def findings(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep one row of each fact, the largest first; ``more`` counts its further measures.

    ``rows`` are those of :func:`facts_of`. A fact is a group, a class or a change of the signal, of a model,
    a corpus and a task. Its row is a headline test of its family, if there is one, else that with
    the largest excess. Facts stand in the order of the excess of that test: the distance of a difference
    beyond its margin, of a value beyond its threshold, in widths of the interval.
    """
    ordered = by_excess(rows).sort_values("first", ascending=False, kind="stable")
    more = ordered.groupby(FACT)["test"].transform("size") - 1
    return by_excess(ordered.assign(more=more).drop_duplicates(FACT))


class ModelFacts:
    """What a run says of one of its models; rows of tables are those of the model alone."""

    def __init__(self, run: FinishedRun, model: str, estimates: pd.DataFrame | None = None) -> None:
        self.run = run
        self.record: RunRecord = run.record
        self.model: ModelRecord = next(entry for entry in run.record.models if entry.name == model)
        self.random = model in run.record.references  # a random reference is counted nowhere
        estimates = read_estimates(run.path.parent) if estimates is None else estimates
        self.estimates: pd.DataFrame = estimates[estimates["model"].eq(model)]
        rows = run.frame[run.frame["model"].eq(model)]
        self.rows: pd.DataFrame = facts_of(rows, run.record, self.estimates)
        # Robustness and fairness count only where the model is better than chance. What has no value is not
        # evaluated there as elsewhere, so that all pages and messages count the same.
        every = counted(self.rows)
        has_value = every["state"].ne(NOT_EVALUATED) | every["gap"].notna()
        hollow = every["standing"].eq(states.HOLLOW) & has_value & (not self.random)
        self.counted = tests = every[~hollow]
        self.counts = counts(tests)
        self.uncounted = every[hollow]
        self.failing = by_excess(tests[tests["state"].eq(FAIL)])  # the largest failure first
        self.findings = findings(self.failing)  # a row a fact
        self.inconclusive = tests[tests["state"].eq(INCONCLUSIVE)]  # no passes
        self.few = few_speakers(tests)  # to generalise, the largest difference first
        self.not_evaluated = tests[tests["state"].eq(NOT_EVALUATED)]  # with reasons in the column ``skipped``
        # Families whose notebook did not come to its end, so that their tests are missing.
        self.failed = [one.family for one in run.record.notebooks if one.model == model and one.failed]
        # How good it is at each of its tasks, with intervals and what guessing scores.
        self.figures = [figure for figure in run.record.figures or () if figure.model == model]
        self.corpora = [corpus for corpus in run.record.corpora if corpus.name in set(self.rows["corpus"])]
        self.synthetic = any(corpus.synthetic for corpus in self.corpora)  # which every page has to say
        places = ({model}, set(self.rows["corpus"]), set(self.rows["task"]))
        self.caveats: list[Caveat] = run.record.caveats_of(*places)

    @classmethod
    def read(cls, path: Path, model: str | None = None) -> Self:
        """Read what a run, an output folder or ``results.csv`` in it, says of a model.

        ``model`` may be ``None`` if there is only one beside the random references. Refused if there is no
        such model, or several and none is named, and as :func:`read_recorded`.
        """
        run = read_recorded(path)
        return cls(run, _chosen(run.record, set(run.frame["model"]), model))

    @property
    def card(self) -> Card:
        """What people wrote about it: its own words first, then those of the suite."""
        of_model = self.model.card.over(Card(license=self.model.license))
        return of_model.over(self.record.card)

    @functools.cached_property
    def sha256(self) -> str:
        """The SHA-256 of ``results.csv``, as ``sha256sum`` prints it."""
        return manifest.sha256(self.run.path)

    @property
    def families(self) -> list[tuple[FamilyRecord, pd.DataFrame]]:
        """The families that tested it, in the order of the book, each with its rows."""
        by_name = dict(list(self.rows.groupby("family", sort=False)))
        return [(family, by_name[family.name]) for family in self.record.families if family.name in by_name]

    def state_of(self, family: FamilyRecord) -> tuple[str, int]:
        """Give the worst state of the tests that a family is known by, and how many of all its tests fail.

        Of a family of which none of these was judged all tests decide.
        """
        tests = self.counted[self.counted["family"].eq(family.name)]
        judged = tests[tests["state"].isin((FAIL, INCONCLUSIVE, PASS))]
        chosen = judged[judged["first"]] if judged["first"].any() else judged
        rest = REPORTED if tests["state"].eq(REPORTED).any() else NOT_EVALUATED
        state = next((name for name in (FAIL, INCONCLUSIVE, PASS) if chosen["state"].eq(name).any()), rest)
        return state, int(tests["state"].eq(FAIL).sum())

    @property
    def headline(self) -> KeyFigure | None:
        """The number that says how good it is: of the corpus with most segments, classes before values."""
        kinds = {name: about["kind"] for name, about in self.record.suite.get("tasks", {}).items()}
        kinds |= {name: task.kind for name, task in BUILTIN.items()}
        return max(
            (figure for figure in self.figures if figure.standing),
            key=lambda one: (one.value is not None, kinds.get(one.task) == CLASSIFICATION, one.segments),
            default=None,
        )

    @property
    def groups(self) -> pd.DataFrame:
        """Findings about groups that are worse off, then those of measures without a better side."""
        worse = self.findings[self.findings["group_value"].notna() & self.findings["side"].ne("better")]
        return worse.sort_values("side", ascending=False, kind="stable")

    @functools.cached_property
    def largest_difference(self) -> pd.Series | None:
        """The row of the largest difference in margins that does not fail; that of a worse group first."""
        rows = self.counted[self.counted["group_value"].notna() & self.counted["gap"].notna()]
        rows = rows[rows["state"].isin((INCONCLUSIVE, PASS, NOT_EVALUATED)) & rows["matters"].gt(0)]
        rows = rows.loc[_in_margins(rows).sort_values(ascending=False, kind="stable").index]
        return first(rows.sort_values("side", key=lambda side: side.eq("better"), kind="stable"))

    @functools.cached_property
    def worst_condition(self) -> pd.Series | None:
        """The row of the change of the signal under which it fails by most, or comes nearest to.

        Those whose quality without and with the change is known come first.
        """
        rows = self.counted[states.aspects(self.counted).eq(states.ROBUSTNESS) & self.counted["about"].ne("")]
        rows = by_excess(rows[rows["state"].isin((FAIL, INCONCLUSIVE, PASS))])
        rows = rows.assign(fails=rows["state"].eq(FAIL), known=rows["after"].notna() & rows["first"])
        return first(rows.sort_values(["fails", "known"], ascending=False, kind="stable"))

    @functools.cached_property
    def classes(self) -> pd.DataFrame:
        """How well it finds each class: estimates of recall, the worst first."""
        rows = self.estimates
        rows = rows[rows["measure"].eq("recall") & rows["part"].eq(ALL) & rows["condition"].eq("")]
        return rows[rows["label"].ne("") & rows["value"].notna()].sort_values("value", kind="stable")

    @functools.cached_property
    def group_values(self) -> pd.DataFrame:
        """How good it is for each group: estimates of the measures that its figures have, the worst first."""
        rows = self.estimates[self.estimates["part"].ne(ALL) & self.estimates["value"].notna()]
        rows = rows[rows["condition"].eq("") & rows["label"].eq("")]
        infos = rows["measure"].map(info_of)
        rows = rows.assign(title=[info.title for info in infos], better=[info.better for info in infos])
        wanted = pd.MultiIndex.from_tuples([(one.task, one.measure) for one in self.figures] or [("", "")])
        rows = rows[pd.MultiIndex.from_frame(rows[["task", "title"]]).isin(wanted)]
        rows = rows.assign(order=rows["value"].where(rows["better"].ne(LOWER), -rows["value"]))
        rows = rows.sort_values(["corpus", "task", "title", "order"], kind="stable")
        return rows.drop_duplicates(["corpus", "task", "title", "part"])

    @functools.cached_property
    def unknown(self) -> pd.DataFrame:
        """What could not be concluded, a row a kind of group, most tests first; see :func:`unknown`."""
        return unknown(self.inconclusive[self.inconclusive["group"].ne("")])


def first(rows: pd.DataFrame) -> pd.Series | None:
    """Give the first row, if there is one."""
    return None if rows.empty else next(rows.itertuples())


def unknown(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum up inconclusive rows by model and kind of group, such as ``sex``.

    ``tests``, ``few`` (how many of them have no interval), ``row`` (that with the largest difference not
    excluded, in units of its margin, or -1), ``blocks`` and ``needed``: medians of the speakers there are and
    of those that would decide, NaN without any interval.
    """
    rows = rows.assign(
        needed=speakers_needed(rows),
        size=rows["bound"].abs() / rows["matters"],
        kind=rows["group"].str.replace(r": [^,]*", "", regex=True).str.replace(", ", " and "),
    )
    rows = rows.assign(blocks=rows["blocks"].where(rows["needed"].notna()), few=rows["bound"].isna())
    kinds = rows.groupby(["model", "kind"], sort=False).agg(
        tests=("few", "size"),
        few=("few", "sum"),
        row=("size", lambda size: size.idxmax() if size.notna().any() else -1),
        blocks=("blocks", "median"),
        needed=("needed", "median"),
    )
    return kinds.reset_index().sort_values("tests", ascending=False, kind="stable")


def facts_by_model(
    record: RunRecord, results: pd.DataFrame, estimates: pd.DataFrame, path: Path = Path("results.csv")
) -> dict[str, ModelFacts]:
    """Give what a run says of each of its models, in the order of the suite; ``path`` is its results.csv."""
    run = FinishedRun(path, results, record)
    return {model.name: ModelFacts(run, model.name, estimates) for model in record.models}


def read_recorded(path: Path) -> FinishedRun:
    """Read a run that has a record, which knows all that the table is about; refused otherwise."""
    run = read_run(path)
    if not run.recorded:
        what = "there is no record of the run, run.json, beside it"
        raise input_error(run.path.name, what, "Give the output folder that `soundcheck run` wrote")
    listed = {"model": run.record.models, "family": run.record.families, "corpus": run.record.corpora}
    for column, known in listed.items():
        for name in sorted(set(run.frame[column]) - {entry.name for entry in known}):
            what = f"it does not know the {column} {quoted(name)}, of which {run.path.name} has rows"
            raise input_error("run.json", what, "Run the suite again")
    return run


def _chosen(record: RunRecord, tested: set[str], model: str | None) -> str:
    names = [entry.name for entry in record.models if entry.name in tested]
    if model is not None:
        place = f"--model {quoted(model)}", model, names
        refuse_unknown([place], "the run has no results of such a model")
        return model
    models = [name for name in names if name not in record.references]
    if len(models) != 1:
        what = f"the run has {len(models)} models beside random references"
        listed = ", ".join(map(quoted, models[:20]))
        raise input_error("--model", what, f"Name one of them: {listed}" if models else "Run one")
    return models[0]
