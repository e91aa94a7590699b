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
from soundcheck.report.estimate_tables import estimate_cell
from soundcheck.report.html import Html, element
from soundcheck.report.recognition_tables import percent_cell
from soundcheck.report.tables import table
from soundcheck.results.verdict import Verdict

Judged = Mapping[str, Sequence[Verdict]]  # test -> its verdicts on a corpus
LOST, INSTEAD = 20, 3  # entities that are shown, and what was written instead of each
LONGEST = 60  # characters of an entity


def plain_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show each value beside that of a recogniser that writes the right words without any format."""
    measures = {
        "Punctuation Error Rate": formatting.punctuation,
        "Capital Error Rate": formatting.capitals,
        "Word Error Rate With Capitals": formatting.words_with_case,
        "Word Error Rate Without Capitals": formatting.words_without_case,
        "Entity Error Rate": formatting.lost_entities,
    }
    plain, rows = plain_writer(subset), []
    for test, measure in measures.items():
        if test in judged:
            there = zip(judged[test], values(measure(subset, plain)), strict=True)
            rows += [[test, verdict.label, _cell(verdict), percent_cell(found)] for verdict, found in there]
    if not rows:
        return element("p", f"{subset.corpus}: the references have nothing to judge.")
    columns = ["test", "class", formatting.evaluation.model, "right words, lower case, no marks"]
    return table(rows, columns, caption=f"Beside a recogniser that does not format, {subset.corpus}")


def reference_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the word error rate against spoken and written references side by side, where there are both."""
    evaluation, normaliser = formatting.evaluation, formatting.normaliser
    ways = [formatting.by_reference(subset, write) for write in (plain, normaliser)]
    if not ways[0]:
        none = "no segment has a spoken and a written reference whose words can be separated"
        return element("p", f"{subset.corpus}: {none}.")
    rows = []
    for name in ways[0]:
        cells = []
        for way, written in zip(ways, ("plain", normaliser.name), strict=True):
            rate = word_error_rate(way[name].words, way[name].errors)
            condition = f"{name} reference, {written}"
            (one,) = evaluation.estimate(subset, "word_error_rate", rate, condition=condition)
            cells.append(estimate_cell(one))
        own = ways[0][name]
        cells += [int(np.nansum(own.words)), int((own.errors == 0).sum()), int(np.isfinite(own.errors).sum())]
        rows.append([name, *cells])
    columns = ["reference", "lower case, no marks", f"normaliser {normaliser.name}"]
    columns += ["words", "segments without an error", "segments with both"]
    caption = f"Word error rate against spoken and written references, {subset.corpus}"
    return table(rows, columns, caption=caption, sortable=False)


def mark_table(subset: Subset, judged: Judged) -> Html:
    """Show the errors of each mark; nothing if the references have none."""
    verdicts = {verdict.label: verdict for verdict in judged.get("Punctuation Error Rate Per Mark", ())}
    if not verdicts:
        return Html("")
    counts = format_errors(subset.truth, subset.predictions.clean).marks
    counts = counts[~pd.isna(counts[:, 0, 0])].sum(axis=0)
    rows = []
    for name, own in zip(MARKS, counts.astype(int).tolist(), strict=True):
        if any(own):
            rows.append([f"{name} {MARKS[name][0]}", _cell(verdicts.get(name)), *own])
    columns = ["mark", "error rate", "in the references", *KINDS[1:]]
    return table(rows, columns, caption=f"Errors of each mark, {subset.corpus}", sortable=False)


def entity_table(formatting: Formatting, subset: Subset, judged: Judged) -> Html:
    """Show how many entities of each class there are and are wrong; nothing if the references have none."""
    rows = []
    for verdict in judged.get("Entity Error Rate", ()):
        own = [(n, one) for n, one in _all(formatting, subset) if one.kind == verdict.label]
        where = sorted({n for n, _ in own})
        speakers = subset.segments["speaker"].iloc[where].nunique() if "speaker" in subset.segments else ""
        wrong = sum(not one.right for _, one in own)
        rows.append([verdict.label, _cell(verdict), len(own), wrong, len(where), speakers])
    if not rows:
        return element("p", f"{subset.corpus}: the references have no entities.")
    columns = ["class", "error rate", "entities", "wrong", "segments", "speakers"]
    return table(rows, columns, caption=f"Entities of each class, {subset.corpus}")


def lost_table(formatting: Formatting, subset: Subset) -> Html:
    """Show the entities that are wrong most often, with what was written instead."""
    said = Counter((one.kind, one.said) for _, one in _all(formatting, subset))
    instead: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for _, one in _all(formatting, subset):
        if not one.right:
            instead[one.kind, one.said][one.written] += 1
    if not instead:
        return element("p", f"{subset.corpus}: no entity is wrong.") if said else Html("")
    order = sorted(instead, key=lambda own: (-instead[own].total(), own))
    rows = []
    for kind, name in order[:LOST]:
        found = sorted(instead[kind, name].items(), key=lambda one: (-one[1], one[0]))
        told = [f"{shorten(text, LONGEST) or '(nothing)'} ({count})" for text, count in found[:INSTEAD]]
        told += [counted(len(found) - INSTEAD, "other")] if len(found) > INSTEAD else []
        wrong = instead[kind, name].total()
        written = element("span", ", ".join(told), limit=None)
        rows.append([kind, element("span", shorten(name, LONGEST)), said[kind, name], wrong, written])
    caption = f"Entities that are wrong most often, {subset.corpus}"
    if len(order) > LOST:
        caption += f"; {LOST} of {len(order)}"
    return table(rows, ["class", "entity", "said", "wrong", "written instead, how often"], caption=caption)


def _all(formatting: Formatting, subset: Subset) -> Iterator[tuple[int, Entity]]:
    for n, own in enumerate(formatting.entities(subset, subset.predictions)):
        yield from ((n, one) for one in own or ())


def _cell(verdict: Verdict | None) -> object:
    return "" if verdict is None else percent_cell(verdict.value, verdict.low, verdict.high)
