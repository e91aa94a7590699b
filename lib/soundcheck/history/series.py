"""Which models of the runs of a history are one and the same, and which runs do not belong together."""

from __future__ import annotations

from collections.abc import Sequence

from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.history.past_runs import PastRun


def models_of(runs: Sequence[PastRun], wanted: Sequence[str] = ()) -> list[dict[str, str]]:
    """Say under which name each model of each run is told.

    Models of the same name are one. If every run has a single model and no two of them share its name, these
    are one, too, under its last name. Random references are left out unless they are asked for.

    Parameters
    ----------
    runs
        The runs, the earliest first.
    wanted
        Only these models; default all.

    Returns
    -------
    list of dict
        For each run: name of a model in it -> name in the history.

    Raises
    ------
    InputError
        If no run has such a model.
    """
    own = [run.models for run in runs]
    known = sorted({str(name) for run in runs for name in run.finished.frame["model"]})
    for name in wanted:
        if name not in known:
            raise input_error(f"--model {quoted(name)}", "no run has such a model", did_you_mean(name, known))
    if wanted:
        return [{name: name for name in wanted} for _ in runs]
    single = [names[0] for names in own if len(names) == 1]
    if len(single) == len(runs) == len(set(single)):
        return [{name: single[-1]} for name in single]
    return [{name: name for name in names} for names in own]


def strangers(runs: Sequence[PastRun], models: Sequence[dict[str, str]]) -> list[PastRun]:
    """List the runs that have no test in common with any other."""
    tests = []
    for run, names in zip(runs, models, strict=True):
        keys = (key for key, row in run.finished.verdicts.items() if row.value is not None)
        tests.append({(names[key[0]], *key[1:]) for key in keys if key[0] in names})
    found = []
    for number, (run, own) in enumerate(zip(runs, tests, strict=True)):
        others = (other for place, other in enumerate(tests) if place != number)
        if own and all(own.isdisjoint(other) for other in others):
            found.append(run)
    return found
