"""Key figures in words: how good models are, with intervals and what chance scores."""

from collections.abc import Sequence

from soundcheck.common.messages import Caveat, counted
from soundcheck.report.formats import significant
from soundcheck.results.record import KeyFigure, ModelRecord
from soundcheck.results.states import HOLLOW, PROVEN, UNPROVEN, standing
from soundcheck.statistics.bootstrap import FEW_BLOCKS

RATES = (
    "word error rate",
    "character error rate",
    "mixed error rate",
    "equal error rate",
    "false acceptance rate",
    "false rejection rate",
)
WORSE_THAN_CHANCE = "worse than chance"
_REVERSED = {  # measure -> what turns it around, and the key that mends it
    "concordance": "Is the scale reversed? Then write its ends that way, such as `range: [1, 0]`",
    "unweighted average recall": "Are its classes in another order? Compare its answers with the labels",
    "equal error rate": "Are the scores distances? Then declare `distances: true`",
}
PER_CENT = "\N{NO-BREAK SPACE}%"
EXPLAINED = {
    PROVEN: "better than chance",
    HOLLOW: "no better than chance",
    UNPROVEN: "not known to be better than chance",
}


def written(measure: str, number: float | None) -> str:
    """Write a value of a measure, rates in per cent.

    >>> written("equal error rate", 0.2345).split(), written("concordance", 0.2345)
    (['23.4', '%'], '0.23')
    """
    return f"{significant(100 * number, 3)}{PER_CENT}" if measure in RATES else significant(number)


def value(figure: KeyFigure, number: float | None = None) -> str:
    """Write the value of a figure, or another number of the same kind; empty for none."""
    number = figure.value if number is None else number
    return "" if number is None else written(figure.measure, number)


def interval(figure: KeyFigure, *, sample: bool = False) -> str:
    """Write the bounds for new speakers, or for those of the ``sample``: ``0.57 to 0.66``; empty if none."""
    low, high = (figure.low_sample, figure.high_sample) if sample else (figure.low, figure.high)
    if low is None or high is None:
        return ""
    return f"{value(figure, low).removesuffix(PER_CENT)} to {value(figure, high)}"


def name(figure: KeyFigure) -> str:
    """Name a figure: ``concordance of arousal``, ``word error rate``."""
    return figure.measure if figure.measure in RATES else f"{figure.measure} of {figure.task}"


def short(figure: KeyFigure | None) -> str:
    """Name a figure with its value; empty without any."""
    return "" if figure is None or figure.value is None else f"{name(figure)} {value(figure)}"


def sentence(figure: KeyFigure, *, corpus: bool = False) -> str:
    """Write a figure in one line: ``concordance of arousal 0.61 (95 % 0.57 to 0.66, 26 speakers)``.

    Where speakers are few, with its interval for these speakers; ``corpus`` names its corpus.
    """
    where = f" on {figure.corpus}" if corpus else ""
    if figure.value is None:
        return f"{name(figure)}{where}: none, {figure.reason}"
    ends, here = interval(figure), interval(figure, sample=True)
    company = [f"95 % {ends}" if ends else "no interval for new speakers"]
    company += [f"for these speakers {here}"] if here and (figure.blocks < FEW_BLOCKS or not ends) else []
    company.append(counted(figure.blocks, figure.block))
    return f"{name(figure)}{where} {value(figure)} ({', '.join(company)})"


def worse_than_chance(figure: KeyFigure) -> bool:
    """Say whether the whole interval of a figure is on the wrong side of chance.

    An interval that is withheld, as all speakers are at a limit or nothing varies, is on the value's side.
    """
    low, high = figure.low, figure.high
    if low is None and figure.standing == HOLLOW:
        low = high = figure.value
    if figure.measure not in _REVERSED or None in (low, high, figure.guessing):
        return False
    return low > figure.guessing if figure.measure in RATES else high < figure.guessing


def reversed_caveats(figures: Sequence[KeyFigure], models: Sequence[ModelRecord]) -> list[Caveat]:
    """Suspect the direction of the answers where a model is worse than chance."""
    kinds = {model.name: model.kind for model in models}
    return [
        Caveat(
            f"{sentence(figure)} is {WORSE_THAN_CHANCE}. {_REVERSED[figure.measure]}",
            figure.model,
            figure.corpus,
            figure.task,
        )
        for figure in figures
        if worse_than_chance(figure) and kinds[figure.model] != "random"
    ]


def against_chance(figure: KeyFigure) -> str:
    """Say how a figure compares with chance; empty for rates that do not decide it."""
    return WORSE_THAN_CHANCE if worse_than_chance(figure) else EXPLAINED.get(figure.standing, "")


def standing_notes(figures: Sequence[KeyFigure] | None, model: str, tasks: Sequence[str]) -> list[str]:
    """Say at which tasks a model is not better than chance, or not known to be, and by which number.

    One text a task: ``"no better than chance at valence: concordance of valence 0.02 (95 % …)"``; none if
    nobody computed figures.
    """
    notes = []
    for task in tasks if figures is not None else ():
        state = standing(figures, model, task)
        if state.name != PROVEN:
            why = sentence(state.figure) if state.figure else "no corpus has labels for it"
            worse = state.figure is not None and worse_than_chance(state.figure)
            notes.append(f"{WORSE_THAN_CHANCE if worse else EXPLAINED[state.name]} at {task}: {why}")
    return notes
