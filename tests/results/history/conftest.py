"""Output folders of runs as far as a history looks at them."""

import numpy as np
import pytest

from soundcheck.common import files
from soundcheck.results import judged as judged_rows
from soundcheck.results.judged import Judged
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict
from soundcheck.statistics.rules import passes

BLOCKS = 20
CORPUS = {"name": "c", "slug": "c", "format": "csv", "title": "c", "description": "", "synthetic": False}
CORPUS |= {"segments": 100, "speakers": 20, "seconds": 1.0, "left_out": (), "notices": (), "digest": "sounds"}
MODEL = {"slug": "m", "kind": "python", "target": "m:predict", "tasks": ["arousal"], "description": ""}
MODEL |= {"license": "", "inputs": 1, "failed": 0, "unusable": 0, "notes": (), "failures": ()}
MODEL |= {"repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}}


def verdict(test="T", value=0.7, **changes):
    found = dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test=test)
    found |= dict(value=value, low=value - 0.04, high=value + 0.04, segments=100, blocks=BLOCKS)
    found |= dict(rule=">", threshold=0.5) | changes
    if "passed" not in found:
        found["passed"] = passes(found["rule"], found["value"], found["threshold"])
    return Verdict(**found)


@pytest.fixture(scope="session")
def common():
    """What the speakers do to every value, in every run: ``(replicates,)``."""
    return 0.02 * np.random.default_rng(5).standard_normal(300)


@pytest.fixture
def judged(rng, common):
    """Give a test with replicates: what all runs have in common, and a little of its own."""

    def make(test="T", value=0.7, segments="s", blocks="b", **changes):
        replicates = value + common + 0.001 * rng.standard_normal(300)
        return Judged(verdict(test, value, **changes), replicates, segments, blocks)

    return make


@pytest.fixture
def write(tmp_path, recorded):
    """Write the output folder of a run: ``write("one", [judged("T", 0.7)])``."""

    def made(name, entries, model="1" * 40, corpus=None, **about):
        folder = tmp_path / name
        digest = write_results(to_frame(entry.verdict for entry in entries), folder)
        for one in {entry.verdict.model for entry in entries}:
            rows = folder / "notebooks" / files.slug(one) / "f.json"
            rows.parent.mkdir(parents=True)
            judged_rows.save([entry for entry in entries if entry.verdict.model == one], rows)
        models = [MODEL | {"name": one, "fingerprint": model} for one in {e.verdict.model for e in entries}]
        families = [{"name": "f", "title": "F", "category": "correctness", "question": "", "digest": "1"}]
        usual = {"results": digest, "run": digest[:12], "families": families, "models": models}
        usual |= {"corpora": [CORPUS | (corpus or {})], "interval": "t"}
        recorded(**(usual | about)).write(folder / "run.json")
        return folder

    return made
