"""Output folders of runs as far as comparisons, gates and histories look at them."""

import numpy as np
import pytest
from tests.results.made import BLOCKS, TASK, notebook, value

from soundcheck.common import files
from soundcheck.results import judged as judged_rows
from soundcheck.results.judged import Judged
from soundcheck.results.table import to_frame, write_results

COMMON = 0.02 * np.random.default_rng(5).standard_normal(300)  # what the speakers do to values, in all runs
CORPUS = {"name": "c", "slug": "c", "format": "csv", "title": "c", "description": "", "synthetic": False}
CORPUS |= {"segments": 100, "speakers": BLOCKS, "seconds": 1.0, "left_out": (), "notices": ()}
MODEL = {"slug": "m", "kind": "python", "target": "m:predict", "tasks": ["arousal"], "description": ""}
MODEL |= {"license": "", "inputs": 1, "failed": 0, "unusable": 0, "notes": (), "failures": ()}
MODEL |= {"repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}}
FAMILY = {"name": "f", "title": "F", "category": "correctness", "question": "", "digest": "1"}


@pytest.fixture
def judged(rng):
    """Make a value with replicates: what all runs have in common, and a little of its own."""

    def make(test="T", number=0.7, segments="s", blocks="b", **row):
        replicates = number + COMMON + 0.001 * rng.standard_normal(len(COMMON))
        return Judged(value(test, number, **row), replicates, segments, blocks)

    return make


@pytest.fixture
def write(tmp_path, recorded):
    """Write an output folder from rows or judged tests; ``model`` is the fingerprint of all models."""

    def made(name, entries, *, model="1" * 40, corpus=None, kinds=None, **about):
        folder = tmp_path / name
        entries = [one if isinstance(one, Judged) else Judged(one, np.empty(0)) for one in entries]
        digest = write_results(to_frame(entry.verdict for entry in entries), folder)
        names = sorted({entry.verdict.model for entry in entries})
        for one in names:
            rows = folder / "notebooks" / files.slug(one) / "f.json"
            rows.parent.mkdir(parents=True)
            judged_rows.save([entry for entry in entries if entry.verdict.model == one], rows)
        kinds = {one: MODEL["kind"] for one in names} | (kinds or {})
        usual = {"results": digest, "run": digest[:12], "interval": "t", "families": [FAMILY]}
        usual["models"] = [MODEL | {"name": one, "fingerprint": model, "kind": kinds[one]} for one in names]
        usual["corpora"] = [CORPUS | {"digest": "sounds"} | (corpus or {})]
        usual["suite"] = {"digest": "s" * 40, "tasks": {"arousal": TASK}}
        usual["notebooks"] = [notebook(model=one) for one in names]
        recorded(**(usual | about)).write(folder / "run.json")
        return folder

    return made
