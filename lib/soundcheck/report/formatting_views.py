"""What the page about formatted transcripts shows: errors by mark and by class of entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.common.wording import counted
from soundcheck.evaluation.formatting import Formatting, plain, plain_writer
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import values
from soundcheck.metrics.entities import Entity
from soundcheck.metrics.formatting import KINDS, MARKS, format_errors
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import views
from soundcheck.report.html import Html, element
from soundcheck.report.words import percent_cell, share, whole
from soundcheck.results.verdict import Verdict

Judged = Mapping[str, Sequence[Verdict]]  # test -> its verdicts on a corpus
LOST, INSTEAD = 20, 3  # entities that are shown, and what was written instead of each
LONGEST = 60  # characters of an entity


def plain_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show each value beside that of a recogniser that writes the right words without any format."""
    writer, rows = plain_writer(subset), []
    for test, measure in formatting.measures.items():
        if test in judged and test != "Punctuation Error Rate Per Mark":
            for verdict, found in zip(judged[test], values(measure(subset, writer)), strict=True):
                rows.append({"test": test, "class": verdict.label, "plain": found} | _value(verdict))
    columns = {"test": "test", "class": "class", formatting.evaluation.model: share()}
    columns["right words, lower case, no marks"] = share("plain")
    caption = f"Beside a recogniser that does not format, {subset.corpus}"
    return _table(rows, columns, caption, "the references have nothing to judge", subset)


def reference_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the word error rate against spoken and written references side by side, where there are both."""
    evaluation, normaliser = formatting.evaluation, formatting.normaliser
    ways = {
        "plain": formatting.by_reference(subset, plain),
        normaliser.name: formatting.by_reference(subset, normaliser),
    }
    rows = []
    for name, own in ways["plain"].items():
        row = {"reference": name, "words": int(np.nansum(own.words)), "right": int((own.errors == 0).sum())}
        row["both"] = int(np.isfinite(own.errors).sum())
        for written, way in ways.items():
            rate = word_error_rate(way[name].words, way[name].errors)
            condition = f"{name} reference, {written}"
            (row[written],) = evaluation.estimate(subset, "word_error_rate", rate, condition=condition)
        rows.append(row)

    def rate(name: str) -> object:
        return lambda row: percent_cell(
            *(getattr(getattr(row, name), end) for end in ("value", "low", "high"))
        )

    columns = {"reference": "reference", "lower case, no marks": rate("plain")}
    columns |= {f"normaliser {normaliser.name}": rate(normaliser.name), "words": "words"}
    columns |= {"segments without an error": "right", "segments with both": "both"}
    caption = f"Word error rate against spoken and written references, {subset.corpus}"
    none = "no segment has a spoken and a written reference whose words can be separated"
    return _table(rows, columns, caption, none, subset)


def mark_table(subset: Subset, judged: Judged) -> Html:
    """Show the errors of each mark; nothing if the references have none."""
    verdicts = {verdict.label: verdict for verdict in judged.get("Punctuation Error Rate Per Mark", ())}
    if not verdicts:
        return Html()
    counts = format_errors(subset.truth, subset.predictions.clean).marks
    counts = counts[~pd.isna(counts[:, 0, 0])].sum(axis=0).astype(int)
    kinds = ["in the references", *KINDS[1:]]
    rows = [
        {"mark": f"{name} {MARKS[name][0]}"} | dict(zip(kinds, own, strict=True)) | _value(verdicts.get(name))
        for name, own in zip(MARKS, counts.tolist(), strict=True)
        if any(own)
    ]
    columns = {"mark": "mark", "error rate": share()} | {kind: kind for kind in kinds}
    return _table(rows, columns, f"Errors of each mark, {subset.corpus}", "no mark is wrong", subset)


def entity_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show how many entities of each class there are and are wrong."""
    rows = []
    for verdict in judged.get("Entity Error Rate", ()):
        own = [(n, one) for n, one in _all(formatting, subset) if one.kind == verdict.label]
        where = sorted({n for n, _ in own})
        row = {"class": verdict.label, "entities": len(own), "segments": len(where)} | _value(verdict)
        row["speakers"] = (
            subset.segments["speaker"].iloc[where].nunique() if "speaker" in subset.segments else ""
        )
        rows.append(row | {"wrong": sum(not one.right for _, one in own)})
    columns = {"class": "class", "error rate": share()}
    columns |= {name: name for name in ("entities", "wrong", "segments", "speakers")}
    caption = f"Entities of each class, {subset.corpus}"
    return _table(rows, columns, caption, "the references have no entities", subset)


def lost_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the entities that are wrong most often, with what was written instead."""
    said, instead = Counter(), defaultdict(Counter)
    for _, one in _all(formatting, subset):
        said[one.kind, one.said] += 1
        if not one.right:
            instead[one.kind, one.said][one.written] += 1
    rows = []
    for place in sorted(instead, key=lambda own: (-instead[own].total(), own)):
        found = sorted(instead[place].items(), key=lambda one: (-one[1], one[0]))
        texts = [f"{shorten(text, LONGEST) or '(nothing)'} ({count})" for text, count in found[:INSTEAD]]
        texts += [counted(len(found) - INSTEAD, "other")] if len(found) > INSTEAD else []
        row = {"class": place[0], "entity": shorten(place[1], LONGEST), "said": said[place]}
        rows.append(row | {"wrong": instead[place].total(), "instead": ", ".join(texts)})
    columns = {name: name for name in ("class", "entity", "said", "wrong")}
    columns["written instead, how often"] = whole("instead")
    caption = f"Entities that are wrong most often, {subset.corpus}"
    return _table(rows, columns, caption, "no entity is wrong", subset) if said else Html()


def _table(rows: Sequence[Mapping], columns: Mapping, caption: str, none: str, subset: Subset) -> Html:
    if not rows:
        return element("p", f"{subset.corpus}: {none}.")
    return views.table(pd.DataFrame(rows), columns, caption=caption, first=LOST)


def _all(formatting: Formatting, subset: Subset) -> Iterator[tuple[int, Entity]]:
    for n, own in enumerate(formatting.entities(subset, subset.predictions)):
        yield from ((n, one) for one in own or ())


def _value(verdict: Verdict | None) -> dict[str, float]:
    return {name: np.nan if verdict is None else getattr(verdict, name) for name in ("value", "low", "high")}
