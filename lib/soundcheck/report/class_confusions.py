"""What classes are taken for, as a table whose cells are coloured by share and lead to their segments."""

import numpy as np
import pandas as pd

from soundcheck.common import files, templates
from soundcheck.common.wording import counted
from soundcheck.evaluation.subset import Subset
from soundcheck.report.examples import Example, Scene, choose
from soundcheck.report.html import Html
from soundcheck.report.players import segment_name

MOST_CLASSES = 20  # of a table; of more those with the most segments
MOST_CELLS = 60  # whose segments are listed, those with the most segments
READ = 4  # segments of a cell
PLAYED = 2  # most frequent confusions, of each a segment


def confusion_counts(subset: Subset) -> np.ndarray:
    """Count the segments of each class (row) that were taken for each class (column), int ``(K, K)``.

    Segments without label or prediction, or of no such class, are left out.
    """
    classes = list(subset.task.classes)
    sides = pd.DataFrame({"truth": subset.truth, "prediction": subset.predictions.clean}, dtype=object)
    counts = sides.value_counts().unstack(fill_value=0)
    return counts.reindex(index=classes, columns=classes, fill_value=0).to_numpy(int, copy=True)


def class_confusions(subset: Subset, finding: str = "") -> Html:
    """Show where the segments of each class went, with a few segments of each cell.

    ``finding`` says what is seen; it is the heading of the table.
    """
    classes, place = subset.task.classes, f"{subset.corpus}, {subset.task.name}"
    counts = confusion_counts(subset)
    used = counts.sum(axis=0) + counts.sum(axis=1)
    shown = np.sort(np.argsort(-used, kind="stable")[:MOST_CLASSES])
    anchor = f"confusion-{files.slug(subset.corpus)}-{files.slug(subset.task.name)}"
    cells = {
        (r, c): {
            "count": int(counts[r, c]),
            "share": counts[r, c] / max(1, counts[r].sum()),
            "known": counts[r].any(),
            "css": "sc-heat-right" if r == c else "sc-heat-wrong",
            "anchor": f"{anchor}-{r}-{c}",
            "title": f"{classes[r]} taken for {classes[c]}" if r != c else f"{classes[r]}, recognised",
        }
        for r in shown
        for c in shown
    }
    ranked = sorted((cell for cell in cells if counts[cell]), key=lambda cell: (-counts[cell], cell))
    listed = sorted(ranked[:MOST_CELLS])
    for r, c in listed:
        chosen = [subset.segments.iloc[one.row] for one in _chosen(subset, classes[r], classes[c], READ)]
        names = [segment_name(one) + (f" ({one['speaker']})" if one.get("speaker") else "") for one in chosen]
        cells[r, c] |= {"segments": names, "more": int(counts[r, c]) - len(names)}
    missing = counted(len(subset) - int(counts.sum()), "segment")
    most = f"The {len(shown)} of {len(classes)} classes with the most segments are shown."
    fewer = f"Segments are listed for the {MOST_CELLS} of {len(ranked)} cells that have the most."
    notes = [
        *([most] if len(shown) < len(classes) else []),
        *([fewer] if len(ranked) > MOST_CELLS else []),
        *(
            [f"{missing} without a prediction or with another label: not counted."]
            if counts.sum() < len(subset)
            else []
        ),
    ]
    return templates.html(
        "confusions",
        names=[classes[c] for c in shown],
        rows=[{"name": classes[r], "cells": [cells[r, c] for c in shown]} for r in shown],
        listed=[cells[cell] for cell in listed],
        finding=finding,
        title=f"{place}: where the segments of each class (row) went, and how many",
        place=place,
        notes=notes,
    )


def most_confused(subset: Subset) -> Scene:
    """Choose a segment of each of the most frequent confusions."""
    classes = subset.task.classes
    counts = confusion_counts(subset)
    np.fill_diagonal(counts, 0)
    cells = [divmod(int(n), len(classes)) for n in np.argsort(-counts, axis=None, kind="stable")[:PLAYED]]
    chosen = [_chosen(subset, classes[r], classes[c], 1) for r, c in cells if counts[r, c]]
    title = f"{subset.corpus}, {subset.task.name}: the most frequent confusions"
    return Scene(title, subset, [one for own in chosen for one in own])


def _chosen(subset: Subset, label: str, predicted: str, count: int) -> list[Example]:
    """Choose segments of a cell by their keys, each speaker once before another one of the same comes."""
    mask = (subset.truth == label) & (subset.predictions.clean == predicted)
    found = choose(np.zeros(len(subset)), subset.segments, mask, typical=count)
    return [one._replace(why="") for one in found]
