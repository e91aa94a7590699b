"""What a page about the groups of a suite shows: how large they are, how labels are spread, how it sounds.

Conventions
-----------
Groups come as :class:`~soundcheck.evaluation.suite_groups.Compared`, one for each column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.suite_groups import Compared
from soundcheck.metrics.regression import BINS, bin_numbers
from soundcheck.report import chosen_segments, listening, tables
from soundcheck.report.aligned_words import aligned_words
from soundcheck.report.chosen_segments import choose
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import row
from soundcheck.report.segment_player import segment_player

MOST_HEARD = 3  # groups of a corpus and task
WORST, TYPICAL = 2, 1  # segments of each


def size_tables(compared: Iterable[Compared]) -> Html:
    """Show how many segments, trials and speakers each group has, and why it is not judged."""
    segments, trials = [], []
    for found in compared:
        for count in found.counts:
            speakers = "" if count.speakers is None else count.speakers
            place = (found.subset.corpus, found.column, count.group or "(none)")
            if count.targets is not None:
                trials.append((*place, count.targets, count.segments, speakers, count.lacks))
            else:
                segments.append((*place, count.segments, speakers, count.lacks))
    shown = []
    head, why = ("corpus", "column", "group"), "not judged, because"
    if segments:
        columns = [*head, "segments", "speakers", why]
        shown.append(tables.table(list(dict.fromkeys(segments)), columns, caption="Groups of segments"))
    if trials:
        columns = [*head, "trials of one speaker", "trials of two speakers", "speakers", why]
        shown.append(tables.table(list(dict.fromkeys(trials)), columns, caption="Groups of trials"))
    return join(shown) if shown else element("p", "There is no group to compare.")


def label_tables(compared: Iterable[Compared]) -> Html:
    """Show how the labels of each group are distributed, a table a corpus and task."""
    rows: dict[tuple[str, str], list[list[object]]] = {}
    heads: dict[tuple[str, str], list[str]] = {}
    for found in compared:
        subset, task = found.subset, found.subset.task
        if subset.truth is None or not task.is_labelled or not found.groups:
            continue
        place = (subset.corpus, task.name)
        numeric = ["mean", "standard deviation"] if task.is_regression else []
        parts = [tables.label(name) for name in BINS] if task.is_regression else list(task.classes)
        heads[place] = ["column", "group", "segments", *numeric, *(f"{part}, %" for part in parts)]
        everybody = np.logical_or.reduce(list(found.masks.values()))
        for group, mask in {**found.masks, "everybody": everybody}.items():
            rows.setdefault(place, []).append([found.column, group, *_distribution(subset, mask)])
    return join(
        tables.table(rows[place], heads[place], caption=f"Labels: {place[1]}, {place[0]}") for place in rows
    )


def _distribution(subset: Subset, mask: np.ndarray) -> list[object]:
    truth = subset.truth[mask]
    if subset.task.is_regression:
        codes = bin_numbers(truth)
        shares = [np.mean(codes == n) for n in range(len(BINS))]
        moments = [tables.number(float(np.mean(truth)), 2), tables.number(float(np.std(truth)), 2)]
    else:
        shares, moments = [np.mean(truth == name) for name in subset.task.classes], []
    return [len(truth), *moments, *(tables.number(100 * float(share), 0) for share in shares)]


def group_sounds(evaluation: Evaluation, compared: Sequence[Compared], most: int = MOST_HEARD) -> Html:
    """Play the worst segments of the group with the largest errors of each column, beside a typical one.

    Parameters
    ----------
    evaluation
        For the media store.
    compared
        All columns of one corpus and task.
    most
        Columns to play a group of, those in which it has the largest errors. No segment is played twice.
    """
    if not compared:
        return Html()
    subset = compared[0].subset
    title = f"{subset.corpus}, {subset.task.name}"
    if subset.truth is None:
        return element("p", f"{title}: without labels nothing says which segments are worst.")
    ranked = []
    for one in compared:
        errors = segment_errors(evaluation, one.subset)
        means = [
            (-float(np.nanmean(errors[mask])), one.column, group)
            for group, mask in one.masks.items()
            if np.isfinite(errors[mask]).any()
        ]
        if means:
            ranked.append((min(means), one, errors))
    ranked.sort(key=lambda entry: entry[0])
    shown, heard = [element("h3", f"{title}: the group of each column with the largest errors")], set()
    for (_, column, group), one, errors in ranked[:most]:
        name, mask = f"{column}: {group}", one.subset.mask(column, group)
        if subset.task.is_embedding:
            shown.append(_trials(evaluation, one.subset.take(np.flatnonzero(mask)), one.subset, name))
        else:
            shown.append(_group(evaluation, one.subset, name, mask, errors, heard))
    return join(shown)


def segment_errors(evaluation: Evaluation, subset: Subset) -> np.ndarray:
    """Say how wrong the answer for each segment or trial is, float64 ``(rows,)``; NaN where nothing is known.

    The absolute error of values, whether a class or the decision about a trial is wrong, or the word errors
    divided by the words.
    """
    truth, predicted = subset.truth, subset.predictions.clean
    if subset.task.is_embedding:
        threshold = evaluation.threshold(subset, predicted)
        return np.where(np.isfinite(predicted), (predicted > threshold) != truth, np.nan)
    return chosen_segments.segment_errors(subset)


def _group(
    evaluation: Evaluation,
    subset: Subset,
    title: str,
    mask: np.ndarray,
    errors: np.ndarray,
    heard: set[str],
) -> Html:
    keys, view = subset.segments["key"].to_numpy(dtype=object), evaluation.view(subset)
    chosen = choose(errors, keys, mask & ~np.isin(keys, list(heard)), worst=WORST, typical=TYPICAL)
    shown, aligned = [], []
    for n, what in chosen:
        if what == chosen_segments.WORST and errors[n] == 0:
            continue
        heard.add(keys[n])
        said = f"{what}: {_said(subset, n, errors[n])}"
        color = "changed" if what == chosen_segments.TYPICAL else "original"
        segment = subset.segments.iloc[n]
        shown.append(
            segment_player(evaluation.media, view, segment, said, color, heard=not evaluation.guesses)
        )
        if subset.task.is_transcription and subset.predictions.clean[n] is not None:
            aligned.append(aligned_words(subset.truth[n], {"recognised": subset.predictions.clean[n]}))
    return row(shown, title=title) + join(aligned) if shown else Html()


def _said(subset: Subset, n: int, error: float) -> str:
    if subset.task.is_transcription:
        return f"{tables.number(100 * error, 0)} % word errors"
    truth, predicted = subset.truth[n], subset.predictions.clean[n]
    if subset.task.is_regression:
        return f"labelled {truth:.2f}, predicted {predicted:.2f}"
    return f"labelled {truth}, predicted {predicted}"


def _trials(evaluation: Evaluation, own: Subset, everybody: Subset, title: str) -> Html:
    threshold = evaluation.threshold(everybody, everybody.predictions.clean)
    return element("h3", title) + listening.hardest_trials(evaluation, own, threshold, 1)
