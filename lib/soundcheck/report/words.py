"""Tables and figures of recognisers: rates and their parts, wrong words, robust words, distances, violations.

Rates are shares of the words of the references, shown in per cent; they may exceed 100 %. An error is marked
by a sign and a word, never by colour alone. A group is a column of the segment table and one of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.fault_localisation import EVERYBODY, KeywordSentences
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.words import PROFILE, Compared
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.metrics.writing import units
from soundcheck.report import figures, views
from soundcheck.report.aligned_words import MARKS
from soundcheck.report.formats import Cell, number, two_lines
from soundcheck.report.html import Html, element
from soundcheck.report.notices import notes
from soundcheck.report.style import GREY, PALETTE, look, new, seaborn
from soundcheck.suite.measures import info_of

POINTS = "points"  # unit of a difference of rates
MOST_NAMED = 20  # words of a list
LEAST_WORDS = 5  # of a kind, for intervals that resample words
LEAST_RANKED = 3  # groups of a rank correlation
RATES = ("standard_error", "insertions", "deletions", "substitutions", "characters")


def percent(value: float, digits: int = 1, unit: str = "%") -> str:
    r"""Write a share in per cent, a difference of shares in ``points``; empty for a missing one.

    Examples
    --------
    >>> percent(0.1234), percent(-0.05)
    ('12.3\xa0%', '−5.0\xa0%')
    """
    return "" if pd.isna(value) else f"{number(100 * value, digits)}\xa0{unit}"


def percent_cell(value: float, low: float = np.nan, high: float = np.nan, unit: str = "%") -> Cell:
    """Show a share in per cent, or a difference in points, with its interval below it if there is one."""
    span = "" if pd.isna(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}".replace(" ", "\xa0")
    return Cell(
        two_lines(percent(value, unit=unit), span), None if pd.isna(value) else float(value), "sc-number"
    )


def share(name: str = "value", unit: str = "%") -> Callable[[object], Cell]:
    """Make a column of shares in per cent, with the interval of the row if it is that of its value."""
    ends = ("low", "high") if name == "value" else ()
    return lambda row: percent_cell(getattr(row, name), *(getattr(row, end) for end in ends), unit=unit)


def whole(name: str) -> Callable[[object], Html]:
    """Make a column of texts that are long and not cut."""
    return lambda row: element("span", getattr(row, name), limit=None)


def resampled(evaluation: Evaluation) -> str:
    """Name what is resampled, in the plural: ``speakers``; ``blocks`` if corpora differ."""
    names = set(evaluation.block_names.values())
    return f"{names.pop()}s" if len(names) == 1 else "blocks"


def small_groups(rows: Sequence[tuple[object, ...]]) -> Html:
    """Show groups that are too small to be judged; empty without any."""
    names = ["corpus", "column", "group", "segments", "speakers", "not judged"]
    frame, caption = pd.DataFrame(rows, columns=names), "Groups that are too small to be judged."
    return views.table(frame, dict(zip(names, names, strict=True)), caption=caption) if rows else Html()


def normaliser_notice(evaluation: Evaluation, count: int = 5) -> Html:
    """Say which normaliser both sides went through, and show what it changed; after subsets were read."""
    used = evaluation.normaliser
    said = element("strong", f"Normaliser: {used.name}, version {used.version or 'unknown'}. ")
    said = element("p", said, element("span", used.description, limit=None), class_="sc-note")
    examples = [pair for pair in evaluation.texts.examples(count) if pair[0] != pair[1]]
    frame = pd.DataFrame(examples, columns=["written", "compared"])
    columns = {"as written": "written", "as compared": "compared"}
    return (
        said + views.table(frame, columns, caption="Texts that it changed", sortable=False)
        if examples
        else said
    )


def rate_table(rows: Sequence[Mapping[str, object]], blocks: str = "speakers") -> Html:
    """Show word error rates of groups with their parts, from :func:`evaluation.words.group_rates`."""
    names = dict(zip(("standard error", *RATES[1:4], "character error rate"), map(share, RATES), strict=True))
    columns = {name: name for name in ("corpus", "column", "group")} | {"word error rate": share()} | names
    columns |= {"words": "words", "segments": "segments", blocks: "blocks"}
    return views.table(pd.DataFrame(rows), columns, first=MOST_NAMED)


def error_profile(evaluation: Evaluation, profile: pd.DataFrame) -> Html:
    """Draw which errors the groups have of the column whose worst group has most errors.

    ``profile`` is of a corpus, from :func:`soundcheck.evaluation.words.error_profile`.
    """
    found = profile.pivot(index="part", columns="measure", values="value")[list(PROFILE)]
    groups = found.drop("all")
    if groups.empty:
        return Html()
    worst = groups[list(PROFILE[:3])].sum(axis=1).idxmax()
    each = [
        f"{info_of(name).title} {percent(found.loc[worst, name])} (all: {percent(found.loc['all', name])})"
        for name in PROFILE
    ]
    said = f"{profile['corpus'].iloc[0]}, {worst}, the group with the most errors: {', '.join(each)}"
    shown = profile[profile["part"].str.startswith(f"{worst.partition(':')[0]}: ")]
    kind = shown["measure"].map(lambda name: info_of(name).title)
    shown = shown.assign(kind=kind, reference=shown["measure"].map(found.loc["all"]))
    unit = "share (grey: everybody)"
    figure = views.forest(shown, name="part", panels="kind", unit=unit)
    return figures.show(evaluation.media, figure, f"Errors of each group. {said}", finding=said)


def rates_by_speech(rates: pd.DataFrame) -> Figure:
    """Draw error rates by length and speaking rate, see :func:`soundcheck.evaluation.words.speech_rates`."""
    unit = rates["unit"].iloc[0]
    titles = {"length": f"{units(unit)} said", "speaking rate": f"{units(unit)} a second"}
    frame = rates.assign(panel=rates["column"].map(titles))
    return views.lines(frame, "bin", panels="panel", ylabel=f"{unit} error rate")


def speech_table(rates: pd.DataFrame, blocks: str = "speakers") -> Html:
    """Show error rates by length and by speaking rate; at least one row."""
    unit = rates["unit"].iloc[0]
    columns = {"what was said": "group", f"{unit} error rate": share()}
    columns |= {units(unit): "units", "segments": "segments", blocks: "blocks"}
    caption = f"{rates['corpus'].iloc[0]}: errors by length and by speaking rate"
    return views.table(rates, columns, caption=caption, sortable=False)


def comparison_table(
    compared: Sequence[Compared], kind: str = "percentile", blocks: str = "speakers"
) -> Html:
    """Show differences of recognisers with the intervals of both bootstraps, ``kind`` being the suite's."""
    kinds = list(dict.fromkeys(("percentile", "gaussian", kind)))
    titles = {each: f"{'Gaussian' if each == 'gaussian' else each} 95 %" for each in kinds}
    rows = []
    for each in compared:
        what = f"{each.model} minus {each.other}, {'absolute' if each.unit == POINTS else 'relative'}"
        for way, found in (("blockwise", each.blockwise), ("ordinary", each.ordinary)):
            row = {"difference": what, "resampled": way, "value": percent(found.value[0], 2, each.unit)}
            row["standard error"] = percent(found.standard_error[0], 2, each.unit)
            for own, title in titles.items():
                ends = [percent(end[0], 2, each.unit) for end in found.interval(own)]
                row[title] = " to ".join(ends) if all(ends) else "withheld"
            drawn = found.replicates[:, 0] if len(found.replicates) else np.empty(0)
            drawn = drawn[np.isfinite(drawn)]
            row["replicates below 0"] = percent((drawn < 0).mean()) if len(drawn) else ""
            rows.append(row | {"words": each.words, "segments": found.segments[0], blocks: found.blocks[0]})
    return (
        views.table(pd.DataFrame(rows), {name: name for name in rows[0]}, sortable=False) if rows else Html()
    )


def replicates_of_difference(compared: Compared) -> Figure:
    """Draw the replicates of a difference, one way of resampling over the other; NaN is left out."""
    ways = {"blockwise": compared.blockwise, "ordinary": compared.ordinary}
    known = {way: own.replicates[:, 0] for way, own in ways.items() if len(own.replicates)}
    known = {way: own[np.isfinite(own)] for way, own in known.items()}
    with look():
        figure, (axes,) = new(7.5, 3.0)
        edges = list(np.histogram_bin_edges(np.concatenate([*known.values(), np.empty(0)]), 40))
        for n, (name, drawn) in enumerate(known.items()):
            look_of_bars = {"color": PALETTE[n], "alpha": 0.3, "label": name}
            seaborn.histplot(x=drawn, bins=edges, element="step", ax=axes, **look_of_bars)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.axvline(compared.blockwise.value[0], color="black", linewidth=1.5, label="measured")
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set(xlabel="difference (below 0: this recogniser makes fewer errors)", ylabel="replicates")
        axes.legend(fontsize=9)
    return figure


def wrong_word_table(frame: pd.DataFrame, caption: str, count: int = 12) -> Html:
    """Show the words that are wrong most often, and of several recognisers which has the fewest errors.

    ``frame`` is from :func:`soundcheck.metrics.word_changes.wrong_words`.
    """
    _, _, *names = frame.columns
    shown = frame.head(count)

    def wrong(name: str) -> Callable[[object], Cell]:
        counts = shown.set_index("word")[name]
        return lambda row: Cell(
            f"{counts[row.word]:,} ({percent(counts[row.word] / row.said)})", counts[row.word], "sc-number"
        )

    def fewest(row: object) -> str:
        counts = {name: getattr(row, name) for name in names}
        least = [name for name in names if counts[name] == min(counts.values())]
        return "all alike" if len(least) == len(names) else shortened(least, 3)

    columns = {"word": "word", "said": "said"} | {f"wrong, {name}": wrong(name) for name in names}
    columns |= {"fewest errors": fewest} if len(names) > 1 else {}
    caption = f"{caption}: the {len(shown)} of {len(frame)} words that are wrong most often"
    return views.table(shown, columns, caption=caption)


def confusion_table(frame: pd.DataFrame, count: int = 20) -> Html:
    """Show the most frequent errors, from :func:`soundcheck.metrics.alignment.confusions`."""
    columns = {"error": lambda row: f"{MARKS[row.kind]} {row.kind}", "said": "reference"}
    columns |= {"recognised": "hypothesis", "times": "count", "of all words": share("share")}
    shown = frame.head(count)
    caption = f"The {len(shown)} most frequent of {len(frame)} different errors"
    return views.table(shown, columns, caption=caption)


def shortened(words: Sequence[str], most: int = MOST_NAMED) -> str:
    """List words, of many only the first ones and how many others there are."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def group_name(group: tuple[str, str]) -> str:
    """Name a group with its column, ``accent: welsh``."""
    return ": ".join(filter(None, group))


def localised_tables(
    found: Mapping[tuple[str, str], Sequence[Localised]], probed: KeywordSentences, title: str
) -> list[Html]:
    """Show the words of all groups, then those of the group that is tested again and of everybody in full."""
    columns = {"word": "word", "recognised": "count", "drop": "drop"}
    columns |= {"share": lambda row: percent_cell(row.drop / row.count), "": "kind"}
    full = [
        views.table(
            pd.DataFrame(found[group]), columns, caption=f"{title}, {group_name(group)}", first=MOST_NAMED
        )
        for group in dict.fromkeys([probed.group or EVERYBODY, EVERYBODY])
        if found[group]
    ]
    return [group_words(found, title), *full]


def group_words(found: Mapping[tuple[str, str], Sequence[Localised]], caption: str) -> Html:
    """Show for each group which words are not robust, which ones are, and how many are of each kind."""
    pooled = {own.word for own in found.get(EVERYBODY, ()) if own.kind == NOT_ROBUST}
    rows = []
    for group, words in found.items():
        lost = [own for own in words if own.kind == NOT_ROBUST]
        row = {"group": group_name(group)}
        row |= {kind: sum(own.kind == kind for own in words) for kind in (ROBUST, BETWEEN, NOT_ROBUST)}
        row["not so for everybody"] = (
            "" if group == EVERYBODY else sum(own.word not in pooled for own in lost)
        )
        row["lost"] = shortened([f"{own.word} ({own.drop} of {own.count})" for own in lost])
        rows.append(row | {"robust": shortened([own.word for own in words if own.kind == ROBUST])})
    columns = {name: name for name in ("group", ROBUST, BETWEEN, NOT_ROBUST, "not so for everybody")}
    columns |= {"words that are not robust": whole("lost"), "robust words": whole("robust")}
    return views.table(pd.DataFrame(rows), columns, caption=caption, sortable=False)


def keyword_table(frame: pd.DataFrame, title: str) -> Html:
    """Show in how many sentences around words of each kind the word is missing from the transcript.

    ``frame`` is from :func:`soundcheck.evaluation.fault_localisation.missing_words`.
    """

    def cell(side: str) -> Callable[[object], object]:
        def shown(row: object) -> object:
            value, low, high = (getattr(row, f"{side}{end}") for end in ("", "_low", "_high"))
            few = row.fewest < LEAST_WORDS
            return getattr(row, f"{side}_why") or percent_cell(
                value, *((np.nan,) * 2 if few else (low, high)), row.unit
            )

        return shown

    columns = {
        "words of a kind": "kind",
        "words": lambda row: element("span", shortened(row.words), limit=None),
        "sentences": "sentences",
    }
    columns |= {"missing, clean": cell("clean"), "missing, changed": cell("changed")}
    return views.table(frame, columns, caption=title, sortable=False)


def keyword_notes(corpus: str, probed: KeywordSentences, spoken: int) -> Html:
    """Say whose words are spoken, and what is not spoken and why."""
    if probed.reason:
        said = [f"{corpus}: no sentences were spoken: {probed.reason}"]
    else:
        said = [f"{corpus}: {spoken} sentences, around words of {group_name(probed.group)}"]
    for reason in dict.fromkeys(probed.refused.values()):
        words = [word for word, why in probed.refused.items() if why == reason]
        said.append(f"{corpus}: not spoken, {reason}: {shortened(words)}")
    if probed.surplus:
        said.append(f"{corpus}: {probed.surplus} more words were not drawn, there are not so many sentences")
    return notes(said)


def drop_tables(subset: Subset, drops: pd.DataFrame, model: str, words: int) -> list[Html]:
    """Show average drops of words for each column of groups: of one recogniser, then of all of them.

    ``drops`` are from :func:`soundcheck.evaluation.fault_localisation.average_drops`, of so many words.
    """
    shown = []
    for column in dict.fromkeys(drops.columns.get_level_values(0)):
        sizes = {group: int(subset.mask(column, group).sum()) for group in drops[column]}
        own = drops[column].rename(columns={group: f"{group} ({size})" for group, size in sizes.items()})
        title = f"{subset.corpus}, {column} (segments): average drop"
        here = own.loc[[model]].droplevel("recogniser")
        shown.append(drop_table(here, f"{title} of {words} words of {model}"))
        shown += [drop_table(own, f"{title}, all recognisers")] if len(own) > len(here) else []
    return shown


def drop_table(drops: pd.DataFrame, caption: str) -> Html:
    """Show average drops of words: a row for each recogniser, and one for each transformation."""
    means = [drops.groupby(what, sort=False).mean().assign(what=what) for what in drops.index.names]
    frame = (
        pd.concat([*means, drops.mean().to_frame("").T.assign(what="all")]).rename_axis("name").reset_index()
    )
    columns = {"mean for each": "what", "": "name"} | {name: name for name in drops.columns}
    return views.table(frame, columns, caption=caption, sortable=False)


def agreement_tables(
    evaluation: Evaluation, subset: Subset, drops: pd.DataFrame, violations: pd.DataFrame
) -> list[Html]:
    """Show the average drop of words of each group beside its violations, a table a column of groups.

    ``drops`` and ``violations`` are from :mod:`soundcheck.evaluation.fault_localisation`.
    """
    asked = evaluation.recognisers(subset)
    if len(asked) < 2:
        return [notes([f"{subset.corpus}: the suite has no other recogniser for this corpus"])]
    if violations.empty:
        return [notes([f"{subset.corpus}: {evaluation.why_no_pair(subset, with_transcripts=False)}"])]
    return [
        agreement_table(
            drops[column].mean(),
            violations[column].loc[0],
            f"{subset.corpus}, {column}, {len(asked)} recognisers",
        )
        for column in dict.fromkeys(violations.columns.get_level_values(0))
    ]


def agreement_table(drops: pd.Series, violations: pd.Series, caption: str) -> Html:
    """Show the average drop of words of each group beside its violations, and their rank correlation."""
    both = pd.DataFrame({"drop": drops, "violations": violations}).dropna().astype({"violations": int})
    if len(both) < LEAST_RANKED:
        said = f"fewer than {LEAST_RANKED} groups have no order that could agree"
    elif both.nunique().min() < 2:
        said = "all groups are equal, there is no order that could agree"
    else:
        rho = both["drop"].corr(both["violations"], method="spearman")
        said = f"rank correlation {number(rho, 2)} (Spearman, {len(both)} groups)"
    columns = {"group": "group", "average drop": "drop", "violations": "violations"}
    frame = both.rename_axis("group").reset_index()
    return views.table(frame, columns, caption=f"{caption}; {said}", sortable=False)
