"""What the notebooks of several families show: verdicts, figures, intervals, speakers.

Every function displays at once what it makes, so that a notebook needs one line for it.
"""

from collections.abc import Sequence

from IPython.display import display
from matplotlib.figure import Figure

from soundcheck.evaluation.comparison import Comparison
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.report import notices, style, views
from soundcheck.report.formats import significant
from soundcheck.report.names import measure, remark
from soundcheck.report.verdict_tables import verdict_table


def opening(evaluation: Evaluation | Comparison) -> None:
    """Say if the data are synthetic and how scales are shown; the first thing on a page."""
    display(notices.synthetic_notice(evaluation.synthetic))
    if evaluation.scales:
        display(notices.notes(evaluation.scales))


def verdicts(evaluation: Evaluation) -> None:
    """Show all verdicts so far, and what is to be known of the data they rest on."""
    display(verdict_table(evaluation.frame(), evaluation.block_names))
    display(notices.notes([remark(note) for note in evaluation.notes]))


def show(evaluation: Evaluation | Comparison, figure: Figure, alt: str, finding: str = "") -> None:
    """Show a figure below its finding; ``alt`` says what it shows, for readers who do not see it."""
    display(style.show(evaluation.media, figure, alt, finding=finding))


def intervals(evaluation: Evaluation) -> None:
    """Draw all values with their intervals, a panel a measure."""
    frame = evaluation.frame()
    frame = frame[frame["value"].notna()].drop(columns="state")  # known when all families are
    several = [one for one in ("corpus", "task", "group", "label") if frame[one].nunique() > 1] or ["task"]
    frame["name"] = [", ".join(filter(None, row)) for row in frame[several].itertuples(index=False)]
    frame["measure"], frame["words"] = frame["test"].map(measure), frame["value"].map(significant)
    frame["reference"] = frame["threshold"]
    figure = views.forest(frame, panels="measure", unit="value with 95 % interval; grey mark: threshold")
    if len(frame):
        show(evaluation, figure, f"Values with 95 % intervals: {', '.join(frame['measure'].unique())}")


def speakers(subsets: Sequence[tuple[Subset, SpeakerValues]]) -> None:
    """Say how many speakers take part; from :func:`evaluation.correctness.subsets_with_speakers`."""
    rows = [
        (s.corpus, s.task.name, len(found), s.segments["speaker"].nunique(), found.counts.sum())
        for s, found in subsets
    ]
    display(views.listed(rows, ["corpus", "task", "speakers that take part", "of", "segments"]))
