"""Tables of words: errors, alignments, which words are robust, in which sentences they are missing.

Conventions
-----------
- An error is marked by a sign and a word, never by colour alone.
- A group is a column of the segment table and one of its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.fault_localisation import EVERYBODY, KeywordSentences
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.report.aligned_words import MARKS
from soundcheck.report.html import Html, element
from soundcheck.report.recognition_tables import POINTS, percent, percent_cell
from soundcheck.report.tables import Cell, notes, number, table, two_lines
from soundcheck.statistics.bootstrap import Resampled

MOST_NAMED = 20  # words of a list
LEAST_WORDS = 5  # of a kind, for intervals that resample words
LEAST_RANKED = 3  # groups of a rank correlation


def word_change_table(frame: pd.DataFrame, caption: str, count: int = 40) -> Html:
    """Show which words a candidate corrects and breaks most often.

    Parameters
    ----------
    frame
        From :func:`soundcheck.metrics.word_changes.changed_words`.
    caption
        What the table shows.
    count
        How many words to show.
    """
    rows = [
        [row.word, row.said, row.corrected, row.broken, row.corrected - row.broken, row.wrong]
        for row in frame.head(count).itertuples(index=False)
    ]
    columns = ["word", "said", "corrected", "broken", "corrected − broken", "wrong by both"]
    shown = f"the {len(rows)} of {len(frame)} changed words with the most changes"
    return table(rows, columns, caption=f"{caption}; {shown}")


def wrong_word_table(frame: pd.DataFrame, caption: str, count: int = 12) -> Html:
    """Show the words that are wrong most often, and of several recognisers which has them right.

    Parameters
    ----------
    frame
        From :func:`soundcheck.metrics.word_changes.wrong_words`.
    caption
        What the table shows.
    count
        How many words to show.
    """
    _, _, *names = frame.columns
    rows = []
    for word, said, *wrong in frame.head(count).itertuples(index=False):
        cells = [Cell(f"{n:,} ({percent(n / said)})", n, "sc-number") for n in wrong]
        rows.append([word, said, *cells])
        if len(names) > 1:
            least = [name for name, n in zip(names, wrong, strict=True) if n == min(wrong)]
            rows[-1].append("all alike" if len(least) == len(names) else shortened(least, 3))
    columns = ["word", "said", *(f"wrong, {name}" for name in names)]
    columns += ["fewest errors"] if len(names) > 1 else []
    shown = f"the {len(rows)} of {len(frame)} words that are wrong most often"
    return table(rows, columns, caption=f"{caption}: {shown}")


def confusion_table(frame: pd.DataFrame, count: int = 20) -> Html:
    """Show the most frequent errors, from :func:`soundcheck.metrics.alignment.confusions`."""
    rows = [
        [
            f"{MARKS[row.kind]} {row.kind}",
            row.reference,
            row.hypothesis,
            int(row.count),
            percent_cell(row.share),
        ]
        for row in frame.head(count).itertuples(index=False)
    ]
    columns = ["error", "said", "recognised", "times", "of all words"]
    return table(rows, columns, caption=f"The {len(rows)} most frequent of {len(frame)} different errors")


def group_name(group: tuple[str, str]) -> str:
    """Name a group with its column, ``accent: welsh``."""
    return ": ".join(filter(None, group))


def shortened(words: Sequence[str], most: int = MOST_NAMED) -> str:
    """List words, of many only the first ones and how many others there are."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def _listed(words: Sequence[str]) -> Html:
    return element("span", shortened(words), limit=None)


def word_table(words: Sequence[Localised], caption: str) -> Html:
    """Show which words are robust.

    Parameters
    ----------
    words
        From :func:`soundcheck.metrics.differential.localise`.
    caption
        What the table shows.
    """
    rows = [[own.word, own.count, own.drop, percent_cell(own.drop / own.count), own.kind] for own in words]
    return table(rows, ["word", "recognised", "drop", "share", ""], caption=caption)


def group_words(found: Mapping[tuple[str, str], Sequence[Localised]], caption: str) -> Html:
    """Show for each group which words are not robust, which ones are, and how many are of each kind.

    Parameters
    ----------
    found
        From :func:`soundcheck.evaluation.fault_localisation.localised_words`.
    caption
        What the table shows.
    """
    pooled = {own.word for own in found[EVERYBODY] if own.kind == NOT_ROBUST} if EVERYBODY in found else set()
    rows = []
    for group, words in found.items():
        lost = [own for own in words if own.kind == NOT_ROBUST]
        kinds = [sum(own.kind == kind for own in words) for kind in (ROBUST, BETWEEN, NOT_ROBUST)]
        listed = _listed([f"{own.word} ({own.drop} of {own.count})" for own in lost])
        only = "" if group == EVERYBODY else sum(own.word not in pooled for own in lost)
        kept = _listed([own.word for own in words if own.kind == ROBUST])
        rows.append([group_name(group), *kinds, only, listed, kept])
    names = ["not so for everybody", "words that are not robust", "robust words"]
    columns = ["group", ROBUST, BETWEEN, NOT_ROBUST, *names]
    return table(rows, columns, caption=caption, sortable=False)


def keyword_table(
    rows: Sequence[Mapping[str, object]], more: Mapping[str, Sequence[Resampled]], title: str
) -> Html:
    """Show in how many sentences around words of each kind the word is missing from the transcript.

    Parameters
    ----------
    rows
        From :func:`soundcheck.evaluation.fault_localisation.missing_words`; a kind without sentences says
        so, and one with fewer than :data:`LEAST_WORDS` words has no interval.
    more
        From :func:`soundcheck.evaluation.fault_localisation.missing_more`.
    title
        What the table shows.
    """
    many = {row["kind"]: len(row["words"]) >= LEAST_WORDS for row in rows}
    known = {
        row["kind"]: [
            _listed(row["words"]),
            *(cell for found in row["found"] for cell in _share(found, many[row["kind"]])),
        ]
        for row in rows
    }
    none = ["no such words", "", "", "", ""]
    shown: list[list[object]] = [[kind, *known.get(kind, none)] for kind in (ROBUST, NOT_ROBUST)]
    for name, unit, found in (("difference", POINTS, "difference"), ("relative", "%", "relative difference")):
        if name in more:
            sides = [_signed(side, unit, all(many.values())) for side in more[name]]
            shown.append([found, "", "", sides[0], "", sides[1]])
    columns = ["words", "", "missing, clean", "share", "missing, changed", "share"]
    return table(shown, columns, caption=title, sortable=False)


def _share(found: Resampled, many: bool) -> tuple[str, Cell]:
    """Show a share as a count and in per cent, with its interval if there are many words."""
    count = int(found.segments[0])
    low, high = (bound[0] if many else np.nan for bound in found.interval())
    times = "" if np.isnan(found.value[0]) else f"{round(found.value[0] * count)} of {count}"
    return times, percent_cell(found.value[0], low, high)


def _signed(found: Resampled, unit: str, many: bool) -> Cell | str:
    """Show a difference with its sign, and its interval if there are many words; or why there is none."""
    measured = found.value[0]
    if np.isnan(measured):
        return found.reasons[0]
    low, high = (bound[0] if many else np.nan for bound in found.interval())
    sign = "+" if measured > 0 else ""
    span = "" if np.isnan(low) else f"{number(100 * low, 1)} to {number(100 * high, 1)}".replace(" ", "\xa0")
    return Cell(two_lines(sign + percent(measured, 1, unit), span), float(measured), "sc-number")


def keyword_notes(corpus: str, probed: KeywordSentences, spoken: int) -> list[str]:
    """Say whose words are spoken, and what is not spoken and why.

    Parameters
    ----------
    corpus
        Name of the corpus that the words come from.
    probed
        From :func:`soundcheck.evaluation.fault_localisation.words_to_speak`.
    spoken
        Number of sentences.
    """
    if probed.reason:
        notes = [f"{corpus}: no sentences were spoken: {probed.reason}"]
    else:
        notes = [f"{corpus}: {spoken} sentences, around words of {group_name(probed.group)}"]
    reasons: dict[str, list[str]] = {}
    for word, reason in probed.refused.items():
        reasons.setdefault(reason, []).append(word)
    for reason, listed in reasons.items():
        notes.append(f"{corpus}: not spoken, {reason}: {shortened(listed)}")
    if probed.surplus:
        notes.append(f"{corpus}: {probed.surplus} more words were not drawn, there are not so many sentences")
    return notes


def drop_table(drops: pd.DataFrame, caption: str) -> Html:
    """Show average drops of words: a row for each recogniser, and one for each transformation.

    Parameters
    ----------
    drops
        From :func:`soundcheck.evaluation.fault_localisation.average_drops`, the groups of one column.
    caption
        What the table shows.
    """
    rows = [
        [what, name, *own.to_numpy()]
        for what in drops.index.names
        for name, own in drops.groupby(what, sort=False).mean().iterrows()
    ]
    rows.append(["all", "", *drops.mean().to_numpy()])
    names = [group if isinstance(group, str) else group[-1] for group in drops.columns]
    return table(rows, ["mean for each", "", *names], caption=caption, sortable=False)


def drop_tables(subset: Subset, drops: pd.DataFrame, model: str, words: int) -> list[Html]:
    """Show average drops of words for each column of groups: of one recogniser, then of all of them.

    Parameters
    ----------
    subset
        The segments.
    drops
        From :func:`soundcheck.evaluation.fault_localisation.average_drops`.
    model
        Name of the recogniser that is tested.
    words
        How many words of it are averaged.
    """
    shown = []
    for column in dict.fromkeys(drops.columns.get_level_values(0)):
        sizes = {group: int(subset.mask(column, group).sum()) for group in drops[column]}
        own = drops[column].rename(columns={group: f"{group} ({size})" for group, size in sizes.items()})
        title = f"{subset.corpus}, {column} (segments): average drop"
        here = own.loc[[model]].droplevel("recogniser")
        shown.append(drop_table(here, f"{title} of {words} words of {model}"))
        if len(own) > len(here):
            shown.append(drop_table(own, f"{title}, all recognisers"))
    return shown


def localised_tables(
    found: Mapping[tuple[str, str], Sequence[Localised]], probed: KeywordSentences, title: str
) -> list[Html]:
    """Show the words of all groups, then those of the group that is heard again and of everybody in full.

    Parameters
    ----------
    found
        From :func:`soundcheck.evaluation.fault_localisation.localised_words`.
    probed
        From :func:`soundcheck.evaluation.fault_localisation.words_to_speak`.
    title
        What the tables show.
    """
    groups = dict.fromkeys([probed.group or EVERYBODY, EVERYBODY])
    full = [word_table(found[group], f"{title}, {group_name(group)}") for group in groups]
    return [group_words(found, title), *full]


def agreement_tables(
    evaluation: Evaluation, subset: Subset, drops: pd.DataFrame, violations: pd.DataFrame
) -> list[Html]:
    """Show the average drop of words of each group beside its violations, a table for each column of groups.

    Parameters
    ----------
    evaluation, subset
        Say why no recognisers are compared, if so.
    drops, violations
        From :func:`soundcheck.evaluation.fault_localisation.average_drops` and
        :func:`soundcheck.evaluation.fault_localisation.pair_violations`.
    """
    heard = evaluation.recognisers(subset)
    if len(heard) < 2:
        return [notes([f"{subset.corpus}: no other recogniser of the suite hears this corpus"])]
    if violations.empty:
        return [notes([f"{subset.corpus}: {evaluation.why_no_pair(subset, with_transcripts=False)}"])]
    return [
        agreement_table(
            drops[column].mean(),
            violations[column].loc[0],
            f"{subset.corpus}, {column}, {len(heard)} recognisers",
        )
        for column in dict.fromkeys(violations.columns.get_level_values(0))
    ]


def agreement_table(drops: pd.Series, violations: pd.Series, caption: str) -> Html:
    """Show the average drop of words of each group beside its violations, and their rank correlation.

    Parameters
    ----------
    drops, violations
        Group -> average drop, and number of violations.
    caption
        What the table shows.
    """
    both = pd.DataFrame({"drop": drops, "violations": violations}).dropna()
    rows = [[name, row["drop"], int(row["violations"])] for name, row in both.iterrows()]
    if len(both) < LEAST_RANKED:
        said = f"fewer than {LEAST_RANKED} groups have no order that could agree"
    elif both.nunique().min() < 2:
        said = "all groups are equal, there is no order that could agree"
    else:
        rho = both["drop"].corr(both["violations"], method="spearman")
        said = f"rank correlation {number(rho, 2)} (Spearman, {len(both)} groups)"
    columns = ["group", "average drop", "violations"]
    return table(rows, columns, caption=f"{caption}; {said}", sortable=False)
