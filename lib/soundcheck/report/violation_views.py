"""What the page on recognition fairness shows: distances of groups, violations between them, degradations.

Pairs are those of :meth:`soundcheck.evaluation.evaluation.Evaluation.recogniser_pairs`; several of them in
one call are compared on the same groups of the same corpus.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import RecogniserPair, excluded_settings
from soundcheck.metrics import differential
from soundcheck.report import views
from soundcheck.report.formats import POINTS, Cell, number, percent, value_cell, values
from soundcheck.report.html import Html
from soundcheck.report.style import show
from soundcheck.statistics.bootstrap import Resampled

Counts = Mapping[str, pd.DataFrame]
SURE = 0.95  # certainty from which a violation counts as sure
STUDY = (8, 41)  # transformations and settings of AequeVox
MOST_CERTAIN = 10  # violations that are shown
MOST_LINES = 16  # groups of a panel: those that are worst


def clean_distances(evaluation: Evaluation, resampled: Mapping[RecogniserPair, Resampled]) -> Html:
    """Show how far apart both sides of each pair are on each group, before anything is changed."""
    clean, rows = slice(None, None, len(evaluation.settings)), []
    for pair, distances in resampled.items():
        low, high = distances.interval(evaluation.interval)
        cells = map(value_cell, distances.value[clean], low[clean], high[clean], ["%"] * len(pair.groups))
        about = (pair.subset.corpus, pair.pair, pair.column)
        rows += [(*about, *values) for values in zip(pair.groups, cells, strict=True)]
    return views.listed(rows, ["corpus", "pair", "column", "group", "distance, signals as they are"])


def clean_differences(evaluation: Evaluation, pairs: Sequence[RecogniserPair]) -> Html:
    """Count how often the distance of a group exceeds that of another one before anything is changed."""
    taus, title = evaluation.family.options["taus"], "Differences between groups, signals as they are"
    distances = pd.concat(evaluation.distance_table(pair) for pair in pairs)
    differences = differential.differences(distances, taus)
    by_tau = differential.counts(differences, pairs[0].groups, "tau", taus)
    return count_table({"by τ": by_tau}, f"{title}, {', '.join(pairs[0].place)}")


def excluded_table(judged: pd.DataFrame, corpus: str) -> Html:
    """Show which settings do not count on a corpus, and why.

    ``judged`` is from :meth:`soundcheck.evaluation.evaluation.Evaluation.judged_settings`.
    """
    out = judged[judged["left_out"].ne("")]
    columns = {"transformation": "transformation", "level": "level", "why": "left_out"}
    columns["mean distance between recognisers"] = values("distance", "%")
    caption = f"{corpus}: settings that are left out; {len(judged) - len(out)} are counted"
    none = f"{corpus}: none; all {len(judged)} settings are counted."
    return views.table(out, columns, caption=caption, none=none)


def judged_settings(
    evaluation: Evaluation, recognisers: Mapping[tuple[str, str], Sequence[RecogniserPair]]
) -> dict[str, pd.DataFrame]:
    """Say of each corpus which settings count, by the pairs of recognisers of its columns."""
    tables: dict[str, list[pd.DataFrame]] = {corpus: [] for corpus, _ in recognisers}
    for (corpus, _), pairs in recognisers.items():
        tables[corpus] += map(evaluation.distance_table, pairs)
    return {corpus: evaluation.judged_settings(each) for corpus, each in tables.items()}


def group_table(pairs: Sequence[RecogniserPair]) -> Html:
    """Show how large the groups are that are compared, and by which pairs."""
    names = ["corpus", "column", "group", "segments", "speakers"]
    rows = [(*pair.place, *group, pair.pair) for pair in pairs for group in pair.counts()]
    frame = pd.DataFrame(rows, columns=[*names, "pairs"])
    frame = frame.groupby(names, sort=False)["pairs"].agg(", ".join).reset_index()
    return views.table(frame)


def settings_notes(evaluation: Evaluation) -> list[str]:
    """Say how many of the study's changes the suite has, if not all."""
    series = evaluation.family.transformations.values()
    names, settings = len(series), sum(len(swept.steps) for swept in series)
    if names >= STUDY[0] and settings >= STUDY[1]:
        return []
    limits = f"{names} of the study's {STUDY[0]} transformations"
    return [f"The suite limits the changes: {limits}, {settings} of its {STUDY[1]} settings."]


def violations(
    evaluation: Evaluation, pairs: Sequence[RecogniserPair], judged: Mapping[str, pd.DataFrame], title: str
) -> Html:
    """Count the violations of each group, for all settings that count and for comprehensible ones.

    ``judged`` says of each corpus which settings count.
    """
    options, judged = evaluation.family.options, judged[pairs[0].subset.corpus]
    counted = evaluation.violation_counts(pairs, excluded_settings(judged))
    rated = evaluation.violation_counts(pairs, excluded_settings(judged, options["shown_rating"]))
    totals = {"in all": counted["in all"], "comprehensible": rated["in all"]}
    preferred = (options.get("base_groups") or {}).get(pairs[0].column, "")
    base, _ = differential.against_base(counted["in all"].loc["all"], preferred)
    beside = {what: differential.against_base(table.loc["all"], base)[1] for what, table in totals.items()}
    every = count_table(counted | totals, f"Violations of each group, {title}")
    return every + base_table(beside, base, f"Violations beside those of {base}, {title}")


def count_table(counted: Counts, caption: str) -> Html:
    """Show counts of violations, one column a group; tables have rows as described and the same columns."""
    frame = pd.concat(counted, names=["counted", ""]).reset_index()
    frame[""] = frame[""].astype(str).replace("all", "")
    return views.table(frame, caption=caption, sortable=False)


def base_table(counted: Counts, base: str, caption: str) -> Html:
    """Show the violations of groups beside those of one group: times as many, and the difference in per cent.

    Tables are from :func:`soundcheck.metrics.differential.against_base`.
    """
    columns = {}
    for what, counts in counted.items():
        columns[what] = counts["violations"].map(
            lambda n: Cell(f"{n:,.1f}".removesuffix(".0"), n, "sc-number")
        )
        times = counts["times"]
        columns[f"{what}, times as many"] = times
        columns[f"{what}, difference"] = (times - 1).map(percent).where(times.notna(), f"{base} has none")
    frame = pd.DataFrame(columns, dtype=object).rename_axis("group").reset_index()
    return views.table(frame, caption=caption, sortable=False)


def certainties(
    evaluation: Evaluation, pair: RecogniserPair, distances: Resampled, judged: pd.DataFrame
) -> Html:
    """Show in which share of replicates each violation of a pair is there, the surest and largest first."""
    tau, settings = evaluation.family.options["tau"], list(evaluation.settings)
    violations = differential.violations(evaluation.distance_table(pair), [tau], excluded_settings(judged))
    certain = differential.violation_certainties(distances.replicates, violations, settings, pair.groups)
    caption = f"{pair.pair}, {pair.column}, {pair.subset.corpus}, τ = {tau:g}: {len(violations)} violations"
    caption += f", {int((certain >= SURE).sum())} of them at least {SURE:.0%} sure"
    order = ["certainty", "excess", "transformation", "level", "base", "other"]
    ascending = [name not in order[:2] for name in order]
    ordered = violations.assign(certainty=certain).sort_values(order, ascending=ascending)
    columns = {"transformation": "transformation", "level": "level", "worse for": "base", "than for": "other"}
    columns["by"] = values("excess", POINTS)
    columns["certainty"] = lambda row: Cell(number(row.certainty, 2), row.certainty)
    return views.table(ordered.head(MOST_CERTAIN), columns, caption=caption, none=caption)


def degradations(evaluation: Evaluation, pair: RecogniserPair, distances: Resampled) -> Html:
    """Draw how much further apart both sides of a pair are for each group, from mild to severe."""
    grown = differential.degradations(distances.value, len(pair.groups))
    index = pd.MultiIndex.from_tuples(list(evaluation.settings)[1:], names=["transformation", "level"])
    frame = pd.DataFrame(grown.T, index, pd.Index(pair.groups, name="group")).stack().rename("value")
    frame = frame.reset_index()
    ranked = frame.groupby("group")["value"].mean().sort_values(ascending=False, kind="stable").index
    title = f"Degradation of each group, {pair.pair}, {pair.column}, {pair.subset.corpus}"
    title += f"; the {MOST_LINES} worst of {len(ranked)}" if len(ranked) > MOST_LINES else ""
    frame = frame[frame["group"].isin(ranked[:MOST_LINES])]
    figure = views.lines(frame, "level", hue="group", panels="transformation", ylabel="degradation")
    return show(evaluation.media, figure, title, finding=title)


def rating_table(options: Mapping[str, object]) -> Html:
    """Show how comprehensible people found each setting; those below the limit stand in brackets."""
    least = options["shown_rating"]
    rows = []
    for name, levels in options["ratings"].items():
        row = {"transformation": name}
        for n, (level, rating) in enumerate(levels.items(), 1):
            row[f"level {n}"] = f"{level}: {rating:g}" if rating >= least else f"({level}: {rating:g})"
        rows.append(row)
    caption = f"Mean rating of each level, 1 to 10; in brackets below {least:g}"
    return views.table(rows, caption=caption, sortable=False)
