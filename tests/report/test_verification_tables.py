"""What a book takes along of each trial can be read again."""

import dataclasses
import gzip
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd

from soundcheck.common.media import MediaStore
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.report import verification_tables
from soundcheck.results.estimates import Estimate
from soundcheck.statistics.bootstrap import resample


def test_scores_of_trials_are_packed_and_the_same_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(verification_tables, "threshold_in_use", lambda *_: 0.5)
    segments = pd.DataFrame({"enrol": ["a", "b", "c"], "test": ["d", "e", "f"]})
    scores = SimpleNamespace(clean=np.array([0.25, np.nan, 0.75]))
    subset = SimpleNamespace(corpus="<voices>", segments=segments, predictions=scores, truth=None)
    evaluation = SimpleNamespace(family="x", model="y", media=MediaStore(tmp_path))
    html = str(verification_tables.score_file(evaluation, subset))
    assert str(verification_tables.score_file(evaluation, subset)) == html
    assert "<voices>" not in html and 'download="scores.txt.gz"' in html and "2 scores" in html
    (path,) = tmp_path.iterdir()
    assert re.search(r'href="media/([0-9a-f]{20}\.gz)"', html)[1] == path.name
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines == ["score enrol test decision threshold", "0.25 a d reject 0.5", "0.75 c f accept 0.5"]


def test_errors_stand_with_their_units_and_intervals():
    target = np.arange(90) < 30
    owners = np.arange(90) % 30
    scores = np.random.default_rng(0).normal(size=90) + target
    trials = {"as <b>": scores, "nothing": np.full(90, np.nan)}
    none, rows = np.zeros(0, dtype=int), {}
    for name, own in trials.items():
        found = resample(equal_error_rate(Trials(own, target, owners, owners, 30)), none, 200, 0)
        value = None if found.reasons[0] else float(found.value[0])
        one = Estimate("m", "c", "f", "embedding", "equal_error_rate", value=value, excluded=found.reasons[0])
        rows[name] = [one, dataclasses.replace(one, measure="min_dcf")]
    html = str(verification_tables.errors_table(rows, ["scores", "rate", "share"]))
    assert "as &lt;b&gt;" in html and "<b>" not in html
    value = rows["as <b>"][0].value
    assert f"{100 * value:.1f}" in html and f"{value:.3f}" in html
    assert html.count("no score for 90 of 90 trials") == 2
