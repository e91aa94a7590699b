"""Evaluations of small tables, as a notebook loads them, and what judges alone."""

import types
from pathlib import Path

import pandas as pd
import pytest

from soundcheck.corpora.trials.trial_table import write_table
from soundcheck.evaluation import Evaluation
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import CorpusDescription
from soundcheck.suite.families import Margin
from soundcheck.suite.thresholds import read_family


@pytest.fixture
def load(tmp_path, describe):
    """Load an evaluation of the corpus ``c``: its segments, and what the model says of each of them."""

    def made(family, table: pd.DataFrame, answers, tasks, *, groups=(), audio=True, trials=None, **settings):
        keys = [f"{n:06d}" for n in range(len(table))]
        places = {"key": keys, "file": keys, "start": 0.0, "end": 1.0}
        table.assign(**places).to_parquet(tmp_path / "segments.parquet")
        given = {"key": keys, "change": "", "error": "", "drawn": ""}
        pd.DataFrame(given | answers).to_parquet(tmp_path / "predictions.parquet")
        paths = {name: tmp_path / f"{name}.parquet" for name in ("segments", "predictions")}
        about = {"name": "c", "title": "c", "root": Path(tmp_path), "blocks": ("speaker",)}
        if trials is not None:
            paths["trials"] = tmp_path / "trials.parquet"
            write_table(paths["trials"], trials)
        corpus = CorpusDescription(**about, **paths, groups=groups, audio=audio)
        return Evaluation(describe(family, tasks=tasks, corpora=(corpus,), **settings))

    return made


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
