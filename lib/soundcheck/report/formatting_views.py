"""What the page about formatted transcripts shows: errors by mark and by class of entity."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.common.wording import some
from soundcheck.evaluation.formatting import Formatting, plain, plain_writer
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import values as values_of
from soundcheck.metrics.formatting import KINDS, MARKS, format_errors
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import views
from soundcheck.report.formats import value_cell, values
from soundcheck.report.html import Html, element
from soundcheck.results.verdict import Verdict

Judged = Mapping[str, Sequence[Verdict]]  # test -> its verdicts on a corpus
LOST, INSTEAD = 20, 3  # entities that are shown, and what was written instead of each
LONGEST = 60  # characters of an entity
PER_MARK = "Punctuation Error Rate Per Mark"


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
    cells = pd.DataFrame(counts, list(MARKS), ["in the references", *KINDS[1:]])
    cells = cells[cells.any(axis=1)].reset_index(names="mark")
    cells.insert(1, "error rate", cells["mark"].map(rates))
    cells["mark"] = [f"{name} {MARKS[name][0]}" for name in cells["mark"]]
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
    every["wrong"] = ~every["right"]
    counts = every.groupby(["kind", "said"])["wrong"].agg(["size", "sum"]).reset_index()
    wrong = every[every["wrong"]].groupby(["kind", "said", "written"]).size()
    wrong = wrong.reset_index(name="count").sort_values(["count", "written"], ascending=[False, True])

    def instead(row: object) -> Html:
        here = wrong[wrong["kind"].eq(row.kind) & wrong["said"].eq(row.said)]
        each = zip(here["written"], here["count"], strict=True)
        texts = [f"{shorten(text, LONGEST) or '(nothing)'} ({n})" for text, n in each]
        return element("span", some(texts, INSTEAD), limit=None)

    columns = {"class": "kind", "entity": lambda row: shorten(row.said, LONGEST), "said": "count"}
    columns |= {"wrong": "sum", "written instead, how often": instead}
    rows = counts[counts["sum"].gt(0)].sort_values("sum", ascending=False, kind="stable")
    rows = rows.rename(columns={"size": "count"})
    caption = f"Entities that are wrong most often, {subset.corpus}"
    none = f"{subset.corpus}: no entity is wrong."
    return views.table(rows, columns, caption=caption, first=LOST, none=none)


def _entities(formatting: Formatting, subset: Subset) -> pd.DataFrame:
    """List all entities: ``kind``, what was ``said`` and ``written``, ``right``, ``segment``, ``speaker``."""
    numbered = enumerate(formatting.entities(subset, subset.predictions))
    rows = [
        (one.kind, one.said, one.written, one.right, n) for n, entities in numbered for one in entities or ()
    ]
    frame = pd.DataFrame(rows, columns=["kind", "said", "written", "right", "segment"])
    speakers = subset.segments.get("speaker", pd.Series(dtype=str))
    return frame.astype({"right": bool}).assign(speaker=frame["segment"].map(dict(enumerate(speakers))))


def _ends(verdict: Verdict) -> tuple[float, float, float]:
    return verdict.value, verdict.low, verdict.high
