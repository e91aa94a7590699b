"""What pages about verification show beside figures: scores to download, errors by condition."""

import dataclasses
import gzip
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
from tests.report.given import cells

from soundcheck.common.media import MediaStore
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.report import verification_views
from soundcheck.results.estimates import Estimate, estimate_frame
from soundcheck.statistics.bootstrap import resample


def test_scores_of_trials_are_packed_and_the_same_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(verification_views, "threshold_in_use", lambda *_: 0.5)
    segments = pd.DataFrame({"enrol": ["a", "b", "c"], "test": ["d", "e", "f"]})
    scores = SimpleNamespace(clean=np.array([0.25, np.nan, 0.75]))
    subset = SimpleNamespace(corpus="<voices>", segments=segments, predictions=scores, truth=None)
    evaluation = SimpleNamespace(family="x", model="y", media=MediaStore(tmp_path))
    html = str(verification_views.score_file(evaluation, subset))
    assert str(verification_views.score_file(evaluation, subset)) == html
    assert "<voices>" not in html and 'download="scores.txt.gz"' in html and "2 scores" in html
    (path,) = tmp_path.iterdir()
    assert re.search(r'href="media/([0-9a-f]{20}\.gz)"', html)[1] == path.name
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines == ["score enrol test decision threshold", "0.25 a d reject 0.5", "0.75 c f accept 0.5"]


def test_errors_stand_with_their_units_and_intervals_or_why_there_are_none():
    target, owners = np.arange(90) < 30, np.arange(90) % 30
    scores = np.random.default_rng(0).normal(size=90) + target
    rows = []
    for name, own in {"as <b>": scores, "nothing": np.full(90, np.nan)}.items():
        found = resample(equal_error_rate(Trials(own, target, owners, owners, 30)), np.zeros(0, int), 200, 0)
        known = None if found.reasons[0] else float(found.value[0])
        about = {"condition": f"scores: {name}", "value": known, "excluded": found.reasons[0]}
        rows.append(Estimate("m", "c", "f", "embedding", "equal_error_rate", **about))
        rows.append(dataclasses.replace(rows[-1], measure="min_dcf"))
    head, first, second = cells(verification_views._by_condition(estimate_frame(rows), "scores", "c"))
    assert len(head) == 5 and "minimum detection cost" in head and "as <b>" in first
    assert f"{100 * rows[0].value:.1f} %" in first and f"{rows[0].value:.3f}" in first
    assert second.count("no score for 90 of 90 trials") == 2
