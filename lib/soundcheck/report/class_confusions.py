"""What classes are taken for, as a table whose cells are coloured by share and lead to their segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.common import files
from soundcheck.common.wording import counted
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.classification import class_numbers
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.players import row
from soundcheck.report.segment_player import segment_name, segment_player

MOST_CLASSES = 20  # of a table; of more those with the most segments
MOST_CELLS = 60  # whose segments are listed, those with the most segments
READ = 4  # segments of a cell
HEARD = 1  # of each of the two cells with the most confusions, of a model that listens
CELLS_HEARD = 2


def confusion_counts(
    truth: Sequence[str | None], prediction: Sequence[str | None], classes: Sequence[str]
) -> np.ndarray:
    """Count the segments of each class (row) that were taken for each class (column), int64 ``(K, K)``.

    Segments without label or prediction, or of no such class, are left out.

    Examples
    --------
    >>> confusion_counts(["a", "a", "b", "b"], ["a", "b", "b", None], ["a", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    rows, columns = (class_numbers(names, classes) for names in (truth, prediction))
    size = len(classes)
    known = (rows >= 0) & (rows < size) & (columns >= 0) & (columns < size)
    cells = rows[known].astype(np.int64) * size + columns[known]
    return np.bincount(cells, minlength=size * size).reshape(size, size)


def class_confusions(evaluation: Evaluation, subset: Subset, finding: str = "") -> Html:
    """Show where the segments of each class went, with a few segments of each cell.

    Parameters
    ----------
    evaluation
        For the media store and the corpus.
    subset
        Segments of a corpus and a task of classes, with labels.
    finding
        What is seen, in a sentence; the heading of the table.
    """
    classes = list(subset.task.classes)
    counts = confusion_counts(subset.truth, subset.predictions.clean, classes)
    used = counts.sum(axis=0) + counts.sum(axis=1)
    shown = np.sort(np.argsort(-used, kind="stable")[:MOST_CLASSES])
    cells = sorted((-counts[r, c], r, c) for r in shown for c in shown if counts[r, c])
    listed = {(r, c) for _, r, c in cells[:MOST_CELLS]}
    anchor = f"confusion-{files.slug(subset.corpus)}-{files.slug(subset.task.name)}"
    notes = []
    if len(shown) < len(classes):
        notes.append(f"The {len(shown)} of {len(classes)} classes with the most segments are shown.")
    if len(cells) > MOST_CELLS:
        notes.append(f"Segments are listed for the {MOST_CELLS} of {len(cells)} cells that have the most.")
    if missing := len(subset) - int(counts.sum()):
        notes.append(
            f"{counted(missing, 'segment')} without a prediction or with another label: not counted."
        )
    heading = [element("p", finding, class_="sc-finding")] if finding else []
    parts = [*heading, _matrix(subset, counts, shown, listed, anchor), tables.notes(notes)]
    wrong = [(r, c) for _, r, c in cells if r != c][:CELLS_HEARD]
    if wrong and not evaluation.guesses:
        parts.append(_players(evaluation, subset, wrong))
    parts.append(_lists(subset, sorted(listed), counts, anchor))
    return join(parts)


def _matrix(
    subset: Subset, counts: np.ndarray, shown: np.ndarray, listed: set[tuple[int, int]], anchor: str
) -> Html:
    classes = subset.task.classes
    corner = element("td", "label ↓ prediction →", class_="sc-heat-corner")
    names = [element("th", classes[c], scope="col") for c in shown]
    lines = []
    for r in shown:
        total = counts[r].sum()
        cells = [element("th", classes[r], scope="row")]
        for c in shown:
            share = counts[r, c] / total if total else 0.0
            percent = f"{100 * share:.0f} %" if total else "–"
            told = element("span", element("strong", percent), " ", element("small", f"{counts[r, c]:,}"))
            if (r, c) in listed:
                hint = f"{classes[r]} taken for {classes[c]}: segments"
                told = element("a", told, href=f"#{anchor}-{r}-{c}", title=hint)
            kind = "sc-heat-right" if r == c else "sc-heat-wrong"
            cells.append(element("td", told, class_=f"sc-heat {kind}", style=f"--share:{share:.3f}"))
        lines.append(element("tr", *cells))
    title = f"{subset.corpus}, {subset.task.name}: where the segments of each class (row) went, and how many"
    table = element(
        "table",
        element("caption", title, limit=None),
        element("thead", element("tr", corner, *names)),
        element("tbody", *lines),
        class_="sc-table sc-confusions",
    )
    return element("div", table, class_="sc-scroll", tabindex="0", role="group", aria_label=title)


def _chosen(subset: Subset, cell: tuple[int, int], count: int) -> list[int]:
    """Choose segments of a cell by their keys, each block once before another one of the same comes."""
    r, c = (subset.task.classes[n] for n in cell)
    rows = np.flatnonzero((subset.truth == r) & (subset.predictions.clean == c))
    keys = subset.segments["key"].to_numpy(dtype=object)[rows]
    rows = rows[np.argsort(keys, kind="stable")]
    _, first = np.unique(subset.blocks[rows], return_index=True)
    later = np.setdiff1d(np.arange(len(rows)), first)
    return rows[np.concatenate([np.sort(first), later])][:count].tolist()


def _players(evaluation: Evaluation, subset: Subset, cells: Sequence[tuple[int, int]]) -> Html:
    view, shown, classes = evaluation.view(subset), [], subset.task.classes
    for r, c in cells:
        for n in _chosen(subset, (r, c), HEARD):
            said = f"labelled {classes[r]}, predicted {classes[c]}"
            shown.append(segment_player(evaluation.media, view, subset.segments.iloc[n], said))
    return row(shown, title=f"{subset.corpus}, {subset.task.name}: the most frequent confusions")


def _lists(subset: Subset, cells: Sequence[tuple[int, int]], counts: np.ndarray, anchor: str) -> Html:
    """List a few segments of each cell; the anchors are inside of what is folded, so that links open it."""
    classes, shown = subset.task.classes, []
    for r, c in cells:
        files_ = []
        for n in _chosen(subset, (r, c), READ):
            segment = subset.segments.iloc[n]
            speaker = f" ({segment['speaker']})" if segment.get("speaker") else ""
            files_.append(element("li", f"{segment_name(segment)}{speaker}"))
        more = int(counts[r, c]) - len(files_)
        told = f"{classes[r]} taken for {classes[c]}" if r != c else f"{classes[r]}, recognised"
        tail = element("p", f"and {more:,} more", class_="sc-note") if more else Html()
        head = element("p", element("strong", told), id=f"{anchor}-{r}-{c}", tabindex="-1")
        shown.append(element("div", head, element("ul", *files_), tail, class_="sc-cell"))
    head = element("summary", f"Segments of each cell: {subset.corpus}, {subset.task.name}")
    return element("details", head, element("div", *shown, class_="sc-cells"), class_="sc-fold sc-segments")
