"""Output folders of runs as far as comparisons, gates and histories look at them."""

import dataclasses

import numpy as np
import pytest
from tests.results.made import TASK, notebook, value
from tests.support.finished import finished

from soundcheck.common import files
from soundcheck.results import rows as judged_rows
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import Judged

COMMON = 0.02 * np.random.default_rng(5).standard_normal(300)  # what the speakers do to values, in all runs


@pytest.fixture
def judged(rng):
    """Make a value with replicates: what all runs have in common, and a little of its own."""

    def make(test="T", number=0.7, segments="s", blocks="b", **row):
        replicates = number + COMMON + 0.001 * rng.standard_normal(len(COMMON))
        return Judged(value(test, number, **row), replicates, segments, blocks)

    return make


@pytest.fixture
def write(tmp_path):
    """Write an output folder from rows or judged tests; ``model`` is the fingerprint of all models."""

    def made(name, entries, *, model="1" * 40, corpus=None, kinds=None, **about):
        entries = [row if isinstance(row, Judged) else Judged(row, np.empty(0)) for row in entries]
        names = sorted({entry.verdict.model for entry in entries})
        usual = {"interval": "t", "suite": {"digest": "s" * 40, "tasks": {"arousal": TASK}}}
        usual["notebooks"] = [notebook(model=name) for name in names]
        rows = (entry.verdict for entry in entries)
        folder = finished(tmp_path / name, rows, kinds, **(usual | about))
        record = RunRecord.read(folder / "run.json")
        models = tuple(dataclasses.replace(entry, fingerprint=model) for entry in record.models)
        corpora = tuple(dataclasses.replace(entry, **corpus or {}) for entry in record.corpora)
        dataclasses.replace(record, models=models, corpora=corpora).write(folder / "run.json")
        for tested in names:
            path = folder / "notebooks" / files.slug(tested) / "f.json"
            path.parent.mkdir(parents=True)
            judged_rows.save([entry for entry in entries if entry.verdict.model == tested], path)
        return folder

    return made
