"""Tables and figures of recognisers: rates and their parts, wrong words, robust words, marks and entities.

Rates are shares of the words of the references, shown in per cent; they may exceed 100 %. An error is marked
by a sign and a word, never by colour alone. A group is a column of the segment table and one of its values.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common.messages import shorten, some
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.formatting import Formatting, plain, plain_writer
from soundcheck.evaluation.lost_words import KeywordSentences
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.unspoken import Kind
from soundcheck.evaluation.words import EVERYBODY, PROFILE, Compared
from soundcheck.metrics.additive import values as values_of
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.metrics.formatting import KINDS, format_errors
from soundcheck.metrics.formatting import MARKS as PUNCTUATION
from soundcheck.metrics.word_errors import named_units, word_error_rate
from soundcheck.metrics.word_rates import character_counts, words_made_up
from soundcheck.report import views
from soundcheck.report.formats import POINTS, Cell, number, percent, value_cell, values
from soundcheck.report.html import Html, element, notes
from soundcheck.report.listening import MARKS, Example, Scene
from soundcheck.report.players import side
from soundcheck.report.style import show
from soundcheck.results.rows import Verdict
from soundcheck.suite.families import info_of

MOST_NAMED = 20  # words of a list
MOST_WRONG, MOST_MADE_UP = 12, 8  # words
MOST_KINDS = 6  # of sounds that are played
CHANGED = 5  # texts that show what a normaliser does
LEAST_WORDS = 5  # of a kind, for intervals that resample words
LEAST_RANKED = 3  # groups of a rank correlation
MOST_CHARACTERS = 300  # of an answer that is shown
LONGEST_WORD = 40
Judged = Mapping[str, Sequence[Verdict]]  # test -> its verdicts on a corpus
LOST, INSTEAD = 20, 3  # entities that are shown, and what was written instead of each
LONGEST = 60  # characters of an entity
PER_MARK = "Punctuation Error Rate Per Mark"


def resampled(evaluation: Evaluation) -> str:
    """Name what is resampled, in the plural: ``speakers``; ``blocks`` if corpora differ."""
    names = set(evaluation.block_names.values())
    return f"{names.pop()}s" if len(names) == 1 else "blocks"


def small_groups(rows: Sequence[tuple[object, ...]]) -> Html:
    """Show groups that are too small to be judged; empty without any."""
    names = ["corpus", "column", "group", "segments", "speakers", "not judged"]
    return views.listed(rows, names, caption="Groups that are too small to be judged.", none="")


def normaliser_notice(evaluation: Evaluation) -> Html:
    """Say which normaliser both sides went through, and show what it changed; after subsets were read."""
    used = evaluation.normaliser
    named = element("strong", f"Normaliser: {used.name}, version {used.version or 'unknown'}. ")
    named = element("p", named, element("span", used.description, limit=None), class_="sc-note")
    examples = [pair for pair in evaluation.texts.examples(CHANGED) if pair[0] != pair[1]]
    about = {"caption": "Texts that it changed", "sortable": False, "none": ""}
    return named + views.listed(examples, ["as written", "as compared"], **about)


def rate_table(rows: Sequence[Mapping[str, object]], blocks: str) -> Html:
    """Show word error rates of groups with their parts, from :func:`evaluation.words.group_rates`."""
    columns = {name: name for name in ("corpus", "column", "group")} | {"word error rate": values(unit="%")}
    columns["standard error"] = values("standard_error", "%")
    columns |= {name: values(name, "%") for name in ("insertions", "deletions", "substitutions")}
    columns["character error rate"] = values("characters", "%")
    columns |= {"words": "words", "segments": "segments", blocks: "blocks"}
    return views.table(rows, columns, first=MOST_NAMED)


def error_profile(evaluation: Evaluation, profile: pd.DataFrame) -> Html:
    """Draw which errors the groups have of the column whose worst group has most errors.

    ``profile`` is of a corpus, from :func:`soundcheck.evaluation.words.error_profile`.
    """
    rates_of = profile.pivot(index="part", columns="measure", values="value")[list(PROFILE)]
    groups = rates_of.drop("all")
    if groups.empty:
        return Html()
    worst = groups[list(PROFILE[:3])].sum(axis=1).idxmax()
    rates = [(info_of(name).title, *map(percent, rates_of.loc[[worst, "all"], name])) for name in PROFILE]
    each = ", ".join(f"{title} {rate} (all: {every})" for title, rate, every in rates)
    text = f"{profile['corpus'].iloc[0]}, {worst}, the group with the most errors: {each}"
    drawn = profile[profile["part"].str.startswith(f"{worst.partition(':')[0]}: ")]
    kind = drawn["measure"].map(lambda name: info_of(name).title)
    drawn = drawn.assign(kind=kind, reference=drawn["measure"].map(rates_of.loc["all"]))
    figure = views.forest(drawn, name="part", panels="kind", unit="share (grey: all)")
    return show(evaluation.media, figure, "Errors of each group", finding=text)


def rates_by_speech(rates: pd.DataFrame) -> Figure:
    """Draw error rates by length and speaking rate, see :func:`soundcheck.evaluation.words.speech_rates`."""
    unit = rates["unit"].iloc[0]
    titles = {"length": f"{named_units(unit)} said", "speaking rate": f"{named_units(unit)} a second"}
    frame = rates.assign(panel=rates["column"].map(titles))
    return views.lines(frame, "bin", panels="panel", ylabel=f"{unit} error rate")


def speech_table(rates: pd.DataFrame, blocks: str = "speakers") -> Html:
    """Show error rates by length and by speaking rate; at least one row."""
    unit = rates["unit"].iloc[0]
    columns = {"what was said": "group", f"{unit} error rate": values(unit="%"), named_units(unit): "units"}
    columns |= {"segments": "segments", blocks: "blocks"}
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
        for way, resampled in (("blockwise", each.blockwise), ("ordinary", each.ordinary)):
            row = {"difference": what, "resampled": way, "value": percent(resampled.value[0], 2, each.unit)}
            row["standard error"] = percent(resampled.standard_error[0], 2, each.unit)
            for interval, title in titles.items():
                ends = [percent(end[0], 2, each.unit) for end in resampled.interval(interval)]
                row[title] = " to ".join(ends) if all(ends) else "withheld"
            below = pd.Series(resampled.replicates.ravel()).dropna().lt(0).mean()
            row |= {"replicates below 0": percent(below), "words": each.words}
            rows.append(row | {"segments": resampled.segments[0], blocks: resampled.blocks[0]})
    return views.table(rows, sortable=False, none="")


def wrong_word_table(frame: pd.DataFrame, caption: str) -> Html:
    """Show the words that are wrong most often, and of several recognisers which has the fewest errors.

    ``frame`` is from :func:`soundcheck.metrics.word_errors.wrong_words`.
    """

    def wrong(name: str) -> Callable[[object], Cell]:
        return lambda row: Cell(f"{row[name]:,} ({percent(row[name] / row['said'])})", row[name], "sc-number")

    def fewest(counts: pd.Series) -> str:
        best = counts.index[counts.eq(counts.min())]
        return "all alike" if len(best) == len(counts) else some(list(best), 3)

    frequent, names = frame.head(MOST_WRONG), list(frame.columns[2:])
    rows = frequent[["word", "said"]].copy()
    for name in names:
        rows[f"wrong, {name}"] = frequent.apply(wrong(name), axis=1)
    if len(names) > 1:
        rows["fewest errors"] = frequent[names].apply(fewest, axis=1)
    caption = f"{caption}: the {len(rows)} of {len(frame)} words that are wrong most often"
    return views.table(rows, caption=caption)


def confusion_table(frame: pd.DataFrame) -> Html:
    """Show the most frequent errors, from :func:`soundcheck.metrics.word_errors.confusions`."""
    columns = {"error": lambda row: f"{MARKS[row.kind]} {row.kind}", "said": "reference"}
    columns |= {"recognised": "hypothesis", "times": "count", "of all words": values("share", "%")}
    frequent = frame.head(MOST_NAMED)
    return views.table(
        frequent, columns, caption=f"The {len(frequent)} most frequent of {len(frame)} different errors"
    )


def group_name(group: tuple[str, str]) -> str:
    """Name a group with its column, ``accent: welsh``."""
    return ": ".join(filter(None, group))


def localised_tables(
    localised: Mapping[tuple[str, str], Sequence[Localised]], probed: KeywordSentences, title: str
) -> list[Html]:
    """Show the words of all groups, then those of the group that is tested again and of everybody in full."""
    columns = {"word": "word", "recognised": "count", "drop": "drop", "": "kind"}
    columns["share"] = lambda row: value_cell(row.drop / row.count, unit="%")
    options = {"first": MOST_NAMED, "none": ""}
    full = [
        views.table(localised[group], columns, caption=f"{title}, {group_name(group)}", **options)
        for group in dict.fromkeys([probed.group or EVERYBODY, EVERYBODY])
    ]
    return [group_words(localised, title), *full]


def group_words(localised: Mapping[tuple[str, str], Sequence[Localised]], caption: str) -> Html:
    """Show for each group which words are not robust, which ones are, and how many are of each kind."""
    pooled = {word.word for word in localised.get(EVERYBODY, ()) if word.kind == NOT_ROBUST}
    rows = []
    for group, words in localised.items():
        of = {kind: [word for word in words if word.kind == kind] for kind in (ROBUST, BETWEEN, NOT_ROBUST)}
        more = "" if group == EVERYBODY else sum(word.word not in pooled for word in of[NOT_ROBUST])
        row = {"group": group_name(group)} | {kind: len(word) for kind, word in of.items()}
        row |= {"not so for everybody": more}
        lost = [f"{word.word} ({word.drop} of {word.count})" for word in of[NOT_ROBUST]]
        robust = [word.word for word in of[ROBUST]]
        row |= {"words that are not robust": _uncut(lost), "robust words": _uncut(robust)}
        rows.append(row)
    return views.table(rows, caption=caption, sortable=False)


def _uncut(words: Sequence[str]) -> Html:
    return element("span", some(words, MOST_NAMED), limit=None)


def keyword_table(frame: pd.DataFrame, title: str) -> Html:
    """Show in how many sentences around words of each kind the word is missing from the transcript.

    ``frame`` is from :func:`soundcheck.evaluation.lost_words.missing_words`.
    """

    def rate(side: str) -> Callable[[object], object]:
        def cell(row: object) -> object:
            ends = (getattr(row, f"{side}_low"), getattr(row, f"{side}_high"))
            known = ends if row.fewest >= LEAST_WORDS else ()
            return getattr(row, f"{side}_why") or value_cell(getattr(row, side), *known, unit=row.unit)

        return cell

    columns = {"words of a kind": "kind", "words": lambda row: _uncut(row.words), "sentences": "sentences"}
    columns |= {"missing, clean": rate("clean"), "missing, changed": rate("changed")}
    return views.table(frame, columns, caption=title, sortable=False)


def keyword_notes(corpus: str, probed: KeywordSentences, spoken: int) -> Html:
    """Say whose words are spoken, and what is not spoken and why."""
    if probed.reason:
        lines = [f"{corpus}: no sentences were spoken: {probed.reason}"]
    else:
        lines = [f"{corpus}: {spoken} sentences, around words of {group_name(probed.group)}"]
    for reason in dict.fromkeys(probed.refused.values()):
        words = [word for word, why in probed.refused.items() if why == reason]
        lines.append(f"{corpus}: not spoken, {reason}: {some(words, MOST_NAMED)}")
    if probed.surplus:
        lines.append(f"{corpus}: {probed.surplus} more words were not drawn, there are not so many sentences")
    return notes(lines)


def drop_tables(subset: Subset, drops: pd.DataFrame, model: str, words: int) -> list[Html]:
    """Show average drops of words for each column of groups: of one recogniser, then of all of them.

    ``drops`` are from :func:`soundcheck.evaluation.lost_words.average_drops`, of so many words.
    """
    tables = []
    for column in dict.fromkeys(drops.columns.get_level_values(0)):
        table = drops[column].rename(
            columns=lambda group, of=column: f"{group} ({subset.mask(of, group).sum()})"
        )
        title = f"{subset.corpus}, {column} (segments): average drop"
        here = table.loc[[model]].droplevel("recogniser")
        tables.append(drop_table(here, f"{title} of {words} words of {model}"))
        tables += [drop_table(table, f"{title}, all recognisers")] if len(table) > len(here) else []
    return tables


def drop_table(drops: pd.DataFrame, caption: str) -> Html:
    """Show average drops of words: a row for each recogniser, and one for each transformation."""
    means = {what: drops.groupby(what, sort=False).mean() for what in drops.index.names}
    means["all"] = drops.mean().to_frame("").T
    frame = pd.concat(means, names=["mean for each", ""]).reset_index()
    return views.table(frame, caption=caption, sortable=False)


def agreement_tables(
    evaluation: Evaluation, subset: Subset, drops: pd.DataFrame, violations: pd.DataFrame
) -> list[Html]:
    """Show the average drop of words of each group beside its violations, a table a column of groups.

    ``drops`` and ``violations`` are from :mod:`soundcheck.evaluation.lost_words`.
    """
    given = evaluation.recognisers(subset)
    if len(given) < 2:
        return [notes([f"{subset.corpus}: the suite has no other recogniser for this corpus"])]
    if violations.empty:
        return [notes([f"{subset.corpus}: {evaluation.why_no_pair(subset, with_transcripts=False)}"])]
    tables = []
    for column in violations.columns.unique(0):
        caption = f"{subset.corpus}, {column}, {len(given)} recognisers"
        tables.append(agreement_table(drops[column].mean(), violations[column].loc[0], caption))
    return tables


def agreement_table(drops: pd.Series, violations: pd.Series, caption: str) -> Html:
    """Show the average drop of words of each group beside its violations, and their rank correlation."""
    both = pd.DataFrame({"average drop": drops, "violations": violations}).dropna()
    both = both.astype({"violations": int})
    correlation = "no rank correlation: all groups are equal, or too few"
    if len(both) >= LEAST_RANKED and both.nunique().min() > 1:
        rho = both["average drop"].corr(both["violations"], method="spearman")
        correlation = f"rank correlation {number(rho, 2)} (Spearman, {len(both)} groups)"
    frame = both.rename_axis("group").reset_index()
    return views.table(frame, caption=f"{caption}; {correlation}", sortable=False)


def summary_table(evaluation: Evaluation, kinds: Sequence[Kind]) -> Html:
    """Show for each kind of sound how many answers are empty, and how much the others say."""
    options = evaluation.family.options
    limit = options["characters_a_minute"]
    speech = {kind.subset.corpus: (kind.of_speech(), "the speech as it is") for kind in reversed(kinds)}
    rows = [
        {"corpus": kind.subset.corpus, "sound": name} | kind.summary(limit, options["repeats"])
        for kind, name in [*reversed(speech.values()), *((kind, kind.name) for kind in kinds)]
    ]
    columns = {"corpus": "corpus", "sound": "sound", "transcripts": "answers", "empty": "empty"}
    columns["words a minute"] = lambda row: number(row.words, 1)
    columns["characters a minute"] = lambda row: number(row.characters, 1)
    columns |= {f"above {limit:g} characters a minute": "runaway", "with words that repeat": "repeating"}
    columns["no transcript"] = "missing"
    return views.table(rows, columns, caption="What is written, by kind of sound")


def made_up_words(kinds: Sequence[Kind]) -> Html:
    """Show the words that are written most often for each kind of sound in which nobody speaks."""
    rows = []
    for kind in filter(lambda kind: kind.silent, kinds):
        made_up = words_made_up(kind.subset.predictions.changed, MOST_MADE_UP)
        words = [f"{shorten(word, LONGEST_WORD)} ({times})" for word, times in made_up]
        rows += [(kind.subset.corpus, kind.name, _uncut(words))] if made_up else []
    caption = "Words that are written most often where nobody says them"
    names = ["corpus", "sound", "words and how often they are written"]
    none = "No word was written where nobody speaks."
    return views.listed(rows, names, caption=caption, none=none)


def most_written(evaluation: Evaluation, kinds: Sequence[Kind]) -> list[Scene]:
    """Choose for each kind of sound what the most is written for, the worst kinds first.

    Kinds in which somebody speaks do not count unless nothing is spoken for some time.
    """
    worst = []
    for kind in kinds:
        rates = np.nan_to_num(60 * character_counts(kind.subset.predictions.changed) / kind.seconds)
        if (kind.silent or kind.followed) and rates.size and rates.max() > 0:
            n = int(np.argmax(rates))  # the first of equals: segments are in canonical order
            order = (not kind.silent, -float(rates[n]), kind.name, kind.subset.corpus)
            worst.append((order, _scene(evaluation, kind, n)))
    return [scene for _, scene in sorted(worst, key=lambda entry: entry[0])[:MOST_KINDS]]


def _scene(evaluation: Evaluation, kind: Kind, n: int) -> Scene:
    subset, changed = kind.subset, kind.name in evaluation.family.changes
    name = subset.segments["file"].iloc[n]
    title = f"{kind.name} in the place of {name}" if kind.silent and changed else f"{name}: {kind.name}"
    said = f"written: {shorten(subset.predictions.changed[n], MOST_CHARACTERS)}"
    change = evaluation.family.changes[kind.name] if changed else None
    about = {"said": lambda _: said, "words": lambda _: None}
    about["sounds"] = lambda n: [side(evaluation, subset, subset.segments.iloc[n], change, title, said)]
    return Scene(subset.corpus, subset, [Example(n)], **about)


def plain_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show each value beside that of a recogniser that writes the right words without any format."""
    writer, rows = plain_writer(subset), []
    for test, measure in formatting.measures.items():
        if test in judged and test != PER_MARK:
            both = zip(judged[test], values_of(measure(subset, writer)), strict=True)
            rows += [vars(verdict) | {"plain": plain} for verdict, plain in both]
    columns = {"test": "test", "class": "label", formatting.evaluation.model: values(unit="%")}
    columns["right words, lower case, no marks"] = values("plain", "%")
    caption = f"Beside a recogniser that does not format, {subset.corpus}"
    none = f"{subset.corpus}: the references have nothing to judge."
    return views.table(rows, columns, caption=caption, none=none)


def reference_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the word error rate against spoken and written references side by side, where there are both."""
    evaluation, normaliser = formatting.evaluation, formatting.normaliser
    ways = {"lower case, no marks": ("plain", plain)}
    ways[f"normaliser {normaliser.name}"] = (normaliser.name, normaliser)
    rows: dict[str, dict[str, object]] = {}
    for title, (way, writer) in ways.items():
        for name, texts in formatting.by_reference(subset, writer).items():
            rate, condition = word_error_rate(texts.words, texts.errors), f"{name} reference, {way}"
            (estimate,) = evaluation.estimate(subset, "word_error_rate", rate, condition=condition)
            row = rows.setdefault(name, {"reference": name})
            row[title] = value_cell(estimate.value, estimate.low, estimate.high, "%")
    for name, texts in formatting.by_reference(subset, plain).items():
        rows[name]["words"] = int(np.nansum(texts.words))
        rows[name]["segments without an error"] = int((texts.errors == 0).sum())
        rows[name]["segments with both"] = int(np.isfinite(texts.errors).sum())
    caption = f"Word error rate against spoken and written references, {subset.corpus}"
    none = f"{subset.corpus}: no segment has a spoken and a written reference whose words can be separated."
    return views.table(list(rows.values()), caption=caption, none=none)


def mark_table(subset: Subset, judged: Judged) -> Html:
    """Show the errors of each mark; nothing if the references have none."""
    rates = {verdict.label: value_cell(*_ends(verdict), "%") for verdict in judged.get(PER_MARK, ())}
    if not rates:
        return Html()
    counts = format_errors(subset.truth, subset.predictions.clean).marks
    counts = counts[~pd.isna(counts[:, 0, 0])].sum(axis=0).astype(int)
    cells = pd.DataFrame(counts, list(PUNCTUATION), ["in the references", *KINDS[1:]])
    cells = cells[cells.any(axis=1)].reset_index(names="mark")
    cells.insert(1, "error rate", cells["mark"].map(rates))
    cells["mark"] = [f"{name} {PUNCTUATION[name][0]}" for name in cells["mark"]]
    none = f"{subset.corpus}: no mark is wrong."
    return views.table(cells, caption=f"Errors of each mark, {subset.corpus}", none=none)


def entity_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show how many entities of each class there are and are wrong."""
    every, rows = _entities(formatting, subset), []
    for verdict in judged.get("Entity Error Rate", ()):
        here = every[every["kind"].eq(verdict.label)]
        row = {"class": verdict.label, "error rate": value_cell(*_ends(verdict), "%"), "entities": len(here)}
        row |= {"wrong": int((~here["right"]).sum()), "segments": here["segment"].nunique()}
        rows.append(row | {"speakers": here["speaker"].nunique() or ""})
    none = f"{subset.corpus}: the references have no entities."
    return views.table(rows, caption=f"Entities of each class, {subset.corpus}", none=none)


def lost_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the entities that are wrong most often, with what was written instead."""
    every = _entities(formatting, subset)
    if every.empty:
        return Html()
    rows = []
    for (kind, said), here in every.groupby(["kind", "said"]):
        counts = here.loc[~here["right"], "written"].value_counts().sort_index()
        instead = counts.sort_values(ascending=False, kind="stable")
        texts = [f"{shorten(text, LONGEST) or '(nothing)'} ({count})" for text, count in instead.items()]
        row = {"class": kind, "entity": shorten(said, LONGEST), "said": len(here), "wrong": instead.sum()}
        written = element("span", some(texts, INSTEAD), limit=None)
        rows += [row | {"written instead, how often": written}] if texts else []
    rows.sort(key=lambda row: -row["wrong"])
    caption = f"Entities that are wrong most often, {subset.corpus}"
    none = f"{subset.corpus}: no entity is wrong."
    return views.table(rows, caption=caption, first=LOST, none=none)


def _entities(formatting: Formatting, subset: Subset) -> pd.DataFrame:
    """List all entities: ``kind``, what was ``said`` and ``written``, ``right``, ``segment``, ``speaker``."""
    rows = []
    for n, entities in enumerate(formatting.entities(subset, subset.predictions)):
        rows += [(each.kind, each.said, each.written, each.right, n) for each in entities or ()]
    frame = pd.DataFrame(rows, columns=["kind", "said", "written", "right", "segment"])
    speakers = subset.segments.get("speaker", pd.Series(dtype=str))
    return frame.astype({"right": bool}).assign(speaker=frame["segment"].map(dict(enumerate(speakers))))


def _ends(verdict: Verdict) -> tuple[float, float, float]:
    return verdict.value, verdict.low, verdict.high
