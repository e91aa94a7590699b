"""What pages about groups show: own values, error profiles, sizes, labels, predictions, and searches.

Marks and words of figures are about the interval of the difference to the reference: states, which are
corrected for the number of tests, are known only when all families are together. The line is the interval of
the group's own value. Sentences are made from rows of the results and of the estimates; none infers anything.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import templates
from soundcheck.common.messages import counted, shorten
from soundcheck.evaluation import words
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import Groups
from soundcheck.evaluation.measure_sets import TAKEN_FOR
from soundcheck.evaluation.worst_groups import GroupSearch
from soundcheck.metrics.regression import BINS, bin_numbers
from soundcheck.report import examples, failures, label_views, listening, views
from soundcheck.report import words as word_views
from soundcheck.report.formats import label, of_evidence, p_value, place, sentence, significant, value_cell
from soundcheck.report.html import Html, element, folded, join, notes
from soundcheck.report.method_views import recorded
from soundcheck.report.style import show
from soundcheck.report.views import estimate_cell, measured, written
from soundcheck.results.facts import excess
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, mirrors
from soundcheck.statistics.worst_groups import PLANNED_POWER
from soundcheck.suite.families import HIGHER, LOWER, info_of, measure_of

BALANCED = " (balanced)"  # after the measure of groups that were drawn to be alike
MOST_DRAWN = 12  # groups of a figure
MOST_FOLDED = 8  # groups that are shown below one
MOST_PLAYED = 3  # groups whose sounds are played
_SPREAD = "half of the speakers"  # in the recorded simulation
_NO_PROOF = "That is no proof that all are alike; see below what these data could have shown."
MOST_PANELS = 3  # measures that are shown at once; others are folded
MOST_GROUPS = 24  # of a panel
MOST_ROWS = 30  # of tables
_PLACE = ["corpus", "task", "measure", "label", "part"]
_COMPARED = ["others_value", "gap", "gap_low", "gap_high", "ratio", "matters", "evidence", "mirrors"]
_COMPARED += ["excess", "against", "state", "state_sample"]
_NOT_COMPARED = dict.fromkeys(("evidence", "mirrors", "against"), "")
_NOT_COMPARED |= dict.fromkeys(("state", "state_sample"), NOT_EVALUATED)
_WORDS = {
    PASS: "within the margin",
    FAIL: "{side}, beyond the margin",
    INCONCLUSIVE: "interval crosses the margin",
    REPORTED: "no margin",
    NOT_EVALUATED: "not compared",
}


def group_values(estimates: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Put the own values of groups, from the estimates, beside the results of what they are compared with.

    Of clean signals and of the measures of the tests, without single bins, and of classes only the share of
    predictions. ``others_value`` and what follows is empty where nothing was compared.
    """
    names = [measure_of(*pair).name for pair in zip(rows["test"], rows["family"], strict=True)]
    values = estimates.assign(measure=estimates["measure"].str.removesuffix(BALANCED))
    values = values[values["part"].str.contains(": ", regex=False) & values["condition"].eq("")]
    values = values[values["measure"].isin(names)].drop_duplicates(_PLACE, keep="last")
    shares = values["measure"].eq("predicted_share") & values["label"].eq(values["label"].map(label))
    values = values[values["label"].eq("") | shares]
    comparisons = rows.assign(measure=pd.Series(names, rows.index, "str"), part=rows["group"])
    comparisons = comparisons[rows["against"].ne("")]
    comparisons = comparisons.assign(mirrors=mirrors(comparisons), excess=excess(comparisons))
    comparisons.loc[comparisons["mirrors"].ne(""), "evidence"] = ""  # two groups are one test
    comparisons = comparisons[[*_PLACE, *_COMPARED]].drop_duplicates(_PLACE)
    parts = values["part"].str.split(": ", n=1)
    values = values.assign(column=parts.str[0], group=parts.str[1].map(label))
    return values.merge(comparisons, on=_PLACE, how="left").fillna(_NOT_COMPARED)


def own_values(evaluation: Evaluation) -> Html:
    """Draw the value of each group beside that of its reference, a figure a corpus and column.

    Measures whose differences are furthest beyond their margins come first. Columns of which no group is
    compared are left out.
    """
    frame, parts = group_values(evaluation.estimated(), evaluation.frame()), []
    compared = frame.groupby(["corpus", "column"])["gap"].transform("count").gt(0)
    places = list(frame[frame["value"].notna() & compared].groupby(["corpus", "column"], sort=False))
    for (corpus, name), values in places:
        if len(places) > 1:
            parts.append(element("h2", f"By {name.replace('_', ' ')}, {corpus}"))
        values = drawn(values)
        panels = list(values["panel"].unique())
        first = values["panel"].isin(panels[:MOST_PANELS])
        parts.append(_figure(evaluation, values[first]))
        if not first.all():
            others = counted(len(panels) - MOST_PANELS, "other measure")
            parts.append(folded(others, [_figure(evaluation, values[~first])]))
    if not parts:
        return element("p", "No groups are compared.")
    return join(parts) + templates.html("own_values")


def _figure(evaluation: Evaluation, frame: pd.DataFrame) -> Html:
    figure = views.forest(frame, panels="panel", cut=MOST_GROUPS)
    return show(evaluation.media, figure, f"Values by group. {described(frame)}", finding=finding(frame))


def drawn(frame: pd.DataFrame) -> pd.DataFrame:
    """Prepare rows of one corpus and column for :func:`soundcheck.report.views.forest`, the worst first."""
    panels = []
    for (measure, task, name), rows in frame.groupby(["measure", "task", "label"], sort=False):
        info, of = info_of(measure), "" if task in failures.SINGLE else f" of {task}"
        title = f"{info.title}{of}{f', {label(name)}' if name else ''}"
        title += f" ({info.better} is better)" if info.better else ""
        rows = rows.sort_values(["value", "group"], ascending=[info.better != LOWER, True], kind="stable")
        lines = pd.DataFrame([_line(row, info.better) for row in rows.itertuples()], index=rows.index)
        panels.append(rows.assign(panel=title, **lines))
    return pd.concat(sorted(panels, key=lambda rows: -rows["excess"].fillna(-np.inf).max()))


def _line(row: object, better: str) -> dict[str, object]:
    """Say how the value of a group is drawn; of a pair one is the reference of the other."""
    state, line = of_evidence(row.evidence), {"said": written(row), "margin": row.matters}
    line["name"] = f"{row.group} ({row.segments:,})"
    if row.mirrors or row.group == row.against:
        return line | {"state": REPORTED, "reference": row.value, "words": "the reference"}
    side = "higher" if row.gap > 0 else "lower"
    if better:
        side = "better" if (row.gap > 0) == (better == HIGHER) else "worse"
    words = f"{state.sign} {_WORDS[state.name].format(side=side)}"
    return line | {"state": state.name, "reference": row.others_value, "words": words}


def finding(frame: pd.DataFrame) -> str:
    """Name the groups with the worst and the best value of the first measure, of those that are compared."""
    compared = frame["gap"].notna() | frame["group"].eq(frame["against"])
    frame = frame[compared] if compared.any() else frame
    rows = frame[frame["panel"].eq(frame["panel"].iloc[0])]
    ends = ("worst", "best") if info_of(rows["measure"].iloc[0]).better else ("lowest", "highest")
    both = zip(ends, rows.iloc[[0, -1][: len(rows)]].itertuples(), strict=False)
    panel = rows["panel"].iloc[0].partition(" (")[0]
    if len(rows) > rows["value"].nunique() == 1:  # none is worse
        return f"{sentence(panel)}: {rows['said'].iloc[0].partition(' (')[0]} for all groups"
    return f"{sentence(panel)}: {'; '.join(f'{end} {row.group}, {row.said}' for end, row in both)}"


def described(frame: pd.DataFrame) -> str:
    """Say in words what a figure of values shows, for readers who do not see it."""
    each = frame["group"] + " " + frame["said"] + " (" + frame["words"] + ")"
    return ". ".join(
        f"{panel}: {', '.join(texts)}" for panel, texts in each.groupby(frame["panel"], sort=False)
    )


def error_profile(evaluation: Evaluation, groups: Iterable[Groups]) -> Html:
    """Show which errors groups have, where one is worse: of words by kind, of classes what is predicted."""
    rows = evaluation.frame()
    rows = rows[rows["gap"].abs().gt(rows["matters"]) & (rows["gap_low"] * rows["gap_high"]).gt(0)]
    worse = set(zip(rows["corpus"], rows["task"], rows["group"], strict=True))
    parts = []
    for grouping in groups:
        task, corpus = grouping.subset.task, grouping.subset.corpus
        if not {(corpus, task.name, f"{grouping.column}: {name}") for name in grouping.names} & worse:
            continue
        if task.is_transcription:
            profile = words.error_profile(evaluation, grouping.everything, {grouping.column: grouping.names})
            parts.append(word_views.error_profile(evaluation, profile))
        elif task.classes and grouping.subset.truth is not None:
            parts.append(_taken_for(evaluation, grouping))
    return join([element("h3", "Which errors"), *parts]) if parts else Html()


def _taken_for(evaluation: Evaluation, grouping: Groups) -> Html:
    subset = grouping.subset
    measures = {f"{name}{BALANCED * subset.balanced}": measure for name, measure in TAKEN_FOR.items()}
    parts = {f"{grouping.column}: {name}": mask for name, mask in grouping.masks.items()}
    frame = evaluation.estimates(subset, measures, parts)
    each = frame.groupby("label")["value"]
    frame = frame.assign(group=frame["part"].map(label), spread=each.transform("max") - each.transform("min"))
    frame = frame.sort_values(["spread", "label", "value"], ascending=[False, True, False], kind="stable")
    frame["name"] = frame["label"] + ", " + frame["group"]
    most = frame[frame["label"].eq(frame["label"].iloc[0])].iloc[[0, -1]]
    ends = [f"{row.group} {written(row)}" for row in most.itertuples()]
    figure = views.forest(frame, unit="share of a group's segments that is wrongly taken for the class")
    alt = f"Wrong predictions by {grouping.column}, {place(subset)}"
    text = f"{place(subset)}: wrongly taken for {most['label'].iloc[0]}: {'; '.join(ends)}"
    return show(evaluation.media, figure, alt, finding=text)


def speaker_tables(tables: Mapping[str, pd.DataFrame]) -> Html:
    """Show how many speakers there are of each range of a measured number."""
    return join(views.table(table, caption=title) for title, table in tables.items())


def sizes(groups: Iterable[Groups]) -> Html:
    """Show how many segments and speakers each group has, and why it is not compared."""
    counts = []
    for grouping in groups:
        about = {"corpus": grouping.subset.corpus, "column": grouping.column}
        about["task"] = grouping.subset.task.name
        counts += [about | vars(count) for count in grouping.counts]
    if not counts:
        return element("p", "There is no group to compare.")
    frame = pd.DataFrame(counts, dtype=object).fillna("")  # other numbers of speakers stay whole
    same = [name for name in frame if name != "task"]
    frame = frame.groupby(same, sort=False)["task"].agg(", ".join).reset_index()
    frame["group"] = frame["group"].replace("", "(none)")
    names = {name: name for name in ("corpus", "task", "column", "group")}
    names |= {"trials of one speaker": "targets", "segments, or trials of two speakers": "segments"}
    names |= {"speakers": "speakers", "not compared, because": "lacks"}
    return views.table(frame, names, first=MOST_ROWS)


def label_shares(groups: Iterable[Groups]) -> Html:
    """Show how the labels of each group are distributed, a table a corpus, task and column, in per cent."""
    tables = []
    for grouping in groups:
        subset = grouping.subset
        if not grouping.names or subset.truth is None or not subset.task.is_labelled:
            continue
        names, truth = list(subset.task.classes), pd.Series(subset.truth)
        if subset.task.is_regression:
            names = [label(name) for name in BINS]
            truth = pd.Series(bin_numbers(subset.truth)).map(dict(enumerate(names)))
        parts = {**grouping.masks, "all": np.logical_or.reduce(list(grouping.masks.values()))}
        shares = {group: 100 * truth[mask].value_counts(normalize=True) for group, mask in parts.items()}
        frame = pd.DataFrame(shares).reindex(names).fillna(0.0).round(1).T
        frame.insert(0, "segments", [int(mask.sum()) for mask in parts.values()])
        frame = frame.rename_axis(grouping.column).reset_index()
        caption = f"Labels in per cent: {place(subset)}"
        tables.append(views.table(frame, caption=caption, sortable=False))
    return join(tables) or element("p", "There are no labels.")


def agreements(evaluation: Evaluation, groups: Iterable[Groups]) -> Html:
    """Draw labels and predictions of each group."""
    drawn = []
    for grouping in groups:
        subset = grouping.subset
        truth, predicted, classes = subset.truth, subset.predictions.clean, subset.task.classes
        for group, mask in grouping.masks.items():
            title = f"{place(subset)}: {group}"
            drawn.append(
                label_views.agreement(evaluation.media, truth[mask], predicted[mask], classes, title)
            )
    return join(drawn)


def predictions(
    evaluation: Evaluation, groups: Iterable[Groups], context: str = "", values: Sequence[str] = ("",)
) -> Html:
    """Draw what is predicted for each group; in a context for each of these ``values`` of that column."""
    drawn = []
    for grouping in (grouping for grouping in groups if grouping.names):
        for value in values:
            subset = grouping.everything
            if context:
                subset = grouping.subset.take(grouping.subset.mask(context, value))
            names = subset.segments[grouping.column]
            order = [*grouping.names, *sorted(set(names.dropna()) - set(grouping.names))]
            title = ", ".join(filter(None, (place(grouping.subset), f"{context} {value}".strip())))
            figure = label_views.by_group(subset.predictions.clean, names, order, subset.task.classes, title)
            drawn.append(show(evaluation.media, figure, f"Predictions for each {grouping.column}: {title}"))
    return join(drawn)


def not_compared(evaluation: Evaluation, groups: Iterable[Groups]) -> Html:
    """List the values of groups that are too small to be compared, with the reason."""
    small = [
        "\n".join((grouping.subset.corpus, grouping.subset.task.name, f"{grouping.column}: {count.group}"))
        for grouping in groups
        for count in grouping.counts
        if count.group not in grouping.names
    ]
    frame = evaluation.estimated()
    frame = frame[(frame["corpus"] + "\n" + frame["task"] + "\n" + frame["part"]).isin(small)]
    columns = {"corpus": "corpus", "task": "task", "group": "part", "measure": measured}
    columns |= {"value": estimate_cell, "segments": "segments"}
    return views.table(frame, columns, first=MOST_ROWS, none="All groups are compared.")


def segments(
    evaluation: Evaluation,
    groups: Iterable[Groups],
    *,
    labels: bool = True,
    context: str = "",
    values: Sequence[str] = ("",),
) -> Html:
    """Play segments of the groups whose errors, or predictions, differ most from the others'.

    In a ``context``, a column, it is how far each of its ``values`` shifts the predictions of a group.
    """
    scenes = []
    for grouping in (grouping for grouping in groups if grouping.names):
        subset, masks = grouping.subset, grouping.masks
        if subset.task.is_embedding:
            threshold = evaluation.threshold(subset, subset.predictions.clean)
            wrong = np.where(subset.predictions.clean > threshold, ~subset.truth, subset.truth)
            worst = max(masks, key=lambda group: wrong[masks[group]].mean())
            members = subset.take(masks[worst])
            scenes += examples.hardest_trials(evaluation, members, threshold, 1)
        elif labels and subset.truth is not None:
            scenes += examples.of_groups(subset, grouping.column, grouping.names)
        elif not subset.task.is_transcription:
            for value in values:
                scenes += examples.of_predictions(subset, grouping.column, grouping.names, context, value)
    return listening.show(evaluation, scenes)


def named_groups(evaluation: Evaluation, searches: Sequence[GroupSearch]) -> Html:
    """Draw how much worse the model is for each named group, above a table of the groups."""
    parts, alike = [], []
    for search in searches:
        named = search.search.named
        if not named:
            alike.append(f"{place(search.subset)} (of {_looked_at(search)})")
            continue
        first = f"{significant(named[0].value)}, of the others {significant(named[0].others)}"
        text = f"{place(search.subset)}: {search.unit} of {named[0].name} is {first}"
        names = ", ".join(group.name for group in named)
        alt = f"How much higher the {search.unit} of {names} is than that of the others"
        margin = search.search.matters
        drawn = pd.DataFrame(map(vars, named[:MOST_DRAWN])).assign(reference=0.0, margin=margin)
        drawn["words"] = drawn["value"].map(significant) + ", others " + drawn["others"].map(significant)
        drawn["name"] = [f"{group.name} ({len(group.segments):,})" for group in named[:MOST_DRAWN]]
        drawn["state"] = np.where(drawn["low"] >= margin, FAIL, INCONCLUSIVE)
        unit = f"{search.unit}: the group minus the others; grey: within the margin"
        figure = views.forest(drawn.assign(value=drawn["gap"]), unit=unit)
        parts += [show(evaluation.media, figure, alt, finding=text), _search_table(search)]
    if alike:
        text = f"No group is significantly worse: {'; '.join(alike)}. {_NO_PROOF}"
        parts.append(element("p", text, limit=None))
    return join(parts)


def _search_table(search: GroupSearch) -> Html:
    rows, level = [], f"{100 * search.search.level:.4g}".rstrip(".")
    for group in search.search.named:
        for each, mark in [(group, ""), *((each, "– ") for each in group.folded[:MOST_FOLDED])]:
            row = {"group": f"{mark}{each.name}", search.unit: value_cell(each.value)}
            row |= {"of the others": value_cell(each.others), "segments": len(each.segments)}
            row[f"difference ({level} %)"] = value_cell(each.gap, each.low, each.high)
            row |= {"speakers or blocks": each.blocks, "adjusted p": p_value(each.adjusted)}
            rows.append(row)
        if len(group.folded) > MOST_FOLDED:
            rows.append({"group": f"– {len(group.folded) - MOST_FOLDED} more"})
    return views.table(rows, caption=place(search.subset), sortable=False)


def named_segments(evaluation: Evaluation, searches: Iterable[GroupSearch]) -> Html:
    """Play the worst segments of each named group, beside typical ones of all others."""
    count, scenes = int(evaluation.option("heard")), []
    for search in searches:
        subset, everything = search.subset, np.arange(len(search.subset))
        statistic = search.measure(subset, subset.predictions)
        errors = statistic.compute(statistic.block_sums(everything, len(everything)))[:, 0]
        decisions = np.where(errors, "rejected", "accepted")
        said = decisions.__getitem__ if subset.task.is_embedding else None
        for group in search.search.named[:MOST_PLAYED]:
            inside = np.isin(everything, group.segments)
            chosen = examples.choose(errors, subset.segments, inside, group.name, worst=count, played=count)
            most = {"typical": count, "played": count}
            chosen += examples.choose(errors, subset.segments, ~inside, examples.OTHERS, **most)
            about = f"{place(subset)}: {group.name}"
            scenes.append(listening.Scene(about, subset, chosen, group.gap, group.name, said=said))
    return listening.show(evaluation, scenes, every=True) if scenes else Html()


def looked_at(searches: Iterable[GroupSearch]) -> Html:
    """Show which columns were looked at, which were not and why, and how many groups that makes."""
    rows, lines = [], []
    for search in searches:
        where = search.subset.corpus, search.subset.task.name
        for name, groups in search.columns.items():
            known = pd.Series(groups, dtype=object).dropna().str.removeprefix(f"{name}: ")
            values = sorted(known.unique())
            which = shorten(", ".join(values), 120)
            rows.append((*where, name, len(values), which, len(groups) - len(known)))
        rows += [(*where, name, "", f"left out: {why}", "") for name, why in search.passed_over.items()]
        size = f"{_looked_at(search)} of {search.search.segments:,} segments"
        lines.append(f"{place(search.subset)}: {size} looked at.")
    columns = ["corpus", "task", "column", "values", "which", "segments without"]
    frame = pd.DataFrame(rows, columns=columns)
    same = [name for name in columns if name != "task"]
    frame = frame.groupby(same, sort=False)["task"].agg(", ".join).reset_index()
    return views.table(frame, columns) + notes(lines)


def could_be_shown(searches: Iterable[GroupSearch]) -> Html:
    """Say what these data could have shown, and what the recorded simulation found with so many speakers."""
    simulated, _ = recorded("worst_groups")
    simulated = simulated[simulated["planted"].eq(_SPREAD)].set_index("speakers")["found"].sort_index()
    planned, compared = [], {}
    for search in searches:
        blocks = len(np.unique(search.subset.blocks))
        near = simulated[: max(blocks, simulated.index[0])]
        planned.append((place(search.subset), search.search.planned_gap()))
        compared[search.subset.corpus, blocks] = (near.index[-1], near.iloc[-1])
    about = {"planned": planned, "compared": compared.items(), "power": PLANNED_POWER, "counted": counted}
    return templates.html("could_be_shown", **about)


def _looked_at(search: GroupSearch) -> str:
    return counted(len(search.search.candidates), "group")
