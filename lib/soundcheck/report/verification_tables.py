"""Tables about speaker verification: trials, error rates with what they rest on, scores to take along."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import quoted
from soundcheck.corpora.trials.trial_files import score_text
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.verification import KINDS, threshold_in_use
from soundcheck.report.estimate_tables import estimate_cell
from soundcheck.report.html import Html, element
from soundcheck.report.tables import number, table
from soundcheck.results.estimates import Estimate

MOST_LINKED = 100_000  # trials whose scores a book takes along


def trial_table(evaluation: Evaluation, subsets: Iterable[Subset]) -> Html:
    """Say what is compared: how many trials of each kind, of how many speakers and recordings."""
    rows = []
    for subset in subsets:
        origin = evaluation.trial_table(subset).origin
        for kind in KINDS:
            own = subset.segments[subset.segments["kind"].eq(kind)]
            if len(own):
                speakers = pd.concat([own["enrol_speaker"], own["test_speaker"]]).nunique()
                scored = int(np.isfinite(subset.predictions.clean[own.index]).sum())
                sides = [own[side].nunique() for side in ("enrolment", "segment")]
                rows.append([subset.corpus, origin, kind, len(own), scored, speakers, *sides])
    columns = ["corpus", "trials from", "of", "trials", "with a score", "speakers", "enrolled", "tested"]
    return table(rows, columns, sortable=False)


def overview_table(rows: Mapping[str, Estimate], caption: str = "") -> Html:
    """Show values with the trials and speakers that they rest on."""
    shown = [[name, estimate_cell(one), one.segments, one.speakers] for name, one in rows.items()]
    columns = ["", "value, 95 % interval", "trials", "speakers"]
    return table(shown, columns, caption=caption, sortable=False)


def errors_table(
    rows: Mapping[object, Sequence[Estimate]], columns: Sequence[str], caption: str = ""
) -> Html:
    """Show several errors of each way to decide or to score, with their intervals."""
    shown = [[name, *map(estimate_cell, own)] for name, own in rows.items()]
    return table(shown, list(columns), caption=caption, sortable=False)


def threshold_line(evaluation: Evaluation, corpus: str, marks: Mapping[str, float]) -> Html:
    """Say where the thresholds lie, and which one is in use."""
    told = ", ".join(f"{name} {number(value, 4)}" for name, value in marks.items())
    wanted = evaluation.option("threshold")
    used = f"the number {wanted:g}" if isinstance(wanted, int | float) else f"that of the {wanted}"
    text = f"{corpus}: thresholds of the {told}. In use is {used}; scores above it are accepted."
    if not isinstance(wanted, int | float):
        text += " It was chosen on these very trials, so it is better than one that is fixed before."
    return element("p", text, class_="sc-note", limit=None)


def score_file(evaluation: Evaluation, subset: Subset) -> Html:
    """Offer scores and decisions of all trials, one a line in the order of the list, as packed text."""
    scores = subset.predictions.clean
    there = np.isfinite(scores)
    where = f"{subset.corpus}: {int(there.sum()):,} scores"
    if there.sum() > MOST_LINKED:
        return element("p", f"{where}; the folder scores of the output has them.")
    names = (subset.segments.loc[there, side].tolist() for side in ("enrol", "test"))
    threshold = threshold_in_use(evaluation.family, evaluation.model, scores, subset.truth)
    text, suffix = score_text(*names, scores[there], threshold)
    address = evaluation.media.add(gzip.compress(text, mtime=0), ".gz")  # a third of the size
    link = element("a", f"scores of {quoted(subset.corpus)}", href=address, download=f"scores{suffix}.gz")
    return element("p", f"{where}: ", link, ", packed with gzip")
