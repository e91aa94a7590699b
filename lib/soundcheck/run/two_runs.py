"""Compares two output folders: the same models before and after a change, without running anything.

A run keeps the replicates of every test beside its notebooks, so what two runs say of a model is compared as
two models of one run are. Where speakers or seeds are not the same, the comparison is unpaired.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from soundcheck import results
from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.record import RunRecord
from soundcheck.run.output import Output

__all__ = ["Compared", "compare_runs", "is_run"]

_RANDOM = "random"  # kind of the reference models
_MOST_NAMED = 20  # worse or better tests in the summary


@dataclasses.dataclass(frozen=True)
class Compared:
    """What came out, for the terminal."""

    exit_code: int
    summary: str


@dataclasses.dataclass(frozen=True)
class _Run:
    """An output folder: its record, and the judged tests of each model with their replicates."""

    name: str
    record: RunRecord
    judged: dict[str, list[results.Judged]]


def is_run(path: Path) -> bool:
    """Say whether a path is the output folder of a run."""
    return (path / "results.csv").is_file()


def compare_runs(
    baseline: Path, candidate: Path, out: Path, *, families: Sequence[str] = (), strict: bool = False
) -> Compared:
    """Compare the models of the same name of two runs, or the only model of each.

    Parameters
    ----------
    baseline, candidate
        Output folders of ``soundcheck run``, the earlier one first.
    out
        Output folder; ``comparisons.csv`` is written there.
    families
        Only these families; default all.
    strict
        Whether a model that became worse on a test changes the exit code.

    Raises
    ------
    InputError
        If a folder is not that of a run or was changed after it, or the two have nothing in common.
    """
    if baseline.resolve() == candidate.resolve():
        raise input_error(str(candidate), "a run is compared with itself", "Name two output folders")
    output = Output(out)
    output.check({})
    if output.folder.resolve() in (baseline.resolve(), candidate.resolve()):
        raise input_error(
            f"--out {out}", "this is one of the runs that are compared", "Choose another folder"
        )
    runs = [_read(baseline), _read(candidate)]
    _check_families(families, runs)
    same_draws = runs[0].record.seed == runs[1].record.seed
    rows: list[results.Contrast] = []
    lines = _differences(*runs)
    for first, second in _pairs(*runs):
        found = results.contrasts(
            *(
                [entry for entry in judged if not families or entry.verdict.family in families]
                for judged in (runs[0].judged[first], runs[1].judged[second])
            ),
            same_draws=same_draws,
        )
        rows += found
        lines += _told(found, first, second)
    if not rows:
        raise input_error(str(candidate), "the two runs have no test in common", "Name runs of one suite")
    output.prepare()
    frame = results.contrast_frame(rows)
    files.write_bytes(output.comparison_table, results.contrast_csv(frame))
    lines.append(f"All differences: {Path(output.display_name) / output.comparison_table.name}")
    worse = frame["outcome"].eq(results.WORSE).any()
    return Compared(EXIT_TEST_FAILED if strict and worse else EXIT_OK, "\n".join(lines))


def _read(folder: Path) -> _Run:
    table, record_file = folder / "results.csv", folder / "run.json"
    files.require_regular(table)
    files.require_regular(record_file)
    record = RunRecord.read(record_file)
    if record.results != files.digest(table):
        what = "the file is not the one that the run wrote: it was cut, edited or mixed with another run"
        raise input_error(str(table), what, "Run the suite again")
    judged: dict[str, list[results.Judged]] = {model.name: [] for model in record.models}
    for notebook in record.notebooks:
        if notebook.failed:
            continue
        path = folder / "notebooks" / files.slug(notebook.model) / f"{files.slug(notebook.family)}.json"
        try:
            judged[notebook.model] += results.load_judged(path)
        except (OSError, ValueError) as error:
            what = f"the rows of {notebook.display_name} cannot be read ({type(error).__name__})"
            remedy = f"Run the suite again; that run was made with Soundcheck {record.version}"
            raise input_error(str(path), what, remedy) from error
    return _Run(folder.name, record, judged)


def _check_families(families: Sequence[str], runs: Sequence[_Run]) -> None:
    known = {family.name for run in runs for family in run.record.families}
    problems = Problems()
    for name in families:
        if name not in known:
            what = "neither run has such a family"
            problems.add(f"--family {quoted(name)}", what, did_you_mean(name, known))
    problems.raise_if_any()


def _pairs(first: _Run, second: _Run) -> Iterator[tuple[str, str]]:
    """Pair the models of two runs; random references know nothing that could change."""
    names = [[m.name for m in run.record.models if m.kind != _RANDOM] for run in (first, second)]
    common = [name for name in names[0] if name in names[1]]
    if not common and len(names[0]) == len(names[1]) == 1:
        common = [""]
        yield names[0][0], names[1][0]
    for name in filter(None, common):
        yield name, name
    if not common:
        listed = ["; ".join(map(quoted, one)) or "none" for one in names]
        what = f"no model has the same name in both runs ({listed[0]} against {listed[1]})"
        raise input_error(second.name, what, "Give the models the same name, or run one model in each")


def _differences(first: _Run, second: _Run) -> list[str]:
    """Say what else is not the same in the two runs."""
    one, other = first.record, second.record
    lines = []
    if one.version != other.version:
        lines.append(f"The runs were made with Soundcheck {one.version} and {other.version}.")
    if one.seed != other.seed:
        lines.append(f"The runs have different seeds ({one.seed} and {other.seed}).")
    data = {corpus.name: corpus.digest for corpus in one.corpora}
    for corpus in other.corpora:
        if data.get(corpus.name, corpus.digest) != corpus.digest:
            lines.append(f"The corpus {corpus.name} does not hold the same sounds in both runs.")
    for name in sorted(data.keys() ^ {corpus.name for corpus in other.corpora}):
        lines.append(f"The corpus {name} is in one of the runs only.")
    return lines


def _told(found: Sequence[results.Contrast], first: str, second: str) -> list[str]:
    """Sum up a pair of models, and name what became worse, then what became better."""
    frame = results.contrast_frame(found)
    if first == second:
        frame = frame.assign(baseline="before")
    lines = [results.conclusion(frame)]
    for outcome in (results.WORSE, results.BETTER):
        rows = frame[frame["outcome"].eq(outcome)]
        for row in rows.head(_MOST_NAMED).itertuples():
            place = " / ".join(
                filter(None, (row.corpus, row.family, row.task, row.test, row.group, row.label))
            )
            lines.append(
                f"{outcome}: {second} / {place}: {row.baseline_value:.3g} → {row.candidate_value:.3g} "
                f"(difference {row.difference:.2g}, 95 % {row.low:.2g} to {row.high:.2g})"
            )
        if len(rows) > _MOST_NAMED:
            lines.append(f"{outcome}: and {len(rows) - _MOST_NAMED} more")
    return lines
