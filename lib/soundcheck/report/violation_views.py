"""What the page on recognition fairness shows: distances of groups, violations between them, degradations.

Conventions
-----------
Pairs are those of :meth:`soundcheck.evaluation.evaluation.Evaluation.recogniser_pairs`; several of them in
one call are compared on the same groups of the same corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import RecogniserPair, excluded_settings
from soundcheck.metrics import differential, disagreement
from soundcheck.report import figures, recognition_tables, tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.recognition_figures import degradation_curves, violation_bars
from soundcheck.statistics.bootstrap import Resampled

Counts = Mapping[str, pd.DataFrame]


def clean_distances(evaluation: Evaluation, found: Mapping[RecogniserPair, Resampled]) -> Html:
    """Show how far apart both sides of each pair are on each group, before anything is changed."""
    rows = []
    for pair, distances in found.items():
        clean = slice(None, None, len(evaluation.settings))
        low, high = (bound[clean] for bound in distances.interval(evaluation.interval))
        cells = map(recognition_tables.percent_cell, distances.value[clean], low, high)
        about = (pair.subset.corpus, pair.pair, pair.column)
        rows += [(*about, *group) for group in zip(pair.groups, cells, strict=True)]
    return tables.table(rows, ["corpus", "pair", "column", "group", "distance, signals as they are"])


def clean_differences(evaluation: Evaluation, pairs: Sequence[RecogniserPair]) -> Html:
    """Count how often the distance of a group exceeds that of another one before anything is changed."""
    taus = evaluation.family.options["taus"]
    distances = pd.concat(evaluation.distance_table(pair) for pair in pairs)
    unequal = differential.differences(distances, taus)
    by_tau = differential.counts(unequal, pairs[0].groups, "tau", taus)
    title = f"Differences between groups, signals as they are, {', '.join(pairs[0].place)}"
    return recognition_tables.count_table({"by τ": by_tau}, title)


def excluded_table(judged: pd.DataFrame, corpus: str) -> Html:
    """Show which settings do not count on a corpus, and why.

    Parameters
    ----------
    judged
        From :meth:`soundcheck.evaluation.evaluation.Evaluation.judged_settings`.
    corpus
        Name of the corpus.
    """
    out = judged[judged["left_out"].ne("")]
    if out.empty:
        return element("p", f"{corpus}: none; all {len(judged)} settings are counted.")
    rows = [
        (row.transformation, row.level, row.left_out, recognition_tables.percent_cell(row.distance))
        for row in out.itertuples()
    ]
    caption = f"{corpus}: settings that are left out; {len(judged) - len(out)} are counted"
    columns = ["transformation", "level", "why", "mean distance between recognisers"]
    return tables.table(rows, columns, caption=caption)


def counts(
    evaluation: Evaluation, pairs: Sequence[RecogniserPair], judged: pd.DataFrame, title: str
) -> tuple[Html, Counts, Counts]:
    """Count the violations of each group, for all settings that count and for comprehensible ones.

    Parameters
    ----------
    evaluation
        Has the settings and the family's options.
    pairs
        Who is compared, at least one.
    judged
        Which settings count on their corpus.
    title
        Who and what is compared.

    Returns
    -------
    tuple of Html, dict and dict
        Tables, and both counts for :func:`bars`.
    """
    options = evaluation.family.options
    found = evaluation.violation_counts(pairs, excluded_settings(judged))
    clear = evaluation.violation_counts(pairs, excluded_settings(judged, options["shown_rating"]))
    totals = {"in all": found["in all"], "comprehensible": clear["in all"]}
    preferred = (options.get("base_groups") or {}).get(pairs[0].column, "")
    base, _ = differential.against_base(found["in all"].loc["all"], preferred)
    beside = {what: differential.against_base(table.loc["all"], base)[1] for what, table in totals.items()}
    shown = recognition_tables.count_table(found | totals, f"Violations of each group, {title}")
    shown += recognition_tables.base_table(beside, base, f"Violations beside those of {base}, {title}")
    return shown, found, clear


def bars(evaluation: Evaluation, found: Counts, title: str, which: str = "") -> Html:
    """Draw the violations of each group; ``which`` says of which settings."""
    several = {name: table for name, table in found.items() if len(table) > 1} or found
    figure = violation_bars([(f"{name}{which}", table) for name, table in several.items()])
    return figures.show(evaluation.media, figure, f"Violations of each group{which}, {title}")


def certainties(
    evaluation: Evaluation, pair: RecogniserPair, distances: Resampled, judged: pd.DataFrame
) -> Html:
    """Show in which share of replicates each violation of a pair is there."""
    tau, settings = evaluation.family.options["tau"], list(evaluation.settings)
    violations = differential.violations(evaluation.distance_table(pair), [tau], excluded_settings(judged))
    violations["certainty"] = disagreement.violation_certainties(
        distances.replicates, violations, settings, pair.groups
    )
    title = f"{pair.pair}, {pair.column}, {pair.subset.corpus}, τ = {tau:g}"
    return recognition_tables.certainty_table(violations, title)


def degradations(evaluation: Evaluation, pair: RecogniserPair, distances: Resampled) -> Html:
    """Draw how much further apart both sides of a pair are for each group, from mild to severe."""
    degradation = disagreement.degradations(distances.value, len(pair.groups))
    rows = [
        (*setting, group, degradation[g, s])
        for s, setting in enumerate(list(evaluation.settings)[1:])
        for g, group in enumerate(pair.groups)
    ]
    frame = pd.DataFrame(rows, columns=["transformation", "level", "group", "value"])
    title = f"Degradation of each group, {pair.pair}, {pair.column}, {pair.subset.corpus}"
    figure = figures.show(evaluation.media, degradation_curves(frame, "degradation"), title)
    return join([tables.notes([title]), figure])
