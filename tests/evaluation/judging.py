"""Judges alone, without a run: what tests of what is concluded share."""

import types

from soundcheck.evaluation.judging import Judging
from soundcheck.suite.measures import Margin
from soundcheck.suite.thresholds import read_family


def judging(family: str, task, adjust: tuple[str, ...] = (), **settings: object) -> Judging:
    """Make what judges a family of tests on the corpus ``c`` without a run; settings are its attributes."""
    made = Judging()
    usual = {"model": "m", "seed": 0, "replicates": 200, "interval": "t", "thresholds": "gap"}
    usual |= {"margin": Margin(relative=None), "block_names": {"c": "speaker"}, "_seconds_left": 10.0}
    usual |= {"family": read_family(family), "tasks": [task]}
    usual["corpora"] = [types.SimpleNamespace(name="c", adjust=adjust, against={})]
    for name, value in (usual | settings).items():
        setattr(made, name, value)
    return made
